/* Equal clients of a storage as one activity. See workload/io_run.h. */
#include "workload/io_run.h"

void
wrk_side_clear (WrkSide *side)
{
  g_clear_pointer (&side->loads, g_array_unref);
  g_clear_pointer (&side->others, g_array_unref);
}

static void
add_load (WrkSide *side, CluRes res, double load)
{
  guint at = 0;
  while (at < side->loads->len && g_array_index (side->loads, WrkLoad, at).res < res)
    at++;
  if (at < side->loads->len && g_array_index (side->loads, WrkLoad, at).res == res) {
    g_array_index (side->loads, WrkLoad, at).load += load;
    return;
  }
  const WrkLoad fresh = { res, load, 1, 1 };
  g_array_insert_val (side->loads, at, fresh);
}

void
wrk_side_add_uses (WrkSide *side, const GArray *uses, double factor)
{
  for (guint i = 0; i < uses->len; i++) {
    const CluUse *use = &g_array_index (uses, CluUse, i);
    add_load (side, use->res, use->share * factor);
  }
}

void
wrk_side_add (WrkSide *side, const WrkSide *more, double factor)
{
  for (guint i = 0; i < more->loads->len; i++) {
    const WrkLoad *load = &g_array_index (more->loads, WrkLoad, i);
    add_load (side, load->res, load->load * factor);
  }
  for (guint i = 0; i < more->others->len; i++) {
    WrkSideOther other = g_array_index (more->others, WrkSideOther, i);
    other.weight *= factor;
    g_array_append_val (side->others, other);
  }
}
