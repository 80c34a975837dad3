/* What the requests of a test's own load have in common. */
#ifndef SERVING_SOURCE_FIXTURE_H
#define SERVING_SOURCE_FIXTURE_H

#include "serving/run.h"

/* SrvSource.finished of a load that nobody's answer changes. */
static inline gboolean
nothing_follows (gpointer user, guint64 index, double now_s)
{
  (void)user;
  (void)index;
  (void)now_s;
  return FALSE;
}

#endif
