/* Dispatch and combine of experts against what was measured (tests/data/experts/exchange.csv): curves marked `score` were never
 * fitted. Prints a line for each system and library, and holds the bands: median 15 %, 90th percentile 35 %.
 * docs/validation.md shows what it prints. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library_fixture.h"
#include "models/moe.h"

#define ROWS     TEST_SOURCE_DIR "/tests/data/experts/exchange.csv"
#define DOCUMENT TEST_SOURCE_DIR "/docs/validation.md"

enum { USE, SYSTEM, BACKEND, OP, DTYPE, RANKS, NODES, SMS, HIDDEN, TOP_K, EXPERTS, TIMES, COLUMNS };

/* A system, a library, fitted or not: errors of its points. */
typedef struct {
  char *name;
  gboolean scored;
  GArray *error; /* double, predicted over measured less 1, without its sign */
  double in_band;
} Group;

static const MdlLibrary *library;
static char *document;    /* where the table stands */
static GPtrArray *groups; /* Group *, in the file's order */

static Group *
group_of (const char *name, gboolean scored)
{
  for (guint i = 0; i < groups->len; i++) {
    Group *group = groups->pdata[i];
    if (group->scored == scored && g_str_equal (group->name, name))
      return group;
  }
  Group *group = g_new0 (Group, 1);
  *group = (Group){ g_strdup (name), scored, g_array_new (FALSE, FALSE, sizeof (double)), 0 };
  g_ptr_array_add (groups, group);
  return group;
}

static double
number (char **cell, int column)
{
  return g_ascii_strtod (cell[column], NULL);
}

/* nvfp4 travels as fp4 with a scale per 16. */
static MdlFormat
format_of (const char *name)
{
  return g_str_equal (name, "nvfp4") ? MDL_FORMAT_FP4 : g_str_equal (name, "fp8") ? MDL_FORMAT_FP8 : MDL_FORMAT_BF16;
}

static void
price_curve (char **cell)
{
  const gboolean gb200 = g_str_equal (cell[SYSTEM], "gb200_nvl72");
  MdlMoeQuestion q = { .op = (MdlMoeOp)base_name_find (mdl_moe_op_names, cell[OP])->code,
                       .backend = (MdlMoeBackend)base_name_find (mdl_moe_backend_names, cell[BACKEND])->code,
                       .choice = { number (cell, EXPERTS), number (cell, TOP_K), 0, 0, gb200 },
                       .hidden = number (cell, HIDDEN),
                       .imbalance = 1,
                       .format = format_of (cell[DTYPE]),
                       .sms = number (cell, SMS),
                       .ranks = number (cell, RANKS),
                       .nodes = number (cell, NODES),
                       .nvlink_Bps = gb200 ? 900e9 : 450e9,
                       .nic_Bps = 50e9,
                       .gpu_sms = gb200 ? 148 : 132,
                       .gpu = gb200 ? "gb200" : "h100_sxm" };
  g_autofree char *name = g_strdup_printf ("%s %s", cell[SYSTEM], cell[BACKEND]);
  Group *group = group_of (name, g_str_equal (cell[USE], "score")), *all = group_of ("all", group->scored);
  g_auto (GStrv) points = g_strsplit (cell[TIMES], " ", -1);
  for (char **point = points; *point != NULL; point++) {
    MdlMoeCost cost;
    q.tokens = strtod (*point, NULL);
    const double measured_s = strtod (strchr (*point, ':') + 1, NULL) * 1e-6;
    mdl_moe_cost (mdl_moe_row (mdl_library_moe (library), q.backend), &q, &cost);
    const double error = fabs (cost.time_s / measured_s - 1);
    const gboolean in = measured_s <= cost.time_s * (1 + cost.band) && measured_s >= cost.time_s / (1 + cost.band);
    g_array_append_val (group->error, error);
    g_array_append_val (all->error, error);
    group->in_band += in;
    all->in_band += in;
  }
}

static int
ascending (const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double
quantile (const Group *group, double q)
{
  return g_array_index (group->error, double, (guint)(q * (group->error->len - 1)));
}

static void
scored_points_are_near (void)
{
  for (guint i = 0; i < groups->len; i++) {
    const Group *group = groups->pdata[i];
    const double held = group->in_band / group->error->len;
    g_autofree char *line =
        g_strdup_printf ("| %s | %s | %u | %.1f | %.1f | %.0f |", group->name, group->scored ? "scored" : "fitted",
                         group->error->len, 100 * quantile (group, 0.5), 100 * quantile (group, 0.9), 100 * held);
    printf ("%s\n", line);
    TEST_TRUE (strstr (document, line) != NULL);
    if (!group->scored)
      continue;
    TEST_TRUE (quantile (group, 0.5) <= 0.15);
    TEST_TRUE (quantile (group, 0.9) <= 0.35);
    TEST_TRUE (held >= 0.85);
  }
}

static const TestCase cases[] = { { "scored points are near", scored_points_are_near }, { NULL, NULL } };

static void
group_free (gpointer data)
{
  Group *group = data;
  g_free (group->name);
  g_array_unref (group->error);
  g_free (group);
}

int
main (void)
{
  g_autoptr (Cst) cal = NULL;
  g_autofree char *text = NULL;
  const MdlLibraryQuery of = { .gpu_type = "h100_sxm" };
  library = model_library (&cal, &of, NULL);
  groups = g_ptr_array_new_with_free_func (group_free);
  if (library == NULL || !g_file_get_contents (ROWS, &text, NULL, NULL) || !g_file_get_contents (DOCUMENT, &document, NULL, NULL))
    return 1;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++) {
    g_auto (GStrv) cell = g_strsplit (*line, ",", -1);
    if (g_strv_length (cell) == COLUMNS && **line != '#' && !g_str_equal (cell[USE], "use"))
      price_curve (cell);
  }
  for (guint i = 0; i < groups->len; i++)
    g_array_sort (((Group *)groups->pdata[i])->error, ascending);
  const int status = test_main ("accuracy/moe", cases);
  g_ptr_array_unref (groups);
  g_free (document);
  return status;
}
