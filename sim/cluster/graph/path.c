#include <string.h>

#include "base/hash.h"
#include "graph/path-private.h"

/* Uses are written into an array with room, whose length is stored at the end: one call per use would dominate the cost of a
 * route. */
static void
take_room (CluPath *path, guint32 n)
{
  g_array_set_size (path->out->uses, n);
  path->use = (CluUse *)(void *)path->out->uses->data;
  path->room = n;
}

void
clu_path_begin (CluPath *path, const Clu *clu, gboolean list_hops, CluRoute *out)
{
  enum { USUAL_USES = 32 };
  path->clu = clu;
  path->out = out;
  path->list_hops = list_hops;
  path->peers = FALSE;
  path->n_uses = 0;
  path->met = 0;
  take_room (path, USUAL_USES);
  path->slots = NULL;
  path->n_slots = 0;
  if (out->hops->len > 0)
    g_array_set_size (out->hops, 0);
  out->latency_s = 0;
  out->transport = CLU_TRANSPORT_COPY;
  out->path_class = out->nic_class = CLU_PATH_LOC;
}

void
clu_path_end (CluPath *path)
{
  if (path->slots != path->stack)
    g_free (path->slots);
  path->slots = NULL;
  g_array_set_size (path->out->uses, path->n_uses);
}

static guint32 *
slot_of (const CluPath *path, CluRes res)
{
  guint32 mask = path->n_slots - 1, i = base_hash_u32 (res) & mask;
  while (path->slots[i] != 0 && path->use[path->slots[i] - 1].res != res)
    i = (i + 1) & mask;
  return &path->slots[i];
}

/* A table of at least twice the uses. */
static void
index_uses (CluPath *path)
{
  guint32 n = path->n_slots == 0 ? CLU_PATH_SLOTS : 2 * path->n_slots;
  if (path->slots != path->stack)
    g_free (path->slots);
  path->slots = n == CLU_PATH_SLOTS ? path->stack : g_new (guint32, n);
  path->n_slots = n;
  memset (path->slots, 0, n * sizeof *path->slots);
  for (guint32 i = 0; i < path->n_uses; i++)
    *slot_of (path, path->use[i].res) = i + 1;
}

/* Of 10^30 bytes less than one: no part of a transfer, and further from nothing than what a sum of products rounds to. */
#define LEAST_SHARE 1e-30

void
clu_path_use (CluPath *path, CluRes res, double share)
{
  if (share < LEAST_SHARE)
    return;
  enum { SCAN = 24 };
  guint64 mark = G_GUINT64_CONSTANT (1) << (base_hash_u32 (res) >> 26); /* one of 64; unmarked is new */
  gboolean maybe_met = (path->met & mark) != 0;
  path->met |= mark;
  if (path->slots == NULL && path->n_uses < SCAN) {
    for (guint32 i = 0; maybe_met && i < path->n_uses; i++)
      if (path->use[i].res == res) {
        path->use[i].share += share;
        return;
      }
  } else {
    if (2 * (path->n_uses + 1) > path->n_slots)
      index_uses (path);
    guint32 *slot = slot_of (path, res);
    if (*slot != 0) {
      path->use[*slot - 1].share += share;
      return;
    }
    *slot = path->n_uses + 1;
  }
  if (path->n_uses == path->room)
    take_room (path, 2 * path->room);
  CluUse *use = &path->use[path->n_uses++];
  memset (use, 0, sizeof *use); /* padding too: equal routes are equal bytes */
  use->res = res;
  use->share = share;
}

void
clu_path_hop (CluPath *path, CluLinkId link, CluDev from, CluDev to, CluRes res, const CluPart *part, double share)
{
  if (!part->shown || !path->list_hops)
    return;
  CluHop hop = { .link = link, .from = from, .to = to, .res = res, .share = share, .n_alternatives = part->n_alternatives };
  g_array_append_val (path->out->hops, hop);
}

void
clu_path_cross (CluPath *path, const CluCrossing *c, const CluPart *part)
{
  CluRes res = c->res + (c->forward ? 0 : 1);
  clu_path_use (path, res, part->share);
  if (clu_params_shared (c->p))
    clu_path_use (path, c->res + 2, part->share);
  clu_path_hop (path, c->link, c->forward ? c->a : c->b, c->forward ? c->b : c->a, res, part, part->share);
  if (part->shown)
    path->out->latency_s += c->p->latency_s;
}
