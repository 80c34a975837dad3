/* Whether a process was started beside others that are to share its work. MPI itself is not asked: it is slow to begin, prints, and
 * has no business in an ordinary start. What starters leave in the environment:
 *   OMPI_COMM_WORLD_SIZE   Open MPI's mpirun (docs.open-mpi.org, "Environment variables set for MPI processes")
 *   PMI_SIZE               MPICH's and Intel's hydra, srun --mpi=pmi2 (Balaji et al., "PMI", EuroMPI 2010)
 *   SLURM_STEP_NUM_TASKS   srun (its manual, "OUTPUT ENVIRONMENT VARIABLES"); of MPI where PMIX_RANK is there too, --mpi=pmix */
#include "distribute/mpi-private.h"

static gboolean
is_many (const char *name)
{
  const char *text = g_getenv (name);
  guint64 n;
  return text != NULL && g_ascii_string_to_unsigned (text, 10, 2, G_MAXINT32, &n, NULL);
}

gboolean
cli_ranks_read_flag (const Cli *cli, const char *flag, gboolean *wanted, GError **error)
{
  enum { AUTO, ON, OFF };
  static const BaseName names[] = { { "auto", AUTO, NULL }, { "on", ON, NULL }, { "off", OFF, NULL }, { NULL, 0, NULL } };
  int which = AUTO;
  if (!cli_name_value (cli, "--mpi", flag, names, &which, error))
    return FALSE;
  gboolean started = is_many ("OMPI_COMM_WORLD_SIZE") || is_many ("PMI_SIZE") ||
                     (g_getenv ("PMIX_RANK") != NULL && is_many ("SLURM_STEP_NUM_TASKS"));
  *wanted = which == ON || (which == AUTO && started);
  return TRUE;
}
