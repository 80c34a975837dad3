/* The cuts of a model that a plan asks for on a machine: every combination of its lists whose counts divide. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "models/pipeline.h"
#include "plan-private.h"

#define MAX_VALUES 64u

/* Values of a key. */
typedef struct {
  guint32 v[MAX_VALUES];
  guint n;
} Values;

static void
add_value (Values *values, guint32 v)
{
  if (values->n < MAX_VALUES)
    values->v[values->n++] = v;
}

static gboolean
is_auto (const BaseStrs *list)
{
  return list->n == 1 && strcmp (list->item[0].v, "auto") == 0;
}

/* What a list says; FALSE and *error on a word. `least`: smallest that is accepted. */
static gboolean
read_counts (const BaseStrs *list, guint32 least, guint32 most, Values *out, GError **error)
{
  for (guint i = 0; i < list->n; i++) {
    guint64 v = 0;
    if (!g_ascii_string_to_unsigned (list->item[i].v, 10, least, most, &v, NULL))
      return col_fail_at (error, list->item[i].mark,
                          "'%s' is not a whole number from %u to %u; write a list of such numbers (e.g. [4, 8]), or auto",
                          list->item[i].v, least, most);
    add_value (out, (guint32)v);
  }
  return TRUE;
}

static gboolean
read_names (const BaseStrs *list, const BaseName *names, Values *out, GError **error)
{
  for (guint i = 0; i < list->n; i++) {
    const BaseName *name = base_name_find (names, list->item[i].v);
    if (name == NULL) {
      g_autofree char *accepted = base_names_accepted (list->item[i].v, names, NULL);
      return col_fail_at (error, list->item[i].mark, "'%s' is not known%s", list->item[i].v, accepted);
    }
    add_value (out, (guint32)name->code);
  }
  return TRUE;
}

typedef struct {
  Values tp, cp, pp, vp, ep, zero, micro, schedule, recompute;
} Lists;

/* Embedding and head, where they are dealt out like layers. */
static guint32
counted_as_layers (const PlnMachine *machine)
{
  const TrnPipelineSpec *spec = &machine->scenario->training.spec.model.pipeline;
  return (spec->embedding.v ? 1u : 0u) + (spec->head_layer.v ? 1u : 0u);
}

static gboolean
read_lists (const Pln *plan, const PlnMachine *machine, Lists *out, GError **error)
{
  const PlnFreeSpec *f = &plan->spec.free;
  const MdlLlm *llm = &machine->scenario->training.llm;
  guint32 layers = (guint32)llm->layers.v + counted_as_layers (machine), experts = (guint32)llm->moe.experts.v;
  const gboolean uneven = machine->scenario->training.spec.model.pipeline.uneven.v;
  memset (out, 0, sizeof *out);
  if (f->tp.n == 0 || is_auto (&f->tp))
    for (guint32 v = 1; v <= machine->gpus_per_node; v *= 2)
      add_value (&out->tp, v);
  else if (!read_counts (&f->tp, 1, 4096, &out->tp, error))
    return FALSE;
  if (f->pp.n == 0 || is_auto (&f->pp)) {
    for (guint32 v = 1; v <= MIN (layers, 64); v++)
      if (layers % v == 0 || (uneven && (v & (v - 1)) == 0)) /* powers of two besides */
        add_value (&out->pp, v);
  } else if (!read_counts (&f->pp, 1, 4096, &out->pp, error))
    return FALSE;
  if (f->vp.n == 0 || is_auto (&f->vp)) {
    for (guint32 v = 1; v <= MIN (layers, 16); v++)
      if (layers % v == 0 || (uneven && (v & (v - 1)) == 0))
        add_value (&out->vp, v);
  } else if (!read_counts (&f->vp, 1, 4096, &out->vp, error))
    return FALSE;
  if (f->ep.n == 0 || is_auto (&f->ep))
    for (guint32 v = 1; v <= MAX (experts, 1); v *= 2)
      add_value (&out->ep, v);
  else if (!read_counts (&f->ep, 1, 4096, &out->ep, error))
    return FALSE;
  if (!read_counts (&f->cp, 1, 4096, &out->cp, error) || !read_counts (&f->zero, 0, 3, &out->zero, error) ||
      !read_counts (&f->micro_batch, 1, 65536, &out->micro, error) ||
      !read_names (&f->schedule, mdl_schedule_names, &out->schedule, error) ||
      !read_names (&f->recompute, trn_recompute_names, &out->recompute, error))
    return FALSE;
  if (out->cp.n == 0)
    add_value (&out->cp, 1);
  if (out->zero.n == 0)
    add_value (&out->zero, 1);
  for (guint32 v = 1; out->micro.n == 0 || v == 2 || v == 4; v *= 2)
    add_value (&out->micro, v);
  if (out->schedule.n == 0) {
    add_value (&out->schedule, MDL_SCHEDULE_1F1B);
    add_value (&out->schedule, MDL_SCHEDULE_INTERLEAVED);
  }
  if (out->recompute.n == 0) {
    add_value (&out->recompute, TRN_RECOMPUTE_NONE);
    add_value (&out->recompute, TRN_RECOMPUTE_FULL);
  }
  return TRUE;
}

/* Whether the counts of a cut divide; *why: what does not. */
static gboolean
divides (const PlnMachine *machine, guint32 batch, TrnClosedQuery *query, PlnRejection *why)
{
  const MdlLlm *llm = &machine->scenario->training.llm;
  const TrnModelSpec *spec = &machine->scenario->training.spec.model;
  guint32 cut = query->tp * query->cp * query->pp, layers = (guint32)llm->layers.v + counted_as_layers (machine);
  gboolean interleaved = mdl_schedule_cuts (query->schedule) == 0;
  *why = PLN_REJECTED_GPUS;
  if (machine->gpus % cut != 0)
    return FALSE;
  query->dp = machine->gpus / cut;
  *why = PLN_REJECTED_LAYERS;
  guint32 chunks = query->pp * query->vp * MAX (mdl_schedule_cuts (query->schedule), 1);
  if (layers < chunks || (layers % chunks != 0 && !spec->pipeline.uneven.v))
    return FALSE;
  *why = PLN_REJECTED_BATCH;
  guint32 each = query->dp * query->micro_batch;
  if (batch < each || batch % each != 0)
    return FALSE;
  query->micro_batches = batch / each;
  *why = PLN_REJECTED_SCHEDULE;
  if (interleaved && (query->vp < 2 || query->pp < 2))
    return FALSE;
  const MdlPipeline pipe = { .schedule = query->schedule,
                             .p = query->pp,
                             .v = interleaved ? query->vp : MAX (mdl_schedule_cuts (query->schedule), 1),
                             .m = query->micro_batches };
  g_autofree char *refused = mdl_schedule_check (&pipe, NULL);
  return refused == NULL;
}

/* Combinations that say the same as another one are not asked: chunks without interleaving, schedules of one rank. */
static gboolean
is_repeat (const Lists *l, const TrnClosedQuery *query, guint schedule)
{
  gboolean interleaved = mdl_schedule_cuts (query->schedule) == 0;
  if (interleaved)
    return query->vp < 2 || query->pp < 2;
  return query->vp > 1 || (query->pp == 1 && schedule != 0 && mdl_schedule_cuts ((MdlSchedule)l->schedule.v[0]) != 0);
}

/* The same with the nearest global batch that it divides: of two as near the greater one. */
static void
take_other_batch (const PlnMachine *machine, guint32 batch, TrnClosedQuery *query, GArray *others)
{
  PlnRejection why;
  guint32 each = query->dp * query->micro_batch, below = batch / each * each;
  guint32 near = below > 0 && batch - below < below + each - batch ? below : below + each;
  if (divides (machine, near, query, &why))
    g_array_append_vals (others, query, 1);
}

gboolean
pln_layouts (const Pln *plan, const PlnMachine *machine, GArray *cuts, GArray *others, guint64 out[PLN_REJECTED_N], GError **error)
{
  const guint32 batch = (guint32)machine->scenario->training.spec.model.global_batch.v;
  Lists l;
  if (!read_lists (plan, machine, &l, error))
    return FALSE;
  const guint n[] = { l.tp.n, l.cp.n, l.pp.n, l.vp.n, l.ep.n, l.zero.n, l.micro.n, l.schedule.n, l.recompute.n };
  guint at[G_N_ELEMENTS (n)] = { 0 };
  for (gboolean more = TRUE; more;) {
    TrnClosedQuery query = { .tp = l.tp.v[at[0]],
                             .cp = l.cp.v[at[1]],
                             .pp = l.pp.v[at[2]],
                             .vp = l.vp.v[at[3]],
                             .ep = l.ep.v[at[4]],
                             .zero = l.zero.v[at[5]],
                             .micro_batch = l.micro.v[at[6]],
                             .schedule = (MdlSchedule)l.schedule.v[at[7]],
                             .recompute = (TrnRecompute)l.recompute.v[at[8]],
                             .sp = l.tp.v[at[0]] > 1 };
    PlnRejection why;
    if (!is_repeat (&l, &query, at[7])) {
      if (divides (machine, batch, &query, &why))
        g_array_append_val (cuts, query);
      else
        out[why]++;
      if (others != NULL && why == PLN_REJECTED_BATCH)
        take_other_batch (machine, batch, &query, others);
    }
    guint k = G_N_ELEMENTS (n);
    for (more = FALSE; k-- > 0 && !more;) {
      more = ++at[k] < n[k];
      at[k] = more ? at[k] : 0;
    }
  }
  return TRUE;
}
