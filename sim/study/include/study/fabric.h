/* Where the fabric becomes the bottleneck of a service: how much of the times to the first token and per token a faster network
 * would save, over nodes, loads and speeds of the network. */
#ifndef STUDY_FABRIC_H
#define STUDY_FABRIC_H

#include "study/question.h"

/* What is held against a threshold: the fraction of the mean TTFT and TPOT that an endless network would save, and the fraction of
 * requests outside the SLO. */
typedef enum { STD_FABRIC_TTFT, STD_FABRIC_TPOT, STD_FABRIC_SLO, STD_FABRIC_N } StdFabricLine;

/* Traffic of a service. */
typedef enum { STD_TRAFFIC_KV, STD_TRAFFIC_TP, STD_TRAFFIC_EP, STD_TRAFFIC_PP, STD_TRAFFIC_N } StdTraffic;
extern const char *const std_traffic_names[STD_TRAFFIC_N];

/* How large the service of a scenario is. */
typedef struct {
  guint32 nodes, gpus_per_node;
  guint32 adapters;   /* of a node; 0: none */
  double adapter_Bps; /* of one, one way, as specified */
  guint pools;        /* of `pools`; 0: `replicas` */
  double replicas[2];
  double rate, ramp_to, closed, scale, requests, warm_up; /* of `load`; 0: absent */
  guint64 seed;
  gboolean placed;       /* a pool has `first_gpu`: other nodes would contradict it */
  gboolean promised;     /* has an SLO */
  gboolean first_before; /* prefill gives the first token, before its KV moves */
  gboolean apart;        /* KV moves between pools */
} StdFabricScale;

typedef struct {
  guint32 nodes, gpus;
  double load;                  /* over that of the scenario; with nodes, the load grows too */
  double rate_Bps, gpu_Bps;     /* of an adapter; what of it is a GPU's */
  char *why_not;                /* owned: it did not run; NULL: it did, and what follows is set */
  double ttft_s, tpot_s;        /* means */
  double transfer_s;            /* mean of a KV transfer; NAN: none */
  double kv;                    /* of the mean TTFT; NAN: none, or the first token does not wait for it */
  double prompt[STD_TRAFFIC_N]; /* of the time of steps with prompts; [KV] 0 */
  double decode[STD_TRAFFIC_N]; /* of the time of steps that only decode */
  double prompt_all, decode_all;
  double value[STD_FABRIC_N]; /* [SLO] NAN without an SLO */
  const char *most;           /* traffic that waits most for the network; NULL: none waits */
} StdFabricPoint;

typedef enum { STD_FABRIC_SOLVED, STD_FABRIC_ANY, STD_FABRIC_NONE, STD_FABRIC_NOT_ASKED } StdFabricHow;
/* The slowest network of so many nodes and a load from which on no network that was tried breaks a threshold. */
typedef struct {
  guint32 nodes, gpus;
  double load;
  StdFabricHow how[STD_FABRIC_N];
  double rate_Bps[STD_FABRIC_N], gpu_Bps[STD_FABRIC_N]; /* where solved */
  double least[STD_FABRIC_N];                           /* value that an endless network leaves */
} StdFabricSpeed;

typedef struct {
  StdFabricScale scale;
  double limit[STD_FABRIC_N];
  GArray *points; /* StdFabricPoint, by load, nodes, rate */
  GArray *speeds; /* StdFabricSpeed, by load, nodes */
  guint seeds;    /* whose mean a point is */
  guint n_runs;
} StdFabric;

void std_fabric_free (StdFabric *fabric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StdFabric, std_fabric_free)

/* FALSE and *error (BASE_ERROR_INPUT): its nodes differ, or have no NICs. */
gboolean std_fabric_scale (const Scn *scenario, StdFabricScale *out, GError **error);

typedef struct {
  StdQuestion question;
  StdFabricScale scale; /* of it */
  double limit[STD_FABRIC_N];
  GArray *nodes, *loads, *rates; /* double, borrowed; loads are factors, rates an adapter's, B/s */
} StdFabricQuery;

/* Fills those of the lists that are empty: the load as it is; its nodes, half, twice and four times as many, where replicas divide;
 * a quarter, half, once and twice the adapters' rate. */
void std_fabric_defaults (StdFabricQuery *query);
/* Plays the service at each point, a closed loop with several seeds, and searches the slowest network for each load and number of
 * nodes, to 1 %. Replicas and load grow with nodes. On all cores, with the same answer however many. Returned: full; a point that
 * did not run says why. */
StdFabric *std_fabric (const StdFabricQuery *query);

#endif
