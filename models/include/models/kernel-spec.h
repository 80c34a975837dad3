/* Members of MdlKernels, for the schema table of calibrate/ that fills it and the models that read it: a calibration's section
 * `kernels`. What each is used for: models/kernel_*.c and docs/kernels.md. */
#ifndef MODELS_KERNEL_SPEC_H
#define MODELS_KERNEL_SPEC_H

#include "base/leaf.h"
#include "models/kernel.h"

/* What a GPU does when its units would draw more than its power limit. */
typedef struct {
  BaseHead head;
  BaseNum idle;     /* W that it draws whatever it does, of its limit */
  BaseNum exponent; /* time grows with power over limit to this: clock and voltage fall together */
  BaseNum credit;   /* s at the limit's power that it may draw more after an idle moment … */
  BaseNum interval; /* … over work of so many s, or one kernel if that is longer */
} MdlPowerSpec;

/* One tile of a product that a block of threads makes; used both ways round. */
typedef struct {
  BaseHead head;
  BaseNum rows, columns;
} MdlTileSpec;

/* Products of one number format. */
typedef struct {
  BaseHead head;
  BaseNum share;        /* of the data sheet's peak that the main loop reaches, at full clock */
  BaseNum dgrad, wgrad; /* of that share, by these layouts */
  BaseNum conv;         /* of it, by convolutions … */
  BaseNum winograd;     /* … times this by those of 3 x 3 with stride 1, which save multiplications */
  BaseNum power;        /* W that the GPU would draw at its peak, on top of idle, at full clock */
  BaseNum tile;         /* s a tile, beginning and end */
} MdlGemmRate;

typedef struct {
  BaseHead head;
  BaseNum start; /* s */
  BaseNum feed;  /* B of operands that reach an SM for each FLOP that its peak in 16 bit allows */
  BaseNum store; /* of the time that memory takes for a round's results, what no multiplication hides */
  BaseNum depth; /* the summed index is cut to multiples of it */
  BaseNums splits; /* parts that the summed index may be cut to, for want of tiles */
  BaseNum split; /* s, on top where it is: adding the parts */
  BaseNum grouped; /* share of the rate that a call for many groups reaches */
  BaseNum sustained; /* rate of sustained products within steps, over that of products alone; 0: 1 */
  BaseList tiles; /* MdlTileSpec */
  MdlGemmRate at[MDL_PRECISION_N];
} MdlGemmSpec;

typedef struct {
  BaseHead head;
  BaseNum start;  /* s */
  BaseNum share;  /* of the peak, of the products alone */
  BaseNum scores; /* whose exponential an SM takes for each FLOP that its peak in 16 bit allows */
  BaseNum tile;   /* s a tile of queries (backward: of keys), beginning and end */
} MdlAttentionPass;

typedef struct {
  BaseHead head;
  BaseNum queries, keys; /* of a tile */
  MdlAttentionPass forward, backward;
} MdlAttentionSpec;

/* Attention while decoding. */
typedef struct {
  BaseHead head;
  BaseNum start; /* s, of the kernel and of the one that adds up parts */
  BaseNum share; /* of the rate at which kernels read memory */
  BaseNum math;  /* of the peak, where products bind */
  BaseNum rows;  /* of a tile: queries that share a KV head are padded to it */
  BaseNum tile;  /* s on an SM for each sequence and KV head */
  BaseNum least; /* s, of the shortest caches */
  BaseNum join;  /* s for each part of a cut sequence, when parts are added up */
} MdlDecodeSpec;

typedef struct {
  BaseHead head;
  BaseNum at[MDL_MEMORY_N]; /* s */
} MdlMemoryStarts;

typedef struct {
  BaseHead head;
  BaseNum share;     /* of what a large copy reaches (the GPU's memory_efficiency) */
  BaseNum reads;     /* more, as a share, were there reads alone */
  BaseNum cache;     /* B of the L2 that the next kernel may find */
  BaseNum cache_rate; /* times memory's */
  BaseNum passes;     /* of that rate, what the passes of a framework reach, optimizers aside; 0: 1 */
  BaseNum index_add;  /* elements/s that PyTorch's kernel adds to rows by atomics; 0: as memory allows */
  BaseNum index_copy; /* elements/s that its kernel copies to rows */
  MdlMemoryStarts start;
} MdlMemoryKernelSpec;

typedef struct {
  BaseHead head;
  BaseNum at[MDL_LAUNCH_COST_N]; /* s */
} MdlLaunchSpec;

struct MdlKernels {
  BaseHead head;
  BaseNum error, assumed_error; /* half-width of the band of measured constants, and where one is assumed */
  MdlPowerSpec power;
  MdlGemmSpec gemm;
  MdlAttentionSpec attention;
  MdlDecodeSpec decode;
  MdlMemoryKernelSpec memory;
  MdlLaunchSpec launch;
};

#endif
