/* Which row of an engine's constants holds for a version.
 *
 * Versions compare number by number: 0.9.2 < 0.10.0; what stands behind the numbers ("rc1", "post1") does not count. The newest row
 * that is not after the version holds. Of times the row of the highest capability that is not above the GPU's holds.
 * Check: test_serving_memory. */
#include "models/engine.h"

#include <string.h>

/* The next number of a version, behind which *at is put; -1: none. */
static gint64
next_number (const char **at)
{
  while (**at != '\0' && !g_ascii_isdigit (**at))
    (*at)++;
  if (**at == '\0')
    return -1;
  char *end = NULL;
  gint64 number = g_ascii_strtoll (*at, &end, 10);
  *at = end;
  return number;
}

/* Numbers of a release: "1.3.0rc5" has 1, 3, 0. */
static char *
release_of (const char *version)
{
  gsize n = strspn (version, "0123456789.");
  return g_strndup (version, n);
}

static int
compare (const char *a_version, const char *b_version)
{
  g_autofree char *a_release = release_of (a_version), *b_release = release_of (b_version);
  const char *a = a_release, *b = b_release;
  for (;;) {
    gint64 x = next_number (&a), y = next_number (&b);
    if (x < 0 && y < 0)
      return 0;
    x = MAX (x, 0); /* 0.12 is 0.12.0 */
    y = MAX (y, 0);
    if (x != y)
      return x < y ? -1 : 1;
  }
}

const MdlEngineRow *
mdl_engine_find (const MdlEngines *engines, const char *name, const char *version, gboolean *assumed)
{
  const MdlEngineRow *best = NULL, *oldest = NULL;
  for (unsigned i = 0; i < engines->rows.n; i++) {
    const MdlEngineRow *row = BASE_LIST_AT (engines->rows, MdlEngineRow, i);
    if (g_strcmp0 (row->name.v, name) != 0)
      continue;
    if (oldest == NULL || compare (row->version.v, oldest->version.v) < 0)
      oldest = row;
    if (version != NULL && compare (row->version.v, version) > 0)
      continue;
    if (best == NULL || compare (row->version.v, best->version.v) > 0)
      best = row;
  }
  if (assumed != NULL)
    *assumed = best == NULL && oldest != NULL;
  return best != NULL ? best : oldest;
}

const MdlEngineTimes *
mdl_engine_times (const MdlEngineRow *row, double capability)
{
  const MdlEngineTimes *best = NULL, *lowest = NULL;
  for (unsigned i = 0; i < row->times.n; i++) {
    const MdlEngineTimes *times = BASE_LIST_AT (row->times, MdlEngineTimes, i);
    if (lowest == NULL || times->capability.v < lowest->capability.v)
      lowest = times;
    if (times->capability.v <= capability && (best == NULL || times->capability.v > best->capability.v))
      best = times;
  }
  return best != NULL ? best : lowest;
}

const MdlTransferLibrary *
mdl_transfer_library (const MdlEngines *engines, const char *name)
{
  for (unsigned i = 0; engines != NULL && i < engines->transfers.n; i++) {
    const MdlTransferLibrary *library = BASE_LIST_AT (engines->transfers, MdlTransferLibrary, i);
    if (g_strcmp0 (library->name.v, name) == 0)
      return library;
  }
  return NULL;
}

const MdlRlFramework *
mdl_rl_framework (const MdlEngines *engines, const char *name)
{
  for (unsigned i = 0; engines != NULL && i < engines->frameworks.n; i++) {
    const MdlRlFramework *framework = BASE_LIST_AT (engines->frameworks, MdlRlFramework, i);
    if (g_strcmp0 (framework->name.v, name) == 0)
      return framework;
  }
  return NULL;
}
