/* Communicators and pairs of senders on a cluster, found again by their GPUs: grids of a model that differ by one dimension have
 * most of their groups in common, and what a group loads does not depend on sizes. */
#include <string.h>

#include "model-private.h"

struct TrnComms {
  const Clu *clu;
  ColSettings settings; /* closed form */
  ColRoutes *routes;
  GHashTable *comms; /* GBytes of GPUs -> ColComm */
  GHashTable *pairs; /* GBytes of all senders, then of all receivers -> ColSendPairs */
  /* of closed forms: */
  GHashTable *numbers; /* GBytes -> number of equal groups, from 1 on */
  GHashTable *priced;  /* TrnQuestion, whose kind is such a number -> TrnPriced, borrowed */
  GPtrArray *owned;    /* TrnPriced */
};

static guint
hash_question (gconstpointer key)
{
  const TrnQuestion *q = key;
  return g_double_hash (&q->size_B) * 31u + (guint)q->kind * 1009u + q->from * 9176u + q->to * 101u + (guint)q->format;
}

static gboolean
same_question (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (TrnQuestion)) == 0;
}

GHashTable *
trn_priced_table (gboolean owns)
{
  return g_hash_table_new_full (hash_question, same_question, g_free, owns ? trn_priced_free : NULL);
}

TrnComms *
trn_comms_new (const ColSystem *system)
{
  TrnComms *comms = g_new0 (TrnComms, 1);
  comms->clu = system->clu;
  comms->settings = system->settings;
  comms->settings.mode = COL_MODE_MODEL;
  comms->routes = col_routes_new (comms->clu, &comms->settings);
  comms->comms = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, (GDestroyNotify)col_comm_free);
  comms->pairs =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, (GDestroyNotify)col_send_pairs_free);
  comms->numbers = g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
  comms->priced = trn_priced_table (FALSE);
  comms->owned = g_ptr_array_new_with_free_func (trn_priced_free);
  return comms;
}

void
trn_comms_free (TrnComms *comms)
{
  if (comms == NULL)
    return;
  g_hash_table_unref (comms->numbers);
  g_hash_table_unref (comms->priced);
  g_ptr_array_unref (comms->owned);
  g_hash_table_unref (comms->pairs);
  g_hash_table_unref (comms->comms);
  col_routes_unref (comms->routes);
  g_free (comms);
}

ColRoutes *
trn_comms_routes (const TrnComms *comms)
{
  return comms->routes;
}

ColComm *
trn_comms_find (TrnComms *comms, const GArray *gpus, GError **error)
{
  g_autoptr (GBytes) key = g_bytes_new (gpus->data, gpus->len * sizeof (guint32));
  ColComm *comm = g_hash_table_lookup (comms->comms, key);
  if (comm != NULL)
    return comm;
  comm = col_comm_new_on (comms->routes, comms->clu, &comms->settings, (const guint32 *)gpus->data, gpus->len, error);
  if (comm != NULL)
    g_hash_table_insert (comms->comms, g_steal_pointer (&key), comm);
  return comm;
}

const ColSendPairs *
trn_comms_pairs (TrnComms *comms, const GArray *ends, GError **error)
{
  g_autoptr (GBytes) key = g_bytes_new (ends->data, ends->len * sizeof (guint32));
  ColSendPairs *pairs = g_hash_table_lookup (comms->pairs, key);
  if (pairs != NULL)
    return pairs;
  const guint32 *from = (const guint32 *)ends->data, n = ends->len / 2;
  pairs = col_send_pairs_new (comms->routes, comms->clu, &comms->settings, &(ColSends){ from, from + n, n }, error);
  if (pairs != NULL)
    g_hash_table_insert (comms->pairs, g_steal_pointer (&key), pairs);
  return pairs;
}

/* ---- prices of closed forms, which grids share ---- */

guint
trn_comms_number (TrnComms *comms, GBytes *what)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (comms->numbers, what));
  if (number > 0) {
    g_bytes_unref (what);
    return number;
  }
  number = g_hash_table_size (comms->numbers) + 1;
  g_hash_table_insert (comms->numbers, what, GUINT_TO_POINTER (number));
  return number;
}

void
trn_comms_own (TrnComms *comms, TrnPriced *priced)
{
  g_ptr_array_add (comms->owned, priced);
}

void
trn_comms_keep (TrnComms *comms, const TrnQuestion *question, TrnPriced *priced)
{
  g_hash_table_insert (comms->priced, g_memdup2 (question, sizeof *question), priced);
}

TrnPriced *
trn_comms_recall (const TrnComms *comms, const TrnQuestion *question)
{
  return g_hash_table_lookup (comms->priced, question);
}
