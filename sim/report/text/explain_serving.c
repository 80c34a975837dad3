/* A step of an engine that serves a model, kernel by kernel. */
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
