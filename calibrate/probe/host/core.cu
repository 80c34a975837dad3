/* Cases, samples, points: what probe.h promises. */
#include "probe_core.h"
#include "probe_stats.h"
#include "probe_team.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHARE_PARTS   20   /* of a section's time left, for a case of a section that did not say how many it has */
#define SHARE_LEAST_S 0.02 /* five samples of a short operation */
#define SHARE_MOST_S  3.0  /* what is still not known then is noisy */
#define LINE_MOST     512

static volatile int n_signals;
static char remove_path[4096];
static volatile sig_atomic_t remove_set;

bool
probe_texts_add (ProbeTexts *texts, char *text)
{
  if (text == NULL)
    return false;
  if (texts->n == texts->room) {
    size_t room = texts->room * 2 + 64;
    char **grown = (char **)realloc (texts->text, room * sizeof *grown);
    if (grown == NULL) {
      free (text);
      return false;
    }
    texts->text = grown;
    texts->room = room;
  }
  texts->text[texts->n++] = text;
  return true;
}

/* False: it is there already, or memory is out. */
static bool
add_once (ProbeTexts *texts, const char *text)
{
  for (size_t i = 0; i < texts->n; i++)
    if (strcmp (texts->text[i], text) == 0)
      return false;
  return probe_texts_add (texts, strdup (text));
}

void
probe_texts_clear (ProbeTexts *texts)
{
  for (size_t i = 0; i < texts->n; i++)
    free (texts->text[i]);
  free (texts->text);
  *texts = ProbeTexts ();
}

double
probe_now (void)
{
  static const double start_s = probe_clock_s ();
  return probe_clock_s () - start_s;
}

const ProbeOptions *
probe_options (const Probe *probe)
{
  return &probe->options;
}

double
probe_left (const Probe *probe)
{
  return fmax (0, probe->section_end_s - probe_now ());
}

/* ---- signals ---- */

static void
on_signal (int number)
{
  (void)number;
  n_signals = n_signals + 1;
  if (n_signals > 1) { /* what runs does not come back: the file stands as it was last written */
    if (remove_set)
      unlink (remove_path);
    _exit (130);
  }
}

void
probe_catch_signals (void)
{
  struct sigaction action;
  memset (&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
  sigaction (SIGHUP, &action, NULL);
  signal (SIGPIPE, SIG_IGN); /* a worker may be gone when it is asked */
}

bool
probe_interrupted (void)
{
  return n_signals > 0;
}

void
probe_remove_at_end (const char *path)
{
  if (remove_set)
    unlink (remove_path);
  remove_set = 0;
  if (path == NULL || strlen (path) >= sizeof remove_path)
    return;
  strcpy (remove_path, path);
  remove_set = 1;
}

/* ---- what is wanted ---- */

bool
probe_listing (const Probe *probe)
{
  return probe->options.list;
}

bool
probe_stopped (const Probe *probe)
{
  return probe_interrupted () || probe->lost || (!probe->options.list && probe_left (probe) <= 0);
}

void
probe_left_out (Probe *probe, const char *format, ...)
{
  char text[LINE_MOST];
  va_list list;
  va_start (list, format);
  vsnprintf (text, sizeof text, format, list);
  va_end (list);
  add_once (&probe->left_out, text);
}

/* What is asked for when the time is over is left out. */
bool
probe_selected (Probe *probe, const char *section, const char *what)
{
  if (!probe_options_want (&probe->options, section, what))
    return false;
  if (!probe_stopped (probe))
    return true;
  if (!probe_interrupted () && !probe->lost)
    probe_left_out (probe, "%s", what);
  return false;
}

bool
probe_wants (Probe *probe, const char *section, const char *what)
{
  if (!probe_selected (probe, section, what))
    return false;
  if (!probe_listing (probe))
    return true;
  char line[LINE_MOST];
  snprintf (line, sizeof line, "%s/%s", section, what);
  if (add_once (&probe->listed, line))
    puts (line);
  return false;
}

void
probe_expect (Probe *probe, size_t n_cases)
{
  probe->expected = n_cases;
}

/* The seconds that one case may take now. */
static double
case_share (const Probe *probe)
{
  double parts = probe->expected > 0 ? (double)probe->expected : SHARE_PARTS;
  return fmin (SHARE_MOST_S, fmax (SHARE_LEAST_S, probe_left (probe) / parts));
}

unsigned
probe_repeats (double target_s, double each_s, unsigned most)
{
  double n = each_s > 0 ? ceil (target_s / each_s) : most;
  return n < 1 ? 1 : n < most ? (unsigned)n : most;
}

bool
probe_repeat_settle (ProbeRepeat *repeat, double target_s, unsigned rough, unsigned most)
{
  double s = repeat->run (repeat->user, rough);
  repeat->each_s = s / rough;
  repeat->n = probe_repeats (target_s, repeat->each_s, most);
  return s >= 0;
}

double
probe_repeat_sample (void *user)
{
  const ProbeRepeat *repeat = (const ProbeRepeat *)user;
  return repeat->run (repeat->user, repeat->n) / repeat->n;
}

/* ---- cases ---- */

ProbeCase *
probe_case (const char *section, const char *what, std::initializer_list<ProbeParameter> parameters)
{
  ProbeCase *c = (ProbeCase *)calloc (1, sizeof *c);
  if (c == NULL) {
    fputs ("forerun-probe: out of memory\n", stderr);
    abort ();
  }
  c->section = section;
  c->what = what;
  c->label = strdup ("");
  probe_json_open (&c->json, NULL, '{');
  probe_json_string (&c->json, "section", section);
  probe_json_string (&c->json, "what", what);
  probe_add (c, parameters);
  return c;
}

static void
case_free (ProbeCase *c)
{
  free (c->label);
  probe_json_free (&c->json);
  free (c);
}

static void
label_add (ProbeCase *c, const char *key, const char *value)
{
  size_t old = c->label == NULL ? 0 : strlen (c->label), size = old + strlen (key) + strlen (value) + 3;
  char *grown = (char *)realloc (c->label, size);
  if (grown == NULL)
    return;
  snprintf (grown + old, size - old, "%s%s=%s", old > 0 ? " " : "", key, value);
  c->label = grown;
}

/* A key that statistics have too, or that is there already, would be lost to readers: a point's keys are each once. */
static bool
is_free (const ProbeCase *c, const char *key)
{
  static const char *const taken[] = { "median_s", "mean_s", "min_s",     "max_s", "ci_lo_s", "ci_hi_s",
                                       "samples",  "enough", "samples_s", "error", "skipped" };
  char quoted[64];
  bool taken_already = false;
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    taken_already = taken_already || strcmp (key, taken[i]) == 0;
  snprintf (quoted, sizeof quoted, "\"%s\":", key);
  if (!taken_already && (c->json.text == NULL || strstr (c->json.text, quoted) == NULL))
    return true;
  fprintf (stderr, "forerun-probe: %s/%s: the parameter '%s' is taken and left out\n", c->section, c->what, key);
  return false;
}

void
probe_add (ProbeCase *c, std::initializer_list<ProbeParameter> parameters)
{
  for (const ProbeParameter &p : parameters) {
    char number[40];
    if (!is_free (c, p.key))
      continue;
    snprintf (number, sizeof number, "%.10g", p.number);
    if (p.text != NULL)
      probe_json_string (&c->json, p.key, p.text);
    else if (p.is_flag)
      probe_json_bool (&c->json, p.key, p.number != 0);
    else
      probe_json_number (&c->json, p.key, p.number);
    label_add (c, p.key, p.text != NULL ? p.text : !p.is_flag ? number : p.number != 0 ? "yes" : "no");
  }
}

void
probe_list (Probe *probe, ProbeCase *c)
{
  (void)probe;
  printf ("%s/%s%s%s\n", c->section, c->what, *c->label != '\0' ? " " : "", c->label);
  case_free (c);
}

/* Closes the point, keeps it, says it where somebody looks. */
static void
finish (Probe *probe, ProbeCase *c, const char *result)
{
  probe_json_close (&c->json, '}');
  if (c->json.failed || !probe_texts_add (&probe->points, c->json.text))
    fprintf (stderr, "forerun-probe: out of memory: %s/%s %s is lost\n", c->section, c->what, c->label);
  c->json.text = c->json.failed ? c->json.text : NULL; /* it is the probe's, or was freed there */
  if (probe->terminal)
    fprintf (stderr, "%7.1f s  %s/%s %s  %s\n", probe_now (), c->section, c->what, c->label, result);
  case_free (c);
  probe_forget (); /* what fails from here on is of another case */
  if (probe->expected > 1)
    probe->expected--;
  probe_document_save_sometimes (probe);
}

bool
probe_failed (Probe *probe, ProbeCase *c)
{
  char text[LINE_MOST];
  const char *error = probe_why ();
  snprintf (text, sizeof text, "FAILED: %s", error);
  probe->n_failed++;
  probe_json_string (&c->json, "error", error);
  finish (probe, c, text);
  return false;
}

void
probe_skip (Probe *probe, ProbeCase *c, const char *why)
{
  char text[LINE_MOST];
  snprintf (text, sizeof text, "skipped: %s", why);
  probe->n_skipped++;
  probe_json_string (&c->json, "skipped", why);
  finish (probe, c, text);
}

void
probe_fact (Probe *probe, ProbeCase *c)
{
  finish (probe, c, "");
}

bool
probe_enough (const Probe *probe, const double *sample_s, size_t n)
{
  ProbeStats stats;
  return probe_stats_of (sample_s, n, &stats) && probe_stats_enough (&stats, probe->options.target);
}

bool
probe_point (Probe *probe, ProbeCase *c, const double *sample_s, size_t n)
{
  ProbeStats stats;
  if (!probe_stats_of (sample_s, n, &stats)) {
    probe_fail (n == 0 ? "no sample was taken" : "a sample is no time");
    return probe_failed (probe, c);
  }
  bool enough = probe_stats_enough (&stats, probe->options.target);
  ProbeJson *json = &c->json;
  probe_json_number (json, "median_s", stats.median);
  probe_json_number (json, "mean_s", stats.mean);
  probe_json_number (json, "min_s", stats.min);
  probe_json_number (json, "max_s", stats.max);
  probe_json_number (json, "ci_lo_s", stats.low);
  probe_json_number (json, "ci_hi_s", stats.high);
  probe_json_number (json, "samples", (double)stats.n);
  probe_json_bool (json, "enough", enough);
  probe_json_open (json, "samples_s", '[');
  for (size_t i = 0; i < n; i++)
    probe_json_number (json, NULL, sample_s[i]);
  probe_json_close (json, ']');
  if (!enough)
    probe->n_short++;
  char text[LINE_MOST];
  snprintf (text, sizeof text, "%.2f us, -%.1f +%.1f %% (%zu)", stats.median * 1e6,
            stats.median > 0 ? (stats.median - stats.low) / stats.median * 100 : 0,
            stats.median > 0 ? (stats.high - stats.median) / stats.median * 100 : 0, stats.n);
  finish (probe, c, text);
  return true;
}

bool
probe_measure (Probe *probe, ProbeCase *c, ProbeSample sample, void *user)
{
  double taken[PROBE_SAMPLES_MOST], begin = probe_now (), share = case_share (probe);
  size_t n = 0;
  bool ok = sample (user) >= 0; /* thrown away: first touches, connections, clocks that rise */
  while (ok && n < PROBE_SAMPLES_MOST && !probe_interrupted ()) {
    taken[n] = sample (user);
    ok = taken[n] >= 0;
    if (ok && ++n >= PROBE_SAMPLES_LEAST && (probe_enough (probe, taken, n) || probe_now () - begin > share))
      break;
  }
  if (ok && n == 0)
    probe_fail ("interrupted before the first sample");
  if (ok)
    return probe_point (probe, c, taken, n);
  probe_failed (probe, c);
  probe_check_lost (probe);
  return false;
}

/* ---- notes, errors ---- */

void
probe_note (Probe *probe, const char *format, ...)
{
  char text[2048];
  va_list list;
  va_start (list, format);
  vsnprintf (text, sizeof text, format, list);
  va_end (list);
  fprintf (stderr, "forerun-probe: %s\n", text);
  probe_texts_add (&probe->notes, strdup (text));
}

bool
probe_cuda_ok (cudaError_t status, const char *what, const char *file, int line)
{
  if (status == cudaSuccess)
    return true;
  const char *name = strrchr (file, '/');
  char text[LINE_MOST];
  cudaGetLastError (); /* what does not stick is not to be found again by others */
  snprintf (text, sizeof text, "%s: %s (%s, %s:%d)", what, cudaGetErrorString (status), cudaGetErrorName (status),
            name == NULL ? file : name + 1, line);
  fprintf (stderr, "forerun-probe: %s\n", text);
  return probe_fail ("%s", text);
}

bool
probe_check_lost (Probe *probe)
{
  int device = 0;
  if (probe->lost)
    return true;
  cudaGetDevice (&device);
  for (int i = 0; i < (int)probe->options.gpus && !probe->lost; i++) {
    cudaGetLastError ();
    cudaError_t status = cudaSetDevice (i);
    if (status == cudaSuccess)
      status = cudaFree (0); /* frees nothing; a context that is lost says so at every call */
    if (status == cudaSuccess || status == cudaErrorMemoryAllocation)
      continue;
    probe->lost = true;
    probe_note (probe, "GPU %d is lost: %s; nothing more is measured, what was measured before is kept", i,
                cudaGetErrorString (status));
  }
  cudaGetLastError ();
  if (!probe->lost)
    cudaSetDevice (device);
  return probe->lost;
}

void
probe_topology (Probe *probe, char *xml)
{
  free (probe->topology_xml);
  probe->topology_xml = xml;
}
