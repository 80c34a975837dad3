/* Small kernels in a row, launched plainly and inside a CUDA graph, as steps that decode are: what a graph saves on each.
 *
 * Time on one H200, estimated: 6 kernels x 2 ways, 0.2 s each: 3 s. */
#include "serving.h"

#define WHAT      "graph"
#define KERNELS_N 100u                 /* of a graph */
#define POOL_B    ((size_t)512 << 20) /* of each side of the copies: beyond any L2 */

static const size_t copies_B[] = { 4096, 65536, 1u << 20, 8u << 20 }; /* of one array */
/* A layer of Llama 3 8B and one of 70B on 8 GPUs, with few tokens. */
static const ComputeProblem products[] = {
  { COMPUTE_BF16, COMPUTE_FORWARD, 16, 6144, 4096, 1 },
  { COMPUTE_BF16, COMPUTE_FORWARD, 16, 1280, 8192, 1 },
};

typedef struct {
  ComputeDevice *device;
  GpuLaunch launch;
  void *user;
  unsigned char *in, *out; /* of copies */
  size_t size_B;
  cudaGraphExec_t graph;
} Row;

static bool
launch_copy (void *user, unsigned i)
{
  const Row *row = (const Row *)user;
  const size_t at = i % (POOL_B / row->size_B) * row->size_B;
  return compute_copy (row->device, row->in + at, row->out + at, row->size_B);
}

static bool
launch_graph (void *user, unsigned i)
{
  (void)i;
  const Row *row = (const Row *)user;
  return PROBE_CUDA (cudaGraphLaunch (row->graph, row->device->on.stream));
}

static bool
make_graph (Row *row)
{
  cudaGraph_t graph = NULL;
  const cudaStream_t stream = row->device->on.stream;
  /* The first launch loads code, which a capture does not allow. */
  if (!row->launch (row->user, 0) || !PROBE_CUDA (cudaStreamSynchronize (stream)) ||
      !PROBE_CUDA (cudaStreamBeginCapture (stream, cudaStreamCaptureModeThreadLocal)))
    return false;
  bool ok = true;
  for (unsigned i = 0; ok && i < KERNELS_N; i++)
    ok = row->launch (row->user, i);
  ok = PROBE_CUDA (cudaStreamEndCapture (stream, &graph)) && ok;
  ok = ok && PROBE_CUDA (cudaGraphInstantiateWithFlags (&row->graph, graph, 0));
  if (graph != NULL)
    cudaGraphDestroy (graph);
  return ok;
}

/* The row's kernel both ways; `what` begins its parameters. */
static bool
both (ComputeSection *s, Row *row, std::initializer_list<ProbeParameter> what)
{
  for (bool in_graph : { false, true }) {
    if (!compute_wants (s, WHAT))
      return true;
    ProbeCase *c = probe_case (SERVING_SECTION, WHAT, what);
    probe_add (c, { { "launch", in_graph ? "graph" : "stream" } });
    ComputeTimed timed = compute_timed (&s->device, in_graph ? launch_graph : row->launch, in_graph ? (void *)row : row->user);
    timed.parts = in_graph ? KERNELS_N : 1;
    const bool going_on = compute_measure (s, c, !in_graph || make_graph (row), &timed);
    if (row->graph != NULL)
      cudaGraphExecDestroy (row->graph);
    row->graph = NULL;
    if (!going_on)
      return false;
  }
  return true;
}

bool
serving_graph (ComputeSection *s)
{
  if (!compute_wants (s, WHAT))
    return true;
  Row row = { &s->device, launch_copy, NULL, NULL, NULL, 0, NULL };
  row.user = &row;
  bool going_on = true;
  if (!PROBE_CUDA (cudaMalloc (&row.in, POOL_B)) || !PROBE_CUDA (cudaMalloc (&row.out, POOL_B)) ||
      !compute_fill (row.in, POOL_B, COMPUTE_BF16, 1, s->device.on.stream))
    going_on = probe_failed (s->probe, probe_case (SERVING_SECTION, WHAT, { { "kernel", "copy" } })) ||
               compute_device_alive (&s->device);
  else
    for (size_t size_B : copies_B) {
      row.size_B = size_B;
      going_on = going_on && both (s, &row, { { "kernel", "copy" }, { "size_B", size_B } });
    }
  cudaFree (row.in);
  cudaFree (row.out);
  for (const ComputeProblem &p : products) {
    if (!going_on || !compute_section_gemm (s))
      break;
    row.launch = compute_gemm_launch;
    row.user = &s->gemm;
    if (!compute_gemm_takes (&s->gemm, &p) || !compute_gemm_set (&s->gemm, &p))
      continue;
    going_on = both (s, &row, { { "kernel", "gemm" }, { "m", p.m }, { "n", p.n }, { "k", p.k } });
  }
  return going_on;
}
