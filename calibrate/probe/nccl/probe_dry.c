#include "probe_dry.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Of the program: nccl.cu, nccl_run.cu. */
#define START_LEAST_S 4.0   /* a stage with less is left out */
#define CASE_LEAST_S  0.015 /* the time of a case lies between these */
#define CASE_MOST_S   3.0
#define TARGET_S      2e-3 /* how long operations in a row last */
#define IN_A_ROW_MOST 256
#define SAMPLES_LEAST 5
#define ROUGH         8 /* operations that find out how many are needed */

/* Typical, measured with the program: means of tests/data/probe/h200x4.json.gz. */
#define SAMPLES_GRAPH   7.4
#define SAMPLES_THREADS 9.8

/* Assumed: NCCL's start, a communicator of a few ranks, and each further rank (thousands take a minute). */
#define START_S     2.0
#define JOIN_S      1.0
#define JOIN_RANK_S 0.012
/* Assumed: one crossing of the network by NCCL's proxies, one hop inside a node, a launch. */
#define NETWORK_S 10e-6
#define HOP_S     1.2e-6
#define LAUNCH_S  10e-6
/* Assumed: NVLink's share of a GPU inside a node, what one channel carries between nodes, writing and reading of buffers. */
#define INSIDE_BPS  300e9
#define CHANNEL_BPS 12e9
#define MEMORY_BPS  1e12
#define CAPTURE_S   0.02 /* a graph is recorded and instantiated */
#define ASK_S       2e-3 /* the question to all workers and their answers */

/* ---- one case ---- */

/* Of the bytes of an operation those that a node of `gpus` GPUs sends or receives, per GPU. */
static double
bytes_per_gpu (const ProbeRequest *request)
{
  double n = request->nodes, gpus = request->gpus, ranks = n * gpus, bytes = (double)request->bytes;
  double others = n > 1 ? (n - 1) / n : (ranks - 1) / ranks;
  switch (request->op) {
    case PROBE_OP_ALL_REDUCE:
      return 2 * others * bytes / (n > 1 ? gpus : 1);
    case PROBE_OP_ALL_GATHER:
    case PROBE_OP_REDUCE_SCATTER:
      return others * bytes / (n > 1 ? gpus : 1);
    case PROBE_OP_ALLTOALL:
    case PROBE_OP_SENDRECV:
      return others * bytes;
    default:
      return bytes / (n > 1 ? gpus : 1);
  }
}

/* LL sends a flag with every 4 bytes of data and waits for each line; LL128 one with every 120. */
static double
protocol_share (const NcclStage *stage)
{
  return strcmp (stage->proto, "ll") == 0 ? 0.3 : strcmp (stage->proto, "ll128") == 0 ? 0.9 : 1;
}

static double
latency_s (const NcclStage *stage, const ProbeRequest *request)
{
  double nodes = request->nodes, gpus = request->gpus, away = nodes > 1 ? nodes - 1 : 0;
  double times = request->op == PROBE_OP_ALL_REDUCE ? 2 : 1;
  if (strcmp (stage->algo, "ring") == 0)
    return LAUNCH_S + times * (away * NETWORK_S + nodes * gpus * HOP_S);
  return LAUNCH_S + times * (ceil (log2 (away + 1)) * NETWORK_S + gpus * HOP_S);
}

double
probe_dry_operation_s (const NcclStage *stage, const ProbeRequest *request, double nic_Bps)
{
  double rate_Bps = request->nodes > 1 ? nic_Bps : INSIDE_BPS;
  if (request->channels > 0)
    rate_Bps = fmin (rate_Bps, CHANNEL_BPS * request->channels / request->gpus);
  return latency_s (stage, request) + bytes_per_gpu (request) / (rate_Bps * protocol_share (stage));
}

double
probe_dry_case_s (const NcclStage *stage, const ProbeRequest *request, double nic_Bps, double *least_s)
{
  static const NcclStage plain = { .algo = "auto", .proto = "auto" };
  double each_s = probe_dry_operation_s (stage, request, nic_Bps), met_s = 2 * latency_s (&plain, request);
  double filled_s = 4 * (double)request->bytes / MEMORY_BPS, once_s = ASK_S + filled_s + each_s + met_s;
  *least_s = once_s;
  if (stage->choice)
    return once_s;
  bool graph = request->launch == PROBE_LAUNCH_GRAPH;
  double in_a_row = fmax (1, fmin (IN_A_ROW_MOST, ceil (TARGET_S / each_s))), sample_s = in_a_row * each_s + met_s;
  double before_s = once_s + each_s + met_s + (each_s * ROUGH < TARGET_S ? ROUGH * each_s + met_s : 0);
  if (graph)
    before_s += CAPTURE_S + filled_s + in_a_row * each_s;
  *least_s = before_s + (1 + SAMPLES_LEAST) * sample_s;
  return before_s + (1 + (graph ? SAMPLES_GRAPH : SAMPLES_THREADS)) * sample_s;
}

double
probe_dry_join_s (unsigned ranks)
{
  return JOIN_S + JOIN_RANK_S * ranks;
}

/* ---- communicators ---- */

/* Those that workers keep, the oldest first. */
typedef struct {
  ProbeRequest made[NCCL_PLAN_SETS_MOST];
  size_t n;
} Kept;

/* Whether it has to be made for this request. */
static bool
take (Kept *kept, const ProbeRequest *request)
{
  for (size_t i = 0; i < kept->n; i++)
    if (kept->made[i].nodes == request->nodes && kept->made[i].gpus == request->gpus && kept->made[i].channels == request->channels)
      return false;
  if (kept->n == NCCL_PLAN_SETS_MOST)
    memmove (kept->made, kept->made + 1, --kept->n * sizeof kept->made[0]);
  kept->made[kept->n++] = *request;
  return true;
}

/* ---- stages ---- */

static void
expect_stage (const NcclStage *stage, double nic_Bps, ProbeDryStage *out)
{
  Kept kept = { .n = 0 };
  double least_s;
  *out = (ProbeDryStage){ .expected_s = stage->n > 0 ? START_S : 0 };
  for (size_t i = 0; i < stage->n; i++) {
    const ProbeRequest *request = &stage->request[i];
    if (take (&kept, request)) {
      out->communicators++;
      out->expected_s += probe_dry_join_s (probe_request_ranks (request));
    }
    out->expected_s += probe_dry_case_s (stage, request, nic_Bps, &least_s);
  }
}

/* As nccl.cu's run_cases: a case may take its share of what is left, but no fewer than the least samples. */
static void
run_stage (const NcclStage *stage, double nic_Bps, double share_s, ProbeDryStage *out)
{
  Kept kept = { .n = 0 };
  if (share_s < START_LEAST_S)
    return;
  out->used_s = START_S;
  for (size_t i = 0; i < stage->n && out->used_s < share_s; i++) {
    const ProbeRequest *request = &stage->request[i];
    double least_s, needs_s = probe_dry_case_s (stage, request, nic_Bps, &least_s);
    double mine_s = fmax (CASE_LEAST_S, fmin (CASE_MOST_S, (share_s - out->used_s) / (double)(stage->n - i)));
    out->used_s += take (&kept, request) ? probe_dry_join_s (probe_request_ranks (request)) : 0;
    out->used_s += fmin (needs_s, fmax (least_s, mine_s));
    out->measured++;
  }
}

void
probe_dry_plan (const NcclPlan *plan, double nic_Bps, double budget_s, ProbeDryStage out[NCCL_STAGES_MOST])
{
  double weights = 0, left_s = budget_s;
  for (size_t k = 0; k < plan->n; k++)
    weights += plan->stage[k].n > 0 ? plan->stage[k].weight : 0;
  for (size_t k = 0; k < plan->n; k++) {
    const NcclStage *stage = &plan->stage[k];
    expect_stage (stage, nic_Bps, &out[k]);
    if (stage->n == 0)
      continue;
    run_stage (stage, nic_Bps, left_s * stage->weight / weights, &out[k]);
    weights -= stage->weight;
    left_s = fmax (0, left_s - out[k].used_s);
  }
}

/* ---- what is printed ---- */

/* Cases of a stage that are one question: the same launch on the same shape. */
typedef struct {
  ProbeLaunch launch;
  unsigned nodes, gpus;
  bool in_place, few_channels;
  unsigned ops, channels; /* bits of ProbeOp; bits of numbers of channels */
  size_t least_B, most_B, cases;
  double expected_s;
} Row;

#define ROWS_MOST (PROBE_SHAPES_MOST * 6)

static bool
belongs (const Row *row, const ProbeRequest *request)
{
  return row->launch == request->launch && row->nodes == request->nodes && row->gpus == request->gpus &&
         row->in_place == request->in_place && row->few_channels == (request->channels > 0);
}

/* The row of a request, a new one where there is none. */
static Row *
row_of (Row row[ROWS_MOST], size_t *n, const ProbeRequest *request)
{
  for (size_t i = 0; i < *n; i++)
    if (belongs (&row[i], request))
      return &row[i];
  if (*n == ROWS_MOST)
    return &row[ROWS_MOST - 1];
  row[*n] = (Row){ .launch = request->launch,
                   .nodes = request->nodes,
                   .gpus = request->gpus,
                   .in_place = request->in_place,
                   .few_channels = request->channels > 0,
                   .least_B = request->bytes,
                   .most_B = request->bytes };
  return &row[(*n)++];
}

static size_t
make_rows (const NcclStage *stage, double nic_Bps, Row row[ROWS_MOST])
{
  size_t n = 0;
  Kept kept = { .n = 0 };
  for (size_t i = 0; i < stage->n; i++) {
    const ProbeRequest *request = &stage->request[i];
    double least_s;
    Row *mine = row_of (row, &n, request);
    mine->cases++;
    mine->ops |= 1u << request->op;
    mine->channels = request->channels > mine->channels ? request->channels : mine->channels;
    mine->least_B = request->bytes < mine->least_B ? request->bytes : mine->least_B;
    mine->most_B = request->bytes > mine->most_B ? request->bytes : mine->most_B;
    mine->expected_s += probe_dry_case_s (stage, request, nic_Bps, &least_s);
    mine->expected_s += take (&kept, request) ? probe_dry_join_s (probe_request_ranks (request)) : 0;
  }
  return n;
}

/* "1 KiB", for powers of two. */
static const char *
size_text (size_t bytes, char out[32])
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
  unsigned u = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0 && u < 3; u++)
    bytes /= 1024;
  snprintf (out, 32, "%zu %s", bytes, units[u]);
  return out;
}

/* "850 ms", "14 s", "5 min", "6 min 20 s", "2 h 5 min". */
static const char *
time_text (double time_s, char out[32])
{
  unsigned long s = (unsigned long)(time_s + 0.5), minutes = s / 60;
  if (time_s < 0.9995)
    snprintf (out, 32, "%.0f ms", time_s * 1e3);
  else if (time_s < 9.95)
    snprintf (out, 32, "%.1f s", time_s);
  else if (s < 100)
    snprintf (out, 32, "%lu s", s);
  else if (minutes >= 100)
    snprintf (out, 32, "%lu h %lu min", minutes / 60, minutes % 60);
  else if (s % 60 == 0)
    snprintf (out, 32, "%lu min", minutes);
  else
    snprintf (out, 32, "%lu min %lu s", minutes, s % 60);
  return out;
}

/* The operations of these bits; of all collectives those that are missing, which are fewer. */
static void
print_ops (FILE *out, unsigned ops)
{
  const unsigned all = (1u << PROBE_OP_N) - 1, sends = 1u << PROBE_OP_ALLTOALL | 1u << PROBE_OP_SENDRECV;
  const bool missing = ops == (all & ~sends);
  const char *before = missing ? "all but " : "";
  if (ops == all)
    fputs ("all", out);
  for (unsigned op = 0; op < PROBE_OP_N && ops != all; op++)
    if (((missing ? sends : ops) & 1u << op) != 0) {
      fprintf (out, "%s%s", before, probe_op_name (op));
      before = ", ";
    }
}

static void
print_row (FILE *out, const NcclStage *stage, const Row *row)
{
  char least[32], most[32], time[32], shape[32];
  snprintf (shape, sizeof shape, "%ux%u", row->nodes, row->gpus);
  fprintf (out, "  %-8s %-8s %7s to %-7s %6zu  %12s  ", stage->choice ? "log" : probe_launch_name (row->launch), shape,
           size_text (row->least_B, least), size_text (row->most_B, most), row->cases, time_text (row->expected_s, time));
  print_ops (out, row->ops);
  if (row->in_place)
    fputs (", in place", out);
  if (row->few_channels)
    fprintf (out, ", on 1 to %u channels", row->channels);
  fputc ('\n', out);
}

static void
print_stage (FILE *out, const NcclStage *stage, const ProbeDryStage *expected, double nic_Bps)
{
  static Row row[ROWS_MOST];
  char time[32];
  size_t n = make_rows (stage, nic_Bps, row);
  fprintf (out, "%s: %zu cases, %u communicators, %s%s\n", stage->name, stage->n, expected->communicators,
           time_text (expected->expected_s, time), stage->offered ? ", if NCCL offers it" : "");
  for (size_t i = 0; i < NCCL_SETTINGS_MOST && stage->setting[i] != NULL; i++)
    fprintf (out, "%s%s%s", i == 0 ? "  " : " ", stage->setting[i],
             i + 1 == NCCL_SETTINGS_MOST || stage->setting[i + 1] == NULL ? "\n" : "");
  for (size_t i = 0; i < n; i++)
    print_row (out, stage, &row[i]);
}

static void
print_budget (FILE *out, const NcclPlan *plan, const ProbeDryStage *stages, double budget_s)
{
  char budget[32], total[32];
  size_t cases = 0, measured = 0;
  double expected_s = 0, used_s = 0;
  for (size_t k = 0; k < plan->n; k++) {
    cases += plan->stage[k].n;
    measured += stages[k].measured;
    expected_s += stages[k].expected_s;
    used_s += stages[k].used_s;
  }
  fprintf (out, "\ntotal: %zu cases, %s\n", cases, time_text (expected_s, total));
  time_text (budget_s, budget);
  if (measured == cases) {
    fprintf (out, "budget of %s: all cases, %s\n", budget, time_text (used_s, total));
    return;
  }
  fprintf (out, "budget of %s: %zu of %zu cases. Left out:\n ", budget, measured, cases);
  const char *before = "";
  for (size_t k = 0; k < plan->n; k++)
    if (stages[k].measured < plan->stage[k].n) {
      fprintf (out, "%s %s %zu", before, plan->stage[k].name, plan->stage[k].n - stages[k].measured);
      before = ",";
    }
  fprintf (out, "\n--budget %.0fm measures all\n", ceil (expected_s * 1.2 / 60));
}

void
probe_dry_print (FILE *out, const NcclPlan *plan, const ProbeOptions *options)
{
  ProbeDryStage stages[NCCL_STAGES_MOST];
  double nic_Bps = options->nic_Gbps * 1e9 / 8;
  probe_dry_plan (plan, nic_Bps, options->budget_s, stages);
  fprintf (out,
           "Dry run on %u node%s with %u GPUs each: nothing is measured. Expected times are estimates, within a\n"
           "factor of two, for %u Gb/s of NIC per GPU (--nic-rate). They include NCCL's start in each setting\n"
           "(2 s) and of each communicator (1 s and more).\n\n",
           options->nodes, options->nodes == 1 ? "" : "s", options->gpus, options->nic_Gbps);
  fprintf (out, "  %-8s %-8s %-18s %6s  %12s  operations\n", "launch", "nodes", "sizes", "cases", "expected");
  for (size_t k = 0; k < plan->n; k++)
    if (plan->stage[k].n > 0)
      print_stage (out, &plan->stage[k], &stages[k], nic_Bps);
  print_budget (out, plan, stages, options->budget_s);
}
