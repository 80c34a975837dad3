/* The schedulers that there are: a new engine is a row here, and a file beside this one. */
#include "serving/schedule.h"

const SrvPolicy srv_policies[SRV_ENGINE_N] = {
  [SRV_ENGINE_VLLM] = { .name = "vllm", .schedule = srv_schedule_vllm, .settled = srv_settled_vllm, .shares_early = TRUE },
  [SRV_ENGINE_SGLANG] = { .name = "sglang", .schedule = srv_schedule_sglang, .settled = srv_settled_sglang },
  [SRV_ENGINE_TRTLLM] = { .name = "trtllm", .schedule = srv_schedule_trtllm, .settled = srv_settled_vllm, .whole = TRUE },
};
