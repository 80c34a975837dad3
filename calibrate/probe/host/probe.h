/* forerun-probe: measures one node and writes one JSON file that `forerun fit` reads. CUDA, NCCL and cuBLAS, nothing else.
 *
 * A section (link, nccl, compute, overlap, storage, serving)
 * is a function that declares cases and measures each. A case is named by its
 * section, what it measures and its parameters in the order they were added; it becomes one point of the file. A sample is one
 * call of a function that returns seconds for one operation (it does as many in a row as its resolution needs, and divides).
 * Samples are taken until the 95 % confidence interval of their median is within the target (2 %) either way, or the case's share
 * of the time is spent; the point says which. Nothing here touches clocks, power or modes of a GPU, and nothing uses NVLink
 * multicast.
 *
 * Functions that can fail return false, NULL or a negative time, and give probe_fail the reason. */
#ifndef FORERUN_PROBE_H
#define FORERUN_PROBE_H

#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include <cuda_runtime.h>

#include "probe_fail.h"
#include "probe_options.h"

typedef struct Probe Probe;
typedef struct ProbeCase ProbeCase;

/* What was asked for, and what the machine has; read-only for sections. */
const ProbeOptions *probe_options (const Probe *probe);

/* Seconds since the program started, monotonic; the rest of the section's budget. */
double probe_now (void);
double probe_left (const Probe *probe);

/* Whether the user wants this case at all (--only SECTION[/WHAT[,…]]), is not in --list mode, and neither budget nor signal ended
 * the section. In --list mode the case is printed once and false returned. */
bool probe_wants (Probe *probe, const char *section, const char *what);
bool probe_stopped (const Probe *probe); /* interrupted, a GPU lost, or the section's time is over */
/* The same for sections that list their cases one by one: probe_selected prints nothing and is true in --list mode too, where
 * probe_list takes the case and prints it with its parameters. */
bool probe_selected (Probe *probe, const char *section, const char *what);
void probe_list (Probe *probe, ProbeCase *c);
/* How many cases the section still has before it, so that each gets its share of the time; without, a twentieth of what is left. */
void probe_expect (Probe *probe, size_t n_cases);

/* A parameter of a case, as it is written to the point: a text (NULL: null), a flag or a number, with its unit in the key (bytes,
 * time_s). */
struct ProbeParameter {
  const char *key;
  enum { TEXT, FLAG, NUMBER } kind;
  const char *text;
  double number;
  ProbeParameter (const char *key, const char *text) : key (key), kind (TEXT), text (text), number (0)
  {
  }
  template <typename Number, typename = typename std::enable_if<std::is_arithmetic<Number>::value>::type>
  ProbeParameter (const char *key, Number number)
      : key (key), kind (std::is_same<Number, bool>::value ? FLAG : NUMBER), text (NULL), number ((double)number)
  {
  }
};
typedef std::initializer_list<ProbeParameter> ProbeParameters;

/* A case. Owned by the probe once measured, failed or skipped; then a reason that nobody took is dropped. */
ProbeCase *probe_case (const char *section, const char *what, ProbeParameters parameters = {});
void probe_add (ProbeCase *c, ProbeParameters parameters);

/* Seconds of one operation; NAN or a negative value: failed. */
typedef double (*ProbeSample) (void *user);

/* A sample of as many operations in a row as last for a while. */
typedef struct {
  double (*run) (void *user, unsigned n); /* seconds of n of them; negative: failed */
  void *user;
  unsigned n;
  double each_s; /* roughly */
} ProbeRepeat;

/* How many operations of `each_s` last for `target_s`: from 1 to `most`. */
unsigned probe_repeats (double target_s, double each_s, unsigned most);
/* Finds n so that they last for `target_s`, by timing `rough` in a row. */
bool probe_repeat_settle (ProbeRepeat *repeat, double target_s, unsigned rough, unsigned most);
double probe_repeat_sample (void *repeat); /* a ProbeSample */

/* Samples (after one that is thrown away), statistics, the point. False: it failed (the point then has "error"). */
bool probe_measure (Probe *probe, ProbeCase *c, ProbeSample sample, void *user);
/* For what is timed by many threads together or computed from other points: samples that the caller took. None: failed. */
bool probe_point (Probe *probe, ProbeCase *c, const double *sample_s, size_t n);
/* A case that failed, with the reason that probe_why has; returns false. */
bool probe_failed (Probe *probe, ProbeCase *c);
/* A case that cannot run here; `why` stands in the file. */
void probe_skip (Probe *probe, ProbeCase *c, const char *why);
/* What was found rather than timed: a point of its parameters alone. */
void probe_fact (Probe *probe, ProbeCase *c);

/* For callers of probe_point: enough samples? The same rule as probe_measure's. */
bool probe_enough (const Probe *probe, const double *sample_s, size_t n);

/* printf-like. */
std::string probe_text (const char *format, ...) __attribute__ ((format (printf, 1, 2)));
/* A line of the file's notes, and of stderr. printf-like. */
void probe_note (Probe *probe, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
/* Says on stderr what failed, and gives probe_fail the reason. */
#define PROBE_CUDA(call) probe_cuda_ok ((call), #call, __FILE__, __LINE__)
bool probe_cuda_ok (cudaError_t status, const char *what, const char *file, int line);

/* Sections: false where the section failed as a whole (said on stderr and in the notes). */
bool probe_link (Probe *probe);
bool probe_nccl (Probe *probe);
bool probe_compute (Probe *probe);
bool probe_overlap (Probe *probe);
bool probe_storage (Probe *probe);
bool probe_serving (Probe *probe);

#endif
