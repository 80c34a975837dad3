/* What a scenario came to. A kind of workload is a row of `kinds`: the members of its result, and its text. Several
 * jobs at the same time hold such results again, each job's alone. */
#include "report/run.h"

#include <math.h>
#include <string.h>

#include "facts-private.h"
#include "json-private.h"
#include "report/coll.h"
#include "run-private.h"

#define RESULT(...) BASE_MEMBER (ScnResult, __VA_ARGS__)
#define LINK(...)   BASE_MEMBER (ColLinkUse, __VA_ARGS__)
#define JOB(...)    BASE_MEMBER (ScnJobResult, __VA_ARGS__)
#define ROUNDS(...) BASE_MEMBER (TrnRoundsResult, __VA_ARGS__)

/* ---- kinds ---- */

BASE_MEMBER_NUMBER_OF (all_repeats_s, ScnResult, it->coll.time_s * it->repeat)

static const BaseMember coll_members[] = {
  RESULT (NULL, coll, .sub = rep_coll_row_members),
  RESULT ("repeat", repeat, .no_column = TRUE),
  { .key = "total_time_s", .number = all_repeats_s, .no_column = TRUE },
  BASE_MEMBER_END,
};

static void
coll_text (const void *of, GString *out)
{
  const ScnResult *result = of;
  rep_text (base_members_row (coll_members, NULL, result), out);
  if (result->repeat > 1)
    rep_say (out, coll_members, result, "Repeated {repeat} times: {total_time_s} in all.\n");
}

static void
coll_answer (const void *of, GString *out)
{
  g_autofree char *words = rep_coll_answer (&((const ScnResult *)of)->coll);
  g_string_append (out, words);
}

typedef struct {
  size_t offset; /* in ScnResult, of what has the members */
  const BaseMember *members;
  const char *const *columns; /* of TSV, as of base_members_row; NULL: all single values */
  void (*answer) (const void *of, GString *out);
  void (*text) (const void *of, GString *out);
  void (*facts) (const void *of, GString *html); /* of a page */
  size_t step, cost; /* in ScnResult, of the training step and of the closed form's cost that it is priced by; 0: none */
} Kind;

static const Kind kinds[] = {
  [SCN_KIND_COLLECTIVE] = { 0, coll_members, NULL, coll_answer, coll_text, rep_coll_facts, 0, offsetof (ScnResult, coll.cost) },
  [SCN_KIND_TRANSFER] = { offsetof (ScnResult, transfer), rep_transfer_members, NULL, rep_transfer_answer, rep_transfer_text,
                          rep_transfer_facts, 0, offsetof (ScnResult, transfer.cost) },
  [SCN_KIND_TRAINING] = { offsetof (ScnResult, training), rep_training_members, rep_training_columns, rep_training_answer,
                          rep_training_text, rep_training_facts, offsetof (ScnResult, training), 0 },
  [SCN_KIND_IO] = { offsetof (ScnResult, io), rep_io_members, NULL, rep_io_answer, rep_io_text, rep_io_facts, 0, 0 },
  [SCN_KIND_PROGRAM] = { offsetof (ScnResult, program), rep_program_members, NULL, rep_program_answer, rep_program_text,
                         rep_program_facts, 0, 0 },
  [SCN_KIND_MOE] = { offsetof (ScnResult, moe), rep_moe_members, NULL, rep_moe_answer, rep_moe_text, rep_moe_facts, 0, 0 },
};

/* A kind without a row here is printed from the members of its own row in the scenario layer. */
static gboolean
is_own (const ScnResult *result)
{
  return (gsize)result->kind >= G_N_ELEMENTS (kinds) || kinds[result->kind].members == NULL;
}

static const void *
of_kind (const ScnResult *result)
{
  return is_own (result) ? result->own : (const char *)result + kinds[result->kind].offset;
}

static const BaseMember *
members_of (const ScnResult *result)
{
  return is_own (result) ? scn_result_members (result) : kinds[result->kind].members;
}

static const void *
part_of (const ScnResult *result, size_t offset)
{
  return offset > 0 ? (const char *)result + offset : NULL;
}

const TrnResult *
rep_run_step (const ScnResult *result)
{
  return result->jobs != NULL || is_own (result) ? NULL : part_of (result, kinds[result->kind].step);
}

const MdlCollCost *
rep_run_cost (const ScnResult *result)
{
  return result->jobs != NULL || is_own (result) ? NULL : part_of (result, kinds[result->kind].cost);
}

void
rep_run_answer (const ScnResult *result, GString *out)
{
  if (result->jobs != NULL)
    rep_jobs_answer (result, out);
  else if (!is_own (result))
    kinds[result->kind].answer (of_kind (result), out);
  else if (scn_result_answer (result) != NULL)
    rep_say (out, members_of (result), result->own, scn_result_answer (result));
}

void
rep_run_facts (const ScnResult *result, GString *html)
{
  if (!is_own (result))
    kinds[result->kind].facts (of_kind (result), html);
}

/* ---- links ---- */

static const BaseMember link_members[] = {
  LINK ("link_class", link_class, .title = "link class"),
  LINK ("busiest", busiest, .title = "busiest"),
  LINK ("utilisation", utilisation, BASE_SHOWN ("utilisation (%)", 100, "%.1f")),
  LINK ("bytes", bytes, .title = "total bytes"),
  BASE_MEMBER_END,
};

BaseTable *
rep_links_table (const GArray *links)
{
  return base_members_table (link_members, links);
}

static void
links_text (const GArray *links, GString *out)
{
  if (links == NULL || links->len == 0)
    return;
  g_string_append (out, "\n# links, by class\n");
  rep_text (rep_links_table (links), out);
}

/* ---- cores ---- */

#define CPU(...) BASE_MEMBER (ColCpuUse, __VA_ARGS__)
static const BaseMember cpu_members[] = {
  CPU ("use", use, .title = "use"),
  CPU ("cores", cores, BASE_SHOWN ("cores", 1, "%.3g")),
  BASE_MEMBER_END,
};

static void
cpu_text (const ColRunInfo *run, GString *out)
{
  if (run->cpu == NULL || run->cpu->len == 0)
    return;
  g_string_append (out, "\n# CPU: cores of a node that are busy, on average\n");
  rep_text (base_members_table (cpu_members, run->cpu), out);
  if (run->diagnosis != NULL)
    g_string_append_printf (out, "%s\n", run->diagnosis);
}

/* ---- one workload ---- */

BASE_MEMBER_WHEN (has_cpu, ScnResult, it->run.cpu != NULL && it->run.cpu->len > 0)
BASE_MEMBER_WHEN (has_diagnosis, ScnResult, it->run.diagnosis != NULL)
BASE_MEMBER_WHEN (has_communicators, ScnResult, it->communicators > 0)

BASE_MEMBER_TEXT_OF (kind_of, ScnResult, it->jobs != NULL ? "jobs" : base_name (scn_kind_names, (int)it->kind))

static const BaseMember head_members[] = { { .key = "kind", .text = kind_of }, BASE_MEMBER_END };
static const BaseMember tail_members[] = {
  RESULT ("communicators", communicators, .when = has_communicators, .optional = TRUE),
  RESULT ("create_s", create_s, .when = has_communicators, .optional = TRUE),
  RESULT ("connect_s", connect_s, .when = has_communicators, .optional = TRUE),
  RESULT ("links", run.links, .sub = link_members),
  RESULT ("cpu_cores_busy", run.cpu_cores, .when = has_cpu, .optional = TRUE),
  RESULT ("cpu", run.cpu, .sub = cpu_members, .when = has_cpu, .optional = TRUE),
  RESULT ("cpu_diagnosis", run.diagnosis, .when = has_diagnosis, .optional = TRUE),
  RESULT ("events", run.n_events),
  BASE_MEMBER_END,
};

/* `who`: " NAME", or "". */
static void
create_text (const char *who, const ScnResult *result, GString *out)
{
  if (result->communicators == 0)
    return;
  g_string_append_printf (out, "%s%s: ", result->create_each_step ? "each step" : "set-up", who);
  rep_say (out, tail_members, result, "{communicators#communicator} created and connected in {create_s}");
  if (result->connect_s > 0)
    rep_say (out, tail_members, result, ", {connect_s} of it at their first use");
  g_string_append_printf (out, " (%s)\n", base_source_name (result->create_source));
}

/* ---- jobs ---- */

BASE_MEMBER_TEXT_OF (kind_of_job, ScnJobResult, base_name (scn_kind_names, (int)it->alone->kind))
BASE_MEMBER_TEXT_OF (bound_of_job, ScnJobResult, scn_result_bound_by (it->alone))
BASE_MEMBER_NUMBER_OF (slowdown, ScnJobResult, it->alone_s > 0 ? it->time_s / it->alone_s : (double)NAN)
BASE_MEMBER_NUMBER_OF (each_s, ScnJobResult, it->time_s / it->rounds.steps)
BASE_MEMBER_NUMBER_OF (each_alone_s, ScnJobResult, it->alone_s / it->rounds.steps)
BASE_MEMBER_WHEN (has_rounds, ScnJobResult, it->rounds.steps > 0)
BASE_MEMBER_WHEN (has_drained, TrnRoundsResult, it->drained > 0)

static void
write_alone (const void *of, JsonBuilder *json)
{
  rep_run_json (((const ScnJobResult *)of)->alone, json);
}

static const BaseMember rounds_members[] = {
  ROUNDS ("steps", steps),
  ROUNDS ("compute_s", compute_s),
  ROUNDS ("data_stall_s", data_s),
  ROUNDS ("checkpoint_stall_s", stall_s),
  ROUNDS ("checkpoints", saves),
  ROUNDS ("drain_s", drain_s, .when = has_drained),
  BASE_MEMBER_END,
};

#define SERVICE(...) BASE_MEMBER (ScnJobService, __VA_ARGS__)
static const BaseMember service_members[] = {
  SERVICE ("ttft_p50_s", ttft_p50_s), SERVICE ("ttft_p99_s", ttft_p99_s), SERVICE ("tpot_p50_s", tpot_p50_s),
  SERVICE ("tpot_p99_s", tpot_p99_s), SERVICE ("transfer_s", transfer_s), SERVICE ("duration_s", duration_s),
  BASE_MEMBER_END,
};
BASE_MEMBER_WHEN (is_service, ScnJobResult, it->serves)

static const BaseMember job_members[] = {
  JOB ("name", name, .title = "job"),
  { .key = "kind", .text = kind_of_job },
  JOB ("nodes", nodes),
  JOB ("time_s", time_s, .title = "time"),
  JOB ("alone_s", alone_s, .title = "alone"),
  { .key = "slowdown", .number = slowdown, BASE_SHOWN ("slowdown", 1, "%.3f") },
  { .key = "bound_by", .text = bound_of_job, .title = "bottleneck alone" },
  JOB ("rounds", rounds, .sub = rounds_members, .when = has_rounds, .optional = TRUE),
  JOB ("rounds_alone", rounds_alone, .sub = rounds_members, .when = has_rounds, .optional = TRUE),
  JOB ("service", service, .sub = service_members, .when = is_service, .optional = TRUE),
  JOB ("service_alone", service_alone, .sub = service_members, .when = is_service, .optional = TRUE),
  { .key = "alone", .kind = BASE_MEMBER_WRITTEN, .write = write_alone },
  BASE_MEMBER_END,
};

static const BaseMember jobs_members[] = { RESULT ("jobs", jobs, .sub = job_members), BASE_MEMBER_END };

/* What is said of a training job's steps, behind the table. */
static const BaseMember step_members[] = {
  { .key = "each_s", .number = each_s },
  { .key = "each_alone_s", .number = each_alone_s },
  { .kind = BASE_MEMBER_GROUP, .sub = job_members },
  BASE_MEMBER_END,
};

static void
rounds_text (const ScnJobResult *job, GString *out)
{
  const TrnRoundsResult *now = &job->rounds;
  if (now->steps == 0)
    return;
  rep_say (out, step_members, job, "{name}: {rounds.steps#step}, {each_s} each (alone {each_alone_s})");
  if (now->data_s > 0 || job->rounds_alone.data_s > 0)
    rep_say (out, job_members, job, "; waits {rounds.data_stall_s} for data (alone {rounds_alone.data_stall_s})");
  if (now->saves > 0)
    rep_say (out, job_members, job,
             "; {rounds.checkpoints#checkpoint}, {rounds.checkpoint_stall_s} stalled (alone {rounds_alone.checkpoint_stall_s})");
  if (now->drained > 0)
    rep_say (out, job_members, job, ", drained in {rounds.drain_s} (alone {rounds_alone.drain_s})");
  g_string_append_c (out, '\n');
}

static void
service_text (const ScnJobResult *job, GString *out)
{
  if (!job->serves)
    return;
  rep_say (out, job_members, job,
           "{name}: an answer takes {time_s} (alone {alone_s}); its first token p50 {service.ttft_p50_s}, p99 {service.ttft_p99_s} "
           "(alone {service_alone.ttft_p50_s}, {service_alone.ttft_p99_s}); TPOT p50 {service.tpot_p50_s}, p99 "
           "{service.tpot_p99_s} (alone {service_alone.tpot_p50_s}, {service_alone.tpot_p99_s})");
  if (job->service.transfer_s > 0)
    rep_say (out, job_members, job, "; KV moves in {service.transfer_s} (alone {service_alone.transfer_s})");
  rep_say (out, job_members, job, "; requests for {service.duration_s}\n");
}

static BaseTable *
jobs_table (const ScnResult *result)
{
  BaseTable *table = base_members_table (job_members, NULL);
  for (guint i = 0; i < result->jobs->len; i++)
    base_members_add (table, job_members, result->jobs->pdata[i]);
  return table;
}

static void
jobs_text (const ScnResult *result, GString *out)
{
  rep_text (jobs_table (result), out);
  for (guint i = 0; i < result->jobs->len; i++)
    rounds_text (result->jobs->pdata[i], out);
  for (guint i = 0; i < result->jobs->len; i++)
    service_text (result->jobs->pdata[i], out);
  for (guint i = 0; i < result->jobs->len; i++) {
    const ScnJobResult *job = result->jobs->pdata[i];
    g_autofree char *who = g_strconcat (" ", job->name, NULL);
    create_text (who, job->alone, out);
  }
}

/* ---- all of it ---- */

/* The members of a result, which are those of its kind; *of is what they are members of. */
static const BaseMember *
members_with (const ScnResult *result, const void **of)
{
  *of = result->jobs != NULL ? result : of_kind (result);
  return result->jobs != NULL ? jobs_members : members_of (result);
}

/* Groups of the same members that follow each other: a table with a row for each, named by its title in the first column, which
 * the members leave to code. Returned: the last of them. */
static const BaseMember *
groups_text (const ScnResult *result, const BaseMember *first, GString *out)
{
  BaseTable *table = base_members_table (first->sub, NULL);
  const BaseMember *member = first;
  for (;; member++) {
    base_members_add (table, first->sub, (const char *)result->own + member->offset);
    base_table_text (table, first->sub->key, member->title);
    if (member[1].kind != BASE_MEMBER_GROUP || member[1].sub != first->sub)
      break;
  }
  rep_text (table, out);
  g_string_append_c (out, '\n');
  return member;
}

/* Groups that have a title as tables, all single values in a row, and a table of each list that has a title. */
static void
own_text (const ScnResult *result, GString *out)
{
  const BaseMember *members = members_of (result);
  for (const BaseMember *member = members; member->key != NULL || member->sub != NULL; member++)
    if (member->kind == BASE_MEMBER_GROUP && member->title != NULL && member->sub->by_hand)
      member = groups_text (result, member, out);
  rep_text (base_members_row (members, NULL, result->own), out);
  for (const BaseMember *member = members; member->key != NULL || member->sub != NULL; member++) {
    const GArray *rows = member->kind == BASE_MEMBER_LIST ? *(GArray *const *)((const char *)result->own + member->offset) : NULL;
    if (rows == NULL || member->title == NULL)
      continue;
    g_string_append_printf (out, "\n# %s\n", member->title);
    rep_text (base_members_table (member->sub, rows), out);
  }
}

void
rep_run_text (const ScnResult *result, GString *out)
{
  if (result->jobs != NULL)
    jobs_text (result, out);
  else if (is_own (result))
    own_text (result, out);
  else
    kinds[result->kind].text (of_kind (result), out);
  if (result->jobs == NULL)
    create_text ("", result, out);
  links_text (result->run.links, out);
  cpu_text (&result->run, out);
}

BaseTable *
rep_run_table (const ScnResult *result)
{
  const void *of;
  const BaseMember *members = members_with (result, &of);
  const char *const *columns = is_own (result) ? NULL : kinds[result->kind].columns;
  return result->jobs != NULL ? jobs_table (result) : base_members_row (members, columns, of);
}

#define N_WHOLE 4

/* Those of all kinds around those of its own. */
static void
whole_members (const ScnResult *result, BaseMember whole[N_WHOLE])
{
  const void *of;
  const BaseMember *members = members_with (result, &of);
  const size_t offset = (size_t)((const char *)of - (const char *)result);
  const BaseMember parts[N_WHOLE] = { { .kind = BASE_MEMBER_GROUP, .sub = head_members },
                                      { .kind = BASE_MEMBER_GROUP, .sub = members, .offset = offset },
                                      { .kind = BASE_MEMBER_GROUP, .sub = tail_members },
                                      BASE_MEMBER_END };
  memcpy (whole, parts, sizeof parts);
}

void
rep_run_json_members (const ScnResult *result, JsonBuilder *json)
{
  BaseMember whole[N_WHOLE];
  whole_members (result, whole);
  base_members_json (whole, result, json);
}

void
rep_run_json (const ScnResult *result, JsonBuilder *json)
{
  json_builder_begin_object (json);
  rep_run_json_members (result, json);
  json_builder_end_object (json);
}
