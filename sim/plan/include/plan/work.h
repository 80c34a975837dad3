/* A plan's search in tasks, that threads, processes or machines share. Whoever does them, and in whatever order: the answer is the
 * same to the last bit, for a task's reply depends on the task alone and replies are put together in the order of the tasks. */
#ifndef PLAN_WORK_H
#define PLAN_WORK_H

#include "base/json.h"
#include "plan/plan.h"

/* One worker's next thing to do; plain values, that processes of the same program may send each other. */
typedef struct {
  gboolean run;          /* the engine runs layout `first`; else layouts are estimated */
  guint32 number;        /* of the piece; of a run among those asked for */
  guint32 machine;       /* of pln_machines */
  guint32 first, n_cuts; /* among the machine's cuts, in the order in which they are listed */
} PlnTask;

typedef struct {
  guint64 n_cuts, cuts_done; /* of what is due: without what another part of the plan has */
  guint n_runs, runs_done;   /* of the engine, 0 before the first stage is done */
  guint part, of;            /* which part of the plan is due; 1 of 1: all of it */
} PlnCount;

typedef struct PlnWork PlnWork;

/* How the work is done. All of it is borrowed. */
typedef struct {
  guint threads;                  /* of this process; 0: as many as there are processors */
  gboolean (*stop) (void *watch); /* asked before each task; TRUE: no more tasks. NULL: never */
  /* After each task; one thread at a time, none of which puts a reply meanwhile. NULL: no report. */
  void (*progress) (void *watch, PlnWork *work, const PlnCount *count);
  void *watch;
  /* Does what pln_work_next has until it has no more; FALSE and *error on failure. NULL: the threads do it. */
  gboolean (*workers) (void *data, PlnWork *work, GError **error);
  void *data;
  /* The result has the steps of all layouts, also of those that leave less memory than the goal's headroom; not where others than
   * this process's threads computed one. For pln_contenders(). */
  gboolean keep_steps;
} PlnWorkers;

/* Lists the cuts of all machines in pieces. NULL and *error where a machine has no closed form. `plan` is borrowed. Returned:
 * full. */
PlnWork *pln_work_new (Pln *plan, const PlnWorkers *workers, GError **error);
void pln_work_free (PlnWork *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlnWork, pln_work_free)

/* From now on only the pieces of one of `of` parts are due; `part` from 1. Pieces are dealt out to the parts one by one. */
void pln_work_take_part (PlnWork *work, guint part, guint of);

/* First stage: every piece that is due and not done. FALSE and *error on failure. Once stopped it returns TRUE too. */
gboolean pln_work_estimate (PlnWork *work, GError **error);
/* Both stages: estimates the rest, ranks, has the engine run the best (ask->threads is not looked at). Only with all pieces due.
 * NULL and *error on failure, and when stopped. Returned: full. */
PlnResult *pln_work_search (PlnWork *work, const PlnQuery *query, GError **error);

/* Whether the crew's `stop` has said so; asks it. Any thread. */
gboolean pln_work_stopped (PlnWork *work);
Pln *pln_work_plan (const PlnWork *work); /* borrowed */
PlnCount pln_work_count (const PlnWork *work);
guint pln_work_n_pieces (const PlnWork *work);
guint pln_work_n_of_part (const PlnWork *work, guint part, guint of); /* pieces that this part has */
guint pln_work_n_runs (const PlnWork *work);                          /* of the engine that are known */
guint pln_work_n_left (const PlnWork *work);                          /* pieces that are due and not done */
guint pln_work_n_open (const PlnWork *work);                          /* pieces that are not done, whether due or not */

/* ---- for crews ---- */

/* The next task for a worker that has a machine in hand (G_MAXUINT32: none): of the same machine while there are any, for what is
 * known of it. Any thread. FALSE: no more. */
gboolean pln_work_next (PlnWork *work, guint32 in_hand, PlnTask *task);
/* What a worker replied, from pln_worker_do. Any thread. FALSE and *error on what cannot be a reply. */
gboolean pln_work_put (PlnWork *work, const PlnTask *task, const void *reply, gsize n_B, GError **error);

/* The task could not be done: nothing else is handed out, and the error of the first task that failed ends the search. Takes it. */
void pln_work_fail (PlnWork *work, const PlnTask *task, GError *error);

/* One worker, in the process and thread of its own. `plan` is borrowed; several may have the same. Returned: full. */
typedef struct PlnWorker PlnWorker;
PlnWorker *pln_worker_new (Pln *plan);
void pln_worker_free (PlnWorker *hand);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlnWorker, pln_worker_free)
/* NULL and *error on failure. Returned: full; plain values, as the task. */
GBytes *pln_worker_do (PlnWorker *hand, const PlnTask *task, GError **error);

/* ---- kept ---- */

/* Members of what is done, into the open object: {pieces, part, of, done: […], runs: […]}. Numbers read back as they are. */
void pln_work_build (const PlnWork *work, JsonBuilder *json);
/* Takes what such an object of `json` has as done. FALSE and *error (BASE_ERROR_INPUT, begins with the file's name) where it is not
 * of this plan, or has a piece that is done already; `work` is of no use then. */
gboolean pln_work_read (PlnWork *work, const BaseJson *json, JsonObject *object, GError **error);

#endif
