/* Checkpoints of a training run: what a save stops, how long it drains, what a restore takes. */
#ifndef TRAINING_CHECKPOINT_H
#define TRAINING_CHECKPOINT_H

#include "base/schema.h"

typedef enum { TRN_SAVE_SYNC, TRN_SAVE_ASYNC } TrnSaveMode;
typedef enum { TRN_SHARDS_ALL, TRN_SHARDS_REPLICA, TRN_SHARDS_RANK0 } TrnShards;

typedef struct {
  BaseHead head;
  BaseNum every;                 /* steps; absent: the best for goodput is searched */
  BaseStr copy;                  /* of a checkpoint on the nodes' drives: "peer", or a tier; absent: none */
  BaseStr tier;                  /* absent: stall, drain and restore are given */
  BaseNum stall, drain, restore; /* s */
  BaseEnum mode;                 /* TrnSaveMode */
  BaseEnum shards;               /* TrnShards: who writes */
  BaseEnum software;             /* 0 dcp, 1 raw: copies and storage alone */
  BaseEnum memory;               /* of the snapshot: 0 pinned, 1 pageable */
  BaseEnum path;                 /* 0 host, 1 gds: straight from the GPU, sync alone */
  BaseNum bytes;                 /* of the state; default: the model's */
  BaseNum restore_bytes;         /* that all ranks hold of it together; default: the model's, else bytes x dp */
  BaseNum io_size, threads;      /* of a writer */
} TrnCheckpointSpec;
extern const BaseSchema trn_schema_checkpoint;
extern const BaseName trn_save_mode_names[], trn_shards_names[];

/* Times of one checkpoint, s. What training loses to failures needs three: stall_s, drain_s, restore_s. */
typedef struct {
  gboolean set;
  TrnSaveMode mode;
  TrnShards shards;
  const char *tier;      /* borrowed from the scenario */
  double every;          /* steps */
  double state_B;        /* each parameter and moment once */
  double restore_B;      /* that all ranks read back */
  double writers;        /* ranks that write */
  double writer_B;       /* of one */
  double snapshot_s;     /* GPU to host, all writers of a node at once */
  double write_s;        /* to the tier, links and servers alone */
  double software_s;     /* packing */
  double gather_s;       /* before it: all to the one rank that writes */
  double staged_s;       /* an asynchronous one's copy by the software, beside the snapshot */
  double stall_s;        /* that every step stands still at a checkpoint */
  double drain_s;        /* after that, until it is safe, beside training; 0 where it is waited for */
  double drain_alone_s;  /* the same were nothing beside it */
  double slow_steps;     /* steps that it slows, the last in part … */
  double slow_step_s;    /* … what each of them takes … */
  double slowed_s;       /* … and what all of them lose */
  double wait_s;         /* of stall_s: the one before had not drained */
  const char *copy;      /* where else it is; NULL: nowhere. Borrowed */
  double copy_s;         /* of write_s's time: what the copy takes, beside the writes */
  double read_s, load_s; /* a restore's storage; copies to the GPUs */
  double fetch_s;        /* that a restore takes longer where a node was replaced: its part comes from the copy */
  double restore_s;
  double suspend_s, resume_s; /* all of the GPUs' memory to the host and back (CUDA's process checkpoint); 0: not known */
  double node_B;              /* that a snapshot takes of a node's memory */
  double overhead;            /* stall and what steps lose to the drain, over the time between two */
  char bound_by[64];          /* the slowest leg of a save */
  BaseSource source;
} TrnCheckpointResult;

#endif
