/* The link matrix: what is copied between which ends, in which sizes. How: link_copy.cu.
 *
 *   ce, sm        between GPUs by copy engine (the sender's) and by kernel (16-byte words; `by`: the GPU that writes or the one
 *                 that reads), pattern one (one way), both (both ways), shift (each to the next at once), all (each to each)
 *   ce_sync       one copy by engine and the wait for it, by the host's clock
 *   h2d, d2h      host and GPU, pinned or pageable memory, one GPU or 1 … n at once; h2d_d2h: both ways at once
 *   latency       one load that needs the one before: a GPU's own memory, another GPU's, the host's (pinned) */
#include "link.h"

#include "probe_core.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LARGE_B           ((size_t)1 << 30)
#define LARGE_QUICK_B     ((size_t)1 << 26)
#define HOST_B            ((size_t)1 << 27)
#define SMALL_B           ((size_t)64)
#define GROWTH            8
#define SYNC_MOST_B       ((size_t)1 << 21)
#define MEMORY_SHARE      4 /* of a GPU's free memory, at most a fourth for each of two buffers */
#define HOST_MEMORY_SHARE 8 /* of the host's, at most an eighth, twice: pinned and pageable */
#define PIECE_ALIGNED     ((size_t)256)

typedef enum { WAY_ONE, WAY_BOTH, WAY_SHIFT, WAY_ALL, WAY_N } Way;
static const char *const way_names[WAY_N] = { "one", "both", "shift", "all" };

typedef enum { DO_CE, DO_CE_SYNC, DO_SM_WRITE, DO_SM_READ, DO_H2D, DO_D2H, DO_H2D_D2H, DO_LATENCY, DO_N } Do;
static const Do between_gpus[] = { DO_CE, DO_SM_WRITE, DO_SM_READ }, with_host[] = { DO_H2D, DO_D2H };
static const char *const do_names[DO_N] = { "ce", "ce_sync", "sm", "sm", "h2d", "d2h", "h2d_d2h", "latency" };

typedef struct {
  Do what;
  Way way;
  int a, b; /* from, to; of host copies a is the first GPU; of a latency b = -1 is the host */
  int gpus; /* of host copies: a, a + 1, … */
  bool pageable;
  size_t bytes; /* of one lane */
} LinkCase;

typedef struct {
  bool reaches[PROBE_GPUS_MOST];     /* others' memory */
  bool was_enabled[PROBE_GPUS_MOST]; /* by this section: to be taken back */
  int sms;
  char *out, *in;          /* on the GPU, large_B each */
  char *pinned, *pageable; /* host_B each */
} LinkGpu;

typedef struct {
  Probe *probe;
  int n;
  std::vector<LinkGpu> gpu;
  size_t large_B, host_B;
  GpuGate gate;
  ProbeTeam *team;
  bool verified[DO_N][WAY_N][2];
  std::vector<LinkCase> plan;
} Link;

static bool
is_with_host (Do what)
{
  return what == DO_H2D || what == DO_D2H || what == DO_H2D_D2H;
}

static bool
is_kernel (Do what)
{
  return what == DO_SM_WRITE || what == DO_SM_READ;
}

/* Of two GPUs, not of all. */
static bool
is_of_pair (Way way)
{
  return way == WAY_ONE || way == WAY_BOTH;
}

/* ---- the plan ---- */

/* From the smallest by GROWTH, and the largest itself. */
static void
add_sizes (Link *link, LinkCase c, size_t most_B)
{
  for (c.bytes = SMALL_B; c.bytes < most_B; c.bytes *= GROWTH)
    link->plan.push_back (c);
  c.bytes = most_B;
  link->plan.push_back (c);
}

static void
plan_gpu_sizes (Link *link)
{
  if (link->n < 2)
    return;
  for (Do what : between_gpus) {
    add_sizes (link, { what, WAY_ONE, 0, 1, 0, false, 0 }, link->large_B);
    link->plan.push_back ({ what, WAY_BOTH, 0, 1, 0, false, link->large_B });
  }
  add_sizes (link, { DO_CE_SYNC, WAY_ONE, 0, 1, 0, false, 0 }, SYNC_MOST_B);
  for (Do what : between_gpus) {
    link->plan.push_back ({ what, WAY_SHIFT, 0, 0, 0, false, link->large_B });
    if (link->n > 2) /* with two, each to each is the shift */
      link->plan.push_back ({ what, WAY_ALL, 0, 0, 0, false, link->large_B / (size_t)link->n / PIECE_ALIGNED * PIECE_ALIGNED });
  }
}

static void
plan_host (Link *link)
{
  for (int pageable = 0; pageable < 2; pageable++)
    for (Do what : with_host)
      add_sizes (link, { what, WAY_ONE, 0, 0, 1, pageable == 1, 0 }, link->host_B);
  link->plan.push_back ({ DO_H2D_D2H, WAY_BOTH, 0, 0, 1, false, link->host_B / 2 });
  for (int gpus = 2; gpus <= link->n; gpus++) {
    for (Do what : with_host)
      link->plan.push_back ({ what, WAY_ALL, 0, 0, gpus, false, link->host_B });
    link->plan.push_back ({ DO_H2D_D2H, WAY_ALL, 0, 0, gpus, false, link->host_B / 2 });
  }
  for (int gpus = 2; gpus <= link->n; gpus++)
    for (Do what : with_host)
      link->plan.push_back ({ what, WAY_ALL, 0, 0, gpus, true, link->host_B });
  for (int a = 1; a < link->n; a++)
    for (Do what : with_host)
      link->plan.push_back ({ what, WAY_ONE, a, 0, 1, false, link->host_B });
}

/* All but the first, which is measured by size already. */
static void
add_pairs (Link *link, LinkCase c)
{
  for (c.a = 0; c.a < link->n; c.a++)
    for (c.b = c.way == WAY_BOTH ? c.a + 1 : 0; c.b < link->n; c.b++)
      if (c.a != c.b && (c.a != 0 || c.b != 1))
        link->plan.push_back (c);
}

static void
plan_pairs (Link *link)
{
  add_pairs (link, { DO_LATENCY, WAY_ONE, 0, 0, 0, false, 0 });
  for (Do what : between_gpus)
    for (Way way : { WAY_ONE, WAY_BOTH })
      add_pairs (link, { what, way, 0, 0, 0, false, link->large_B });
}

static void
make_plan (Link *link)
{
  plan_gpu_sizes (link);
  link->plan.push_back ({ DO_LATENCY, WAY_ONE, 0, 0, 0, false, 0 });
  if (link->n > 1)
    link->plan.push_back ({ DO_LATENCY, WAY_ONE, 0, 1, 0, false, 0 });
  for (int a = 0; a < link->n; a++)
    link->plan.push_back ({ DO_LATENCY, WAY_ONE, a, -1, 0, false, 0 });
  plan_host (link);
  plan_pairs (link);
}

static ProbeCase *
make_case (const Link *link, const LinkCase *c)
{
  ProbeCase *point = probe_case ("link", do_names[c->what]);
  if (c->what == DO_LATENCY) {
    probe_add (point, { { "gpu", c->a }, { "memory", c->b < 0 ? "host" : c->b == c->a ? "own" : "gpu" } });
    if (c->b >= 0)
      probe_add (point, { { "of", c->b } });
    probe_add (point, { { "buffer_B", CHASE_BUFFER_B } });
    return point;
  }
  if (is_with_host (c->what)) {
    probe_add (point, { { "gpu", c->a }, { "gpus", c->gpus }, { "memory", c->pageable ? "pageable" : "pinned" } });
  } else {
    probe_add (point, { { "pattern", way_names[c->way] } });
    if (is_kernel (c->what))
      probe_add (point, { { "by", c->what == DO_SM_WRITE ? "write" : "read" } });
    if (is_of_pair (c->way))
      probe_add (point, { { "src", c->a }, { "dst", c->b } });
    probe_add (point, { { "gpus", is_of_pair (c->way) ? 2 : link->n } });
  }
  probe_add (point, { { "bytes", c->bytes } });
  return point;
}

/* ---- lanes of a case ---- */

/* Of so many lanes that the GPU shares; each copy of one has a place of its own in the buffers, `piece` apart. */
static Lane
gpu_lane (const Link *link, const LinkCase *c, int from, int to, size_t piece, unsigned sharing)
{
  Lane lane = Lane ();
  lane.kind = is_kernel (c->what) ? LANE_KERNEL : LANE_ENGINE;
  lane.runs_on = c->what == DO_SM_READ ? to : from;
  lane.from = from;
  lane.to = to;
  lane.source = link->gpu[from].out + piece * (size_t)to;
  lane.target = link->gpu[to].in + piece * (size_t)from;
  lane.bytes = c->bytes;
  lane.direct = link->gpu[lane.runs_on].reaches[lane.runs_on == from ? to : from];
  lane.blocks = kernel_blocks (link->gpu[lane.runs_on].sms, sharing, c->bytes);
  return lane;
}

static std::vector<Lane>
gpu_lanes (const Link *link, const LinkCase *c)
{
  std::vector<Lane> lanes;
  if (is_of_pair (c->way))
    lanes.push_back (gpu_lane (link, c, c->a, c->b, 0, 1));
  if (c->way == WAY_BOTH)
    lanes.push_back (gpu_lane (link, c, c->b, c->a, 0, 1));
  for (int from = 0; from < link->n && !is_of_pair (c->way); from++)
    for (int to = 0; to < link->n; to++)
      if (c->way == WAY_ALL && from != to)
        lanes.push_back (gpu_lane (link, c, from, to, c->bytes, (unsigned)link->n - 1));
      else if (c->way == WAY_SHIFT && to == (from + 1) % link->n)
        lanes.push_back (gpu_lane (link, c, from, to, 0, 1));
  return lanes;
}

static Lane
host_lane (const Link *link, const LinkCase *c, int gpu, bool to_gpu, size_t offset)
{
  Lane lane = Lane ();
  const LinkGpu *g = &link->gpu[gpu];
  char *host = (c->pageable ? g->pageable : g->pinned) + offset;
  lane.kind = to_gpu ? LANE_TO_GPU : LANE_FROM_GPU;
  lane.runs_on = gpu;
  lane.from = to_gpu ? -1 : gpu;
  lane.to = to_gpu ? gpu : -1;
  lane.source = to_gpu ? host : g->out;
  lane.target = to_gpu ? g->in : host;
  lane.bytes = c->bytes;
  lane.direct = true;
  return lane;
}

static std::vector<Lane>
host_lanes (const Link *link, const LinkCase *c)
{
  std::vector<Lane> lanes;
  for (int gpu = c->a; gpu < c->a + c->gpus; gpu++) {
    if (c->what != DO_D2H)
      lanes.push_back (host_lane (link, c, gpu, true, 0));
    if (c->what != DO_H2D)
      lanes.push_back (host_lane (link, c, gpu, false, c->what == DO_H2D_D2H ? c->bytes : 0));
  }
  return lanes;
}

/* ---- measuring ---- */

/* Copies that the driver stages may wait on the host for what is before them, and so not at a gate. */
static CopiesMode
choose_mode (const LinkCase *c, bool direct)
{
  if (c->what == DO_CE_SYNC)
    return COPIES_SYNCHRONOUS;
  if (c->pageable)
    return COPIES_THREADS;
  return direct ? COPIES_GATED : COPIES_BY_HOST;
}

static void
measure_copies (Link *link, const LinkCase *c, ProbeCase *point)
{
  bool host = is_with_host (c->what), direct = true;
  Copies copies = Copies ();
  ProbeRepeat repeat;
  copies.lanes = host ? host_lanes (link, c) : gpu_lanes (link, c);
  for (const Lane &lane : copies.lanes)
    direct = direct && lane.direct;
  if (!direct && is_kernel (c->what)) {
    probe_skip (link->probe, point, "the GPUs do not reach each other's memory");
    return;
  }
  copies.mode = choose_mode (c, direct);
  copies.gate = &link->gate;
  copies.team = link->team;
  bool *verified = &link->verified[c->what][c->way][c->pageable];
  bool large =
      c->bytes >= (host ? link->host_B / 2 : link->large_B / (size_t)(link->n * 2)); /* once a kind, over much of the buffer */
  bool ok = copies_open (&copies);
  if (ok && !*verified && (large || c->what == DO_CE_SYNC))
    ok = *verified = copies_verify (&copies);
  if (ok && copies_settle (&copies, &repeat))
    probe_measure (link->probe, point, probe_repeat_sample, &repeat);
  else
    probe_failed (link->probe, point);
  copies_close (&copies);
}

static void
measure_latency (Link *link, const LinkCase *c, ProbeCase *point)
{
  static unsigned words[CHASE_BUFFER_B / sizeof (unsigned)];
  Chase chase = Chase ();
  if (c->b >= 0 && c->b != c->a && !link->gpu[c->a].reaches[c->b]) {
    probe_skip (link->probe, point, "the GPU does not reach the other's memory");
    return;
  }
  chase.expected = chase_build (words, probe_options (link->probe)->seed);
  char *chain = c->b < 0 ? link->gpu[c->a].pinned : link->gpu[c->b].in;
  chase.chain = (const unsigned *)chain;
  chase.sink = (unsigned *)link->gpu[c->a].out;
  bool ok = true;
  if (c->b < 0)
    memcpy (chain, words, sizeof words);
  else
    ok = PROBE_CUDA (cudaSetDevice (c->b)) && PROBE_CUDA (cudaMemcpy (chain, words, sizeof words, cudaMemcpyHostToDevice)) &&
         PROBE_CUDA (cudaDeviceSynchronize ());
  if (ok && gpu_stream_open (&chase.stream, c->a))
    probe_measure (link->probe, point, chase_sample, &chase);
  else
    probe_failed (link->probe, point);
  gpu_stream_close (&chase.stream);
}

/* ---- set-up ---- */

static bool
choose_sizes (Link *link)
{
  bool quick = probe_options (link->probe)->quick;
  link->large_B = quick ? LARGE_QUICK_B : LARGE_B;
  for (int i = 0; i < link->n && !probe_options (link->probe)->list; i++) {
    size_t free_B = 0, total_B = 0;
    if (!PROBE_CUDA (cudaSetDevice (i)) || !PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)))
      return false;
    while (link->large_B > free_B / MEMORY_SHARE && link->large_B > CHASE_BUFFER_B * PROBE_GPUS_MOST)
      link->large_B /= 2;
  }
  link->host_B = quick ? LARGE_QUICK_B : HOST_B;
  double host_most = (double)sysconf (_SC_PHYS_PAGES) * (double)sysconf (_SC_PAGESIZE) / HOST_MEMORY_SHARE / link->n;
  while ((double)link->host_B > host_most && link->host_B > CHASE_BUFFER_B)
    link->host_B /= 2;
  return true;
}

/* Peers that can be reached are. A driver that refuses is no error: the pair counts as one that is not reached. */
static void
enable_peers (Link *link)
{
  for (int i = 0; i < link->n; i++)
    for (int k = 0; k < link->n; k++) {
      int can = 0;
      if (i == k || cudaDeviceCanAccessPeer (&can, i, k) != cudaSuccess || can == 0 || cudaSetDevice (i) != cudaSuccess)
        continue;
      cudaError_t status = cudaDeviceEnablePeerAccess (k, 0);
      link->gpu[i].reaches[k] = status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
      link->gpu[i].was_enabled[k] = status == cudaSuccess;
    }
  cudaGetLastError ();
}

static bool
open_gpu (Link *link, int i)
{
  LinkGpu *gpu = &link->gpu[i];
  size_t free_B = 0, total_B = 0, large_B = link->large_B;
  if (!PROBE_CUDA (cudaSetDevice (i)) || !PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)) ||
      !PROBE_CUDA (cudaDeviceGetAttribute (&gpu->sms, cudaDevAttrMultiProcessorCount, i)) || !link_preload ())
    return false;
  if (free_B / MEMORY_SHARE < large_B)
    return probe_fail ("GPU %d has %.3g GB of memory free; %.3g GB are needed", i, (double)free_B / 1e9,
                       (double)large_B * MEMORY_SHARE / 1e9);
  gpu->pageable = (char *)malloc (link->host_B);
  if (gpu->pageable == NULL)
    return probe_fail ("out of memory");
  memset (gpu->pageable, 1, link->host_B); /* pages are there before they are timed */
  return PROBE_CUDA (cudaMalloc (&gpu->out, large_B)) && PROBE_CUDA (cudaMalloc (&gpu->in, large_B)) &&
         PROBE_CUDA (cudaMemset (gpu->out, 0, large_B)) && PROBE_CUDA (cudaMemset (gpu->in, 0, large_B)) &&
         PROBE_CUDA (cudaHostAlloc (&gpu->pinned, link->host_B, cudaHostAllocPortable | cudaHostAllocMapped)) &&
         PROBE_CUDA (cudaDeviceSynchronize ());
}

static bool
open_link (Link *link)
{
  link->team = probe_team_new ((unsigned)link->n);
  bool ok = link->team != NULL || probe_fail ("no threads to be had");
  for (int i = 0; i < link->n && ok; i++)
    ok = open_gpu (link, i);
  if (ok)
    enable_peers (link);
  return ok && gpu_gate_make (&link->gate, COPIES_GATE_S, COPIES_FILLED_S);
}

static void
close_link (Link *link)
{
  for (int i = 0; i < link->n; i++) {
    LinkGpu *gpu = &link->gpu[i];
    cudaSetDevice (i);
    for (int k = 0; k < link->n; k++)
      if (gpu->was_enabled[k])
        cudaDeviceDisablePeerAccess (k);
    cudaFree (gpu->out);
    cudaFree (gpu->in);
    cudaFreeHost (gpu->pinned);
    free (gpu->pageable);
  }
  gpu_gate_drop (&link->gate);
  cudaGetLastError ();
  probe_team_free (link->team);
}

bool
probe_link (Probe *probe)
{
  Link link = Link ();
  link.probe = probe;
  link.n = (int)probe_options (probe)->gpus;
  link.gpu.resize (probe_options (probe)->gpus);
  if (!choose_sizes (&link)) {
    probe_note (probe, "link: %s", probe_why ());
    return false;
  }
  make_plan (&link);
  bool ok = probe_options (probe)->list || open_link (&link);
  if (!ok)
    probe_note (probe, "link: could not be set up: %s", probe_why ());
  size_t wanted = 0;
  for (const LinkCase &c : link.plan)
    wanted += probe_selected (probe, "link", do_names[c.what]);
  probe_expect (probe, wanted);
  for (const LinkCase &c : link.plan) {
    if (!ok || !probe_selected (probe, "link", do_names[c.what]))
      continue;
    ProbeCase *point = make_case (&link, &c);
    if (probe_options (probe)->list)
      probe_list (probe, point);
    else if (c.what == DO_LATENCY)
      measure_latency (&link, &c, point);
    else
      measure_copies (&link, &c, point);
  }
  close_link (&link);
  if (!probe_interrupted ()) {
    link_beside (probe);
    link_numa (probe);
  }
  return ok;
}
