/* Two queues on each of n GPUs, one of kernels and one of collectives, event by event.
 *
 * The kernel on GPU i goes at speed s_i, evenly from 1 - spread / 2 to 1 + spread / 2, over its factor while the collective has SMs
 * there: beside one that still waits for other ranks and moves nothing, only the SMs are lost. A collective becomes ready when the
 * one before it has ended; on a GPU it starts when `wait` of what is then left of the running kernel is done; it goes on when it
 * has started everywhere, slowed while a GPU computes. */
#include <math.h>

#include "models/overlap.h"

/* What a double's rounding leaves of a kernel that has ended, of 1. */
static const double END = 1e-9;
/* GPUs that are simulated; more of them wait longer by a seventeenth at most. */
static const unsigned MOST_GPUS = 16;
/* Of the time in which both queues have work, the ends that the probe leaves out. */
static const double CUT = 0.1;

typedef struct {
  double speed;
  double left;     /* of the running kernel, 0 to 1 */
  double to_start; /* of it, until the collective may start */
  unsigned n_left; /* kernels, the running one included */
  gboolean started;
} Gpu;

/* When operations of a queue ended on one GPU. */
typedef struct {
  double *end_s;
  unsigned n;
} Ends;

typedef struct {
  Gpu *gpu;
  Ends *compute, comm;
  unsigned ranks, n_comm;
  double held, both, slowed; /* factors: of a kernel beside a collective that waits, of both while they run */
  double compute_s, comm_s, wait, now_s, comm_left;
} Run;

static void
make_ready (Run *r)
{
  r->comm_left = 1;
  for (unsigned i = 0; i < r->ranks; i++) {
    Gpu *g = &r->gpu[i];
    g->to_start = g->n_left > 0 ? r->wait * g->left : 0;
    g->started = g->to_start <= END;
  }
}

static gboolean
all_started (const Run *r)
{
  for (unsigned i = 0; i < r->ranks; i++)
    if (!r->gpu[i].started)
      return FALSE;
  return TRUE;
}

static gboolean
any_computes (const Run *r)
{
  for (unsigned i = 0; i < r->ranks; i++)
    if (r->gpu[i].n_left > 0)
      return TRUE;
  return FALSE;
}

/* Kernels a second on a GPU. */
static double
pace (const Run *r, const Gpu *g, gboolean moving)
{
  if (g->n_left == 0)
    return 0;
  gboolean beside = r->comm.n < r->n_comm && g->started;
  return g->speed / r->compute_s / (!beside ? 1 : moving ? r->both : r->held);
}

static void
advance (Run *r, Gpu *g, Ends *ends, double done)
{
  if (g->n_left == 0)
    return;
  g->left -= done;
  g->to_start -= done;
  if (g->left <= END) {
    ends->end_s[ends->n++] = r->now_s;
    g->left = 1;
    g->to_start = 0;
    g->n_left--;
  }
  g->started = g->started || g->to_start <= END;
}

/* To the next end or start. FALSE: all is done. */
static gboolean
step (Run *r)
{
  gboolean waits = r->comm.n < r->n_comm, moving = waits && all_started (r);
  double comm_pace = moving ? 1 / (r->comm_s * (any_computes (r) ? r->slowed : 1)) : 0;
  double dt = moving ? r->comm_left / comm_pace : HUGE_VAL;
  for (unsigned i = 0; i < r->ranks; i++) {
    const Gpu *g = &r->gpu[i];
    double speed = pace (r, g, moving), to = waits && !g->started ? fmin (g->to_start, g->left) : g->left;
    if (speed > 0)
      dt = fmin (dt, to / speed);
  }
  if (isinf (dt))
    return FALSE;
  r->now_s += dt;
  for (unsigned i = 0; i < r->ranks; i++)
    advance (r, &r->gpu[i], &r->compute[i], dt * pace (r, &r->gpu[i], moving));
  r->comm_left -= dt * comm_pace;
  if (moving && r->comm_left <= END) {
    r->comm.end_s[r->comm.n++] = r->now_s;
    make_ready (r);
  }
  return TRUE;
}

/* Seconds of one operation among those that ended from begin_s to end_s; NAN of fewer than two. */
static double
each_s (const Ends *ends, double begin_s, double end_s)
{
  unsigned first = 0, n = 0;
  while (first < ends->n && ends->end_s[first] < begin_s)
    first++;
  while (first + n < ends->n && ends->end_s[first + n] <= end_s)
    n++;
  return n > 1 ? (ends->end_s[first + n - 1] - ends->end_s[first]) / (n - 1) : (double)NAN;
}

/* As the probe has it: without the first and the last tenth of the time from the first ends to the end of one queue. */
static void
read_ends (const Run *r, unsigned n_compute, MdlOverlapQueues *out)
{
  double first_s = 0, last_s = HUGE_VAL;
  out->total_s = r->now_s;
  out->compute_s = out->comm_s = (double)NAN;
  if (n_compute == 0 || r->n_comm == 0)
    return;
  for (unsigned i = 0; i <= r->ranks; i++) {
    const Ends *ends = i < r->ranks ? &r->compute[i] : &r->comm;
    first_s = fmax (first_s, ends->end_s[0]);
    last_s = fmin (last_s, ends->end_s[ends->n - 1]);
  }
  double cut_s = CUT * (last_s - first_s);
  out->comm_s = each_s (&r->comm, first_s + cut_s, last_s - cut_s);
  out->compute_s = 0;
  for (unsigned i = 0; i < r->ranks; i++)
    out->compute_s += each_s (&r->compute[i], first_s + cut_s, last_s - cut_s) / r->ranks;
}

void
mdl_overlap_queues (const MdlOverlap *spec, const MdlGpu *gpu, const MdlOverlapQuery *query, MdlOverlapQueues *out)
{
  g_return_if_fail (query->ranks > 0 && query->compute_s > 0 && query->comm_s > 0);
  const MdlOverlapCompute *compute = &query->compute;
  const MdlOverlapComm *comm = &query->comm;
  const unsigned ranks = MIN (query->ranks, MOST_GPUS), n_compute = query->n_compute, n_comm = query->n_comm;
  const MdlOverlapComm idle = { comm->kind, comm->channels, 0 };
  const MdlSlowdown both = mdl_overlap_pair (spec, gpu, compute, comm);
  g_autofree Gpu *gpus = g_new0 (Gpu, ranks);
  g_autofree Ends *ends = g_new0 (Ends, ranks);
  g_autofree double *end_s = g_new (double, (gsize)n_compute *ranks + n_comm + 1);
  Run r = { .gpu = gpus,
            .compute = ends,
            .comm = { end_s + (gsize)n_compute * ranks, 0 },
            .ranks = ranks,
            .n_comm = n_comm,
            .held = mdl_overlap_pair (spec, gpu, compute, &idle).compute,
            .both = both.compute,
            .slowed = both.comm,
            .compute_s = query->compute_s,
            .comm_s = query->comm_s,
            .wait = mdl_overlap_wait_s (spec, gpu, compute, comm, 1, 1) > 0 ? spec->wait.v : 0 };
  for (unsigned i = 0; i < ranks; i++) {
    double place = ranks > 1 ? (double)i / (ranks - 1) - 0.5 : 0;
    gpus[i] = (Gpu){ .speed = 1 - spec->spread.v * place, .n_left = n_compute };
    ends[i] = (Ends){ end_s + (gsize)n_compute * i, 0 };
  }
  make_ready (&r); /* both queues start at once, on idle SMs */
  for (unsigned i = 0; i < ranks; i++)
    gpus[i].left = 1;
  while (step (&r))
    ;
  read_ends (&r, n_compute, out);
}
