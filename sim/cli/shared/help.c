/* --help of the program and of its verbs. */
#include "manual-private.h"

#define HELP_COLUMN 28 /* where the meaning of a flag begins */

const char cli_help_about[] =
    "Predicts how long communication and training take on a GPU cluster that a YAML file describes, what limits them, what "
    "they cost, and how accurate the prediction is.";

const char cli_help_exit_status[] = "exit status: 0 done, 1 failed while running, 2 wrong usage or input, 3 constraints not met";

const CliFirst cli_help_first[] = {
  { "forerun plan buy_256_gpus", "which cluster to buy for a training run" },
  { "forerun coll all_reduce --topology h200 -n 2", "time and bandwidth of a collective" },
  { "forerun run quickstart", "simulate one scenario" },
  { NULL, NULL },
};

/* `text` and a line's end, after `column` characters of its first line; broken at blanks. Further lines begin at `indent`. */
static void
append_wrapped (const char *text, int column, int indent, GString *out)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  for (char **word = words; *word != NULL; word++) {
    const int n = (int)g_utf8_strlen (*word, -1);
    if (word != words && column + 1 + n > CLI_HELP_WIDTH) {
      g_string_append_printf (out, "\n%*s", indent, "");
      column = indent;
    } else if (word != words) {
      g_string_append_c (out, ' ');
      column++;
    }
    g_string_append (out, *word);
    column += n;
  }
  g_string_append_c (out, '\n');
}

/* Paragraphs, each of which ends a line. */
static void
append_prose (const char *text, GString *out)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL && (**line != '\0' || line[1] != NULL); line++)
    append_wrapped (*line, 0, 0, out);
}

static void
append_first (GString *out)
{
  for (const CliFirst *first = cli_help_first; first->command != NULL; first++)
    g_string_append_printf (out, "  %-46s %s\n", first->command, first->question);
}

static void
append_verbs (const CliVerb *const *verbs, GString *out)
{
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++)
    g_string_append_printf (out, "  %-8s %s\n", (*verb)->name, (*verb)->summary); /* short enough for a line */
}

void
cli_help_short (const CliVerb *const *verbs, GString *out)
{
  g_string_append (out, "usage: forerun VERB [flags]; forerun VERB --help lists the flags of a verb\n");
  append_verbs (verbs, out);
  g_string_append (out, "try:\n");
  append_first (out);
}

void
cli_help_program (const CliVerb *const *verbs, GString *out)
{
  g_string_append (out, "forerun " FORERUN_VERSION ": run the cluster before you buy it\n\n");
  append_prose (cli_help_about, out);
  g_string_append (out, "\nfirst commands\n");
  append_first (out);
  g_string_append (out, "\nusage: forerun VERB [flags]; forerun VERB --help lists the flags of a verb\n\nverbs\n");
  append_verbs (verbs, out);
  g_string_append (out, "\n");
  append_prose ("forerun --version prints the version; --version --json adds commit, compiler and data checksum.\n"
                "forerun --completion bash|zsh|fish prints a completion script for that shell.\n"
                "Answers go to stdout; warnings and progress go to stderr.\n"
                "Quantities in files have units (400 Gb/s, 2 us, 16 GiB).\n"
                "FORERUN_DATA names the folder with topologies/, scenarios/ and calibrate/, if they are not found.\n",
                out);
  append_prose (cli_help_exit_status, out);
}

static void
append_flag (const CliFlag *flag, void *data)
{
  GString *out = data;
  if (flag->kind == CLI_FLAG_HEADING) {
    g_string_append_printf (out, "\n%s\n", flag->name);
    return;
  }
  g_autofree char *letter = flag->letter != 0 ? g_strdup_printf ("-%c, ", flag->letter) : g_strdup ("");
  g_autofree char *left =
      g_strdup_printf ("%s--%s%s%s", letter, flag->name, flag->arg != NULL ? " " : "", flag->arg != NULL ? flag->arg : "");
  const int n = (int)g_utf8_strlen (left, -1),
            blanks = MAX (HELP_COLUMN - 4 - n, 0); /* printf pads by bytes: there is an ellipsis */
  g_string_append_printf (out, "  %s%*s  ", left, blanks, "");
  append_wrapped (flag->help, 4 + n + blanks, HELP_COLUMN, out);
}

void
cli_help_verb (const CliVerb *verb, GString *out)
{
  g_autofree char *title = g_strdup_printf ("forerun %s: %s", verb->name, verb->summary);
  append_wrapped (title, 0, 0, out);
  g_string_append_printf (out, "\nusage:    forerun %s %s\nexample:  %s\n", verb->name, verb->usage, verb->example);
  if (verb->notes != NULL) {
    g_string_append_c (out, '\n');
    append_prose (verb->notes, out);
  }
  cli_flags_each (verb, append_flag, out);
  g_string_append_c (out, '\n');
  append_prose (cli_help_exit_status, out);
}

void
cli_help_example (const CliVerb *verb, GString *out)
{
  g_string_append_printf (out, "usage:    forerun %s %s\nexample:  %s\nflags:    forerun %s --help\n", verb->name, verb->usage,
                          verb->example, verb->name);
}

gboolean
cli_help_needs_words (const CliVerb *verb)
{
  return verb->usage[0] != '[';
}
