/* From the command line to the exit status: for main.cu and main_nodes.cu. */
#ifndef FORERUN_PROBE_PROGRAM_H
#define FORERUN_PROBE_PROGRAM_H

#include "probe_core.h"

typedef struct {
  ProbeSection section;
  double weight; /* shares out the budget; what a section leaves goes to those after it */
  bool (*measure) (Probe *);
} ProbePart;

/* After the arguments were read, before anything of CUDA or NCCL. */
void probe_program_options (Probe *probe);
/* Runs or lists the wanted parts. False: something failed as a whole. */
bool probe_program_sections (Probe *probe, const ProbePart *part, size_t n_parts);
/* The same with the file around it, whose head is there already; returns the exit status. */
int probe_program_measure (Probe *probe, const ProbePart *part, size_t n_parts);
void probe_program_clear (Probe *probe);

#endif
