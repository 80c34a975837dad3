/* Pictures of a plan for a service: its fronts, what the engine played, and what was measured. */
#include <math.h>
#include <string.h>

#include "base/currency.h"
#include "base/layout.h"
#include "plan-private.h"
#include "plot-private.h"
#include "report/fleet.h"

#define LENGTHS_WITHIN 0.25 /* measured prompts and answers are drawn if they are as long, but for this */

static void
append_point (GString *tsv, const char *series, const char *mark, double x, double y)
{
  char a[G_ASCII_DTOSTR_BUF_SIZE], b[G_ASCII_DTOSTR_BUF_SIZE];
  g_autofree char *valid = g_utf8_make_valid (series, -1);
  g_ascii_formatd (a, sizeof a, "%.9g", x);
  g_ascii_formatd (b, sizeof b, "%.9g", y);
  g_string_append_printf (tsv, "%s\t%s\t%s\t%s\n", g_strdelimit (valid, "\t\r\n", ' '), mark, a, b);
}

/* ---- measured points ---- */

/* Letters and digits alone, in lower case: "qwen332b". Returned: full. */
static char *
bare (const char *text)
{
  GString *out = g_string_new (NULL);
  for (const char *p = text; *p != '\0'; p++)
    if (g_ascii_isalnum (*p))
      g_string_append_c (out, g_ascii_tolower (*p));
  return g_string_free (out, FALSE);
}

/* "Qwen/Qwen3-32B" is qwen3_32b; a model's `source` may name others of the same shape. */
static gboolean
is_model (const PlnFleet *fleet, const char *measured)
{
  const char *slash = strrchr (measured, '/');
  const char *last = slash != NULL ? slash + 1 : measured, *source = pln_fleet_model_source (fleet);
  g_autofree char *name = bare (last), *own = bare (pln_fleet_model (fleet));
  return g_str_has_prefix (name, own) || (source != NULL && strstr (source, last) != NULL);
}

static gboolean
is_about (double measured, double planned)
{
  return fabs (log (measured / planned)) <= log1p (LENGTHS_WITHIN);
}

/* "H100" is h100_sxm. */
static gboolean
is_gpu (const char *gpu, const char *measured)
{
  const gsize n = strcspn (gpu, "_");
  return strlen (measured) == n && g_ascii_strncasecmp (gpu, measured, n) == 0;
}

static guint
append_measured (const PlnFleet *fleet, guint machine, const GArray *measured, GString *tsv)
{
  guint n = 0;
  double rate, input, output;
  pln_fleet_load_of (fleet, &rate, &input, &output);
  for (guint i = 0; measured != NULL && i < measured->len; i++) {
    const CalServingSpot *spot = &g_array_index (measured, CalServingSpot, i);
    if (!is_gpu (pln_fleet_gpu (fleet, machine), spot->gpu) || !is_model (fleet, spot->model) || !is_about (spot->input, input) ||
        !is_about (spot->output, output))
      continue;
    append_point (tsv, pln_fleet_topology (fleet, machine), "measured", 1 / spot->tpot_s, cal_serving_spot_tokens (spot));
    n++;
  }
  return n;
}

/* ---- fronts ---- */

typedef struct {
  const char *name, *caption, *x_name, *y_name;
} Words;
static const Words words[] = {
  [PLN_FLEET_BY_USER] = { "front", "Output tokens/s of a GPU against tokens/s of a user, by cluster option.",
                          "output tokens/s of a user (interactivity)", "output tokens/s of a GPU" },
  [PLN_FLEET_BY_TTFT] = { "ttft", "Cost of a million output tokens against the time to the first token, by cluster option.",
                          "time to first token (ms), at the percentile of the SLO", "USD per million output tokens" },
  [PLN_FLEET_BY_TPOT] = { "tpot", "Cost of a million output tokens against the time per output token, by cluster option.",
                          "time per output token (ms), at the percentile of the SLO", "USD per million output tokens" },
};

static void
append_rows (const PlnFleet *fleet, const PlnFleetResult *result, PlnFleetFront which, GString *tsv)
{
  for (guint i = 0; i < result->rows->len; i++) {
    const PlnFleetRow *row = &g_array_index (result->rows, PlnFleetRow, i);
    const double x = which == PLN_FLEET_BY_USER   ? 1 / row->tpot_mean_s
                     : which == PLN_FLEET_BY_TTFT ? row->ttft_s * 1e3
                                                  : row->tpot_s * 1e3,
                 y = which == PLN_FLEET_BY_USER ? row->tokens_per_s_gpu : base_currency_of (row->usd_per_Mtok);
    if (row->simulated && isfinite (x) && isfinite (y))
      append_point (tsv, pln_fleet_topology (fleet, row->machine), "simulated", x, y);
  }
}

/* The point of most throughput, or of least cost within the limit on the axis; of none within it the nearest. */
static const PlnFleetPoint *
best_point (const GArray *points, PlnFleetFront which, double limit)
{
  const PlnFleetPoint *best = NULL, *nearest = &g_array_index (points, PlnFleetPoint, 0);
  for (guint i = 0; i < points->len; i++) {
    const PlnFleetPoint *point = &g_array_index (points, PlnFleetPoint, i);
    nearest = point->x < nearest->x ? point : nearest;
    if (which == PLN_FLEET_BY_USER ? best == NULL || point->y > best->y : point->x <= limit && (best == NULL || point->y < best->y))
      best = point;
  }
  return best != NULL ? best : nearest;
}

/* "chat_8b: hgx_b200 gives most, 4120 tokens/s of a GPU (12.6 of a user)", or what costs least within the SLO. Returned: full. */
static char *
title_of (const PlnFleet *fleet, const PlnFleetPoint *best, PlnFleetFront which)
{
  const char *topology = pln_fleet_topology (fleet, best->machine), *name = pln_fleet_name (fleet);
  if (which == PLN_FLEET_BY_USER)
    return g_strdup_printf ("%s: %s gives most, %.4g tokens/s of a GPU (%.3g of a user)", name, topology, best->y, best->x);
  g_autofree char *at = base_quantity_show (best->x, BASE_DIM_TIME), *cost = rep_money_fine (best->y, 3);
  return g_strdup_printf ("%s: at %s %s costs least, %s a million tokens", name, at, topology, cost);
}

static void
add_front (PlnFleet *fleet, const PlnFleetResult *result, PlnFleetFront which, const GArray *measured, GPtrArray *plots,
           guint *n_drawn)
{
  const Words *w = &words[which];
  g_autoptr (GArray) points = pln_fleet_front (fleet, result, which);
  if (points->len == 0)
    return;
  GString *tsv = g_string_new ("series\tmark\tx\ty\n");
  for (guint i = 0; i < points->len; i++) {
    const PlnFleetPoint *point = &g_array_index (points, PlnFleetPoint, i);
    const gboolean last = i + 1 == points->len || (point + 1)->machine != point->machine;
    append_point (tsv, pln_fleet_topology (fleet, point->machine), "front", which == PLN_FLEET_BY_USER ? point->x : point->x * 1e3,
                  which == PLN_FLEET_BY_USER ? point->y : base_currency_of (point->y));
    if (last && which == PLN_FLEET_BY_USER)
      *n_drawn += append_measured (fleet, point->machine, measured, tsv);
  }
  append_rows (fleet, result, which, tsv);
  double ttft_s, tpot_s, fraction;
  pln_fleet_slo (fleet, &ttft_s, &tpot_s, &fraction);
  const double limit_s = which == PLN_FLEET_BY_TTFT ? ttft_s : which == PLN_FLEET_BY_TPOT ? tpot_s : (double)INFINITY;
  g_autofree char *title = title_of (fleet, best_point (points, which, limit_s), which), *x_name = rep_plot_quote (w->x_name),
                  *y_name = rep_plot_quote (base_currency_word (w->y_name));
  char at[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (at, sizeof at, "%.9g", isfinite (limit_s) ? limit_s * 1e3 : 0);
  rep_plots_add (plots, w->name, "fleet.gp", w->caption, title, tsv,
                 g_strdup_printf ("; x_name=%s; y_name=%s; limit=%s", x_name, y_name, at));
}

void
rep_fleet_plots (PlnFleet *fleet, const PlnFleetResult *result, const RepFleetMoney *money, const GArray *measured,
                 GPtrArray *plots, guint *n_drawn)
{
  static const PlnFleetFront order[] = { PLN_FLEET_BY_USER, PLN_FLEET_BY_TPOT, PLN_FLEET_BY_TTFT };
  *n_drawn = 0;
  for (guint i = 0; i < G_N_ELEMENTS (order); i++)
    add_front (fleet, result, order[i], measured, plots, n_drawn);
  if (g_array_index (money->result->rows, PlnChoiceRow, 0).way != PLN_ACQUISITION_NONE)
    rep_plan_cost_plot (money->plan, money->result, "a month", plots);
}
