#include "report/validate.h"

#include <math.h>

#include "json-private.h"

/* "ok", "worse"; NULL where nothing is allowed or forbidden. */
static const char *
verdict_of (const CalScore *score)
{
  return isnan (score->median_limit) && isnan (score->p95_limit) ? NULL : cal_score_is_worse (score) ? "worse" : "ok";
}

BASE_MEMBER_WHEN (has_system, CalScore, it->system != NULL)
BASE_MEMBER_TEXT_OF (system_or_all, CalScore, it->system != NULL ? it->system : "all")
BASE_MEMBER_TEXT_OF (verdict, CalScore, verdict_of (it))

#define PERCENT(head) BASE_SHOWN (head, 100, "%.1f")
#define SCORE(...)    BASE_MEMBER (CalScore, __VA_ARGS__)
static const BaseMember score_members[] = {
  { .key = "system", .text = system_or_all, .title = "system" },
  SCORE ("nodes", nodes, .title = "nodes", .rank = 1, .when = has_system),
  SCORE ("op", op, .title = "operation", .names = mdl_op_names, .when = has_system),
  SCORE ("algo", algo, .title = "algorithm", .names = mdl_algo_names, .when = has_system),
  SCORE ("proto", proto, .title = "protocol", .names = mdl_proto_names, .when = has_system),
  SCORE ("band", band, .title = "size", .names = mdl_size_names),
  SCORE ("points", n, .title = "points"),
  SCORE ("median", median, PERCENT ("median (%)")),
  SCORE ("p95", p95, PERCENT ("p95 (%)")),
  SCORE ("worst", worst, PERCENT ("worst (%)")),
  SCORE ("bias", bias, BASE_SHOWN ("bias (%)", 100, "%+.1f")),
  SCORE ("within", within, BASE_SHOWN ("in band (%)", 100, "%.0f"), .rank = 2),
  SCORE ("median_limit", median_limit, BASE_SHOWN ("allowed (%)", 100, "%g"), .rank = 2),
  SCORE ("p95_limit", p95_limit, BASE_SHOWN ("p95 allowed (%)", 100, "%g"), .rank = 2),
  { .key = "verdict", .text = verdict, .title = "" },
  BASE_MEMBER_END,
};

void
rep_validate_text (const GArray *scores, GString *out)
{
  rep_text (base_members_table (score_members, scores), out);
}

void
rep_validate_tsv (const GArray *scores, GString *out)
{
  rep_tsv (base_members_table (score_members, scores), out);
}

void
rep_validate_json (const GArray *scores, JsonBuilder *json)
{
  base_members_list (score_members, scores, json);
}

BASE_MEMBER_TEXT_OF (role_name, CalFabricScore, it->role >= 0 ? base_name (cal_role_names, it->role) : NULL)

#define FABRIC(...) BASE_MEMBER (CalFabricScore, __VA_ARGS__)
static const BaseMember fabric_members[] = {
  FABRIC ("fabric", fabric, .title = "network"),
  { .key = "role", .text = role_name, .title = "role" },
  FABRIC ("systems", systems, .title = "clusters", .rank = 1),
  FABRIC ("min_nodes", min_nodes, .title = "nodes from", .rank = 2),
  FABRIC ("max_nodes", max_nodes, .title = "to", .rank = 2),
  FABRIC ("points", n, .title = "points"),
  FABRIC ("median", median, PERCENT ("median (%)")),
  FABRIC ("p90", p90, PERCENT ("p90 (%)")),
  FABRIC ("worst", worst, PERCENT ("worst (%)")),
  FABRIC ("bias", bias, BASE_SHOWN ("bias (%)", 100, "%+.1f")),
  FABRIC ("within", within, BASE_SHOWN ("in band (%)", 100, "%.0f")),
  BASE_MEMBER_END,
};

void
rep_validate_fabrics_text (const GArray *fabrics, GString *out)
{
  if (fabrics->len == 0)
    return;
  g_string_append (out, "\nBetween nodes, by network; `fit`: constants were fitted to these points, `score`: held out.\n");
  rep_text (base_members_table (fabric_members, fabrics), out);
}

void
rep_validate_fabrics_tsv (const GArray *fabrics, GString *out)
{
  rep_tsv (base_members_table (fabric_members, fabrics), out);
}

void
rep_validate_fabrics_json (const GArray *fabrics, JsonBuilder *json)
{
  base_members_list (fabric_members, fabrics, json);
}

BASE_MEMBER_TEXT_OF (point_role, CalPrediction, it->role >= 0 ? base_name (cal_role_names, it->role) : NULL)
#define POINT(...) BASE_MEMBER (CalPrediction, __VA_ARGS__)
static const BaseMember point_members[] = {
  POINT ("system", system),
  POINT ("nodes", nodes),
  POINT ("ranks", ranks),
  POINT ("op", op, .names = mdl_op_names),
  POINT ("algo", algo, .names = mdl_algo_names),
  POINT ("proto", proto, .names = mdl_proto_names),
  POINT ("bytes", size_B),
  POINT ("measured_s", measured_s),
  POINT ("predicted_s", predicted_s),
  POINT ("predicted_lo_s", predicted_lo_s),
  POINT ("predicted_hi_s", predicted_hi_s),
  POINT ("islands", islands),
  POINT ("fabric", fabric),
  { .key = "role", .text = point_role },
  BASE_MEMBER_END,
};

void
rep_validate_points_tsv (const GArray *points, GString *out)
{
  rep_tsv (base_members_table (point_members, points), out);
}
