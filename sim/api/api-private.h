/* Inside of the handles of forerun.h. */
#ifndef API_PRIVATE_H
#define API_PRIVATE_H

#include "api/load.h"
#include "base/member.h"
#include "forerun.h"
#include "study/question.h"

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

/* An answer as its makers know it: all but `session` may be what only this answer is of. */
typedef struct {
  FrSession *session;  /* borrowed */
  StdLoaded *loaded;   /* taken */
  ScnResult *scenario; /* taken */
  char **command;      /* taken, g_strfreev: the words that ask the program for the same */
} FrAnswer;
FrResult *fr_result_new (const FrAnswer *answer);

#endif
