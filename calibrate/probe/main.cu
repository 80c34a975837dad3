/* forerun-probe: one node. */
#include "nccl_worker.h"
#include "probe_core.h"

#include <stdio.h>
#include <string.h>

/* Weights share out the budget: NCCL has the most to measure, then kernels; what a section leaves goes to those after it. */
static const ProbePart sections[] = {
  { PROBE_SECTION_LINK, 15, probe_link },       { PROBE_SECTION_NCCL, 45, probe_nccl },
  { PROBE_SECTION_COMPUTE, 20, probe_compute }, { PROBE_SECTION_OVERLAP, 10, probe_overlap },
  { PROBE_SECTION_STORAGE, 10, probe_storage }, { PROBE_SECTION_SERVING, 45, probe_serving },
};
#define N_SECTIONS (sizeof sections / sizeof sections[0])

/* How many GPUs are used; false: said on stderr. In --list mode --gpus stands for a machine that is not there. */
static bool
count_gpus (Probe *probe)
{
  int found = 0;
  cudaError_t status = cudaGetDeviceCount (&found);
  unsigned asked = probe->options.gpus;
  if (status != cudaSuccess) {
    cudaGetLastError ();
    found = 0;
  }
  if (probe->options.list && asked > 0)
    return true;
  if (found == 0) {
    fprintf (stderr, "forerun-probe: no GPU: %s; it needs an NVIDIA GPU and its driver%s\n",
             status == cudaSuccess ? "CUDA finds none" : cudaGetErrorString (status),
             probe->options.list ? " (--list --gpus N lists without)" : "");
    return false;
  }
  if (asked > (unsigned)found) {
    fprintf (stderr, "forerun-probe: --gpus %u: this machine has %d\n", asked, found);
    return false;
  }
  probe->options.gpus = asked > 0 ? asked : (unsigned)found;
  return true;
}

static int
measure (Probe *probe)
{
  if (probe_document_machine (probe))
    return probe_program_measure (probe, sections, N_SECTIONS);
  fputs ("forerun-probe: the GPUs do not say what they are\n", stderr);
  return 1;
}

int
main (int argc, char **argv)
{
  Probe probe = Probe ();
  int result = 1;
  if (argc > 1 && strcmp (argv[1], NCCL_WORKER_OPTION) == 0)
    return nccl_worker_main (argc, argv);
  if (probe_program_begin (&probe, PROBE_ON_ONE_NODE, argc, argv, true, &result)) {
    result = 1;
    if (count_gpus (&probe))
      result = !probe.options.list ? measure (&probe) : probe_program_sections (&probe, sections, N_SECTIONS) ? 0 : 1;
    probe_remove_at_end (NULL);
  }
  probe_options_clear (&probe.options);
  return result;
}
