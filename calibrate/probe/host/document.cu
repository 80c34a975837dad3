/* The file: what the machine is, what was measured so far. */
#include "probe_core.h"

#include <algorithm>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "nccl_lib.h"

#define SAVE_EVERY_S 5.0

extern char **environ;

std::string
probe_utc_now (void)
{
  char text[32];
  time_t now = time (NULL);
  struct tm parts;
  gmtime_r (&now, &parts);
  strftime (text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/* Takes `json`; "": memory is out. */
static std::string
take_text (ProbeJson *json)
{
  std::string text = json->failed ? "" : json->text;
  probe_json_free (json);
  return text;
}

static std::string
environment_json (void)
{
  ProbeJson json = ProbeJson ();
  probe_json_open (&json, NULL, '{');
  for (char **e = environ; *e != NULL; e++) {
    const char *equals = strchr (*e, '=');
    if (equals == NULL || (strncmp (*e, "NCCL_", 5) != 0 && strncmp (*e, "CUDA_", 5) != 0))
      continue;
    probe_json_string (&json, std::string (*e, (size_t)(equals - *e)).c_str (), equals + 1);
  }
  probe_json_close (&json, '}');
  return take_text (&json);
}

void
probe_document_begin (Probe *probe, int argc, char **argv)
{
  probe->started = probe_utc_now ();
  for (int i = 0; i < argc; i++)
    probe->command += (i > 0 ? " " : "") + std::string (argv[i]);
  probe->environment = environment_json ();
}

/* ---- the host ---- */

static const char *
or_null (const std::string &text)
{
  return text.empty () ? NULL : text.c_str ();
}

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

static void
put_host (ProbeJson *json)
{
  FILE *file = fopen ("/proc/cpuinfo", "r");
  std::string cpu;
  bool is_virtual = false;
  long sockets = 0; /* 0: the machine does not say */
  char line[8192], name[256] = "";
  struct utsname kernel;
  while (file != NULL && fgets (line, sizeof line, file) != NULL) {
    const char *value;
    line[strcspn (line, "\n")] = '\0';
    if (cpu.empty () && (value = cpuinfo_value (line, "model name")) != NULL)
      cpu = value;
    if ((value = cpuinfo_value (line, "physical id")) != NULL)
      sockets = std::max (sockets, strtol (value, NULL, 10) + 1);
    if ((value = cpuinfo_value (line, "flags")) != NULL && strstr (value, " hypervisor") != NULL)
      is_virtual = true;
  }
  if (file != NULL)
    fclose (file);
  gethostname (name, sizeof name - 1);
  bool known = uname (&kernel) == 0;
  probe_json_line (json);
  probe_json_open (json, "host", '{');
  probe_put (json, { { "name", name },
                     { "cpu", or_null (cpu) },
                     { "sockets", sockets > 0 ? (double)sockets : NAN },
                     { "cores", sysconf (_SC_NPROCESSORS_ONLN) },
                     { "memory_B", (double)sysconf (_SC_PHYS_PAGES) * (double)sysconf (_SC_PAGESIZE) },
                     { "kernel", known ? kernel.release : NULL },
                     { "virtual", is_virtual } });
  probe_json_close (json, '}');
}

/* ---- software ---- */

/* The kernel driver's version, "580.65.06": the first word of digits and points in its line "NVRM version: …"; "": not known. */
static std::string
driver_version (void)
{
  FILE *file = fopen ("/proc/driver/nvidia/version", "r");
  char line[1024] = "";
  std::string found;
  if (file != NULL && fgets (line, sizeof line, file) != NULL)
    for (char *word = strtok (line, " \t\n"); word != NULL && found.empty (); word = strtok (NULL, " \t\n"))
      if (isdigit ((unsigned char)word[0]) && strchr (word, '.') != NULL)
        found = word;
  if (file != NULL)
    fclose (file);
  return found;
}

static std::string
cuda_version (cudaError_t (*get) (int *))
{
  int version = 0;
  bool known = get (&version) == cudaSuccess;
  return known ? probe_text ("%d.%d", version / 1000, version % 1000 / 10) : ""; /* 13000: 13.0 */
}

static void
put_software (Probe *probe, ProbeJson *json)
{
  char nccl[32];
  bool has = nccl_lib_open (probe->options.nccl_library);
  if (has)
    nccl_lib_version (nccl, sizeof nccl);
  else
    probe_note (probe, "NCCL: %s", probe_why ());
  probe_json_line (json);
  probe_put (json, { { "driver", or_null (driver_version ()) },
                     { "cuda", or_null (cuda_version (cudaRuntimeGetVersion)) },
                     { "cuda_driver", or_null (cuda_version (cudaDriverGetVersion)) },
                     { "nccl", has ? nccl : NULL } });
}

/* ---- GPUs ---- */

/* In Hz; NAN, which becomes null: the driver does not tell. */
static double
clock_of (int device, cudaDeviceAttr which)
{
  int kHz = 0;
  bool known = cudaDeviceGetAttribute (&kHz, which, device) == cudaSuccess && kHz > 0;
  cudaGetLastError ();
  return known ? kHz * 1000.0 : NAN;
}

std::string
probe_document_gpu (int device)
{
  cudaDeviceProp properties;
  ProbeJson json = ProbeJson ();
  char pci[32] = "", uuid[64];
  if (!PROBE_CUDA (cudaGetDeviceProperties (&properties, device)) || !PROBE_CUDA (cudaDeviceGetPCIBusId (pci, sizeof pci, device)))
    return "";
  const unsigned char *u = (const unsigned char *)properties.uuid.bytes;
  snprintf (uuid, sizeof uuid, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
            u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  probe_json_open (&json, NULL, '{');
  probe_put (&json, { { "index", device },
                      { "name", properties.name },
                      { "uuid", uuid },
                      { "pci", pci },
                      { "compute_capability", probe_text ("%d.%d", properties.major, properties.minor).c_str () },
                      { "sms", properties.multiProcessorCount },
                      { "memory_B", properties.totalGlobalMem },
                      { "clock_Hz", clock_of (device, cudaDevAttrClockRate) },
                      { "memory_clock_Hz", clock_of (device, cudaDevAttrMemoryClockRate) },
                      { "l2_B", properties.l2CacheSize } });
  probe_json_close (&json, '}');
  return take_text (&json);
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

/* Members alone: the braces are the document's, or another object's. Takes `json`. */
static std::string
take_members (ProbeJson *json)
{
  std::string text = take_text (json);
  return text.empty () ? text : text.substr (1);
}

std::string
probe_document_host (Probe *probe)
{
  ProbeJson json = ProbeJson ();
  probe_json_open (&json, NULL, '{');
  put_host (&json);
  put_software (probe, &json);
  return take_members (&json);
}

static void
put_gpus (ProbeJson *json, const ProbeHost &host)
{
  probe_json_line (json);
  probe_json_open (json, "gpus", '[');
  for (const std::string &gpu : host.gpu) {
    probe_json_line (json);
    probe_json_raw (json, NULL, gpu.c_str ());
  }
  probe_json_close (json, ']');
}

/* What one host and several have. */
static void
begin_head (const Probe *probe, ProbeJson *json, const ProbeHost &host)
{
  probe_json_open (json, NULL, '{');
  probe_json_raw (json, NULL, host.members.c_str ());
  probe_json_line (json);
  probe_json_raw (json, "environment", probe->environment.empty () ? "null" : probe->environment.c_str ());
  put_gpus (json, host);
}

void
probe_document_hosts (Probe *probe, const std::vector<ProbeHost> &hosts, const char *mpi, unsigned processes)
{
  ProbeJson json = ProbeJson ();
  begin_head (probe, &json, hosts[0]);
  probe_json_line (&json);
  probe_json_null (&json, "p2p");
  probe_json_line (&json);
  probe_json_open (&json, "mpi", '{');
  probe_put (&json, { { "library", mpi }, { "processes", processes } });
  probe_json_close (&json, '}');
  probe_put (&json, { { "nodes", hosts.size () }, { "gpus_per_node", hosts[0].gpu.size () } });
  probe_json_line (&json);
  probe_json_open (&json, "hosts", '[');
  for (const ProbeHost &host : hosts) {
    probe_json_line (&json);
    probe_json_open (&json, NULL, '{');
    probe_json_raw (&json, NULL, host.members.c_str ());
    put_gpus (&json, host);
    probe_json_close (&json, '}');
  }
  probe_json_close (&json, ']');
  probe->head = take_members (&json);
}

bool
probe_document_machine (Probe *probe)
{
  ProbeHost host;
  host.members = probe_document_host (probe);
  for (unsigned i = 0; i < probe->options.gpus; i++) {
    host.gpu.push_back (probe_document_gpu ((int)i));
    if (host.gpu.back ().empty ())
      return false;
  }
  ProbeJson json = ProbeJson ();
  begin_head (probe, &json, host);
  put_peers (&json, (int)probe->options.gpus);
  probe->head = take_members (&json);
  return true;
}

/* ---- the whole ---- */

static void
put_texts (ProbeJson *json, const char *key, const ProbeTexts &texts, bool raw)
{
  probe_json_line (json);
  probe_json_open (json, key, '[');
  for (const std::string &text : texts) {
    probe_json_line (json);
    (raw ? probe_json_raw : probe_json_string) (json, NULL, text.c_str ());
  }
  if (!texts.empty ())
    probe_json_line (json);
  probe_json_close (json, ']');
}

bool
probe_document_save (Probe *probe)
{
  ProbeJson json = ProbeJson ();
  probe_json_open (&json, NULL, '{');
  probe_put (&json, { { "schema", PROBE_SCHEMA }, { "version", PROBE_VERSION } });
  probe_json_line (&json);
  probe_put (&json, { { "command", probe->command.c_str () } });
  probe_json_line (&json);
  probe_put (
      &json,
      { { "started", probe->started.c_str () }, { "finished", or_null (probe->finished) }, { "complete", probe->complete } });
  probe_json_raw (&json, "seed", std::to_string (probe->options.seed).c_str ()); /* a double would not hold it */
  probe_put (&json, { { "target", probe->options.target },
                      { "budget_s", probe->options.budget_s },
                      { "nvls", !probe->options.no_nvls },
                      { "quick", probe->options.quick } });
  if (!probe->head.empty ())
    probe_json_raw (&json, NULL, probe->head.c_str ()); /* members, not a value: they stand behind those above */
  probe_json_line (&json);
  probe_put (&json, { { "topology_xml", or_null (probe->topology_xml) } });
  put_texts (&json, "notes", probe->notes, false);
  put_texts (&json, "points", probe->points, true);
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
