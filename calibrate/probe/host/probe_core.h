/* The inside of a probe: for the programs and what they share. */
#ifndef FORERUN_PROBE_CORE_H
#define FORERUN_PROBE_CORE_H

#include "probe.h"
#include "probe_json.h"

#define PROBE_SCHEMA "forerun-probe/1" /* PROBE_VERSION is forerun's: CMakeLists.txt defines it */

struct ProbeCase {
  const char *section, *what; /* borrowed */
  std::string label;          /* "key=value key=value", for people */
  ProbeJson json;             /* the point so far */
};

typedef std::vector<std::string> ProbeTexts;

struct Probe {
  ProbeOptions options;
  std::string command, environment; /* as they were at the start; the second is JSON */
  std::string head;                 /* members of the document that no longer change, JSON without braces */
  std::string topology_xml;         /* "": NCCL was not asked */
  std::string started, finished;    /* "": not yet */
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

/* A section's words for what it had no time for: "ring_ll 3 of 17 cases". */
void probe_left_out (Probe *probe, const std::string &text);

/* Members of an object. */
void probe_put (ProbeJson *json, ProbeParameters members);

/* document.cu */
void probe_document_begin (Probe *probe, int argc, char **argv); /* before anything changes the environment */
/* What a process says of its host: `host`, versions, as members without braces; and of a GPU: an object, "" where it does not say
 * what it is. */
std::string probe_document_host (Probe *probe);
std::string probe_document_gpu (int device);
typedef struct {
  std::string members;
  std::vector<std::string> gpu;
} ProbeHost;
/* This machine, after its GPUs are counted. False: it does not say what it is. */
bool probe_document_machine (Probe *probe);
/* Several, joined by that library of MPI. */
void probe_document_hosts (Probe *probe, const std::vector<ProbeHost> &hosts, const char *mpi, unsigned processes);
bool probe_document_save (Probe *probe);
void probe_document_save_sometimes (Probe *probe);
std::string probe_utc_now (void);

/* True once a GPU's context is gone: nothing more can be measured. Looks at each GPU. */
bool probe_check_lost (Probe *probe);
/* A file to be removed whatever ends the program; NULL: none any more. One at a time. */
void probe_remove_at_end (const char *path);
bool probe_interrupted (void);
void probe_catch_signals (void);

/* program.cu: from the command line to the exit status. */
typedef struct {
  ProbeSection section;
  double weight; /* shares out the budget; what a section leaves goes to those after it */
  bool (*measure) (Probe *);
} ProbePart;

/* Reads the command line, before anything of CUDA or NCCL. False: the program ends with *status; only if it `speaks` it prints the
 * reason, or what --help and --version ask for. */
bool probe_program_begin (Probe *probe, ProbeProgram program, int argc, char **argv, bool speaks, int *status);
/* Runs or lists the wanted parts. False: something failed as a whole. */
bool probe_program_sections (Probe *probe, const ProbePart *part, size_t n_parts);
/* The same with the file around it, whose head is there already; returns the exit status. */
int probe_program_measure (Probe *probe, const ProbePart *part, size_t n_parts);

#endif
