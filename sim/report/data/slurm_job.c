/* A node's GPUs as Slurm's gres.conf, and a training step as a batch script. gres.conf: manual page of Slurm 25.05 (Name=, Type=,
 * File=, Cores=, Links=: NVLinks to each GPU of the node, -1 to itself). */
#include <string.h>

#include "cluster/hostlist.h"
#include "cluster/spec.h"
#include "report/slurm.h"

/* NVLinks between two GPUs of a node; 0: none, or not known. */
static guint32
links_between (const Clu *clu, guint32 node, guint32 a, guint32 b)
{
  const CluNodeSpec *spec = clu_node_spec (clu, node);
  const CluGpuSpec *gpu = clu_gpu_spec (clu, node);
  const CluNvlinkSpec *nv = &spec->nvlink;
  const CluLinkClass *class = nv->link.link_class.value != NULL ? nv->link.link_class.value : gpu->scale_up.link_class.value;
  const double lanes = nv->lanes_used.set        ? nv->lanes_used.v
                       : nv->link.lanes.set      ? nv->link.lanes.v
                       : gpu->scale_up.lanes.set ? gpu->scale_up.lanes.v
                       : class != NULL           ? class->lanes.v
                                                 : 0;
  if (nv->kind.v == CLU_SCALE_UP_SWITCH)
    return (guint32)lanes;
  if (nv->kind.v == CLU_SCALE_UP_FULL_MESH)
    return (guint32)(lanes / MAX (spec->gpus.count.v - 1, 1));
  for (unsigned i = 0; nv->kind.v == CLU_SCALE_UP_LINKS && i < nv->links.n; i++) {
    const CluMeshLink *link = BASE_LIST_AT (nv->links, CluMeshLink, i);
    const guint32 one = (guint32)link->a.v, other = (guint32)link->b.v;
    if ((one == a && other == b) || (one == b && other == a))
      return (guint32)link->lanes.v;
  }
  return 0;
}

static void
append_gpu (const Clu *clu, guint32 node, const char *names, guint32 gpu, GString *out)
{
  const CluNodeSpec *spec = clu_node_spec (clu, node);
  const guint32 n = clu_gpus_per_node (clu, node), sockets = (guint32)spec->sockets.count.v;
  const guint32 cores = spec->sockets.cores.set ? (guint32)spec->sockets.cores.v : 0,
                socket = (guint32)((guint64)gpu * sockets / n);
  const char *type = clu_gpu_spec (clu, node)->name.v;
  g_string_append_printf (out, "NodeName=%s Name=gpu Type=%s File=/dev/nvidia%u", names, type, gpu);
  if (cores > 0)
    g_string_append_printf (out, " Cores=%u-%u", socket * cores, (socket + 1) * cores - 1);
  guint32 any = 0;
  g_autoptr (GString) links = g_string_new (NULL);
  for (guint32 k = 0; k < n; k++) {
    const guint32 between = k != gpu ? links_between (clu, node, gpu, k) : 0;
    any |= between;
    g_string_append_printf (links, "%s%d", k > 0 ? "," : "", k == gpu ? -1 : (int)between);
  }
  if (any > 0)
    g_string_append_printf (out, " Links=%s", links->str);
  g_string_append_c (out, '\n');
}

void
rep_slurm_gres (const Clu *clu, const RepSlurm *how, GString *out)
{
  g_string_append_printf (out, "# gres.conf of %s, by forerun %s. Cores are Slurm's own numbers, socket by socket.\n",
                          clu_name (clu), how->version);
  for (guint32 kind = 0; kind < clu_n_kinds (clu); kind++) {
    g_autoptr (GPtrArray) names = g_ptr_array_new ();
    guint32 first = CLU_NONE;
    for (guint32 node = 0; node < clu_n_nodes (clu); node++)
      if (clu_kind_of_node (clu, node) == kind) {
        first = first == CLU_NONE ? node : first;
        g_ptr_array_add (names, how->hosts->pdata[node]);
      }
    if (first == CLU_NONE)
      continue;
    g_autofree char *list = clu_hostlist_join (names, 0, names->len);
    if (!clu_node_spec (clu, first)->sockets.cores.set)
      g_string_append (out, "# The cores of a socket are not known: node.sockets.cores of the topology gives Cores=.\n");
    for (guint32 gpu = 0; gpu < clu_gpus_per_node (clu, first); gpu++)
      append_gpu (clu, first, list, gpu, out);
  }
}

/* What else of a model's layout its program must know. */
static void
append_model (const RepSbatch *script, GString *out)
{
  const TrnSpec *spec = &script->job->spec;
  g_string_append_printf (out, "export MICRO_BATCH=%.0f ZERO=%.0f SCHEDULE=%s", spec->model.micro_batch.v, spec->parallel.zero.v,
                          script->step->schedule);
  if (spec->model.global_batch.set)
    g_string_append_printf (out, " GLOBAL_BATCH=%.0f", spec->model.global_batch.v);
  if (spec->model.sequence.set)
    g_string_append_printf (out, " SEQUENCE=%.0f", spec->model.sequence.v);
  const char *recompute = spec->model.recompute != NULL ? base_yaml_text (spec->model.recompute) : NULL; /* checked: a name */
  if (recompute != NULL)
    g_string_append_printf (out, " RECOMPUTE=%s", recompute);
  g_string_append_c (out, '\n');
}

void
rep_sbatch (const Clu *clu, const RepSbatch *script, GString *out)
{
  const TrnResult *step = script->step;
  const CluNodeSpec *node = clu_node_spec (clu, 0);
  const guint32 gpus = step->n_ranks / MAX (step->n_nodes, 1);
  g_string_append_printf (out, "#!/bin/bash\n# By forerun %s: the simulated step of %s takes %.4g s on %u x %s.\n", script->version,
                          script->name, step->step_time_s, step->n_nodes, clu_name (clu));
  g_string_append (out, script->about != NULL ? script->about : "");
  g_string_append_printf (out, "#SBATCH --job-name=%s\n#SBATCH --nodes=%u\n#SBATCH --ntasks-per-node=%u\n", script->name,
                          step->n_nodes, gpus);
  g_string_append_printf (out, "#SBATCH --gpus-per-node=%u\n#SBATCH --exclusive\n", gpus);
  if (node->sockets.cores.set)
    g_string_append_printf (out, "#SBATCH --cpus-per-task=%u\n",
                            MAX ((guint32)(node->sockets.count.v * node->sockets.cores.v) / gpus, 1));
  g_string_append_printf (out, "export TP=%u PP=%u DP=%u", MAX (step->tp, 1), MAX (step->pp, 1), MAX (step->dp, 1));
  g_string_append_printf (out, " CP=%u EP=%u VP=%u MICRO_BATCHES=%u\n", MAX (step->cp, 1), MAX (step->ep, 1), MAX (step->vp, 1),
                          MAX (step->micro_batches, 1));
  if (step->has_model)
    append_model (script, out);
  g_string_append (
      out, "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport MASTER_ADDR MASTER_PORT=29500\n");
  g_string_append (out, "# usage: sbatch THIS-FILE PROGRAM ARGUMENTS; PROGRAM reads the layout from the variables above\n"
                        "srun --kill-on-bad-exit=1 \"$@\"\n");
}
