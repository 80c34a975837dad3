/* One question that is asked many times: a scenario, run again with some of its keys changed. */
#ifndef STUDY_QUESTION_H
#define STUDY_QUESTION_H

#include "base/watch.h"
#include "constants/store.h"
#include "scenario/scenario.h"

/* A scenario, and the constants that it points into. */
typedef struct {
  Scn *scenario;
  CstStore constants;
} StdLoaded;

/* `text` NULL: the file `path`; else `path` stands for a file in messages. Returned: full; NULL and *error on failure. */
StdLoaded *std_loaded_new (const char *path, const char *text, const BaseLookup *lookup, const ScnOptions *options, GError **error);
void std_loaded_free (StdLoaded *loaded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StdLoaded, std_loaded_free)

/* Constants that runs of one question share, in any thread. */
typedef struct {
  GMutex lock;
  CstStore store;
} StdConstants;
void std_constants_init (StdConstants *constants, const BaseLookup *lookup);
void std_constants_clear (StdConstants *constants);

/* What is run again. All is borrowed. */
typedef struct {
  const char *path; /* a file that can be read many times */
  const BaseLookup *lookup;
  ScnOptions options;
  StdConstants *constants; /* for runs that change none; they outlive the runs. NULL: each run reads its own */
} StdQuestion;

/* Initialise with zeroes. */
typedef struct {
  BaseLookup *lookup; /* all owned */
  StdLoaded *loaded;
  ScnResult *result;
} StdRun;

/* The scenario with `sets` ("path=value", ends with NULL; NULL: none) after those of the question. The lookup is borrowed.
 * Returned: full; NULL and *error on failure. May be called by many threads at once. */
StdLoaded *std_question_load (const StdQuestion *question, const char *const *sets, const BaseLookup *lookup, GError **error);
/* Runs the scenario with `sets` ("path=value", ends with NULL; NULL: none) after those of the question. `watch` (NULL: none) sees
 * what is read. FALSE and *error on failure. May be called by many threads at once. */
gboolean std_question_run (const StdQuestion *question, const char *const *sets, BaseWatch *watch, StdRun *run, GError **error);
void std_run_clear (StdRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StdRun, std_run_clear)

#endif
