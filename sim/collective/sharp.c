/* Whether the network's switches have room for a communicator's reduction trees (InfiniBand SHARP).
 *
 * A communicator streams over one tree a rail: from a head of each node up the switches between them. What a switch's type says
 * (topologies/switches) and how many other jobs reduce there (`fabric: {sharp: {jobs: N}}`, each with as many trees) decide:
 *
 *     subnet    (jobs + 1) rails <= trees
 *     children  adapters and switches below a switch in one tree <= radix
 *     switch    rails on a leaf + jobs <= 1, and rails <= switches above the leaves
 *     port      rails on a leaf + jobs <= cables from that leaf upwards, where trees go up
 *
 * The type of the leaves stands for all levels. Above the leaves the manager of the trees may choose other switches than routes
 * do, so that only numbers are compared there. A leaf's adapters are a job's own: their ports have one tree each. NCCL finds no
 * CollNet where a tree is refused, and takes another algorithm.
 *
 * Source: NVIDIA SHARP Rev 3.13.0, "General Information" (trees in a subnet; one active streaming tree a switch on Quantum, a port
 * on Quantum-2), "Using NVIDIA SHARP with NVIDIA NCCL" (Quantum and later); Mellanox/nccl-rdma-sharp-plugins 0b7783d,
 * src/sharp_plugin.c:typeConvert (types). Check: test_collective_sharp. */
#include <math.h>
#include <string.h>

#include "comm-private.h"

/* Per switch. */
typedef struct {
  guint32 children; /* in the tree being laid, then in the widest */
  guint32 widest;
  guint32 rails;   /* trees through it */
  guint32 last;    /* the last rail that came, + 1 */
  gboolean leaves; /* a tree goes on to another switch */
} Node;

typedef struct {
  Node *node;      /* by device */
  guint8 *climbed; /* devices whose way on is in the tree */
} Survey;

static void
survey_clear (Survey *survey)
{
  g_free (survey->node);
  g_free (survey->climbed);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Survey, survey_clear)

static gboolean
is_switch (const Clu *clu, CluDev dev)
{
  return clu_dev_kind (clu, dev) == CLU_DEV_SWITCH;
}

static void
visit (Node *node, guint32 rail)
{
  if (node->last != rail + 1) {
    node->widest = MAX (node->widest, node->children);
    node->children = 0;
    node->rails++;
    node->last = rail + 1;
  }
}

/* One head's way to the first node's: a child for each switch until a way that is known, and the first node's adapter. */
static void
climb (const Clu *clu, const CluRoute *route, guint32 rail, Survey *survey)
{
  for (guint i = 0; i < route->hops->len; i++) {
    const CluHop *hop = &g_array_index (route->hops, CluHop, i);
    gboolean from = is_switch (clu, hop->from), to = is_switch (clu, hop->to);
    gboolean back = from && !to;
    CluDev below = back ? hop->to : hop->from, above = back ? hop->from : hop->to;
    if ((!from && !to) || survey->climbed[below])
      continue;
    survey->climbed[below] = 1;
    Node *node = &survey->node[above];
    visit (node, rail);
    node->children++;
    if (from && to)
      survey->node[hop->from].leaves = node->leaves = TRUE;
  }
}

/* The heads of rail j: the j-th rank of each island, in rank order. */
static gboolean
survey_rail (const ColComm *comm, guint32 rail, CluRoute *route, Survey *survey)
{
  g_autofree guint32 *seen = g_new0 (guint32, comm->n_islands);
  guint32 first = G_MAXUINT32;
  memset (survey->climbed, 0, clu_n_devices (comm->clu));
  for (guint32 i = 0; i < comm->n; i++) {
    if (seen[comm->island[i]]++ != rail)
      continue;
    if (first == G_MAXUINT32) {
      first = i;
      continue;
    }
    if (!col_comm_route (comm, i, first, CLU_NONE, route, NULL))
      return FALSE;
    climb (comm->clu, route, rail, survey);
  }
  return TRUE;
}

static guint32
rails_of (const ColComm *comm)
{
  g_autofree guint32 *members = g_new0 (guint32, comm->n_islands);
  guint32 least = comm->n;
  for (guint32 i = 0; i < comm->n; i++)
    members[comm->island[i]]++;
  for (guint32 v = 0; v < comm->n_islands; v++)
    least = MIN (least, members[v]);
  return MIN (least, MAX (comm->rings->n_rings, 1));
}

static char *
no_room_in (const ColComm *comm, const CluSharpSpec *spec, const char *type, const Survey *survey, guint32 rails, guint32 jobs)
{
  const Clu *clu = comm->clu;
  const ColSwitch *switches = col_routes_switches (comm->routes);
  guint32 upper = 0;
  gboolean leaves = FALSE;
  for (CluDev dev = col_routes_first_switch (comm->routes); dev < clu_n_devices (clu); dev++) {
    const Node *node = &survey->node[dev];
    if (!is_switch (clu, dev))
      continue;
    guint32 children = MAX (node->widest, node->children);
    g_autofree char *name = clu_dev_name (clu, dev);
    if (spec->radix.set && (double)children > spec->radix.v)
      return g_strdup_printf ("its tree has %u children at switch %s, and '%s' adds %.0f at most", children, name, type,
                              spec->radix.v);
    upper += !switches[dev].leaf && switches[dev].cables > 0;
    leaves = leaves || node->leaves;
    if (!spec->stream.set || !switches[dev].leaf || node->rails == 0)
      continue;
    if (spec->stream.v == CLU_SHARP_STREAM_SWITCH && node->rails + jobs > 1)
      return g_strdup_printf ("switch %s would stream %u trees (%u of this job, %u of other jobs), and '%s' streams one at a time",
                              name, node->rails + jobs, node->rails, jobs, type);
    guint32 up = spec->stream.v == CLU_SHARP_STREAM_PORT && node->leaves ? switches[dev].cables : 0;
    if (up > 0 && node->rails + jobs > up)
      return g_strdup_printf ("%u trees (%u of this job, %u of other jobs) would go up from switch %s, which has %u cables up, and "
                              "'%s' streams one tree a port",
                              node->rails + jobs, node->rails, jobs, name, up, type);
  }
  if (spec->stream.set && spec->stream.v == CLU_SHARP_STREAM_SWITCH && leaves && rails > upper)
    return g_strdup_printf (
        "its %u trees need as many switches above the leaves, which are %u, and '%s' streams one tree at a time", rails, upper,
        type);
  return NULL;
}

static char *
find_reason (const ColComm *comm)
{
  const CluSharpSpec *spec = clu_fabric_sharp (comm->clu);
  if (spec == NULL || !spec->head.set)
    return NULL;
  const CluFabricSpec *fabric = &clu_spec (comm->clu)->fabric;
  const CluSwitchSpec *leaf = fabric->leaf.type.value;
  const char *type = leaf->name.v != NULL ? leaf->name.v : "the leaf";
  guint32 jobs = (guint32)fabric->sharp.jobs.v, rails = rails_of (comm);
  if (spec->stream.set && spec->stream.v == CLU_SHARP_STREAM_NONE)
    return g_strdup_printf ("switch type '%s' adds short messages only, and NCCL needs streaming (Quantum HDR and later)", type);
  double trees = ((double)jobs + 1.0) * rails;
  if (spec->trees.set && trees > spec->trees.v)
    return g_strdup_printf ("with %u other jobs %.0f trees are asked for, a rail each, and a subnet of '%s' has %.0f", jobs, trees,
                            type, spec->trees.v);
  if (!spec->radix.set && !spec->stream.set)
    return NULL;
  g_auto (Survey) survey = { g_new0 (Node, clu_n_devices (comm->clu)), g_new0 (guint8, clu_n_devices (comm->clu)) };
  CluRoute route;
  clu_route_init (&route);
  gboolean ok = TRUE;
  for (guint32 rail = 0; rail < rails && ok; rail++)
    ok = survey_rail (comm, rail, &route, &survey);
  clu_route_clear (&route);
  return ok ? no_room_in (comm, spec, type, &survey, rails, jobs) : NULL; /* no route: pricing says so */
}

const char *
col_sharp_why_not (const ColComm *comm)
{
  ColSharpRoom *room = comm->room;
  if (!room->asked)
    room->why_not = find_reason (comm);
  room->asked = TRUE;
  return room->why_not;
}

double
col_sharp_rate (const ColComm *comm, CluRes res)
{
  const CluSharpSpec *spec = clu_fabric_sharp (comm->clu);
  gboolean network = clu_resource_family (comm->clu, res) == CLU_FAMILY_INFINIBAND;
  return network && spec != NULL && spec->rate.set ? spec->rate.v : 1;
}
