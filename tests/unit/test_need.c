/* Memory: what a simulation is said to need is what it needs, too much of it is refused before work, and where there is less than
 * that the program ends with a message. argv[1]: the program. */
#define _GNU_SOURCE /* wait4 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define MIB   (1024.0 * 1024)
#define TIMES " forward: {value: 1 ms, source: assumed}, backward: {value: 2 ms, source: assumed}, gradient: 1 MB"

static const char *program;
static char folder[] = "/tmp/forerun-need-XXXXXX";

typedef struct {
  int status; /* exit status, or minus a signal */
  double peak_B;
  char said[1024]; /* the last of stderr */
} Ran;

/* Words end with NULL; rlimit_B 0: none. */
static Ran
ran (const char *const *words, rlim_t rlimit_B)
{
  Ran out = { .status = -1 };
  g_autofree char *path = g_build_filename (folder, "err", NULL);
  const pid_t child = fork ();
  if (child == 0) {
    const char *argv[16] = { program };
    for (int i = 0; words[i] != NULL; i++)
      argv[i + 1] = words[i];
    const struct rlimit limit = { rlimit_B, rlimit_B };
    if (rlimit_B > 0 && setrlimit (RLIMIT_AS, &limit) != 0)
      _exit (99);
    dup2 (open ("/dev/null", O_WRONLY), 1);
    dup2 (open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    execv (program, (char **)argv);
    _exit (98);
  }
  int status;
  struct rusage use;
  if (child < 0 || wait4 (child, &status, 0, &use) != child)
    return out;
  out.status = WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
  out.peak_B = (double)use.ru_maxrss * 1024;
  g_autofree char *text = NULL;
  gsize n = 0;
  if (g_file_get_contents (path, &text, &n, NULL))
    g_strlcpy (out.said, text + (n >= sizeof out.said ? n - sizeof out.said + 1 : 0), sizeof out.said);
  return out;
}

/* "need about 2.02 GB of memory" */
static double
needed_B (const Ran *ran)
{
  static const struct {
    const char *unit;
    double B;
  } units[] = { { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { "KiB", 1024 }, { "MiB", MIB }, { "GiB", 1024 * MIB } };
  const char *at = strstr (ran->said, "need about ");
  if (at == NULL)
    return -1;
  char *end;
  const double number = g_ascii_strtod (at + strlen ("need about "), &end);
  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (g_str_has_prefix (end + 1, units[i].unit) && end[1 + strlen (units[i].unit)] == ' ')
      return number * units[i].B;
  return -1;
}

typedef struct {
  const char *name, *text; /* a scenario; NULL: all-to-all of 512 ranks, message by message */
} Case;

static const Case large[] = {
  { "layers", "scenario: a\ncluster: {topology: hgx_h100, nodes: 2}\nworkload: {kind: training, layers: [{count: 100000," TIMES
              "}], ddp: {bucket: 1 MB}}\n" },
  { "micro-batches", "scenario: b\ncluster: {topology: hgx_h100, nodes: 2}\nworkload: {kind: training, layers: [{count: 4," TIMES
                     "}], parallel: {pp: 2}, micro_batches: 30000}\n" },
  { "model", "scenario: c\ncluster: {topology: hgx_h100, nodes: 2}\nworkload: {kind: training, model: llama3_8b, sequence: 4096, "
             "parallel: {tp: 8, pp: 2}, micro_batch: 1, global_batch: 2000}\n" },
  { "copies", "scenario: d\ncluster: {topology: hgx_h100, nodes: 1}\nworkload: {kind: transfer, from: gpu0, to: gpu1, bytes: 1 MB, "
              "count: 200000}\n" },
  { "program", "scenario: f\ncluster: {topology: hgx_h200, nodes: 2}\nworkload: {kind: program, repeat: 30000, streams: ["
               "{name: a, do: [{kernel: 1 ms, record: e}]}, "
               "{name: b, do: [{wait: e, collective: {op: all_reduce, bytes: 8 MB}}]}, "
               "{name: c, do: [{copy: {from: host, bytes: 1 MB}}]}]}\n" },
  { "messages", NULL },
};

/* The words of a case with a limit; `room` 9. */
static void
words_of (const Case *one, const char *limit, const char **words)
{
  static const char *const pairs[] = { "coll", "alltoall", "--topology", "hgx_h100", "-n", "64", "-b1M", "-e1M" };
  static char path[64];
  int n = 0;
  if (one->text == NULL) {
    for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++)
      words[n++] = pairs[i];
    words[n++] = "--steps";
    words[n++] = "exact";
  } else {
    g_snprintf (path, sizeof path, "%s/in.yaml", folder);
    TEST_TRUE (g_file_set_contents (path, one->text, -1, NULL));
    words[n++] = "run";
    words[n++] = path;
  }
  words[n++] = "--limit-memory";
  words[n++] = limit;
  words[n] = NULL;
}

/* Peak of a run that simulates next to nothing: the program, its libraries and the constants that it reads. */
static double
base_B (void)
{
  static const Case small = { "small", "scenario: s\ncluster: {topology: hgx_h100, nodes: 2}\n"
                                       "workload: {kind: training, layers: [{count: 1," TIMES "}]}\n" };
  const char *words[16];
  words_of (&small, "16G", words);
  const Ran whole = ran (words, 0);
  TEST_INT (whole.status, 0);
  return whole.peak_B;
}

static void
an_estimate_is_within_a_factor_of_two (void)
{
  const double none_B = base_B (), least = 0.9, most = 2.2; /* an allocator may round what it takes otherwise */
  for (gsize i = 0; i < G_N_ELEMENTS (large); i++) {
    const char *words[16];
    words_of (&large[i], "16G", words);
    const Ran whole = ran (words, 0);
    TEST_INT (whole.status, 0);
    g_autofree char *limit = g_strdup_printf ("%.0fM", 0.4 * whole.peak_B / MIB);
    g_autofree char *said = g_strdup_printf ("the limit is %.0f MiB;", 0.4 * whole.peak_B / MIB);
    words_of (&large[i], limit, words);
    const Ran refused = ran (words, 0);
    TEST_INT (refused.status, 2);
    TEST_TRUE (strstr (refused.said, said) != NULL && strstr (refused.said, "--limit-memory") != NULL);
    TEST_TRUE (refused.peak_B < 0.5 * whole.peak_B); /* before it is built */
    const double ratio = needed_B (&refused) / (whole.peak_B - none_B);
    if (!(ratio >= least && ratio <= most))
      g_printerr ("%s: estimate / peak = %.3f (%.1f MiB)\n", large[i].name, ratio, whole.peak_B / MIB);
    TEST_TRUE (ratio >= least && ratio <= most);
  }
}

static void
jobs_are_counted_together (void)
{
  const Case jobs = { "jobs", "scenario: e\ncluster: {topology: hgx_h100, nodes: 2}\njobs:\n"
                              "  - {name: a, nodes: \"0\", workload: {kind: training, layers: [{count: 20000," TIMES "}]}}\n"
                              "  - {name: b, nodes: \"1\", workload: {kind: training, layers: [{count: 20000," TIMES "}]}}\n" };
  const char *words[16];
  words_of (&jobs, "16M", words);
  const Ran refused = ran (words, 0);
  TEST_INT (refused.status, 2);
  words_of (&jobs, "1G", words);
  TEST_INT (ran (words, 0).status, 0);
}

static void
out_of_memory_is_a_message (void)
{
  static const char *const plan[] = { "plan", TEST_SOURCE_DIR "/scenarios/plans/rent_or_buy_70b.yaml", NULL };
  static const int mib[] = { 60, 90 };
  for (gsize i = 0; i < 2 * G_N_ELEMENTS (mib); i++) {
    const char *words[16];
    words_of (&large[i % 2 == 0 ? 2 : 4], "16G", words);
    const Ran of = ran (i >= G_N_ELEMENTS (mib) ? plan : words, (rlim_t)(mib[i % 2] * MIB));
    TEST_INT (of.status, 1);
    TEST_TRUE (g_str_has_suffix (of.said, "forerun: out of memory; make the input smaller, or see --limit-memory\n"));
  }
}

static const TestCase cases[] = {
  { "an estimate is within a factor of two", an_estimate_is_within_a_factor_of_two },
  { "jobs are counted together", jobs_are_counted_together },
  { "out of memory is a message", out_of_memory_is_a_message },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  if (argc != 2 || mkdtemp (folder) == NULL)
    return 2;
  program = argv[1];
  g_setenv ("FORERUN_PROGRESS", "off", TRUE);
  const int status = test_main ("need", cases);
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", folder);
  return system (remove) == 0 ? status : 2;
}
