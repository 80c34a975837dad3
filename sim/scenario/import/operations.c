/* Operations of PyTorch with their shapes: matrix products and fused attention as cases that forerun-probe measures
 * (docs/probe_compute.md), kept as the members of their JSON objects; passes over memory by what they move.
 * Source of names and orders of arguments: aten/src/ATen/native/native_functions.yaml of PyTorch 2.11, and files that it wrote
 * (tests/data/import/SOURCES.md). */
#include <math.h>
#include <string.h>

#include "trace-private.h"

#define MOST_DIMS   4
#define MOST_LENGTH 1e9 /* of one side */

typedef struct {
  double length[MOST_DIMS], stride[MOST_DIMS]; /* strides in elements; NAN: not in the trace */
  guint n;
  double element_B;
  const char *dtype; /* as forerun-probe has it; static */
} Tensor;

/* Argument i of a list of lists of whole numbers. FALSE: none, or too many. */
static gboolean
numbers_of (JsonObject *args, const char *key, guint i, double out[MOST_DIMS], guint *n)
{
  JsonArray *all = base_json_array (args, key);
  JsonNode *node = all != NULL && i < json_array_get_length (all) ? json_array_get_element (all, i) : NULL;
  if (node == NULL || !JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;
  JsonArray *list = json_node_get_array (node);
  *n = json_array_get_length (list);
  if (*n > MOST_DIMS)
    return FALSE;
  for (guint k = 0; k < *n; k++) {
    out[k] = base_json_number_of (json_array_get_element (list, k));
    if (!(out[k] >= 0 && out[k] <= MOST_LENGTH))
      return FALSE;
  }
  return TRUE;
}

static const char *
text_of (JsonObject *args, const char *key, guint i)
{
  JsonArray *all = base_json_array (args, key);
  return all != NULL && i < json_array_get_length (all) ? base_json_text_of (json_array_get_element (all, i)) : NULL;
}

/* Argument i. FALSE: it is not a tensor of up to four dimensions of a format with kernels of its own. */
static gboolean
tensor_of (JsonObject *args, guint i, Tensor *out)
{
  static const struct {
    const char *type, *dtype;
    double element_B;
  } types[] = { { "c10::BFloat16", "bf16", 2 },
                { "c10::Half", "fp16", 2 },
                { "float", "fp32", 4 },
                { "c10::Float8_e4m3fn", "fp8", 1 },
                { "c10::Float8_e5m2", "fp8", 1 } };
  const char *type = text_of (args, "Input type", i);
  guint n_strides = 0;
  *out = (Tensor){ .dtype = NULL };
  if (!numbers_of (args, "Input Dims", i, out->length, &out->n) || out->n == 0)
    return FALSE;
  if (!numbers_of (args, "Input Strides", i, out->stride, &n_strides) || n_strides != out->n)
    out->stride[0] = (double)NAN;
  for (guint k = 0; k < out->n; k++)
    if (out->length[k] < 1)
      return FALSE;
  for (guint k = 0; type != NULL && k < G_N_ELEMENTS (types); k++)
    if (strcmp (type, types[k].type) == 0) {
      out->dtype = types[k].dtype;
      out->element_B = types[k].element_B;
    }
  return out->dtype != NULL;
}

static double
elements_of (const Tensor *t)
{
  double n = 1;
  for (guint k = 0; k < t->n; k++)
    n *= t->length[k];
  return n;
}

/* Whether the last two dimensions lie transposed in memory. */
static gboolean
is_turned (const Tensor *t)
{
  const guint column = t->n - 1, row = t->n - 2;
  return !isnan (t->stride[0]) && t->stride[row] < 2 && t->stride[column] >= fmax (t->length[row], 2);
}

/* ---- matrix products ---- */

/* rows x inner by inner x columns, as the pass of a linear layer that lies so in memory: the forward pass reads weights
 * [features out, in] turned, the pass for weights reads gradients [tokens, features out] turned. */
static char *
product (const Tensor *a, const Tensor *b, const char *what, const char *more)
{
  const double rows = a->length[a->n - 2], inner = a->length[a->n - 1], columns = b->length[b->n - 1];
  const gboolean wgrad = is_turned (a), dgrad = !wgrad && !isnan (b->stride[0]) && !is_turned (b);
  const double m = wgrad ? inner : rows, n = wgrad ? rows : dgrad ? inner : columns, k = wgrad || dgrad ? columns : inner;
  return g_strdup_printf ("\"what\": \"%s\", \"dtype\": \"%s\", \"op\": \"%s\", \"m\": %.0f, \"n\": %.0f, \"k\": %.0f, %s, "
                          "\"mode\": \"sustained\"",
                          what, a->dtype,
                          wgrad   ? "wgrad"
                          : dgrad ? "dgrad"
                                  : "forward",
                          m, n, k, more);
}

/* Of two or three dimensions each; `first`: argument of the left factor. */
static char *
read_product (JsonObject *args, guint first)
{
  Tensor a, b, bias;
  if (!tensor_of (args, first, &a) || !tensor_of (args, first + 1, &b) || a.n != b.n || a.n < 2 || a.n > 3)
    return NULL;
  if (a.length[a.n - 1] != b.length[b.n - 2] || (a.n == 3 && a.length[0] != b.length[0]))
    return NULL;
  if (first == 1 && (!tensor_of (args, 0, &bias) || bias.n != 1)) /* a whole matrix is added */
    return NULL;
  g_autofree char *batch = g_strdup_printf ("\"batch\": %.0f", a.n == 3 ? a.length[0] : 1.0);
  return product (&a, &b, a.n == 3 ? "gemm_batched" : "gemm", batch);
}

/* Of experts: how many tokens each has is not in a trace, and taken as even. */
static char *
read_grouped (JsonObject *args, guint first)
{
  Tensor a, b;
  double offsets[MOST_DIMS];
  guint n = 0;
  if (!tensor_of (args, first, &a) || !tensor_of (args, first + 1, &b) || a.n != 2 || b.n < 2 || b.n > 3 ||
      !numbers_of (args, "Input Dims", first + 2, offsets, &n) || n != 1 || a.length[1] != b.length[b.n - 2] || offsets[0] < 1)
    return NULL;
  g_autofree char *groups = g_strdup_printf ("\"groups\": %.0f, \"balance\": \"even\"", offsets[0]);
  return product (&a, &b, "gemm_grouped", groups);
}

/* ---- attention ---- */

typedef struct {
  const char *library;
  gboolean backward;
  guint query;       /* argument; keys follow */
  guint causal;      /* argument */
  guint window;      /* argument, of a window's left side; 0: none */
  gboolean by_heads; /* [batch, heads, length, features], else [batch, length, heads, features] */
} Attention;

static char *
read_attention (JsonObject *args, const Attention *how)
{
  Tensor q, k;
  const char *causal = text_of (args, "Concrete Inputs", how->causal);
  const char *window = how->window > 0 ? text_of (args, "Concrete Inputs", how->window) : NULL;
  if (!tensor_of (args, how->query, &q) || !tensor_of (args, how->query + 1, &k) || q.n != 4 || k.n != 4 || causal == NULL ||
      (window != NULL && *window != '\0'))
    return NULL;
  const guint heads = how->by_heads ? 1 : 2, length = 3 - heads;
  return g_strdup_printf ("\"what\": \"attention\", \"library\": \"%s\", \"dtype\": \"%s\", \"op\": \"%s\", \"batch\": %.0f, "
                          "\"heads\": %.0f, \"kv_heads\": %.0f, \"length\": %.0f, \"kv_length\": %.0f, \"head_dim\": %.0f, "
                          "\"causal\": %s",
                          how->library, q.dtype, how->backward ? "backward" : "forward", q.length[0], q.length[heads],
                          k.length[heads], q.length[length], k.length[length], q.length[3],
                          g_ascii_strcasecmp (causal, "true") == 0 ? "true" : "false");
}

/* ---- passes over memory ---- */

/* B of all tensors among the arguments, lists of tensors aside; *largest_B: of the largest. */
static double
bytes_of (JsonObject *args, double *largest_B)
{
  static const struct {
    const char *type;
    double element_B;
  } types[] = { { "c10::BFloat16", 2 }, { "c10::Half", 2 }, { "float", 4 },         { "double", 8 },
                { "long int", 8 },      { "int", 4 },       { "unsigned char", 1 }, { "bool", 1 } };
  JsonArray *all = base_json_array (args, "Input Dims");
  double sum_B = 0;
  *largest_B = 0;
  for (guint i = 0; i < json_array_get_length (all); i++) {
    const char *type = text_of (args, "Input type", i);
    double length[MOST_DIMS + 1], size_B = 0;
    guint n = 0;
    if (type == NULL || !numbers_of (args, "Input Dims", i, length, &n) || n == 0)
      continue;
    for (guint k = 0; k < G_N_ELEMENTS (types); k++)
      size_B = strcmp (type, types[k].type) == 0 ? types[k].element_B : size_B;
    for (guint k = 0; k < n; k++)
      size_B *= length[k];
    sum_B += size_B;
    *largest_B = fmax (*largest_B, size_B);
  }
  return sum_B;
}

/* ---- by name ---- */

static const struct {
  const char *name;
  guint first;
} products[] = { { "aten::mm", 0 }, { "aten::addmm", 1 }, { "aten::bmm", 0 }, { "aten::_scaled_mm", 0 } };

static const struct {
  const char *name;
  Attention how;
} attentions[] = { { "aten::_flash_attention_forward", { "flash", FALSE, 0, 8, 11, FALSE } },
                   { "aten::_flash_attention_backward", { "flash", TRUE, 1, 11, 15, FALSE } },
                   { "aten::_cudnn_attention_forward", { "cudnn", FALSE, 0, 10, 0, TRUE } },
                   { "aten::_cudnn_attention_backward", { "cudnn", TRUE, 1, 14, 0, TRUE } } };

/* Element by element or row by row. */
static const struct {
  const char *name;
  enum { NEW, FIRST_ONLY, READ_ONLY } writes; /* a tensor like the largest argument; the first argument, unread; next to nothing */
} passes[] = { { "aten::add", NEW },
               { "aten::add_", NEW },
               { "aten::sub", NEW },
               { "aten::mul", NEW },
               { "aten::mul_", NEW },
               { "aten::div", NEW },
               { "aten::div_", NEW },
               { "aten::neg", NEW },
               { "aten::pow", NEW },
               { "aten::rsqrt", NEW },
               { "aten::silu", NEW },
               { "aten::silu_backward", NEW },
               { "aten::gelu", NEW },
               { "aten::gelu_backward", NEW },
               { "aten::sigmoid", NEW },
               { "aten::tanh", NEW },
               { "aten::relu", NEW },
               { "aten::where", NEW },
               { "aten::native_dropout", NEW },
               { "aten::native_layer_norm", NEW },
               { "aten::native_layer_norm_backward", NEW },
               { "aten::_fused_rms_norm", NEW },
               { "aten::_fused_rms_norm_backward", NEW },
               { "aten::_softmax", NEW },
               { "aten::_softmax_backward_data", NEW },
               { "aten::_log_softmax", NEW },
               { "aten::_log_softmax_backward_data", NEW },
               { "aten::copy_", FIRST_ONLY },
               { "aten::fill_", FIRST_ONLY },
               { "aten::zero_", FIRST_ONLY },
               { "aten::sum", READ_ONLY },
               { "aten::mean", READ_ONLY } };

static gboolean
read_pass (const char *name, JsonObject *args, ScnTraceOperation *out)
{
  Tensor first;
  double largest_B;
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    if (strcmp (name, passes[i].name) == 0) {
      const double all_B = bytes_of (args, &largest_B);
      const double first_B = tensor_of (args, 0, &first) ? elements_of (&first) * first.element_B : 0;
      out->written_B = passes[i].writes == NEW ? largest_B : passes[i].writes == FIRST_ONLY ? first_B : 0;
      out->read_B = passes[i].writes == FIRST_ONLY ? all_B - first_B : all_B;
      return all_B > 0;
    }
  return FALSE;
}

/* Returned: full; NULL: none that is measured. */
static char *
case_of (const char *name, JsonObject *args)
{
  for (guint i = 0; i < G_N_ELEMENTS (products); i++)
    if (strcmp (name, products[i].name) == 0)
      return read_product (args, products[i].first);
  for (guint i = 0; i < G_N_ELEMENTS (attentions); i++)
    if (strcmp (name, attentions[i].name) == 0)
      return read_attention (args, &attentions[i].how);
  return strcmp (name, "aten::_grouped_mm") == 0 ? read_grouped (args, 0) : NULL;
}

static void
free_operation (gpointer data)
{
  g_free (((ScnTraceOperation *)data)->what);
  g_free (data);
}

void
scn_trace_read_operation (ScnTraceRank *rank, JsonObject *event)
{
  JsonObject *args = base_json_object (event, "args");
  const char *name = base_json_text (event, "name");
  const double id = base_json_number (args, "External id");
  if (name == NULL || base_json_array (args, "Input Dims") == NULL || !(id >= 1 && id < 1e18))
    return;
  rank->n_shapes++;
  ScnTraceOperation kept = { .what = case_of (name, args) };
  if (kept.what == NULL && !read_pass (name, args, &kept))
    return;
  if (rank->operations == NULL)
    rank->operations = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_operation);
  const guint64 key = (guint64)id;
  g_hash_table_insert (rank->operations, g_memdup2 (&key, sizeof key), g_memdup2 (&kept, sizeof kept));
}
