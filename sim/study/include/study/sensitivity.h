/* Sensitivity: how an answer changes when one constant does. Each constant that the answer depends on is made less and more by the
 * same fraction, one at a time. */
#ifndef STUDY_SENSITIVITY_H
#define STUDY_SENSITIVITY_H

#include "base/watch.h"
#include "plan/fleet.h"
#include "study/question.h"

#define STD_TELLING 5u /* constants whose limits are solved */

/* ---- the result ---- */

/* What changing one constant does. */
typedef struct {
  char *name;     /* owned: "topologies/links/ib_ndr.yaml: latency" */
  char *value;    /* owned: with its unit */
  char *note;     /* owned; NULL: none */
  unsigned line;  /* of the file; 0: a default of the program */
  guint constant; /* number among those that were tried */
  BaseSource source;
  double less_s, more_s; /* the answer with less and with more of it, as answer_s; NAN: it could not run, or there is none */
  char *less_first, *more_first; /* owned: what comes first then; NULL: the same as it is */
} StdEffect;

/* How far one of the most telling constants may move until another option comes first. */
typedef struct {
  char *name, *value, *limit; /* owned: as of StdEffect; the value at which it flips, with its unit */
  unsigned line;
  double change; /* of the value, relative */
  char *then;    /* owned: what comes first then */
} StdLimit;

typedef struct {
  double answer_s; /* as it is: s, or what a plan minimises, or `answer` */
  char *answer;    /* owned: key of the member of the result; NULL: the time, or what a plan minimises */
  char *first;     /* owned: what comes first as it is; NULL: nothing is ranked */
  double by;       /* constants were changed by this fraction */
  guint n_tried;   /* constants that were read and could have mattered */
  guint n_runs;
  GArray *effects; /* StdEffect, largest change of the answer first */
  guint n_solved;  /* of the first effects that are no prices, so many were moved further; */
  GArray *limits;  /* StdLimit: where they flip, nearest first */
} StdSensitivity;

void std_sensitivity_free (StdSensitivity *sensitivity);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StdSensitivity, std_sensitivity_free)

/* How far the answer moves, the larger of both sides, in the unit of `answer_s`; a run that failed counts 0. */
double std_effect_reach (const StdEffect *effect, double answer_s);
/* Whether another one comes first with less or with more of the constant. */
gboolean std_effect_changes_first (const StdEffect *effect);

/* ---- the search ---- */

/* Up to which source constants are changed. */
typedef enum { STD_SCOPE_ASSUMED, STD_SCOPE_DATASHEET } StdScope;
extern const BaseName std_scope_names[];

/* What is compared: values, the first of which is the answer, and what comes first where things are ranked. */
typedef struct {
  GArray *values; /* double; owned. NULL: it could not run */
  char *first;    /* owned; NULL: nothing is ranked */
  guint option;   /* number of the cluster option that it is of; of none G_MAXUINT */
  /* Given: of another answer. Only whether this one differs is wanted: behind the first value that does, the rest may be left out.
   * NULL: all values are wanted. Borrowed. */
  const GArray *against;
} StdAnswer;

/* How much is asked again. */
typedef enum {
  STD_REACH_NEAR, /* the few that a constant of a fifth less or more can put first */
  STD_REACH_FAR,  /* the best of every option: constants move much further */
  STD_REACH_ALL,  /* everything, where one of the others put another one first */
} StdReach;

/* How to ask again: `again` fills *answer, whose values are empty. FALSE and *error: it cannot run so. Called by many threads at
 * once. */
typedef struct {
  gboolean (*again) (const void *question, StdReach reach, BaseWatch *watch, StdAnswer *answer, GError **error);
  const void *question;
  const char *path; /* the question's file, whose own numbers count only where they are assumed */
  const char *root; /* of the shipped data: names of files below it leave it out */
} StdQuery;

/* Asks again with each constant on which the answer depends a fifth less and a fifth more. Returned: full; NULL and *error where it
 * does not run as it is. */
StdSensitivity *std_sensitivity (const StdQuery *query, StdScope scope, GError **error);

/* The same of a member of a scenario's result: the first of `wanted` (keys, ends with NULL; may be NULL) that has a value above 0,
 * else the one that its kind answers with, else the time, of several jobs the longest. `result`: as it is. */
StdSensitivity *std_sensitivity_scenario (const StdQuestion *question, const ScnResult *result, const char *const *wanted,
                                          StdScope scope, GError **error);

typedef struct {
  const Pln *plan; /* as it was read, from */
  const char *path;
  const BaseLookup *lookup;
  PlnOptions options;
  guint threads;
  char *(*name) (const Pln *plan, const PlnChoiceRow *row); /* what tells a row from others. Returned: full */
  GPtrArray *steps;                                         /* of its search (PlnResult); NULL: not known */
} StdPlanQuestion;

/* The same of a plan, in closed form: how much the value that it minimises moves, and what comes first then. */
StdSensitivity *std_sensitivity_plan (const StdPlanQuestion *question, StdScope scope, GError **error);

typedef struct {
  const char *path;
  const BaseLookup *lookup;
  PlnOptions options;
  char *(*name) (const PlnFleet *fleet, const PlnFleetRow *row); /* what tells a row from others. Returned: full */
} StdFleetQuestion;

/* The same of a plan for a service, in closed form: USD a million output tokens, or GPUs, where neither replicas nor nodes are
 * whole. `fleet`, `result`: as it is. */
StdSensitivity *std_sensitivity_fleet (const StdFleetQuestion *question, const PlnFleet *fleet, const PlnFleetResult *result,
                                       StdScope scope, GError **error);

#endif
