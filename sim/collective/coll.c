/* Pricing one operation: which algorithm and protocol, what it costs as a closed form, and what the engine makes of it. */
#include <math.h>
#include <string.h>

#include "collective/net.h"
#include "comm-private.h"

void
col_coll_clear (ColAnswer *coll)
{
  col_spread_unref (coll->spread);
  g_clear_pointer (&coll->alike, g_array_unref);
  memset (coll, 0, sizeof *coll);
}

/* Whether the NVSwitch sends to all ranks at once, and adds what a load reads. Source: NCCL 5067397c
 * src/sym_kernels.cc:ncclSymkMask. */
static gboolean
has_multicast (const ColComm *comm, const ColCollRequest *request, unsigned compute_capability)
{
  const gboolean adds = request->op == MDL_OP_ALL_GATHER || request->dtype != MDL_DTYPE_FP8 || compute_capability >= 100;
  return adds && clu_domain_has_sharp (comm->clu) && !(comm->settings->disabled_algos & (1u << MDL_ALGO_NVLS));
}

/* Whether operations inside each node first, then between nodes, come into question. */
static gboolean
serves_by_node (const ColComm *comm, const ColCollRequest *request)
{
  const MdlLibrary *library = comm->settings->library;
  return request->algo == MDL_ALGO_HIERARCHICAL ||
         (library != NULL && comm->n_islands > 1 && mdl_library_is_hierarchical (library));
}

/* Of no algorithm yet: link_rate_Bps is that of its traffic. */
static void
query (ColComm *comm, const ColCollRequest *request, MdlCollQuestion *q)
{
  const ColSettings *settings = comm->settings;
  memset (q, 0, sizeof *q);
  q->terse = comm->settings->terse;
  q->op = request->op;
  q->size_B = request->size_B;
  q->n_ranks = comm->n;
  if (request->op == MDL_OP_BROADCAST || request->op == MDL_OP_REDUCE)
    q->crossings = col_chain_crossings (comm, request->op, request->root);
  q->torus_steps = comm->torus_steps;
  q->torus_wire_s = comm->torus_wire_s;
  if (serves_by_node (comm, request)) {
    const ColHierarchy *h = col_comm_hierarchy (comm);
    q->phase_steps = h->steps;
    q->phase_wire_s[0] = h->wire_s[0];
    q->phase_wire_s[1] = h->wire_s[1];
    q->phase_Bps[0] = h->Bps[0];
    q->phase_Bps[1] = h->Bps[1];
  }
  q->n_nodes = comm->n_islands;
  q->ranks_per_node = comm->max_local;
  q->n_nics = comm->n_islands > 1 && comm->rings != NULL ? comm->rings->n_rings : 0;
  q->intra = comm->intra.used ? comm->intra.hop : comm->inter.hop;
  q->inter = comm->inter.used ? comm->inter.hop : comm->intra.hop;
  q->intra_latency_s = comm->intra.latency_s;
  q->inter_latency_s = comm->inter.latency_s;
  q->intra_rate_Bps = comm->intra.used ? comm->intra.rate_Bps : HUGE_VAL;
  q->inter_rate_Bps = comm->inter.used ? comm->inter.rate_Bps : HUGE_VAL;
  q->network = comm->network;
  q->link_rate_Bps = HUGE_VAL;
  const CluGpuSpec *gpu = clu_gpu_spec (comm->clu, comm->slow_node);
  q->compute_capability = gpu->compute_capability.set ? (unsigned)gpu->compute_capability.v : 0;
  q->switched = col_comm_is_switched (comm);
  /* Gloo's ring has one connection to each neighbour and no channels (gloo/allreduce.cc); its links are TCP throughout */
  q->max_channels = settings->degrade.host_only ? 1 : col_max_channels (settings);
  q->min_channels = settings->degrade.host_only ? 0 : col_min_channels (settings);
  q->channels = col_comm_channels (comm, &q->nvls_channels);
  q->min_ctas = settings->min_ctas;
  q->max_ctas = settings->max_ctas;
  col_comm_nics (comm, &q->nic_Bps);
  q->near_nics = comm->inter.used && (MdlPath)comm->inter.path <= MDL_PATH_PXB;
  q->launch = settings->launch;
  q->one_shot = settings->one_shot;
  q->symmetric_ctas = settings->symmetric_ctas;
  q->symmetric_kernel = settings->symmetric_kernel;
  q->registered = settings->buffers == MDL_BUFFERS_REGISTERED;
  q->no_pxn = settings->degrade.no_pxn;
  q->multicast = has_multicast (comm, request, q->compute_capability);
  col_comm_wait_cpu (comm, q);
  q->one_way = settings->one_way;
  q->in_a_row = settings->steps != COL_STEPS_EXACT ? settings->in_a_row : 0;
}

/* Kernels that NCCL does not have are no choice of its, unless they are named. */
static gboolean
is_offered (const ColComm *comm, const ColCollRequest *request, MdlAlgo algo)
{
  const ColSettings *settings = comm->settings;
  if (request->algo == algo)
    return TRUE;
  const gboolean windows = settings->buffers == MDL_BUFFERS_SYMMETRIC;
  return algo == MDL_ALGO_ONE_SHOT      ? settings->one_shot != NULL
         : algo == MDL_ALGO_SYMMETRIC   ? windows
         : algo == MDL_ALGO_HIERARCHICAL ? serves_by_node (comm, request)
         : algo == MDL_ALGO_COPY_ENGINE ? windows && request->op != MDL_OP_SENDRECV
                                        : TRUE;
}

/* `question`: of the request. `all`: also of algorithms that were not asked for, and with a look for room in the network's
 * switches. */
static GArray *
find_choices (ColComm *comm, const ColCollRequest *request, const MdlCollQuestion *question, gboolean all)
{
  GArray *choices = g_array_sized_new (FALSE, FALSE, sizeof (ColChoice), MDL_PROTO_N * MDL_ALGO_N);
  for (const MdlColl *const *row = mdl_colls; *row != NULL; row++) {
    if (!((*row)->ops & (1u << request->op)) || !is_offered (comm, request, (*row)->algo) ||
        (!all && request->algo >= 0 && (*row)->algo != request->algo))
      continue;
    if ((*row)->algo == MDL_ALGO_TORUS && comm->torus_steps == 0 && request->algo != MDL_ALGO_TORUS)
      continue; /* of other accelerators */
    for (MdlProto proto = comm->settings->library != NULL ? MDL_PROTO_LL : MDL_PROTO_SIMPLE; proto < MDL_PROTO_N; proto++) {
      ColChoice choice = { (*row)->algo, proto, col_why_forbidden (comm, request, (*row)->algo, proto, all) };
      const char *reason = NULL;
      if (choice.reason == NULL && !mdl_coll_possible (comm->settings->library, *row, proto, question, &reason))
        choice.reason = reason;
      g_array_append_val (choices, choice);
    }
  }
  return choices;
}

GArray *
col_comm_choices (ColComm *comm, const ColCollRequest *request)
{
  MdlCollQuestion question;
  query (comm, request, &question);
  return find_choices (comm, request, &question, TRUE);
}

/* Why none of `choices` can run: "tree, ring: NCCL_ALGO leaves it out; nvls_tree: …", algorithms with one reason together. The last
 * protocol, Simple, is what most algorithms need. Returned: full. */
static char *
why_none (const GArray *choices)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint32 told = 0;
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *first = &g_array_index (choices, ColChoice, i);
    if (first->reason == NULL || told & (1u << first->algo))
      continue;
    g_string_append_printf (text, "%s", text->len > 0 ? "; " : "");
    const char *comma = "";
    for (guint k = i; k < choices->len; k++) {
      const ColChoice *other = &g_array_index (choices, ColChoice, k);
      if (told & (1u << other->algo) || g_strcmp0 (other->reason, first->reason) != 0)
        continue;
      told |= 1u << other->algo;
      g_string_append_printf (text, "%s%s", comma, base_name (mdl_algo_names, other->algo));
      comma = ", ";
    }
    g_string_append_printf (text, ": %s", first->reason);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* What can run, and behind it what NCCL leaves off unless a variable turns it on. Returned: full. */
static char *
what_can (const ColComm *comm, const GArray *choices)
{
  g_autoptr (GString) can = g_string_new (NULL), off = g_string_new (NULL);
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *c = &g_array_index (choices, ColChoice, i);
    GString *list = !comm->settings->collnet && col_needs_fabric_sharp (comm, c->algo) ? off : can;
    if (c->reason == NULL)
      g_string_append_printf (list, "%s%s with %s", list->len > 0 ? ", " : "", base_name (mdl_algo_names, c->algo),
                              base_name (mdl_proto_names, c->proto));
  }
  return g_strdup_printf ("%s%s%s", can->len > 0 ? can->str : "nothing",
                          off->len > 0 ? "; by name, or with NCCL_COLLNET_ENABLE=1: " : "", off->str);
}

/* "nvls: the node's switches do not reduce; …" and what can run, for an algorithm asked for by name that cannot. */
static gboolean
refuse (ColComm *comm, const ColCollRequest *request, GError **error)
{
  g_autoptr (GArray) choices = col_comm_choices (comm, request);
  g_autofree char *can = what_can (comm, choices), *none = request->algo < 0 ? why_none (choices) : NULL;
  const char *why = none;
  for (guint i = 0; i < choices->len && none == NULL; i++) {
    const ColChoice *c = &g_array_index (choices, ColChoice, i);
    if (c->algo == request->algo && (request->proto < 0 || c->proto == request->proto))
      why = c->reason; /* the last protocol, Simple, is what most algorithms need */
  }
  if (request->algo >= 0 && mdl_coll_find (request->algo, request->op) == NULL)
    why = "it is not offered for this operation";
  base_fail (error, BASE_ERROR_INPUT, "%s %s%s%s cannot run here: %s; can run: %s", base_name (mdl_op_names, (int)request->op),
             request->algo >= 0 ? base_name (mdl_algo_names, request->algo) : "by any algorithm",
             request->proto >= 0 ? " with " : "", request->proto >= 0 ? base_name (mdl_proto_names, request->proto) : "",
             why != NULL ? why : "no algorithm and protocol is left", can);
  return FALSE;
}

/* out->question has been asked; the traffic is the pair's own. */
static gboolean
price_pair (ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto, ColAnswer *out, GError **error)
{
  ColTraffic *traffic = col_comm_traffic (comm, request->op, algo, request->root, error);
  if (traffic == NULL)
    return FALSE;
  col_comm_limit_cpu (comm, traffic, &out->question);
  out->question.link_rate_Bps = traffic->spread->bounds.rate_Bps;
  mdl_coll_cost (comm->settings->library, mdl_coll_find (algo, request->op), proto, &out->question, &out->cost);
  out->algo = algo;
  out->proto = proto;
  return TRUE;
}

/* The first of an algorithm that can run, by `wanted` or by any protocol; FALSE: none. */
static gboolean
first_of (const GArray *choices, MdlAlgo of, MdlProto wanted, MdlAlgo *algo, MdlProto *proto)
{
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *c = &g_array_index (choices, ColChoice, i);
    if (c->algo != of || (wanted != MDL_PROTO_AUTO && c->proto != wanted) || c->reason != NULL)
      continue;
    *algo = c->algo;
    *proto = c->proto;
    return TRUE;
  }
  return FALSE;
}

/* Buffers in windows of symmetric memory, or the algorithm's name: copy engines where NCCL takes them, else its choice of its
 * kernels. */
static gboolean
windows_choice (const ColComm *comm, const ColCollRequest *request, const GArray *choices, const MdlCollQuestion *question,
                MdlAlgo *algo, MdlProto *proto)
{
  const ColSettings *settings = comm->settings;
  MdlSymmetricChoice chosen;
  const gboolean asked =
      request->algo == MDL_ALGO_SYMMETRIC || (request->algo == MDL_ALGO_AUTO && settings->buffers == MDL_BUFFERS_SYMMETRIC);
  const double elements = request->size_B / (double)comm->n / (double)mdl_dtype_size_B (request->dtype);
  if (!asked || request->proto != MDL_PROTO_AUTO || settings->library == NULL)
    return FALSE;
  if (request->algo == MDL_ALGO_AUTO && mdl_copy_engine_chosen (settings->library, question, settings->zero_cta, elements) &&
      first_of (choices, MDL_ALGO_COPY_ENGINE, MDL_PROTO_SIMPLE, algo, proto))
    return TRUE;
  if (!mdl_symmetric_choice (settings->library, MDL_PROTO_AUTO, question, &chosen))
    return FALSE;
  return first_of (choices, MDL_ALGO_SYMMETRIC, chosen.proto, algo, proto);
}

/* Takes NCCL's own choice where it is asked for and known, of the protocol too where only an algorithm is named (NCCL_ALGO); else
 * the fastest of what can run and was asked for. Without being told
 * NCCL leaves reduction in the network's switches off (src/init.cc:NCCL_COLLNET_ENABLE). */
static gboolean
choose (ColComm *comm, const ColCollRequest *request, ColAnswer *out, GError **error)
{
  query (comm, request, &out->question);
  g_autoptr (GArray) choices = find_choices (comm, request, &out->question, FALSE);
  MdlAlgo algo = MDL_ALGO_AUTO;
  MdlProto proto = MDL_PROTO_AUTO;
  double least_s = HUGE_VAL;
  /* a framework that brings all-reduce kernels takes them wherever they can run */
  if (request->algo == MDL_ALGO_AUTO && first_of (choices, MDL_ALGO_ONE_SHOT, MDL_PROTO_AUTO, &algo, &proto))
    return price_pair (comm, request, algo, proto, out, error);
  /* libraries that work inside nodes first do so wherever they can */
  if (request->algo == MDL_ALGO_AUTO && first_of (choices, MDL_ALGO_HIERARCHICAL, request->proto, &algo, &proto))
    return price_pair (comm, request, algo, proto, out, error);
  if (windows_choice (comm, request, choices, &out->question, &algo, &proto))
    return price_pair (comm, request, algo, proto, out, error);
  const gboolean open = request->algo == MDL_ALGO_AUTO || (request->algo >= 0 && request->proto == MDL_PROTO_AUTO);
  if (open && col_comm_nccl_choice (comm, request, choices, &algo, &proto))
    return price_pair (comm, request, algo, proto, out, error);
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *c = &g_array_index (choices, ColChoice, i);
    if (c->reason != NULL || (request->algo >= 0 && c->algo != request->algo) ||
        (request->proto >= 0 && c->proto != request->proto) ||
        (request->algo == MDL_ALGO_AUTO && !comm->settings->collnet && col_needs_fabric_sharp (comm, c->algo)) ||
        col_why_no_room (comm, c->algo) != NULL)
      continue;
    if (!price_pair (comm, request, c->algo, c->proto, out, error))
      return FALSE;
    if (out->cost.time_s < least_s) {
      least_s = out->cost.time_s;
      algo = c->algo;
      proto = c->proto;
    }
  }
  if (algo != MDL_ALGO_AUTO && out->algo == algo && out->proto == proto) /* it was the last one */
    return TRUE;
  if (algo == MDL_ALGO_AUTO)
    return refuse (comm, request, error);
  return price_pair (comm, request, algo, proto, out, error);
}

/* Shares them with the traffic, for as many sizes as are priced. */
static void
take_loads (const ColComm *comm, ColTraffic *traffic, ColAnswer *out)
{
  if (traffic->alike == NULL)
    traffic->alike = comm->settings->no_fold ? col_spread_loads (traffic->spread) : col_spread_alike (traffic->spread);
  col_spread_unref (out->spread);
  out->spread = col_spread_ref (traffic->spread);
  g_clear_pointer (&out->alike, g_array_unref);
  out->alike = g_array_ref (traffic->alike);
  out->bottleneck = traffic->spread->bounds.bottleneck;
  out->provenance = MIN (out->cost.source, traffic->spread->bounds.source);
}

GArray *
col_coll_loads (const ColAnswer *coll)
{
  return coll->spread != NULL ? col_spread_loads (coll->spread) : g_array_ref (coll->alike);
}

/* What to improve first: where the channels move less than the links allow, a faster link changes nothing. */
static void
name_bound (const ColComm *comm, ColAnswer *out)
{
  double moving_s = out->cost.time_s - out->cost.latency_s;
  if (out->cost.latency_s >= moving_s || out->bottleneck == CLU_NONE)
    g_strlcpy (out->bound_by, "latency", sizeof out->bound_by);
  else if (!out->cost.link_bound && out->cost.cpu_bound)
    g_strlcpy (out->bound_by, "cores", sizeof out->bound_by);
  else if (!out->cost.link_bound)
    g_strlcpy (out->bound_by, "channels", sizeof out->bound_by);
  else
    g_strlcpy (out->bound_by, clu_resource_class (comm->clu, out->bottleneck), sizeof out->bound_by);
}

static void
finish (ColComm *comm, ColAnswer *out)
{
  out->time_lo_s = out->time_s / (1 + out->cost.band);
  out->time_hi_s = out->time_s * (1 + out->cost.band);
  out->algbw_Bps = out->time_s > 0 ? out->size_B / out->time_s : 0;
  out->busbw_Bps = out->algbw_Bps * mdl_op_busbw_factor (out->op, out->n_ranks);
  out->wire_Bps = out->spread != NULL ? out->spread->bounds.most * fmax (out->cost.wire, 1) * out->algbw_Bps : 0;
  out->register_s = mdl_registration_s (comm->settings->library, &out->question, comm->settings->buffers, &out->register_source);
  name_bound (comm, out);
}

/* One rank has nobody to talk to: the launch alone, no traffic. */
static void
price_alone (const ColComm *comm, const ColCollRequest *request, ColAnswer *out)
{
  out->algo = request->algo >= 0                                                 ? request->algo
              : request->op == MDL_OP_ALLTOALL || request->op == MDL_OP_SENDRECV ? MDL_ALGO_PAIRWISE
                                                                                 : MDL_ALGO_RING;
  out->proto = request->proto >= 0 ? request->proto : MDL_PROTO_SIMPLE;
  col_spread_unref (out->spread);
  out->spread = NULL;
  g_clear_pointer (&out->alike, g_array_unref);
  out->alike = g_array_new (FALSE, FALSE, sizeof (ColLoad));
  MdlCollQuestion question = {
    .op = request->op, .size_B = request->size_B, .n_ranks = 1, .n_nodes = 1, .ranks_per_node = 1, .launch = comm->settings->launch
  };
  mdl_coll_cost (comm->settings->library, mdl_coll_find (out->algo, out->op), out->proto, &question, &out->cost);
  out->provenance = out->cost.source;
  out->time_s = out->cost.time_s;
  out->bottleneck = CLU_NONE;
}

gboolean
col_coll_price (ColComm *comm, const ColCollRequest *request, ColAnswer *out, GError **error)
{
  out->op = request->op;
  out->dtype = request->dtype;
  out->size_B = request->size_B;
  out->n_ranks = comm->n;
  out->n_nodes = comm->n_nodes;
  out->n_events = out->n_messages = 0;
  out->time_s = 0;
  if (comm->n == 1) {
    price_alone (comm, request, out);
    finish (comm, out);
    return TRUE;
  }
  if (!choose (comm, request, out, error))
    return FALSE;
  ColTraffic *traffic = col_comm_traffic (comm, request->op, out->algo, request->root, error);
  if (traffic == NULL)
    return FALSE;
  take_loads (comm, traffic, out);
  out->time_s = out->cost.time_s;
  if (comm->settings->mode == COL_MODE_EVENT) {
    gboolean messages = comm->settings->steps == COL_STEPS_EXACT && col_algo_has_messages (out->algo);
    if (!(messages ? col_coll_run_exact (comm, out, request->root, error) : col_coll_run_fluid (comm, out, error)))
      return FALSE;
  }
  finish (comm, out);
  return TRUE;
}

gboolean
col_coll_run_fluid (ColComm *comm, ColAnswer *coll, GError **error)
{
  g_autoptr (ColNet) net = col_net_new (comm->clu);
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  EngFlowSpec spec;
  col_net_coll_flow (net, coll, uses, &spec);
  Eng *eng = col_net_engine (net);
  eng_flow_start (eng, &spec);
  if (!eng_run (eng, ENG_TIME_NEVER, 0, error))
    return FALSE;
  coll->time_s = eng_time_to_s (eng_now (eng));
  coll->n_events = eng_stats (eng).events;
  return TRUE;
}
