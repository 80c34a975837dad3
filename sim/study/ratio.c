/* A point is a run of the scenario with its nodes, batch and rate as values of its keys; a search asks for points one after the
 * other, and searches run at the same time. */
#include "study/ratio.h"

#include <math.h>
#include <string.h>

#include "base/crossing.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/yaml.h"

/* The network is looked for between these, an adapter's rate: below the first nothing trains, above the second nothing changes. */
#define SLOWEST_BPS      (1e9 / 8)
#define FASTEST_BPS      (100e12 / 8)
#define RATE_TOLERANCE   1e-5
#define ENGINE_TOLERANCE 1e-3
#define MOST_NODES       4096u
#define MOST_PASSES      64u

typedef enum { JOB_POINT, JOB_SPEED, JOB_NODES, JOB_BATCH } JobKind;

/* Runs that were made, for all searches: the two short ones of a long step are those of every batch a round of the pipeline
 * apart. */
typedef struct {
  GMutex lock;
  GHashTable *runs; /* Known -> itself */
} Runs;
typedef struct {
  ColMode mode;
  guint32 nodes;
  double batch, rate_Bps;
  StdRatioPoint point;
} Known;

/* One search, or one point. */
typedef struct {
  const StdRatioQuery *query;
  Runs *runs;   /* borrowed */
  ColMode mode; /* of the points that a search asks for */
  JobKind kind;
  guint32 nodes;
  double batch, rate_Bps;
  StdRatioPoint point;
  StdRatioSpeed speed;
  StdRatioNodes most;
  StdRatioBatch least;
  guint n_runs;
  /* of a search */
  StdLine line;
  guint32 unit;   /* BATCH: passes of a replica that a batch grows by */
  GArray *places; /* NODES: guint32, nodes that divide the batch */
  GArray *known;  /* StdRatioPoint of places, asked before; nodes 0: not yet */
} Job;

/* ---- one point ---- */

static const char *
most_of (const TrnResult *training, gboolean has_model)
{
  int most = TRN_COMM_DP;
  for (int k = 0; has_model && k < TRN_COMM_N; k++)
    if (training->comm[k].time_s > training->comm[most].time_s)
      most = k;
  if (!has_model && training->part_s[TRN_PART_EXPOSED_PP] > training->part_s[TRN_PART_EXPOSED_DP])
    most = TRN_COMM_PP;
  return training->communication_s > 0 ? trn_comm_names[most] : NULL;
}

static void
take_shares (StdRatioPoint *out)
{
  out->value[STD_LINE_RATIO] = out->compute_s > 0 ? out->communication_s / out->compute_s : (double)NAN;
  out->ratio_alone = out->compute_s > 0 ? out->communication_alone_s / out->compute_s : (double)NAN;
  out->value[STD_LINE_WAITS] = out->exposed_s / out->step_time_s;
  out->exposed_fraction = out->communication_s > 0 ? out->exposed_s / out->communication_s : (double)NAN;
}

static void
take_result (const TrnResult *training, StdRatioPoint *out)
{
  for (int p = TRN_PART_EXPOSED_TP; p <= TRN_PART_EXPOSED_EP; p++)
    out->exposed_s += training->part_s[p];
  out->step_time_s = training->step_time_s;
  out->step_time_lo_s = training->step_time_lo_s;
  out->step_time_hi_s = training->step_time_hi_s;
  out->compute_s = training->part_s[TRN_PART_COMPUTE];
  out->communication_s = training->communication_s;
  out->communication_alone_s = training->communication_alone_s;
  out->efficiency = (double)NAN;
  g_strlcpy (out->bound_by, training->bound_by, sizeof out->bound_by);
  out->most = most_of (training, training->has_model);
  out->fits = training->memory == NULL || training->fullest.fits;
  out->provenance = training->provenance;
  take_shares (out);
}

static guint
hash_known (gconstpointer key)
{
  const Known *known = key;
  guint64 hash = base_hash_word (base_double_bits (known->batch), (guint64)known->nodes << 8 | (guint64)known->mode);
  return (guint)(base_hash_word (hash, base_double_bits (known->rate_Bps)) >> 32);
}

static gboolean
same_known (gconstpointer a, gconstpointer b)
{
  const Known *x = a, *y = b;
  return x->mode == y->mode && x->nodes == y->nodes && base_double_bits (x->batch) == base_double_bits (y->batch) &&
         base_double_bits (x->rate_Bps) == base_double_bits (y->rate_Bps);
}

static void
point_clear (StdRatioPoint *point)
{
  g_clear_pointer (&point->why_not, g_free);
}

static void
known_free (gpointer data)
{
  Known *known = data;
  point_clear (&known->point);
  g_free (known);
}

static gboolean
recall (Runs *runs, const Known *like, StdRatioPoint *out)
{
  g_mutex_lock (&runs->lock);
  const Known *known = g_hash_table_lookup (runs->runs, like);
  if (known != NULL) {
    *out = known->point;
    out->why_not = g_strdup (known->point.why_not);
  }
  g_mutex_unlock (&runs->lock);
  return known != NULL;
}

/* Two searches that asked at the same time have the same answer. */
static void
keep (Runs *runs, const Known *like, const StdRatioPoint *point)
{
  Known *known = g_memdup2 (like, sizeof *like);
  known->point = *point;
  known->point.why_not = g_strdup (point->why_not);
  g_mutex_lock (&runs->lock);
  g_hash_table_add (runs->runs, known);
  g_mutex_unlock (&runs->lock);
}

static void
run_scenario (const Job *job, ColMode mode, guint32 nodes, double batch, double rate_Bps, StdRatioPoint *out)
{
  const TrnScale *scale = &job->query->scale;
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) sets = g_ptr_array_new_with_free_func (g_free);
  g_auto (StdRun) run = { 0 };
  StdQuestion question = job->query->question;
  question.options.has_mode = question.options.switches_follow = TRUE;
  question.options.mode = mode;
  *out = (StdRatioPoint){ .nodes = nodes, .gpus = nodes * scale->gpus_per_node, .batch = batch, .rate_Bps = rate_Bps };
  gboolean done = trn_scale_sets (scale, nodes, batch, rate_Bps, sets, &error);
  g_ptr_array_add (sets, NULL);
  if (done && std_question_run (&question, (const char *const *)sets->pdata, NULL, &run, &error))
    take_result (&run.result->training, out);
  else
    out->why_not = g_strchomp (g_strdup (error->message));
}

/* Runs the scenario so, once. FALSE: it cannot; out->why_not says why. */
static gboolean
run_whole (Job *job, ColMode mode, guint32 nodes, double batch, double rate_Bps, StdRatioPoint *out)
{
  const Known like = { .mode = mode, .nodes = nodes, .batch = batch, .rate_Bps = rate_Bps };
  job->n_runs++;
  if (!recall (job->runs, &like, out)) {
    run_scenario (job, mode, nodes, batch, rate_Bps, out);
    keep (job->runs, &like, out);
  }
  return out->why_not == NULL;
}

/* The same; a long step by two short ones, a round of the pipeline apart. */
static gboolean
run_point (Job *job, ColMode mode, guint32 nodes, double batch, double rate_Bps, StdRatioPoint *out)
{
  const TrnScale *scale = &job->query->scale;
  const double passes = trn_scale_passes (scale, nodes, batch), replicas = trn_scale_replicas (scale, nodes);
  const gboolean whole = job->query->question.options.mode != COL_MODE_MODEL; /* simulation of each step in full was asked for */
  if (scale->settled == 0 || whole || passes <= scale->settled + 2 * scale->pp)
    return run_whole (job, mode, nodes, batch, rate_Bps, out);
  const double few = scale->settled + fmod (passes - scale->settled, scale->pp), rounds = (passes - few) / scale->pp;
  StdRatioPoint shorter;
  gboolean ran = run_whole (job, mode, nodes, few * replicas * scale->pass, rate_Bps, &shorter) &&
                 run_whole (job, mode, nodes, (few + scale->pp) * replicas * scale->pass, rate_Bps, out);
  if (!ran) { /* the step as asked says why */
    point_clear (&shorter);
    return run_whole (job, mode, nodes, batch, rate_Bps, out);
  }
  double *const of_step[] = { &out->step_time_s,     &out->step_time_lo_s,        &out->step_time_hi_s, &out->compute_s,
                              &out->communication_s, &out->communication_alone_s, &out->exposed_s };
  const double before[] = { shorter.step_time_s,     shorter.step_time_lo_s,        shorter.step_time_hi_s, shorter.compute_s,
                            shorter.communication_s, shorter.communication_alone_s, shorter.exposed_s };
  for (guint i = 0; i < G_N_ELEMENTS (of_step); i++)
    *of_step[i] = before[i] + rounds * (*of_step[i] - before[i]);
  out->batch = batch;
  take_shares (out);
  return TRUE;
}

/* How far above a line a point is; infinitely far without any compute time. */
static double
above (const StdRatioQuery *query, StdLine line, const StdRatioPoint *point)
{
  const double value = point->value[line];
  return isnan (value) ? HUGE_VAL : value - query->limit[line];
}

/* ---- how fast a network ---- */

/* Over the time that an adapter takes for a byte, in which communication is nearly straight. */
static gboolean
ask_rate (void *user, double s_per_B, double *y, GError **error)
{
  Job *job = user;
  StdRatioPoint point;
  gboolean ran = run_point (job, job->mode, job->nodes, job->batch, 1 / s_per_B, &point);
  if (ran)
    *y = above (job->query, job->line, &point);
  else
    g_set_error (error, BASE_ERROR, BASE_ERROR_INPUT, "%s", point.why_not);
  point_clear (&point);
  return ran;
}

/* The same by the engine, looked for around `s_per_B`, wider until the line lies between. NAN: it does not. */
static double
solve_by_engine (Job *job, double s_per_B)
{
  double fast = s_per_B, slow = s_per_B, at_fast = 0, at_slow = 0, found = (double)NAN;
  job->mode = COL_MODE_EVENT;
  gboolean told = ask_rate (job, s_per_B, &at_slow, NULL);
  at_fast = at_slow;
  for (double wider = 1.02; told && wider < 3 && (at_fast > 0) == (at_slow > 0); wider *= wider * wider) {
    if (at_slow > 0) {
      fast = s_per_B / wider;
      told = ask_rate (job, fast, &at_fast, NULL);
    } else {
      slow = s_per_B * wider;
      told = ask_rate (job, slow, &at_slow, NULL);
    }
  }
  if (told && (at_fast > 0) != (at_slow > 0) &&
      !base_crossing (ask_rate, job, (BaseBracket){ fast, at_fast, slow, at_slow }, ENGINE_TOLERANCE, &found, NULL))
    found = (double)NAN;
  job->mode = job->query->question.options.mode;
  return found;
}

static void
solve_speed_line (Job *job, const StdRatioPoint *slow, const StdRatioPoint *fast)
{
  const double at_slow = above (job->query, job->line, slow), at_fast = above (job->query, job->line, fast);
  double s_per_B = 0;
  StdRatioPoint point;
  job->speed.line[job->line].engine_Bps = (double)NAN;
  job->speed.line[job->line].least = fast->value[job->line];
  job->speed.line[job->line].how = at_fast > 0 ? STD_SOLVED_NONE : STD_SOLVED_ANY;
  if (at_fast > 0 || at_slow <= 0 ||
      !base_crossing (ask_rate, job, (BaseBracket){ 1 / FASTEST_BPS, at_fast, 1 / SLOWEST_BPS, at_slow }, RATE_TOLERANCE, &s_per_B,
                      NULL))
    return;
  job->speed.line[job->line].how = STD_SOLVED;
  job->speed.line[job->line].rate_Bps = 1 / s_per_B;
  if (job->line == STD_LINE_RATIO && run_point (job, job->mode, job->nodes, job->batch, 1 / s_per_B, &point)) {
    job->speed.compute_s = point.compute_s;
    point_clear (&point);
  }
  if (job->query->check)
    job->speed.line[job->line].engine_Bps = 1 / solve_by_engine (job, s_per_B);
}

static void
solve_speed (Job *job)
{
  StdRatioPoint slow = { 0 }, fast = { 0 };
  job->speed = (StdRatioSpeed){ .nodes = job->nodes, .gpus = job->nodes * job->query->scale.gpus_per_node, .batch = job->batch };
  gboolean ran = run_point (job, job->mode, job->nodes, job->batch, FASTEST_BPS, &fast) &&
                 run_point (job, job->mode, job->nodes, job->batch, SLOWEST_BPS, &slow);
  if (!ran)
    job->speed.nodes = 0;
  job->speed.compute_s = ran ? fast.compute_s : 0;
  for (job->line = 0; ran && job->line < STD_LINE_N; job->line++)
    solve_speed_line (job, &slow, &fast);
  point_clear (&fast);
  point_clear (&slow);
}

/* ---- how many nodes ---- */

/* Numbers of nodes whose replicas divide the batch. */
static GArray *
find_places (const TrnScale *scale, double batch)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (guint32));
  for (guint32 nodes = 1; nodes <= MOST_NODES; nodes++)
    if (trn_scale_passes (scale, nodes, batch) > 0)
      g_array_append_val (places, nodes);
  return places;
}

static double
batch_of (const Job *job, guint place)
{
  return (place + 1.0) * job->unit * job->query->scale.pass * trn_scale_replicas (&job->query->scale, job->nodes);
}

/* A place's point, asked once. NULL: it does not run. */
static const StdRatioPoint *
place_point (Job *job, guint place)
{
  StdRatioPoint *known = &g_array_index (job->known, StdRatioPoint, place);
  const gboolean sizes = job->kind == JOB_BATCH;
  if (known->nodes == 0)
    (void)run_point (job, job->mode, sizes ? job->nodes : g_array_index (job->places, guint32, place),
                     sizes ? batch_of (job, place) : job->batch, job->rate_Bps, known);
  return known->why_not == NULL ? known : NULL;
}

static gboolean
ask_place (void *user, guint place, double *y)
{
  Job *job = user;
  const StdRatioPoint *point = place_point (job, place);
  if (point != NULL)
    *y = above (job->query, job->line, point);
  return point != NULL;
}

static void
solve_nodes (Job *job)
{
  job->most = (StdRatioNodes){ .batch = job->batch, .rate_Bps = job->rate_Bps };
  for (job->line = 0; job->line < STD_LINE_N; job->line++) {
    gint last = base_crossing_place (ask_place, job, job->places->len);
    gboolean found = last >= 0;
    guint32 nodes = found ? g_array_index (job->places, guint32, last) : 0;
    job->most.line[job->line].how = found ? STD_SOLVED : STD_SOLVED_NONE;
    job->most.line[job->line].nodes = nodes;
    job->most.line[job->line].gpus = nodes * job->query->scale.gpus_per_node;
    job->most.line[job->line].last = found && (guint)last + 1 == job->places->len;
  }
}

/* ---- how large a batch ---- */

/* At most 0 where a batch is too small. */
static gboolean
ask_too_small (void *user, guint place, double *y)
{
  double value;
  if (!ask_place (user, place, &value))
    return FALSE;
  *y = value > 0 ? -1 : 1;
  return TRUE;
}

static void
solve_batch_line (Job *job)
{
  const guint n = job->known->len;
  guint first = (guint)(base_crossing_place (ask_too_small, job, n) + 1); /* behind the last that is too small */
  while (first < n && place_point (job, first) == NULL)
    first++;
  const StdRatioPoint *largest = NULL;
  for (guint i = 0; i < n && first == n; i++)
    largest =
        g_array_index (job->known, StdRatioPoint, i).nodes > 0 && place_point (job, i) != NULL ? place_point (job, i) : largest;
  job->least.line[job->line].how = first == n ? STD_SOLVED_NONE : STD_SOLVED;
  job->least.line[job->line].batch = first == n ? 0 : batch_of (job, first);
  job->least.line[job->line].least = largest != NULL ? largest->value[job->line] : (double)NAN;
}

static void
solve_batch (Job *job)
{
  const TrnScale *scale = &job->query->scale;
  job->least = (StdRatioBatch){ .nodes = job->nodes, .gpus = job->nodes * scale->gpus_per_node, .rate_Bps = job->rate_Bps };
  job->unit = 1;
  g_array_set_size (job->known, MOST_PASSES);
  if (place_point (job, 0) == NULL) { /* interleaved schedules take whole rounds of the pipeline */
    point_clear (&g_array_index (job->known, StdRatioPoint, 0));
    g_array_set_size (job->known, 0);
    job->unit = MIN (MAX (scale->pp, 1u), MOST_PASSES);
    g_array_set_size (job->known, MOST_PASSES / job->unit);
  }
  for (job->line = 0; job->line < STD_LINE_N; job->line++)
    solve_batch_line (job);
}

/* ---- all of it ---- */

static void
work (void *item)
{
  Job *job = item;
  switch (job->kind) {
    case JOB_POINT:
      (void)run_point (job, job->mode, job->nodes, job->batch, job->rate_Bps, &job->point);
      return;
    case JOB_SPEED:
      solve_speed (job);
      return;
    case JOB_BATCH:
      solve_batch (job);
      return;
    case JOB_NODES:
      solve_nodes (job);
      return;
  }
}

static void
add_job (GArray *jobs, const Job *like, JobKind kind, guint32 nodes, double batch, double rate_Bps)
{
  Job job = *like;
  job.kind = kind;
  job.nodes = nodes;
  job.batch = batch;
  job.rate_Bps = rate_Bps;
  if (kind == JOB_NODES || kind == JOB_BATCH)
    job.known = g_array_new (FALSE, TRUE, sizeof (StdRatioPoint));
  if (kind == JOB_NODES) {
    job.places = find_places (&like->query->scale, batch);
    g_array_set_size (job.known, job.places->len);
  }
  g_array_append_val (jobs, job);
}

static void
job_clear (gpointer data)
{
  Job *job = data;
  for (guint i = 0; job->known != NULL && i < job->known->len; i++)
    point_clear (&g_array_index (job->known, StdRatioPoint, i));
  g_clear_pointer (&job->known, g_array_unref);
  g_clear_pointer (&job->places, g_array_unref);
}

static GArray *
make_jobs (const StdRatioQuery *query, Runs *runs)
{
  const Job like = { .query = query, .runs = runs, .mode = query->question.options.mode };
  GArray *jobs = g_array_new (FALSE, TRUE, sizeof (Job));
  g_array_set_clear_func (jobs, job_clear);
  for (guint b = 0; b < query->batches->len; b++) {
    const double batch = g_array_index (query->batches, double, b);
    for (guint n = 0; n < query->nodes->len; n++) {
      const guint32 nodes = (guint32)g_array_index (query->nodes, double, n);
      for (guint r = 0; r < query->rates->len; r++)
        add_job (jobs, &like, JOB_POINT, nodes, batch, g_array_index (query->rates, double, r));
      add_job (jobs, &like, JOB_SPEED, nodes, batch, 0);
    }
    for (guint r = 0; r < query->rates->len; r++)
      add_job (jobs, &like, JOB_NODES, 0, batch, g_array_index (query->rates, double, r));
  }
  for (guint n = 0; n < query->nodes->len; n++)
    for (guint r = 0; r < query->rates->len; r++)
      if (trn_scale_replicas (&query->scale, (guint32)g_array_index (query->nodes, double, n)) > 0)
        add_job (jobs, &like, JOB_BATCH, (guint32)g_array_index (query->nodes, double, n), 0,
                 g_array_index (query->rates, double, r));
  return jobs;
}

/* The throughput of a GPU over that on the fewest nodes that run, of the same batch on the same network. */
static void
compare_with_fewest (StdRatio *ratio, const Job *job)
{
  const StdRatioPoint *fewest = NULL;
  for (guint i = 0; i < job->known->len && fewest == NULL; i++) {
    const StdRatioPoint *known = &g_array_index (job->known, StdRatioPoint, i);
    fewest = known->nodes > 0 && known->why_not == NULL ? known : NULL;
  }
  for (guint i = 0; i < ratio->points->len && fewest != NULL; i++) {
    StdRatioPoint *point = &g_array_index (ratio->points, StdRatioPoint, i);
    const gboolean same = !(point->batch < job->batch || point->batch > job->batch) &&
                          !(point->rate_Bps < job->rate_Bps || point->rate_Bps > job->rate_Bps);
    if (!same || point->why_not != NULL)
      continue;
    point->efficiency = fewest->step_time_s * fewest->nodes / (point->step_time_s * point->nodes);
    point->efficiency_nodes = fewest->nodes;
  }
}

/* What of an adapter's rate is a GPU's: adapters over GPUs of a node. */
static void
share_adapters (const TrnScale *scale, Job *job)
{
  job->point.gpu_Bps = job->point.rate_Bps * scale->adapters / scale->gpus_per_node;
  for (int l = 0; l < STD_LINE_N; l++) {
    job->speed.line[l].gpu_Bps = job->speed.line[l].rate_Bps * scale->adapters / scale->gpus_per_node;
    job->speed.line[l].engine_gpu_Bps = job->speed.line[l].engine_Bps * scale->adapters / scale->gpus_per_node;
  }
}

static void
take_jobs (const GArray *jobs, StdRatio *ratio)
{
  for (guint i = 0; i < jobs->len; i++) {
    Job *job = &g_array_index (jobs, Job, i);
    ratio->n_runs += job->n_runs;
    share_adapters (&ratio->scale, job);
    if (job->kind == JOB_POINT)
      g_array_append_val (ratio->points, job->point);
    else if (job->kind == JOB_SPEED && job->speed.nodes > 0)
      g_array_append_val (ratio->speeds, job->speed);
    else if (job->kind == JOB_NODES)
      g_array_append_val (ratio->nodes, job->most);
    else if (job->kind == JOB_BATCH)
      g_array_append_val (ratio->batches, job->least);
  }
  for (guint i = 0; i < jobs->len; i++)
    if (g_array_index (jobs, Job, i).kind == JOB_NODES)
      compare_with_fewest (ratio, &g_array_index (jobs, Job, i));
}

static void
clear_point (gpointer data)
{
  point_clear (data);
}

static StdRatio *
ratio_new (const StdRatioQuery *query)
{
  StdRatio *ratio = g_new0 (StdRatio, 1);
  ratio->scale = query->scale;
  memcpy (ratio->limit, query->limit, sizeof ratio->limit);
  ratio->points = g_array_new (FALSE, FALSE, sizeof (StdRatioPoint));
  g_array_set_clear_func (ratio->points, clear_point);
  ratio->speeds = g_array_new (FALSE, FALSE, sizeof (StdRatioSpeed));
  ratio->nodes = g_array_new (FALSE, FALSE, sizeof (StdRatioNodes));
  ratio->batches = g_array_new (FALSE, FALSE, sizeof (StdRatioBatch));
  ratio->most_passes = MOST_PASSES;
  return ratio;
}

void
std_ratio_free (StdRatio *ratio)
{
  if (ratio == NULL)
    return;
  g_array_unref (ratio->points);
  g_array_unref (ratio->speeds);
  g_array_unref (ratio->nodes);
  g_array_unref (ratio->batches);
  g_free (ratio);
}

StdRatio *
std_ratio (const StdRatioQuery *query)
{
  StdConstants constants; /* no point changes one */
  StdRatioQuery own = *query;
  std_constants_init (&constants, own.question.lookup);
  own.question.constants = &constants;
  Runs runs = { .runs = g_hash_table_new_full (hash_known, same_known, known_free, NULL) };
  g_mutex_init (&runs.lock);
  GArray *jobs = make_jobs (&own, &runs);
  base_yaml_keep ();
  base_parallel_each (jobs->data, jobs->len, sizeof (Job), 0, "points", work);
  base_yaml_keep_no_more ();
  StdRatio *ratio = ratio_new (query);
  take_jobs (jobs, ratio);
  g_array_unref (jobs);
  g_hash_table_unref (runs.runs);
  g_mutex_clear (&runs.lock);
  std_constants_clear (&constants);
  return ratio;
}

/* ---- what is asked when nothing is said ---- */

static void
default_nodes (const TrnScale *scale, const GArray *batches, GArray *out)
{
  for (guint32 nodes = 1; nodes <= 4 * scale->nodes; nodes *= 2) {
    gboolean divides = FALSE;
    for (guint b = 0; b < batches->len; b++)
      divides = divides || trn_scale_passes (scale, nodes, g_array_index (batches, double, b)) > 0;
    const double value = nodes;
    if (divides || nodes == scale->nodes)
      g_array_append_val (out, value);
    if (nodes < scale->nodes && 2 * nodes > scale->nodes) {
      const double own = scale->nodes;
      g_array_append_val (out, own);
    }
  }
}

void
std_ratio_defaults (StdRatioQuery *query)
{
  static const double times[] = { 0.25, 0.5, 1, 2 };
  if (query->batches->len == 0)
    g_array_append_val (query->batches, query->scale.batch);
  if (query->nodes->len == 0)
    default_nodes (&query->scale, query->batches, query->nodes);
  const gboolean no_rates = query->rates->len == 0;
  for (guint i = 0; no_rates && i < G_N_ELEMENTS (times); i++) {
    const double rate = query->scale.adapter_Bps * times[i];
    g_array_append_val (query->rates, rate);
  }
}
