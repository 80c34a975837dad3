/* The measuring tools whose output is read: one row a tool. */
#include "import/measured-private.h"

const BaseName cal_tool_names[] = {
  { "nccl-tests", CAL_TOOL_NCCL_TESTS, "collectives, as text or JSON" },
  { "nvbandwidth", CAL_TOOL_NVBANDWIDTH, "copies between devices, as text or JSON" },
  { "p2p-bandwidth-test", CAL_TOOL_P2P_TEST, "CUDA's sample p2pBandwidthLatencyTest" },
  { "fio", CAL_TOOL_FIO, "storage, as JSON" },
  { "gdsio", CAL_TOOL_GDSIO, "storage and GPU memory" },
  { "all-reduce-bench", CAL_TOOL_TORCH_BENCH, "all_reduce_bench.py of stas00/ml-engineering" },
  { "perftest", CAL_TOOL_PERFTEST, "RDMA between two NICs, as text or JSON" },
  { "osu", CAL_TOOL_OSU, "OSU Micro-Benchmarks" },
  { NULL, 0, NULL },
};

char *
cal_import_tool (CalTool tool, const CalText *text, const CalFileInfo *told, GError **error)
{
  static char *(*const readers[]) (const CalText *, const CalFileInfo *, GError **) = {
    [CAL_TOOL_NCCL_TESTS] = cal_import_nccl_tests, [CAL_TOOL_NVBANDWIDTH] = cal_import_nvbandwidth,
    [CAL_TOOL_P2P_TEST] = cal_import_p2p_test,     [CAL_TOOL_FIO] = cal_import_fio,
    [CAL_TOOL_GDSIO] = cal_import_gdsio,           [CAL_TOOL_TORCH_BENCH] = cal_import_torch_bench,
    [CAL_TOOL_PERFTEST] = cal_import_perftest,     [CAL_TOOL_OSU] = cal_import_osu,
  };
  g_return_val_if_fail (tool != CAL_TOOL_NONE && tool < G_N_ELEMENTS (readers), NULL);
  return readers[tool](text, told, error);
}

CalTool
cal_tool_of (const CalText *text)
{
  static const struct {
    const char *word; /* only this tool writes it */
    gboolean json;
    CalTool tool;
  } known[] = {
    { "\"nvbandwidth\"", TRUE, CAL_TOOL_NVBANDWIDTH },
    { "\"fio version\"", FALSE, CAL_TOOL_FIO }, /* its warnings may stand before */
    { "\"test_info\"", TRUE, CAL_TOOL_PERFTEST },
    { "#bytes ", FALSE, CAL_TOOL_PERFTEST },
    { "# OSU ", FALSE, CAL_TOOL_OSU },
    { "\"out_of_place\"", TRUE, CAL_TOOL_NCCL_TESTS },
    { "IoType:", FALSE, CAL_TOOL_GDSIO },
    { "P2P Connectivity Matrix", FALSE, CAL_TOOL_P2P_TEST },
    { "Bandwidth Matrix (GB/s)", FALSE, CAL_TOOL_P2P_TEST },
    { "P2P=Enabled ", FALSE, CAL_TOOL_P2P_TEST },
    { "P2P=Disabled ", FALSE, CAL_TOOL_P2P_TEST },
    { "The average bandwidth of all_reduce", FALSE, CAL_TOOL_TORCH_BENCH },
    { "nvbandwidth Version", FALSE, CAL_TOOL_NVBANDWIDTH },
    { "SUM device_to_", FALSE, CAL_TOOL_NVBANDWIDTH },
    { "Running device_to_", FALSE, CAL_TOOL_NVBANDWIDTH },
    { "Running host_to_", FALSE, CAL_TOOL_NVBANDWIDTH },
    { "SUM host_to_", FALSE, CAL_TOOL_NVBANDWIDTH },
    { "out-of-place", FALSE, CAL_TOOL_NCCL_TESTS },
    { "nThread ", FALSE, CAL_TOOL_NCCL_TESTS },
  };
  gboolean json = cal_is_json (text);
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if ((!known[i].json || json) && g_strstr_len (text->bytes, (gssize)text->n_B, known[i].word) != NULL)
      return known[i].tool;
  return CAL_TOOL_NONE;
}
