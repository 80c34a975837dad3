/* What a program of streams comes to. */
#include "facts-private.h"
#include "html-private.h"
#include "json-private.h"
#include "run-private.h"

#define STREAM(...)    BASE_MEMBER (ScnStreamResult, __VA_ARGS__)
#define OPERATION(...) BASE_MEMBER (ScnOperationResult, __VA_ARGS__)
#define PROGRAM(...)   BASE_MEMBER (ScnProgramResult, __VA_ARGS__)

static const BaseMember stream_members[] = {
  STREAM ("stream", name, .title = "stream"),
  STREAM ("gpu", gpu, .title = "GPU"),
  STREAM ("operations", operations, .title = "operations"),
  STREAM ("busy_s", busy_s, .title = "busy"),
  STREAM ("idle", idle, BASE_SHOWN ("idle (%)", 100, "%.1f")),
  BASE_MEMBER_END,
};

static const BaseMember operation_members[] = {
  OPERATION ("stream", stream, .title = "stream"),
  OPERATION ("operation", name, .title = "operation"),
  OPERATION ("does", what, .names = scn_do_names),
  OPERATION ("alone_s", alone_s, .title = "alone", .rank = 2),
  OPERATION ("start_s", start_s, .title = "start"),
  OPERATION ("end_s", end_s, .title = "end"),
  OPERATION ("middle_start_s", mid_start_s, .title = "middle start"),
  OPERATION ("middle_end_s", mid_end_s, .title = "middle end"),
  OPERATION ("chain_s", chain_s),
  OPERATION ("chain", chain, BASE_SHOWN ("chain (%)", 100, "%.1f"), .rank = 1),
  BASE_MEMBER_END,
};

BASE_MEMBER_NUMBER_OF (speedup, ScnProgramResult, it->time_s > 0 ? it->serial_s / it->time_s : 1)

const BaseMember rep_program_members[] = {
  PROGRAM ("repeat", repeat),
  PROGRAM ("time_s", time_s),
  PROGRAM ("iteration_s", iteration_s),
  PROGRAM ("serial_s", serial_s),
  { .key = "speedup", .number = speedup },
  PROGRAM ("hidden", hidden),
  PROGRAM ("bound_by", bound_by),
  PROGRAM ("bottleneck", bottleneck),
  PROGRAM ("bottleneck_share", bottleneck_share),
  PROGRAM ("middle_iteration", middle),
  PROGRAM ("streams", streams, .sub = stream_members),
  PROGRAM ("operations", operations, .sub = operation_members),
  BASE_MEMBER_END,
};

void
rep_program_answer (const void *of, GString *out)
{
  const ScnProgramResult *program = of;
  rep_say (out, rep_program_members, program,
           program->repeat > 1 ? "{repeat} iterations take {time_s}, {iteration_s} each in steady state.\n"
                               : "One iteration takes {time_s}.\n");
  rep_say (out, rep_program_members, program,
           "Run one after another, the operations would take {serial_s}: {speedup:%.2f} times as long.\n");
  if (program->bottleneck != NULL)
    rep_say (out, rep_program_members, program, "Bottleneck: {bottleneck}, {bottleneck_share*100:%.1f} % of the longest chain.\n");
}

void
rep_program_text (const void *of, GString *out)
{
  const ScnProgramResult *program = of;
  g_string_append (out, "# streams\n");
  rep_text (base_members_table (stream_members, program->streams), out);
  g_string_append (out, "\n# operations\n");
  rep_text (base_members_table (operation_members, program->operations), out);
  if (program->repeat == 1)
    g_string_append (out, "chain: part of the longest chain of operations that each began as the one before ended\n");
  else
    g_string_append_printf (out, "start, end: of iteration 1; middle: of iteration %u of %u; chain: part of the longest chain\n",
                            program->middle + 1, program->repeat);
}

void
rep_program_facts (const void *of, GString *html)
{
  const ScnProgramResult *program = of;
  rep_html_quantity (html, "time", program->time_s, BASE_DIM_TIME, NULL);
  rep_html_quantity (html, "an iteration in steady state", program->iteration_s, BASE_DIM_TIME, NULL);
  rep_html_quantity (html, "one after another", program->serial_s, BASE_DIM_TIME, NULL);
  if (program->bottleneck != NULL)
    rep_html_fact (html, "bottleneck", program->bottleneck, program->bound_by);
}
