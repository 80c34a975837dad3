/* --shard I/N. */
#include "share-private.h"

enum { MAX_PARTS = 100000 };

gboolean
cli_shard_read (const Cli *cli, const char *flag, guint *part, guint *of, GError **error)
{
  guint64 first = 0, second = 0;
  g_auto (GStrv) halves = g_strsplit (flag != NULL ? flag : "", "/", 2);
  if (flag != NULL &&
      (halves[0] == NULL || halves[1] == NULL || !g_ascii_string_to_unsigned (halves[1], 10, 1, MAX_PARTS, &second, NULL) ||
       !g_ascii_string_to_unsigned (halves[0], 10, 1, second, &first, NULL)))
    return cli_fail (cli, error,
                     "--shard '%s' is not I/N; write part I of N, from 1 to N (N up to %d), as 2/8. For Slurm: "
                     "sbatch --array=1-8 and --shard $SLURM_ARRAY_TASK_ID/8",
                     flag, (int)MAX_PARTS);
  *part = (guint)first;
  *of = (guint)second;
  return TRUE;
}
