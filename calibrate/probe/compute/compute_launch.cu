/* What it costs to start work: launches, graphs, events, synchronising. Time: below 1 s. */
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
launch_empty (void *user, unsigned i)
{
  (void)i;
  empty_kernel<<<1, 1, 0, ((Launch *)user)->device->on.stream>>> ();
  return PROBE_CUDA (cudaGetLastError ());
}

static bool
launch_many (void *user, unsigned i)
{
  (void)i;
  return PROBE_CUDA (cudaGraphLaunch (((Launch *)user)->many, ((Launch *)user)->device->on.stream));
}

static bool
launch_one (void *user, unsigned i)
{
  (void)i;
  return PROBE_CUDA (cudaGraphLaunch (((Launch *)user)->one, ((Launch *)user)->device->on.stream));
}

static bool
record_event (void *user, unsigned i)
{
  (void)i;
  const GpuStream *on = &((Launch *)user)->device->on;
  return PROBE_CUDA (cudaEventRecord (on->begin, on->stream));
}

static bool
synchronise (void *user, unsigned i)
{
  (void)i;
  return PROBE_CUDA (cudaStreamSynchronize (((Launch *)user)->device->on.stream));
}

static bool
launch_and_wait (void *user, unsigned i)
{
  return launch_empty (user, i) && synchronise (user, i);
}

/* Host time of n calls in a row, per call. The stream is empty before and after. */
typedef struct {
  Launch *launch;
  GpuLaunch call;
  unsigned n;
} HostTimed;

static double
host_sample (void *user)
{
  const HostTimed *t = (const HostTimed *)user;
  bool ok = synchronise (t->launch, 0);
  double start_s = probe_now ();
  for (unsigned i = 0; ok && i < t->n; i++)
    ok = t->call (t->launch, i);
  double end_s = probe_now ();
  ok = synchronise (t->launch, 0) && ok;
  return ok ? (end_s - start_s) / t->n : -1;
}

static bool
make_graph (Launch *u, unsigned n, cudaGraphExec_t *out)
{
  cudaGraph_t graph = NULL;
  bool ok = PROBE_CUDA (cudaStreamBeginCapture (u->device->on.stream, cudaStreamCaptureModeThreadLocal));
  if (!ok)
    return false;
  for (unsigned i = 0; ok && i < n; i++)
    ok = launch_empty (u, i);
  ok = PROBE_CUDA (cudaStreamEndCapture (u->device->on.stream, &graph)) && ok;
  ok = ok && PROBE_CUDA (cudaGraphInstantiateWithFlags (out, graph, 0));
  if (graph != NULL)
    cudaGraphDestroy (graph);
  return ok;
}

static ProbeCase *
launch_case (const char *kind, bool by_host)
{
  return probe_case (SECTION, WHAT, { { "kind", kind }, { "clock", by_host ? "host" : "device" } });
}

/* What the host's clock times, so many in a row; then what events on the device time, of a graph also its single kernels. */
static const struct {
  const char *kind;
  GpuLaunch call;
  unsigned host_n; /* 0: by the device */
  unsigned parts;
} kinds[] = {
  { "kernel", launch_empty, QUEUED_N, 0 },
  { "kernel_and_synchronise", launch_and_wait, CALLS_N, 0 },
  { "stream_synchronise", synchronise, CALLS_N, 0 },
  { "event_record", record_event, CALLS_N, 0 },
  { "graph_of_1", launch_one, CALLS_N, 0 },
  { "graph_of_100", launch_many, 10, 0 },
  { "kernel", launch_empty, 0, 1 },
  { "kernel_in_graph", launch_many, 0, GRAPH_KERNELS },
  { "graph_of_1", launch_one, 0, 1 },
};

static bool
all_cases (ComputeSection *s, Launch *u)
{
  for (const auto &kind : kinds) {
    bool by_host = kind.host_n > 0, going_on;
    if (!compute_wants (s, WHAT))
      continue;
    ProbeCase *c = launch_case (kind.kind, by_host);
    if (by_host) {
      HostTimed t = { u, kind.call, kind.host_n };
      going_on = probe_measure (s->probe, c, host_sample, &t) || compute_device_alive (&s->device);
    } else {
      ComputeTimed t = compute_timed (&s->device, kind.call, u);
      t.parts = kind.parts;
      going_on = compute_measure (s, c, true, &t);
    }
    if (!going_on)
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
  bool going_on;
  /* The first launch loads code, which a capture does not allow. */
  if (launch_and_wait (&u, 0) && make_graph (&u, 1, &u.one) && make_graph (&u, GRAPH_KERNELS, &u.many))
    going_on = all_cases (s, &u);
  else
    going_on = probe_failed (s->probe, launch_case ("graph_of_100", true)) || compute_device_alive (&s->device);
  if (u.one != NULL)
    cudaGraphExecDestroy (u.one);
  if (u.many != NULL)
    cudaGraphExecDestroy (u.many);
  return going_on;
}
