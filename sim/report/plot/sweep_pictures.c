/* Pictures of sweeps: collectives by size, algorithms against each other, predictions against measurements. */
#include "report/pictures.h"

void
rep_pictures_add_coll (GPtrArray *pictures, const BaseTable *table, MdlOp op)
{
  GString *tsv = g_string_new (NULL);
  base_table_print_tsv (table, tsv);
  g_autofree char *title = g_strdup_printf ("%s, predicted", base_name (mdl_op_names, (int)op));
  rep_pictures_add (pictures, "busbw", "busbw.gp", "Bus bandwidth by message size, with its error band.", title, tsv,
                    g_strdup ("; series='nodes'"));
}

void
rep_pictures_add_compare (GPtrArray *pictures, const RepCompare *compare, const char *topology)
{
  const char *op = base_name (mdl_op_names, (int)compare->op);
  g_autofree char *title = g_strdup_printf ("%s on %s, predicted: the fastest algorithm", op, topology),
                  *busbw_title = g_strdup_printf ("%s on %s, predicted: each algorithm by its fastest protocol", op, topology);
  GString *rows = g_string_new (NULL), *crossovers = g_string_new (NULL), *curves = g_string_new (NULL);
  rep_compare_tsv (compare, rows);
  rep_compare_crossovers_tsv (compare, crossovers);
  rep_compare_curves_tsv (compare, curves);
  RepPicture *map =
      rep_pictures_add (pictures, "winners", "winners.gp", "Which algorithm is the fastest, by size and scale.", title, rows, NULL);
  map->more = crossovers;
  map->variable = "crossovers";
  rep_pictures_add (pictures, "busbw", "busbw.gp", "Bus bandwidth of each algorithm.", busbw_title, curves,
                    g_strdup ("; series='algo nodes'"));
}

/* Errors beyond half of the measured time lie on the edge. */
void
rep_pictures_add_points (GPtrArray *pictures, const GArray *points, const char *name)
{
  GString *tsv = g_string_new (NULL);
  rep_validate_points_tsv (points, tsv);
  g_autofree char *title = g_strdup_printf ("%s: %u points, predicted against measured", name, points->len);
  rep_pictures_add (pictures, "error", "error.gp", "Error of the predictions by message size.", title, tsv,
                    g_strdup ("; series='op'; limit=0.5"));
}
