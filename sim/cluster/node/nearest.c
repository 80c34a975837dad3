/* Which adapters a device of a node leaves by.
 *
 * NCCL's rule (src/graph/topo.cc, ncclTopoGetLocalNet): the nearest ones by path class; where several GPUs are equally near to
 * the same ones, each takes its part: n NICs over m GPUs are ceil(n / m) a GPU, starting at its own turn. So a p5 GPU has the
 * four adapters of its switch, and two GPUs with two adapters under one switch have one each. Host memory and drives use all
 * nearest ones. */
#include "node/node-private.h"

static guint32
nic_dev (const CluTemplate *t, guint32 nic)
{
  return t->first[CLU_DEV_NIC] + nic;
}

void
clu_nearest_nics (const CluTemplate *t, guint32 local, guint32 seen_from, guint32 n_usable, CluNicSet *out)
{
  guint32 n = MIN (n_usable, t->n[CLU_DEV_NIC]), gpus = t->n[CLU_DEV_GPU], gpu = local - t->first[CLU_DEV_GPU];
  CluPathClass nearest = CLU_PATH_N;
  out->n = 0;
  for (guint32 k = 0; k < n; k++) {
    CluPathClass c = clu_host_class (t, seen_from, nic_dev (t, k));
    if (c < nearest) {
      nearest = c;
      out->n = 0;
    }
    if (c == nearest && c != CLU_PATH_N)
      out->nic[out->n++] = (guint16)k;
  }
  if (out->n < 2 || gpu >= gpus)
    return;
  /* Who else is as near to the same ones; from another socket, whoever is on this one. */
  guint32 peers = 0, turn = 0;
  for (guint32 g = 0; g < gpus; g++) {
    guint32 dev = t->first[CLU_DEV_GPU] + g;
    gboolean as_near = seen_from == local ? clu_host_class (t, dev, nic_dev (t, out->nic[0])) == nearest
                                          : clu_socket_of (t, dev) == clu_socket_of (t, local);
    turn += as_near && g < gpu ? 1 : 0;
    peers += as_near ? 1 : 0;
  }
  guint32 mine = (out->n + peers - 1) / MAX (peers, 1u), first = turn * mine;
  if (mine >= out->n)
    return;
  CluNicSet part = { .n = mine };
  for (guint32 i = 0; i < mine; i++)
    part.nic[i] = out->nic[(first + i) % out->n];
  *out = part;
}

void
clu_template_find_nearest (CluTemplate *t, BaseArena *arena)
{
  guint32 gpus = t->n[CLU_DEV_GPU], n = 0;
  g_autofree CluNicSet *sets = g_new (CluNicSet, gpus);
  t->near_first = base_arena_alloc_n (arena, gpus + 1, sizeof *t->near_first);
  for (guint32 g = 0; g < gpus; g++) {
    guint32 dev = t->first[CLU_DEV_GPU] + g;
    clu_nearest_nics (t, dev, dev, G_MAXUINT32, &sets[g]);
    n += sets[g].n;
    t->near_first[g + 1] = n;
  }
  t->near_nic = base_arena_alloc_n (arena, n, sizeof *t->near_nic);
  for (guint32 g = 0; g < gpus; g++)
    for (guint32 i = 0; i < sets[g].n; i++)
      t->near_nic[t->near_first[g] + i] = sets[g].nic[i];
  clu_template_find_paths (t, arena);
}
