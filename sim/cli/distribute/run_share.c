/* A service in pieces, on threads, as parts of a job array, or by processes that MPI joins. */
#include <string.h>

#include "run-private.h"
#include "scenario/serving.h"

/* ---- in files ---- */

typedef struct {
  GBytes *runs[SCN_PIECES_RUNS];
  guint part, of;
} Done;

static void
build (const void *data, JsonBuilder *json)
{
  const Done *done = data;
  json_builder_set_member_name (json, "part");
  json_builder_add_int_value (json, done->part);
  json_builder_set_member_name (json, "of");
  json_builder_add_int_value (json, done->of);
  json_builder_set_member_name (json, "runs");
  json_builder_begin_array (json);
  for (guint i = 0; i < SCN_PIECES_RUNS; i++) {
    g_autofree char *text = g_base64_encode (g_bytes_get_data (done->runs[i], NULL), g_bytes_get_size (done->runs[i]));
    json_builder_add_string_value (json, text);
  }
  json_builder_end_array (json);
}

static void
write_part (Cli *cli, const char *word, const ScnPieces *pieces, guint part, guint of)
{
  Done done = { .part = part, .of = of };
  for (guint i = 0; i < SCN_PIECES_RUNS; i++)
    done.runs[i] = scn_pieces_part (pieces, i);
  g_autofree char *text = cli_part_text (cli, word, TRUE, build, &done);
  for (guint i = 0; i < SCN_PIECES_RUNS; i++)
    g_bytes_unref (done.runs[i]);
  g_string_append (cli->out, text);
  cli->document = TRUE;
}

gboolean
cli_service_take (const GPtrArray *parts, ScnPieces *pieces, GError **error)
{
  for (guint i = 0; i < parts->len; i++) {
    const CliPart *part = parts->pdata[i];
    JsonArray *runs = base_json_need_array (cli_part_json (part), cli_part_results (part), "runs", error);
    if (runs == NULL)
      return FALSE;
    for (guint k = 0; k < SCN_PIECES_RUNS; k++) {
      const char *text = k < json_array_get_length (runs) ? base_json_text_of (json_array_get_element (runs, k)) : NULL;
      gsize n_B = 0;
      g_autofree guchar *bytes = text != NULL ? g_base64_decode (text, &n_B) : NULL;
      if (bytes == NULL || !scn_pieces_put (pieces, k * cli_part_of (part) + cli_part_number (part) - 1, bytes, n_B))
        return base_json_fail (cli_part_json (part), runs, NULL, error,
                               "is not what 'forerun run --shard' writes of this scenario; run it again");
    }
  }
  return TRUE;
}

/* ---- by processes ---- */

static gboolean
next (void *work, guint32 in_hand, PlnTask *task)
{
  (void)in_hand;
  *task = (PlnTask){ 0 };
  return scn_pieces_next (work, &task->number);
}

static gboolean
put (void *work, const PlnTask *task, const void *reply, gsize n_B, GError **error)
{
  return scn_pieces_put (work, task->number, reply, n_B) ||
         base_fail (error, BASE_ERROR_RUN, "piece %u was answered with %" G_GSIZE_FORMAT " bytes that are no reply to it",
                    task->number, n_B);
}

static void
fail (void *work, const PlnTask *task, GError *error)
{
  scn_pieces_fail (work, task->number, error);
}

static gboolean
stopped (void *work)
{
  (void)work;
  return FALSE;
}

static GBytes *
act (void *worker, const PlnTask *task, GError **error)
{
  return scn_pieces_do (worker, task->number, error);
}

/* Process 0 has all pieces then; the others have *answered. */
static gboolean
share (Cli *cli, CliRanks *ranks, Scn *scenario, ScnPieces **pieces, gboolean *answered, GError **error)
{
  GError *why = NULL;
  const gboolean splits = scn_pieces_split (scenario, &why);
  if (!cli_ranks_agree (ranks, cli, splits, &why, error))
    return FALSE;
  *pieces = scn_pieces_new (scenario, cli_ranks_n (ranks));
  const CliCrew crew = { *pieces, next, put, fail, stopped, *pieces, act };
  *answered = cli_ranks_self (ranks) > 0;
  if (*answered) {
    cli_ranks_serve (ranks, &crew);
    return TRUE;
  }
  return cli_ranks_share (ranks, &crew, error) && scn_pieces_check (*pieces, error) && scn_pieces_end (*pieces, error);
}

/* ---- the whole ---- */

/* What was asked of a scenario that is to be shared by `which`. */
static gboolean
check (const Cli *cli, const CliServiceFlags *flags, const char *which, const char *word, GError **error)
{
  const char *by_itself = flags->shard == NULL ? " (--mpi off runs each process by itself)" : "";
  const char *bad = flags->shard != NULL && flags->other != NULL ? flags->other : flags->whole;
  if (cli->is_point)
    return cli_fail (cli, error, "--vary runs many scenarios, and %s works on one; leave one of them out%s", which, by_itself);
  if (strcmp (word, "-") == 0)
    return cli_fail (cli, error, "%s reads the scenario several times; write it to a file and name it", which);
  if (bad != NULL)
    return cli_fail (cli, error, "%s needs the service in one process, and %s shares it; leave one of them out%s", bad, which,
                     by_itself);
  return flags->shard == NULL || cli->format == CLI_FORMAT_JSON || cli->format_text == NULL ||
         cli_fail (cli, error, "--format %s belongs to the answer of all parts; give it to forerun merge (a part is JSON)",
                   cli->format_text);
}

static gboolean
compute_part (Cli *cli, const char *word, Scn *scenario, guint threads, const guint shard[2], GError **error)
{
  g_autoptr (ScnPieces) pieces = scn_pieces_new (scenario, shard[1]);
  scn_pieces_take_part (pieces, shard[0] - 1);
  if (!scn_pieces_compute (pieces, threads, error))
    return FALSE;
  write_part (cli, word, pieces, shard[0], shard[1]);
  return TRUE;
}

/* On threads, where that is not asked to be otherwise. */
static gboolean
thread (const CliServiceFlags *flags, Scn *scenario, guint threads, ScnPieces **pieces, GError **error)
{
  if (threads < 2 || flags->whole != NULL || !scn_pieces_split (scenario, NULL))
    return TRUE;
  *pieces = scn_pieces_new (scenario, threads);
  return scn_pieces_compute (*pieces, threads, error) && scn_pieces_end (*pieces, error);
}

gboolean
cli_service_share (Cli *cli, const CliServiceFlags *flags, const char *word, Scn *scenario, ScnPieces **pieces, gboolean *answered,
                   GError **error)
{
  gboolean mpi = FALSE;
  guint shard[2];
  guint64 threads = cli->is_point ? 1 : g_get_num_processors ();
  *pieces = NULL;
  *answered = FALSE;
  if (!cli_shard_read (cli, flags->shard, &shard[0], &shard[1], error) ||
      !cli_count_value (cli, "--threads", flags->threads, 1, 1024, &threads, error))
    return FALSE;
  const gboolean is_service = scn_serving (scenario) != NULL;
  if (!is_service && flags->shard == NULL && flags->mpi == NULL)
    return TRUE; /* whoever starts many of them has each run by itself */
  if (!cli_ranks_wanted (cli, flags->mpi, &mpi, error))
    return FALSE;
  if (!is_service)
    return (flags->shard == NULL && !mpi) ||
           cli_fail (cli, error,
                     "%s shares the replicas of a service, and '%s' is none; leave it out, or give a scenario of kind serving",
                     flags->shard != NULL ? "--shard" : "--mpi", word);
  if (mpi && flags->shard != NULL)
    return cli_fail (cli, error, "--shard and MPI both share the replicas; leave --shard out, or write --mpi off");
  const char *which = flags->shard != NULL ? "--shard" : mpi ? "MPI" : NULL;
  if (which != NULL && !check (cli, flags, which, word, error))
    return FALSE;
  if (mpi) {
    CliRanks *ranks = cli_ranks_open (cli, error);
    return ranks != NULL && share (cli, ranks, scenario, pieces, answered, error);
  }
  if (flags->shard == NULL)
    return thread (flags, scenario, (guint)threads, pieces, error);
  *answered = TRUE;
  return scn_pieces_split (scenario, error) && compute_part (cli, word, scenario, (guint)threads, shard, error);
}
