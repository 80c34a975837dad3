#include "report/explain.h"

#include <math.h>
#include <string.h>

#include "explain-private.h"
#include "json-private.h"
#include "report/coll.h"

static void
alternative_clear (gpointer data)
{
  g_free (((RepAlternative *)data)->reason);
}

GArray *
rep_alternatives_new (void)
{
  GArray *alternatives = g_array_new (FALSE, TRUE, sizeof (RepAlternative));
  g_array_set_clear_func (alternatives, alternative_clear);
  return alternatives;
}

BASE_MEMBER_WHEN (has_source, MdlTerm, it->source < BASE_SOURCE_N)

#define TERM(...) BASE_MEMBER (MdlTerm, __VA_ARGS__)
static const BaseMember term_members[] = {
  TERM ("name", name, .title = "term"),
  TERM ("how", how, .title = "how"),
  TERM ("value_s", value_s, .title = "time"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_NUMBER, "share", BASE_SHOWN ("share (%)", 100, "%.1f")),
  TERM ("source", source, .title = "source", .rank = 1, .names = base_source_names, .when = has_source),
  TERM ("note", note, .title = "note", .rank = 2),
  BASE_MEMBER_END,
};

static BaseTable *
terms_table (const MdlTerm *terms, unsigned n, double time_s)
{
  BaseTable *table = base_members_table (term_members, NULL);
  for (unsigned i = 0; i < n; i++) {
    base_members_add (table, term_members, &terms[i]);
    if (time_s > 0)
      base_table_number (table, "share", terms[i].value_s / time_s);
  }
  return table;
}

BaseTable *
rep_terms_table (const MdlCollCost *cost)
{
  return terms_table (cost->term, cost->n_terms, cost->time_s);
}

/* ---- loads, one row a class of links ---- */

typedef struct {
  const char *link_class;
  guint32 n;      /* resources that carry something */
  double bytes;   /* on all of them */
  CluRes busiest; /* the one that is busy longest */
  double busiest_B, capacity_Bps, time_s;
} ClassLoad;

#define LOAD(...) BASE_MEMBER (ClassLoad, __VA_ARGS__)
static const BaseMember load_members[] = {
  LOAD ("link_class", link_class, .title = "link class"),
  LOAD ("resources", n, .title = "directions", .rank = 2),
  LOAD ("bytes", bytes, .title = "total bytes"),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "busiest", .title = "busiest"),
  LOAD ("busiest_bytes", busiest_B, .title = "busiest bytes", .rank = 1),
  LOAD ("capacity_Bps", capacity_Bps, .title = "capacity"),
  LOAD ("busy_s", time_s, .title = "busy"),
  BASE_MEMBER_END,
};

static GArray *
class_loads (const RepExplain *explain)
{
  GArray *classes = g_array_new (FALSE, TRUE, sizeof (ClassLoad));
  g_autoptr (GArray) loads = col_coll_loads (explain->coll);
  for (guint i = 0; i < loads->len; i++) {
    const ColLoad *load = &g_array_index (loads, ColLoad, i);
    const char *name = clu_resource_class (explain->clu, load->res);
    ClassLoad *row = NULL;
    for (guint k = 0; k < classes->len && row == NULL; k++)
      if (strcmp (g_array_index (classes, ClassLoad, k).link_class, name) == 0)
        row = &g_array_index (classes, ClassLoad, k);
    if (row == NULL) {
      ClassLoad fresh = { .link_class = name, .busiest = load->res };
      g_array_append_val (classes, fresh);
      row = &g_array_index (classes, ClassLoad, classes->len - 1);
    }
    double bytes = load->load * explain->coll->size_B;
    double capacity_Bps = clu_resource_capacity (explain->clu, load->res) * load->factor;
    double time_s = bytes / capacity_Bps;
    row->n++;
    row->bytes += bytes;
    if (row->n == 1 || time_s > row->time_s) {
      row->busiest = load->res;
      row->busiest_B = bytes;
      row->capacity_Bps = capacity_Bps;
      row->time_s = time_s;
    }
  }
  return classes;
}

static BaseTable *
loads_table (const RepExplain *explain)
{
  BaseTable *table = base_members_table (load_members, NULL);
  g_autoptr (GArray) classes = class_loads (explain);
  for (guint i = 0; i < classes->len; i++) {
    const ClassLoad *row = &g_array_index (classes, ClassLoad, i);
    g_autofree char *name = clu_resource_name (explain->clu, row->busiest);
    base_members_add (table, load_members, row);
    base_table_text (table, "busiest", name);
  }
  return table;
}

/* ---- alternatives ---- */

BASE_MEMBER_NUMBER_OF (nccl_s, RepAlternative, isfinite (it->nccl_s) ? it->nccl_s : (double)NAN)
#define ALTERNATIVE(...) BASE_MEMBER (RepAlternative, __VA_ARGS__)
static const BaseMember alternative_members[] = {
  ALTERNATIVE ("algo", algo, .title = "algorithm", .names = mdl_algo_names),
  ALTERNATIVE ("proto", proto, .title = "protocol", .names = mdl_proto_names),
  ALTERNATIVE ("time_s", time_s, .title = "time"),
  { .key = "nccl_s", .number = nccl_s, .title = "NCCL's estimate", .optional = TRUE },
  ALTERNATIVE ("reason", reason, .no_column = TRUE),
  BASE_MEMBER_BY_HAND (BASE_MEMBER_TEXT, "slower", .title = "comparison"),
  BASE_MEMBER_END,
};

/* Why not this one: it cannot run, it is the one that ran, or by how much it is slower. Returned: full. */
static char *
alternative_verdict (const ColAnswer *coll, const RepAlternative *alternative)
{
  if (alternative->reason != NULL)
    return g_strdup_printf ("cannot run: %s", alternative->reason);
  if (alternative->algo == coll->algo && alternative->proto == coll->proto)
    return g_strdup ("explained here");
  if (!(coll->cost.time_s > 0) || !isfinite (alternative->time_s))
    return g_strdup ("-");
  double ratio = alternative->time_s / coll->cost.time_s;
  if (fabs (ratio - 1) < 0.005)
    return g_strdup ("as fast");
  return ratio < 1 ? g_strdup_printf ("%.2f times faster", 1 / ratio) : g_strdup_printf ("%.2f times slower", ratio);
}

static BaseTable *
alternatives_table (const RepExplain *explain)
{
  BaseTable *table = base_members_table (alternative_members, NULL);
  for (guint i = 0; i < explain->alternatives->len; i++) {
    const RepAlternative *alternative = &g_array_index (explain->alternatives, RepAlternative, i);
    g_autofree char *verdict = alternative_verdict (explain->coll, alternative);
    base_members_add (table, alternative_members, alternative);
    base_table_text (table, "slower", verdict);
  }
  return table;
}

/* ---- the whole ---- */

/* "time = latency + bytes / min (bound, link rate / wire)", as it is, and with its numbers. */
void
rep_formula_text (const MdlCollCost *cost, double size_B, double link_rate_Bps, GString *out)
{
  g_autofree char *size = rep_quantity (size_B, BASE_DIM_BYTES), *total = rep_quantity (cost->time_s, BASE_DIM_TIME),
                  *latency = rep_quantity (cost->latency_s, BASE_DIM_TIME),
                  *bound = isfinite (cost->bound_Bps) ? rep_quantity (cost->bound_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("none"),
                  *rate = isfinite (link_rate_Bps) ? rep_quantity (link_rate_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("none");
  g_string_append (out, "time = latency + bytes / min (bound, link rate / wire)\n");
  g_string_append_printf (out, "     = %s + %s / min (%s, %s / %.4g) = %s\n", latency, size, bound, rate, cost->wire, total);
  g_string_append (out, "  latency    time that does not grow with size: launch, hops, pipeline fill\n"
                        "  bound      what the library can move: its channels (SMs, copy threads), or a cap of its algorithm\n"
                        "  link rate  limit of the busiest link when this runs alone; wire: link bytes per payload byte\n");
}

void
rep_largest_term (const ColAnswer *coll, GString *out)
{
  const MdlTerm *most = NULL;
  for (unsigned i = 0; i < coll->cost.n_terms; i++)
    if (most == NULL || coll->cost.term[i].value_s > most->value_s)
      most = &coll->cost.term[i];
  if (most != NULL && coll->cost.time_s > 0)
    g_string_append_printf (out, "Largest term: %s, %.1f %% of the time (%s).\n", most->name,
                            100 * most->value_s / coll->cost.time_s, most->how);
}

void
rep_explain_answer (const ColAnswer *coll, GString *out)
{
  g_autofree char *words = rep_coll_answer (coll);
  g_string_append (out, words);
  rep_largest_term (coll, out);
}

static void
append_head (const ColAnswer *coll, GString *out)
{
  rep_say (out, rep_coll_members, coll, "{op} of {bytes:%.0f} B, {dtype}: algorithm {algo}, protocol {proto}");
  if (coll->cost.channels > 0)
    rep_say (out, rep_coll_members, coll, ", {channels} channels");
  g_string_append_printf (out, ", %u steps\n", coll->cost.n_steps);
  rep_say (out, rep_coll_members, coll,
           "algbw {algbw_Bps}, busbw {busbw_Bps}; the busiest link carries {wire_Bps}\n"
           "limited by {bound_by}; provenance: {provenance} (the weakest constant)");
  if (coll->cost.band > 0)
    g_string_append_printf (out, "; error band %.3g %% either way", coll->cost.band * 100);
  if (coll->register_s > 0) {
    g_autofree char *once = rep_quantity (coll->register_s, BASE_DIM_TIME);
    g_string_append_printf (out, "\nregistering both buffers takes %s, once, before the first call (%s)", once,
                            base_source_name (coll->register_source));
  }
  g_string_append (out, "\n\n");
}

static void
append_nccl (const RepExplain *explain, GString *out)
{
  const RepTunerEstimate *nccl = explain->nccl;
  if (nccl == NULL)
    return;
  if (nccl->n_terms > 0) {
    g_autoptr (BaseTable) table = terms_table (nccl->term, nccl->n_terms, nccl->time_s);
    g_string_append_printf (
        out, "\n# NCCL's own estimate for %s, %s (not a prediction): NCCL takes the algorithm with the lowest\n",
        base_name (mdl_algo_names, (int)explain->coll->algo), base_name (mdl_proto_names, (int)explain->coll->proto));
    base_table_print_text (table, out);
  }
  if (nccl->plugin != NULL)
    g_string_append_printf (out, "%sThe tuner of the network plugin %s decides instead of NCCL: %s, %s.\n",
                            nccl->n_terms > 0 ? "" : "\n", nccl->plugin, base_name (mdl_algo_names, (int)nccl->plugin_algo),
                            base_name (mdl_proto_names, (int)nccl->plugin_proto));
}

void
rep_explain_text (const RepExplain *explain, GString *out)
{
  const ColAnswer *coll = explain->coll;
  append_head (coll, out);
  rep_formula_text (&coll->cost, coll->size_B, coll->question.link_rate_Bps, out);
  g_string_append (out, "\n# terms of the closed form; they sum to its time\n");
  rep_text (rep_terms_table (&coll->cost), out);
  if (coll->n_events > 0) {
    g_autofree char *event = rep_quantity (coll->time_s, BASE_DIM_TIME), *model = rep_quantity (coll->cost.time_s, BASE_DIM_TIME);
    g_string_append_printf (out, "Event engine: %s (%" G_GUINT64_FORMAT " events); closed form: %s.\n", event, coll->n_events,
                            model);
  }
  if (coll->alike->len > 0) {
    g_string_append (out, "\n# payload on the links, by class, without protocol overhead\n");
    rep_text (loads_table (explain), out);
  }
  if (coll->bottleneck != CLU_NONE) {
    g_autofree char *name = clu_resource_name (explain->clu, coll->bottleneck),
                    *capacity = rep_quantity (clu_resource_capacity (explain->clu, coll->bottleneck), BASE_DIM_BANDWIDTH);
    gboolean channels = coll->cost.bound_Bps < coll->question.link_rate_Bps / coll->cost.wire;
    g_string_append_printf (out, "\n%s  %s (%s, reaches %s, %s)\n", channels ? "busiest link" : "bottleneck", name,
                            clu_resource_class (explain->clu, coll->bottleneck), capacity,
                            base_source_name (clu_resource_source (explain->clu, coll->bottleneck)));
  }
  if (explain->alternatives != NULL && explain->alternatives->len > 0) {
    g_string_append (out, "\n# alternatives, by the closed form\n");
    rep_text (alternatives_table (explain), out);
  }
  append_nccl (explain, out);
}

void
rep_formula_json (const MdlCollCost *cost, double link_rate_Bps, JsonBuilder *json)
{
  rep_json_text (json, "formula", "time = latency + bytes / min (bound, link rate / wire)");
  rep_json_number (json, "model_time_s", cost->time_s);
  rep_json_number (json, "latency_s", cost->latency_s);
  rep_json_number (json, "bound_Bps", isfinite (cost->bound_Bps) ? cost->bound_Bps : (double)NAN); /* none */
  rep_json_number (json, "link_rate_Bps", isfinite (link_rate_Bps) ? link_rate_Bps : (double)NAN);
  rep_json_number (json, "wire_factor", cost->wire);
  rep_json_integer (json, "steps", cost->n_steps);
  rep_json_number (json, "band", cost->band);
  rep_json_table (json, "terms", rep_terms_table (cost));
}

static void
build_nccl (const RepTunerEstimate *nccl, JsonBuilder *json)
{
  if (nccl == NULL || (nccl->n_terms == 0 && nccl->plugin == NULL))
    return;
  json_builder_set_member_name (json, "nccl");
  json_builder_begin_object (json);
  if (nccl->n_terms > 0) {
    rep_json_number (json, "time_s", nccl->time_s);
    rep_json_table (json, "terms", terms_table (nccl->term, nccl->n_terms, nccl->time_s));
  }
  if (nccl->plugin != NULL) {
    rep_json_text (json, "plugin", nccl->plugin);
    rep_json_text (json, "plugin_algo", base_name (mdl_algo_names, (int)nccl->plugin_algo));
    rep_json_text (json, "plugin_proto", base_name (mdl_proto_names, (int)nccl->plugin_proto));
  }
  json_builder_end_object (json);
}

static const BaseMember explain_members[] = {
  BASE_MEMBER_AS (BASE_MEMBER_LIST, RepExplain, "alternatives", alternatives, .sub = alternative_members),
  BASE_MEMBER_END,
};

void
rep_explain_json (const RepExplain *explain, JsonBuilder *json)
{
  const ColAnswer *coll = explain->coll;
  json_builder_begin_object (json);
  base_members_json (rep_coll_row_members, coll, json);
  rep_formula_json (&coll->cost, coll->question.link_rate_Bps, json);
  if (coll->register_s > 0)
    rep_json_number (json, "register_s", coll->register_s);
  rep_json_table (json, "loads", loads_table (explain));
  json_builder_set_member_name (json, "bottleneck");
  if (coll->bottleneck == CLU_NONE)
    json_builder_add_null_value (json);
  else {
    g_autofree char *name = clu_resource_name (explain->clu, coll->bottleneck);
    json_builder_begin_object (json);
    rep_json_text (json, "name", name);
    rep_json_text (json, "link_class", clu_resource_class (explain->clu, coll->bottleneck));
    rep_json_number (json, "capacity_Bps", clu_resource_capacity (explain->clu, coll->bottleneck));
    rep_json_text (json, "source", base_source_name (clu_resource_source (explain->clu, coll->bottleneck)));
    json_builder_end_object (json);
  }
  base_members_json (explain_members, explain, json);
  build_nccl (explain->nccl, json);
  json_builder_end_object (json);
}
