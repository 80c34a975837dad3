/* Constants of the network: those that operations over several nodes depend on, and operations inside a node do not. They are found
 * by trying, so that a constant that is added to a calibration needs nothing here. */
#include <math.h>
#include <string.h>

#include "calibrate/links.h"
#include "fit/fit-private.h"
#include "models/library-spec.h"

struct CalNetwork {
  const CalFitWork *work;
  MdlLinks links;   /* what lies over the clusters, or is to */
  gboolean changed; /* it does not lie there yet */
  GArray *constants;
  CalGroup *group; /* points over the most nodes */
  ColComm *inside; /* the first node of its cluster by itself */
};

const char cal_section_offset[] = "offset";

/* ---- clusters ---- */

static gboolean
open_inside (CalNetwork *network)
{
  CalGroup *group = network->group;
  g_clear_pointer (&network->inside, col_comm_free);
  network->inside = col_comm_new (group->clu, &group->settings, group->ranks, group->n_ranks / group->n_nodes, NULL);
  return network->inside != NULL;
}

void
cal_network_lay (CalNetwork *network)
{
  if (!network->changed)
    return;
  network->changed = FALSE;
  const GPtrArray *groups = network->work->out->groups;
  for (guint g = 0; g < groups->len; g++)
    if (((const CalGroup *)groups->pdata[g])->n_nodes > 1)
      cal_group_lay (groups->pdata[g], &network->links);
}

gboolean
cal_network_set (CalNetwork *network, const CalFitConstant *constant, double value)
{
  if (constant->section == cal_section_offset)
    network->work->offset_s[constant->offset] = value;
  else if (constant->section == cst_links.name) {
    BaseNum *num = (BaseNum *)(gpointer)((char *)&network->links + constant->offset);
    network->changed = network->changed || num->v < value || num->v > value;
    *num = (BaseNum){ .v = value, .set = TRUE, .source = num->source };
  } else
    return FALSE;
  return TRUE;
}

/* ---- which constants ---- */

/* What operations cost on a communicator, each that is possible at a few sizes. */
static void
list_questions (ColComm *comm, GArray *out)
{
  static const double sizes_B[] = { 4096, 0x1p20, 0x1p28 };
  for (int op = 0; op < MDL_OP_N; op++)
    for (int algo = 0; algo < MDL_ALGO_N; algo++)
      for (int proto = 0; proto < MDL_PROTO_N; proto++)
        for (gsize i = 0; i < G_N_ELEMENTS (sizes_B); i++) {
          const ColCollRequest request = {
            .op = (MdlOp)op, .size_B = sizes_B[i], .dtype = MDL_DTYPE_FP32, .algo = (MdlAlgo)algo, .proto = (MdlProto)proto
          };
          g_auto (ColAnswer) answer = { 0 };
          if (col_coll_price (comm, &request, &answer, NULL))
            g_array_append_val (out, request);
        }
}

static void
price (ColComm *comm, const GArray *questions, double *time_s)
{
  for (guint i = 0; i < questions->len; i++) {
    g_auto (ColAnswer) answer = { 0 };
    gboolean possible = col_coll_price (comm, &g_array_index (questions, ColCollRequest, i), &answer, NULL);
    time_s[i] = possible ? answer.time_s : (double)NAN;
  }
}

/* Prices all questions, those inside a node first, with the links as they are to be. */
static void
price_both (CalNetwork *network, const GArray *inside, const GArray *outside, double *time_s)
{
  gboolean moved = network->changed;
  cal_network_lay (network);
  if (!moved || open_inside (network))
    price (network->inside, inside, time_s);
  price (network->group->comm, outside, time_s + inside->len);
}

static gboolean
differ (const double *a, const double *b, guint n)
{
  static const double DEPENDS = 1e-6;
  for (guint i = 0; i < n; i++)
    if (isfinite (a[i]) && isfinite (b[i]) && fabs (a[i] - b[i]) > DEPENDS * b[i])
      return TRUE;
  return FALSE;
}

static void
set (CalNetwork *network, const CalFitConstant *constant, double value)
{
  if (!cal_network_set (network, constant, value))
    ((BaseNum *)(gpointer)((char *)network->group->library + constant->offset))->v = value;
}

/* Keeps of the candidates those that move what lies outside a node, and nothing inside one, where that counts (`apart`). */
static void
sift (CalNetwork *network, gboolean apart)
{
  static const double factors[] = { 1.3, 1 / 1.3, 4, 0.25 };
  g_autoptr (GArray) inside = g_array_new (FALSE, FALSE, sizeof (ColCollRequest)),
                     outside = g_array_new (FALSE, FALSE, sizeof (ColCollRequest));
  if (apart)
    list_questions (network->inside, inside);
  list_questions (network->group->comm, outside);
  guint n_kept = 0, n = inside->len + outside->len;
  g_autofree double *usual = g_new (double, MAX (n, 1)), *time_s = g_new (double, MAX (n, 1));
  price_both (network, inside, outside, usual);
  for (guint i = 0; i < network->constants->len; i++) {
    const CalFitConstant c = g_array_index (network->constants, CalFitConstant, i);
    gboolean near = FALSE, far = FALSE;
    for (gsize k = 0; k < G_N_ELEMENTS (factors) && !near; k++) {
      set (network, &c, CLAMP (c.before * factors[k], c.min, c.max));
      price_both (network, inside, outside, time_s);
      near = differ (time_s, usual, inside->len);
      far = far || differ (time_s + inside->len, usual + inside->len, outside->len);
    }
    set (network, &c, c.before);
    if (far && !near)
      g_array_index (network->constants, CalFitConstant, n_kept++) = c;
  }
  g_array_set_size (network->constants, n_kept);
  cal_network_lay (network);
}

/* Factors by which a constant may move: a software that is not known takes far longer than a wire. */
static const double FURTHEST = 20, FURTHEST_WIRE = 2000;
/* How clusters differ (standard deviation of the logarithm; assumed). Shares and factors: NICs of the shipped networks reach 80 to
 * 97 % of their rate. Software's times and rates: a factor of 1.6. Wires: from a cable to another building. */
static const double SPREAD_WIRE = 2.5;

static void
add (CalNetwork *network, const char *section, const BaseSchema *root, const void *values, const char *path)
{
  CalFitConstant c;
  if (!cal_constant_find (root, values, path, &c) || !(c.before > 0))
    return;
  c.section = section;
  c.stage = cal_between_nodes;
  gboolean share = c.dim == BASE_DIM_RATIO || c.dim == BASE_DIM_NUMBER, wire = section == cst_links.name && c.dim == BASE_DIM_TIME;
  c.span = wire ? FURTHEST_WIRE : FURTHEST;
  c.spread = wire ? SPREAD_WIRE : share ? CAL_SPREAD_SHARE : CAL_SPREAD;
  c.path = g_intern_string (path);
  g_array_append_val (network->constants, c);
}

/* Whether copies inside a node tell it: a stage of the section `links` does. */
static gboolean
is_of_copies (const char *section, const char *path)
{
  for (const CalStage *stage = cal_section_links.stages; section == cst_links.name && stage->name != NULL; stage++) {
    g_auto (GStrv) paths = g_strsplit (stage->paths, " ", -1);
    if (g_strv_contains ((const char *const *)paths, path))
      return TRUE;
  }
  return FALSE;
}

/* Times, rates, shares and factors. Counts and sizes are the library's own; the wire that a latency contains belongs to that
 * latency, and links of a node to copies inside it. */
static gboolean
is_physical (const char *section, const BaseField *field, const char *path)
{
  gboolean factor = field->dim == BASE_DIM_NUMBER && g_strcmp0 (field->min, "1") == 0;
  return (factor || field->dim == BASE_DIM_TIME || field->dim == BASE_DIM_BANDWIDTH || field->dim == BASE_DIM_RATIO) &&
         strcmp (field->key, "route_latency") != 0 && !is_of_copies (section, path);
}

/* All physical constants of a schema. */
static void
add_all (CalNetwork *network, const char *section, const BaseSchema *root, const void *values, const BaseSchema *schema,
         const char *above)
{
  for (const BaseField *field = schema->fields; field->key != NULL; field++) {
    g_autofree char *path = *above != '\0' ? g_strconcat (above, ".", field->key, NULL) : g_strdup (field->key);
    if (field->kind == BASE_FIELD_MAP)
      add_all (network, section, root, values, field->sub, path);
    else if (field->kind == BASE_FIELD_NUM && is_physical (section, field, path))
      add (network, section, root, values, path);
  }
}

/* Of a source whose launches are not known: what a call of it takes more, as one more constant. */
static void
add_offsets (CalNetwork *network)
{
  static const double BEGIN_S = 2e-6;
  const CalFitWork *work = network->work;
  for (guint s = 0; work->query->unknown != NULL && s < work->data->spec.systems.n; s++) {
    gboolean several = FALSE, one = FALSE;
    for (guint i = 0; i < work->out->points->len; i++) {
      const CalFitPoint *p = &g_array_index (work->out->points, CalFitPoint, i);
      several = several || (p->system == s && p->nodes > 1);
      one = one || (p->system == s && p->nodes == 1);
    }
    if (!work->query->unknown[s] || !several || one)
      continue;
    const CalFitConstant c = { .path = cal_data_system (work->data, s)->name.v,
                               .section = cal_section_offset,
                               .offset = s,
                               .dim = BASE_DIM_TIME,
                               .max = HUGE_VAL,
                               .stage = cal_between_nodes,
                               .before = BEGIN_S,
                               .after = BEGIN_S,
                               .base = BEGIN_S,
                               .half_width = (double)NAN,
                               .span = FURTHEST_WIRE,
                               .spread = HUGE_VAL,
                               .always = TRUE };
    g_array_append_val (network->constants, c);
  }
}

/* Whether all points over several nodes are of one topology: links of several have figures of their own. */
static gboolean
one_topology (const CalFitWork *work, const CalGroup *group)
{
  for (guint g = 0; g < work->out->groups->len; g++) {
    const CalGroup *other = work->out->groups->pdata[g];
    if (other->n_nodes > 1 && strcmp (other->system->topology.v, group->system->topology.v) != 0)
      return FALSE;
  }
  return TRUE;
}

/* All candidates, sifted. */
static void
find_constants (CalNetwork *network, gboolean apart)
{
  const CalGroup *group = network->group;
  g_array_set_size (network->constants, 0);
  if (one_topology (network->work, group))
    add_all (network, cst_links.name, cst_links.schema, &network->links, cst_links.schema, "");
  add_all (network, NULL, &cst_library_schema, group->library, &cst_library_schema, "");
  sift (network, apart);
}

static gboolean
crosses_nics (const CalNetwork *network)
{
  gboolean any = FALSE;
  for (guint i = 0; i < network->constants->len; i++)
    any = any || g_str_has_prefix (g_array_index (network->constants, CalFitConstant, i).path, "network.");
  return any;
}

CalNetwork *
cal_network_new (const CalFitWork *work, const MdlLinks *links)
{
  CalGroup *most = NULL;
  for (guint g = 0; g < work->out->groups->len; g++) {
    CalGroup *group = work->out->groups->pdata[g];
    if (group->n_nodes > 1 && group->library != NULL && (most == NULL || group->n_nodes > most->n_nodes))
      most = group;
  }
  if (most == NULL)
    return NULL;
  CalNetwork *network = g_new0 (CalNetwork, 1);
  network->work = work;
  network->group = most;
  network->constants = g_array_new (FALSE, FALSE, sizeof (CalFitConstant));
  if (links != NULL)
    network->links = *links;
  else if (most->library->links != NULL)
    network->links = *most->library->links;
  clu_links_fill (most->clu, &network->links);
  if (open_inside (network))
    find_constants (network, TRUE);
  if (network->inside != NULL && one_topology (work, most) && !crosses_nics (network))
    find_constants (network, FALSE); /* one domain of scale-up links: a rack is what a node is elsewhere */
  add_offsets (network);
  return network;
}

const GArray *
cal_network_constants (const CalNetwork *network)
{
  return network->constants;
}

gboolean
cal_network_finds_offset (const CalNetwork *network, guint system)
{
  for (guint i = 0; network != NULL && i < network->constants->len; i++) {
    const CalFitConstant *c = &g_array_index (network->constants, CalFitConstant, i);
    if (c->section == cal_section_offset && c->offset == system)
      return TRUE;
  }
  return FALSE;
}

void
cal_network_free (CalNetwork *network)
{
  if (network == NULL)
    return;
  g_clear_pointer (&network->inside, col_comm_free);
  g_array_unref (network->constants);
  g_free (network);
}
