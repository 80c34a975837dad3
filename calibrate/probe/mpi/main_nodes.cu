/* forerun-probe-mpi: NCCL over nodes, one process a GPU. Process 0 plans, asks and writes the file; the others keep a worker each
 * and do what they are told. Workers do not know of MPI: they are started anew for each setting of NCCL, as on one node. */
#include "nccl_lib.h"
#include "nccl_worker.h"
#include "nodes.h"
#include "program.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a process says of itself, joined by MARK. */
enum { FIELD_NODE, FIELD_ERROR, FIELD_NVLS, FIELD_PROCESSORS, FIELD_NCCL, FIELD_UNIQUE, FIELD_GPU, FIELD_HOST, FIELD_N };
#define MARK             "\x1e"
#define NAME_MOST        512
#define PROCESSORS_LEAST 4 /* for a thread that launches, NCCL's that drive the network, and MPI's */

typedef struct {
  char **text;        /* of all processes, cut at the marks */
  const char **field; /* field[rank * FIELD_N + which] */
  unsigned n;
} Records;

static bool
measure_nccl (Probe *probe)
{
  return nodes_nccl (probe, (Nodes *)probe->user);
}

static const ProbePart parts[] = { { PROBE_SECTION_NCCL, 1, measure_nccl } };

/* ---- what a process is ---- */

/* Hosts of the same name are told apart by when they were booted. */
static void
machine_name (char out[NAME_MOST])
{
  char name[256] = "?", boot[64] = "";
  FILE *file = fopen ("/proc/sys/kernel/random/boot_id", "r");
  gethostname (name, sizeof name - 1);
  if (file != NULL) {
    if (fscanf (file, "%63s", boot) != 1)
      boot[0] = '\0';
    fclose (file);
  }
  snprintf (out, NAME_MOST, "%s %s", name, boot);
}

/* This process's GPU: the only one that it sees, or the one of its number among the processes of its machine. */
static bool
choose_device (unsigned here, int *device)
{
  int found = 0;
  cudaError_t status = cudaGetDeviceCount (&found);
  if (status != cudaSuccess || found == 0) {
    cudaGetLastError ();
    return probe_fail ("no GPU: %s; every process needs an NVIDIA GPU and its driver (--list needs none)",
                       status == cudaSuccess ? "CUDA finds none" : cudaGetErrorString (status));
  }
  if (found > 1 && here >= (unsigned)found)
    return probe_fail ("no GPU is left for it: %d GPUs, and it is process %u of its machine; start one process a GPU", found,
                       here + 1);
  *device = found == 1 ? 0 : (int)here;
  return true;
}

/* How many this process, and so its worker, may use. */
static unsigned
count_processors (void)
{
  cpu_set_t set;
  return sched_getaffinity (0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT (&set) : PROCESSORS_LEAST;
}

static char *
join_fields (const char *const field[FIELD_N])
{
  size_t size = FIELD_N;
  for (unsigned i = 0; i < FIELD_N; i++)
    size += strlen (field[i]);
  char *text = (char *)calloc (1, size);
  for (unsigned i = 0; text != NULL && i < FIELD_N; i++) {
    strcat (text, field[i]);
    if (i + 1 < FIELD_N)
      strcat (text, MARK);
  }
  return text;
}

/* What it says of its GPU, its host and its NCCL; false: something is missing. */
static bool
describe_parts (Probe *probe, const Ranks *ranks, int *device, char **gpu, char **host, char pci[32])
{
  if (!choose_device (ranks_self_here (ranks), device))
    return false;
  *gpu = probe_document_gpu (*device);
  if (*gpu == NULL || !PROBE_CUDA (cudaDeviceGetPCIBusId (pci, 32, *device))) {
    const char *why = probe_why ();
    return probe_fail ("its GPU does not say what it is: %.400s", why);
  }
  if (!nccl_lib_open (probe->options.nccl_library))
    return probe_fail ("NCCL: %s", probe_why ());
  *host = probe_document_host (probe);
  return true;
}

/* The text that process 0 gets; `*device` is this process's GPU, -1: none. */
static char *
describe_self (Probe *probe, const Ranks *ranks, int *device)
{
  char machine[NAME_MOST], version[32] = "", unique[NAME_MOST + 64] = "", pci[32] = "", processors[16];
  const char *imitated = getenv ("NCCL_HOSTID"), *error = "";
  char *gpu = NULL, *host = NULL;
  *device = -1;
  snprintf (processors, sizeof processors, "%u", count_processors ());
  machine_name (machine);
  if (!probe->options.list) {
    error = describe_parts (probe, ranks, device, &gpu, &host, pci) ? "" : probe_why ();
    nccl_lib_version (version, sizeof version);
    snprintf (unique, sizeof unique, "%s %s", machine, pci);
  }
  const char *const field[FIELD_N] = { imitated != NULL ? imitated : machine,
                                       error,
                                       probe->options.no_nvls ? "0" : "1",
                                       processors,
                                       version,
                                       unique,
                                       gpu != NULL ? gpu : "",
                                       host != NULL ? host : "" };
  char *text = join_fields (field);
  free (gpu);
  free (host);
  return text;
}

/* ---- what process 0 makes of it ---- */

static void
records_clear (Records *records)
{
  ranks_texts_free (records->text, records->n);
  free (records->field);
  *records = Records ();
}

static bool
records_cut (Records *records)
{
  records->field = (const char **)calloc ((size_t)records->n * FIELD_N, sizeof *records->field);
  if (records->text == NULL || records->field == NULL)
    return probe_fail ("out of memory");
  for (unsigned r = 0; r < records->n; r++) {
    char *at = records->text[r];
    for (unsigned i = 0; i < FIELD_N; i++) {
      records->field[r * FIELD_N + i] = at;
      char *end = strstr (at, MARK);
      at = end != NULL ? end + 1 : at + strlen (at);
      if (end != NULL)
        *end = '\0';
    }
  }
  return true;
}

static const char *
field_of (const Records *records, unsigned rank, unsigned which)
{
  return records->field[rank * FIELD_N + which];
}

/* All in use have a GPU of their own and the same NCCL. */
static bool
can_work (const Records *records, const ProbeLayout *layout)
{
  const char *first = field_of (records, 0, FIELD_NCCL);
  for (unsigned i = 0; i < layout->nodes * layout->gpus; i++) {
    unsigned r = layout->rank[i];
    const char *error = field_of (records, r, FIELD_ERROR), *version = field_of (records, r, FIELD_NCCL),
               *node = field_of (records, r, FIELD_NODE), *unique = field_of (records, r, FIELD_UNIQUE);
    if (*error != '\0')
      return probe_fail ("process %u on %.200s: %.700s", r, node, error);
    if (strcmp (version, first) != 0)
      return probe_fail ("NCCL is %s for process 0, and %s for process %u on %.200s; all must have the same", first, version, r,
                         node);
    for (unsigned k = 0; k < i; k++)
      if (strcmp (unique, field_of (records, layout->rank[k], FIELD_UNIQUE)) == 0)
        return probe_fail ("processes %u and %u have the same GPU, %.200s; start one process a GPU", layout->rank[k], r, unique);
  }
  return true;
}

static bool
write_head (Probe *probe, const Nodes *nodes, const Records *records)
{
  const ProbeLayout *layout = &nodes->layout;
  ProbeHost *host = (ProbeHost *)calloc (layout->nodes, sizeof *host);
  bool ok = host != NULL;
  for (unsigned k = 0; ok && k < layout->nodes; k++) {
    host[k].members = field_of (records, layout->rank[k * layout->gpus], FIELD_HOST);
    for (unsigned g = 0; g < layout->gpus; g++)
      host[k].gpu[g] = field_of (records, layout->rank[k * layout->gpus + g], FIELD_GPU);
    ok = *host[k].members != '\0';
  }
  ok = ok && probe_document_hosts (probe, host, ranks_library (nodes->ranks), layout->n_ranks);
  free (host);
  return ok || probe_fail ("out of memory");
}

static void
note_processors (Probe *probe, const Records *records)
{
  for (unsigned r = 0; r < records->n && !probe->options.list; r++) {
    unsigned long n = strtoul (field_of (records, r, FIELD_PROCESSORS), NULL, 10);
    if (n >= PROCESSORS_LEAST)
      continue;
    probe_note (probe, "process %u may use %lu processor%s alone, which NCCL's own threads share; mpirun --bind-to none lifts that",
                r, n, n == 1 ? "" : "s");
    return; /* the others will be alike */
  }
}

static bool
make_layout (Probe *probe, Nodes *nodes, const Records *records)
{
  ProbeOptions *options = &probe->options;
  ProbeLayout *layout = &nodes->layout;
  const char **node = (const char **)calloc (records->n, sizeof *node);
  if (node == NULL)
    return probe_fail ("out of memory");
  for (unsigned r = 0; r < records->n; r++)
    node[r] = field_of (records, r, FIELD_NODE);
  bool ok = probe_layout_make (node, records->n, options->list ? 0 : options->nodes, options->list ? 0 : options->gpus, layout);
  free (node);
  if (!ok)
    return false;
  if (options->list) { /* they stand for nodes that are not there */
    layout->nodes = options->nodes > 0 ? options->nodes : layout->nodes;
    layout->gpus = options->gpus > 0 ? options->gpus : layout->gpus;
  } else if (layout->spare > 0) {
    probe_note (probe, "%u of %u processes are not used: %u nodes of %u", layout->spare, records->n, layout->nodes, layout->gpus);
  }
  options->nodes = layout->nodes;
  options->gpus = layout->gpus;
  note_processors (probe, records);
  for (unsigned r = 0; r < records->n; r++) /* off for one is off for all: variables do not reach all by themselves */
    options->no_nvls = options->no_nvls || strcmp (field_of (records, r, FIELD_NVLS), "1") != 0;
  return true;
}

/* ---- the two sides ---- */

/* Process 0, with the records of all; returns the exit status. */
static int
lead_all (Probe *probe, Nodes *nodes, int device, Records *records)
{
  NcclCommand command;
  bool list = probe->options.list, ok = records_cut (records) && make_layout (probe, nodes, records);
  if (ok && !list)
    ok = can_work (records, &nodes->layout) && write_head (probe, nodes, records) && nccl_files_make (&nodes->files) &&
         nccl_command_make (&command, &probe->options, nodes->layout.gpus, device, &nodes->files);
  ranks_tell_number (nodes->ranks, ok && !list ? (int)nodes->layout.gpus : 0);
  if (!ok) {
    fprintf (stderr, "forerun-probe: %s\n", probe_why ());
    return 1;
  }
  if (list)
    return probe_program_sections (probe, parts, 1) ? 0 : 1;
  const ProbeMemberWorker worker = { command.argv, command.argv_with_log };
  ranks_lead (nodes->ranks, &worker, probe_interrupted);
  int result = probe_program_measure (probe, parts, 1);
  nccl_files_remove (&nodes->files);
  if (!nodes->lost)
    ranks_quit (nodes->ranks);
  return result;
}

static int
lead (Probe *probe, Nodes *nodes, int device, const char *own)
{
  Records records = Records ();
  records.n = ranks_count (nodes->ranks);
  records.text = ranks_gather (nodes->ranks, own);
  probe->user = nodes;
  int result = lead_all (probe, nodes, device, &records);
  probe_layout_clear (&nodes->layout);
  records_clear (&records);
  return result;
}

/* All others; false: process 0 is gone. */
static bool
follow (Probe *probe, Nodes *nodes, int device, const char *own)
{
  NcclCommand command;
  ranks_gather (nodes->ranks, own);
  int gpus = ranks_tell_number (nodes->ranks, 0);
  if (gpus == 0)
    return true;
  const ProbeMemberWorker worker = { command.argv, command.argv };
  return nccl_command_make (&command, &probe->options, (unsigned)gpus, device, &nodes->files) &&
         ranks_serve (nodes->ranks, &worker, probe_interrupted);
}

static int
run (Probe *probe, Nodes *nodes)
{
  int device = -1, result = 0;
  char *own = describe_self (probe, nodes->ranks, &device);
  if (own == NULL) {
    fputs ("forerun-probe: out of memory\n", stderr);
    nodes->lost = true;
    return 1;
  }
  if (ranks_self (nodes->ranks) == 0) {
    result = lead (probe, nodes, device, own);
  } else if (!follow (probe, nodes, device, own)) {
    nodes->lost = true;
    result = 130;
  }
  free (own);
  return result;
}

int
main (int argc, char **argv)
{
  Probe probe = Probe ();
  Nodes nodes = Nodes ();
  int result = 0;
  if (argc > 1 && strcmp (argv[1], NCCL_WORKER_OPTION) == 0)
    return nccl_worker_main (argc, argv);
  nodes.ranks = ranks_open (&argc, &argv);
  if (nodes.ranks == NULL)
    return 1;
  if (probe_program_begin (&probe, PROBE_OVER_NODES, argc, argv, ranks_self (nodes.ranks) == 0, &result))
    result = run (&probe, &nodes);
  probe_program_clear (&probe);
  ranks_close (nodes.ranks, nodes.lost, result);
  return result;
}
