#include "report/explain.h"

#include <math.h>
#include <string.h>

#include "base/table.h"
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

static const BaseColumn term_columns[] = {
  { "name", "term", BASE_CELL_TEXT, 0, NULL },
  { "how", "how", BASE_CELL_TEXT, 0, NULL },
  { "value_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.3f" },
  { "share", "share (%)", BASE_CELL_NUMBER, 100, "%.1f" },
  { "source", "source", BASE_CELL_TEXT, 0, NULL },
  { "note", "note", BASE_CELL_TEXT, 0, NULL },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

static BaseTable *
terms_table (const MdlTerm *terms, unsigned n, double time_s)
{
  BaseTable *table = base_table_new (term_columns);
  for (unsigned i = 0; i < n; i++) {
    const MdlTerm *term = &terms[i];
    base_table_row (table);
    base_table_text (table, "name", term->name);
    base_table_text (table, "how", term->how);
    base_table_number (table, "value_s", term->value_s);
    if (time_s > 0)
      base_table_number (table, "share", term->value_s / time_s);
    base_table_text (table, "source", term->source < BASE_SOURCE_N ? base_source_name (term->source) : NULL);
    base_table_text (table, "note", term->note);
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

static const BaseColumn load_columns[] = {
  { "link_class", "link class", BASE_CELL_TEXT, 0, NULL },
  { "resources", "directions", BASE_CELL_INTEGER, 0, NULL },
  { "bytes", "all bytes (MB)", BASE_CELL_NUMBER, 1e-6, "%.3f" },
  { "busiest", "busiest", BASE_CELL_TEXT, 0, NULL },
  { "busiest_bytes", "its bytes (MB)", BASE_CELL_NUMBER, 1e-6, "%.3f" },
  { "capacity_Bps", "it carries (GB/s)", BASE_CELL_NUMBER, 1e-9, "%.2f" },
  { "busy_s", "busy (us)", BASE_CELL_NUMBER, 1e6, "%.3f" },
  { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
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
  BaseTable *table = base_table_new (load_columns);
  g_autoptr (GArray) classes = class_loads (explain);
  for (guint i = 0; i < classes->len; i++) {
    const ClassLoad *row = &g_array_index (classes, ClassLoad, i);
    g_autofree char *name = clu_resource_name (explain->clu, row->busiest);
    base_table_row (table);
    base_table_text (table, "link_class", row->link_class);
    base_table_integer (table, "resources", row->n);
    base_table_number (table, "bytes", row->bytes);
    base_table_text (table, "busiest", name);
    base_table_number (table, "busiest_bytes", row->busiest_B);
    base_table_number (table, "capacity_Bps", row->capacity_Bps);
    base_table_number (table, "busy_s", row->time_s);
  }
  return table;
}

/* ---- alternatives ---- */

static const BaseColumn alternative_columns[] = {
  { "algo", "algorithm", BASE_CELL_TEXT, 0, NULL },         { "proto", "protocol", BASE_CELL_TEXT, 0, NULL },
  { "time_s", "time (us)", BASE_CELL_NUMBER, 1e6, "%.2f" }, { "nccl_s", "NCCL reckons (us)", BASE_CELL_NUMBER, 1e6, "%.2f" },
  { "slower", "against this", BASE_CELL_TEXT, 0, NULL },    { NULL, NULL, BASE_CELL_TEXT, 0, NULL },
};

/* Why not this one: it cannot run, it is the one that ran, or by how much it is slower. Returned: full. */
static char *
alternative_verdict (const ColAnswer *coll, const RepAlternative *alternative)
{
  if (alternative->reason != NULL)
    return g_strdup_printf ("cannot run: %s", alternative->reason);
  if (alternative->algo == coll->algo && alternative->proto == coll->proto)
    return g_strdup ("this one");
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
  BaseTable *table = base_table_new (alternative_columns);
  for (guint i = 0; i < explain->alternatives->len; i++) {
    const RepAlternative *alternative = &g_array_index (explain->alternatives, RepAlternative, i);
    g_autofree char *verdict = alternative_verdict (explain->coll, alternative);
    base_table_row (table);
    base_table_text (table, "algo", base_name (mdl_algo_names, (int)alternative->algo));
    base_table_text (table, "proto", base_name (mdl_proto_names, (int)alternative->proto));
    base_table_number (table, "time_s", alternative->time_s);
    if (isfinite (alternative->nccl_s))
      base_table_number (table, "nccl_s", alternative->nccl_s);
    base_table_text (table, "slower", verdict);
  }
  return table;
}

/* ---- the whole ---- */

/* "time = latency + bytes / min (bound, link rate / wire)", as it is, and with its numbers. */
void
rep_formula_text (const MdlCollCost *cost, double size_B, double link_rate_Bps, GString *out)
{
  g_autofree char *total = rep_quantity (cost->time_s, BASE_DIM_TIME), *latency = rep_quantity (cost->latency_s, BASE_DIM_TIME),
                  *bound = isfinite (cost->bound_Bps) ? rep_quantity (cost->bound_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("none"),
                  *rate = isfinite (link_rate_Bps) ? rep_quantity (link_rate_Bps, BASE_DIM_BANDWIDTH) : g_strdup ("none");
  g_string_append (out, "time = latency + bytes / min (bound, link rate / wire)\n");
  g_string_append_printf (out, "     = %s + %.0f B / min (%s, %s / %.4g) = %s\n", latency, size_B, bound, rate, cost->wire, total);
  g_string_append (out, "  latency    what does not grow with the bytes: launch, hops, pipeline fill\n"
                        "  bound      what the channels (SMs, copy threads) move\n"
                        "  link rate  what the busiest link allows when this runs alone; wire: link bytes per payload byte\n");
}

static void
append_head (const RepExplain *explain, GString *out)
{
  const ColAnswer *coll = explain->coll;
  g_autofree char *size = rep_quantity (coll->size_B, BASE_DIM_BYTES),
                  *band = rep_band (coll->time_s, coll->time_lo_s, coll->time_hi_s),
                  *bus = rep_quantity (coll->busbw_Bps, BASE_DIM_BANDWIDTH),
                  *alg = rep_quantity (coll->algbw_Bps, BASE_DIM_BANDWIDTH),
                  *wire = rep_quantity (coll->wire_Bps, BASE_DIM_BANDWIDTH);
  g_string_append_printf (out, "%s of %s (%.0f B, %s) over %u rank%s on %u node%s: %s\n", base_name (mdl_op_names, (int)coll->op),
                          size, coll->size_B, base_name (mdl_dtype_names, (int)coll->dtype), coll->n_ranks,
                          coll->n_ranks == 1 ? "" : "s", coll->n_nodes, coll->n_nodes == 1 ? "" : "s", band);
  g_string_append_printf (out, "algorithm %s, protocol %s", base_name (mdl_algo_names, (int)coll->algo),
                          base_name (mdl_proto_names, (int)coll->proto));
  if (coll->cost.channels > 0)
    g_string_append_printf (out, ", %u channels", coll->cost.channels);
  g_string_append_printf (out, ", %u steps\n", coll->cost.n_steps);
  g_string_append_printf (out, "algbw %s, busbw %s; the busiest link carries %s\n", alg, bus, wire);
  g_string_append_printf (out, "bound by %s; provenance %s (its weakest constant)", coll->bound_by,
                          base_source_name (coll->provenance));
  if (coll->cost.band > 0)
    g_string_append_printf (out, "; error band %.3g %% either way", coll->cost.band * 100);
  g_string_append (out, "\n\n");
}

static void
append_nccl (const RepExplain *explain, GString *out)
{
  const RepReckoning *nccl = explain->nccl;
  if (nccl == NULL)
    return;
  if (nccl->n_terms > 0) {
    g_autoptr (BaseTable) table = terms_table (nccl->term, nccl->n_terms, nccl->time_s);
    g_string_append_printf (out, "\n# what NCCL's tuner reckons for %s by %s: its estimate, not a prediction; it takes the least\n",
                            base_name (mdl_algo_names, (int)explain->coll->algo),
                            base_name (mdl_proto_names, (int)explain->coll->proto));
    base_table_print_text (table, out);
  }
  if (nccl->plugin != NULL)
    g_string_append_printf (out, "%sthe tuner of the network's plugin, %s, decides in its place: %s by %s\n",
                            nccl->n_terms > 0 ? "" : "\n", nccl->plugin, base_name (mdl_algo_names, (int)nccl->plugin_algo),
                            base_name (mdl_proto_names, (int)nccl->plugin_proto));
}

void
rep_explain_text (const RepExplain *explain, GString *out)
{
  const ColAnswer *coll = explain->coll;
  append_head (explain, out);
  rep_formula_text (&coll->cost, coll->size_B, coll->question.link_rate_Bps, out);
  g_string_append (out, "\n# terms: they sum to the closed form's time\n");
  rep_text (rep_terms_table (&coll->cost), out);
  if (coll->n_events > 0) {
    g_autofree char *event = rep_quantity (coll->time_s, BASE_DIM_TIME), *model = rep_quantity (coll->cost.time_s, BASE_DIM_TIME);
    g_string_append_printf (out, "the event engine says %s (%" G_GUINT64_FORMAT " events), the closed form %s\n", event,
                            coll->n_events, model);
  }
  if (coll->alike->len > 0) {
    g_string_append (out, "\n# payload on the links, by class (protocol overhead comes on top: wire)\n");
    rep_text (loads_table (explain), out);
  }
  if (coll->bottleneck != CLU_NONE) {
    g_autofree char *name = clu_resource_name (explain->clu, coll->bottleneck),
                    *capacity = rep_quantity (clu_resource_capacity (explain->clu, coll->bottleneck), BASE_DIM_BANDWIDTH);
    gboolean channels = coll->cost.bound_Bps < coll->question.link_rate_Bps / coll->cost.wire;
    g_string_append_printf (out, "\n%s  %s (%s, reaches %s, %s)\n", channels ? "first link to bind" : "bottleneck", name,
                            clu_resource_class (explain->clu, coll->bottleneck), capacity,
                            base_source_name (clu_resource_source (explain->clu, coll->bottleneck)));
  }
  if (explain->alternatives != NULL && explain->alternatives->len > 0) {
    g_string_append (out, "\n# what else there is, by the closed form\n");
    rep_text (alternatives_table (explain), out);
  }
  append_nccl (explain, out);
}

void
rep_explain_tsv (const RepExplain *explain, GString *out)
{
  rep_tsv (rep_terms_table (&explain->coll->cost), out);
}

void
rep_formula_json (const MdlCollCost *cost, double link_rate_Bps, JsonBuilder *json)
{
  rep_json_text (json, "formula", "time = latency + bytes / min (bound, link rate / wire)");
  rep_json_number (json, "model_time_s", cost->time_s);
  rep_json_number (json, "latency_s", cost->latency_s);
  rep_json_number (json, "bound_Bps", cost->bound_Bps);
  rep_json_number (json, "link_rate_Bps", link_rate_Bps);
  rep_json_number (json, "wire_factor", cost->wire);
  rep_json_integer (json, "steps", cost->n_steps);
  rep_json_number (json, "band", cost->band);
  rep_json_table (json, "terms", rep_terms_table (cost));
}

static void
build_nccl (const RepReckoning *nccl, JsonBuilder *json)
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

void
rep_explain_json (const RepExplain *explain, JsonBuilder *json)
{
  const ColAnswer *coll = explain->coll;
  json_builder_begin_object (json);
  base_members_json (rep_coll_members, coll, json);
  rep_formula_json (&coll->cost, coll->question.link_rate_Bps, json);
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
  json_builder_set_member_name (json, "alternatives");
  json_builder_begin_array (json);
  for (guint i = 0; explain->alternatives != NULL && i < explain->alternatives->len; i++) {
    const RepAlternative *alternative = &g_array_index (explain->alternatives, RepAlternative, i);
    json_builder_begin_object (json);
    rep_json_text (json, "algo", base_name (mdl_algo_names, (int)alternative->algo));
    rep_json_text (json, "proto", base_name (mdl_proto_names, (int)alternative->proto));
    rep_json_number (json, "time_s", alternative->time_s);
    if (isfinite (alternative->nccl_s))
      rep_json_number (json, "nccl_s", alternative->nccl_s);
    rep_json_text (json, "reason", alternative->reason);
    json_builder_end_object (json);
  }
  json_builder_end_array (json);
  build_nccl (explain->nccl, json);
  json_builder_end_object (json);
}
