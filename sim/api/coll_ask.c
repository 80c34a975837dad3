/* The flags of a collective, read: what is asked, and its sizes. */
#include <string.h>

#include "api/coll.h"
#include "api/values.h"
#include "base/yaml.h"
#include "models/moe.h"

#define MAX_NODES         1000000u
#define MAX_GPUS_PER_NODE 1024u
#define MAX_CHANNELS      1024u
#define MAX_NODE_COUNTS   64u
#define MAX_ITERS         1000000u
#define NCCL_TESTS_ITERS  20                             /* NVIDIA/nccl-tests src/common.cu, -n */
#define MAX_SIZE_B        (G_GUINT64_CONSTANT (1) << 50) /* beyond, sizes are no use; a double still tells them apart */

static gboolean
parse_op (const FrCollFlags *flags, const char *text, MdlOp *op, GError **error)
{
  int code = 0;
  if (base_name_find (mdl_moe_op_names, text) != NULL)
    return fr_fail_of (
        flags->verb, error,
        "'%s' is no collective: 'forerun explain %s --topology T --tokens N --backend B' prices it, by one library at "
        "a time",
        text, text);
  if (!fr_name_value (flags->verb, "operation", text, mdl_op_names, &code, error))
    return FALSE;
  *op = (MdlOp)code;
  return TRUE;
}

static gboolean
parse_nodes (const FrCollFlags *flags, const char *text, FrCollQuery *query, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text != NULL ? text : "0", ",", -1);
  guint n = g_strv_length (words);
  if (n == 0 || n > MAX_NODE_COUNTS)
    return fr_fail_of (flags->verb, error, "-n '%s' lists %u node counts; 1 to %u are accepted, as in -n 1,2,4", text, n,
                       MAX_NODE_COUNTS);
  g_autofree guint32 *nodes = g_new0 (guint32, n);
  for (guint i = 0; text != NULL && i < n; i++) {
    guint64 value = 0;
    if (!fr_count_value (flags->verb, "-n", words[i], 1, MAX_NODES, &value, error))
      return FALSE;
    for (guint k = 0; k < i; k++)
      if (nodes[k] == value)
        return fr_fail_of (flags->verb, error, "-n '%s' lists %u twice; each number of nodes once is accepted", text, nodes[k]);
    nodes[i] = (guint32)value;
  }
  query->nodes = g_steal_pointer (&nodes);
  query->n_nodes = n;
  return TRUE;
}

gboolean
fr_disabled_value (const char *verb, const char *text, guint32 *algos, guint32 *protos, GError **error)
{
  if (text == NULL)
    return TRUE;
  g_autoptr (GArray) names = g_array_new (TRUE, TRUE, sizeof (BaseName));
  const BaseName *const tables[] = { mdl_algo_names, mdl_proto_names };
  for (size_t t = 0; t < G_N_ELEMENTS (tables); t++)
    for (const BaseName *name = tables[t]; name->name != NULL; name++)
      if (name->code >= 0) /* neither auto nor best */
        g_array_append_vals (names, name, 1);
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  for (char **word = words; *word != NULL; word++) {
    int code;
    if (!fr_name_value (verb, "--disable", g_strstrip (*word), (const BaseName *)(gpointer)names->data, &code, error))
      return FALSE;
    if (base_name_find (mdl_algo_names, *word) != NULL)
      *algos |= 1u << code;
    else
      *protos |= 1u << code;
  }
  return TRUE;
}

/* NCCL's variables; --disable and --max-channels are read after them and win. */
static gboolean
take_variables (const FrCollFlags *flags, FrCollQuery *query, GError **error)
{
  if (flags->nccl == NULL && flags->nccl_env == NULL && flags->one_shot == NULL)
    return TRUE;
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();
  g_autofree char *env = flags->nccl_env != NULL ? g_strconcat ("env=", flags->nccl_env, NULL) : NULL;
  if (env != NULL)
    g_ptr_array_add (pairs, env);
  for (char **pair = flags->nccl; pair != NULL && *pair != NULL; pair++)
    g_ptr_array_add (pairs, *pair);
  g_autofree char *one_shot = flags->one_shot != NULL ? g_strconcat ("one_shot=", flags->one_shot, NULL) : NULL;
  if (one_shot != NULL)
    g_ptr_array_add (pairs, one_shot);
  g_ptr_array_add (pairs, NULL);
  query->nccl = col_nccl_parse ((const char *const *)pairs->pdata, "--nccl", &query->settings, error);
  return query->nccl != NULL;
}

static const BaseName library_names[] = { { "nccl", 0, NULL }, { "plain", 1, NULL }, { NULL, 0, NULL } };

static gboolean
parse_software (const FrCollFlags *flags, FrCollQuery *query, GError **error)
{
  ColSettings *settings = &query->settings;
  int plain = 0, buffers = 0, launch = (int)settings->launch, mode = (int)settings->mode, steps = (int)settings->steps;
  guint64 max_channels = 0, iters = NCCL_TESTS_ITERS;
  if (!take_variables (flags, query, error) ||
      !fr_name_value (flags->verb, "--library", flags->library, library_names, &plain, error) ||
      !fr_name_value (flags->verb, "--buffers", flags->buffers, mdl_buffers_names, &buffers, error) ||
      !fr_name_value (flags->verb, "--launch", flags->launch, mdl_launch_names, &launch, error) ||
      !fr_name_value (flags->verb, "--mode", flags->mode, col_mode_names, &mode, error) ||
      !fr_name_value (flags->verb, "--steps", flags->steps, col_steps_names, &steps, error) ||
      !fr_count_value (flags->verb, "--max-channels", flags->max_channels, 1, MAX_CHANNELS, &max_channels, error) ||
      !fr_count_value (flags->verb, "--iters", flags->iters, 1, MAX_ITERS, &iters, error) ||
      !fr_disabled_value (flags->verb, flags->disable, &settings->disabled_algos, &settings->disabled_protos, error))
    return FALSE;
  query->plain = plain == 1;
  settings->launch = (MdlLaunch)launch;
  if (flags->buffers != NULL)
    settings->buffers = (MdlBuffers)buffers;
  settings->mode = (ColMode)mode;
  settings->steps = (ColSteps)steps;
  settings->in_a_row = (unsigned)iters;
  if (max_channels > 0) {
    settings->max_channels = (unsigned)max_channels;
    settings->min_channels = MIN (settings->min_channels, settings->max_channels);
    settings->min_ctas = MIN (settings->min_ctas, settings->max_channels);
  }
  if (query->plain && flags->calibration != NULL)
    return fr_fail_of (flags->verb, error,
                       "--calibration has no meaning with --library plain, which has no constants but the links' own");
  if (query->plain && (flags->launch != NULL || flags->max_channels != NULL || flags->proto != NULL || flags->nccl != NULL ||
                       flags->buffers != NULL))
    return fr_fail_of (flags->verb, error, "%s has no meaning with --library plain, which knows no software",
                       flags->launch != NULL         ? "--launch"
                       : flags->buffers != NULL      ? "--buffers"
                       : flags->nccl != NULL         ? "--nccl"
                       : flags->max_channels != NULL ? "--max-channels"
                                                     : "--proto");
  if (settings->mode == COL_MODE_MODEL && settings->steps == COL_STEPS_EXACT)
    return fr_fail_of (flags->verb, error, "--steps exact sends every message and needs --mode event");
  return TRUE;
}

static gboolean
op_has_root (MdlOp op)
{
  return op == MDL_OP_BROADCAST || op == MDL_OP_REDUCE;
}

gboolean
fr_coll_read (const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error)
{
  memset (query, 0, sizeof *query);
  col_settings_default (&query->settings);
  query->settings.seed = flags->seed;
  query->verb = flags->verb;
  query->topology = flags->topology;
  query->calibration = flags->calibration;
  query->sets = flags->sets;
  int dtype = MDL_DTYPE_FP32, algo = MDL_ALGO_AUTO, proto = MDL_PROTO_AUTO;
  guint64 gpus = 0, root = 0;
  if (!parse_op (flags, op, &query->op, error) ||
      !fr_name_value (flags->verb, "--dtype", flags->dtype, mdl_dtype_names, &dtype, error) ||
      !fr_name_value (flags->verb, "--algo", flags->algo, mdl_algo_names, &algo, error) ||
      !fr_name_value (flags->verb, "--proto", flags->proto, mdl_proto_names, &proto, error) ||
      !fr_count_value (flags->verb, "-g", flags->gpus, 1, MAX_GPUS_PER_NODE, &gpus, error) ||
      !fr_count_value (flags->verb, "--root", flags->root, 0, G_MAXUINT32 - 1, &root, error) ||
      !parse_software (flags, query, error))
    return FALSE;
  query->dtype = (MdlDtype)dtype;
  query->algo = (MdlAlgo)algo;
  query->proto = (MdlProto)proto;
  query->gpus = (guint32)gpus;
  query->root = (guint32)root;
  if (flags->root != NULL && !op_has_root (query->op))
    return fr_fail_of (flags->verb, error, "--root has no meaning for %s; broadcast and reduce have one", op);
  if (flags->topology == NULL)
    return fr_fail_of (flags->verb, error, "--topology is missing: a name of forerun list topologies, or a file");
  return parse_nodes (flags, flags->nodes, query, error);
}

/* ---- sizes ---- */

gboolean
fr_sizes_read (const FrCollFlags *flags, unsigned element_B, ScnSizes *sizes, GError **error)
{
  guint64 factor = 2;
  *sizes = (ScnSizes){ .min_B = 8, .max_B = G_GUINT64_CONSTANT (8) << 30, .is_factor = TRUE };
  if (flags->factor != NULL && flags->step != NULL)
    return fr_fail_of (flags->verb, error, "-f and -i exclude one another: sizes grow by a factor or by a step");
  if (!fr_size_value (flags->verb, "-b", flags->min, &sizes->min_B, error) ||
      !fr_size_value (flags->verb, "-e", flags->max, &sizes->max_B, error) ||
      !fr_size_value (flags->verb, "-i", flags->step, &sizes->step, error) ||
      !fr_count_value (flags->verb, "-f", flags->factor, 2, 1024, &factor, error))
    return FALSE;
  if (flags->step != NULL && sizes->step == 0)
    return fr_fail_of (flags->verb, error, "-i 0 never gets to the largest size; at least one element (%u B) is accepted",
                       element_B);
  sizes->is_factor = flags->step == NULL;
  if (sizes->is_factor)
    sizes->step = factor;
  if (flags->max == NULL && sizes->min_B > sizes->max_B)
    sizes->max_B = sizes->min_B;
  if (sizes->min_B > sizes->max_B)
    return fr_fail_of (flags->verb, error,
                       "smallest size -b %s (%" G_GUINT64_FORMAT " B) is above largest size -e %s (%" G_GUINT64_FORMAT " B)",
                       flags->min != NULL ? flags->min : "8", sizes->min_B, flags->max, sizes->max_B);
  if (sizes->min_B < element_B)
    return fr_fail_of (flags->verb, error,
                       "-b %" G_GUINT64_FORMAT " B is less than one element; at least %u B is accepted with this --dtype",
                       sizes->min_B, element_B);
  if (sizes->max_B > MAX_SIZE_B)
    return fr_fail_of (flags->verb, error, "size of %" G_GUINT64_FORMAT " B is out of range; at most 1 PiB is accepted",
                       sizes->max_B);
  guint64 n = scn_sizes_count (sizes);
  if (n > SCN_MAX_ROWS)
    return fr_fail_of (flags->verb, error,
                       "%" G_GUINT64_FORMAT " sizes are too many; at most %u rows are accepted: take a larger step -i, or a "
                       "factor -f",
                       n, SCN_MAX_ROWS);
  return TRUE;
}

gboolean
fr_compare_read (const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error)
{
  if (flags->algo != NULL)
    return fr_fail_of (flags->verb, error, "--algo has no meaning: all algorithms are compared; --disable leaves some out");
  if (!fr_coll_read (flags, op, query, error))
    return FALSE;
  query->settings.terse = TRUE;
  query->in_network = flags->in_network || query->settings.collnet;
  if (flags->mode == NULL && flags->steps == NULL) /* thousands of prices */
    query->settings.mode = COL_MODE_MODEL;
  return TRUE;
}

void
fr_coll_query_clear (FrCollQuery *query)
{
  g_clear_pointer (&query->nccl, base_yaml_free);
  g_clear_pointer (&query->nodes, g_free);
}
