#include "study/compare.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "models/tuner.h"

/* An algorithm that could not run, and on which numbers of nodes. */
typedef struct {
  char *who, *why;
  GString *nodes;
} Note;

static void
note_clear (gpointer data)
{
  Note *note = data;
  g_free (note->who);
  g_free (note->why);
  g_string_free (note->nodes, TRUE);
}

static void
column_free (gpointer data)
{
  StdCompareColumn *column = data;
  g_array_unref (column->spans);
  g_clear_pointer (&column->tuned, g_array_unref);
  g_free (column);
}

StdCompare *
std_compare_new (MdlOp op)
{
  StdCompare *compare = g_new0 (StdCompare, 1);
  compare->op = op;
  compare->sizes = g_array_new (FALSE, FALSE, sizeof (guint64));
  compare->columns = g_ptr_array_new_with_free_func (column_free);
  compare->rows = g_array_new (FALSE, FALSE, sizeof (StdCompareRow));
  compare->left_out = g_ptr_array_new_with_free_func (g_free);
  compare->notes = g_array_new (FALSE, FALSE, sizeof (Note));
  g_array_set_clear_func (compare->notes, note_clear);
  return compare;
}

void
std_compare_free (StdCompare *compare)
{
  if (compare == NULL)
    return;
  g_array_unref (compare->sizes);
  g_ptr_array_unref (compare->columns);
  g_array_unref (compare->rows);
  g_ptr_array_unref (compare->left_out);
  g_array_unref (compare->notes);
  g_free (compare);
}

StdCompareColumn *
std_compare_add_column (StdCompare *compare, guint32 nodes, guint32 ranks)
{
  StdCompareColumn *column = g_new0 (StdCompareColumn, 1);
  *column = (StdCompareColumn){ nodes, ranks, g_array_new (FALSE, FALSE, sizeof (StdCompareSpan)), NULL };
  g_ptr_array_add (compare->columns, column);
  return column;
}

gboolean
std_compare_is_tuned (MdlAlgo algo)
{
  return algo < MDL_ALGO_NCCL_N;
}

gboolean
std_compare_has_collnet (const StdCompare *compare)
{
  for (guint c = 0; c < compare->columns->len; c++) {
    const StdCompareColumn *column = g_ptr_array_index (compare->columns, c);
    for (guint i = 0; i < column->spans->len; i++) {
      MdlAlgo algo = g_array_index (column->spans, StdCompareSpan, i).algo;
      if (algo == MDL_ALGO_COLLNET_DIRECT || algo == MDL_ALGO_COLLNET_CHAIN || (algo == MDL_ALGO_NVLS && column->nodes > 1))
        return TRUE;
    }
  }
  return FALSE;
}

void
std_compare_rank (StdCompareRow *rows, guint n)
{
  guint best = 0;
  for (guint i = 1; i < n; i++)
    if (rows[i].coll.time_s < rows[best].coll.time_s)
      best = i;
  for (guint i = 0; i < n; i++) {
    double other_s = HUGE_VAL;
    for (guint k = 0; k < n; k++)
      if (k != i)
        other_s = fmin (other_s, rows[k].coll.time_s);
    rows[i].best = i == best;
    rows[i].margin = n > 1 && rows[i].coll.time_s > 0 ? other_s / rows[i].coll.time_s - 1 : (double)NAN;
  }
}

/* ---- prices ---- */

/* One number of nodes, as it is priced. */
typedef struct {
  const StdCompareQuery *query;
  ColComm *comm;
  gboolean tuned; /* only the algorithms that NCCL's tuner chooses between */
} Pricer;

static ColCollRequest
request_of (const Pricer *pricer, guint64 size_B)
{
  ColCollRequest request = pricer->query->like;
  request.size_B = (double)size_B;
  request.algo = MDL_ALGO_AUTO;
  return request;
}

/* Whether NCCL leaves the algorithm off by default, and the question too. */
static gboolean
is_off (const Pricer *pricer, MdlAlgo algo)
{
  return pricer->query->as_shipped && col_needs_fabric_sharp (pricer->comm, algo);
}

/* The size that is run where `size_B` is asked for. */
static guint64
round_size (const Pricer *pricer, guint64 size_B)
{
  const ColCollRequest *like = &pricer->query->like;
  return scn_size_round (like->op, size_B, mdl_dtype_size_B (like->dtype), col_comm_n_ranks (pricer->comm));
}

/* Adds to all rows of a size what the library itself would take. */
static gboolean
add_own_choice (const Pricer *pricer, ColCollRequest *request, GArray *rows, GError **error)
{
  g_auto (ColAnswer) own = { 0 };
  gboolean known = rows->len > 0 && col_comm_knows_choice (pricer->comm, request->op);
  request->algo = MDL_ALGO_AUTO;
  request->proto = pricer->query->like.proto;
  if (known && !col_coll_price (pricer->comm, request, &own, error))
    return FALSE;
  for (guint i = 0; i < rows->len; i++) {
    StdCompareRow *row = &g_array_index (rows, StdCompareRow, i);
    row->own_algo = known ? (int)own.algo : -1;
    row->own_proto = known ? (int)own.proto : -1;
    row->own_time_s = known ? own.time_s : (double)NAN;
  }
  return TRUE;
}

/* Appends a StdCompareRow for each algorithm that can run, by its fastest protocol; the first of equals. */
static gboolean
price_size (const Pricer *pricer, guint64 size_B, GArray *rows, GError **error)
{
  ColCollRequest request = request_of (pricer, size_B);
  g_autoptr (GArray) choices = col_comm_choices (pricer->comm, &request);
  g_auto (ColAnswer) coll = { 0 };
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *choice = &g_array_index (choices, ColChoice, i);
    if (choice->reason != NULL || (pricer->query->like.proto >= 0 && choice->proto != pricer->query->like.proto) ||
        is_off (pricer, choice->algo) || (pricer->tuned && !std_compare_is_tuned (choice->algo)))
      continue;
    request.algo = choice->algo;
    request.proto = choice->proto;
    if (!col_coll_price (pricer->comm, &request, &coll, error))
      return FALSE;
    StdCompareRow *last = rows->len > 0 ? &g_array_index (rows, StdCompareRow, rows->len - 1) : NULL;
    StdCompareRow row = { .coll = coll };
    row.coll.spread = NULL;
    row.coll.alike = NULL;
    if (last == NULL || last->coll.algo != choice->algo) /* choices of one algorithm follow one another */
      g_array_append_val (rows, row);
    else if (coll.time_s < last->coll.time_s)
      *last = row;
  }
  std_compare_rank ((StdCompareRow *)(gpointer)rows->data, rows->len);
  return add_own_choice (pricer, &request, rows, error);
}

/* ---- where the winner changes ---- */

typedef struct {
  guint64 size_B;
  MdlAlgo algo;
  MdlProto proto;
  unsigned channels;
} Winner;

/* FALSE when nothing can run. */
static gboolean
winner_of (const GArray *rows, guint64 size_B, Winner *winner)
{
  for (guint i = 0; i < rows->len; i++) {
    const StdCompareRow *row = &g_array_index (rows, StdCompareRow, i);
    if (!row->best)
      continue;
    *winner = (Winner){ size_B, row->coll.algo, row->coll.proto, row->coll.cost.channels };
    return TRUE;
  }
  return FALSE;
}

static gboolean
is_same (const Winner *a, const Winner *b)
{
  return a->algo == b->algo && a->proto == b->proto;
}

static void
add_winner (GArray *spans, const Winner *winner)
{
  StdCompareSpan *last = spans->len > 0 ? &g_array_index (spans, StdCompareSpan, spans->len - 1) : NULL;
  if (last != NULL && last->algo == winner->algo && last->proto == winner->proto) {
    last->channels = MAX (last->channels, winner->channels);
    return;
  }
  StdCompareSpan span = { winner->size_B, winner->algo, winner->proto, winner->channels };
  g_array_append_val (spans, span);
}

/* Parts of the way between two sizes to which a change of winners is placed, and changes between them that are followed. */
#define PARTS       256u
#define MAX_CHANGES 8u

/* Adds what wins between `low`, which is in `spans`, and `high`, by halving the way to each change. */
static gboolean
follow (const Pricer *pricer, Winner low, const Winner *high, GArray *spans, GError **error)
{
  unsigned element_B = mdl_dtype_size_B (pricer->query->like.dtype);
  guint64 step_B = MAX ((high->size_B - low.size_B) / PARTS, (guint64)element_B);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (StdCompareRow));
  for (unsigned change = 0; change < MAX_CHANGES && !is_same (&low, high); change++) {
    Winner before = low, after = *high;
    while (after.size_B - before.size_B > step_B) {
      guint64 middle_B = round_size (pricer, before.size_B + (after.size_B - before.size_B) / 2);
      Winner middle;
      if (middle_B <= before.size_B)
        break; /* no size between */
      g_array_set_size (rows, 0);
      if (!price_size (pricer, middle_B, rows, error))
        return FALSE;
      if (!winner_of (rows, middle_B, &middle))
        break;
      if (is_same (&middle, &low))
        before = middle;
      else
        after = middle;
    }
    add_winner (spans, &before); /* its channels */
    add_winner (spans, &after);
    low = after;
  }
  add_winner (spans, high);
  return TRUE;
}

/* ---- one number of nodes ---- */

/* Appends the rows of one size to the last column. */
static gboolean
add_rows (const Pricer *pricer, guint size, GArray *rows, StdCompare *compare, GError **error)
{
  const guint64 size_B = round_size (pricer, g_array_index (compare->sizes, guint64, size));
  g_array_set_size (rows, 0);
  if (!price_size (pricer, size_B, rows, error))
    return FALSE;
  if (compare->rows->len + rows->len > SCN_MAX_ROWS) {
    g_set_error (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, "more than %u rows; ask for fewer sizes or fewer node counts",
                 SCN_MAX_ROWS);
    return FALSE;
  }
  for (guint i = 0; i < rows->len; i++) {
    StdCompareRow *row = &g_array_index (rows, StdCompareRow, i);
    row->column = compare->columns->len - 1;
    row->size = size;
  }
  g_array_append_vals (compare->rows, rows->data, rows->len);
  return TRUE;
}

/* The winners of what was priced at one size more, after those in `spans`; `last`: where these end, size_B 0 before the first. */
static gboolean
go_on (const Pricer *pricer, const GArray *rows, guint64 size_B, Winner *last, GArray *spans, GError **error)
{
  Winner winner;
  if (!winner_of (rows, size_B, &winner))
    return TRUE;
  if (winner.size_B <= last->size_B || last->size_B == 0)
    add_winner (spans, &winner);
  else if (!follow (pricer, *last, &winner, spans, error))
    return FALSE;
  *last = winner;
  return TRUE;
}

static gboolean
price_column (const Pricer *pricer, StdCompare *compare, StdCompareColumn *column, gboolean counts, GError **error)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (StdCompareRow));
  Winner last = { 0 };
  for (guint s = 0; s < compare->sizes->len; s++) {
    if (!add_rows (pricer, s, rows, compare, error))
      return FALSE;
    if (counts)
      base_progress_step ();
    if (!go_on (pricer, rows, round_size (pricer, g_array_index (compare->sizes, guint64, s)), &last, column->spans, error))
      return FALSE;
  }
  return TRUE;
}

/* Whether something wins that NCCL's tuner cannot choose. */
static gboolean
has_untuned (const GArray *spans)
{
  for (guint i = 0; i < spans->len; i++)
    if (!std_compare_is_tuned (g_array_index (spans, StdCompareSpan, i).algo))
      return TRUE;
  return FALSE;
}

/* The winners among what NCCL's tuner chooses between, into column->tuned where they are others. */
static gboolean
price_tuned (const Pricer *pricer, const StdCompare *compare, StdCompareColumn *column, GError **error)
{
  if (compare->op >= MDL_TUNER_OPS || !has_untuned (column->spans))
    return TRUE;
  const Pricer only = { pricer->query, pricer->comm, TRUE };
  column->tuned = g_array_new (FALSE, FALSE, sizeof (StdCompareSpan));
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (StdCompareRow));
  Winner last = { 0 };
  for (guint s = 0; s < compare->sizes->len; s++) {
    const guint64 size_B = round_size (pricer, g_array_index (compare->sizes, guint64, s));
    g_array_set_size (rows, 0);
    if (!price_size (&only, size_B, rows, error) || !go_on (&only, rows, size_B, &last, column->tuned, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- what is left out ---- */

/* Why an algorithm runs with no protocol at this size; NULL where one can. The last reason is the most general: protocols are
 * asked after the cluster. */
static const char *
why_not (const GArray *choices, MdlAlgo algo, MdlProto proto)
{
  const char *why = NULL;
  for (guint i = 0; i < choices->len; i++) {
    const ColChoice *choice = &g_array_index (choices, ColChoice, i);
    if (choice->algo != algo || (proto >= 0 && choice->proto != proto))
      continue;
    if (choice->reason == NULL)
      return NULL;
    why = choice->reason;
  }
  return why;
}

/* Whether the operation has this algorithm. */
static gboolean
is_known (const GArray *choices, MdlAlgo algo)
{
  for (guint i = 0; i < choices->len; i++)
    if (g_array_index (choices, ColChoice, i).algo == algo)
      return TRUE;
  return FALSE;
}

/* "nvls on 2, 4 nodes: its ranks span …": numbers of nodes with one reason share a line. */
static void
note (StdCompare *compare, const char *who, const char *why, guint32 nodes)
{
  Note *found = NULL;
  for (guint i = 0; i < compare->notes->len && found == NULL; i++) {
    Note *one = &g_array_index (compare->notes, Note, i);
    found = strcmp (one->who, who) == 0 && strcmp (one->why, why) == 0 ? one : NULL;
  }
  if (found == NULL) {
    const Note fresh = { g_strdup (who), g_strdup (why), g_string_new (NULL) };
    g_array_append_val (compare->notes, fresh);
    found = &g_array_index (compare->notes, Note, compare->notes->len - 1);
  }
  g_string_append_printf (found->nodes, "%s%u", found->nodes->len > 0 ? ", " : "", nodes);
}

/* Of the last column: the algorithms without any row, with the reason at the largest size. */
static void
note_left_out (const Pricer *pricer, StdCompare *compare)
{
  guint last = compare->columns->len - 1;
  guint32 priced = pricer->query->disabled_algos;
  for (guint i = compare->rows->len; i-- > 0 && g_array_index (compare->rows, StdCompareRow, i).column == last;)
    priced |= 1u << g_array_index (compare->rows, StdCompareRow, i).coll.algo;
  ColCollRequest request = request_of (pricer, compare->max_B);
  g_autoptr (GArray) choices = col_comm_choices (pricer->comm, &request);
  for (int algo = 0; algo < MDL_ALGO_N; algo++) {
    const char *why = priced & (1u << algo) ? NULL : why_not (choices, (MdlAlgo)algo, pricer->query->like.proto);
    if (why == NULL && !(priced & (1u << algo)) && is_known (choices, (MdlAlgo)algo) && is_off (pricer, (MdlAlgo)algo))
      why = "in-network reduction is off by default, as in NCCL (--in-network includes it)";
    if (why != NULL)
      note (compare, base_name (mdl_algo_names, algo), why, col_comm_n_nodes (pricer->comm));
  }
}

gboolean
std_compare_price (StdCompare *compare, const StdCompareQuery *query, ColComm *comm, GError **error)
{
  const Pricer pricer = { query, comm, FALSE };
  const guint32 nodes = col_comm_n_nodes (comm), ranks = col_comm_n_ranks (comm);
  if (ranks == 1) {
    note (compare, "all algorithms", "one rank has nobody to talk to", nodes);
    return TRUE;
  }
  const gboolean counts = compare->sizes->len > 1 && base_progress_begin ("sizes", compare->sizes->len, 0);
  StdCompareColumn *column = std_compare_add_column (compare, nodes, ranks);
  const gboolean good = price_column (&pricer, compare, column, counts, error) && price_tuned (&pricer, compare, column, error);
  if (counts)
    base_progress_end ();
  if (!good)
    return FALSE;
  note_left_out (&pricer, compare);
  return TRUE;
}

void
std_compare_end (StdCompare *compare)
{
  for (guint i = 0; i < compare->notes->len; i++) {
    const Note *one = &g_array_index (compare->notes, Note, i);
    g_autoptr (GString) who = g_string_new (one->who);
    gboolean is_first = TRUE; /* algorithms with one reason on the same numbers of nodes share a line */
    for (guint k = 0; k < compare->notes->len; k++) {
      const Note *other = &g_array_index (compare->notes, Note, k);
      if (k == i || strcmp (other->why, one->why) != 0 || strcmp (other->nodes->str, one->nodes->str) != 0)
        continue;
      is_first = is_first && k > i;
      g_string_append_printf (who, ", %s", other->who);
    }
    if (is_first)
      g_ptr_array_add (compare->left_out, g_strdup_printf ("%s on %s node%s: %s", who->str, one->nodes->str,
                                                           strcmp (one->nodes->str, "1") == 0 ? "" : "s", one->why));
  }
}
