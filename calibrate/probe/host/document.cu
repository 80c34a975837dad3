/* The file: what the machine is, what was measured so far. */
#include "probe_core.h"
#include "probe_team.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "nccl_lib.h"

#define SAVE_EVERY_S 5.0
#define TEXT_MOST    512

extern char **environ;

void
probe_utc_now (char out[32])
{
  time_t now = time (NULL);
  struct tm parts;
  gmtime_r (&now, &parts);
  strftime (out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* Takes `json`; NULL: memory is out. */
static char *
take_text (ProbeJson *json)
{
  if (!json->failed)
    return json->text;
  probe_json_free (json);
  return NULL;
}

static char *
join_command (int argc, char **argv)
{
  size_t size = 1;
  for (int i = 0; i < argc; i++)
    size += strlen (argv[i]) + 1;
  char *text = (char *)calloc (1, size);
  for (int i = 0; text != NULL && i < argc; i++) {
    if (i > 0)
      strcat (text, " ");
    strcat (text, argv[i]);
  }
  return text;
}

static char *
environment_json (void)
{
  ProbeJson json = ProbeJson ();
  probe_json_open (&json, NULL, '{');
  for (char **e = environ; *e != NULL; e++) {
    const char *equals = strchr (*e, '=');
    if (equals == NULL || (strncmp (*e, "NCCL_", 5) != 0 && strncmp (*e, "CUDA_", 5) != 0))
      continue;
    char *name = strndup (*e, (size_t)(equals - *e));
    if (name != NULL)
      probe_json_string (&json, name, equals + 1);
    free (name);
  }
  probe_json_close (&json, '}');
  return take_text (&json);
}

void
probe_document_begin (Probe *probe, int argc, char **argv)
{
  probe_utc_now (probe->started);
  probe->command = join_command (argc, argv);
  probe->environment = environment_json ();
}

/* ---- the host ---- */

/* What stands behind `name` and a colon in a line of /proc/cpuinfo; NULL: it is another line. */
static const char *
cpuinfo_value (const char *line, const char *name)
{
  size_t n = strlen (name);
  if (strncmp (line, name, n) != 0)
    return NULL;
  line += n + strspn (line + n, " \t");
  return *line == ':' ? line + 1 + strspn (line + 1, " \t") : NULL;
}

typedef struct {
  char cpu[TEXT_MOST];
  long sockets;
  bool is_virtual;
} Host;

static void
read_host (Host *host)
{
  FILE *file = fopen ("/proc/cpuinfo", "r");
  char line[8192];
  *host = Host ();
  long highest = -1;
  while (file != NULL && fgets (line, sizeof line, file) != NULL) {
    const char *value;
    line[strcspn (line, "\n")] = '\0';
    if (host->cpu[0] == '\0' && (value = cpuinfo_value (line, "model name")) != NULL)
      snprintf (host->cpu, sizeof host->cpu, "%.500s", value);
    if ((value = cpuinfo_value (line, "physical id")) != NULL) {
      long id = strtol (value, NULL, 10);
      highest = id > highest ? id : highest;
    }
    if ((value = cpuinfo_value (line, "flags")) != NULL && strstr (value, " hypervisor") != NULL)
      host->is_virtual = true;
  }
  if (file != NULL)
    fclose (file);
  host->sockets = highest + 1; /* 0: the machine does not say */
}

static void
put_host (ProbeJson *json)
{
  Host host;
  struct utsname kernel;
  char name[256] = "";
  read_host (&host);
  bool known = uname (&kernel) == 0;
  gethostname (name, sizeof name - 1);
  probe_json_line (json);
  probe_json_open (json, "host", '{');
  probe_json_string (json, "name", name);
  probe_json_string (json, "cpu", host.cpu[0] != '\0' ? host.cpu : NULL);
  probe_json_number (json, "sockets", host.sockets > 0 ? (double)host.sockets : NAN);
  probe_json_number (json, "cores", (double)sysconf (_SC_NPROCESSORS_ONLN));
  probe_json_number (json, "memory_B", (double)sysconf (_SC_PHYS_PAGES) * (double)sysconf (_SC_PAGESIZE));
  probe_json_string (json, "kernel", known ? kernel.release : NULL);
  probe_json_bool (json, "virtual", host.is_virtual);
  probe_json_close (json, '}');
}

/* ---- software ---- */

/* The kernel driver's version, "580.65.06": the first word of digits and points in its line "NVRM version: …". */
static bool
driver_version (char *out, size_t size)
{
  FILE *file = fopen ("/proc/driver/nvidia/version", "r");
  char line[1024] = "";
  bool found = false;
  if (file != NULL && fgets (line, sizeof line, file) != NULL)
    for (char *word = strtok (line, " \t\n"); word != NULL && !found; word = strtok (NULL, " \t\n"))
      if (isdigit ((unsigned char)word[0]) && strchr (word, '.') != NULL) {
        snprintf (out, size, "%s", word);
        found = true;
      }
  if (file != NULL)
    fclose (file);
  return found;
}

static void
put_cuda_version (ProbeJson *json, const char *key, cudaError_t status, int version)
{
  char text[32];
  snprintf (text, sizeof text, "%d.%d", version / 1000, version % 1000 / 10); /* 13000: 13.0 */
  probe_json_string (json, key, status == cudaSuccess ? text : NULL);
}

static void
put_software (Probe *probe, ProbeJson *json)
{
  char driver[64];
  int version = 0;
  probe_json_line (json);
  probe_json_string (json, "driver", driver_version (driver, sizeof driver) ? driver : NULL);
  cudaError_t status = cudaRuntimeGetVersion (&version);
  put_cuda_version (json, "cuda", status, version);
  status = cudaDriverGetVersion (&version);
  put_cuda_version (json, "cuda_driver", status, version);
  char nccl[32];
  bool has = nccl_lib_open (probe->options.nccl_library);
  if (has)
    nccl_lib_version (nccl, sizeof nccl);
  else
    probe_note (probe, "NCCL: %s", probe_why ());
  probe_json_string (json, "nccl", has ? nccl : NULL);
}

/* ---- GPUs ---- */

static double
attribute (int device, cudaDeviceAttr which)
{
  int value = 0;
  if (cudaDeviceGetAttribute (&value, which, device) != cudaSuccess) {
    cudaGetLastError ();
    return -1;
  }
  return value;
}

/* Clocks are given in kHz; those that the driver does not tell are null, as what is no number. */
static void
put_clock (ProbeJson *json, const char *key, double kHz)
{
  probe_json_number (json, key, kHz > 0 ? kHz * 1000 : NAN);
}

static bool
put_gpu (ProbeJson *json, int device)
{
  cudaDeviceProp properties;
  char text[64], pci[32] = "";
  if (!PROBE_CUDA (cudaGetDeviceProperties (&properties, device)) || !PROBE_CUDA (cudaDeviceGetPCIBusId (pci, sizeof pci, device)))
    return false;
  probe_json_open (json, NULL, '{');
  probe_json_number (json, "index", device);
  probe_json_string (json, "name", properties.name);
  const unsigned char *u = (const unsigned char *)properties.uuid.bytes;
  snprintf (text, sizeof text, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
            u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  probe_json_string (json, "uuid", text);
  probe_json_string (json, "pci", pci);
  snprintf (text, sizeof text, "%d.%d", properties.major, properties.minor);
  probe_json_string (json, "compute_capability", text);
  probe_json_number (json, "sms", properties.multiProcessorCount);
  probe_json_number (json, "memory_B", (double)properties.totalGlobalMem);
  put_clock (json, "clock_Hz", attribute (device, cudaDevAttrClockRate));
  put_clock (json, "memory_clock_Hz", attribute (device, cudaDevAttrMemoryClockRate));
  probe_json_number (json, "l2_B", properties.l2CacheSize);
  probe_json_close (json, '}');
  return true;
}

/* Rows: the GPU that reaches; columns: the one reached. Rank: the driver's, 0 the best; -1: not said. */
static void
put_peers (ProbeJson *json, int n)
{
  probe_json_line (json);
  probe_json_open (json, "p2p", '{');
  for (int what = 0; what < 2; what++) {
    probe_json_open (json, what == 0 ? "access" : "performance_rank", '[');
    for (int i = 0; i < n; i++) {
      probe_json_open (json, NULL, '[');
      for (int k = 0; k < n; k++) {
        int value = what == 0 ? 0 : -1;
        cudaError_t status = i == k      ? cudaSuccess
                             : what == 0 ? cudaDeviceCanAccessPeer (&value, i, k)
                                         : cudaDeviceGetP2PAttribute (&value, cudaDevP2PAttrPerformanceRank, i, k);
        if (status != cudaSuccess)
          cudaGetLastError ();
        probe_json_number (json, NULL, i == k ? NAN : value);
      }
      probe_json_close (json, ']');
    }
    probe_json_close (json, ']');
  }
  probe_json_close (json, '}');
}

/* Members alone: the braces are the document's, or another object's. Takes `json`; NULL: memory is out. */
static char *
take_members (ProbeJson *json)
{
  char *text = json->failed ? NULL : strdup (json->text + 1);
  probe_json_free (json);
  return text;
}

char *
probe_document_host (Probe *probe)
{
  ProbeJson json = ProbeJson ();
  probe_json_open (&json, NULL, '{');
  put_host (&json);
  put_software (probe, &json);
  return take_members (&json);
}

char *
probe_document_gpu (int device)
{
  ProbeJson json = ProbeJson ();
  json.failed = !put_gpu (&json, device);
  return take_text (&json);
}

static void
put_gpus (const Probe *probe, ProbeJson *json, const ProbeHost *host)
{
  probe_json_line (json);
  probe_json_open (json, "gpus", '[');
  for (unsigned g = 0; g < probe->options.gpus; g++) {
    probe_json_line (json);
    probe_json_raw (json, NULL, host->gpu[g]);
  }
  probe_json_close (json, ']');
}

/* What one host and several have. */
static void
begin_head (const Probe *probe, ProbeJson *json, const ProbeHost *host)
{
  probe_json_open (json, NULL, '{');
  probe_json_raw (json, NULL, host->members);
  probe_json_line (json);
  probe_json_raw (json, "environment", probe->environment != NULL ? probe->environment : "null");
  put_gpus (probe, json, host);
}

bool
probe_document_hosts (Probe *probe, const ProbeHost *host, const char *mpi, unsigned processes)
{
  ProbeJson json = ProbeJson ();
  begin_head (probe, &json, host);
  probe_json_line (&json);
  probe_json_null (&json, "p2p");
  probe_json_line (&json);
  probe_json_open (&json, "mpi", '{');
  probe_json_string (&json, "library", mpi);
  probe_json_number (&json, "processes", processes);
  probe_json_close (&json, '}');
  probe_json_number (&json, "nodes", probe->options.nodes);
  probe_json_number (&json, "gpus_per_node", probe->options.gpus);
  probe_json_line (&json);
  probe_json_open (&json, "hosts", '[');
  for (unsigned k = 0; k < probe->options.nodes; k++) {
    probe_json_line (&json);
    probe_json_open (&json, NULL, '{');
    probe_json_raw (&json, NULL, host[k].members);
    put_gpus (probe, &json, &host[k]);
    probe_json_close (&json, '}');
  }
  probe_json_close (&json, ']');
  probe->head = take_members (&json);
  return probe->head != NULL;
}

bool
probe_document_machine (Probe *probe)
{
  ProbeHost host = ProbeHost ();
  char *members = probe_document_host (probe), *gpu[PROBE_GPUS_MOST] = { NULL };
  bool ok = members != NULL;
  host.members = members;
  for (unsigned i = 0; i < probe->options.gpus && ok; i++) {
    host.gpu[i] = gpu[i] = probe_document_gpu ((int)i);
    ok = gpu[i] != NULL;
  }
  if (ok) {
    ProbeJson json = ProbeJson ();
    begin_head (probe, &json, &host);
    put_peers (&json, (int)probe->options.gpus);
    probe->head = take_members (&json);
    ok = probe->head != NULL;
  }
  free (members);
  for (unsigned i = 0; i < probe->options.gpus; i++)
    free (gpu[i]);
  return ok;
}

/* ---- the whole ---- */

static void
put_texts (ProbeJson *json, const char *key, const ProbeTexts *texts, bool raw)
{
  probe_json_line (json);
  probe_json_open (json, key, '[');
  for (size_t i = 0; i < texts->n; i++) {
    probe_json_line (json);
    if (raw)
      probe_json_raw (json, NULL, texts->text[i]);
    else
      probe_json_string (json, NULL, texts->text[i]);
  }
  if (texts->n > 0)
    probe_json_line (json);
  probe_json_close (json, ']');
}

bool
probe_document_save (Probe *probe)
{
  ProbeJson json = ProbeJson ();
  probe_json_open (&json, NULL, '{');
  probe_json_string (&json, "schema", PROBE_SCHEMA);
  probe_json_string (&json, "version", PROBE_VERSION);
  probe_json_line (&json);
  probe_json_string (&json, "command", probe->command);
  probe_json_line (&json);
  probe_json_string (&json, "started", probe->started);
  probe_json_string (&json, "finished", probe->finished[0] != '\0' ? probe->finished : NULL);
  probe_json_bool (&json, "complete", probe->complete);
  char seed[24];
  snprintf (seed, sizeof seed, "%llu", (unsigned long long)probe->options.seed);
  probe_json_raw (&json, "seed", seed);
  probe_json_number (&json, "target", probe->options.target);
  probe_json_number (&json, "budget_s", probe->options.budget_s);
  probe_json_bool (&json, "nvls", !probe->options.no_nvls);
  probe_json_bool (&json, "quick", probe->options.quick);
  if (probe->head != NULL)
    probe_json_raw (&json, NULL, probe->head); /* members, not a value: they stand behind those above */
  probe_json_line (&json);
  probe_json_string (&json, "topology_xml", probe->topology_xml);
  put_texts (&json, "notes", &probe->notes, false);
  put_texts (&json, "points", &probe->points, true);
  probe_json_line (&json);
  probe_json_close (&json, '}');
  bool ok = !json.failed && probe_json_save (probe->options.output, json.text, json.length);
  if (!ok && !probe->save_failed)
    fprintf (stderr, "forerun-probe: %s: %s; it is tried again\n", probe->options.output,
             json.failed ? "out of memory" : strerror (errno));
  probe->save_failed = !ok;
  probe_json_free (&json);
  probe->saved_s = probe_now ();
  return ok;
}

void
probe_document_save_sometimes (Probe *probe)
{
  if (!probe->options.list && probe_now () - probe->saved_s >= SAVE_EVERY_S)
    probe_document_save (probe);
}
