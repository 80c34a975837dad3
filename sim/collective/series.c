/* Links in series: of a chain that is always crossed together, the tightest one alone can bind.
 *
 * A GPU's PCIe link, its adapter's and the cable are three links to the cluster, but messages that cross one cross all of them, and
 * only the slowest can ever be full. A transfer f takes weight a_fl of link l a byte, a_fl / capacity_l of its time. Let t_f be the
 * link of f's route that takes the most. If all routes over l have the same t, then for any rates x_f
 *     load_l / capacity_l = sum_f a_fl x_f / capacity_l  <=  sum_f a_ft x_f / capacity_t  <=  load_t / capacity_t  <=  1,
 * so l is never full before t is: rates are the same without l. Where several links of a route tie, the first and the last of them
 * are both kept in mind: those of the sender's side share the first, those of the receiver's side the last. A link that is its own
 * t stays. A chain of links that each wait behind the next ends at one that stays: were there a circle, all of it would be crossed
 * by the same routes, and these have one first and one last.
 *
 * Messages by the million then cost the engine two links each on a star and not six.
 * Check: rates are the same with and without (test_collective_series). */
#include "collective/series.h"

typedef struct {
  double capacity_Bps; /* 0: not asked yet */
  CluRes first, last;  /* + 1: tightest link of all routes so far; 0: no route yet */
} Chain;

struct ColSeries {
  const Clu *clu;
  Chain *chain; /* by resource */
};

#define BROKEN CLU_NONE /* routes disagree */

ColSeries *
col_series_new (const Clu *clu)
{
  ColSeries *series = g_new (ColSeries, 1);
  series->clu = clu;
  series->chain = g_new0 (Chain, clu_n_resources (clu));
  return series;
}

void
col_series_free (ColSeries *series)
{
  if (series == NULL)
    return;
  g_free (series->chain);
  g_free (series);
}

static void
agree (CluRes *known, CluRes tightest)
{
  if (*known == 0)
    *known = tightest + 1;
  else if (*known != tightest + 1)
    *known = BROKEN;
}

void
col_series_add (ColSeries *series, const ColRoute *way, const ColRankPlace *from, const ColRankPlace *to)
{
  double most = 0;
  CluRes first = CLU_NONE, last = CLU_NONE;
  for (guint32 i = 0; i < way->n_uses; i++) {
    CluRes res = col_route_res (&way->use[i], from, to);
    Chain *chain = &series->chain[res];
    if (chain->capacity_Bps <= 0)
      chain->capacity_Bps = clu_resource_capacity (series->clu, res);
    double time = way->use[i].share / (way->use[i].factor * chain->capacity_Bps);
    if (time > most) {
      most = time;
      first = res;
    }
    if (time >= most)
      last = res;
  }
  for (guint32 i = 0; i < way->n_uses; i++) {
    Chain *chain = &series->chain[col_route_res (&way->use[i], from, to)];
    agree (&chain->first, first);
    agree (&chain->last, last);
  }
}

gboolean
col_series_binds (const ColSeries *series, CluRes res)
{
  const Chain *chain = &series->chain[res];
  if (chain->first == res + 1 || chain->last == res + 1)
    return TRUE;
  return (chain->first == 0 || chain->first == BROKEN) && (chain->last == 0 || chain->last == BROKEN);
}
