/* The link matrix: what is copied between which ends, in which sizes. How: link_copy.cu.
 *
 *   ce, sm        between GPUs by copy engine (the sender's) and by kernel (16-byte words; `by`: the GPU that writes or the one
 *                 that reads), pattern one (one way), both (both ways), shift (each to the next at once), all (each to each)
 *   ce_sync       one copy by engine and the wait for it, by the host's clock
 *   h2d, d2h      host and GPU, pinned or pageable memory, one GPU or 1 … n at once; h2d_d2h: both ways at once
 *   latency       one load that needs the one before: a GPU's own memory, another GPU's, the host's (pinned) */
#include "link.h"

#include <math.h>
#include <stdio.h>
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
  Probe *probe;
  int n;
  bool reaches[LINK_GPUS_MOST][LINK_GPUS_MOST];
  bool was_enabled[LINK_GPUS_MOST][LINK_GPUS_MOST]; /* by this section: to be taken back */
  int sms[LINK_GPUS_MOST];
  char *out[LINK_GPUS_MOST], *in[LINK_GPUS_MOST];          /* on each GPU, large_B each */
  char *pinned[LINK_GPUS_MOST], *pageable[LINK_GPUS_MOST]; /* host_B each */
  size_t large_B, host_B;
  int *gate;
  ProbeTeam *team;
  Lane *lanes; /* room for n (n - 1), or 2 n */
  bool verified[DO_N][WAY_N][2];
  LinkCase *plan;
  size_t n_plan, room;
} Link;

/* ---- the plan ---- */

static void
add (Link *link, LinkCase c)
{
  if (link->n_plan == link->room) {
    size_t room = link->room * 2 + 256;
    LinkCase *grown = (LinkCase *)realloc (link->plan, room * sizeof *grown);
    if (grown == NULL)
      return; /* fewer cases, and the caller's machine has other worries */
    link->plan = grown;
    link->room = room;
  }
  link->plan[link->n_plan++] = c;
}

static void
plan_gpu_sizes (Link *link)
{
  static const Do kinds[] = { DO_CE, DO_SM_WRITE, DO_SM_READ };
  if (link->n < 2)
    return;
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    size_t bytes = SMALL_B;
    for (; bytes < link->large_B; bytes *= GROWTH)
      add (link, { kinds[k], WAY_ONE, 0, 1, 0, false, bytes });
    add (link, { kinds[k], WAY_ONE, 0, 1, 0, false, link->large_B });
    add (link, { kinds[k], WAY_BOTH, 0, 1, 0, false, link->large_B });
  }
  for (size_t bytes = SMALL_B; bytes <= SYNC_MOST_B; bytes *= GROWTH)
    add (link, { DO_CE_SYNC, WAY_ONE, 0, 1, 0, false, bytes });
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    add (link, { kinds[k], WAY_SHIFT, 0, 0, 0, false, link->large_B });
    if (link->n > 2) /* with two, each to each is the shift */
      add (link, { kinds[k], WAY_ALL, 0, 0, 0, false, link->large_B / (size_t)link->n / PIECE_ALIGNED * PIECE_ALIGNED });
  }
}

static void
plan_host (Link *link)
{
  static const Do kinds[] = { DO_H2D, DO_D2H };
  for (int pageable = 0; pageable < 2; pageable++)
    for (size_t k = 0; k < 2; k++) {
      size_t bytes = SMALL_B;
      for (; bytes < link->host_B; bytes *= GROWTH)
        add (link, { kinds[k], WAY_ONE, 0, 0, 1, pageable == 1, bytes });
      add (link, { kinds[k], WAY_ONE, 0, 0, 1, pageable == 1, link->host_B });
    }
  add (link, { DO_H2D_D2H, WAY_BOTH, 0, 0, 1, false, link->host_B / 2 });
  for (int gpus = 2; gpus <= link->n; gpus++) {
    for (size_t k = 0; k < 2; k++)
      add (link, { kinds[k], WAY_ALL, 0, 0, gpus, false, link->host_B });
    add (link, { DO_H2D_D2H, WAY_ALL, 0, 0, gpus, false, link->host_B / 2 });
  }
  for (int gpus = 2; gpus <= link->n; gpus++)
    for (size_t k = 0; k < 2; k++)
      add (link, { kinds[k], WAY_ALL, 0, 0, gpus, true, link->host_B });
  for (int a = 1; a < link->n; a++)
    for (size_t k = 0; k < 2; k++)
      add (link, { kinds[k], WAY_ONE, a, 0, 1, false, link->host_B });
}

static void
plan_pairs (Link *link)
{
  static const Do kinds[] = { DO_CE, DO_SM_WRITE, DO_SM_READ };
  for (int a = 0; a < link->n; a++)
    for (int b = 0; b < link->n; b++)
      if (a != b && (a != 0 || b != 1))
        add (link, { DO_LATENCY, WAY_ONE, a, b, 0, false, 0 });
  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
    for (int way = WAY_ONE; way <= WAY_BOTH; way++)
      for (int a = 0; a < link->n; a++)
        for (int b = way == WAY_BOTH ? a + 1 : 0; b < link->n; b++)
          if (a != b && (a != 0 || b != 1)) /* that pair is measured by size already */
            add (link, { kinds[k], (Way)way, a, b, 0, false, link->large_B });
}

static void
make_plan (Link *link)
{
  plan_gpu_sizes (link);
  add (link, { DO_LATENCY, WAY_ONE, 0, 0, 0, false, 0 });
  if (link->n > 1)
    add (link, { DO_LATENCY, WAY_ONE, 0, 1, 0, false, 0 });
  for (int a = 0; a < link->n; a++)
    add (link, { DO_LATENCY, WAY_ONE, a, -1, 0, false, 0 });
  plan_host (link);
  plan_pairs (link);
}

static ProbeCase *
make_case (Link *link, const LinkCase *c)
{
  ProbeCase *point = probe_case (link->probe, "link", do_names[c->what]);
  if (c->what == DO_LATENCY) {
    probe_number (point, "gpu", c->a);
    probe_text (point, "memory", c->b < 0 ? "host" : c->b == c->a ? "own" : "gpu");
    if (c->b >= 0)
      probe_number (point, "of", c->b);
    probe_number (point, "buffer_B", CHASE_BUFFER_B);
    return point;
  }
  bool host = c->what == DO_H2D || c->what == DO_D2H || c->what == DO_H2D_D2H;
  if (host) {
    probe_number (point, "gpu", c->a);
    probe_number (point, "gpus", c->gpus);
    probe_text (point, "memory", c->pageable ? "pageable" : "pinned");
  } else {
    probe_text (point, "pattern", way_names[c->way]);
    if (c->what == DO_SM_WRITE || c->what == DO_SM_READ)
      probe_text (point, "by", c->what == DO_SM_WRITE ? "write" : "read");
    if (c->way == WAY_ONE || c->way == WAY_BOTH) {
      probe_number (point, "src", c->a);
      probe_number (point, "dst", c->b);
    }
    probe_number (point, "gpus", c->way == WAY_ONE || c->way == WAY_BOTH ? 2 : link->n);
  }
  probe_number (point, "bytes", (double)c->bytes);
  return point;
}

/* ---- lanes of a case ---- */

static Lane
gpu_lane (const Link *link, const LinkCase *c, int from, int to, size_t piece, unsigned sharing)
{
  Lane lane;
  memset (&lane, 0, sizeof lane);
  lane.kind = c->what == DO_CE || c->what == DO_CE_SYNC ? LANE_ENGINE : LANE_KERNEL;
  lane.runs_on = c->what == DO_SM_READ ? to : from;
  lane.from = from;
  lane.to = to;
  lane.source = link->out[from] + piece * (size_t)to;
  lane.target = link->in[to] + piece * (size_t)from;
  lane.bytes = c->bytes;
  lane.direct = lane.runs_on == from ? link->reaches[from][to] : link->reaches[to][from];
  lane.blocks = kernel_blocks (link->sms[lane.runs_on], sharing, c->bytes);
  return lane;
}

static size_t
gpu_lanes (Link *link, const LinkCase *c)
{
  size_t n = 0;
  if (c->way == WAY_ONE || c->way == WAY_BOTH) {
    link->lanes[n++] = gpu_lane (link, c, c->a, c->b, 0, 1);
    if (c->way == WAY_BOTH)
      link->lanes[n++] = gpu_lane (link, c, c->b, c->a, 0, 1);
    return n;
  }
  for (int from = 0; from < link->n; from++)
    for (int to = 0; to < link->n; to++)
      if (c->way == WAY_ALL && from != to)
        link->lanes[n++] = gpu_lane (link, c, from, to, c->bytes, (unsigned)link->n - 1);
      else if (c->way == WAY_SHIFT && to == (from + 1) % link->n)
        link->lanes[n++] = gpu_lane (link, c, from, to, 0, 1);
  return n;
}

static Lane
host_lane (const Link *link, const LinkCase *c, int gpu, bool to_gpu, size_t offset)
{
  Lane lane;
  memset (&lane, 0, sizeof lane);
  char *host = (c->pageable ? link->pageable[gpu] : link->pinned[gpu]) + offset;
  lane.kind = to_gpu ? LANE_TO_GPU : LANE_FROM_GPU;
  lane.runs_on = gpu;
  lane.from = to_gpu ? -1 : gpu;
  lane.to = to_gpu ? gpu : -1;
  lane.source = to_gpu ? host : link->out[gpu];
  lane.target = to_gpu ? link->in[gpu] : host;
  lane.bytes = c->bytes;
  lane.direct = true;
  return lane;
}

static size_t
host_lanes (Link *link, const LinkCase *c)
{
  size_t n = 0;
  for (int gpu = c->a; gpu < c->a + c->gpus; gpu++) {
    if (c->what != DO_D2H)
      link->lanes[n++] = host_lane (link, c, gpu, true, 0);
    if (c->what != DO_H2D)
      link->lanes[n++] = host_lane (link, c, gpu, false, c->what == DO_H2D_D2H ? c->bytes : 0);
  }
  return n;
}

/* ---- measuring ---- */

static void
measure_copies (Link *link, const LinkCase *c, ProbeCase *point)
{
  static Copies copies; /* large, and one at a time */
  bool host = c->what == DO_H2D || c->what == DO_D2H || c->what == DO_H2D_D2H, direct = true;
  const char *error = NULL;
  memset (&copies, 0, sizeof copies);
  copies.lane = link->lanes;
  copies.n_lanes = host ? host_lanes (link, c) : gpu_lanes (link, c);
  for (size_t i = 0; i < copies.n_lanes; i++)
    direct = direct && link->lanes[i].direct;
  if (!direct && (c->what == DO_SM_WRITE || c->what == DO_SM_READ)) {
    probe_skip (link->probe, point, "the GPUs do not reach each other's memory");
    return;
  }
  copies.synchronous = c->what == DO_CE_SYNC;
  copies.pageable = host && c->pageable;
  copies.gated = direct && !copies.pageable && !copies.synchronous; /* staged copies may wait on the host for what is before them */
  copies.gate = link->gate;
  copies.team = link->team;
  bool *verified = &link->verified[c->what][c->way][c->pageable];
  bool large =
      c->bytes >= (host ? link->host_B / 2 : link->large_B / (size_t)(link->n * 2)); /* once a kind, over much of the buffer */
  bool ok = lanes_open (&copies);
  if (!ok)
    error = probe_cuda_error ();
  if (ok && !*verified && (large || c->what == DO_CE_SYNC)) {
    ok = copies_verify (&copies, &error);
    *verified = ok;
  }
  if (ok)
    probe_measure (link->probe, point, copies_sample, &copies);
  else
    probe_point (link->probe, point, NULL, 0, error);
  lanes_close (&copies);
}

static void
measure_latency (Link *link, const LinkCase *c, ProbeCase *point)
{
  static unsigned words[CHASE_BUFFER_B / sizeof (unsigned)];
  Chase chase;
  memset (&chase, 0, sizeof chase);
  if (c->b >= 0 && c->b != c->a && !link->reaches[c->a][c->b]) {
    probe_skip (link->probe, point, "the GPU does not reach the other's memory");
    return;
  }
  chase.device = c->a;
  chase.expected = chase_build (words, probe_options (link->probe)->seed);
  char *chain = c->b < 0 ? link->pinned[c->a] : link->in[c->b];
  chase.chain = (const unsigned *)chain;
  chase.sink = (unsigned *)link->out[c->a];
  bool ok = true;
  if (c->b < 0)
    memcpy (chain, words, sizeof words);
  else
    ok = PROBE_CUDA (cudaSetDevice (c->b)) && PROBE_CUDA (cudaMemcpy (chain, words, sizeof words, cudaMemcpyHostToDevice)) &&
         PROBE_CUDA (cudaDeviceSynchronize ());
  ok = ok && PROBE_CUDA (cudaSetDevice (c->a)) && PROBE_CUDA (cudaStreamCreateWithFlags (&chase.stream, cudaStreamNonBlocking)) &&
       PROBE_CUDA (cudaEventCreate (&chase.begin)) && PROBE_CUDA (cudaEventCreate (&chase.end));
  if (ok)
    probe_measure (link->probe, point, chase_sample, &chase);
  else
    probe_point (link->probe, point, NULL, 0, probe_cuda_error ());
  cudaSetDevice (c->a);
  if (chase.stream != NULL)
    cudaStreamDestroy (chase.stream);
  if (chase.begin != NULL)
    cudaEventDestroy (chase.begin);
  if (chase.end != NULL)
    cudaEventDestroy (chase.end);
}

/* ---- set-up ---- */

static bool
choose_sizes (Link *link)
{
  bool quick = probe_options (link->probe)->quick;
  link->large_B = quick ? LARGE_QUICK_B : LARGE_B;
  for (int i = 0; i < link->n && !probe_listing (link->probe); i++) {
    size_t free_B = 0, total_B = 0;
    if (!PROBE_CUDA (cudaSetDevice (i)) || !PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)))
      return false;
    while (link->large_B > free_B / MEMORY_SHARE && link->large_B > CHASE_BUFFER_B * LINK_GPUS_MOST)
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
      link->reaches[i][k] = status == cudaSuccess || status == cudaErrorPeerAccessAlreadyEnabled;
      link->was_enabled[i][k] = status == cudaSuccess;
    }
  cudaGetLastError ();
}

static bool
open_gpu (Link *link, int i)
{
  size_t free_B = 0, total_B = 0;
  if (!PROBE_CUDA (cudaSetDevice (i)) || !PROBE_CUDA (cudaMemGetInfo (&free_B, &total_B)) ||
      !PROBE_CUDA (cudaDeviceGetAttribute (&link->sms[i], cudaDevAttrMultiProcessorCount, i)) || !link_preload ())
    return false;
  if (free_B / MEMORY_SHARE < link->large_B) {
    probe_note (link->probe, "link: GPU %d has %.3g GB of memory free; %.3g GB are needed", i, (double)free_B / 1e9,
                (double)link->large_B * MEMORY_SHARE / 1e9);
    return false;
  }
  return PROBE_CUDA (cudaMalloc (&link->out[i], link->large_B)) && PROBE_CUDA (cudaMalloc (&link->in[i], link->large_B)) &&
         PROBE_CUDA (cudaMemset (link->out[i], 0, link->large_B)) && PROBE_CUDA (cudaMemset (link->in[i], 0, link->large_B)) &&
         PROBE_CUDA (cudaHostAlloc (&link->pinned[i], link->host_B, cudaHostAllocPortable | cudaHostAllocMapped)) &&
         PROBE_CUDA (cudaDeviceSynchronize ());
}

static bool
open_link (Link *link)
{
  size_t lanes = (size_t)link->n * (size_t)(link->n > 2 ? link->n : 2);
  link->lanes = (Lane *)calloc (lanes, sizeof *link->lanes);
  link->team = probe_team_new ((unsigned)link->n);
  if (link->lanes == NULL || link->team == NULL)
    return false;
  for (int i = 0; i < link->n; i++)
    if (!open_gpu (link, i))
      return false;
  for (int i = 0; i < link->n; i++) {
    link->pageable[i] = (char *)malloc (link->host_B);
    if (link->pageable[i] == NULL)
      return false;
    memset (link->pageable[i], 1, link->host_B); /* pages are there before they are timed */
  }
  enable_peers (link);
  return PROBE_CUDA (cudaHostAlloc (&link->gate, sizeof *link->gate, cudaHostAllocPortable | cudaHostAllocMapped));
}

static void
close_link (Link *link)
{
  for (int i = 0; i < link->n; i++) {
    cudaSetDevice (i);
    for (int k = 0; k < link->n; k++)
      if (link->was_enabled[i][k])
        cudaDeviceDisablePeerAccess (k);
    if (link->out[i] != NULL)
      cudaFree (link->out[i]);
    if (link->in[i] != NULL)
      cudaFree (link->in[i]);
    if (link->pinned[i] != NULL)
      cudaFreeHost (link->pinned[i]);
    free (link->pageable[i]);
  }
  if (link->gate != NULL)
    cudaFreeHost (link->gate);
  cudaGetLastError ();
  probe_team_free (link->team);
  free (link->lanes);
  free (link->plan);
}

bool
probe_link (Probe *probe)
{
  static Link link;
  memset (&link, 0, sizeof link);
  link.probe = probe;
  link.n = probe_options (probe)->n_gpus;
  if (link.n < 1 || link.n > LINK_GPUS_MOST) {
    probe_note (probe, "link: %d GPUs; 1 to %d are accepted (--gpus)", link.n, LINK_GPUS_MOST);
    return false;
  }
  if (!choose_sizes (&link)) {
    probe_note (probe, "link: %s", probe_cuda_error ());
    return false;
  }
  make_plan (&link);
  bool ok = probe_listing (probe) || open_link (&link);
  if (!ok)
    probe_note (probe, "link: could not be set up; the last of CUDA's errors: %s", probe_cuda_error ());
  size_t wanted = 0;
  for (size_t i = 0; i < link.n_plan; i++)
    wanted += probe_selected (probe, "link", do_names[link.plan[i].what]);
  probe_expect (probe, wanted);
  for (size_t i = 0; i < link.n_plan && ok; i++) {
    const LinkCase *c = &link.plan[i];
    if (!probe_selected (probe, "link", do_names[c->what]))
      continue;
    ProbeCase *point = make_case (&link, c);
    if (probe_listing (probe))
      probe_list (probe, point);
    else if (c->what == DO_LATENCY)
      measure_latency (&link, c, point);
    else
      measure_copies (&link, c, point);
  }
  close_link (&link);
  return ok;
}
