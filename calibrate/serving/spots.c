/* Measured runs of many deployments in one table, which plans are drawn beside. Check: test_serving_spots. */
#include <string.h>

#include "serving/serving-private.h"

#define MOST_COLUMNS 64u

typedef enum { GPU, ENGINE, MODEL, INPUT, OUTPUT, IN_FLIGHT, GPUS, TTFT, TPOT, N_KEYS } Key;
static const char *const names[N_KEYS] = { "gpu", "framework", "model", "isl", "osl", "concurrency", "gpus", "ttft_ms", "tpot_ms" };

typedef struct {
  const CalText *text;
  GArray *spots;
  guint at[N_KEYS]; /* column of each; G_MAXUINT: none */
  guint n_columns;  /* 0: the first line is to come */
} Reader;

static void
spot_clear (gpointer data)
{
  CalServingSpot *spot = data;
  g_free (spot->gpu);
  g_free (spot->engine);
  g_free (spot->model);
}

static gboolean
read_names (Reader *reader, char **cells, guint n, GError **error)
{
  reader->n_columns = n;
  for (guint k = 0; k < N_KEYS; k++) {
    reader->at[k] = G_MAXUINT;
    for (guint i = 0; i < n; i++)
      if (strcmp (cells[i], names[k]) == 0)
        reader->at[k] = i;
    if (reader->at[k] == G_MAXUINT && k != ENGINE)
      return cal_fail (reader->text, CAL_LINE (1), error,
                       "no column '%s'; measured runs need gpu, model, isl, osl, concurrency, gpus, ttft_ms and tpot_ms", names[k]);
  }
  return TRUE;
}

static gboolean
read_spot (Reader *reader, char **cells, guint n, unsigned line, GError **error)
{
  CalServingSpot spot = { 0 };
  const struct {
    Key key;
    double *to, unit;
  } numbers[] = { { INPUT, &spot.input, 1 }, { OUTPUT, &spot.output, 1 },  { IN_FLIGHT, &spot.in_flight, 1 },
                  { GPUS, &spot.gpus, 1 },   { TTFT, &spot.ttft_s, 1e-3 }, { TPOT, &spot.tpot_s, 1e-3 } };
  if (n != reader->n_columns)
    return cal_fail (reader->text, CAL_LINE (line), error, "%u cells where the first line has %u; write one for each column", n,
                     reader->n_columns);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const guint at = reader->at[numbers[i].key];
    if (*cells[at] == '\0' || strcmp (cells[at], "0") == 0) /* it was not measured, or its source does not know it */
      return TRUE;
    if (!cal_serving_number (cells[at], numbers[i].to)) {
      g_autofree char *shown = cal_shown (cells[at]);
      return cal_fail (reader->text, ((CalPlace){ line, at + 1, NULL }), error,
                       "%s '%s' is not a number above 0; leave this line out", names[numbers[i].key], shown);
    }
    *numbers[i].to *= numbers[i].unit;
  }
  spot.gpu = g_strdup (cells[reader->at[GPU]]);
  spot.model = g_strdup (cells[reader->at[MODEL]]);
  spot.engine = reader->at[ENGINE] != G_MAXUINT ? g_strdup (cells[reader->at[ENGINE]]) : NULL;
  g_array_append_val (reader->spots, spot);
  return TRUE;
}

static gboolean
visit (void *user, char *line, unsigned number, GError **error)
{
  Reader *reader = user;
  char *cells[MOST_COLUMNS];
  const guint n = cal_serving_cut (line, cells, MOST_COLUMNS);
  return reader->n_columns == 0 ? read_names (reader, cells, n, error) : read_spot (reader, cells, n, number, error);
}

GArray *
cal_serving_spots (const CalText *text, GError **error)
{
  Reader reader = { .text = text, .spots = g_array_new (FALSE, FALSE, sizeof (CalServingSpot)) };
  g_array_set_clear_func (reader.spots, spot_clear);
  if (cal_csv_lines (&reader, text, visit, error))
    return reader.spots;
  g_array_unref (reader.spots);
  return NULL;
}

double
cal_serving_spot_tokens (const CalServingSpot *spot)
{
  return spot->in_flight * spot->output / (spot->ttft_s + (spot->output - 1) * spot->tpot_s) / spot->gpus;
}
