/* Keys of pools and of transfers between them. */
#include "base/rows.h"
#include "serving/fleet.h"

const BaseName srv_role_names[] = {
  { "all", SRV_ROLE_ALL, "prompts and answers" },
  { "prefill", SRV_ROLE_PREFILL, "prompts" },
  { "decode", SRV_ROLE_DECODE, "answers to prompts of the prefill pool" },
  { NULL, 0, NULL },
};

static const BaseName first_names[] = {
  { "prefill", SRV_FIRST_PREFILL, "the prefill pool gives the first token" },
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

SCHEMA (srv_schema_transfer, "transfer", "How KV goes from the prefill pool to the decode pool.",
        ROW (SrvTransferSpec, first_token, ENUM, "pool that gives the first token", .names = first_names, .fallback = "prefill"),
        NUM (SrvTransferSpec, start, TIME, "time of each transfer before bytes move, on top of the route's latency",
             .fallback = "0 s"),
        NUM (SrvTransferSpec, per_descriptor, TIME, "time for each piece of memory that a GPU sends (a block of a layer)",
             .fallback = "0 s"));
