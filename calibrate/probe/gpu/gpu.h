/* What the sections that time GPUs share: a stream with two events, a gate, and operations in a row between the events. */
#ifndef FORERUN_PROBE_GPU_H
#define FORERUN_PROBE_GPU_H

#include "probe.h"

typedef struct {
  int device;
  cudaStream_t stream;
  cudaEvent_t begin, end;
} GpuStream;

/* Makes `device` the current one of the thread. Close after a failed open as well. */
bool gpu_stream_open (GpuStream *s, int device);
void gpu_stream_close (GpuStream *s);

/* A word of host memory that every GPU sees. Kernels hold streams until it reaches their ticket, so that all that is queued behind
 * them begins at once and the host's launches are not in its time. */
typedef struct {
  volatile uint32_t *word;
  uint32_t ticket;
  double most_s;   /* a gate opens by itself after this: an error in between cannot hang the GPU */
  double filled_s; /* a run whose streams took longer to fill fails; 0: none does */
} GpuGate;

bool gpu_gate_make (GpuGate *gate, double most_s, double filled_s);
void gpu_gate_drop (GpuGate *gate);
/* What is held from now on waits for the next gpu_gate_open. */
void gpu_gate_close (GpuGate *gate);
bool gpu_gate_hold (const GpuGate *gate, const GpuStream *s); /* a stream of the current GPU */
void gpu_gate_open (GpuGate *gate);

/* Queues the i-th of a run of operations on the stream of `user`. */
typedef bool (*GpuLaunch) (void *user, unsigned i);

typedef struct {
  GpuStream *on;
  GpuLaunch launch;
  void *user;
  unsigned at; /* number of the next operation, so that sets of operands go on rotating */
} GpuWork;

/* Seconds of n operations in a row, in the slowest work; all begin together behind the gate (NULL: none). Negative: failed. */
double gpu_run (GpuWork *work, size_t n_works, unsigned n, GpuGate *gate);

/* When a stream got to places in its work: events in a row. */
typedef struct {
  cudaStream_t stream;
  std::vector<cudaEvent_t> event;
  std::vector<double> at_s; /* once read: seconds after an event on the same GPU */
  size_t n;                 /* marks so far; 0 to begin anew */
} GpuTrack;

/* On the current GPU, room for n marks. Close after a failed open as well. */
bool gpu_track_open (GpuTrack *track, cudaStream_t stream, size_t n);
void gpu_track_close (GpuTrack *track);
bool gpu_track_mark (GpuTrack *track);
bool gpu_track_read (GpuTrack *track, cudaEvent_t from); /* all is done */

#endif
