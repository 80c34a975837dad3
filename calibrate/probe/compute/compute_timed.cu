/* Timing of queued work, and the device it runs on. */
#include "compute.h"

#include <string.h>

/* An interval between two events is this long: their resolution of about 0.5 us is then below 0.05 %. */
#define BURST_S 2e-3
/* The longest that a gate stays closed: longer than the host takes to queue COMPUTE_QUEUE_MOST operations at 10 us each, short
 * enough that an operation which waits for the stream costs little. */
#define GATE_S 50e-3
/* Operations timed to learn how long one takes. */
#define ESTIMATE_N 3u
/* All sets of operands together are this many times as large as the L2 cache. */
#define L2_TIMES   4u
#define SETS_LEAST 2u

bool
compute_device_open (ComputeDevice *d, int device)
{
  int major = 0, minor = 0, l2 = 0;
  memset (d, 0, sizeof *d);
  if (!gpu_stream_open (&d->on, device) ||
      !PROBE_CUDA (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, device)) ||
      !PROBE_CUDA (cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor, device)) ||
      !PROBE_CUDA (cudaDeviceGetAttribute (&l2, cudaDevAttrL2CacheSize, device)) || !gpu_gate_make (&d->gate, GATE_S, 0))
    return false;
  d->capability = 10 * major + minor;
  d->l2_B = (size_t)l2;
  return true;
}

void
compute_device_close (ComputeDevice *d)
{
  if (d->gate.word != NULL)
    gpu_gate_open (&d->gate); /* nothing waits any more */
  cudaSetDevice (d->on.device);
  if (d->on.stream != NULL)
    cudaStreamSynchronize (d->on.stream);
  gpu_stream_close (&d->on);
  gpu_gate_drop (&d->gate);
  memset (d, 0, sizeof *d);
}

bool
compute_device_alive (ComputeDevice *d)
{
  bool alive = PROBE_CUDA (cudaSetDevice (d->on.device)) && PROBE_CUDA (cudaDeviceSynchronize ());
  probe_forget (); /* why it does not is said already */
  return alive;
}

unsigned
compute_sets (const ComputeDevice *d, size_t set_B, size_t most)
{
  size_t wanted = (L2_TIMES * d->l2_B + set_B - 1) / set_B;
  wanted = wanted < SETS_LEAST ? SETS_LEAST : wanted;
  return (unsigned)(wanted < most ? wanted : most);
}

ComputeTimed
compute_timed (ComputeDevice *d, GpuLaunch launch, void *user)
{
  ComputeTimed t = ComputeTimed ();
  t.work = { &d->on, launch, user, 0 };
  t.gate = &d->gate;
  t.parts = 1;
  return t;
}

static double
run_timed (void *user, unsigned n)
{
  ComputeTimed *t = (ComputeTimed *)user;
  return gpu_run (&t->work, 1, n, t->gate) / t->parts;
}

bool
compute_timed_prepare (ComputeTimed *t)
{
  t->work.at = 0;
  t->repeat = { run_timed, t, 0, 0 };
  /* The first launch loads code, which may wait for the stream: not behind the gate. */
  return t->work.launch (t->work.user, 0) && PROBE_CUDA (cudaStreamSynchronize (t->work.on->stream)) &&
         probe_repeat_settle (&t->repeat, BURST_S / t->parts, ESTIMATE_N, COMPUTE_QUEUE_MOST);
}

bool
compute_measure (ComputeSection *s, ProbeCase *c, bool ready, ComputeTimed *timed)
{
  if (!ready || !compute_timed_prepare (timed))
    return probe_failed (s->probe, c) || compute_device_alive (&s->device);
  return probe_measure (s->probe, c, probe_repeat_sample, &timed->repeat) || compute_device_alive (&s->device);
}

/* ---- windows of sustained work ---- */

#define N_WINDOWS_MOST 64
#define IN_WINDOW_MOST (1u << 16) /* operations */

typedef struct {
  ComputeTimed *timed;
  unsigned n;     /* operations of a window */
  GpuTrack track; /* the begin, and each window's end */
} Windows;

static bool
open_windows (Windows *w, ComputeTimed *timed, size_t n_windows)
{
  w->timed = timed;
  w->n = probe_repeats (COMPUTE_WINDOW_S, timed->repeat.each_s, IN_WINDOW_MOST);
  return PROBE_CUDA (cudaSetDevice (timed->work.on->device)) && gpu_track_open (&w->track, timed->work.on->stream, n_windows + 1) &&
         gpu_track_mark (&w->track);
}

static bool
queue_window (Windows *w)
{
  GpuWork *work = &w->timed->work;
  bool ok = PROBE_CUDA (cudaSetDevice (work->on->device));
  for (unsigned i = 0; ok && i < w->n; i++)
    ok = work->launch (work->user, work->at++);
  return ok && gpu_track_mark (&w->track);
}

/* The last n. */
static bool
read_windows (Windows *w, size_t n, double *sample_s)
{
  GpuTrack *track = &w->track;
  if (!gpu_track_read (track, track->event[track->n - 1 - n]))
    return false;
  for (size_t i = 0; i < n; i++)
    sample_s[i] = (track->at_s[track->n - n + i] - track->at_s[track->n - n + i - 1]) / w->n;
  return true;
}

size_t
compute_windows (const std::vector<ComputeTimed *> &timed, double total_s, ComputeWindows *sample_s)
{
  const size_t n_windows = probe_repeats (total_s, COMPUTE_WINDOW_S, N_WINDOWS_MOST);
  const size_t n = n_windows / 2 < COMPUTE_WINDOWS_MOST ? n_windows / 2 : COMPUTE_WINDOWS_MOST;
  std::vector<Windows> all (timed.size ());
  bool ok = true;
  for (size_t g = 0; ok && g < all.size (); g++)
    ok = open_windows (&all[g], timed[g], n_windows);
  for (size_t i = 0; ok && i < n_windows; i++)
    for (size_t g = 0; ok && g < all.size (); g++)
      ok = queue_window (&all[g]);
  for (const ComputeTimed *t : timed)
    ok = PROBE_CUDA (cudaSetDevice (t->work.on->device)) && PROBE_CUDA (cudaStreamSynchronize (t->work.on->stream)) && ok;
  for (size_t g = 0; ok && g < all.size (); g++)
    ok = read_windows (&all[g], n, sample_s[g]);
  for (Windows &w : all)
    gpu_track_close (&w.track);
  return ok ? n : 0;
}
