/* A load gives requests that wait for no answer in order of arrival (`fresh`), and those that an answer sends (`ready`). What
 * grows with the run is what is in flight: sessions between two of their requests, and slots that wait for theirs. */
#include "load-private.h"

#include <math.h>

#include "base/diag.h"

#define HASH_TOKENS 16u /* of prompts that share a prefix or belong to sessions: vLLM's block */
#define MOST_LINE_B ((gsize)4 << 20)

/* Words that keep hashes of different kinds apart. */
enum { OF_PREFIX = 1, OF_SESSION = 2 };

typedef struct {
  guint32 id, turn;
  guint64 context; /* tokens of all questions and answers before, the prefix included */
} Session;

/* What an answer has sent: a session's next request, or (`id` 0) whatever comes next. */
typedef struct {
  double time_s;
  Session session;
} Ready;

struct SrvLoad {
  SrvLoadSpec spec;
  guint64 seed;
  double total; /* requests, HUGE_VAL where the trace or the duration ends them */
  SrvLengths lengths;
  SrvArrivals arrivals;
  SrvTrace *trace;
  gboolean by_rate, by_trace; /* whose the arrivals are; neither: as slots become free */

  SrvTraceRow fresh; /* the next one that waits for no answer, if has_fresh */
  gboolean has_fresh, ended;
  GError *broken; /* of the trace, said by the next call of srv_load_next */
  double n_fresh; /* drawn */
  GArray *fresh_hashes, *hashes;

  guint64 given;
  guint32 n_sessions, slots_left;
  GQueue *ready;        /* of Ready */
  GHashTable *sessions; /* index of a request in flight → Session */
};

static gboolean
open_trace (SrvLoad *load, GError **error)
{
  const BaseStr *key = &load->spec.trace;
  g_autofree char *path = srv_load_path (key);
  BaseStream *stream = srv_load_open (key, path, MOST_LINE_B, error);
  if (stream == NULL)
    return FALSE;
  load->trace = srv_trace_new (stream, (SrvTraceFormat)load->spec.format.v, error);
  if (load->trace == NULL)
    return FALSE;
  load->by_trace = srv_trace_has_times (load->trace) && !load->by_rate;
  return load->by_rate || load->by_trace || load->spec.closed.set || load->spec.as.v == SRV_LOAD_VLLM_BENCH ||
         base_fail_at (error, key->mark, "%s has no times of arrival; give 'rate' or 'closed' too", path);
}

SrvLoad *
srv_load_new (const SrvLoadSpec *spec, const BaseSchemaContext *context, guint64 seed, GError **error)
{
  (void)context;
  g_autoptr (SrvLoad) load = g_new0 (SrvLoad, 1);
  load->seed = seed;
  load->fresh_hashes = g_array_new (FALSE, FALSE, sizeof (guint64));
  load->hashes = g_array_new (FALSE, FALSE, sizeof (guint64));
  load->ready = g_queue_new ();
  load->sessions = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  if (!srv_load_settle (spec, &load->spec, error))
    return NULL;
  spec = &load->spec;
  load->total = spec->requests.set ? spec->warm_up.v + spec->requests.v : HUGE_VAL;
  load->slots_left = spec->closed.set ? (guint32)spec->closed.v : G_MAXUINT32;
  load->by_rate = spec->rate.set;
  if (!srv_lengths_init (&load->lengths, spec, seed, error) || (spec->trace.set && !open_trace (load, error)))
    return NULL;
  if (load->by_rate)
    srv_arrivals_init (&load->arrivals, spec, seed);
  return g_steal_pointer (&load);
}

void
srv_load_free (SrvLoad *load)
{
  if (load == NULL)
    return;
  srv_lengths_clear (&load->lengths);
  srv_trace_free (load->trace);
  g_clear_error (&load->broken);
  g_array_unref (load->fresh_hashes);
  g_array_unref (load->hashes);
  g_queue_free_full (load->ready, g_free);
  g_hash_table_unref (load->sessions);
  g_free (load);
}

const SrvLoadSpec *
srv_load_settled (const SrvLoad *load)
{
  return &load->spec;
}

gboolean
srv_load_is_open (const SrvLoad *load)
{
  return !load->spec.closed.set && !(load->spec.turns.v > 1);
}

/* The engine's clock counts picoseconds in 64 bit, until 213 days. FALSE and load->broken: a request comes later. */
static gboolean
check_clock (SrvLoad *load, double time_s)
{
  const double day_s = 86400, last_s = 200 * day_s;
  if (time_s <= last_s)
    return TRUE;
  const double faster = load->spec.scale.v * time_s / last_s * 1.001;
  if (load->by_trace && faster > SRV_LOAD_MOST_SCALE)
    return base_fail_at (
        &load->broken, srv_trace_mark (load->trace),
        "the request comes %.4g days after the first one, and a run lasts at most 200, also with the largest 'scale' of "
        "%g; check the unit of the trace's times (%s), or cut the trace",
        time_s / day_s, SRV_LOAD_MOST_SCALE, "seconds, or milliseconds in 'mooncake'");
  if (load->by_trace)
    return base_fail_at (
        &load->broken, srv_trace_mark (load->trace),
        "the request comes %.4g days after the first one, and a run lasts at most 200; use 'scale: %.3g' or more in "
        "'load', or cut the trace",
        time_s / day_s, faster);
  g_set_error (&load->broken, BASE_ERROR, BASE_ERROR_INPUT,
               "request %.0f comes after %.4g days, and a run lasts at most 200; use a higher 'rate' or fewer 'requests'",
               (double)load->n_fresh, time_s / day_s);
  return FALSE;
}

/* Draws the next request that waits for no answer. FALSE: there is none. */
static gboolean
draw_fresh (SrvLoad *load)
{
  if (load->has_fresh || load->ended)
    return load->has_fresh;
  load->ended = load->n_fresh >= load->total;
  if (load->ended)
    return FALSE;
  SrvTraceRow row = { 0 };
  if (load->trace != NULL) {
    if (!srv_trace_next (load->trace, &row, load->fresh_hashes, &load->broken)) {
      load->ended = TRUE;
      return FALSE;
    }
  } else
    srv_lengths_draw (&load->lengths, &row.input, &row.output);
  row.time_s = load->by_rate ? srv_arrivals_next (&load->arrivals) : load->by_trace ? row.time_s / load->spec.scale.v : 0;
  load->ended = load->spec.duration.set && row.time_s > load->spec.duration.v;
  if (!load->ended && !check_clock (load, row.time_s))
    load->ended = TRUE;
  load->has_fresh = !load->ended;
  load->fresh = row;
  load->n_fresh++;
  return load->has_fresh;
}

/* Hashes of full blocks of `tokens`: those within the prefix are everybody's, the others the session's, or the request's own. */
static void
hash_blocks (SrvLoad *load, guint64 of, guint32 tokens, SrvRequest *out)
{
  const guint32 n = tokens / HASH_TOKENS;
  const guint64 prefix = (guint64)load->spec.prefix.v / HASH_TOKENS;
  g_array_set_size (load->hashes, n);
  guint64 *hash = (guint64 *)(void *)load->hashes->data;
  for (guint32 i = 0; i < n; i++)
    hash[i] = i < prefix ? base_random_hash (load->seed, OF_PREFIX, 0, i) : base_random_hash (load->seed, OF_SESSION, of, i);
  out->hash = hash;
  out->n_hashes = n;
  out->hash_tokens = HASH_TOKENS;
}

/* A request of a session, which has `context` tokens by now. */
static void
give_turn (SrvLoad *load, Session session, guint32 input, guint32 output, SrvRequest *out)
{
  const guint64 prompt = session.context + input;
  out->input = (guint32)MIN (prompt, (guint64)SRV_TOKENS_MOST);
  out->output = output;
  const SrvLoadSpec *spec = &load->spec;
  const gboolean shares = spec->turns.v > 1 || spec->prefix.v > 0 || spec->prompts.set;
  const guint64 own = spec->prompts.set ? load->given % (guint64)spec->prompts.v + 1 : load->given + 1;
  if (shares)
    hash_blocks (load, spec->turns.v > 1 ? session.id : own, out->input + (spec->turns.v > 1 ? output : 0), out);
  if (load->spec.turns.v > 1) {
    out->session = session.id;
    session.turn++;
    session.context = prompt + output;
    gint64 *key = g_new (gint64, 1);
    *key = (gint64)out->index;
    g_hash_table_insert (load->sessions, key, g_memdup2 (&session, sizeof session));
  }
  load->given++;
}

static void
give_fresh (SrvLoad *load, double earliest_s, SrvRequest *out)
{
  const SrvTraceRow *row = &load->fresh;
  load->has_fresh = FALSE;
  *out = (SrvRequest){ .index = load->given, .arrival_s = MAX (row->time_s, earliest_s), .session = row->session };
  if (load->trace == NULL) {
    const Session session = { ++load->n_sessions, 0, (guint64)load->spec.prefix.v };
    give_turn (load, session, row->input, row->output, out);
    return;
  }
  out->input = row->input;
  out->output = row->output;
  out->mark = srv_trace_mark (load->trace);
  GArray *hashes = load->fresh_hashes;
  load->fresh_hashes = load->hashes;
  load->hashes = hashes;
  out->hash = (const guint64 *)(const void *)hashes->data;
  out->n_hashes = hashes->len;
  out->hash_tokens = srv_trace_hash_tokens (load->trace);
  load->given++;
}

gboolean
srv_load_next (SrvLoad *load, SrvRequest *out, GError **error)
{
  g_autofree Ready *ready = g_queue_pop_head (load->ready);
  if (ready != NULL && ready->session.id != 0) {
    guint32 input, output;
    srv_lengths_draw (&load->lengths, &input, &output);
    *out = (SrvRequest){ .index = load->given, .arrival_s = ready->time_s };
    give_turn (load, ready->session, input, output, out);
    return TRUE;
  }
  if (ready == NULL && load->slots_left == 0)
    return FALSE;
  if (load->broken == NULL && (double)load->given < load->total && draw_fresh (load)) {
    if (ready == NULL && load->spec.closed.set)
      load->slots_left--;
    give_fresh (load, ready != NULL ? ready->time_s : 0, out);
    return TRUE;
  }
  if (load->broken != NULL)
    g_propagate_error (error, g_steal_pointer (&load->broken));
  return FALSE;
}

gboolean
srv_load_finished (SrvLoad *load, guint64 index, double now_s)
{
  const gint64 key = (gint64)index;
  const Session *session = g_hash_table_lookup (load->sessions, &key);
  Ready ready = { .time_s = now_s };
  if (session != NULL && session->turn < load->spec.turns.v) {
    ready.session = *session;
    ready.time_s += load->spec.think.v;
  }
  g_hash_table_remove (load->sessions, &key);
  if ((double)(load->given + load->ready->length) >= load->total)
    return FALSE;
  if (load->spec.duration.set && ready.time_s > load->spec.duration.v)
    return FALSE;
  if (ready.session.id == 0 && (!load->spec.closed.set || (!draw_fresh (load) && load->broken == NULL)))
    return FALSE;
  g_queue_push_tail (load->ready, g_memdup2 (&ready, sizeof ready));
  return TRUE;
}
