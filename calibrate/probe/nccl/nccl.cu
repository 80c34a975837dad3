/* The NCCL section: which settings, which cases, in which order. Each setting runs in workers of its own, because NCCL reads its
 * variables once a process; this process does not start NCCL. What hangs is killed with its workers, and the rest goes on.
 *
 * Stages, the most valuable first, each with a share of the time by its weight; what one leaves goes to those after it:
 *   choice     what NCCL chooses, from its log; one run a size
 *   auto       NCCL's own choice: 2 and n GPUs or nodes, graphs, all operations
 *   ring_ll …  forced: ring and tree by each protocol; 2 and n, graphs; channels; threads; other counts
 *   collnet …  over nodes: what NCCL may offer
 *   auto       the other launches and counts, on one node in the worker of before
 *   p2p_off    one node: NCCL_P2P_DISABLE=1, few sizes */
#include "nccl_section.h"

#include "nccl_lib.h"
#include "probe_core.h"
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
  const NcclCrew *crew;
  bool over_nodes; /* points say of how many */
  size_t asked;    /* cases of this stage */
  NcclBad bad[FAILURES_MOST];
  unsigned failures;
} NcclSection;

/* ---- one case ---- */

static const char *
what_of (const NcclStage *stage, const ProbeRequest *request)
{
  return stage->choice ? "choice" : probe_op_name (request->op);
}

static ProbeCase *
make_point (NcclSection *s, const NcclStage *stage, const ProbeRequest *request)
{
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
  return point;
}

static void
take_choice (NcclSection *s, ProbeCase *point, const char *line)
{
  char algo[24], proto[16];
  int channels = -1;
  if (sscanf (line, "choice %23s %15s %d", algo, proto, &channels) != 3) {
    probe_fail ("the worker's answer is no choice");
    probe_failed (s->probe, point);
    return;
  }
  probe_add (point, { { "algo", algo }, { "proto", proto } });
  if (channels > 0)
    probe_add (point, { { "channels", channels } });
  probe_fact (s->probe, point);
}

/* New workers are spared what others died of. */
static bool
is_spared (const NcclSection *s, const ProbeRequest *request)
{
  bool spared = false;
  for (unsigned i = 0; i < s->failures && !spared; i++) {
    const ProbeRequest *bad = &s->bad[i].request;
    spared = s->bad[i].apart ? bad->nodes == request->nodes && bad->gpus == request->gpus && bad->channels == request->channels
                             : bad->op == request->op && bad->launch == request->launch;
  }
  return spared;
}

static void
take_line (NcclSection *s, const NcclStage *stage, ProbeCase *point, const char *line)
{
  double sample[PROBE_SAMPLES_MOST];
  unsigned in_a_row;
  size_t n = probe_answer_read (line, &in_a_row, sample, PROBE_SAMPLES_MOST);
  if (stage->choice && strncmp (line, "choice ", 7) == 0) {
    take_choice (s, point, line);
    return;
  }
  if (n > 0)
    probe_add (point, { { "iters", in_a_row } });
  else
    probe_fail ("%s", strncmp (line, "error ", 6) == 0 ? line + 6 : "the worker's answer is no time");
  probe_point (s->probe, point, sample, n);
}

/* False: the workers are gone. */
static bool
ask (NcclSection *s, const NcclStage *stage, const ProbeRequest *request, double end_s)
{
  char line[NCCL_LINE_MOST];
  ProbeCase *point = make_point (s, stage, request);
  NcclAsked asked = s->crew->ask (s->crew->user, request, end_s, line);
  if (asked == NCCL_ASKED_LINE) {
    take_line (s, stage, point, line);
    return true;
  }
  if (asked == NCCL_ASKED_STOPPED)
    probe_skip (s->probe, point, "interrupted");
  else if (stage->offered && s->asked == 1)
    probe_skip (s->probe, point, probe_why ()); /* not to be had here: no failure */
  else
    probe_failed (s->probe, point);
  s->bad[s->failures].apart = asked == NCCL_ASKED_APART;
  s->bad[s->failures++].request = *request;
  s->crew->stop (s->crew->user, 0);
  return false;
}

/* ---- what NCCL says of the machine ---- */

static void
keep_topology (NcclSection *s)
{
  FILE *file = fopen (s->crew->xml, "r");
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
case_share (double end_s, size_t cases_left)
{
  double share = (end_s - probe_now ()) / (double)cases_left;
  return share < CASE_LEAST_S ? CASE_LEAST_S : share > CASE_MOST_S ? CASE_MOST_S : share;
}

/* By --only; what there is no time for any more is still wanted. */
static bool
is_wanted (NcclSection *s, const NcclStage *stage, const ProbeRequest *request)
{
  return probe_options_want (&s->probe->options, "nccl", what_of (stage, request));
}

static size_t
count_wanted (NcclSection *s, const NcclStage *stage)
{
  size_t wanted = 0;
  for (size_t i = 0; i < stage->n; i++)
    wanted += is_wanted (s, stage, &stage->request[i]);
  return wanted;
}

static void
list_stage (NcclSection *s, const NcclStage *stage)
{
  for (size_t i = 0; i < stage->n; i++)
    if (is_wanted (s, stage, &stage->request[i]))
      probe_list (s->probe, make_point (s, stage, &stage->request[i]));
}

static bool
begin_stage (NcclSection *s, const NcclStage *stage, double end_s)
{
  if (s->crew->start (s->crew->user, stage, end_s))
    return true;
  if (!probe_interrupted ())
    probe_note (s->probe, "nccl: %s is left out: %.1500s", stage->name, probe_why ());
  return false;
}

/* After workers failed. False: the stage is over. */
static bool
go_on (NcclSection *s, const NcclStage *stage, double end_s)
{
  if (stage->offered && s->asked == 1) {
    probe_note (s->probe, "nccl: %s: NCCL does not offer it here, or it failed at once; the rest of it was not tried", stage->name);
    return false;
  }
  return !probe_stopped (s->probe) && s->failures < FAILURES_MOST && end_s - probe_now () >= START_LEAST_S &&
         begin_stage (s, stage, end_s);
}

/* `left`: cases that were not come to. */
static void
say_what_was_left (NcclSection *s, const NcclStage *stage, size_t left, size_t wanted)
{
  if (probe_interrupted () || (stage->offered && s->asked == 1 && s->failures > 0)) /* go_on said it */
    return;
  if (s->failures > 0)
    probe_note (s->probe, "nccl: %s: its worker failed %u time%s; what it was asked is marked, and %zu of %zu cases were not tried",
                stage->name, s->failures, s->failures == 1 ? "" : "s", wanted - s->asked, wanted);
  else if (left > 0 && !s->probe->lost)
    probe_left_out (s->probe, probe_text ("%s %zu of %zu cases", stage->name, left, wanted));
}

static void
run_cases (NcclSection *s, const NcclStage *stage, size_t wanted, double end_s)
{
  size_t left = wanted;
  for (size_t i = 0; i < stage->n && !probe_stopped (s->probe) && probe_now () < end_s; i++) {
    ProbeRequest request = stage->request[i];
    if (!is_wanted (s, stage, &request))
      continue;
    left--;
    if (is_spared (s, &request))
      continue;
    request.share_s = case_share (end_s, left + 1);
    request.target = probe_options (s->probe)->target;
    s->asked++;
    if (ask (s, stage, &request, end_s)) {
      if (stage->choice && s->asked == 1)
        keep_topology (s); /* the first has all GPUs */
    } else if (!go_on (s, stage, end_s)) {
      break;
    }
  }
  say_what_was_left (s, stage, left, wanted);
}

static void
run_stage (NcclSection *s, const NcclStage *stage, size_t wanted, double end_s)
{
  s->asked = 0;
  s->failures = 0;
  if (end_s - probe_now () < START_LEAST_S) {
    probe_left_out (s->probe, probe_text ("%s all %zu cases", stage->name, wanted));
    return;
  }
  if (s->over_nodes) /* nobody sees a point's line there: what MPI starts has no terminal */
    fprintf (stderr, "forerun-probe: nccl: %s: %zu cases, up to %.0f s\n", stage->name, wanted, end_s - probe_now ());
  if (!begin_stage (s, stage, end_s))
    return;
  run_cases (s, stage, wanted, end_s);
  if (stage->stays && !probe_interrupted ())
    s->crew->keep (s->crew->user);
  s->crew->stop (s->crew->user, probe_interrupted () ? 0 : END_PATIENCE_S);
}

/* A stage of which nothing is wanted has no share. */
static void
run_plan (NcclSection *s, const NcclPlan *plan, const std::vector<size_t> &wanted)
{
  double weights = 0;
  for (size_t k = 0; k < plan->n; k++)
    weights += wanted[k] > 0 ? plan->stage[k].weight : 0;
  for (size_t k = 0; k < plan->n && !probe_interrupted () && !s->probe->lost; k++) {
    if (wanted[k] == 0)
      continue;
    double share = probe_left (s->probe) * plan->stage[k].weight / weights;
    run_stage (s, &plan->stage[k], wanted[k], probe_now () + share);
    weights -= plan->stage[k].weight;
    probe_document_save_sometimes (s->probe);
  }
}

bool
nccl_section_run (Probe *probe, const NcclPlan *plan, const NcclCrew *crew, bool over_nodes)
{
  NcclSection s = NcclSection ();
  s.probe = probe;
  s.crew = crew;
  s.over_nodes = over_nodes;
  probe->left_is_told = true;
  std::vector<size_t> wanted;
  bool any = false;
  for (size_t k = 0; k < plan->n; k++) {
    if (probe_listing (probe))
      list_stage (&s, &plan->stage[k]);
    wanted.push_back (count_wanted (&s, &plan->stage[k]));
    any = any || wanted[k] > 0;
  }
  if (probe_listing (probe) || !any) /* --only may name something that is not here; the program says so */
    return true;
  if (!nccl_lib_open (probe_options (probe)->nccl_library)) {
    probe_note (probe, "nccl: %s", probe_why ());
    return false;
  }
  run_plan (&s, plan, wanted);
  return true;
}
