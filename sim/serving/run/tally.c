/* Parts of a run joined. Sums over replicas are taken in the order of their numbers, means of exact sums, and the most requests in
 * flight of all parts' ends between two arrivals, so that nothing depends on who computed what. */
#include <math.h>

#include "run/sim-private.h"

gboolean
srv_run_splits (const SrvRunSpec *spec)
{
  return spec->source.open && spec->router.policy == SRV_ROUTER_ROUND_ROBIN && spec->decode == NULL && spec->offload.flow == NULL &&
         spec->n_outages == 0 && !(spec->scale.target > 0);
}

SrvTally *
srv_tally_new (const SrvRunSpec *spec, gboolean part)
{
  SrvTally *tally = g_new0 (SrvTally, 1);
  tally->ttft = srv_sample_new ();
  tally->tpot = srv_sample_new ();
  tally->itl = srv_sample_new ();
  tally->e2e = srv_sample_new ();
  tally->n[0] = spec->replicas;
  tally->n[1] = spec->decode != NULL ? spec->decode->replicas : 0;
  tally->replicas = g_new0 (SrvReplicaTally, tally->n[0] + tally->n[1]);
  tally->first_arrival = ENG_TIME_NEVER;
  tally->ended = part ? g_array_new (FALSE, FALSE, sizeof (guint32)) : NULL;
  return tally;
}

void
srv_tally_free (SrvTally *tally)
{
  if (tally == NULL)
    return;
  srv_sample_free (tally->ttft);
  srv_sample_free (tally->tpot);
  srv_sample_free (tally->itl);
  srv_sample_free (tally->e2e);
  g_free (tally->replicas);
  g_clear_pointer (&tally->ended, g_array_unref);
  g_free (tally);
}

/* What a run that splits counts in `sums`, by parts that add up. */
static void
add_sums (SrvRunResult *sums, const SrvRunResult *other)
{
  sums->requests += other->requests;
  sums->input_tokens += other->input_tokens;
  sums->output_tokens += other->output_tokens;
  sums->good += other->good;
  sums->steps += other->steps;
  sums->prompt_steps += other->prompt_steps;
  sums->pools[0].steps += other->pools[0].steps;
  sums->kv_most = MAX (sums->kv_most, other->kv_most);
}

static void
add_replica (SrvReplicaTally *its, const SrvReplicaTally *more)
{
  its->busy_ps += more->busy_ps;
  its->kv_ps += more->kv_ps;
  its->hit_tokens += more->hit_tokens;
  its->prompt_tokens += more->prompt_tokens;
  its->preemptions += more->preemptions;
  its->lost_tokens += more->lost_tokens;
}

gboolean
srv_tally_join (SrvTally *tally, const SrvTally *other)
{
  if (tally->ended == NULL || other->ended == NULL || tally->ended->len != other->ended->len || tally->n[0] != other->n[0] ||
      tally->n[1] != other->n[1] || tally->sums.shortened != other->sums.shortened)
    return FALSE;
  add_sums (&tally->sums, &other->sums);
  srv_sample_join (tally->ttft, other->ttft);
  srv_sample_join (tally->tpot, other->tpot);
  srv_sample_join (tally->itl, other->itl);
  srv_sample_join (tally->e2e, other->e2e);
  for (guint i = 0; i < tally->n[0]; i++) /* one of both is 0 */
    add_replica (&tally->replicas[i], &other->replicas[i]);
  tally->first_arrival = MIN (tally->first_arrival, other->first_arrival);
  tally->last_end = MAX (tally->last_end, other->last_end);
  tally->until = MAX (tally->until, other->until);
  tally->decode_steps += other->decode_steps;
  tally->decoded += other->decoded;
  for (guint i = 0; i < tally->ended->len; i++)
    g_array_index (tally->ended, guint32, i) += g_array_index (other->ended, guint32, i);
  return TRUE;
}

/* ---- the result ---- */

static guint64
most_in_flight (const GArray *ended)
{
  guint64 now = 0, most = 0;
  for (guint i = 0; i < ended->len; i++) {
    now += 1 - (guint64)g_array_index (ended, guint32, i); /* may wrap, and comes back */
    most = MAX (most, now);
  }
  return most;
}

static void
finish_rates (const SrvTally *tally, SrvRunResult *out)
{
  out->duration_s = out->requests > 0 ? eng_time_to_s (tally->last_end - tally->first_arrival) : 0;
  out->requests_per_s = (double)out->requests / out->duration_s;
  out->goodput_rps = (double)out->good / out->duration_s;
  out->output_tokens_per_s = (double)out->output_tokens / out->duration_s;
  out->total_tokens_per_s = (double)(out->input_tokens + out->output_tokens) / out->duration_s;
  out->user_tokens_per_s = 1 / out->tpot.p50;
}

static void
finish_replicas (const SrvTally *tally, SrvRunResult *out)
{
  SrvReplicaTally all = { 0 };
  for (guint pool = 0, at = 0; pool < 2; pool++) {
    SrvReplicaTally its = { 0 };
    for (guint i = 0; i < tally->n[pool]; i++)
      add_replica (&its, &tally->replicas[at++]);
    out->pools[pool].busy = tally->n[pool] > 0 ? its.busy_ps / ((double)tally->until * tally->n[pool]) : (double)NAN;
    out->pools[pool].kv_mean = its.busy_ps > 0 ? its.kv_ps / its.busy_ps : (double)NAN;
    add_replica (&all, &its);
  }
  const double all_ps = (double)tally->until * (tally->n[0] + tally->n[1]);
  out->busy = all_ps > 0 ? all.busy_ps / all_ps : (double)NAN;
  out->kv_mean = all.busy_ps > 0 ? all.kv_ps / all.busy_ps : (double)NAN;
  out->hit_tokens += all.hit_tokens;
  out->prompt_tokens += all.prompt_tokens;
  out->preemptions += all.preemptions;
  out->lost_tokens += all.lost_tokens;
}

void
srv_tally_finish (SrvTally *tally, SrvRunResult *out)
{
  const double tick_s = 1 / ENG_PS_PER_S;
  *out = tally->sums;
  if (tally->ended != NULL)
    out->most_in_flight = most_in_flight (tally->ended);
  if (out->steps == 0)
    return;
  out->ttft = srv_sample_spread (tally->ttft, tick_s);
  out->tpot = srv_sample_spread (tally->tpot, tick_s);
  out->itl = srv_sample_spread (tally->itl, tick_s);
  out->e2e = srv_sample_spread (tally->e2e, tick_s);
  finish_rates (tally, out);
  finish_replicas (tally, out);
  const double transfers = (double)out->transfer.n;
  out->transfer.wait_s = transfers > 0 ? out->transfer.wait_s / transfers : (double)NAN;
  out->transfer.time_s = transfers > 0 ? out->transfer.time_s / transfers : (double)NAN;
  out->batch_mean = tally->decode_steps > 0 ? (double)tally->decoded / (double)tally->decode_steps : (double)NAN;
}

/* ---- as bytes ---- */

void
srv_tally_write (const SrvTally *tally, GByteArray *bytes)
{
  const SrvRunResult *sums = &tally->sums;
  const guint64 head[] = { tally->n[0],     tally->ended->len, sums->requests,      sums->input_tokens,   sums->output_tokens,
                           sums->good,      sums->steps,       sums->prompt_steps,  sums->pools[0].steps, sums->shortened,
                           tally->last_end, tally->until,      tally->decode_steps, tally->decoded,       tally->first_arrival };
  base_words_put (bytes, head, G_N_ELEMENTS (head));
  base_words_put_doubles (bytes, &sums->kv_most, 1);
  srv_sample_write (tally->ttft, bytes);
  srv_sample_write (tally->tpot, bytes);
  srv_sample_write (tally->itl, bytes);
  srv_sample_write (tally->e2e, bytes);
  for (guint i = 0; i < tally->n[0]; i++) {
    const SrvReplicaTally *its = &tally->replicas[i];
    const guint64 words[] = { its->hit_tokens, its->prompt_tokens, its->preemptions, its->lost_tokens };
    base_words_put_doubles (bytes, (const double[]){ its->busy_ps, its->kv_ps }, 2);
    base_words_put (bytes, words, G_N_ELEMENTS (words));
  }
  for (guint i = 0; i < tally->ended->len; i++)
    base_words_put (bytes, (const guint64[]){ g_array_index (tally->ended, guint32, i) }, 1);
}

static gboolean
read_replicas (SrvTally *tally, guint64 n, BaseWords *words)
{
  if (n > (guint64)(words->end - words->at)) /* each has several bytes */
    return FALSE;
  tally->n[0] = (guint)n;
  tally->replicas = g_new0 (SrvReplicaTally, n);
  for (guint i = 0; i < n; i++) {
    SrvReplicaTally *its = &tally->replicas[i];
    double times[2];
    guint64 counts[4];
    if (!base_words_take_doubles (words, times, 2) || !base_words_take (words, counts, 4))
      return FALSE;
    *its = (SrvReplicaTally){ times[0], times[1], counts[0], counts[1], counts[2], counts[3] };
  }
  return TRUE;
}

static gboolean
read_ended (SrvTally *tally, guint64 n, BaseWords *words)
{
  tally->ended = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint64 i = 0; i < n; i++) {
    guint64 word;
    if (!base_words_take (words, &word, 1) || word > G_MAXUINT32)
      return FALSE;
    const guint32 ended = (guint32)word;
    g_array_append_val (tally->ended, ended);
  }
  return TRUE;
}

SrvTally *
srv_tally_read (BaseWords *words)
{
  g_autoptr (SrvTally) tally = g_new0 (SrvTally, 1);
  SrvRunResult *sums = &tally->sums;
  guint64 head[15];
  if (!base_words_take (words, head, G_N_ELEMENTS (head)) || !base_words_take_doubles (words, &sums->kv_most, 1))
    return NULL;
  sums->requests = head[2];
  sums->input_tokens = head[3];
  sums->output_tokens = head[4];
  sums->good = head[5];
  sums->steps = head[6];
  sums->prompt_steps = head[7];
  sums->pools[0].steps = head[8];
  sums->shortened = head[9];
  tally->last_end = head[10];
  tally->until = head[11];
  tally->decode_steps = head[12];
  tally->decoded = head[13];
  tally->first_arrival = head[14];
  if ((tally->ttft = srv_sample_read (words)) == NULL || (tally->tpot = srv_sample_read (words)) == NULL ||
      (tally->itl = srv_sample_read (words)) == NULL || (tally->e2e = srv_sample_read (words)) == NULL)
    return NULL;
  return read_replicas (tally, head[0], words) && read_ended (tally, head[1], words) ? g_steal_pointer (&tally) : NULL;
}
