/* Reads and writes of storage, alone: what a workload of kind `io` asks, and what it comes to. */
#ifndef STORAGE_IO_H
#define STORAGE_IO_H

#include "cluster/storage.h"
#include "collective/net.h"
#include "collective/system.h"
#include "models/tier.h"

/* Between storage and what; AUTO: a GPU, straight where that works. */
typedef enum { STO_IO_AUTO, STO_IO_HOST, STO_IO_GDS, STO_IO_BOUNCE } StoIoPath;
extern const BaseName sto_io_path_names[];

/* Who unpacks what is stored compressed. */
typedef enum { STO_DECODE_CPU, STO_DECODE_GPU, STO_DECODE_ENGINE } StoDecode;

typedef struct {
  BaseHead head;
  BaseNum ratio; /* bytes unpacked over bytes stored */
  BaseEnum by;   /* StoDecode */
  BaseNum rate;  /* B/s unpacked: of one core, or of one GPU */
} StoCompressionSpec;

typedef struct {
  BaseHead head;
  BaseEnum kind;
  BaseEnum op; /* MdlIoOp */
  BaseStr tier;
  BaseNum bytes; /* of all clients */
  BaseNum io_size;
  BaseNum threads, queue_depth; /* of a client */
  BaseNum clients;
  BaseEnum path;        /* StoIoPath */
  BaseEnum access;      /* 0 sequential, 1 random */
  BaseEnum cache;       /* MdlCache */
  BaseNum read_ahead;   /* B; absent: the tier's */
  BaseNum dataset;      /* B that are read over and over; default: bytes of a client */
  BaseNum file_size;    /* files are opened one by one; absent: open already */
  BaseEnum file;        /* 0 own, 1 shared */
  BaseNum stripe_count; /* targets of a file */
  StoCompressionSpec compression;
  BaseNum fetched; /* fraction of reads that a tier which caches another one lacks */
} StoIoSpec;
extern const BaseSchema sto_schema_io, sto_schema_compression;

/* Names are borrowed from the scenario. */
typedef struct {
  const char *tier, *type; /* type NULL: written in place */
  const char *tier_kind;
  MdlTierKind kind;
  MdlIoOp op;
  const char *path; /* resolved: "host", "gds", "bounce" */
  double bytes, io_B, threads, depth, clients, in_flight;
  double time_s, time_lo_s, time_hi_s;
  double rate_Bps, client_rate_Bps; /* of all, of one; unpacked bytes */
  double iops, request_s;           /* of all; of one request, queues included */
  double part_s[4];                 /* by MdlIoBound, of request_s */
  double own_Bps;                   /* of a client, by what it has in flight: beside the links */
  double link_Bps;                  /* that links, cores and decoders leave one client */
  double cores;                     /* of a node, that are busy */
  double hits;                      /* of reads, by the page cache */
  double opens_per_s;
  double burst_s;              /* on credits; 0: none */
  double burst_Bps, after_Bps; /* a client, before and after */
  double targets, servers;     /* that the files lie on */
  double stored;               /* bytes on the servers' drives for one that is written */
  char *bottleneck;            /* owned; NULL: what it has in flight */
  char bound_by[64];
  CluRoute route; /* of the first client, from storage or to it; of striped drives the first's */
  BaseSource provenance;
} StoIoResult;

/* Whether the system has what `spec` asks for. FALSE and *error, with the place. */
gboolean sto_check_io (const ColSystem *system, const StoIoSpec *spec, GError **error);
/* Reads or writes alone, in the mode of the system's settings. `out` is zeroed by the caller, and cleared by it. */
gboolean sto_run_io (const ColSystem *system, const StoIoSpec *spec, StoIoResult *out, ColRunInfo *info, GError **error);
/* The same without a report; `net` is run, and counts. */
gboolean sto_io_price (const ColSystem *system, const StoIoSpec *spec, ColNet *net, StoIoResult *out, guint64 *n_events,
                       GError **error);
void sto_io_result_clear (StoIoResult *result);

#endif
