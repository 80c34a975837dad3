/* Communication over compute of a training step: over nodes, batches and speeds of the network, and where the one becomes the
 * bottleneck. */
#ifndef REPORT_RATIO_H
#define REPORT_RATIO_H

#include <json-glib/json-glib.h>

#include "base/table.h"
#include "training/scale.h"

G_BEGIN_DECLS

/* What is held against a threshold: communication over compute, and the share of the step that waits for communication. */
typedef enum { REP_LINE_RATIO, REP_LINE_WAITS, REP_LINE_N } RepLine;

typedef struct {
  guint32 nodes, gpus;
  double batch;    /* as of TrnScale */
  double rate_Bps; /* of an adapter */
  char *why_not;   /* owned: it did not run; NULL: it did, and what follows is told */
  double step_time_s, step_time_lo_s, step_time_hi_s, compute_s, communication_s, exposed_s;
  double value[REP_LINE_N]; /* ratio, waits */
  double exposed_fraction;  /* of communication */
  double efficiency;        /* a GPU's throughput over that of a GPU of `efficiency_nodes`; NAN: nothing to compare with */
  guint32 efficiency_nodes; /* the fewest on which this batch runs */
  char bound_by[64];
  const char *most; /* what most communication is for: "dp" …; NULL: there is none */
  gboolean fits;
  BaseSource provenance;
} RepRatioPoint;

/* An answer exists, every value would do, or none does. */
typedef enum { REP_SOLVED, REP_SOLVED_ANY, REP_SOLVED_NONE } RepSolved;

/* The slowest network with which a line is not passed, of so many nodes and a batch. */
typedef struct {
  guint32 nodes, gpus;
  double batch;
  struct {
    RepSolved how;
    double rate_Bps;   /* of an adapter; where solved */
    double least;      /* `none`: what is left on an endless network */
    double engine_Bps; /* the same by the engine; NAN: not asked, or not near */
  } line[REP_LINE_N];
  double compute_s; /* at the first line's rate, or on an endless network */
} RepRatioSpeed;

/* The most nodes, with a batch on a network. */
typedef struct {
  double batch, rate_Bps;
  struct {
    RepSolved how;
    guint32 nodes, gpus;
    gboolean last; /* more do not divide the batch, or were not tried */
  } line[REP_LINE_N];
} RepRatioNodes;

/* The smallest batch, of so many nodes on a network. */
typedef struct {
  guint32 nodes, gpus;
  double rate_Bps;
  struct {
    RepSolved how;
    double batch;
    double least; /* `none`: what is left with the largest batch that was tried */
  } line[REP_LINE_N];
} RepRatioBatch;

typedef struct {
  TrnScale scale;
  double limit[REP_LINE_N];
  GArray *points;    /* RepRatioPoint, by batch, nodes, rate */
  GArray *speeds;    /* RepRatioSpeed, by batch, nodes */
  GArray *nodes;     /* RepRatioNodes, by batch, rate */
  GArray *batches;   /* RepRatioBatch, by nodes, rate */
  guint most_passes; /* of a replica that batches were tried with */
  guint n_runs;      /* scenarios that were run */
} RepRatio;

/* Returned: full, empty. */
RepRatio *rep_ratio_new (const TrnScale *scale);
void rep_ratio_free (RepRatio *ratio);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RepRatio, rep_ratio_free)

/* What of an adapter's rate is a GPU's: adapters over GPUs of a node. */
double rep_ratio_gpu_Bps (const RepRatio *ratio, double rate_Bps);

void rep_ratio_text (const RepRatio *ratio, GString *out);
void rep_ratio_tsv (const RepRatio *ratio, GString *out);
/* Members of the open object. */
void rep_ratio_json (const RepRatio *ratio, JsonBuilder *json);

/* RepPictures (report/pictures.h): cells of ratios with the lines where they turn; throughput by GPUs, of several numbers of them.
 * FALSE: fewer than two points ran, and there is nothing to draw. */
gboolean rep_ratio_pictures (const RepRatio *ratio, const char *name, GPtrArray *pictures);

G_END_DECLS

#endif
