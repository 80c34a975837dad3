/* Ways over scale-up links: inside a node, or inside an NVLink domain. */
#include "routes/routes-private.h"

static guint32
torus_distance (const CluTemplate *t, guint32 a, guint32 b)
{
  guint32 hops = 0;
  for (guint32 d = 0; d < t->n_torus_dims; d++) {
    guint32 size = t->torus_dims[d], ahead = (b % size + size - a % size) % size;
    hops += MIN (ahead, size - ahead);
    a /= size;
    b /= size;
  }
  return hops;
}

CluPathClass
clu_scale_up_class (const Clu *clu, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b)
{
  const CluTemplate *a = clu_node_template (clu, node_a), *b = clu_node_template (clu, node_b);
  if (node_a == node_b && gpu_a == gpu_b)
    return CLU_PATH_LOC;
  if (node_a / clu->domain_nodes != node_b / clu->domain_nodes)
    return CLU_PATH_N;
  if (a->port != NULL)
    return b->port != NULL ? CLU_PATH_NVL : CLU_PATH_N;
  if (node_a != node_b || a->mesh == NULL)
    return CLU_PATH_N;
  if (a->mesh[(gsize)gpu_a * a->n[CLU_DEV_GPU] + gpu_b] != CLU_NONE)
    return CLU_PATH_NVL;
  return a->scale_up == CLU_SCALE_UP_TORUS && torus_distance (a, gpu_a, gpu_b) > 0 ? CLU_PATH_NVB : CLU_PATH_N;
}

static void
mesh_step (CluPath *path, guint32 node, const CluTemplate *t, guint32 from, guint32 to, const CluPart *part)
{
  guint32 link = t->mesh[(gsize)from * t->n[CLU_DEV_GPU] + to];
  clu_path_node_link (path, node, link, clu_template_link_at (t, link)->a == t->first[CLU_DEV_GPU] + from, part);
}

/* Dimension order, the shorter way round; half of the bytes each way where both are equal. */
static void
torus_walk (CluPath *path, guint32 node, const CluTemplate *t, guint32 from, guint32 to, const CluPart *part)
{
  guint32 stride = 1;
  for (guint32 d = 0; d < t->n_torus_dims; stride *= t->torus_dims[d], d++) {
    guint32 size = t->torus_dims[d], here = from / stride % size, there = to / stride % size;
    guint32 ahead = (there + size - here) % size, base = from - here * stride;
    gboolean tie = size > 2 && 2 * ahead == size;
    for (int way = 0; way < 2 && ahead > 0; way++) {
      gboolean up = way == 0;
      if (!tie && up != (2 * ahead <= size))
        continue;
      CluPart half = { part->share * (tie ? 0.5 : 1), part->n_alternatives * (tie ? 2 : 1), part->shown && (!tie || up) };
      guint32 at = here, steps = up ? ahead : size - ahead;
      for (guint32 s = 0; s < steps; s++) {
        guint32 next = up ? (at + 1) % size : (at + size - 1) % size;
        mesh_step (path, node, t, base + at * stride, base + next * stride, &half);
        at = next;
      }
    }
    from = base + there * stride;
  }
}

void
clu_path_scale_up (CluPath *path, guint32 node_a, guint32 gpu_a, guint32 node_b, guint32 gpu_b, const CluPart *part)
{
  const CluTemplate *a = clu_node_template (path->clu, node_a), *b = clu_node_template (path->clu, node_b);
  if (node_a == node_b && gpu_a == gpu_b)
    return;
  if (a->port != NULL) {
    CluPart unseen = *part;
    unseen.shown = FALSE;
    clu_path_node_link (path, node_a, a->port[gpu_a], TRUE, part);
    if (node_a != node_b && a->trunk != CLU_NONE)
      clu_path_node_link (path, node_a, a->trunk, TRUE, &unseen);
    if (node_a != node_b && b->trunk != CLU_NONE)
      clu_path_node_link (path, node_b, b->trunk, FALSE, &unseen);
    clu_path_node_link (path, node_b, b->port[gpu_b], FALSE, part);
  } else if (a->mesh[(gsize)gpu_a * a->n[CLU_DEV_GPU] + gpu_b] != CLU_NONE)
    mesh_step (path, node_a, a, gpu_a, gpu_b, part);
  else
    torus_walk (path, node_a, a, gpu_a, gpu_b, part);
}
