/* Cases, samples, points: what probe.h promises. */
#include "probe_core.h"
#include "probe_stats.h"
#include "probe_team.h"

#include <algorithm>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SHARE_PARTS   20   /* of a section's time left, for a case of a section that did not say how many it has */
#define SHARE_LEAST_S 0.02 /* five samples of a short operation */
#define SHARE_MOST_S  3.0  /* what is still not known then is noisy */
#define TEXT_MOST     4096

static volatile int n_signals;
static char remove_path[4096];
static volatile sig_atomic_t remove_set;

static std::string
format_text (const char *format, va_list list)
{
  char text[TEXT_MOST];
  vsnprintf (text, sizeof text, format, list);
  return text;
}

std::string
probe_text (const char *format, ...)
{
  va_list list;
  va_start (list, format);
  std::string text = format_text (format, list);
  va_end (list);
  return text;
}

/* False: it is there already. */
static bool
add_once (ProbeTexts *texts, const std::string &text)
{
  if (std::find (texts->begin (), texts->end (), text) != texts->end ())
    return false;
  texts->push_back (text);
  return true;
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
probe_stopped (const Probe *probe)
{
  return probe_interrupted () || probe->lost || (!probe->options.list && probe_left (probe) <= 0);
}

void
probe_left_out (Probe *probe, const std::string &text)
{
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
    probe_left_out (probe, what);
  return false;
}

bool
probe_wants (Probe *probe, const char *section, const char *what)
{
  if (!probe_selected (probe, section, what))
    return false;
  if (!probe_options (probe)->list)
    return true;
  if (add_once (&probe->listed, probe_text ("%s/%s", section, what)))
    printf ("%s/%s\n", section, what);
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
probe_case (const char *section, const char *what, ProbeParameters parameters)
{
  ProbeCase *c = new ProbeCase ();
  c->section = section;
  c->what = what;
  probe_json_open (&c->json, NULL, '{');
  probe_json_string (&c->json, "section", section);
  probe_json_string (&c->json, "what", what);
  probe_add (c, parameters);
  return c;
}

static void
case_free (ProbeCase *c)
{
  probe_json_free (&c->json);
  delete c;
}

/* A key that statistics have too, or that is there already, would be lost to readers: a point's keys are each once. */
static bool
is_free (const ProbeCase *c, const char *key)
{
  static const char *const taken[] = { "median_s", "mean_s", "min_s",     "max_s", "ci_lo_s", "ci_hi_s",
                                       "samples",  "enough", "samples_s", "error", "skipped" };
  bool is_taken = strstr (c->json.text, probe_text ("\"%s\":", key).c_str ()) != NULL;
  for (const char *other : taken)
    is_taken = is_taken || strcmp (key, other) == 0;
  if (is_taken)
    fprintf (stderr, "forerun-probe: %s/%s: the parameter '%s' is taken and left out\n", c->section, c->what, key);
  return !is_taken;
}

void
probe_put (ProbeJson *json, ProbeParameters members)
{
  for (const ProbeParameter &p : members)
    if (p.kind == ProbeParameter::TEXT)
      probe_json_string (json, p.key, p.text);
    else if (p.kind == ProbeParameter::FLAG)
      probe_json_bool (json, p.key, p.number != 0);
    else
      probe_json_number (json, p.key, p.number);
}

void
probe_add (ProbeCase *c, ProbeParameters parameters)
{
  for (const ProbeParameter &p : parameters) {
    if (!is_free (c, p.key))
      continue;
    probe_put (&c->json, { p });
    c->label += c->label.empty () ? "" : " ";
    if (p.kind == ProbeParameter::NUMBER)
      c->label += probe_text ("%s=%.10g", p.key, p.number);
    else
      c->label += probe_text ("%s=%s", p.key, p.kind == ProbeParameter::TEXT ? p.text : p.number != 0 ? "yes" : "no");
  }
}

void
probe_list (Probe *probe, ProbeCase *c)
{
  (void)probe;
  printf ("%s/%s%s%s\n", c->section, c->what, c->label.empty () ? "" : " ", c->label.c_str ());
  case_free (c);
}

/* Closes the point, keeps it, says it where somebody looks. */
static void
finish (Probe *probe, ProbeCase *c, const std::string &result)
{
  probe_json_close (&c->json, '}');
  if (c->json.failed)
    fprintf (stderr, "forerun-probe: out of memory: %s/%s %s is lost\n", c->section, c->what, c->label.c_str ());
  else
    probe->points.push_back (c->json.text);
  if (probe->terminal)
    fprintf (stderr, "%7.1f s  %s/%s %s  %s\n", probe_now (), c->section, c->what, c->label.c_str (), result.c_str ());
  case_free (c);
  probe_forget (); /* what fails from here on is of another case */
  if (probe->expected > 1)
    probe->expected--;
  probe_document_save_sometimes (probe);
}

bool
probe_failed (Probe *probe, ProbeCase *c)
{
  const char *error = probe_why ();
  probe->n_failed++;
  probe_put (&c->json, { { "error", error } });
  finish (probe, c, probe_text ("FAILED: %s", error));
  return false;
}

void
probe_skip (Probe *probe, ProbeCase *c, const char *why)
{
  probe->n_skipped++;
  probe_put (&c->json, { { "skipped", why } });
  finish (probe, c, probe_text ("skipped: %s", why));
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
  probe_put (&c->json, { { "median_s", stats.median },
                         { "mean_s", stats.mean },
                         { "min_s", stats.min },
                         { "max_s", stats.max },
                         { "ci_lo_s", stats.low },
                         { "ci_hi_s", stats.high },
                         { "samples", stats.n },
                         { "enough", enough } });
  probe_json_open (&c->json, "samples_s", '[');
  for (size_t i = 0; i < n; i++)
    probe_json_number (&c->json, NULL, sample_s[i]);
  probe_json_close (&c->json, ']');
  if (!enough)
    probe->n_short++;
  double percent = stats.median > 0 ? 100 / stats.median : 0;
  finish (probe, c,
          probe_text ("%.2f us, -%.1f +%.1f %% (%zu)", stats.median * 1e6, (stats.median - stats.low) * percent,
                      (stats.high - stats.median) * percent, stats.n));
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
  va_list list;
  va_start (list, format);
  probe->notes.push_back (format_text (format, list));
  va_end (list);
  fprintf (stderr, "forerun-probe: %s\n", probe->notes.back ().c_str ());
}

bool
probe_cuda_ok (cudaError_t status, const char *what, const char *file, int line)
{
  if (status == cudaSuccess)
    return true;
  const char *name = strrchr (file, '/');
  cudaGetLastError (); /* what does not stick is not to be found again by others */
  std::string text = probe_text ("%s: %s (%s, %s:%d)", what, cudaGetErrorString (status), cudaGetErrorName (status),
                                 name == NULL ? file : name + 1, line);
  fprintf (stderr, "forerun-probe: %s\n", text.c_str ());
  return probe_fail ("%s", text.c_str ());
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
