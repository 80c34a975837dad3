/* The compute section: one GPU in full, then one GEMM on every GPU. What tells most comes first, in case that the time ends it.
 *
 * Time at default settings on one node of 8 H200, estimated: launches 1 s, first GEMMs 10 s, memory 2 s, attention 1 s,
 * sustained 8 s, GPUs compared 8 s, batches and groups 3 s, the other GEMMs 20 s: below 60 s in all. */
#include "compute.h"

#define SECTION "compute"

bool
compute_wants (ComputeSection *s, const char *what)
{
  if (!probe_wants (s->probe, s->name, what) || s->device_failed)
    return false;
  if (s->device_open)
    return true;
  s->device_open = compute_device_open (&s->device, 0);
  if (!s->device_open) {
    s->device_failed = true;
    probe_note (s->probe, "%s: GPU 0 cannot be used: %s", s->name, probe_why ());
    compute_device_close (&s->device);
  }
  return s->device_open;
}

bool
probe_compute (Probe *probe)
{
  static bool (*const parts[]) (ComputeSection *) = {
    compute_launch,    compute_gemm_first,   compute_memory,       compute_attention,   compute_gemm_sustained,
    compute_gemm_gpus, compute_gemm_batched, compute_gemm_grouped, compute_gemm_others,
  };
  ComputeSection s = ComputeSection ();
  s.probe = probe;
  s.name = SECTION;
  bool ok = true;
  for (size_t i = 0; ok && i < COMPUTE_COUNT (parts); i++)
    ok = parts[i](&s);
  if (!ok)
    probe_note (probe, "compute: ended early, for the GPU does not work any more after a failure");
  if (s.gemm_open)
    compute_gemm_close (&s.gemm);
  if (s.device_open)
    compute_device_close (&s.device);
  return ok && !s.gemm_failed && !s.device_failed;
}
