/* The section `storage`: what the probe's points of reads and writes say of them. */
#include "models/storage.h"

#include <math.h>

#include "calibrate/section.h"

/* ---- stages ---- */

static const char READS[] = "reads", WRITES[] = "writes", CUFILE[] = "cufile", BOUNCE[] = "bounce";

static const CalStage stages[] = {
  { READS, "read.rate read.latency read.stream read.iops read.random_latency read.random_iops blend" },
  { WRITES, "write.rate write.latency write.stream write.iops write.random_latency write.random_iops" },
  { CUFILE, "cufile.rate cufile.latency cufile.stream" },
  { BOUNCE, "bounce.stream bounce.latency bounce.rate" },
  { NULL, NULL },
};

/* ---- points ---- */

static const double MOST_B = 0x1p50, MOST_IN_FLIGHT = 1e6;

static gboolean
number_in (const CalProbe *probe, guint i, const char *key, double least, double most, double *out, GError **error)
{
  *out = base_json_number (cal_probe_point (probe, i), key);
  return (*out >= least && *out <= most) ||
         cal_probe_fail (probe, i, error, "%s: a number from %g to %g is accepted", key, least, most);
}

static const BaseName pattern_names[] = { { "sequential", FALSE, NULL }, { "random", TRUE, NULL }, { NULL, 0, NULL } };

static gboolean
read_question (const CalProbe *probe, guint i, MdlIoQuestion *q, GError **error)
{
  int op = 0, path = 0, random = 0;
  double threads, depth = 1;
  if (!cal_probe_name (probe, i, "what", mdl_io_op_names, &op, error) ||
      !cal_probe_name (probe, i, "path", mdl_io_path_names, &path, error) ||
      !cal_probe_name (probe, i, "pattern", pattern_names, &random, error) ||
      !number_in (probe, i, "block_B", 1, MOST_B, &q->block_B, error) ||
      !number_in (probe, i, "threads", 1, MOST_IN_FLIGHT, &threads, error) ||
      (json_object_has_member (cal_probe_point (probe, i), "depth") &&
       !number_in (probe, i, "depth", 1, MOST_IN_FLIGHT, &depth, error)))
    return FALSE;
  q->op = (MdlIoOp)op;
  q->path = (MdlIoPath)path;
  q->random = random;
  q->in_flight = threads * depth;
  return TRUE;
}

/* A chessboard over powers of 4 of the block and powers of 2 of those in flight. */
static CalUse
use_of (const MdlIoQuestion *q)
{
  int block = (int)floor (log2 (q->block_B) / 2 + 1e-9), n = (int)floor (log2 (q->in_flight) + 1e-9);
  return (block + n) % 2 == 0 ? CAL_USE_FIT : CAL_USE_HELD_SIZE;
}

static const char *
stage_of (const MdlIoQuestion *q)
{
  return q->path == MDL_IO_CUFILE ? CUFILE : q->path == MDL_IO_BOUNCE ? BOUNCE : q->op == MDL_IO_READ ? READS : WRITES;
}

static gboolean
read_point (CalCollect *c, guint i, double median_s, GError **error)
{
  MdlIoQuestion q = { 0 };
  if (!read_question (c->probe, i, &q, error))
    return FALSE;
  const char *random = q.random ? "random " : "", *op = base_name (mdl_io_op_names, (int)q.op);
  g_autofree char *block = base_quantity_format (q.block_B, BASE_DIM_BYTES, 4);
  const CalSectionPoint point = { .stage = stage_of (&q),
                                  .measured = median_s,
                                  .use = use_of (&q),
                                  .what = base_arena_printf (c->arena, "%s%s of %s, %.0f in flight, %s", random, op, block,
                                                             q.in_flight, base_name (mdl_io_path_names, (int)q.path)),
                                  .group = base_arena_printf (c->arena, "%s%s", random, op) };
  cal_collect_add (c, &point, &q, sizeof q);
  return TRUE;
}

static gboolean
collect (CalCollect *c, GError **error)
{
  return cal_collect_each (c, "storage", read_point, error);
}

static double
predict (const void *section, const CalNode *node, const CalSectionPoint *point)
{
  (void)node;
  MdlIoCost cost;
  mdl_storage_cost (section, point->item, &cost);
  return cost.time_s;
}

/* ---- where the search begins ---- */

static void
begin (BaseNum *num, double value)
{
  if (value > 0 && isfinite (value))
    *num = (BaseNum){ .v = value, .set = TRUE, .source = BASE_SOURCE_ASSUMED };
}

/* Limits that are only seen where they bind begin so many times beyond what is reached: those that no point shows stay there. */
static const double BEYOND = 3;

/* What the fastest points reach. */
typedef struct {
  double least_s, iops, rate_Bps;
  double alone_Bps; /* one request at a time, the largest rate */
} Best;

static void
take_best (const MdlIoQuestion *q, double time_s, Best *best)
{
  double rate_Bps = q->in_flight * q->block_B / time_s;
  best->rate_Bps = fmax (best->rate_Bps, rate_Bps);
  best->iops = fmax (best->iops, q->in_flight / time_s);
  if (q->in_flight > 1)
    return;
  best->least_s = best->least_s > 0 ? fmin (best->least_s, time_s) : time_s;
  best->alone_Bps = fmax (best->alone_Bps, rate_Bps);
}

static void
start (const CalProbe *probe, void *section)
{
  MdlStorage *storage = section;
  Best best[MDL_IO_OP_N][2] = { 0 }, way[MDL_IO_PATH_N] = { 0 };
  for (guint i = 0; i < cal_probe_n_points (probe); i++) {
    MdlIoQuestion q;
    double median_s = cal_probe_time_s (probe, i);
    if (!cal_probe_is (probe, i, "storage", NULL) || isnan (median_s) || !read_question (probe, i, &q, NULL))
      continue;
    if (q.path == MDL_IO_HOST)
      take_best (&q, median_s, &best[q.op][q.random ? 1 : 0]);
    take_best (&q, median_s, &way[q.path]);
  }
  for (MdlIoOp op = MDL_IO_READ; op < MDL_IO_OP_N; op++) {
    MdlIoSide *side = &storage->op[op];
    const Best *row = best[op], *any = row[0].rate_Bps > 0 ? &row[0] : &row[1];
    begin (&side->latency, any->least_s);
    begin (&side->iops, BEYOND * any->iops);
    begin (&side->rate, fmax (row[0].rate_Bps, row[1].rate_Bps));
    /* between what one request reaches, which the device's rate holds up too, and what would not be seen */
    begin (&side->stream, any->alone_Bps > 0 ? sqrt (any->alone_Bps * BEYOND * any->rate_Bps) : BEYOND * any->rate_Bps);
    begin (&side->random_latency, row[1].least_s);
    begin (&side->random_iops, BEYOND * row[1].iops);
  }
  begin (&storage->cufile.rate, way[MDL_IO_CUFILE].rate_Bps);
  begin (&storage->bounce.rate, way[MDL_IO_BOUNCE].rate_Bps);
}

const CalSection cal_section_storage = {
  .keys = &cst_storage,
  .error_path = "error",
  .stages = stages,
  .collect = collect,
  .predict = predict,
  .start = start,
};
