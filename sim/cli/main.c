/* forerun: run the cluster before you buy it. Verbs, their order in --help, and the only exit. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-glib/json-glib.h>

#include "base/finite.h"
#include "base/layout.h"
#include "base/output.h"
#include "base/text.h"
#include "cli-private.h"
#include "manual-private.h"
#include "models/self_check.h"
#include "scenario/scenario.h"

static const CliVerb *const verbs[] = { &cli_verb_run,    &cli_verb_coll,     &cli_verb_compare, &cli_verb_plan,
                                        &cli_verb_merge,  &cli_verb_offers,   &cli_verb_ratio,   &cli_verb_explain,
                                        &cli_verb_topo,   &cli_verb_check,    &cli_verb_list,    &cli_verb_import,
                                        &cli_verb_export, &cli_verb_validate, &cli_verb_fit,     NULL };

static int
status_of (const GError *error)
{
  if (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT))
    return CLI_EXIT_INPUT;
  if (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INFEASIBLE))
    return CLI_EXIT_INFEASIBLE;
  return CLI_EXIT_RUN;
}

/* A line of stderr, or several; cleaned text. */
static void
talk (const char *text)
{
  g_autoptr (GString) lines = g_string_new (text);
  if (lines->len > 0 && lines->str[lines->len - 1] != '\n')
    g_string_append_c (lines, '\n');
  base_text_wrap (lines, cli_layout_talk_width ());
  fputs (lines->str, stderr);
}

static int
report (const GError *error)
{
  g_autofree char *text = base_text_escape (error->message, "\n");
  talk (text);
  return status_of (error);
}

/* Writes text to `path`, or to stdout for NULL. A reader that has gone away has what it wanted. */
static gboolean
write_out (const char *path, const GString *text, GError **error)
{
  gboolean closed;
  return path != NULL ? base_output_file (path, text->str, text->len, error)
                      : base_output_stdout (text->str, text->len, &closed, error);
}

/* NULL: no such verb. */
static const CliVerb *
verb_named (const char *name)
{
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++)
    if (strcmp ((*verb)->name, name) == 0)
      return *verb;
  return NULL;
}

static const CliVerb *
find_verb (const char *name, GError **error)
{
  if (verb_named (name) != NULL)
    return verb_named (name);
  if (name[0] == '-') {
    base_fail (error, BASE_ERROR_INPUT,
               "forerun: '%s' stands where a verb is expected; write flags after the verb. Without a verb: --help, --version",
               name);
    return NULL;
  }
  const char *names[G_N_ELEMENTS (verbs)] = { NULL };
  for (size_t i = 0; verbs[i] != NULL; i++)
    names[i] = verbs[i]->name;
  g_autofree char *hint = base_hint (name, names);
  base_fail (error, BASE_ERROR_INPUT, "forerun: unknown verb '%s'%s; forerun --help lists the verbs", name, hint);
  return NULL;
}

/* FALSE and *error where a number of the answer cannot be. */
static gboolean
check_numbers (const Cli *cli, GError **error)
{
  g_autofree char *fault = base_finite_fault ();
  if (fault != NULL)
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_RUN,
                 "forerun %s: internal: %s; nothing is written. This is a fault of the program: report it with the command and its "
                 "files",
                 cli->verb->name, fault);
  return fault == NULL;
}

/* Whatever a file says of itself, it steers no terminal. */
static void
clean_answer (Cli *cli)
{
  if (cli->workbook)
    return;
  const gboolean json = cli->format == CLI_FORMAT_JSON || cli->format == CLI_FORMAT_NCCL_TESTS_JSON || *cli->out->str == '{';
  const gboolean tabs = cli->format == CLI_FORMAT_TSV || cli->document;
  base_text_clean (cli->out, tabs ? "\n\t" : "\n", json);
  if (cli->csv && !cli->document)
    base_table_tsv_to_csv (cli->out);
}

/* All of the answer exists before any of it is written; stdout comes last, since it cannot be taken back. */
static int
finish (Cli *cli, gboolean done, GError *error)
{
  if (cli->silent) {
    g_clear_error (&error);
    return CLI_EXIT_DONE; /* the one that tells has the status */
  }
  if (!cli->quiet)
    for (guint i = 0; i < cli->warnings->len; i++) {
      g_autofree char *text = base_text_escape (g_ptr_array_index (cli->warnings, i), "");
      g_autofree char *line = g_strconcat ("warning: ", text, NULL);
      talk (line);
    }
  base_text_clean (cli->talk, "\n", FALSE);
  if (cli->talk->len > 0)
    talk (cli->talk->str);
  clean_answer (cli);
  g_autoptr (GError) cause = error;
  const char *target = cli->help ? NULL : cli->output;
  done = done && check_numbers (cli, &cause) && (cli->folder == NULL || base_output_folder (cli->folder, &cause));
  for (guint i = 0; done && i < cli->files->len; i++) {
    const CliFile *file = g_ptr_array_index (cli->files, i);
    done = write_out (file->path, file->bytes, &cause);
  }
  if (done)
    done = write_out (target, cli->out, &cause);
  if (done)
    return cli->status;
  int status = report (cause);
  return cli->signal != 0 ? CLI_EXIT_SIGNAL + cli->signal : status;
}

static int
print (const GString *text)
{
  g_autoptr (GError) error = NULL;
  return write_out (NULL, text, &error) ? CLI_EXIT_DONE : report (error);
}

/* Reports a row of a table that was added without its parts, before anything runs. */
static gboolean
self_check (GError **error)
{
  return mdl_self_check (error) && clu_self_check (error) && col_self_check (error) && scn_self_check (error);
}

/* One JSON object: version, commit, how it was built, and the folder and checksum of the shipped data where they are found. */
static void
append_version_json (GString *out)
{
  g_autofree char *exe = g_file_read_link ("/proc/self/exe", NULL), *root = fr_data_root (exe, NULL);
  g_autofree char *checksum = root != NULL ? cli_data_checksum (root) : NULL;
  g_autoptr (JsonBuilder) json = json_builder_new ();
  const char *const members[][2] = {
    { "version", FORERUN_VERSION },      { "commit", cli_build_commit () }, { "compiler", cli_build_compiler () },
    { "build_type", cli_build_type () }, { "mpi", cli_build_mpi () },       { "data", root },
    { "data_sha256", checksum }
  };
  json_builder_begin_object (json);
  for (size_t i = 0; i < G_N_ELEMENTS (members); i++) {
    json_builder_set_member_name (json, members[i][0]);
    if (members[i][1] != NULL)
      json_builder_add_string_value (json, members[i][1]);
    else
      json_builder_add_null_value (json);
  }
  json_builder_end_object (json);
  g_autoptr (JsonNode) node = json_builder_get_root (json);
  g_autofree char *text = json_to_string (node, TRUE);
  g_string_append_printf (out, "%s\n", text);
}

static int
refuse (const char *what)
{
  fprintf (stderr, "forerun: %s\n", what);
  return CLI_EXIT_INPUT;
}

/* What stands where a verb is expected and begins with a dash. -1: nothing that is known. */
static int
run_option (char *const *words)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *value = words[1];
  if (strcmp (words[0], "--help") == 0 || strcmp (words[0], "-h") == 0 || strcmp (words[0], "help") == 0) {
    const CliVerb *verb = value != NULL ? verb_named (value) : NULL;
    if (verb != NULL)
      cli_help_verb (verb, out);
    else
      cli_help_program (verbs, out);
  } else if (strcmp (words[0], "--version") == 0 || strcmp (words[0], "-V") == 0) {
    if (value != NULL && strcmp (value, "--json") == 0)
      append_version_json (out);
    else
      g_string_append (out, "forerun " FORERUN_VERSION "\n");
  } else if (strcmp (words[0], "--completion") == 0) {
    if (value == NULL || !cli_completion (verbs, value, out))
      return refuse ("--completion needs the name of a shell: bash, zsh or fish");
  } else if (strcmp (words[0], "--manuals") == 0) {
    g_autoptr (GError) error = NULL;
    if (value == NULL)
      return refuse ("--manuals needs a folder, which gets the manual pages and completion scripts");
    return cli_manuals_write (verbs, value, &error) ? CLI_EXIT_DONE : report (error);
  } else
    return -1;
  return print (out);
}

/* "forerun plan" alone: what to write instead. */
static int
show_example (const CliVerb *verb)
{
  g_autoptr (GString) out = g_string_new (NULL);
  cli_help_example (verb, out);
  fputs (out->str, stderr);
  return CLI_EXIT_INPUT;
}

/* GLib makes the message of a failed allocation by vasprintf, fails, and makes the message of that, until the stack is full. So
 * these stand in place of the C library's (with and without checks of the format), and end the program at the first. */
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
int vasprintf (char **out, const char *format, va_list args) G_GNUC_PRINTF (2, 0);
int __vasprintf_chk (char **out, int flag, const char *format, va_list args) G_GNUC_PRINTF (3, 0);

int
vasprintf (char **out, const char *format, va_list args)
{
  char few[256];
  va_list again;
  va_copy (again, args);
  const int n = vsnprintf (few, sizeof few, format, args);
  *out = n >= 0 ? malloc ((size_t)n + 1) : NULL;
  if (n >= 0 && *out == NULL)
    cli_no_memory ();
  if (n >= (int)sizeof few)
    vsnprintf (*out, (size_t)n + 1, format, again);
  else if (n >= 0)
    memcpy (*out, few, (size_t)n + 1);
  va_end (again);
  return n;
}

int
__vasprintf_chk (char **out, int flag, const char *format, va_list args)
{
  (void)flag;
  return vasprintf (out, format, args);
}
#endif

int
main (int argc, char **argv)
{
  struct sigaction ignore = { .sa_handler = SIG_IGN };
  sigaction (SIGPIPE, &ignore, NULL); /* a reader that stops, as in `| head`, is seen as EPIPE */
  cli_catch_no_memory ();

  if (argc < 2) {
    g_autoptr (GString) help = g_string_new (NULL);
    cli_help_short (verbs, help);
    fputs (help->str, stderr);
    return CLI_EXIT_INPUT;
  }
  const int answered = run_option (argv + 1);
  if (answered >= 0)
    return answered;
  GError *error = NULL;
  const CliVerb *verb = self_check (&error) ? find_verb (argv[1], &error) : NULL;
  if (verb == NULL) {
    int status = report (error);
    g_error_free (error);
    return status;
  }
  if (argc == 2 && cli_help_needs_words (verb))
    return show_example (verb);
  Cli *cli = cli_new (verb, argc, argv);
  gboolean done = cli_run (cli, argv + 2, &error);
  int status = finish (cli, done, error);
  if (cli->end != NULL)
    cli->end (cli->end_data, status);
  cli_free (cli);
  return status;
}
