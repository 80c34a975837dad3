#include "gpu.h"

#include "probe_team.h"

#include <math.h>
#include <string.h>

static __device__ unsigned long long
now_ns (void)
{
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}

static __global__ void
gate_kernel (const volatile uint32_t *open, uint32_t ticket, unsigned long long most_ns)
{
  unsigned long long start = now_ns ();
  while ((int32_t)(*open - ticket) < 0 && now_ns () - start < most_ns)
    ;
}

bool
gpu_stream_open (GpuStream *s, int device)
{
  cudaFuncAttributes attributes; /* asking loads the gate: a first launch may wait for what runs there */
  memset (s, 0, sizeof *s);
  s->device = device;
  return PROBE_CUDA (cudaSetDevice (device)) && PROBE_CUDA (cudaStreamCreateWithFlags (&s->stream, cudaStreamNonBlocking)) &&
         PROBE_CUDA (cudaEventCreate (&s->begin)) && PROBE_CUDA (cudaEventCreate (&s->end)) &&
         PROBE_CUDA (cudaFuncGetAttributes (&attributes, gate_kernel));
}

void
gpu_stream_close (GpuStream *s)
{
  cudaSetDevice (s->device);
  if (s->stream != NULL)
    cudaStreamDestroy (s->stream);
  if (s->begin != NULL)
    cudaEventDestroy (s->begin);
  if (s->end != NULL)
    cudaEventDestroy (s->end);
  cudaGetLastError ();
  memset (s, 0, sizeof *s);
}

bool
gpu_gate_make (GpuGate *gate, double most_s, double filled_s)
{
  void *word = NULL;
  memset (gate, 0, sizeof *gate);
  gate->most_s = most_s;
  gate->filled_s = filled_s;
  if (!PROBE_CUDA (cudaHostAlloc (&word, sizeof *gate->word, cudaHostAllocMapped | cudaHostAllocPortable)))
    return false;
  gate->word = (volatile uint32_t *)word;
  *gate->word = 0;
  return true;
}

void
gpu_gate_drop (GpuGate *gate)
{
  if (gate->word != NULL)
    cudaFreeHost ((void *)gate->word);
  gate->word = NULL;
}

void
gpu_gate_close (GpuGate *gate)
{
  gate->ticket++;
}

bool
gpu_gate_hold (const GpuGate *gate, const GpuStream *s)
{
  gate_kernel<<<1, 1, 0, s->stream>>> (gate->word, gate->ticket, (unsigned long long)(gate->most_s * 1e9));
  return PROBE_CUDA (cudaGetLastError ());
}

void
gpu_gate_open (GpuGate *gate)
{
  __sync_synchronize ();
  *gate->word = gate->ticket;
  __sync_synchronize ();
}

static bool
fill (GpuWork *work, unsigned n, GpuGate *gate)
{
  const GpuStream *s = work->on;
  bool ok = PROBE_CUDA (cudaSetDevice (s->device)) && (gate == NULL || gpu_gate_hold (gate, s)) &&
            PROBE_CUDA (cudaEventRecord (s->begin, s->stream));
  for (unsigned i = 0; ok && i < n; i++)
    ok = work->launch (work->user, work->at + i);
  work->at += n;
  return ok && PROBE_CUDA (cudaEventRecord (s->end, s->stream));
}

double
gpu_run (GpuWork *work, size_t n_works, unsigned n, GpuGate *gate)
{
  bool ok = true;
  double begin_s = probe_clock_s (), slowest_s = 0;
  if (gate != NULL)
    gpu_gate_close (gate);
  for (size_t i = 0; i < n_works && ok; i++)
    ok = fill (&work[i], n, gate);
  double filled_s = probe_clock_s () - begin_s;
  if (gate != NULL)
    gpu_gate_open (gate);
  for (size_t i = 0; i < n_works; i++) /* after an error too: nothing is left running */
    ok = PROBE_CUDA (cudaStreamSynchronize (work[i].on->stream)) && ok;
  if (ok && gate != NULL && gate->filled_s > 0 && filled_s > gate->filled_s)
    ok = PROBE_CUDA (cudaErrorLaunchTimeout); /* the gates may have opened before the streams were filled */
  for (size_t i = 0; i < n_works && ok; i++) {
    float ms = 0;
    ok = PROBE_CUDA (cudaEventElapsedTime (&ms, work[i].on->begin, work[i].on->end));
    slowest_s = fmax (slowest_s, (double)ms * 1e-3);
  }
  return ok ? slowest_s : -1;
}

bool
gpu_track_open (GpuTrack *track, cudaStream_t stream, size_t n)
{
  bool ok = true;
  track->stream = stream;
  track->n = 0;
  track->event.assign (n, NULL);
  track->at_s.assign (n, 0);
  for (cudaEvent_t &event : track->event)
    ok = ok && PROBE_CUDA (cudaEventCreate (&event));
  return ok;
}

void
gpu_track_close (GpuTrack *track)
{
  for (cudaEvent_t event : track->event)
    if (event != NULL)
      cudaEventDestroy (event);
  track->event.clear ();
}

bool
gpu_track_mark (GpuTrack *track)
{
  return PROBE_CUDA (cudaEventRecord (track->event[track->n++], track->stream));
}

bool
gpu_track_read (GpuTrack *track, cudaEvent_t from)
{
  bool ok = true;
  for (size_t i = 0; ok && i < track->n; i++) {
    float ms = 0;
    ok = PROBE_CUDA (cudaEventElapsedTime (&ms, from, track->event[i]));
    track->at_s[i] = (double)ms * 1e-3;
  }
  return ok;
}
