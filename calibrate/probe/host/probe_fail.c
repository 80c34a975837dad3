#include "probe_fail.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char reason[2][PROBE_REASON_MOST]; /* by turns, so that a reason can be part of the next one */
static _Thread_local unsigned at;
static _Thread_local bool is_set;

bool
probe_fail (const char *format, ...)
{
  va_list list;
  if (is_set)
    return false;
  is_set = true;
  va_start (list, format);
  vsnprintf (reason[at], sizeof reason[at], format, list);
  va_end (list);
  return false;
}

const char *
probe_why (void)
{
  if (!is_set)
    return "failed without saying why";
  const char *text = reason[at];
  at = !at;
  is_set = false;
  return text;
}

void
probe_forget (void)
{
  is_set = false;
}
