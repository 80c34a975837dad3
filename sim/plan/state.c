/* What is done of a plan's search, as JSON: a part of it that another process goes on with, or that is put together with others.
 * Figures of a row are one text, so that a million rows are a million nodes and not thirty million; doubles have the 17 digits that
 * read back as they are. Of a row the closed form's step is kept: its cut is known by its number, all else is the plan's. */
#include <math.h>
#include <string.h>

#include "work-private.h"

/* ---- figures in a text ---- */

/* Columns of a row after the cut's number, and of a run after machine and cut. */
#define STEP_FIGURES (14 + TRN_PART_N)
#define RUN_FIGURES  (5 + TRN_PART_N)
/* Parts are summed in another order than the step was. */
#define SLACK 1e-6
/* One more figure of a step, or of what the engine says, is one more column here and in both directions below. */
_Static_assert(sizeof (TrnClosedStep) == 8 * (9 + TRN_PART_N) + 5 * 4 + 4, "a column for each figure of a step");
_Static_assert(sizeof (PlnRun) == 8 * RUN_FIGURES, "a column for each figure of a run");

static void
append_figures (GString *out, const double *figure, guint n)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  for (guint i = 0; i < n; i++) {
    if (out->len > 0)
      g_string_append_c (out, ' ');
    g_string_append (out, g_ascii_dtostr (text, sizeof text, figure[i]));
  }
}

/* Whether the text is just n finite figures. */
static gboolean
read_figures (const char *text, double *figure, guint n)
{
  for (guint i = 0; i < n; i++) {
    char *end = NULL;
    figure[i] = g_ascii_strtod (text, &end);
    if (end == text || !isfinite (figure[i]) || *end != (i + 1 < n ? ' ' : '\0'))
      return FALSE;
    text = *end == ' ' ? end + 1 : end;
  }
  return TRUE;
}

static void
put_step (const TrnClosedStep *s, double *f)
{
  const double own[] = { s->step_time_s, s->step_time_lo_s, s->step_time_hi_s, s->wire_band, s->tokens,  s->mfu,  s->memory_B,
                         s->capacity_B,  s->restore_B,      s->stage,          s->n_ranks,   s->fullest, s->fits, s->provenance };
  memcpy (f, own, sizeof own);
  memcpy (f + G_N_ELEMENTS (own), s->part_s, sizeof s->part_s);
}

/* Whether a figure is a count up to `most`. */
static gboolean
is_count (double figure, double most)
{
  return figure >= 0 && figure <= most && floor (figure) == figure;
}

/* Whether figures may be those of a step: time, its band in order, its parts, which sum to it, and what is a share or a size. The
 * closed form attributes what overlaps to one part, and another may then be a little below 0. */
static gboolean
is_plausible (const double *step, double mfu, double restore_B, const double *part_s)
{
  double sum_s = 0;
  for (guint i = 0; i < TRN_PART_N; i++)
    sum_s += part_s[i] >= -step[0] ? part_s[i] : (double)NAN;
  return step[0] > 0 && step[0] <= base_dim_most (BASE_DIM_TIME) && step[1] > 0 && step[1] <= step[0] && step[2] >= step[0] &&
         step[2] <= base_dim_most (BASE_DIM_TIME) && mfu >= 0 && mfu <= 1 && restore_B >= 0 &&
         restore_B <= base_dim_most (BASE_DIM_BYTES) && fabs (sum_s - step[0]) <= SLACK * step[0];
}

/* FALSE where counts are none, or what is measured cannot be. */
static gboolean
get_step (const double *f, TrnClosedStep *s)
{
  static const double most[] = { G_MAXUINT32, G_MAXUINT32, G_MAXUINT32, 1, BASE_SOURCE_N - 1 };
  for (guint i = 0; i < G_N_ELEMENTS (most); i++)
    if (!is_count (f[9 + i], most[i]))
      return FALSE;
  if (!is_plausible (f, f[5], f[8], f + 14) || !(f[3] >= 0) || !(f[4] > 0) || !(f[6] >= 0) || !(f[7] >= 0))
    return FALSE;
  *s = (TrnClosedStep){ .step_time_s = f[0],
                        .step_time_lo_s = f[1],
                        .step_time_hi_s = f[2],
                        .wire_band = f[3],
                        .tokens = f[4],
                        .mfu = f[5],
                        .memory_B = f[6],
                        .capacity_B = f[7],
                        .restore_B = f[8],
                        .stage = (guint32)f[9],
                        .n_ranks = (guint32)f[10],
                        .fullest = (guint32)f[11],
                        .fits = f[12] > 0,
                        .provenance = (BaseSource)f[13] };
  memcpy (s->part_s, f + 14, sizeof s->part_s);
  return TRUE;
}

/* ---- out ---- */

static void
add_figures (JsonBuilder *json, const double *figure, guint n)
{
  g_autoptr (GString) text = g_string_new (NULL);
  append_figures (text, figure, n);
  json_builder_add_string_value (json, text->str);
}

static void
build_piece (const PlnPiece *piece, guint number, JsonBuilder *json)
{
  double out[PLN_REJECTED_N];
  for (int o = 0; o < PLN_REJECTED_N; o++)
    out[o] = (double)piece->count.out[o];
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "piece");
  json_builder_add_int_value (json, number);
  json_builder_set_member_name (json, "out");
  add_figures (json, out, PLN_REJECTED_N);
  json_builder_set_member_name (json, "over");
  add_figures (json, piece->count.over, PLN_REJECTED_N);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint64 i = 0; i < piece->count.n_rows; i++) {
    const PlnChoiceRow *row = &piece->rows[i];
    double figure[1 + STEP_FIGURES] = { row->cut };
    put_step (&row->step, figure + 1);
    add_figures (json, figure, G_N_ELEMENTS (figure));
  }
  json_builder_end_array (json);
  json_builder_end_object (json);
}

void
pln_work_build (const PlnWork *work, JsonBuilder *json)
{
  const struct {
    const char *name;
    guint value;
  } counts[] = { { "pieces", work->pieces->len }, { "part", work->count.part }, { "of", work->count.of } };
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++) {
    json_builder_set_member_name (json, counts[i].name);
    json_builder_add_int_value (json, counts[i].value);
  }
  json_builder_set_member_name (json, "done");
  json_builder_begin_array (json);
  for (guint i = 0; i < work->pieces->len; i++)
    if (g_array_index (work->pieces, PlnPiece, i).state == PLN_PIECE_DONE)
      build_piece (&g_array_index (work->pieces, PlnPiece, i), i, json);
  json_builder_end_array (json);
  json_builder_set_member_name (json, "runs");
  json_builder_begin_array (json);
  for (guint i = 0; i < work->runs->len; i++) {
    const PlnPending *asked = &g_array_index (work->runs, PlnPending, i);
    const PlnRun *run = &asked->run;
    double figure[2 + RUN_FIGURES] = { asked->machine,      asked->cut, run->step_time_s, run->step_time_lo_s,
                                       run->step_time_hi_s, run->mfu,   run->restore_B };
    memcpy (figure + 7, run->part_s, sizeof run->part_s);
    if (asked->done)
      add_figures (json, figure, G_N_ELEMENTS (figure));
  }
  json_builder_end_array (json);
}

/* ---- in ---- */

typedef struct {
  PlnWork *work;
  const BaseJson *json;
  guint32 machine; /* of cuts; G_MAXUINT32: none */
  GArray *cuts;    /* TrnClosedQuery */
} Reader;

static gboolean
member_count (const Reader *reader, JsonObject *object, const char *name, guint *out, GError **error)
{
  gint64 count;
  if (!base_json_need_count (reader->json, object, name, 0, G_MAXUINT32, &count, error))
    return FALSE;
  *out = (guint)count;
  return TRUE;
}

/* Figures of a text, none where it is none. */
static const char *
text_of (JsonNode *node)
{
  const char *text = base_json_text_of (node);
  return text != NULL ? text : "";
}

static const GArray *
cuts_of (Reader *reader, guint32 machine)
{
  if (reader->machine != machine) {
    g_clear_pointer (&reader->cuts, g_array_unref);
    reader->cuts = pln_list_layouts (reader->work->plan, machine, NULL);
    reader->machine = machine;
  }
  return reader->cuts;
}

/* A row of a piece; cuts rise from `least` on. */
static gboolean
read_row (Reader *reader, const PlnPiece *piece, guint32 least, const char *text, PlnChoiceRow *row)
{
  double f[1 + STEP_FIGURES], over;
  TrnClosedStep step;
  if (!read_figures (text, f, G_N_ELEMENTS (f)) || !is_count (f[0], (double)piece->first + piece->n_cuts - 1) || f[0] < least ||
      !get_step (f + 1, &step))
    return FALSE;
  guint32 cut = (guint32)f[0];
  const TrnClosedQuery *query = &g_array_index (cuts_of (reader, piece->machine), TrnClosedQuery, cut);
  pln_take_step (reader->work->plan, piece->machine, query, &step, row);
  if (pln_misses (reader->work->plan, row, &over) != PLN_REJECTED_N)
    return FALSE;
  row->cut = cut;
  return TRUE;
}

static gboolean
read_counts (JsonObject *object, PlnPieceCount *count)
{
  double out[PLN_REJECTED_N];
  if (!read_figures (text_of (json_object_get_member (object, "out")), out, PLN_REJECTED_N) ||
      !read_figures (text_of (json_object_get_member (object, "over")), count->over, PLN_REJECTED_N))
    return FALSE;
  for (int o = 0; o < PLN_REJECTED_N; o++) {
    if (!is_count (out[o], G_MAXUINT32))
      return FALSE;
    count->out[o] = (guint64)out[o];
  }
  return TRUE;
}

static gboolean
read_piece (Reader *reader, JsonObject *object, GError **error)
{
  guint number = 0;
  PlnPieceCount count = { 0 };
  if (!member_count (reader, object, "piece", &number, error))
    return FALSE;
  if (number >= reader->work->pieces->len)
    return base_json_fail (reader->json, NULL, NULL, error, "piece %u does not belong to this plan, which has %u pieces", number,
                           reader->work->pieces->len);
  PlnPiece *piece = &g_array_index (reader->work->pieces, PlnPiece, number);
  JsonArray *rows = base_json_need_array (reader->json, object, "rows", error);
  if (rows == NULL)
    return FALSE;
  if (piece->state == PLN_PIECE_DONE)
    return base_json_fail (reader->json, NULL, NULL, error, "piece %u is there twice", number);
  if (piece->state == PLN_PIECE_OTHERS)
    return base_json_fail (reader->json, NULL, NULL, error, "piece %u belongs to another part", number);
  count.n_rows = json_array_get_length (rows);
  guint64 sum = count.n_rows;
  if (!read_counts (object, &count))
    return base_json_fail (reader->json, NULL, NULL, error, "piece %u: 'out' and 'over' are not %d values each", number,
                           (int)PLN_REJECTED_N);
  for (int o = 0; o < PLN_REJECTED_N; o++)
    sum += count.out[o];
  if (sum != piece->n_cuts)
    return base_json_fail (reader->json, NULL, NULL, error, "piece %u has %" G_GUINT64_FORMAT " configurations, in the plan %u",
                           number, sum, piece->n_cuts);
  g_autofree PlnChoiceRow *read = g_new (PlnChoiceRow, count.n_rows);
  guint32 least = piece->first;
  for (guint i = 0; i < count.n_rows; i++) {
    if (!read_row (reader, piece, least, text_of (json_array_get_element (rows, i)), &read[i]))
      return base_json_fail (reader->json, NULL, NULL, error, "piece %u, row %u does not belong to this plan", number, i);
    least = read[i].cut + 1;
  }
  pln_work_finish_piece (reader->work, piece, &count, g_steal_pointer (&read));
  g_clear_pointer (&reader->work->steps, g_ptr_array_unref); /* its are not known */
  return TRUE;
}

static gboolean
read_run (Reader *reader, JsonNode *node, guint number, GError **error)
{
  double f[2 + RUN_FIGURES];
  const GArray *machines = reader->work->plan->machines;
  gboolean good = read_figures (text_of (node), f, G_N_ELEMENTS (f)) && is_count (f[0], (double)machines->len - 1) &&
                  is_plausible (f + 2, f[5], f[6], f + 7);
  if (!good || !is_count (f[1], (double)cuts_of (reader, (guint32)f[0])->len - 1))
    return base_json_fail (reader->json, NULL, NULL, error, "run %u does not belong to this plan", number);
  PlnPending asked = { .machine = (guint32)f[0],
                       .cut = (guint32)f[1],
                       .done = TRUE,
                       .run = {
                           .step_time_s = f[2], .step_time_lo_s = f[3], .step_time_hi_s = f[4], .mfu = f[5], .restore_B = f[6] } };
  memcpy (asked.run.part_s, f + 7, sizeof asked.run.part_s);
  g_array_append_val (reader->work->runs, asked);
  return TRUE;
}

static gboolean
read_all (Reader *reader, JsonObject *object, GError **error)
{
  guint pieces = 0;
  if (!member_count (reader, object, "pieces", &pieces, error))
    return FALSE;
  if (pieces != reader->work->pieces->len)
    return base_json_fail (reader->json, NULL, NULL, error, "has %u pieces, but the plan has %u", pieces,
                           reader->work->pieces->len);
  JsonArray *done = base_json_need_array (reader->json, object, "done", error);
  JsonArray *runs = done != NULL ? base_json_need_array (reader->json, object, "runs", error) : NULL;
  if (runs == NULL)
    return FALSE;
  for (guint i = 0; i < json_array_get_length (done); i++) {
    JsonNode *node = json_array_get_element (done, i);
    if (!JSON_NODE_HOLDS_OBJECT (node))
      return base_json_fail (reader->json, NULL, NULL, error, "'done' is not a list of pieces");
    if (!read_piece (reader, json_node_get_object (node), error))
      return FALSE;
  }
  for (guint i = 0; i < json_array_get_length (runs); i++)
    if (!read_run (reader, json_array_get_element (runs, i), i, error))
      return FALSE;
  return TRUE;
}

gboolean
pln_work_read (PlnWork *work, const BaseJson *json, JsonObject *object, GError **error)
{
  Reader reader = { work, json, G_MAXUINT32, NULL };
  gboolean read = read_all (&reader, object, error);
  g_clear_pointer (&reader.cuts, g_array_unref);
  return read;
}
