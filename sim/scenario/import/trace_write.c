/* A step of a trace as a scenario of kind `program`: runs of kernels with their times, delays where the host queued late, copies,
 * and NCCL's kernels as collectives that another cluster prices. */
#include "trace-private.h"

#include <math.h>
#include <string.h>

#define COPY_B   1048576.0 /* copies to and from the host from this size are copies of the cluster; smaller ones keep their times */
#define LEAST_US 0.001

typedef struct {
  const ScnTrace *trace;
  const ScnTraceTarget *target;
  GString *out;
  GArray *recorded; /* by rank: GArray of guint, number of the event that each activity records; 0: none */
  guint events;
  GHashTable *joint; /* "group/n" -> Joint: collectives of several ranks with traces */
} Write;

/* A collective that several traces hold: written once, on the first rank's stream. */
typedef struct {
  guint callers;         /* with traces */
  guint owner, of_owner; /* the first of them, and its activity */
  guint done;            /* event; 0: none */
  GArray *ready;         /* guint, events of the other ranks */
} Joint;

static void
free_joint (gpointer data)
{
  Joint *joint = data;
  g_array_unref (joint->ready);
  g_free (joint);
}

/* What of a stream is not written yet. */
typedef struct {
  guint kernels, of[SCN_TRACE_N];
  double busy_us, of_us[SCN_TRACE_N];
  double delay_us;
  GString *wait; /* events */
  double end_us; /* of the stream's last activity */
  guint rank;
} Run;

/* ---- communicators ---- */

/* GPU of a rank, counted over all GPUs of the nodes, of which the scenario uses the first ones. */
static guint
gpu_of (const Write *w, guint rank)
{
  return rank / w->target->gpus_per_node * w->target->gpus_of_node + rank % w->target->gpus_per_node;
}

/* Ranks from..from+stride*(n-1) as the scenario names their GPUs. */
static void
append_gpus (const Write *w, guint from, guint stride, guint n, GString *out)
{
  for (guint i = 0; i < n;) {
    guint first = gpu_of (w, from + i * stride), last = first;
    for (i++; i < n && gpu_of (w, from + i * stride) == last + 1; i++)
      last++;
    g_string_append_printf (out, first == last ? "%sgpu%u" : "%sgpu[%u-%u]", out->len > 0 ? "," : "", first, last);
  }
}

/* The members of a communicator on as many GPUs as the target has. One of all ranks stays one of all. One of neighbours keeps its
 * size. One of ranks at a distance that spans the run grows or shrinks with it. */
static gboolean
members (const Write *w, const ScnTraceGroup *group, GString *out, GError **error)
{
  const guint world = scn_trace_world (w->trace), now = w->target->nodes * w->target->gpus_per_node;
  const ScnTraceRank *first = scn_trace_rank (w->trace, 0);
  if (group->size == world) {
    g_string_append (out, "all");
    return TRUE;
  }
  if (group->ranks->len < MIN (group->size, 2u))
    return scn_trace_fail (first, 0, error,
                           "the trace does not say which ranks communicator '%s' of %u joins; accepted: traces with "
                           "'Process Group Ranks', as PyTorch 2.3 and later write them",
                           group->key, group->size);
  const guint *rank = (const guint *)(const void *)group->ranks->data;
  const guint stride = group->size > 1 ? rank[1] - rank[0] : 1;
  gboolean even = TRUE;
  for (guint i = 1; i < group->ranks->len; i++)
    even = even && rank[i] > rank[i - 1] && rank[i] - rank[i - 1] == stride;
  guint n = group->size;
  if (now != world && even && stride > 1 && rank[0] < stride && stride * n == world && now % stride == 0)
    n = now / stride;
  else if (now != world && !(even && stride == 1))
    return scn_trace_fail (first, 0, error,
                           "communicator '%s' of %u of %u ranks has no counterpart on %u GPUs; accepted: %u GPUs, as "
                           "recorded",
                           group->key, group->size, world, now, world);
  for (guint i = 0; !even && i < group->ranks->len; i++)
    append_gpus (w, rank[i], 1, 1, out);
  if (even)
    append_gpus (w, rank[0], stride, n, out);
  if ((even ? rank[0] + stride * (n - 1) : rank[group->ranks->len - 1]) < now && (even || group->ranks->len == n))
    return TRUE;
  if (group->size > world)
    return scn_trace_fail (first, 0, error,
                           "communicator '%s' has %u ranks, and the trace says that %u ran: its distributedInfo is missing or of "
                           "another run; export the trace again while torch.distributed runs",
                           group->key, group->size, world);
  return scn_trace_fail (first, 0, error,
                         "communicator '%s' joins ranks that the cluster lacks or the trace leaves out; accepted: at "
                         "least %u GPUs",
                         group->key, world);
}

/* ---- entries ---- */

static void
append_event (GString *list, guint event)
{
  g_string_append_printf (list, "%se%u", list->len > 0 ? ", " : "", event);
}

/* Begins an entry with what it waits for. */
static void
open_entry (Write *w, Run *run)
{
  g_string_append (w->out, "        - {");
  if (run->wait->len > 0)
    g_string_append_printf (w->out, "wait: [%s], ", run->wait->str);
  g_string_truncate (run->wait, 0);
}

static void
close_entry (Write *w, guint event)
{
  if (event != 0)
    g_string_append_printf (w->out, ", record: e%u", event);
  g_string_append (w->out, "}\n");
}

static void
write_delay (Write *w, Run *run, guint event)
{
  if (run->delay_us < LEAST_US && event == 0)
    return;
  open_entry (w, run);
  g_string_append_printf (w->out, "delay: %.3f us", run->delay_us);
  close_entry (w, event);
  run->delay_us = 0;
}

/* Name of a run of kernels: how many, and what takes most of the time. */
static char *
name_of (const Run *run)
{
  guint most = 0;
  for (guint i = 1; i < SCN_TRACE_N; i++)
    most = run->of_us[i] > run->of_us[most] ? i : most;
  const char *what = base_name (scn_trace_class_names, (int)most);
  return run->kernels == 1 ? g_strdup (what) : g_strdup_printf ("%u kernels, most %s", run->kernels, what);
}

/* Writes what is left, the delay first. `event`: that the last entry records; 0: none. */
static void
flush (Write *w, Run *run, double sms, guint event)
{
  write_delay (w, run, run->kernels == 0 ? event : 0);
  if (run->kernels > 0) {
    g_autofree char *name = name_of (run);
    open_entry (w, run);
    g_string_append_printf (w->out, "name: '%s', kernel: {time: %.3f us", name, run->busy_us);
    if (sms < 100)
      g_string_append_printf (w->out, ", sms: %.0f %%", sms);
    g_string_append (w->out, "}");
    close_entry (w, event);
  }
  run->kernels = 0;
  run->busy_us = 0;
  memset (run->of_us, 0, sizeof run->of_us);
}

static guint *
event_of (const Write *w, guint rank, guint activity)
{
  return &g_array_index (g_array_index (w->recorded, GArray *, rank), guint, activity);
}

/* ---- collectives ---- */

/* The n-th collective of a group, made if it is new. */
static Joint *
joint_of (Write *w, guint group, guint n)
{
  g_autofree char *key = g_strdup_printf ("%u/%u", group, n);
  Joint *joint = g_hash_table_lookup (w->joint, key);
  if (joint == NULL) {
    joint = g_new0 (Joint, 1);
    joint->ready = g_array_new (FALSE, FALSE, sizeof (guint));
    g_hash_table_insert (w->joint, g_steal_pointer (&key), joint);
  }
  return joint;
}

/* A collective of a rank whose counterpart another rank's stream holds: it says that it is ready, and waits for the end. */
static void
write_part (Write *w, Run *run, Joint *joint)
{
  const guint ready = ++w->events;
  open_entry (w, run);
  g_string_append_printf (w->out, "delay: %.3f us", run->delay_us);
  close_entry (w, ready);
  run->delay_us = 0;
  g_array_append_val (joint->ready, ready);
  append_event (run->wait, joint->done);
}

static gboolean
write_collective (Write *w, Run *run, guint i, GError **error)
{
  const ScnTraceActivity *activity = scn_trace_activity (scn_trace_rank (w->trace, run->rank), i);
  if (activity->kept) {
    write_delay (w, run, 0);
    open_entry (w, run);
    g_string_append_printf (w->out, "name: 'NCCL as recorded', delay: %.3f us", activity->end_us - activity->start_us);
    close_entry (w, *event_of (w, run->rank, i));
    return TRUE;
  }
  const ScnTraceGroup *group = &g_array_index (w->trace->groups, ScnTraceGroup, activity->group);
  Joint *joint = joint_of (w, activity->group, activity->nth);
  g_autoptr (GString) gpus = g_string_new (NULL);
  if (joint->owner != run->rank) {
    write_part (w, run, joint);
    return TRUE;
  }
  write_delay (w, run, 0);
  for (guint k = 0; k < joint->ready->len; k++)
    append_event (run->wait, g_array_index (joint->ready, guint, k));
  if (!members (w, group, gpus, error))
    return FALSE;
  open_entry (w, run);
  g_string_append_printf (w->out, "collective: {op: %s, bytes: %.0f B, dtype: %s, gpus: '%s'}",
                          base_name (mdl_op_names, (int)activity->op), activity->bytes,
                          base_name (mdl_dtype_names, (int)activity->dtype), gpus->str);
  close_entry (w, *event_of (w, run->rank, i));
  return TRUE;
}

/* ---- streams ---- */

static gboolean
is_host_copy (const ScnTraceActivity *activity)
{
  return activity->what == SCN_TRACE_COPY && (activity->to_gpu || activity->to_host) && activity->bytes >= COPY_B;
}

static void
write_copy (Write *w, Run *run, const ScnTraceActivity *activity, guint event)
{
  write_delay (w, run, 0);
  open_entry (w, run);
  g_string_append_printf (w->out, "copy: {%s: host, bytes: %.0f B%s}", activity->to_gpu ? "from" : "to", activity->bytes,
                          activity->pageable ? ", memory: pageable" : "");
  close_entry (w, event);
}

/* What an activity waits for goes into the run, and so does the time in which its stream was empty for no reason of the GPU's:
 * after the wait where that ended last, else before it. */
static void
take_waits (Write *w, Run *run, const ScnTraceActivity *activity)
{
  const ScnTraceRank *rank = scn_trace_rank (w->trace, run->rank);
  double latest_us = -(double)INFINITY;
  for (guint k = 0; activity->waits != NULL && k < activity->waits->len; k++)
    latest_us = fmax (latest_us, scn_trace_activity (rank, g_array_index (activity->waits, guint, k))->end_us);
  run->delay_us += fmax (activity->start_us - fmax (run->end_us, latest_us), 0);
  if (activity->waits != NULL && latest_us <= run->end_us)
    write_delay (w, run, 0);
  for (guint k = 0; activity->waits != NULL && k < activity->waits->len; k++)
    append_event (run->wait, *event_of (w, run->rank, g_array_index (activity->waits, guint, k)));
}

static gboolean
write_stream (Write *w, guint r, guint stream, double sms, GError **error)
{
  const ScnTraceRank *rank = scn_trace_rank (w->trace, r);
  g_autoptr (GString) wait = g_string_new (NULL);
  Run run = { .wait = wait, .end_us = rank->begin_us, .rank = r };
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    const guint event = *event_of (w, r, i);
    if (activity->stream != stream)
      continue;
    gboolean alone = activity->what == SCN_TRACE_COLLECTIVE || is_host_copy (activity);
    if (alone || activity->waits != NULL)
      flush (w, &run, sms, 0);
    take_waits (w, &run, activity);
    if (activity->what == SCN_TRACE_COLLECTIVE) {
      if (!write_collective (w, &run, i, error))
        return FALSE;
    } else if (alone)
      write_copy (w, &run, activity, event);
    else {
      const double busy_us = fmax (activity->end_us - fmax (activity->start_us, run.end_us), 0);
      run.kernels++;
      run.busy_us += busy_us;
      run.of_us[activity->what] += busy_us;
      if (event != 0)
        flush (w, &run, sms, event);
    }
    run.end_us = fmax (run.end_us, activity->end_us);
  }
  flush (w, &run, sms, 0);
  if (wait->len > 0)
    g_string_append_printf (w->out, "        - {wait: [%s]}\n", wait->str);
  return TRUE;
}

/* Share of the SMs, in per cent, with which as many kernels as the trace shows at once run concurrently. */
static double
sms_of (const ScnTraceRank *rank)
{
  g_autofree double *end_us = g_new0 (double, rank->streams->len);
  guint most = 1;
  for (guint i = 0; i < rank->activities->len; i++) {
    const ScnTraceActivity *activity = scn_trace_activity (rank, i);
    guint n = 1;
    if (activity->what == SCN_TRACE_COLLECTIVE || is_host_copy (activity))
      continue;
    for (guint s = 0; s < rank->streams->len; s++)
      n += s != activity->stream && end_us[s] > activity->start_us;
    end_us[activity->stream] = activity->end_us;
    most = MAX (most, n);
  }
  return floor (100.0 / most);
}

static gboolean
write_rank (Write *w, guint r, GError **error)
{
  const ScnTraceRank *rank = scn_trace_rank (w->trace, r);
  const double sms = sms_of (rank);
  for (guint s = 0; s < rank->streams->len; s++) {
    gboolean any = FALSE;
    for (guint i = 0; i < rank->activities->len && !any; i++)
      any = scn_trace_activity (rank, i)->stream == s;
    if (!any)
      continue;
    g_string_append_printf (w->out, "    - name: rank %u stream %" G_GUINT64_FORMAT "\n      gpu: gpu%u\n      do:\n", rank->rank,
                            g_array_index (rank->streams, guint64, s), gpu_of (w, rank->rank));
    if (!write_stream (w, r, s, sms, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- the file ---- */

/* Numbers the events: what is waited for, and collectives of several ranks, which end once for all. Ranks ascend, so that the first
 * that calls a collective owns it. */
static void
number_events (Write *w)
{
  for (guint r = 0; r < w->trace->ranks->len; r++) {
    const ScnTraceRank *rank = scn_trace_rank (w->trace, r);
    GArray *recorded = g_array_new (FALSE, TRUE, sizeof (guint));
    g_array_set_size (recorded, rank->activities->len);
    g_array_append_val (w->recorded, recorded);
    for (guint i = 0; i < rank->activities->len; i++) {
      const ScnTraceActivity *activity = scn_trace_activity (rank, i);
      for (guint k = 0; activity->waits != NULL && k < activity->waits->len; k++) {
        guint *event = event_of (w, r, g_array_index (activity->waits, guint, k));
        *event = *event != 0 ? *event : ++w->events;
      }
    }
    for (guint i = 0; i < rank->activities->len; i++) {
      const ScnTraceActivity *activity = scn_trace_activity (rank, i);
      if (activity->what != SCN_TRACE_COLLECTIVE || activity->kept)
        continue;
      Joint *joint = joint_of (w, activity->group, activity->nth);
      guint *event = event_of (w, r, i);
      if (joint->callers++ == 0) {
        joint->owner = r;
        joint->of_owner = i;
        joint->done = *event;
        continue;
      }
      if (joint->done == 0)
        joint->done = *event_of (w, joint->owner, joint->of_owner) = ++w->events;
      *event = joint->done;
    }
  }
}

/* Whether the trace has collectives that ran (`called`: that communicators of one rank called and that ran no kernel). */
static gboolean
has_collectives (const ScnTrace *trace, gboolean called)
{
  for (guint r = 0; r < trace->ranks->len; r++) {
    const ScnTraceRank *rank = scn_trace_rank (trace, r);
    for (guint i = 0; i < rank->activities->len; i++) {
      const ScnTraceActivity *activity = scn_trace_activity (rank, i);
      if (activity->what == SCN_TRACE_COLLECTIVE && activity->called == called)
        return TRUE;
    }
  }
  return FALSE;
}

static void
write_head (const Write *w, GString *out)
{
  const ScnTraceTarget *target = w->target;
  const char *gpu = scn_trace_gpu (w->trace);
  g_string_append_printf (out, "# Step of a trace of %u GPU%s (%s)", scn_trace_world (w->trace),
                          scn_trace_world (w->trace) == 1 ? "" : "s", gpu != NULL ? gpu : "not named");
  if (w->trace->step >= 0)
    g_string_append_printf (out, ", step %" G_GINT64_FORMAT, w->trace->step);
  g_string_append (out, ":\n");
  scn_trace_append_table (w->trace, "#   ", out);
  const gboolean alone = has_collectives (w->trace, TRUE) && !has_collectives (w->trace, FALSE); /* none slowed a kernel yet */
  g_string_append_printf (out,
                          "# Kernels keep their recorded times%s. A delay is\n"
                          "# time in which a stream was empty: its host queued late. Times by class may overlap.\n",
                          alone ? ", and collectives slow them" : ", which include what collectives slowed them");
  g_string_append_printf (out,
                          "scenario: %s\ncluster: {topology: %s, nodes: %u, gpus_per_node: %u}\nworkload:\n  kind: program\n"
                          "  interference: %s\n  streams:\n",
                          target->name, target->topology, target->nodes, target->gpus_per_node, alone ? "both" : "collectives");
}

char *
scn_trace_write (const ScnTrace *trace, const ScnTraceTarget *target, GError **error)
{
  const guint n = trace->ranks->len;
  g_autoptr (GHashTable) joint = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_joint);
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  Write w = { .trace = trace, .target = target, .joint = joint };
  gboolean good = TRUE;
  for (guint r = 0; r < n; r++)
    if (scn_trace_rank (trace, r)->rank >= target->nodes * target->gpus_per_node)
      return scn_trace_fail (scn_trace_rank (trace, r), 0, error,
                             "rank %u has no GPU among the %u of the cluster; accepted: more "
                             "nodes, or fewer traces",
                             scn_trace_rank (trace, r)->rank, target->nodes * target->gpus_per_node),
             NULL;
  if (target->nodes * target->gpus_per_node > scn_trace_world (trace) && !has_collectives (trace, FALSE) &&
      !has_collectives (trace, TRUE)) /* FSDP2 on one GPU calls none, DDP does */
    base_diag_warn (trace->warnings, (BaseMark){ .file = scn_trace_rank (trace, 0)->path },
                    "the step calls no collective, so that more GPUs change nothing; record it on two GPUs, or with DDP on one");
  w.recorded = g_array_new (FALSE, FALSE, sizeof (GArray *));
  number_events (&w);
  for (guint r = n; r-- > 0 && good;) { /* owners last: they wait for what the others record */
    w.out = g_string_new (NULL);
    good = write_rank (&w, r, error);
    g_ptr_array_add (texts, g_string_free (w.out, FALSE));
  }
  for (guint r = 0; r < w.recorded->len; r++)
    g_array_unref (g_array_index (w.recorded, GArray *, r));
  g_array_unref (w.recorded);
  if (!good)
    return NULL;
  GString *out = g_string_new (NULL);
  write_head (&w, out);
  for (guint r = texts->len; r-- > 0;)
    g_string_append (out, texts->pdata[r]);
  return g_string_free (out, FALSE);
}
