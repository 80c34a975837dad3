/* Workloads of kind `serving`: replicas of an engine answer the requests of a load. */
#ifndef SCENARIO_SERVING_H
#define SCENARIO_SERVING_H

#include "base/member.h"
#include "scenario/scenario.h"
#include "serving/fleet.h"
#include "serving/load.h"
#include "serving/memory.h"
#include "serving/month.h"
#include "serving/run.h"

/* `slo:`: what users are promised. */
typedef struct {
  BaseHead head;
  BaseNum ttft, tpot, e2e; /* s */
} ScnSloSpec;

/* `reliability:`, failures at published rates over a month. */
typedef struct {
  BaseHead head;
  BaseRef rates; /* MdlFailureRates */
  BaseNum days, factor, spares, repair, restart, seeds;
} ScnReliabilitySpec;

typedef struct {
  BaseHead head;
  BaseStr kind;
  const BaseYamlNode *model;
  SrvReplicaSpec replica;
  BaseNum replicas;
  SrvRouterSpec router;
  BaseList offload;  /* SrvOffloadSpec; absent: none */
  BaseList failures; /* SrvFailureSpec; absent: none */
  SrvRetrySpec retry;
  ScnReliabilitySpec reliability; /* absent: nothing fails */
  SrvScaleSpec scale;
  BaseList pools; /* SrvPoolSpec; absent: `replicas` of role all */
  SrvTransferSpec transfer;
  SrvLoadSpec load;
  ScnSloSpec slo;
  BaseNum gpu_price; /* USD/s of one GPU */
  BaseNum gpu_power; /* W of one GPU that computes */
  BaseNum watch;     /* index of a request that is taken apart */
  MdlLlm llm;        /* of `model` */
} ScnServingSpec;

/* A time and its error band, in which all steps last as the low or the high end of theirs. */
typedef struct {
  SrvSpread at;
  double median_lo_s, median_hi_s;
} ScnServingTimes;

/* What a tier below the GPU gave, and what that is worth. */
typedef struct {
  const char *tier; /* borrowed from the scenario */
  double hits;      /* fraction of prompts' tokens */
  double read_s;    /* mean of a read; NAN: none */
  guint64 reads, declined;
  double written_B;
  double saves;       /* fraction of the replicas' time that steps of these tokens would have taken */
  double worth, cost; /* USD a million output tokens: of that time, and of the tier; NAN without a price */
} ScnServingTier;

/* Requests that came before, during or behind outages. */
typedef struct {
  const char *phase; /* static */
  guint64 requests;
  double good, ttft_p50_s, ttft_p99_s; /* good: NAN without an SLO; times: NAN without requests */
} ScnServingPhase;

/* Of a month of failures. */
typedef struct {
  double days;
  SrvMonthBand good; /* requests within the SLO; NAN without one */
  double healthy;    /* the same while nothing is lost */
  double failures, capacity;
  double bad;   /* of all requests, outside the SLO because of the moment of a failure … */
  double drain; /* … and behind lost replicas, until the queue is empty */
  double slow;  /* parts that become slow, which are not counted */
} ScnServingMonth;

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
  double energy_per_token_J; /* of GPUs, for an output token; NAN without `gpu_power` */
  double cost_per_Mtok; /* USD, of output tokens, tiers included; NAN without a price */
  gboolean scales;      /* replicas follow the load */
  double replicas_most;
  gboolean fails;       /* something is lost */
  GArray *phases;       /* ScnServingPhase; NULL: nothing is lost */
  ScnServingMonth of_month;
  GArray *month;        /* the same as a row; NULL: without `reliability`, like the next two */
  GArray *month_states; /* SrvMonthState, that most of the time is in */
  GArray *month_causes; /* SrvMonthCause that take replicas, the most first */
  GArray *tiers;        /* ScnServingTier, of `offload`; NULL: none */
  gboolean slow;        /* run.watched is the request at the 99th percentile of TTFT, as none was named */
  const char *bound_by;
  GArray *steps; /* owned: SrvStepSeen, all of the run, where spans were wanted; else NULL */
} ScnServingResult;

extern const BaseSchema scn_schema_serving;

/* What a scenario of kind `serving` is, complete. NULL: it is of another kind. Borrowed. */
const ScnServingSpec *scn_serving (const Scn *scenario);
/* Changes that could serve more, each to be tried: TrnChange *, full. */
GPtrArray *scn_serving_changes (const Scn *scenario);
/* Plays it once, with these engines in place of its calibration's. Times and rates of the median steps, without bands. May be
 * called by several threads at once for different scenarios. FALSE and *error on failure. */
gboolean scn_serving_play (const Scn *scenario, const struct MdlEngines *engines, SrvRunResult *out, GError **error);
/* The same with its own engines, and with what steps consist of (SrvPoolResult.part_s). */
gboolean scn_serving_play_parts (const Scn *scenario, SrvRunResult *out, GError **error);

#endif
