/* Replicas of an engine answer the requests of a load: the time of each, and what they come to. */
#ifndef SERVING_RUN_H
#define SERVING_RUN_H

#include "engine/flow.h"
#include "serving/load.h"
#include "serving/memory.h"
#include "serving/sample.h"
#include "serving/schedule.h"
#include "serving/step.h"
#include "serving/tiers.h"

/* Times of steps, of the form of srv_step_time_s and srv_step_decode_line. */
typedef struct {
  gpointer model;
  guint ranks;  /* schedulers of a replica, which step together */
  guint window; /* tokens that windowed layers see; 0: none */
  double (*time_s) (gpointer model, const SrvBatch *batches, SrvStepCost *cost);
  void (*line) (gpointer model, guint n_decode, double context, double windowed, SrvDecodeLine *line);
} SrvTimes;

/* Requests, of the form of srv_load_next and srv_load_finished. */
typedef struct {
  gpointer load;
  gboolean (*next) (gpointer load, SrvRequest *out, GError **error);
  gboolean (*finished) (gpointer load, guint64 index, double now_s);
  gboolean open; /* `finished` is always FALSE: no request waits for an answer */
} SrvSource;

typedef enum {
  SRV_ROUTER_ROUND_ROBIN,
  SRV_ROUTER_LEAST_LOADED,
  SRV_ROUTER_TWO_CHOICES,
  SRV_ROUTER_SESSION,
  SRV_ROUTER_KV,   /* Dynamo's cost */
  SRV_ROUTER_LLM_D /* llm-d's scores */
} SrvRouter;

/* How a request chooses a replica. All 0: round robin. */
typedef struct {
  SrvRouter policy;
  double credit, scale, temperature; /* of SRV_ROUTER_KV */
  double host, nvme;                 /* of SRV_ROUTER_KV: credit of a block in the scheduler's own tiers below the GPU */
  double prefix, usage, queue;       /* weights of SRV_ROUTER_LLM_D */
} SrvRouting;

/* Blocks of a prompt that a scheduler has, on its GPUs and in its own tiers below. */
typedef struct {
  double gpu, host, nvme;
} SrvOverlap;

/* Of SRV_ROUTER_KV, in blocks: scale · max (prefill - overlaps, each times its credit, 0) + decode. The least wins. */
double srv_router_kv_cost (const SrvRouting *routing, double prefill, const SrvOverlap *overlap, double decode);

/* What SRV_ROUTER_LLM_D sees of a scheduler. */
typedef struct {
  double matched; /* fraction of the prompt in its cache */
  guint waiting;  /* requests in its queue */
  double usage;   /* fraction of its blocks in use */
} SrvScored;

/* scores[i] of each of `n` schedulers; the highest wins:
 *     prefix · matched + usage · (1 - use) + queue · waiting scaled to 1 … 0 */
void srv_router_llm_d_scores (const SrvRouting *routing, const SrvScored *scored, guint n, double *scores);

/* Limits that a good request keeps; INFINITY: none. */
typedef struct {
  double ttft_s, tpot_s, e2e_s;
} SrvSlo;

/* One end of a transfer: a scheduler of a replica, numbered within its pool. */
typedef struct {
  guint replica, rank;
} SrvEnd;

/* A copy of KV, and how long each of its limits alone would take. */
typedef struct {
  double bytes_B, pieces; /* of the sequence; descriptors of the GPU that has most */
  double latency_s;       /* until the first byte comes: start of the library and the links' latency */
  double pieces_s;        /* the GPU's time for its descriptors */
  double wire_s;          /* all bytes at the rate of the slowest link, or of the library, alone */
  double time_s;          /* as it was, with whatever else moved; of `part` of it, what was left when the prompt was computed */
  double part;
  char slowest[96]; /* which link that is, or "the library's NIC rate" */
} SrvMoved;

/* What carries KV from the prefill pool to the decode pool. */
typedef struct {
  Eng *eng; /* of this run alone; moves nothing else that ends before it */
  gpointer user;
  /* The activity that carries the KV of `tokens` tokens; `uses` keeps its links. FALSE and *error: there is no route. */
  gboolean (*flow) (gpointer user, SrvEnd from, SrvEnd to, guint tokens, GArray *uses, EngFlowSpec *spec, GError **error);
  /* What limits that copy, all but time_s; NULL: not known. Of an activity that `flow` has given. */
  void (*limits) (gpointer user, SrvEnd from, SrvEnd to, guint tokens, SrvMoved *out);
  /* Layer by layer: the part of a prompt's last step after which KV begins to move, as it is computed; 0: all of it moves once the
   * prompt is computed. */
  double layer;
  gboolean pull;    /* the decode replica starts it, between its steps */
  gboolean asks;    /* a prompt is computed only once the decode replica has seen the request, between its steps */
  gboolean in_turn; /* decode replicas take requests one after the other; else the one with the fewest */
} SrvFabric;

/* One step, for traces. */
typedef struct {
  guint replica;
  double start_s, end_s;
  guint prompts, prompt_tokens, decoding; /* of all ranks */
  guint waiting, running;
  double kv; /* blocks in use over all */
} SrvStepSeen;

/* One request that has ended, for traces. */
typedef struct {
  guint64 index;
  guint replica;
  double arrival_s, start_s, first_s, end_s;
  guint input, output, hit, preemptions;
} SrvRequestSeen;

/* A replica, of all pools, that is lost from at_s until until_s (INFINITY: for good): its requests begin again elsewhere, and it
 * comes back with nothing cached. */
typedef struct {
  guint replica;
  double at_s, until_s;
} SrvOutage;

/* Replicas that serve, by the load. target 0: all, always. */
typedef enum { SRV_SCALE_IN_FLIGHT, SRV_SCALE_QUEUE, SRV_SCALE_KV } SrvScaleMetric;
typedef struct {
  SrvScaleMetric metric; /* mean of the replicas that serve: requests in flight, requests that wait, fraction of blocks in use */
  double target;
  guint least;        /* replicas; the most are all of the run */
  double every_s;     /* between two looks */
  double start_s;     /* from the order to the first request */
  double stabilise_s; /* fewer serve only if no look in that time wanted more */
} SrvScale;

typedef struct SrvRunSpec SrvRunSpec;
struct SrvRunSpec {
  SrvTimes times;
  SrvSource source;
  SrvEngineName engine;
  SrvFront front;
  SrvLimits limits; /* of each scheduler */
  guint64 blocks;   /* of each scheduler */
  guint block;      /* tokens of one */
  gboolean caching;
  gboolean ahead;      /* a step is chosen when the one before it begins, so that a request which comes meanwhile misses it */
  guint max_model_len; /* tokens; 0: no limit */
  guint max_context;   /* tokens of a sequence that the model may be given; 0: not known */
  guint replicas;
  SrvRouting router;
  SrvOffload offload;       /* of the pool that takes requests */
  guint64 seed;             /* of accepted drafts and of routers that draw */
  const double *acceptance; /* of each draft, that it is accepted given those before; limits.drafts entries; NULL: all */
  gboolean parts;           /* count what steps consist of: SrvPoolResult.part_s */
  gboolean stepwise;        /* each step by itself; else steps that only decode are jumped over, with the same result */
  int band;                 /* -1, 0, 1: steps last as the low end of their band, as its middle, its high end */
  guint64 warm_up;          /* requests that are not counted, the first ones */
  SrvSlo slo;
  guint64 watch;                                      /* index of a request that is taken apart; G_MAXUINT64: none */
  void (*step) (void *user, const SrvStepSeen *step); /* NULL: none; a run with it is stepwise */
  void (*request) (void *user, const SrvRequestSeen *request);
  void *user;
  /* Prefill and decode apart: this pool computes prompts, and that one answers. NULL: this one does both. Of `decode` count times,
   * engine, limits, blocks, block, caching, max_model_len, replicas, acceptance and, as for all, band. */
  const SrvRunSpec *decode;
  SrvFabric fabric;
  SrvScale scale;           /* of one pool, without outages */
  const SrvOutage *outages; /* borrowed */
  guint n_outages;
  double detect_s;  /* from a loss until its requests are sent again */
  gboolean migrate; /* they go on behind the tokens that they have, whose KV is computed again; only where one pool does both */
  gboolean first_by_decode; /* the decode pool computes the last token of the prompt again, and gives the first one */
  gboolean first_handed;    /* the prefill pool computes the first token, and the decode pool sends it once the KV is there */
};

/* Where the time of a request went. They sum to its E2E time. */
typedef enum {
  SRV_WAIT_FRONT,    /* the front end, before its queue and behind its tokens */
  SRV_WAIT_QUEUE,    /* in the queue of a scheduler, before its first step */
  SRV_WAIT_READ,     /* KV of its prompt is read from a tier below the GPU, before its first step */
  SRV_WAIT_PROMPT,   /* its own prompt: steps until its first token, by its share of their tokens */
  SRV_WAIT_OTHERS,   /* prompts of others, in its steps or between them */
  SRV_WAIT_PLACE,    /* with pools apart: for blocks of the decode pool, and for its step in progress */
  SRV_WAIT_TRANSFER, /* with pools apart: its KV moves from the prefill pool to the decode pool */
  SRV_WAIT_COMPUTE,  /* decode: matrices, experts, elementwise kernels */
  SRV_WAIT_KV,       /* decode: attention, the KV caches of all that decode */
  SRV_WAIT_TP,
  SRV_WAIT_EP,
  SRV_WAIT_PP,
  SRV_WAIT_HOST,
  SRV_WAIT_PREEMPTED, /* in the queue again, and computing anew */
  SRV_WAIT_N
} SrvWait;
extern const char *const srv_wait_names[SRV_WAIT_N];

typedef struct {
  gboolean seen;
  SrvRequestSeen request;
  double ttft_s, tpot_s, e2e_s;
  double part_s[SRV_WAIT_N];  /* sum to e2e_s */
  double first_s[SRV_WAIT_N]; /* of these, until the first token; sum to ttft_s */
  SrvMoved moved;             /* its KV to the decode pool; bytes_B 0: it did not move */
} SrvWatched;

/* Of one pool. */
typedef struct {
  double busy;    /* fraction of the replicas' time in steps */
  double kv_mean; /* fraction of blocks in use, over busy time */
  guint64 steps;
  /* Where SrvRunSpec.parts: time of steps that compute prompts [0], and of those that only decode [1], by part; of all replicas. */
  double part_s[2][SRV_PART_N];
} SrvPoolResult;

/* KV from the prefill pool to the decode pool, of all requests. */
typedef struct {
  guint64 n;
  double bytes_B;
  double wait_s; /* mean, for a place and blocks in the decode pool … */
  double time_s; /* … and of the copy */
} SrvTransferResult;

/* Of counted requests that came before all outages, during one (or began again after one), or behind one. */
typedef enum { SRV_PHASE_BEFORE, SRV_PHASE_DURING, SRV_PHASE_BEHIND, SRV_PHASE_N } SrvPhase;
typedef struct {
  guint64 requests, good;
  SrvSpread ttft;
} SrvPhaseResult;

typedef struct SrvRunResult {
  guint64 requests; /* counted ones that were answered; the next also only of these */
  guint64 input_tokens, output_tokens, good;
  double duration_s;              /* from the first arrival to the last answer */
  SrvSpread ttft, tpot, itl, e2e; /* s; itl: gaps between tokens, of all requests together, warm-up too */
  double requests_per_s, output_tokens_per_s, total_tokens_per_s, goodput_rps;
  double user_tokens_per_s; /* 1 / median TPOT */
  /* Of all requests. */
  guint64 hit_tokens, prompt_tokens; /* first admissions */
  guint64 preemptions, lost_tokens;
  double kv_mean, kv_most; /* fraction of blocks in use, over busy time */
  double batch_mean;       /* sequences that decode in a step which decodes */
  guint64 steps, prompt_steps;
  double busy; /* fraction of the replicas' time in steps */
  guint64 most_in_flight;
  guint64 shortened; /* answers that end at max_model_len */
  SrvWatched watched;
  SrvPoolResult pools[2]; /* [1]: decode, where it is apart */
  SrvTransferResult transfer;
  SrvTierResult tiers[SRV_TIER_N];
  guint64 retried, failed_tokens; /* requests that began again, and tokens whose KV they lost */
  SrvPhaseResult phases[SRV_PHASE_N];
  /* Of autoscaling: replicas that were paid, on average from the first arrival to the last answer, and at most; starts. */
  double replicas_mean;
  guint replicas_most;
  guint64 starts;
} SrvRunResult;

/* What a run needs of a replica, with its KV pool and times of steps; all else is 0. The model is borrowed. */
void srv_run_take_replica (const SrvReplicaSpec *replica, const SrvMemory *memory, SrvStepModel *model, SrvRunSpec *out);
/* Requests of a load, which is borrowed. `apart`: something flows between replicas or tiers, so that they may wait for each
 * other. */
SrvSource srv_run_source (SrvLoad *load, gboolean apart);

/* FALSE and *error (BASE_ERROR_INPUT): a request that can never be answered, or a bad line of a trace. Same spec, same result. */
gboolean srv_run (const SrvRunSpec *spec, SrvRunResult *out, GError **error);

#endif
