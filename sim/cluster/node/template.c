/* A kind of node as a container: links, and what shares a capacity. */
#include "node/node-private.h"

guint32
clu_template_link (CluTemplate *t, guint32 a, guint32 b, CluEnd end, const CluParams *p)
{
  CluNodeLink link = { .a = a, .b = b, .end = end, .res = t->res->len, .p = *p };
  guint32 index = t->links->len;
  g_array_append_val (t->links, link);
  static const CluResKind kinds[] = { CLU_RES_FORWARD, CLU_RES_BACKWARD, CLU_RES_BOTH };
  for (guint32 i = 0; i < clu_params_n_res (p); i++) {
    CluNodeRes res = { .kind = kinds[i], .index = index, .capacity_Bps = clu_params_capacity (p, kinds[i]) };
    g_array_append_val (t->res, res);
  }
  return index;
}

void
clu_template_own (CluTemplate *t, guint32 dev, double capacity_Bps, const CluLinkClass *link_class, BaseSource source)
{
  CluNodeRes res = { .kind = CLU_RES_OWN, .index = dev, .capacity_Bps = capacity_Bps };
  t->own[dev] = (CluOwn){ .res = t->res->len, .read = CLU_NONE, .write = CLU_NONE, .link_class = link_class, .source = source };
  g_array_append_val (t->res, res);
}

static guint32 *
own_number (CluOwn *own, CluResKind kind)
{
  return kind == CLU_RES_READ ? &own->read : kind == CLU_RES_WRITE ? &own->write : &own->res;
}

/* Appends, changes or takes away what a device's own resource of that kind carries. */
static void
set_own (CluTemplate *t, guint32 dev, CluResKind kind, double capacity_Bps)
{
  guint32 *number = own_number (&t->own[dev], kind);
  if (*number == CLU_NONE && capacity_Bps > 0) {
    CluNodeRes res = { .kind = kind, .index = dev };
    *number = t->res->len;
    g_array_append_val (t->res, res);
  }
  if (*number != CLU_NONE)
    clu_template_res_at (t, *number)->capacity_Bps = capacity_Bps;
}

void
clu_template_host (CluTemplate *t, double both_Bps, double read_Bps, double write_Bps)
{
  for (guint32 i = 0; i < t->n[CLU_DEV_MEMORY]; i++) {
    guint32 dev = t->first[CLU_DEV_MEMORY] + i;
    set_own (t, dev, CLU_RES_OWN, both_Bps);
    set_own (t, dev, CLU_RES_READ, read_Bps);
    set_own (t, dev, CLU_RES_WRITE, write_Bps);
  }
}

void
clu_template_renumber (CluTemplate *t)
{
  g_autoptr (GArray) old = t->res;
  t->res = g_array_new (FALSE, FALSE, sizeof (CluNodeRes));
  for (guint32 i = 0; i < t->links->len; i++) {
    CluNodeLink *link = clu_template_link_at (t, i);
    link->res = t->res->len;
    for (guint32 k = 0; k < clu_params_n_res (&link->p); k++) {
      CluResKind kind = k == 0 ? CLU_RES_FORWARD : k == 1 ? CLU_RES_BACKWARD : CLU_RES_BOTH;
      CluNodeRes res = { .kind = kind, .index = i, .capacity_Bps = clu_params_capacity (&link->p, kind) };
      g_array_append_val (t->res, res);
    }
  }
  for (guint32 i = 0; i < old->len; i++) {
    CluNodeRes res = g_array_index (old, CluNodeRes, i);
    if (res.kind < CLU_RES_OWN)
      continue;
    gboolean limits = res.capacity_Bps > 0;
    *own_number (&t->own[res.index], res.kind) = limits ? t->res->len : CLU_NONE;
    if (limits)
      g_array_append_val (t->res, res);
  }
}

void
clu_template_free (CluTemplate *t)
{
  g_array_unref (t->links);
  g_array_unref (t->res);
}
