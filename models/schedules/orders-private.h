/* The orders behind the table of schedules: each appends the turns of one rank. */
#ifndef MODELS_ORDERS_PRIVATE_H
#define MODELS_ORDERS_PRIVATE_H

#include "models/pipeline.h"

static inline void
mdl_turns_add (GArray *turns, MdlTurnKind kind, guint32 micro_batch, guint32 chunk)
{
  MdlTurn turn = { .micro_batch = micro_batch, .chunk = chunk, .kind = kind };
  g_array_append_val (turns, turn);
}

void mdl_order_gpipe (const MdlPipeline *pipe, guint32 rank, GArray *turns);
void mdl_order_1f1b (const MdlPipeline *pipe, guint32 rank, GArray *turns);
void mdl_order_interleaved (const MdlPipeline *pipe, guint32 rank, GArray *turns);
void mdl_order_zb_h1 (const MdlPipeline *pipe, guint32 rank, GArray *turns);
void mdl_order_zb_v (const MdlPipeline *pipe, guint32 rank, GArray *turns);
void mdl_order_dualpipe (const MdlPipeline *pipe, guint32 rank, GArray *turns);
void mdl_order_dualpipe_v (const MdlPipeline *pipe, guint32 rank, GArray *turns);

#endif
