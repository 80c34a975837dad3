/* What the files of a plan's work share. */
#ifndef WORKLOAD_PLAN_WORK_PRIVATE_H
#define WORKLOAD_PLAN_WORK_PRIVATE_H

#include "plan-private.h"
#include "workload/plan_work.h"

typedef enum { WRK_PIECE_DUE, WRK_PIECE_OUT, WRK_PIECE_DONE, WRK_PIECE_OTHERS } WrkPieceState;

/* What its cuts came to; also how a reply begins, and rows follow. */
typedef struct {
  guint64 n_rows, out[WRK_OUT_N];
  double over[WRK_OUT_N];
} WrkPieceCount;

/* Cuts of a machine with the same tensor, context and pipeline parallelism, which share most of what a closed form remembers. */
typedef struct {
  guint32 machine, first, n_cuts;
  WrkPieceState state;
  WrkPieceCount count;
  WrkChoiceRow *rows; /* owned; NULL until it is done, or where none met the constraints */
} WrkPiece;

/* What the engine says of a cut. */
typedef struct {
  double step_time_s, step_time_lo_s, step_time_hi_s, mfu, restore_B;
  double part_s[WRK_PART_N];
} WrkPlanRun;

typedef struct {
  guint32 machine, cut;
  gboolean out, done; /* a worker has it; it is here */
  WrkPlanRun run;
} WrkPlanAsked;

/* A machine's pieces. */
typedef struct {
  guint first, end; /* of work->pieces */
  guint due;        /* how many are */
  guint at;         /* none before it is due */
  guint hands;      /* workers that have it, as far as is known */
} WrkPieces;

struct WrkPlanWork {
  WrkPlan *plan;
  WrkPlanCrew crew;
  GMutex lock;    /* of all below, while a crew is at work */
  GArray *pieces; /* WrkPiece, by machine and cut */
  WrkPieces *machines;
  WrkPlanCount count;
  guint64 out[WRK_OUT_N]; /* that do not divide, of all machines */
  GArray *runs;           /* WrkPlanAsked: done ones of before, and those asked for now */
  gboolean stopped;
  GError *error; /* of the first task that failed, number `failed` */
  guint32 failed;
};

/* What the engine says of a row takes the place of what the closed form said. */
void wrk_plan_take_run (const WrkPlan *plan, const WrkPlanRun *run, WrkChoiceRow *row);

/* Has the engine run these rows, but those that it ran before. FALSE and *error on failure, and when stopped. */
gboolean wrk_plan_work_simulate (WrkPlanWork *work, WrkChoiceRow *const *rows, guint n, GError **error);
/* A piece is done: takes `rows`, with its state. */
void wrk_plan_work_finish_piece (WrkPlanWork *work, WrkPiece *piece, const WrkPieceCount *count, WrkChoiceRow *rows);
/* All cuts of a machine, WrkClosedAsk. Returned: full. */
GArray *wrk_plan_list_cuts (const WrkPlan *plan, guint32 machine, guint64 out[WRK_OUT_N]);

#endif
