/* What a calibration measured of links and host memory, laid over a cluster that stands. A link that differs from its like by an
 * override keeps what it differs in. */
#include <math.h>
#include <string.h>

#include "load/load-private.h"
#include "models/links.h"
#include "node/node-private.h"

/* ---- which links ---- */

/* The first of a node's scale-up links; CLU_NONE. */
static guint32
first_scale_up (const CluTemplate *t)
{
  if (t->port != NULL && t->n[CLU_DEV_GPU] > 0)
    return t->port[0];
  for (guint32 i = 0; t->mesh != NULL && i < t->n[CLU_DEV_GPU]; i++)
    if (t->mesh[i] != CLU_NONE)
      return t->mesh[i];
  return CLU_NONE;
}

static gboolean
is_scale_up (const CluTemplate *t, const CluNodeLink *link)
{
  if (!clu_template_is (t, CLU_DEV_GPU, link->a))
    return FALSE;
  return link->end == CLU_END_DOMAIN || (link->end == CLU_END_LOCAL && (clu_template_is (t, CLU_DEV_NVSWITCH, link->b) ||
                                                                        clu_template_is (t, CLU_DEV_GPU, link->b)));
}

/* The slot of the first GPU; CLU_NONE. */
static guint32
first_slot (const CluTemplate *t)
{
  if (t->n[CLU_DEV_GPU] == 0)
    return CLU_NONE;
  guint32 link = t->pcie_up[0] != CLU_NONE ? t->pcie_up[0] : t->up[t->first[CLU_DEV_GPU]];
  return link != CLU_NONE && clu_template_link_at (t, link)->p.link_class->family.v == CLU_FAMILY_PCIE ? link : CLU_NONE;
}

/* The first of a node's cables to the fabric; CLU_NONE. */
static guint32
first_cable (const CluTemplate *t)
{
  for (guint32 i = 0; i < t->links->len; i++)
    if (clu_template_link_at (t, i)->end == CLU_END_FABRIC)
      return i;
  return CLU_NONE;
}

/* Slots of GPUs and the links above them. */
static gboolean
is_slot (const CluTemplate *t, const CluNodeLink *link, const CluParams *slot)
{
  return link->end == CLU_END_LOCAL &&
         (clu_template_is (t, CLU_DEV_GPU, link->a) || clu_template_is (t, CLU_DEV_PCIE_SWITCH, link->a)) &&
         g_strcmp0 (link->p.link_class->name.v, slot->link_class->name.v) == 0;
}

/* ---- figures ---- */

/* Replaces what is as usual by what was measured. */
static gboolean
take (double *here, double usual, const BaseNum *measured)
{
  static const double SAME = 1e-12;
  if (!measured->set || fabs (*here - usual) > SAME * fabs (usual))
    return FALSE;
  *here = measured->v;
  return TRUE;
}

/* Transfers between a NIC and a GPU's memory. */
static void
lay_rdma (CluParams *p, const CluParams *usual, const MdlLinkConstants *figures)
{
  take (&p->rdma_efficiency, usual->rdma_efficiency, &figures->rdma_efficiency);
  take (&p->rdma_duplex, usual->rdma_duplex, &figures->rdma_duplex);
}

static void
lay_figures (CluParams *p, const CluParams *usual, const MdlLinkConstants *figures)
{
  gboolean reach = take (&p->efficiency, usual->efficiency, &figures->efficiency);
  gboolean latency = take (&p->latency_s, usual->latency_s, &figures->latency);
  take (&p->sm_efficiency, usual->sm_efficiency, &figures->sm_efficiency);
  take (&p->duplex, usual->duplex, &figures->duplex);
  /* a rate by data sheet times what was measured of it is measured */
  if (reach)
    p->source = latency ? MIN (figures->efficiency.source, figures->latency.source) : figures->efficiency.source;
}

/* The first node's as they were: link_class NULL where there is none. */
typedef struct {
  CluParams scale_up, slot, cable;
} Usual;

static void
lay_links (CluTemplate *t, const Usual *usual, const MdlLinks *links)
{
  for (guint32 i = 0; i < t->links->len; i++) {
    CluNodeLink *link = clu_template_link_at (t, i);
    if (usual->scale_up.link_class != NULL && is_scale_up (t, link))
      lay_figures (&link->p, &usual->scale_up, &links->scale_up);
    else if (usual->slot.link_class != NULL && is_slot (t, link, &usual->slot))
      lay_figures (&link->p, &usual->slot, &links->pcie);
    if (usual->slot.link_class != NULL && g_strcmp0 (link->p.link_class->name.v, usual->slot.link_class->name.v) == 0)
      lay_rdma (&link->p, &usual->slot, &links->pcie); /* slots of NICs too */
    if (link->end == CLU_END_FABRIC && g_strcmp0 (link->p.link_class->name.v, usual->cable.link_class->name.v) == 0)
      lay_figures (&link->p, &usual->cable, &links->network);
  }
}

/* Cables between switches reach what those of NICs do; their latency is of other lengths. */
static void
lay_fabric (CluFabric *fabric, const CluParams *cable, const MdlLinkConstants *figures)
{
  for (guint32 l = 0; cable->link_class != NULL && l < fabric->n_levels; l++)
    if (fabric->level[l].p.link_class != NULL &&
        g_strcmp0 (fabric->level[l].p.link_class->name.v, cable->link_class->name.v) == 0 &&
        take (&fabric->level[l].p.efficiency, cable->efficiency, &figures->efficiency))
      fabric->level[l].p.source = figures->efficiency.source;
}

/* ---- host memory ---- */

static void
lay_host (Clu *clu, CluTemplate *t, const MdlHostRates *host)
{
  if (!host->read.set && !host->write.set && !host->both.set)
    return;
  /* one source for all three: of both ways together, whose limit lies lowest */
  BaseSource source = host->both.set                      ? host->both.source
                      : host->read.set && host->write.set ? MIN (host->read.source, host->write.source)
                      : host->read.set                    ? host->read.source
                                                          : host->write.source;
  for (guint32 i = 0; i < t->n[CLU_DEV_MEMORY]; i++) {
    CluOwn *own = &t->own[t->first[CLU_DEV_MEMORY] + i];
    if (own->link_class == NULL)
      own->link_class = clu->host_memory != NULL ? clu->host_memory : clu_class_new (clu->arena, "host_memory", CLU_FAMILY_MEMORY);
    clu->host_memory = own->link_class;
    own->source = source;
  }
  clu_template_host (t, host->both.v, host->read.v, host->write.v);
}

/* ---- all of it ---- */

/* Those of a link; link_class NULL: there is none. */
static CluParams
params_of (const CluTemplate *t, guint32 link)
{
  return link != CLU_NONE ? clu_template_link_at (t, link)->p : (CluParams){ .link_class = NULL };
}

gboolean
clu_links_set (Clu *clu, const MdlLinks *links, GError **error)
{
  g_return_val_if_fail (clu->background_Bps == NULL, FALSE);
  /* all nodes are held against the first as it was */
  const CluTemplate *first = g_ptr_array_index (clu->templates, 0);
  const Usual usual = { params_of (first, first_scale_up (first)), params_of (first, first_slot (first)),
                        params_of (first, first_cable (first)) };
  gboolean moved = FALSE;
  for (guint i = 0; i < clu->templates->len; i++) {
    CluTemplate *t = g_ptr_array_index (clu->templates, i);
    guint before = t->res->len;
    lay_links (t, &usual, links);
    lay_host (clu, t, &links->host);
    clu_template_renumber (t);
    moved = moved || t->res->len != before;
  }
  lay_fabric (&clu->fabric, &usual.cable, &links->network);
  return !moved || clu_renumber (clu, error);
}

static void
tell (BaseNum *num, double value, BaseSource source)
{
  if (!num->set && value > 0)
    *num = (BaseNum){ .v = value, .set = TRUE, .source = source };
}

/* Where there is a link. */
static void
tell_figures (CluParams p, MdlLinkConstants *out)
{
  tell (&out->efficiency, p.efficiency, p.source);
  tell (&out->sm_efficiency, p.sm_efficiency, p.source);
  tell (&out->latency, p.latency_s, p.source);
  tell (&out->duplex, p.duplex, p.source);
  tell (&out->rdma_efficiency, p.rdma_efficiency, p.source);
  tell (&out->rdma_duplex, p.rdma_duplex, p.source);
}

void
clu_links_fill (const Clu *clu, MdlLinks *links)
{
  const CluTemplate *t = g_ptr_array_index (clu->templates, 0);
  tell_figures (params_of (t, first_scale_up (t)), &links->scale_up);
  tell_figures (params_of (t, first_slot (t)), &links->pcie);
  tell_figures (params_of (t, first_cable (t)), &links->network);
}
