/* What `coll` and `explain OP` share: the flags that describe a cluster, a collective and the software, and the communicator they
 * come to. */
#ifndef CLI_COMM_PRIVATE_H
#define CLI_COMM_PRIVATE_H

#include "cli-private.h"

G_BEGIN_DECLS

typedef struct {
  char *topology, *nodes, *gpus;
  char *min, *max, *factor, *step;
  char *dtype, *root;
  char *algo, *proto, *disable, *max_channels;
  char *library, *calibration, *launch;
  char *mode, *steps;
} CliCollFlags;

/* Rows of the table of flags: those of a sweep over sizes, of one size, and the rest. */
#define CLI_COLL_FLAGS_WHERE                                                                                            \
  { CLI_FLAG_HEADING, "cluster", 0, 0, NULL, NULL },                                                                    \
      { CLI_FLAG_TEXT, "topology",                                                                                      \
        't',           offsetof (CliCollFlags, topology),                                                               \
        "T",           "a shipped name (forerun list topologies) or a file; needed" },                                  \
      { CLI_FLAG_TEXT, "nodes",                                                                                         \
        'n',           offsetof (CliCollFlags, nodes),                                                                  \
        "N[,N...]",    "nodes in use; more than the topology has are built (default: all of it)" },                     \
  {                                                                                                                     \
    CLI_FLAG_TEXT, "gpus", 'g', offsetof (CliCollFlags, gpus), "G", "GPUs in use on each node (default: all of a node)" \
  }
#define CLI_COLL_FLAGS_HOW                                                                                                             \
  { CLI_FLAG_TEXT, "dtype", 'd', offsetof (CliCollFlags, dtype), "TYPE", "element type (default: fp32)" },                             \
      { CLI_FLAG_TEXT, "root", 'r', offsetof (CliCollFlags, root), "RANK", "root of broadcast and reduce (default: 0)" },              \
      { CLI_FLAG_HEADING, "algorithm", 0, 0, NULL, NULL }, { CLI_FLAG_TEXT,                                                            \
                                                             "algo",                                                                   \
                                                             0,                                                                        \
                                                             offsetof (CliCollFlags, algo),                                            \
                                                             "A",                                                                      \
                                                             "auto (default), best, or a name of forerun list algorithms" },           \
      { CLI_FLAG_TEXT, "proto", 0, offsetof (CliCollFlags, proto), "P", "auto (default), ll, ll128 or simple" },                       \
      { CLI_FLAG_TEXT, "disable", 0, offsetof (CliCollFlags, disable), "A[,A...]", "algorithms and protocols that may not be taken" }, \
      { CLI_FLAG_TEXT,                                                                                                                 \
        "max-channels",                                                                                                                \
        0,                                                                                                                             \
        offsetof (CliCollFlags, max_channels),                                                                                         \
        "N",                                                                                                                           \
        "at most so many channels (NCCL_MAX_NCHANNELS)" },                                                                             \
      { CLI_FLAG_HEADING, "software", 0, 0, NULL, NULL }, { CLI_FLAG_TEXT,                                                             \
                                                            "library",                                                                 \
                                                            0,                                                                         \
                                                            offsetof (CliCollFlags, library),                                          \
                                                            "L",                                                                       \
                                                            "nccl (default), or plain: alpha and beta of the links alone" },           \
      { CLI_FLAG_TEXT,                                                                                                                 \
        "calibration",                                                                                                                 \
        0,                                                                                                                             \
        offsetof (CliCollFlags, calibration),                                                                                          \
        "NAME|FILE",                                                                                                                   \
        "measured constants (default: those named like the GPU, if shipped)" },                                                        \
      { CLI_FLAG_TEXT,                                                                                                                 \
        "launch",                                                                                                                      \
        0,                                                                                                                             \
        offsetof (CliCollFlags, launch),                                                                                               \
        "L",                                                                                                                           \
        "graph, threads or serial: how operations reach the GPUs (default: graph)" },                                                  \
      { CLI_FLAG_HEADING, "engine", 0, 0, NULL, NULL }, { CLI_FLAG_TEXT,                                                               \
                                                          "mode",                                                                      \
                                                          0,                                                                           \
                                                          offsetof (CliCollFlags, mode),                                               \
                                                          "M",                                                                         \
                                                          "event (default): the event engine; model: the closed form" },               \
  {                                                                                                                                    \
    CLI_FLAG_TEXT, "steps", 0, offsetof (CliCollFlags, steps), "S",                                                                    \
        "fluid (default): one pipelined activity; exact: every message"                                                                \
  }

/* A parsed question: everything but the sizes. */
typedef struct {
  MdlOp op;
  MdlDtype dtype;
  MdlAlgo algo;
  MdlProto proto;
  guint32 root;
  WrkSettings settings; /* without its library */
  gboolean plain;
  guint32 *nodes; /* in the order asked for; one 0: all of the topology */
  guint n_nodes;
  guint32 gpus; /* per node; 0: all */
} CliQuestion;

/* FALSE and *error on any flag that is wrong. Fills *question, whose `nodes` is freed with g_free. */
gboolean cli_question_parse (const Cli *cli, const CliCollFlags *flags, const char *op, CliQuestion *question, GError **error);

/* The ranks on their cluster. */
typedef struct {
  Clu *clu;
  WrkSettings settings;
  guint32 *gpus; /* global GPU of each rank */
  guint32 n;
  guint32 n_nodes, gpus_per_node;
  WrkComm *comm;
} CliComm;

/* Builds cluster, library and communicator for one number of nodes. Initialise *comm with zeroes; cli_comm_clear after it, also on
 * failure. */
gboolean cli_comm_open (Cli *cli, const CliCollFlags *flags, const CliQuestion *question, guint32 nodes, CliComm *comm,
                        GError **error);
void cli_comm_clear (CliComm *comm);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliComm, cli_comm_clear)

/* '#' lines: cluster, ranks, library, and that nothing leaves the node where nothing does. */
void cli_comm_header (const Cli *cli, const CliComm *comm, GString *out);

/* ---- sizes ---- */

#define CLI_MAX_ROWS 10000u

typedef struct {
  guint64 min_B, max_B, step; /* step: a factor of at least 2, or bytes */
  gboolean is_factor;
} CliSweep;

gboolean cli_sweep_parse (const Cli *cli, const CliCollFlags *flags, unsigned element_B, CliSweep *sweep, GError **error);
/* The size that is run when `size_B` is asked for: whole elements, and for all_gather, reduce_scatter and alltoall whole 16-byte pieces
 * for each rank, as nccl-tests rounds (src/all_gather.cu, AllGatherGetCollByteCount); sizes below one such piece a rank keep their
 * elements, where nccl-tests would go down to 0. */
guint64 cli_size_round (MdlOp op, guint64 size_B, unsigned element_B, guint32 n_ranks);
/* All sizes of a sweep, rounded, equal neighbours once. Returned: full, of guint64. */
GArray *cli_sweep_sizes (const CliSweep *sweep, MdlOp op, unsigned element_B, guint32 n_ranks);

G_END_DECLS

#endif
