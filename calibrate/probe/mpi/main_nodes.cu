/* forerun-probe-mpi: NCCL over nodes, one process a GPU. Process 0 plans, asks and writes the file; the others keep a worker each
 * and follow its commands. Workers do not know of MPI: they are started anew for each setting of NCCL, as on one node. */
#include "nccl_lib.h"
#include "nccl_worker.h"
#include "nodes.h"
#include "probe_core.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a process says of itself, joined by MARK. */
enum { FIELD_NODE, FIELD_ERROR, FIELD_NVLS, FIELD_PROCESSORS, FIELD_NCCL, FIELD_UNIQUE, FIELD_GPU, FIELD_HOST, FIELD_N };
#define MARK             '\x1e'
#define PROCESSORS_LEAST 4 /* for a thread that launches, NCCL's that drive the network, and MPI's */

typedef std::vector<std::string> Record; /* by field */

static bool
measure_nccl (Probe *probe)
{
  return nodes_nccl (probe, (Nodes *)probe->user);
}

static const ProbePart parts[] = { { PROBE_SECTION_NCCL, 1, measure_nccl } };

/* ---- what a process is ---- */

/* Hosts of the same name are distinguished by their boot time. */
static std::string
machine_name (void)
{
  char name[256] = "?", boot[64] = "";
  FILE *file = fopen ("/proc/sys/kernel/random/boot_id", "r");
  gethostname (name, sizeof name - 1);
  if (file != NULL && fscanf (file, "%63s", boot) != 1)
    boot[0] = '\0';
  if (file != NULL)
    fclose (file);
  return probe_text ("%s %s", name, boot);
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

/* Its GPU, its host and its NCCL; false: something is missing. */
static bool
describe_parts (Probe *probe, const Ranks *ranks, int *device, Record *own)
{
  char pci[32] = "";
  if (!choose_device (ranks_self_here (ranks), device))
    return false;
  (*own)[FIELD_GPU] = probe_document_gpu (*device);
  if ((*own)[FIELD_GPU].empty () || !PROBE_CUDA (cudaDeviceGetPCIBusId (pci, sizeof pci, *device))) {
    const char *why = probe_why ();
    return probe_fail ("its GPU does not say what it is: %.400s", why);
  }
  (*own)[FIELD_UNIQUE] += pci;
  if (!nccl_lib_open (probe->options.nccl_library))
    return probe_fail ("NCCL: %s", probe_why ());
  (*own)[FIELD_HOST] = probe_document_host (probe);
  return true;
}

/* The text that process 0 gets; `*device` is this process's GPU, -1: none. */
static std::string
describe_self (Probe *probe, const Ranks *ranks, int *device)
{
  const char *imitated = getenv ("NCCL_HOSTID");
  char version[32] = "";
  Record own (FIELD_N);
  *device = -1;
  own[FIELD_NODE] = imitated != NULL ? imitated : machine_name ();
  own[FIELD_NVLS] = probe->options.no_nvls ? "0" : "1";
  own[FIELD_PROCESSORS] = std::to_string (count_processors ());
  own[FIELD_UNIQUE] = machine_name () + " ";
  if (!probe->options.list) {
    if (!describe_parts (probe, ranks, device, &own))
      own[FIELD_ERROR] = probe_why ();
    nccl_lib_version (version, sizeof version);
    own[FIELD_NCCL] = version;
  }
  std::string text;
  for (const std::string &field : own)
    text += field + MARK;
  return text;
}

/* ---- what process 0 makes of it ---- */

static Record
cut (const std::string &text)
{
  Record record (FIELD_N);
  size_t at = 0;
  for (std::string &field : record) {
    size_t end = text.find (MARK, at);
    field = text.substr (at, end - at);
    at = end + 1;
  }
  return record;
}

/* All in use have a GPU of their own and the same NCCL. */
static bool
can_work (const std::vector<Record> &records, const ProbeLayout *layout)
{
  const Record &first = records[0];
  for (unsigned i = 0; i < layout->nodes * layout->gpus; i++) {
    unsigned r = layout->rank[i];
    const Record &own = records[r];
    if (!own[FIELD_ERROR].empty ())
      return probe_fail ("process %u on %.200s: %.700s", r, own[FIELD_NODE].c_str (), own[FIELD_ERROR].c_str ());
    if (own[FIELD_NCCL] != first[FIELD_NCCL])
      return probe_fail ("NCCL is %s for process 0, and %s for process %u on %.200s; all must have the same",
                         first[FIELD_NCCL].c_str (), own[FIELD_NCCL].c_str (), r, own[FIELD_NODE].c_str ());
    for (unsigned k = 0; k < i; k++)
      if (records[layout->rank[k]][FIELD_UNIQUE] == own[FIELD_UNIQUE])
        return probe_fail ("processes %u and %u have the same GPU, %.200s; start one process a GPU", layout->rank[k], r,
                           own[FIELD_UNIQUE].c_str ());
  }
  return true;
}

static void
write_head (Probe *probe, const Nodes *nodes, const std::vector<Record> &records)
{
  const ProbeLayout *layout = &nodes->layout;
  std::vector<ProbeHost> hosts (layout->nodes);
  for (unsigned k = 0; k < layout->nodes; k++) {
    hosts[k].members = records[layout->rank[k * layout->gpus]][FIELD_HOST];
    for (unsigned g = 0; g < layout->gpus; g++)
      hosts[k].gpu.push_back (records[layout->rank[k * layout->gpus + g]][FIELD_GPU]);
  }
  probe_document_hosts (probe, hosts, ranks_library (nodes->ranks), layout->n_ranks);
}

static void
note_processors (Probe *probe, const std::vector<Record> &records)
{
  for (unsigned r = 0; r < records.size () && !probe->options.list; r++) {
    unsigned long n = strtoul (records[r][FIELD_PROCESSORS].c_str (), NULL, 10);
    if (n >= PROCESSORS_LEAST)
      continue;
    probe_note (probe, "process %u may use %lu processor%s alone, which NCCL's own threads share; mpirun --bind-to none lifts that",
                r, n, n == 1 ? "" : "s");
    return; /* the others will be alike */
  }
}

static bool
make_layout (Probe *probe, Nodes *nodes, const std::vector<Record> &records)
{
  ProbeOptions *options = &probe->options;
  ProbeLayout *layout = &nodes->layout;
  const unsigned n = (unsigned)records.size ();
  std::vector<const char *> node;
  for (const Record &record : records) {
    node.push_back (record[FIELD_NODE].c_str ());
    options->no_nvls = options->no_nvls || record[FIELD_NVLS] != "1"; /* variables do not reach all by themselves */
  }
  if (!probe_layout_make (node.data (), n, options->list ? 0 : options->nodes, options->list ? 0 : options->gpus, layout))
    return false;
  if (options->list) { /* they stand for nodes that are not there */
    layout->nodes = options->nodes > 0 ? options->nodes : layout->nodes;
    layout->gpus = options->gpus > 0 ? options->gpus : layout->gpus;
  } else if (layout->spare > 0) {
    probe_note (probe, "%u of %u processes are not used: %u nodes of %u", layout->spare, n, layout->nodes, layout->gpus);
  }
  options->nodes = layout->nodes;
  options->gpus = layout->gpus;
  note_processors (probe, records);
  return true;
}

/* ---- the two sides ---- */

/* Process 0; returns the exit status. */
static int
lead (Probe *probe, Nodes *nodes, int device, const std::string &own)
{
  NcclCommand command;
  const unsigned n = ranks_count (nodes->ranks);
  char **texts = ranks_gather (nodes->ranks, own.c_str ());
  std::vector<Record> records;
  for (unsigned r = 0; r < n; r++)
    records.push_back (cut (texts[r]));
  ranks_texts_free (texts, n);
  bool list = probe->options.list, ok = make_layout (probe, nodes, records);
  ok = ok && (list || (can_work (records, &nodes->layout) && nccl_files_make (&nodes->files)));
  ranks_tell_number (nodes->ranks, ok && !list ? (int)nodes->layout.gpus : 0);
  if (!ok) {
    fprintf (stderr, "forerun-probe: %s\n", probe_why ());
    return 1;
  }
  probe->user = nodes;
  if (list)
    return probe_program_sections (probe, parts, 1) ? 0 : 1;
  write_head (probe, nodes, records);
  nccl_command_make (&command, &probe->options, nodes->layout.gpus, device, &nodes->files);
  const ProbeMemberWorker worker = { command.argv, command.argv_with_log };
  ranks_lead (nodes->ranks, &worker, probe_interrupted);
  int result = probe_program_measure (probe, parts, 1);
  nccl_files_remove (&nodes->files);
  if (!nodes->lost)
    ranks_quit (nodes->ranks);
  return result;
}

/* All others; false: process 0 is gone. */
static bool
follow (Probe *probe, Nodes *nodes, int device, const std::string &own)
{
  NcclCommand command;
  ranks_gather (nodes->ranks, own.c_str ());
  int gpus = ranks_tell_number (nodes->ranks, 0);
  nccl_command_make (&command, &probe->options, (unsigned)gpus, device, &nodes->files);
  const ProbeMemberWorker worker = { command.argv, command.argv };
  return gpus == 0 || ranks_serve (nodes->ranks, &worker, probe_interrupted);
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
  const bool leads = ranks_self (nodes.ranks) == 0;
  if (probe_program_begin (&probe, PROBE_OVER_NODES, argc, argv, leads, &result)) {
    int device = -1;
    std::string own = describe_self (&probe, nodes.ranks, &device);
    nodes.lost = !leads && !follow (&probe, &nodes, device, own);
    result = leads ? lead (&probe, &nodes, device, own) : nodes.lost ? 130 : 0;
  }
  probe_layout_clear (&nodes.layout);
  probe_options_clear (&probe.options);
  ranks_close (nodes.ranks, nodes.lost, result);
  return result;
}
