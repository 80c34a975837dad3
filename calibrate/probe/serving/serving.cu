/* The serving section: what most of the constants rest on comes first, in case that the time ends it.
 *
 * Time at default settings on one H200: docs/probe_compute.md. */
#include "serving.h"

bool
probe_serving (Probe *probe)
{
  static bool (*const parts[]) (ComputeSection *) = { serving_graph, serving_decode, serving_grouped, serving_blocks,
                                                      serving_gemm };
  ComputeSection s = ComputeSection ();
  s.probe = probe;
  s.name = SERVING_SECTION;
  bool ok = true;
  for (size_t i = 0; ok && i < COMPUTE_COUNT (parts); i++)
    ok = parts[i](&s);
  if (!ok)
    probe_note (probe, "serving: ended early, for the GPU does not work any more after a failure");
  if (s.gemm_open)
    compute_gemm_close (&s.gemm);
  if (s.device_open)
    compute_device_close (&s.device);
  return ok && !s.gemm_failed && !s.device_failed;
}
