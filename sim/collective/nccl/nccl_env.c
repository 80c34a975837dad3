/* NCCL's version and variables, under their own names: from `nccl:` of a scenario or --nccl of a command line into settings.
 *
 * What each moves here, and where NCCL reads it, is documented in docs/nccl.md. A value that NCCL itself would not take is
 * refused, and so is one whose effect is not modelled. */
#include <string.h>

#include "base/file.h"
#include "collective/nccl_env.h"
#include "collective/nccl_variables.h"

typedef struct {
  BaseHead head;
  BaseStr version;
  BaseNum nvls_enable, collnet_enable, p2p_disable, shm_disable, ib_disable, pxn_disable, cross_nic;
  BaseNum min_nchannels, max_nchannels, min_ctas, max_ctas, net_channels, threads, ll128_threads, buffer;
  BaseStr p2p_level, gdr_level, tuner_plugin;
  BaseNum min_nrings, max_nrings, pat_enable;
  BaseNum socket_threads, socket_connections, ignore_affinity, device_rdma;
  BaseEnum provider;
  BaseStrs algo, proto;
  BaseStr env, net, one_shot, symmetric_kernel, cta_policy;
  BaseNum symmetric_ctas;
  BaseEnum buffers;
} Spec;

enum { PROVIDER_EFA, PROVIDER_TCP };
static const BaseName provider_names[] = { { "efa", PROVIDER_EFA, "EFA's own; the default there" },
                                           { "tcp", PROVIDER_TCP, "TCP over the same adapters" },
                                           { "sockets", PROVIDER_TCP, "likewise" },
                                           { NULL, 0, NULL } };

static const BaseField fields[] = {
  BASE_ROW (Spec, "version", version, STR, .help = "NCCL version, as `2.28` or `2.28.9`; default: the calibration's"),
  BASE_ROW (Spec, "env", env, STR,
            .help = "file with lines `NAME=VALUE`, as `env` prints them, relative to this file; keys written here win. "
                    "`forerun list nccl-variables` says which are modelled"),
  BASE_ROW (
      Spec, "one_shot", one_shot, STR,
      .help =
          "framework whose all-reduce kernels replace NCCL's where they can: `vllm`, `vllm_0.14`, `sglang`, `trtllm`; PyTorch's "
          "`torch_one_shot`, `torch_two_shot`, `torch_multimem`, `torch_compile`, `torch_intra_node`; one node, 2, 4, 6 or 8 GPUs, "
          "NVLink, up to a size"),
  BASE_ROW (Spec, "buffers", buffers, ENUM, .names = mdl_buffers_names, .fallback = "plain",
            .help = "what the buffers of all operations are to NCCL"),
  BASE_ROW (Spec, "NCCL_ALGO", algo, STRS,
            .help = "allowed algorithms: `Ring,Tree`, `^Tree` (all others), `ring;allreduce:tree` (by operation); or a list"),
  BASE_ROW (Spec, "NCCL_PROTO", proto, STRS, .help = "allowed protocols, in the same form"),
  BASE_ROW_NUM (Spec, "NCCL_MIN_NCHANNELS", min_nchannels, COUNT, .min = "1", .max = "64", .help = "minimum channels"),
  BASE_ROW_NUM (Spec, "NCCL_MAX_NCHANNELS", max_nchannels, COUNT, .min = "1", .max = "64", .help = "maximum channels"),
  BASE_ROW_NUM (Spec, "NCCL_MIN_NRINGS", min_nrings, COUNT, .min = "1", .max = "64", .help = "older name of NCCL_MIN_NCHANNELS"),
  BASE_ROW_NUM (Spec, "NCCL_MAX_NRINGS", max_nrings, COUNT, .min = "1", .max = "64", .help = "older name of NCCL_MAX_NCHANNELS"),
  BASE_ROW_NUM (Spec, "NCCL_MIN_CTAS", min_ctas, COUNT, .min = "1", .max = "64", .help = "minimum channels, NVLS included"),
  BASE_ROW_NUM (Spec, "NCCL_MAX_CTAS", max_ctas, COUNT, .min = "1", .max = "64",
                .help = "maximum channels, NVLS included, which NCCL_MAX_NCHANNELS does not limit"),
  BASE_ROW_NUM (Spec, "NCCL_NVLS_ENABLE", nvls_enable, COUNT, .max = "2", .fallback = "1",
                .help = "0: no reduction in the NVSwitch (NVLS, NVLSTree)"),
  BASE_ROW_NUM (Spec, "NCCL_SYM_CTAS", symmetric_ctas, COUNT, .max = "64", .fallback = "0",
                .help = "blocks of kernels on symmetric memory; 0: NCCL's own choice"),
  BASE_ROW (Spec, "NCCL_CTA_POLICY", cta_policy, STR,
            .help = "`ZERO` or 2: copy engines serve all-gather and all-to-all on `buffers: symmetric`; `DEFAULT` or 0; "
                    "`EFFICIENCY` or 1 is not modelled"),
  BASE_ROW (Spec, "NCCL_SYM_KERNEL", symmetric_kernel, STR,
            .help = "the only kernel that may serve symmetric memory, as `AllReduce_AGxLL_R`; `^`: any"),
  BASE_ROW_NUM (Spec, "NCCL_PAT_ENABLE", pat_enable, COUNT, .max = "2", .fallback = "2", .help = "0: no PAT"),
  BASE_ROW_NUM (Spec, "NCCL_COLLNET_ENABLE", collnet_enable, COUNT, .max = "1", .fallback = "0",
                .help = "1: `auto` may use in-network reduction (CollNet, multi-node NVLS)"),
  BASE_ROW_NUM (Spec, "NCCL_P2P_DISABLE", p2p_disable, COUNT, .max = "1", .fallback = "0",
                .help = "1: GPUs of a node communicate through host memory"),
  BASE_ROW (Spec, "NCCL_P2P_LEVEL", p2p_level, STR,
            .help = "largest distance for P2P: `LOC`, `NVL`, `NVB`, `C2C`, `PIX`, `PXB`, `P2C`, `PXN`, `PHB`, `SYS`, or 0 to 5"),
  BASE_ROW_NUM (Spec, "NCCL_SHM_DISABLE", shm_disable, COUNT, .max = "1", .fallback = "0",
                .help = "1: no host memory between GPUs of a node; an error if they need it"),
  BASE_ROW_NUM (Spec, "NCCL_IB_DISABLE", ib_disable, COUNT, .max = "1", .fallback = "0",
                .help = "1: sockets instead of RDMA; no effect if a plugin brings its own network (EFA)"),
  BASE_ROW (Spec, "NCCL_NET", net, STR,
            .help = "`Socket`: as NCCL_IB_DISABLE=1; `IB`, or the plugin's own name: no effect, the topology names the network"),
  BASE_ROW (Spec, "NCCL_NET_GDR_LEVEL", gdr_level, STR, .help = "largest distance for GPUDirect RDMA, in the same form"),
  BASE_ROW_NUM (Spec, "NCCL_PXN_DISABLE", pxn_disable, COUNT, .max = "1", .fallback = "0",
                .help = "1: a GPU never uses another GPU's NIC"),
  BASE_ROW_NUM (Spec, "NCCL_CROSS_NIC", cross_nic, COUNT, .max = "2", .fallback = "2",
                .help = "0: a ring leaves a node only by the NIC it entered by"),
  BASE_ROW_NUM (Spec, "NCCL_NCHANNELS_PER_NET_PEER", net_channels, COUNT, .min = "1", .max = "64",
                .help = "channels of sends and receives per remote peer; default: the version's rule"),
  BASE_ROW_NUM (Spec, "NCCL_BUFFSIZE", buffer, COUNT, .min = "65536", .max = "1 G",
                .help = "buffer of a Simple connection in bytes, a multiple of 4096; scales slots and chunks"),
  BASE_ROW_NUM (Spec, "NCCL_NTHREADS", threads, COUNT, .min = "64", .max = "512",
                .help = "threads per block for LL and Simple, a multiple of 32"),
  BASE_ROW_NUM (Spec, "NCCL_LL128_NTHREADS", ll128_threads, COUNT, .min = "160", .max = "640",
                .help = "threads per block for LL128, a multiple of 32"),
  BASE_ROW (Spec, "NCCL_TUNER_PLUGIN", tuner_plugin, STR,
            .help = "`none`: NCCL chooses, not the network's plugin (EFA); other plugins are not modelled"),
  BASE_ROW_NUM (Spec, "NCCL_SOCKET_NTHREADS", socket_threads, COUNT, .min = "1", .max = "16",
                .help = "CPU threads of a TCP channel; 2 move 10 % more than 1; no effect without TCP"),
  BASE_ROW_NUM (Spec, "NCCL_NSOCKS_PERTHREAD", socket_connections, COUNT, .min = "1", .max = "16",
                .help = "TCP connections of such a thread; times the threads at most 64"),
  BASE_ROW_NUM (Spec, "NCCL_IGNORE_CPU_AFFINITY", ignore_affinity, COUNT, .max = "1", .fallback = "0",
                .help = "1: NCCL's threads use the cores near the GPU, whatever `degrade: [{affinity: one_core}]` says"),
  BASE_ROW (Spec, "FI_PROVIDER", provider, ENUM, .names = provider_names, .fallback = "efa",
            .help = "provider of libfabric: `efa`, or `tcp` over the same adapters; no effect without libfabric"),
  BASE_ROW_NUM (Spec, "FI_EFA_USE_DEVICE_RDMA", device_rdma, COUNT, .max = "1", .fallback = "1",
                .help = "0: EFA stages data in host memory, without GPUDirect RDMA"),
  BASE_ROW_END,
};
const BaseSchema col_schema_nccl = { .name = "nccl",
                                     .help = "NCCL's version and variables, under their own names.",
                                     .fields = fields,
                                     .others = col_nccl_variable_names };

/* ---- lists of algorithms and protocols ---- */

/* NCCL spells NVLSTree what is nvls_tree here: neither case nor '_' matter. */
static gboolean
is_same_name (const char *a, const char *b)
{
  for (;;) {
    while (*a == '_')
      a++;
    while (*b == '_')
      b++;
    if (g_ascii_tolower (*a) != g_ascii_tolower (*b))
      return FALSE;
    if (*a == '\0')
      return TRUE;
    a++;
    b++;
  }
}

/* Names of our tables that are none of NCCL's: auto, best, and sends and receives, which its tuner never sees. */
static gboolean
is_known_to_nccl (const BaseName *name, const BaseName *names)
{
  return name->code >= 0 && (names != mdl_algo_names || name->code < MDL_ALGO_NCCL_N);
}

/* The name's row; NULL after "unknown name 'x' (did you mean 'y'?); accepted: …". */
static const BaseName *
find_name (const char *text, BaseMark mark, const BaseName *names, BaseDiag *diag)
{
  g_autoptr (GPtrArray) known = g_ptr_array_new ();
  for (const BaseName *name = names; name->name != NULL; name++) {
    if (!is_known_to_nccl (name, names))
      continue;
    if (is_same_name (name->name, text))
      return name;
    g_ptr_array_add (known, (gpointer)(guintptr)name->name);
  }
  g_ptr_array_add (known, NULL);
  g_autofree char *accepted = base_accepted (text, (const char *const *)known->pdata, NULL);
  base_diag_error (diag, mark, "unknown name '%s'%s", text, accepted);
  return NULL;
}

/* Codes that a list in NCCL's own form leaves switched off: "Ring,Tree" keeps these, "^Tree" all others. */
static guint32
off_by_list (const char *text, BaseMark mark, const BaseName *names, BaseDiag *diag)
{
  guint32 all = 0, named = 0;
  gboolean negated = *text == '^';
  for (const BaseName *name = names; name->name != NULL; name++)
    if (is_known_to_nccl (name, names))
      all |= 1u << name->code;
  g_auto (GStrv) words = g_strsplit (text + (negated ? 1 : 0), ",", -1);
  for (char **word = words; *word != NULL; word++) {
    const BaseName *name = find_name (g_strstrip (*word), mark, names, diag);
    if (name != NULL)
      named |= 1u << name->code;
  }
  return negated ? named : all & ~named;
}

/* "ring;allreduce:tree": the first list without a name is that of all operations, a named one that of its own (NCCL
 * src/graph/tuning.cc:parseList, from 2.24 on). Items of a YAML list count as if commas joined them. */
static void
switch_off (const BaseStrs *list, const BaseName *names, BaseDiag *diag, guint32 *off)
{
  if (list->n == 0)
    return;
  g_autoptr (GString) joined = g_string_new (NULL);
  for (unsigned i = 0; i < list->n; i++)
    g_string_append_printf (joined, "%s%s", i > 0 ? "," : "", list->item[i].v);
  BaseMark mark = list->item[0].mark;
  g_auto (GStrv) parts = g_strsplit (joined->str, ";", -1);
  for (char **part = parts; *part != NULL; part++) {
    char *colon = strchr (g_strstrip (*part), ':');
    if (colon == NULL && part != parts) {
      base_diag_error (diag, mark, "'%s' comes after a ';' but names no operation; accepted: as 'ring;allreduce:tree,ring'", *part);
      return;
    }
    if (colon == NULL) {
      guint32 of_all = off_by_list (*part, mark, names, diag);
      for (const BaseName *function = mdl_op_nccl_names; function->name != NULL; function++)
        off[function->code] = of_all;
      continue;
    }
    *colon = '\0';
    const BaseName *function = find_name (*part, mark, mdl_op_nccl_names, diag);
    if (function != NULL)
      off[function->code] = off_by_list (colon + 1, mark, names, diag);
  }
}

/* ---- the others ---- */

/* NCCL_P2P_LEVEL and NCCL_NET_GDR_LEVEL. NCCL src/graph/paths.cc:ncclGetUserP2pLevel, levelsOldToNew. */
static CluPathClass
read_level (const BaseStr *text, BaseDiag *diag)
{
  static const BaseName levels[] = {
    { "LOC", CLU_PATH_LOC, NULL },
    { "NVL", CLU_PATH_NVL, NULL },
    { "NVB", CLU_PATH_NVB, NULL },
    { "C2C", CLU_PATH_C2C, NULL },
    { "PIX", CLU_PATH_PIX, NULL },
    { "PXB", CLU_PATH_PXB, NULL },
    { "P2C", CLU_PATH_P2C, NULL },
    { "PXN", CLU_PATH_PXN, NULL },
    { "PHB", CLU_PATH_PHB, NULL },
    { "SYS", CLU_PATH_SYS, NULL },
    { NULL, 0, NULL },
  };
  static const CluPathClass numbered[] = { CLU_PATH_LOC, CLU_PATH_PIX, CLU_PATH_PXB, CLU_PATH_PHB, CLU_PATH_SYS, CLU_PATH_SYS };
  if (g_ascii_isdigit (text->v[0]) && text->v[1] == '\0' && text->v[0] - '0' < (int)G_N_ELEMENTS (numbered))
    return numbered[text->v[0] - '0'];
  const BaseName *name = find_name (text->v, text->mark, levels, diag);
  return name != NULL ? (CluPathClass)name->code : CLU_PATH_SYS;
}

static unsigned
multiple_of (const BaseNum *num, unsigned unit, BaseDiag *diag)
{
  unsigned value = num->set ? (unsigned)num->v : 0;
  if (value % unit != 0)
    base_diag_error (diag, num->mark, "%u is no multiple of %u; accepted: %u, %u, …", value, unit, value / unit * unit,
                     value / unit * unit + unit);
  return value;
}

static void
take_routes (const Spec *spec, ColSettings *settings, BaseDiag *diag)
{
  CluDegrade *degrade = &settings->degrade;
  const gboolean no_rdma = spec->ib_disable.v > 0 || (spec->net.set && g_ascii_strcasecmp (spec->net.v, "Socket") == 0);
  degrade->no_p2p |= spec->p2p_disable.v > 0;
  settings->rdma_by_variable = !degrade->no_rdma && no_rdma;
  degrade->no_rdma |= no_rdma;
  degrade->no_pxn |= spec->pxn_disable.v > 0;
  settings->no_shm = spec->shm_disable.v > 0;
  degrade->same_rail = spec->cross_nic.v <= 0;
  if (spec->p2p_level.set) {
    degrade->p2p_level = read_level (&spec->p2p_level, diag);
    degrade->no_p2p |= degrade->p2p_level == CLU_PATH_LOC;
  }
  if (spec->gdr_level.set) {
    degrade->gdr_level = read_level (&spec->gdr_level, diag);
    degrade->no_gdr |= degrade->gdr_level == CLU_PATH_LOC;
  }
}

/* The most at least and the least at most hold; NCCL would let some of the former win. */
static void
take_channels (const Spec *spec, ColSettings *settings, BaseDiag *diag)
{
  const BaseNum *least[] = { &spec->min_nchannels, &spec->min_ctas }, *most[] = { &spec->max_nchannels, &spec->max_ctas };
  static const char *const name[] = { "NCHANNELS", "CTAS" };
  for (unsigned i = 0; i < G_N_ELEMENTS (least); i++)
    for (unsigned j = 0; j < G_N_ELEMENTS (most); j++)
      if (least[i]->set && most[j]->set && least[i]->v > most[j]->v)
        base_diag_error (diag, least[i]->mark, "NCCL_MIN_%s %.0f is above NCCL_MAX_%s %.0f; accepted: at most that", name[i],
                         least[i]->v, name[j], most[j]->v);
  const BaseNum *floor = spec->min_nchannels.set ? &spec->min_nchannels : &spec->min_nrings;
  const BaseNum *ceiling = spec->max_nchannels.set ? &spec->max_nchannels : &spec->max_nrings;
  settings->min_channels = floor->set ? (unsigned)floor->v : 0;
  if (ceiling->set)
    settings->max_channels = (unsigned)ceiling->v;
  settings->min_ctas = spec->min_ctas.set ? (unsigned)spec->min_ctas.v : 0;
  settings->max_ctas = spec->max_ctas.set ? (unsigned)spec->max_ctas.v : 0;
}

static void
take_cpu (const Spec *spec, ColSettings *settings, BaseDiag *diag)
{
  static const double MOST = 64; /* src/transport/net_socket.cc:MAX_SOCKETS */
  double sockets =
      (spec->socket_threads.set ? spec->socket_threads.v : 1) * (spec->socket_connections.set ? spec->socket_connections.v : 1);
  if (sockets > MOST)
    base_diag_error (diag, spec->socket_threads.mark,
                     "NCCL_SOCKET_NTHREADS x NCCL_NSOCKS_PERTHREAD is %.0f; accepted: at most %.0f", sockets, MOST);
  settings->env.sockets = (unsigned)sockets;
  settings->ignore_affinity = spec->ignore_affinity.v > 0;
  settings->fi_tcp = spec->provider.v == PROVIDER_TCP;
  settings->fi_staged = spec->device_rdma.v <= 0;
}

void
col_nccl_warn (const ColSettings *settings, BaseDiag *diag)
{
  if (settings->not_modelled != NULL)
    base_diag_warn (diag, BASE_MARK_NONE, "not modelled, and taken as not set: %s; 'forerun list nccl-variables' says what is",
                    settings->not_modelled);
}

static void
add_not_modelled (BaseArena *arena, const char *name, const char *help, ColSettings *settings)
{
  const char *before = settings->not_modelled != NULL ? settings->not_modelled : "";
  settings->not_modelled = base_arena_printf (arena, "%s%s%s (%s)", before, *before != '\0' ? ", " : "", name, help);
}

/* Adds to settings->not_modelled what `node` sets and no time here depends on, though it may there. */
static void
note_not_modelled (const BaseYamlNode *node, BaseArena *arena, ColSettings *settings)
{
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    const ColVariable *variable = col_nccl_variable (base_yaml_key (node, i));
    const char *value = base_yaml_text (base_yaml_item (node, i));
    if (variable == NULL || variable->effect == COL_VARIABLE_IDLE || g_strcmp0 (value, variable->fallback) == 0)
      continue;
    add_not_modelled (arena, variable->name, variable->help, settings);
  }
}

/* NCCL_CTA_POLICY: one digit, or names with | between them, which NCCL reads without regard to case. Source: src/init.cc at
 * v2.30.7-1: getEnvCtaPolicyOnce. */
static void
take_policy (const BaseStr *policy, const BaseSchemaContext *context, ColSettings *settings)
{
  static const char *const names[] = { "DEFAULT", "EFFICIENCY", "ZERO" }; /* at the place of their digit */
  if (!policy->set)
    return;
  g_auto (GStrv) words = g_strsplit (policy->v, "|", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    guint is = 0;
    while (is < G_N_ELEMENTS (names) && g_ascii_strcasecmp (words[i], names[is]) != 0 &&
           !(words[1] == NULL && g_ascii_digit_value (*words[i]) == (int)is && words[i][1] == '\0'))
      is++;
    if (is == G_N_ELEMENTS (names)) {
      base_diag_error (context->diag, policy->mark,
                       "NCCL_CTA_POLICY has no policy '%s'; accepted: DEFAULT, EFFICIENCY, ZERO, or 0 to 2", words[i]);
      return;
    }
    settings->zero_cta = settings->zero_cta || is == 2;
    if (is == 1)
      add_not_modelled (context->arena, "NCCL_CTA_POLICY=EFFICIENCY", "lets fewer blocks serve operations", settings);
  }
}

/* NCCL reads a number up to the first character that belongs to none, so that "4M" is 4 bytes: src/misc/param.cc:ncclLoadParam. */
static gboolean
refuse_units (const BaseYamlNode *node, BaseDiag *diag)
{
  gboolean right = TRUE;
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    const BaseYamlNode *item = base_yaml_item (node, i);
    const char *text = base_yaml_text (item);
    if (text == NULL || !g_str_has_prefix (base_yaml_key (node, i), "NCCL_") || !g_ascii_isdigit (*text) ||
        strcmp (base_yaml_key (node, i), "NCCL_VERSION") == 0) /* "2.21.5-1" of a container image, which NCCL does not read */
      continue;
    gsize digits = strspn (text, "0123456789");
    if (text[digits] == '\0')
      continue;
    right = FALSE;
    base_diag_error (diag, base_yaml_mark (item), "NCCL reads '%s' as %.*s; accepted: a plain number", text, (int)digits, text);
  }
  return right;
}

static gboolean
is_known (const char *name)
{
  for (const BaseField *field = fields; field->key != NULL; field++)
    if (strcmp (field->key, name) == 0)
      return TRUE;
  return col_nccl_variable (name) != NULL;
}

typedef struct {
  BaseArena *arena;
  ColSettings *settings;
} Faults;

/* A name, or a line, of a file that sets nothing here. */
static void
add_fault (void *user, const char *what, const char *why)
{
  const Faults *faults = user;
  add_not_modelled (faults->arena, what, why, faults->settings);
}

/* The document of `env: FILE`, read relative to the file that names it. Returned: full. */
static BaseYaml *
load_env (const BaseYamlNode *name, const BaseSchemaContext *context, ColSettings *settings)
{
  const BaseMark mark = base_yaml_mark (name);
  g_autofree char *folder = mark.line > 0 && base_file_is_file (mark.file) ? g_path_get_dirname (mark.file) : g_strdup (".");
  const char *text = base_yaml_text (name);
  g_autofree char *path =
      g_path_is_absolute (text) || strcmp (folder, ".") == 0 ? g_strdup (text) : g_build_filename (folder, text, NULL);
  g_autoptr (GError) error = NULL;
  Faults faults = { .arena = context->arena, .settings = settings };
  BaseYaml *yaml = col_nccl_env_load (path, is_known, add_fault, &faults, &error);
  if (yaml == NULL)
    base_diag_error (context->diag, mark, "%s", error->message);
  return yaml;
}

/* `env: FILE`. A tuner that a cluster names there, other than its network's own, is not modelled; in a scenario it is an error. */
static gboolean
read_env (const BaseYaml *yaml, const BaseSchemaContext *context, Spec *spec, ColSettings *settings)
{
  const BaseYamlNode *root = base_yaml_root (yaml);
  if (!base_schema_read (&col_schema_nccl, root, FALSE, context, spec) || !refuse_units (root, context->diag))
    return FALSE;
  note_not_modelled (root, context->arena, settings);
  if (spec->tuner_plugin.set && strcmp (spec->tuner_plugin.v, "none") != 0) {
    if (strstr (spec->tuner_plugin.v, "ofi") == NULL)
      add_not_modelled (context->arena, "NCCL_TUNER_PLUGIN", "chooses algorithms", settings);
    spec->tuner_plugin = (BaseStr){ 0 };
  }
  return TRUE;
}

gboolean
col_nccl_read (const BaseYamlNode *node, const BaseSchemaContext *context, ColSettings *settings)
{
  Spec spec = { 0 };
  const BaseYamlNode *env = base_yaml_get (node, "env");
  g_autoptr (BaseYaml) yaml = NULL; /* its marks and texts are read until the end */
  if (env != NULL && base_yaml_text (env) != NULL) {
    yaml = load_env (env, context, settings);
    if (yaml == NULL || !read_env (yaml, context, &spec, settings))
      return FALSE;
    if (context->inputs != NULL)
      g_ptr_array_add (context->inputs, base_yaml_ref (yaml));
  }
  if (!base_schema_read (&col_schema_nccl, node, env != NULL, context, &spec) || !refuse_units (node, context->diag))
    return FALSE;
  unsigned before = base_diag_n_errors (context->diag);
  note_not_modelled (node, context->arena, settings);
  settings->nccl_version = spec.version.v;
  settings->nccl_mark = spec.version.mark;
  settings->one_shot = spec.one_shot.v;
  settings->one_shot_mark = spec.one_shot.mark;
  settings->buffers = (MdlBuffers)spec.buffers.v;
  settings->symmetric_ctas = (unsigned)spec.symmetric_ctas.v;
  settings->symmetric_kernel = g_strcmp0 (spec.symmetric_kernel.v, "^") == 0 ? NULL : spec.symmetric_kernel.v;
  settings->symmetric_mark = spec.symmetric_kernel.mark;
  take_policy (&spec.cta_policy, context, settings);
  settings->no_nvls = spec.nvls_enable.v <= 0;
  settings->no_pat = spec.pat_enable.v <= 0;
  if (settings->no_nvls)
    settings->disabled_algos |= 1u << MDL_ALGO_NVLS | 1u << MDL_ALGO_NVLS_TREE;
  if (settings->no_pat)
    settings->disabled_algos |= 1u << MDL_ALGO_PAT;
  settings->collnet = spec.collnet_enable.v > 0;
  take_routes (&spec, settings, context->diag);
  take_channels (&spec, settings, context->diag);
  take_cpu (&spec, settings, context->diag);
  settings->no_tuner_plugin = spec.tuner_plugin.set;
  if (spec.tuner_plugin.set && g_strcmp0 (spec.tuner_plugin.v, "none") != 0)
    base_diag_error (context->diag, spec.tuner_plugin.mark, "what tuner '%s' chooses is not known; accepted: `none`",
                     spec.tuner_plugin.v);
  settings->env.net_channels = spec.net_channels.set ? (unsigned)spec.net_channels.v : 0;
  settings->env.threads = multiple_of (&spec.threads, 32, context->diag);
  settings->env.ll128_threads = multiple_of (&spec.ll128_threads, 32, context->diag);
  settings->env.buffer_B = multiple_of (&spec.buffer, 4096, context->diag);
  switch_off (&spec.algo, mdl_algo_names, context->diag, settings->op_off_algos);
  switch_off (&spec.proto, mdl_proto_names, context->diag, settings->op_off_protos);
  return base_diag_n_errors (context->diag) == before;
}

/* Of the adapters between nodes; NULL: none. */
static const CluLinkClass *
port_of (const Clu *clu)
{
  const CluNicSpec *nic = clu_nic_spec (clu, 0);
  return nic != NULL ? nic->port.link_class.value : NULL;
}

MdlLibrary *
col_nccl_library (const Clu *clu, const MdlLibrary *library, ColSettings *settings)
{
  const CluLinkClass *port = port_of (clu);
  MdlLibraryEnv env = settings->env;
  if (env.buffer_B <= 0.0 && port != NULL && clu_n_nodes (clu) > 1)
    env.buffer_B = mdl_library_buffer_B (library, port->name.v);
  MdlLibrary *own = mdl_library_with (library, &env);
  settings->library = own;
  col_nccl_settle (clu, settings);
  return own;
}

void
col_nccl_settle (const Clu *clu, ColSettings *settings)
{
  const CluGpuSpec *gpu = clu_n_gpus (clu) > 0 ? clu_gpu_spec (clu, 0) : NULL;
  const CluLinkClass *port = port_of (clu);
  settings->degrade.no_p2p |= gpu != NULL && gpu->isolated.v;
  if (settings->library == NULL || port == NULL || !mdl_library_plugged (settings->library, port->name.v))
    return;
  if (settings->rdma_by_variable)
    settings->degrade.no_rdma = FALSE;
  settings->degrade.no_rdma |= settings->fi_tcp;
  settings->degrade.no_gdr |= settings->fi_staged;
}

void
col_nccl_tell_place (const ColSettings *settings, GError **error)
{
  if (settings->nccl_version == NULL || error == NULL || *error == NULL ||
      strstr ((*error)->message, settings->nccl_version) == NULL)
    return;
  g_autofree char *prefix = base_mark_prefix (settings->nccl_mark);
  g_prefix_error (error, "%s", prefix);
}

/* Adds one NAME=VALUE. Messages about it say the flag that it comes from: env and one_shot have flags of their own. */
static gboolean
set_pair (BaseYaml *yaml, const char *pair, const char *label, GError **error)
{
  const char *equals = strchr (pair, '=');
  if (equals == NULL || equals == pair || strpbrk (pair, "\r\n") != NULL)
    return base_fail (error, BASE_ERROR_INPUT, "%s '%s': expected NAME=VALUE (e.g. NCCL_ALGO=Ring, version=2.28)", label, pair);
  g_autofree char *name = g_strndup (pair, (gsize)(equals - pair));
  if (base_yaml_get (base_yaml_root (yaml), name) != NULL)
    return base_fail (error, BASE_ERROR_INPUT, "%s %s is given twice; leave one out", label, name);
  g_auto (GStrv) halves = g_strsplit (equals + 1, "'", -1);
  g_autofree char *doubled = g_strjoinv ("''", halves);
  g_autofree char *value = g_strdup_printf ("'%s'", doubled);
  g_autofree char *named = g_strdup_printf ("%s %s", label, name);
  const char *flag = strcmp (name, "env") == 0 ? "--nccl-env" : strcmp (name, "one_shot") == 0 ? "--one-shot" : named;
  return base_yaml_set (yaml, name, value, flag, error);
}

BaseYaml *
col_nccl_parse (const char *const *pairs, const char *label, ColSettings *settings, GError **error)
{
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (label, "{}", 2, error);
  for (; yaml != NULL && pairs != NULL && *pairs != NULL; pairs++)
    if (!set_pair (yaml, *pairs, label, error))
      return NULL;
  if (yaml == NULL)
    return NULL;
  g_autoptr (BaseDiag) diag = base_diag_new ();
  const BaseSchemaContext context = { base_yaml_arena (yaml), diag, NULL, BASE_SOURCE_DATASHEET, NULL };
  col_nccl_read (base_yaml_root (yaml), &context, settings);
  return base_diag_finish (diag, error) ? g_steal_pointer (&yaml) : NULL;
}
