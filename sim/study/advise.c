#include "study/advise.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "base/units.h"
#include "scenario/serving.h"

/* The first line of a reason, without the place that --set has in it. Returned: full. */
static char *
reason_of (const GError *error)
{
  char *text = g_strndup (error->message, strcspn (error->message, "\n"));
  if (g_str_has_prefix (text, "--set ") && strstr (text, ": ") != NULL)
    memmove (text, strstr (text, ": ") + 2, strlen (strstr (text, ": ") + 2) + 1);
  return text;
}

static void
judge_training (const ScnResult *before, const ScnResult *result, StdAdvice *advice)
{
  const TrnResult *training = &result->training;
  const TrnMemory *memory = &training->fullest;
  if (training->memory != NULL && !memory->fits) {
    g_autofree char *needs = base_quantity_format (memory->total_B, BASE_DIM_BYTES, 4),
                    *has = base_quantity_format (memory->capacity_B, BASE_DIM_BYTES, 4);
    advice->reason = g_strdup_printf ("does not fit: stage %u needs %s of a GPU that has %s", memory->stage, needs, has);
    return;
  }
  advice->step_time_s = training->step_time_s;
  advice->gain = training->tokens_per_s / before->training.tokens_per_s - 1;
}

static const char *
measure_of (const ScnResult *result)
{
  if (result->kind != SCN_KIND_SERVING)
    return "tokens/s";
  const ScnServingResult *own = result->own;
  return isfinite (own->good) ? "goodput a GPU" : own->open ? "speed of a request" : "tokens/s a GPU";
}

static double
serves (const ScnServingResult *own)
{
  return isfinite (own->good) ? own->run.goodput_rps / own->gpus : own->open ? 1 / own->e2e.at.p50 : own->output_tokens_per_s_gpu;
}

static void
judge_serving (const ScnResult *before, const ScnResult *result, StdAdvice *advice)
{
  const ScnServingResult *own = result->own, *was = before->own;
  advice->serving = TRUE;
  advice->ttft_s = own->ttft.at.p50;
  advice->tpot_s = own->tpot.at.p50;
  advice->tokens_per_s_gpu = own->output_tokens_per_s_gpu;
  advice->gpus = own->gpus;
  const double now = serves (own), then = serves (was);
  advice->gain = then > 0 ? now / then - 1 : now > 0 ? (double)INFINITY : 0;
}

static void
try_change (const StdQuestion *question, const ScnResult *before, const TrnChange *change, StdAdvice *advice)
{
  g_autofree const char **sets = g_new0 (const char *, change->sets->len + 1);
  for (guint i = 0; i < change->sets->len; i++)
    sets[i] = change->sets->pdata[i];
  StdQuestion changed = *question;
  changed.options.no_interference = changed.options.no_interference || change->no_interference;
  *advice = (StdAdvice){
    .change = change, .step_time_s = (double)NAN, .gain = (double)NAN, .measure = measure_of (before), .ttft_s = (double)NAN
  };
  g_autoptr (GError) error = NULL;
  g_auto (StdRun) run = { 0 };
  if (!std_question_run (&changed, sets, NULL, &run, &error)) {
    advice->reason = reason_of (error);
    return;
  }
  (before->kind == SCN_KIND_SERVING ? judge_serving : judge_training) (before, run.result, advice);
}

static void
clear_advice (gpointer data)
{
  g_free (((StdAdvice *)data)->reason);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const StdAdvice *x = a, *y = b;
  gboolean x_runs = x->reason == NULL, y_runs = y->reason == NULL;
  if (x_runs != y_runs)
    return x_runs ? -1 : 1;
  if (!x_runs || x->gain == y->gain)
    return 0;
  return x->gain > y->gain ? -1 : 1;
}

GArray *
std_advise (const StdQuestion *question, const ScnResult *before, const GPtrArray *changes)
{
  GArray *advice = g_array_new (FALSE, TRUE, sizeof (StdAdvice));
  g_array_set_clear_func (advice, clear_advice);
  const gboolean counts = base_progress_begin ("changes", changes->len, 0);
  for (guint i = 0; i < changes->len; i++) {
    StdAdvice one;
    try_change (question, before, changes->pdata[i], &one);
    g_array_append_val (advice, one);
    if (counts)
      base_progress_step ();
  }
  if (counts)
    base_progress_end ();
  g_array_sort (advice, compare); /* stable: equal ones stay in the order of the changes */
  return advice;
}
