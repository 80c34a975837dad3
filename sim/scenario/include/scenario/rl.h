/* Workloads of kind `rl`: a step of reinforcement learning of a language model. */
#ifndef SCENARIO_RL_H
#define SCENARIO_RL_H

#include "base/member.h"
#include "scenario/scenario.h"
#include "serving/load.h"
#include "serving/memory.h"

typedef enum { SCN_RL_GRPO, SCN_RL_PPO } ScnRlAlgorithm;
typedef enum { SCN_RL_COLOCATED, SCN_RL_SEPARATED } ScnRlPlacement;

/* `rollout:` */
typedef struct {
  BaseHead head;
  SrvReplicaSpec replica;
  BaseNum replicas; /* default: as many as the GPUs hold */
  BaseNum nodes;    /* of separated rollout: the last ones */
  BaseBool partial; /* answers that are under way go on with new weights */
} ScnRolloutSpec;

/* `reward:` */
typedef struct {
  BaseHead head;
  BaseNum time, workers; /* s an answer on one of them */
} ScnRewardSpec;

typedef struct {
  BaseHead head;
  BaseStr kind;
  BaseEnum algorithm, placement; /* ScnRlAlgorithm, ScnRlPlacement */
  const BaseYamlNode *model, *train;
  BaseNum prompts, samples, updates, staleness;
  BaseNum input, output;
  SrvLengthsSpec lengths;
  ScnRolloutSpec rollout;
  ScnRewardSpec reward;
  BaseBool reference, old_logprobs;
  BaseStr framework; /* a name of MdlEngines.frameworks; absent: what it adds is not counted */
  BaseNum change;    /* s between engine and training, each way */
  MdlLlm llm;
  TrnJob training; /* of `train`; its system is made where it runs */
} ScnRlSpec;

/* Phases of a step, in order. */
typedef enum {
  SCN_RL_GENERATION,
  SCN_RL_REWARD,
  SCN_RL_OLD_LOGPROBS,
  SCN_RL_REFERENCE,
  SCN_RL_VALUES,
  SCN_RL_CRITIC,
  SCN_RL_UPDATE,
  SCN_RL_SYNC,
  SCN_RL_CHANGE,
  SCN_RL_N
} ScnRlPhase;
extern const char *const scn_rl_phase_names[SCN_RL_N];

/* One phase, for a table. */
typedef struct {
  const char *phase;
  double time_s, share; /* s; of the sum of all */
} ScnRlPart;

/* ScnResult.own */
typedef struct {
  double time_s, time_lo_s, time_hi_s;  /* of a step */
  double phase_s[SCN_RL_N];             /* as each takes; they sum to the step where nothing overlaps */
  double hidden_s;                      /* of them, beside others: of staleness 1 and more */
  double answers, tokens, tokens_per_s; /* of a step: answers, their prompts and their own tokens */
  double output_mean;                   /* tokens of an answer */
  double longest_s;                     /* generation of the longest answer */
  double tail;                          /* fraction of generation in which the last tenth of the answers is under way */
  double rollout_busy, training_busy;   /* fraction of the step in which their GPUs work */
  double replicas, rollout_gpus, training_gpus;
  double staleness; /* steps that the weights behind an answer may be old */
  double weights_B; /* that are sent to a replica */
  double framework_s, framework_error; /* of sync and change, what the framework adds, and its relative error */
  double mfu;       /* of the update */
  double gpu_s_per_answer;
  const char *bound_by;
  GArray *parts; /* ScnRlPart: phases that take time; owned */
} ScnRlResult;

extern const BaseSchema scn_schema_rl;

#endif
