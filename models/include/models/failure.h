/* How often the parts of a cluster fail, and what that leaves of a long run: rates as data (calibrate/defaults/failures), the mean
 * time to failure of a job, and closed forms of goodput and of the best interval between checkpoints. Formulas and sources: the
 * head of models/cost/failure.c and docs/goodput.md. */
#ifndef MODELS_FAILURE_H
#define MODELS_FAILURE_H

#include "base/leaf.h"
#include "base/schema.h"

/* ---- rates: a file of calibrate/defaults/failures, or written in a scenario ---- */

/* What there are many of. A switch is one for as many nodes as it takes down. */
typedef enum { MDL_UNIT_GPU, MDL_UNIT_NODE, MDL_UNIT_NIC, MDL_UNIT_SWITCH, MDL_UNIT_JOB, MDL_UNIT_N } MdlUnit;
extern const BaseName mdl_unit_names[];

/* stop: work since the last checkpoint is lost; planned: a checkpoint is taken first; slow: the job goes on, slower. */
typedef enum { MDL_EFFECT_STOP, MDL_EFFECT_PLANNED, MDL_EFFECT_SLOW, MDL_EFFECT_N } MdlEffect;
extern const BaseName mdl_effect_names[];

typedef struct {
  BaseHead head;
  BaseStr name;     /* "faulty GPU" */
  BaseEnum of;      /* MdlUnit */
  BaseNum count;    /* that were counted over the set's `observed`; or: */
  BaseNum every;    /* s between failures of one unit, in the mean */
  BaseNum shape;    /* of the Weibull distribution of the gaps between the job's failures of this kind; 1: exponential */
  BaseEnum effect;  /* MdlEffect */
  BaseNum nodes;    /* that one takes out of service; 0: the job starts again on the same ones */
  BaseNum detect;   /* s until it is noticed; absent: as the run says */
  BaseNum repair;   /* s until its nodes are back; absent: as the run says */
  BaseNum slowdown; /* slow: what a step takes, in healthy ones; or, also beside it, what is slow, of which a step tells that: */
  BaseNum nic_rate; /* an adapter, at this share of its rate */
  BaseNum compute;  /* a GPU, whose kernels take so many healthy times */
  BaseNum lasts;    /* slow: s until it is found; its nodes are then replaced as by a planned stop, or it ends by itself */
} MdlFailureRow;

typedef struct {
  BaseHead head;
  BaseNum gpus, nodes, nics; /* that were watched */
  BaseNum time;              /* s */
} MdlObserved;

typedef struct {
  BaseHead head;
  BaseStr name, summary, source;
  MdlObserved observed;
  BaseList rows; /* MdlFailureRow */
} MdlFailureRates;

/* ---- a job ---- */

/* What a job keeps busy. */
typedef struct {
  double gpus, nodes, nics;
} MdlJobSize;

/* Units of a kind that a job has; a row's `nodes` say how many a switch serves. */
double mdl_failure_units (MdlUnit of, double nodes_each, const MdlJobSize *size);
/* Failures of a row a second in a job; 0 where neither a count nor a mean time is above 0. `observed`: what counts were taken over,
 * with all that the row's unit needs. */
double mdl_failure_rate_per_s (const MdlFailureRow *row, const MdlObserved *observed, const MdlJobSize *size);

/* ---- checkpoints ---- */

/* What checkpoints cost a run: the only thing that it knows of them. */
typedef struct {
  double every_steps; /* optimiser steps from one to the next; 0: not chosen yet */
  double stall_s;     /* that training stands still for one */
  double drain_s;     /* on top, until it can be restored: an asynchronous write beside training */
  double restore_s;   /* reading it back */
  double fetch_s;     /* on top where a node was replaced */
} MdlCheckpoint;

/* ---- closed forms ---- */

/* Of one interval: work_s of useful work from checkpoint to checkpoint, the checkpoint's stall and drain; failures stop_per_s a
 * second, each with a recovery that itself may fail; alive = mean of exp (-stop_per_s x recovery) over recoveries. */
typedef struct {
  double stop_per_s;
  double alive;
  double stall_s, drain_s;
  double pace;          /* mean speed beside slow-downs, 1 without */
  double planned_share; /* of the time that planned stops take */
} MdlGoodputTerms;

/* Useful time over all time, 0 to 1. */
double mdl_goodput (const MdlGoodputTerms *terms, double work_s);
/* The work_s that makes it largest, at least the drain; infinite without failures. */
double mdl_goodput_best_s (const MdlGoodputTerms *terms);

/* Best intervals of the literature, s of work between checkpoints that cost stall_s; infinite for mttf_s infinite. */
double mdl_young_s (double stall_s, double mttf_s);
double mdl_daly_s (double stall_s, double mttf_s);

/* Scale of a Weibull distribution of the given mean and shape. */
double mdl_weibull_scale (double mean, double shape);

/* The 95 % band of a count whose mean is known (Poisson): the smallest numbers that 2.5 % and 97.5 % of counts do not exceed. */
void mdl_poisson_band (double mean, double *lo, double *hi);

#endif
