/* Ways inside a node as parts of a route: its links, its memories, its PCIe switches. */
#include "routes/routes-private.h"

void
clu_path_node_link (CluPath *path, guint32 node, guint32 local_link, gboolean forward, const CluPart *part)
{
  const CluNode *n = &path->clu->node[node];
  const CluNodeLink *link = clu_template_link_at (clu_node_template (path->clu, node), local_link);
  CluDev near = n->dev + link->a, far = CLU_NONE;
  if (part->shown && path->list_hops)
    far = clu_link_far (path->clu, node, local_link);
  CluCrossing crossing = { n->link + local_link, near, far, n->res + link->res, forward, &link->p };
  clu_path_cross (path, &crossing, part);
}

/* A device's own resource, `weight` times the share. Nothing when it has none, but memory is shown. */
static void
path_own (CluPath *path, guint32 node, guint32 local, double weight, const CluPart *part)
{
  const CluNode *n = &path->clu->node[node];
  const CluTemplate *t = clu_node_template (path->clu, node);
  guint32 own = t->own[local].res;
  gboolean memory = clu_template_is (t, CLU_DEV_MEMORY, local);
  if (own != CLU_NONE)
    clu_path_use (path, n->res + own, weight * part->share);
  if (own != CLU_NONE || memory)
    clu_path_hop (path, CLU_NONE, n->dev + local, n->dev + local, own != CLU_NONE ? n->res + own : CLU_NONE, part,
                  weight * part->share);
}

/* A memory that is read or written: what it carries both ways together, and this way. */
static void
path_memory (CluPath *path, guint32 node, guint32 local, gboolean write, const CluPart *part)
{
  const CluNode *n = &path->clu->node[node];
  const CluOwn *own = &clu_node_template (path->clu, node)->own[local];
  guint32 way = write ? own->write : own->read;
  if (way != CLU_NONE)
    clu_path_use (path, n->res + way, part->share);
  if (way != CLU_NONE && own->res == CLU_NONE)
    clu_path_hop (path, CLU_NONE, n->dev + local, n->dev + local, n->res + way, part, part->share);
  else
    path_own (path, node, local, 1, part);
}

static gboolean
no_way (const Clu *clu, guint32 node, guint32 local, GError **error)
{
  g_autofree char *name = clu_dev_name (clu, clu->node[node].dev + local);
  return base_fail_at (
      error, BASE_MARK_NONE,
      "the path breaks at %s: nothing links it to its host; give its type a 'pcie' link, node.pcie a generation, or "
      "sockets a gpu_link",
      name);
}

void
clu_path_add_host (CluPath *path, guint32 node, const CluHostPath *way, gboolean straight, const CluPart *part)
{
  const CluTemplate *t = clu_node_template (path->clu, node);
  for (guint32 i = 0; i < way->n; i++) {
    clu_path_node_link (path, node, way->step[i].link, way->step[i].forward, part);
    guint32 bus = way->step[i].bus;
    if (bus != CLU_NONE && (!clu_template_is (t, CLU_DEV_SOCKET, bus) || (path->peers && straight)))
      path_own (path, node, way->step[i].bus, 1, part);
  }
}

gboolean
clu_path_host (CluPath *path, guint32 node, guint32 from, guint32 to, const CluPart *part, GError **error)
{
  const CluTemplate *t = clu_node_template (path->clu, node);
  gboolean reads = clu_template_is (t, CLU_DEV_MEMORY, from), writes = clu_template_is (t, CLU_DEV_MEMORY, to);
  guint32 out_of;
  const CluHostPath *known = clu_near_path (t, from, to);
  CluHostPath way;
  if (known != NULL) {
    clu_path_add_host (path, node, known, TRUE, part);
    return TRUE;
  }
  if (!clu_host_path (t, from, to, &way, &out_of))
    return no_way (path->clu, node, out_of, error);
  if (reads)
    path_memory (path, node, from, FALSE, part);
  else if (clu_template_is (t, CLU_DEV_NVME, from))
    path_own (path, node, from, 1, part);
  clu_path_add_host (path, node, &way, !reads && !writes, part);
  if (writes)
    path_memory (path, node, to, TRUE, part);
  else if (clu_template_is (t, CLU_DEV_NVME, to))
    path_own (path, node, to, t->write_weight, part);
  return TRUE;
}
