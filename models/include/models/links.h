/* What was measured of a node's links and copies: how copiers behave, and what links reach in place of their class's figures.
 * Filled by calibrate/ (section `links` of a calibration), laid over a cluster by clu_links_set. Absent numbers: the topology's. */
#ifndef MODELS_LINKS_H
#define MODELS_LINKS_H

#include "base/schema.h"
#include "models/transfer.h"

/* One kind of copy. */
typedef struct {
  BaseHead head;
  BaseNum start;  /* s, launched and waited for, the route's latency apart */
  BaseNum queued; /* s, behind others of its kind: all that the bytes do not take; absent: as waited for */
  BaseNum rate;   /* B/s of the copier; absent: the route's */
  BaseNum wire;   /* link bytes per byte; of kernels relative to what their writes reach; absent: 1 */
  BaseNum reverse_traffic; /* bytes the other way per byte: what a read asks for; absent: 0 */
  BaseNum
      contention; /* k copies at once out of one device (pageable: of one host) each take 1 + contention (1 - 1/k) times as long */
  BaseNum cached; /* so many times `rate` while the CPU's cache holds what it moves; absent: 1 */
  BaseNum cache;  /* B of that cache */
  BaseNum block;  /* B of a first block that crosses the route before the copier has any; absent: 0 */
} MdlCopySpec;

typedef struct {
  BaseHead head;
  MdlCopySpec at[MDL_COPY_N];
} MdlCopies;

/* Of the links of one kind, in place of what the class and the topology say; single links that `overrides.links` changes keep
 * theirs. */
typedef struct {
  BaseHead head;
  BaseNum efficiency, sm_efficiency; /* of the specified rate: by copy engines, by kernels' writes */
  BaseNum latency;                   /* s, one crossing */
  BaseNum duplex;                    /* both ways together over twice one way */
  BaseNum rdma_efficiency, rdma_duplex; /* the same where a NIC reads and writes a GPU's memory: of PCIe */
} MdlLinkConstants;

/* A socket's memory as copies see it, B/s: read, written, both together. */
typedef struct {
  BaseHead head;
  BaseNum read, write, both;
} MdlHostRates;

struct MdlLinks {
  BaseHead head;
  BaseNum error;           /* half-width of the band of a copy's time; absent: by size, as the library's */
  MdlCopies copies;
  MdlLinkConstants scale_up; /* between GPUs of a node */
  MdlLinkConstants pcie;     /* of the class that GPUs' slots have */
  MdlLinkConstants network;  /* cables of NICs, with half of the switch at their end, and the fabric's cables of the same class */
  MdlHostRates host;
};

#endif
