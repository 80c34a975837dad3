/* Workloads of kind `serving`: replicas of an engine answer the requests of a load. */
#ifndef SCENARIO_SERVING_H
#define SCENARIO_SERVING_H

#include "base/member.h"
#include "scenario/scenario.h"
#include "serving/fleet.h"
#include "serving/load.h"
#include "serving/memory.h"
#include "serving/run.h"

/* `slo:`: what users are promised. */
typedef struct {
  BaseHead head;
  BaseNum ttft, tpot, e2e; /* s */
} ScnSloSpec;

typedef struct {
  BaseHead head;
  BaseStr kind;
  const BaseYamlNode *model;
  SrvReplicaSpec replica;
  BaseNum replicas;
  BaseEnum router; /* SrvRouter */
  BaseList pools;  /* SrvPoolSpec; absent: `replicas` of role all */
  SrvTransferSpec transfer;
  SrvLoadSpec load;
  ScnSloSpec slo;
  BaseNum gpu_price; /* USD/s of one GPU */
  BaseNum watch;     /* index of a request that is taken apart */
  MdlLlm llm;        /* of `model` */
} ScnServingSpec;

/* A time and its error band, in which all steps last as the low or the high end of theirs. */
typedef struct {
  SrvSpread at;
  double median_lo_s, median_hi_s;
} ScnServingTimes;

/* ScnResult.own */
typedef struct {
  SrvRunResult run;
  SrvMemory memory, decode_memory; /* of the pool that takes requests; of the decode pool, where it is apart */
  gboolean apart;                  /* prefill and decode are */
  gboolean open;                   /* requests come at a rate or by a trace, whatever the answers take */
  double transfer_B;               /* mean of a request; NAN: none */
  ScnServingTimes ttft, tpot, itl, e2e;
  double gpus, requests, output_tokens_per_s_gpu;
  double hits;          /* fraction of prompts' tokens that the prefix cache had */
  double good;          /* fraction of requests within the SLO; NAN without one */
  double cost_per_Mtok; /* USD, of output tokens; NAN without a price */
  gboolean slow;        /* run.watched is the request at the 99th percentile of TTFT, as none was named */
  const char *bound_by;
  GArray *steps; /* owned: SrvStepSeen, all of the run, where spans were wanted; else NULL */
} ScnServingResult;

/* What a scenario of kind `serving` is, complete. NULL: it is of another kind. Borrowed. */
const ScnServingSpec *scn_serving (const Scn *scenario);
/* Changes that could serve more, each to be tried: TrnChange *, full; empty where prefill and decode have pools of their own. */
GPtrArray *scn_serving_changes (const Scn *scenario);
/* Plays it once, with these engines in place of its calibration's. Times and rates of the median steps, without bands. May be
 * called by several threads at once for different scenarios. FALSE and *error on failure. */
gboolean scn_serving_play (const Scn *scenario, const struct MdlEngines *engines, SrvRunResult *out, GError **error);

#endif
