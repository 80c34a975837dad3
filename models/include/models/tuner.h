/* NCCL's own choice of algorithm and protocol, as its tuner makes it: a latency and a rate for each operation, algorithm and
 * protocol, made once for a communicator (mdl_tuner_prepare), and the least of
 *
 *     time = latency x pipelined operations + bytes / rate
 *
 * for each question (mdl_tuner_choose). This is what NCCL believes, not what is measured: cost models stand in coll.h.
 *
 * Everything is a plain value: nothing allocates, nothing is freed, a prepared tuner may be used by many threads. Times in s, rates
 * in B/s, sizes in B. */
#ifndef MODELS_TUNER_H
#define MODELS_TUNER_H

#include "models/coll.h"
#include "models/search.h"

#define MDL_TUNER_ALGOS ((int)MDL_ALGO_NCCL_N) /* those before it: sends and receives are not tuned */
#define MDL_TUNER_OPS ((int) MDL_OP_ALLTOALL)     /* likewise */

/* Constants, as calibrate/defaults/nccl_tuner.yaml gives them for one version. Lists have the length that their comment says
 * (checked when they are loaded). */
typedef struct {
  BaseHead head;
  BaseNums at[MDL_ALGO_NCCL_N]; /* s: LL, LL128, Simple */
} MdlTunerTimes;

typedef enum { MDL_TUNER_NVLINK, MDL_TUNER_PCIE, MDL_TUNER_NET, MDL_TUNER_HARDWARE_N } MdlTunerHardware;

typedef struct {
  BaseHead head;
  MdlTunerTimes at[MDL_TUNER_HARDWARE_N];
} MdlTunerSteps;

typedef struct {
  BaseHead head;
  BaseNums at[MDL_GENERATION_N]; /* B/s: one node, two, more */
} MdlTunerRates;

typedef struct {
  BaseHead head;
  BaseNums one_node;  /* B/s by generation */
  BaseNums nodes;     /* B/s: two nodes, more */
  BaseNums nodes_amd; /* likewise with AMD's processors, or a mixture */
  BaseNum ring, ring_one_way; /* share of the rings' rate: all-reduce, reduce, several nodes; the others on one node */
  BaseNum tree;       /* the trees' rate over this */
} MdlTunerLl;

typedef struct {
  BaseHead head;
  BaseNum ring, ring_single_gpu; /* share of the rings' rate; with one GPU a node */
  BaseNum tree_one_node, tree;  /* of the trees' */
  MdlTunerRates ring_channel, tree_channel; /* at most, a channel */
  BaseNum capability;           /* least, where no list is given */
  BaseNums capabilities;        /* these alone */
  BaseNum mixed;                /* unequal capabilities only from here on; 0: never */
  BaseNum pxn;                  /* capability from which the network may be reached by PXN */
} MdlTunerLl128;

typedef struct {
  BaseHead head;
  BaseNum inter_steps;          /* steps between nodes of an all-reduce beyond 2 (nodes - 1) */
  BaseNum post_intel, post_amd, post_other; /* s, what the CPU needs to post a message */
  BaseNum post_simple;          /* messages posted a step of Simple */
  BaseNum plateau, plateau_before_80; /* factors on the latency of Simple all-reduce between nodes … */
  BaseNum plateau_from;         /* … from so many B a channel and rank on */
} MdlTunerRing;

typedef struct {
  BaseHead head;
  BaseNum share;                /* of the channels' rate */
  MdlTunerRates channel;        /* at most, a channel */
  BaseNum one_gpu;              /* share where all traffic of a node is one GPU's */
  BaseNums ll, ll128, simple;   /* factor on the rate by size: powers of two from correction_from on */
  BaseNum correction_from;      /* B */
  BaseNum correction_n;         /* how many of the factors count */
  BaseNum net_single_gpu;       /* 1: with one GPU a node every algorithm takes the tree's network latency */
} MdlTunerTree;

typedef enum { MDL_TUNER_NVLS_LEAST, MDL_TUNER_NVLS_GATHER, MDL_TUNER_NVLS_EFFICIENCY } MdlTunerNvlsForm;
extern const BaseName mdl_tuner_nvls_names[]; /* least gather efficiency */

typedef struct {
  BaseHead head;
  BaseEnum form;                /* MdlTunerNvlsForm */
  BaseNums efficiency;          /* by generation */
  BaseNum gather_inter;         /* form gather: share of the network's rate */
  BaseNum ratio;                /* algorithm rate over busbw; 0: n / steps */
  BaseBool gather_ratio;        /* … of all-gather and reduce-scatter too, without which they keep the busbw */
  BaseBool gather_nodes;        /* all-gather and reduce-scatter over several nodes are offered (with SHARP) */
  BaseNum two_nodes;            /* form efficiency: factor on the network's rate for NVLSTree on two nodes */
  MdlTunerRates tree_channel;   /* NVLSTree at most, a channel */
  BaseNum channels;             /* least, form efficiency */
  BaseNum gather_ranks;         /* of a node, at most, for all-gather and reduce-scatter */
  BaseNum correction_n;         /* factors of the tree's correction that count for NVLSTree; 0: none */
  BaseNum correction_capability; /* from here on, with x86 processors */
} MdlTunerNvls;

typedef enum { MDL_TUNER_COLLNET_NONE, MDL_TUNER_COLLNET_WEIGHTED, MDL_TUNER_COLLNET_NICS } MdlTunerCollnetForm;
extern const BaseName mdl_tuner_collnet_names[]; /* none weighted nics */

typedef struct {
  BaseHead head;
  BaseEnum gather;              /* MdlTunerCollnetForm: all-gather and reduce-scatter by CollNet direct */
  BaseNum weight_one, weight_eight; /* form weighted: share with one GPU a node, with eight */
  BaseNum gather_inter;         /* form nics: share of the network's rate */
  BaseNum direct_from_90;       /* share of CollNet direct from capability 90 on */
  BaseNum arity;                /* s for each further GPU of a node */
  BaseNum direct_ranks, chain_ranks; /* of a node, at most */
  BaseNum nodes;                /* least */
} MdlTunerCollnet;

typedef struct {
  BaseHead head;
  BaseBool offered;
  BaseNum share;
  BaseNum net_share;            /* the network latency is divided by this for each doubling of the nodes */
  BaseNum per_rank;             /* s */
  BaseNum capability;           /* least */
} MdlTunerPat;

typedef struct MdlTunerSpec {
  BaseHead head;
  MdlTunerTimes base;
  MdlTunerSteps step;
  MdlTunerLl ll;
  MdlTunerLl128 ll128;
  MdlTunerRing ring;
  MdlTunerTree tree;
  MdlTunerNvls nvls;
  MdlTunerCollnet collnet;
  MdlTunerPat pat;
  BaseNum fp8_ranks, fp8_factor; /* a ring of more ranks loses precision in 8-bit floats: factor on its time */
  BaseNum batch;                /* operations that all but rings start together */
  BaseNum tree_threads;         /* that blocks of trees always run; 0: as many as NCCL_NTHREADS tells */
  BaseNum connects_all;         /* 1: a new communicator connects all algorithms; 0: each is connected at its first use */
  BaseNum cell;                 /* B of traffic below which no channel is opened */
  BaseNum ll_in_use;            /* messages go by LL by 0: the channels that a peer may have, 1: those that Simple would take */
  BaseNum peer_rate;            /* B/s of an adapter for which a peer on another node is given a channel; 0: two a peer */
  BaseNum peer_share;           /* else: halved while times the ranks they are more than so many times all channels; 0: never */
  BaseNum gather_late;          /* s that rings of all-gather and reduce-scatter by LL take longer; no estimate of NCCL's */
  MdlSearchSpec search;
} MdlTunerSpec;

/* The communicator. */
typedef struct {
  unsigned ranks, nodes, max_local; /* max_local: ranks of the fullest node */
  unsigned min_capability, max_capability;
  MdlCpu cpu;
  gboolean switched;           /* GPUs of a node behind a scale-up switch */
  gboolean collnet_gathers;    /* the SHARP plugin does all-gather and reduce-scatter */
  gboolean force_ll128;        /* NCCL_PROTO names LL128: where it would not be trusted by default, too */
  gboolean no_pat, force_pat;  /* NCCL_PAT_ENABLE=0, =1 */
  double post_s;               /* NCCL_NET_OVERHEAD; 0: not set */
} MdlTunerComm;

/* One operation, algorithm and protocol. rate 0: not offered, `reason` says why (static text; NULL otherwise). */
typedef struct {
  double latency_s, rate_Bps;
  const char *reason;
} MdlTunerCell;

/* Filled by mdl_tuner_prepare; keeps a reference to nothing but `spec`, which must outlive it. */
typedef struct {
  const MdlTunerSpec *spec;
  MdlTunerComm comm;
  MdlSearch search;
  MdlTunerCell cell[MDL_OP_ALLTOALL][MDL_ALGO_NCCL_N][MDL_PROTO_N];
} MdlTuner;

/* OTHER: averages, products, scaled sums. */
typedef enum { MDL_REDUCTION_SUM, MDL_REDUCTION_MIN_MAX, MDL_REDUCTION_OTHER } MdlReduction;

typedef struct {
  MdlOp op;                    /* before MDL_OP_ALLTOALL */
  double size_B;               /* the larger of what a rank sends and receives: nccl-tests' bytes; of a group: all that is decided
                                  together (operations of less than four times the smallest one's traffic) */
  MdlDtype dtype;
  MdlReduction reduction;
  unsigned n_ops;              /* operations of the group; 0 counts as 1 */
  guint32 disabled_algos, disabled_protos; /* bits 1u << code: NCCL_ALGO, NCCL_PROTO */
} MdlTunerQuestion;

typedef struct {
  MdlAlgo algo;
  MdlProto proto;
  double time_s, latency_s, rate_Bps; /* with what the size changes in them */
} MdlTunerChoice;

void mdl_tuner_prepare (const MdlTunerSpec *spec, const MdlTunerComm *comm, const MdlSearch *search, MdlTuner *out);

/* What NCCL takes for the time of one algorithm and protocol; INFINITY where it does not offer them (mdl_tuner_reason). */
double mdl_tuner_time_s (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto);
/* All of them. */
void mdl_tuner_table (const MdlTuner *tuner, const MdlTunerQuestion *question, double time_s[MDL_ALGO_NCCL_N][MDL_PROTO_N]);
/* The least, the first in NCCL's order where equal. FALSE when nothing is left. */
gboolean mdl_tuner_choose (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlTunerChoice *out);

/* Why an algorithm and protocol are not offered for the question: static text; NULL where they are. */
const char *mdl_tuner_reason (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto);

/* The time of mdl_tuner_time_s taken apart: parts that sum to it, each with its arithmetic. Returns how many of term[] were filled;
 * 0 where they are not offered. */
unsigned mdl_tuner_explain (const MdlTuner *tuner, const MdlTunerQuestion *question, MdlAlgo algo, MdlProto proto,
                            MdlTerm term[MDL_MAX_TERMS]);

#endif
