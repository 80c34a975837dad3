/* The orders behind the table of schedules: each appends the turns of one rank. */
#ifndef WORKLOAD_SCHEDULE_ORDERS_PRIVATE_H
#define WORKLOAD_SCHEDULE_ORDERS_PRIVATE_H

#include "schedule-private.h"

static inline void
wrk_turns_add (GArray *turns, WrkTurnKind kind, guint32 micro_batch, guint32 chunk)
{
  WrkTurn turn = { .micro_batch = micro_batch, .chunk = chunk, .kind = kind };
  g_array_append_val (turns, turn);
}

void wrk_order_gpipe (const WrkPipeline *pipe, guint32 rank, GArray *turns);
void wrk_order_1f1b (const WrkPipeline *pipe, guint32 rank, GArray *turns);
void wrk_order_interleaved (const WrkPipeline *pipe, guint32 rank, GArray *turns);
void wrk_order_zb_h1 (const WrkPipeline *pipe, guint32 rank, GArray *turns);
void wrk_order_zb_v (const WrkPipeline *pipe, guint32 rank, GArray *turns);
void wrk_order_dualpipe (const WrkPipeline *pipe, guint32 rank, GArray *turns);
void wrk_order_dualpipe_v (const WrkPipeline *pipe, guint32 rank, GArray *turns);

#endif
