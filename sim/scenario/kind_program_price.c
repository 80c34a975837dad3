/* A program's devices, and what each of its operations costs alone and loads: copies as of kind `transfer`, reads as of `io`,
 * collectives as of `collective`, kernels by the GPU's constants. */
#include <math.h>
#include <string.h>

#include "cluster/hostlist.h"
#include "collective/gpu.h"
#include "program-private.h"

/* ---- devices ---- */

static guint32
gpu_number (const Clu *clu, CluDev dev)
{
  guint32 number = clu_dev_index (clu, dev);
  for (guint32 node = 0; node < clu_dev_node (clu, dev); node++)
    number += clu_gpus_per_node (clu, node);
  return number;
}

static gboolean
find_gpu (const Clu *clu, const BaseStr *name, const char *text, BaseMark mark, guint32 *gpu, GError **error)
{
  g_autoptr (GError) why = NULL;
  const char *word = text != NULL ? text : name->v;
  CluDev dev = clu_find (clu, word, &why);
  if (why != NULL)
    return col_fail_at (error, mark, "%s", why->message);
  if (clu_dev_kind (clu, dev) != CLU_DEV_GPU)
    return col_fail_at (error, mark, "'%s' is not a GPU; accepted: gpu0, node1.gpu0", word);
  *gpu = gpu_number (clu, dev);
  return TRUE;
}

/* An end of a copy: a GPU or a memory; absent: the stream's GPU. */
static gboolean
find_end (const Clu *clu, const ScnEntry *entry, const BaseStr *name, gboolean gpu_only, CluDev *dev, GError **error)
{
  g_autoptr (GError) why = NULL;
  *dev = clu_gpu (clu, entry->gpu);
  if (name->v == NULL)
    return TRUE;
  *dev = strcmp (name->v, "host") == 0 ? scn_host_of (clu, *dev) : clu_find (clu, name->v, &why);
  if (why != NULL || *dev == CLU_NONE)
    return col_fail_at (error, name->mark, "%s", why != NULL ? why->message : "the node has no host memory");
  CluDevKind kind = clu_dev_kind (clu, *dev);
  if (kind == CLU_DEV_GPU || (kind == CLU_DEV_MEMORY && !gpu_only))
    return TRUE;
  return col_fail_at (error, name->mark,
                      gpu_only ? "'%s' cannot be an end of a put; accepted: a GPU"
                               : "'%s' cannot be an end of a copy; accepted: a GPU or host memory; storage has "
                                 "'read' and 'write'",
                      name->v);
}

static gboolean
place_copy (const Clu *clu, ScnEntry *entry, GError **error)
{
  gboolean put = entry->what == SCN_DO_PUT;
  const ScnDoCopy *copy = put ? &entry->item->put : &entry->item->copy;
  if (!find_end (clu, entry, &copy->from, put, &entry->from, error) || !find_end (clu, entry, &copy->to, put, &entry->to, error))
    return FALSE;
  if (entry->from != entry->to)
    return TRUE;
  g_autofree char *name = clu_dev_name (clu, entry->to);
  return col_fail_at (error, copy->head.mark, "a %s from %s to itself; accepted: two ends, such as {from: host, bytes: …}",
                      put ? "put" : "copy", name);
}

static gboolean
place_collective (const ScnProgram *program, ScnEntry *entry, GError **error)
{
  const ColSystem *system = &program->scenario->system;
  const ScnDoCollective *c = &entry->item->collective;
  entry->gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  if (strcmp (c->gpus.v, "all") == 0)
    g_array_append_vals (entry->gpus, system->gpus->data, system->gpus->len);
  g_auto (GStrv) words = g_strsplit (strcmp (c->gpus.v, "all") == 0 ? "" : c->gpus.v, ",", -1);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  BaseMark mark = c->gpus.set ? c->gpus.mark : c->head.mark;
  for (char **word = words; *word != NULL; word++)
    if (names->len > system->gpus->len || !clu_hostlist_expand_name (g_strstrip (*word), names))
      return col_fail_at (error, mark, "'%s' is not a list of GPUs; accepted: all, gpu[0-3], gpu0,gpu4", c->gpus.v);
  for (guint i = 0; i < names->len; i++) {
    guint32 gpu;
    if (!find_gpu (system->clu, &c->gpus, names->pdata[i], mark, &gpu, error))
      return FALSE;
    if (!g_hash_table_add (seen, GUINT_TO_POINTER (gpu)))
      return col_fail_at (error, mark, "'%s' is named twice in 'gpus'", (const char *)names->pdata[i]);
    g_array_append_val (entry->gpus, gpu);
  }
  if (entry->gpus->len == 0)
    return col_fail_at (error, mark, "'gpus' names no GPU; accepted: all, gpu[0-3], gpu0,gpu4");
  if (c->root.v >= entry->gpus->len)
    return col_fail_at (error, c->root.mark, "root %.0f is not one of the %u ranks (0 to %u)", c->root.v, entry->gpus->len,
                        entry->gpus->len - 1);
  return TRUE;
}

static const ScnDoIo *
io_of (const ScnEntry *entry)
{
  return entry->what == SCN_DO_READ ? &entry->item->read : &entry->item->write;
}

/* As a workload of kind `io` of one client says it. */
static StoIoSpec
io_spec (const ScnEntry *entry)
{
  const ScnDoIo *io = io_of (entry);
  StoIoSpec spec = { .head = io->head, .tier = io->tier, .bytes = io->bytes, .io_size = io->io_size, .threads = io->threads };
  spec.queue_depth = io->queue_depth;
  spec.path = io->path;
  spec.op.v = entry->what == SCN_DO_READ ? MDL_IO_READ : MDL_IO_WRITE;
  spec.clients.v = 1;
  return spec;
}

/* The system of one GPU, whose array the caller frees. */
static ColSystem
system_of (const ScnProgram *program, guint32 gpu)
{
  ColSystem one = program->scenario->system;
  one.gpus = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_array_append_val (one.gpus, gpu);
  return one;
}

static gboolean
place_io (const ScnProgram *program, ScnEntry *entry, GError **error)
{
  const ScnDoIo *io = io_of (entry);
  if (io->gpu.v != NULL && !find_gpu (program->scenario->system.clu, &io->gpu, NULL, io->gpu.mark, &entry->gpu, error))
    return FALSE;
  const StoIoSpec spec = io_spec (entry);
  const ColSystem one = system_of (program, entry->gpu);
  gboolean done = sto_check_io (&one, &spec, error);
  g_array_unref (one.gpus);
  return done;
}

static char *
name_of (const Clu *clu, const ScnEntry *entry)
{
  if (entry->item->name.v != NULL)
    return g_strdup (entry->item->name.v);
  switch (entry->what) {
    case SCN_DO_COPY:
      return g_strdup (clu_dev_kind (clu, entry->from) == CLU_DEV_MEMORY && clu_dev_kind (clu, entry->to) == CLU_DEV_GPU
                           ? "copy H2D"
                       : clu_dev_kind (clu, entry->to) == CLU_DEV_MEMORY ? "copy D2H"
                                                                         : "copy D2D");
    case SCN_DO_COLLECTIVE:
      return g_strdup (base_name (mdl_op_names, entry->item->collective.op.v));
    case SCN_DO_READ:
    case SCN_DO_WRITE:
      return g_strdup_printf ("%s %s", base_name (scn_do_names, (int)entry->what), io_of (entry)->tier.v);
    case SCN_DO_KERNEL:
      return g_strdup (entry->item->kernel.gemm.head.set ? "gemm" : "kernel");
    case SCN_DO_NONE:
    case SCN_DO_PUT:
    case SCN_DO_DELAY:
    default:
      return g_strdup (base_name (scn_do_names, (int)entry->what));
  }
}

gboolean
scn_program_place (ScnProgram *program, GError **error)
{
  const Clu *clu = program->scenario->system.clu;
  if (program->scenario->system.gpus->len == 0)
    return col_fail_at (error, program->spec->head.mark, "the cluster has no GPU, and streams are of GPUs");
  for (guint i = 0; i < program->entries->len; i++) {
    ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
    const BaseStr *gpu = &entry->stream->gpu;
    if (!find_gpu (clu, gpu, NULL, gpu->set ? gpu->mark : entry->stream->head.mark, &entry->gpu, error))
      return FALSE;
    gboolean copies = entry->what == SCN_DO_COPY || entry->what == SCN_DO_PUT,
             stores = entry->what == SCN_DO_READ || entry->what == SCN_DO_WRITE;
    if ((copies && !place_copy (clu, entry, error)) || (stores && !place_io (program, entry, error)) ||
        (entry->what == SCN_DO_COLLECTIVE && !place_collective (program, entry, error)))
      return FALSE;
    entry->name = name_of (clu, entry);
  }
  return TRUE;
}

/* ---- prices ---- */

static void
add_use (ScnEntry *entry, EngLink link, double weight)
{
  const EngUse use = { link, weight };
  if (weight > 0)
    g_array_append_val (entry->uses, use);
}

/* One flow of so many bytes. */
static void
open_flow (ScnEntry *entry, double bytes_B, double bound_Bps, double latency_s)
{
  entry->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  entry->flow = (EngFlowSpec){ .amount = bytes_B, .bound_per_s = bound_Bps, .latency = eng_time_from_s (latency_s) };
}

static gboolean
price_copy (ScnProgram *program, ScnEntry *entry, GError **error)
{
  const ColSystem *system = &program->scenario->system;
  const ScnDoCopy *ask = entry->what == SCN_DO_PUT ? &entry->item->put : &entry->item->copy;
  g_autofree char *from = clu_dev_name (system->clu, entry->from), *to = clu_dev_name (system->clu, entry->to);
  const StoPair pair = { entry->from, entry->to, from, to, 0 };
  StoCopies copies = { .pair = &pair, .n = 1, .size_B = ask->bytes.v, .count = 1, .queued = TRUE, .ways = system->storage };
  copies.pageable = entry->what == SCN_DO_COPY && ask->memory.v == STO_MEMORY_PAGEABLE;
  copies.managed = entry->what == SCN_DO_COPY && ask->memory.v == STO_MEMORY_MANAGED;
  copies.by = entry->what == SCN_DO_PUT ? STO_BY_KERNEL : STO_BY_AUTO;
  g_autoptr (GError) why = NULL;
  StoFault fault = STO_FAULT_ROUTE;
  g_autoptr (GPtrArray) priced = sto_copies_price (system->clu, &system->settings, &copies, &fault, &why);
  if (priced == NULL && entry->what == SCN_DO_PUT && fault == STO_FAULT_BY) { /* no kernel reaches there: RDMA */
    copies.by = STO_BY_AUTO;
    g_clear_error (&why);
    priced = sto_copies_price (system->clu, &system->settings, &copies, &fault, &why);
  }
  if (priced == NULL)
    return col_fail_at (error, ask->head.mark, "%s", why->message);
  const StoCopy *copy = priced->pdata[0];
  entry->alone_s = copy->time_s;
  entry->blocks_host = copy->copy == MDL_COPY_H2D_PAGEABLE || copy->copy == MDL_COPY_D2H_PAGEABLE;
  open_flow (entry, copy->size_B, copy->cost.bound_Bps, copy->cost.latency_s);
  for (guint u = 0; u < copy->uses->len; u++) {
    const CluUse *use = &g_array_index (copy->uses, CluUse, u);
    add_use (entry, col_net_link (program->net, use->res), use->share);
    col_net_count (program->net, use->res, copy->size_B * use->share * program->spec->repeat.v, 1, 1);
  }
  return TRUE;
}

static gboolean
price_io (ScnProgram *program, ScnEntry *entry, GError **error)
{
  const StoIoSpec spec = io_spec (entry);
  const ColSystem one = system_of (program, entry->gpu);
  g_autoptr (StoIoRun) run = sto_io_run_new (&one, &spec, error);
  if (run != NULL) {
    g_auto (StoSide) side = { 0 };
    sto_io_run_side (run, 0, &side);
    entry->alone_s = sto_io_run_result (run)->time_s;
    open_flow (entry, side.amount_B, side.bound_Bps, 0);
    for (guint i = 0; i < side.loads->len; i++) {
      const ColLoad *load = &g_array_index (side.loads, ColLoad, i);
      add_use (entry, col_net_link (program->net, load->res), load->load / load->factor);
    }
    for (guint i = 0; i < side.others->len; i++) {
      const StoSideOther *other = &g_array_index (side.others, StoSideOther, i);
      add_use (entry, col_net_other (program->net, other->kind, other->number, other->capacity), other->weight);
    }
    sto_io_run_count (run, program->net, program->spec->repeat.v);
  }
  g_array_unref (one.gpus);
  return run != NULL;
}

static gboolean
price_collective (ScnProgram *program, ScnEntry *entry, GError **error)
{
  const ScnDoCollective *c = &entry->item->collective;
  ColSettings settings = program->scenario->system.settings;
  settings.no_fold = TRUE; /* it shares links with others */
  g_auto (ColAnswer) coll = { 0 };
  g_autoptr (GError) why = NULL;
  g_autoptr (ColComm) comm = col_comm_new (program->scenario->system.clu, &settings,
                                           (const guint32 *)(const void *)entry->gpus->data, entry->gpus->len, error);
  const ColCollRequest request = { (MdlOp)c->op.v,     c->bytes.v,           (MdlDtype)c->dtype.v,
                                   (MdlAlgo)c->algo.v, (MdlProto)c->proto.v, (guint32)c->root.v };
  if (comm == NULL)
    return FALSE;
  if (!col_coll_price (comm, &request, &coll, &why))
    return col_fail_at (error, c->algo.set ? c->algo.mark : c->op.mark, "%s", why->message);
  entry->alone_s = coll.time_s;
  entry->comm = scn_demand_of (&coll);
  if (coll.n_ranks < 2)
    return TRUE; /* its launch alone */
  entry->uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  col_net_coll_flow (program->net, &coll, entry->uses, &entry->flow);
  entry->flow.bound_per_s = col_net_pace_Bps (&coll.cost, coll.size_B, coll.cost.time_s);
  entry->fill = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < coll.alike->len; i++) {
    const ColLoad *load = &g_array_index (coll.alike, ColLoad, i);
    const double fill =
        g_array_index (entry->uses, EngUse, i).weight / clu_resource_capacity (program->scenario->system.clu, load->res);
    g_array_append_val (entry->fill, fill);
  }
  col_net_count_coll (program->net, &coll, program->spec->repeat.v);
  return TRUE;
}

static gboolean
price_kernel (const ScnProgram *program, ScnEntry *entry, GError **error)
{
  const ScnDoKernel *ask = &entry->item->kernel;
  const ColSystem *system = &program->scenario->system;
  MdlGpu gpu;
  MdlKernelCost cost = { .busy = 1 };
  col_gpu_facts (system->clu, clu_dev_node (system->clu, clu_gpu (system->clu, entry->gpu)), &gpu);
  if (!ask->time.set && system->kernels == NULL)
    return col_fail_at (error, ask->head.mark, "'library: plain' has no constants of kernels; accepted: 'time' of the kernel");
  if (ask->time.set)
    cost.time_s = ask->time.v;
  else if (ask->gemm.head.set) {
    const MdlGemm gemm = { .m = ask->gemm.m.v,
                           .n = ask->gemm.n.v,
                           .k = ask->gemm.k.v,
                           .batch = ask->gemm.batch.v,
                           .dtype = (MdlPrecision)ask->gemm.dtype.v };
    mdl_gemm_cost (system->kernels, &gpu, &gemm, &cost);
  } else {
    const MdlMemory memory = { .kind = MDL_MEMORY_COPY, .read_B = ask->bytes.v / 2, .written_B = ask->bytes.v / 2 };
    mdl_memory_cost (system->kernels, &gpu, &memory, &cost);
  }
  if (!isfinite (cost.time_s))
    return col_fail_at (error, ask->gemm.head.set ? ask->gemm.dtype.mark : ask->head.mark, "%s has no units for %s",
                        gpu.name != NULL ? gpu.name : "this GPU", base_name (mdl_precision_names, ask->gemm.dtype.v));
  entry->alone_s = cost.time_s;
  entry->compute = (MdlOverlapCompute){ .kind = ask->bytes.set ? MDL_OVERLAP_MEMORY : MDL_OVERLAP_GEMM,
                                        .sm_share = CLAMP (ask->sms.v * cost.busy, 0.01, 1),
                                        .memory_Bps = cost.time_s > 0 ? cost.bytes_B / cost.time_s : 0 };
  return TRUE;
}

static gboolean
is_shared (GHashTable *users, const ScnEntry *entry, guint use)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (users, GUINT_TO_POINTER (g_array_index (entry->uses, EngUse, use).link))) > 1;
}

/* The engine shares links by progress: a collective that puts a tenth of its bytes on a link would get a tenth of what a copy gets
 * there. Its connections get as many bytes as the copy does. This is counted on the links that others use too and that it fills at
 * least half as much as the fullest of these. */
static void
balance_collectives (ScnProgram *program)
{
  g_autoptr (GHashTable) users = g_hash_table_new (NULL, NULL); /* EngLink -> entries */
  for (guint i = 0; i < program->entries->len; i++) {
    const ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
    for (guint u = 0; entry->uses != NULL && u < entry->uses->len; u++) {
      const gpointer link = GUINT_TO_POINTER (g_array_index (entry->uses, EngUse, u).link);
      g_hash_table_insert (users, link, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (users, link)) + 1u));
    }
  }
  for (guint i = 0; i < program->entries->len; i++) {
    ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
    double fullest = 0;
    for (guint u = 0; entry->fill != NULL && u < entry->uses->len; u++)
      if (is_shared (users, entry, u))
        fullest = fmax (fullest, g_array_index (entry->fill, double, u));
    for (guint u = 0; fullest > 0 && u < entry->uses->len; u++)
      if (is_shared (users, entry, u) && g_array_index (entry->fill, double, u) >= fullest / 2)
        entry->flow.priority = fmax (entry->flow.priority, CLAMP (1 / g_array_index (entry->uses, EngUse, u).weight, 1e-6, 1e6));
  }
}

gboolean
scn_program_price (ScnProgram *program, ColRunInfo *info, GError **error)
{
  for (guint i = 0; i < program->entries->len; i++) {
    ScnEntry *entry = &g_array_index (program->entries, ScnEntry, i);
    gboolean good = TRUE;
    switch (entry->what) {
      case SCN_DO_COPY:
      case SCN_DO_PUT:
        good = price_copy (program, entry, error);
        break;
      case SCN_DO_READ:
      case SCN_DO_WRITE:
        good = price_io (program, entry, error);
        break;
      case SCN_DO_COLLECTIVE:
        good = price_collective (program, entry, error);
        break;
      case SCN_DO_KERNEL:
        good = price_kernel (program, entry, error);
        break;
      case SCN_DO_DELAY:
        entry->alone_s = entry->item->delay.v;
        break;
      case SCN_DO_NONE:
      default:
        break;
    }
    if (!good)
      return FALSE;
  }
  balance_collectives (program);
  if (program->scenario->system.settings.mode == COL_MODE_MODEL)
    col_run_warn (info, "mode model knows no contention: each operation takes as long as alone; --mode event shares links");
  return TRUE;
}
