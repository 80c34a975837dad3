/* Traces of all ranks joined by NCCL's rules: ranks of a communicator call the same operations in the same order; the n-th send to
 * a rank with a tag goes to its n-th receive from there. */
#include <math.h>
#include <string.h>

#include "play-private.h"

/* By code of the format. */
static const struct {
  const char *name;
  MdlOp op; /* MDL_OP_N: not modelled */
} ops[] = { { "all_reduce", MDL_OP_ALL_REDUCE },
            { "reduce", MDL_OP_REDUCE },
            { "all_gather", MDL_OP_ALL_GATHER },
            { "gather", MDL_OP_N },
            { "scatter", MDL_OP_N },
            { "broadcast", MDL_OP_BROADCAST },
            { "all_to_all", MDL_OP_ALLTOALL },
            { "reduce_scatter", MDL_OP_REDUCE_SCATTER },
            { "reduce_scatter_block", MDL_OP_REDUCE_SCATTER },
            { "barrier", MDL_OP_ALL_REDUCE } };

/* PyTorch's barrier is an all-reduce of one number. */
#define BARRIER   9
#define BARRIER_B 4.0

const ScnChakraNode *
scn_chakra_node (const ScnChakraPlay *play, guint rank, guint node)
{
  return &g_array_index (play->rank[rank].trace->nodes, ScnChakraNode, node);
}

static ScnChakraGroup *
group_at (const ScnChakraPlay *play, guint i)
{
  return &g_array_index (play->groups, ScnChakraGroup, i);
}

static ScnChakraCall *
call_at (const ScnChakraPlay *play, guint i)
{
  return &g_array_index (play->calls, ScnChakraCall, i);
}

static void
clear_group (gpointer data)
{
  ScnChakraGroup *group = data;
  g_array_unref (group->ranks);
  g_array_unref (group->calls);
  g_free (group->called);
  col_comm_free (group->comm);
}

/* ---- communicators ---- */

/* The ranks that a node's communicator has. NULL and *error. Returned: full. */
static GArray *
ranks_of (const ScnChakraPlay *play, guint rank, const ScnChakraNode *node, GError **error)
{
  const ScnChakraTrace *trace = play->rank[rank].trace;
  const GArray *listed = node->group != NULL ? g_hash_table_lookup (trace->groups, node->group) : NULL;
  if (node->group != NULL && listed == NULL) {
    scn_chakra_fail (trace, node, error,
                     "nothing says which ranks communicator '%s' has; accepted: a process_group:init node in the "
                     "trace, or the workload's 'groups'",
                     node->group);
    return NULL;
  }
  const gboolean all = listed == NULL || listed->len == 0;
  const guint n = play->set->n_ranks;
  g_autofree guint8 *seen = g_new0 (guint8, n);
  g_autoptr (GArray) ranks = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 i = 0; i < (all ? n : listed->len); i++) {
    const guint32 one = all ? i : g_array_index (listed, guint32, i);
    const char *fault = one >= n ? "which has no trace" : seen[one] ? "twice" : NULL;
    if (fault != NULL) {
      scn_chakra_fail (trace, node, error, "communicator '%s' has rank %u, %s; %u ranks run", node->group, one, fault, n);
      return NULL;
    }
    seen[one] = TRUE;
    g_array_append_val (ranks, one);
  }
  if (!seen[rank]) {
    scn_chakra_fail (trace, node, error, "rank %u is not in its communicator '%s'", rank, node->group);
    return NULL;
  }
  return g_steal_pointer (&ranks);
}

/* The group of these ranks, made when it is new. Takes `ranks`. */
static guint
find_group (ScnChakraPlay *play, GHashTable *known, GArray *ranks)
{
  GBytes *key = g_bytes_new (ranks->data, (gsize)ranks->len * sizeof (guint32));
  const guint at = GPOINTER_TO_UINT (g_hash_table_lookup (known, key));
  if (at > 0) {
    g_bytes_unref (key);
    g_array_unref (ranks);
    return at - 1u;
  }
  const ScnChakraGroup group = { .ranks = ranks,
                                 .calls = g_array_new (FALSE, FALSE, sizeof (guint)),
                                 .called = g_new0 (guint, ranks->len),
                                 .stream = ENG_NO_STREAM };
  g_array_append_val (play->groups, group);
  g_hash_table_insert (known, key, GUINT_TO_POINTER (play->groups->len));
  return play->groups->len - 1u;
}

static guint
place_in (const ScnChakraGroup *group, guint rank)
{
  guint at = 0;
  while (at < group->ranks->len && g_array_index (group->ranks, guint32, at) != rank)
    at++;
  return at;
}

/* ---- collectives ---- */

static gboolean
describe_call (const ScnChakraPlay *play, guint rank, const ScnChakraNode *node, ScnChakraCall *call, GError **error)
{
  const ScnChakraGroup *group = group_at (play, call->group);
  const guint code = (guint)node->type;
  call->op = ops[code].op;
  call->bytes = code == BARRIER ? BARRIER_B : node->comm_B;
  if (call->op == MDL_OP_N)
    return scn_chakra_fail (play->rank[rank].trace, node, error,
                            "%s is not modelled; accepted: all collectives but gather and scatter", ops[code].name);
  if (call->op == MDL_OP_ALL_GATHER) /* comm_size is of what a rank gives */
    call->bytes *= group->ranks->len;
  if (!isfinite (node->root))
    return TRUE;
  call->root = place_in (group, node->root >= 0 && node->root < play->set->n_ranks ? (guint)node->root : G_MAXUINT);
  return call->root < group->ranks->len ||
         scn_chakra_fail (play->rank[rank].trace, node, error, "its root, rank %.0f, is not in its communicator", node->root);
}

/* `call`, which this rank's node makes, against the one that others made in its place. */
static gboolean
check_same (const ScnChakraPlay *play, guint rank, const ScnChakraNode *node, const ScnChakraCall *call, GError **error)
{
  ScnChakraCall *other = call_at (play, play->rank[rank].call[node - scn_chakra_node (play, rank, 0)] - 1u);
  const ScnChakraNode *theirs = scn_chakra_node (play, other->rank, other->node);
  if (call->op == MDL_OP_ALLTOALL && other->op == MDL_OP_ALLTOALL) /* parts may differ: the largest counts */
    other->bytes = fmax (other->bytes, call->bytes);
  else if (call->op != other->op || call->bytes != other->bytes)
    return scn_chakra_fail (play->rank[rank].trace, node, error,
                            "it is %s of %.0f B where rank %u calls %s of %.0f B (node %" G_GUINT64_FORMAT
                            "); ranks of a communicator call the same in the same order",
                            ops[(guint)node->type].name, call->bytes, other->rank, ops[(guint)theirs->type].name, other->bytes,
                            theirs->id);
  return TRUE;
}

static gboolean
add_call (ScnChakraPlay *play, GHashTable *known, guint rank, guint at, GError **error)
{
  const ScnChakraNode *node = scn_chakra_node (play, rank, at);
  GArray *ranks = ranks_of (play, rank, node, error);
  if (ranks == NULL)
    return FALSE;
  ScnChakraCall call = { .group = find_group (play, known, ranks), .rank = rank, .node = at, .task = ENG_NO_TASK };
  if (!describe_call (play, rank, node, &call, error))
    return FALSE;
  ScnChakraGroup *group = group_at (play, call.group);
  const guint number = group->called[place_in (group, rank)]++;
  if (number < group->calls->len) {
    play->rank[rank].call[at] = g_array_index (group->calls, guint, number) + 1u;
    return check_same (play, rank, node, &call, error);
  }
  g_array_append_val (play->calls, call);
  const guint last = play->calls->len - 1u;
  g_array_append_val (group->calls, last);
  play->rank[rank].call[at] = last + 1u;
  return TRUE;
}

/* Whether all ranks make all calls of their communicators. */
static gboolean
check_complete (const ScnChakraPlay *play, GError **error)
{
  for (guint g = 0; g < play->groups->len; g++) {
    const ScnChakraGroup *group = group_at (play, g);
    for (guint i = 0; i < group->ranks->len; i++) {
      const guint rank = g_array_index (group->ranks, guint32, i);
      if (group->called[i] == group->calls->len)
        continue;
      const ScnChakraCall *missing = call_at (play, g_array_index (group->calls, guint, group->called[i]));
      return scn_chakra_fail (play->rank[missing->rank].trace, scn_chakra_node (play, missing->rank, missing->node), error,
                              "rank %u does not call it: its trace has %u calls on this communicator, and rank %u has %u", rank,
                              group->called[i], missing->rank, group->calls->len);
    }
  }
  return TRUE;
}

/* ---- sends ---- */

/* "from to tag" of a send or receive. FALSE and *error where an end is missing. Returned: full. */
static char *
key_of (const ScnChakraPlay *play, guint rank, const ScnChakraNode *node, guint *other, GError **error)
{
  const gboolean sends = node->kind == SCN_NODE_SEND;
  const double end = sends ? node->destination : node->source;
  if (!(end >= 0 && end < play->set->n_ranks) || end == rank) {
    scn_chakra_fail (play->rank[rank].trace, node, error, "its %s %.0f is not another rank that runs; accepted: 0 to %u",
                     sends ? "comm_dst" : "comm_src", end, play->set->n_ranks - 1);
    return NULL;
  }
  *other = (guint)end;
  return g_strdup_printf ("%u %u %.0f", sends ? rank : *other, sends ? *other : rank, isfinite (node->tag) ? node->tag : 0);
}

/* Numbers of sends by their ends and tag, the first that is still to be received at the front. */
static void
free_queue (gpointer queue)
{
  g_queue_free (queue);
}

static gboolean
add_sends (ScnChakraPlay *play, GHashTable *waiting, guint rank, GError **error)
{
  const ScnChakraRank *one = &play->rank[rank];
  for (guint i = 0; i < one->trace->nodes->len; i++) {
    const guint at = one->trace->order[i];
    const ScnChakraNode *node = scn_chakra_node (play, rank, at);
    if (node->kind != SCN_NODE_SEND || node->cpu)
      continue;
    guint to;
    g_autofree char *key = key_of (play, rank, node, &to, error);
    if (key == NULL)
      return FALSE;
    const ScnChakraSend send = { rank, at, to, G_MAXUINT, node->comm_B, 0, ENG_NO_TASK };
    g_array_append_val (play->sends, send);
    GQueue *queue = g_hash_table_lookup (waiting, key);
    if (queue == NULL) {
      queue = g_queue_new ();
      g_hash_table_insert (waiting, g_strdup (key), queue);
    }
    g_queue_push_tail (queue, GUINT_TO_POINTER (play->sends->len));
    one->send[at] = play->sends->len;
  }
  return TRUE;
}

static gboolean
add_receives (ScnChakraPlay *play, GHashTable *waiting, guint rank, GError **error)
{
  const ScnChakraRank *one = &play->rank[rank];
  for (guint i = 0; i < one->trace->nodes->len; i++) {
    const guint at = one->trace->order[i];
    const ScnChakraNode *node = scn_chakra_node (play, rank, at);
    if (node->kind != SCN_NODE_RECV || node->cpu)
      continue;
    guint from;
    g_autofree char *key = key_of (play, rank, node, &from, error);
    if (key == NULL)
      return FALSE;
    GQueue *queue = g_hash_table_lookup (waiting, key);
    const guint number = queue != NULL ? GPOINTER_TO_UINT (g_queue_pop_head (queue)) : 0;
    if (number == 0)
      return scn_chakra_fail (one->trace, node, error, "rank %u does not send what it receives", from);
    ScnChakraSend *send = &g_array_index (play->sends, ScnChakraSend, number - 1u);
    if (send->bytes != node->comm_B)
      return scn_chakra_fail (one->trace, node, error, "it receives %.0f B where rank %u sends %.0f B", node->comm_B, from,
                              send->bytes);
    send->to_node = at;
    one->send[at] = number;
  }
  return TRUE;
}

static gboolean
join_sends (ScnChakraPlay *play, GError **error)
{
  g_autoptr (GHashTable) waiting = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_queue);
  for (guint rank = 0; rank < play->set->n_ranks; rank++)
    if (!add_sends (play, waiting, rank, error))
      return FALSE;
  for (guint rank = 0; rank < play->set->n_ranks; rank++)
    if (!add_receives (play, waiting, rank, error))
      return FALSE;
  for (guint i = 0; i < play->sends->len; i++) {
    const ScnChakraSend *send = &g_array_index (play->sends, ScnChakraSend, i);
    if (send->to_node == G_MAXUINT)
      return scn_chakra_fail (play->rank[send->from_rank].trace, scn_chakra_node (play, send->from_rank, send->from_node), error,
                              "rank %u does not receive what it sends", send->to_rank);
  }
  return TRUE;
}

/* ---- all ---- */

gboolean
scn_chakra_join (ScnChakraPlay *play, const ScnChakraSet *set, GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  play->set = set;
  play->rank = g_new0 (ScnChakraRank, set->n_ranks);
  play->groups = g_array_new (FALSE, TRUE, sizeof (ScnChakraGroup));
  g_array_set_clear_func (play->groups, clear_group);
  play->calls = g_array_new (FALSE, TRUE, sizeof (ScnChakraCall));
  play->sends = g_array_new (FALSE, TRUE, sizeof (ScnChakraSend));
  for (guint rank = 0; rank < set->n_ranks; rank++) {
    ScnChakraRank *one = &play->rank[rank];
    one->trace = scn_chakra_of_rank (set, rank);
    one->call = g_new0 (guint, one->trace->nodes->len);
    one->send = g_new0 (guint, one->trace->nodes->len);
    one->task = g_new0 (EngTask, one->trace->nodes->len);
    for (guint i = 0; i < one->trace->nodes->len; i++) {
      const ScnChakraNode *node = scn_chakra_node (play, rank, one->trace->order[i]);
      if (node->kind == SCN_NODE_COLL && !node->cpu && !add_call (play, known, rank, one->trace->order[i], error))
        return FALSE;
    }
  }
  return check_complete (play, error) && join_sends (play, error);
}

void
scn_chakra_play_clear (ScnChakraPlay *play)
{
  for (guint rank = 0; play->rank != NULL && rank < play->set->n_ranks; rank++) {
    g_free (play->rank[rank].call);
    g_free (play->rank[rank].send);
    g_free (play->rank[rank].task);
  }
  g_free (play->rank);
  g_clear_pointer (&play->groups, g_array_unref);
  g_clear_pointer (&play->calls, g_array_unref);
  g_clear_pointer (&play->sends, g_array_unref);
}
