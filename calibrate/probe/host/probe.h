/* forerun-probe: measures one node and writes one JSON file that `forerun fit` reads. CUDA, NCCL and cuBLAS, nothing else.
 *
 * A section (link, nccl, compute, overlap, storage) is a function that declares cases and measures each. A case is named by its
 * section, what it measures and its parameters in the order they were added; it becomes one point of the file. A sample is one
 * call of a function that returns seconds for one operation (it does as many in a row as its resolution needs, and divides).
 * Samples are taken until the 95 % confidence interval of their median is within the target (2 %) either way, or the case's share
 * of the time is spent; the point says which. Nothing here touches clocks, power or modes of a GPU, and nothing uses NVLink
 * multicast. */
#ifndef FORERUN_PROBE_H
#define FORERUN_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda_runtime.h>

typedef struct Probe Probe;
typedef struct ProbeCase ProbeCase;

/* What was asked for, and what the machine has; read-only for sections. */
typedef struct {
  int n_gpus;               /* in use */
  double target;            /* half width of a median's confidence interval that is enough, 0.02 */
  bool nvls;                /* false: --no-nvls or NCCL_NVLS_ENABLE=0; then NCCL must be told so before it starts */
  const char *storage_dir;  /* NULL: no directory given, the storage section says so and ends */
  bool quick;               /* --quick: fewer sizes and shapes */
  uint64_t seed;            /* of whatever is random */
  const char *nccl_library; /* --nccl-lib FILE; NULL: by the usual names. Every call of NCCL goes through nccl_lib.cu */
} ProbeOptions;

const ProbeOptions *probe_options (const Probe *probe);

/* Seconds since the program started, monotonic; what is left of the section's budget. */
double probe_now (void);
double probe_left (const Probe *probe);

/* Whether the user wants this case at all (--only SECTION[/WHAT[,…]]), is not in --list mode, and neither budget nor signal ended
 * the section. In --list mode the case is printed once and false returned. */
bool probe_wants (Probe *probe, const char *section, const char *what);
bool probe_stopped (const Probe *probe); /* interrupted, a GPU lost, or the section's time is over */
/* The same for sections that list their cases one by one: probe_selected prints nothing and is true in --list mode too, where
 * probe_listing is true and probe_list takes the case and prints it with its parameters. */
bool probe_selected (Probe *probe, const char *section, const char *what);
bool probe_listing (const Probe *probe);
void probe_list (Probe *probe, ProbeCase *c);
/* How many cases the section still has before it, so that each gets its share of the time; without, a twentieth of what is left. */
void probe_expect (Probe *probe, size_t n_cases);
/* The seconds that one case may take now. */
double probe_share (const Probe *probe);

/* A case. Parameters are written to the point as they are given. Owned by the probe once measured or skipped. */
ProbeCase *probe_case (Probe *probe, const char *section, const char *what);
void probe_text (ProbeCase *c, const char *key, const char *value);
void probe_number (ProbeCase *c, const char *key, double value); /* units in the key: bytes, rate_Bps, time_s */
void probe_flag (ProbeCase *c, const char *key, bool value);

/* Seconds of one operation; NAN or a negative value: failed, why in `error` (a static or strdup'd text). */
typedef double (*ProbeSample) (void *user, const char **error);

/* Samples (after one that is thrown away), statistics, the point. Returns the median in seconds, NAN where it failed (the point
 * then has "error"). */
double probe_measure (Probe *probe, ProbeCase *c, ProbeSample sample, void *user);
/* For what is timed by many threads together or computed from other points: samples that the caller took. Fewer than 1: failed. */
double probe_point (Probe *probe, ProbeCase *c, const double *sample_s, size_t n, const char *error);
/* A case that cannot run here; `why` stands in the file. */
void probe_skip (Probe *probe, ProbeCase *c, const char *why);

/* What was found rather than timed: a point of its parameters alone. */
void probe_fact (Probe *probe, ProbeCase *c);

/* For callers of probe_point: enough samples? The same rule as probe_measure's. */
bool probe_enough (const Probe *probe, const double *sample_s, size_t n);

/* A line of the file's notes, and of stderr. printf-like. */
void probe_note (Probe *probe, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
/* Ends the section with an error that does not end the program. */
#define PROBE_CUDA(call) probe_cuda_ok ((call), #call, __FILE__, __LINE__)
bool probe_cuda_ok (cudaError_t status, const char *what, const char *file, int line); /* prints, remembers; false: failed */
const char *probe_cuda_error (void); /* the last that PROBE_CUDA remembered, any thread; valid until the next */

/* Sections: false where the section failed as a whole (said on stderr and in the notes). */
bool probe_link (Probe *probe);
bool probe_nccl (Probe *probe);
bool probe_compute (Probe *probe);
bool probe_overlap (Probe *probe);
bool probe_storage (Probe *probe);

#endif
