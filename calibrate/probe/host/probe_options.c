#include "probe_options.h"

#include "probe_fail.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_DEFAULT_S 300.0
#define BUDGET_SERVING_S 120.0 /* where nothing else is measured */
#define NIC_GBPS         400   /* one NIC of NDR InfiniBand or 400 Gb/s Ethernet for each GPU */
#define NIC_GBPS_MOST    10000
#define BUDGET_LEAST_S   5.0
#define BUDGET_MOST_S    86400.0
#define TARGET_DEFAULT   0.02
#define TARGET_LEAST     0.001 /* below this the clock's own steps are in the way */
#define TARGET_MOST      0.5
#define DIGITS_MOST      12 /* of a number in a duration or a percentage */

static const char *const section_names[PROBE_SECTION_N] = { "link", "nccl", "compute", "overlap", "storage", "serving" };

const char *
probe_section_name (unsigned section)
{
  return section < PROBE_SECTION_N ? section_names[section] : NULL;
}

typedef enum { TAKES_NOTHING, TAKES_PATH, TAKES_TIME, TAKES_SHARE, TAKES_COUNT, TAKES_SEED, TAKES_SECTIONS } Takes;

/* Help comes in the order of the table. */
#define SAME ""
static const struct {
  const char *name, *value;
  Takes takes;
  size_t at; /* in ProbeOptions */
  uint64_t most;
  const char *help, *help_nodes; /* on one node and over nodes, where that is not the SAME; NULL: the program does not take it */
} rows[] = {
#define AT(member) offsetof (ProbeOptions, member)
  { "output", "FILE", TAKES_PATH, AT (output), 0, "the file (default: forerun-probe.json); an existing file needs --force", SAME },
  { "force", "", TAKES_NOTHING, AT (force), 0, "overwrite FILE", SAME },
  { "only", "LIST", TAKES_SECTIONS, 0, 0,
    "SECTION or SECTION/WHAT, separated by commas; sections: link nccl compute overlap storage, and serving, which only this "
    "measures",
    "nccl/WHAT, separated by commas" },
  { "list", "", TAKES_NOTHING, AT (list), 0, "print the cases, one per line, and measure nothing", SAME },
  { "dry-run", "", TAKES_NOTHING, AT (dry_run), 0, NULL,
    "print the cases by setting and shape, with their expected time and the total, and measure nothing" },
  { "nic-rate", "GBITS", TAKES_COUNT, AT (nic_Gbps), NIC_GBPS_MOST, NULL,
    "with --dry-run: Gb/s of NIC for each GPU (default: 400)" },
  { "budget", "TIME", TAKES_TIME, AT (budget_s), 0, "total time: 90s, 3m, 2m30s, 1h (default: 5m; 2m for serving alone)",
    "total time: 90s, 3m, 2m30s, 1h (default: 5m)" },
  { "target", "PERCENT", TAKES_SHARE, AT (target), 0, "sufficient precision of a median, in both directions (default: 2%)", SAME },
  { "quick", "", TAKES_NOTHING, AT (quick), 0, "fewer sizes and shapes", "fewer sizes" },
  { "nodes", "N", TAKES_COUNT, AT (nodes), PROBE_NODES_MOST, NULL, "use the first N nodes (default: all)" },
  { "gpus", "N", TAKES_COUNT, AT (gpus), PROBE_GPUS_MOST, "use the first N GPUs (default: all; CUDA_VISIBLE_DEVICES applies)",
    "use the first N processes of each node (default: all)" },
  { "numa", "N", TAKES_COUNT, AT (numa), PROBE_GPUS_MOST, "with --list: as if the host had N NUMA nodes (default: those it shows)",
    NULL },
  { "no-nvls", "", TAKES_NOTHING, AT (no_nvls), 0, "NCCL without NVLink multicast; NCCL_NVLS_ENABLE=0 does the same", SAME },
  { "nccl-lib", "FILE", TAKES_PATH, AT (nccl_library), 0, "NCCL's library (default: libnccl.so.2, then libnccl.so)",
    "NCCL's library on every node (default: libnccl.so.2, then libnccl.so)" },
  { "storage", "DIR", TAKES_PATH, AT (storage_dir), 0,
    "measure storage with a temporary file of at most 1 GiB there (default: no storage)", NULL },
  { "seed", "N", TAKES_SEED, AT (seed), UINT64_MAX, "seed of random offsets and orders (default: 1)", NULL },
  { "help", ", --version", TAKES_NOTHING, AT (help), 0, "", SAME },
  { "version", NULL, TAKES_NOTHING, AT (version), 0, "", SAME }, /* in the line before */
#undef AT
};
#define N_ROWS (sizeof rows / sizeof rows[0])

static const char *
help_of (size_t row, ProbeProgram program)
{
  return program == PROBE_ON_ONE_NODE || (rows[row].help_nodes != NULL && *rows[row].help_nodes == '\0') ? rows[row].help
                                                                                                         : rows[row].help_nodes;
}

const char *
probe_options_help (ProbeProgram program)
{
  static const char *const head[] = {
    "usage: forerun-probe [OPTION...]\n"
    "\n"
    "Measures this node's GPUs, the links between them, NCCL on them and a directory's storage, and writes one JSON file.\n",
    "usage: mpirun -np PROCESSES --map-by ppr:GPUS:node --bind-to none forerun-probe-mpi [OPTION...]\n"
    "\n"
    "Measures NCCL over nodes, one process per GPU, and writes one JSON file on the first process's node.\n",
  };
  static const char *const tail[] = { "", "Run forerun-probe on one node for everything else.\n" };
  static char text[4096];
  int n = snprintf (text, sizeof text, "%s\n", head[program]);
  for (size_t i = 0; i < N_ROWS; i++) {
    const char *help = help_of (i, program), *value = rows[i].value;
    char words[32];
    if (help == NULL || value == NULL)
      continue;
    snprintf (words, sizeof words, "--%s%s%s", rows[i].name, isalpha ((unsigned char)value[0]) ? " " : "", value);
    n +=
        snprintf (text + n, sizeof text - (size_t)n, "  %s%-*s%s\n", i == 0 ? "-o, " : "    ", *help != '\0' ? 20 : 0, words, help);
  }
  snprintf (text + n, sizeof text - (size_t)n,
            "\n%sExit status: 0 done, 1 failed, 2 bad usage, 130 interrupted. FILE has the results so far in each case.\n",
            tail[program]);
  return text;
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
read_sections (const char *text, ProbeProgram program, ProbeOptions *out)
{
  free (out->only_text); /* the last --only counts */
  out->n_only = 0;
  out->only_text = malloc (strlen (text) + 1);
  if (out->only_text == NULL)
    return probe_fail ("out of memory");
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
    bool is_whole = what == NULL || *what != '\0';
    if (program == PROBE_OVER_NODES && (s != PROBE_SECTION_NCCL || !is_whole))
      return probe_fail ("--only '%s': over nodes there is no section '%s'; accepted is nccl, alone or as nccl/WHAT, by commas",
                         text, item);
    if (s == PROBE_SECTION_N || !is_whole)
      return probe_fail ("--only '%s': no section '%s'; accepted are link, nccl, compute, overlap, storage, serving, each alone or "
                         "as SECTION/WHAT, by commas",
                         text, item);
    if (out->n_only == PROBE_ONLY_MOST)
      return probe_fail ("--only names more than %d; at most %d are accepted", PROBE_ONLY_MOST, PROBE_ONLY_MOST);
    out->only[out->n_only++] = (ProbeOnly){ .section = (ProbeSection)s, .what = what };
  }
  return true;
}

static bool
take_value (size_t row, const char *value, ProbeProgram program, ProbeOptions *out)
{
  char *member = (char *)out + rows[row].at;
  uint64_t whole = 0, least = rows[row].takes == TAKES_COUNT ? 1 : 0;
  double number;
  switch (rows[row].takes) {
    case TAKES_NOTHING:
      *(bool *)member = true;
      return true;
    case TAKES_SECTIONS:
      return read_sections (value, program, out);
    case TAKES_TIME:
      if (!probe_duration_read (value, &number) || number < BUDGET_LEAST_S || number > BUDGET_MOST_S)
        return probe_fail ("--%s '%s' is no time; accepted are 5s to 24h, such as 90s, 3m, 2m30s", rows[row].name, value);
      memcpy (member, &number, sizeof number);
      return true;
    case TAKES_SHARE:
      if (!probe_percent_read (value, &number) || !(number >= TARGET_LEAST && number <= TARGET_MOST))
        return probe_fail ("--%s '%s' is no share; accepted are 0.1%% to 50%%, such as 2%%", rows[row].name, value);
      memcpy (member, &number, sizeof number);
      return true;
    case TAKES_PATH:
      if (*value == '\0')
        return probe_fail ("an empty name of a file or directory; give one that is not");
      memcpy (member, &value, sizeof value);
      return true;
    default:
      break;
  }
  if (!read_whole (value, least, rows[row].most, &whole))
    return probe_fail ("--%s '%s': accepted are whole numbers from %llu to %llu", rows[row].name, value, (unsigned long long)least,
                       (unsigned long long)rows[row].most);
  if (rows[row].takes == TAKES_COUNT)
    *(unsigned *)(void *)member = (unsigned)whole;
  else
    memcpy (member, &whole, sizeof whole);
  return true;
}

static double
default_budget_s (const ProbeOptions *options)
{
  unsigned others = 0;
  for (unsigned i = 0; i < options->n_only; i++)
    others += options->only[i].section != PROBE_SECTION_SERVING;
  return options->n_only > 0 && others == 0 ? BUDGET_SERVING_S : BUDGET_DEFAULT_S;
}

bool
probe_options_read (int argc, char **argv, ProbeProgram program, ProbeOptions *out)
{
  enum { FIRST = 256 }; /* beyond all letters */
  struct option long_options[N_ROWS + 1];
  memset (long_options, 0, sizeof long_options);
  for (size_t i = 0; i < N_ROWS; i++) {
    long_options[i].name = rows[i].name;
    long_options[i].has_arg = rows[i].takes == TAKES_NOTHING ? no_argument : required_argument;
    long_options[i].val = FIRST + (int)i;
  }
  *out = (ProbeOptions){ .output = "forerun-probe.json", .budget_s = 0, .target = TARGET_DEFAULT, .seed = 1, .nic_Gbps = NIC_GBPS };
  opterr = 0;
  optind = 0; /* glibc: begin anew, so that it can be called more than once */
  int option;
  while ((option = getopt_long (argc, argv, ":o:", long_options, NULL)) != -1) {
    if (option == ':')
      return probe_fail ("%s needs a value; --help says which", argv[optind - 1]);
    if (option == '?')
      return probe_fail ("%s is not accepted; accepted are the options that --help lists", argv[optind - 1]);
    size_t row = option == 'o' ? 0 : (size_t)(option - FIRST);
    if (help_of (row, program) == NULL)
      return probe_fail ("--%s is not accepted %s; accepted are the options that --help lists", rows[row].name,
                         program == PROBE_OVER_NODES ? "over nodes" : "on one node, forerun-probe-mpi takes it");
    if (!take_value (row, optarg, program, out))
      return false;
  }
  if (out->budget_s <= 0)
    out->budget_s = default_budget_s (out);
  out->list = out->list || out->dry_run;
  return optind >= argc || probe_fail ("'%s' is no option; only options are accepted, see --help", argv[optind]);
}

void
probe_options_clear (ProbeOptions *options)
{
  free (options->only_text);
  options->only_text = NULL;
  options->n_only = 0;
}

bool
probe_options_want (ProbeOptions *options, const char *section, const char *what)
{
  bool wanted = options->n_only == 0 && strcmp (section, section_names[PROBE_SECTION_SERVING]) != 0;
  for (unsigned i = 0; i < options->n_only; i++) {
    ProbeOnly *only = &options->only[i];
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
