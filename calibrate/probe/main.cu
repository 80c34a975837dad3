/* forerun-probe: one node. */
#include "nccl_worker.h"
#include "program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Weights share out the budget: NCCL has the most to measure, then kernels; what a section leaves goes to those after it. */
static const ProbePart sections[] = {
  { PROBE_SECTION_LINK, 15, probe_link },       { PROBE_SECTION_NCCL, 45, probe_nccl },
  { PROBE_SECTION_COMPUTE, 20, probe_compute }, { PROBE_SECTION_OVERLAP, 10, probe_overlap },
  { PROBE_SECTION_STORAGE, 10, probe_storage },
};
#define N_SECTIONS (sizeof sections / sizeof sections[0])

/* How many GPUs are used; false: said on stderr. In --list mode --gpus stands for a machine that is not there. */
static bool
count_gpus (Probe *probe)
{
  int found = 0;
  cudaError_t status = cudaGetDeviceCount (&found);
  unsigned asked = probe->arguments.gpus;
  if (status != cudaSuccess) {
    cudaGetLastError ();
    found = 0;
  }
  if (probe->arguments.list && asked > 0) {
    probe->options.n_gpus = (int)asked;
    return true;
  }
  if (found == 0) {
    fprintf (stderr, "forerun-probe: no GPU: %s; it needs an NVIDIA GPU and its driver%s\n",
             status == cudaSuccess ? "CUDA finds none" : cudaGetErrorString (status),
             probe->arguments.list ? " (--list --gpus N lists without)" : "");
    return false;
  }
  if (asked > (unsigned)found) {
    fprintf (stderr, "forerun-probe: --gpus %u: this machine has %d\n", asked, found);
    return false;
  }
  probe->options.n_gpus = asked > 0 ? (int)asked : found;
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
  char error[512];
  Probe probe = Probe ();
  probe_now (); /* the clock starts */
  if (argc > 1 && strcmp (argv[1], NCCL_WORKER_OPTION) == 0)
    return nccl_worker_main (argc, argv);
  if (!probe_arguments_read (argc, argv, &probe.arguments, error, sizeof error)) {
    fprintf (stderr, "forerun-probe: %s\n", error);
    probe_program_clear (&probe);
    return 2;
  }
  if (probe.arguments.help || probe.arguments.version) {
    fputs (probe.arguments.help ? probe_arguments_help () : "forerun-probe " PROBE_VERSION "\n", stdout);
    probe_program_clear (&probe);
    return 0;
  }
  probe_document_begin (&probe, argc, argv);
  probe_program_options (&probe);
  probe_catch_signals ();
  probe.terminal = isatty (STDERR_FILENO) == 1;
  int result = 1;
  if (count_gpus (&probe))
    result = !probe.arguments.list ? measure (&probe) : probe_program_sections (&probe, sections, N_SECTIONS) ? 0 : 1;
  probe_remove_at_end (NULL);
  probe_program_clear (&probe);
  return result;
}
