/* Timing of queued work, and the device it runs on. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compute.h"

/* The longest that a gate stays closed: longer than the host takes to queue COMPUTE_QUEUE_MOST operations at 10 us each, short
 * enough that an operation which waits for the stream costs little. */
#define GATE_S 50e-3
/* Operations timed to learn how long one takes. */
#define ESTIMATE_N 3u

bool
compute_try (cudaError_t status, const char *what, const char *file, int line, const char **error)
{
  if (status == cudaSuccess)
    return true;
  probe_cuda_ok (status, what, file, line);
  *error = cudaGetErrorString (status);
  cudaGetLastError (); /* one that does not stay is not to be found again by the next call */
  return false;
}

bool
compute_try_blas (cublasStatus_t status, const char **error)
{
  if (status == CUBLAS_STATUS_SUCCESS)
    return true;
  *error = compute_text ("cuBLAS: %s", cublasGetStatusString (status));
  return false;
}

const char *
compute_text (const char *format, ...)
{
  char text[256];
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (text, sizeof text, format, arguments);
  va_end (arguments);
  const char *copy = strdup (text);
  return copy != NULL ? copy : "out of memory";
}

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
compute_device_open (ComputeDevice *d, int device, const char **error)
{
  memset (d, 0, sizeof *d);
  d->device = device;
  int major = 0, minor = 0, l2 = 0;
  void *gate = NULL, *on_device = NULL;
  if (!COMPUTE_TRY (cudaSetDevice (device), error) ||
      !COMPUTE_TRY (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, device), error) ||
      !COMPUTE_TRY (cudaDeviceGetAttribute (&minor, cudaDevAttrComputeCapabilityMinor, device), error) ||
      !COMPUTE_TRY (cudaDeviceGetAttribute (&l2, cudaDevAttrL2CacheSize, device), error) ||
      !COMPUTE_TRY (cudaStreamCreateWithFlags (&d->stream, cudaStreamNonBlocking), error) ||
      !COMPUTE_TRY (cudaEventCreate (&d->start), error) || !COMPUTE_TRY (cudaEventCreate (&d->stop), error) ||
      !COMPUTE_TRY (cudaHostAlloc (&gate, sizeof (uint32_t), cudaHostAllocMapped | cudaHostAllocPortable), error))
    return false;
  d->gate = (volatile uint32_t *)gate;
  *d->gate = 0;
  if (!COMPUTE_TRY (cudaHostGetDevicePointer (&on_device, gate, 0), error))
    return false;
  d->gate_on_device = (const uint32_t *)on_device;
  d->capability = 10 * major + minor;
  d->l2_B = (size_t)l2;
  return true;
}

void
compute_device_close (ComputeDevice *d)
{
  cudaSetDevice (d->device);
  if (d->gate != NULL)
    *d->gate = d->ticket; /* nothing waits any more */
  if (d->stream != NULL) {
    cudaStreamSynchronize (d->stream);
    cudaStreamDestroy (d->stream);
  }
  if (d->start != NULL)
    cudaEventDestroy (d->start);
  if (d->stop != NULL)
    cudaEventDestroy (d->stop);
  if (d->gate != NULL)
    cudaFreeHost ((void *)d->gate);
  cudaGetLastError ();
  memset (d, 0, sizeof *d);
}

bool
compute_gate_close (ComputeDevice *d, const char **error)
{
  d->ticket++;
  gate_kernel<<<1, 1, 0, d->stream>>> (d->gate_on_device, d->ticket, (unsigned long long)(GATE_S * 1e9));
  return COMPUTE_TRY (cudaGetLastError (), error);
}

void
compute_gate_open (ComputeDevice *d)
{
  *d->gate = d->ticket;
  __sync_synchronize ();
}

bool
compute_device_alive (ComputeDevice *d)
{
  const char *error = NULL;
  return COMPUTE_TRY (cudaSetDevice (d->device), &error) && COMPUTE_TRY (cudaDeviceSynchronize (), &error);
}

double
compute_timed_sample (void *timed, const char **error)
{
  ComputeTimed *t = (ComputeTimed *)timed;
  ComputeDevice *d = t->device;
  bool ok = !t->gated || compute_gate_close (d, error);
  ok = ok && COMPUTE_TRY (cudaEventRecord (d->start, d->stream), error);
  for (unsigned i = 0; ok && i < t->n; i++)
    ok = t->launch (t->user, t->at + i, error);
  t->at += t->n;
  ok = ok && COMPUTE_TRY (cudaEventRecord (d->stop, d->stream), error);
  compute_gate_open (d);
  const char *later = NULL; /* after a failure, the first reason is the one to tell */
  bool done = COMPUTE_TRY (cudaStreamSynchronize (d->stream), ok ? error : &later);
  float ms = 0;
  if (!ok || !done || !COMPUTE_TRY (cudaEventElapsedTime (&ms, d->start, d->stop), error))
    return NAN;
  return (double)ms * 1e-3 / t->n;
}

bool
compute_timed_prepare (ComputeTimed *t, double interval_s, const char **error)
{
  t->at = 0;
  /* The first launch loads code, which may wait for the stream: not behind the gate. */
  if (!t->launch (t->user, 0, error) || !COMPUTE_TRY (cudaStreamSynchronize (t->device->stream), error))
    return false;
  t->n = ESTIMATE_N;
  t->each_s = compute_timed_sample (t, error);
  if (!(t->each_s >= 0))
    return false;
  double n = t->each_s > 0 ? ceil (interval_s / t->each_s) : COMPUTE_QUEUE_MOST;
  t->n = n < 1 ? 1 : n > COMPUTE_QUEUE_MOST ? COMPUTE_QUEUE_MOST : (unsigned)n;
  return true;
}

/* Queues one window on every device. events[device * (n_windows + 1) + i] ends window i - 1. */
static bool
queue_window (ComputeTimed *const *timed, int n_devices, const unsigned *n_each, cudaEvent_t *events, size_t n_windows,
              size_t window, const char **error)
{
  for (int g = 0; g < n_devices; g++) {
    ComputeTimed *t = timed[g];
    cudaEvent_t *event = events + (size_t)g * (n_windows + 1);
    if (!COMPUTE_TRY (cudaSetDevice (t->device->device), error))
      return false;
    if (window == 0 && !COMPUTE_TRY (cudaEventRecord (event[0], t->device->stream), error))
      return false;
    for (unsigned i = 0; i < n_each[g]; i++)
      if (!t->launch (t->user, t->at++, error))
        return false;
    if (!COMPUTE_TRY (cudaEventRecord (event[window + 1], t->device->stream), error))
      return false;
  }
  return true;
}

static bool
read_windows (ComputeTimed *const *timed, int n_devices, const unsigned *n_each, cudaEvent_t *events, size_t n_windows,
              double *sample_s, size_t n_most, size_t n, const char **error)
{
  for (int g = 0; g < n_devices; g++) {
    cudaEvent_t *event = events + (size_t)g * (n_windows + 1);
    if (!COMPUTE_TRY (cudaSetDevice (timed[g]->device->device), error))
      return false;
    for (size_t i = 0; i < n; i++) {
      size_t window = n_windows - n + i;
      float ms = 0;
      if (!COMPUTE_TRY (cudaEventElapsedTime (&ms, event[window], event[window + 1]), error))
        return false;
      sample_s[(size_t)g * n_most + i] = (double)ms * 1e-3 / n_each[g];
    }
  }
  return true;
}

size_t
compute_timed_windows (ComputeTimed *const *timed, int n_devices, double window_s, double total_s, double *sample_s, size_t n_most,
                       const char **error)
{
  size_t n_windows = (size_t)ceil (total_s / window_s);
  size_t n = n_windows / 2 < n_most ? n_windows / 2 : n_most;
  size_t n_events = (size_t)n_devices * (n_windows + 1);
  unsigned *n_each = (unsigned *)calloc ((size_t)n_devices, sizeof *n_each);
  cudaEvent_t *events = (cudaEvent_t *)calloc (n_events, sizeof *events);
  bool ok = n > 0 && n_each != NULL && events != NULL;
  if (!ok)
    *error = "out of memory";
  for (int g = 0; ok && g < n_devices; g++) {
    double each = timed[g]->each_s > 0 ? ceil (window_s / timed[g]->each_s) : COMPUTE_QUEUE_MOST;
    n_each[g] = each < 1 ? 1 : (unsigned)each;
    ok = COMPUTE_TRY (cudaSetDevice (timed[g]->device->device), error);
    for (size_t i = 0; ok && i <= n_windows; i++)
      ok = COMPUTE_TRY (cudaEventCreate (&events[(size_t)g * (n_windows + 1) + i]), error);
  }
  for (size_t window = 0; ok && window < n_windows; window++)
    ok = queue_window (timed, n_devices, n_each, events, n_windows, window, error);
  const char *later = NULL;
  for (int g = 0; g < n_devices; g++) {
    cudaSetDevice (timed[g]->device->device);
    if (!COMPUTE_TRY (cudaStreamSynchronize (timed[g]->device->stream), ok ? error : &later))
      ok = false;
  }
  ok = ok && read_windows (timed, n_devices, n_each, events, n_windows, sample_s, n_most, n, error);
  for (size_t i = 0; events != NULL && i < n_events; i++)
    if (events[i] != NULL)
      cudaEventDestroy (events[i]);
  free (events);
  free (n_each);
  return ok ? n : 0;
}
