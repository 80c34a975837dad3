#include "json-private.h"
#include "run-private.h"

static const BaseColumn columns[] = {
  { "from", NULL, BASE_CELL_TEXT, 0, NULL },        { "to", NULL, BASE_CELL_TEXT, 0, NULL },
  { "bytes", NULL, BASE_CELL_NUMBER, 0, NULL },     { "count", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "time_s", NULL, BASE_CELL_NUMBER, 0, NULL },    { "time_lo_s", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "time_hi_s", NULL, BASE_CELL_NUMBER, 0, NULL }, { "rate_Bps", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "path", NULL, BASE_CELL_TEXT, 0, NULL },        { "path_class", NULL, BASE_CELL_TEXT, 0, NULL },
  { "transport", NULL, BASE_CELL_TEXT, 0, NULL },   { "wire_rate_Bps", NULL, BASE_CELL_NUMBER, 0, NULL },
  { "bottleneck", NULL, BASE_CELL_TEXT, 0, NULL },  { "bound_by", NULL, BASE_CELL_TEXT, 0, NULL },
  { "provenance", NULL, BASE_CELL_TEXT, 0, NULL },  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
table_of (const WrkTransferResult *transfer)
{
  BaseTable *table = base_table_new (columns);
  base_table_row (table);
  base_table_text (table, "from", transfer->from);
  base_table_text (table, "to", transfer->to);
  base_table_number (table, "bytes", transfer->bytes);
  base_table_number (table, "count", transfer->count);
  base_table_number (table, "time_s", transfer->time_s);
  base_table_number (table, "time_lo_s", transfer->time_lo_s);
  base_table_number (table, "time_hi_s", transfer->time_hi_s);
  base_table_number (table, "rate_Bps", transfer->rate_Bps);
  base_table_text (table, "path", transfer->path);
  base_table_text (table, "path_class", transfer->path_class);
  base_table_text (table, "transport", transfer->transport);
  base_table_number (table, "wire_rate_Bps", transfer->wire_rate_Bps);
  base_table_text (table, "bottleneck", transfer->bottleneck);
  base_table_text (table, "bound_by", transfer->bound_by);
  base_table_text (table, "provenance", base_source_name (transfer->provenance));
  return table;
}

void
rep_transfer_tsv (const WrkTransferResult *transfer, GString *out)
{
  g_autoptr (BaseTable) table = table_of (transfer);
  base_table_print_tsv (table, out);
}

void
rep_transfer_json_members (const WrkTransferResult *transfer, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = table_of (transfer);
  base_table_build_members (table, 0, json);
}

void
rep_transfer_text (const WrkTransferResult *transfer, GString *out)
{
  g_autofree char *size = rep_quantity (transfer->bytes, BASE_DIM_BYTES),
                  *rate = rep_quantity (transfer->rate_Bps, BASE_DIM_BANDWIDTH),
                  *wire = rep_quantity (transfer->wire_rate_Bps, BASE_DIM_BANDWIDTH),
                  *band = rep_band (transfer->time_s, transfer->time_lo_s, transfer->time_hi_s);
  guint pairs = transfer->pairs;
  gboolean several = transfer->count > 1 || pairs > 1;
  g_string_append_printf (out, "copy        %s -> %s, %s", transfer->from, transfer->to, size);
  if (several)
    g_string_append_printf (out, ", %.0f at the same time", transfer->count * MAX (pairs, 1));
  if (transfer->stripes > 1)
    g_string_append_printf (out, ", striped over %u drives", transfer->stripes);
  g_string_append_printf (out, "\ntime        %s\n", band);
  g_string_append_printf (out, "rate        %s%s; alone %s carries %s\n", rate, several ? " each" : "",
                          transfer->stripes > 1 ? "the route of one drive" : "its route", wire);
  g_string_append_printf (out, "path        %s (%s, %s)\n", transfer->path != NULL ? transfer->path : "-",
                          transfer->path_class != NULL ? transfer->path_class : "-",
                          transfer->transport != NULL ? transfer->transport : "-");
  if (transfer->bottleneck != NULL)
    g_string_append_printf (out, "bottleneck  %s\n", transfer->bottleneck);
  g_string_append_printf (out, "bound by    %s\nprovenance  %s\n", transfer->bound_by, base_source_name (transfer->provenance));
}
