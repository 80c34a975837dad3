/* The input pipeline of a training step: samples read, decoded by workers, copied to GPUs, some batches ahead. */
#ifndef TRAINING_LOADER_H
#define TRAINING_LOADER_H

#include "base/schema.h"

/* Which ranks of a replica read its samples. */
typedef enum { TRN_READERS_ENDS, TRN_READERS_FIRST, TRN_READERS_ALL } TrnReaders;

/* Which epoch a step is of, where its tier caches another one. */
typedef enum { TRN_EPOCH_LATER, TRN_EPOCH_FIRST } TrnEpoch;

/* Where samples are read to. */
typedef enum { TRN_LOAD_HOST, TRN_LOAD_GDS } TrnLoadPath;

/* The data set is copied to the nodes' drives before. */
typedef struct {
  BaseHead head;
  BaseStr from;
  BaseNum bytes;   /* all of it */
  BaseEnum how;    /* 0 each node reads what it holds; 1 read once, passed from node to node */
  BaseEnum hold;   /* 0 all of it on every node; 1 a part on each */
  BaseNum threads; /* requests in flight, of a node */
} TrnStageSpec;

typedef struct {
  BaseHead head;
  BaseStr tier;
  BaseNum sample;    /* B stored */
  BaseNum samples;   /* of a rank and micro-batch; default: a model's micro_batch */
  BaseNum workers;   /* processes of a rank; 0: the main process reads between two batches */
  BaseNum prefetch;  /* batches that each worker has ahead */
  BaseNum decode;    /* s of a core a sample */
  BaseNum decoded;   /* B that a sample is once decoded; default: as stored */
  BaseEnum access;   /* 0 sequential, 1 random */
  BaseEnum readers;  /* TrnReaders */
  BaseEnum sharing;  /* 0 shards: each rank reads its own; 1 node: one rank of a node reads for all */
  BaseNum depth;     /* requests that a worker has in flight */
  BaseNum io_size;   /* default: the tier's, at most a batch */
  BaseNum file_size; /* files of this size, each opened; absent: large shards */
  BaseEnum cache;    /* MdlCache */
  BaseNum dataset;   /* B that a node reads over and over */
  BaseBool pin;      /* batches are copied into pinned memory by a core first */
  BaseEnum decoder;  /* StoDecode: cpu, gpu, engine */
  BaseEnum path;     /* TrnLoadPath */
  BaseBool in_place; /* decoded into pinned memory: no core copies batches (DALI) */
  BaseBool returns;  /* decoded batches go back to the host and to the GPU again */
  BaseBool persistent; /* workers live on over epochs */
  BaseNum respawn;   /* s until workers that began anew with an epoch are ready */
  BaseNum read_ahead; /* B, through the page cache; absent: the tier's */
  BaseNum variation; /* deviation of a batch's read time over its mean */
  TrnStageSpec stage;
  BaseEnum epoch;    /* TrnEpoch, of a tier that caches another one */
} TrnLoaderSpec;
extern const BaseSchema trn_schema_loader;

/* What staging takes, and when it has paid. Names are borrowed. */
typedef struct {
  gboolean set;
  const char *from, *how;
  double nodes, node_B; /* B that each holds */
  double time_s;
  double direct_s; /* that a step would wait for data from where it is */
  double saved_s;  /* of a step, by reading drives */
  double epoch_steps;
  double epochs;     /* that it takes to pay; NAN: it never does */
  char bound_by[16]; /* "read", "drives", "peers" */
} TrnStageResult;

/* What a tier that caches another one is worth, each step's stall beside the others'. Names are borrowed. */
typedef struct {
  gboolean set;
  const char *of;
  double hits;                     /* of reads, from the second epoch on */
  double set_B;                    /* of all nodes, in an epoch */
  double first_s, later_s, direct_s; /* that a step waits: in the first epoch, in later ones, reading from the other tier */
  double saved_s;                  /* of a later step */
  double epoch_steps;
  double epochs;                   /* from which on it has saved time; NAN: it never does */
  double rent_usd, saved_usd;      /* of a later epoch: rent of the cache; rent of nodes not needed. NAN: not known */
} TrnCacheResult;

/* What one micro-batch of a rank takes in each stage of the pipeline, s, and what the step waits. */
typedef struct {
  gboolean set;
  const char *tier;   /* borrowed */
  double readers;     /* ranks that read */
  double batch_B;     /* of a reader and micro-batch, stored */
  double batches;     /* micro-batches of a step */
  double hits;        /* of reads, by the page cache */
  double gpu_s;       /* that the GPU decodes a batch; 0: workers do */
  double broadcast_s; /* of a batch from the tensor rank that reads to the others */
  double demand_Bps;  /* of all, were there no stall */
  double read_s;      /* by one worker, others beside it */
  double decode_s, pin_s, copy_s;
  double storage_s, network_s; /* least time between two batches of a reader: tier; links on the way */
  double core_s;               /* of the cores of a node, in a step */
  double workers_s, cores_s;   /* likewise: its workers; cores of its node */
  double batch_s;              /* what compute takes of one */
  double stall_s;              /* that a step waits, once the pipeline runs evenly */
  double slows_s;              /* that its reads slow the step's own traffic, besides */
  double respawn_s;            /* that an epoch's begin costs: new workers, and their first batches */
  double epoch_steps;          /* where an epoch's begin costs anything */
  double first_s;              /* before the first step */
  char starved_by[16];         /* "storage", "network", "workers", "cores", "copy"; "" where nothing stalls */
  char bound_by[64];           /* storage's own bound */
  TrnStageResult stage;
  double fetched;              /* of reads, by a tier that caches another one; 0: none */
  TrnCacheResult cache;
  BaseSource source;
} TrnLoaderResult;

#endif
