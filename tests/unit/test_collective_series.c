#include <math.h>

#include "base/random.h"
#include "engine/flow.h"
#include "maxmin_oracle.h"
#include "collective/series.h"
#include "workload_fixture.h"

enum { MAX_LINKS = 12, MAX_ROUTES = 10 };

static const ColRankPlace nowhere; /* resources are named by number */

static ColRouteUse
use_of (CluRes res, double share)
{
  return (ColRouteUse){ .res = res, .end = COL_END_OUTSIDE, .share = share, .factor = 1 };
}

/* Two GPUs of two nodes: GPU, adapter and cable on either side, of which only the cables (10 GB/s against 1 TB/s) can be full. */
static void
cables_bind_and_what_stands_behind_them_does_not (void)
{
  Clu *clu = fixture_cluster (2, 2, FALSE);
  g_autoptr (ColSeries) series = col_series_new (clu);
  g_auto (CluRoute) route = { 0 };
  clu_route_init (&route);
  for (guint32 from = 0; from < 2; from++)
    for (guint32 to = 2; to < 4; to++) {
      TEST_TRUE (clu_route_find (clu, clu_gpu (clu, from), clu_gpu (clu, to), &CLU_ROUTE_DEFAULT, &route, NULL));
      TEST_INT (route.uses->len, 6);
      ColRouteUse uses[6];
      for (guint i = 0; i < 6; i++)
        uses[i] = use_of (g_array_index (route.uses, CluUse, i).res, 1);
      col_series_add (series, &(ColRoute){ .n_uses = 6, .use = uses }, &nowhere, &nowhere);
    }
  for (guint i = 0; i < route.uses->len; i++) {
    CluRes res = g_array_index (route.uses, CluUse, i).res;
    TEST_INT (col_series_binds (series, res), clu_resource_capacity (clu, res) < 1e12);
  }
  clu_free (clu);
}

/* Resource 0 is behind 1 for one route and behind 2 for another: together they can fill it. */
static void
what_two_chains_share_binds (void)
{
  Clu *clu = fixture_cluster (2, 2, FALSE);
  g_autoptr (ColSeries) series = col_series_new (clu);
  /* 10^6 bytes on the second a byte of the transfer: it is the tighter one, whatever its capacity */
  ColRouteUse one[] = { use_of (0, 1), use_of (1, 1e6) }, two[] = { use_of (0, 1), use_of (2, 1e6) };
  col_series_add (series, &(ColRoute){ .n_uses = 2, .use = one }, &nowhere, &nowhere);
  TEST_FALSE (col_series_binds (series, 0));
  col_series_add (series, &(ColRoute){ .n_uses = 2, .use = two }, &nowhere, &nowhere);
  TEST_TRUE (col_series_binds (series, 0));
  TEST_TRUE (col_series_binds (series, 1) && col_series_binds (series, 2));
  clu_free (clu);
}

/* A route of links in an order of its own, with chains that come often so that some are in series. */
static guint
draw_route (BaseRandom *random, guint32 n_links, ColRouteUse *uses, EngUse *eng_uses)
{
  gboolean taken[MAX_LINKS] = { FALSE };
  guint n = 0, steps = 1 + base_random_below (random, 3);
  for (guint s = 0; s < steps; s++) {
    guint32 first = base_random_below (random, n_links / 3) * 3, most = base_random_below (random, 4) == 0 ? 1 : 3;
    for (guint32 l = first; l < first + most; l++)
      if (!taken[l]) {
        taken[l] = TRUE;
        double weight = base_random_below (random, 2) == 0 ? 1 : 0.5 + base_random_unit (random);
        uses[n] = use_of (l, weight);
        eng_uses[n] = (EngUse){ l, weight };
        n++;
      }
  }
  return n;
}

/* Rates of the oracle with all links, and with those alone that can bind. */
static void
rates_are_the_same_without_links_that_do_not_bind (void)
{
  Clu *clu = fixture_cluster (4, 2, FALSE);
  double capacity[MAX_LINKS];
  unsigned n_left_out = 0;
  for (guint32 l = 0; l < MAX_LINKS; l++)
    capacity[l] = clu_resource_capacity (clu, l);
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    BaseRandom random = base_random_stream (seed, "series");
    g_autoptr (ColSeries) series = col_series_new (clu);
    EngUse all[MAX_ROUTES][MAX_LINKS], some[MAX_ROUTES][MAX_LINKS];
    EngFlowSpec whole[MAX_ROUTES] = { 0 }, part[MAX_ROUTES] = { 0 };
    double rates[MAX_ROUTES], expected[MAX_ROUTES];
    unsigned n = 1 + base_random_below (&random, MAX_ROUTES), n_links = 3 * (1 + base_random_below (&random, MAX_LINKS / 3));
    for (unsigned f = 0; f < n; f++) {
      ColRouteUse uses[MAX_LINKS];
      whole[f] = (EngFlowSpec){ .amount = 1, .uses = all[f] };
      if (base_random_below (&random, 3) == 0)
        whole[f].bound_per_s = 1e12 * base_random_unit (&random);
      whole[f].n_uses = draw_route (&random, n_links, uses, all[f]);
      col_series_add (series, &(ColRoute){ .n_uses = whole[f].n_uses, .use = uses }, &nowhere, &nowhere);
    }
    for (unsigned f = 0; f < n; f++) {
      part[f] = whole[f];
      part[f].uses = some[f];
      part[f].n_uses = 0;
      for (unsigned k = 0; k < whole[f].n_uses; k++)
        if (col_series_binds (series, all[f][k].link))
          some[f][part[f].n_uses++] = all[f][k];
      TEST_TRUE (part[f].n_uses > 0);
      n_left_out += whole[f].n_uses - part[f].n_uses;
    }
    maxmin_oracle (capacity, MAX_LINKS, whole, n, expected);
    maxmin_oracle (capacity, MAX_LINKS, part, n, rates);
    for (unsigned f = 0; f < n; f++)
      TEST_NEAR (rates[f], expected[f], 1e-12);
  }
  TEST_TRUE (n_left_out > 3000); /* some were in series */
  clu_free (clu);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "cables bind, and what stands behind them does not", cables_bind_and_what_stands_behind_them_does_not },
    { "what two chains share binds", what_two_chains_share_binds },
    { "rates are the same without links that do not bind", rates_are_the_same_without_links_that_do_not_bind },
    { NULL, NULL },
  };
  return test_main ("links in series", cases);
}
