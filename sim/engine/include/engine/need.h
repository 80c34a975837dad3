/* Memory that a simulation needs, estimated from counts that are known before it is built, and the limit on it. */
#ifndef ENGINE_NEED_H
#define ENGINE_NEED_H

#include "engine/engine.h"

typedef struct {
  double tasks;     /* of task graphs, with what those who build them keep of each */
  double paced;     /* of these, on places where others slow them */
  double waits;     /* of these: a task that waits for another counts once for each */
  double flows;     /* activities of the flow network that exist at the same time, besides tasks */
  double listed;    /* activities of a list that start later, and what is kept of each that has ended */
  double crossings; /* links that these cross, together */
  double edges;     /* pairs of ranks between which messages that wait for others go */
  double layers;    /* whose times are given, each once */
} EngNeed;

/* B, an upper estimate: at most twice what is needed where one of the counts is large. */
double eng_need_B (const EngNeed *need);

/* The limit of all simulations of this process, B, each for itself; 0: the default, 16 GiB. Not while one is built. */
#define ENG_LIMIT_DEFAULT_B (16.0 * 1024 * 1024 * 1024)
void eng_limit_set (double limit_B);
double eng_limit_B (void);

/* Whether something fits that is built alone. `what` says in a few words what it is ("a step of 80 layers"). FALSE and *error
 * (BASE_ERROR_INPUT): what, its counts and bytes, and the limit. */
gboolean eng_need_fits (const EngNeed *need, const char *what, GError **error);
/* The same of what is built on `eng`, beside what is built there already. If it fits it counts until eng_release. */
gboolean eng_reserve (Eng *eng, const EngNeed *need, const char *what, GError **error);
void eng_release (Eng *eng, const EngNeed *need);

#endif
