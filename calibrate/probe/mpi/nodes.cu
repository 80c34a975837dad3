/* One case over nodes: all its workers have a communicator of its shape, which is made when it is first asked for and dropped when
 * there are too many; then all get the same line, and their answers count as one. Which communicators there are is known here
 * alone, so that all workers make and drop them in the same order. */
#include "nodes.h"

#include "probe_core.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What hangs costs its setting what that has left, or this where that is less: a communicator, a start take seconds. */
#ifndef NODES_PATIENCE_LEAST_S
#define NODES_PATIENCE_LEAST_S 10.0
#endif
#define PATIENCE_MOST_S 180.0 /* for a communicator: of thousands of GPUs it takes a minute */
#define JOINS_STRETCH   3     /* and so many times what the slowest took that came about, where the others are nearly over */
#define LIMIT_MARGIN_S  5.0   /* silence is said by the process that keeps the worker; after this, by process 0 */
#define SHARE_STRETCH   10    /* a case may take so many of its shares where its samples are slow, as nccl_agree_enough has it */
#define STOP_MARGIN_S   30.0

typedef struct {
  Probe *probe;
  Nodes *nodes;
  std::vector<RanksOrder> order; /* one for each GPU */
  std::vector<ProbeAnswer> answer;
  ProbeAnswer verdict;
  size_t capacity_B;           /* of the smallest buffer */
  std::vector<ProbeJoin> made; /* the oldest first; their ids are of no more use */
  double slowest_join_s;
  bool running;
} Crew;

/* ---- orders ---- */

static unsigned
all_ranks (const Crew *workers)
{
  return workers->nodes->layout.nodes * workers->nodes->layout.gpus;
}

static void order (Crew *workers, unsigned i, unsigned rank, const char *format, ...) __attribute__ ((format (printf, 4, 5)));

static void
order (Crew *workers, unsigned i, unsigned rank, const char *format, ...)
{
  va_list list;
  va_start (list, format);
  workers->order[i].rank = rank;
  vsnprintf (workers->order[i].command, PROBE_COMMAND_MOST, format, list);
  va_end (list);
}

/* Carries out the first n orders; false: not one line came of it, crew->verdict says why. */
static bool
carry_out (Crew *workers, unsigned n, double limit_s)
{
  if (!ranks_do (workers->nodes->ranks, workers->order.data (), n, limit_s, workers->answer.data ())) {
    workers->nodes->lost = true;
    workers->probe->lost = true;
  }
  probe_answers_merge (workers->answer.data (), n, &workers->verdict);
  return workers->verdict.said == PROBE_REPLY_LINE;
}

/* How long a worker may be silent. */
static double
patience_s (const Crew *workers, double end_s, double most_s)
{
  double least_s = fmax (NODES_PATIENCE_LEAST_S, workers->slowest_join_s * JOINS_STRETCH);
  return fmin (most_s, fmax (end_s - probe_now (), least_s));
}

/* The same question to the workers of a shape. */
static bool
ask_shape (Crew *workers, ProbeShape shape, const char *line, double patience, double limit_s)
{
  unsigned n = shape.nodes * shape.gpus;
  for (unsigned i = 0; i < n; i++)
    order (workers, i, probe_layout_rank (&workers->nodes->layout, shape.gpus, i), "ask %.9g %s", patience, line);
  return carry_out (workers, n, limit_s);
}

/* ---- communicators ---- */

static bool
drop_oldest (Crew *workers, double end_s)
{
  double patience = patience_s (workers, end_s, PATIENCE_MOST_S);
  char line[64];
  ProbeJoin oldest = workers->made[0];
  workers->made.erase (workers->made.begin ());
  return probe_drop_write (&oldest, line, sizeof line) &&
         ask_shape (workers, { oldest.nodes, oldest.gpus }, line, patience, patience + LIMIT_MARGIN_S);
}

/* Rank 0 of the new communicator makes its id. */
static bool
get_id (Crew *workers, ProbeJoin *join, double end_s)
{
  double patience = patience_s (workers, end_s, NCCL_PATIENCE_S);
  order (workers, 0, probe_layout_rank (&workers->nodes->layout, join->gpus, 0), "ask %.9g id", patience);
  return carry_out (workers, 1, patience + LIMIT_MARGIN_S) && probe_id_read (workers->verdict.text, join->id);
}

static bool
join (Crew *workers, const ProbeRequest *request, double end_s)
{
  for (const ProbeJoin &made : workers->made)
    if (made.nodes == request->nodes && made.gpus == request->gpus && made.channels == request->channels)
      return true;
  ProbeJoin join = ProbeJoin ();
  join.nodes = request->nodes;
  join.gpus = request->gpus;
  join.channels = request->channels;
  if ((workers->made.size () == NCCL_PLAN_SETS_MOST && !drop_oldest (workers, end_s)) || !get_id (workers, &join, end_s))
    return false;
  unsigned n = request->nodes * request->gpus;
  double begin_s = probe_now (), patience = patience_s (workers, end_s, PATIENCE_MOST_S);
  for (join.rank = 0; join.rank < n; join.rank++) {
    char line[512];
    if (!probe_join_write (&join, line, sizeof line))
      return false;
    order (workers, join.rank, probe_layout_rank (&workers->nodes->layout, join.gpus, join.rank), "ask %.9g %s", patience, line);
  }
  if (!carry_out (workers, n, patience + LIMIT_MARGIN_S) || strcmp (workers->verdict.text, "joined") != 0)
    return false;
  workers->slowest_join_s = fmax (workers->slowest_join_s, probe_now () - begin_s);
  workers->made.push_back (join);
  return true;
}

/* ---- what the section asks for ---- */

static void
stop (void *user, double patience_s)
{
  Crew *workers = (Crew *)user;
  unsigned n = all_ranks (workers);
  if (!workers->running || workers->nodes->lost)
    return;
  workers->running = false;
  workers->made.clear ();
  if (probe_interrupted ()) /* they go when all quit */
    return;
  for (unsigned i = 0; i < n; i++)
    order (workers, i, workers->nodes->layout.rank[i], "stop %.9g", patience_s);
  carry_out (workers, n, patience_s + STOP_MARGIN_S);
}

static void
keep (void *user)
{
  stop (user, 0); /* plans over nodes do not ask for it */
}

/* All are ready with the same NCCL. */
static bool
are_ready (Crew *workers, unsigned n)
{
  char first[32] = "";
  workers->capacity_B = NCCL_BUFFER_B;
  for (unsigned i = 0; i < n; i++) {
    char version[32] = "?";
    size_t bytes = 0;
    if (workers->answer[i].said != PROBE_REPLY_LINE || sscanf (workers->answer[i].text, "ready %31s %zu", version, &bytes) != 2) {
      probe_answers_merge (workers->answer.data (), n, &workers->verdict);
      return probe_fail ("%s", workers->verdict.text);
    }
    if (first[0] == '\0')
      strcpy (first, version);
    if (strcmp (first, version) != 0)
      return probe_fail ("NCCL is %s on rank 0, and %s on rank %u; all must have the same", first, version, i);
    workers->capacity_B = bytes < workers->capacity_B ? bytes : workers->capacity_B;
  }
  return true;
}

static bool
start (void *user, const NcclStage *stage, double end_s)
{
  Crew *workers = (Crew *)user;
  unsigned n = all_ranks (workers);
  NcclSettings settings;
  stop (workers, 0);
  if (workers->nodes->lost)
    return probe_fail ("a process does not answer any more");
  nccl_settings_make (&settings, stage, probe_options (workers->probe), &workers->nodes->files);
  double patience = patience_s (workers, end_s, NCCL_PATIENCE_S);
  for (unsigned k = n; k > 0; k--) { /* rank 0 last: it alone has the log */
    unsigned i = k - 1;
    bool log = i == 0 && stage->choice;
    if (log)
      nccl_settings_add_log (&settings, &workers->nodes->files);
    workers->order[i].rank = workers->nodes->layout.rank[i];
    if (!probe_member_start_write (patience, log, settings.item, workers->order[i].command, PROBE_COMMAND_MOST))
      return probe_fail ("its settings are too long");
  }
  workers->running = true;
  carry_out (workers, n, patience + LIMIT_MARGIN_S);
  if (are_ready (workers, n))
    return true;
  stop (workers, 0);
  return false;
}

static NcclReply
query (void *user, const ProbeRequest *request, double end_s, char line[NCCL_LINE_MOST])
{
  Crew *workers = (Crew *)user;
  char text[256];
  if (request->bytes > workers->capacity_B) {
    snprintf (line, NCCL_LINE_MOST, "error a GPU has room for buffers of %zu B alone", workers->capacity_B);
    return NCCL_REPLY_LINE;
  }
  bool joined = join (workers, request, end_s), ok = joined && probe_request_write (request, text, sizeof text);
  if (ok) {
    double patience = patience_s (workers, end_s, NCCL_PATIENCE_S);
    double limit_s = fmax (end_s - probe_now (), patience) + request->share_s * SHARE_STRETCH + LIMIT_MARGIN_S;
    ok = ask_shape (workers, { request->nodes, request->gpus }, text, patience, limit_s);
  }
  if (probe_interrupted ())
    return NCCL_REPLY_STOPPED;
  snprintf (line, NCCL_LINE_MOST, "%s", workers->verdict.text);
  if (ok)
    return NCCL_REPLY_LINE;
  if (joined)
    probe_fail ("%s", line);
  else
    probe_fail ("no communicator of %u nodes with %u GPUs: %s", request->nodes, request->gpus, line);
  return joined ? NCCL_REPLY_FAILED : NCCL_REPLY_APART;
}

bool
nodes_nccl (Probe *probe, Nodes *nodes)
{
  static NcclPlan plan;
  Crew workers = Crew ();
  const ProbeOptions *options = probe_options (probe);
  unsigned n = nodes->layout.nodes * nodes->layout.gpus;
  if (n < 2) {
    probe_note (probe, "nccl: one GPU: there is nothing to measure%s",
                options->list ? "; --nodes N and --gpus N imagine more" : "");
    return true;
  }
  workers.probe = probe;
  workers.nodes = nodes;
  workers.order.resize (n);
  workers.answer.resize (n);
  bool ok = nccl_plan_make_nodes (&plan, nodes->layout.nodes, nodes->layout.gpus, options->quick, !options->no_nvls);
  if (!ok)
    probe_note (probe, "nccl: out of memory");
  if (ok) {
    NcclWorkers calls = { &workers, nodes->files.xml, start, query, stop, keep };
    ok = nccl_section_run (probe, &plan, &calls, true);
    stop (&workers, 0);
  }
  if (nodes->lost)
    probe_note (probe, "nccl: a process does not answer any more: %s; what was measured before is kept", workers.verdict.text);
  nccl_plan_clear (&plan);
  return ok;
}
