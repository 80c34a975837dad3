/* What forerun-probe wrote (docs/probe.md): collectives as measured points, of one node unless `nodes` says more. Other sections
 * are for others to read. */
#include <string.h>

#include "measured/measured-private.h"

#define MOST_GPUS  1024.0
#define MOST_NODES 1e6

typedef struct {
  const CalProbe *file;
  const CalMeasuredFile *as; /* whose systems they are; NULL: any */
  CalData *data;
  const char *nccl;
  guint n_loose, n_failed; /* points that are left out: too wide; failed or skipped */
} Probe;

/* ---- points ---- */

static gboolean
count_in (const Probe *probe, guint i, const char *key, double most, guint32 *out, GError **error)
{
  double value;
  if (!cal_probe_count (probe->file, i, key, 1, most, &value, error))
    return FALSE;
  *out = (guint32)value;
  return TRUE;
}

/* Graphs on registered buffers are a launch of their own, too. */
static gboolean
is_launched (const CalSystem *system, int launch, int buffers)
{
  if (buffers == MDL_BUFFERS_REGISTERED && launch == MDL_LAUNCH_GRAPH && system->launch.v == MDL_LAUNCH_REGISTERED)
    return TRUE;
  return system->launch.v == launch && system->buffers.v == buffers;
}

static gboolean
has_size (const CalSystem *system, double size_B)
{
  for (guint i = 0; i < system->sizes.n; i++)
    if (system->sizes.item[i].v == size_B)
      return TRUE;
  return system->sizes.n == 0;
}

static gboolean
read_point (Probe *probe, guint i, JsonObject *object, GError **error)
{
  static const double MOST_CHANNELS = 1024, MOST_ITERS = 1e6, MOST_B = 0x1p50;
  int op = 0, algo = 0, proto = 0, launch = 0, kind = MDL_BUFFERS_PLAIN;
  const char *buffers = base_json_text (object, "buffers"); /* absent: plain */
  CalMeasured point = { .nodes = 1, .dtype = MDL_DTYPE_FP32, .nccl = probe->nccl };
  CalPointState state;
  double median_s;
  if (!cal_probe_judge (probe->file, i, &state, &median_s, error))
    return FALSE;
  if (state == CAL_POINT_FAILED) {
    probe->n_failed++;
    return TRUE;
  }
  if (base_json_flag (object, "in_place", FALSE) || !base_json_flag (object, "p2p", TRUE))
    return TRUE; /* no system describes them */
  if (state == CAL_POINT_LOOSE) {
    probe->n_loose++;
    return TRUE;
  }
  double size_B = base_json_number (object, "bytes");
  if (!(size_B >= 1) || size_B > MOST_B)
    return cal_probe_fail (probe->file, i, error, "bytes: a size above 0 B is accepted");
  if (!cal_probe_name (probe->file, i, "what", mdl_op_names, &op, error) ||
      !cal_probe_name (probe->file, i, "launch", mdl_launch_names, &launch, error) ||
      !cal_probe_name (probe->file, i, "algo", mdl_algo_names, &algo, error) ||
      !cal_probe_name (probe->file, i, "proto", mdl_proto_names, &proto, error) ||
      !count_in (probe, i, "gpus", MOST_GPUS, &point.gpus, error) ||
      (json_object_has_member (object, "nodes") && !count_in (probe, i, "nodes", MOST_NODES, &point.nodes, error)) ||
      (json_object_has_member (object, "channels") &&
       !count_in (probe, i, "channels", MOST_CHANNELS, &point.max_channels, error)) ||
      (json_object_has_member (object, "iters") && !count_in (probe, i, "iters", MOST_ITERS, &point.iters, error)))
    return FALSE;
  if (buffers != NULL && !cal_probe_name (probe->file, i, "buffers", mdl_buffers_names, &kind, error))
    return FALSE;
  point.op = (MdlOp)op;
  point.algo =
      op == MDL_OP_ALLTOALL || op == MDL_OP_SENDRECV ? MDL_ALGO_AUTO : (MdlAlgo)algo; /* what is forced does not hold there */
  point.proto = op == MDL_OP_ALLTOALL || op == MDL_OP_SENDRECV ? MDL_PROTO_AUTO : (MdlProto)proto;
  point.size_B = size_B;
  point.time_s = median_s;
  for (guint s = 0; s < probe->data->spec.systems.n; s++) {
    const CalSystem *system = BASE_LIST_AT (probe->data->spec.systems, CalSystem, s);
    gboolean named = probe->as == NULL || probe->as->systems.n == 0 || cal_names_hold (&probe->as->systems, system->name.v);
    if (!named || !is_launched (system, launch, kind) || !has_size (system, size_B))
      continue;
    point.system = s;
    g_array_append_val (probe->data->points, point);
    return TRUE;
  }
  probe->data->n_skipped++; /* a launch that systems.yaml does not list */
  return TRUE;
}

/* What NCCL took for a size, by its own log. */
static gboolean
read_choice (const Probe *probe, guint i, JsonObject *object, GError **error)
{
  int op = 0, algo = 0, proto = 0;
  CalMeasured choice = { .nodes = 1, .dtype = MDL_DTYPE_FP32, .nccl = probe->nccl, .size_B = base_json_number (object, "bytes") };
  if (json_object_has_member (object, "error") || json_object_has_member (object, "skipped"))
    return TRUE;
  if (!(choice.size_B >= 1))
    return cal_probe_fail (probe->file, i, error, "bytes: a size above 0 B is accepted");
  if (!cal_probe_name (probe->file, i, "op", mdl_op_names, &op, error) ||
      !cal_probe_name (probe->file, i, "algo", mdl_algo_names, &algo, error) ||
      !cal_probe_name (probe->file, i, "proto", mdl_proto_names, &proto, error) ||
      !count_in (probe, i, "gpus", MOST_GPUS, &choice.gpus, error) ||
      (json_object_has_member (object, "nodes") && !count_in (probe, i, "nodes", MOST_NODES, &choice.nodes, error)))
    return FALSE;
  for (guint s = 0; s < probe->data->spec.systems.n; s++)
    if (probe->as != NULL && cal_names_hold (&probe->as->systems, BASE_LIST_AT (probe->data->spec.systems, CalSystem, s)->name.v)) {
      choice.system = s; /* whichever launch: it changes no choice */
      break;
    }
  choice.op = (MdlOp)op;
  choice.algo = (MdlAlgo)algo;
  choice.proto = (MdlProto)proto;
  g_array_append_val (probe->data->choices, choice);
  return TRUE;
}

static gboolean
read_points (Probe *probe, GError **error)
{
  for (guint i = 0; i < cal_probe_n_points (probe->file); i++) {
    JsonObject *object = cal_probe_point (probe->file, i);
    if (!cal_probe_is (probe->file, i, "nccl", NULL))
      continue;
    gboolean choice = cal_probe_is (probe->file, i, "nccl", "choice");
    if (!(choice ? read_choice (probe, i, object, error) : read_point (probe, i, object, error)))
      return FALSE;
  }
  return TRUE;
}

/* ---- the whole ---- */

static void
tell (const CalHost *host, const Probe *probe)
{
  const char *path = cal_probe_path (probe->file);
  g_autoptr (GString) told = g_string_new (NULL);
  if (!base_json_flag (cal_probe_root (probe->file), "complete", FALSE))
    g_string_append_printf (told, "%s: the probe was interrupted; what it measured until then is taken", path);
  else if (probe->n_loose + probe->n_failed > 0)
    g_string_append_printf (told, "%s:", path);
  if (probe->n_loose > 0)
    g_string_append_printf (told, "%s %u point%s left out, whose own interval is wider than 5 %%",
                            told->len > strlen (path) + 1 ? ";" : "", probe->n_loose, probe->n_loose == 1 ? "" : "s");
  if (probe->n_failed > 0)
    g_string_append_printf (told, "%s %u that failed or %s skipped", probe->n_loose > 0 ? "," : "", probe->n_failed,
                            probe->n_failed == 1 ? "was" : "were");
  if (told->len > 0)
    host->warn (host->user, told->str);
}

gboolean
cal_data_add_probe (const CalHost *host, const CalProbe *file, const CalMeasuredFile *as, CalData *data, GError **error)
{
  Probe probe = { .file = file, .as = as, .data = data };
  probe.nccl = cal_data_text (data, base_json_text (cal_probe_root (file), "nccl"));
  if (!read_points (&probe, error))
    return FALSE;
  tell (host, &probe);
  return TRUE;
}
