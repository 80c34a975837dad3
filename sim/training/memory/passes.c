/* What the passes of a rank's chunks hold: a backward pass block by block, and the turns of its schedule one after the other. */
#include <math.h>

#include "held-private.h"

/* ---- one pass of a chunk ---- */

static double
load_B (const TrnHeldLoad *load)
{
  return load->activations_B + load->gradients_B + load->buffers_B;
}

static void
trn_held_raise (TrnHeldLoad *most, const TrnHeldLoad *base, const TrnHeldLoad *more)
{
  const TrnHeldLoad sum = { base->activations_B + more->activations_B, base->gradients_B + more->gradients_B,
                            base->buffers_B + more->buffers_B };
  if (load_B (&sum) > load_B (most))
    *most = sum;
}

/* Parameters gathered of shards. */
typedef struct {
  double root_B, layer_B, all_B; /* embedding and head; the largest layer; all layers */
  gboolean keeps;
  double ahead;
} Gathered;

static Gathered
gathered_of (const TrnHeld *plan, guint32 position)
{
  const TrnFsdpSpec *fsdp = &plan->model->spec->model.fsdp;
  Gathered g = { .keeps = fsdp->head.set && !fsdp->reshard.v, .ahead = fsdp->head.set ? fsdp->prefetch.v : 1 };
  for (guint32 u = 0; plan->shards && u < trn_held_units (plan, position); u++) {
    MdlPart part = trn_held_part (plan, position, u);
    const TrnHeldCount count = trn_held_count (trn_held_unit (plan, position, u));
    double bytes = (count.dense + count.expert) * (trn_held_is_layer (part) ? plan->gather_B : mdl_format_B (plan->model->gather));
    if (!trn_held_is_layer (part)) {
      g.root_B += bytes;
      continue;
    }
    g.layer_B = fmax (g.layer_B, bytes);
    g.all_B += bytes;
  }
  return g;
}

/* While a unit's backward pass runs. */
static double
buffers_at (const TrnHeld *plan, const Gathered *g, MdlPart part, const TrnHeldUnit *unit)
{
  if (!plan->shards)
    return 0;
  const TrnHeldCount count = trn_held_count (unit);
  double layers_B = g->keeps ? g->all_B : fmin (g->all_B, (g->ahead + (trn_held_is_layer (part) ? 1 : 0)) * g->layer_B);
  double whole_B = trn_held_is_layer (part) ? (count.trained_dense + count.trained_expert) * plan->whole_B : 0;
  return g->root_B + layers_B + whole_B;
}

/* Gradients that come with a block; a table that embedding and head share has its own with the head. */
static double
coming_B (const TrnHeld *plan, guint32 position, MdlPart part, const TrnHeldBlock *block)
{
  const TrnStageLayers *cut = &plan->model->cut[position];
  gboolean shares = plan->model->llm.tied.v && cut->embedding && cut->head;
  if (shares && part == MDL_PART_EMBEDDING)
    return 0;
  double bytes = trn_held_coming (plan, block->trained_dense, block->trained_expert);
  if (shares && part == MDL_PART_HEAD)
    bytes += trn_held_coming (plan, plan->part[MDL_PART_EMBEDDING][TRN_AGAIN_MODULES].block[0].trained_dense, 0);
  return bytes;
}

/* A backward pass of a position that has come to a unit. */
typedef struct {
  const TrnHeld *plan;
  guint32 position;
  Gathered gathered;
  TrnHeldPass kind;
  double root; /* elements of gradients of the root group, whole */
  TrnHeldLoad now, most;
} Back;

/* What of the unit and of the one behind it came back from the host. */
static double
returned_B (const TrnHeld *plan, guint32 position, guint32 u)
{
  return trn_held_away (plan, position, u) + (u > 0 ? trn_held_away (plan, position, u - 1) : 0);
}

/* A unit's, block by block. */
static void
back_unit (Back *back, guint32 u)
{
  const TrnHeld *plan = back->plan;
  const MdlPart part = trn_held_part (plan, back->position, u);
  const TrnHeldUnit *unit = trn_held_unit (plan, back->position, u);
  const gboolean whole = trn_held_is_whole (plan, back->position, u), away = trn_model_offloads (plan->model, back->position, u);
  double again_B = 0;
  back->now.activations_B += returned_B (plan, back->position, u);
  for (guint k = 0; whole && k < unit->n; k++)
    again_B += unit->block[k].held[0].again_B;
  for (guint k = unit->n; k-- > 0;) {
    const TrnHeldBlock *block = &unit->block[k];
    const MdlActivationBytes *held = &block->held[back->kind == TRN_PASS_THERE];
    double besides_B = whole ? again_B : held->again_B;
    back->now.buffers_B = buffers_at (plan, &back->gathered, part, unit) + back->root * plan->unit_B;
    trn_held_raise (&back->most, &back->now, &(TrnHeldLoad){ .activations_B = besides_B + held->working_B });
    back->now.activations_B -= away ? 0 : held->kept_B;
    again_B -= whole ? held->again_B : 0;
    if (back->kind == TRN_PASS_COMES)
      back->now.gradients_B += coming_B (plan, back->position, part, block);
    trn_held_raise (&back->most, &back->now, &(TrnHeldLoad){ .activations_B = again_B + held->tail_B });
    if (plan->shards && !trn_held_is_layer (part))
      back->root += block->trained_dense;
  }
  back->now.activations_B -= returned_B (plan, back->position, u);
}

/* Of all units. */
static TrnHeldLoad
find_back (const TrnHeld *plan, guint32 position, const Gathered *g, TrnHeldPass kind)
{
  const TrnHeldLoad none = { 0 };
  Back back = { .plan = plan, .position = position, .gathered = *g, .kind = kind };
  for (guint32 u = trn_held_units (plan, position); u-- > 0;)
    back_unit (&back, u);
  back.now.buffers_B = plan->shards ? g->root_B + back.root * plan->whole_B : 0;
  trn_held_raise (&back.most, &back.now, &none);
  return back.most;
}

/* Buffers of what comes from other stages, in eager code: of all micro-batches. */
static double
boundaries (const TrnHeld *plan, guint32 position, double *kept_B)
{
  const TrnModel *model = plan->model;
  gboolean first = position == 0, last = position + 1 == model->n_positions;
  double one_B = mdl_memory_boundary_B (&model->llm, &model->query), m = (double)model->pipe.m / mdl_schedule_copies (&model->pipe);
  if (model->pipe.p == 1)
    return 0;
  if (!plan->eager)
    return ((first ? 0 : 1) + (last ? 0 : 1)) * one_B;
  *kept_B += (last ? 0 : one_B) - (first ? 0 : one_B); /* what it sent; what came lies in its buffer */
  return ((first ? 0 : 1) + (last ? 0 : 1)) * m * one_B;
}

TrnHeldChunk
trn_held_chunk (const TrnHeld *plan, guint32 position, double *buffers_B)
{
  TrnHeldChunk chunk = { .position = position };
  const Gathered g = gathered_of (plan, position);
  for (guint32 u = 0; u < trn_held_units (plan, position); u++) {
    const TrnHeldUnit *unit = trn_held_unit (plan, position, u);
    chunk.kept_B += trn_held_kept (plan, position, u);
    chunk.away_B += trn_held_away (plan, position, u);
    chunk.passing_B = fmax (chunk.passing_B, returned_B (plan, position, u));
    for (guint k = 0; k < unit->n; k++) {
      const TrnHeldBlock *block = &unit->block[k];
      chunk.late_B += block->held[0].late_B;
      chunk.gradients_B += trn_held_coming (plan, block->trained_dense, block->trained_expert);
    }
  }
  *buffers_B += boundaries (plan, position, &chunk.kept_B);
  chunk.forward_buffers_B = plan->shards ? g.root_B + (g.keeps ? g.all_B : fmin (g.all_B, (g.ahead + 1) * g.layer_B)) : 0;
  for (int kind = 0; kind < TRN_PASS_N; kind++)
    chunk.back[kind] = find_back (plan, position, &g, (TrnHeldPass)kind);
  return chunk;
}

/* ---- the turns of a stage ---- */

/* A gradient of inputs that its gradient of weights follows at once is one backward pass, but where PyTorch runs them as two. */
static gboolean
is_whole (const TrnHeld *plan, const GArray *turns, guint i)
{
  const MdlTurn *turn = &g_array_index (turns, MdlTurn, i);
  gboolean apart = plan->eager && mdl_schedule_facts (plan->model->pipe.schedule)->never_joins;
  if (apart || turn->kind != MDL_TURN_INPUT_GRADIENT || i + 1 >= turns->len)
    return FALSE;
  const MdlTurn *next = &g_array_index (turns, MdlTurn, i + 1);
  return next->kind == MDL_TURN_WEIGHT_GRADIENT && next->chunk == turn->chunk && next->micro_batch == turn->micro_batch;
}

/* Over the turns of a stage. */
typedef struct {
  const TrnHeld *plan;
  const TrnHeldChunk *chunk; /* by chunk of the rank */
  gboolean *there;           /* likewise: whether its gradients have come */
  TrnHeldLoad now, most;
  double away_B, most_away_B; /* in the host's memory */
} Walk;

static TrnHeldPass
pass_of (const Walk *walk, guint32 chunk)
{
  const gboolean comes = (walk->plan->dense_comes || walk->plan->expert_comes) && !walk->there[chunk];
  return comes ? TRN_PASS_COMES : TRN_PASS_THERE;
}

/* Behind a forward pass, and behind a backward pass. */
static void
after_forward (Walk *walk, guint32 chunk)
{
  walk->now.activations_B += walk->chunk[chunk].kept_B;
  walk->away_B += walk->chunk[chunk].away_B;
  walk->most_away_B = fmax (walk->most_away_B, walk->away_B);
}

static void
after_backward (Walk *walk, guint32 chunk)
{
  const TrnHeldChunk *of = &walk->chunk[chunk];
  walk->now.gradients_B += pass_of (walk, chunk) == TRN_PASS_COMES ? of->gradients_B : 0;
  walk->now.activations_B -= of->kept_B;
  walk->away_B -= of->away_B;
  walk->there[chunk] = TRUE;
}

static void
take_turn (Walk *walk, const MdlTurn *turn)
{
  const TrnHeldChunk *chunk = &walk->chunk[turn->chunk];
  const TrnHeldLoad none = { 0 };
  switch (turn->kind) {
    case MDL_TURN_FORWARD: {
      TrnHeldLoad during = walk->now;
      during.activations_B += fmax (chunk->kept_B, chunk->passing_B); /* what goes to the host has gone at the end */
      during.buffers_B += chunk->forward_buffers_B;
      trn_held_raise (&walk->most, &during, &none);
      after_forward (walk, turn->chunk);
      return;
    }
    case MDL_TURN_INPUT_GRADIENT:
      trn_held_raise (&walk->most, &walk->now, &chunk->back[TRN_PASS_INPUT]);
      walk->now.activations_B += chunk->late_B - chunk->kept_B;
      trn_held_raise (&walk->most, &walk->now, &none);
      return;
    case MDL_TURN_WEIGHT_GRADIENT:
      walk->now.gradients_B += pass_of (walk, turn->chunk) == TRN_PASS_COMES ? chunk->gradients_B : 0;
      trn_held_raise (&walk->most, &walk->now, &none);
      walk->now.activations_B -= chunk->late_B;
      walk->there[turn->chunk] = TRUE;
      return;
    case MDL_TURN_BACKWARD:
    case MDL_TURN_KINDS:
    default:
      trn_held_raise (&walk->most, &walk->now, &chunk->back[pass_of (walk, turn->chunk)]);
      after_backward (walk, turn->chunk);
      return;
  }
}

/* A forward beside a backward pass, unit by unit: what one takes the other gives back. */
static void
take_pair (Walk *walk, const MdlTurn *forward, const MdlTurn *backward)
{
  const TrnHeldChunk *ahead = &walk->chunk[forward->chunk], *behind = &walk->chunk[backward->chunk];
  const guint32 n = trn_held_units (walk->plan, ahead->position), m = trn_held_units (walk->plan, behind->position);
  const TrnHeldLoad none = { 0 };
  Back back = { .plan = walk->plan,
                .position = behind->position,
                .gathered = gathered_of (walk->plan, behind->position),
                .kind = pass_of (walk, backward->chunk) };
  for (guint32 u = 0; u < MAX (n, m); u++) {
    back.now.activations_B += u < n ? trn_held_kept (walk->plan, ahead->position, u) : 0;
    trn_held_raise (&back.most, &back.now, &none);
    if (u < m)
      back_unit (&back, m - 1 - u);
  }
  back.most.buffers_B += ahead->forward_buffers_B;
  back.most.activations_B += ahead->passing_B;
  trn_held_raise (&walk->most, &walk->now, &back.most);
  after_forward (walk, forward->chunk);
  after_backward (walk, backward->chunk);
}

TrnHeldLoad
trn_held_walk (const TrnHeld *plan, const TrnHeldChunk *chunk, guint32 chunks, const GArray *turns, double *in_flight,
               double *away_B)
{
  g_autofree gboolean *there = g_new0 (gboolean, chunks);
  Walk walk = { .plan = plan, .chunk = chunk, .there = there };
  for (guint i = 0; i < turns->len; i++) {
    MdlTurn turn = g_array_index (turns, MdlTurn, i);
    if (turn.paired) {
      take_pair (&walk, &turn, &g_array_index (turns, MdlTurn, i + 1));
      i++;
      continue;
    }
    if (is_whole (plan, turns, i)) {
      turn.kind = MDL_TURN_BACKWARD;
      i++;
    }
    take_turn (&walk, &turn);
  }
  *in_flight = mdl_schedule_peak (turns, NULL, NULL);
  *away_B = walk.most_away_B;
  return walk.most;
}
