/* One table of flags a verb drives the parser (GOptionContext), the help, the manual pages and the completion. */
#include <string.h>

#include "cli-private.h"

const CliFlag cli_common_flags[] = {
  { CLI_FLAG_HEADING, "output and input", 0, 0, NULL, NULL },
  { CLI_FLAG_TEXT, "format", 0, offsetof (Cli, format_text), "FORMAT", "text (default), json, tsv or csv" },
  { CLI_FLAG_OUTPUT, "output", 'o', offsetof (Cli, output), "FILE",
    "write the answer there, not to stdout; an existing file is replaced only when the answer is complete" },
  { CLI_FLAG_TEXT, "columns", 0, offsetof (Cli, columns), "NAMES",
    "show these columns of the tables, separated by commas; names as in --format tsv" },
  { CLI_FLAG_SWITCH, "wide", 0, offsetof (Cli, wide), NULL,
    "show all columns, whatever the line length (default: lines of at most 100 characters)" },
  { CLI_FLAG_TEXTS, "set", 0, offsetof (Cli, sets), "PATH=VALUE",
    "change a key of the input, e.g. node.nics.rate='200 Gb/s'; repeatable" },
  { CLI_FLAG_TEXTS, "vary", 0, offsetof (Cli, varies), "PATH=A,B,…",
    "run with each of these values and print a table; repeatable: all combinations" },
  { CLI_FLAG_OUTPUT, "vary-plot", 0, offsetof (Cli, vary_plot), "FILE", "with --vary: plot the first column; .svg, .png or .pdf" },
  { CLI_FLAG_OUTPUT, "vary-map", 0, offsetof (Cli, vary_map), "FILE", "with --vary of two keys: the same as a colour map" },
  { CLI_FLAG_TEXT, "seed", 0, offsetof (Cli, seed_text), "N", "seed of all random numbers (default: the scenario's, else 1)" },
  { CLI_FLAG_TEXT, "sandbox", 0, offsetof (Cli, sandbox), "FOLDER",
    "read only below this folder and shipped data, write only below it; for input of people you do not trust" },
  { CLI_FLAG_TEXT, "limit-memory", 0, offsetof (Cli, limit_text), "SIZE",
    "refuse a simulation that needs more memory than this, before it starts (default: 16 GiB)" },
  { CLI_FLAG_SWITCH, "quiet", 0, offsetof (Cli, quiet), NULL, "no warnings and no progress on stderr" },
  { CLI_FLAG_SWITCH, "help", 'h', offsetof (Cli, help), NULL, "this text" },
  { CLI_FLAG_HEADING, NULL, 0, 0, NULL, NULL },
};

static const CliFlag *
flag_in (const CliFlag *flags, const char *word)
{
  if (word[0] != '-' || word[1] == '\0')
    return NULL;
  for (const CliFlag *flag = flags; flag->name != NULL; flag++) {
    if (flag->kind == CLI_FLAG_HEADING)
      continue;
    if (word[1] == '-') {
      size_t n = strlen (flag->name);
      if (strncmp (word + 2, flag->name, n) == 0 && (word[2 + n] == '\0' || word[2 + n] == '='))
        return flag;
    } else if (flag->letter != 0 && flag->letter == word[1])
      return flag;
  }
  return NULL;
}

static const CliFlag *
flag_find (const CliVerb *verb, const char *word)
{
  for (const CliFlag *const *table = verb->flags; *table != NULL; table++) {
    const CliFlag *flag = flag_in (*table, word);
    if (flag != NULL)
      return flag;
  }
  return flag_in (cli_common_flags, word);
}

/* The words as GOption takes them: "-b8" becomes "-b" "8" as getopt allows, "--path A B" becomes "--path=A" "--path=B". */
static char **
normalise (const CliVerb *verb, char *const *words)
{
  GPtrArray *out = g_ptr_array_new ();
  g_ptr_array_add (out, g_strdup ("forerun"));
  for (char *const *word = words; *word != NULL; word++) {
    if (strcmp (*word, "--") == 0) {
      for (; *word != NULL; word++)
        g_ptr_array_add (out, g_strdup (*word));
      break;
    }
    const CliFlag *flag = flag_find (verb, *word);
    gboolean is_long = g_str_has_prefix (*word, "--");
    if (flag == NULL || flag->kind == CLI_FLAG_SWITCH) {
      g_ptr_array_add (out, g_strdup (*word));
    } else if (flag->kind == CLI_FLAG_PAIR && strchr (*word, '=') == NULL && word[1] != NULL && word[2] != NULL) {
      g_ptr_array_add (out, g_strdup_printf ("--%s=%s", flag->name, word[1]));
      g_ptr_array_add (out, g_strdup_printf ("--%s=%s", flag->name, word[2]));
      word += 2;
    } else if (!is_long && (*word)[2] != '\0') {
      g_ptr_array_add (out, g_strdup_printf ("-%c", flag->letter));
      g_ptr_array_add (out, g_strdup (*word + 2));
    } else {
      g_ptr_array_add (out, g_strdup (*word));
      if (!(is_long && strchr (*word, '=') != NULL) && word[1] != NULL)
        g_ptr_array_add (out, g_strdup (*++word));
    }
  }
  g_ptr_array_add (out, NULL);
  return (char **)g_ptr_array_free (out, FALSE);
}

static gboolean
has_one_value (const CliFlag *flag)
{
  return flag->kind == CLI_FLAG_TEXT || flag->kind == CLI_FLAG_OUTPUT;
}

/* FILENAME, not STRING: GLib converts strings from the locale's character set, which the environment decides. */
static void
add_entries (GArray *entries, const CliFlag *flags, void *base)
{
  for (const CliFlag *flag = flags; flag->name != NULL; flag++) {
    if (flag->kind == CLI_FLAG_HEADING)
      continue;
    GOptionArg arg = flag->kind == CLI_FLAG_SWITCH ? G_OPTION_ARG_NONE
                     : has_one_value (flag)        ? G_OPTION_ARG_FILENAME
                                                   : G_OPTION_ARG_FILENAME_ARRAY;
    GOptionEntry entry = {
      .long_name = flag->name, .short_name = flag->letter, .arg = arg, .arg_data = (char *)base + flag->offset
    };
    g_array_append_val (entries, entry);
  }
}

static void
add_names (GPtrArray *names, const CliFlag *flags)
{
  for (const CliFlag *flag = flags; flag->name != NULL; flag++)
    if (flag->kind != CLI_FLAG_HEADING)
      g_ptr_array_add (names, g_strconcat ("--", flag->name, NULL));
}

/* GLib's messages name the word last: "Unknown option --nods". */
static void
explain_option_error (const Cli *cli, const GError *cause, GError **error)
{
  const char *space = strrchr (cause->message, ' ');
  const char *word = space != NULL ? space + 1 : "";
  if (!g_error_matches (cause, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION)) {
    cli_fail (cli, error, "%s needs a value; see forerun %s --help", word, cli->verb->name);
    return;
  }
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  for (const CliFlag *const *table = cli->verb->flags; *table != NULL; table++)
    add_names (names, *table);
  add_names (names, cli_common_flags);
  g_ptr_array_add (names, NULL);
  g_autofree char *hint = base_hint (word, (const char *const *)names->pdata);
  const char *set = *hint == '\0' && cli->verb->varies ? "; keys of the input are changed with --set KEY=VALUE" : "";
  cli_fail (cli, error, "unknown flag %s%s%s; see forerun %s --help", word, hint, set, cli->verb->name);
}

char **
cli_flags_parse (Cli *cli, char *const *words, void *base, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  for (const CliFlag *const *table = cli->verb->flags; *table != NULL; table++)
    add_entries (entries, *table, base);
  add_entries (entries, cli_common_flags, cli);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, (const GOptionEntry *)(gpointer)entries->data, NULL);
  g_auto (GStrv) normal = normalise (cli->verb, words);
  g_autoptr (GError) cause = NULL;
  if (!g_option_context_parse_strv (context, &normal, &cause)) {
    explain_option_error (cli, cause, error);
    return NULL;
  }
  /* GLib leaves the "--" that ends the flags where it stands before a word with a dash. */
  GPtrArray *rest = g_ptr_array_new ();
  gboolean ended = FALSE;
  for (char **word = normal + 1; *word != NULL; word++)
    if (!ended && strcmp (*word, "--") == 0)
      ended = TRUE;
    else
      g_ptr_array_add (rest, g_strdup (*word));
  g_ptr_array_add (rest, NULL);
  return (char **)g_ptr_array_free (rest, FALSE);
}

void
cli_flags_clear (const CliFlag *flags, void *base)
{
  for (const CliFlag *flag = flags; flag->name != NULL; flag++) {
    gpointer at = (char *)base + flag->offset;
    if (has_one_value (flag))
      g_clear_pointer ((char **)at, g_free);
    else if (flag->kind == CLI_FLAG_TEXTS || flag->kind == CLI_FLAG_PAIR)
      g_clear_pointer ((char ***)at, g_strfreev);
  }
}

static void
take_outputs (const CliFlag *flags, const void *base, GArray *outputs)
{
  for (const CliFlag *flag = flags; flag->name != NULL; flag++) {
    if (flag->kind != CLI_FLAG_OUTPUT)
      continue;
    const CliOutput output = { flag->name, flag->letter, *(char *const *)((const char *)base + flag->offset) };
    if (output.path != NULL)
      g_array_append_val (outputs, output);
  }
}

void
cli_flags_outputs (Cli *cli, const void *base)
{
  take_outputs (cli_common_flags, cli, cli->outputs);
  for (const CliFlag *const *table = cli->verb->flags; *table != NULL; table++)
    take_outputs (*table, base, cli->outputs);
}

/* Flags of all verbs that say nothing to one that cannot be varied. */
static gboolean
is_of_vary (const CliFlag *flag)
{
  return flag->offset == offsetof (Cli, varies) || flag->offset == offsetof (Cli, vary_plot) ||
         flag->offset == offsetof (Cli, vary_map);
}

void
cli_flags_each (const CliVerb *verb, void (*visit) (const CliFlag *flag, void *data), void *data)
{
  for (const CliFlag *const *table = verb->flags; *table != NULL; table++)
    for (const CliFlag *flag = *table; flag->name != NULL; flag++)
      visit (flag, data);
  for (const CliFlag *flag = cli_common_flags; flag->name != NULL; flag++)
    if (verb->varies || flag->kind == CLI_FLAG_HEADING || !is_of_vary (flag))
      visit (flag, data);
}
