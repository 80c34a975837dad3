/* What measuring tools print, as CSV: nccl-tests as `forerun validate` reads it (docs/measurements.md), copies between devices,
 * storage. Each reader returns the whole CSV, full, g_free; NULL and *error (BASE_ERROR_INPUT, with file and line, or the path in a
 * JSON document) on failure. What is left out is counted in the warnings. */
#ifndef CALIBRATE_IMPORT_MEASURED_H
#define CALIBRATE_IMPORT_MEASURED_H

#include "calibrate/import.h"

/* What the caller says of a file, most of it of nccl-tests'; -1, 0 and NULL: the file says it, or nobody does. */
typedef struct {
  int op, algo, proto, launch;  /* MdlOp, MdlAlgo, MdlProto, MdlLaunch */
  gboolean algo_set, proto_set; /* MDL_ALGO_AUTO is -1 too */
  guint32 nodes, gpus;          /* gpus: of a node */
  const char *nccl;             /* version */
  guint64 copy_B; /* of copies between devices: size of one, which no tool prints; 0: `bytes` and seconds stay empty */
} CalFileInfo;
#define CAL_FILE_INFO_NONE ((CalFileInfo){ .op = -1, .algo = MDL_ALGO_AUTO, .proto = MDL_PROTO_AUTO, .launch = -1 })

typedef enum {
  CAL_TOOL_NONE,
  CAL_TOOL_NCCL_TESTS,
  CAL_TOOL_NVBANDWIDTH,
  CAL_TOOL_P2P_TEST,
  CAL_TOOL_FIO,
  CAL_TOOL_GDSIO,
  CAL_TOOL_TORCH_BENCH,
  CAL_TOOL_PERFTEST,
  CAL_TOOL_OSU
} CalTool;
extern const BaseName cal_tool_names[]; /* as `forerun import` names their output: "nccl-tests" */
/* Which tool printed a text, by what only it writes. */
CalTool cal_tool_of (const CalText *text);
/* What a tool printed, as CSV. */
char *cal_import_tool (CalTool tool, const CalText *text, const CalFileInfo *told, GError **error);

/* Element types as nccl-tests writes them: those that forerun has. */
extern const BaseName cal_nccl_tests_dtypes[];

/* nccl-tests' text, of one run or several, or its JSON (-J). */
char *cal_import_nccl_tests (const CalText *text, const CalFileInfo *told, GError **error);

/* nvbandwidth's text or JSON (-j), and the text of CUDA's sample p2pBandwidthLatencyTest. */
char *cal_import_nvbandwidth (const CalText *text, const CalFileInfo *told, GError **error);
char *cal_import_p2p_test (const CalText *text, const CalFileInfo *told, GError **error);

/* all_reduce_bench.py of stas00/ml-engineering: one size, or its table. More than 8 ranks ask for told->nodes or gpus. */
char *cal_import_torch_bench (const CalText *text, const CalFileInfo *told, GError **error);

/* fio's JSON (--output-format=json); lines of gdsio. Neither needs to be told anything. */
char *cal_import_fio (const CalText *text, const CalFileInfo *told, GError **error);
char *cal_import_gdsio (const CalText *text, const CalFileInfo *told, GError **error);

/* perftest (text, JSON of --out_json) and the OSU Micro-Benchmarks: rows of pairs (calibrate/pairs.h); collectives of OSU as of
 * nccl-tests, with told->nodes and gpus. */
char *cal_import_perftest (const CalText *text, const CalFileInfo *told, GError **error);
char *cal_import_osu (const CalText *text, const CalFileInfo *told, GError **error);

#endif
