/* Manual pages in man(7), and where they and the completions are written. */
#include <string.h>

#include "base/output.h"
#include "manual-private.h"

/* Text as troff takes it: a dash is a minus sign as typed, a leading dot or apostrophe is no request, other letters by code. */
static void
append_roff (const char *text, GString *out)
{
  for (const char *at = text; *at != '\0'; at = g_utf8_next_char (at)) {
    const gunichar letter = g_utf8_get_char (at);
    if ((*at == '.' || *at == '\'') && (at == text || at[-1] == '\n'))
      g_string_append (out, "\\&");
    if (letter >= 0x80)
      g_string_append_printf (out, "\\[u%04X]", letter);
    else if (*at == '-')
      g_string_append (out, "\\-");
    else if (*at == '\'')
      g_string_append (out, "\\(aq");
    else if (*at == '\\')
      g_string_append (out, "\\e");
    else if (*at == '\n' && at[1] != '\0')
      g_string_append (out, "\n.PP\n");
    else
      g_string_append_c (out, *at);
  }
}

static void
append_line (const char *before, const char *text, GString *out)
{
  g_string_append (out, before);
  append_roff (text, out);
  g_string_append_c (out, '\n');
}

static void
append_flag (const CliFlag *flag, void *data)
{
  GString *out = data;
  if (flag->kind == CLI_FLAG_HEADING) {
    append_line (".SS ", flag->name, out);
    return;
  }
  g_string_append (out, ".TP\n");
  if (flag->letter != 0)
    g_string_append_printf (out, "\\fB\\-%c\\fR, ", flag->letter);
  g_string_append (out, "\\fB\\-\\-");
  append_roff (flag->name, out);
  g_string_append (out, "\\fR");
  if (flag->arg != NULL)
    append_line (" ", flag->arg, out);
  else
    g_string_append_c (out, '\n');
  append_line ("", flag->help, out);
}

static void
append_title (const char *name, const char *summary, GString *out)
{
  g_autofree char *title = g_ascii_strup (name, -1);
  g_string_append_printf (out, ".TH \"%s\" 1 \"\" \"forerun " FORERUN_VERSION "\" \"User Commands\"\n.SH NAME\n", title);
  append_roff (name, out);
  append_line (" \\- ", summary, out);
}

static void
append_see_also (const CliVerb *const *verbs, const CliVerb *self, GString *out)
{
  g_string_append (out, ".SH SEE ALSO\n");
  if (self != NULL)
    g_string_append (out, ".BR forerun (1),\n");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++)
    if (*verb != self)
      g_string_append_printf (out, ".BR forerun\\-%s (1)%s\n", (*verb)->name,
                              verb[1] != NULL && (verb[1] != self || verb[2] != NULL) ? "," : "");
}

static void
append_verb_page (const CliVerb *verb, GString *out)
{
  g_autofree char *name = g_strconcat ("forerun-", verb->name, NULL), *usage = g_strdup_printf ("%s %s", verb->name, verb->usage);
  append_title (name, verb->summary, out);
  append_line (".SH SYNOPSIS\n.B forerun\n", usage, out);
  if (verb->notes != NULL) {
    g_string_append (out, ".SH DESCRIPTION\n");
    append_roff (verb->notes, out);
  }
  g_string_append (out, ".SH OPTIONS\n");
  cli_flags_each (verb, append_flag, out);
  append_line (".SH EXAMPLES\n", verb->example, out);
}

static void
append_program_page (const CliVerb *const *verbs, GString *out)
{
  append_title ("forerun", "run the cluster before you buy it", out);
  g_string_append (out, ".SH SYNOPSIS\n.B forerun\n.I VERB\n[\\fIflags\\fR]\n");
  append_line (".SH DESCRIPTION\n", cli_help_about, out);
  g_string_append (out, "Each verb has a page of its own.\n.SH VERBS\n");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++) {
    append_line (".TP\n.B ", (*verb)->name, out);
    append_line ("", (*verb)->summary, out);
  }
  g_string_append (out,
                   ".SH OPTIONS\n.TP\n.B \\-\\-help\nprint the verbs and first commands\n"
                   ".TP\n.B \\-\\-version\nprint the version; with \\fB\\-\\-json\\fR also commit, compiler and checksum of the "
                   "shipped data\n"
                   ".TP\n\\fB\\-\\-completion\\fR bash|zsh|fish\nprint a completion script for that shell\n"
                   ".SH ENVIRONMENT\n.TP\n.B FORERUN_DATA\nfolder with topologies/, scenarios/ and calibrate/, if the program "
                   "does not find it\n.TP\n.B COLUMNS\nlargest number of characters in a line\n.SH EXAMPLES\n");
  for (const CliFirst *first = cli_help_first; first->command != NULL; first++) {
    append_line (".TP\n.B ", first->command, out);
    append_line ("", first->question, out);
  }
}

void
cli_manual_page (const CliVerb *const *verbs, const CliVerb *verb, GString *out)
{
  if (verb != NULL)
    append_verb_page (verb, out);
  else
    append_program_page (verbs, out);
  append_line (".SH EXIT STATUS\n", cli_help_exit_status + strlen ("exit status: "), out);
  append_see_also (verbs, verb, out);
}

/* Writes `text` as `folder`/`path`, whose folders are made. */
static gboolean
write_below (const char *folder, const char *path, const GString *text, GError **error)
{
  g_autofree char *file = g_build_filename (folder, path, NULL), *parent = g_path_get_dirname (file);
  return base_output_folder (parent, error) && base_output_file (file, text->str, text->len, error);
}

gboolean
cli_manuals_write (const CliVerb *const *verbs, const char *folder, GError **error)
{
  static const char *const shells[][2] = { { "bash", "bash-completion/completions/forerun" },
                                           { "zsh", "zsh/site-functions/_forerun" },
                                           { "fish", "fish/vendor_completions.d/forerun.fish" } };
  for (size_t i = 0; i < G_N_ELEMENTS (shells); i++) {
    g_autoptr (GString) script = g_string_new (NULL);
    cli_completion (verbs, shells[i][0], script);
    if (!write_below (folder, shells[i][1], script, error))
      return FALSE;
  }
  g_autoptr (GString) program = g_string_new (NULL);
  cli_manual_page (verbs, NULL, program);
  gboolean done = write_below (folder, "man/man1/forerun.1", program, error);
  for (const CliVerb *const *verb = verbs; done && *verb != NULL; verb++) {
    g_autoptr (GString) page = g_string_new (NULL);
    g_autofree char *path = g_strdup_printf ("man/man1/forerun-%s.1", (*verb)->name);
    cli_manual_page (verbs, *verb, page);
    done = write_below (folder, path, page, error);
  }
  return done;
}
