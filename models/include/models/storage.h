/* Reads and writes of storage: what requests of one size at a time, so many in flight, take.
 *
 *     T = ((o / N)^p + d^p)^(1/p),  o = latency + block / stream,  d = 1 / iops + block / rate;  N T for one of N in flight
 *
 * Interface: MdlStorage are constants (section `storage` of a calibration); a
 * question is a block size, how many requests are in flight, direction, pattern and path; the answer has the rate of all of them
 * together, the time of one, and what bounds it. */
#ifndef MODELS_STORAGE_H
#define MODELS_STORAGE_H

#include "base/schema.h"

typedef enum { MDL_IO_READ, MDL_IO_WRITE, MDL_IO_OP_N } MdlIoOp;
extern const BaseName mdl_io_op_names[];

/* Between storage and what. */
typedef enum {
  MDL_IO_HOST,   /* the host's memory */
  MDL_IO_CUFILE, /* a GPU's memory, straight (GPUDirect Storage) */
  MDL_IO_BOUNCE, /* a GPU's memory by way of the host's */
  MDL_IO_PATH_N
} MdlIoPath;
extern const BaseName mdl_io_path_names[];

typedef struct {
  BaseHead head;
  BaseNum latency;        /* s, of one small request alone */
  BaseNum iops;           /* 1/s, of small requests, any number in flight */
  BaseNum random_latency; /* the same at random offsets; absent: as one after the other */
  BaseNum random_iops;
  BaseNum stream;         /* B/s of one request at a time, beyond its latency */
  BaseNum rate;           /* B/s of all together */
} MdlIoSide;

/* What a path to the GPU adds. */
typedef struct {
  BaseHead head;
  BaseNum latency; /* s a request; absent: 0 */
  BaseNum stream;  /* B/s of its second leg, after the first; absent: there is none */
  BaseNum rate;    /* B/s of all together, where that is less than the storage's */
} MdlIoRoute;

/* What software that writes checkpoints takes beside the copies and the storage, B/s of one rank's state. */
typedef struct {
  BaseHead head;
  BaseNum stage;      /* that a rank waits for where it saves beside training: tensors into buffers of the host */
  BaseNum save;       /* packed and handed to files */
  BaseNum load;       /* found, unpacked, put in place */
  BaseNum background; /* what a save takes beside training over one that training waits for */
} MdlSaveSpec;

typedef struct MdlStorage {
  BaseHead head;
  BaseNum error;             /* half-width of the 90 % band */
  MdlIoSide op[MDL_IO_OP_N];
  BaseNum blend;             /* p: how one request's own time and the device's bend into each other; large: a corner */
  MdlIoRoute cufile, bounce;
  BaseNum core;              /* B/s that one core of the host copies between two buffers */
  MdlSaveSpec checkpoint;    /* torch.distributed.checkpoint */
  BaseNum cache;             /* part of the host's memory that its page cache may take */
} MdlStorage;

typedef struct {
  MdlIoOp op;
  MdlIoPath path;
  gboolean random;
  double block_B;   /* of one request */
  double in_flight; /* requests at a time: threads x depth; at least 1 */
} MdlIoQuestion;

typedef enum { MDL_IO_BY_LATENCY, MDL_IO_BY_IOPS, MDL_IO_BY_STREAM, MDL_IO_BY_RATE } MdlIoBound;
extern const char *const mdl_io_bound_names[];

typedef struct {
  double rate_Bps;  /* of all together */
  double iops;      /* likewise */
  double time_s;    /* of one request, from its start to its end */
  double part_s[4]; /* by MdlIoBound: of that time; they sum to it */
  MdlIoBound bound; /* the largest part */
  double band;      /* half-width, relative */
  BaseSource source;
} MdlIoCost;

void mdl_storage_cost (const MdlStorage *storage, const MdlIoQuestion *question, MdlIoCost *cost);

#endif
