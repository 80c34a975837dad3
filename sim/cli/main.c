/* forerun: run the cluster before you buy it. Verbs, their order in --help, and the only exit. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "cli-private.h"
#include "models/self_check.h"
#include "scenario/scenario.h"

static const CliVerb *const verbs[] = { &cli_verb_run,    &cli_verb_coll,     &cli_verb_compare, &cli_verb_plan,
                                        &cli_verb_merge,  &cli_verb_offers,   &cli_verb_ratio,   &cli_verb_explain,
                                        &cli_verb_topo,   &cli_verb_check,    &cli_verb_list,    &cli_verb_import,
                                        &cli_verb_export, &cli_verb_validate, &cli_verb_fit,     NULL };

static void
append_short_help (GString *out)
{
  g_string_append (out, "usage: forerun VERB [flags]; forerun VERB --help tells a verb's flags\n");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++)
    g_string_append_printf (out, "  %-8s %s\n", (*verb)->name, (*verb)->summary);
  g_string_append (out, "try: forerun coll all_reduce --topology hgx_h200 -n 2\n");
}

static void
append_help (GString *out)
{
  g_string_append (out, "forerun " FORERUN_VERSION ": run the cluster before you buy it\n\n");
  g_string_append (out,
                   "Says how long communication and training take on a GPU cluster that a YAML file describes, what bounds them,\n"
                   "and how sure the answer is.\n\n");
  append_short_help (out);
  g_string_append (out,
                   "\nforerun --version says the version.\n"
                   "Data goes to stdout, talk to stderr. Quantities in files carry units (400 Gb/s, 2 us, 16 GiB).\n"
                   "FORERUN_DATA names the folder with topologies/, scenarios/ and calibrate/ when it is not found by itself.\n"
                   "exit status: 0 done, 1 failed while running, 2 bad usage or input, 3 plan infeasible\n");
}

static int
status_of (const GError *error)
{
  if (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT))
    return CLI_EXIT_INPUT;
  if (g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INFEASIBLE))
    return CLI_EXIT_INFEASIBLE;
  return CLI_EXIT_RUN;
}

static int
report (const GError *error)
{
  fputs (error->message, stderr);
  if (!g_str_has_suffix (error->message, "\n"))
    fputc ('\n', stderr);
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

static const CliVerb *
find_verb (const char *name, GError **error)
{
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++)
    if (strcmp ((*verb)->name, name) == 0)
      return *verb;
  if (name[0] == '-') {
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT,
                 "forerun: '%s' stands where a verb is expected; flags come after the verb, and forerun --help lists the verbs",
                 name);
    return NULL;
  }
  const char *names[G_N_ELEMENTS (verbs)] = { NULL };
  for (size_t i = 0; verbs[i] != NULL; i++)
    names[i] = verbs[i]->name;
  g_autofree char *hint = base_hint (name, names);
  g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "forerun: unknown verb '%s'%s; forerun --help lists the verbs", name,
               hint);
  return NULL;
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
    for (guint i = 0; i < cli->warnings->len; i++)
      fprintf (stderr, "warning: %s\n", (const char *)g_ptr_array_index (cli->warnings, i));
  fputs (cli->talk->str, stderr);
  g_autoptr (GError) cause = error;
  const char *target = cli->help ? NULL : cli->output;
  if (done && cli->folder != NULL && g_mkdir_with_parents (cli->folder, 0777) != 0) {
    g_set_error (&cause, BASE_ERROR, (gint)BASE_ERROR_RUN, "%s: the folder cannot be made: %s", cli->folder, g_strerror (errno));
    done = FALSE;
  }
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

/* A row that was added without its parts is told of, before anything is run with it. */
static gboolean
self_check (GError **error)
{
  return mdl_self_check (error) && clu_self_check (error) && col_self_check (error) && scn_self_check (error);
}

int
main (int argc, char **argv)
{
  struct sigaction ignore = { .sa_handler = SIG_IGN };
  sigaction (SIGPIPE, &ignore, NULL); /* a reader that stops, as in `| head`, is seen as EPIPE */

  g_autoptr (GString) help = g_string_new (NULL);
  if (argc < 2) {
    append_short_help (help);
    fputs (help->str, stderr);
    return CLI_EXIT_INPUT;
  }
  if (strcmp (argv[1], "--help") == 0 || strcmp (argv[1], "-h") == 0 || strcmp (argv[1], "help") == 0) {
    append_help (help);
    return print (help);
  }
  if (strcmp (argv[1], "--version") == 0) {
    g_string_append (help, "forerun " FORERUN_VERSION "\n");
    return print (help);
  }
  GError *error = NULL;
  const CliVerb *verb = self_check (&error) ? find_verb (argv[1], &error) : NULL;
  if (verb == NULL) {
    int status = report (error);
    g_error_free (error);
    return status;
  }
  Cli *cli = cli_new (verb, argc, argv);
  gboolean done = cli_run (cli, argv + 2, &error);
  int status = finish (cli, done, error);
  if (cli->end != NULL)
    cli->end (cli->end_data, status);
  cli_free (cli);
  return status;
}
