/* What the NCCL section measures: operations, sizes, settings; and how a parent and its worker name a case on a line. Pure. */
#ifndef FORERUN_PROBE_PLAN_H
#define FORERUN_PROBE_PLAN_H

#include "probe_options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  PROBE_OP_ALL_REDUCE,
  PROBE_OP_ALL_GATHER,
  PROBE_OP_REDUCE_SCATTER,
  PROBE_OP_BROADCAST,
  PROBE_OP_REDUCE,
  PROBE_OP_ALLTOALL,
  PROBE_OP_SENDRECV,
  PROBE_OP_N
} ProbeOp;

typedef enum { PROBE_LAUNCH_GRAPH, PROBE_LAUNCH_THREADS, PROBE_LAUNCH_SERIAL, PROBE_LAUNCH_N } ProbeLaunch;

/* A case as the worker gets it. */
typedef struct {
  ProbeOp op;
  size_t bytes;         /* as asked; what runs is probe_op_bytes */
  unsigned nodes, gpus; /* gpus of each node; together at least two */
  ProbeLaunch launch;
  bool in_place;
  unsigned channels; /* 0: as many as NCCL likes */
  bool choice;       /* run it once and say what NCCL chose, instead of timing it */
  double target, share_s;
} ProbeRequest;

/* Of all nodes. */
unsigned probe_request_ranks (const ProbeRequest *request);

const char *probe_op_name (unsigned op);         /* NULL beyond the last */
const char *probe_launch_name (unsigned launch); /* likewise */

/* Elements of 4 bytes that each rank gives per peer (gather, scatter, all-to-all), or in all: as nccl-tests counts them, in whole
 * 16 bytes where the buffer is divided. 0: too small for so many ranks. */
size_t probe_op_count (ProbeOp op, size_t bytes, unsigned ranks);
/* The size that this is: of the larger of a rank's two buffers. */
size_t probe_op_bytes (ProbeOp op, size_t bytes, unsigned ranks);

/* Sizes from 1 KiB to 1 GiB by 2^step, coarse ones (by 2^coarse) first; returns how many. */
#define PROBE_SIZES_MOST 21
size_t probe_sizes (unsigned step, unsigned coarse, size_t out[PROBE_SIZES_MOST]);
/* 2, n, then powers of two below n and 3 where n >= 4; the most valuable first. Returns how many (at most 16). */
#define PROBE_COUNTS_MOST 16
size_t probe_gpu_counts (unsigned n, unsigned out[PROBE_COUNTS_MOST]);

/* So many nodes with so many GPUs each. */
typedef struct {
  unsigned nodes, gpus;
} ProbeShape;
/* All and two nodes with all their GPUs, then with one; then the powers of two between, likewise; then one node with all. The most
 * valuable first, each once, none of a single GPU. Returns how many; the first `*n_first` are those of all and of two nodes. */
#define PROBE_SHAPES_MOST 32
size_t probe_shapes (unsigned nodes, unsigned gpus, ProbeShape out[PROBE_SHAPES_MOST], size_t *n_first);

/* One line without its end, and back. */
bool probe_request_write (const ProbeRequest *request, char *out, size_t size);
bool probe_request_read (const char *line, ProbeRequest *out);

/* Answers: "ok K S1 S2 …", K operations in a row each. Returns how many samples, 0 where it is no such line. */
size_t probe_answer_read (const char *line, unsigned *in_a_row, double *out, size_t most);

/* NCCL's debug log: what it chose, "AllReduce: 1048576 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..23}" and older forms
 * ("4096 Bytes -> Algo 1 proto 0 time 12.3"). */
typedef struct {
  char algo[24], proto[16]; /* in lower case */
  int channels;             /* -1: the line does not say */
} ProbeChoice;
bool probe_choice_read (const char *line, ProbeChoice *out);

/* "join NODES GPUS CHANNELS RANK ID": the worker is RANK of a communicator; ID is 128 bytes in hexadecimal digits. */
#define PROBE_ID_BYTES 128
typedef struct {
  unsigned nodes, gpus, channels, rank;
  unsigned char id[PROBE_ID_BYTES];
} ProbeJoin;
bool probe_join_write (const ProbeJoin *join, char *out, size_t size);
bool probe_join_read (const char *line, ProbeJoin *out);
/* "drop NODES GPUS CHANNELS", in the same fields. */
bool probe_drop_write (const ProbeJoin *join, char *out, size_t size);
bool probe_drop_read (const char *line, ProbeJoin *out);
/* "id HEX". */
bool probe_id_write (const unsigned char id[PROBE_ID_BYTES], char *out, size_t size);
bool probe_id_read (const char *line, unsigned char out[PROBE_ID_BYTES]);

#ifdef __cplusplus
}
#endif
#endif
