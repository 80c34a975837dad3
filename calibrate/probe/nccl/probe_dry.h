/* How long the cases of a plan over nodes are expected to take, before anything runs: --dry-run. Pure.
 *
 * Nothing of the fabric is known then but the rate of a GPU's share of the NICs, which the user gives. Latencies, the time that a
 * communicator takes to come together, and the number of samples are typical or assumed. On 4 H200 of one node 97 s are expected
 * for 568 cases; such a run of 524 points took 53 s. */
#ifndef FORERUN_PROBE_DRY_H
#define FORERUN_PROBE_DRY_H

#include <stdio.h>

#include "nccl_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One operation as this stage asks for it, s; `nic_Bps`: the NICs' rate for each GPU, B/s one way. */
double probe_dry_operation_s (const NcclStage *stage, const ProbeRequest *request, double nic_Bps);
/* A case that may take as many samples as it needs, s; *least_s: with the fewest samples. No communicator. */
double probe_dry_case_s (const NcclStage *stage, const ProbeRequest *request, double nic_Bps, double *least_s);
/* A new communicator of so many ranks, s. */
double probe_dry_join_s (unsigned ranks);

/* What becomes of a stage. */
typedef struct {
  double expected_s;      /* all its cases, whatever the budget */
  double used_s;          /* in its share of the budget */
  size_t measured;        /* cases that fit into it */
  unsigned communicators; /* that all its cases need */
} ProbeDryStage;
/* Stages in order, with shares of the budget as the program gives them. `out`: one for each stage of the plan. */
void probe_dry_plan (const NcclPlan *plan, double nic_Bps, double budget_s, ProbeDryStage out[NCCL_STAGES_MOST]);

/* Writes what would be asked: a row for each setting, launch and shape, with the expected time; then what fits into the budget. */
void probe_dry_print (FILE *out, const NcclPlan *plan, const ProbeOptions *options);

#ifdef __cplusplus
}
#endif
#endif
