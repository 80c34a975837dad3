/* Copies and links: what a probe's points of `link` are, and which constants they tell. */
#include <math.h>
#include <string.h>

#include "base/stats.h"
#include "calibrate/links.h"

#define MOST_GPUS 1024.0
static const double MOST_B = 0x1p50;

/* Of so much of what as many reach alone, nothing is shared that would bind. */
static const double UNHINDERED = 0.97;

/* ---- stages ---- */

static const char LOADS[] = "loads", GPUS[] = "copies between GPUs", WAITED[] = "copies waited for", STORES[] = "kernels' stores",
                  KERNEL_LOADS[] = "kernels' loads", PINNED[] = "host, pinned", PAGEABLE[] = "host, pageable";

static const CalStage stages[] = {
  { LOADS, "scale_up.latency pcie.latency" },
  { GPUS, "scale_up.efficiency copies.dma.queued scale_up.duplex copies.dma.contention" },
  { WAITED, "copies.dma.start" },
  { STORES, "scale_up.sm_efficiency copies.kernel.queued copies.kernel.contention" },
  { KERNEL_LOADS,
    "copies.kernel_read.wire copies.kernel_read.queued copies.kernel_read.reverse_traffic copies.kernel_read.contention" },
  { PINNED, "pcie.efficiency copies.h2d.queued copies.d2h.queued pcie.duplex host.read host.write host.both" },
  { PAGEABLE, "copies.h2d_pageable.rate copies.d2h_pageable.rate copies.h2d_pageable.queued copies.d2h_pageable.queued "
              "copies.d2h_pageable.block copies.h2d_pageable.contention copies.d2h_pageable.contention copies.h2d_pageable.cached "
              "copies.h2d_pageable.cache" },
  { NULL, NULL },
};

/* ---- points ---- */

/* The words of `what`; whose memory a load reads. */
typedef enum { CE, SM, CE_SYNC, H2D, D2H, H2D_D2H, LATENCY, OTHER } What;
enum { OWN, GPU, HOST };

/* A point. */
typedef struct {
  const CalProbe *probe;
  guint i;
} Reader;

static gboolean
count_in (const Reader *r, const char *key, double least, guint32 *out, GError **error)
{
  double value;
  if (!cal_probe_count (r->probe, r->i, key, least, MOST_GPUS, &value, error))
    return FALSE;
  *out = (guint32)value;
  return TRUE;
}

static gboolean
size_in (const Reader *r, double *size_B, GError **error)
{
  *size_B = base_json_number (cal_probe_point (r->probe, r->i), "bytes");
  return (*size_B >= 1 && *size_B <= MOST_B) || cal_probe_fail (r->probe, r->i, error, "bytes: a size above 0 B is accepted");
}

static const BaseName what_names[] = {
  { "ce", CE, NULL },           { "sm", SM, NULL },
  { "ce_sync", CE_SYNC, NULL }, { "h2d", H2D, NULL },
  { "d2h", D2H, NULL },         { "h2d_d2h", H2D_D2H, NULL },
  { "latency", LATENCY, NULL }, { "beside", OTHER, NULL },
  { "numa", OTHER, NULL },      { NULL, 0, NULL },
};
static const BaseName pattern_names[] = {
  { "one", CAL_LINK_ONE, NULL },
  { "both", CAL_LINK_BOTH, NULL },
  { "shift", CAL_LINK_SHIFT, NULL },
  { "all", CAL_LINK_ALL, NULL },
  { NULL, 0, NULL },
};
static const BaseName by_names[] = { { "write", MDL_COPY_KERNEL, NULL },
                                     { "read", MDL_COPY_KERNEL_READ, NULL },
                                     { NULL, 0, NULL } };
static const BaseName host_memory_names[] = { { "pinned", FALSE, NULL }, { "pageable", TRUE, NULL }, { NULL, 0, NULL } };
static const BaseName loaded_names[] = { { "own", OWN, NULL }, { "gpu", GPU, NULL }, { "host", HOST, NULL }, { NULL, 0, NULL } };

/* ce, sm, ce_sync */
static gboolean
read_gpus (const Reader *r, What what, CalLinkCase *c, GError **error)
{
  int pattern, copy = MDL_COPY_DMA;
  if (!cal_probe_name (r->probe, r->i, "pattern", pattern_names, &pattern, error) ||
      (what == SM && !cal_probe_name (r->probe, r->i, "by", by_names, &copy, error)) || !size_in (r, &c->size_B, error))
    return FALSE;
  c->pattern = (CalLinkPattern)pattern;
  c->copy = (MdlCopy)copy;
  c->queued = what != CE_SYNC;
  if (c->pattern == CAL_LINK_SHIFT || c->pattern == CAL_LINK_ALL)
    return count_in (r, "gpus", 2, &c->n, error);
  c->n = 2;
  if (!count_in (r, "src", 0, &c->first, error) || !count_in (r, "dst", 0, &c->second, error))
    return FALSE;
  return c->first != c->second || cal_probe_fail (r->probe, r->i, error, "src and dst: two different GPUs are accepted");
}

/* h2d, d2h, h2d_d2h */
static gboolean
read_host (const Reader *r, What what, CalLinkCase *c, GError **error)
{
  int pageable;
  if (!cal_probe_name (r->probe, r->i, "memory", host_memory_names, &pageable, error) || !size_in (r, &c->size_B, error) ||
      !count_in (r, "gpu", 0, &c->first, error) || !count_in (r, "gpus", 1, &c->n, error))
    return FALSE;
  c->pattern = CAL_LINK_HOST;
  c->duplex = what == H2D_D2H;
  gboolean down = what == D2H;
  c->copy = pageable ? (down ? MDL_COPY_D2H_PAGEABLE : MDL_COPY_H2D_PAGEABLE) : down ? MDL_COPY_D2H : MDL_COPY_H2D;
  c->queued = TRUE;
  return TRUE;
}

/* A load from a GPU's own memory tells nothing of links; it is taken off those from other GPUs. */
static double
own_load_s (const CalProbe *probe)
{
  double own_s = (double)NAN;
  for (guint i = 0; i < cal_probe_n_points (probe) && isnan (own_s); i++)
    if (cal_probe_is (probe, i, "link", "latency") && g_strcmp0 (base_json_text (cal_probe_point (probe, i), "memory"), "own") == 0)
      own_s = cal_probe_time_s (probe, i);
  return own_s;
}

static gboolean
read_load (const Reader *r, CalLinkCase *c, gboolean *tells, GError **error)
{
  int memory;
  if (!cal_probe_name (r->probe, r->i, "memory", loaded_names, &memory, error) || !count_in (r, "gpu", 0, &c->first, error) ||
      (memory == GPU && !count_in (r, "of", 0, &c->second, error)))
    return FALSE;
  double own_s = own_load_s (r->probe);
  *tells = memory == HOST || (memory == GPU && isfinite (own_s));
  c->pattern = CAL_LINK_LOAD;
  c->n = memory == HOST ? 0 : 2;
  c->own_s = own_s;
  c->copy = MDL_COPY_N;
  return TRUE;
}

static const char *
stage_of (const CalLinkCase *c)
{
  switch (c->copy) {
    case MDL_COPY_KERNEL:
      return STORES;
    case MDL_COPY_KERNEL_READ:
      return KERNEL_LOADS;
    case MDL_COPY_H2D:
    case MDL_COPY_D2H:
      return PINNED;
    case MDL_COPY_H2D_PAGEABLE:
    case MDL_COPY_D2H_PAGEABLE:
      return PAGEABLE;
    case MDL_COPY_DMA:
      return c->queued ? GPUS : WAITED;
    case MDL_COPY_HOST:
    case MDL_COPY_RDMA:
    case MDL_COPY_TCP:
    case MDL_COPY_N:
    default:
      return LOADS;
  }
}

static const char *
name_of (const CalLinkCase *c, BaseArena *arena)
{
  static const char *const way[] = { "", " both ways", "", "", "", "" };
  const char *copy = c->copy < MDL_COPY_N ? base_name (mdl_copy_names, (int)c->copy) : "load";
  g_autofree char *size = base_quantity_format (c->size_B, BASE_DIM_BYTES, 4);
  switch (c->pattern) {
    case CAL_LINK_SHIFT:
    case CAL_LINK_ALL:
      return base_arena_printf (arena, "%s of %s on %u GPUs, %s", copy, size, c->n,
                                c->pattern == CAL_LINK_ALL ? "each to each" : "each to the next");
    case CAL_LINK_HOST:
      return base_arena_printf (arena, "%s of %s%s, GPU %u%s%.0u%s", copy, size, c->duplex ? " and back" : "", c->first,
                                c->n > 1 ? " and " : "", c->n - 1, c->n > 1 ? " more" : "");
    case CAL_LINK_LOAD:
      return c->n == 0 ? base_arena_printf (arena, "load by GPU %u from the host", c->first)
                       : base_arena_printf (arena, "load by GPU %u from GPU %u", c->first, c->second);
    case CAL_LINK_ONE:
    case CAL_LINK_BOTH:
    default:
      return base_arena_printf (arena, "%s%s%s of %s, GPU %u to %u", copy, c->queued ? "" : " waited for", way[c->pattern], size,
                                c->first, c->second);
  }
}

static const CalLinkCase *
case_of (const CalSectionPoint *point)
{
  return point->item;
}

/* One series: of them every second is held out. */
static gboolean
in_series (const CalSectionPoint *a, const CalSectionPoint *b)
{
  const CalLinkCase *x = case_of (a), *y = case_of (b);
  return x->pattern == y->pattern && x->copy == y->copy && x->queued == y->queued && x->duplex == y->duplex && x->n == y->n;
}

/* Of several GPUs at once with the host: every number of them but the least, the most and every second between. */
static void
hold_counts (GArray *points, guint first)
{
  guint32 most = 0;
  for (guint i = first; i < points->len; i++) {
    const CalLinkCase *c = case_of (&g_array_index (points, CalSectionPoint, i));
    most = c->pattern == CAL_LINK_HOST ? MAX (most, c->n) : most;
  }
  for (guint i = first; i < points->len; i++) {
    CalSectionPoint *p = &g_array_index (points, CalSectionPoint, i);
    const CalLinkCase *c = case_of (p);
    if (c->pattern == CAL_LINK_HOST && c->n > 2 && c->n < most && c->n % 2 == 1)
      p->use = CAL_USE_HELD_SIZE;
  }
}

static gboolean
read_case (const Reader *r, CalLinkCase *c, gboolean *tells, GError **error)
{
  int what;
  *tells = TRUE;
  if (!cal_probe_name (r->probe, r->i, "what", what_names, &what, error))
    return FALSE;
  *tells = what != OTHER; /* of copies beside kernels and on other NUMA nodes no constant is fitted */
  return what == OTHER     ? TRUE
         : what == LATENCY ? read_load (r, c, tells, error)
         : what >= H2D     ? read_host (r, (What)what, c, error)
                           : read_gpus (r, (What)what, c, error);
}

static gboolean
read_point (CalCollect *collected, guint i, double median_s, GError **error)
{
  const Reader reader = { collected->probe, i };
  CalLinkCase c = { 0 };
  gboolean tells;
  if (!read_case (&reader, &c, &tells, error))
    return FALSE;
  const CalSectionPoint point = { .stage = stage_of (&c), .measured = median_s, .what = name_of (&c, collected->arena) };
  if (tells)
    cal_collect_add (collected, &point, &c, sizeof c);
  return TRUE;
}

static gboolean
collect (CalCollect *collected, GError **error)
{
  guint first = collected->points->len;
  if (!cal_collect_each (collected, "link", read_point, error))
    return FALSE;
  cal_section_hold_every_second (collected->points, first, in_series);
  hold_counts (collected->points, first);
  return TRUE;
}

static double
predict (const void *section, const CalNode *node, const CalSectionPoint *point)
{
  return node->link_s != NULL ? node->link_s (node->user, section, case_of (point)) : (double)NAN;
}

/* ---- where the search begins ---- */

/* Which way with pinned memory of the host a point is of: its number; G_MAXUINT: none that counts. *n: GPUs at once. */
static guint
pinned_way (const CalProbe *probe, guint i, double *n, double *rate_Bps)
{
  static const char *const whats[] = { "h2d", "d2h", "h2d_d2h" };
  JsonObject *point = cal_probe_point (probe, i);
  double median_s = cal_probe_time_s (probe, i);
  if (g_strcmp0 (base_json_text (point, "memory"), "pinned") != 0 || isnan (median_s))
    return G_MAXUINT;
  for (guint k = 0; k < G_N_ELEMENTS (whats); k++)
    if (cal_probe_is (probe, i, "link", whats[k])) {
      *n = base_json_number (point, "gpus");
      *rate_Bps = (k == 2 ? 2 : 1) * fmax (*n, 1) * base_json_number (point, "bytes") / median_s;
      return k;
    }
  return G_MAXUINT;
}

static void
start (const CalProbe *probe, void *section)
{
  MdlLinks *links = section;
  /* of the most GPUs at once; 0 where they reach what as many do alone, so that nothing they share binds */
  double alone_Bps[3] = { 0 }, total_Bps[3] = { 0 }, most[3] = { 0 }, n, rate_Bps;
  for (guint i = 0, k; i < cal_probe_n_points (probe); i++)
    if ((k = pinned_way (probe, i, &n, &rate_Bps)) != G_MAXUINT && n < 2)
      alone_Bps[k] = fmax (alone_Bps[k], rate_Bps);
  for (guint i = 0, k; i < cal_probe_n_points (probe); i++)
    if ((k = pinned_way (probe, i, &n, &rate_Bps)) != G_MAXUINT && n > 1 && n >= most[k]) {
      most[k] = n;
      total_Bps[k] = rate_Bps < UNHINDERED * n * alone_Bps[k] ? rate_Bps : 0;
    }
  BaseNum *const nums[3] = { &links->host.read, &links->host.write, &links->host.both };
  for (guint k = 0; k < G_N_ELEMENTS (nums); k++)
    if (total_Bps[k] > 0 && !nums[k]->set)
      *nums[k] = (BaseNum){ .v = total_Bps[k], .set = TRUE, .source = BASE_SOURCE_ASSUMED };
}

/* ---- which is slow ---- */

/* What like copies differ by on a node in order. */
static const double LEAST_BAND = 0.05;
/* Beyond what constants could explain. */
static const double OTHER_NODE = 0.3;

/* The same copy between other devices. */
static gboolean
alike (const CalSectionPoint *a, const CalSectionPoint *b)
{
  return in_series (a, b) && fabs (case_of (a)->size_B - case_of (b)->size_B) < 0.5;
}

static gboolean
has_like (const CalLinkCase *c)
{
  return c->pattern == CAL_LINK_ONE || c->pattern == CAL_LINK_BOTH || c->pattern == CAL_LINK_LOAD ||
         (c->pattern == CAL_LINK_HOST && c->n == 1);
}

/* All points like `first`, and what they take where nothing is wrong. */
typedef struct {
  const CalSectionFit *fit;
  GArray *at; /* guint */
  double usual, band;
} Family;

static const CalSectionPoint *
member (const Family *f, guint k)
{
  return &g_array_index (f->fit->points, CalSectionPoint, g_array_index (f->at, guint, k));
}

static gboolean
is_slow (const Family *f, guint k)
{
  return member (f, k)->measured > f->usual * (1 + f->band);
}

static char *
rate_text (const CalLinkCase *c, double time_s)
{
  return c->pattern == CAL_LINK_LOAD ? base_quantity_format (time_s, BASE_DIM_TIME, 4)
                                     : base_quantity_format (c->size_B / time_s, BASE_DIM_BANDWIDTH, 4);
}

/* The GPU whose pairs are all slow, where no other pair is; G_MAXUINT32: none. *slowest_s: of its pairs. */
static guint32
slow_gpu (const Family *f, double *slowest_s)
{
  const CalLinkCase *any = case_of (member (f, 0));
  gboolean pairs = any->pattern != CAL_LINK_HOST && !(any->pattern == CAL_LINK_LOAD && any->n == 0);
  guint32 most = 0;
  for (guint k = 0; k < f->at->len; k++) {
    const CalLinkCase *c = case_of (member (f, k));
    most = MAX (most, MAX (c->first, c->second));
  }
  for (guint32 g = 0; pairs && g <= most; g++) {
    guint n = 0;
    gboolean only = TRUE;
    *slowest_s = 0;
    for (guint k = 0; k < f->at->len && only; k++) {
      const CalSectionPoint *p = member (f, k);
      gboolean its = case_of (p)->first == g || case_of (p)->second == g;
      only = its == is_slow (f, k);
      n += its ? 1 : 0;
      *slowest_s = its ? fmax (*slowest_s, p->measured) : *slowest_s;
    }
    if (only && n > 1)
      return g;
  }
  return G_MAXUINT32;
}

static void
tell_family (const Family *f, GPtrArray *out)
{
  double slowest_s;
  guint32 gpu = slow_gpu (f, &slowest_s);
  for (guint k = 0; k < f->at->len; k++) {
    const CalSectionPoint *p = member (f, k);
    const CalLinkCase *c = case_of (p);
    g_autofree char *here = rate_text (c, gpu != G_MAXUINT32 ? slowest_s : p->measured), *usual = rate_text (c, f->usual);
    if (gpu != G_MAXUINT32) {
      g_autofree char *size = base_quantity_format (c->size_B, BASE_DIM_BYTES, 4);
      g_ptr_array_add (out, g_strdup_printf ("slow: GPU %u with every other: %s%s%s reaches %s, between others %s", gpu,
                                             c->copy < MDL_COPY_N ? base_name (mdl_copy_names, (int)c->copy) : "a load",
                                             c->copy < MDL_COPY_N ? " of " : "", c->copy < MDL_COPY_N ? size : "", here, usual));
      return;
    }
    if (is_slow (f, k))
      g_ptr_array_add (out, g_strdup_printf ("slow: %s: %s, its like %s", p->what, here, usual));
  }
}

/* Several GPUs at once that are much faster with the host than the topology lets them: they share less than it says. */
static void
tell_topology (const CalSectionFit *fit, GPtrArray *out)
{
  const CalSectionPoint *worst = NULL;
  double most = 1 + OTHER_NODE;
  for (guint i = 0; i < fit->points->len; i++) {
    const CalSectionPoint *p = &g_array_index (fit->points, CalSectionPoint, i);
    const CalLinkCase *c = case_of (p);
    if (c->pattern != CAL_LINK_HOST || c->n < 2 || !(fit->predicted[i] / p->measured > most))
      continue;
    most = fit->predicted[i] / p->measured;
    worst = p;
  }
  if (worst != NULL)
    g_ptr_array_add (out,
                     g_strdup_printf ("%s: %.2g times as fast as the topology's links to the host allow; is it the node that was "
                                      "measured? what depends on these links is not to be trusted",
                                      worst->what, most));
}

/* Points that are slower than their like (the same copy between other devices) by more than the fit's band, and at least 5 %: the
 * fastest quarter of them stands for the others. A GPU all of whose pairs are slow is one finding. And when the topology cannot be
 * that of the node. Returned: full, of char *. */
static GPtrArray *
list_notes (const CalSectionFit *fit)
{
  enum { LEAST = 3 }; /* of two nobody knows which is wrong */
  double band = isfinite (fit->band) ? fmax (fit->band, LEAST_BAND) : LEAST_BAND;
  GPtrArray *out = g_ptr_array_new_with_free_func (g_free);
  g_autofree gboolean *seen = g_new0 (gboolean, MAX (fit->points->len, 1));
  for (guint i = 0; i < fit->points->len; i++) {
    const CalSectionPoint *first = &g_array_index (fit->points, CalSectionPoint, i);
    if (seen[i] || !has_like (case_of (first)))
      continue;
    g_autoptr (GArray) at = g_array_new (FALSE, FALSE, sizeof (guint)), times = g_array_new (FALSE, FALSE, sizeof (double));
    for (guint k = i; k < fit->points->len; k++) {
      const CalSectionPoint *p = &g_array_index (fit->points, CalSectionPoint, k);
      if (!alike (first, p))
        continue;
      seen[k] = TRUE;
      g_array_append_val (at, k);
      g_array_append_val (times, p->measured);
    }
    if (at->len < LEAST)
      continue;
    base_median ((double *)(gpointer)times->data, times->len); /* sorts them */
    const Family family = { fit, at, g_array_index (times, double, (times->len - 1) / 4), band };
    tell_family (&family, out);
  }
  tell_topology (fit, out);
  return out;
}

const CalSection cal_section_links = {
  .keys = &cst_links,
  .error_path = "error",
  .stages = stages,
  .collect = collect,
  .predict = predict,
  .start = start,
  .note = list_notes,
};
