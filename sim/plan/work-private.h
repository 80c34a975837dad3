/* What the files of a plan's work share. */
#ifndef PLAN_WORK_PRIVATE_H
#define PLAN_WORK_PRIVATE_H

#include "plan-private.h"
#include "plan/work.h"

typedef enum { PLN_PIECE_DUE, PLN_PIECE_OUT, PLN_PIECE_DONE, PLN_PIECE_OTHERS } PlnPieceState;

/* What its cuts came to; also how a reply begins, and rows follow. */
typedef struct {
  guint64 n_rows, out[PLN_REJECTED_N];
  double over[PLN_REJECTED_N];
} PlnPieceCount;

/* Cuts of a machine with the same tensor, context and pipeline parallelism, which share most of what a closed form remembers. */
typedef struct {
  guint32 machine, first, n_cuts;
  PlnPieceState state;
  PlnPieceCount count;
  PlnChoiceRow *rows; /* owned; NULL until it is done, or where none met the constraints */
} PlnPiece;

/* What the engine says of a cut. */
typedef struct {
  double step_time_s, step_time_lo_s, step_time_hi_s, mfu, restore_B;
  double part_s[TRN_PART_N];
} PlnRun;

typedef struct {
  guint32 machine, cut;
  gboolean out, done; /* a worker has it; it is here */
  PlnRun run;
} PlnPending;

/* A machine's pieces. */
typedef struct {
  guint first, end; /* of work->pieces */
  guint due;        /* how many are */
  guint at;         /* none before it is due */
  guint hands;      /* workers that have it, as far as is known */
} PlnPieces;

struct PlnWork {
  Pln *plan;
  PlnWorkers workers;
  GMutex lock;    /* of all below, while a crew is at work */
  GArray *pieces; /* PlnPiece, by machine and cut */
  PlnPieces *machines;
  PlnCount count;
  guint64 out[PLN_REJECTED_N]; /* that do not divide, of all machines */
  GArray *runs;                /* PlnPending: done ones of before, and those asked for now */
  GPtrArray *steps;            /* by machine: GArray, TrnClosedStep of its cuts, each written by one worker; NULL: not kept */
  gboolean stopped;
  GError *error; /* of the first task that failed, number `failed` */
  guint32 failed;
};

/* What the engine says of a row takes the place of what the closed form said. */
void pln_take_run (const Pln *plan, const PlnRun *run, PlnChoiceRow *row);

/* Has the engine run these rows, but those that it ran before. FALSE and *error on failure, and when stopped. */
gboolean pln_work_simulate (PlnWork *work, PlnChoiceRow *const *rows, guint n, GError **error);
/* A piece is done: takes `rows`, with its state. */
void pln_work_finish_piece (PlnWork *work, PlnPiece *piece, const PlnPieceCount *count, PlnChoiceRow *rows);
/* All cuts of a machine, TrnClosedQuery. Returned: full. */
GArray *pln_list_layouts (const Pln *plan, guint32 machine, guint64 out[PLN_REJECTED_N]);

#endif
