/* Single links of a node that differ from the others of their kind, by the names of their ends. */
#include <string.h>

#include "node/node-private.h"

guint32
clu_template_find (const CluTemplate *t, const char *name)
{
  for (CluDevKind kind = CLU_DEV_GPU; name != NULL && kind < CLU_DEV_N; kind++) {
    const char *word = clu_dev_word (kind);
    if (!g_str_has_prefix (name, word))
      continue;
    const char *digits = name + strlen (word);
    guint64 index = 0;
    if (*digits != '\0' && !g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT32 - 1, &index, NULL))
      continue;
    CluDevKind end = kind == CLU_DEV_MEMORY ? CLU_DEV_SOCKET : kind; /* links of a host's memory are its socket's */
    if (index < t->n[end])
      return t->first[end] + (guint32)index;
  }
  return CLU_NONE;
}

/* The link between two ends by name; CLU_NONE. */
static guint32
link_by_name (const CluTemplate *t, const char *from, const char *to)
{
  static const struct {
    const char *name;
    CluEnd end;
  } ends[] = {
    { "fabric", CLU_END_FABRIC },
    { "frontend", CLU_END_FRONTEND },
    { "management", CLU_END_MANAGEMENT },
    { "nvswitch", CLU_END_DOMAIN },
  };
  for (int turn = 0; turn < 2; turn++) {
    const char *a = turn == 0 ? from : to, *b = turn == 0 ? to : from;
    guint32 x = clu_template_find (t, a), y = clu_template_find (t, b);
    for (guint32 i = 0; x != CLU_NONE && i < t->links->len; i++) {
      const CluNodeLink *link = clu_template_link_at (t, i);
      if (link->a != x)
        continue;
      if (link->end == CLU_END_LOCAL && link->b == y)
        return i;
      for (gsize e = 0; e < G_N_ELEMENTS (ends); e++)
        if (link->end == ends[e].end && g_strcmp0 (b, ends[e].name) == 0)
          return i;
    }
  }
  return CLU_NONE;
}

void
clu_template_override (CluLoader *loader, CluTemplate *t, const BaseList *overrides)
{
  for (unsigned i = 0; i < overrides->n; i++) {
    const CluLinkOverride *o = BASE_LIST_AT (*overrides, CluLinkOverride, i);
    guint32 index = link_by_name (t, o->from.v, o->to.v);
    if (index == CLU_NONE) {
      clu_error (loader, o->from.mark,
                 "no link from '%s' to '%s' in a node; ends are gpuN, nicN, nvmeN, pcie_switchN, socketN, nvswitch, and fabric "
                 "for a NIC's cable",
                 o->from.v != NULL ? o->from.v : "", o->to.v != NULL ? o->to.v : "");
      continue;
    }
    CluParams *p = &clu_template_link_at (t, index)->p;
    CluLinkSpec was = clu_params_spec (p, NULL);
    const CluLinkSpec *specs[] = { &was, &o->link };
    CluParams changed;
    if (!clu_params_resolve (loader, specs, 2, p->link_class, o->head.mark, "overrides.links", &changed))
      continue;
    *p = changed;
  }
}
