/* Equal clients of a storage as one activity. See storage/io_run.h. */
#include "storage/io_run.h"

void
sto_side_clear (StoSide *side)
{
  g_clear_pointer (&side->loads, g_array_unref);
  g_clear_pointer (&side->others, g_array_unref);
}

static void
add_load (StoSide *side, CluRes res, double load)
{
  guint at = 0;
  while (at < side->loads->len && g_array_index (side->loads, ColLoad, at).res < res)
    at++;
  if (at < side->loads->len && g_array_index (side->loads, ColLoad, at).res == res) {
    g_array_index (side->loads, ColLoad, at).load += load;
    return;
  }
  const ColLoad fresh = { res, load, 1, 1 };
  g_array_insert_val (side->loads, at, fresh);
}

void
sto_side_add_uses (StoSide *side, const GArray *uses, double factor)
{
  for (guint i = 0; i < uses->len; i++) {
    const CluUse *use = &g_array_index (uses, CluUse, i);
    add_load (side, use->res, use->share * factor);
  }
}

void
sto_side_add (StoSide *side, const StoSide *more, double factor)
{
  for (guint i = 0; i < more->loads->len; i++) {
    const ColLoad *load = &g_array_index (more->loads, ColLoad, i);
    add_load (side, load->res, load->load * factor);
  }
  for (guint i = 0; i < more->others->len; i++) {
    StoSideOther other = g_array_index (more->others, StoSideOther, i);
    other.weight *= factor;
    g_array_append_val (side->others, other);
  }
}
