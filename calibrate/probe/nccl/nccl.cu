/* The NCCL section: which settings, which cases, in which order. Each setting runs in workers of its own, because NCCL reads its
 * variables once a process; this process does not start NCCL. What hangs is killed with its workers, and the rest goes on.
 *
 * Stages, the most valuable first, each with a share of the time by its weight; what one leaves goes to those after it:
 *   choice     what NCCL chooses, from its log; one run a size
 *   auto       NCCL's own choice: 2 and n GPUs or nodes, graphs, all operations
 *   ring_ll …  forced: ring and tree by each protocol; 2 and n, graphs; channels; threads; other counts
 *   collnet …  over nodes: what NCCL may offer
 *   auto       the other launches and counts, on one node in the worker of before
 *   registered, symmetric   one node: buffers that peers write without a copy
 *   p2p_off    one node: NCCL_P2P_DISABLE=1, few sizes */
#include "nccl_section.h"

#include "nccl_lib.h"
#include "probe_core.h"
#include "probe_dry.h"
#include "probe_stats.h"

#include <stdio.h>
#include <string.h>

#define END_PATIENCE_S 3.0   /* for a worker to take its communicators apart; its end frees the rest as well */
#define START_LEAST_S  4.0   /* a stage with less than this is over before its worker has started */
#define CASE_LEAST_S   0.015 /* samples of a short operation */
#define CASE_MOST_S    3.0
#define FAILURES_MOST  3 /* of workers in a stage; then its setting is left alone */
#define XML_MOST       ((size_t)8 << 20)

/* What brought the workers of a stage down: an operation by a launch, or a shape that did not come together. */
typedef struct {
  bool apart;
  ProbeRequest request;
} NcclBad;

typedef struct {
  Probe *probe;
  const NcclWorkers *workers;
  bool over_nodes;        /* points say of how many */
  const NcclStage *stage; /* that runs; as all below */
  double end_s;
  size_t asked; /* cases */
  std::vector<NcclBad> bad;
} NcclSection;

/* ---- one case ---- */

static const char *
what_of (const NcclStage *stage, const ProbeRequest *request)
{
  return stage->choice ? "choice" : probe_op_name (request->op);
}

static ProbeCase *
make_point (const NcclSection *s, const ProbeRequest *request)
{
  const NcclStage *stage = s->stage;
  ProbeCase *point = probe_case ("nccl", what_of (stage, request));
  if (stage->choice)
    probe_add (point, { { "op", probe_op_name (request->op) } });
  else
    probe_add (point, { { "setting", stage->name } });
  if (s->over_nodes)
    probe_add (point, { { "nodes", request->nodes } });
  probe_add (point, { { "gpus", request->gpus },
                      { "bytes", probe_op_bytes (request->op, request->bytes, probe_request_ranks (request)) } });
  if (stage->choice)
    return point;
  probe_add (point, { { "launch", probe_launch_name (request->launch) },
                      { "in_place", request->in_place },
                      { "algo", stage->algo },
                      { "proto", stage->proto } });
  if (request->channels > 0)
    probe_add (point, { { "channels", request->channels } });
  probe_add (point, { { "p2p", stage->p2p } });
  if (stage->buffers != NULL)
    probe_add (point, { { "buffers", stage->buffers } });
  return point;
}

/* New workers are spared what others died of. */
static bool
is_spared (const NcclSection *s, const ProbeRequest *request)
{
  for (const NcclBad &bad : s->bad) {
    const ProbeRequest *its = &bad.request;
    if (bad.apart ? its->nodes == request->nodes && its->gpus == request->gpus && its->channels == request->channels
                  : its->op == request->op && its->launch == request->launch)
      return true;
  }
  return false;
}

/* A choice or samples, or why there are none. */
static void
take_line (NcclSection *s, ProbeCase *point, const char *line)
{
  double sample[PROBE_SAMPLES_MOST];
  unsigned in_a_row;
  char algo[24], proto[16];
  int channels;
  size_t n = probe_answer_read (line, &in_a_row, sample, PROBE_SAMPLES_MOST);
  if (s->stage->choice && sscanf (line, "choice %23s %15s %d", algo, proto, &channels) == 3) {
    probe_add (point, { { "algo", algo }, { "proto", proto } });
    if (channels > 0)
      probe_add (point, { { "channels", channels } });
    probe_fact (s->probe, point);
    return;
  }
  if (n > 0)
    probe_add (point, { { "iters", in_a_row } });
  else
    probe_fail ("%s", strncmp (line, "error ", 6) == 0 ? line + 6
                      : s->stage->choice               ? "the worker's answer is no choice"
                                                       : "the worker's answer is no time");
  probe_point (s->probe, point, sample, n);
}

/* Its setting may not be to be had at all. */
static bool
is_first_offer (const NcclSection *s)
{
  return s->stage->offered && s->asked == 1;
}

/* False: the workers are gone. */
static bool
query (NcclSection *s, const ProbeRequest *request)
{
  char line[NCCL_LINE_MOST];
  ProbeCase *point = make_point (s, request);
  NcclReply asked = s->workers->query (s->workers->user, request, s->end_s, line);
  if (asked == NCCL_REPLY_LINE) {
    take_line (s, point, line);
    return true;
  }
  if (asked == NCCL_REPLY_STOPPED)
    probe_skip (s->probe, point, "interrupted");
  else if (is_first_offer (s))
    probe_skip (s->probe, point, probe_why ()); /* no failure */
  else
    probe_failed (s->probe, point);
  s->bad.push_back ({ asked == NCCL_REPLY_APART, *request });
  s->workers->stop (s->workers->user, 0);
  return false;
}

/* What NCCL says of the machine. */
static void
keep_topology (NcclSection *s)
{
  FILE *file = fopen (s->workers->xml, "r");
  std::string text;
  char part[4096];
  for (size_t n = 1; file != NULL && n > 0 && text.size () <= XML_MOST;) {
    n = fread (part, 1, sizeof part, file);
    text.append (part, n);
  }
  if (file != NULL)
    fclose (file);
  if (!text.empty () && text.size () <= XML_MOST)
    s->probe->topology_xml = text;
}

/* ---- stages ---- */

static double
case_share (const NcclSection *s, size_t cases_left)
{
  double share = (s->end_s - probe_now ()) / (double)cases_left;
  return share < CASE_LEAST_S ? CASE_LEAST_S : share > CASE_MOST_S ? CASE_MOST_S : share;
}

static bool
begin_stage (NcclSection *s)
{
  if (s->workers->start (s->workers->user, s->stage, s->end_s))
    return true;
  if (!probe_interrupted ())
    probe_note (s->probe, "nccl: %s is left out: %.1500s", s->stage->name, probe_why ());
  return false;
}

/* After workers failed. False: the stage is over. */
static bool
go_on (NcclSection *s)
{
  if (is_first_offer (s)) {
    probe_note (s->probe, "nccl: %s: NCCL does not offer it here, or it failed at once; the rest of it was not tried",
                s->stage->name);
    return false;
  }
  return !probe_stopped (s->probe) && s->bad.size () < FAILURES_MOST && s->end_s - probe_now () >= START_LEAST_S && begin_stage (s);
}

/* `left`: cases that were not come to. */
static void
say_what_was_left (NcclSection *s, size_t left)
{
  const NcclStage *stage = s->stage;
  const size_t failures = s->bad.size ();
  if (probe_interrupted () || (is_first_offer (s) && failures > 0)) /* go_on said it */
    return;
  if (failures > 0)
    probe_note (s->probe,
                "nccl: %s: its worker failed %zu time%s; what it was asked is marked, and %zu of %zu cases were not tried",
                stage->name, failures, failures == 1 ? "" : "s", stage->n - s->asked, stage->n);
  else if (left > 0 && !s->probe->lost)
    probe_left_out (s->probe, probe_text ("%s %zu of %zu cases", stage->name, left, stage->n));
}

static void
run_cases (NcclSection *s)
{
  size_t left = s->stage->n;
  for (; left > 0 && !probe_stopped (s->probe) && probe_now () < s->end_s; left--) {
    ProbeRequest request = s->stage->request[s->stage->n - left];
    if (is_spared (s, &request))
      continue;
    request.share_s = case_share (s, left);
    request.target = probe_options (s->probe)->target;
    s->asked++;
    bool ok = query (s, &request);
    if (ok && s->stage->choice && s->asked == 1)
      keep_topology (s); /* the first has all GPUs */
    if (!ok && !go_on (s)) {
      left--;
      break;
    }
  }
  say_what_was_left (s, left);
}

static void
run_stage (NcclSection *s, const NcclStage *stage, double share_s)
{
  s->stage = stage;
  s->end_s = probe_now () + share_s;
  s->asked = 0;
  s->bad.clear ();
  if (share_s < START_LEAST_S) {
    probe_left_out (s->probe, probe_text ("%s all %zu cases", stage->name, stage->n));
    return;
  }
  if (s->over_nodes) /* nobody sees a point's line there: what MPI starts has no terminal */
    fprintf (stderr, "forerun-probe: nccl: %s: %zu cases, up to %.0f s\n", stage->name, stage->n, share_s);
  if (!begin_stage (s))
    return;
  run_cases (s);
  if (stage->stays && !probe_interrupted ())
    s->workers->keep (s->workers->user);
  s->workers->stop (s->workers->user, probe_interrupted () ? 0 : END_PATIENCE_S);
}

/* A stage of which nothing is wanted has no share. */
static void
run_plan (NcclSection *s, const NcclPlan *plan)
{
  double weights = 0;
  for (size_t k = 0; k < plan->n; k++)
    weights += plan->stage[k].n > 0 ? plan->stage[k].weight : 0;
  for (size_t k = 0; k < plan->n && !probe_interrupted () && !s->probe->lost; k++) {
    const NcclStage *stage = &plan->stage[k];
    if (stage->n == 0)
      continue;
    run_stage (s, stage, probe_left (s->probe) * stage->weight / weights);
    weights -= stage->weight;
    probe_document_save_sometimes (s->probe);
  }
}

/* Leaves what --only lets through; what there is no time for any more is still wanted. Returns how much. */
static size_t
leave_wanted (Probe *probe, NcclStage *stage)
{
  size_t wanted = 0;
  for (size_t i = 0; i < stage->n; i++)
    if (probe_options_want (&probe->options, "nccl", what_of (stage, &stage->request[i])))
      stage->request[wanted++] = stage->request[i];
  stage->n = wanted;
  return wanted;
}

bool
nccl_section_run (Probe *probe, NcclPlan *plan, const NcclWorkers *workers, bool over_nodes)
{
  NcclSection s = NcclSection ();
  size_t wanted = 0;
  const bool lists = probe_options (probe)->list && !probe_options (probe)->dry_run;
  s.probe = probe;
  s.workers = workers;
  s.over_nodes = over_nodes;
  probe->left_is_told = true;
  for (size_t k = 0; k < plan->n; k++) {
    s.stage = &plan->stage[k];
    wanted += leave_wanted (probe, &plan->stage[k]);
    for (size_t i = 0; i < s.stage->n && lists; i++)
      probe_list (probe, make_point (&s, &s.stage->request[i]));
  }
  if (probe_options (probe)->dry_run && wanted > 0)
    probe_dry_print (stdout, plan, probe_options (probe));
  if (probe_options (probe)->list || wanted == 0) /* --only may name something that is not here; the program says so */
    return true;
  bool ok = nccl_lib_open (probe_options (probe)->nccl_library);
  if (ok)
    run_plan (&s, plan);
  else
    probe_note (probe, "nccl: %s", probe_why ());
  return ok;
}
