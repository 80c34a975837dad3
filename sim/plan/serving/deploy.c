/* A row as it is deployed: commands that start its engines, deployments of Dynamo and llm-d, and the scenario that runs it here.
 *
 * * Flags: `vllm serve` (docs.vllm.ai, engine arguments), `sglang.launch_server` (docs.sglang.ai, server arguments), `trtllm-serve`
 * (TensorRT-LLM, command line), `dynamo.trtllm` (docs.nvidia.com/dynamo, DynamoTrtllmConfig); ai-dynamo/dynamo's
 * DynamoGraphDeployment v1alpha1; values of llm-d-modelservice. Formats of weights: `--quantization` of vLLM and SGLang
 * (docs.vllm.ai and docs.sglang.ai, quantization); TensorRT-LLM, int4 (AWQ, GPTQ) and checkpoints of several formats have no flag:
 * the checkpoint's own configuration says it. */
#include <math.h>
#include <string.h>

#include "fleet-private.h"

static const PlnFleetCut *
cut_of (const PlnFleet *fleet, const PlnFleetRow *row, guint pool)
{
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
  return &g_array_index (machine->cuts, PlnFleetCut, row->layouts[pool]);
}

/* Those that are not one. */
static void
add_size (GString *out, const char *flag, double size)
{
  if (size > 1)
    g_string_append_printf (out, " %s %.0f", flag, size);
}

/* Whether experts have another format than other weights. */
static gboolean
is_mixed (const SrvReplicaSpec *replica, const MdlLlm *llm)
{
  return llm->moe.experts.v > 0 && srv_moe_format (&replica->precision) != (SrvFormat)replica->precision.weights.v;
}

/* What --quantization is followed by; NULL: the checkpoint alone says it. */
static const char *
quantization_of (const SrvReplicaSpec *replica, const MdlLlm *llm)
{
  static const char *const words[SRV_FORMAT_N] = { NULL, "fp8", "modelopt_fp4", "mxfp4", NULL };
  const SrvFormat format = (SrvFormat)replica->precision.weights.v;
  return is_mixed (replica, llm) || replica->engine.name.v == SRV_ENGINE_TRTLLM ? NULL : words[format];
}

char *
pln_fleet_checkpoint (const PlnFleet *fleet, const PlnFleetRow *row)
{
  const SrvReplicaSpec *replica = &cut_of (fleet, row, 0)->replica;
  const SrvFormat format = (SrvFormat)replica->precision.weights.v;
  const gboolean mixed = is_mixed (replica, &fleet->llm);
  const char *name = base_name (srv_format_names, (int)format);
  if (format == SRV_FORMAT_BF16 && !mixed)
    return NULL;
  if (mixed)
    return g_strdup_printf ("MODEL is a checkpoint with weights in %s and experts in %s, which no option turns on", name,
                            base_name (srv_format_names, (int)srv_moe_format (&replica->precision)));
  if (quantization_of (replica, &fleet->llm) == NULL)
    return g_strdup_printf ("MODEL is a checkpoint with weights in %s, which no option turns on", name);
  if (format == SRV_FORMAT_FP8)
    return g_strdup ("--quantization fp8 quantizes a bf16 checkpoint as it is loaded; leave it out if MODEL is in fp8 already");
  return g_strdup_printf ("MODEL is a checkpoint with weights in %s", name);
}

static void
add_quantization (const PlnFleet *fleet, const PlnFleetCut *cut, GString *out)
{
  const char *word = quantization_of (&cut->replica, &fleet->llm);
  if (word != NULL)
    g_string_append_printf (out, " --quantization %s", word);
}

static void
vllm (const PlnFleetCut *cut, gboolean apart, GString *out)
{
  const SrvEngineSpec *engine = &cut->replica.engine;
  add_size (out, "--tensor-parallel-size", cut->layout.tp);
  add_size (out, "--pipeline-parallel-size", cut->layout.pp);
  add_size (out, "--data-parallel-size", cut->layout.dp_attn);
  if (cut->layout.ep > 1)
    g_string_append (out, " --enable-expert-parallel");
  g_string_append_printf (out, " --max-num-seqs %.0f --max-num-batched-tokens %.0f --gpu-memory-utilization %.2f",
                          engine->max_num_seqs.v, engine->max_num_batched_tokens.v, engine->memory.v);
  if (cut->replica.precision.kv.v == SRV_FORMAT_FP8)
    g_string_append (out, " --kv-cache-dtype fp8");
  if (apart)
    g_string_append (out, " --kv-transfer-config '{\"kv_connector\": \"NixlConnector\", \"kv_role\": \"kv_both\"}'");
}

static void
sglang (const PlnFleetCut *cut, gboolean apart, guint pool, GString *out)
{
  const SrvEngineSpec *engine = &cut->replica.engine;
  add_size (out, "--tp-size", (double)cut->layout.tp * cut->layout.dp_attn);
  add_size (out, "--pp-size", cut->layout.pp);
  add_size (out, "--dp-size", cut->layout.dp_attn);
  if (cut->layout.dp_attn > 1)
    g_string_append (out, " --enable-dp-attention");
  add_size (out, "--ep-size", cut->layout.ep);
  g_string_append_printf (out, " --chunked-prefill-size %.0f --mem-fraction-static %.2f",
                          engine->chunk.set && engine->chunk.v > 0 ? engine->chunk.v : engine->max_num_batched_tokens.v,
                          engine->memory.v);
  if (cut->replica.precision.kv.v == SRV_FORMAT_FP8)
    g_string_append (out, " --kv-cache-dtype fp8_e4m3");
  if (apart)
    g_string_append_printf (out, " --disaggregation-mode %s", pool == 0 ? "prefill" : "decode");
}

static void
trtllm (const PlnFleetCut *cut, gboolean apart, guint pool, GString *out)
{
  const SrvEngineSpec *engine = &cut->replica.engine;
  add_size (out, "--tp_size", (double)cut->layout.tp * cut->layout.dp_attn);
  add_size (out, "--pp_size", cut->layout.pp);
  add_size (out, "--ep_size", cut->layout.ep);
  g_string_append_printf (out, " --max_batch_size %.0f --max_num_tokens %.0f --kv_cache_free_gpu_memory_fraction %.2f",
                          engine->max_num_seqs.v, engine->max_num_batched_tokens.v, engine->memory.v);
  if (apart)
    g_string_append_printf (out, " --server_role %s", pool == 0 ? "CONTEXT" : "GENERATION");
  if (cut->layout.dp_attn > 1) /* it has no flag */
    g_string_append (out, " --extra_llm_api_options dp.yaml # dp.yaml: enable_attention_dp: true");
}

GPtrArray *
pln_fleet_commands (const PlnFleet *fleet, const PlnFleetRow *row)
{
  static const char *const begins[] = { "vllm serve %s", "python -m sglang.launch_server --model-path %s", "trtllm-serve %s" };
  GPtrArray *out = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < (row->apart ? 2u : 1u); i++) {
    const PlnFleetCut *cut = cut_of (fleet, row, i);
    const SrvEngineName engine = (SrvEngineName)cut->replica.engine.name.v;
    g_autoptr (GString) line = g_string_new (NULL);
    g_auto (GStrv) halves = g_strsplit (begins[engine], "%s", 2);
    g_string_append_printf (line, "%sMODEL%s", halves[0], halves[1]);
    add_quantization (fleet, cut, line);
    if (engine == SRV_ENGINE_VLLM)
      vllm (cut, row->apart, line);
    else if (engine == SRV_ENGINE_SGLANG)
      sglang (cut, row->apart, i, line);
    else
      trtllm (cut, row->apart, i, line);
    g_ptr_array_add (out, g_strdup (line->str));
  }
  return out;
}

/* As Dynamo's worker of TensorRT-LLM takes them: what has no flag goes as a dict, behind which no file is needed. */
static char *
dynamo_trtllm (const PlnFleetCut *cut, gboolean apart, guint pool)
{
  const SrvEngineSpec *engine = &cut->replica.engine;
  GString *out = g_string_new ("dynamo.trtllm MODEL");
  g_autoptr (GString) more = g_string_new (NULL);
  add_size (out, "--tensor-parallel-size", (double)cut->layout.tp * cut->layout.dp_attn);
  add_size (out, "--pipeline-parallel-size", cut->layout.pp);
  add_size (out, "--expert-parallel-size", cut->layout.ep);
  if (cut->layout.dp_attn > 1)
    g_string_append (out, " --enable-attention-dp");
  g_string_append_printf (out, " --max-batch-size %.0f --max-num-tokens %.0f --kv-block-size %.0f --free-gpu-memory-fraction %.2f",
                          engine->max_num_seqs.v, engine->max_num_batched_tokens.v, engine->block.v, engine->memory.v);
  if (apart) {
    g_string_append_printf (out, " --disaggregation-mode %s", pool == 0 ? "prefill" : "decode");
    g_string_append (more, ", \"cache_transceiver_config\": {\"backend\": \"DEFAULT\"}");
  }
  if (cut->replica.precision.kv.v == SRV_FORMAT_FP8)
    g_string_append (more, ", \"kv_cache_config\": {\"dtype\": \"fp8\"}");
  if (engine->chunked.v)
    g_string_append (more, ", \"enable_chunked_prefill\": true");
  if (more->len > 0)
    g_string_append_printf (out, " --override-engine-args '{%s}'", more->str + 2);
  return g_string_free (out, FALSE);
}

/* ---- deployments ---- */

/* Words behind the program and its model. */
static void
add_args (const char *command, const char *indent, const char *const *first, GString *out)
{
  g_auto (GStrv) words = NULL;
  int n = 0;
  const gboolean parsed = g_shell_parse_argv (command, &n, &words, NULL);
  g_return_if_fail (parsed); /* it was written here */
  gboolean behind = FALSE;
  for (; first != NULL && *first != NULL; first++)
    g_string_append_printf (out, "%s- %s\n", indent, *first);
  for (int i = 0; i < n; i++) {
    g_autofree char *quoted = base_yaml_quote (words[i]);
    if (behind)
      g_string_append_printf (out, "%s- %s\n", indent, quoted);
    behind = behind || strcmp (words[i], "MODEL") == 0;
  }
}

static guint
gpus_of_pod (const PlnFleet *fleet, const PlnFleetRow *row, guint pool)
{
  return MIN (row->pools[pool].gpus, g_array_index (fleet->machines, PlnFleetMachine, row->machine).gpus_per_node);
}

static char *
dynamo (const PlnFleet *fleet, const PlnFleetRow *row, SrvEngineName engine)
{
  static const char *const roles[] = { "prefill", "decode" }, *const names[] = { "PrefillWorker", "DecodeWorker" };
  static const char *const modules[] = { "dynamo.vllm", "dynamo.sglang", "dynamo.trtllm" };
  static const char *const models[] = { "--model", "--model-path", "--model-path" };
  GString *out = g_string_new (NULL);
  g_autoptr (GPtrArray) commands = pln_fleet_commands (fleet, row);
  g_autofree char *name = g_ascii_strdown (fleet->spec.name.v, -1); /* names of Kubernetes have letters, digits and '-' */
  for (char *c = name; *c != '\0'; c++)
    *c = g_ascii_isalnum (*c) ? *c : '-';
  g_string_append_printf (
      out,
      "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: %s\nspec:\n  services:\n"
      "    Frontend:\n      componentType: frontend\n      replicas: 1\n      envs:\n"
      "        - {name: DYN_ROUTER_MODE, value: least-loaded}\n",
      name);
  for (guint i = 0; i < commands->len; i++) {
    const char *const of_role[] = { i == 0 ? "--is-prefill-worker" : "--is-decode-worker", NULL };
    const guint pod = gpus_of_pod (fleet, row, i);
    g_string_append_printf (out, "    %s:\n      componentType: worker\n", row->apart ? names[i] : "Worker");
    if (row->apart)
      g_string_append_printf (out, "      subComponentType: %s\n", roles[i]);
    g_string_append_printf (out, "      replicas: %u\n", row->replicas[i]);
    if (row->pools[i].gpus > pod)
      g_string_append_printf (out, "      multinode: {nodeCount: %u}\n", row->pools[i].gpus / pod);
    g_string_append_printf (out,
                            "      resources: {limits: {gpu: \"%u\"}}\n      extraPodSpec:\n        mainContainer:\n"
                            "          command: [python3, -m, %s]\n          args:\n            - %s\n            - %s\n",
                            pod, modules[engine], models[engine], fleet->llm.name.v);
    g_autofree char *of_trtllm = engine == SRV_ENGINE_TRTLLM ? dynamo_trtllm (cut_of (fleet, row, i), row->apart, i) : NULL;
    add_args (of_trtllm != NULL ? of_trtllm : commands->pdata[i], "            ",
              row->apart && engine == SRV_ENGINE_VLLM ? of_role : NULL, out);
  }
  return g_string_free (out, FALSE);
}

static char *
llm_d (const PlnFleet *fleet, const PlnFleetRow *row)
{
  GString *out = g_string_new (NULL);
  g_autoptr (GPtrArray) commands = pln_fleet_commands (fleet, row);
  g_string_append_printf (out, "modelArtifacts:\n  name: %s\n", fleet->llm.name.v);
  for (guint i = 0; i < commands->len; i++) {
    const PlnFleetLayout *layout = &row->pools[i];
    g_string_append_printf (out,
                            "%s:\n  create: true\n  replicas: %u\n  parallelism: {tensor: %u, data: %u}\n  containers:\n"
                            "    - name: vllm\n      modelCommand: vllmServe\n      args:\n",
                            row->apart && i == 0 ? "prefill" : "decode", row->replicas[i], layout->tp, layout->dp_attn);
    add_args (commands->pdata[i], "        ", NULL, out);
    g_string_append_printf (out, "      resources: {limits: {nvidia.com/gpu: \"%u\"}}\n", gpus_of_pod (fleet, row, i));
  }
  if (!row->apart)
    g_string_append (out, "prefill:\n  create: false\n");
  return g_string_free (out, FALSE);
}

char *
pln_fleet_deployment (const PlnFleet *fleet, const PlnFleetRow *row, PlnFleetDeployment kind, GError **error)
{
  const SrvEngineName engine = (SrvEngineName)cut_of (fleet, row, 0)->replica.engine.name.v;
  const BaseMark mark = fleet->spec.replica.engine.name.mark;
  if (kind == PLN_FLEET_LLM_D && engine != SRV_ENGINE_VLLM) {
    col_fail_at (error, mark, "values of llm-d's chart start vLLM; write 'name: vllm', or use 'forerun export dynamo'");
    return NULL;
  }
  return kind == PLN_FLEET_DYNAMO ? dynamo (fleet, row, engine) : llm_d (fleet, row);
}

/* ---- a scenario ---- */

/* A part of the plan in one line. */
static void
add_flow (const BaseYamlNode *node, GString *out)
{
  if (base_yaml_kind (node) == BASE_YAML_SCALAR) {
    g_autofree char *value = base_yaml_quote (base_yaml_text (node));
    g_string_append (out, value);
    return;
  }
  const gboolean list = base_yaml_kind (node) == BASE_YAML_SEQ;
  g_string_append_c (out, list ? '[' : '{');
  for (unsigned i = 0; i < base_yaml_n (node); i++) {
    g_string_append (out, i > 0 ? ", " : "");
    if (!list)
      g_string_append_printf (out, "%s: ", base_yaml_key (node, i));
    add_flow (base_yaml_item (node, i), out);
  }
  g_string_append_c (out, list ? ']' : '}');
}

static void
add_key (const BaseYamlNode *map, const char *key, GString *out)
{
  const BaseYamlNode *node = base_yaml_get (map, key);
  if (node == NULL || base_yaml_is_null (node))
    return;
  g_string_append_printf (out, "  %s: ", key);
  add_flow (node, out);
  g_string_append_c (out, '\n');
}

static void
add_parallel (const PlnFleetLayout *layout, GString *out)
{
  g_string_append_printf (out, "parallel: {tp: %u, pp: %u, dp_attn: %u, ep: %u}", layout->tp, layout->pp, layout->dp_attn,
                          layout->ep);
}

/* `precision`, with the format of weights that the row has. */
static void
add_precision (const PlnFleet *fleet, const PlnFleetRow *row, const BaseYamlNode *root, GString *out)
{
  const BaseYamlNode *precision = base_yaml_get (root, "precision");
  if (fleet->spec.free.weights.n == 0) {
    add_key (root, "precision", out);
    return;
  }
  g_string_append_printf (out, "  precision: {weights: %s", base_name (srv_format_names, (int)row->pools[0].weights));
  for (unsigned i = 0; precision != NULL && i < base_yaml_n (precision); i++)
    if (!g_str_equal (base_yaml_key (precision, i), "weights")) {
      g_string_append_printf (out, ", %s: ", base_yaml_key (precision, i));
      add_flow (base_yaml_item (precision, i), out);
    }
  g_string_append (out, "}\n");
}

/* `load`, at the rate of the busiest time. */
static void
add_load (const PlnFleet *fleet, const BaseYamlNode *goal, GString *out)
{
  const BaseYamlNode *load = base_yaml_get (goal, "load");
  const double rate = fleet->spec.goal.load.rate.v;
  if (!fleet->spec.goal.users.set && !(rate > fleet->mean_rate)) {
    add_key (goal, "load", out);
    return;
  }
  g_string_append_printf (out, "  load: {rate: %.9g", rate);
  for (unsigned i = 0; i < base_yaml_n (load); i++)
    if (!g_str_equal (base_yaml_key (load, i), "rate") && !base_yaml_is_null (base_yaml_item (load, i))) {
      g_string_append_printf (out, ", %s: ", base_yaml_key (load, i));
      add_flow (base_yaml_item (load, i), out);
    }
  g_string_append (out, "}\n");
}

char *
pln_fleet_scenario (const PlnFleet *fleet, const PlnFleetRow *row)
{
  static const char *const as_they_are[] = { "engine", "moe", "speculative" };
  const BaseYamlNode *root = base_yaml_root (fleet->yaml), *goal = base_yaml_get (root, "goal");
  const PlnFleetMachine *machine = &g_array_index (fleet->machines, PlnFleetMachine, row->machine);
  GString *out = g_string_new (NULL);
  const PlnSloSpec *slo = &fleet->spec.goal.slo;
  g_string_append_printf (out, "scenario: %s\ncluster: {topology: %s, nodes: %u}\nworkload:\n  kind: serving\n", fleet->spec.name.v,
                          machine->topology, row->nodes);
  add_key (goal, "model", out);
  for (guint i = 0; i < G_N_ELEMENTS (as_they_are); i++)
    add_key (root, as_they_are[i], out);
  add_precision (fleet, row, root, out);
  g_string_append (out, "  router: least_loaded\n");
  if (row->apart) {
    g_string_append (out, "  pools:\n");
    for (guint i = 0; i < 2; i++) {
      g_string_append_printf (out, "    - {role: %s, replicas: %u, ", i == 0 ? "prefill" : "decode", row->replicas[i]);
      if (i == 1)
        g_string_append_printf (out, "first_gpu: %u, ", pln_fleet_first (machine, row, 1));
      add_parallel (&row->pools[i], out);
      g_string_append (out, "}\n");
    }
    add_key (root, "transfer", out);
  } else {
    g_string_append_printf (out, "  replicas: %u\n  ", row->replicas[0]);
    add_parallel (&row->pools[0], out);
    g_string_append_c (out, '\n');
  }
  add_load (fleet, goal, out);
  g_string_append (out, "  slo: {");
  if (slo->ttft.set)
    g_string_append_printf (out, "ttft: %.9g s%s", slo->ttft.v, slo->tpot.set ? ", " : "");
  if (slo->tpot.set)
    g_string_append_printf (out, "tpot: %.9g s", slo->tpot.v);
  g_string_append (out, "}\n");
  return g_string_free (out, FALSE);
}
