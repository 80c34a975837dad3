/* The table of pipeline schedules, and what follows from a row: counts accepted, places of the chain, who needs whose output. */
#include "orders-private.h"

#define NAME_ROW(code, name, help) { #name, MDL_SCHEDULE_##code, help },
const BaseName mdl_schedule_names[] = { MDL_SCHEDULE_ROWS (NAME_ROW){ NULL, 0, NULL } };

#define TABLE_ROW(code, name, help) [MDL_SCHEDULE_##code] = &mdl_schedule_##name,
static const MdlScheduleRow *const rows[MDL_SCHEDULE_N] = { MDL_SCHEDULE_ROWS (TABLE_ROW) };

static const MdlScheduleRow *
row_of (const MdlPipeline *pipe)
{
  return rows[pipe->schedule];
}

const MdlScheduleFacts *
mdl_schedule_facts (MdlSchedule schedule)
{
  return &rows[schedule]->facts;
}

guint32
mdl_schedule_cuts (MdlSchedule schedule)
{
  return rows[schedule]->cuts;
}

char *
mdl_schedule_fault (const MdlScheduleRow *row, const char *name)
{
  const char *missing = row->order == NULL             ? "order"
                        : row->facts.bubble == NULL    ? "facts.bubble"
                        : row->facts.in_flight == NULL ? "facts.in_flight"
                        : row->facts.source == NULL    ? "facts.source"
                                                       : NULL;
  return missing == NULL ? NULL
                         : g_strdup_printf ("schedule '%s' lacks its '%s': mdl_schedule_%s in models/schedules must have one", name,
                                            missing, name);
}

char *
mdl_schedules_fault (void)
{
  char *fault = NULL;
  for (int schedule = 0; schedule < MDL_SCHEDULE_N && fault == NULL; schedule++)
    fault = mdl_schedule_fault (rows[schedule], base_name (mdl_schedule_names, schedule));
  return fault;
}

gboolean
mdl_schedule_is_listed (MdlSchedule schedule)
{
  return !mdl_schedule_facts (schedule)->loops;
}

static char *
check_v (const MdlPipeline *pipe, const char *name)
{
  guint32 cuts = row_of (pipe)->cuts;
  if (cuts > 0 && pipe->v != cuts)
    return g_strdup_printf ("schedule %s has %u chunk%s of the model on a rank, not %u; write vp: %u, or leave vp out", name, cuts,
                            cuts == 1 ? "" : "s", pipe->v, cuts);
  if (pipe->v < 2 && cuts == 0)
    return g_strdup_printf ("schedule %s needs several chunks of the model on a rank; write vp: 2 or more, or schedule: 1f1b",
                            name);
  return NULL;
}

static char *
check_m (const MdlPipeline *pipe, const char *name)
{
  static const double MOST = 1e6;
  const MdlScheduleRow *row = row_of (pipe);
  guint32 p = pipe->p, m = pipe->m;
  if (row->groups_of_p && m % p > 0)
    return g_strdup_printf (
        "schedule %s needs a multiple of pp as number of micro-batches, found %u for pp %u; change the global batch "
        "or dp",
        name, m, p);
  if (row->even && m % 2 > 0)
    return g_strdup_printf ("schedule %s sends half of the micro-batches each way, and %u is odd; use an even number", name, m);
  if (m < (double)row->least_of_p * p)
    return g_strdup_printf ("schedule %s has too few micro-batches: %u over %u ranks; accepted: at least %.0f", name, m, p,
                            (double)row->least_of_p * p);
  if ((double)m * pipe->v > MOST)
    return g_strdup_printf ("%u micro-batches x %u chunks a rank are too many passes; accepted: at most %.0f", m, pipe->v, MOST);
  return NULL;
}

char *
mdl_schedule_check (const MdlPipeline *pipe, const char **key)
{
  static const double MOST = 10e6;
  const char *name = base_name (mdl_schedule_names, (int)pipe->schedule), *where = "pp";
  char *message = NULL;
  if (pipe->p < 1)
    message = g_strdup ("a pipeline has no ranks; accepted: at least 1");
  else if ((double)pipe->p * pipe->v > MOST)
    message = g_strdup_printf ("%u ranks x %u chunks are too many; accepted: at most %.0f chunks in all", pipe->p, pipe->v, MOST);
  else if (row_of (pipe)->even && pipe->p % 2 > 0)
    message = g_strdup_printf ("schedule %s enters at both ends and pairs the ranks, %u cannot be paired; accepted: an even pp",
                               name, pipe->p);
  if (message == NULL) {
    where = "vp";
    message = check_v (pipe, name);
  }
  if (message == NULL) {
    where = "micro_batches";
    message = pipe->m < 1 ? g_strdup ("a step has no micro-batches; accepted: at least 1") : check_m (pipe, name);
  }
  if (message != NULL && key != NULL)
    *key = where;
  return message;
}

guint32
mdl_schedule_positions (const MdlPipeline *pipe)
{
  return pipe->p * pipe->v;
}

guint32
mdl_schedule_copies (const MdlPipeline *pipe)
{
  return row_of (pipe)->layout == MDL_LAYOUT_COPIES ? 2 : 1;
}

guint32
mdl_schedule_chunks (const MdlPipeline *pipe)
{
  return pipe->v * mdl_schedule_copies (pipe);
}

guint32
mdl_schedule_position (const MdlPipeline *pipe, MdlPlace place)
{
  MdlLayout layout = row_of (pipe)->layout;
  if (layout == MDL_LAYOUT_ROUND || place.chunk == 0)
    return place.chunk * pipe->p + place.rank;
  return (layout == MDL_LAYOUT_VEE ? 2 * pipe->p : pipe->p) - 1 - place.rank;
}

MdlPlace
mdl_schedule_place (const MdlPipeline *pipe, guint32 micro_batch, guint32 position)
{
  guint32 p = pipe->p;
  switch (row_of (pipe)->layout) {
    case MDL_LAYOUT_VEE:
      return position < p ? (MdlPlace){ position, 0 } : (MdlPlace){ 2 * p - 1 - position, 1 };
    case MDL_LAYOUT_COPIES:
      return micro_batch < pipe->m / 2 ? (MdlPlace){ position, 0 } : (MdlPlace){ p - 1 - position, 1 };
    case MDL_LAYOUT_ROUND:
    default:
      return (MdlPlace){ position % p, position / p };
  }
}

/* Each backward pass that a forward pass follows becomes a pair with it: the forward pass, of another micro-batch, does not wait
 * for what this backward pass makes. A rank keeps one activation more. Short pipelines may lose by it, as both passes end together.
 * Source: NVIDIA/Megatron-LM 0011998 megatron/core/pipeline_parallel/combined_1f1b.py. */
static void
combine (GArray *turns)
{
  for (guint i = 0; i + 1 < turns->len; i++) {
    MdlTurn *one = &g_array_index (turns, MdlTurn, i), *next = one + 1, swap = *one;
    if (one->kind != MDL_TURN_BACKWARD || next->kind != MDL_TURN_FORWARD)
      continue;
    *one = *next;
    *next = swap;
    one->paired = TRUE;
    i++;
  }
}

GArray *
mdl_schedule_order (const MdlPipeline *pipe, guint32 rank)
{
  GArray *turns = g_array_sized_new (FALSE, FALSE, sizeof (MdlTurn), 3 * pipe->m * pipe->v);
  row_of (pipe)->order (pipe, rank, turns);
  if (pipe->combined)
    combine (turns);
  return turns;
}

/* The neighbour one position up or down the chain. */
static gboolean
neighbour (const MdlPipeline *pipe, guint32 rank, const MdlTurn *turn, gboolean behind, MdlPlace *out)
{
  guint32 position = mdl_schedule_position (pipe, (MdlPlace){ rank, turn->chunk });
  if (turn->kind == MDL_TURN_WEIGHT_GRADIENT || (behind ? position + 1 == mdl_schedule_positions (pipe) : position == 0))
    return FALSE;
  *out = mdl_schedule_place (pipe, turn->micro_batch, behind ? position + 1 : position - 1);
  return TRUE;
}

gboolean
mdl_schedule_needs (const MdlPipeline *pipe, guint32 rank, const MdlTurn *turn, MdlPlace *from)
{
  return neighbour (pipe, rank, turn, turn->kind != MDL_TURN_FORWARD, from);
}

gboolean
mdl_schedule_feeds (const MdlPipeline *pipe, guint32 rank, const MdlTurn *turn, MdlPlace *to)
{
  return neighbour (pipe, rank, turn, turn->kind == MDL_TURN_FORWARD, to);
}

gboolean
mdl_schedule_is_up (const MdlPipeline *pipe, guint32 from, guint32 to)
{
  return to == from + 1 || (to == 0 && from + 1 == pipe->p && pipe->p > 2);
}

void
mdl_turn_name (const MdlPipeline *pipe, const MdlTurn *turn, char *name, gsize size)
{
  static const char letter[MDL_TURN_KINDS] = { 'F', 'B', 'B', 'W' };
  if (mdl_schedule_chunks (pipe) > 1)
    g_snprintf (name, size, "%c%u.%u", letter[turn->kind], turn->micro_batch, turn->chunk);
  else
    g_snprintf (name, size, "%c%u", letter[turn->kind], turn->micro_batch);
}

double
mdl_schedule_peak (const GArray *turns, const double *chunk_B, const double *kept_B)
{
  double held_B = 0, peak_B = 0;
  for (guint i = 0; i < turns->len; i++) {
    const MdlTurn *turn = &g_array_index (turns, MdlTurn, i);
    double all_B = chunk_B != NULL ? chunk_B[turn->chunk] : 1, late_B = kept_B != NULL ? kept_B[turn->chunk] : all_B;
    switch (turn->kind) {
      case MDL_TURN_FORWARD:
        held_B += all_B;
        break;
      case MDL_TURN_BACKWARD:
        held_B -= all_B;
        break;
      case MDL_TURN_INPUT_GRADIENT:
        held_B -= all_B - late_B;
        break;
      case MDL_TURN_WEIGHT_GRADIENT:
      default:
        held_B -= late_B;
        break;
    }
    peak_B = MAX (peak_B, held_B);
  }
  return peak_B;
}
