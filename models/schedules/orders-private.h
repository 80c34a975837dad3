/* What a pipeline schedule is: one row, which stands with its order in a file of this folder. */
#ifndef MODELS_ORDERS_PRIVATE_H
#define MODELS_ORDERS_PRIVATE_H

#include "models/pipeline.h"

/* How positions lie on ranks. */
typedef enum {
  MDL_LAYOUT_ROUND, /* rank i: i, p+i, 2p+i, … */
  MDL_LAYOUT_VEE,   /* rank i: i and 2p-1-i */
  MDL_LAYOUT_COPIES /* rank i: i and p-1-i, two copies of a chain of p; the second half of the micro-batches takes the second */
} MdlLayout;

typedef struct {
  MdlLayout layout;
  guint32 cuts;         /* v; 0: any from 2 up */
  gboolean groups_of_p; /* m is a multiple of p */
  gboolean even;        /* p and m are */
  guint32 least_of_p;   /* m is at least so many times p */
  /* Appends the turns of one rank. From 2p micro-batches on, one more adds exactly its work: plans follow few and extrapolate. */
  void (*order) (const MdlPipeline *pipe, guint32 rank, GArray *turns);
  MdlScheduleFacts facts;
} MdlScheduleRow;

#define MDL_SCHEDULE_DECLARE_(code, name, help) extern const MdlScheduleRow mdl_schedule_##name;
MDL_SCHEDULE_ROWS (MDL_SCHEDULE_DECLARE_)

/* What a row lacks, in a sentence (full); NULL: nothing. */
char *mdl_schedule_fault (const MdlScheduleRow *row, const char *name);

static inline void
mdl_turns_add (GArray *turns, MdlTurnKind kind, guint32 micro_batch, guint32 chunk)
{
  MdlTurn turn = { .micro_batch = micro_batch, .chunk = chunk, .kind = kind };
  g_array_append_val (turns, turn);
}

#endif
