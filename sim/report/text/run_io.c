/* Answers of workloads of kind `io`. */
#include <math.h>

#include "explain-private.h"
#include "json-private.h"
#include "path-private.h"
#include "run-private.h"

BASE_MEMBER_NUMBER_OF (in_flight_of_all, StoIoResult, it->in_flight * it->clients)

#define MEMBER(...) BASE_MEMBER (StoIoResult, __VA_ARGS__)
const BaseMember rep_io_members[] = {
  MEMBER ("op", op, .names = mdl_io_op_names),
  MEMBER ("tier", tier),
  MEMBER ("tier_kind", tier_kind),
  MEMBER ("tier_type", type),
  MEMBER ("path", path),
  MEMBER ("bytes", bytes),
  MEMBER ("io_bytes", io_B),
  MEMBER ("clients", clients),
  MEMBER ("threads", threads),
  MEMBER ("queue_depth", depth),
  { .key = "in_flight", .number = in_flight_of_all },
  MEMBER ("time_s", time_s),
  MEMBER ("time_lo_s", time_lo_s),
  MEMBER ("time_hi_s", time_hi_s),
  MEMBER ("rate_Bps", rate_Bps),
  MEMBER ("iops", iops),
  MEMBER ("latency_s", request_s),
  MEMBER ("client_rate_Bps", client_rate_Bps),
  MEMBER ("own_rate_Bps", own_Bps),
  MEMBER ("link_rate_Bps", link_Bps),
  MEMBER ("targets", targets),
  MEMBER ("stored_per_byte", stored),
  MEMBER ("cache_hits", hits),
  MEMBER ("opens_per_s", opens_per_s),
  MEMBER ("burst_s", burst_s, .positive = TRUE),
  MEMBER ("by_latency_s", part_s[MDL_IO_BY_LATENCY]),
  MEMBER ("by_iops_s", part_s[MDL_IO_BY_IOPS]),
  MEMBER ("by_stream_s", part_s[MDL_IO_BY_STREAM]),
  MEMBER ("by_rate_s", part_s[MDL_IO_BY_RATE]),
  MEMBER ("bottleneck", bottleneck),
  MEMBER ("bound_by", bound_by),
  MEMBER ("provenance", provenance, .names = base_source_names),
  BASE_MEMBER_END,
};

static void
say (const StoIoResult *io, GString *out, const char *text)
{
  rep_say (out, rep_io_members, io, text);
}

static void
extras_text (const StoIoResult *io, GString *out)
{
  if (io->hits > 0)
    say (io, out, "page cache  {cache_hits*100:%.3g} % of the bytes\n");
  if (io->stored > 1)
    say (io, out, "stored      {stored_per_byte:%.4g} bytes per byte written\n");
  if (io->opens_per_s > 0)
    say (io, out, "files       {opens_per_s:,} opened/s\n");
  if (io->burst_s > 0 && io->burst_s < io->time_s) {
    g_autofree char *first = rep_quantity (io->burst_Bps * io->clients, BASE_DIM_BANDWIDTH),
                    *then = rep_quantity (io->after_Bps * io->clients, BASE_DIM_BANDWIDTH);
    say (io, out, "credits     last {burst_s}");
    g_string_append_printf (out, " at %s, then %s\n", first, then);
  }
}

void
rep_io_text (const void *of, GString *out)
{
  const StoIoResult *io = of;
  g_autofree char *band = rep_band (io->time_s, io->time_lo_s, io->time_hi_s);
  say (io, out,
       io->op == MDL_IO_READ ? "read        {bytes} from {tier} ({tier_kind}" : "write       {bytes} to {tier} ({tier_kind}");
  say (io, out, io->type != NULL ? ", {tier_type}), requests of {io_bytes}\n" : "), requests of {io_bytes}\n");
  say (io, out, "in flight   {in_flight:%.0f} ({clients#client}, {threads#thread}, depth {queue_depth:%.0f})\n");
  g_string_append_printf (out, "time        %s\n", band);
  say (io, out, io->clients > 1 ? "rate        {rate_Bps}, {client_rate_Bps} per client" : "rate        {rate_Bps}");
  if (io->iops > 0)
    say (io, out, "\nrequests    {iops:,} requests/s, {latency_s} each");
  g_string_append_c (out, '\n');
  extras_text (io, out);
  say (io, out, "path        {path}\n");
  if (io->bottleneck != NULL)
    say (io, out, "bottleneck  {bottleneck}\n");
  say (io, out, "limited by  {bound_by}\nprovenance  {provenance}\n");
}

/* ---- explain ---- */

static const BaseColumn part_columns[] = {
  { "part", "part of a request", BASE_CELL_TEXT, 0, NULL, 0 },
  { "time_s", "time", BASE_CELL_NUMBER, 0, NULL, 0 },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.1f", 0 },
  { "what", "what", BASE_CELL_TEXT, 0, NULL, 0 },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL, 0 },
};

BaseTable *
rep_explain_io_table (const StoIoResult *io)
{
  static const char *const what[] = { "latency of the tier and the route", "limit of the servers' requests/s",
                                      "bytes of one request, one stream", "bytes of all requests: queues at links and cores" };
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
rep_explain_io_text (const Clu *clu, const StoIoResult *io, GString *out)
{
  rep_io_text (io, out);
  g_autofree char *own = isfinite (io->own_Bps) ? rep_quantity (io->own_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("no limit"),
                  *links = isfinite (io->link_Bps) ? rep_quantity (io->link_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("no limit");
  g_string_append_printf (out, "\nper client  min (%s by requests in flight, %s by links, cores and decoders)\n", own, links);
  g_string_append (out, "formula     T = ((o / N)^p + d^p)^(1/p), o = latency + block / stream, d = 1 / iops + block / rate\n");
  g_string_append (out, "\n# time of one request with queueing: requests in flight / requests per second\n");
  rep_text (rep_explain_io_table (io), out);
  if (io->route.hops != NULL && io->route.hops->len > 0) {
    g_string_append (out, "\n# route of the first client, hop by hop\n");
    rep_hops_text (clu, &io->route, out);
  }
}

void
rep_explain_io_json (const Clu *clu, const StoIoResult *io, JsonBuilder *json)
{
  json_builder_begin_object (json);
  base_members_json (rep_io_members, io, json);
  rep_json_table (json, "parts", rep_explain_io_table (io));
  rep_hops_json (clu, &io->route, json);
  json_builder_end_object (json);
}
