/* Reads and writes beside others, as flows on a network that others load too, or as one activity. See storage/io_run.h. */
#include <math.h>

#include "base/stats.h"
#include "io-private.h"

/* Where nothing is known that holds a client back. */
#define BOUNDLESS_BPS 1e15

struct StoIoRun {
  StoWork work;
  StoIoSpec spec;
  StoIoResult out;
  guint32 under_way; /* clients */
  EngFn done;
  void *user;
  uint64_t arg;
};

StoIoRun *
sto_io_run_new (const ColSystem *system, const StoIoSpec *spec, GError **error)
{
  StoIoRun *io = g_new0 (StoIoRun, 1);
  io->spec = *spec;
  io->work = (StoWork){ .system = system, .spec = &io->spec, .out = &io->out };
  if (sto_work_plan (&io->work, error)) {
    sto_work_answer (&io->work);
    return io;
  }
  sto_io_run_free (io);
  return NULL;
}

void
sto_io_run_free (StoIoRun *io)
{
  sto_work_clear (&io->work);
  sto_io_result_clear (&io->out);
  g_free (io);
}

const StoIoResult *
sto_io_run_result (const StoIoRun *io)
{
  return &io->out;
}

static void
client_ended (Eng *eng, void *user, uint64_t arg)
{
  StoIoRun *io = user;
  (void)arg;
  if (--io->under_way == 0 && io->done != NULL)
    io->done (eng, io->user, io->arg);
}

/* The servers of a client's tier; a node's drives are its own. */
static EngLink
servers_of (const StoWork *work, guint32 client, ColNet *net)
{
  gboolean local = work->tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  guint32 node = sto_io_place (work->homes, client).node;
  return col_net_other (net, COL_NET_TIER, local ? clu_node_device (work->system->clu, node, CLU_DEV_NVME, 0) : work->dev, 1);
}

void
sto_io_run_start (StoIoRun *io, ColNet *net, double least_s, EngFn done, void *user, uint64_t arg)
{
  const StoWork *work = &io->work;
  g_return_if_fail (io->under_way == 0);
  io->done = done;
  io->user = user;
  io->arg = arg;
  g_autofree EngLink *link = sto_work_links (work, net);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  double busy_s_per_B = mdl_tier_busy_s_per_B (&work->tier, &work->question) * work->misses * sto_work_packed (work);
  double bound_Bps = sto_work_own_Bps (work, &work->cost), each_B = io->out.bytes / work->n;
  if (least_s > 0)
    bound_Bps = fmin (bound_Bps, each_B / least_s);
  for (guint32 i = 0; i < (guint32)work->n; i++) {
    EngFlowSpec spec = sto_work_flow (work, i, link, bound_Bps, uses);
    EngUse servers = { servers_of (work, i, net), busy_s_per_B };
    if (busy_s_per_B > 0)
      g_array_append_val (uses, servers);
    spec.uses = (const EngUse *)(const void *)uses->data;
    spec.n_uses = uses->len;
    spec.done = client_ended;
    spec.user = io;
    io->under_way++;
    eng_flow_start (col_net_engine (net), &spec);
  }
}

void
sto_io_run_count (const StoIoRun *io, ColNet *net, double times)
{
  sto_work_count (&io->work, net, times);
}

/* ---- the same as one activity ---- */

void
sto_side_clear (StoSide *side)
{
  g_clear_pointer (&side->loads, g_array_unref);
  g_clear_pointer (&side->others, g_array_unref);
}

static void
add_load (StoSide *side, CluRes res, double load)
{
  guint at = 0;
  while (at < side->loads->len && g_array_index (side->loads, ColLoad, at).res < res)
    at++;
  if (at < side->loads->len && g_array_index (side->loads, ColLoad, at).res == res) {
    g_array_index (side->loads, ColLoad, at).load += load;
    return;
  }
  const ColLoad fresh = { res, load, 1, 1 };
  g_array_insert_val (side->loads, at, fresh);
}

void
sto_side_add_uses (StoSide *side, const GArray *uses, double factor)
{
  for (guint i = 0; i < uses->len; i++) {
    const CluUse *use = &g_array_index (uses, CluUse, i);
    add_load (side, use->res, use->share * factor);
  }
}

void
sto_side_add (StoSide *side, const StoSide *more, double factor)
{
  for (guint i = 0; i < more->loads->len; i++) {
    const ColLoad *load = &g_array_index (more->loads, ColLoad, i);
    add_load (side, load->res, load->load * factor);
  }
  for (guint i = 0; i < more->others->len; i++) {
    StoSideOther other = g_array_index (more->others, StoSideOther, i);
    other.weight *= factor;
    g_array_append_val (side->others, other);
  }
}

/* The fullest of a kind stands for those that are alike; `weight` is of one client. */
static void
side_other (const StoWork *work, const StoSideOther *asked, const guint32 *number, GArray *others)
{
  g_autoptr (GHashTable) sum = g_hash_table_new (NULL, NULL); /* number + 1 -> clients */
  guint most = 0, at = 0;
  for (guint32 i = 0; i < (guint32)work->n; i++) {
    gpointer key = GUINT_TO_POINTER (number[i] + 1u);
    guint n = GPOINTER_TO_UINT (g_hash_table_lookup (sum, key)) + 1;
    g_hash_table_insert (sum, key, GUINT_TO_POINTER (n));
    if (n > most) {
      most = n;
      at = i;
    }
  }
  StoSideOther one = *asked;
  one.number = number[at];
  one.weight *= most;
  g_array_append_val (others, one);
}

void
sto_io_run_side (const StoIoRun *io, double least_s, StoSide *out)
{
  const StoWork *work = &io->work;
  const Clu *clu = work->system->clu;
  double stored = work->misses * sto_work_packed (work), core_s = sto_work_core_s_per_B (work);
  gboolean local = work->tier.type.kind.v == MDL_TIER_LOCAL_NVME;
  *out = (StoSide){ .loads = g_array_new (FALSE, TRUE, sizeof (ColLoad)),
                    .others = g_array_new (FALSE, TRUE, sizeof (StoSideOther)),
                    .amount_B = io->out.bytes / work->n,
                    .bound_Bps = fmin (fmin (sto_work_own_Bps (work, &work->cost), io->out.link_Bps), BOUNDLESS_BPS) };
  if (least_s > 0)
    out->bound_Bps = fmin (out->bound_Bps, out->amount_B / least_s);
  for (guint i = 0; i < work->shared->len; i++) {
    const StoShared *one = &g_array_index (work->shared, StoShared, i);
    const ColLoad load = { one->res, one->load, 1, 1 };
    if (one->res != CLU_NONE && one->load > 0)
      g_array_append_val (out->loads, load);
  }
  g_array_sort (out->loads, base_by_u32);
  g_autofree guint32 *number = g_new (guint32, (gsize)work->n);
  for (guint32 i = 0; i < (guint32)work->n; i++) {
    guint32 node = sto_io_place (work->homes, i).node;
    number[i] = local ? clu_node_device (clu, node, CLU_DEV_NVME, 0) : work->dev;
  }
  StoSideOther servers = { COL_NET_TIER, 0, 1, mdl_tier_busy_s_per_B (&work->tier, &work->question) * stored };
  if (servers.weight > 0)
    side_other (work, &servers, number, out->others);
  for (guint32 i = 0; i < (guint32)work->n; i++)
    number[i] = sto_io_place (work->homes, i).node;
  StoSideOther cores = { COL_NET_CORES, 0, col_system_cores (work->system, number[0]), core_s };
  if (cores.weight > 0 && cores.capacity > 0)
    side_other (work, &cores, number, out->others);
}
