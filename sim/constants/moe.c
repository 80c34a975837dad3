/* The section `expert_exchange`: libraries that dispatch tokens to experts. Its rows come from published measurements. */
#include "models/moe.h"
#include "base/rows.h"
#include "constants/section.h"
#include "models/library-spec.h"

static SCHEMA (costs_schema, "moe operation", "Time of dispatch, combine or prepare. Absent constants are not charged.",
               NUM (MdlMoeCosts, start, TIME, "kernel start and last flag"),
               NUM (MdlMoeCosts, per_doubling, TIME, "for each doubling of the ranks"),
               NUM (MdlMoeCosts, per_expert, TIME, "for each expert of a rank"),
               NUM (MdlMoeCosts, node, TIME, "added if NICs are crossed"),
               NUM (MdlMoeCosts, ramp, TIME, "until all SMs are busy, on one node"),
               NUM (MdlMoeCosts, node_ramp, TIME, "the same on several nodes; default: `ramp`"),
               NUM (MdlMoeCosts, ramp_tokens, NUMBER, "tokens of a rank at which half of it is spent", .min = "0"),
               NUM (MdlMoeCosts, nvlink, RATIO, "fraction of a GPU's NVLink rate that is reached", .min = "1 %", .max = "1"),
               NUM (MdlMoeCosts, nic, RATIO, "fraction of its NIC's rate", .min = "1 %", .max = "1"),
               NUM (MdlMoeCosts, sm, BANDWIDTH, "rate of one SM over NVLink; default: SMs do not limit", .min = "1 MB/s"),
               NUM (MdlMoeCosts, node_sm, BANDWIDTH, "rate of one SM to other nodes; default: SMs do not limit", .min = "1 MB/s"),
               NUM (MdlMoeCosts, token, TIME, "per token of a rank, what its SMs do at least"),
               NUM (MdlMoeCosts, narrow_token, TIME, "the same where results are converted to fewer bits; default: `token`"),
               NUM (MdlMoeCosts, expert_token, TIME, "per token of an SM, where one SM works for each expert"));

static SCHEMA (row_schema, "moe backend", "A library that dispatches tokens to experts.",
               ROW (MdlMoeRow, backend, ENUM, "its name in scenarios", .names = mdl_moe_backend_names, .required = TRUE),
               ROW (MdlMoeRow, gpus, STRS, "GPU types that it was measured on; on others it is assumed"),
               NUM (MdlMoeRow, nodes, COUNT, "most nodes (NVLink domains) that were measured", .min = "1", .fallback = "1"),
               NUM (MdlMoeRow, sms, COUNT, "SMs that it takes by default"),
               ROW (MdlMoeRow, hook, BOOL, "kernels send and return, and no SM is taken until others receive; default: no"),
               NUM (MdlMoeRow, header, BYTES, "bytes sent with each dispatched row", .min = "0", .max = "64 KiB"),
               NUM (MdlMoeRow, error, RATIO, "half-width of the band on these GPUs and nodes", .max = "10", .required = TRUE),
               NUM (MdlMoeRow, assumed_error, RATIO, "half-width of the band elsewhere", .max = "10", .required = TRUE),
               MAP_AS (MdlMoeRow, "dispatch", at[MDL_MOE_DISPATCH], &costs_schema, "moe_dispatch"),
               MAP_AS (MdlMoeRow, "combine", at[MDL_MOE_COMBINE], &costs_schema, "moe_combine"),
               MAP_AS (MdlMoeRow, "prepare", at[MDL_MOE_PREPARE], &costs_schema, "moe_prepare; default: part of the dispatch"));

static SCHEMA (
    moe_schema, "expert_exchange", "Libraries that dispatch tokens to experts and combine their results.",
    NUM (struct MdlMoeSpec, popularity, NUMBER,
         "how unevenly tokens choose experts where a service does not say: the i-th most popular is chosen in proportion "
         "to i^-a; default: 0, all alike",
         .min = "0", .max = "4"),
    NUM (struct MdlMoeSpec, residual, RATIO,
         "relative standard deviation of the load of an expert's copy where redundant copies level it, beside that by "
         "chance: batches differ from those that the places were chosen by",
         .max = "10"),
    LIST (struct MdlMoeSpec, backends, &row_schema, MdlMoeRow, "a row per library", .required = TRUE));

const CstSection cst_moe = { "expert_exchange", &moe_schema, sizeof (struct MdlMoeSpec), offsetof (MdlLibrary, moe), NULL };
