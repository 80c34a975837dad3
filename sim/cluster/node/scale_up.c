/* The scale-up network of a node: a switch that every GPU is on with all of its links, or links between pairs. A switch stands
 * for all chips (planes) together: GPUs spread their traffic over them, so that a pair gets all links of a GPU, and a failed
 * plane is fewer lanes (lanes_used). Of a domain wider than a node fewer links may leave a node than its GPUs have: what leaves it
 * then crosses one more link, which its GPUs share. */
#include <string.h>

#include "node/node-private.h"

static gboolean
gpu_params (CluLoader *loader, const CluTemplate *t, CluParams *out)
{
  const CluNvlinkSpec *nv = &t->spec.nvlink;
  const CluGpuSpec *gpu = t->spec.gpus.type.value;
  const CluLinkSpec *specs[] = { &gpu->scale_up, &nv->link };
  const CluLinkClass *unnamed = clu_class_new (loader->context.arena, "scale_up", CLU_FAMILY_NVLINK);
  CluParams all;
  if (!clu_params_resolve (loader, specs, 2, unnamed, nv->head.mark, "scale-up link", &all))
    return FALSE;
  *out = nv->lanes_used.set ? clu_params_part (&all, nv->lanes_used.v) : all;
  return TRUE;
}

static void
mesh_link (CluTemplate *t, guint32 i, guint32 j, const CluParams *all, double lanes)
{
  guint32 n = t->n[CLU_DEV_GPU];
  CluParams p = clu_params_part (all, lanes);
  guint32 link = clu_template_link (t, t->first[CLU_DEV_GPU] + i, t->first[CLU_DEV_GPU] + j, CLU_END_LOCAL, &p);
  t->mesh[(gsize)i * n + j] = t->mesh[(gsize)j * n + i] = link;
}

/* Neighbours one step on in each dimension; a dimension of two has one neighbour by both of its ways. */
static void
lay_torus (CluTemplate *t, const CluParams *all)
{
  const BaseNums *dims = &t->spec.nvlink.dims;
  guint32 n = t->n[CLU_DEV_GPU], ways = 0, stride = 1;
  for (unsigned d = 0; d < dims->n; d++) {
    t->torus_dims[d] = (guint32)dims->item[d].v;
    ways += t->torus_dims[d] > 1 ? 2 : 0;
  }
  t->n_torus_dims = dims->n;
  for (unsigned d = 0; d < dims->n; stride *= t->torus_dims[d], d++) {
    guint32 size = t->torus_dims[d];
    if (size < 2)
      continue;
    const BaseNums *given = &t->spec.nvlink.dim_lanes;
    double lanes = d < given->n ? given->item[d].v : all->lanes / ways;
    for (guint32 g = 0; g < n; g++) {
      guint32 at = g / stride % size;
      if (size == 2 && at == 1)
        continue;
      guint32 next = at + 1 < size ? g + stride : g - (size - 1) * stride;
      mesh_link (t, g, next, all, lanes * (size == 2 ? 2 : 1));
    }
  }
}

/* What leaves a node of a wide domain, in a class of its own: GPUs share it. Its hops count in their own links. */
static void
lay_trunk (CluLoader *loader, CluTemplate *t, const CluParams *all)
{
  CluParams trunk = clu_params_part (all, all->lanes * t->n[CLU_DEV_GPU] * loader->clu->domain_taper);
  trunk.link_class = clu_class_new (loader->context.arena, "nvlink_out", CLU_FAMILY_NVLINK);
  trunk.latency_s = 0;
  t->trunk = clu_template_link (t, t->first[CLU_DEV_GPU], t->first[CLU_DEV_NVSWITCH], CLU_END_DOMAIN, &trunk);
}

void
clu_template_scale_up (CluLoader *loader, CluTemplate *t)
{
  guint32 n = t->n[CLU_DEV_GPU];
  CluParams all;
  t->trunk = CLU_NONE;
  if (t->scale_up == CLU_SCALE_UP_NONE || !gpu_params (loader, t, &all))
    return;
  if (t->scale_up == CLU_SCALE_UP_SWITCH) {
    t->port = base_arena_alloc_n (loader->context.arena, n, sizeof *t->port);
    for (guint32 g = 0; g < n; g++)
      t->port[g] = clu_template_link (t, t->first[CLU_DEV_GPU] + g, t->first[CLU_DEV_NVSWITCH],
                                      loader->clu->wide ? CLU_END_DOMAIN : CLU_END_LOCAL, &all);
    if (loader->clu->wide && loader->clu->domain_taper < 1)
      lay_trunk (loader, t, &all);
    return;
  }
  t->mesh = base_arena_alloc_n (loader->context.arena, (gsize)n * n, sizeof *t->mesh);
  memset (t->mesh, 0xff, (gsize)n * n * sizeof *t->mesh); /* CLU_NONE */
  if (t->scale_up == CLU_SCALE_UP_FULL_MESH)
    for (guint32 i = 0; i < n; i++)
      for (guint32 j = i + 1; j < n; j++)
        mesh_link (t, i, j, &all, all.lanes / (n - 1));
  else if (t->scale_up == CLU_SCALE_UP_TORUS)
    lay_torus (t, &all);
  else
    for (unsigned i = 0; i < t->spec.nvlink.links.n; i++) {
      const CluMeshLink *link = BASE_LIST_AT (t->spec.nvlink.links, CluMeshLink, i);
      guint32 a = (guint32)link->a.v, b = (guint32)link->b.v;
      if (a < n && b < n && a != b && t->mesh[(gsize)a * n + b] == CLU_NONE)
        mesh_link (t, a, b, &all, link->lanes.v);
    }
}
