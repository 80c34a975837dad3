/* Options of engines in Kubernetes files. Sources: examples/backends/{vllm,sglang}/deploy of Dynamo at 0044eb90 and
 * docs/components/router; guides/pd-disaggregation/ms-pd of llm-d at 0b8cde64; engine arguments of vLLM 0.11 and server arguments
 * of SGLang 0.5. What has no key here is listed in a comment. */
#include "serving/deployment.h"

#include <string.h>

#include "base/diag.h"
#include "base/yaml.h"
#include "serving/spec.h"

typedef enum { VLLM, SGLANG, TRTLLM, NONE } Engine;
static const char *const engines[] = { "vllm", "sglang", "trtllm" };

/* What one pool starts. */
typedef struct {
  Engine engine;
  double replicas, tp, pp, dp, ep;
  gboolean experts, dp_attention, prefill, kv_fp8;
  const char *weights; /* their format, static; NULL: not said */
  char *model;         /* owned; NULL: not said */
  GString *options;    /* keys of `engine`, ", block: 64" */
  GString *left;       /* options that have no key */
} Worker;

static void
worker_free (gpointer data)
{
  Worker *worker = data;
  g_free (worker->model);
  g_string_free (worker->options, TRUE);
  g_string_free (worker->left, TRUE);
  g_free (worker);
}

static Worker *
worker_new (void)
{
  Worker *worker = g_new0 (Worker, 1);
  worker->engine = NONE;
  worker->replicas = worker->tp = worker->pp = worker->dp = worker->ep = 1;
  worker->options = g_string_new (NULL);
  worker->left = g_string_new (NULL);
  return worker;
}

/* ---- options ---- */

typedef enum {
  TP,
  PP,
  DP,
  EP,
  KEY,
  MODEL,
  KV,
  WEIGHTS,
  MODE,
  DICT,
  EXPERTS,
  DP_ATTENTION,
  PREFILL,
  CACHE,
  NO_CACHE,
  QUIET
} Meaning;

/* Of both engines: their names do not clash. Those from EXPERTS on have no value. */
static const struct {
  const char *option;
  Meaning meaning;
  const char *key; /* of `engine` */
} options[] = {
  { "--tensor-parallel-size", TP, NULL },
  { "-tp", TP, NULL },
  { "--tp-size", TP, NULL },
  { "--tp", TP, NULL },
  { "--pipeline-parallel-size", PP, NULL },
  { "-pp", PP, NULL },
  { "--pp-size", PP, NULL },
  { "--data-parallel-size", DP, NULL },
  { "-dp", DP, NULL },
  { "--dp-size", DP, NULL },
  { "--dp", DP, NULL },
  { "--ep-size", EP, NULL },
  { "--expert-parallel-size", EP, NULL },
  { "--max-batch-size", KEY, "max_num_seqs" },
  { "--max-num-tokens", KEY, "max_num_batched_tokens" },
  { "--free-gpu-memory-fraction", KEY, "memory" },
  { "--kv-block-size", KEY, "block" },
  { "--max-seq-len", KEY, "max_model_len" },
  { "--override-engine-args", DICT, NULL },
  { "--ep", EP, NULL },
  { "--max-num-seqs", KEY, "max_num_seqs" },
  { "--max-running-requests", KEY, "max_num_seqs" },
  { "--max-num-batched-tokens", KEY, "max_num_batched_tokens" },
  { "--chunked-prefill-size", KEY, "chunk" },
  { "--gpu-memory-utilization", KEY, "memory" },
  { "--mem-fraction-static", KEY, "memory" },
  { "--block-size", KEY, "block" },
  { "--page-size", KEY, "block" },
  { "--max-model-len", KEY, "max_model_len" },
  { "--context-length", KEY, "max_model_len" },
  { "--model", MODEL, NULL },
  { "--model-path", MODEL, NULL },
  { "--kv-cache-dtype", KV, NULL },
  { "--quantization", WEIGHTS, NULL },
  { "-q", WEIGHTS, NULL },
  { "--disaggregation-mode", MODE, NULL },
  { "--enable-expert-parallel", EXPERTS, NULL },
  { "--enable-dp-attention", DP_ATTENTION, NULL },
  { "--enable-attention-dp", DP_ATTENTION, NULL },
  { "--is-prefill-worker", PREFILL, NULL },
  { "--is-decode-worker", QUIET, NULL },
  { "--enable-prefix-caching", CACHE, NULL },
  { "--no-enable-prefix-caching", NO_CACHE, NULL },
  { "--disable-radix-cache", NO_CACHE, NULL },
};

static gboolean
number (const char *option, const char *text, BaseMark mark, double *out, GError **error)
{
  char *end = NULL;
  *out = text != NULL ? g_ascii_strtod (text, &end) : 0;
  return (text != NULL && end != text && *end == '\0' && *out > 0 && *out < 1e12) ||
         base_fail_at (error, mark, "'%s' is followed by '%s', which is not a number above 0", option, text != NULL ? text : "");
}

/* Methods of vLLM and SGLang by what they leave of the weights. */
static void
take_weights (Worker *worker, const char *method)
{
  static const struct {
    const char *begin;
    SrvFormat format;
  } methods[] = { { "modelopt_fp4", SRV_FORMAT_NVFP4 }, { "nvfp4", SRV_FORMAT_NVFP4 },
                  { "modelopt", SRV_FORMAT_FP8 },       { "fp8", SRV_FORMAT_FP8 },
                  { "fbgemm_fp8", SRV_FORMAT_FP8 },     { "mxfp4", SRV_FORMAT_MXFP4 },
                  { "awq", SRV_FORMAT_INT4 },           { "gptq", SRV_FORMAT_INT4 } };
  for (guint i = 0; method != NULL && i < G_N_ELEMENTS (methods); i++)
    if (g_str_has_prefix (method, methods[i].begin)) {
      worker->weights = base_name (srv_format_names, (int)methods[i].format);
      return;
    }
  g_string_append_printf (worker->left, " --quantization %s", method != NULL ? method : "");
}

static gboolean
take (Worker *worker, guint row, const char *value, BaseMark mark, GError **error)
{
  double n = 0;
  const Meaning meaning = options[row].meaning;
  if (meaning <= KEY && !number (options[row].option, value, mark, &n, error))
    return FALSE;
  switch (meaning) {
    case TP:
      worker->tp = n;
      break;
    case PP:
      worker->pp = n;
      break;
    case DP:
      worker->dp = n;
      break;
    case EP:
      worker->ep = n;
      break;
    case KEY:
      g_string_append_printf (worker->options, ", %s: %.12g", options[row].key, n);
      break;
    case MODEL:
      g_free (worker->model);
      worker->model = g_strdup (value);
      break;
    case KV:
      worker->kv_fp8 = value != NULL && g_str_has_prefix (value, "fp8");
      break;
    case WEIGHTS:
      take_weights (worker, value);
      break;
    case DICT: /* of TensorRT-LLM: a dict of further options */
      worker->kv_fp8 = value != NULL && strstr (value, "\"dtype\": \"fp8\"") != NULL;
      if (value != NULL && strstr (value, "\"enable_chunked_prefill\": true") != NULL)
        g_string_append (worker->options, ", chunked: yes");
      break;
    case MODE:
      worker->prefill = value != NULL && strcmp (value, "prefill") == 0;
      break;
    case EXPERTS:
      worker->experts = TRUE;
      break;
    case DP_ATTENTION:
      worker->dp_attention = TRUE;
      break;
    case PREFILL:
      worker->prefill = TRUE;
      break;
    case CACHE:
    case NO_CACHE:
      g_string_append_printf (worker->options, ", prefix_cache: %s", meaning == CACHE ? "yes" : "no");
      break;
    case QUIET:
    default:
      break;
  }
  return TRUE;
}

static void
know_engine (Worker *worker, const char *word)
{
  if (strcmp (word, "dynamo.vllm") == 0 || strcmp (word, "vllm") == 0 || strcmp (word, "vllmServe") == 0)
    worker->engine = VLLM;
  else if (strcmp (word, "dynamo.sglang") == 0 || strcmp (word, "sglang.launch_server") == 0)
    worker->engine = SGLANG;
  else if (strcmp (word, "dynamo.trtllm") == 0 || strcmp (word, "trtllm-serve") == 0)
    worker->engine = TRTLLM;
}

/* Words of a command, in order. `--option=value` is two. */
static gboolean
read_words (Worker *worker, char **words, BaseMark mark, GError **error)
{
  for (guint i = 0; words[i] != NULL; i++) {
    g_auto (GStrv) halves = g_strsplit (words[i], "=", 2);
    const gboolean joined = g_str_has_prefix (words[i], "--") && halves[0] != NULL && halves[1] != NULL;
    const char *word = joined ? halves[0] : words[i];
    guint row = 0;
    know_engine (worker, word);
    if (strcmp (word, "serve") == 0 && words[i + 1] != NULL && words[i + 1][0] != '-') {
      g_free (worker->model);
      worker->model = g_strdup (words[++i]);
      continue;
    }
    while (row < G_N_ELEMENTS (options) && strcmp (options[row].option, word) != 0)
      row++;
    if (row == G_N_ELEMENTS (options)) {
      if (g_str_has_prefix (word, "--"))
        g_string_append_printf (worker->left, " %s", word);
      continue;
    }
    const gboolean valued = options[row].meaning < EXPERTS;
    const char *value = joined ? halves[1] : words[i + 1];
    if (!take (worker, row, valued ? value : NULL, mark, error))
      return FALSE;
    i += valued && !joined && words[i + 1] != NULL ? 1 : 0;
  }
  return TRUE;
}

/* A command as a list of words, of which one may be a whole command line, or as a text. */
static gboolean
read_command (Worker *worker, const BaseYamlNode *container, GError **error)
{
  static const char *const keys[] = { "modelCommand", "command", "args" };
  g_autoptr (GPtrArray) words = g_ptr_array_new_with_free_func (g_free);
  for (guint k = 0; k < G_N_ELEMENTS (keys); k++) {
    const BaseYamlNode *node = base_yaml_get (container, keys[k]);
    const gboolean list = node != NULL && base_yaml_kind (node) == BASE_YAML_SEQ;
    for (unsigned i = 0; node != NULL && i < (list ? base_yaml_n (node) : 1); i++) {
      const BaseYamlNode *item = list ? base_yaml_item (node, i) : node;
      if (base_yaml_kind (item) != BASE_YAML_SCALAR)
        continue;
      g_auto (GStrv) split = NULL;
      const char *text = base_yaml_text (item);
      if (strchr (text, ' ') == NULL || strchr (text, '{') != NULL || !g_shell_parse_argv (text, NULL, &split, NULL))
        g_ptr_array_add (words, g_strdup (text));
      for (guint w = 0; split != NULL && split[w] != NULL; w++)
        g_ptr_array_add (words, g_strdup (split[w]));
    }
  }
  g_ptr_array_add (words, NULL);
  return read_words (worker, (char **)words->pdata, base_yaml_mark (container), error);
}

static const BaseYamlNode *
inside (const BaseYamlNode *node, const char *first, const char *second)
{
  const BaseYamlNode *at = node != NULL && base_yaml_kind (node) == BASE_YAML_MAP ? base_yaml_get (node, first) : NULL;
  if (second == NULL || at == NULL)
    return at;
  return base_yaml_kind (at) == BASE_YAML_MAP ? base_yaml_get (at, second) : NULL;
}

static const char *
text_of (const BaseYamlNode *node)
{
  return node != NULL && base_yaml_kind (node) == BASE_YAML_SCALAR ? base_yaml_text (node) : NULL;
}

/* A number that may be absent; 0 counts. */
static gboolean
count_of (const BaseYamlNode *node, double *out, GError **error)
{
  const char *text = text_of (node);
  if (text == NULL)
    return TRUE;
  if (strcmp (text, "0") == 0) {
    *out = 0;
    return TRUE;
  }
  char *end = NULL;
  *out = g_ascii_strtod (text, &end);
  return (*end == '\0' && *out > 0 && *out < 1e6) ||
         base_fail_at (error, base_yaml_mark (node), "'%s' is not a number of replicas or GPUs", text);
}

/* ---- Dynamo ---- */

/* The mode of a front end; NULL: not said. */
static const char *
router_of (const BaseYamlNode *service)
{
  const BaseYamlNode *envs = inside (service, "envs", NULL);
  for (unsigned i = 0; envs != NULL && base_yaml_kind (envs) == BASE_YAML_SEQ && i < base_yaml_n (envs); i++)
    if (g_strcmp0 (text_of (inside (base_yaml_item (envs, i), "name", NULL)), "DYN_ROUTER_MODE") == 0)
      return text_of (inside (base_yaml_item (envs, i), "value", NULL));
  return NULL;
}

static void
add_router (const char *mode, GString *out)
{
  static const struct {
    const char *mode, *policy;
  } modes[] = {
    { "kv", "kv" }, { "round-robin", "round_robin" }, { "least-loaded", "least_loaded" }, { "power-of-two", "two_choices" }
  };
  for (guint k = 0; mode != NULL && k < G_N_ELEMENTS (modes); k++)
    if (strcmp (mode, modes[k].mode) == 0) {
      g_string_append_printf (out, "router: %s\n", modes[k].policy);
      return;
    }
  if (mode != NULL)
    g_string_append_printf (out, "# router mode '%s' is not modelled: round_robin holds\n", mode);
}

static gboolean
read_dynamo (const BaseYamlNode *root, GPtrArray *workers, const char **router, GError **error)
{
  const BaseYamlNode *services = inside (root, "spec", "services");
  if (services == NULL || base_yaml_kind (services) != BASE_YAML_MAP)
    return base_fail_at (error, base_yaml_mark (root), "a DynamoGraphDeployment without 'services' in 'spec' (v1alpha1)");
  for (unsigned i = 0; i < base_yaml_n (services); i++) {
    const BaseYamlNode *service = base_yaml_item (services, i),
                       *container = inside (inside (service, "extraPodSpec", NULL), "mainContainer", NULL);
    g_autofree char *name = g_ascii_strdown (base_yaml_key (services, i), -1);
    Worker *worker = worker_new ();
    g_ptr_array_add (workers, worker);
    *router = *router != NULL ? *router : router_of (service);
    if ((container != NULL && base_yaml_kind (container) == BASE_YAML_MAP && !read_command (worker, container, error)) ||
        !count_of (inside (service, "replicas", NULL), &worker->replicas, error))
      return FALSE;
    worker->prefill |=
        strstr (name, "prefill") != NULL || g_strcmp0 (text_of (inside (service, "subComponentType", NULL)), "prefill") == 0;
    if (worker->engine == NONE) /* a front end, a planner */
      g_ptr_array_remove_index (workers, workers->len - 1);
  }
  return TRUE;
}

/* ---- llm-d ---- */

static gboolean
read_llm_d (const BaseYamlNode *root, GPtrArray *workers, GError **error)
{
  static const char *const roles[] = { "prefill", "decode" };
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++) {
    const BaseYamlNode *pool = inside (root, roles[i], NULL), *containers = inside (pool, "containers", NULL);
    if (pool == NULL || g_strcmp0 (text_of (inside (pool, "create", NULL)), "false") == 0)
      continue;
    Worker *worker = worker_new ();
    g_ptr_array_add (workers, worker);
    worker->prefill = i == 0;
    worker->model = g_strdup (text_of (inside (root, "modelArtifacts", "name")));
    if (containers != NULL && base_yaml_kind (containers) == BASE_YAML_SEQ && base_yaml_n (containers) > 0 &&
        base_yaml_kind (base_yaml_item (containers, 0)) == BASE_YAML_MAP &&
        !read_command (worker, base_yaml_item (containers, 0), error))
      return FALSE;
    if (worker->engine == NONE)
      worker->engine = VLLM; /* the chart's own command */
    if (!count_of (inside (pool, "replicas", NULL), &worker->replicas, error) ||
        !count_of (inside (pool, "parallelism", "tensor"), &worker->tp, error) ||
        !count_of (inside (pool, "parallelism", "data"), &worker->dp, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- keys ---- */

static void
add_parallel (const Worker *worker, GString *out)
{
  const double dp = worker->engine == TRTLLM && worker->dp_attention ? worker->tp : worker->dp; /* over all GPUs */
  const double tp = worker->engine != VLLM && worker->dp_attention && dp > 1 ? worker->tp / dp : worker->tp;
  const gboolean attention = dp > 1 && (worker->experts || worker->dp_attention || worker->ep > 1);
  g_string_append_printf (out, "parallel: {tp: %.0f", tp);
  if (worker->pp > 1)
    g_string_append_printf (out, ", pp: %.0f", worker->pp);
  if (attention)
    g_string_append_printf (out, ", dp_attn: %.0f", dp);
  const double ep = worker->experts ? tp * (attention ? dp : 1) : worker->ep;
  if (ep > 1)
    g_string_append_printf (out, ", ep: %.0f", ep);
  g_string_append_c (out, '}');
}

/* Data parallelism without shared experts is more replicas. */
static double
replicas_of (const Worker *worker)
{
  return worker->replicas * (worker->experts || worker->dp_attention || worker->ep > 1 ? 1 : worker->dp);
}

static void
add_engine (const Worker *worker, GString *out)
{
  g_string_append_printf (out, "engine: {name: %s%s}", engines[worker->engine], worker->options->str);
}

static char *
keys_of (const char *what, const GPtrArray *pools, const char *router)
{
  const Worker *first = pools->pdata[0];
  GString *out = g_string_new (NULL);
  g_string_append_printf (out, "# keys of a serving workload, from %s; `load` is still to be written\n", what);
  for (guint i = 0; i < pools->len; i++) {
    const Worker *worker = pools->pdata[i];
    if (worker->left->len > 0)
      g_string_append_printf (out, "# without a key here:%s\n", worker->left->str);
  }
  g_string_append (out, "kind: serving\n");
  g_autofree char *model = first->model != NULL ? base_yaml_quote (first->model) : NULL;
  g_string_append_printf (out, "model: %s  # write a name of `forerun list llms`, or a path\n", model != NULL ? model : "~");
  add_engine (first, out);
  g_string_append_c (out, '\n');
  if (first->weights != NULL || first->kv_fp8)
    g_string_append_printf (out, "precision: {%s%s%s%s}\n", first->weights != NULL ? "weights: " : "",
                            first->weights != NULL ? first->weights : "", first->weights != NULL && first->kv_fp8 ? ", " : "",
                            first->kv_fp8 ? "kv: fp8" : "");
  add_router (router, out);
  if (pools->len == 1) {
    g_string_append_printf (out, "replicas: %.0f\n", replicas_of (first));
    add_parallel (first, out);
    g_string_append_c (out, '\n');
  } else {
    g_string_append (out, "pools:\n");
    for (guint i = 0; i < 2; i++) {
      const Worker *worker = pools->pdata[i];
      g_string_append_printf (out, "  - {role: %s, replicas: %.0f, ", i == 0 ? "prefill" : "decode", replicas_of (worker));
      add_engine (worker, out);
      g_string_append (out, ", ");
      add_parallel (worker, out);
      g_string_append (out, "}\n");
    }
  }
  return g_string_free (out, FALSE);
}

/* One pool of each role, prefill first: others of a role are not told apart here. */
static gboolean
choose_pools (const BaseYamlNode *root, const GPtrArray *workers, GPtrArray *pools, GError **error)
{
  for (guint role = 0; role < 2; role++)
    for (guint i = 0, n = 0; i < workers->len; i++) {
      Worker *worker = workers->pdata[i];
      if (worker->prefill != (role == 0) || worker->replicas <= 0)
        continue;
      if (n++ > 0)
        return base_fail_at (error, base_yaml_mark (root), "two kinds of %s workers; leave one of them in the file",
                             role == 0 ? "prefill" : "decode");
      g_ptr_array_add (pools, worker);
    }
  if (pools->len == 0)
    return base_fail_at (error, base_yaml_mark (root),
                         "no worker that starts vLLM, SGLang or TensorRT-LLM; give the file that has its command");
  if (pools->len == 1 && ((const Worker *)pools->pdata[0])->prefill)
    return base_fail_at (error, base_yaml_mark (root),
                         "a prefill worker without a decode worker answers nobody; give the file that has both");
  return TRUE;
}

char *
srv_import_deployment (const char *path, const char *text, gsize n, GError **error)
{
  g_autoptr (BaseYaml) yaml = base_yaml_load_data (path, text, n, error);
  g_autoptr (GPtrArray) workers = g_ptr_array_new_with_free_func (worker_free);
  g_autoptr (GPtrArray) pools = g_ptr_array_new ();
  const char *router = NULL;
  if (yaml == NULL)
    return NULL;
  const BaseYamlNode *root = base_yaml_root (yaml);
  const gboolean dynamo = g_strcmp0 (text_of (inside (root, "kind", NULL)), "DynamoGraphDeployment") == 0;
  const gboolean llm_d = !dynamo && (inside (root, "decode", NULL) != NULL || inside (root, "prefill", NULL) != NULL);
  if (!dynamo && !llm_d) {
    base_fail_at (error, base_yaml_mark (root),
                  "neither 'kind: DynamoGraphDeployment' (Dynamo) nor 'decode' and 'prefill' (values of llm-d's model servers)");
    return NULL;
  }
  if (!(dynamo ? read_dynamo (root, workers, &router, error) : read_llm_d (root, workers, error)) ||
      !choose_pools (root, workers, pools, error))
    return NULL;
  return keys_of (dynamo ? "a DynamoGraphDeployment" : "values of llm-d", pools, router);
}
