/* What each kind of result is made of; run.c chooses. */
#ifndef REPORT_RUN_PRIVATE_H
#define REPORT_RUN_PRIVATE_H

#include "report/coll.h"
#include "report/run.h"

/* Members of results, and their text. */
extern const BaseMember rep_transfer_members[], rep_io_members[], rep_training_members[], rep_program_members[],
    rep_moe_members[];
extern const char *const rep_training_columns[]; /* of TSV, paths of members */
void rep_transfer_text (const void *transfer, GString *out);
void rep_io_text (const void *io, GString *out);
void rep_training_text (const void *training, GString *out);
void rep_program_text (const void *program, GString *out);
void rep_moe_text (const void *moe, GString *out);

/* The answer in one or two sentences, of each kind's result and of several jobs. */
void rep_transfer_answer (const void *transfer, GString *out);
void rep_io_answer (const void *io, GString *out);
void rep_training_answer (const void *training, GString *out);
void rep_program_answer (const void *program, GString *out);
void rep_moe_answer (const void *moe, GString *out);
void rep_jobs_answer (const ScnResult *result, GString *out);

/* Parts of a training step: members that stand in its own, and text; nothing where it has none. */
extern const BaseMember rep_memory_members[], rep_loader_members[], rep_checkpoint_members[], rep_local_members[],
    rep_stage_members[]; /* of a TrnStageUse */
/* A line that says which stage sets the pace; nothing where there is one. */
void rep_stages_text (const TrnResult *training, GString *out);
/* Appends those of `n` stages that `are`: "0, 2 and 4 to 7". */
void rep_append_stages (const gboolean *are, guint n, GString *out);
void rep_memory_text (const TrnResult *training, GString *out);
void rep_comm_text (const TrnResult *training, GString *out);
void rep_loader_text (const TrnLoaderResult *loader, GString *out);
void rep_checkpoint_text (const TrnCheckpointResult *checkpoint, GString *out);
void rep_local_text (const TrnLocalResult *local, GString *out);

/* Of a run of one training step, that step; else NULL. Of a run that is priced by terms of a closed form, those; else NULL. */
const TrnResult *rep_run_step (const ScnResult *result);
const MdlCollCost *rep_run_cost (const ScnResult *result);
/* A page's facts of a result of one workload; nothing where its kind has none. */
void rep_run_facts (const ScnResult *result, GString *html);

/* Tables of a step: its parts; memory of each stage; communication by kind; what each stage of the input takes of a batch. Of a
 * run: what links carried. Returned: full. */
BaseTable *rep_parts_table (const TrnResult *training);
BaseTable *rep_memory_table (const GArray *stages);
BaseTable *rep_comm_table (const TrnResult *training);
BaseTable *rep_loader_table (const TrnLoaderResult *loader);
BaseTable *rep_links_table (const GArray *links);

/* Of days: what became of the time, what fails, goodput by the interval between checkpoints. Returned: full. */
BaseTable *rep_goodput_lost (const Gdp *goodput);
BaseTable *rep_goodput_causes (const Gdp *goodput);
BaseTable *rep_goodput_curve (const Gdp *goodput);

/* A JSON string, quotes and all, appended. */
void rep_trace_string (const char *text, GString *out);
/* Begins a document: its clock's unit and what was run, and how; ends within the list of events. */
void rep_trace_open (const char *unit, const RepTraceInfo *info, GString *out);
/* ColSpan as slices of the lanes of a process, behind another event. */
void rep_trace_spans (const GPtrArray *spans, guint process, GString *out);
/* `,"ts":…` of an instant, and `,"ts":…,"dur":…` of a span, in us. */
void rep_trace_at (double time_s, GString *out);
void rep_trace_span (double start_s, double end_s, GString *out);

#endif
