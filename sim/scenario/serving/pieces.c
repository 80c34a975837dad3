#include "scenario/pieces.h"

#include "base/parallel.h"
#include "serving-private.h"

typedef enum { DUE, OUT, DONE, OTHERS } State;

struct ScnPieces {
  Scn *scenario;
  guint of;
  State *states;
  SrvTally *runs[SCN_PIECES_RUNS]; /* all parts that are there, joined */
  SrvRunResult results[SCN_PIECES_RUNS];
  GMutex lock; /* of all above, and: */
  GError *error;
  guint32 failed;
};

/* ---- whether it splits ---- */

static gboolean
is_joined (BaseMark mark, const char *what, const char *remedy, GError **error)
{
  return col_fail_at (error, mark, "%s, so that replicas cannot be computed in parts; %s, or compute it in one process", what,
                      remedy);
}

static gboolean
check_load (const Scn *scenario, GError **error)
{
  const ScnServingSpec *own = scenario->own;
  const SrvLoadSpec *spec = &own->load;
  g_autoptr (SrvLoad) load = srv_load_new (spec, NULL, scenario->seed, error);
  if (load == NULL)
    return FALSE;
  if (srv_load_is_open (load))
    return TRUE;
  return is_joined (spec->closed.set    ? spec->closed.mark
                    : spec->turns.v > 1 ? spec->turns.mark
                                        : spec->head.mark,
                    "requests of this load wait for answers of others", "give 'rate' or a trace without 'closed' and 'turns'",
                    error);
}

gboolean
scn_pieces_split (const Scn *scenario, GError **error)
{
  const ScnServingSpec *spec = scenario->own;
  const char *const router =
      spec->router.policy.v != SRV_ROUTER_ROUND_ROBIN ? "this router looks at the state of all replicas" : NULL;
  if (router != NULL)
    return is_joined (spec->router.head.mark, router, "write `router: round_robin`", error);
  if (spec->pools.n > 1)
    return is_joined (BASE_LIST_AT (spec->pools, SrvPoolSpec, 0)->head.mark, "pools of prefill and decode share the fabric",
                      "write one pool of role `all`", error);
  if (spec->offload.n > 0)
    return is_joined (BASE_LIST_AT (spec->offload, SrvOffloadSpec, 0)->head.mark,
                      "replicas of a node share what KV is offloaded to", "leave 'offload' out", error);
  if (spec->failures.n > 0)
    return is_joined (BASE_LIST_AT (spec->failures, SrvFailureSpec, 0)->head.mark, "requests of a lost replica go to others",
                      "leave 'failures' out", error);
  if (spec->scale.head.set)
    return is_joined (spec->scale.head.mark, "autoscaling looks at the load of all replicas", "leave 'scale' out", error);
  if (spec->watch.set)
    return is_joined (spec->watch.mark, "a watched request is followed through the whole run", "leave 'watch' out", error);
  return check_load (scenario, error);
}

/* ---- pieces ---- */

static guint
n_pieces (const ScnPieces *pieces)
{
  return SCN_PIECES_RUNS * pieces->of;
}

ScnPieces *
scn_pieces_new (Scn *scenario, guint of)
{
  ScnPieces *pieces = g_new0 (ScnPieces, 1);
  pieces->scenario = scenario;
  pieces->of = of;
  pieces->states = g_new0 (State, n_pieces (pieces));
  g_mutex_init (&pieces->lock);
  return pieces;
}

void
scn_pieces_free (ScnPieces *pieces)
{
  if (pieces == NULL)
    return;
  if (pieces->scenario->known == pieces->results)
    pieces->scenario->known = NULL;
  for (guint i = 0; i < SCN_PIECES_RUNS; i++)
    srv_tally_free (pieces->runs[i]);
  g_free (pieces->states);
  g_clear_error (&pieces->error);
  g_mutex_clear (&pieces->lock);
  g_free (pieces);
}

void
scn_pieces_take_part (ScnPieces *pieces, guint part)
{
  for (guint i = 0; i < n_pieces (pieces); i++)
    if (i % pieces->of != part)
      pieces->states[i] = OTHERS;
}

guint
scn_pieces_n_left (const ScnPieces *pieces)
{
  guint n = 0;
  for (guint i = 0; i < n_pieces (pieces); i++)
    n += pieces->states[i] == DUE || pieces->states[i] == OUT ? 1u : 0u;
  return n;
}

gboolean
scn_pieces_next (ScnPieces *pieces, guint32 *number)
{
  gboolean any = FALSE;
  g_mutex_lock (&pieces->lock);
  for (guint i = 0; i < n_pieces (pieces) && !any && pieces->error == NULL; i++)
    if (pieces->states[i] == DUE) {
      pieces->states[i] = OUT;
      *number = i;
      any = TRUE;
    }
  g_mutex_unlock (&pieces->lock);
  return any;
}

GBytes *
scn_pieces_do (const ScnPieces *pieces, guint32 number, GError **error)
{
  g_auto (ScnPlay) play = { .scenario = pieces->scenario };
  SrvMemory memory[2];
  ColRunInfo info = { 0 };
  col_run_init (&info, FALSE);
  const gboolean opened = scn_play_open (&play, memory, &info, error);
  col_run_clear (&info);
  g_autoptr (SrvTally) tally =
      opened ? scn_play_part (&play, (int)(number / pieces->of) - 1, number % pieces->of, pieces->of, error) : NULL;
  if (tally == NULL)
    return NULL;
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  srv_tally_write (tally, bytes);
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

gboolean
scn_pieces_put (ScnPieces *pieces, guint32 number, const void *bytes, gsize n_B)
{
  BaseWords words = { bytes, (const guint8 *)bytes + n_B };
  g_autoptr (SrvTally) tally = number < n_pieces (pieces) ? srv_tally_read (&words) : NULL;
  if (tally == NULL || words.at != words.end)
    return FALSE;
  g_mutex_lock (&pieces->lock);
  SrvTally **run = &pieces->runs[number / pieces->of];
  gboolean good = pieces->states[number] != DONE;
  if (good && *run == NULL)
    *run = g_steal_pointer (&tally);
  else
    good = good && srv_tally_join (*run, tally);
  pieces->states[number] = good ? DONE : pieces->states[number];
  g_mutex_unlock (&pieces->lock);
  return good;
}

void
scn_pieces_fail (ScnPieces *pieces, guint32 number, GError *error)
{
  g_mutex_lock (&pieces->lock);
  if (pieces->error != NULL && pieces->failed < number)
    g_error_free (error);
  else {
    g_clear_error (&pieces->error);
    pieces->error = error;
    pieces->failed = number;
  }
  g_mutex_unlock (&pieces->lock);
}

/* ---- all of it ---- */

static void
serve (void *item)
{
  ScnPieces *pieces = *(ScnPieces **)item;
  guint32 number;
  while (scn_pieces_next (pieces, &number)) {
    GError *error = NULL;
    g_autoptr (GBytes) bytes = scn_pieces_do (pieces, number, &error);
    if (bytes == NULL)
      scn_pieces_fail (pieces, number, error);
    else if (!scn_pieces_put (pieces, number, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)))
      g_assert_not_reached (); /* they are ours */
  }
}

gboolean
scn_pieces_check (ScnPieces *pieces, GError **error)
{
  if (pieces->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&pieces->error));
  return FALSE;
}

gboolean
scn_pieces_compute (ScnPieces *pieces, guint threads, GError **error)
{
  const guint most = threads > 0 ? threads : g_get_num_processors (), n = MIN (most, scn_pieces_n_left (pieces));
  g_autofree ScnPieces **same = g_new (ScnPieces *, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    same[i] = pieces;
  base_parallel_each (same, n, sizeof *same, n, NULL, serve);
  return scn_pieces_check (pieces, error);
}

GBytes *
scn_pieces_part (const ScnPieces *pieces, guint run)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  srv_tally_write (pieces->runs[run], bytes);
  return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
}

gboolean
scn_pieces_end (ScnPieces *pieces, GError **error)
{
  for (guint i = 0; i < SCN_PIECES_RUNS; i++) {
    srv_tally_finish (pieces->runs[i], &pieces->results[i]);
    if (!scn_play_answered (pieces->scenario->own, &pieces->results[i], error))
      return FALSE;
  }
  pieces->scenario->known = pieces->results;
  return TRUE;
}
