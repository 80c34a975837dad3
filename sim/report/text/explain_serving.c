/* A step of an engine that serves a model, kernel by kernel, and one request, wait by wait. */
#include <math.h>

#include "base/layout.h"
#include "json-private.h"
#include "report/explain.h"
#include "run-private.h"
#include "serving/step.h"

#define TERM(...) BASE_MEMBER (SrvStepTerm, __VA_ARGS__)
BASE_MEMBER_TEXT_OF (part_of, SrvStepTerm, srv_part_names[it->part])
BASE_MEMBER_NUMBER_OF (each_of, SrvStepTerm, it->count > 0 ? it->time_s / it->count : 0)

static const BaseMember term_members[] = {
  TERM ("kernel", name, .title = "kernel"),
  { .key = "part", .kind = BASE_MEMBER_TEXT, .text = part_of, .title = "part" },
  TERM ("count", count, BASE_SHOWN ("count", 1, "%.0f")),
  TERM ("shape", shape, .title = "shape"),
  { .key = "each_s", .number = each_of, BASE_SHOWN ("each (us)", 1e6, "%.2f") },
  TERM ("time_s", time_s, BASE_SHOWN ("all (us)", 1e6, "%.1f")),
  TERM ("flop", flop, BASE_SHOWN ("GFLOP each", 1e-9, "%.4g"), .rank = 2),
  TERM ("bytes", bytes_B, .title = "bytes each", .rank = 2),
  TERM ("bound_by", bound, .title = "limited by", .rank = 1),
  BASE_MEMBER_END,
};

BaseTable *
rep_serving_terms_table (const GArray *terms)
{
  return base_members_table (term_members, terms);
}

void
rep_serving_terms_text (const GArray *terms, GString *out)
{
  g_string_append (out, "\n# kernels, collectives and waits; they sum to the step. Products are tokens x outputs x inputs\n");
  rep_text (rep_serving_terms_table (terms), out);
}

void
rep_serving_terms_json (const GArray *terms, JsonBuilder *json)
{
  rep_json_table (json, "terms", rep_serving_terms_table (terms));
}

/* ---- a request ---- */

typedef struct {
  const char *wait;
  double first_s, later_s, share;
} Wait;

static const BaseMember wait_members[] = {
  BASE_MEMBER (Wait, "wait", wait, .title = "wait"),
  BASE_MEMBER (Wait, "first_s", first_s, BASE_SHOWN ("until the first token (ms)", 1e3, "%.4g")),
  BASE_MEMBER (Wait, "share", share, BASE_SHOWN ("share (%)", 100, "%.1f")),
  BASE_MEMBER (Wait, "later_s", later_s, BASE_SHOWN ("after it (ms)", 1e3, "%.4g")),
  BASE_MEMBER_END,
};

BaseTable *
rep_serving_request_table (const SrvWatched *watched)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Wait));
  for (guint i = 0; i < SRV_WAIT_N; i++) {
    const double later_s = watched->part_s[i] - watched->first_s[i]; /* sums may differ by less than a nanosecond */
    const Wait wait = { .wait = srv_wait_names[i],
                        .first_s = watched->first_s[i],
                        .later_s = later_s > 1e-9 ? later_s : 0,
                        .share = watched->ttft_s > 0 ? watched->first_s[i] / watched->ttft_s : 0 };
    if (watched->part_s[i] > 1e-9)
      g_array_append_val (rows, wait);
  }
  return base_members_table (wait_members, rows);
}

/* ---- its KV on the way to the decode pool ---- */

/* What takes longest of it; layer by layer, of what was left. */
static const char *
binds (const SrvMoved *moved)
{
  const double copy_s = moved->part * fmax (moved->pieces_s, moved->wire_s);
  if (moved->time_s > 1.05 * (moved->latency_s + copy_s))
    return "other transfers on the same links";
  if (moved->latency_s > copy_s)
    return "latency";
  return moved->pieces_s > moved->wire_s ? "descriptors" : moved->slowest;
}

static void
append_moved (const SrvMoved *moved, GString *out)
{
  g_autofree char *size = base_quantity_show (moved->bytes_B, BASE_DIM_BYTES);
  if (!(moved->bytes_B > 0))
    return;
  g_string_append_printf (out, "# its KV to the decode pool: %s, %.0f descriptors a GPU, %.4g ms", size, moved->pieces,
                          moved->time_s * 1e3);
  if (moved->part < 1)
    g_string_append_printf (out, " for the %.0f %% that were left when the prompt was computed", 100 * moved->part);
  g_string_append_printf (out, ", limited by %s. Alone: latency %.4g ms, descriptors %.4g ms, bytes over %s %.4g ms\n",
                          binds (moved), moved->latency_s * 1e3, moved->pieces_s * 1e3, moved->slowest, moved->wire_s * 1e3);
}

#define MOVED(...) BASE_MEMBER (SrvMoved, __VA_ARGS__)
static const BaseMember moved_members[] = {
  MOVED ("bytes", bytes_B),       MOVED ("descriptors", pieces),     MOVED ("time_s", time_s), MOVED ("part", part),
  MOVED ("latency_s", latency_s), MOVED ("descriptors_s", pieces_s), MOVED ("wire_s", wire_s), BASE_MEMBER_END,
};

static void
add_moved (const SrvMoved *moved, JsonBuilder *json)
{
  if (!(moved->bytes_B > 0))
    return;
  json_builder_set_member_name (json, "kv_transfer");
  json_builder_begin_object (json);
  base_members_json (moved_members, moved, json);
  rep_json_text (json, "slowest", moved->slowest);
  rep_json_text (json, "bound_by", binds (moved));
  json_builder_end_object (json);
}

void
rep_serving_request_text (const SrvWatched *watched, gboolean slow, GString *out)
{
  const SrvRequestSeen *r = &watched->request;
  guint most = 0;
  for (guint i = 1; i < SRV_WAIT_N; i++)
    most = watched->first_s[i] > watched->first_s[most] ? i : most;
  g_string_append_printf (out,
                          "\n# request %" G_GUINT64_FORMAT "%s: %u tokens in (%u found in the cache), %u out, on replica %u, %u "
                          "preemptions; first token after %.4g ms, %.0f %% of it %s; last token after %.4g ms. Waits sum to both\n",
                          r->index, slow ? ", at the 99th percentile of TTFT" : "", r->input, r->hit, r->output, r->replica,
                          r->preemptions, watched->ttft_s * 1e3,
                          watched->ttft_s > 0 ? 100 * watched->first_s[most] / watched->ttft_s : 0, srv_wait_names[most],
                          watched->e2e_s * 1e3);
  append_moved (&watched->moved, out);
  rep_text (rep_serving_request_table (watched), out);
}

void
rep_serving_request_json (const SrvWatched *watched, JsonBuilder *json)
{
  json_builder_set_member_name (json, "request");
  json_builder_begin_object (json);
  json_builder_set_member_name (json, "index");
  json_builder_add_int_value (json, (gint64)watched->request.index);
  json_builder_set_member_name (json, "ttft_s");
  json_builder_add_double_value (json, watched->ttft_s);
  json_builder_set_member_name (json, "e2e_s");
  json_builder_add_double_value (json, watched->e2e_s);
  rep_json_table (json, "waits", rep_serving_request_table (watched));
  add_moved (&watched->moved, json);
  json_builder_end_object (json);
}
