/* The inside of a probe: for core.cu, document.cu and main.cu alone. */
#ifndef FORERUN_PROBE_CORE_H
#define FORERUN_PROBE_CORE_H

#include "probe.h"
#include "probe_json.h"

#define PROBE_VERSION "0.1.0"
#define PROBE_SCHEMA  "forerun-probe/1"

struct ProbeCase {
  const char *section, *what; /* borrowed */
  char *label;                /* "key=value key=value", for people */
  ProbeJson json;             /* the point so far */
};

typedef struct {
  char **text; /* each owned */
  size_t n, room;
} ProbeTexts;

struct Probe {
  ProbeOptions options;
  char *command, *environment; /* as they were at the start; the second is JSON */
  char *head;                  /* members of the document that no longer change, JSON without braces */
  char *topology_xml;          /* NULL: NCCL was not asked */
  char started[32], finished[32];
  bool complete, terminal, lost;
  bool save_failed; /* said once */
  double saved_s;
  ProbeTexts points, notes, listed;
  ProbeTexts left_out;                 /* by a section, for want of time */
  bool left_is_told;                   /* the section says itself what it left out, in full */
  size_t n_failed, n_skipped, n_short; /* points with an error, skipped, without enough samples */
  double section_end_s;
  size_t expected; /* cases before the section; 0: unknown */
  void *user;      /* the program's own, for its sections */
};

/* A section's words for what it had no time for: "ring_ll 3 of 17 cases". printf-like. */
void probe_left_out (Probe *probe, const char *format, ...) __attribute__ ((format (printf, 2, 3)));
bool probe_texts_add (ProbeTexts *texts, char *text); /* takes `text`; false: out of memory */
void probe_texts_clear (ProbeTexts *texts);

/* document.cu */
void probe_document_begin (Probe *probe, int argc, char **argv); /* before anything changes the environment */
char *probe_document_host (Probe *probe); /* `host`, versions: members without braces; NULL: memory is out */
char *probe_document_gpu (int device);    /* an object; NULL: the GPU does not say what it is */
/* A host is its members and its GPUs, each as the process there had it of the two above; borrowed. */
typedef struct {
  const char *members;
  const char *gpu[PROBE_GPUS_MOST];
} ProbeHost;
/* This machine, after its GPUs are counted. False: it does not say what it is. */
bool probe_document_machine (Probe *probe);
/* Several, of as many GPUs each as the options say, joined by that library of MPI. */
bool probe_document_hosts (Probe *probe, const ProbeHost *host, const char *mpi, unsigned processes);
bool probe_document_save (Probe *probe);
void probe_document_save_sometimes (Probe *probe);
void probe_utc_now (char out[32]);

/* For the NCCL section: what NCCL wrote of the machine; takes `xml`. */
void probe_topology (Probe *probe, char *xml);
/* True once a GPU's context is gone: nothing more can be measured. Looks at each GPU. */
bool probe_check_lost (Probe *probe);
/* A file to be removed whatever ends the program; NULL: none any more. One at a time. */
void probe_remove_at_end (const char *path);
bool probe_interrupted (void);
void probe_catch_signals (void);

#endif
