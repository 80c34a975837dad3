/* Devices by name. What clu_dev_name prints, clu_find reads. */
#include <string.h>

#include "graph/clu-private.h"

/* "gpu3" -> 3; "host" -> 0 for kinds that may go without a number. */
static gboolean
split (const char *name, const char *word, guint64 *index)
{
  if (!g_str_has_prefix (name, word))
    return FALSE;
  const char *digits = name + strlen (word);
  if (*digits == '\0') {
    *index = 0;
    return strcmp (word, "gpu") != 0 && strcmp (word, "nic") != 0 && strcmp (word, "pcie_switch") != 0;
  }
  return g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT32 - 1, index, NULL);
}

/* "gpu0 to gpu7, host, nic0 to nic3": what a node has. */
static char *
contents (const Clu *clu, guint32 node)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (CluDevKind kind = CLU_DEV_GPU; kind < CLU_DEV_N; kind++) {
    guint32 n = clu_node_n (clu, node, kind);
    const char *word = clu_dev_word (kind);
    if (n == 0)
      continue;
    g_string_append (text, text->len > 0 ? ", " : "");
    if (n == 1)
      g_string_append_printf (text, "%s%s", word, kind == CLU_DEV_GPU || kind == CLU_DEV_NIC ? "0" : "");
    else
      g_string_append_printf (text, "%s0 to %s%u", word, word, n - 1);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static CluDev
find_in_node (const Clu *clu, guint32 node, const char *local, GError **error)
{
  guint64 index;
  for (CluDevKind kind = CLU_DEV_GPU; kind < CLU_DEV_N; kind++)
    if (split (local, clu_dev_word (kind), &index) && index < clu_node_n (clu, node, kind))
      return clu_node_device (clu, node, kind, (guint32)index);
  g_autofree char *what = contents (clu, node);
  base_fail_at (error, BASE_MARK_NONE, "node%u has no '%s'; it has %s", node, local, what);
  return CLU_NONE;
}

static CluDev
find_storage (const Clu *clu, const char *name, GError **error)
{
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint32 i = 0; i < clu->n_tiers; i++) {
    if (strcmp (clu->tier[i].spec->name.v, name) == 0)
      return clu->tier[i].dev;
    g_string_append_printf (all, "%sstorage.%s", i > 0 ? ", " : "", clu->tier[i].spec->name.v);
  }
  base_fail_at (error, BASE_MARK_NONE, "there is no 'storage.%s'; %s%s", name,
                all->len > 0 ? "there is " : "the topology has no storage tier outside its nodes", all->str);
  return CLU_NONE;
}

static CluDev
find_switch (const Clu *clu, const char *name)
{
  if (clu->frontend_dev != CLU_NONE && strcmp (name, "frontend") == 0)
    return clu->frontend_dev;
  if (strcmp (name, "management") == 0)
    return clu->management_dev;
  for (guint32 i = 0; i < clu->fabric.n_switches; i++) {
    g_autofree char *sw = clu->fabric.ops->name (&clu->fabric, i);
    if (strcmp (sw, name) == 0)
      return clu->fabric.dev + i;
  }
  return CLU_NONE;
}

CluDev
clu_find (const Clu *clu, const char *name, GError **error)
{
  guint64 number;
  if (split (name, "gpu", &number)) {
    if (number < clu->n_gpus)
      return clu_gpu (clu, (guint32)number);
    base_fail_at (error, BASE_MARK_NONE, "there is no '%s'; the cluster has gpu0 to gpu%u", name, clu->n_gpus - 1);
    return CLU_NONE;
  }
  if (g_str_has_prefix (name, "storage."))
    return find_storage (clu, name + strlen ("storage."), error);
  CluDev found = find_switch (clu, name);
  if (found != CLU_NONE)
    return found;
  g_auto (GStrv) parts = g_strsplit (name, ".", 2);
  if (parts[0] != NULL && parts[1] != NULL && split (parts[0], "node", &number) && strcmp (parts[0], "node") != 0) {
    if (number < clu->n_nodes)
      return find_in_node (clu, (guint32)number, parts[1], error);
    base_fail_at (error, BASE_MARK_NONE, "there is no 'node%" G_GUINT64_FORMAT "'; nodes are node0 to node%u", number,
                  clu->n_nodes - 1);
    return CLU_NONE;
  }
  if (parts[0] != NULL && parts[1] != NULL && clu->wide && split (parts[0], "domain", &number) &&
      strcmp (parts[1], "nvswitch") == 0 && number < clu->n_domains)
    return clu->domain_dev + (guint32)number;
  if (clu->n_nodes == 1 && parts[0] != NULL && parts[1] == NULL)
    return find_in_node (clu, 0, name, error); /* with one node its name may be left out */
  base_fail_at (
      error, BASE_MARK_NONE,
      "there is no device '%s'; accepted: gpu9, node1.gpu1, node0.nic3, node0.host, node0.nvme2, storage.NAME or a switch's name",
      name);
  return CLU_NONE;
}
