/* The command line of both programs. Pure: reads argv, writes a struct or says what is wrong. */
#ifndef FORERUN_PROBE_OPTIONS_H
#define FORERUN_PROBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PROBE_ONLY_MOST  32
#define PROBE_NODES_MOST 1024
#define PROBE_GPUS_MOST  64 /* of a node */

typedef enum {
  PROBE_SECTION_LINK,
  PROBE_SECTION_NCCL,
  PROBE_SECTION_COMPUTE,
  PROBE_SECTION_OVERLAP,
  PROBE_SECTION_STORAGE,
  PROBE_SECTION_SERVING, /* only where --only names it */
  PROBE_SECTION_N
} ProbeSection;

typedef enum { PROBE_ON_ONE_NODE, PROBE_OVER_NODES } ProbeProgram;

typedef struct {
  ProbeSection section;
  const char *what; /* NULL: all of it; inside ProbeOptions.only_text */
  bool met;         /* something of that name was there */
} ProbeOnly;

typedef struct {
  const char *output;       /* into argv, or a literal */
  const char *storage_dir;  /* NULL: not given; the storage section says so and ends */
  const char *nccl_library; /* NULL: by the usual names. Every call of NCCL goes through nccl_lib.cu */
  char *only_text;
  ProbeOnly only[PROBE_ONLY_MOST];
  unsigned n_only; /* 0: everything but PROBE_SECTION_SERVING */
  double budget_s;
  double target;        /* half width of a median's confidence interval that is enough, 0.02 */
  unsigned gpus, nodes; /* in use, gpus on each node; 0 until the program has counted: all */
  unsigned numa;        /* of a machine that --list imagines; 0: as this one */
  uint64_t seed;        /* of whatever is random */
  unsigned nic_Gbps;    /* for each GPU, 1e9 bit/s, of a fabric that --dry-run imagines */
  bool list, quick, force, help, version;
  bool dry_run; /* then `list` is set too */
  bool no_nvls; /* given, or NCCL_NVLS_ENABLE is 0: then NCCL must be told so before it starts */
} ProbeOptions;

/* "link", "nccl", …; NULL beyond the last. */
const char *probe_section_name (unsigned section);
/* False: probe_why says what is wrong and what is accepted. `out` needs probe_options_clear either way. */
bool probe_options_read (int argc, char **argv, ProbeProgram program, ProbeOptions *out);
void probe_options_clear (ProbeOptions *options);
/* Whether --only lets it through; what == NULL: anything of the section. */
bool probe_options_want (ProbeOptions *options, const char *section, const char *what);
/* Valid until the next call. */
const char *probe_options_help (ProbeProgram program);

/* "90s", "3m", "2m30s", "1h": seconds; false otherwise. */
bool probe_duration_read (const char *text, double *out_s);
/* "2%", "0.5 %": 0.02, 0.005; false otherwise. */
bool probe_percent_read (const char *text, double *out);

#ifdef __cplusplus
}
#endif
#endif
