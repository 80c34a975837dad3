/* The command line. Pure: reads argv, writes a struct or says what is wrong. */
#ifndef FORERUN_PROBE_OPTIONS_H
#define FORERUN_PROBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_ONLY_MOST 32

typedef enum {
  PROBE_SECTION_LINK,
  PROBE_SECTION_NCCL,
  PROBE_SECTION_COMPUTE,
  PROBE_SECTION_OVERLAP,
  PROBE_SECTION_STORAGE,
  PROBE_SECTION_N
} ProbeSection;

typedef struct {
  ProbeSection section;
  const char *what; /* NULL: all of it; inside ProbeArguments.only_text */
  bool met;         /* something of that name was there */
} ProbeOnly;

typedef struct {
  const char *output;                     /* into argv, or a literal */
  const char *storage_dir, *nccl_library; /* NULL: not given */
  char *only_text;
  ProbeOnly only[PROBE_ONLY_MOST];
  unsigned n_only; /* 0: everything */
  double budget_s, target;
  unsigned gpus, nodes; /* 0: all; gpus of each node */
  uint64_t seed;
  bool list, no_nvls, quick, force, help, version;
} ProbeArguments;

/* "link", "nccl", …; NULL beyond the last. */
const char *probe_section_name (unsigned section);
/* False: `error` says what is wrong and what is accepted. `out` needs probe_arguments_clear either way. */
bool probe_arguments_read (int argc, char **argv, ProbeArguments *out, char *error, size_t error_size);
/* Those of the program over nodes: NCCL alone, and --nodes. */
bool probe_arguments_read_nodes (int argc, char **argv, ProbeArguments *out, char *error, size_t error_size);
void probe_arguments_clear (ProbeArguments *arguments);
/* Whether --only lets it through; what == NULL: anything of the section. */
bool probe_arguments_want (ProbeArguments *arguments, const char *section, const char *what);
const char *probe_arguments_help (void);
const char *probe_arguments_help_nodes (void);

/* "90s", "3m", "2m30s", "1h": seconds; false otherwise. */
bool probe_duration_read (const char *text, double *out_s);
/* "2%", "0.5 %": 0.02, 0.005; false otherwise. */
bool probe_percent_read (const char *text, double *out);

#ifdef __cplusplus
}
#endif
#endif
