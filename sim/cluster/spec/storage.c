/* Schema tables of storage: types of tiers, and a tier of a topology. docs/topology.md is printed from these rows. */
#include <math.h>
#include <string.h>

#include "models/tier_cache.h"
#include "spec/params-private.h"

static const BaseName network_names[] = {
  { "frontend", 0, "the front-end network" },
  { "fabric", 1, "the fabric of the GPUs' NICs" },
  { NULL, 0, NULL },
};

static const BaseField side_fields[] = {
  CLU_RATE (MdlTierSide, rate, .help = "rate of one server; default: limited by its targets only"),
  CLU_RATE (MdlTierSide, target, .help = "rate of one target (OST, drive); default: no limit"),
  CLU_RATE (MdlTierSide, client, .help = "rate of one client, in addition to its network's limit; default: no limit"),
  CLU_RATE (MdlTierSide, stream, .help = "rate of one request at a time, after its latency; default: no limit"),
  CLU_NUM (MdlTierSide, iops, FREQUENCY, .min = "0.001 Hz", .help = "small requests per second of one server"),
  CLU_NUM (MdlTierSide, client_iops, FREQUENCY, .min = "0.001 Hz", .help = "small requests per second of one client"),
  CLU_NUM (MdlTierSide, latency, TIME, .max = "1000 s",
           .help = "latency of one small request alone (time to first byte of an object)"),
  CLU_NUM (MdlTierSide, random_iops, FREQUENCY, .min = "0.001 Hz",
           .help = "small requests per second of one server at random offsets; default: `iops`"),
  CLU_NUM (MdlTierSide, random_latency, TIME, .max = "1000 s", .help = "latency at random offsets; default: `latency`"),
  BASE_ROW_END,
};
static const BaseSchema side_schema = { .name = "storage_type.read",
                                        .help = "Reads; `write` takes the same keys.",
                                        .fields = side_fields };

static const BaseField stripe_fields[] = {
  CLU_NUM (MdlTierStripe, count, COUNT, .min = "1", .max = "1000000", .help = "targets per file; default: all"),
  CLU_NUM (MdlTierStripe, size, BYTES, .min = "1 B", .help = "bytes on one target before the next"),
  BASE_ROW_END,
};
static const BaseSchema stripe_schema = { .name = "storage.stripe",
                                          .help = "Striping of files over targets.",
                                          .fields = stripe_fields };

static const BaseName reads_names[] = { { "any", 0, "any replica, so that a hot file uses the targets of all" },
                                        { "first", 1, "the first replica only" },
                                        { NULL, 0, NULL } };
static const BaseField redundancy_fields[] = {
  CLU_NUM (MdlTierRedundancy, replicas, COUNT, .min = "1", .max = "64",
           .help = "copies of each byte; instead of `data` and `parity`"),
  CLU_NUM (MdlTierRedundancy, data, COUNT, .min = "1", .max = "1024", .help = "data parts of an erasure-coded stripe"),
  CLU_NUM (MdlTierRedundancy, parity, COUNT, .min = "0", .max = "64", .help = "parity parts of an erasure-coded stripe"),
  CLU_ROW (MdlTierRedundancy, sent_by, ENUM, .names = mdl_copies_by_names, .fallback = "servers",
           .help = "sender of copies or parts to the other servers"),
  CLU_ROW (MdlTierRedundancy, reads, ENUM, .names = reads_names, .fallback = "any", .help = "replica that is read"),
  BASE_ROW_END,
};
static const BaseSchema redundancy_schema = { .name = "storage.redundancy",
                                              .help = "Replicas or erasure coding of written data.",
                                              .fields = redundancy_fields };

static const BaseField metadata_fields[] = {
  CLU_NUM (MdlTierMetadata, servers, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "metadata servers"),
  CLU_NUM (MdlTierMetadata, rate, FREQUENCY, .min = "0.001 Hz", .help = "operations per second of one server"),
  CLU_NUM (MdlTierMetadata, latency, TIME, .max = "1000 s", .fallback = "0", .help = "latency of one operation"),
  CLU_NUM (MdlTierMetadata, per_file, NUMBER, .min = "0", .max = "1000", .fallback = "1",
           .help = "operations per file: open, stat, close"),
  BASE_ROW_END,
};
static const BaseSchema metadata_schema = { .name = "storage_type.metadata",
                                            .help = "Cost of finding and opening files.",
                                            .fields = metadata_fields };

static const BaseField burst_fields[] = {
  CLU_RATE (MdlTierBurst, rate, .help = "rate of one server while credits last; default: no burst"),
  CLU_NUM (MdlTierBurst, iops, FREQUENCY, .min = "0.001 Hz", .help = "requests per second of one server while credits last"),
  CLU_NUM (MdlTierBurst, credit, BYTES, .help = "full credit of one server: bytes above the sustained rate"),
  CLU_NUM (MdlTierBurst, io_credit, COUNT, .help = "full credit of one server: requests above the sustained IOPS"),
  BASE_ROW_END,
};
static const BaseSchema burst_schema = { .name = "storage_type.burst",
                                         .help = "Burst credits of cloud volumes.",
                                         .fields = burst_fields };

static const BaseField type_fields[] = {
  BASE_ROW (MdlTierType, "storage_type", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (MdlTierType, product, STR, .help = "the vendor's name"),
  CLU_ROW (MdlTierType, kind, ENUM, .names = mdl_tier_names, .required = TRUE, .help = "kind of tier"),
  BASE_ROW (MdlTierType, "read", side[MDL_IO_READ], MAP, .sub = &side_schema, .required = TRUE, .help = "reads"),
  BASE_ROW (MdlTierType, "write", side[MDL_IO_WRITE], MAP, .sub = &side_schema, .required = TRUE, .help = "writes"),
  CLU_NUM (MdlTierType, efficiency, RATIO, .min = "0.001", .max = "1", .fallback = "1",
           .help = "fraction of the sum of its servers' or targets' rates that is reached"),
  CLU_NUM (MdlTierType, targets, COUNT, .min = "1", .max = "100000", .help = "targets per server; default: 1"),
  CLU_MAP (MdlTierType, stripe, stripe_schema, "striping of files over targets"),
  CLU_MAP (MdlTierType, redundancy, redundancy_schema,
           "redundancy already included in the `write` rates; default: none, the rates are of drives and NICs"),
  CLU_MAP (MdlTierType, metadata, metadata_schema, "cost of opening files"),
  CLU_MAP (MdlTierType, burst, burst_schema, "burst credits"),
  CLU_ROW (MdlTierType, gds, ENUM, .names = mdl_gds_names, .fallback = "no",
           .help = "whether its client supports GPUDirect Storage"),
  CLU_RATE (MdlTierType, core,
            .help = "rate at which one client core moves data through the host (protocol, copies); default: no cost"),
  CLU_NUM (MdlTierType, io_size, BYTES, .min = "1 B", .fallback = "1 MiB",
           .help = "request size if the workload does not set one (range of an object)"),
  CLU_NUM (MdlTierType, merge, BYTES, .min = "1 B",
           .help = "size up to which consecutive requests count as one towards `iops`; default: each counts"),
  CLU_NUM (MdlTierType, read_ahead, BYTES, .min = "1 B",
           .help = "bytes that its client reads ahead of a sequential reader through the page cache; default: 128 KiB (Linux)"),
  CLU_NUM (MdlTierType, blend, NUMBER, .min = "1", .max = "16",
           .help = "exponent p of the [queue formula](storage.md#time-of-a-request); default: from the calibration"),
  CLU_NUM (MdlTierType, error, RATIO, .max = "10", .help = "half-width of the error band of its predictions"),
  CLU_NUM (MdlTierType, power, POWER, .help = "power of one server with its drives; used by plans"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_storage_type = { .name = "storage_type",
                                             .help =
                                                 "A type of storage outside the nodes. One file per type in topologies/storage.",
                                             .fields = type_fields };

static const BaseField cache_fields[] = {
  CLU_ROW (CluStorageCacheSpec, of, STR, .required = TRUE, .help = "name of the tier that holds all data"),
  CLU_NUM (CluStorageCacheSpec, capacity, BYTES, .min = "1 B", .max = "1000 EB",
           .help = "bytes that it holds; default: all data fit"),
  CLU_NUM (CluStorageCacheSpec, fetch, BYTES, .min = "1 B", .max = "1 TB",
           .help = "bytes of one fetch; default: `io_size` of the other tier's type"),
  CLU_NUM (CluStorageCacheSpec, in_flight, COUNT, .min = "1", .max = "1 M", .fallback = "64",
           .help = "fetches of one server at a time (the default is assumed)"),
  CLU_ROW (CluStorageCacheSpec, keep, ENUM, .names = mdl_keep_names, .fallback = "recent", .help = "what a full cache keeps"),
  CLU_NUM (CluStorageCacheSpec, rent, MONEY_PER_TIME, .help = "rent of one TB of it, for what it costs and saves"),
  BASE_ROW_END,
};
static const BaseSchema cache_schema = { .name = "storage.cache",
                                         .help = "The tier holds a part of another one, and fetches what it lacks.",
                                         .fields = cache_fields };

static const BaseField storage_fields[] = {
  CLU_ROW (CluStorageSpec, name, STR, .required = TRUE, .help = "name; workloads write `storage.NAME`"),
  CLU_ROW (CluStorageSpec, type, REF, .sub = &clu_schema_storage_type, .item_size = sizeof (MdlTierType),
           .folder = "topologies/storage", .help = "storage type"),
  CLU_ROW (CluStorageSpec, tier, ENUM, .names = mdl_tier_names, .help = "kind of storage; default: the type's"),
  CLU_NUM (CluStorageSpec, servers, COUNT, .min = "1", .max = "1000000", .fallback = "1", .help = "number of servers"),
  CLU_RATE (CluStorageSpec, per_server, .help = "rate of one server, one direction; default: the type's"),
  CLU_RATE (CluStorageSpec, write_per_server, .help = "write rate of one server; default: `per_server`, else the type's"),
  CLU_NUM (CluStorageSpec, latency, TIME, .max = "10 s", .help = "latency of a request at the server; default: the type's"),
  CLU_NUM (CluStorageSpec, targets, COUNT, .min = "1", .max = "100000", .help = "targets per server; default: the type's"),
  CLU_MAP (CluStorageSpec, stripe, stripe_schema, "striping of files over targets; default: the type's"),
  CLU_MAP (CluStorageSpec, redundancy, redundancy_schema, "replicas or erasure coding; default: the type's"),
  CLU_ROW (CluStorageSpec, network, ENUM, .names = network_names, .fallback = "frontend",
           .help = "network that connects it to the nodes"),
  CLU_MAP (CluStorageSpec, cache, cache_schema, "a cache of another tier: FSx over S3"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_storage = { .name = "storage", .help = "A storage tier outside the nodes.", .fields = storage_fields };

static void
take (BaseNum *num, const BaseNum *from)
{
  if (from->set)
    *num = *from;
}

void
clu_tier_resolve (const CluStorageSpec *spec, MdlTier *out)
{
  memset (out, 0, sizeof *out);
  if (spec->type.value != NULL)
    out->type = *(const MdlTierType *)spec->type.value;
  if (spec->type.value == NULL || spec->tier.set)
    out->type.kind = spec->tier;
  out->servers = fmax (spec->servers.v, 1);
  for (int op = 0; op < MDL_IO_OP_N; op++) {
    take (&out->type.side[op].rate, &spec->per_server);
    take (&out->type.side[op].latency, &spec->latency);
  }
  take (&out->type.side[MDL_IO_WRITE].rate, &spec->write_per_server);
  take (&out->type.targets, &spec->targets);
  take (&out->type.stripe.count, &spec->stripe.count);
  take (&out->type.stripe.size, &spec->stripe.size);
  out->redundancy = spec->redundancy;
}
