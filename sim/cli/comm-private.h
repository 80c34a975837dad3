/* What `coll` and `explain OP` share: the flags that describe a cluster, a collective and the software, and the communicator they
 * come to. */
#ifndef CLI_COMM_PRIVATE_H
#define CLI_COMM_PRIVATE_H

#include "api/coll.h"
#include "cli-private.h"

/* The rows of --help: where it runs, sizes of a sweep, and how. */
extern const CliFlag cli_coll_flags_where[], cli_coll_flags_sizes[], cli_coll_flags_how[];

/* FALSE and *error unless `words` is one word, which is to be an operation. */
gboolean cli_one_op (const Cli *cli, char **words, GError **error);

/* Functions of api/coll.h with what all verbs share; warnings and inputs are the run's. */
gboolean cli_coll_read (const Cli *cli, const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error);
gboolean cli_compare_read (const Cli *cli, const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error);
gboolean cli_sizes_read (const Cli *cli, const FrCollFlags *flags, unsigned element_B, ScnSizes *sizes, GError **error);
gboolean cli_comm_open (Cli *cli, const FrCollQuery *query, guint32 nodes, ScnRanks *comm, GError **error);
gboolean cli_coll_price (Cli *cli, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink, GError **error);
StdCompare *cli_coll_compare (Cli *cli, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink, GError **error);

/* What a reader would else misread in an answer that switches reduce: a busbw above the line rate, steps that are none, and CollNet
 * that was asked for and cannot run. Repeated ones are reported once. */
void cli_warn_switches (Cli *cli, ScnRanks *comm, const ColAnswer *coll);

/* '#' lines: cluster, ranks, library, and that nothing leaves the node where nothing does. */
void cli_comm_header (const Cli *cli, const ScnRanks *comm, GString *out);

#endif
