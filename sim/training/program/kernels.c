/* Which works a stretch of compute is made of, by their names: what a trace says of a slice. A unit's works are made again, as its
 * items only know their places in them. */
#include "build-private.h"

/* The pass of a unit that an item is of; MDL_TURN_KINDS: none. */
static MdlTurnKind
turn_of (const TrnUnit *unit, const TrnItem *item)
{
  MdlTurnKind k = 0;
  for (; k < MDL_TURN_KINDS; k++) {
    const GArray *items = unit->pass[k];
    const TrnItem *first = items != NULL ? (const TrnItem *)(const void *)items->data : NULL;
    if (first != NULL && item >= first && item < first + items->len)
      break;
  }
  return k;
}

/* The unit's number at a position, and its part. */
static guint32
unit_of (const TrnModel *model, guint32 position, gint32 layer, MdlPart *part)
{
  const TrnStageLayers *cut = &model->cut[position];
  const guint32 front = cut->embedding ? 1 : 0;
  if (layer == TRN_AT_EMBEDDING || layer == TRN_AT_HEAD) {
    *part = layer == TRN_AT_HEAD ? MDL_PART_HEAD : MDL_PART_EMBEDDING;
    return layer == TRN_AT_HEAD ? front + cut->n : 0;
  }
  *part = model->llm.net != NULL ? MDL_PART_NET : mdl_llm_part (&model->llm, (unsigned)layer);
  return front + (guint32)layer - cut->first;
}

char *
trn_item_kernels (TrnBuild *b, guint32 lane, const TrnTaskPlace *at, const TrnItem *item)
{
  const TrnModel *model = b->model;
  if (model->layers != NULL || item == NULL || item->is_coll || at->layer == TRN_AT_NONE || at->chunk < 0)
    return NULL;
  const guint32 position = mdl_schedule_position (&model->pipe, (MdlPlace){ lane, (guint32)at->chunk });
  MdlPart part;
  const guint32 number = unit_of (model, position, at->layer, &part);
  const TrnUnit *unit = trn_unit_at (b, lane, position, number, NULL);
  const MdlTurnKind turn = unit != NULL ? turn_of (unit, item) : MDL_TURN_KINDS;
  if (turn == MDL_TURN_KINDS) /* of a module of multi-token prediction */
    return NULL;
  g_autoptr (GArray) forward = g_array_new (FALSE, FALSE, sizeof (MdlWork)), back = g_array_new (FALSE, FALSE, sizeof (MdlWork));
  MdlLayerQuery query = model->query;
  query.recompute = trn_again_modules (model, trn_model_again (model, position, number));
  mdl_layer_works (&model->llm, &query, part, at->layer > 0 ? (unsigned)at->layer : 0, forward, back);
  const GArray *works = turn == MDL_TURN_FORWARD ? forward : back;
  GString *out = g_string_new (NULL);
  const char *last = NULL;
  for (guint i = item->first_work; i <= item->last_work && i < works->len; i++) {
    const MdlWork *work = &g_array_index (works, MdlWork, i);
    if (work->kind == MDL_WORK_COLL || !trn_pass_in_turn (work->pass, turn) || g_strcmp0 (last, work->name) == 0)
      continue;
    g_string_append_printf (out, "%s%s", out->len > 0 ? ", " : "", work->name);
    last = work->name;
  }
  return g_string_free (out, FALSE);
}
