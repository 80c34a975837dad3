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
  CLU_RATE (MdlTierSide, rate, .help = "one server; default: no limit but its targets"),
  CLU_RATE (MdlTierSide, target, .help = "one target (OST, drive); default: no limit"),
  CLU_RATE (MdlTierSide, client, .help = "one client, beside what its network carries; default: no limit"),
  CLU_RATE (MdlTierSide, stream, .help = "one request at a time, beyond its latency; default: no limit"),
  CLU_NUM (MdlTierSide, iops, FREQUENCY, .min = "0.001 Hz", .help = "small requests a second of one server"),
  CLU_NUM (MdlTierSide, client_iops, FREQUENCY, .min = "0.001 Hz", .help = "small requests a second of one client"),
  CLU_NUM (MdlTierSide, latency, TIME, .max = "1000 s", .help = "one small request alone (an object's first byte)"),
  BASE_ROW_END,
};
static const BaseSchema side_schema = { "storage_type.read", "Reads; `write` takes the same keys.", side_fields, NULL };

static const BaseField stripe_fields[] = {
  CLU_NUM (MdlTierStripe, count, COUNT, .min = "1", .max = "1000000", .help = "targets that a file lies on; default: all"),
  CLU_NUM (MdlTierStripe, size, BYTES, .min = "1 B", .help = "on one target before the next"),
  BASE_ROW_END,
};
static const BaseSchema stripe_schema = { "storage.stripe", "How files lie on targets.", stripe_fields, NULL };

static const BaseName reads_names[] = { { "any", 0, "any replica: a hot file has the targets of all" },
                                        { "first", 1, "the first one alone" },
                                        { NULL, 0, NULL } };
static const BaseField redundancy_fields[] = {
  CLU_NUM (MdlTierRedundancy, replicas, COUNT, .min = "1", .max = "64", .help = "copies of each byte; or:"),
  CLU_NUM (MdlTierRedundancy, data, COUNT, .min = "1", .max = "1024", .help = "data parts of a stripe, erasure coded …"),
  CLU_NUM (MdlTierRedundancy, parity, COUNT, .min = "0", .max = "64", .help = "… and parity parts beside them"),
  CLU_ROW (MdlTierRedundancy, sent_by, ENUM, .names = mdl_copies_by_names, .fallback = "servers",
           .help = "who sends copies or parts to the other servers"),
  CLU_ROW (MdlTierRedundancy, reads, ENUM, .names = reads_names, .fallback = "any", .help = "which replica is read"),
  BASE_ROW_END,
};
static const BaseSchema redundancy_schema = { "storage.redundancy", "Copies of what is written, or parity beside it.",
                                              redundancy_fields, NULL };

static const BaseField metadata_fields[] = {
  CLU_NUM (MdlTierMetadata, servers, COUNT, .min = "1", .max = "100000", .fallback = "1", .help = "metadata servers"),
  CLU_NUM (MdlTierMetadata, rate, FREQUENCY, .min = "0.001 Hz", .help = "operations a second of one of them"),
  CLU_NUM (MdlTierMetadata, latency, TIME, .max = "1000 s", .fallback = "0", .help = "of one operation"),
  CLU_NUM (MdlTierMetadata, per_file, NUMBER, .min = "0", .max = "1000", .fallback = "1",
           .help = "operations a file: open, stat, close"),
  BASE_ROW_END,
};
static const BaseSchema metadata_schema = { "storage_type.metadata", "What finding and opening files costs.", metadata_fields,
                                            NULL };

static const BaseField burst_fields[] = {
  CLU_RATE (MdlTierBurst, rate, .help = "one server, while credits last; default: no more than without"),
  CLU_NUM (MdlTierBurst, iops, FREQUENCY, .min = "0.001 Hz", .help = "likewise, requests a second"),
  CLU_NUM (MdlTierBurst, credit, BYTES, .help = "bytes beyond the lasting rate, of one server, when full"),
  CLU_NUM (MdlTierBurst, io_credit, COUNT, .help = "requests beyond the lasting IOPS, of one server, when full"),
  BASE_ROW_END,
};
static const BaseSchema burst_schema = { "storage_type.burst", "More for a while, out of credits (cloud volumes).", burst_fields,
                                         NULL };

static const BaseField type_fields[] = {
  BASE_ROW (MdlTierType, "storage_type", name, STR, .required = TRUE, .help = "name of the type"),
  CLU_ROW (MdlTierType, product, STR, .help = "the vendor's name"),
  CLU_ROW (MdlTierType, kind, ENUM, .names = mdl_tier_names, .required = TRUE, .help = "kind of tier"),
  BASE_ROW (MdlTierType, "read", side[MDL_IO_READ], MAP, .sub = &side_schema, .required = TRUE, .help = "reads"),
  BASE_ROW (MdlTierType, "write", side[MDL_IO_WRITE], MAP, .sub = &side_schema, .required = TRUE, .help = "writes"),
  CLU_NUM (MdlTierType, efficiency, RATIO, .min = "0.001", .max = "1", .fallback = "1",
           .help = "what of the rates of its servers, or targets, all together reach"),
  CLU_NUM (MdlTierType, targets, COUNT, .min = "1", .max = "100000", .help = "of one server; default: 1"),
  CLU_MAP (MdlTierType, stripe, stripe_schema, "how files lie on targets"),
  CLU_MAP (MdlTierType, redundancy, redundancy_schema,
           "that its figures of `write` have in them; default: none, they are of drives and adapters"),
  CLU_MAP (MdlTierType, metadata, metadata_schema, "opening files"),
  CLU_MAP (MdlTierType, burst, burst_schema, "credits"),
  CLU_ROW (MdlTierType, gds, ENUM, .names = mdl_gds_names, .fallback = "no",
           .help = "whether GPUDirect Storage works with its client"),
  CLU_RATE (MdlTierType, core, .help = "what one core of a client moves by way of its host (protocol, copies); default: no cost"),
  CLU_NUM (MdlTierType, io_size, BYTES, .min = "1 B", .fallback = "1 MiB",
           .help = "of a request where the workload does not say (an object's range)"),
  CLU_NUM (MdlTierType, blend, NUMBER, .min = "1", .max = "16",
           .help = "how sharply a request's own time gives way to the servers'; default: the calibration's"),
  CLU_NUM (MdlTierType, error, RATIO, .max = "10", .help = "half-width of the band of its answers"),
  CLU_NUM (MdlTierType, power, POWER, .help = "that a server draws, with its drives; for plans"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_storage_type = { "storage_type",
                                             "A kind of storage outside the nodes. One file a type in topologies/storage.",
                                             type_fields, NULL };

static const BaseField storage_fields[] = {
  CLU_ROW (CluStorageSpec, name, STR, .required = TRUE, .help = "name: `storage.NAME` in workloads"),
  CLU_ROW (CluStorageSpec, type, REF, .sub = &clu_schema_storage_type, .item_size = sizeof (MdlTierType),
           .folder = "topologies/storage", .help = "a storage_type: a name in topologies/storage, a path, or inline"),
  CLU_ROW (CluStorageSpec, tier, ENUM, .names = mdl_tier_names, .help = "kind; default: the type's"),
  CLU_NUM (CluStorageSpec, servers, COUNT, .min = "1", .max = "1000000", .fallback = "1", .help = "servers"),
  CLU_RATE (CluStorageSpec, per_server, .help = "one server, one way; default: the type's"),
  CLU_RATE (CluStorageSpec, write_per_server, .help = "written; default: `per_server`, else the type's"),
  CLU_NUM (CluStorageSpec, latency, TIME, .max = "10 s", .help = "of a request at the server; default: the type's"),
  CLU_NUM (CluStorageSpec, targets, COUNT, .min = "1", .max = "100000", .help = "of one server; default: the type's"),
  CLU_MAP (CluStorageSpec, stripe, stripe_schema, "how files lie on targets; default: the type's"),
  CLU_MAP (CluStorageSpec, redundancy, redundancy_schema, "copies of what is written; default: the type's"),
  CLU_ROW (CluStorageSpec, network, ENUM, .names = network_names, .fallback = "frontend", .help = "what it is reached by"),
  BASE_ROW_END,
};
const BaseSchema clu_schema_storage = { "storage", "A storage tier outside the nodes.", storage_fields, NULL };

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
