/* What a rank's compute and its layers' collectives are made of: every work of every unit on it, alone, and how often it runs. A
 * backward pass is reported whole, also where the schedule runs it in two. */
#include <string.h>

#include "build-private.h"
#include "models/net.h"

/* Units on the rank's chunks that are priced as this one. */
static double
units_like (const TrnBuild *b, const TrnPricedWork *told)
{
  const TrnModel *model = b->model;
  double n = 0;
  for (guint32 c = 0; c < mdl_schedule_chunks (&model->pipe); c++) {
    const TrnStageLayers *cut = &model->cut[mdl_schedule_position (&model->pipe, (MdlPlace){ told->pp, c })];
    n += told->part == MDL_PART_MTP && cut->head ? model->mtp : 0;
    n += (told->part == MDL_PART_EMBEDDING && cut->embedding) || (told->part == MDL_PART_HEAD && cut->head) ? 1 : 0;
    for (guint32 l = cut->first; l < cut->first + cut->n; l++) {
      if (model->llm.net != NULL) {
        n += mdl_net_item (model->llm.net, l) == mdl_net_item (model->llm.net, told->layer) &&
                     trn_is_first_fused (model, l) == told->first
                 ? 1
                 : 0;
        continue;
      }
      MdlPart part = mdl_llm_part (&model->llm, l);
      gboolean alike = mdl_llm_is_windowed (&model->llm, l) == told->windowed && trn_is_first_fused (model, l) == told->first;
      n += part == told->part && alike ? 1 : 0;
    }
  }
  return n;
}

/* The constant that most of the time depends on. */
static void
take_source (const TrnModel *model, const TrnPricedWork *told, TrnStepTerm *term)
{
  const TrnSoftware *software = &model->software;
  gboolean attention = told->work.kind == MDL_WORK_ATTENTION;
  double efficiency = told->work.pass == MDL_PASS_OPTIMIZER ? software->optimizer
                      : attention                           ? software->attention
                                                            : software->efficiency;
  double most_s = 0;
  term->source = told->cost.source;
  for (unsigned i = 0; i < told->cost.n_terms; i++) {
    const MdlTerm *one = &told->cost.term[i];
    if (one->value_s <= most_s)
      continue;
    most_s = one->value_s;
    term->note = one->note;
    if (one->source < BASE_SOURCE_N)
      term->source = one->source;
  }
  term->divided = efficiency < 1 || efficiency > 1;
  term->source = term->divided ? MIN (term->source, software->source) : term->source;
}

static const char *
group_name (const MdlWork *work)
{
  return work->coll.group == MDL_GROUP_CP    ? "cp"
         : work->coll.group == MDL_GROUP_EP  ? "ep"
         : work->coll.group == MDL_GROUP_ETP ? "etp"
         : work->coll.group == MDL_GROUP_DP  ? "dp"
                                             : "tp";
}

static void
take_coll (const TrnPricedWork *told, TrnStepTerm *term)
{
  const ColAnswer *coll = &told->priced->coll;
  term->bytes_B = coll->size_B * told->work.coll.repeat;
  term->n_ranks = coll->n_ranks;
  term->group = group_name (&told->work);
  term->op = coll->op;
  term->algo = coll->algo;
  term->proto = coll->proto;
  term->source = coll->provenance;
  g_strlcpy (term->link, coll->bound_by, sizeof term->link);
}

static gboolean
equal (double a, double b)
{
  return a <= b && a >= b;
}

/* The same work of another layer, in the place that it has there: works of one layer that are alike follow each other. */
static TrnStepTerm *
find_like (const GArray *terms, const TrnStepTerm *term)
{
  for (guint i = 0; i < terms->len; i++) {
    TrnStepTerm *one = &g_array_index (terms, TrnStepTerm, i);
    if (one->part == term->part && one->pass == term->pass && strcmp (one->name, term->name) == 0 && one->first != term->first &&
        equal (one->time_s, term->time_s) && equal (one->flop, term->flop) && equal (one->bytes_B, term->bytes_B) &&
        equal (one->m, term->m) && equal (one->n, term->n) && equal (one->k, term->k) && !one->merged) {
      one->merged = TRUE;
      return one;
    }
  }
  return NULL;
}

/* A layer of a network by its own name, where it has one. */
static const char *
part_name (const TrnModel *model, const TrnPricedWork *told)
{
  if (told->part != MDL_PART_NET)
    return told->part == MDL_PART_N ? "optimizer" : mdl_part_facts (told->part)->name;
  const char *name = BASE_LIST_AT (model->llm.net->layers, MdlNetLayer, mdl_net_item (model->llm.net, told->layer))->name.v;
  return name != NULL ? name : mdl_part_facts (MDL_PART_NET)->name;
}

static void
add_term (const TrnBuild *b, const TrnPricedWork *told, GArray *terms)
{
  const MdlWork *work = &told->work;
  gboolean optimizer = told->part == MDL_PART_N;
  double micro_batches = (double)b->model->m / mdl_schedule_copies (&b->model->pipe);
  TrnStepTerm term = { .part = part_name (b->model, told),
                       .pass = optimizer ? "update" : mdl_pass_names[work->pass],
                       .name = work->name,
                       .flop = work->flop,
                       .bytes_B = work->read_B + work->write_B,
                       .time_s = told->time_s,
                       .first = told->first,
                       .count = optimizer ? 1 : units_like (b, told) * micro_batches,
                       .bound = told->cost.bound };
  if (work->kind == MDL_WORK_GEMM) {
    term.m = work->gemm.m;
    term.n = work->gemm.n;
    term.k = work->gemm.k;
    term.batch = work->gemm.batch;
  }
  if (work->kind == MDL_WORK_ATTENTION) {
    term.m = work->attention.q_len;
    term.n = work->attention.kv_len;
    term.k = work->attention.qk_dim;
    term.heads = work->attention.heads * work->attention.batch;
  }
  if (told->priced == NULL)
    take_source (b->model, told, &term);
  else if (told->priced->coll.n_ranks > 1)
    take_coll (told, &term);
  else /* of one rank: there is none */
    return;
  TrnStepTerm *like = find_like (terms, &term);
  if (like != NULL)
    like->count += term.count;
  else
    g_array_append_val (terms, term);
}

void
trn_step_terms (const TrnBuild *b, const GArray *told, TrnResult *out)
{
  out->terms = g_array_new (FALSE, TRUE, sizeof (TrnStepTerm));
  for (guint i = 0; i < told->len; i++) {
    const TrnPricedWork *one = &g_array_index (told, TrnPricedWork, i);
    if (one->pp == out->stage && (one->part == MDL_PART_N || one->turn == MDL_TURN_FORWARD || one->turn == MDL_TURN_BACKWARD))
      add_term (b, one, out->terms);
  }
}
