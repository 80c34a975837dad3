/* A collective as `forerun coll` and fr_coll_new ask for it: texts of flags, what they come to, and its prices by message size. Not
 * installed. */
#ifndef API_COLL_H
#define API_COLL_H

#include "scenario/ranks.h"
#include "study/compare.h"

/* Texts of flags, NULL: not given. */
typedef struct {
  char *topology, *nodes, *gpus;
  char *min, *max, *factor, *step;
  char *dtype, *root;
  char *algo, *proto, *disable, *max_channels, *iters;
  char *library, *calibration, *launch;
  char *mode, *steps;
  gboolean in_network;     /* of a comparison: with reduction in the network's switches */
  char **nccl;             /* NAME=VALUE, ends with NULL; may be NULL */
  char *one_shot;          /* inference framework; NULL: none */
  char *buffers;           /* what buffers are to NCCL; NULL: not said */
  char *nccl_env;          /* a file of such lines; NULL: none */
  const char *verb;        /* what messages name: "coll"; NULL: none */
  const char *const *sets; /* --set; may be NULL */
  guint64 seed;
} FrCollFlags;

/* What is asked: everything but the sizes. Texts are borrowed from the flags. */
typedef struct {
  const char *verb, *topology, *calibration;
  const char *const *sets;
  MdlOp op;
  MdlDtype dtype;
  MdlAlgo algo;
  MdlProto proto;
  guint32 root;
  ColSettings settings; /* without its library */
  BaseYaml *nccl;       /* owned: texts of `settings` */
  gboolean plain, in_network;
  guint32 *nodes; /* owned, in the order asked for; one 0: all of the topology */
  guint n_nodes;
  guint32 gpus; /* per node; 0: all */
} FrCollQuery;

/* FALSE and *error on any flag that is wrong. fr_coll_query_clear after it, also on failure. */
gboolean fr_coll_read (const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error);
void fr_coll_query_clear (FrCollQuery *query);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FrCollQuery, fr_coll_query_clear)
/* The same for a comparison: no algorithm may be named, and the closed form prices unless the flags name a mode or steps. */
gboolean fr_compare_read (const FrCollFlags *flags, const char *op, FrCollQuery *query, GError **error);
/* -b, -e, -f and -i. */
gboolean fr_sizes_read (const FrCollFlags *flags, unsigned element_B, ScnSizes *sizes, GError **error);
/* Bits of the algorithms and protocols that "a,b,c" names, added to *algos and *protos; `text` NULL: none. */
gboolean fr_disabled_value (const char *verb, const char *text, guint32 *algos, guint32 *protos, GError **error);

/* What is asked at one size. */
ColCollRequest fr_coll_request (const FrCollQuery *query, double size_B);
/* As scn_ranks_open, for one number of nodes. */
gboolean fr_ranks_open (const ScnHost *host, const FrCollQuery *query, guint32 nodes, ScnRanks *out, GError **error);

/* Callbacks that receive prices; they must not keep the pointers. */
typedef struct {
  void *user;
  void (*begin) (void *user, const ScnRanks *ranks);                          /* each number of nodes; NULL: not told */
  void (*row) (void *user, const ColAnswer *coll, guint size, guint n_sizes); /* then each size, from 0 on */
} FrCollSink;
/* Prices all sizes on all numbers of nodes. FALSE and *error on failure. */
gboolean fr_coll_price (const ScnHost *host, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink,
                        GError **error);
/* Compares all algorithms at all sizes on all numbers of nodes; sink->begin is called for those with several ranks. Returned: full;
 * NULL and *error on failure. */
StdCompare *fr_coll_compare_all (const ScnHost *host, const FrCollQuery *query, const ScnSizes *sizes, const FrCollSink *sink,
                                 GError **error);
/* "left out: …", a warning for each algorithm that cannot run. Returned: full, of char *. */
GPtrArray *fr_compare_warnings (const StdCompare *compare);

#endif
