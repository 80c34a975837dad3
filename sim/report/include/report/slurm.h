/* A cluster as Slurm's topology plugins read it. */
#ifndef REPORT_SLURM_H
#define REPORT_SLURM_H

#include "cluster/cluster.h"
#include "training/training.h"

typedef struct {
  gboolean block;          /* NVLink domains as blocks (topology/block); FALSE: switches (topology/tree) */
  gboolean yaml;           /* topology.yaml (Slurm 25.05 and later); FALSE: topology.conf */
  const GPtrArray *hosts;  /* char *: name of each node */
  const char *version;     /* forerun's */
} RepSlurm;

void rep_slurm_gres (const Clu *clu, const RepSlurm *how, GString *out); /* gres.conf: GPUs, cores beside them, NVLinks */
typedef struct {
  const char *name;      /* of the job: letters, digits, '-', '_' and '.' */
  const char *about;     /* comment lines, each with its "# " and its end; NULL: none */
  const TrnJob *job;     /* the workload as it was read */
  const TrnResult *step; /* of it */
  const char *version;   /* forerun's */
} RepSbatch;

/* A batch script for the layout of a simulated step. */
void rep_sbatch (const Clu *clu, const RepSbatch *script, GString *out);
/* Switches: nodes that are attached to the same leaves are one leaf of Slurm's tree, whose nodes have one place (the leaves of a
 * rail-optimised pod are one); above, what is joined by the switches up to each level. FALSE and *error where there is nothing to
 * tell: no fabric, no domain wider than a node. */
gboolean rep_slurm (const Clu *clu, const RepSlurm *how, GString *out, GError **error);

#endif
