/* Global numbers of devices, links and resources: the nodes' one after the other, then what lies between them. */
#include <math.h>

#include "load/load-private.h"

gboolean
clu_number_nodes (CluLoader *loader)
{
  Clu *clu = loader->clu;
  guint64 dev = 0, link = 0, res = 0, gpu = 0, nic = 0;
  for (guint32 i = 0; i <= clu->n_nodes; i++) {
    CluNode *node = &clu->node[i];
    node->dev = (guint32)dev;
    node->link = (guint32)link;
    node->res = (guint32)res;
    node->gpu = (guint32)gpu;
    node->nic = (guint32)nic;
    if (i == clu->n_nodes)
      break;
    const CluTemplate *t = clu_node_template (clu, i);
    dev += t->n_devices;
    link += t->links->len;
    res += t->res->len;
    gpu += t->n[CLU_DEV_GPU];
    nic += t->n[CLU_DEV_NIC];
    if (MAX (dev, MAX (link, res)) >= CLU_MAX_DEVICES)
      return clu_error (loader, clu->spec.nodes.set ? clu->spec.nodes.mark : clu->spec.head.mark,
                        "%u such nodes would have more than 2147483647 devices, links or resources", clu->n_nodes);
  }
  clu->n_gpus = (guint32)gpu;
  clu->n_nics = (guint32)nic;
  clu->uniform = clu->templates->len == 1;
  return TRUE;
}

/* All adapters of the front-end together over what its core carries. */
static void
build_frontend (Clu *clu)
{
  const CluFrontendSpec *spec = &clu->spec.frontend;
  double ratio = 1;
  for (unsigned i = 0; i < spec->oversubscription.n; i++)
    ratio *= spec->oversubscription.item[i].v;
  clu->frontend_class = clu_class_new (clu->arena, "frontend", CLU_FAMILY_ETHERNET);
  clu->frontend_core_Bps = ratio > 1 ? spec->rate.v * clu->n_nodes / ratio : 0;
}

/* A tier of unlimited servers still needs a number. */
#define BOUNDLESS_BPS 1e18

static void
number_tier (Clu *clu, const MdlTier *figures, double crossing_s, CluTierNode *tier)
{
  const CluLinkClass *c = clu_class_new (clu->arena, base_name (mdl_tier_names, figures->type.kind.v), CLU_FAMILY_STORAGE);
  const MdlTierSide *read = &figures->type.side[MDL_IO_READ];
  BaseSource source = clu_num_source (read->rate.set ? &read->rate : &read->target);
  tier->p = clu_params_plain (c, fmin (mdl_tier_rate_Bps (figures, MDL_IO_READ), BOUNDLESS_BPS), crossing_s, source);
  tier->write_Bps = fmin (mdl_tier_rate_Bps (figures, MDL_IO_WRITE), BOUNDLESS_BPS);
}

gboolean
clu_number_rest (CluLoader *loader)
{
  Clu *clu = loader->clu;
  const CluNode *end = &clu->node[clu->n_nodes];
  guint64 dev = end->dev, link = end->link, res = end->res;
  clu->domain_dev = (guint32)dev;
  clu->n_domains = clu->wide ? (clu->n_nodes + clu->domain_nodes - 1) / clu->domain_nodes : 0;
  dev += clu->n_domains;
  clu->fabric.dev = (guint32)dev;
  clu->fabric.link = (guint32)link;
  clu->fabric.res = (guint32)res;
  dev += clu->fabric.n_switches;
  link += clu->fabric.n_links;
  res += clu->fabric.n_res;
  clu->frontend_dev = clu->frontend_res = CLU_NONE;
  if (clu->spec.frontend.head.set) {
    clu->frontend_dev = (guint32)dev++;
    build_frontend (clu);
  }
  clu->management_dev = (guint32)dev++;
  clu->n_tiers = 0;
  clu->tier = base_arena_alloc_n (clu->arena, clu->spec.storage.n, sizeof *clu->tier);
  for (unsigned i = 0; i < clu->spec.storage.n; i++) {
    const CluStorageSpec *spec = BASE_LIST_AT (clu->spec.storage, CluStorageSpec, i);
    MdlTier figures;
    clu_tier_resolve (spec, &figures);
    if (figures.type.kind.v == MDL_TIER_LOCAL_NVME)
      continue; /* stands in the nodes */
    CluTierNode *tier = &clu->tier[clu->n_tiers++];
    const CluTierSpec *top = clu_fabric_tier (&clu->spec.fabric, MAX (clu->fabric.n_levels, 1u) - 1);
    double crossing_s = (spec->network.v == 0 ? clu->spec.frontend.latency.v : clu_tier_latency (top)) / 2;
    *tier = (CluTierNode){ .spec = spec, .dev = (guint32)dev++, .link = (guint32)link++, .res = (guint32)res };
    number_tier (clu, &figures, crossing_s, tier);
    res += 2;
  }
  if (clu->frontend_core_Bps > 0)
    clu->frontend_res = (guint32)res++;
  if (MAX (dev, MAX (link, res)) >= CLU_MAX_DEVICES)
    return clu_error (loader, clu->spec.head.mark, "more than 2147483647 devices, links or resources");
  clu->n_devices = (guint32)dev;
  clu->n_links = (guint32)link;
  clu->n_res = (guint32)res;
  return TRUE;
}

gboolean
clu_renumber (Clu *clu, GError **error)
{
  g_autoptr (BaseDiag) diag = base_diag_new ();
  CluLoader loader = { .clu = clu, .context = { .arena = clu->arena, .diag = diag } };
  if (clu_number_nodes (&loader))
    clu_number_rest (&loader);
  return base_diag_finish (diag, error);
}
