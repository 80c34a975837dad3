/* One writer a kind of result; run.c chooses. */
#ifndef REPORT_RUN_PRIVATE_H
#define REPORT_RUN_PRIVATE_H

#include "base/table.h"
#include "report/run.h"

void rep_transfer_text (const WrkTransferResult *transfer, GString *out);
void rep_transfer_tsv (const WrkTransferResult *transfer, GString *out);
void rep_transfer_json_members (const WrkTransferResult *transfer, JsonBuilder *json);

/* What each stage of the input takes of a batch. Returned: full. */
BaseTable *rep_loader_table (const WrkLoaderResult *loader);
/* Members and text of what a step has beside itself; nothing where it has none. */
void rep_loader_text (const WrkLoaderResult *loader, GString *out);
void rep_loader_json (const WrkLoaderResult *loader, JsonBuilder *json);
void rep_checkpoint_text (const WrkCheckpointResult *checkpoint, GString *out);
void rep_checkpoint_json (const WrkCheckpointResult *checkpoint, JsonBuilder *json);

/* A section of a page: what is left of days, where they went, what fails. */
void rep_goodput_html (const WrkGoodput *goodput, GString *html);

void rep_io_text (const WrkIoResult *io, GString *out);
void rep_io_tsv (const WrkIoResult *io, GString *out);
void rep_io_json_members (const WrkIoResult *io, JsonBuilder *json);

void rep_training_text (const WrkTrainingResult *training, GString *out);
void rep_training_tsv (const WrkTrainingResult *training, GString *out);
void rep_training_json_members (const WrkTrainingResult *training, JsonBuilder *json);

/* Columns of a step's table: "memory_total_B" …; a row's cells, empty without a model. */
enum { REP_MEMORY_N = 9 };
#define REP_MEMORY_COLUMNS                                           \
  { "memory_total_B", NULL, BASE_CELL_NUMBER, 0, NULL },             \
    { "memory_weights_B", NULL, BASE_CELL_NUMBER, 0, NULL },         \
    { "memory_gradients_B", NULL, BASE_CELL_NUMBER, 0, NULL },       \
    { "memory_optimizer_B", NULL, BASE_CELL_NUMBER, 0, NULL },       \
    { "memory_activations_B", NULL, BASE_CELL_NUMBER, 0, NULL },     \
    { "memory_buffers_B", NULL, BASE_CELL_NUMBER, 0, NULL },         \
    { "memory_other_B", NULL, BASE_CELL_NUMBER, 0, NULL },           \
    { "memory_capacity_B", NULL, BASE_CELL_NUMBER, 0, NULL },        \
  {                                                                  \
    "memory_fits", NULL, BASE_CELL_TEXT, 0, NULL                     \
  }
void rep_memory_row (const WrkTrainingResult *training, BaseTable *table);
/* "memory_B": of the fullest stage, `per_stage` beside it; null without a model. The text is a line and a table. */
void rep_memory_json (const WrkTrainingResult *training, JsonBuilder *json);
void rep_memory_text (const WrkTrainingResult *training, GString *out);
/* "communication": [{kind, count, sent_bytes, time_s, exposed_s, op, algo, proto}] into the open object; the table for people. */
void rep_comm_json (const WrkTrainingResult *training, JsonBuilder *json);
void rep_comm_text (const WrkTrainingResult *training, GString *out);

/* "links": [{link_class, busiest, utilisation, bytes}] into the open object; the table for people. */
void rep_links_json (const GArray *links, JsonBuilder *json);
void rep_links_text (const GArray *links, GString *out);

/* The tables behind them, for other writers. Returned: full. */
BaseTable *rep_parts_table (const WrkTrainingResult *training);
BaseTable *rep_memory_table (const GArray *stages);
BaseTable *rep_comm_table (const WrkTrainingResult *training);
BaseTable *rep_links_table (const GArray *links);

/* A JSON string, quotes and all, appended. */
void rep_trace_string (const char *text, GString *out);
/* `,"ts":…` of an instant, and `,"ts":…,"dur":…` of a span, in us. */
void rep_trace_at (double time_s, GString *out);
void rep_trace_span (double start_s, double end_s, GString *out);

/* "12.3 us (11.9 us to 12.8 us)", or "12.3 us" without a band. Returned: full. */
char *rep_band (double value_s, double lo_s, double hi_s);

void rep_jobs_text (const WrkResult *result, GString *out);
void rep_jobs_tsv (const WrkResult *result, GString *out);
void rep_jobs_json_members (const WrkResult *result, JsonBuilder *json);

#endif
