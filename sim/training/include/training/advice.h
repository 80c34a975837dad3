/* Changes of a training scenario that could make its step quicker, or that show its sensitivity: each to be tried by running the
 * scenario with it. */
#ifndef TRAINING_ADVICE_H
#define TRAINING_ADVICE_H

#include "training/training.h"

typedef enum {
  TRN_CHANGE_HARDWARE,    /* another machine */
  TRN_CHANGE_SOFTWARE,    /* another way to run the same training */
  TRN_CHANGE_SENSITIVITY, /* sensitivity: the answer would change if … */
  TRN_CHANGE_KINDS
} TrnChangeKind;
extern const char *const trn_change_kind_names[TRN_CHANGE_KINDS];

typedef struct {
  TrnChangeKind kind;
  char *what;               /* "tp 8 -> 4" */
  GPtrArray *sets;          /* char *: "path=value", as of --set, to follow those of the scenario */
  gboolean no_interference; /* an option beside them */
} TrnChange;

/* A list of changes, of TrnChange *: full. What is added belongs to it, and `what` is formatted. */
GPtrArray *trn_changes_new (void);
TrnChange *trn_change_add (GPtrArray *changes, TrnChangeKind kind, const char *format, ...) G_GNUC_PRINTF (3, 4);
void trn_change_set (TrnChange *change, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Of a scenario with a training step of a model that can be planned; empty for others. Not all of them can run. Returned: full,
 * of TrnChange *. */
GPtrArray *trn_advice_changes (const TrnJob *job);

#endif
