/* Workloads of kind `serving_step`: one step of an engine that serves a model, taken apart, and the memory of its replica. */
#ifndef SCENARIO_SERVING_STEP_H
#define SCENARIO_SERVING_STEP_H

#include "base/member.h"
#include "serving/memory.h"
#include "serving/step.h"

/* What is in the step; of each scheduler. */
typedef struct {
  BaseHead head;
  BaseStr kind;
  const BaseYamlNode *model;
  SrvReplicaSpec replica;
  BaseNum decode;         /* sequences that decode */
  BaseNum context;        /* tokens in the KV cache of each */
  BaseNum prompts;        /* prompts, or parts of them */
  BaseNum prompt, cached; /* new tokens of each, and tokens before them */
  MdlLlm llm;             /* of `model` */
} ScnServingStepSpec;

extern const BaseSchema scn_schema_serving_step;

/* ScnResult.own */
typedef struct {
  SrvStepCost step;
  SrvMemory memory;
  GArray *terms;                               /* SrvStepTerm; owned */
  double gpus, tokens_per_s, tokens_per_s_gpu; /* tokens that users see, drafts that are accepted among them */
  const char *bound_by;                        /* the largest part */
} ScnServingStepResult;

#endif
