/* Inside of a plan's answer in sentences. */
#ifndef REPORT_VERDICT_PRIVATE_H
#define REPORT_VERDICT_PRIVATE_H

#include "plan-private.h"

#define REP_DAY_S 86400.0

typedef struct {
  const Pln *plan;
  const PlnResult *result;
  GPtrArray *out; /* char *: sentences */
  gboolean *told; /* by row: a sentence has compared it */
} RepVerdict;

static inline const PlnChoiceRow *
rep_verdict_row (const RepVerdict *v, guint i)
{
  return &g_array_index (v->result->rows, PlnChoiceRow, i);
}

static inline const PlnMachine *
rep_verdict_machine (const RepVerdict *v, guint machine)
{
  return &g_array_index (pln_machines (v->plan), PlnMachine, machine);
}

/* Ends the sentence and takes it. */
void rep_verdict_add (RepVerdict *v, GString *sentence);
/* "HGX B200" of hgx_b200; other names stay, they are what a file is called. Returned: full. */
char *rep_verdict_product (const char *topology);
/* "rail-optimised network" of a fabric's kind. Returned: full. */
char *rep_verdict_network (const char *kind);
/* "32 x HGX B200, 200 Gb/s NICs, 2:1 fabric, TP4 x PP2 x DP32". */
void rep_verdict_append_choice (const RepVerdict *v, const PlnChoiceRow *row, GString *text);

/* ---- plan_compare.c: why the others lose ---- */

/* What cluster options differ by. */
typedef enum {
  REP_AXIS_TOPOLOGY,
  REP_AXIS_NODES,
  REP_AXIS_DOMAIN,
  REP_AXIS_COUNT,
  REP_AXIS_RATE,
  REP_AXIS_KIND,
  REP_AXIS_OVER,
  REP_AXIS_SERVERS,
  REP_AXIS_N
} RepAxis;
/* Returned: full; NULL where the plan leaves it to the topology. */
char *rep_axis_value (const PlnMachine *machine, RepAxis axis);
/* "With HGX H100", "With 16 nodes", "With 400 Gb/s NICs". Returned: full. */
char *rep_axis_with (const RepVerdict *v, const char *value, RepAxis axis);

/* The best row of each value of the axis that some machine has, in the order of machines; NULL: none meets the goal. */
typedef struct {
  char *value; /* owned */
  const PlnChoiceRow *row;
  gboolean alike; /* this row is indistinguishable from the recommended one */
} RepAxisValue;
/* In the order of machines. Returned: full, RepAxisValue. */
GArray *rep_axis_values (const RepVerdict *v, RepAxis axis);
/* A sentence for each other value of the axis, but one for each row; first those that the errors distinguish. */
void rep_say_axis (RepVerdict *v, RepAxis axis);

/* ---- plan_excluded.c: why others are left out ---- */

/* A sentence for each value of a choice with which nothing meets the goal, but one for each cluster option. */
void rep_say_excluded (RepVerdict *v);
/* Where nothing meets the goal at all. */
void rep_say_nearest (RepVerdict *v);

#endif
