#include "probe_options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_DEFAULT_S 300.0
#define BUDGET_LEAST_S   5.0
#define BUDGET_MOST_S    86400.0
#define TARGET_DEFAULT   0.02
#define TARGET_LEAST     0.001 /* below this the clock's own steps are in the way */
#define TARGET_MOST      0.5
#define GPUS_MOST        64
#define NODES_MOST       1024
#define DIGITS_MOST      12 /* of a number in a duration or a percentage */

static const char *const section_names[PROBE_SECTION_N] = { "link", "nccl", "compute", "overlap", "storage" };

const char *
probe_section_name (unsigned section)
{
  return section < PROBE_SECTION_N ? section_names[section] : NULL;
}

const char *
probe_arguments_help (void)
{
  return "usage: forerun-probe [OPTION...]\n"
         "\n"
         "Measures this node's GPUs, the links between them, NCCL on them and a directory's storage, and writes one JSON file.\n"
         "\n"
         "  -o, --output FILE       the file (default: forerun-probe.json); refused where it exists, but for --force\n"
         "      --force             overwrite FILE\n"
         "      --only LIST         SECTION or SECTION/WHAT, by commas; sections: link nccl compute overlap storage\n"
         "      --list              print what would be measured, a line each, and measure nothing\n"
         "      --budget TIME       for everything: 90s, 3m, 2m30s, 1h (default: 5m)\n"
         "      --target PERCENT    a median known to this either way is good enough (default: 2%)\n"
         "      --quick             fewer sizes and shapes\n"
         "      --gpus N            use the first N GPUs (default: all; CUDA_VISIBLE_DEVICES holds)\n"
         "      --no-nvls           NCCL without NVLink multicast; NCCL_NVLS_ENABLE=0 does the same\n"
         "      --nccl-lib FILE     NCCL's library (default: libnccl.so.2, then libnccl.so)\n"
         "      --storage DIR       read and write a temporary file of at most 1 GiB there; without it storage is left out\n"
         "      --seed N            of the random offsets (default: 1)\n"
         "      --help, --version\n"
         "\n"
         "Ends with 0 done, 1 failed, 2 bad usage, 130 interrupted; what was measured is in FILE either way.\n";
}

const char *
probe_arguments_help_nodes (void)
{
  return "usage: mpirun -np PROCESSES --map-by ppr:GPUS:node --bind-to none forerun-probe-mpi [OPTION...]\n"
         "\n"
         "Measures NCCL over nodes, one process a GPU, and writes one JSON file on the first process's node.\n"
         "\n"
         "  -o, --output FILE       the file (default: forerun-probe.json); refused where it exists, but for --force\n"
         "      --force             overwrite FILE\n"
         "      --only LIST         nccl/WHAT, by commas\n"
         "      --list              print what would be measured, a line each, and measure nothing\n"
         "      --budget TIME       for everything: 90s, 3m, 2m30s, 1h (default: 5m)\n"
         "      --target PERCENT    a median known to this either way is good enough (default: 2%)\n"
         "      --quick             fewer sizes\n"
         "      --nodes N           use the first N nodes (default: all)\n"
         "      --gpus N            use the first N processes of each node (default: all)\n"
         "      --no-nvls           NCCL without NVLink multicast; NCCL_NVLS_ENABLE=0 does the same\n"
         "      --nccl-lib FILE     NCCL's library on every node (default: libnccl.so.2, then libnccl.so)\n"
         "      --help, --version\n"
         "\n"
         "What forerun-probe measures of one node it does not: run that on one of them.\n"
         "Ends with 0 done, 1 failed, 2 bad usage, 130 interrupted; what was measured is in FILE either way.\n";
}

static bool fail (char *error, size_t size, const char *format, ...) __attribute__ ((format (printf, 3, 4)));

static bool
fail (char *error, size_t size, const char *format, ...)
{
  va_list list;
  va_start (list, format);
  vsnprintf (error, size, format, list);
  va_end (list);
  return false;
}

/* A number of digits and a point, no sign, no exponent. */
static bool
read_decimal (const char **at, double *out)
{
  const char *digits = *at;
  size_t n = strspn (digits, "0123456789.");
  if (n == 0 || n > DIGITS_MOST || !isdigit ((unsigned char)digits[0]) || !isdigit ((unsigned char)digits[n - 1]))
    return false;
  char *end = NULL;
  *out = strtod (digits, &end);
  if (end != digits + n)
    return false;
  *at = end;
  return true;
}

bool
probe_duration_read (const char *text, double *out_s)
{
  static const struct {
    char unit;
    double s;
  } units[] = { { 'h', 3600 }, { 'm', 60 }, { 's', 1 } };
  double sum = 0;
  size_t next = 0; /* units come in this order, each once */
  if (*text == '\0')
    return false;
  while (*text != '\0') {
    double value;
    if (!read_decimal (&text, &value))
      return false;
    while (next < sizeof units / sizeof units[0] && units[next].unit != *text)
      next++;
    if (next == sizeof units / sizeof units[0])
      return false;
    sum += value * units[next++].s;
    text++;
  }
  *out_s = sum;
  return true;
}

bool
probe_percent_read (const char *text, double *out)
{
  double value;
  if (!read_decimal (&text, &value))
    return false;
  text += *text == ' ';
  if (strcmp (text, "%") != 0)
    return false;
  *out = value / 100;
  return true;
}

static bool
read_whole (const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
  if (!isdigit ((unsigned char)text[0]))
    return false;
  char *end = NULL;
  errno = 0;
  unsigned long long value = strtoull (text, &end, 10);
  if (errno != 0 || *end != '\0' || value < least || value > most)
    return false;
  *out = value;
  return true;
}

static bool
read_only (const char *text, bool over_nodes, ProbeArguments *out, char *error, size_t size)
{
  free (out->only_text); /* the last --only counts */
  out->n_only = 0;
  out->only_text = malloc (strlen (text) + 1);
  if (out->only_text == NULL)
    return fail (error, size, "out of memory");
  memcpy (out->only_text, text, strlen (text) + 1);
  char *at = out->only_text;
  while (at != NULL) {
    char *item = at, *comma = strchr (at, ',');
    if (comma != NULL)
      *comma = '\0';
    at = comma == NULL ? NULL : comma + 1;
    char *what = strchr (item, '/');
    if (what != NULL)
      *what++ = '\0';
    unsigned s = 0;
    while (s < PROBE_SECTION_N && strcmp (item, section_names[s]) != 0)
      s++;
    if (over_nodes && (s != PROBE_SECTION_NCCL || (what != NULL && *what == '\0')))
      return fail (error, size,
                   "--only '%s': over nodes there is no section '%s'; accepted is nccl, alone or as nccl/WHAT, by commas", text,
                   item);
    if (s == PROBE_SECTION_N || (what != NULL && *what == '\0'))
      return fail (error, size,
                   "--only '%s': no section '%s'; accepted are link, nccl, compute, overlap, storage, each alone or as "
                   "SECTION/WHAT, by commas",
                   text, item);
    if (out->n_only == PROBE_ONLY_MOST)
      return fail (error, size, "--only names more than %d; at most %d are accepted", PROBE_ONLY_MOST, PROBE_ONLY_MOST);
    out->only[out->n_only++] = (ProbeOnly){ .section = (ProbeSection)s, .what = what };
  }
  return true;
}

static const struct option long_options[] = {
  { "output", required_argument, NULL, 'o' },   { "force", no_argument, NULL, 'f' },
  { "only", required_argument, NULL, 'O' },     { "list", no_argument, NULL, 'l' },
  { "budget", required_argument, NULL, 'b' },   { "target", required_argument, NULL, 't' },
  { "quick", no_argument, NULL, 'q' },          { "gpus", required_argument, NULL, 'g' },
  { "nodes", required_argument, NULL, 'k' },    { "no-nvls", no_argument, NULL, 'n' },
  { "nccl-lib", required_argument, NULL, 'N' }, { "storage", required_argument, NULL, 's' },
  { "seed", required_argument, NULL, 'S' },     { "help", no_argument, NULL, 'h' },
  { "version", no_argument, NULL, 'V' },        { NULL, 0, NULL, 0 },
};

static bool
take_value (int option, const char *value, bool over_nodes, ProbeArguments *out, char *error, size_t size)
{
  uint64_t whole;
  switch (option) {
    case 'O':
      return read_only (value, over_nodes, out, error, size);
    case 'b':
      return (probe_duration_read (value, &out->budget_s) && out->budget_s >= BUDGET_LEAST_S && out->budget_s <= BUDGET_MOST_S) ||
             fail (error, size, "--budget '%s' is no time; accepted are 5s to 24h, such as 90s, 3m, 2m30s", value);
    case 't':
      return (probe_percent_read (value, &out->target) && out->target >= TARGET_LEAST && out->target <= TARGET_MOST) ||
             fail (error, size, "--target '%s' is no share; accepted are 0.1%% to 50%%, such as 2%%", value);
    case 'g':
      if (!read_whole (value, 1, GPUS_MOST, &whole))
        return fail (error, size, "--gpus '%s': accepted are whole numbers from 1 to %d", value, GPUS_MOST);
      out->gpus = (unsigned)whole;
      return true;
    case 'k':
      if (!read_whole (value, 1, NODES_MOST, &whole))
        return fail (error, size, "--nodes '%s': accepted are whole numbers from 1 to %d", value, NODES_MOST);
      out->nodes = (unsigned)whole;
      return true;
    case 'S':
      return read_whole (value, 0, UINT64_MAX, &out->seed) ||
             fail (error, size, "--seed '%s': accepted are whole numbers from 0 to 18446744073709551615", value);
    default:
      break;
  }
  if (*value == '\0')
    return fail (error, size, "an empty name of a file or directory; give one that is not");
  *(option == 'o' ? &out->output : option == 's' ? &out->storage_dir : &out->nccl_library) = value;
  return true;
}

static bool
read_all (int argc, char **argv, bool over_nodes, ProbeArguments *out, char *error, size_t error_size)
{
  *out = (ProbeArguments){ .output = "forerun-probe.json", .budget_s = BUDGET_DEFAULT_S, .target = TARGET_DEFAULT, .seed = 1 };
  opterr = 0;
  optind = 0; /* glibc: begin anew, so that it can be called more than once */
  int option, index = -1;
  while ((option = getopt_long (argc, argv, ":o:", long_options, &index)) != -1) {
    switch (option) {
      case 'f':
        out->force = true;
        break;
      case 'l':
        out->list = true;
        break;
      case 'q':
        out->quick = true;
        break;
      case 'n':
        out->no_nvls = true;
        break;
      case 'h':
        out->help = true;
        break;
      case 'V':
        out->version = true;
        break;
      case ':':
        return fail (error, error_size, "%s needs a value; --help says which", argv[optind - 1]);
      case '?':
        return fail (error, error_size, "%s is not accepted; accepted are the options that --help lists", argv[optind - 1]);
      default:
        if (strchr (over_nodes ? "sS" : "k", option) != NULL)
          return fail (error, error_size, "--%s is not accepted %s; accepted are the options that --help lists",
                       option == 's'   ? "storage"
                       : option == 'S' ? "seed"
                                       : "nodes",
                       over_nodes ? "over nodes" : "on one node, forerun-probe-mpi takes it");
        if (!take_value (option, optarg, over_nodes, out, error, error_size))
          return false;
    }
  }
  if (optind < argc)
    return fail (error, error_size, "'%s' is no option; only options are accepted, see --help", argv[optind]);
  return true;
}

bool
probe_arguments_read (int argc, char **argv, ProbeArguments *out, char *error, size_t error_size)
{
  return read_all (argc, argv, false, out, error, error_size);
}

bool
probe_arguments_read_nodes (int argc, char **argv, ProbeArguments *out, char *error, size_t error_size)
{
  return read_all (argc, argv, true, out, error, error_size);
}

void
probe_arguments_clear (ProbeArguments *arguments)
{
  free (arguments->only_text);
  arguments->only_text = NULL;
  arguments->n_only = 0;
}

bool
probe_arguments_want (ProbeArguments *arguments, const char *section, const char *what)
{
  bool wanted = arguments->n_only == 0;
  for (unsigned i = 0; i < arguments->n_only; i++) {
    ProbeOnly *only = &arguments->only[i];
    if (strcmp (section_names[only->section], section) != 0)
      continue;
    if (what == NULL || only->what == NULL) {
      wanted = true;
      only->met = only->met || only->what == NULL;
    } else if (strcmp (only->what, what) == 0) {
      wanted = only->met = true;
    }
  }
  return wanted;
}
