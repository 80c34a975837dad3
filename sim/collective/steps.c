/* Message by message: every send of every step on the engine, each waiting for what it forwards. For checking the fluid form
 * and for comparing with other simulators; where switches reduce (traffic_sharp.c) there are no messages.
 *
 * The plain library sends as the textbook has it: an edge takes its next message when the one before has arrived, so that each
 * costs alpha + size x beta. NCCL keeps several slots of a connection on their way (NCCL 5067397c src/include/device.h:NCCL_STEPS):
 * an edge takes its next message when the one before has left, and latencies of messages in a row overlap. How many fit is not
 * limited here: links and channels are what binds. Where a message alone moves faster than a channel sustains (trees, whose
 * blocks do two things at a time), an edge rests behind it until the channels' pace is kept.
 */
#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "collective/net.h"
#include "collective/series.h"
#include "comm-private.h"
#include "engine/need.h"

/* Measured: trees over 72 GPUs, 650,000 messages, took 2.7 s of a processor at 3 GHz. */
#define MESSAGE_S 4e-6

/* Messages of a run, for its progress on stderr, which has the time that is left, and for its end. */
typedef struct {
  guint64 n, left, here; /* all; those that have left, that have arrived */
  gboolean counts;       /* this run reports */
  EngFn ended;           /* called when all have arrived */
  void *user;
} Tally;

typedef struct {
  const ColPipe *pipe;
  Tally *tally; /* of all pipes */
  const ColComm *comm;
  MdlOp op;
  guint number; /* among the pipes */
  gboolean is_ring;
  EngTime *set_out;   /* when each edge's message did; NULL: nothing is recorded */
  guint32 *sent;      /* messages that have left each edge */
  guint32 *delivered; /* … and have arrived */
  guint8 *busy;
  double *pace_s;    /* what each edge takes at least for all of its bytes, by the channels' pace; 0: no more than they travel */
  EngTime *since;    /* when each edge's next message may set out, by that pace */
  EngTime *flight;   /* latency of each edge behind the bytes; 0 where the message holds the edge meanwhile */
  guint32 *heirs_at; /* who needs an edge, as offsets into heirs */
  guint32 *heirs;
  EngFlowSpec *spec; /* of each edge, of all its messages; uses borrowed from `uses` */
} StepPipe;

typedef struct {
  StepPipe *pipe;
  guint n_pipes;
  GArray *uses; /* EngUse of all edges; specs hold offsets until it stops growing */
  Tally tally;
} Steps;

static void
tally_one (Tally *tally)
{
  enum { REPORT_EVERY = 4096 };
  if (++tally->left % REPORT_EVERY == 0 && tally->counts)
    base_progress_set ("messages", tally->n, tally->left);
}

static void
tally_arrival (Tally *tally, Eng *eng)
{
  if (++tally->here == tally->n && tally->ended != NULL)
    tally->ended (eng, tally->user, 0);
}

static void
steps_clear (Steps *steps)
{
  for (guint p = 0; p < steps->n_pipes; p++) {
    g_free (steps->pipe[p].sent);
    g_free (steps->pipe[p].set_out);
    g_free (steps->pipe[p].delivered);
    g_free (steps->pipe[p].flight);
    g_free (steps->pipe[p].pace_s);
    g_free (steps->pipe[p].since);
    g_free (steps->pipe[p].busy);
    g_free (steps->pipe[p].heirs_at);
    g_free (steps->pipe[p].heirs);
    g_free (steps->pipe[p].spec);
  }
  g_free (steps->pipe);
  g_array_unref (steps->uses);
}

static gboolean
may_send (const StepPipe *sp, guint32 e)
{
  const ColPipe *pipe = sp->pipe;
  guint32 k = sp->sent[e];
  if (sp->busy[e] || k == pipe->n_pieces)
    return FALSE;
  for (guint32 i = pipe->need_at[e]; i < pipe->need_at[e + 1]; i++)
    if (sp->delivered[pipe->need[i]] + pipe->lag <= k)
      return FALSE;
  return TRUE;
}

/* Message k of an edge, as a share of all its bytes. */
static double
share_of (const StepPipe *sp, guint32 k)
{
  guint32 before = sp->pipe->n_pieces - 1;
  return k < before ? sp->pipe->piece : 1 - before * sp->pipe->piece;
}

static void
try_send (Eng *eng, StepPipe *sp, guint32 e)
{
  if (!may_send (sp, e))
    return;
  sp->busy[e] = 1;
  EngFlowSpec message = sp->spec[e];
  message.amount *= share_of (sp, sp->sent[e]);
  if (sp->sent[e] == 0)
    sp->since[e] = eng_now (eng);
  if (sp->set_out != NULL)
    sp->set_out[e] = eng_now (eng);
  eng_flow_start (eng, &message);
}

/* The message of an edge that has left, its flight included. In a ring of n the rank at position i sends its chunk i first, then
 * what came: chunk i - r in round r; with the last of n - 1 rounds each holds a sum, i + 1, which goes round in as many. */
static void
record (const StepPipe *sp, guint32 e, EngTime now)
{
  const guint32 n = sp->pipe->n_edges, k = sp->sent[e];
  const ColEdge *edge = &sp->pipe->edge[e];
  if (sp->set_out == NULL || sp->comm->messages->len >= G_MAXUINT16)
    return;
  ColMessage m = { .from = edge->from, .to = edge->to, .pipe = sp->number, .round = k, .chunk = -1 };
  if (sp->is_ring) {
    m.gathers = sp->op == MDL_OP_ALL_GATHER || (sp->op == MDL_OP_ALL_REDUCE && k >= n - 1);
    m.round = m.gathers && sp->op == MDL_OP_ALL_REDUCE ? k - (n - 1) : k;
    guint32 first = m.gathers && sp->op == MDL_OP_ALL_REDUCE ? e + 1 : e;
    m.chunk = (gint32)((first + n - m.round % n) % n);
  }
  m.start_s = eng_time_to_s (sp->set_out[e]);
  m.end_s = eng_time_to_s (eng_time_add (now, sp->flight[e]));
  g_array_append_val (sp->comm->messages, m);
}

static void
arrived (Eng *eng, void *user, uint64_t arg)
{
  StepPipe *sp = user;
  guint32 e = (guint32)arg;
  sp->delivered[e]++;
  for (guint32 i = sp->heirs_at[e]; i < sp->heirs_at[e + 1]; i++)
    try_send (eng, sp, sp->heirs[i]);
  tally_arrival (sp->tally, eng);
}

static void
rested (Eng *eng, void *user, uint64_t arg)
{
  StepPipe *sp = user;
  sp->busy[arg] = 0;
  try_send (eng, sp, (guint32)arg);
}

static void
left (Eng *eng, void *user, uint64_t arg)
{
  StepPipe *sp = user;
  guint32 e = (guint32)arg;
  tally_one (sp->tally);
  record (sp, e, eng_now (eng));
  EngTime next = eng_time_add (sp->since[e], eng_time_from_s (sp->pace_s[e] * share_of (sp, sp->sent[e])));
  sp->since[e] = next;
  sp->sent[e]++;
  if (next > eng_now (eng) && sp->sent[e] < sp->pipe->n_pieces)
    eng_at (eng, next, rested, sp, arg);
  else
    rested (eng, sp, arg);
  if (sp->flight[e] > 0)
    eng_at (eng, eng_now (eng) + sp->flight[e], arrived, sp, arg);
  else
    arrived (eng, sp, arg);
}

static void
find_heirs (StepPipe *sp)
{
  const ColPipe *pipe = sp->pipe;
  guint32 n = pipe->n_edges, n_needs = pipe->need_at[n];
  sp->heirs_at = g_new0 (guint32, n + 1);
  sp->heirs = g_new (guint32, MAX (n_needs, 1));
  for (guint32 i = 0; i < n_needs; i++)
    sp->heirs_at[pipe->need[i] + 1]++;
  for (guint32 e = 0; e < n; e++)
    sp->heirs_at[e + 1] += sp->heirs_at[e];
  g_autofree guint32 *at = g_memdup2 (sp->heirs_at, (n + 1) * sizeof *at);
  for (guint32 e = 0; e < n; e++)
    for (guint32 i = pipe->need_at[e]; i < pipe->need_at[e + 1]; i++)
      sp->heirs[at[pipe->need[i]]++] = e;
}

/* What the messages of one run have in common. */
typedef struct {
  ColComm *comm;
  ColNet *net;
  const ColAnswer *coll;
  const ColSeries *series; /* NULL: others share the network, and any link may bind */
} Run;

/* What a message takes of its links, relative to its bytes. One that is faster than the operation's pace stands for channels
 * that send one after the other: while it moves, they fill the links no more than they do on average. */
static double
busy_part (const ColAnswer *coll, double message_Bps)
{
  double size_s = coll->cost.time_s - coll->cost.latency_s;
  return size_s > 0 ? fmin (coll->size_B / size_s / message_Bps, 1) : 1;
}

/* All messages of an edge as one: its share of the bytes, the hop's latency, the links of its route that can bind, appended to
 * `uses`. */
static gboolean
edge_spec (Run *run, const ColEdge *edge, GArray *uses, EngFlowSpec *spec, EngTime *hop, double *pace_s, GError **error)
{
  const ColComm *comm = run->comm;
  const ColAnswer *coll = run->coll;
  const ColRoute *way = col_comm_rank_route (comm, edge->from, edge->to, edge->nic, error);
  if (way == NULL)
    return FALSE;
  gboolean inside = comm->island[edge->from] == comm->island[edge->to];
  /* the closed form has the longest route's latency for all of a kind */
  double wire_s = !coll->cost.paced ? way->latency_s : inside ? comm->intra.latency_s : comm->inter.latency_s;
  *hop = eng_time_from_s (fmax (wire_s + coll->cost.hop_software_s[inside ? 0 : 1], 0));
  spec->amount = coll->size_B * edge->bytes;
  /* what the channels move of the whole operation, this edge's part of it */
  *pace_s = coll->cost.pace_s;
  double most_Bps = coll->cost.paced ? coll->cost.message_Bps[inside ? 0 : 1] : coll->cost.bound_Bps;
  spec->bound_per_s = most_Bps * edge->bytes;
  double busy = coll->cost.paced ? busy_part (coll, most_Bps) : 1;
  guint before = uses->len;
  for (guint32 i = 0; i < way->n_uses; i++) {
    CluRes res = col_route_res (&way->use[i], &comm->stand[edge->from], &comm->stand[edge->to]);
    if (run->series != NULL && !col_series_binds (run->series, res))
      continue;
    EngUse use = { col_net_link (run->net, res), busy * way->use[i].share * coll->cost.wire / way->use[i].factor };
    g_array_append_val (uses, use);
  }
  spec->n_uses = uses->len - before;
  return TRUE;
}

/* ---- messages that wait for nothing: all-to-all of n ranks has n (n - 1), of which nothing is kept here ---- */

static gboolean
is_loose (const ColPipe *pipe)
{
  return pipe->n_pieces == 1 && pipe->need_at[pipe->n_edges] == 0;
}

static void
landed (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  tally_arrival (user, eng);
}

/* The bytes have left; `arg` is how long the last of them flies. */
static void
left_loose (Eng *eng, void *user, uint64_t arg)
{
  tally_one (user);
  eng_at (eng, eng_time_add (eng_now (eng), arg), landed, user, 0);
}

static void
left_at_once (Eng *eng, void *user, uint64_t arg)
{
  tally_one (user);
  landed (eng, user, arg);
}

static gboolean
start_loose (Run *run, const ColPipe *pipe, Tally *tally, GError **error)
{
  EngTime start = eng_time_from_s (run->coll->cost.start_s), hop;
  g_autoptr (GArray) uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  for (guint32 e = 0; e < pipe->n_edges; e++) {
    EngFlowSpec spec = { 0 };
    g_array_set_size (uses, 0);
    double pace_s; /* one message has none to wait for it */
    if (!edge_spec (run, &pipe->edge[e], uses, &spec, &hop, &pace_s, error))
      return FALSE;
    spec.uses = (const EngUse *)(const void *)uses->data;
    const gboolean flies = run->comm->settings->library != NULL && hop > 0;
    spec.latency = flies ? start : eng_time_add (start, hop);
    spec.done = flies ? left_loose : left_at_once;
    spec.user = tally;
    spec.arg = hop;
    eng_flow_start (col_net_engine (run->net), &spec);
  }
  return TRUE;
}

/* ---- messages that wait for others ---- */

static gboolean
prepare_pipe (Run *run, StepPipe *sp, GArray *uses, GError **error)
{
  guint32 n = sp->pipe->n_edges;
  sp->sent = g_new0 (guint32, n);
  sp->delivered = g_new0 (guint32, n);
  sp->flight = g_new0 (EngTime, n);
  sp->pace_s = g_new0 (double, n);
  sp->since = g_new0 (EngTime, n);
  sp->busy = g_new0 (guint8, n);
  sp->set_out = run->comm->messages != NULL ? g_new0 (EngTime, n) : NULL;
  sp->comm = run->comm;
  sp->op = run->coll->op;
  sp->is_ring = run->coll->algo == MDL_ALGO_RING && sp->pipe->lag == 1;
  sp->spec = g_new0 (EngFlowSpec, n);
  find_heirs (sp);
  for (guint32 e = 0; e < n; e++) {
    EngFlowSpec *spec = &sp->spec[e];
    EngTime hop;
    if (!edge_spec (run, &sp->pipe->edge[e], uses, spec, &hop, &sp->pace_s[e], error))
      return FALSE;
    if (run->comm->settings->library != NULL)
      sp->flight[e] = hop;
    else
      spec->latency = hop;
    spec->done = left;
    spec->user = sp;
    spec->arg = e;
  }
  return TRUE;
}

/* Messages that wait for others, before their edges are prepared; all-to-all was counted before its pairs were listed. */
static gboolean
edges_fit (const Run *run, const GPtrArray *pipes, GError **error)
{
  EngNeed need = { 0 };
  for (guint p = 0; p < pipes->len; p++) {
    const ColPipe *pipe = pipes->pdata[p];
    if (is_loose (pipe))
      continue;
    need.edges += pipe->n_edges;
    need.waits += pipe->need_at[pipe->n_edges];
  }
  g_autofree char *what =
      g_strdup_printf ("exact steps of %s over %u ranks", base_name (mdl_op_names, (int)run->coll->op), run->comm->n);
  return eng_need_fits (&need, what, error);
}

static gboolean
prepare (Run *run, const GPtrArray *pipes, Steps *steps, GError **error)
{
  steps->pipe = g_new0 (StepPipe, pipes->len);
  for (guint p = 0; p < pipes->len; p++) {
    const ColPipe *pipe = pipes->pdata[p];
    if (is_loose (pipe))
      continue;
    StepPipe *sp = &steps->pipe[steps->n_pipes++];
    sp->pipe = pipe;
    sp->number = p;
    sp->tally = &steps->tally;
    if (!prepare_pipe (run, sp, steps->uses, error))
      return FALSE;
  }
  const EngUse *use = (const EngUse *)(const void *)steps->uses->data;
  for (guint p = 0; p < steps->n_pipes; p++)
    for (guint32 e = 0; e < steps->pipe[p].pipe->n_edges; e++) {
      steps->pipe[p].spec[e].uses = use;
      use += steps->pipe[p].spec[e].n_uses;
    }
  return TRUE;
}

static void
begin (Eng *eng, void *user, uint64_t arg)
{
  (void)arg;
  Steps *steps = user;
  for (guint p = 0; p < steps->n_pipes; p++)
    for (guint32 e = 0; e < steps->pipe[p].pipe->n_edges; e++)
      try_send (eng, &steps->pipe[p], e);
}

struct ColExact {
  Run run;
  GPtrArray *pipes;
  Steps steps;
};

ColExact *
col_exact_new (ColComm *comm, const ColAnswer *coll, guint32 root, ColNet *net, gboolean shared, GError **error)
{
  static const double MOST_PIECES_A_STEP = 32; /* smaller ones are joined, as in models/collective/coll.c */
  const ColTraffic *traffic = col_comm_traffic (comm, coll->op, coll->algo, root, error);
  if (traffic == NULL)
    return NULL;
  double piece_B = coll->cost.piece_B, least_B = coll->size_B / (MOST_PIECES_A_STEP * MAX (coll->cost.n_steps, 1u));
  if (comm->settings->library != NULL && piece_B > 0 && !coll->cost.paced)
    piece_B = fmax (piece_B, least_B);
  g_autoptr (ColExact) exact = g_new0 (ColExact, 1);
  exact->pipes = col_comm_pipes (&(ColPipesQuery){ comm, coll->op, root, coll->size_B, piece_B }, coll->algo);
  exact->steps.uses = g_array_new (FALSE, FALSE, sizeof (EngUse));
  exact->run = (Run){ comm, net, coll, shared ? NULL : traffic->series };
  for (guint p = 0; p < exact->pipes->len; p++) {
    const ColPipe *pipe = exact->pipes->pdata[p];
    exact->steps.tally.n += (guint64)pipe->n_edges * pipe->n_pieces;
  }
  if (!edges_fit (&exact->run, exact->pipes, error) || !prepare (&exact->run, exact->pipes, &exact->steps, error))
    return NULL;
  return g_steal_pointer (&exact);
}

void
col_exact_free (ColExact *exact)
{
  steps_clear (&exact->steps);
  g_ptr_array_unref (exact->pipes);
  g_free (exact);
}

gboolean
col_exact_start (ColExact *exact, EngFn ended, void *user, GError **error)
{
  Steps *steps = &exact->steps;
  Eng *eng = col_net_engine (exact->run.net);
  steps->tally.left = steps->tally.here = 0;
  steps->tally.ended = ended;
  steps->tally.user = user;
  for (guint p = 0; p < steps->n_pipes; p++) {
    StepPipe *sp = &steps->pipe[p];
    memset (sp->sent, 0, sp->pipe->n_edges * sizeof *sp->sent);
    memset (sp->delivered, 0, sp->pipe->n_edges * sizeof *sp->delivered);
  }
  for (guint p = 0; p < exact->pipes->len; p++)
    if (is_loose (exact->pipes->pdata[p]) && !start_loose (&exact->run, exact->pipes->pdata[p], &steps->tally, error))
      return FALSE;
  if (steps->n_pipes > 0)
    eng_at (eng, eng_time_add (eng_now (eng), eng_time_from_s (exact->run.coll->cost.start_s)), begin, steps, 0);
  return TRUE;
}

gboolean
col_coll_run_exact (ColComm *comm, ColAnswer *coll, guint32 root, GError **error)
{
  g_autoptr (ColNet) net = col_net_new (comm->clu);
  Eng *eng = col_net_engine (net);
  g_autoptr (ColExact) exact = col_exact_new (comm, coll, root, net, FALSE, error);
  if (exact == NULL)
    return FALSE;
  Tally *tally = &exact->steps.tally;
  base_progress_expect ("messages", (double)tally->n, MESSAGE_S);
  tally->counts = base_progress_begin ("messages", tally->n, 0);
  gboolean ok = col_exact_start (exact, NULL, NULL, error) && eng_run (eng, ENG_TIME_NEVER, 0, error);
  if (ok) {
    coll->time_s = eng_time_to_s (eng_now (eng));
    coll->n_events = eng_stats (eng).events;
    coll->n_messages = tally->n;
  }
  if (tally->counts)
    base_progress_end ();
  return ok;
}
