#include <string.h>

#include "base/file.h"
#include "base/output.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli-private.h"

void
cli_warn (Cli *cli, const char *text)
{
  base_add_once (cli->warnings, text);
}

void
cli_warn_all (Cli *cli, const BaseDiag *diag)
{
  for (unsigned i = 0; i < base_diag_n_warnings (diag); i++)
    cli_warn (cli, base_diag_warning (diag, i));
}

ScnHost
cli_host_open (Cli *cli)
{
  return (ScnHost){ .lookup = cli->lookup,
                    .load = cst_store_share,
                    .user = &cli->constants,
                    .inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)base_yaml_free),
                    .warnings = g_ptr_array_new_with_free_func (g_free) };
}

void
cli_host_close (Cli *cli, ScnHost *host)
{
  for (guint i = 0; i < host->warnings->len; i++)
    cli_warn (cli, host->warnings->pdata[i]);
  cli_take_inputs (cli, host->inputs);
  g_ptr_array_unref (host->warnings);
  g_ptr_array_unref (host->inputs);
}

Clu *
cli_cluster_load (Cli *cli, const char *topology, guint32 nodes, GError **error)
{
  if (!cli_lookup (cli, error))
    return NULL;
  ScnHost host = cli_host_open (cli);
  Clu *clu = scn_cluster_load (&host, topology, (const char *const *)cli->sets, nodes, cli->seed, error);
  cli_host_close (cli, &host);
  if (clu == NULL)
    cli_tell_kind (cli, topology, "topology", error);
  return clu;
}

/* Folder of shipped data: paths below it are printed without it. */
static const char *
data_root (const Cli *cli)
{
  return cli->lookup != NULL ? base_lookup_root (cli->lookup) : NULL;
}

void
cli_take_inputs (Cli *cli, const GPtrArray *yamls)
{
  rep_inputs_add_yamls (cli->inputs, yamls, data_root (cli));
  for (guint i = 0; i < yamls->len; i++)
    base_add_once (cli->read, base_yaml_path (g_ptr_array_index (yamls, i)));
}

void
cli_take_input (Cli *cli, const char *path, const char *bytes, gsize n_B)
{
  rep_inputs_add (cli->inputs, path, data_root (cli), bytes, n_B);
  base_add_once (cli->read, path);
}

static gboolean
fail_input (const Cli *cli, const char *path, GError **error)
{
  return cli_fail (cli, error, "'%s' is an input of this run and is not replaced; name another file to write", path);
}

/* A device or a pipe may be read and written. */
static gboolean
spare (const Cli *cli, const char *path, GError **error)
{
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return TRUE;
  for (guint i = 0; i < cli->read->len; i++)
    if (base_output_same (path, g_ptr_array_index (cli->read, i)))
      return fail_input (cli, path, error);
  return TRUE;
}

gboolean
cli_spare_inputs (const Cli *cli, GError **error)
{
  gboolean good = TRUE;
  for (guint i = 0; good && i < cli->outputs->len; i++)
    good = spare (cli, g_array_index (cli->outputs, CliOutput, i).path, error);
  for (guint i = 0; good && i < cli->files->len; i++)
    good = spare (cli, ((const CliFile *)g_ptr_array_index (cli->files, i))->path, error);
  return good;
}

/* "-o", "--trace". Returned: full. */
static char *
output_flag (const CliOutput *output)
{
  return output->letter != 0 ? g_strdup_printf ("-%c", output->letter) : g_strconcat ("--", output->flag, NULL);
}

/* A word is taken for a file where it looks like a path: `list gpus -o gpus` may be asked twice. */
static gboolean
is_word (const char *path, char *const *words)
{
  for (; *words != NULL; words++)
    if (strpbrk (*words, "./") != NULL && base_file_is_file (*words) && base_output_same (path, *words))
      return TRUE;
  return FALSE;
}

gboolean
cli_outputs_check (const Cli *cli, char *const *words, GError **error)
{
  for (guint i = 0; i < cli->outputs->len; i++) {
    const CliOutput *output = &g_array_index (cli->outputs, CliOutput, i);
    g_autofree char *flag = output_flag (output);
    if (*output->path == '\0')
      return cli_fail (cli, error, "%s '' names no file", flag);
    if (!base_sandbox_may_write (output->path, error))
      return FALSE;
    for (guint k = 0; k < i; k++) {
      const CliOutput *other = &g_array_index (cli->outputs, CliOutput, k);
      g_autofree char *other_flag = output_flag (other);
      if (base_output_same (output->path, other->path))
        return cli_fail (cli, error, "%s and %s name the same file '%s'", flag, other_flag, output->path);
    }
    if (is_word (output->path, words))
      return fail_input (cli, output->path, error);
  }
  return TRUE;
}

/* TRUE where a flag other than `flag` (with its dashes) or an earlier file leads to `path`. */
static gboolean
is_taken (const Cli *cli, const char *flag, const char *path)
{
  gboolean taken = FALSE;
  for (guint i = 0; i < cli->outputs->len && !taken; i++) {
    const CliOutput *output = &g_array_index (cli->outputs, CliOutput, i);
    taken = strcmp (output->flag, flag + strspn (flag, "-")) != 0 && base_output_same (output->path, path);
  }
  for (guint i = 0; i < cli->files->len && !taken; i++)
    taken = base_output_same (((const CliFile *)g_ptr_array_index (cli->files, i))->path, path);
  return taken;
}

gboolean
cli_add_file (Cli *cli, const char *flag, const char *path, GString *bytes, GError **error)
{
  if (is_taken (cli, flag, path)) {
    g_string_free (bytes, TRUE);
    return cli_fail (cli, error, "%s writes '%s', which another flag names too; name another file", flag, path);
  }
  CliFile *file = g_new (CliFile, 1);
  *file = (CliFile){ g_strdup (path), bytes };
  g_ptr_array_add (cli->files, file);
  return TRUE;
}

gboolean
cli_make_folder (Cli *cli, const char *flag, const char *folder, GError **error)
{
  if (g_file_test (folder, G_FILE_TEST_EXISTS) && !g_file_test (folder, G_FILE_TEST_IS_DIR))
    return cli_fail (cli, error, "%s '%s' is a file; a folder is accepted, or a name for a new one", flag, folder);
  g_free (cli->folder);
  cli->folder = g_strdup (folder);
  return TRUE;
}

RepEnvelope
cli_envelope (const Cli *cli)
{
  return (RepEnvelope){ .version = FORERUN_VERSION,
                        .command = (const char *const *)cli->command,
                        .seed = cli->seed,
                        .inputs = cli->inputs,
                        .warnings = cli->warnings };
}

JsonBuilder *
cli_json_open (const Cli *cli)
{
  const RepEnvelope envelope = cli_envelope (cli);
  return rep_envelope_open (&envelope);
}

void
cli_json_close (Cli *cli, JsonBuilder *json)
{
  const RepEnvelope envelope = cli_envelope (cli);
  if (cli->is_point) {
    json_builder_end_object (json);
    g_autoptr (JsonNode) root = json_builder_get_root (json);
    cli->results = json_object_dup_member (json_node_get_object (root), "results");
    g_object_unref (json);
    return;
  }
  g_autofree char *text = rep_envelope_close (json, &envelope);
  g_string_append (cli->out, text);
}

void
cli_rows (Cli *cli, BaseTable *rows)
{
  if (cli->is_point) {
    cli->rows = rows;
    return;
  }
  base_table_print_tsv (rows, cli->out);
  base_table_free (rows);
}
