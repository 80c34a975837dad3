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
  char *algo, *proto, *disable, *max_channels, *iters;
  char *library, *calibration, *launch;
  char *mode, *steps;
  char **nccl; /* NAME=VALUE, ends with NULL; may be NULL */
} CliCollFlags;

/* The rows of --help: where it runs, sizes of a sweep, and how. */
extern const CliFlag cli_coll_flags_where[], cli_coll_flags_sizes[], cli_coll_flags_how[];

/* FALSE and *error unless `words` is one word, which is to be an operation. */
gboolean cli_one_op (const Cli *cli, char **words, GError **error);

/* Bits of the algorithms and protocols that "a,b,c" names, added to *algos and *protos; `text` NULL: none. */
gboolean cli_disabled_value (const Cli *cli, const char *text, guint32 *algos, guint32 *protos, GError **error);

/* A parsed question: everything but the sizes. */
typedef struct {
  MdlOp op;
  MdlDtype dtype;
  MdlAlgo algo;
  MdlProto proto;
  guint32 root;
  ColSettings settings; /* without its library */
  gboolean plain;
  guint32 *nodes; /* in the order asked for; one 0: all of the topology */
  guint n_nodes;
  guint32 gpus; /* per node; 0: all */
} CliQuestion;

/* FALSE and *error on any flag that is wrong. Fills *question, whose `nodes` is freed with g_free. */
gboolean cli_question_parse (Cli *cli, const CliCollFlags *flags, const char *op, CliQuestion *question, GError **error);

/* Builds cluster, library and communicator for one number of nodes, as scn_ranks_open does. */
gboolean cli_comm_open (Cli *cli, const CliCollFlags *flags, const CliQuestion *question, guint32 nodes, ScnRanks *comm,
                        GError **error);

/* What a reader would else misread in an answer that switches reduce: a busbw above the line rate, steps that are none, and CollNet
 * that was asked for and cannot run. Repeated ones are told once. */
void cli_warn_switches (Cli *cli, ScnRanks *comm, const ColAnswer *coll);

/* '#' lines: cluster, ranks, library, and that nothing leaves the node where nothing does. */
void cli_comm_header (const Cli *cli, const ScnRanks *comm, GString *out);

/* ---- sizes ---- */

gboolean cli_sweep_parse (const Cli *cli, const CliCollFlags *flags, unsigned element_B, ScnSizes *sweep, GError **error);

G_END_DECLS

#endif
