/* What it costs to start work: launches, graphs, events, synchronising. Time: below 1 s. */
#include <math.h>
#include <string.h>

#include "compute.h"

#define SECTION "compute"
#define WHAT    "launch"

/* Launches in a row whose host time is taken: a stream takes about 1024 before it makes the host wait. */
#define QUEUED_N      1000u
#define GRAPH_KERNELS 100u
/* Calls of what waits for the device, or is no launch. */
#define CALLS_N 200u

static __global__ void
empty_kernel (void)
{
}

typedef struct {
  ComputeDevice *device;
  cudaGraphExec_t one, many; /* graphs of 1 and of GRAPH_KERNELS empty kernels */
} Launch;

static bool
launch_empty (void *user, unsigned i, const char **error)
{
  (void)i;
  empty_kernel<<<1, 1, 0, ((Launch *)user)->device->stream>>> ();
  return COMPUTE_TRY (cudaGetLastError (), error);
}

static bool
launch_many (void *user, unsigned i, const char **error)
{
  (void)i;
  Launch *u = (Launch *)user;
  return COMPUTE_TRY (cudaGraphLaunch (u->many, u->device->stream), error);
}

static bool
launch_one (void *user, unsigned i, const char **error)
{
  (void)i;
  Launch *u = (Launch *)user;
  return COMPUTE_TRY (cudaGraphLaunch (u->one, u->device->stream), error);
}

static bool
record_event (void *user, unsigned i, const char **error)
{
  (void)i;
  Launch *u = (Launch *)user;
  return COMPUTE_TRY (cudaEventRecord (u->device->start, u->device->stream), error);
}

static bool
synchronise (void *user, unsigned i, const char **error)
{
  (void)i;
  return COMPUTE_TRY (cudaStreamSynchronize (((Launch *)user)->device->stream), error);
}

static bool
launch_and_wait (void *user, unsigned i, const char **error)
{
  return launch_empty (user, i, error) && synchronise (user, i, error);
}

/* Host time of n calls in a row, per call. The stream is empty before and after. */
typedef struct {
  Launch *launch;
  ComputeLaunch call;
  unsigned n;
} HostTimed;

static double
host_sample (void *user, const char **error)
{
  HostTimed *t = (HostTimed *)user;
  if (!synchronise (t->launch, 0, error))
    return NAN;
  bool ok = true;
  double start_s = probe_now ();
  for (unsigned i = 0; ok && i < t->n; i++)
    ok = t->call (t->launch, i, error);
  double end_s = probe_now ();
  const char *later = NULL;
  if (!synchronise (t->launch, 0, ok ? error : &later) || !ok)
    return NAN;
  return (end_s - start_s) / t->n;
}

/* Device time of an empty kernel among many of a graph. */
static double
graph_kernel_sample (void *timed, const char **error)
{
  double s = compute_timed_sample (timed, error);
  return s / GRAPH_KERNELS;
}

static bool
make_graph (Launch *u, unsigned n, cudaGraphExec_t *out, const char **error)
{
  cudaGraph_t graph = NULL;
  const char *later = NULL;
  if (!COMPUTE_TRY (cudaStreamBeginCapture (u->device->stream, cudaStreamCaptureModeThreadLocal), error))
    return false;
  bool ok = true;
  for (unsigned i = 0; ok && i < n; i++)
    ok = launch_empty (u, i, error);
  ok = COMPUTE_TRY (cudaStreamEndCapture (u->device->stream, &graph), ok ? error : &later) && ok;
  ok = ok && COMPUTE_TRY (cudaGraphInstantiateWithFlags (out, graph, 0), error);
  if (graph != NULL)
    cudaGraphDestroy (graph);
  return ok;
}

static ProbeCase *
launch_case (Probe *probe, const char *kind, const char *clock)
{
  ProbeCase *c = probe_case (probe, SECTION, WHAT);
  probe_text (c, "kind", kind);
  probe_text (c, "clock", clock);
  return c;
}

/* Kinds that the host's clock times. */
static bool
host_cases (ComputeSection *s, Launch *u)
{
  static const struct {
    const char *kind;
    ComputeLaunch call;
    unsigned n;
  } kinds[] = {
    { "kernel", launch_empty, QUEUED_N },           { "kernel_and_synchronise", launch_and_wait, CALLS_N },
    { "stream_synchronise", synchronise, CALLS_N }, { "event_record", record_event, CALLS_N },
    { "graph_of_1", launch_one, CALLS_N },          { "graph_of_100", launch_many, 10 },
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!compute_wants (s, WHAT))
      continue;
    HostTimed t = { u, kinds[i].call, kinds[i].n };
    ProbeCase *c = launch_case (s->probe, kinds[i].kind, "host");
    if (isnan (probe_measure (s->probe, c, host_sample, &t)) && !compute_device_alive (&s->device))
      return false;
  }
  return true;
}

/* Kinds that events on the device time. */
static bool
device_cases (ComputeSection *s, Launch *u)
{
  static const struct {
    const char *kind;
    ComputeLaunch launch;
    ProbeSample sample;
  } kinds[] = {
    { "kernel", launch_empty, compute_timed_sample },
    { "kernel_in_graph", launch_many, graph_kernel_sample },
    { "graph_of_1", launch_one, compute_timed_sample },
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (!compute_wants (s, WHAT))
      continue;
    const char *error = NULL;
    ComputeTimed t;
    memset (&t, 0, sizeof t);
    t.device = &s->device;
    t.launch = kinds[i].launch;
    t.user = u;
    t.gated = true;
    bool ok = compute_timed_prepare (&t, COMPUTE_BURST_S, &error);
    ProbeCase *c = launch_case (s->probe, kinds[i].kind, "device");
    if (!ok)
      probe_point (s->probe, c, NULL, 0, error);
    else
      ok = !isnan (probe_measure (s->probe, c, kinds[i].sample, &t));
    if (!ok && !compute_device_alive (&s->device))
      return false;
  }
  return true;
}

bool
compute_launch (ComputeSection *s)
{
  if (!compute_wants (s, WHAT))
    return true;
  Launch u = { &s->device, NULL, NULL };
  const char *error = NULL;
  bool going_on;
  /* The first launch loads code, which a capture does not allow. */
  if (launch_and_wait (&u, 0, &error) && make_graph (&u, 1, &u.one, &error) && make_graph (&u, GRAPH_KERNELS, &u.many, &error))
    going_on = host_cases (s, &u) && device_cases (s, &u);
  else {
    probe_point (s->probe, launch_case (s->probe, "graph_of_100", "host"), NULL, 0, error);
    going_on = compute_device_alive (&s->device);
  }
  if (u.one != NULL)
    cudaGraphExecDestroy (u.one);
  if (u.many != NULL)
    cudaGraphExecDestroy (u.many);
  return going_on;
}
