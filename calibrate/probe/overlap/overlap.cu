/* The overlap section: what compute and a collective do to each other when both run. Cases are computes x collectives x sizes x
 * channels; each is run once alone on either side, and together for so many operations that both sides would last the same time
 * alone.
 *
 * Time at default settings on 8 H200, estimated: opening 4 s, 4 sets of communicators 8 s, 36 sides alone 6 s, 100 pairs of
 * about 0.2 s 20 s: below 45 s in all. */
#include <math.h>

#include "overlap.h"

#define SECTION "overlap"
/* Each side of a run lasts so long alone; at least so many operations, where they are slow. */
#define RUN_S            0.1
#define OPERATIONS_LEAST 8u
#define OPERATIONS_MOST  8192u
/* Runs of a case, until its samples are enough. */
#define RUNS_MOST 3u
/* Operations that connect the GPUs and load code, and those that tell how long one takes. */
#define WARM_N      3u
#define ESTIMATE_N  8u
#define COMM_MOST_B ((size_t)256 << 20)

static const unsigned channels[] = { 0, 8, 4, 16 }; /* 0: NCCL's own choice */
static const size_t sizes_B[] = { COMM_MOST_B, (size_t)16 << 20 };
static const ProbeOp collectives[] = { PROBE_OP_ALL_REDUCE, PROBE_OP_ALL_GATHER, PROBE_OP_REDUCE_SCATTER, PROBE_OP_ALLTOALL };
static const char *const compute_names[OVERLAP_N_COMPUTES][2] = {
  { "gemm", "bf16" }, { "gemm", "fp8" }, { "copy", "bf16" }, { "attention", "bf16" }
};

/* What is measured: one side alone, each while the other runs, the time of both. */
typedef enum { COMPUTE_ALONE, COMM_ALONE, COMPUTE_UNDER_COMM, COMM_UNDER_COMPUTE, TOTAL, N_WHATS } What;
static const char *const what_names[N_WHATS] = { "compute_alone", "comm_alone", "compute_under_comm", "comm_under_compute",
                                                 "total" };

typedef struct {
  Probe *probe;
  OverlapTeam *team;                    /* NULL until the first case that is wanted */
  bool failed;                          /* no case can be measured any more */
  double compute_s[OVERLAP_N_COMPUTES]; /* of one operation alone; 0: not known yet */
  bool asked;                           /* communicators were, */
  unsigned channels;                    /* with so many channels; */
  std::string refused;                  /* why there are none, "": there are */
} Overlap;

typedef struct {
  double sample_s[RUNS_MOST * OVERLAP_SLOTS_MOST];
  size_t n;
} Samples;

static ProbeCase *
overlap_case (Overlap *o, What what, const OverlapJob *job, unsigned n_channels)
{
  ProbeCase *c = probe_case (SECTION, what_names[what], { { "gpus", probe_options (o->probe)->gpus } });
  if (what != COMM_ALONE) {
    probe_add (c, { { "compute", compute_names[job->compute][0] }, { "dtype", compute_names[job->compute][1] } });
    if (job->compute == OVERLAP_COPY)
      probe_add (c, { { "copy_B", OVERLAP_COPY_B } });
    else if (job->compute == OVERLAP_ATTENTION)
      probe_add (c, { { "heads", OVERLAP_HEADS }, { "length", OVERLAP_LENGTH }, { "head_dim", COMPUTE_ATTENTION_HEAD } });
    else
      probe_add (c, { { "m", OVERLAP_GEMM_N }, { "n", OVERLAP_GEMM_N }, { "k", OVERLAP_GEMM_N } });
  }
  if (what != COMPUTE_ALONE)
    probe_add (c, { { "collective", probe_op_name (job->collective) },
                    { "comm_dtype", "bf16" },
                    { "size_B", job->size_B },
                    { "channels", n_channels } });
  return c;
}

/* The whole section cannot go on; says why, once. */
static bool
give_up (Overlap *o)
{
  o->failed = true;
  probe_note (o->probe, "overlap: ended early: %s", probe_why ());
  return false;
}

/* NCCL as the other sections have it, from the first that takes a number of channels for a communicator. */
static bool
nccl_usable (const char *library)
{
  int version = 0;
  if (!nccl_lib_open (library))
    return false;
  if (ncclGetVersion (&version) == ncclSuccess && version >= NCCL_VERSION (2, 17, 0))
    return true;
  return probe_fail ("this NCCL is older than 2.17, the first that takes channels for a communicator");
}

static bool
opened (Overlap *o)
{
  if (o->failed || o->team != NULL)
    return !o->failed;
  o->team = new OverlapTeam ();
  const ProbeOptions *options = probe_options (o->probe);
  return (nccl_usable (options->nccl_library) && overlap_team_open (o->team, options->gpus, COMM_MOST_B)) || give_up (o);
}

/* Communicators with these channels; "", or why there are none. */
static std::string
connected (Overlap *o, unsigned n_channels)
{
  if (o->asked && o->channels == n_channels)
    return o->refused;
  overlap_team_disconnect (o->team);
  o->asked = true;
  o->channels = n_channels;
  o->refused = "";
  if (!overlap_team_connect (o->team, n_channels)) {
    o->refused = probe_why ();
    probe_note (o->probe, "overlap: NCCL makes no communicators with %u channels: %s", n_channels, o->refused.c_str ());
  }
  return o->refused;
}

static bool
run (Overlap *o, const OverlapJob *job)
{
  return overlap_team_run (o->team, job) || give_up (o);
}

/* So many operations of one side as last for `s`. */
static void
plan_side (OverlapJob *job, OverlapSide side, double s, double each_s)
{
  const unsigned wanted = probe_repeats (s, each_s, OPERATIONS_MOST);
  job->side[side].n = wanted < OPERATIONS_LEAST ? OPERATIONS_LEAST : wanted;
  job->side[side].group = (job->side[side].n + OVERLAP_EVENTS_MOST - 1) / OVERLAP_EVENTS_MOST;
}

/* Seconds of one operation of one side alone, from a few. Loads code and connects the GPUs on the way. */
static bool
estimate (Overlap *o, OverlapJob job, OverlapSide side, double *each_s)
{
  for (unsigned n : { WARM_N, ESTIMATE_N }) {
    job.side[side] = { n, 1 };
    if (!run (o, &job))
      return false;
  }
  *each_s = 0;
  for (const OverlapRank &rank : o->team->rank) {
    const std::vector<double> &at_s = rank.track[side].at_s;
    *each_s = fmax (*each_s, (at_s[ESTIMATE_N - 1] - at_s[0]) / (ESTIMATE_N - 1));
  }
  return true;
}

static bool
add_samples (Overlap *o, OverlapSide side, Samples *samples)
{
  size_t n = overlap_slots (o->team, side, samples->sample_s + samples->n);
  samples->n += n;
  return n > 0;
}

static bool
are_enough (const Overlap *o, const Samples *samples)
{
  return probe_enough (o->probe, samples->sample_s, samples->n);
}

static void
point (Overlap *o, ProbeCase *c, const Samples *samples)
{
  if (samples->n == 0)
    probe_fail ("no run in which each side was busy for a group of operations or more");
  probe_point (o->probe, c, samples->sample_s, samples->n);
}

/* One side, the other idle; first how long an operation takes. */
static bool
measure_alone (Overlap *o, OverlapJob job, OverlapSide side, double *each_s, ProbeCase *c)
{
  Samples samples;
  samples.n = 0;
  if (!estimate (o, job, side, each_s)) {
    probe_fail ("the run failed");
    return probe_failed (o->probe, c);
  }
  plan_side (&job, side, RUN_S, *each_s);
  for (unsigned i = 0; i < RUNS_MOST && !o->failed && !probe_stopped (o->probe); i++)
    if (!run (o, &job) || !add_samples (o, side, &samples) || are_enough (o, &samples))
      break;
  point (o, c, &samples);
  return !o->failed;
}

/* Both sides; `wanted` says which of the points are, from COMPUTE_UNDER_COMM. */
static bool
measure_both (Overlap *o, OverlapJob job, double compute_s, double comm_s, unsigned n_channels, const bool wanted[3])
{
  Samples samples[3];
  samples[0].n = samples[1].n = samples[2].n = 0;
  const double last_s = fmax (RUN_S, OPERATIONS_LEAST * fmax (compute_s, comm_s));
  plan_side (&job, OVERLAP_COMPUTING, last_s, compute_s);
  plan_side (&job, OVERLAP_COMMUNICATING, last_s, comm_s);
  for (unsigned i = 0; i < RUNS_MOST && !probe_stopped (o->probe); i++) {
    if (!run (o, &job))
      break;
    const bool computing = add_samples (o, OVERLAP_COMPUTING, &samples[0]),
               communicating = add_samples (o, OVERLAP_COMMUNICATING, &samples[1]);
    samples[2].sample_s[samples[2].n++] = overlap_total (o->team);
    if (!computing || !communicating || (are_enough (o, &samples[0]) && are_enough (o, &samples[1])))
      break;
  }
  for (int i = 0; i < 3; i++) {
    if (!wanted[i])
      continue;
    ProbeCase *c = overlap_case (o, (What)(COMPUTE_UNDER_COMM + i), &job, n_channels);
    if (COMPUTE_UNDER_COMM + i == TOTAL)
      probe_add (c, { { "n_compute", job.side[OVERLAP_COMPUTING].n }, { "n_comm", job.side[OVERLAP_COMMUNICATING].n } });
    point (o, c, &samples[i]);
  }
  return !o->failed;
}

/* "", or why not all GPUs can do it. */
static std::string
missing (const Overlap *o, OverlapCompute compute)
{
  std::string why;
  for (const OverlapRank &rank : o->team->rank)
    why = why.empty () ? rank.missing[compute] : why;
  return why;
}

static bool
compute_alone_cases (Overlap *o)
{
  for (int i = 0; i < OVERLAP_N_COMPUTES; i++) {
    OverlapJob job = OverlapJob ();
    job.compute = (OverlapCompute)i;
    if (!probe_wants (o->probe, SECTION, what_names[COMPUTE_ALONE]))
      continue;
    if (!opened (o))
      return false;
    ProbeCase *c = overlap_case (o, COMPUTE_ALONE, &job, 0);
    const std::string why = missing (o, job.compute);
    if (!why.empty ())
      probe_skip (o->probe, c, why.c_str ());
    else if (!measure_alone (o, job, OVERLAP_COMPUTING, &o->compute_s[i], c))
      return false;
  }
  return true;
}

/* One collective, size and number of channels: alone, and with each kind of compute. */
static bool
pair_cases (Overlap *o, OverlapJob job, unsigned n_channels, size_t n_computes)
{
  double comm_s = 0;
  if (probe_wants (o->probe, SECTION, what_names[COMM_ALONE])) {
    if (!opened (o))
      return false;
    ProbeCase *c = overlap_case (o, COMM_ALONE, &job, n_channels);
    const std::string why = connected (o, n_channels);
    if (!why.empty ())
      probe_skip (o->probe, c, why.c_str ());
    else if (!measure_alone (o, job, OVERLAP_COMMUNICATING, &comm_s, c))
      return false;
  }
  for (size_t i = 0; i < n_computes; i++) {
    bool wanted[3], any = false;
    for (int k = 0; k < 3; k++) {
      wanted[k] = probe_wants (o->probe, SECTION, what_names[COMPUTE_UNDER_COMM + k]);
      any = any || wanted[k];
    }
    job.compute = (OverlapCompute)i;
    if (!any)
      continue;
    if (!opened (o))
      return false;
    std::string why = missing (o, job.compute);
    why = why.empty () ? connected (o, n_channels) : why;
    if (!why.empty ()) {
      probe_skip (o->probe, overlap_case (o, COMPUTE_UNDER_COMM, &job, n_channels), why.c_str ());
      continue;
    }
    if ((o->compute_s[i] <= 0 && !estimate (o, job, OVERLAP_COMPUTING, &o->compute_s[i])) ||
        (comm_s <= 0 && !estimate (o, job, OVERLAP_COMMUNICATING, &comm_s)) ||
        !measure_both (o, job, o->compute_s[i], comm_s, n_channels, wanted))
      return false;
  }
  return true;
}

static bool
overlap_cases (Overlap *o)
{
  const bool quick = probe_options (o->probe)->quick;
  const size_t n_channels = quick ? 2 : COMPUTE_COUNT (channels), n_sizes = quick ? 1 : COMPUTE_COUNT (sizes_B);
  if (!compute_alone_cases (o))
    return false;
  for (size_t i = 0; i < n_channels; i++)
    for (size_t size = 0; size < n_sizes; size++)
      for (ProbeOp collective : collectives) {
        OverlapJob job = OverlapJob ();
        job.collective = collective;
        job.size_B = sizes_B[size];
        /* Attention comes last of the computes, and with NCCL's own choice of channels and large messages only, for time. */
        const bool attention = i == 0 && size == 0;
        if (!pair_cases (o, job, channels[i], attention ? OVERLAP_N_COMPUTES : OVERLAP_ATTENTION))
          return false;
      }
  return true;
}

static void
skip_all (Overlap *o, const char *why)
{
  for (const char *what : what_names)
    if (probe_wants (o->probe, SECTION, what))
      probe_skip (o->probe, probe_case (SECTION, what), why);
}

bool
probe_overlap (Probe *probe)
{
  Overlap o = Overlap ();
  o.probe = probe;
  if (probe_options (probe)->gpus < 2) {
    skip_all (&o, "one GPU in use; collectives need two or more");
    return true;
  }
  bool ok = overlap_cases (&o);
  if (o.team != NULL && overlap_team_close (o.team))
    delete o.team;
  else if (o.team != NULL)
    probe_note (probe, "overlap: a thread is stuck in a call and stays behind, with the memory of this section");
  return ok;
}
