/* The section `engines`: engines that serve language models, by version. Defaults of options are from their sources, times from
 * published measurements; no probe measures them. */
#include <string.h>

#include "base/rows.h"
#include "constants/section.h"
#include "models/engine.h"
#include "models/library-spec.h"

static SCHEMA (
    times_schema, "engine times",
    "What an engine makes of kernels' times on a generation of GPUs. Absent constants are not charged.",
    NUM (MdlEngineTimes, capability, COUNT, "compute capability from which the row applies: 80, 90, 100", .min = "10",
         .max = "1000", .required = TRUE),
    NUM (MdlEngineTimes, gemm, RATIO, "time of matrix products is divided by this; default: 1", .min = "5 %", .max = "4"),
    NUM (MdlEngineTimes, attention, RATIO, "the same for attention", .min = "5 %", .max = "4"),
    NUM (MdlEngineTimes, experts, RATIO, "the same for routed experts", .min = "5 %", .max = "4"),
    NUM (MdlEngineTimes, experts_math, RATIO,
         "ideal time of multiplying routed experts is divided by this, where that is slower; default: not counted", .min = "5 %",
         .max = "4"),
    NUM (MdlEngineTimes, prefill, RATIO, "the same for matrix products of a step with prompts, on top of `gemm` and `experts`",
         .min = "5 %", .max = "4"),
    NUM (MdlEngineTimes, grouped, RATIO,
         "time of routed experts is divided by this, in place of `experts` and `experts_math`, where a library (DeepEP) has sorted "
         "the tokens by expert; default: as `experts`",
         .min = "5 %", .max = "4"),
    NUM (MdlEngineTimes, step, TIME, "host time per step", .max = "1 s"),
    NUM (MdlEngineTimes, sequence, TIME, "host time per sequence of a step", .max = "100 ms"),
    NUM (MdlEngineTimes, request, TIME, "mean time of a request in the front end, beside tokenizing: HTTP", .max = "10 s"),
    NUM (MdlEngineTimes, prompt_token, TIME, "time of the front end to tokenize a token of a prompt, one prompt after the other",
         .max = "1 ms"),
    NUM (MdlEngineTimes, token, TIME,
         "time of the front end for each message to a user, one after the other: no more than its inverse leave a replica",
         .max = "1 s"),
    NUM (MdlEngineTimes, layer, TIME, "GPU time per layer, beyond what its kernels take one by one", .max = "10 ms"),
    NUM (MdlEngineTimes, moe_layer, TIME, "the same for a layer of experts, on top of `layer`", .max = "10 ms"),
    NUM (MdlEngineTimes, graph_layer, TIME, "the same in a step that a CUDA graph holds; default: `layer`", .max = "10 ms"),
    NUM (MdlEngineTimes, latent_layer, TIME, "on top of `graph_layer` for a layer of latent attention (MLA)", .max = "10 ms"),
    NUM (MdlEngineTimes, error, RATIO, "relative error of a step beside that of kernels, 90 % of cases", .max = "10"),
    NUM (MdlEngineTimes, first_error, RATIO, "relative error of the time to the first token beside that of steps", .max = "10"),
    NUM (MdlEngineTimes, kernel, TIME, "time from kernel to kernel in a step that is not captured", .max = "1 ms"));

static SCHEMA (
    row_schema, "engine", "A version of an engine: defaults of its options, memory that it takes, and its times.",
    ROW (MdlEngineRow, name, STR, "engine, as in scenarios", .required = TRUE),
    ROW (MdlEngineRow, version, STR, "first version with these values", .required = TRUE),
    NUM (MdlEngineRow, max_num_seqs, COUNT, "sequences that run at once", .min = "1", .required = TRUE),
    NUM (MdlEngineRow, max_num_batched_tokens, COUNT, "new tokens of a step", .min = "1", .required = TRUE),
    NUM (MdlEngineRow, cuda_graphs, COUNT, "largest batch captured in a CUDA graph", .required = TRUE),
    ROW (MdlEngineRow, async, BOOL, "the host prepares a step while the GPU runs the one before", .required = TRUE),
    ROW (MdlEngineRow, chunked, BOOL, "prompts may be cut over steps", .required = TRUE),
    ROW (MdlEngineRow, prefix_cache, BOOL, "blocks of equal prefixes are shared", .required = TRUE),
    NUM (MdlEngineRow, block, COUNT, "tokens of a KV block", .min = "1", .required = TRUE),
    NUM (MdlEngineRow, memory, RATIO, "fraction of the GPU's memory, by the engine's own definition", .min = "1 %", .max = "1",
         .required = TRUE),
    NUM_AS (MdlEngineRow, "graphs", graphs_B, BYTES, "memory of captured graphs"),
    NUM_AS (MdlEngineRow, "other", other_B, BYTES, "memory of CUDA, NCCL and the framework"),
    NUM_AS (MdlEngineRow, "communicators", communicators_B, BYTES,
            "memory of NCCL and the engine's own all-reduce, on top of `other`, where a replica has several GPUs"),
    NUM_AS (
        MdlEngineRow, "multicast", multicast_B, BYTES,
        "memory of NCCL's buffers for reduction in the NVLink switch, for each rank of a group of more than two; default: none"),
    NUM (MdlEngineRow, sample, BYTES, "memory for each logit while the engine's profiling run samples; default: 6 B",
         .max = "1 kB"),
    NUM (MdlEngineRow, split_prefill, COUNT,
         "new tokens of a rank from which two-batch overlap splits a step with prompts; default: the engine has none", .min = "1"),
    NUM (MdlEngineRow, split_decode, COUNT, "the same of a step that only decodes", .min = "1"),
    NUM (MdlEngineRow, expert_rows, COUNT,
         "experts in fp8: rows that the kernel keeps for every expert, with tokens or without (DeepGEMM's contiguous layout), "
         "at the rate of `grouped`; default: only experts with tokens are computed",
         .min = "1", .max = "1024"),
    NUM (MdlEngineRow, expert_rows_tp, COUNT, "tensor parallelism up to which `expert_rows` holds; default: any", .min = "1"),
    ROW (MdlEngineRow, staggered, BOOL,
         "two-batch overlap: halves that decode are two stages apart, and attention is cut in two; default: no"),
    NUM (MdlEngineRow, watermark, RATIO, "share of the blocks that stays free at admission", .max = "1"),
    ROW (MdlEngineRow, transfer, STR, "library that moves KV between its pools: a name of `transfers`; default: none"),
    ROW (MdlEngineRow, asks_first, BOOL,
         "with pools apart, a prompt is computed once the decode side has seen the request between two steps and answered between "
         "the next two; default: no"),
    ROW (MdlEngineRow, gathers, BOOL,
         "whichever library moves KV, the prefill side gathers contiguous blocks and writes them; default: as the library"),
    ROW (MdlEngineRow, recomputes_last, BOOL,
         "with pools apart, the decode pool computes the prompt's last token again; default: it sends the prefill pool's"),
    LIST (MdlEngineRow, times, &times_schema, MdlEngineTimes, "a row per generation of GPUs", .required = TRUE));

static SCHEMA (transfer_schema, "transfer library", "A library that moves KV from a prefill replica to a decode replica.",
               ROW (MdlTransferLibrary, name, STR, "library, as in scenarios", .required = TRUE),
               NUM (MdlTransferLibrary, start, TIME, "time of a transfer before its bytes move", .max = "10 s"),
               NUM (MdlTransferLibrary, per_descriptor, TIME, "time for each piece of memory that a GPU sends", .max = "1 s"),
               NUM (MdlTransferLibrary, nic, RATIO, "share of the route's rate that is reached; default: all", .min = "1 %",
                    .max = "1"),
               ROW (MdlTransferLibrary, merges, BOOL, "pieces are gathered: one a layer, keys and values apart; default: no"),
               ROW (MdlTransferLibrary, push, BOOL,
                    "the prefill side writes; default: the decode side reads, once its step in progress has ended"));

static SCHEMA (framework_schema, "framework", "A framework of reinforcement learning, by what it adds to a colocated step.",
               ROW (MdlRlFramework, name, STR, "framework, as in scenarios", .required = TRUE),
               NUM (MdlRlFramework, tensor, TIME, "time for each tensor that the trainer hands to the engine", .max = "1 s"),
               NUM (MdlRlFramework, rank, TIME, "more for each GPU of a replica", .max = "1 s"),
               NUM (MdlRlFramework, sleep, TIME, "time of an engine to give its memory back; waking takes as long", .max = "1 h"),
               FROM (MdlRlFramework, to_host, BANDWIDTH, "1 kB/s", "rate of a GPU of what makes room for the engine"),
               FROM (MdlRlFramework, to_gpu, BANDWIDTH, "1 kB/s", "rate of a GPU of the way back"),
               NUM (MdlRlFramework, error, RATIO, "relative error of what these come to", .max = "1"));

static SCHEMA (engines_schema, "engines", "Engines that serve language models.",
               LIST (MdlEngines, rows, &row_schema, MdlEngineRow, "a row per engine and version", .required = TRUE),
               LIST (MdlEngines, transfers, &transfer_schema, MdlTransferLibrary, "libraries that move KV; default: those below"),
               LIST (MdlEngines, frameworks, &framework_schema, MdlRlFramework,
                     "frameworks of reinforcement learning; default: those below"));

static gboolean
has_row (const MdlEngines *engines, const MdlEngineRow *row)
{
  for (unsigned i = 0; i < engines->rows.n; i++) {
    const MdlEngineRow *own = BASE_LIST_AT (engines->rows, MdlEngineRow, i);
    if (strcmp (own->name.v, row->name.v) == 0 && strcmp (own->version.v, row->version.v) == 0)
      return TRUE;
  }
  return FALSE;
}

/* A calibration over another one replaces rows of the same engine and version, and adds its others. */
static void
merge (void *now, const void *before, BaseArena *arena)
{
  MdlEngines *engines = now;
  const MdlEngines *below = before;
  MdlEngineRow *rows = base_arena_alloc (arena, (gsize)(engines->rows.n + below->rows.n) * sizeof *rows);
  unsigned n = 0;
  for (unsigned i = 0; i < below->rows.n; i++)
    if (!has_row (engines, BASE_LIST_AT (below->rows, MdlEngineRow, i)))
      rows[n++] = *BASE_LIST_AT (below->rows, MdlEngineRow, i);
  for (unsigned i = 0; i < engines->rows.n; i++)
    rows[n++] = *BASE_LIST_AT (engines->rows, MdlEngineRow, i);
  engines->rows.item = rows;
  engines->rows.n = n;
  if (engines->transfers.n == 0)
    engines->transfers = below->transfers;
  if (engines->frameworks.n == 0)
    engines->frameworks = below->frameworks;
}

const CstSection cst_engines = { "engines", &engines_schema, sizeof (MdlEngines), offsetof (MdlLibrary, engines), merge };
