/* Ends of a pair, and rows of pairs. */
#include <string.h>

#include "import/pairs-private.h"

void
cal_ends_clear (CalEnds *ends)
{
  g_free (ends->text);
  *ends = (CalEnds){ "", "", "", "", NULL };
}

/* "node1:mlx5_0"; what follows the last colon is the NIC. */
static void
split_end (char *end, const char **node, const char **nic)
{
  g_strstrip (end);
  char *colon = strrchr (end, ':');
  *node = end;
  *nic = colon != NULL ? colon + 1 : "";
  if (colon != NULL)
    *colon = '\0';
}

gboolean
cal_ends_read (CalEnds *ends, const char *line)
{
  static const char *const between[] = { "->", "--" };
  char *text = g_strdup (line), *at = NULL;
  for (guint i = 0; at == NULL && i < G_N_ELEMENTS (between); i++)
    at = strstr (text, between[i]);
  if (at == NULL) {
    g_free (text);
    return FALSE;
  }
  *at = '\0';
  CalEnds read = { "", "", "", "", text };
  split_end (text, &read.from, &read.from_nic);
  split_end (at + 2, &read.to, &read.to_nic);
  if (*read.from == '\0' || *read.to == '\0' || strpbrk (read.from, ", \t") != NULL || strpbrk (read.to, ", \t") != NULL) {
    g_free (text);
    return FALSE;
  }
  cal_ends_clear (ends);
  *ends = read;
  return TRUE;
}

gboolean
cal_ends_line (CalEnds *ends, const CalText *text, const char *line, unsigned number, GError **error)
{
  if (cal_ends_read (ends, line))
    return TRUE;
  g_autofree char *shown = cal_shown (line);
  return cal_fail (text, CAL_LINE (number), error, "'%s' names no pair; e.g. '## node1:mlx5_0 -> node2:mlx5_0' is accepted", shown);
}

void
cal_ends_of_file (CalEnds *ends, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  char *dot = strrchr (name, '.');
  if (dot != NULL && dot != name && strstr (dot, "--") == NULL && strstr (dot, "->") == NULL)
    *dot = '\0';
  cal_ends_clear (ends);
  cal_ends_read (ends, name);
}

void
cal_pair_write (CalImport *import, const CalPairRow *row)
{
  const CalCell cells[] = { CAL_TEXT (row->tool),
                            CAL_TEXT (row->op),
                            CAL_TEXT (row->ends.from),
                            CAL_TEXT (row->ends.from_nic),
                            CAL_TEXT (row->ends.to),
                            CAL_TEXT (row->ends.to_nic),
                            CAL_KNOWN (row->size_B),
                            CAL_NUMBER (row->time_s * 1e6),
                            CAL_NUMBER (row->rate_Bps * 1e-9),
                            CAL_COUNT (row->both_ways ? 1u : 0u) };
  cal_csv_row (import->csv, cells, G_N_ELEMENTS (cells));
  import->n_rows++;
}
