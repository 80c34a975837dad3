/* Allocated peaks of plain PyTorch on 1, 2 and 4 H200 (tests/data/training/h200x4), case by case, against the memory model with the
 * shipped constants. Of these the workspace and B a logit of the loss (12; 10 where the vocabulary is cut) were read off the same
 * runs; all else are forms. Kinds apart: PyTorch's own loss of a cut vocabulary (DTensor) holds 16 B a logit; compiled layers have
 * an eager loss, not the fused one that a scenario's `framework: fused` means; gradients reduced in every micro-batch have no key
 * in a scenario. */
#include <math.h>
#include <stdio.h>

#include <json-glib/json-glib.h>

#include "base/stats.h"
#include "memory_fixture.h"

#define FOLDER TEST_SOURCE_DIR "/tests/data/training/h200x4/"

typedef enum { ONE, DATA, SHARDS, TENSOR, PIPELINE, LATE, EXPERTS, APART, KINDS } Kind;
static const char *const kinds[KINDS] = { "one GPU",          "DDP",          "FSDP2",    "tensor parallel", "pipelines",
                                          "zero-bubble ones", "experts (EP)", "not alike" };

typedef struct {
  char *name;
  Kind kind;
  double measured_B, predicted_B;
  double used_B, total_B; /* NAN where other cases' communicators are in it */
} Row;
static GArray *rows;

static JsonObject *
member (JsonObject *object, const char *key)
{
  return json_object_has_member (object, key) ? json_object_get_object_member (object, key) : NULL;
}

static const char *
text_of (JsonObject *object, const char *key)
{
  return json_object_has_member (object, key) ? json_object_get_string_member (object, key) : "";
}

static Kind
kind_of (JsonObject *scenario)
{
  JsonObject *torch = member (scenario, "torch"), *work = member (scenario, "workload"), *cut = member (work, "parallel");
  gboolean each = json_object_has_member (torch, "reduce_each");
  if (strcmp (text_of (torch, "tp_by"), "dtensor") == 0 || strcmp (text_of (work, "framework"), "fused") == 0 || each)
    return APART;
  if (json_object_get_int_member (cut, "pp") > 1)
    return g_str_has_prefix (text_of (work, "schedule"), "zb_") ? LATE : PIPELINE;
  if (json_object_get_int_member (cut, "ep") > 1)
    return EXPERTS;
  if (json_object_get_int_member (cut, "tp") > 1)
    return TENSOR;
  return json_object_has_member (work, "fsdp") ? SHARDS : json_object_has_member (work, "ddp") ? DATA : ONE;
}

/* The case's keys as a scenario of today takes them. Returned: full. */
static char *
workload_of (JsonObject *scenario)
{
  JsonObject *work = member (scenario, "workload"), *model = member (scenario, "model"), *precision = member (work, "precision");
  JsonObject *cut = member (work, "parallel");
  if (strcmp (text_of (precision, "gather"), "none") == 0)
    json_object_remove_member (precision, "gather");
  json_object_remove_member (work, "accumulate"); /* the global batch says it */
  json_object_remove_member (work, "kind");
  if (strcmp (text_of (work, "schedule"), "zb_v") == 0)
    json_object_remove_member (cut, "vp");
  json_object_set_string_member (model, "llm", text_of (model, "name"));
  json_object_remove_member (model, "name");
  json_object_set_object_member (work, "model", json_object_ref (model));
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), work);
  g_autofree char *text = json_to_string (node, FALSE);
  return g_strndup (text + 1, strlen (text) - 2); /* without its brackets */
}

/* A rank's allocated peak without what earlier cases left; the workspace is this case's as well. */
static double
measured_B (JsonObject *memory, double workspace_B)
{
  double before_B = json_object_get_double_member (memory, "baseline_B");
  return json_object_get_double_member (memory, "peak_allocated_B") - fmax (0, before_B - workspace_B);
}

static void
add_case (JsonObject *object)
{
  JsonObject *scenario = member (object, "scenario");
  const char *name = json_object_get_string_member (object, "case");
  if (scenario == NULL || g_str_has_suffix (name, "_again") || g_str_has_suffix (name, "_traced"))
    return;
  Kind kind = kind_of (scenario);
  guint gpus = (guint)json_object_get_int_member (scenario, "gpus");
  g_autofree char *workload = workload_of (scenario);
  g_autoptr (MemoryFixture) f = memory_of (1, gpus, workload);
  JsonArray *ranks = json_object_get_array_member (object, "ranks");
  for (guint s = 0; s < f->stages->len; s++) { /* stages of a pipeline are next to one another */
    JsonObject *memory = member (json_array_get_object_element (ranks, s), "memory");
    const TrnMemory *m = memory_stage (f, s);
    Row row = { .kind = kind, .predicted_B = m->allocated_B, .used_B = (double)NAN };
    row.name = f->stages->len > 1 ? g_strdup_printf ("%s, stage %u", name, s) : g_strdup (name);
    row.measured_B = measured_B (memory, f->scenario->system.memory->workspace.v);
    if (gpus == 1)
      row.used_B = json_object_get_double_member (memory, "used_B");
    row.total_B = m->total_B;
    g_array_append_val (rows, row);
  }
}

static void
load (const char *file)
{
  g_autofree char *path = g_strconcat (FOLDER, file, NULL), *bytes = NULL;
  g_autoptr (GError) error = NULL;
  if (!g_file_get_contents (path, &bytes, NULL, &error))
    g_error ("%s", error->message);
  g_auto (GStrv) lines = g_strsplit (bytes, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    g_autoptr (JsonParser) parser = json_parser_new ();
    if (**line == '\0')
      continue;
    if (!json_parser_load_from_data (parser, *line, -1, &error))
      g_error ("%s: %s", path, error->message);
    add_case (json_node_get_object (json_parser_get_root (parser)));
  }
}

static double
error_of (const Row *row)
{
  return row->predicted_B / row->measured_B - 1;
}

/* Prints a kind's rows and judges them. */
static void
check (Kind kind, guint least, double median, double worst)
{
  g_autofree double *off = g_new (double, rows->len);
  guint n = 0;
  double most = 0;
  for (guint i = 0; i < rows->len; i++) {
    const Row *row = &g_array_index (rows, Row, i);
    if (row->kind != kind)
      continue;
    printf ("  %-44s %7.3f GB, predicted %7.3f GB: %+5.1f %%\n", row->name, row->measured_B * 1e-9, row->predicted_B * 1e-9,
            100 * error_of (row));
    off[n] = fabs (error_of (row));
    most = fmax (most, off[n++]);
  }
  const double middle = base_median (off, n);
  printf ("%-16s %3u peaks: median %.2f %%, worst %.1f %%\n", kinds[kind], n, 100 * middle, 100 * most);
  TEST_TRUE (n >= least && middle <= median && most <= worst);
}

static void
eager_steps_are_told_within_a_few_per_cent (void)
{
  check (ONE, 28, 0.002, 0.035); /* the worst: experts in a loop of many small tensors */
  check (DATA, 14, 0.002, 0.01);
  check (SHARDS, 12, 0.003, 0.01);
  check (EXPERTS, 5, 0.002, 0.01);
}

static void
cut_models_are_told_within_five_per_cent (void)
{
  check (TENSOR, 9, 0.005, 0.01);
  check (PIPELINE, 40, 0.003, 0.015);
  check (LATE, 16, 0.02, 0.05);
}

static void
what_is_not_alike_is_told_within_a_sixth (void)
{
  check (APART, 6, 0.1, 0.16);
}

static void
what_the_gpu_has_less_is_told_within_a_sixth_and_in_the_middle (void)
{
  /* one GPU: allocator and context besides; fragmentation is an allowance, and differs from case to case */
  g_autofree double *ratio = g_new (double, rows->len);
  guint n = 0;
  for (guint i = 0; i < rows->len; i++) {
    const Row *row = &g_array_index (rows, Row, i);
    if (isfinite (row->used_B) && row->kind == ONE)
      ratio[n++] = row->total_B / row->used_B;
  }
  printf ("used, one GPU: median of predicted over measured %.3f, 5th percentile %.3f, 95th %.3f of %u\n", base_median (ratio, n),
          base_quantile (ratio, n, 0.05), base_quantile (ratio, n, 0.95), n);
  TEST_TRUE (n >= 27);
  TEST_NEAR (base_median (ratio, n), 1, 0.02);
  TEST_TRUE (base_quantile (ratio, n, 0.05) > 0.8 && base_quantile (ratio, n, 0.95) < 1.1);
}

static void
row_clear (gpointer data)
{
  g_free (((Row *)data)->name);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "eager steps are predicted within a few per cent", eager_steps_are_told_within_a_few_per_cent },
    { "parallel models are predicted within five per cent", cut_models_are_told_within_five_per_cent },
    { "different models are predicted within a sixth", what_is_not_alike_is_told_within_a_sixth },
    { "free GPU memory is predicted within a sixth, without bias", what_the_gpu_has_less_is_told_within_a_sixth_and_in_the_middle },
    { NULL, NULL },
  };
  rows = g_array_new (FALSE, TRUE, sizeof (Row));
  g_array_set_clear_func (rows, row_clear);
  load ("1_gpus.jsonl");
  load ("2_gpus.jsonl");
  load ("4_gpus.jsonl");
  int status = test_main ("accuracy: memory on H200", cases);
  g_array_unref (rows);
  return status;
}
