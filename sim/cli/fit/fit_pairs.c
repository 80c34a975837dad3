/* forerun fit --pairs: the part of a cluster that is slow, from rows between pairs of NICs. */
#include "base/layout.h"
#include "calibrate/pairs.h"
#include "fit_pairs-private.h"

static const BaseColumn columns[] = {
  { "part", NULL, BASE_CELL_TEXT, 0, NULL, 0 },          { "name", NULL, BASE_CELL_TEXT, 0, NULL, 0 },
  { "others", NULL, BASE_CELL_TEXT, 0, NULL, 0 },        { "rate_Bps", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },
  { "healthy_Bps", NULL, BASE_CELL_NUMBER, 0, NULL, 0 }, { "latency_s", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },
  { "healthy_s", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },   { "lost", NULL, BASE_CELL_NUMBER, 0, NULL, 0 },
  { "rows", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },       { "partners", NULL, BASE_CELL_INTEGER, 0, NULL, 0 },
  { "sentence", NULL, BASE_CELL_TEXT, 0, NULL, 0 },      { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

static BaseTable *
table_of (const GArray *found, gboolean latency)
{
  BaseTable *table = base_table_new (columns);
  for (guint i = 0; i < found->len; i++) {
    const CalSlow *slow = &g_array_index (found, CalSlow, i);
    base_table_row (table);
    base_table_text (table, "part", cal_part_name (slow->part));
    base_table_text (table, "name", slow->name);
    base_table_text (table, "others", slow->others);
    base_table_number (table, latency ? "latency_s" : "rate_Bps", slow->value);
    base_table_number (table, latency ? "healthy_s" : "healthy_Bps", slow->healthy);
    base_table_number (table, "lost", slow->lost);
    base_table_integer (table, "rows", slow->n_rows);
    base_table_integer (table, "partners", slow->n_partners);
    base_table_text (table, "sentence", slow->sentence);
  }
  return table;
}

static void
write_text (Cli *cli, const CalPairRows *rows, const GArray *found, double typical, double spread)
{
  g_autofree char *healthy = base_quantity_show (typical, rows->latency ? BASE_DIM_TIME : BASE_DIM_BANDWIDTH);
  if (found->len == 0)
    g_string_append_printf (cli->out, "No slow part in %u measurements. They are at %s, 90 %% of them within %.1f %%.\n", rows->n,
                            healthy, spread * 100);
  else
    g_string_append_printf (cli->out, "%u slow part%s in %u measurements. The rest are at %s, 90 %% of them within %.1f %%.\n\n",
                            found->len, found->len == 1 ? "" : "s", rows->n, healthy, spread * 100);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < found->len; i++)
    g_string_append_printf (text, "%s\n", g_array_index (found, CalSlow, i).sentence);
  base_text_wrap (text, base_layout_width ());
  g_string_append (cli->out, text->str);
}

gboolean
cli_fit_pairs (Cli *cli, const char *path, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  g_ptr_array_add (cli->read, g_strdup (path));
  g_autoptr (CalPairs) pairs = cal_pairs_read (path, diag, error);
  cli_warn_all (cli, diag);
  if (pairs == NULL)
    return FALSE;
  const CalPairRows rows = cal_pairs_rows (pairs);
  double typical, spread;
  g_autoptr (GArray) found = cal_pairs_judge (&rows, &typical, &spread);
  g_autoptr (BaseTable) table = table_of (found, rows.latency);
  if (cli->format == CLI_FORMAT_TSV)
    base_table_print_tsv (table, cli->out);
  else if (cli->format == CLI_FORMAT_JSON) {
    JsonBuilder *json = cli_json_open (cli);
    base_table_build_json (table, json);
    cli_json_close (cli, json);
  } else
    write_text (cli, &rows, found, typical, spread);
  return TRUE;
}
