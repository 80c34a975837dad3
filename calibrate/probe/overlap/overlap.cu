/* The overlap section: what compute and a collective do to each other when both run. Cases are computes x collectives x sizes x
 * channels; each is run once alone on either side, and together for so many operations that both sides would last the same time
 * alone.
 *
 * Time at default settings on 8 H200, estimated: opening 4 s, 4 sets of communicators 8 s, 36 sides alone 6 s, 100 pairs of
 * about 0.2 s 20 s: below 45 s in all. */
#include <math.h>
#include <new>
#include <stdlib.h>
#include <string.h>

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

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

static const int channels[] = { 0, 8, 4, 16 }; /* 0: NCCL's own choice */
static const size_t sizes_B[] = { COMM_MOST_B, (size_t)16 << 20 };
static const char *const compute_names[OVERLAP_N_COMPUTES][2] = {
  { "gemm", "bf16" }, { "gemm", "fp8" }, { "copy", "bf16" }, { "attention", "bf16" }
};
static const char *const collective_names[OVERLAP_N_COLLECTIVES] = { "all_reduce", "all_gather", "reduce_scatter", "alltoall" };

typedef struct {
  Probe *probe;
  OverlapTeam *team;                    /* NULL until the first case that is wanted */
  bool failed;                          /* no case can be measured any more */
  double compute_s[OVERLAP_N_COMPUTES]; /* of one operation alone; 0: not known yet */
  int connected;                        /* channels of the present communicators, -1: none */
  const char *refused;                  /* why there are none with `refused_channels` */
  int refused_channels;
} Overlap;

typedef struct {
  double sample_s[RUNS_MOST * OVERLAP_SLOTS_MOST];
  size_t n;
} Samples;

static ProbeCase *
overlap_case (Overlap *o, const char *what, const OverlapJob *job, int n_channels, bool compute, bool comm)
{
  ProbeCase *c = probe_case (o->probe, SECTION, what);
  probe_number (c, "gpus", probe_options (o->probe)->n_gpus);
  if (compute) {
    probe_text (c, "compute", compute_names[job->compute][0]);
    probe_text (c, "dtype", compute_names[job->compute][1]);
    if (job->compute == OVERLAP_COPY)
      probe_number (c, "copy_B", (double)OVERLAP_COPY_B);
    else if (job->compute == OVERLAP_ATTENTION) {
      probe_number (c, "heads", OVERLAP_HEADS);
      probe_number (c, "length", OVERLAP_LENGTH);
      probe_number (c, "head_dim", COMPUTE_ATTENTION_HEAD);
    } else {
      probe_number (c, "m", OVERLAP_GEMM_N);
      probe_number (c, "n", OVERLAP_GEMM_N);
      probe_number (c, "k", OVERLAP_GEMM_N);
    }
  }
  if (comm) {
    probe_text (c, "collective", collective_names[job->collective]);
    probe_text (c, "comm_dtype", "bf16");
    probe_number (c, "size_B", (double)job->size_B);
    probe_number (c, "channels", n_channels);
  }
  return c;
}

/* The whole section cannot go on; says why, once. */
static bool
give_up (Overlap *o, const char *error)
{
  o->failed = true;
  probe_note (o->probe, "overlap: ended early: %s", error);
  return false;
}

/* NCCL as the other sections have it, from the first that takes a number of channels for a communicator. */
static bool
nccl_usable (const char *library, const char **why)
{
  int version = 0;
  if (!nccl_lib_open (library, why))
    return false;
  if (ncclGetVersion (&version) == ncclSuccess && version >= NCCL_VERSION (2, 17, 0))
    return true;
  *why = "this NCCL is older than 2.17, the first that takes channels for a communicator";
  return false;
}

static bool
opened (Overlap *o)
{
  if (o->failed || o->team != NULL)
    return !o->failed;
  const char *error = NULL;
  OverlapTeam *t = new (std::nothrow) OverlapTeam ();
  if (t == NULL)
    return give_up (o, "out of memory");
  o->team = t;
  if (!nccl_usable (probe_options (o->probe)->nccl_library, &error) ||
      !overlap_team_open (t, probe_options (o->probe)->n_gpus, COMM_MOST_B, &error))
    return give_up (o, error);
  return true;
}

/* Communicators with these channels; NULL, or why there are none. */
static const char *
connected (Overlap *o, int n_channels)
{
  if (o->connected == n_channels)
    return NULL;
  if (o->refused != NULL && o->refused_channels == n_channels)
    return o->refused;
  overlap_team_disconnect (o->team);
  o->connected = -1;
  o->refused = NULL;
  if (overlap_team_connect (o->team, n_channels, &o->refused)) {
    o->connected = n_channels;
    return NULL;
  }
  o->refused_channels = n_channels;
  probe_note (o->probe, "overlap: NCCL makes no communicators with %d channels: %s", n_channels, o->refused);
  return o->refused;
}

static bool
run (Overlap *o, const OverlapJob *job)
{
  const char *error = NULL;
  return overlap_team_run (o->team, job, &error) || give_up (o, error);
}

/* How many operations last for `s`, and how many of them go between two events. */
static void
count (double s, double each_s, unsigned *n, unsigned *group)
{
  double wanted = each_s > 0 ? ceil (s / each_s) : OPERATIONS_MOST;
  *n = wanted < OPERATIONS_LEAST ? OPERATIONS_LEAST : wanted > OPERATIONS_MOST ? OPERATIONS_MOST : (unsigned)wanted;
  *group = (*n + OVERLAP_EVENTS_MOST - 1) / OVERLAP_EVENTS_MOST;
}

/* Seconds of one operation of one side alone, from a few. Loads code and connects the GPUs on the way. */
static bool
estimate (Overlap *o, OverlapJob job, bool comm, double *each_s)
{
  job.n_compute = job.n_comm = 0;
  job.compute_group = job.comm_group = 1;
  *(comm ? &job.n_comm : &job.n_compute) = WARM_N;
  if (!run (o, &job))
    return false;
  *(comm ? &job.n_comm : &job.n_compute) = ESTIMATE_N;
  if (!run (o, &job))
    return false;
  *each_s = 0;
  for (int i = 0; i < o->team->n; i++) {
    const OverlapTrack *track = comm ? &o->team->rank[i].comm : &o->team->rank[i].compute;
    *each_s = fmax (*each_s, (track->end_s[ESTIMATE_N] - track->end_s[1]) / (ESTIMATE_N - 1));
  }
  return true;
}

static bool
add_samples (Overlap *o, bool comm, Samples *samples)
{
  double begin_s, end_s;
  if (!overlap_window (o->team, &begin_s, &end_s))
    return false;
  size_t n = overlap_slots (o->team, comm, begin_s, end_s, samples->sample_s + samples->n);
  samples->n += n;
  return n > 0;
}

static void
point (Overlap *o, ProbeCase *c, const Samples *samples)
{
  probe_point (o->probe, c, samples->sample_s, samples->n,
               samples->n > 0 ? NULL : "no run in which each side was busy for a group of operations or more");
}

/* One side, the other idle. */
static bool
measure_alone (Overlap *o, OverlapJob job, bool comm, double each_s, ProbeCase *c)
{
  Samples samples;
  samples.n = 0;
  job.n_compute = job.n_comm = 0;
  job.compute_group = job.comm_group = 1;
  if (comm)
    count (RUN_S, each_s, &job.n_comm, &job.comm_group);
  else
    count (RUN_S, each_s, &job.n_compute, &job.compute_group);
  for (unsigned i = 0; i < RUNS_MOST && !o->failed && !probe_stopped (o->probe); i++)
    if (!run (o, &job) || !add_samples (o, comm, &samples) || probe_enough (o->probe, samples.sample_s, samples.n))
      break;
  point (o, c, &samples);
  return !o->failed;
}

/* Both sides; `wanted` says which of the points are. */
static bool
measure_both (Overlap *o, OverlapJob job, double compute_s, double comm_s, int n_channels, const bool wanted[3])
{
  static const char *const what[] = { "compute_under_comm", "comm_under_compute", "total" };
  Samples samples[3];
  samples[0].n = samples[1].n = samples[2].n = 0;
  const double last_s = fmax (RUN_S, OPERATIONS_LEAST * fmax (compute_s, comm_s));
  count (last_s, compute_s, &job.n_compute, &job.compute_group);
  count (last_s, comm_s, &job.n_comm, &job.comm_group);
  for (unsigned i = 0; i < RUNS_MOST && !probe_stopped (o->probe); i++) {
    if (!run (o, &job))
      break;
    const bool compute = add_samples (o, false, &samples[0]), comm = add_samples (o, true, &samples[1]);
    samples[2].sample_s[samples[2].n++] = overlap_total (o->team);
    if (!compute || !comm ||
        (probe_enough (o->probe, samples[0].sample_s, samples[0].n) && probe_enough (o->probe, samples[1].sample_s, samples[1].n)))
      break;
  }
  for (int i = 0; i < 3; i++) {
    if (!wanted[i])
      continue;
    ProbeCase *c = overlap_case (o, what[i], &job, n_channels, true, true);
    if (i == 2) {
      probe_number (c, "n_compute", job.n_compute);
      probe_number (c, "n_comm", job.n_comm);
    }
    point (o, c, &samples[i]);
  }
  return !o->failed;
}

/* NULL, or why not all GPUs can do it. */
static const char *
missing (const Overlap *o, OverlapCompute compute)
{
  for (int i = 0; i < o->team->n; i++)
    if (o->team->rank[i].missing[compute] != NULL)
      return o->team->rank[i].missing[compute];
  return NULL;
}

static bool
compute_alone_cases (Overlap *o)
{
  for (int i = 0; i < OVERLAP_N_COMPUTES; i++) {
    OverlapJob job;
    memset (&job, 0, sizeof job);
    job.compute = (OverlapCompute)i;
    if (!probe_wants (o->probe, SECTION, "compute_alone"))
      continue;
    if (!opened (o))
      return false;
    ProbeCase *c = overlap_case (o, "compute_alone", &job, 0, true, false);
    if (missing (o, job.compute) != NULL) {
      probe_skip (o->probe, c, missing (o, job.compute));
      continue;
    }
    if (!estimate (o, job, false, &o->compute_s[i])) {
      probe_point (o->probe, c, NULL, 0, "the run failed");
      return false;
    }
    if (!measure_alone (o, job, false, o->compute_s[i], c))
      return false;
  }
  return true;
}

/* One collective, size and number of channels: alone, and with each kind of compute. */
static bool
pair_cases (Overlap *o, OverlapJob job, int n_channels, size_t n_computes)
{
  double comm_s = 0;
  if (probe_wants (o->probe, SECTION, "comm_alone")) {
    if (!opened (o))
      return false;
    ProbeCase *c = overlap_case (o, "comm_alone", &job, n_channels, false, true);
    const char *why = connected (o, n_channels);
    if (why != NULL)
      probe_skip (o->probe, c, why);
    else if (!estimate (o, job, true, &comm_s)) {
      probe_point (o->probe, c, NULL, 0, "the run failed");
      return false;
    } else if (!measure_alone (o, job, true, comm_s, c))
      return false;
  }
  for (size_t i = 0; i < n_computes; i++) {
    const bool wanted[3] = { probe_wants (o->probe, SECTION, "compute_under_comm"),
                             probe_wants (o->probe, SECTION, "comm_under_compute"), probe_wants (o->probe, SECTION, "total") };
    job.compute = (OverlapCompute)i;
    if (!wanted[0] && !wanted[1] && !wanted[2])
      continue;
    if (!opened (o))
      return false;
    const char *why = missing (o, job.compute);
    if (why == NULL)
      why = connected (o, n_channels);
    if (why != NULL) {
      probe_skip (o->probe, overlap_case (o, "compute_under_comm", &job, n_channels, true, true), why);
      continue;
    }
    if ((o->compute_s[i] <= 0 && !estimate (o, job, false, &o->compute_s[i])) ||
        (comm_s <= 0 && !estimate (o, job, true, &comm_s)) || !measure_both (o, job, o->compute_s[i], comm_s, n_channels, wanted))
      return false;
  }
  return true;
}

static bool
overlap_cases (Overlap *o)
{
  const bool quick = probe_options (o->probe)->quick;
  const size_t n_channels = quick ? 2 : COUNT (channels), n_sizes = quick ? 1 : COUNT (sizes_B);
  if (!compute_alone_cases (o))
    return false;
  for (size_t i = 0; i < n_channels; i++)
    for (size_t size = 0; size < n_sizes; size++)
      for (int collective = 0; collective < OVERLAP_N_COLLECTIVES; collective++) {
        OverlapJob job;
        memset (&job, 0, sizeof job);
        job.collective = (OverlapCollective)collective;
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
  static const char *const what[] = { "compute_alone", "comm_alone", "compute_under_comm", "comm_under_compute", "total" };
  for (size_t i = 0; i < COUNT (what); i++)
    if (probe_wants (o->probe, SECTION, what[i]))
      probe_skip (o->probe, probe_case (o->probe, SECTION, what[i]), why);
}

bool
probe_overlap (Probe *probe)
{
  Overlap o;
  memset (&o, 0, sizeof o);
  o.probe = probe;
  o.connected = -1;
  if (probe_options (probe)->n_gpus < 2) {
    skip_all (&o, "one GPU in use; collectives need two or more");
    return true;
  }
  bool ok = overlap_cases (&o);
  if (o.team != NULL) {
    overlap_team_close (o.team);
    if (o.team->lost) /* threads that are stuck still look at it */
      probe_note (probe, "overlap: a thread is stuck in a call and stays behind, with the memory of this section");
    else
      delete o.team;
  }
  return ok;
}
