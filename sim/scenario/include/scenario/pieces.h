/* A service in pieces, that threads, processes or machines share: its runs with steps at the low end, the middle and the high end
 * of their band, each in parts of its replicas. Whoever computes them, and in whatever order: the answer is the same to the last
 * bit. */
#ifndef SCENARIO_PIECES_H
#define SCENARIO_PIECES_H

#include "scenario/scenario.h"

/* Whether a scenario is a service whose replicas can be computed apart: they know nothing of each other. FALSE and *error, with the
 * place of the key that joins them. `scenario` is one for which scn_serving() is not NULL. */
gboolean scn_pieces_split (const Scn *scenario, GError **error);

enum { SCN_PIECES_RUNS = 3 }; /* low end, middle, high end */

typedef struct ScnPieces ScnPieces;
/* SCN_PIECES_RUNS x `of` pieces, by run and then by part. `scenario` splits, and is borrowed. Returned: full. */
ScnPieces *scn_pieces_new (Scn *scenario, guint of);
void scn_pieces_free (ScnPieces *pieces);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ScnPieces, scn_pieces_free)

/* From now on only this part is due, from 0. */
void scn_pieces_take_part (ScnPieces *pieces, guint part);
guint scn_pieces_n_left (const ScnPieces *pieces); /* due and not there */

/* The next one to compute. Any thread. FALSE: none, or one has failed. */
gboolean scn_pieces_next (ScnPieces *pieces, guint32 *number);
/* Computes one; plain bytes, for any machine. Any thread. NULL and *error on failure. Returned: full. */
GBytes *scn_pieces_do (const ScnPieces *pieces, guint32 number, GError **error);
/* Takes what scn_pieces_do gave, here or elsewhere. Any thread. FALSE: it is no such piece, or is there already. */
gboolean scn_pieces_put (ScnPieces *pieces, guint32 number, const void *bytes, gsize n_B);
/* A piece could not be computed: no more are handed out, and of several such errors that of the first piece stays. Takes it. */
void scn_pieces_fail (ScnPieces *pieces, guint32 number, GError *error);

/* Computes all that is due on this process's threads (0: as many as there are processors). FALSE and *error on failure. */
gboolean scn_pieces_compute (ScnPieces *pieces, guint threads, GError **error);
/* The error of a piece that failed, if any. FALSE and *error then. */
gboolean scn_pieces_check (ScnPieces *pieces, GError **error);
/* What is known of a run (0 … SCN_PIECES_RUNS - 1), of the part that was due. Returned: full. */
GBytes *scn_pieces_part (const ScnPieces *pieces, guint run);
/* All pieces are there: scn_run() of the scenario answers from them, as long as `pieces` lives. FALSE and *error where nothing was
 * answered. */
gboolean scn_pieces_end (ScnPieces *pieces, GError **error);

#endif
