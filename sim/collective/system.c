/* What work runs on, and what each run reports. */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "collective/net.h"

guint32
col_system_gpu (const ColSystem *system, guint32 rank)
{
  return g_array_index (system->gpus, guint32, rank);
}

guint32
col_system_node (const ColSystem *system, guint32 rank)
{
  return clu_dev_node (system->clu, clu_gpu (system->clu, col_system_gpu (system, rank)));
}

guint32
col_system_n_nodes (const ColSystem *system, guint32 n_ranks)
{
  guint32 n = 0, last = CLU_NONE;
  for (guint32 i = 0; i < n_ranks; i++) {
    guint32 node = col_system_node (system, i);
    n += node != last;
    last = node;
  }
  return n;
}

ColComm *
col_system_comm (const ColSystem *system, const ColSettings *settings, guint32 n_ranks, GError **error)
{
  return col_comm_new (system->clu, settings, (const guint32 *)(const void *)system->gpus->data, n_ranks, error);
}

gboolean
col_system_create (const ColSystem *system, double count, guint32 n_ranks, gboolean again, MdlCreateTime *out)
{
  MdlCreateQuestion question = { .count = (unsigned)count, .ranks = n_ranks, .again = again };
  guint32 last = CLU_NONE, here = 0;
  *out = (MdlCreateTime){ 0 };
  if (system->settings.library == NULL)
    return FALSE;
  for (guint32 i = 0; i < n_ranks; i++) {
    guint32 node = col_system_node (system, i);
    question.nodes += node != last;
    here = node != last ? 1 : here + 1;
    question.local = MAX (question.local, here);
    last = node;
  }
  mdl_create_time (system->settings.library, &question, out);
  return TRUE;
}

gboolean
col_fail_at (GError **error, BaseMark mark, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *text = g_strdup_vprintf (format, args);
  va_end (args);
  g_autofree char *prefix = base_mark_prefix (mark);
  char *whole = g_strconcat (prefix, text, NULL);
  g_autofree char *message = strchr (text, '\n') == NULL ? base_text_cut (whole) : whole; /* lines of several were cut before */
  g_set_error_literal (error, BASE_ERROR, (gint)BASE_ERROR_INPUT, message);
  return FALSE;
}

static void
link_use_clear (gpointer data)
{
  g_free (((ColLinkUse *)data)->busiest);
}

static void
span_free (gpointer data)
{
  ColSpan *span = data;
  g_free (span->lane);
  g_free (span->name);
  g_free (span);
}

void
col_run_warn (ColRunInfo *info, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_ptr_array_add (info->warnings, g_strdup_vprintf (format, args));
  va_end (args);
}

/* Adds what a resource, and those that it stands for, carried to their class; keeps the fullest member's name. */
static void
add_link (ColRunInfo *info, const Clu *clu, CluRes res, ColNetCount count, double time_s)
{
  const char *link_class = clu_resource_class (clu, res);
  double utilisation = time_s > 0 ? count.effort_B / (clu_resource_capacity (clu, res) * time_s) : 0;
  ColLinkUse *row = NULL;
  for (guint i = 0; i < info->links->len && row == NULL; i++)
    if (strcmp (g_array_index (info->links, ColLinkUse, i).link_class, link_class) == 0)
      row = &g_array_index (info->links, ColLinkUse, i);
  if (row == NULL) {
    ColLinkUse fresh = { .link_class = link_class, .utilisation = -1 };
    g_array_append_val (info->links, fresh);
    row = &g_array_index (info->links, ColLinkUse, info->links->len - 1);
  }
  if (!clu_resource_is_both_ways (clu, res)) /* its bytes are the two directions' own */
    row->bytes += count.bytes * count.n;
  if (utilisation > row->utilisation * (1 + 1e-9)) {
    g_free (row->busiest);
    row->busiest = clu_resource_name (clu, res);
    row->utilisation = utilisation;
  }
}

static int
by_utilisation (gconstpointer a, gconstpointer b)
{
  const ColLinkUse *x = a, *y = b;
  if (x->utilisation != y->utilisation)
    return x->utilisation > y->utilisation ? -1 : 1;
  return strcmp (x->link_class, y->link_class);
}

void
col_run_add_links (ColRunInfo *info, const Clu *clu, const ColNet *net, double time_s)
{
  const GArray *resources = col_net_resources (net);
  for (guint i = 0; i < resources->len; i++)
    add_link (info, clu, g_array_index (resources, CluRes, i), col_net_counted (net, i), time_s);
  g_array_sort (info->links, by_utilisation);
}

void
col_run_init (ColRunInfo *info, gboolean want_spans)
{
  info->links = g_array_new (FALSE, FALSE, sizeof (ColLinkUse));
  g_array_set_clear_func (info->links, link_use_clear);
  info->cpu = g_array_new (FALSE, FALSE, sizeof (ColCpuUse));
  info->cpu_cores = 0;
  info->diagnosis = NULL;
  info->warnings = g_ptr_array_new_with_free_func (g_free);
  info->spans = want_spans ? g_ptr_array_new_with_free_func (span_free) : NULL;
}

void
col_run_clear (ColRunInfo *info)
{
  g_clear_pointer (&info->links, g_array_unref);
  g_clear_pointer (&info->cpu, g_array_unref);
  g_clear_pointer (&info->diagnosis, g_free);
  g_clear_pointer (&info->warnings, g_ptr_array_unref);
  g_clear_pointer (&info->spans, g_ptr_array_unref);
}

void
col_run_span (ColRunInfo *info, char *lane, char *name, double start_s, double end_s)
{
  ColSpan *span = g_new (ColSpan, 1);
  *span = (ColSpan){ .lane = lane, .name = name, .start_s = start_s, .end_s = end_s };
  g_ptr_array_add (info->spans, span);
}

void
col_run_count (ColRunInfo *info, char *counter, double at_s, double value)
{
  ColSpan *span = g_new (ColSpan, 1);
  *span = (ColSpan){ .lane = counter, .start_s = at_s, .end_s = at_s, .value = value };
  g_ptr_array_add (info->spans, span);
}

void
col_run_two_spans (ColRunInfo *info, const char *lane, double latency_s, double time_s, double bytes)
{
  if (info->spans == NULL)
    return;
  col_run_span (info, g_strdup (lane), g_strdup ("latency"), 0, latency_s);
  col_run_span (info, g_strdup (lane), g_strdup_printf ("%.0f B", bytes), latency_s, time_s);
}
