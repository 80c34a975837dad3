/* Links that do the same in all of a step are simulated once.
 *
 * Operations are added by what they put on the links (a spread). Each addition splits classes: nodes stay together when they were
 * together and carry the same of it; so do the links between nodes. In the end the links of a class have carried, of every
 * operation, the same as each other, so that they are one constraint on its rates: one stands for all, with their number for what
 * is counted. A slow adapter, a hashed path, the end of a ring splits off what it touches and nothing else.
 *
 * Of the classes that remain, one that has strictly less of every operation than another, relative to its capacity, is never the
 * one that binds: it is counted but not simulated. Both are exact: rates of the whole network are rates of the folded one, bit for
 * bit, which a test holds for every task.
 *
 * Idea: partition refinement (Paige and Tarjan, SIAM J. Comput. 16(6), 1987), on the incidence of operations on links. Without
 * `fold` every link begins in a class of its own, and nothing else changes. */
#ifndef COLLECTIVE_FOLD_H
#define COLLECTIVE_FOLD_H

#include "collective/spread.h"

typedef struct ColFold ColFold;

ColFold *col_fold_new (ColRoutes *routes, const Clu *clu, gboolean fold);
void col_fold_free (ColFold *fold);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColFold, col_fold_free)

/* Number of the operation, from 0. Keeps a reference of the spread. */
guint col_fold_add (ColFold *fold, ColSpread *spread);
/* After the last operation. */
void col_fold_close (ColFold *fold);

/* ColLoad of an operation, closed: a row a class, ascending by its first resource; of them, those that can bind. Borrowed. */
const GArray *col_fold_loads (const ColFold *fold, guint operation);
const GArray *col_fold_binding (const ColFold *fold, guint operation);

#endif
