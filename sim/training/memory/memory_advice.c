/* What makes a model fit that does not: the smallest change of recomputation, micro-batch, ZeRO stage, expert, tensor, context and
 * pipeline parallelism, found by working out the memory of each. A step is one rung of a ladder: none, selective, full; half the
 * micro-batch; the next ZeRO stage; twice the expert or tensor parallelism, the latter within a node or NVLink domain; twice the
 * context parallelism; twice the pipeline stages.
 * Fewer rungs are a smaller change; of as many, what costs the step less comes first. */
#include <math.h>

#include "base/units.h"
#include "model-private.h"

enum { KNOB_ZERO, KNOB_MICRO_BATCH, KNOB_RECOMPUTE, KNOB_EP, KNOB_TP, KNOB_CP, KNOB_PP, KNOB_N };
static const int most_rungs[KNOB_N] = { 3, 6, 2, 6, 3, 4, 4 };
/* Of changes that do not help enough, one that saves less is within the error of what is needed: 95th percentile of PyTorch's runs
 * on one GPU (docs/training_memory.md). */
static const double LEAST_SAVING = 0.06;
enum { MOST_RUNGS = 3 + 6 + 2 + 6 + 3 + 4 + 4 };

/* GPUs that the first one reaches by scale-up links. */
static unsigned
domain_gpus (const TrnJob *job)
{
  const Clu *clu = job->system->clu;
  unsigned n = 0;
  guint32 first = 0;
  for (guint i = 0; i < job->system->gpus->len; i++) {
    guint32 domain = clu_domain_of_node (clu, clu_dev_node (clu, clu_gpu (clu, g_array_index (job->system->gpus, guint32, i))));
    first = i == 0 ? domain : first;
    if (domain != first)
      break;
    n++;
  }
  return n;
}

/* A job with other keys; it borrows all from the first. */
static gboolean
change (const TrnModel *model, const int rungs[KNOB_N], TrnJob *job, TrnModel *out)
{
  *job = *model->job;
  TrnSpec *spec = &job->spec;
  const double parts = exp2 (rungs[KNOB_MICRO_BATCH]), wider = exp2 (rungs[KNOB_TP]), longer = exp2 (rungs[KNOB_CP]),
               deeper = exp2 (rungs[KNOB_PP]), spread = exp2 (rungs[KNOB_EP]), cut = wider * longer * deeper;
  if ((rungs[KNOB_EP] > 0 && model->llm.moe.experts.v < model->grid.ep * spread) || model->grid.size[TRN_DIM_DP] < cut)
    return FALSE;
  double zero = model->sync == TRN_SYNC_SHARDS ? 3 : spec->parallel.zero.v, batch = spec->model.micro_batch.v / parts;
  if (zero + rungs[KNOB_ZERO] > 3 || floor (batch) < batch)
    return FALSE;
  if (rungs[KNOB_TP] > 0 && spec->parallel.tp.v * wider > domain_gpus (job))
    return FALSE;
  if (rungs[KNOB_ZERO] > 0) {
    spec->parallel.zero.v = zero + rungs[KNOB_ZERO];
    spec->parallel.zero.set = TRUE;
  }
  spec->model.micro_batch.v = batch;
  spec->parallel.tp.v *= wider;
  spec->parallel.cp.v *= longer;
  spec->parallel.pp.v *= deeper;
  spec->parallel.ep.v *= spread;
  spec->parallel.dp.v /= cut;
  /* as many sequences a step */
  if (spec->model.accumulate.set)
    spec->model.accumulate.v *= parts * cut;
  else if (!spec->model.global_batch.set)
    spec->micro_batches.v *= parts * cut;
  return (!spec->parallel.dp.set || !(floor (spec->parallel.dp.v) < spec->parallel.dp.v)) && trn_model_plan (job, out, NULL);
}

/* Recomputation is a node of the file, and has no number to change. */
static gboolean
recompute_more (TrnModel *model, int rungs)
{
  unsigned *now = &model->query.recompute, selective = mdl_recompute_selective (model->query.flash);
  for (int i = 0; i < rungs; i++) {
    if (*now & MDL_MODULE_LAYER)
      return FALSE;
    *now = selective != 0 && (*now & selective) != selective ? *now | selective : MDL_MODULE_LAYER;
  }
  return TRUE;
}

static char *
describe (const TrnModel *before, const TrnModel *after, const int rungs[KNOB_N])
{
  const struct {
    int knob;
    const char *key;
    unsigned to, from;
  } degrees[] = { { KNOB_EP, "ep", after->grid.ep, before->grid.ep },
                  { KNOB_TP, "tp", after->query.tp, before->query.tp },
                  { KNOB_CP, "cp", after->query.cp, before->query.cp },
                  { KNOB_PP, "pp", after->pipe.p, before->pipe.p } };
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  if (rungs[KNOB_ZERO] > 0)
    g_ptr_array_add (parts, g_strdup_printf ("parallel.zero %.0f", after->spec->parallel.zero.v));
  if (rungs[KNOB_MICRO_BATCH] > 0)
    g_ptr_array_add (parts,
                     g_strdup_printf ("micro_batch %.0f instead of %.0f", after->query.micro_batch, before->query.micro_batch));
  if (rungs[KNOB_RECOMPUTE] > 0)
    g_ptr_array_add (parts,
                     g_strdup_printf ("recompute %s", after->query.recompute & MDL_MODULE_LAYER ? "full" : "selective"));
  for (guint i = 0; i < G_N_ELEMENTS (degrees); i++)
    if (rungs[degrees[i].knob] > 0)
      g_ptr_array_add (
          parts, g_strdup_printf ("parallel.%s %u instead of %u", degrees[i].key, degrees[i].to, degrees[i].from));
  g_ptr_array_add (parts, NULL);
  return g_strjoinv (", ", (char **)parts->pdata);
}

typedef struct {
  const TrnModel *model;
  GArray *stages;
  double least_B; /* of changes that do not help enough */
  char *least;    /* the best of them, owned */
  char *found;    /* owned */
} Search;

static gboolean
try_change (Search *search, const int rungs[KNOB_N])
{
  g_autofree TrnJob *job = g_new (TrnJob, 1);
  g_auto (TrnModel) changed = { 0 };
  if (!change (search->model, rungs, job, &changed))
    return FALSE;
  changed.query.recompute = search->model->query.recompute;
  if (!recompute_more (&changed, rungs[KNOB_RECOMPUTE]))
    return FALSE;
  g_array_set_size (search->stages, 0);
  trn_model_memory (&changed, search->stages);
  const TrnMemory *fullest = trn_memory_fullest (search->stages);
  if (!fullest->fits && fullest->least_B >= search->least_B)
    return FALSE;
  g_autofree char *text = describe (search->model, &changed, rungs),
                  *size = base_quantity_format (fullest->least_B, BASE_DIM_BYTES, 4);
  search->least_B = fullest->least_B;
  g_free (search->least);
  search->least = g_strdup_printf ("%s: %s", text, size);
  if (fullest->fits)
    search->found = g_strdup (search->least);
  return fullest->fits;
}

/* All ways to climb `left` rungs with the knobs from `knob` on. */
static gboolean
climb (Search *search, int rungs[KNOB_N], int knob, int left)
{
  if (knob == KNOB_N)
    return left == 0 && try_change (search, rungs);
  for (int n = MIN (left, most_rungs[knob]); n >= 0; n--) {
    rungs[knob] = n;
    if (climb (search, rungs, knob + 1, left - n))
      return TRUE;
  }
  return FALSE;
}

/* Whether the best change saves too little to be named. */
static gboolean
saves_little (const Search *search)
{
  g_array_set_size (search->stages, 0);
  trn_model_memory (search->model, search->stages);
  return search->least_B > trn_memory_fullest (search->stages)->least_B * (1 - LEAST_SAVING);
}

char *
trn_memory_advice (const TrnModel *model)
{
  g_autoptr (GArray) stages = g_array_new (FALSE, FALSE, sizeof (TrnMemory));
  Search search = { .model = model, .stages = stages, .least_B = HUGE_VAL };
  int rungs[KNOB_N] = { 0 };
  for (int left = 1; left <= MOST_RUNGS && search.found == NULL; left++)
    climb (&search, rungs, 0, left);
  const char *experts = model->llm.moe.experts.v >= 1 ? "ep, " : "";
  char *text;
  if (search.found != NULL)
    text = g_strdup_printf ("it fits with %s", search.found);
  else if (search.least != NULL && saves_little (&search))
    text = g_strdup_printf ("no recompute, micro_batch, zero, %stp, cp and pp make it fit, and none saves %.0f %%", experts,
                            LEAST_SAVING * 100);
  else if (search.least != NULL)
    text = g_strdup_printf ("no recompute, micro_batch, zero, %stp, cp and pp make it fit; the least is %s", experts, search.least);
  else
    text = g_strdup_printf ("no recompute, micro_batch, zero, %stp, cp and pp that divide are left to try", experts);
  g_free (search.found);
  g_free (search.least);
  return text;
}
