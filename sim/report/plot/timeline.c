/* What each pipeline stage does when: one kind at a time. What computes counts before what is sent, and what is sent before
 * waiting; of two sends it does not matter which. */
#include <stdlib.h>
#include <string.h>

#include "report/plots.h"
#include "run-private.h"
#include "training/trace.h"

typedef enum { FORWARD, BACKWARD, WEIGHT, RECOMPUTE, OPTIMIZER, OTHER, EXCHANGE, IDLE, KINDS } Kind;
static const char *const names[KINDS] = { "forward", "backward", "weight", "recompute", "optimizer", "other", "exchange", "idle" };

typedef struct {
  guint stage;
  Kind kind;
  double start_s, end_s;
} Block;

typedef struct {
  GArray *blocks; /* Block: what runs, in no order */
  guint n_stages;
  double end_s;
} Timeline;

static void
add (Timeline *line, guint stage, Kind kind, double start_s, double end_s)
{
  Block block = { stage, kind, start_s, end_s };
  if (end_s <= start_s)
    return;
  g_array_append_val (line->blocks, block);
  line->n_stages = MAX (line->n_stages, stage + 1);
  line->end_s = MAX (line->end_s, end_s);
}

/* Schedules name their turns F, B and W with the micro-batch (models/schedule.h). */
static gboolean
is_turn (const char *name, char letter)
{
  return name[0] == letter && g_ascii_isdigit (name[1]);
}

/* ---- of a model's trace ---- */

static Kind
kind_of (TrnTraceKind kind, gboolean weight)
{
  switch (kind) {
    case TRN_TRACE_FORWARD:
      return FORWARD;
    case TRN_TRACE_BACKWARD:
      return weight ? WEIGHT : BACKWARD;
    case TRN_TRACE_RECOMPUTE:
      return RECOMPUTE;
    case TRN_TRACE_OPTIMIZER:
      return OPTIMIZER;
    case TRN_TRACE_COPY:
    case TRN_TRACE_HOST:
      return OTHER;
    case TRN_TRACE_TP:
    case TRN_TRACE_CP:
    case TRN_TRACE_EP:
    case TRN_TRACE_DP:
    case TRN_TRACE_SEND:
    case TRN_TRACE_KINDS:
      break;
  }
  return EXCHANGE;
}

/* A large step's trace leaves out micro-batches; their time is shown without details. */
static void
take_trace (Timeline *line, const TrnTrace *trace)
{
  const GArray *slices = trn_trace_slices (trace), *stretches = trn_trace_stretches (trace);
  for (guint i = 0; i < slices->len; i++) {
    const TrnSlice *slice = &g_array_index (slices, TrnSlice, i);
    add (line, slice->process, kind_of (slice->kind, is_turn (slice->name, 'W')), slice->start_s, slice->end_s);
  }
  for (guint i = 0; i < stretches->len; i++) {
    const TrnTraceSpan *stretch = &g_array_index (stretches, TrnTraceSpan, i);
    add (line, stretch->process, kind_of (stretch->kind, stretch->weight), stretch->start_s, stretch->end_s);
  }
}

/* ---- of given layers: lanes are "stage 3 compute", "stage 3 send forward" ---- */

static void
take_spans (Timeline *line, const GPtrArray *spans)
{
  static const char prefix[] = "stage ";
  for (guint i = 0; i < spans->len; i++) {
    const ColSpan *span = spans->pdata[i];
    if (span->lane == NULL || !g_str_has_prefix (span->lane, prefix))
      continue;
    char *rest;
    guint64 stage = g_ascii_strtoull (span->lane + strlen (prefix), &rest, 10);
    const char *name = span->name != NULL ? span->name : "";
    Kind kind = strcmp (rest, " compute") != 0 ? EXCHANGE
                : is_turn (name, 'F')          ? FORWARD
                : is_turn (name, 'B')          ? BACKWARD
                : is_turn (name, 'W')          ? WEIGHT
                                               : OPTIMIZER;
    add (line, (guint)stage, kind, span->start_s, span->end_s);
  }
}

/* ---- one kind at a time ---- */

typedef struct {
  double at_s;
  guint stage;
  Kind kind;
  int change; /* +1 begins, -1 ends */
} Edge;

static int
compare_edges (const void *a, const void *b)
{
  const Edge *x = a, *y = b;
  if (x->stage != y->stage)
    return x->stage < y->stage ? -1 : 1;
  if (x->at_s < y->at_s || x->at_s > y->at_s)
    return x->at_s < y->at_s ? -1 : 1;
  return x->change - y->change;
}

static void
append_block (GArray *out, guint stage, Kind kind, double start_s, double end_s)
{
  Block *last = out->len > 0 ? &g_array_index (out, Block, out->len - 1) : NULL;
  if (end_s <= start_s)
    return;
  if (last != NULL && last->stage == stage && last->kind == kind) {
    last->end_s = end_s;
    return;
  }
  Block block = { stage, kind, start_s, end_s };
  g_array_append_val (out, block);
}

/* Returned: Block by stage, then time, from 0 to the end without gaps; full. */
static GArray *
flatten (const Timeline *line)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (Block));
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  for (guint i = 0; i < line->blocks->len; i++) {
    const Block *block = &g_array_index (line->blocks, Block, i);
    Edge begin = { block->start_s, block->stage, block->kind, 1 }, end = { block->end_s, block->stage, block->kind, -1 };
    g_array_append_val (edges, begin);
    g_array_append_val (edges, end);
  }
  qsort (edges->data, edges->len, sizeof (Edge), compare_edges);
  guint e = 0;
  for (guint s = 0; s < line->n_stages; s++) {
    int running[KINDS] = { 0 };
    double at_s = 0;
    for (;; e++) {
      const Edge *edge = e < edges->len && g_array_index (edges, Edge, e).stage == s ? &g_array_index (edges, Edge, e) : NULL;
      Kind kind = FORWARD;
      while (kind < IDLE && running[kind] == 0)
        kind++;
      append_block (out, s, kind, at_s, edge != NULL ? edge->at_s : line->end_s);
      if (edge == NULL)
        break;
      at_s = edge->at_s;
      running[edge->kind] += edge->change;
    }
  }
  return out;
}

/* Columns of equal width, each of the kind that most of it was; the first of equals. Returned: full. */
static GArray *
put_into_columns (const GArray *blocks, const Timeline *line, guint columns)
{
  GArray *out = g_array_new (FALSE, FALSE, sizeof (Block));
  const double width_s = line->end_s / columns;
  guint i = 0;
  for (guint s = 0; s < line->n_stages; s++) {
    for (guint c = 0; c < columns; c++) {
      double from_s = c * width_s, to_s = c + 1 == columns ? line->end_s : (c + 1) * width_s, spent_s[KINDS] = { 0 };
      for (; i < blocks->len && g_array_index (blocks, Block, i).stage == s; i++) {
        const Block *block = &g_array_index (blocks, Block, i);
        spent_s[block->kind] += MAX (0, MIN (block->end_s, to_s) - MAX (block->start_s, from_s));
        if (block->end_s > to_s)
          break;
      }
      Kind most = FORWARD;
      for (Kind k = FORWARD; k < KINDS; k++)
        most = spent_s[k] > spent_s[most] ? k : most;
      Block *last = out->len > 0 ? &g_array_index (out, Block, out->len - 1) : NULL;
      if (last != NULL && last->stage == s && last->kind == most) {
        last->end_s = to_s;
        continue;
      }
      Block block = { s, most, from_s, to_s };
      g_array_append_val (out, block);
    }
    while (i < blocks->len && g_array_index (blocks, Block, i).stage == s)
      i++;
  }
  return out;
}

/* Rows of what stands before line->end_s. */
static gboolean
write_rows (const Timeline *line, GString *out, guint *columns)
{
  enum { COLUMNS = 800 };
  g_autoptr (GArray) blocks = flatten (line);
  *columns = blocks->len > REP_TIMELINE_ROWS ? COLUMNS : 0;
  if (*columns > 0) {
    GArray *narrow = put_into_columns (blocks, line, COLUMNS);
    g_array_unref (blocks);
    blocks = narrow;
  }
  g_string_append (out, "stage\tkind\tstart_s\tend_s\n");
  for (guint i = 0; i < blocks->len; i++) {
    const Block *block = &g_array_index (blocks, Block, i);
    char start[G_ASCII_DTOSTR_BUF_SIZE], end[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf (out, "%u\t%s\t%s\t%s\n", block->stage, names[block->kind],
                            g_ascii_formatd (start, sizeof start, "%.9g", block->start_s),
                            g_ascii_formatd (end, sizeof end, "%.9g", block->end_s));
  }
  return blocks->len > 0;
}

gboolean
rep_timeline_tsv (const ScnResult *result, GString *out, guint *columns)
{
  if (rep_run_step (result) == NULL)
    return FALSE;
  Timeline line = { .blocks = g_array_new (FALSE, FALSE, sizeof (Block)) };
  if (result->training.trace != NULL)
    take_trace (&line, result->training.trace);
  else if (result->run.spans != NULL)
    take_spans (&line, result->run.spans);
  const gboolean any = write_rows (&line, out, columns);
  g_array_unref (line.blocks);
  return any;
}

/* When the first micro-batch is back on the first stage; 0: it is not told. */
static double
first_is_back (const TrnTrace *trace)
{
  const GArray *slices = trn_trace_slices (trace);
  double end_s = 0;
  for (guint i = 0; i < slices->len; i++) {
    const TrnSlice *slice = &g_array_index (slices, TrnSlice, i);
    if (slice->process == 0 && slice->micro_batch == 0 && slice->kind == TRN_TRACE_BACKWARD)
      end_s = MAX (end_s, slice->end_s);
  }
  return end_s;
}

static void
keep_before (Timeline *line, double window_s)
{
  GArray *kept = g_array_new (FALSE, FALSE, sizeof (Block));
  for (guint i = 0; i < line->blocks->len; i++) {
    Block block = g_array_index (line->blocks, Block, i);
    block.end_s = MIN (block.end_s, window_s);
    if (block.end_s > block.start_s)
      g_array_append_val (kept, block);
  }
  g_array_unref (line->blocks);
  line->blocks = kept;
  line->end_s = window_s;
}

gboolean
rep_timeline_begin_tsv (const ScnResult *result, GString *out, guint *columns, double *back_s)
{
  if (rep_run_step (result) == NULL || result->training.trace == NULL)
    return FALSE;
  Timeline line = { .blocks = g_array_new (FALSE, FALSE, sizeof (Block)) };
  take_trace (&line, result->training.trace);
  *back_s = first_is_back (result->training.trace);
  const double window_s = 2 * *back_s;
  const gboolean told = window_s > 0 && line.blocks->len > REP_TIMELINE_ROWS && window_s < line.end_s / 2;
  if (told) {
    keep_before (&line, window_s);
    write_rows (&line, out, columns);
  }
  g_array_unref (line.blocks);
  return told;
}
