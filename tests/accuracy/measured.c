#include "measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *
read_data (const char *name)
{
  g_autofree char *path = g_build_filename (TEST_SOURCE_DIR, "tests", "data", name, NULL);
  char *text = NULL;
  g_autoptr (GError) error = NULL;
  if (!g_file_get_contents (path, &text, NULL, &error))
    fprintf (stderr, "%s\n", error->message);
  return text;
}

/* "## ar_Ring_LL128 graph t=8"; FALSE for a section that is not scored. */
static gboolean
read_section (const char *line, Measured *row)
{
  row->algo = strstr (line, "Ring_") != NULL ? MDL_ALGO_RING : strstr (line, "Tree_") != NULL ? MDL_ALGO_TREE : MDL_ALGO_AUTO;
  row->proto = strstr (line, "_LL128") != NULL ? MDL_PROTO_LL128 : strstr (line, "_LL ") != NULL ? MDL_PROTO_LL : MDL_PROTO_SIMPLE;
  if (row->algo == MDL_ALGO_AUTO)
    row->proto = MDL_PROTO_AUTO;
  const char *channels = strstr (line, "_nch");
  row->max_channels = channels != NULL ? (unsigned)atoi (channels + 4) : 0;
  const char *gpus = strstr (line, " t=") != NULL ? strstr (line, " t=") : strstr (line, " g=");
  row->n = gpus != NULL ? (unsigned)atoi (gpus + 3) : 0;
  return row->n > 1 && (row->algo != MDL_ALGO_AUTO || strstr (line, "default") != NULL);
}

GArray *
measured_read_nccl_tests (const char *name, MdlLaunch launch)
{
  g_autofree char *text = read_data (name);
  if (text == NULL)
    return NULL;
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (Measured));
  Measured row = { .op = MDL_OP_ALL_REDUCE, .n_nodes = 1, .launch = launch };
  g_strlcpy (row.source, "h200x8", sizeof row.source);
  gboolean scored = FALSE;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    double size_B, time_us;
    if (g_str_has_prefix (*line, "## "))
      scored = read_section (*line, &row);
    else if (scored && sscanf (*line, "%lf %*s %*s %*s %*s %lf", &size_B, &time_us) == 2 && time_us > 0.0) {
      row.size_B = size_B;
      row.time_s = time_us * 1e-6;
      g_array_append_val (rows, row);
    }
  }
  return rows;
}

static int
code_of (const BaseName *table, const char *name)
{
  const BaseName *known = base_name_find (table, name);
  return known != NULL ? known->code : G_MAXINT;
}

GArray *
measured_read_csv (const char *name)
{
  g_autofree char *text = read_data (name);
  if (text == NULL)
    return NULL;
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (Measured));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
    g_auto (GStrv) cell = g_strsplit (*line, ",", -1);
    if (g_strv_length (cell) != 9) {
      fprintf (stderr, "%s: bad row '%s'\n", name, *line);
      continue;
    }
    Measured row = { .launch = MDL_LAUNCH_THREADS, .proto = MDL_PROTO_AUTO };
    g_strlcpy (row.source, cell[0], sizeof row.source);
    g_strlcpy (row.gpu, cell[1], sizeof row.gpu);
    g_strlcpy (row.nccl, cell[6], sizeof row.nccl);
    row.n_nodes = (unsigned)atoi (cell[2]);
    row.n = row.n_nodes * (unsigned)atoi (cell[3]);
    row.op = (MdlOp)code_of (mdl_op_names, cell[4]);
    row.algo = code_of (mdl_algo_names, cell[5]);
    row.size_B = g_ascii_strtod (cell[7], NULL);
    row.time_s = g_ascii_strtod (cell[8], NULL) * 1e-6;
    g_array_append_val (rows, row);
  }
  return rows;
}

GArray *
measured_read_ops (const char *name, const char *setting)
{
  g_autofree char *text = read_data (name);
  if (text == NULL)
    return NULL;
  GArray *rows = g_array_new (FALSE, TRUE, sizeof (Measured));
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines + 1; *line != NULL && **line != '\0'; line++) {
    g_auto (GStrv) cell = g_strsplit (*line, ",", -1);
    if (g_strv_length (cell) != 9) {
      fprintf (stderr, "%s: bad row '%s'\n", name, *line);
      continue;
    }
    if (strcmp (cell[0], setting != NULL ? setting : "default") != 0)
      continue;
    Measured row = { .n_nodes = 1, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO };
    g_strlcpy (row.source, "ops", sizeof row.source);
    g_strlcpy (row.gpu, "h200_sxm", sizeof row.gpu);
    row.n = (unsigned)atoi (cell[1]);
    row.op = (MdlOp)code_of (mdl_op_names, cell[2]);
    row.launch = (MdlLaunch)code_of (mdl_launch_names, cell[3]);
    row.size_B = g_ascii_strtod (cell[4], NULL);
    row.time_s = g_ascii_strtod (cell[5], NULL) * 1e-6;
    row.iters = (unsigned)atoi (cell[8]);
    g_array_append_val (rows, row);
  }
  return rows;
}

static double
link_rate_Bps (MdlAlgo algo, MdlOp op, double n, double reach_Bps)
{
  if (op == MDL_OP_SENDRECV || op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE)
    return reach_Bps;
  if (op != MDL_OP_ALL_REDUCE)
    return reach_Bps * n / (n - 1.0);
  if (algo == MDL_ALGO_TREE)
    return n > 2.0 ? reach_Bps / 2.0 : reach_Bps;
  return algo == MDL_ALGO_NVLS ? reach_Bps / (1.0 + 1.0 / n) : reach_Bps * n / (2.0 * (n - 1.0));
}

static double
predict_by (const MdlLibrary *library, const MdlColl *coll, MdlProto proto, const Measured *row, double reach_Bps,
            unsigned capability)
{
  MdlCollQuestion q = { .op = row->op,
                        .size_B = row->size_B,
                        .n_ranks = row->n,
                        .n_nodes = row->n_nodes,
                        .ranks_per_node = row->n / row->n_nodes,
                        .intra = MDL_HOP_NVLINK,
                        .inter = MDL_HOP_NET,
                        .intra_latency_s = 0.36e-6,
                        .intra_rate_Bps = reach_Bps,
                        .inter_rate_Bps = (double)INFINITY,
                        .compute_capability = capability,
                        .switched = TRUE,
                        .max_channels = row->max_channels,
                        .launch = row->launch,
                        .one_way = g_str_has_prefix (row->source, "microsoft/vidur"), /* torch send here, receive there */
                        .in_a_row = row->iters > 0 ? row->iters : 20,
                        .terse = TRUE };
  q.link_rate_Bps = link_rate_Bps (coll->algo, row->op, (double)row->n, reach_Bps);
  /* NCCL does not choose NVLS for gather and scatter by itself; on the node of h200x8 it was switched off. */
  gboolean off =
      coll->algo == MDL_ALGO_NVLS && (row->op != MDL_OP_ALL_REDUCE || (row->algo < 0 && strcmp (row->source, "h200x8") == 0));
  if (off || !mdl_coll_possible (library, coll, proto, &q, NULL))
    return (double)INFINITY;
  MdlCollCost cost;
  mdl_coll_cost (library, coll, proto, &q, &cost);
  return cost.time_s;
}

double
measured_predict (const MdlLibrary *library, const Measured *row, double reach_Bps, unsigned compute_capability)
{
  double least_s = (double)INFINITY;
  for (const MdlColl *const *coll = mdl_colls; *coll != NULL; coll++)
    for (int proto = 0; proto < MDL_PROTO_N; proto++)
      /* without being told, only NCCL's */
      if (((*coll)->ops & (1u << row->op)) &&
          (row->algo < 0 ? (*coll)->algo <= MDL_ALGO_PAIRWISE : row->algo == (int)(*coll)->algo) &&
          (row->proto < 0 || row->proto == proto))
        least_s = fmin (least_s, predict_by (library, *coll, proto, row, reach_Bps, compute_capability));
  return least_s;
}

static int
compare (const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

Errors
measured_bands (const GArray *rows, const double *error)
{
  Errors errors = { { 0 }, { 0 }, { 0 } };
  GArray *band[3];
  for (unsigned b = 0; b < 3; b++)
    band[b] = g_array_new (FALSE, FALSE, sizeof (double));
  for (guint i = 0; i < rows->len; i++) {
    double size_B = g_array_index (rows, Measured, i).size_B, size = fabs (error[i]);
    if (!isnan (error[i]))
      g_array_append_val (band[size_B < 65536.0 ? 0 : size_B < 16777216.0 ? 1 : 2], size);
  }
  for (unsigned b = 0; b < 3; b++) {
    g_array_sort (band[b], compare);
    errors.n[b] = band[b]->len;
    if (band[b]->len > 0) {
      errors.median[b] = g_array_index (band[b], double, band[b]->len / 2);
      errors.worst[b] = g_array_index (band[b], double, band[b]->len - 1);
    }
    g_array_unref (band[b]);
  }
  return errors;
}

Errors
measured_errors (const MdlLibrary *library, const GArray *rows, double reach_Bps, unsigned compute_capability,
                 MeasuredFilter filter, const void *data)
{
  g_autofree double *error = g_new (double, MAX (rows->len, 1));
  for (guint i = 0; i < rows->len; i++) {
    const Measured *row = &g_array_index (rows, Measured, i);
    error[i] = (double)NAN;
    if (filter (row, data))
      error[i] = measured_predict (library, row, reach_Bps, compute_capability) / row->time_s - 1.0;
  }
  return measured_bands (rows, error);
}

void
measured_print (const char *what, const Errors *errors)
{
  printf ("%-44s", what);
  for (unsigned b = 0; b < 3; b++)
    if (errors->n[b] > 0)
      printf ("  %3u rows %5.1f %% (worst %5.1f)", errors->n[b], 100.0 * errors->median[b], 100.0 * errors->worst[b]);
    else
      printf ("  %-31s", "-");
  printf ("\n");
}
