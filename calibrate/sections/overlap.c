/* The section `overlap`: what the probe's points of kernels beside collectives say of them. */
#include "calibrate/section.h"

#include <math.h>
#include <string.h>

#include "models/overlap.h"

#define SECTION "overlap"

/* ---- points ---- */

typedef enum { OF_COMPUTE, OF_COMM, OF_TOTAL, N_OF } Of;
static const char *const whats[N_OF] = { "compute_under_comm", "comm_under_compute", "total" };
static const char *const titles[N_OF] = { "kernel", "collective", "total" };

typedef struct {
  Of of;
  MdlOverlapCompute compute;
  MdlOverlapComm comm;
  double compute_s, comm_s; /* alone */
  unsigned n_compute, n_comm, ranks;
} Item;

/* Samples of one state: the parts of a run are successive, and where they differ by more than this the two queues have fallen into
 * another rhythm on the way, so that a median says how long each lasted. */
static const double ONE_STATE = 1.5;
static const double LEAST_S = 1e-9; /* of a kernel, of a collective */
static const double MOST_GPUS = 1024, MOST_CHANNELS = 1024, MOST_B = 0x1p50, MOST_N = 8192, MOST_DIM = 1 << 24;

typedef struct {
  CalCollect *c;
  const CalProbe *file;
  GHashTable *at;   /* key of a point -> its index + 1 */
  GArray *channels; /* double, as they come */
  GArray *sizes;    /* likewise */
} Reader;

static const char *const compute_keys[] = { "compute", "dtype", "m", "n", "k", "copy_B", "heads", "length", "head_dim" };
static const char *const comm_keys[] = { "collective", "comm_dtype", "size_B", "channels" };

static void
add_key (GString *key, JsonObject *point, const char *name)
{
  const char *text = base_json_text (point, name);
  char number[G_ASCII_DTOSTR_BUF_SIZE] = "";
  if (text == NULL && json_object_has_member (point, name))
    g_ascii_dtostr (number, sizeof number, base_json_number (point, name));
  g_string_append_printf (key, "/%s", text != NULL ? text : number);
}

/* What tells a point from others. Returned: full. */
static char *
key_of (JsonObject *point, const char *what, gboolean compute, gboolean comm)
{
  GString *key = g_string_new (what);
  add_key (key, point, "gpus");
  for (guint i = 0; compute && i < G_N_ELEMENTS (compute_keys); i++)
    add_key (key, point, compute_keys[i]);
  for (guint i = 0; comm && i < G_N_ELEMENTS (comm_keys); i++)
    add_key (key, point, comm_keys[i]);
  return g_string_free (key, FALSE);
}

/* All points by what they are of. */
static gboolean
index_points (Reader *r, GError **error)
{
  for (guint i = 0; i < cal_probe_n_points (r->file); i++) {
    JsonObject *point = cal_probe_point (r->file, i);
    if (!cal_probe_is (r->file, i, SECTION, NULL))
      continue;
    const char *what = base_json_text (point, "what");
    if (what == NULL)
      return cal_probe_fail (r->file, i, error, "what is missing");
    if (json_object_has_member (point, "skipped"))
      continue; /* parameters may be missing as well */
    char *key = key_of (point, what, strcmp (what, "comm_alone") != 0, strcmp (what, "compute_alone") != 0);
    guint before = GPOINTER_TO_UINT (g_hash_table_lookup (r->at, key));
    if (before > 0) {
      g_free (key);
      return cal_probe_fail (r->file, i, error, "what: the same case as points[%u]", before - 1);
    }
    g_hash_table_insert (r->at, key, GUINT_TO_POINTER (i + 1));
  }
  return TRUE;
}

/* A time that counts; NAN where there is none. */
static gboolean
time_of (const Reader *r, guint i, double *time_s, GError **error)
{
  CalPointState state;
  if (!cal_probe_judge (r->file, i, &state, time_s, error))
    return FALSE;
  if (state != CAL_POINT_GOOD)
    *time_s = (double)NAN;
  return !(*time_s < LEAST_S) || cal_probe_fail (r->file, i, error, "median_s: at least 1 ns is accepted");
}

/* The time of the point with that key. */
static gboolean
time_at (const Reader *r, JsonObject *like, const char *what, gboolean compute, gboolean comm, double *time_s, GError **error)
{
  g_autofree char *key = key_of (like, what, compute, comm);
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (r->at, key));
  *time_s = (double)NAN;
  return at == 0 || time_of (r, at - 1, time_s, error);
}

/* Channels that NCCL took by its own choice, as its log said; 0: it said nothing. */
static double
chosen_channels (const Reader *r, MdlOp op, unsigned gpus, double size_B)
{
  gboolean pairwise = op == MDL_OP_ALLTOALL || op == MDL_OP_SENDRECV;
  const char *name = NULL;
  for (const BaseName *known = mdl_op_names; known->name != NULL; known++)
    if (known->code == (int)(pairwise ? MDL_OP_ALL_REDUCE : op))
      name = known->name;
  for (guint i = 0; i < cal_probe_n_points (r->file); i++) {
    JsonObject *point = cal_probe_point (r->file, i);
    if (!cal_probe_is (r->file, i, "nccl", "choice") || g_strcmp0 (base_json_text (point, "op"), name) != 0)
      continue;
    double apart = fabs (base_json_number (point, "bytes") - size_B) + fabs (base_json_number (point, "gpus") - gpus);
    double channels = base_json_number (point, "channels");
    if (apart < 0.5 && channels >= 1 && channels <= MOST_CHANNELS)
      /* those of sends and receives are a power of two: NCCL 2.28 src/graph/paths.cc, ncclTopoComputeP2pChannels */
      return pairwise ? exp2 (ceil (log2 (channels))) : channels;
  }
  return 0;
}

/* Bytes that the kernel moves from and to HBM at least. */
static gboolean
read_compute (const Reader *r, guint i, Item *item, GError **error)
{
  JsonObject *point = cal_probe_point (r->file, i);
  const char *kind = base_json_text (point, "compute"), *dtype = base_json_text (point, "dtype");
  const BaseName *precision = dtype != NULL ? base_name_find (mdl_precision_names, dtype) : NULL;
  double a, b, c, moved_B;
  if (precision == NULL)
    return cal_probe_fail (r->file, i, error, "dtype: a number format is accepted, such as bf16");
  double size_B = mdl_precision_size_B ((MdlPrecision)precision->code);
  item->compute.sm_share = 1;
  if (g_strcmp0 (kind, "gemm") == 0) {
    item->compute.kind = MDL_OVERLAP_GEMM;
    if (!cal_probe_count (r->file, i, "m", 1, MOST_DIM, &a, error) || !cal_probe_count (r->file, i, "n", 1, MOST_DIM, &b, error) ||
        !cal_probe_count (r->file, i, "k", 1, MOST_DIM, &c, error))
      return FALSE;
    moved_B = (a * c + b * c) * size_B + a * b * fmax (size_B, 2);
  } else if (g_strcmp0 (kind, "attention") == 0) {
    item->compute.kind = MDL_OVERLAP_ATTENTION;
    if (!cal_probe_count (r->file, i, "heads", 1, MOST_DIM, &a, error) ||
        !cal_probe_count (r->file, i, "length", 1, MOST_DIM, &b, error) ||
        !cal_probe_count (r->file, i, "head_dim", 1, MOST_DIM, &c, error))
      return FALSE;
    moved_B = 4 * a * b * c * size_B;
  } else if (g_strcmp0 (kind, "copy") == 0) {
    item->compute.kind = MDL_OVERLAP_MEMORY;
    if (!cal_probe_count (r->file, i, "copy_B", 1, MOST_B, &a, error))
      return FALSE;
    moved_B = 2 * a;
  } else
    return cal_probe_fail (r->file, i, error, "compute: gemm, copy or attention is accepted");
  item->compute.memory_Bps = moved_B / item->compute_s;
  return TRUE;
}

/* *channels: as asked for, 0 NCCL's choice. */
static gboolean
read_comm (const Reader *r, guint i, Item *item, MdlOp *op, double *channels, double *size_B, GError **error)
{
  JsonObject *point = cal_probe_point (r->file, i);
  const char *name = base_json_text (point, "collective");
  const BaseName *known = name != NULL ? base_name_find (mdl_op_names, name) : NULL;
  double gpus;
  if (known == NULL)
    return cal_probe_fail (r->file, i, error, "collective: an operation is accepted, such as all_reduce");
  if (!cal_probe_count (r->file, i, "gpus", 2, MOST_GPUS, &gpus, error) ||
      !cal_probe_count (r->file, i, "size_B", 1, MOST_B, size_B, error) ||
      !cal_probe_count (r->file, i, "channels", 0, MOST_CHANNELS, channels, error))
    return FALSE;
  *op = (MdlOp)known->code;
  item->ranks = (unsigned)gpus;
  item->comm.kind = *op == MDL_OP_ALLTOALL || *op == MDL_OP_SENDRECV ? MDL_OVERLAP_PAIRWISE : MDL_OVERLAP_SM;
  item->comm.channels = *channels > 0 ? *channels : chosen_channels (r, *op, item->ranks, *size_B);
  item->comm.memory_Bps = mdl_overlap_memory_B (*op, item->comm.kind, *size_B, item->ranks) / item->comm_s;
  return TRUE;
}

static guint
place_of (GArray *values, double value)
{
  for (guint i = 0; i < values->len; i++)
    if (!(fabs (g_array_index (values, double, i) - value) > 0))
      return i;
  g_array_append_val (values, value);
  return values->len - 1;
}

/* Held out: every second of channels x sizes, as squares of one colour, and reduce-scatter as a whole. */
static CalUse
use_of (Reader *r, MdlOp op, double channels, double size_B)
{
  guint place = place_of (r->channels, channels) + place_of (r->sizes, size_B);
  return op == MDL_OP_REDUCE_SCATTER || place % 2 == 1 ? CAL_USE_HELD_SIZE : CAL_USE_FIT;
}

/* How many operations the queues held: what the total of the same case says. FALSE: there is no such point. */
static gboolean
read_counts (const Reader *r, guint i, Item *item, gboolean *there, GError **error)
{
  g_autofree char *key = key_of (cal_probe_point (r->file, i), whats[OF_TOTAL], TRUE, TRUE);
  guint at = GPOINTER_TO_UINT (g_hash_table_lookup (r->at, key));
  double n_compute, n_comm;
  *there = at > 0;
  if (at == 0)
    return TRUE;
  if (!cal_probe_count (r->file, at - 1, "n_compute", 1, MOST_N, &n_compute, error) ||
      !cal_probe_count (r->file, at - 1, "n_comm", 1, MOST_N, &n_comm, error))
    return FALSE;
  item->n_compute = (unsigned)n_compute;
  item->n_comm = (unsigned)n_comm;
  return TRUE;
}

static char *
title_of (const Reader *r, JsonObject *point, const Item *item, double size_B)
{
  g_autofree char *size = base_quantity_format (size_B, BASE_DIM_BYTES, 4);
  return base_arena_printf (r->c->arena, "%s %s beside %s of %s on %.0f channels: %s", base_json_text (point, "compute"),
                            base_json_text (point, "dtype"), base_json_text (point, "collective"), size, item->comm.channels,
                            titles[item->of]);
}

static gboolean
read_point (Reader *r, guint i, Of of, GError **error)
{
  JsonObject *object = cal_probe_point (r->file, i);
  Item item = { .of = of };
  double time_s, channels = 0, size_B = 0;
  gboolean counted = FALSE;
  MdlOp op = MDL_OP_ALL_REDUCE;
  if (!time_of (r, i, &time_s, error) || !time_at (r, object, "compute_alone", TRUE, FALSE, &item.compute_s, error) ||
      !time_at (r, object, "comm_alone", FALSE, TRUE, &item.comm_s, error))
    return FALSE;
  gboolean known = isfinite (time_s) && isfinite (item.compute_s) && isfinite (item.comm_s);
  if (known && (!read_compute (r, i, &item, error) || !read_comm (r, i, &item, &op, &channels, &size_B, error) ||
                !read_counts (r, i, &item, &counted, error)))
    return FALSE;
  gboolean one_state = of == OF_TOTAL || !(base_json_number (object, "max_s") > ONE_STATE * base_json_number (object, "min_s"));
  if (!known || !counted || !one_state || item.comm.channels < 1) {
    r->c->n_left++;
    return TRUE;
  }
  const CalSectionPoint point = { .stage = "together",
                                  .measured = time_s,
                                  .use = use_of (r, op, channels, size_B),
                                  .what = title_of (r, object, &item, size_B),
                                  .group = titles[of] };
  cal_collect_add (r->c, &point, &item, sizeof item);
  return TRUE;
}

static gboolean
read_points (Reader *r, GError **error)
{
  if (!index_points (r, error))
    return FALSE;
  for (guint of = 0; of < N_OF; of++) /* one after the other: each half of what is held out then has as much of each */
    for (guint i = 0; i < cal_probe_n_points (r->file); i++)
      if (cal_probe_is (r->file, i, SECTION, whats[of]) && !read_point (r, i, (Of)of, error))
        return FALSE;
  return TRUE;
}

static gboolean
collect (CalCollect *c, GError **error)
{
  const MdlGpu *gpu = c->node->gpu;
  if (!(gpu->sms > 0) || !(gpu->memory_Bps * gpu->memory_efficiency > 0))
    return TRUE; /* a GPU of which the model knows too little */
  g_autoptr (GHashTable) at = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) channels = g_array_new (FALSE, FALSE, sizeof (double)), sizes = g_array_new (FALSE, FALSE, sizeof (double));
  Reader r = { c, c->probe, at, channels, sizes };
  return read_points (&r, error);
}

static double
predict (const void *section, const CalNode *node, const CalSectionPoint *point)
{
  const Item *item = point->item;
  MdlOverlapQueues out;
  mdl_overlap_queues (
      section, node->gpu,
      &(MdlOverlapQuery){ item->compute, item->compute_s, item->n_compute, item->comm, item->comm_s, item->n_comm, item->ranks },
      &out);
  return item->of == OF_COMPUTE ? out.compute_s : item->of == OF_COMM ? out.comm_s : out.total_s;
}

/* Not `spread`: queues fall in and out of step by it, which no search by slopes follows. Not `wait`: 1, or another priority. */
static const CalStage stages[] = {
  { "together", "gemm.sm_cost gemm.channel_traffic memory.traffic_cost memory.channel_traffic pairwise attention.sm_cost "
                "attention.channel_traffic" },
  { NULL, NULL },
};

const CalSection cal_section_overlap = {
  .keys = &cst_overlap,
  .error_path = "error",
  .stages = stages,
  .collect = collect,
  .predict = predict,
};
