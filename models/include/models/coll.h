/* What a collective costs: closed forms over a question that the cluster graph has answered the network part of.
 *
 *     time = latency + size / min (bound, link_rate / wire)
 *
 * latency: launch, all steps' hop latencies, pipeline fill; bound: what the channels (SMs, copy threads) can move; link_rate: what
 * the links allow when the collective runs alone, from its traffic on the graph; wire: link bytes per payload byte (LL 2, LL128
 * 128/120, …). The event engine gets the same latency as a phase and the same traffic as one activity, so that both fidelities
 * agree where nothing contends. All rates count bytes of `size_B`. */
#ifndef MODELS_COLL_H
#define MODELS_COLL_H

#include <stdarg.h>

#include "models/library.h"

typedef struct {
  MdlOp op;
  double size_B;                           /* nccl-tests' bytes */
  unsigned n_ranks, n_nodes;               /* nodes: islands between which the network is crossed (an NVL72 domain counts as one) */
  unsigned ranks_per_node;                 /* largest */
  unsigned n_nics;                         /* NICs of a node in use, 0 on one node */
  MdlHop intra, inter;                     /* what a step inside a node, between nodes, is carried by */
  double intra_latency_s, inter_latency_s; /* wire latency of the longest such step, from the route; software is added here */
  double intra_rate_Bps, inter_rate_Bps;   /* what one route of each kind carries alone (payload, no protocol) */
  const char *network;                     /* link class of the NICs between nodes ("efa2"); borrowed, NULL where there is none */
  double link_rate_Bps;                    /* see above; INFINITY when nothing is crossed */
  unsigned compute_capability;             /* 90; 0 for other vendors */
  gboolean switched;                       /* the ranks of a node sit behind a scale-up switch */
  unsigned min_channels, max_channels;     /* 0: as the library decides */
  unsigned channels, nvls_channels;        /* that the library's search found for these ranks; 0: no search, the library's table */
  unsigned min_ctas, max_ctas;             /* NCCL_MIN_CTAS, NCCL_MAX_CTAS: bound NVLS' channels too; 0: not set */
  unsigned symmetric_ctas;                 /* NCCL_SYM_CTAS: blocks of kernels on symmetric memory; 0: not set */
  const char *symmetric_kernel;            /* NCCL_SYM_KERNEL: the only one that may serve; NULL: any */
  double nic_Bps;                          /* of an adapter, as specified; 0: not known */
  gboolean near_nics;                      /* adapters are no farther from their GPUs than a PCIe switch */
  unsigned crossings;                      /* of broadcast and reduce: hops between nodes on the longest chain; 0: not known */
  unsigned torus_steps;                    /* hops of a chunk through all dimensions of the ranks' torus; 0: they are none */
  double torus_wire_s;                     /* latency of the routes of these hops */
  unsigned phase_steps;                    /* of a hierarchical operation: steps inside a node, one way … */
  double phase_wire_s[2];                  /* … latency of their routes, and of a route between nodes … */
  double phase_Bps[2];                     /* … and what links carry of an all-gather inside nodes, between them; 0: cannot run */
  MdlLaunch launch;
  const char *one_shot; /* framework whose kernels are asked for; NULL: the library's default one. Borrowed */
  double cpu_Bps;       /* what the host's threads let through of the size, B/s; 0: no limit */
  double proxy_wait_s;  /* that a message between nodes waits for its thread, which shares a core; 0: none */
  gboolean one_way;     /* sendrecv: one rank of the pair sends, the other receives */
  unsigned in_a_row;    /* one of so many, as benchmarks time them: ranks whose part is done go on to the next; 0: one alone */
  gboolean terse;       /* leave the terms' text out: a search asks millions of times */
  gboolean registered;  /* buffers are registered with the communicator, as MDL_LAUNCH_REGISTERED has them under graphs */
  gboolean no_pxn;      /* a GPU uses no other GPU's adapter */
  gboolean multicast;   /* the NVSwitch sends a store to all ranks, and adds what a load reads from all */
} MdlCollQuestion;

/* One part of an answer, for `explain`: value = what the formula gives for the inputs named in `how`. */
typedef struct {
  const char *name;  /* "hop latency" */
  double value_s;    /* parts sum to the time */
  char how[160];     /* "14 steps x 0.43 us" */
  BaseSource source; /* of the constant; BASE_SOURCE_N: no constant of the library, the links and the question alone */
  const char *note;  /* provenance of the constant; borrowed; may be NULL */
} MdlTerm;
#define MDL_MAX_TERMS 12
/* Fills a term. `from`: the constant that it rests on, NULL for none; `format` NULL: without text. */
G_GNUC_PRINTF (5, 0)
static inline void
mdl_term_fill (MdlTerm *term, const char *name, double value_s, const BaseNum *from, const char *format, va_list args)
{
  term->name = name;
  term->value_s = value_s;
  term->source = from != NULL ? from->source : BASE_SOURCE_N;
  term->note = from != NULL ? from->note : NULL;
  term->how[0] = '\0';
  if (format != NULL)
    g_vsnprintf (term->how, sizeof term->how, format, args);
}

/* Where the error band comes from: the less of what is asked was measured, the wider it is. */
typedef enum {
  MDL_NEAR_NODE,       /* GPUs of one node: what the calibration was fitted on */
  MDL_NEAR_CLUSTER,    /* the calibration was fitted on as many nodes */
  MDL_NEAR_MORE_NODES, /* it was fitted on fewer nodes, but several */
  MDL_NEAR_NETWORK,    /* other clusters with this kind of network were measured */
  MDL_NEAR_NOTHING,    /* none was: data sheets alone */
} MdlNear;
extern const BaseName mdl_near_names[];

/* How an operation's messages go, for runs message by message. The longest way has hops[i] inside islands (0) and between them
 * (1); a message on it takes each_s[i] s, in proportion: all hops together take what the closed form has. */
typedef struct {
  double hops[2], each_s[2];
  double fast_Bps[2]; /* what a message alone moves at, payload over all channels; 0: the operation's rate */
  double further_s;   /* that messages behind the first wait for more than the rate, all of them */
  gboolean lockstep;  /* rings: a message a step, each waits for the one before; else a pipeline of pieces */
} MdlWay;

typedef struct {
  double time_s, latency_s;
  double bound_Bps;          /* INFINITY: none */
  const BaseNum *bound_from; /* the constant that bound_Bps rests on; borrowed; NULL: none */
  const char *bound_name;    /* what bounds, "busbw that NCCL grants a head"; static; NULL: the channels */
  double wire;               /* link bytes per payload byte */
  unsigned channels;         /* 0 for the plain library */
  unsigned n_steps;
  /* For message-by-message runs (every cost function must fill these; zero in the plain library): */
  double start_s;           /* of latency_s, what passes once before the first message: launch and the like */
  double launch_spread;     /* by which the operation takes longer where a process launches more slowly, relative */
  double launch_s;          /* of the CPU for one launch, where no kernel is launched; 0: a kernel's */
  MdlWay way;               /* no hops: hop_software_s is the algorithm's own */
  double hop_software_s[2]; /* latency of one message beyond its bytes and the wire, inside an island and between islands; negative
                               where data hide part of the wire's */
  gboolean paced;           /* messages move at message_Bps instead of bound_Bps, each hop's in a row at a pace of their own: */
  double pace_s;            /* what a hop takes at least for all of them */
  double message_Bps[2];    /* payload over all channels, inside an island and between them */
  double piece_B;           /* what one hop hands to the next in a chunked pipeline, over all channels and trees; 0: not cut */
  gboolean cpu_bound;       /* the node's cores limit what the channels move */
  gboolean link_bound;      /* the links limit, not the channels, in the size term */
  BaseSource source;        /* weakest constant used */
  gboolean untried;         /* no one measured the mechanism: the band is that of a network that no one measured */
  double band;              /* relative half-width of the error band: 0.05 means +-5 % */
  MdlNear near;             /* what was measured that is nearest to the question: the band is of it */
  const struct MdlFabric *fabric; /* kind of network, see mdl_fabric */
  unsigned n_terms;
  MdlTerm term[MDL_MAX_TERMS];
} MdlCollCost;

/* A row of the table of algorithms. One file a row: collective/ring.c … */
typedef struct {
  MdlAlgo algo;
  guint32 ops; /* bit (1u << MdlOp) for each operation that it does */
  /* Bytes that one rank sends, and steps on the longest path. */
  unsigned (*n_steps) (const MdlCollQuestion *question);
  /* Adds latency, bound, wire, channels and terms; the caller completes the time. */
  void (*cost) (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question, MdlCollCost *cost);
  /* The textbook form on alpha and beta alone. */
  void (*plain) (const MdlCollQuestion *question, MdlCollCost *cost);
  /* Why protocol and question do not suit the library's form (static text), NULL if they do; absent: mdl_coll_possible knows. */
  const char *(*why_not) (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question);
} MdlColl;

extern const MdlColl *const mdl_colls[];               /* ends with NULL */
const MdlColl *mdl_coll_find (MdlAlgo algo, MdlOp op); /* NULL if the algorithm does not do it */

/* FALSE and a reason (static text) when the algorithm, protocol and question do not go together: NVLS across nodes or before
 * Hopper, LL128 off its paths, PAT with several GPUs a node. What switches reduce the caller knows. */
gboolean mdl_coll_possible (const MdlLibrary *library, const MdlColl *coll, MdlProto proto, const MdlCollQuestion *question,
                            const char **reason);

/* Classes of sizes, by what decides of their time: each has an error of its own. */
typedef enum { MDL_SIZE_SMALL, MDL_SIZE_MIDDLE, MDL_SIZE_LARGE, MDL_SIZE_N } MdlSize;
extern const BaseName mdl_size_names[];
/* Sizes below limits_B[0] are small, below limits_B[1] middle. */
MdlSize mdl_size_class (double size_B, const double limits_B[2]);

/* `library` NULL: the plain library. One rank costs nothing. */
void mdl_coll_cost (const MdlLibrary *library, const MdlColl *coll, MdlProto proto, const MdlCollQuestion *question,
                    MdlCollCost *cost);

/* Seconds that registering an input and an output of the question takes, once: with the communicator, or in windows of symmetric
 * memory (`buffers`); 0 for plain ones, and without a library. *source: the weakest constant. Source: collective/registration.c. */
double mdl_registration_s (const MdlLibrary *library, const MdlCollQuestion *question, MdlBuffers buffers, BaseSource *source);

/* Which of NCCL's kernels on symmetric memory serves a question. */
typedef struct {
  const char *name; /* "AllReduce_AGxLL_R"; borrowed from the library */
  MdlProto proto;   /* LL or Simple */
  unsigned blocks;  /* of the GPU, one multiprocessor each */
} MdlSymmetricChoice;
/* NCCL's choice by its own estimate; `proto` MDL_PROTO_AUTO: of both. FALSE: none serves it. Source: collective/symmetric.c. */
gboolean mdl_symmetric_choice (const MdlLibrary *library, MdlProto proto, const MdlCollQuestion *question, MdlSymmetricChoice *out);
/* NCCL's names of its kernels, NULL at the end. Returned: transfer container. */
GPtrArray *mdl_symmetric_kernels (const MdlLibrary *library);
/* Why none of them serves the question (static text); NULL: one does, where its data type allows. */
const char *mdl_symmetric_why_not (const MdlLibrary *library, const MdlCollQuestion *question);

/* Whether NCCL lets copy engines serve buffers in windows: with NCCL_CTA_POLICY=ZERO (`zero_cta`), and all-gathers of many
 * `elements` a rank on Blackwell. Source: collective/copy_engine.c. */
gboolean mdl_copy_engine_chosen (const MdlLibrary *library, const MdlCollQuestion *question, gboolean zero_cta, double elements);
/* Why they do not serve the question, whatever the policy (static text); NULL: they do. */
const char *mdl_copy_engine_why_not (const MdlLibrary *library, const MdlCollQuestion *question);

/* The kind of network that joins the ranks of the question, by the library's list; borrowed. NULL: they are in one node, or the
 * list has no such network. */
const struct MdlFabric *mdl_fabric (const MdlLibrary *library, const MdlCollQuestion *question);
const char *mdl_fabric_name (const struct MdlFabric *fabric); /* NULL for NULL */

/* What NVLS reaches of the links behind an NVSwitch that reduces, by compute capability; 1 for the plain library. In a node alone
 * it is the answer's wire factor; over several nodes only the links inside the nodes suffer it, so that the traffic has it. */
double mdl_nvls_efficiency (const MdlLibrary *library, unsigned compute_capability, unsigned gpus);
/* GPUs of an NVLink domain that are heads: NCCL has 32 at most. All for the plain library. */
unsigned mdl_nvls_heads (const MdlLibrary *library, unsigned gpus);

#endif
