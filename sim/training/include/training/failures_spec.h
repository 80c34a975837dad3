/* Keys of a training workload about long runs: `failures`; `checkpoint` beside it is in training/checkpoint.h. */
#ifndef TRAINING_FAILURES_SPEC_H
#define TRAINING_FAILURES_SPEC_H

#include "base/schema.h"
#include "models/failure.h"

/* A job that goes on with the replicas that are left. */
typedef struct {
  BaseHead head;
  BaseNum replicas; /* that can be lost one by one; absent: the data-parallel ranks that hold whole copies */
  BaseNum minimum;  /* that it goes on with */
  BaseNum reform;   /* s to go on with fewer, or with one that joins */
  BaseEnum state;   /* 0: of the others, which lose nothing; 1: all from the last checkpoint */
} TrnElasticSpec;

typedef struct {
  BaseHead head;
  BaseRef rates;       /* MdlFailureRates */
  BaseList also;       /* MdlFailureRow, beside those of `rates` */
  BaseBool slow_parts; /* whether those of `rates` that slow the job count */
  BaseNum factor;      /* on all rates of `rates` */
  BaseNum spares;
  BaseNum detect, repair, restart; /* s */
  BaseNum days, steps, tokens;     /* how long: one of them */
  BaseNum step_time;               /* s, in place of the simulated one */
  BaseNum seeds;
  TrnElasticSpec elastic;
} TrnFailuresSpec;

/* The keys of a file of rates (calibrate/defaults/failures), and its further rules: errors to the context's diag. */
extern const BaseSchema trn_schema_failure_rates;
void trn_failure_rates_check (const MdlFailureRates *rates, BaseDiag *diag);
extern const BaseSchema trn_schema_failures;

#endif
