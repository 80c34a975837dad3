/* Completion of verbs, flags and names for bash, zsh and fish, from the same tables as --help. Names are asked of the program when
 * they are needed, by `forerun list`, so that those of the user's own data folder complete too. */
#include <string.h>

#include "manual-private.h"

#define NAMES_COMMAND "forerun list %s --format tsv 2>/dev/null | tail -n +2 | cut -f 1"

/* Values of flags: a kind of `forerun list`, or words. */
static const struct {
  const char *flag, *completes; /* as CliVerb's */
} values[] = {
  { "topology", "topologies" },
  { "like", "topologies" },
  { "gpu", "gpus" },
  { "calibration", "calibrations" },
  { "over", "calibrations" },
  { "algo", "algorithms" },
  { "proto", "protocols" },
  { "disable", "algorithms" },
  { "dtype", "dtypes" },
  { "op", "ops" },
  { "launch", "launch-modes" },
  { "mode", "modes" },
  { "steps", "steps" },
  { "format", "=text json tsv csv" },
  { "mpi", "=auto on off" },
  { "library", "=nccl plain" },
  { "sensitivity", "=assumed datasheet" },
};

/* What completes the value of a flag; NULL: a file. */
static const char *
value_of (const char *flag)
{
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++)
    if (strcmp (values[i].flag, flag) == 0)
      return values[i].completes;
  return NULL;
}

/* A command whose output is the words. Returned: full. */
static char *
words_of (const char *completes)
{
  return completes[0] == '=' ? g_strdup_printf ("echo %s", completes + 1) : g_strdup_printf (NAMES_COMMAND, completes);
}

/* In single quotes of a shell; fish wants a backslash where the others leave the quotes. Returned: full. */
static char *
quoted (const char *text, gboolean fish)
{
  g_auto (GStrv) parts = g_strsplit (text, "'", -1);
  g_autofree char *joined = g_strjoinv (fish ? "\\'" : "'\\''", parts);
  return g_strdup_printf ("'%s'", joined);
}

static void
append_name (const CliFlag *flag, void *data)
{
  if (flag->kind != CLI_FLAG_HEADING)
    g_string_append_printf (data, " --%s", flag->name);
}

/* The values of flags as branches of `case`, each a call of the function `names` with a command's words. */
static void
append_values (GString *out)
{
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++) {
    g_autofree char *words = words_of (values[i].completes);
    g_string_append_printf (out, "    --%s) _forerun_words \"$(%s)\"; return ;;\n", values[i].flag, words);
  }
}

static void
append_bash (const CliVerb *const *verbs, GString *out)
{
  g_string_append (out, "# bash completion of forerun\n"
                        "_forerun_words () { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }\n"
                        "_forerun ()\n{\n"
                        "  local word=${COMP_WORDS[COMP_CWORD]} flags= names=\n  COMPREPLY=()\n"
                        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    _forerun_words '--help --version --completion");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++)
    g_string_append_printf (out, " %s", (*verb)->name);
  g_string_append (out, "'\n    return\n  fi\n  case ${COMP_WORDS[COMP_CWORD-1]} in\n");
  append_values (out);
  g_string_append (out, "  esac\n  case ${COMP_WORDS[1]} in\n");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++) {
    g_string_append_printf (out, "    %s) flags='", (*verb)->name);
    cli_flags_each (*verb, append_name, out);
    g_autofree char *words = (*verb)->completes != NULL ? words_of ((*verb)->completes) : g_strdup ("");
    g_autofree char *command = quoted (words, FALSE);
    g_string_append_printf (out, "' names=%s ;;\n", command);
  }
  g_string_append (out,
                   "    --completion) _forerun_words 'bash zsh fish'; return ;;\n  esac\n"
                   "  if [[ $word == -* ]]; then\n    _forerun_words \"$flags\"\n"
                   "  elif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$names\" ]; then\n    _forerun_words \"$(eval \"$names\")\"\n  fi\n"
                   "}\ncomplete -o bashdefault -o default -F _forerun forerun\n");
}

static void
append_zsh_flag (const CliFlag *flag, void *data)
{
  if (flag->kind == CLI_FLAG_HEADING)
    return;
  g_autofree char *text = g_strdup_printf ("--%s:%s", flag->name, flag->help), *word = quoted (text, FALSE);
  g_string_append_printf (data, " %s", word);
}

static void
append_zsh (const CliVerb *const *verbs, GString *out)
{
  g_string_append (out, "#compdef forerun\n_forerun_words () { compadd -- ${=1}; }\n_forerun ()\n{\n"
                        "  local -a verbs flags\n  local names=\n  verbs=(");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++) {
    g_autofree char *text = g_strdup_printf ("%s:%s", (*verb)->name, (*verb)->summary), *word = quoted (text, FALSE);
    g_string_append_printf (out, " %s", word);
  }
  g_string_append (out, " '--help:this text' '--version:print the version' '--completion:print a completion script')\n"
                        "  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
                        "  case $words[CURRENT-1] in\n    --completion) _forerun_words 'bash zsh fish'; return ;;\n");
  append_values (out);
  g_string_append (out, "  esac\n  case $words[2] in\n");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++) {
    g_string_append_printf (out, "    %s) flags=(", (*verb)->name);
    cli_flags_each (*verb, append_zsh_flag, out);
    g_autofree char *words = (*verb)->completes != NULL ? words_of ((*verb)->completes) : g_strdup ("");
    g_autofree char *command = quoted (words, FALSE);
    g_string_append_printf (out, ") names=%s ;;\n", command);
  }
  g_string_append (out,
                   "  esac\n  if [[ $PREFIX == -* ]]; then\n    _describe flag flags\n    return\n  fi\n"
                   "  if (( CURRENT == 3 )) && [[ -n $names ]]; then\n    _forerun_words \"$(eval $names)\"\n  fi\n  _files\n}\n"
                   "_forerun \"$@\"\n");
}

/* As the value of -a. Returned: full. */
static char *
fish_words (const char *completes)
{
  g_autofree char *command = words_of (completes);
  return completes[0] == '=' ? g_strdup (completes + 1) : g_strdup_printf ("(%s)", command);
}

typedef struct {
  const char *verb;
  GString *out;
} FishTarget;

static void
append_fish_flag (const CliFlag *flag, void *data)
{
  FishTarget *target = data;
  if (flag->kind == CLI_FLAG_HEADING)
    return;
  g_autofree char *help = quoted (flag->help, TRUE);
  g_string_append_printf (target->out, "complete -c forerun -n '__fish_seen_subcommand_from %s' -l %s", target->verb, flag->name);
  if (flag->letter != 0)
    g_string_append_printf (target->out, " -s %c", flag->letter);
  const char *completes = flag->kind != CLI_FLAG_SWITCH ? value_of (flag->name) : NULL;
  if (completes != NULL) {
    g_autofree char *words = fish_words (completes);
    g_string_append_printf (target->out, " -x -a '%s'", words);
  } else if (flag->kind != CLI_FLAG_SWITCH)
    g_string_append (target->out, " -r");
  g_string_append_printf (target->out, " -d %s\n", help);
}

static void
append_fish (const CliVerb *const *verbs, GString *out)
{
  g_string_append (out, "# fish completion of forerun\n"
                        "complete -c forerun -n __fish_use_subcommand -l help -d 'this text'\n"
                        "complete -c forerun -n __fish_use_subcommand -l version -d 'print the version'\n"
                        "complete -c forerun -n __fish_use_subcommand -l completion -x -a 'bash zsh fish' "
                        "-d 'print a completion script'\n");
  for (const CliVerb *const *verb = verbs; *verb != NULL; verb++) {
    FishTarget target = { (*verb)->name, out };
    g_autofree char *summary = quoted ((*verb)->summary, TRUE);
    g_string_append_printf (out, "complete -c forerun -n __fish_use_subcommand -f -a %s -d %s\n", (*verb)->name, summary);
    if ((*verb)->completes != NULL) {
      g_autofree char *words = fish_words ((*verb)->completes);
      g_string_append_printf (out, "complete -c forerun -n '__fish_seen_subcommand_from %s' -a '%s'\n", (*verb)->name, words);
    }
    cli_flags_each (*verb, append_fish_flag, &target);
  }
}

gboolean
cli_completion (const CliVerb *const *verbs, const char *shell, GString *out)
{
  static const struct {
    const char *shell;
    void (*append) (const CliVerb *const *verbs, GString *out);
  } shells[] = { { "bash", append_bash }, { "zsh", append_zsh }, { "fish", append_fish } };
  for (size_t i = 0; i < G_N_ELEMENTS (shells); i++)
    if (strcmp (shell, shells[i].shell) == 0) {
      shells[i].append (verbs, out);
      return TRUE;
    }
  return FALSE;
}
