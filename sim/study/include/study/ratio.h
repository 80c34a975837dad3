/* Communication over compute of a training step: over nodes, batches and speeds of the network, and where the one becomes the
 * bottleneck. */
#ifndef STUDY_RATIO_H
#define STUDY_RATIO_H

#include "study/question.h"
#include "training/scale.h"

/* What is held against a threshold: communication over compute, and the share of the step that waits for communication. */
typedef enum { STD_LINE_RATIO, STD_LINE_WAITS, STD_LINE_N } StdLine;

typedef struct {
  guint32 nodes, gpus;
  double batch;             /* as of TrnScale */
  double rate_Bps, gpu_Bps; /* of an adapter; what of it is a GPU's */
  char *why_not;            /* owned: it did not run; NULL: it did, and what follows is set */
  double step_time_s, step_time_lo_s, step_time_hi_s, compute_s, communication_s, exposed_s;
  double communication_alone_s; /* where no compute runs concurrently and slows it */
  double value[STD_LINE_N];     /* ratio, waits */
  double ratio_alone;           /* communication_alone_s over compute_s */
  double exposed_fraction;      /* of communication */
  double efficiency;            /* a GPU's throughput over that of a GPU of `efficiency_nodes`; NAN: nothing to compare with */
  guint32 efficiency_nodes;     /* the fewest on which this batch runs */
  char bound_by[64];
  const char *most; /* what most communication is for: "dp" …; NULL: there is none */
  gboolean fits;
  BaseSource provenance;
} StdRatioPoint;

/* An answer exists, every value would do, or none does. */
typedef enum { STD_SOLVED, STD_SOLVED_ANY, STD_SOLVED_NONE } StdSolved;

typedef struct {
  StdSolved how;
  double rate_Bps, gpu_Bps;          /* of an adapter, and what of it is a GPU's; where solved */
  double least;                      /* `none`: what is left on an endless network */
  double engine_Bps, engine_gpu_Bps; /* the same by the engine; NAN: not asked, or not near */
} StdSpeedLine;
/* The slowest network with which a line is not passed, of so many nodes and a batch. */
typedef struct {
  guint32 nodes, gpus;
  double batch;
  StdSpeedLine line[STD_LINE_N];
  double compute_s; /* at the first line's rate, or on an endless network */
} StdRatioSpeed;

typedef struct {
  StdSolved how;
  guint32 nodes, gpus;
  gboolean last; /* more do not divide the batch, or were not tried */
} StdNodesLine;
/* The most nodes, with a batch on a network. */
typedef struct {
  double batch, rate_Bps;
  StdNodesLine line[STD_LINE_N];
} StdRatioNodes;

typedef struct {
  StdSolved how;
  double batch;
  double least; /* `none`: what is left with the largest batch that was tried */
} StdBatchLine;
/* The smallest batch, of so many nodes on a network. */
typedef struct {
  guint32 nodes, gpus;
  double rate_Bps;
  StdBatchLine line[STD_LINE_N];
} StdRatioBatch;

typedef struct {
  TrnScale scale;
  double limit[STD_LINE_N];
  GArray *points;    /* StdRatioPoint, by batch, nodes, rate */
  GArray *speeds;    /* StdRatioSpeed, by batch, nodes */
  GArray *nodes;     /* StdRatioNodes, by batch, rate */
  GArray *batches;   /* StdRatioBatch, by nodes, rate */
  guint most_passes; /* of a replica that batches were tried with */
  guint n_runs;      /* scenarios that were asked for, some twice and run once */
} StdRatio;

void std_ratio_free (StdRatio *ratio);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StdRatio, std_ratio_free)

typedef struct {
  StdQuestion question; /* with the mode of its points and searches */
  TrnScale scale;       /* of it */
  double limit[STD_LINE_N];
  GArray *nodes, *batches, *rates; /* double, borrowed; rates are an adapter's, B/s */
  gboolean check;                  /* the engine runs at each rate that was solved for */
} StdRatioQuery;

/* Fills those of the lists that are empty: the batch as it is; 1, 2, 4 … nodes up to four times as many, and its own; a quarter,
 * half, once and twice the adapters' rate. */
void std_ratio_defaults (StdRatioQuery *query);
/* Runs each point, and searches for each line: for each batch and number of nodes the slowest network, for each network the most
 * nodes and the smallest batch. On all cores, with the same answer however many. Returned: full; a point that did not run says
 * why. */
StdRatio *std_ratio (const StdRatioQuery *query);

#endif
