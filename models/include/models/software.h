/* What a training framework makes of the kernels' times: how near a release of it comes to what the kernels take one by one, and
 * what its host does. Rows are data (calibrate/defaults/frameworks.yaml), each of a framework, a year, a generation of GPUs and a
 * format of the matrix products. */
#ifndef MODELS_SOFTWARE_H
#define MODELS_SOFTWARE_H

#include "base/leaf.h"
#include "base/schema.h"
#include "models/gpu.h"

typedef struct {
  BaseHead head;
  BaseStr name;       /* "megatron" */
  BaseNum year;       /* of the release that was measured */
  BaseNum capability; /* compute capability from which on the row holds, up to the next row's; 0: GPUs of other vendors */
  BaseEnum precision; /* MdlPrecision of the matrix products */
  BaseNum efficiency; /* compute takes what its kernels take over this */
  BaseNum attention;  /* fused attention takes what its kernels take over this, in place of `efficiency` */
  BaseNum runs;       /* published steps that the efficiency was fitted to; absent: none, it is assumed */
  BaseNum error;      /* half-width of the band of `efficiency`: nine of ten fitted runs are within it */
  BaseNum optimizer;  /* the same of the optimizer's kernels, in place of `efficiency` */
  BaseNum kernel;     /* s of the host for a kernel, where it is not replayed from a graph; absent: launches do not show */
  BaseNum sync;       /* s of the host to go on once the GPU has done what it waits for; absent: as the kernels' constants say */
  BaseNum collective; /* s of the host for a collective */
  BaseNum replica;    /* s of the host to make a replica of a module for another GPU of its process, and to start its thread */
  BaseNum shards;     /* s of the host for a gather or scatter of sharded parameters, hooks and copies of single tensors included */
  BaseNum step;       /* s a step that nothing hides: the loop around it, what it reads back from the GPU */
  BaseNum spread;     /* standard deviation of the ranks' compute: the slowest of n sets the pace */
  BaseBool queues_sends; /* sends and receives of a pipeline rank run on one stream, in PyTorch's order */
  BaseBool overlap_tp;   /* collectives of tensor parallelism run part by part beside products unless told otherwise */
} MdlSoftwareRow;

/* How much is gathered into one reduction of gradients where the workload does not say. */
typedef struct {
  BaseHead head;
  BaseNum first;          /* B: where gradients are all-reduced, the first bucket of a step; absent: as all */
  BaseNum min_parameters; /* where they are reduce-scattered, parameters at least; absent: all of a chunk in one piece */
  BaseNum per_rank;       /* … and at least so many for each data-parallel rank */
} MdlBuckets;

/* By how much a row may be wrong where it is taken for something else, relative; each adds to its `error` in quadrature. */
typedef struct {
  BaseHead head;
  BaseNum gpu;    /* another generation of GPUs */
  BaseNum vendor; /* another vendor's GPU */
  BaseNum format; /* another format of the matrix products */
  BaseNum year;   /* another year, or none is asked for */
} MdlSoftwareAway;

typedef struct MdlSoftware {
  BaseHead head;
  BaseList rows; /* MdlSoftwareRow */
  MdlSoftwareAway away;
  MdlBuckets buckets;
} MdlSoftware;

/* What is asked for. */
typedef struct {
  const char *name;
  double year; /* 0: the newest */
  double capability;
  MdlPrecision precision;
} MdlSoftwareQuery;

/* The row of that name nearest to what is asked: of the same generation before another one, then of the same format, then the
 * newest not after the year. Returned: borrowed; NULL where no row has the name. *source: of the efficiency, assumed where the row
 * is of another generation or format. */
const MdlSoftwareRow *mdl_software_find (const MdlSoftware *software, const MdlSoftwareQuery *query, BaseSource *source);

/* What of a query a row is not: bits. */
enum {
  MDL_SOFTWARE_OTHER_GPU = 1,    /* generation */
  MDL_SOFTWARE_OTHER_VENDOR = 2, /* the row is NVIDIA's */
  MDL_SOFTWARE_OTHER_FORMAT = 4,
  MDL_SOFTWARE_OTHER_YEAR = 8, /* by a year or more */
  MDL_SOFTWARE_NO_YEAR = 16    /* none is asked for: the newest was taken */
};
unsigned mdl_software_differs (const MdlSoftwareRow *row, const MdlSoftwareQuery *query);
/* Half-width of the band of a row's efficiency, relative, where it is taken for what differs by these bits. */
double mdl_software_error (const MdlSoftware *software, const MdlSoftwareRow *row, unsigned differs);

/* The newest year of the rows of that name; 0: none. */
double mdl_software_newest (const MdlSoftware *software, const char *name);

/* Names that rows have, each once, in their order: "llm_foundry, megatron". Returned: full, g_free. */
char *mdl_software_names (const MdlSoftware *software);

/* Mean of the largest of n normal values of mean 0 and standard deviation 1; 0 for one. */
double mdl_software_slowest (double n);

#endif
