#include "engine/need.h"

#include "base/error.h"
#include "base/units.h"
#include "engine-private.h"

/* B of each. Measured with glibc 2.36 on 64 bits as the growth of the largest resident set over the growth of the count, by
 *     /usr/bin/time -f %M forerun run FILE
 * of the scenarios in tests/unit/test_need.c, with their counts and with twice as many (messages: forerun coll alltoall --steps
 * exact -n 64 and -n 128). One scenario has several counts: layers gave TASK_B and LAYER_B, micro-batches WAIT_B, the model
 * PACED_B, messages FLOW_B and CROSSING_B. Rounded up, since growing arrays hold more than they need; test_need holds the sums
 * against peaks. */
#define TASK_B     170.0
#define PACED_B    90.0
#define WAIT_B     18.0
#define FLOW_B     180.0
#define CROSSING_B 16.0
#define LISTED_B   75.0
#define EDGE_B     250.0
#define LAYER_B    250.0

static double limit_B = ENG_LIMIT_DEFAULT_B;

double
eng_need_B (const EngNeed *need)
{
  return need->tasks * TASK_B + need->paced * PACED_B + need->waits * WAIT_B + need->layers * LAYER_B + need->flows * FLOW_B +
         need->listed * LISTED_B + need->crossings * CROSSING_B + need->edges * EDGE_B;
}

void
eng_limit_set (double bytes)
{
  limit_B = bytes > 0 ? bytes : ENG_LIMIT_DEFAULT_B;
}

double
eng_limit_B (void)
{
  return limit_B;
}

/* "12.3 M tasks, 4 M messages": those that are many. Returned: full. */
static char *
counts_of (const EngNeed *need)
{
  const struct {
    double n;
    const char *what;
  } rows[] = { { need->tasks, "tasks" },
               { need->flows, "transfers" },
               { need->listed, "flows" },
               { need->edges, "pairs that exchange messages" } };
  GString *out = g_string_new (NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].n >= 1) {
      g_autofree char *n = base_quantity_format (rows[i].n, BASE_DIM_COUNT, 3);
      g_string_append_printf (out, "%s%s %s", out->len > 0 ? ", " : "", n, rows[i].what);
    }
  return g_string_free (out, FALSE);
}

/* `beside_B`: what is reserved already. */
static gboolean
fits (const EngNeed *need, double beside_B, const char *what, GError **error)
{
  const double bytes = eng_need_B (need);
  if (beside_B + bytes <= limit_B)
    return TRUE;
  g_autofree char *counts = counts_of (need), *wanted = base_quantity_format (bytes, BASE_DIM_BYTES, 3),
                  *limit = base_quantity_format (limit_B, BASE_DIM_BYTES, 3),
                  *beside = base_quantity_format (beside_B, BASE_DIM_BYTES, 3);
  return base_fail (error, BASE_ERROR_INPUT,
                    "%s: %s need about %s of memory%s%s%s, and the limit is %s; make the input smaller, or raise the limit with "
                    "--limit-memory",
                    what, counts, wanted, beside_B > 0 ? " beside the " : "", beside_B > 0 ? beside : "",
                    beside_B > 0 ? " of other jobs" : "", limit);
}

gboolean
eng_need_fits (const EngNeed *need, const char *what, GError **error)
{
  return fits (need, 0, what, error);
}

gboolean
eng_reserve (Eng *eng, const EngNeed *need, const char *what, GError **error)
{
  if (!fits (need, eng->reserved_B, what, error))
    return FALSE;
  eng->reserved_B += eng_need_B (need);
  return TRUE;
}

void
eng_release (Eng *eng, const EngNeed *need)
{
  eng->reserved_B = MAX (eng->reserved_B - eng_need_B (need), 0);
}
