/* What pictures of a run are drawn from: TSV with a header line, as the scripts of plots/ read it. */
#ifndef REPORT_PICTURES_H
#define REPORT_PICTURES_H

#include "goodput/goodput.h"

G_BEGIN_DECLS

/* plots/breakdown.gp: part, value_s, in the order of the answer: of a training step the parts that are not zero, which sum to
 * it; of a collective or a copy the terms of the closed form. FALSE: there are none (several jobs). */
gboolean rep_parts_tsv (const ScnResult *result, GString *out);

/* plots/timeline.gp: stage, kind, start_s, end_s: what each pipeline stage does when, by stage, then time, without gaps. Kinds:
 * forward, backward, weight (gradients of weights, where the schedule puts them off), recompute, optimizer, other (copies, the
 * host), exchange (nothing computes, something is sent) and idle. More than REP_TIMELINE_ROWS rows of all stages become columns of
 * equal width, each of the kind that most of it was. *columns: how many, 0 where nothing was put together. FALSE: no training step,
 * or one that was run without spans. */
#define REP_TIMELINE_ROWS 6000u
gboolean rep_timeline_tsv (const ScnResult *result, GString *out, guint *columns);
/* The same of the begin alone, until twice the time at which the first micro-batch is back on the first stage: of steps in which
 * single passes are narrower than a column. FALSE: a step is short enough to be seen whole. */
gboolean rep_timeline_begin_tsv (const ScnResult *result, GString *out, guint *columns);

/* plots/memory.gp: stage, then B of each part that rep_memory_parts names. FALSE: not known. */
gboolean rep_memory_tsv (const ScnResult *result, GString *out);
extern const char *const rep_memory_parts[]; /* "weights" … other; ends with NULL */

/* plots/goodput.gp: interval_s, goodput with its band, goodput_closed_form, best_interval_s and best_goodput, by rising interval.
 * FALSE: fewer than two intervals were followed. */
gboolean rep_goodput_curve_tsv (const Gdp *goodput, GString *out);

/* plots/links.gp: link_class, busiest, utilisation (0 to 1), bytes. FALSE: no link was used. */
gboolean rep_links_tsv (const ScnResult *result, GString *out);

G_END_DECLS

#endif
