/* Sweeps over message sizes, as nccl-tests' -b -e -f -i say them. */
#include "comm-private.h"

/* Sizes beyond are no use, and a double still tells them apart by the byte. */
#define MAX_SIZE_B (G_GUINT64_CONSTANT (1) << 50)

gboolean
cli_sweep_parse (const Cli *cli, const CliCollFlags *flags, unsigned element_B, ScnSizes *sweep, GError **error)
{
  guint64 factor = 2;
  *sweep = (ScnSizes){ .min_B = 8, .max_B = G_GUINT64_CONSTANT (8) << 30, .is_factor = TRUE };
  if (flags->factor != NULL && flags->step != NULL)
    return cli_fail (cli, error, "-f and -i exclude one another: sizes grow by a factor or by a step");
  if (!cli_size_value (cli, "-b", flags->min, &sweep->min_B, error) ||
      !cli_size_value (cli, "-e", flags->max, &sweep->max_B, error) ||
      !cli_size_value (cli, "-i", flags->step, &sweep->step, error) ||
      !cli_count_value (cli, "-f", flags->factor, 2, 1024, &factor, error))
    return FALSE;
  if (flags->step != NULL && sweep->step == 0)
    return cli_fail (cli, error, "-i 0 never gets to the largest size; at least one element (%u B) is accepted", element_B);
  sweep->is_factor = flags->step == NULL;
  if (sweep->is_factor)
    sweep->step = factor;
  if (flags->max == NULL && sweep->min_B > sweep->max_B)
    sweep->max_B = sweep->min_B;
  if (sweep->min_B > sweep->max_B)
    return cli_fail (cli, error,
                     "smallest size -b %s (%" G_GUINT64_FORMAT " B) is above largest size -e %s (%" G_GUINT64_FORMAT " B)",
                     flags->min != NULL ? flags->min : "8", sweep->min_B, flags->max, sweep->max_B);
  if (sweep->min_B < element_B)
    return cli_fail (cli, error, "-b %" G_GUINT64_FORMAT " B is less than one element; at least %u B is accepted with this --dtype",
                     sweep->min_B, element_B);
  if (sweep->max_B > MAX_SIZE_B)
    return cli_fail (cli, error, "size of %" G_GUINT64_FORMAT " B is out of range; at most 1 PiB is accepted", sweep->max_B);
  guint64 n = scn_sizes_count (sweep);
  if (n > SCN_MAX_ROWS)
    return cli_fail (cli, error,
                     "%" G_GUINT64_FORMAT " sizes are too many; at most %u rows are accepted: take a larger step -i, or a "
                     "factor -f",
                     n, SCN_MAX_ROWS);
  return TRUE;
}
