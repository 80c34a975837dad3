/* Schema tables of storage: types of tiers, and a tier of a topology. docs/topology.md is printed from these rows. */
#include <math.h>
#include <string.h>

#include "spec/params-private.h"

static const BaseName network_names[] = {
  { "frontend", 0, "the nodes' front-end adapters" },
  { "fabric", 1, "the fabric that the GPUs' NICs are on" },
  { NULL, 0, NULL },
};

static const BaseField side_fields[] = {
  CLU_RATE (MdlTierSide, "rate", rate, .help = "one server; default: no limit but its targets"),
  CLU_RATE (MdlTierSide, "target", target, .help = "one target (OST, drive); default: no limit"),
  CLU_RATE (MdlTierSide, "client", client, .help = "one client, beside what its network carries; default: no limit"),
  CLU_RATE (MdlTierSide, "stream", stream, .help = "one request at a time, beyond its latency; default: no limit"),
  BASE_ROW_NUM (MdlTierSide, "iops", iops, FREQUENCY, .min = "0.001 Hz", .help = "small requests a second of one server"),
  BASE_ROW_NUM (MdlTierSide, "client_iops", client_iops, FREQUENCY, .min = "0.001 Hz",
                .help = "small requests a second of one client"),
  BASE_ROW_NUM (MdlTierSide, "latency", latency, TIME, .max = "1000 s", .help = "one small request alone (an object's first byte)"),
  BASE_ROW_END,
};
static const BaseSchema side_schema = { .name = "storage_type.read",
                                        .help = "Reads; `write` takes the same keys.",
                                        .fields = side_fields };

static const BaseField stripe_fields[] = {
  BASE_ROW_NUM (MdlTierStripe, "count", count, COUNT, .min = "1", .max = "1000000",
                .help = "targets that a file lies on; default: all"),
  BASE_ROW_NUM (MdlTierStripe, "size", size, BYTES, .min = "1 B", .help = "on one target before the next"),
  BASE_ROW_END,
};
static const BaseSchema stripe_schema = { .name = "storage.stripe", .help = "How files lie on targets.", .fields = stripe_fields };

static const BaseName reads_names[] = { { "any", 0, "any replica: a hot file has the targets of all" },
                                        { "first", 1, "the first one alone" },
                                        { NULL, 0, NULL } };
static const BaseField redundancy_fields[] = {
  BASE_ROW_NUM (MdlTierRedundancy, "replicas", replicas, COUNT, .min = "1", .max = "64", .help = "copies of each byte; or:"),
  BASE_ROW_NUM (MdlTierRedundancy, "data", data, COUNT, .min = "1", .max = "1024",
                .help = "data parts of a stripe, erasure coded …"),
  BASE_ROW_NUM (MdlTierRedundancy, "parity", parity, COUNT, .min = "0", .max = "64", .help = "… and parity parts beside them"),
  BASE_ROW (MdlTierRedundancy, "sent_by", sent_by, ENUM, .names = mdl_copies_by_names, .fallback = "servers",
            .help = "who sends copies or parts to the other servers"),
  BASE_ROW (MdlTierRedundancy, "reads", reads, ENUM, .names = reads_names, .fallback = "any", .help = "which replica is read"),
  BASE_ROW_END,
};
static const BaseSchema redundancy_schema = { .name = "storage.redundancy",
                                              .help = "Copies of what is written, or parity beside it.",
                                              .fields = redundancy_fields };

static const BaseField metadata_fields[] = {
  BASE_ROW_NUM (MdlTierMetadata, "servers", servers, COUNT, .min = "1", .max = "100000", .fallback = "1",
                .help = "metadata servers"),
  BASE_ROW_NUM (MdlTierMetadata, "rate", rate, FREQUENCY, .min = "0.001 Hz", .help = "operations a second of one of them"),
  BASE_ROW_NUM (MdlTierMetadata, "latency", latency, TIME, .max = "1000 s", .fallback = "0", .help = "of one operation"),
  BASE_ROW_NUM (MdlTierMetadata, "per_file", per_file, NUMBER, .min = "0", .max = "1000", .fallback = "1",
                .help = "operations a file: open, stat, close"),
  BASE_ROW_END,
};
static const BaseSchema metadata_schema = { .name = "storage_type.metadata",
                                            .help = "What finding and opening files costs.",
                                            .fields = metadata_fields };

static const BaseField burst_fields[] = {
  CLU_RATE (MdlTierBurst, "rate", rate, .help = "one server, while credits last; default: no more than without"),
  BASE_ROW_NUM (MdlTierBurst, "iops", iops, FREQUENCY, .min = "0.001 Hz", .help = "likewise, requests a second"),
  BASE_ROW_NUM (MdlTierBurst, "credit", credit, BYTES, .help = "bytes beyond the lasting rate, of one server, when full"),
  BASE_ROW_NUM (MdlTierBurst, "io_credit", io_credit, COUNT, .help = "requests beyond the lasting IOPS, of one server, when full"),
  BASE_ROW_END,
};
static const BaseSchema burst_schema = { .name = "storage_type.burst",
                                         .help = "More for a while, out of credits (cloud volumes).",
                                         .fields = burst_fields };

static const BaseField type_fields[] = {
  BASE_ROW (MdlTierType, "storage_type", name, STR, .required = TRUE, .help = "name of the type"),
  BASE_ROW (MdlTierType, "product", product, STR, .help = "the vendor's name"),
  BASE_ROW (MdlTierType, "kind", kind, ENUM, .names = mdl_tier_names, .required = TRUE, .help = "kind of tier"),
  BASE_ROW (MdlTierType, "read", side[MDL_IO_READ], MAP, .sub = &side_schema, .required = TRUE, .help = "reads"),
  BASE_ROW (MdlTierType, "write", side[MDL_IO_WRITE], MAP, .sub = &side_schema, .required = TRUE, .help = "writes"),
  BASE_ROW_NUM (MdlTierType, "efficiency", efficiency, RATIO, .min = "0.001", .max = "1", .fallback = "1",
                .help = "what of the rates of its servers, or targets, all together reach"),
  BASE_ROW_NUM (MdlTierType, "targets", targets, COUNT, .min = "1", .max = "100000", .help = "of one server; default: 1"),
  BASE_ROW (MdlTierType, "stripe", stripe, MAP, .sub = &stripe_schema, .help = "how files lie on targets"),
  BASE_ROW (MdlTierType, "redundancy", redundancy, MAP, .sub = &redundancy_schema,
            .help = "that its figures of `write` have in them; default: none, they are of drives and adapters"),
  BASE_ROW (MdlTierType, "metadata", metadata, MAP, .sub = &metadata_schema, .help = "opening files"),
  BASE_ROW (MdlTierType, "burst", burst, MAP, .sub = &burst_schema, .help = "credits"),
  BASE_ROW (MdlTierType, "gds", gds, ENUM, .names = mdl_gds_names, .fallback = "no",
            .help = "whether GPUDirect Storage works with its client"),
  CLU_RATE (MdlTierType, "core", core,
            .help = "what one core of a client moves by way of its host (protocol, copies); default: no cost"),
  BASE_ROW_NUM (MdlTierType, "io_size", io_size, BYTES, .min = "1 B", .fallback = "1 MiB",
                .help = "of a request where the workload does not say (an object's range)"),
  BASE_ROW_NUM (MdlTierType, "blend", blend, NUMBER, .min = "1", .max = "16",
                .help = "how sharply a request's own time gives way to the servers'; default: the calibration's"),
  BASE_ROW_NUM (MdlTierType, "error", error, RATIO, .max = "10", .help = "half-width of the band of its answers"),
  BASE_ROW_NUM (MdlTierType, "power", power, POWER, .help = "that a server draws, with its drives; for plans"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_storage_type = { .name = "storage_type",
                                             .help = "A kind of storage outside the nodes. One file a type in topologies/storage.",
                                             .fields = type_fields };

static const BaseField storage_fields[] = {
  BASE_ROW (CluStorageSpec, "name", name, STR, .required = TRUE, .help = "name: `storage.NAME` in workloads"),
  BASE_ROW (CluStorageSpec, "type", type, REF, .sub = &clu_schema_storage_type, .item_size = sizeof (MdlTierType),
            .folder = "topologies/storage", .help = "a storage_type: a name in topologies/storage, a path, or inline"),
  BASE_ROW (CluStorageSpec, "tier", tier, ENUM, .names = mdl_tier_names, .help = "kind; default: the type's"),
  BASE_ROW_NUM (CluStorageSpec, "servers", servers, COUNT, .min = "1", .max = "1000000", .fallback = "1", .help = "servers"),
  CLU_RATE (CluStorageSpec, "per_server", per_server, .help = "one server, one way; default: the type's"),
  CLU_RATE (CluStorageSpec, "write_per_server", write_per_server, .help = "written; default: `per_server`, else the type's"),
  BASE_ROW_NUM (CluStorageSpec, "latency", latency, TIME, .max = "10 s", .help = "of a request at the server; default: the type's"),
  BASE_ROW_NUM (CluStorageSpec, "targets", targets, COUNT, .min = "1", .max = "100000",
                .help = "of one server; default: the type's"),
  BASE_ROW (CluStorageSpec, "stripe", stripe, MAP, .sub = &stripe_schema, .help = "how files lie on targets; default: the type's"),
  BASE_ROW (CluStorageSpec, "redundancy", redundancy, MAP, .sub = &redundancy_schema,
            .help = "copies of what is written; default: the type's"),
  BASE_ROW (CluStorageSpec, "network", network, ENUM, .names = network_names, .fallback = "frontend",
            .help = "what it is reached by"),
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
