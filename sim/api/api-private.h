/* Inside of the handles of forerun.h. */
#ifndef API_PRIVATE_H
#define API_PRIVATE_H

#include <json-glib/json-glib.h>

#include "api/load.h"
#include "forerun.h"
#include "scenario/ranks.h"

/* Lives as long as the last handle that was made of it. */
struct FrSession {
  gatomicrefcount users;
  BaseLookup *lookup;
};
FrSession *fr_session_ref (FrSession *session);

/* Sets *out, where `out` is not NULL, to what `error` says. Takes `error`. Returned: false. */
bool fr_error_take (FrError **out, GError *error);
/* The same of a new error, FR_STATUS_INPUT. */
bool fr_fail (FrError **out, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* ---- changed keys ---- */

/* "path=value", a list that ends with NULL. Returned: full, g_ptr_array_unref. */
GPtrArray *fr_sets_new (void);
bool fr_sets_add (GPtrArray *sets, const char *path, const char *value, FrError **error);

/* ---- a file, or a text in its place, with changed keys: what scenarios and plans begin with ---- */

typedef struct {
  FrSession *session; /* owned reference */
  char *name;         /* as it was asked for; "-": a text */
  char *path;         /* of the file; what messages call a text */
  char *text;         /* NULL: the file */
  GPtrArray *sets;
} FrFile;

/* Finds a file by a function as fr_scenario_path. */
typedef char *(*FrFind) (const BaseLookup *lookup, const char *name, GError **error);
bool fr_file_load (FrFile *file, FrSession *session, const char *name, FrFind find, FrError **error);
bool fr_file_parse (FrFile *file, FrSession *session, const char *text, FrError **error);
void fr_file_clear (FrFile *file);

/* ---- options: flags of the program by their long names ---- */

typedef struct {
  const char *name;
  size_t offset; /* of a char *, owned, in the struct that is filled */
  gboolean many; /* of a GPtrArray * of char *, which ends with NULL: each value counts */
  gboolean bare; /* of a gboolean: a flag without a value, which is NULL */
} FrOption;      /* tables end with name NULL */
/* Sets the option in `base`; `flags` (char *, full) gets what asks the program for the same. */
bool fr_option_set (const FrOption *options, void *base, GPtrArray *flags, const char *name, const char *value, FrError **error);
void fr_options_clear (const FrOption *options, void *base);

/* ---- results ---- */

/* An answer as its makers know it; all is borrowed. */
typedef struct {
  const FrSession *session;
  const char *verb, *word; /* of the program: "run", "quickstart" */
  GPtrArray *flags;        /* char *: those that ask it for the same, without --set and --format; NULL: none */
  GPtrArray *sets;         /* of fr_sets_new */
  guint64 seed;
  const GPtrArray *inputs;                           /* BaseYaml * */
  const BaseDiag *diag;                              /* warnings of what was read; NULL: none */
  const GPtrArray *warnings;                         /* char *: of the run */
  void (*write) (const void *of, JsonBuilder *json); /* adds the value of `results` */
  const void *of;
} FrAnswer;
FrResult *fr_result_new (const FrAnswer *answer);

#endif
