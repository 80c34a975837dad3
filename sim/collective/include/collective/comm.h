/* A communicator: ranks on GPUs of a cluster, the library that serves them, and what is switched off. It answers what one operation
 * costs, as a closed form, as one activity of the flow network, or message by message. */
#ifndef COLLECTIVE_COMM_H
#define COLLECTIVE_COMM_H

#include "cluster/route.h"
#include "engine/engine.h"
#include "models/coll.h"

typedef enum { COL_MODE_EVENT, COL_MODE_MODEL } ColMode;
typedef enum { COL_STEPS_FLUID, COL_STEPS_EXACT } ColSteps;
extern const BaseName col_mode_names[], col_steps_names[];

/* What the scenario or the command line asks of the software. Zeroed with col_settings_default. */
typedef struct {
  const MdlLibrary *library; /* NULL: the plain library */
  MdlLaunch launch;
  CluDegrade degrade;
  guint32 disabled_algos;  /* bit (1u << MdlAlgo) */
  guint32 disabled_protos; /* bit (1u << MdlProto) */
  /* NCCL's variables (docs/nccl.md); what they degrade is in `degrade` */
  const char *nccl_version;                                /* "2.28.9"; NULL: the calibration's. For who loads the library */
  BaseMark nccl_mark;                                      /* where that stands */
  MdlLibraryEnv env;                                       /* likewise: to be laid over it by mdl_library_with */
  guint32 op_off_algos[MDL_OP_N], op_off_protos[MDL_OP_N]; /* NCCL_ALGO, NCCL_PROTO: bits as above, by operation */
  gboolean collnet;                                        /* NCCL_COLLNET_ENABLE=1 */
  gboolean no_nvls, no_pat;                                /* NCCL_NVLS_ENABLE=0, NCCL_PAT_ENABLE=0: why disabled_algos has them */
  const char *one_shot;                                    /* framework whose all-reduce stands in NCCL's place; NULL: none */
  BaseMark one_shot_mark;                                  /* where that stands */
  MdlBuffers buffers;                                      /* of all operations */
  gboolean zero_cta;                                       /* NCCL_CTA_POLICY=ZERO: copy engines serve where they can */
  gboolean no_tuner_plugin;                                /* NCCL_TUNER_PLUGIN=none */
  gboolean no_shm;                                         /* NCCL_SHM_DISABLE=1 */
  gboolean fi_tcp, fi_staged;                              /* FI_PROVIDER=tcp, FI_EFA_USE_DEVICE_RDMA=0: on networks of libfabric */
  gboolean ignore_affinity;                                /* NCCL_IGNORE_CPU_AFFINITY=1 */
  const char *not_modelled;                                /* variables that were given and are not modelled; NULL: none */
  guint32 cores;                                           /* of a node that the job may use, of a container or of Slurm; 0: all */
  gboolean one_core;                                       /* all threads of NCCL on a node are bound to one core */
  gboolean rdma_by_variable;   /* degrade.no_rdma is NCCL_IB_DISABLE's alone: networks of a plugin do not know it */
  unsigned min_channels;       /* NCCL_MIN_NCHANNELS; 0 none */
  unsigned min_ctas, max_ctas; /* NCCL_MIN_CTAS, NCCL_MAX_CTAS; 0 none */
  unsigned symmetric_ctas;     /* NCCL_SYM_CTAS; 0 none */
  const char *symmetric_kernel; /* NCCL_SYM_KERNEL; NULL: any */
  BaseMark symmetric_mark;
  unsigned max_channels;       /* NCCL_MAX_NCHANNELS; 0 none */
  ColMode mode;
  ColSteps steps;
  gboolean one_way;  /* sendrecv: one rank of a pair sends, the other receives */
  unsigned in_a_row; /* operations that follow each other, as in a benchmark's loop; 0: one alone */
  guint64 seed;
  gboolean no_interference; /* a training step: compute and communication do not slow each other */
  gboolean no_fold;         /* simulate what is alike one by one */
  gboolean terse;           /* leave the text of terms out: for whoever prices by the thousand */
} ColSettings;
void col_settings_default (ColSettings *settings);

/* NCCL's variables as "NAME=VALUE" (ends with NULL) into *settings, as `nccl:` of a scenario takes them. `label` stands for the
 * file in messages. Returned: full, the document in which the settings' texts live; NULL and *error on anything wrong. */
BaseYaml *col_nccl_parse (const char *const *pairs, const char *label, ColSettings *settings, GError **error);

/* Puts the place of settings->nccl_version before an error of loading a library that is about it. */
void col_nccl_tell_place (const ColSettings *settings, GError **error);

/* Once library and cluster are known: takes back what NCCL's variables do not move on this network. */
void col_nccl_settle (const Clu *clu, ColSettings *settings);

/* `library` with NCCL's variables laid over it, and between nodes what the plugin of this network asks for; settings->library is
 * it, and settings are settled. Returned: full, g_free; `library` must outlive it. */
MdlLibrary *col_nccl_library (const Clu *clu, const MdlLibrary *library, ColSettings *settings);

/* A warning with the variables that were given and are not modelled. */
void col_nccl_warn (const ColSettings *settings, BaseDiag *diag);

/* Which algorithms and protocols may not be taken for `op`: bits as in ColSettings. */
guint32 col_off_algos (const ColSettings *settings, MdlOp op);
guint32 col_off_protos (const ColSettings *settings, MdlOp op);

typedef struct ColComm ColComm;

/* `gpus`: n different global GPU numbers in rank order, copied; `clu` and `settings` are borrowed and must outlive the
 * communicator. FALSE and *error when two ranks that must talk cannot reach each other. Returned: full. */
ColComm *col_comm_new (const Clu *clu, const ColSettings *settings, const guint32 *gpus, guint32 n, GError **error);
void col_comm_free (ColComm *comm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ColComm, col_comm_free)

/* A message of exact steps, as it ran. */
typedef struct {
  guint32 from, to; /* ranks */
  guint32 pipe;     /* of a ring: which; of trees: which tree */
  guint32 round;    /* from 0 on: its number on this edge */
  gint32 chunk;     /* of a ring's n parts, which moves; -1: a piece */
  gboolean gathers; /* of an all-reduce's ring: a chunk that is complete */
  double start_s, end_s;
} ColMessage;
/* Has exact steps add each message (ColMessage) to `messages`, borrowed; of more than G_MAXUINT16 the first. NULL: none. */
void col_comm_record (ColComm *comm, GArray *messages);

guint32 col_comm_n_ranks (const ColComm *comm);
guint32 col_comm_n_nodes (const ColComm *comm);
/* TRUE when the ranks never leave one node (or one NVLink domain): then no NIC or fabric setting can matter. */
gboolean col_comm_is_local (const ColComm *comm);
/* Whether all that prices in closed form are made of is the same but for loads, and whether an algorithm without a root is bound
 * alike: then they differ by the links that they name. */
gboolean col_comm_is_alike (ColComm *a, ColComm *b);
gboolean col_comm_carries_alike (ColComm *a, ColComm *b, MdlOp op, MdlAlgo algo);

/* The traffic of an operation: link bytes per byte of its size, resource by resource; protocol and copy overhead not included. */
typedef struct {
  CluRes res;
  double load;   /* bytes on this resource per byte of size_B */
  double factor; /* what of the resource's capacity this kind of copy reaches (SM copies over NVLink) */
  guint32 n;     /* resources that carry the same, of which `res` is the first; 1 where each is listed */
} ColLoad;

/* What an operation puts on all resources, nodes that are alike told once (spread-private.h). */
typedef struct ColSpread ColSpread;

/* An operation priced. Everything that explain, tables and the engine need. */
typedef struct {
  MdlOp op;
  MdlAlgo algo;
  MdlProto proto;
  MdlDtype dtype;
  double size_B;
  guint32 n_ranks, n_nodes;
  MdlCollQuestion question;
  MdlCollCost cost; /* the closed form */
  double time_s;    /* the answer in the mode asked for */
  double time_lo_s, time_hi_s;
  double algbw_Bps, busbw_Bps;
  double wire_Bps;       /* what the busiest direction of a link carries while the operation runs, beside busbw */
  char bound_by[64];     /* "latency", "channels" or a link class */
  CluRes bottleneck;     /* CLU_NONE when nothing is crossed */
  BaseSource provenance; /* weakest part */
  double register_s;     /* of registering input and output once, before the first call; 0: they are plain. Whence: */
  BaseSource register_source;
  ColSpread *spread;     /* what links carry; NULL: `alike` lists each resource */
  GArray *alike;         /* ColLoad: of resources that are alike and carry the same, one; each, where nothing is to be folded */
  guint64 n_messages;    /* of exact steps */
  guint64 n_events;      /* the engine ran; 0 in model mode */
} ColAnswer;
void col_coll_clear (ColAnswer *coll);
/* ColLoad of each resource, ascending. Returned: full. */
GArray *col_coll_loads (const ColAnswer *coll);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ColAnswer, col_coll_clear)

typedef struct {
  MdlOp op;
  double size_B; /* nccl-tests' bytes */
  MdlDtype dtype;
  MdlAlgo algo;   /* or MDL_ALGO_AUTO, MDL_ALGO_BEST */
  MdlProto proto; /* or MDL_PROTO_AUTO */
  guint32 root;   /* rank, for broadcast and reduce */
} ColCollRequest;

/* Prices one operation in the settings' mode and steps. BEST takes the fastest possible pair by the closed form. AUTO takes NCCL's
 * own choice (models/tuner.h) where the library has one, else what BEST takes, but for reduction in the network's switches, which
 * NCCL leaves off unless NCCL_COLLNET_ENABLE is set. FALSE and *error (BASE_ERROR_INPUT) when the algorithm or protocol asked
 * for cannot run here: says why and what can. `out` zeroed before the first use; reused. */
gboolean col_coll_price (ColComm *comm, const ColCollRequest *request, ColAnswer *out, GError **error);

/* What a reader would else misread in an answer that switches reduce, appended to `texts` (char *, g_free): a busbw above the line
 * rate (of a GPU's links to its switch, of a node's adapters together), exact steps that are one activity,
 * NCCL_COLLNET_ENABLE=1 without effect, and what col_window_warnings says. */
void col_comm_switch_warnings (ColComm *comm, const ColAnswer *coll, GPtrArray *texts);

/* Whether AUTO is the library's own choice for `op` here, not the fastest predicted. */
gboolean col_comm_knows_choice (ColComm *comm, MdlOp op);

/* Estimate of the library's own tuner for `request` by one algorithm and protocol: not a prediction. INFINITY: it does not offer
 * them; NAN: its choice is not modelled here. */
double col_comm_nccl_time_s (ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto);
/* The same taken apart, parts that sum to it; how many were filled. 0 where col_comm_nccl_time_s is not finite. */
unsigned col_comm_nccl_terms (ColComm *comm, const ColCollRequest *request, MdlAlgo algo, MdlProto proto,
                              MdlTerm term[MDL_MAX_TERMS]);
/* The tuner of the network's plugin that decides `request` in its place; NULL: none does. Borrowed. */
const char *col_comm_plugin_tuner (ColComm *comm, const ColCollRequest *request, MdlAlgo *algo, MdlProto *proto);

/* Every algorithm that this communicator knows for `op`, with the reason why it cannot run or NULL; for messages and `list`. */
typedef struct {
  MdlAlgo algo;
  MdlProto proto;
  const char *reason;
} ColChoice;
GArray *col_comm_choices (ColComm *comm, const ColCollRequest *request); /* returned: full, of ColChoice */
/* Whether the algorithm reduces in the network's switches on these ranks: CollNet, and NVLS over several NVLink domains. NCCL
 * leaves that off unless NCCL_COLLNET_ENABLE is set. */
gboolean col_needs_fabric_sharp (const ColComm *comm, MdlAlgo algo);

/* Whether exact steps of the algorithm have messages; where switches reduce they have none, and it is one activity. */
gboolean col_algo_has_messages (MdlAlgo algo);

/* Whether each algorithm of models says how its bytes travel. FALSE and *error where a row lacks its part. */
gboolean col_self_check (GError **error);

#endif
