/* From the command line to the exit status: for main.cu and main_nodes.cu. */
#ifndef FORERUN_PROBE_PROGRAM_H
#define FORERUN_PROBE_PROGRAM_H

#include "probe_core.h"

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
