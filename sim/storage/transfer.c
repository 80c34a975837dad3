/* Copies between devices, one or several at the same time, over the path asked for or the fastest of them. */
#include <math.h>
#include <string.h>

#include "cluster/hostlist.h"
#include "engine/need.h"
#include "storage/transfer.h"

/* Most copies at once that are named by ranges. */
#define MOST_COPIES 65536u

/* ---- ends: "gpu0", "node[0-1].gpu[0-3]", several of these by commas ---- */

/* Returned: full, of char *; NULL and *error. */
static GPtrArray *
names_of (const BaseStr *name, GError **error)
{
  g_autoptr (GPtrArray) out = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) words = g_strsplit (name->v, ",", -1);
  gboolean good = TRUE;
  for (char **word = words; *word != NULL && good && out->len <= MOST_COPIES; word++)
    good = clu_hostlist_expand_name (g_strstrip (*word), out);
  if (out->len > MOST_COPIES)
    col_fail_at (error, name->mark, "'%s' names more than %u devices", name->v, MOST_COPIES);
  else if (!good)
    col_fail_at (error, name->mark, "'%s' is no range of devices; accepted: gpu[0-3], node[0-1].gpu0, gpu0,gpu2", name->v);
  else if (out->len == 0)
    col_fail_at (error, name->mark, "'' names no device; accepted: gpu0, gpu[0-3], node1.gpu0, storage.NAME …");
  else
    return g_steal_pointer (&out);
  return NULL;
}

static gboolean
find_end (const ColSystem *system, const BaseStr *name, const char *word, CluDev *dev, GError **error)
{
  g_autoptr (GError) why = NULL;
  *dev = clu_find (system->clu, word, &why);
  return why == NULL || col_fail_at (error, name->mark, "%s", why->message);
}

/* What is copied, with the names that it rests on. */
typedef struct {
  GPtrArray *from, *to; /* char *, owned */
  GArray *pairs;        /* StoPair */
  gboolean nothing;     /* the one pair there is has one device twice */
  guint n, stripes;     /* pairs that are named; drives that the widest of them is striped over */
} Ends;

static void
ends_clear (Ends *ends)
{
  g_clear_pointer (&ends->from, g_ptr_array_unref);
  g_clear_pointer (&ends->to, g_ptr_array_unref);
  g_clear_pointer (&ends->pairs, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Ends, ends_clear)

/* "node0.nvme" without a number: all drives of the node, as where a tier is asked for. Returned: how many; 1 of all else. */
static guint32
drives_of (const Clu *clu, const char *name, CluDev dev)
{
  return g_str_has_suffix (name, "nvme") && clu_dev_kind (clu, dev) == CLU_DEV_NVME
             ? clu_node_n (clu, clu_dev_node (clu, dev), CLU_DEV_NVME)
             : 1;
}

/* The pair, a copy a drive where an end is several. */
static void
add_stripes (const ColSystem *system, const StoTransferSpec *spec, Ends *ends, const StoPair *whole)
{
  const Clu *clu = system->clu;
  guint32 from = drives_of (clu, whole->from_name, whole->from), to = drives_of (clu, whole->to_name, whole->to),
          n = MAX (from, to);
  ends->n += spec->both_ways.v ? 2 : 1;
  ends->stripes = MAX (ends->stripes, n);
  for (guint32 i = 0; i < n; i++) {
    StoPair part = *whole;
    part.share = 1.0 / n;
    if (from > 1)
      part.from = clu_node_device (clu, clu_dev_node (clu, whole->from), CLU_DEV_NVME, i % from);
    if (to > 1)
      part.to = clu_node_device (clu, clu_dev_node (clu, whole->to), CLU_DEV_NVME, i % to);
    g_array_append_val (ends->pairs, part);
    const StoPair back = { part.to, part.from, part.to_name, part.from_name, part.share };
    if (spec->both_ways.v)
      g_array_append_val (ends->pairs, back);
  }
}

static gboolean
add_pair (const ColSystem *system, const StoTransferSpec *spec, Ends *ends, guint i, guint k, gboolean only, GError **error)
{
  StoPair pair = { .from_name = ends->from->pdata[i], .to_name = ends->to->pdata[k] };
  if (!find_end (system, &spec->from, pair.from_name, &pair.from, error) ||
      !find_end (system, &spec->to, pair.to_name, &pair.to, error))
    return FALSE;
  ends->nothing = only && pair.from == pair.to;
  if (pair.from == pair.to && !only && spec->pairs.v == 0)
    return col_fail_at (error, spec->to.mark, "'%s' would copy to itself; `pairs: all` leaves that out", pair.from_name);
  if (pair.from == pair.to)
    return TRUE;
  add_stripes (system, spec, ends, &pair);
  return ends->pairs->len <= MOST_COPIES || col_fail_at (error, spec->to.mark, "more than %u copies at once", MOST_COPIES);
}

static gboolean
find_pairs (const ColSystem *system, const StoTransferSpec *spec, Ends *ends, GError **error)
{
  ends->from = names_of (&spec->from, error);
  ends->to = ends->from != NULL ? names_of (&spec->to, error) : NULL;
  ends->pairs = g_array_new (FALSE, FALSE, sizeof (StoPair));
  if (ends->to == NULL)
    return FALSE;
  guint n = ends->from->len, m = ends->to->len;
  gboolean all = spec->pairs.v == 1;
  if (!all && n != m && n > 1 && m > 1)
    return col_fail_at (error, spec->to.mark, "'%s' are %u devices and '%s' %u; accepted: as many, one, or `pairs: all`",
                        spec->from.v, n, spec->to.v, m);
  for (guint i = 0; i < (all ? n : MAX (n, m)); i++)
    for (guint k = 0; k < (all ? m : 1); k++)
      if (!add_pair (system, spec, ends, all || n > 1 ? i : 0, all ? k : m > 1 ? i : 0, MAX (n, m) == 1, error))
        return FALSE;
  return ends->nothing || ends->pairs->len > 0 ||
         col_fail_at (error, spec->to.mark, "nothing is copied: each is its own other end");
}

gboolean
sto_check_transfer (const ColSystem *system, const StoTransferSpec *spec, GError **error)
{
  g_auto (Ends) ends = { 0 };
  return find_pairs (system, spec, &ends, error);
}

/* ---- the run ---- */

void
sto_transfer_flow (ColNet *net, const StoTransferResult *transfer, guint i, GArray *uses, EngFlowSpec *spec)
{
  const StoCopy *copy = transfer->copies->pdata[i];
  g_array_set_size (uses, 0);
  for (guint u = 0; u < copy->uses->len; u++) {
    const CluUse *use = &g_array_index (copy->uses, CluUse, u);
    EngUse eng_use = { col_net_link (net, use->res), use->share };
    g_array_append_val (uses, eng_use);
  }
  *spec = (EngFlowSpec){ .amount = copy->size_B,
                         .bound_per_s = copy->cost.bound_Bps,
                         .latency = eng_time_from_s (copy->cost.latency_s),
                         .uses = (const EngUse *)(const void *)uses->data,
                         .n_uses = uses->len };
}

void
sto_transfer_count (ColNet *net, const StoTransferResult *transfer)
{
  for (guint i = 0; transfer->copies != NULL && i < transfer->copies->len; i++) {
    const StoCopy *copy = transfer->copies->pdata[i];
    for (guint u = 0; u < copy->uses->len; u++) {
      const CluUse *use = &g_array_index (copy->uses, CluUse, u);
      col_net_count (net, use->res, copy->size_B * transfer->count * use->share, 1, 1);
    }
  }
}

/* Before they are started. */
static gboolean
copies_fit (const StoTransferSpec *spec, const StoTransferResult *out, GError **error)
{
  EngNeed need = { .flows = out->copies->len * out->count };
  g_autoptr (GError) why = NULL;
  for (guint c = 0; c < out->copies->len; c++)
    need.crossings += ((const StoCopy *)out->copies->pdata[c])->uses->len * out->count;
  return eng_need_fits (&need, "copies at the same time", &why) || col_fail_at (error, spec->count.mark, "%s", why->message);
}

/* All copies on the engine: they share what they cross. */
static gboolean
run_copies (ColNet *net, StoTransferResult *out, guint64 *n_events, GError **error)
{
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  Eng *eng = col_net_engine (net);
  for (guint c = 0; c < out->copies->len; c++) {
    EngFlowSpec spec;
    sto_transfer_flow (net, out, c, uses, &spec);
    for (double i = 0; i < out->count; i++)
      eng_flow_start (eng, &spec);
  }
  if (!eng_run (eng, ENG_TIME_NEVER, 0, error))
    return FALSE;
  out->time_s = eng_time_to_s (eng_now (eng));
  *n_events = eng_stats (eng).events;
  return TRUE;
}

static void
name_bound (const ColSystem *system, const StoCopy *slowest, StoTransferResult *out)
{
  g_strlcpy (out->bound_by, "latency", sizeof out->bound_by);
  if (slowest == NULL || slowest->busiest == CLU_NONE)
    return;
  out->bottleneck = clu_resource_name (system->clu, slowest->busiest);
  if (out->time_s > 2 * out->cost.latency_s)
    g_strlcpy (out->bound_by,
               slowest->by_copier && slowest->storage != NULL ? slowest->storage
               : slowest->by_copier                           ? "host"
                                                              : clu_resource_class (system->clu, slowest->busiest),
               sizeof out->bound_by);
}

/* From a device to itself: there is nothing to move and no way to name. */
static void
copy_nothing (StoTransferResult *out)
{
  memset (&out->cost, 0, sizeof out->cost);
  out->cost.wire = 1;
  out->cost.bound_Bps = out->wire_rate_Bps = HUGE_VAL;
  out->cost.source = BASE_SOURCE_MEASURED;
}

/* The slowest by the closed form is the one that people are shown. */
static const StoCopy *
slowest_of (const StoTransferResult *transfer)
{
  const StoCopy *slowest = transfer->copies->pdata[0];
  for (guint i = 1; i < transfer->copies->len; i++) {
    const StoCopy *copy = transfer->copies->pdata[i];
    slowest = copy->time_s > slowest->time_s ? copy : slowest;
  }
  return slowest;
}

static void
take_slowest (StoTransferResult *out)
{
  const StoCopy *slowest = slowest_of (out);
  clu_route_clear (&out->route);
  out->route = slowest->route;
  g_array_ref (out->route.uses);
  g_array_ref (out->route.hops);
  out->cost = slowest->cost;
  out->wire_rate_Bps = slowest->wire_rate_Bps;
  out->path = slowest->path;
  out->part_B = slowest->size_B;
  out->transport = clu_transport_name (out->route.transport);
  out->path_class = clu_path_class_name (out->route.path_class);
  out->time_s = slowest->time_s;
}

static gboolean
price (const ColSystem *system, const StoTransferSpec *spec, const Ends *ends, StoTransferResult *out, GError **error)
{
  const StoCopies copies = { .pair = (const StoPair *)(const void *)ends->pairs->data,
                             .n = ends->pairs->len,
                             .size_B = spec->bytes.v,
                             .count = spec->count.v,
                             .path = (StoPath)spec->path.v,
                             .by = (StoBy)spec->by.v,
                             .pageable = spec->memory.v == STO_MEMORY_PAGEABLE,
                             .managed = spec->memory.v == STO_MEMORY_MANAGED,
                             .streams = spec->streams.v,
                             .queued = spec->queued.v,
                             .in_flight = spec->in_flight.v,
                             .ways = system->storage };
  g_autoptr (GError) why = NULL;
  StoFault fault = STO_FAULT_ROUTE;
  out->copies = sto_copies_price (system->clu, &system->settings, &copies, &fault, &why);
  if (out->copies == NULL)
    return col_fail_at (error,
                        fault == STO_FAULT_ROUTE  ? spec->to.mark
                        : fault == STO_FAULT_PATH ? spec->path.mark
                                                  : spec->by.mark,
                        "%s", why->message);
  take_slowest (out);
  return TRUE;
}

/* By the path asked for, in the mode asked for. */
static gboolean
copy (const ColSystem *system, const StoTransferSpec *spec, const Ends *ends, StoTransferResult *out, ColRunInfo *info,
      GError **error)
{
  if (!price (system, spec, ends, out, error))
    return FALSE;
  g_autoptr (ColNet) net = col_net_new (system->clu);
  if (system->settings.mode != COL_MODE_MODEL && !(copies_fit (spec, out, error) && run_copies (net, out, &info->n_events, error)))
    return FALSE;
  sto_transfer_count (net, out);
  col_run_add_links (info, system->clu, net, out->time_s);
  col_run_network_cpu (info, system,
                       &(ColNetworkUse){ .net = net, .time_s = out->time_s, .tcp = out->route.transport == CLU_TRANSPORT_TCP });
  if (spec->memory.v == STO_MEMORY_PAGEABLE) /* a thread of the driver copies between pageable memory and its own */
    col_run_cpu (info, COL_CPU_COPIES, MAX (out->pairs, 1u));
  return TRUE;
}

gboolean
sto_run_transfer (const ColSystem *system, const StoTransferSpec *spec, StoTransferResult *out, ColRunInfo *info, GError **error)
{
  g_auto (Ends) ends = { 0 };
  if (!find_pairs (system, spec, &ends, error))
    return FALSE;
  out->bytes = spec->bytes.v;
  out->count = spec->count.v;
  out->pairs = ends.n;
  out->stripes = ends.stripes;
  if (ends.nothing) {
    copy_nothing (out);
    col_run_warn (info, "'%s' and '%s' are the same device: nothing is copied", spec->from.v, spec->to.v);
  } else if (!copy (system, spec, &ends, out, info, error))
    return FALSE;
  gboolean one = ends.from->len == 1 && ends.to->len == 1;
  CluDev from = CLU_NONE, to = CLU_NONE;
  if (one && (!find_end (system, &spec->from, ends.from->pdata[0], &from, error) ||
              !find_end (system, &spec->to, ends.to->pdata[0], &to, error)))
    return FALSE;
  /* a name without a number stands for all drives */
  gboolean drives_out = one && drives_of (system->clu, spec->from.v, from) > 1,
           drives_in = one && drives_of (system->clu, spec->to.v, to) > 1;
  out->from = one && !drives_out ? clu_dev_name (system->clu, from) : g_strdup (spec->from.v);
  out->to = one && !drives_in ? clu_dev_name (system->clu, to) : g_strdup (spec->to.v);
  out->time_lo_s = out->time_s / (1 + out->cost.band);
  out->time_hi_s = out->time_s * (1 + out->cost.band);
  out->rate_Bps = out->time_s > 0 ? out->bytes / out->time_s : 0;
  out->provenance = out->cost.source;
  for (guint i = 0; i < out->route.uses->len; i++)
    out->provenance = MIN (out->provenance, clu_resource_source (system->clu, g_array_index (out->route.uses, CluUse, i).res));
  name_bound (system, out->copies != NULL ? slowest_of (out) : NULL, out);
  return TRUE;
}

void
sto_transfer_result_clear (StoTransferResult *result)
{
  clu_route_clear (&result->route);
  g_clear_pointer (&result->copies, g_ptr_array_unref);
  g_clear_pointer (&result->from, g_free);
  g_clear_pointer (&result->to, g_free);
  g_clear_pointer (&result->bottleneck, g_free);
}
