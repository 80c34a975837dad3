/* Keys of pools and of transfers between them. */
#include "base/rows.h"
#include "serving/fleet.h"

const BaseName srv_role_names[] = {
  { "all", SRV_ROLE_ALL, "prompts and answers" },
  { "prefill", SRV_ROLE_PREFILL, "prompts" },
  { "decode", SRV_ROLE_DECODE, "answers to prompts of the prefill pool" },
  { NULL, 0, NULL },
};

const BaseName srv_router_names[] = {
  { "round_robin", SRV_ROUTER_ROUND_ROBIN, "one replica after the other" },
  { "least_loaded", SRV_ROUTER_LEAST_LOADED, "the replica with the fewest requests in flight" },
  { "two_choices", SRV_ROUTER_TWO_CHOICES, "of two replicas drawn at random the one with fewer requests in flight" },
  { "session", SRV_ROUTER_SESSION, "the replica of the session's first request, which is the least loaded one" },
  { "kv", SRV_ROUTER_KV, "the lowest cost of prompt blocks to compute and blocks in use (Dynamo)" },
  { "llm_d", SRV_ROUTER_LLM_D, "the highest weighted score of cached prefix, free KV memory and queue (llm-d)" },
  { NULL, 0, NULL },
};

static const BaseName first_names[] = {
  { "prefill", SRV_FIRST_PREFILL, "the prefill pool gives the first token" },
  { "handed", SRV_FIRST_HANDED, "the prefill pool computes the first token, and the decode pool sends it once it has the KV" },
  { "decode", SRV_FIRST_DECODE, "the decode pool computes the prompt's last token again and gives the first one" },
  { NULL, 0, NULL },
};

SCHEMA (srv_schema_pool, "pool", "Replicas that are alike, on GPUs of their own. Absent keys are those of the workload.",
        ROW (SrvPoolSpec, role, ENUM, "what its replicas do", .names = srv_role_names, .fallback = "all"),
        NUM (SrvPoolSpec, replicas, COUNT, "copies of the engine", .min = "1", .max = "100000", .fallback = "1"),
        NUM (SrvPoolSpec, first_gpu, COUNT, "its first GPU, from 0; default: behind the pool before", .max = "100 M"),
        MAP_AS (SrvPoolSpec, "engine", replica.engine, &srv_schema_engine, "engine"),
        MAP_AS (SrvPoolSpec, "parallel", replica.parallel, &srv_schema_parallel, "parallel layout of a replica"),
        MAP_AS (SrvPoolSpec, "precision", replica.precision, &srv_schema_precision, "number formats"),
        MAP_AS (SrvPoolSpec, "moe", replica.moe, &srv_schema_moe, "exchange and load of experts"),
        MAP_AS (SrvPoolSpec, "speculative", replica.speculative, &srv_schema_speculative, "speculative decoding"));

static const BaseName lose_names[] = {
  { "gpu", SRV_LOSE_GPU, "a GPU, and with it the replica that has it" },
  { "node", SRV_LOSE_NODE, "a node, and all replicas that have GPUs of it" },
  { "nic", SRV_LOSE_NIC, "the NIC of a GPU: its replica, where it uses the network (pools apart, or several nodes)" },
  { "switch", SRV_LOSE_SWITCH, "a leaf switch: all replicas that use the network by NICs on it" },
  { NULL, 0, NULL },
};

static const BaseName tokens_names[] = {
  { "again", 0, "the answer begins again" },
  { "kept", 1, "the answer goes on behind its tokens, whose KV is computed again (Dynamo's request migration)" },
  { NULL, 0, NULL },
};

SCHEMA (srv_schema_failure, "failures",
        "A part that is lost under load: its replicas forget all, and their requests are sent again.",
        NUM (SrvFailureSpec, at, TIME, "when, from the start of the run on", .required = TRUE),
        ROW (SrvFailureSpec, lose, ENUM, "what is lost", .names = lose_names, .required = TRUE),
        NUM (SrvFailureSpec, index, COUNT, "which GPU of the cluster's (gpu, nic), which node, or which leaf switch, from 0",
             .required = TRUE),
        NUM_AS (SrvFailureSpec, "for", lasts, TIME, "until its replicas serve again, with empty caches; default: for good"));

SCHEMA (srv_schema_retry, "retry", "What happens to requests of a lost replica.",
        NUM (SrvRetrySpec, detect, TIME, "until they are sent again (assumed)", .fallback = "1 s"),
        ROW (SrvRetrySpec, tokens, ENUM, "what becomes of tokens that were given", .names = tokens_names, .fallback = "again"));

static const BaseName metric_names[] = {
  { "in_flight", SRV_SCALE_IN_FLIGHT, "requests in flight of a replica" },
  { "queue", SRV_SCALE_QUEUE, "requests that wait in a replica" },
  { "kv", SRV_SCALE_KV, "fraction of KV blocks in use" },
  { NULL, 0, NULL },
};

SCHEMA (srv_schema_scale, "scale", "Replicas that serve, by the load (Kubernetes' horizontal autoscaling); `replicas` is the most.",
        ROW (SrvScaleSpec, metric, ENUM, "what is held at the target, on average", .names = metric_names, .fallback = "in_flight"),
        NUM (SrvScaleSpec, target, NUMBER, "value of the metric that a replica is to have", .required = TRUE, .min = "0.001",
             .max = "1e6"),
        NUM_AS (SrvScaleSpec, "min", least, COUNT, "replicas that always serve", .min = "1", .fallback = "1"),
        NUM (SrvScaleSpec, every, TIME, "between two looks", .min = "1 ms", .fallback = "15 s"),
        NUM (SrvScaleSpec, start, TIME, "from the order of a replica until it serves: weights, graphs (assumed)",
             .fallback = "2 min"),
        NUM_AS (SrvScaleSpec, "stabilisation", stabilise, TIME, "fewer serve only if no look in that time wanted more",
                .fallback = "5 min"));

/* A bare name is the policy. */
const BaseSchema srv_schema_router = {
  .name = "router",
  .help = "How requests choose a replica, or a rank of attention data parallelism in it.",
  .scalar_key = "policy",
  .fields =
      (const BaseField[]){
          ROW (SrvRouterSpec, policy, ENUM, "which replica takes a request", .names = srv_router_names, .fallback = "round_robin"),
          NUM (SrvRouterSpec, credit, NUMBER, "kv: what a block in the cache counts against a block to compute", .max = "10",
               .fallback = "1"),
          NUM (SrvRouterSpec, host_credit, NUMBER, "kv: the same of a block in host memory (`offload`)", .max = "10",
               .fallback = "0.75"),
          NUM (SrvRouterSpec, nvme_credit, NUMBER, "kv: the same of a block on the node's drives", .max = "10", .fallback = "0.25"),
          NUM (SrvRouterSpec, scale, NUMBER, "kv: weight of blocks to compute against blocks in use", .max = "1000",
               .fallback = "1"),
          NUM (SrvRouterSpec, temperature, NUMBER, "kv: 0 takes the lowest cost, more draws with a softmax of scaled costs",
               .max = "1000", .fallback = "0"),
          NUM (SrvRouterSpec, prefix, NUMBER, "llm_d: weight of the prefix that is cached", .max = "1000", .fallback = "3"),
          NUM (SrvRouterSpec, usage, NUMBER, "llm_d: weight of KV memory that is free", .max = "1000", .fallback = "2"),
          NUM (SrvRouterSpec, queue, NUMBER, "llm_d: weight of a short queue", .max = "1000", .fallback = "2"),
          BASE_ROW_END,
      },
};

static const BaseName overlap_names[] = {
  { "none", SRV_KV_OVERLAP_NONE, "KV moves once the prompt is computed" },
  { "layerwise", SRV_KV_OVERLAP_LAYERWISE, "the KV of each layer moves while the next ones are computed" },
  { NULL, 0, NULL },
};

static const BaseName to_names[] = {
  { "least_loaded", SRV_ROUTER_LEAST_LOADED, "the decode replica with the fewest requests in flight" },
  { "round_robin", SRV_ROUTER_ROUND_ROBIN, "one decode replica after the other, whether it has room or not (Dynamo's default)" },
  { NULL, 0, NULL },
};

SCHEMA (srv_schema_transfer, "transfer", "How KV goes from the prefill pool to the decode pool.",
        ROW (SrvTransferSpec, first_token, ENUM,
             "pool that gives the first token; default: vLLM decode, SGLang and TensorRT-LLM handed", .names = first_names),
        ROW (SrvTransferSpec, library, STR,
             "library that moves it: nixl, mooncake, nccl, ucx, or none; default: vLLM nixl, SGLang mooncake, TensorRT-LLM ucx"),
        ROW (SrvTransferSpec, to, ENUM, "decode replica that takes a request", .names = to_names, .fallback = "least_loaded"),
        ROW (SrvTransferSpec, overlap, ENUM, "whether it moves while the prompt is computed", .names = overlap_names,
             .fallback = "none"),
        NUM (SrvTransferSpec, start, TIME,
             "time of each transfer before bytes move, on top of the route's latency; default: the library's"),
        NUM (SrvTransferSpec, per_descriptor, TIME,
             "time for each piece of memory that a GPU sends (a block of a layer); default: the library's"));
