/* Errors, and the session: where the shipped data are. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "api-private.h"
#include "api/values.h"
#include "base/sandbox.h"
#include "engine/need.h"

const char *
fr_version (void)
{
  return FORERUN_VERSION;
}

/* ---- errors ---- */

struct FrError {
  FrStatus status;
  char *message;
};

bool
fr_error_take (FrError **out, GError *error)
{
  if (out != NULL) {
    *out = g_new (FrError, 1);
    (*out)->status = g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INPUT)        ? FR_STATUS_INPUT
                     : g_error_matches (error, BASE_ERROR, (gint)BASE_ERROR_INFEASIBLE) ? FR_STATUS_INFEASIBLE
                                                                                        : FR_STATUS_RUN;
    (*out)->message = g_strchomp (g_strdup (error->message));
  }
  g_error_free (error);
  return false;
}

bool
fr_fail (FrError **out, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  GError *error = NULL;
  base_fail (&error, BASE_ERROR_INPUT, "%s", text);
  return fr_error_take (out, error);
}

FrStatus
fr_error_status (const FrError *error)
{
  return error->status;
}

const char *
fr_error_message (const FrError *error)
{
  return error->message;
}

void
fr_error_free (FrError *error)
{
  if (error == NULL)
    return;
  g_free (error->message);
  g_free (error);
}

/* ---- session ---- */

/* The file that this code was loaded from: the library, or a program that it was linked into. Returned: full, or NULL. */
static char *
own_file (void)
{
  Dl_info info;
  char real[PATH_MAX];
  /* A program is named as it was called, without its folder where the shell found it by PATH. */
  if (dladdr (FORERUN_VERSION, &info) != 0 && strchr (info.dli_fname, '/') != NULL && realpath (info.dli_fname, real) != NULL)
    return g_strdup (real);
  return g_file_read_link ("/proc/self/exe", NULL);
}

FrSession *
fr_session_new (const char *data, FrError **error)
{
  (void)g_ascii_strtoull ("0", NULL, 10); /* GLib makes its C locale at first use: not in two threads at once */
  g_autofree char *file = data == NULL ? own_file () : NULL;
  GError *why = NULL;
  g_autofree char *root = data != NULL ? g_strdup (data) : fr_data_root (file, &why);
  g_autofree char *topologies = root != NULL ? g_build_filename (root, "topologies", NULL) : NULL;
  if (root == NULL) {
    fr_error_take (error, why);
    return NULL;
  }
  if (!g_file_test (topologies, G_FILE_TEST_IS_DIR)) {
    fr_fail (error, "'%s' holds no topologies/; the folder with topologies/, scenarios/ and calibrate/ is accepted", root);
    return NULL;
  }
  FrSession *session = g_new0 (FrSession, 1);
  g_atomic_ref_count_init (&session->users);
  session->lookup = base_lookup_new (root);
  return session;
}

bool
fr_sandbox_set (const char *folder, FrError **error)
{
  GError *why = NULL;
  if (folder == NULL)
    return fr_fail (error, "the folder of a sandbox is needed");
  return base_sandbox_set (folder, &why) || fr_error_take (error, why);
}

FrSession *
fr_session_ref (FrSession *session)
{
  g_atomic_ref_count_inc (&session->users);
  return session;
}

const char *
fr_session_data (const FrSession *session)
{
  return base_lookup_root (session->lookup);
}

bool
fr_session_limit_memory (FrSession *session, const char *size, FrError **error)
{
  (void)session;
  guint64 limit_B = 0;
  GError *why = NULL;
  if (!fr_size_value (NULL, "limit-memory", size, &limit_B, &why))
    return fr_error_take (error, why);
  eng_limit_set ((double)limit_B);
  return true;
}

void
fr_session_free (FrSession *session)
{
  if (session == NULL || !g_atomic_ref_count_dec (&session->users))
    return;
  base_lookup_free (session->lookup);
  g_free (session);
}
