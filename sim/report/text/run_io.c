/* Answers of workloads of kind `io`. */
#include <math.h>

#include "explain-private.h"
#include "json-private.h"
#include "path-private.h"
#include "run-private.h"

#define NUMBER(name)                      \
  {                                       \
    name, NULL, BASE_CELL_NUMBER, 0, NULL \
  }
#define TEXT(name)                      \
  {                                     \
    name, NULL, BASE_CELL_TEXT, 0, NULL \
  }

static const BaseColumn columns[] = {
  TEXT ("op"),
  TEXT ("tier"),
  TEXT ("tier_kind"),
  TEXT ("tier_type"),
  TEXT ("path"),
  NUMBER ("bytes"),
  NUMBER ("io_bytes"),
  NUMBER ("clients"),
  NUMBER ("threads"),
  NUMBER ("queue_depth"),
  NUMBER ("in_flight"),
  NUMBER ("time_s"),
  NUMBER ("time_lo_s"),
  NUMBER ("time_hi_s"),
  NUMBER ("rate_Bps"),
  NUMBER ("iops"),
  NUMBER ("latency_s"),
  NUMBER ("client_rate_Bps"),
  NUMBER ("own_rate_Bps"),
  NUMBER ("link_rate_Bps"),
  NUMBER ("targets"),
  NUMBER ("stored_per_byte"),
  NUMBER ("cache_hits"),
  NUMBER ("opens_per_s"),
  NUMBER ("burst_s"),
  NUMBER ("by_latency_s"),
  NUMBER ("by_iops_s"),
  NUMBER ("by_stream_s"),
  NUMBER ("by_rate_s"),
  TEXT ("bottleneck"),
  TEXT ("bound_by"),
  TEXT ("provenance"),
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
table_of (const WrkIoResult *io)
{
  BaseTable *table = base_table_new (columns);
  const struct {
    const char *key;
    double value;
  } numbers[] = {
    { "bytes", io->bytes },
    { "io_bytes", io->io_B },
    { "clients", io->clients },
    { "threads", io->threads },
    { "queue_depth", io->depth },
    { "in_flight", io->in_flight * io->clients },
    { "time_s", io->time_s },
    { "time_lo_s", io->time_lo_s },
    { "time_hi_s", io->time_hi_s },
    { "rate_Bps", io->rate_Bps },
    { "iops", io->iops },
    { "latency_s", io->request_s },
    { "client_rate_Bps", io->client_rate_Bps },
    { "own_rate_Bps", io->own_Bps },
    { "link_rate_Bps", io->link_Bps },
    { "targets", io->targets },
    { "stored_per_byte", io->stored },
    { "cache_hits", io->hits },
    { "opens_per_s", io->opens_per_s },
    { "by_latency_s", io->part_s[MDL_IO_BY_LATENCY] },
    { "by_iops_s", io->part_s[MDL_IO_BY_IOPS] },
    { "by_stream_s", io->part_s[MDL_IO_BY_STREAM] },
    { "by_rate_s", io->part_s[MDL_IO_BY_RATE] },
  };
  base_table_row (table);
  base_table_text (table, "op", base_name (mdl_io_op_names, (int)io->op));
  base_table_text (table, "tier", io->tier);
  base_table_text (table, "tier_kind", io->tier_kind);
  base_table_text (table, "tier_type", io->type);
  base_table_text (table, "path", io->path);
  for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (isfinite (numbers[i].value))
      base_table_number (table, numbers[i].key, numbers[i].value);
  if (io->burst_s > 0 && isfinite (io->burst_s))
    base_table_number (table, "burst_s", io->burst_s);
  base_table_text (table, "bottleneck", io->bottleneck);
  base_table_text (table, "bound_by", io->bound_by);
  base_table_text (table, "provenance", base_source_name (io->provenance));
  return table;
}

void
rep_io_tsv (const WrkIoResult *io, GString *out)
{
  g_autoptr (BaseTable) table = table_of (io);
  base_table_print_tsv (table, out);
}

void
rep_io_json_members (const WrkIoResult *io, JsonBuilder *json)
{
  g_autoptr (BaseTable) table = table_of (io);
  base_table_build_members (table, 0, json);
}

static void
extras_text (const WrkIoResult *io, GString *out)
{
  if (io->hits > 0)
    g_string_append_printf (out, "page cache  %.3g %% of the bytes\n", io->hits * 100);
  if (io->stored > 1)
    g_string_append_printf (out, "stored      %.4g bytes for each that is written\n", io->stored);
  if (io->opens_per_s > 0)
    g_string_append_printf (out, "files       %.4g opened a second\n", io->opens_per_s);
  if (io->burst_s > 0 && io->burst_s < io->time_s) {
    g_autofree char *lasts = rep_quantity (io->burst_s, BASE_DIM_TIME),
                    *first = rep_quantity (io->burst_Bps * io->clients, BASE_DIM_BANDWIDTH),
                    *then = rep_quantity (io->after_Bps * io->clients, BASE_DIM_BANDWIDTH);
    g_string_append_printf (out, "credits     last %s at %s, then %s\n", lasts, first, then);
  }
}

void
rep_io_text (const WrkIoResult *io, GString *out)
{
  g_autofree char *size = rep_quantity (io->bytes, BASE_DIM_BYTES), *block = rep_quantity (io->io_B, BASE_DIM_BYTES),
                  *rate = rep_quantity (io->rate_Bps, BASE_DIM_BANDWIDTH),
                  *each = rep_quantity (io->client_rate_Bps, BASE_DIM_BANDWIDTH),
                  *latency = rep_quantity (io->request_s, BASE_DIM_TIME),
                  *band = rep_band (io->time_s, io->time_lo_s, io->time_hi_s);
  g_string_append_printf (out, "%-11s %s %s %s (%s%s%s), requests of %s\n", io->op == MDL_IO_READ ? "read" : "write", size,
                          io->op == MDL_IO_READ ? "from" : "to", io->tier, io->tier_kind, io->type != NULL ? ", " : "",
                          io->type != NULL ? io->type : "", block);
  g_string_append_printf (out, "in flight   %.0f (%.0f client%s, %.0f thread%s, depth %.0f)\n", io->in_flight * io->clients,
                          io->clients, io->clients > 1 ? "s" : "", io->threads, io->threads > 1 ? "s" : "", io->depth);
  g_string_append_printf (out, "time        %s\nrate        %s", band, rate);
  if (io->clients > 1)
    g_string_append_printf (out, ", %s a client", each);
  if (io->iops > 0)
    g_string_append_printf (out, "\nrequests    %.4g a second, %s each", io->iops, latency);
  g_string_append_c (out, '\n');
  extras_text (io, out);
  g_string_append_printf (out, "path        %s\n", io->path);
  if (io->bottleneck != NULL)
    g_string_append_printf (out, "bottleneck  %s\n", io->bottleneck);
  g_string_append_printf (out, "bound by    %s\nprovenance  %s\n", io->bound_by, base_source_name (io->provenance));
}

/* ---- explain ---- */

static const BaseColumn part_columns[] = {
  { "part", "part of a request", BASE_CELL_TEXT, 0, NULL },
  { "time_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.3f" },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "what", "what", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
parts_table (const WrkIoResult *io)
{
  static const char *const what[] = { "of the tier and the way, waited for", "the servers' requests a second",
                                      "bytes of one request at a time", "bytes of all, queues before links and cores" };
  BaseTable *table = base_table_new (part_columns);
  double sum_s = 0;
  for (int k = 0; k < 4; k++)
    sum_s += io->part_s[k];
  for (int k = 0; k < 4; k++) {
    base_table_row (table);
    base_table_text (table, "part", mdl_io_bound_names[k]);
    base_table_number (table, "time_s", io->part_s[k]);
    base_table_number (table, "share", sum_s > 0 ? io->part_s[k] / sum_s : 0);
    base_table_text (table, "what", what[k]);
  }
  return table;
}

void
rep_explain_io_text (const Clu *clu, const WrkIoResult *io, GString *out)
{
  rep_io_text (io, out);
  g_autofree char *own = isfinite (io->own_Bps) ? rep_quantity (io->own_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("no limit"),
                  *links = isfinite (io->link_Bps) ? rep_quantity (io->link_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("no limit");
  g_string_append_printf (out, "\na client    min (%s by what is in flight, %s of links, cores and decoders)\n", own, links);
  g_string_append (out, "formula     T = ((o / N)^p + d^p)^(1/p), o = latency + block / stream, d = 1 / iops + block / rate\n");
  g_string_append (out, "\n# a request, queues included: in flight / requests a second\n");
  g_autoptr (BaseTable) parts = parts_table (io);
  base_table_print_text (parts, out);
  if (io->route.hops != NULL && io->route.hops->len > 0) {
    g_string_append (out, "\n# way of the first client, hop by hop\n");
    rep_hops_text (clu, &io->route, out);
  }
}

void
rep_explain_io_tsv (const WrkIoResult *io, GString *out)
{
  g_autoptr (BaseTable) parts = parts_table (io);
  base_table_print_tsv (parts, out);
}

void
rep_explain_io_json (const Clu *clu, const WrkIoResult *io, JsonBuilder *json)
{
  json_builder_begin_object (json);
  rep_io_json_members (io, json);
  json_builder_set_member_name (json, "parts");
  g_autoptr (BaseTable) parts = parts_table (io);
  base_table_build_json (parts, json);
  rep_hops_json (clu, &io->route, json);
  json_builder_end_object (json);
}
