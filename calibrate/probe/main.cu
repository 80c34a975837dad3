/* Options, sections one after another, the file. */
#include "nccl_worker.h"
#include "probe_core.h"
#include "probe_team.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Weights share out the budget: NCCL has the most to measure, then kernels; what a section leaves goes to those after it. */
static const struct {
  ProbeSection section;
  double weight;
  bool (*measure) (Probe *);
} sections[] = {
  { PROBE_SECTION_LINK, 15, probe_link },       { PROBE_SECTION_NCCL, 45, probe_nccl },
#ifdef PROBE_HAVE_COMPUTE
  { PROBE_SECTION_COMPUTE, 20, probe_compute },
#endif
#ifdef PROBE_HAVE_OVERLAP
  { PROBE_SECTION_OVERLAP, 10, probe_overlap },
#endif
  { PROBE_SECTION_STORAGE, 10, probe_storage },
};
#define N_SECTIONS (sizeof sections / sizeof sections[0])

static bool
is_wanted (Probe *probe, size_t at)
{
  return probe_arguments_want (&probe->arguments, probe_section_name (sections[at].section), NULL);
}

static bool
run_section (Probe *probe, size_t at, double weights_left)
{
  const char *name = probe_section_name (sections[at].section);
  double begin = probe_now (), left = probe->arguments.budget_s - begin;
  probe->section_end_s = begin + (left > 0 ? left * sections[at].weight / weights_left : 0);
  probe->expected = 0;
  size_t points = probe->points.n;
  if (!probe->arguments.list)
    fprintf (stderr, "forerun-probe: %s, up to %.0f s\n", name, probe->section_end_s - begin);
  bool ok = sections[at].measure (probe);
  if (probe->arguments.list)
    return ok;
  bool over = probe_left (probe) <= 0 && !probe_interrupted () && !probe->lost;
  if (!ok && !probe_interrupted ())
    probe_note (probe, "%s: failed as a whole; see the notes before this one", name);
  if (over)
    probe_note (probe, "%s: its time was over before all was measured; --budget gives more", name);
  fprintf (stderr, "forerun-probe: %s: %zu points in %.1f s\n", name, probe->points.n - points, probe_now () - begin);
  probe_document_save (probe);
  return ok;
}

/* False: something failed as a whole. */
static bool
run_sections (Probe *probe)
{
  bool ok = true;
  double weights = 0;
  for (size_t i = 0; i < N_SECTIONS; i++)
    weights += is_wanted (probe, i) ? sections[i].weight : 0;
  for (size_t i = 0; i < N_SECTIONS && !probe_interrupted () && !probe->lost; i++) {
    if (!is_wanted (probe, i))
      continue;
    ok = run_section (probe, i, weights) && ok;
    weights -= sections[i].weight;
  }
  for (unsigned i = 0; i < probe->arguments.n_only; i++) {
    const ProbeOnly *only = &probe->arguments.only[i];
    if (only->met || probe_interrupted () || probe->lost)
      continue;
    bool is_whole = only->what == NULL;
    probe_note (probe, "--only %s%s%s: %s", probe_section_name (only->section), is_whole ? "" : "/", is_whole ? "" : only->what,
                is_whole ? "this program was built without it" : "nothing of that name was measured; --list says what there is");
    ok = false;
  }
  return ok;
}

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

/* Results are not lost to a second run, and a folder that cannot be written is known before minutes are spent. */
static bool
can_write (Probe *probe)
{
  struct stat status;
  if (!probe->arguments.force && lstat (probe->arguments.output, &status) == 0) {
    fprintf (stderr, "forerun-probe: %s exists; give another name with -o, or --force to overwrite it\n", probe->arguments.output);
    return false;
  }
  return probe_document_save (probe);
}

static int
measure (Probe *probe)
{
  if (!probe_document_machine (probe)) {
    fputs ("forerun-probe: the GPUs do not say what they are\n", stderr);
    return 1;
  }
  if (!can_write (probe))
    return 1;
  bool ok = run_sections (probe);
  probe_utc_now (probe->finished);
  probe->complete = ok && !probe_interrupted () && !probe->lost;
  bool saved = probe_document_save (probe);
  if (!probe_interrupted () && !probe->lost)
    fprintf (stderr, "forerun-probe: %zu points in %.0f s (%zu not known to %.3g %%, %zu skipped, %zu failed): %s\n",
             probe->points.n, probe_now (), probe->n_short, probe->options.target * 100, probe->n_skipped, probe->n_failed,
             probe->arguments.output);
  if (probe_interrupted ()) {
    fprintf (stderr, "forerun-probe: interrupted; %zu points are in %s\n", probe->points.n, probe->arguments.output);
    return 130;
  }
  return ok && saved && !probe->lost ? 0 : 1;
}

static void
probe_clear (Probe *probe)
{
  probe_texts_clear (&probe->points);
  probe_texts_clear (&probe->notes);
  probe_texts_clear (&probe->listed);
  free (probe->command);
  free (probe->environment);
  free (probe->head);
  free (probe->topology_xml);
  probe_arguments_clear (&probe->arguments);
}

static void
set_options (Probe *probe)
{
  const ProbeArguments *arguments = &probe->arguments;
  const char *nvls = getenv ("NCCL_NVLS_ENABLE");
  probe->options.target = arguments->target;
  probe->options.nvls = !arguments->no_nvls && (nvls == NULL || strcmp (nvls, "0") != 0);
  probe->options.storage_dir = arguments->storage_dir;
  probe->options.quick = arguments->quick;
  probe->options.seed = arguments->seed;
  probe->options.nccl_library = arguments->nccl_library;
  if (!probe->options.nvls)
    setenv ("NCCL_NVLS_ENABLE", "0", 1); /* before NCCL starts, here and in workers */
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
    probe_clear (&probe);
    return 2;
  }
  if (probe.arguments.help || probe.arguments.version) {
    fputs (probe.arguments.help ? probe_arguments_help () : "forerun-probe " PROBE_VERSION "\n", stdout);
    probe_clear (&probe);
    return 0;
  }
  probe_document_begin (&probe, argc, argv);
  set_options (&probe);
  probe_catch_signals ();
  probe.terminal = isatty (STDERR_FILENO) == 1;
  int result = 1;
  if (count_gpus (&probe))
    result = !probe.arguments.list ? measure (&probe) : run_sections (&probe) ? 0 : 1;
  probe_remove_at_end (NULL);
  probe_clear (&probe);
  return result;
}
