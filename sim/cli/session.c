/* One run of a verb: its flags read, its work done, what it gathers. */
#include <string.h>

#include "base/output.h"
#include "base/progress.h"
#include "base/sandbox.h"
#include "base/yaml.h"
#include "cli-private.h"
#include "engine/need.h"
#include "manual-private.h"
#include "report/workbook.h"

static const BaseName format_names[] = { { "text", CLI_FORMAT_TEXT, NULL },
                                         { "json", CLI_FORMAT_JSON, NULL },
                                         { "tsv", CLI_FORMAT_TSV, NULL },
                                         { "csv", CLI_FORMAT_CSV, NULL },
                                         { "nccl-tests", CLI_FORMAT_NCCL_TESTS, NULL },
                                         { "nccl-tests-json", CLI_FORMAT_NCCL_TESTS_JSON, NULL },
                                         { NULL, 0, NULL } };

/* Whether the ending of -o's file asks for a workbook, and the verb, the flags and this build have one. */
static gboolean
check_workbook (Cli *cli, GError **error)
{
  if (cli->output == NULL || !g_str_has_suffix (cli->output, ".xlsx"))
    return TRUE;
  if (!cli->verb->has_workbook)
    return cli_fail (cli, error, "-o '%s': plan and merge write workbooks, and this verb does not; for a spreadsheet: --format csv",
                     cli->output);
  if (cli->format_text != NULL || cli->varies != NULL)
    return cli_fail (cli, error, "-o '%s' is a workbook, which does not go with %s; leave one of them out", cli->output,
                     cli->format_text != NULL ? "--format" : "--vary");
  if (rep_workbook_library () == NULL)
    return cli_fail (
        cli, error,
        "-o '%s': this build writes no workbooks; install libxlsxwriter (Debian: libxlsxwriter-dev) and build again, or "
        "use --format csv",
        cli->output);
  cli->workbook = TRUE;
  return base_output_check (cli->output, error);
}

static gboolean
check_common (Cli *cli, GError **error)
{
  if (cli->sandbox != NULL && !base_sandbox_set (cli->sandbox, error))
    return FALSE;
  BaseName formats[G_N_ELEMENTS (format_names)] = { { NULL, 0, NULL } };
  for (int i = 0; i <= (int)cli->verb->formats; i++)
    formats[i] = format_names[i];
  int format = CLI_FORMAT_TEXT;
  if (!cli_name_value (cli, "--format", cli->format_text, formats, &format, error) ||
      !cli_count_value (cli, "--seed", cli->seed_text, 0, G_MAXINT64, &cli->seed, error))
    return FALSE;
  cli->csv = format == CLI_FORMAT_CSV;
  cli->format = cli->csv ? CLI_FORMAT_TSV : (CliFormat)format;
  for (char **set = cli->sets; set != NULL && *set != NULL; set++) {
    const char *equals = strchr (*set, '=');
    if (equals == NULL || equals == *set)
      return cli_fail (cli, error, "--set '%s' is not PATH=VALUE; for example --set node.nics.rate='200 Gb/s'", *set);
  }
  if (cli->varies == NULL && (cli->vary_plot != NULL || cli->vary_map != NULL))
    return cli_fail (cli, error, "%s goes with --vary, which says what is varied",
                     cli->vary_plot != NULL ? "--vary-plot" : "--vary-map");
  return TRUE;
}

/* Without a layout of its own: a point of --vary is one of many in the process. */
static gboolean
run_point (Cli *cli, const void *flags, char **rest, GError **error)
{
  return check_common (cli, error) && cli->verb->run (cli, flags, rest, error);
}

static gboolean
run_once (Cli *cli, char *const *words, const void *flags, char **rest, GError **error)
{
  guint64 limit_B = 0;
  cli_flags_outputs (cli, flags);
  if (!check_common (cli, error) || !cli_size_value (cli, "--limit-memory", cli->limit_text, &limit_B, error) ||
      !cli_outputs_check (cli, rest, error) || !check_workbook (cli, error) || !cli_layout_begin (cli, error))
    return FALSE;
  if (cli->limit_text != NULL)
    eng_limit_set ((double)limit_B);
  if (cli->verb->repeats || cli->varies != NULL)
    cli_keep_freed_memory ();
  cli_progress_start (cli);
  const gboolean done = cli->varies != NULL ? cli_vary (cli, words, rest, error) : cli->verb->run (cli, flags, rest, error);
  base_progress_stop ();
  cli_progress_clear ();
  return done && cli_layout_end (cli, error) && cli_spare_inputs (cli, error);
}

/* Has `sets` follow the --set values, and `format` take the place of --format. */
static void
take_point (Cli *cli, const char *const *sets, const char *format)
{
  GPtrArray *all = g_ptr_array_new ();
  for (char **set = cli->sets; set != NULL && *set != NULL; set++)
    g_ptr_array_add (all, *set);
  for (const char *const *set = sets; *set != NULL; set++)
    g_ptr_array_add (all, g_strdup (*set));
  g_ptr_array_add (all, NULL);
  g_free (cli->sets);
  cli->sets = (char **)g_ptr_array_free (all, FALSE);
  g_free (cli->format_text);
  cli->format_text = g_strdup (format);
  cli->is_point = TRUE;
}

/* What was asked for, help and --vary included; sets not NULL: a point of --vary. */
static gboolean
run (Cli *cli, char *const *words, const char *const *sets, const char *format, GError **error)
{
  g_autofree void *flags = g_malloc0 (cli->verb->size);
  g_auto (GStrv) rest = cli_flags_parse (cli, words, flags, error);
  gboolean done = rest != NULL;
  if (done && sets != NULL) {
    take_point (cli, sets, format);
    done = run_point (cli, flags, rest, error);
  } else if (done && cli->help) {
    cli_help_verb (cli->verb, cli->out);
  } else if (done) {
    done = run_once (cli, words, flags, rest, error);
  }
  for (const CliFlag *const *table = cli->verb->flags; *table != NULL; table++)
    cli_flags_clear (*table, flags);
  return done;
}

gboolean
cli_run (Cli *cli, char *const *words, GError **error)
{
  return run (cli, words, NULL, NULL, error);
}

gboolean
cli_run_point (Cli *cli, char *const *words, const char *const *sets, const char *format, GError **error)
{
  return run (cli, words, sets, format, error);
}

static void
file_free (gpointer data)
{
  CliFile *file = data;
  g_free (file->path);
  g_string_free (file->bytes, TRUE);
  g_free (file);
}

Cli *
cli_new (const CliVerb *verb, int argc, char *const *argv)
{
  Cli *cli = g_new0 (Cli, 1);
  cli->verb = verb;
  cli->command = g_new0 (char *, (gsize)argc + 1);
  cli->command[0] = g_strdup ("forerun");
  for (int i = 1; i < argc; i++)
    cli->command[i] = g_strdup (argv[i]);
  cli->seed = 1;
  cli->inputs = rep_inputs_new ();
  cli->read = g_ptr_array_new_with_free_func (g_free);
  cli->kept = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  cli->yamls = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free);
  cli->warnings = g_ptr_array_new_with_free_func (g_free);
  cli->files = g_ptr_array_new_with_free_func (file_free);
  cli->outputs = g_array_new (FALSE, FALSE, sizeof (CliOutput));
  cli->out = g_string_new (NULL);
  cli->talk = g_string_new (NULL);
  return cli;
}

void
cli_free (Cli *cli)
{
  cli_flags_clear (cli_common_flags, cli);
  g_free (cli->piped);
  g_strfreev (cli->command);
  g_ptr_array_unref (cli->files);
  g_array_unref (cli->outputs);
  g_free (cli->folder);
  g_strfreev (cli->picked);
  cst_store_clear (&cli->constants);
  g_ptr_array_unref (cli->yamls);
  g_ptr_array_unref (cli->kept);
  g_ptr_array_unref (cli->warnings);
  g_ptr_array_unref (cli->inputs);
  g_ptr_array_unref (cli->read);
  g_clear_pointer (&cli->lookup, base_lookup_free);
  base_table_free (cli->rows);
  g_clear_pointer (&cli->results, json_node_unref);
  g_string_free (cli->out, TRUE);
  g_string_free (cli->talk, TRUE);
  g_free (cli);
}
