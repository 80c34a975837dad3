/* Constants of kernels from what forerun-probe measured: products, passes over memory, launches, attention of sequences that decode
 * (docs/probe_compute.md).
 *
 * Products tell, in bf16, what all formats share, and of each format its own. Held out are every second shape by its work, whole
 * (all passes, formats and modes), and all of Llama 3 405B's layers, as another kind. The probe's own kernel of `compute/attention`
 * is no library's: its points are left alone. That of `serving/decode` cuts sequences as libraries do, so it tells `decode`: held
 * out are every second size of each shape, and all of Llama 3 70B's heads on one GPU, as another kind. Products of few tokens
 * score only. */
#include "calibrate/section.h"

#include <math.h>
#include <string.h>

#include "models/kernel-spec.h"

#define MOST_GROUPS  4096u
#define HELD_FAMILY  "llama3_405b."
#define HELD_DECODE  "llama3_70b"
#define MOST_LENGTH  1e9 /* of one side */
#define MOST_BYTES_B 0x1p50

static const CalStage stages[] = {
  { "gemm bf16", "gemm.bf16.share gemm.bf16.power gemm.start gemm.feed power.credit gemm.store gemm.split" },
  { "gemm fp16", "gemm.fp16.share gemm.fp16.power gemm.fp16.dgrad gemm.fp16.wgrad" },
  { "gemm fp8", "gemm.fp8.share gemm.fp8.power gemm.fp8.dgrad gemm.fp8.wgrad" },
  { "gemm tf32", "gemm.tf32.share gemm.tf32.wgrad gemm.tf32.power gemm.tf32.dgrad gemm.tf32.tile" },
  { "products in steps", "gemm.sustained" },
  { "batched", "" },
  { "grouped", "gemm.grouped" },
  { "few tokens", "" },
  { "few tokens, grouped", "" },
  { "passes", "memory.passes" },
  { "attention forward", "attention.forward.share attention.forward.scores attention.forward.tile" },
  { "attention backward", "attention.backward.share attention.backward.scores attention.backward.tile" },
  { "decode", "decode.share decode.start decode.tile" },
  { "memory-bound", "memory.share memory.reads memory.start.copy memory.start.add memory.start.swiglu memory.start.rmsnorm "
                    "memory.start.softmax memory.start.adam" },
  { "launch", "launch.kernel launch.graph launch.event launch.synchronise launch.wait launch.kernel_gap launch.graph_kernel "
              "launch.graph_gap" },
  { NULL, NULL },
};

/* Shares of the tokens that the probe's skewed groups have (docs/probe_compute.md). */
static const double skewed[] = { 0.25, 0.20, 0.15, 0.125, 0.10, 0.075, 0.06, 0.04 };

typedef struct {
  enum { GEMM, MEMORY, PASSES, LAUNCH, DECODE, ATTENTION } kind;
  gboolean recorded; /* within a step of a framework */
  union {
    MdlGemm gemm;
    MdlAttention attention;
    MdlMemory memory;
    MdlDecode decode;
    MdlLaunchKind launch;
  } of;
} Item;

/* ---- members of a point ---- */

static gboolean
length_of (const CalProbe *probe, guint i, const char *key, double *out, GError **error)
{
  return cal_probe_count (probe, i, key, 1, MOST_LENGTH, out, error);
}

static gboolean
is_text (const CalProbe *probe, guint i, const char *key, const char *value)
{
  return g_strcmp0 (base_json_text (cal_probe_point (probe, i), key), value) == 0;
}

/* From a quarter to seven quarters of the mean, as the probe rounds it. */
static double
linear_tokens (double mean, unsigned group, unsigned n)
{
  return n < 2 ? mean : fmax (floor (mean * (0.25 + 1.5 * group / (n - 1)) + 0.5), 1);
}

static gboolean
groups_of (CalCollect *r, guint i, MdlGemm *gemm, GError **error)
{
  double groups = 0;
  gboolean even = is_text (r->probe, i, "balance", "even"), linear = is_text (r->probe, i, "balance", "linear");
  if (!length_of (r->probe, i, "groups", &groups, error))
    return FALSE;
  if (groups > MOST_GROUPS)
    return cal_probe_fail (r->probe, i, error, "groups: at most %u are accepted", MOST_GROUPS);
  if (!even && !linear && (!is_text (r->probe, i, "balance", "skewed") || groups != G_N_ELEMENTS (skewed)))
    return cal_probe_fail (r->probe, i, error, "balance: 'even' and 'linear' are accepted, and 'skewed' of %u groups",
                           (guint)G_N_ELEMENTS (skewed));
  gemm->n_groups = (unsigned)groups;
  double *m = base_arena_alloc_n (r->arena, gemm->n_groups, sizeof *m);
  for (unsigned g = 0; g < gemm->n_groups; g++)
    m[g] = even ? gemm->m / groups : linear ? linear_tokens (gemm->m / groups, g, gemm->n_groups) : gemm->m * skewed[g];
  gemm->group_m = m;
  return TRUE;
}

static gboolean
gemm_of (CalCollect *r, guint i, MdlGemm *gemm, GError **error)
{
  int op = 0, dtype = 0;
  memset (gemm, 0, sizeof *gemm);
  if (!cal_probe_name (r->probe, i, "op", mdl_gemm_op_names, &op, error) ||
      !cal_probe_name (r->probe, i, "dtype", mdl_precision_names, &dtype, error) ||
      !length_of (r->probe, i, "m", &gemm->m, error) || !length_of (r->probe, i, "n", &gemm->n, error) ||
      !length_of (r->probe, i, "k", &gemm->k, error))
    return FALSE;
  gemm->op = (MdlGemmOp)op;
  gemm->dtype = (MdlPrecision)dtype;
  gemm->sustained = is_text (r->probe, i, "mode", "sustained");
  if (!gemm->sustained && !is_text (r->probe, i, "mode", "burst"))
    return cal_probe_fail (r->probe, i, error, "mode: 'burst' and 'sustained' are accepted");
  if (is_text (r->probe, i, "what", "gemm_grouped"))
    return groups_of (r, i, gemm, error);
  return length_of (r->probe, i, "batch", &gemm->batch, error);
}

static gboolean
memory_of (const CalProbe *probe, guint i, MdlMemory *memory, GError **error)
{
  static const double reads[MDL_MEMORY_N] = { 1, 2, 2, 1, 1, 4 }, writes[MDL_MEMORY_N] = { 1, 1, 1, 1, 1, 3 };
  int kind = 0;
  if (!cal_probe_name (probe, i, "kernel", mdl_memory_kind_names, &kind, error))
    return FALSE;
  double moved_B = base_json_number (cal_probe_point (probe, i), "bytes_moved_B");
  if (!(moved_B >= 1) || moved_B > MOST_BYTES_B)
    return cal_probe_fail (probe, i, error, "bytes_moved_B: a size above 0 B is accepted");
  double each_B = moved_B / (reads[kind] + writes[kind]);
  *memory = (MdlMemory){ .kind = (MdlMemoryKind)kind, .read_B = reads[kind] * each_B, .written_B = writes[kind] * each_B };
  return TRUE;
}

/* The mean of a framework's passes. */
static gboolean
passes_of (const CalProbe *probe, guint i, MdlMemory *memory, GError **error)
{
  JsonObject *point = cal_probe_point (probe, i);
  *memory = (MdlMemory){ .kind = MDL_MEMORY_ADD,
                         .read_B = base_json_number (point, "read_B"),
                         .written_B = base_json_number (point, "written_B") };
  return (memory->read_B >= 0 && memory->written_B >= 1 && memory->read_B + memory->written_B <= MOST_BYTES_B) ||
         cal_probe_fail (probe, i, error, "read_B, written_B: sizes above 0 B are accepted");
}

static gboolean
decode_of (const CalProbe *probe, guint i, MdlDecode *decode, GError **error)
{
  int dtype = 0;
  memset (decode, 0, sizeof *decode);
  if (!cal_probe_name (probe, i, "dtype", mdl_precision_names, &dtype, error) ||
      !length_of (probe, i, "sequences", &decode->sequences, error) || !length_of (probe, i, "tokens", &decode->context, error) ||
      !length_of (probe, i, "queries", &decode->queries, error) || !length_of (probe, i, "heads", &decode->heads, error) ||
      !length_of (probe, i, "kv_heads", &decode->kv_heads, error) || !length_of (probe, i, "head_dim", &decode->head_dim, error))
    return FALSE;
  decode->dtype = (MdlPrecision)dtype;
  return TRUE;
}

static gboolean
attention_of (const CalProbe *probe, guint i, MdlAttention *attention, GError **error)
{
  int dtype = 0;
  memset (attention, 0, sizeof *attention);
  attention->backward = is_text (probe, i, "op", "backward");
  if (!attention->backward && !is_text (probe, i, "op", "forward"))
    return cal_probe_fail (probe, i, error, "op: 'forward' and 'backward' are accepted");
  if (!cal_probe_name (probe, i, "dtype", mdl_precision_names, &dtype, error) ||
      !length_of (probe, i, "batch", &attention->batch, error) || !length_of (probe, i, "heads", &attention->heads, error) ||
      !length_of (probe, i, "kv_heads", &attention->kv_heads, error) ||
      !length_of (probe, i, "length", &attention->q_length, error) ||
      !length_of (probe, i, "kv_length", &attention->kv_length, error) ||
      !length_of (probe, i, "head_dim", &attention->head_dim, error))
    return FALSE;
  attention->dtype = (MdlPrecision)dtype;
  attention->causal = base_json_flag (cal_probe_point (probe, i), "causal", FALSE);
  return TRUE;
}

/* Two libraries in one file would be fitted by one set of constants, which neither has. */
static gboolean
check_library (const CalProbe *probe, guint i, GError **error)
{
  const char *library = base_json_text (cal_probe_point (probe, i), "library");
  for (guint k = 0; k < i; k++) {
    const char *other = base_json_text (cal_probe_point (probe, k), "library");
    if (other != NULL && strcmp (other, library) != 0)
      return cal_probe_fail (probe, i, error, "library: '%s', and '%s' in points[%u]; one library of attention a file is accepted",
                             library, other, k);
  }
  return TRUE;
}

static gboolean
launch_of (const CalProbe *probe, guint i, gboolean *known, MdlLaunchKind *launch, GError **error)
{
  static const struct {
    const char *kind, *clock;
    MdlLaunchKind launch;
  } rows[] = {
    { "kernel", "host", MDL_LAUNCH_COST_KERNEL },
    { "graph_of_100", "host", MDL_LAUNCH_COST_GRAPH },
    { "graph_of_1", "host", MDL_LAUNCH_COST_GRAPH },
    { "event_record", "host", MDL_LAUNCH_COST_EVENT },
    { "stream_synchronise", "host", MDL_LAUNCH_COST_SYNCHRONISE },
    { "kernel_and_synchronise", "host", MDL_LAUNCH_COST_WAIT },
    { "kernel", "device", MDL_LAUNCH_COST_KERNEL_GAP },
    { "kernel_in_graph", "device", MDL_LAUNCH_COST_GRAPH_KERNEL },
    { "graph_of_1", "device", MDL_LAUNCH_COST_GRAPH_GAP },
  };
  if (base_json_text (cal_probe_point (probe, i), "kind") == NULL || base_json_text (cal_probe_point (probe, i), "clock") == NULL)
    return cal_probe_fail (probe, i, error, "kind and clock: texts are accepted");
  *known = FALSE;
  for (size_t k = 0; k < G_N_ELEMENTS (rows) && !*known; k++)
    if (is_text (probe, i, "kind", rows[k].kind) && is_text (probe, i, "clock", rows[k].clock)) {
      *launch = rows[k].launch;
      *known = TRUE;
    }
  return TRUE;
}

/* ---- points ---- */

static void
add (CalCollect *r, const char *stage, const char *group, CalUse use, double measured_s, const Item *item, const char *what)
{
  const CalSectionPoint point = { .stage = stage,
                                  .group = group != NULL ? base_arena_strdup (r->arena, group) : NULL,
                                  .measured = measured_s,
                                  .use = use,
                                  .what = base_arena_strdup (r->arena, what) };
  cal_collect_add (r, &point, item, sizeof *item);
}

static gboolean
is_recorded (const CalCollect *r)
{
  return base_json_flag (cal_probe_root (r->probe), "recorded", FALSE);
}

/* Its interval as well as its median: a constant of its own needs more than one point. */
static void
add_thrice (CalCollect *r, guint i, const char *stage, double measured_s, const Item *item, const char *what)
{
  JsonObject *point = cal_probe_point (r->probe, i);
  const double told_s[] = { base_json_number (point, "ci_lo_s"), measured_s, base_json_number (point, "ci_hi_s") };
  for (size_t k = 0; k < G_N_ELEMENTS (told_s); k++)
    if (told_s[k] > 0)
      add (r, stage, NULL, CAL_USE_FIT, told_s[k], item, what);
}

static gboolean
read_attention (CalCollect *r, guint i, double measured_s, GError **error)
{
  Item item = { .kind = ATTENTION, .recorded = is_recorded (r) };
  const MdlAttention *a = &item.of.attention;
  if (base_json_text (cal_probe_point (r->probe, i), "library") == NULL)
    return TRUE; /* the probe's own */
  if (!check_library (r->probe, i, error) || !attention_of (r->probe, i, &item.of.attention, error))
    return FALSE;
  const char *stage = a->backward ? "attention backward" : "attention forward";
  g_autofree char *what =
      g_strdup_printf ("%s, %.0f x %.0f tokens, %.0f heads of %.0f", stage, a->batch, a->q_length, a->heads, a->head_dim);
  add_thrice (r, i, stage, measured_s, &item, what);
  return TRUE;
}

static gboolean
read_gemm (CalCollect *r, guint i, double measured_s, GError **error)
{
  Item item = { .kind = GEMM, .recorded = is_recorded (r) };
  MdlGemm *gemm = &item.of.gemm;
  if (!gemm_of (r, i, gemm, error))
    return FALSE;
  const char *dtype = base_name (mdl_precision_names, (int)gemm->dtype), *op = base_name (mdl_gemm_op_names, (int)gemm->op);
  gboolean plain = gemm->n_groups == 0 && gemm->batch == 1;
  g_autofree char *group = plain ? g_strdup_printf ("%s %s%s", dtype, op, gemm->sustained ? ", sustained" : "") : NULL;
  g_autofree char *what =
      g_strdup_printf ("%s %s %.0f x %.0f x %.0f%s", dtype, op, gemm->m, gemm->n, gemm->k, gemm->sustained ? ", sustained" : "");
  if (!plain) {
    add (r, gemm->n_groups > 0 ? "grouped" : "batched", NULL, CAL_USE_FIT, measured_s, &item, what);
    return TRUE;
  }
  static const struct {
    MdlPrecision dtype;
    const char *stage;
  } of[] = { { MDL_PRECISION_BF16, "gemm bf16" },
             { MDL_PRECISION_FP16, "gemm fp16" },
             { MDL_PRECISION_FP8, "gemm fp8" },
             { MDL_PRECISION_TF32, "gemm tf32" } };
  const char *shape = base_json_text (cal_probe_point (r->probe, i), "shape");
  CalUse use = shape != NULL && g_str_has_prefix (shape, HELD_FAMILY) ? CAL_USE_HELD_KIND : CAL_USE_FIT;
  for (size_t s = 0; s < G_N_ELEMENTS (of); s++)
    if (of[s].dtype == gemm->dtype)
      add (r, item.recorded ? "products in steps" : of[s].stage, group, use, measured_s, &item, what);
  return TRUE;
}

static gboolean
read_point (CalCollect *r, guint i, double measured_s, GError **error)
{
  const char *what = base_json_text (cal_probe_point (r->probe, i), "what");
  Item item = { .recorded = is_recorded (r) };
  if (what != NULL && g_str_has_prefix (what, "gemm"))
    return read_gemm (r, i, measured_s, error);
  if (g_strcmp0 (what, "memory") == 0) {
    item.kind = MEMORY;
    if (!memory_of (r->probe, i, &item.of.memory, error))
      return FALSE;
    g_autofree char *text = g_strdup_printf ("%s of %.0f B", base_name (mdl_memory_kind_names, (int)item.of.memory.kind),
                                             item.of.memory.read_B + item.of.memory.written_B);
    add (r, "memory-bound", NULL, CAL_USE_FIT, measured_s, &item, text);
  } else if (g_strcmp0 (what, "launch") == 0) {
    gboolean known = FALSE;
    item.kind = LAUNCH;
    if (!launch_of (r->probe, i, &known, &item.of.launch, error))
      return FALSE;
    if (known)
      add_thrice (r, i, "launch", measured_s, &item, base_name (mdl_launch_kind_names, (int)item.of.launch));
  } else if (g_strcmp0 (what, "passes") == 0) {
    item.kind = PASSES;
    if (!passes_of (r->probe, i, &item.of.memory, error))
      return FALSE;
    add_thrice (r, i, "passes", measured_s, &item, "passes");
  } else if (g_strcmp0 (what, "attention") == 0)
    return read_attention (r, i, measured_s, error);
  return TRUE; /* what later probes may add */
}

static gboolean
read_decode (CalCollect *r, guint i, double measured_s, GError **error)
{
  Item item = { .kind = DECODE };
  const MdlDecode *decode = &item.of.decode;
  if (!decode_of (r->probe, i, &item.of.decode, error))
    return FALSE;
  const char *shape = base_json_text (cal_probe_point (r->probe, i), "shape");
  g_autofree char *what = g_strdup_printf ("decode of %.0f sequences, %.0f tokens, %.0f heads on %.0f", decode->sequences,
                                           decode->context, decode->heads, decode->kv_heads);
  add (r, "decode", NULL, g_strcmp0 (shape, HELD_DECODE) == 0 ? CAL_USE_HELD_KIND : CAL_USE_FIT, measured_s, &item, what);
  return TRUE;
}

static gboolean
read_serving (CalCollect *r, guint i, double measured_s, GError **error)
{
  Item item = { .kind = GEMM };
  const MdlGemm *gemm = &item.of.gemm;
  if (is_text (r->probe, i, "what", "decode"))
    return read_decode (r, i, measured_s, error);
  if (!is_text (r->probe, i, "what", "gemm") && !is_text (r->probe, i, "what", "gemm_grouped"))
    return TRUE; /* kernels in graphs, blocks of caches, and what later probes may add */
  if (!gemm_of (r, i, &item.of.gemm, error))
    return FALSE;
  g_autofree char *what = g_strdup_printf ("%s of few tokens %.0f x %.0f x %.0f", base_name (mdl_precision_names, (int)gemm->dtype),
                                           gemm->m, gemm->n, gemm->k);
  add (r, gemm->n_groups > 0 ? "few tokens, grouped" : "few tokens", NULL, CAL_USE_FIT, measured_s, &item, what);
  return TRUE;
}

/* By work, then by sides: one order, whatever that of the file. */
static gint
compare_shapes (gconstpointer a, gconstpointer b)
{
  const MdlGemm *x = *(const MdlGemm *const *)a, *y = *(const MdlGemm *const *)b;
  const double by[][2] = { { x->m * x->n * x->k, y->m * y->n * y->k }, { x->m, y->m }, { x->n, y->n } };
  for (size_t i = 0; i < G_N_ELEMENTS (by); i++)
    if (by[i][0] > by[i][1] || by[i][0] < by[i][1])
      return by[i][0] < by[i][1] ? -1 : 1;
  return 0;
}

/* Products to be fitted, of the kinds that are split by shape. */
static const MdlGemm *
gemm_to_split (const CalSectionPoint *point)
{
  const Item *item = point->item;
  return item->kind == GEMM && point->group != NULL && point->use == CAL_USE_FIT ? &item->of.gemm : NULL;
}

/* Every second shape, whatever is measured of it. */
static void
hold_shapes (GArray *points, guint first)
{
  g_autoptr (GPtrArray) gemms = g_ptr_array_new ();
  for (guint i = first; i < points->len; i++) {
    const MdlGemm *gemm = gemm_to_split (&g_array_index (points, CalSectionPoint, i));
    if (gemm != NULL)
      g_ptr_array_add (gemms, (gpointer)gemm);
  }
  g_ptr_array_sort (gemms, compare_shapes);
  g_autoptr (GHashTable) held = g_hash_table_new (g_direct_hash, g_direct_equal);
  guint n = 0;
  for (guint i = 0; i < gemms->len; i++) {
    if (i > 0 && compare_shapes (&gemms->pdata[i - 1], &gemms->pdata[i]) != 0)
      n++;
    if (n % 2 == 1)
      g_hash_table_add (held, gemms->pdata[i]);
  }
  for (guint i = first; i < points->len; i++) {
    CalSectionPoint *point = &g_array_index (points, CalSectionPoint, i);
    const MdlGemm *gemm = gemm_to_split (point);
    if (gemm != NULL && g_hash_table_contains (held, gemm))
      point->use = CAL_USE_HELD_SIZE;
  }
}

static gboolean
same_kernel (const CalSectionPoint *a, const CalSectionPoint *b)
{
  const Item *p = a->item, *q = b->item;
  if (p->kind == DECODE && q->kind == DECODE)
    return p->of.decode.heads == q->of.decode.heads && p->of.decode.kv_heads == q->of.decode.kv_heads;
  return p->kind == MEMORY && q->kind == MEMORY && p->of.memory.kind == q->of.memory.kind;
}

static gboolean
collect (CalCollect *r, GError **error)
{
  guint first = r->points->len;
  if (!cal_collect_each (r, "compute", read_point, error) || !cal_collect_each (r, "serving", read_serving, error))
    return FALSE;
  hold_shapes (r->points, first);
  cal_section_hold_every_second (r->points, first, same_kernel);
  return TRUE;
}

static double
predict (const void *section, const CalNode *node, const CalSectionPoint *point)
{
  const MdlKernels *kernels = section;
  const Item *item = point->item;
  double time_s;
  switch (item->kind) {
    case GEMM:
      time_s = mdl_gemm_time_s (kernels, node->gpu, &item->of.gemm);
      break;
    case MEMORY:
    case PASSES:
      time_s = mdl_memory_time_s (kernels, node->gpu, &item->of.memory);
      break;
    case ATTENTION:
      time_s = mdl_attention_time_s (kernels, node->gpu, &item->of.attention);
      break;
    case DECODE:
      time_s = mdl_decode_time_s (kernels, node->gpu, &item->of.decode);
      break;
    default:
      time_s = mdl_launch_cost_s (kernels, item->of.launch);
      break;
  }
  return isfinite (time_s) && time_s > 0 ? time_s : (double)NAN;
}

/* What only steps of a framework tell has no default: 1 as long as nothing was recorded. */
static void
start (const CalProbe *probe, void *section)
{
  MdlKernels *kernels = section;
  BaseNum *const factors[] = { &kernels->gemm.sustained, &kernels->memory.passes };
  for (size_t i = 0; i < G_N_ELEMENTS (factors) && base_json_flag (cal_probe_root (probe), "recorded", FALSE); i++)
    if (!factors[i]->set)
      factors[i]->v = 1;
}

/* What a scenario has to say beside constants that hold what a framework makes of kernels. */
static GPtrArray *
note (const CalSectionFit *fit)
{
  gboolean recorded = FALSE;
  for (guint i = 0; i < fit->points->len && !recorded; i++)
    recorded = ((const Item *)g_array_index (fit->points, CalSectionPoint, i).item)->recorded;
  if (!recorded)
    return NULL;
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (notes, g_strdup ("kernels were recorded within steps: write software: {name: …, efficiency: 1, attention: 1} in "
                                    "training scenarios, or the framework's efficiency counts twice"));
  return notes;
}

const CalSection cal_section_kernels = {
  .keys = &cst_kernels,
  .error_path = "error",
  .stages = stages,
  .collect = collect,
  .predict = predict,
  .start = start,
  .note = note,
};
