/* The matrix of `nvidia-smi topo -m` to topology YAML. */
#include "import_fixture.h"

static Import
import_text (const char *text, const char *gpu_type)
{
  return import_with (clu_import_nvidia_smi_topo, "t.txt", text, strlen (text), gpu_type);
}

static Import
import_file (const char *name, const char *gpu_type)
{
  g_autofree char *path = g_build_filename (DATA, name, NULL), *text = NULL;
  CU_ASSERT_TRUE_FATAL (g_file_get_contents (path, &text, NULL, NULL));
  return import_text (text, gpu_type);
}

static void
test_h200 (void)
{
  g_auto (Import) unsaid = import_file ("h200x8_smi.txt", NULL);
  TEST_HAS (unsaid.error == NULL ? NULL : unsaid.error->message, "t.txt:2:1: 18 NVLinks a GPU: the type may be ");
  TEST_HAS (unsaid.error == NULL ? NULL : unsaid.error->message, "gh200, h100_sxm, h20, h200_nvl, h200_sxm");
  TEST_HAS (unsaid.error == NULL ? NULL : unsaid.error->message, "--gpu");
  g_auto (Import) import = import_file ("h200x8_smi.txt", "h200_sxm");
  TEST_HAS (import.text, "type: h200_sxm\n");
  TEST_HAS (import.text, "kind: switch\n"); /* 18 to each of 7 peers is more than the 18 that a GPU has */
  TEST_HAS (import.text, "count: {value: 1, source: measured, note: NUMA nodes with GPUs");
  TEST_TRUE (warned (&import, "x16 is assumed"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_n_gpus (clu), 8);
}

static void
test_uneven_nics (void)
{
  static const char text[] = "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tNIC2\tNIC3\tCPU Affinity\tNUMA Affinity\n"
                             "GPU0\t X \tPIX\tSYS\tSYS\tPIX\tPIX\tSYS\tNODE\t0-31\t0\n"
                             "GPU1\tPIX\t X \tSYS\tSYS\tPIX\tPIX\tSYS\tNODE\t0-31\t0\n"
                             "GPU2\tSYS\tSYS\t X \tPIX\tSYS\tSYS\tPIX\tSYS\t32-63\t1\n"
                             "GPU3\tSYS\tSYS\tPIX\t X \tSYS\tSYS\tPIX\tSYS\t32-63\t1\n"
                             "NIC0\tPIX\tPIX\tSYS\tSYS\t X \tPIX\tSYS\tNODE\t\t\n"
                             "NIC1\tPIX\tPIX\tSYS\tSYS\tPIX\t X \tSYS\tNODE\t\t\n"
                             "NIC2\tSYS\tSYS\tPIX\tPIX\tSYS\tSYS\t X \tSYS\t\t\n"
                             "NIC3\tNODE\tNODE\tSYS\tSYS\tNODE\tNODE\tSYS\t X \t\t\n"
                             "\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n  NIC2: mlx5_2\n  NIC3: mlx5_3\n";
  g_auto (Import) import = import_text (text, "h100_pcie");
  TEST_HAS (import.text, "    on: [pcie_switch0, pcie_switch0, pcie_switch1, socket0] # measured\n");
  TEST_TRUE (strstr (import.text, "under_switch") == NULL);
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_NIC), 4);
}

/* Underlined header, tabs, ten NICs of which NIC4 and NIC9 stand alone. */
static void
test_a100_underlined (void)
{
  g_auto (Import) import = import_file ("a100x8_smi.txt", "a100_80_sxm");
  TEST_HAS (import.text, "kind: switch\n");
  TEST_HAS (import.text, "switch_per: {value: 2, source: measured");
  TEST_HAS (import.text, "under_switch: [nics]\n");
  TEST_HAS (import.text, "count: {value: 4, source: measured, note: NUMA nodes");
  TEST_HAS (import.text, "type: cx6_hdr200 # assumed");
  TEST_HAS (import.text, "\"mlx5_0, mlx5_1, mlx5_2, mlx5_3, mlx5_5, mlx5_6, mlx5_7, mlx5_8\"");
  TEST_TRUE (warned (&import, "t.txt:14:1: mlx5_4 is left out of the fabric"));
  TEST_TRUE (warned (&import, "does not say whether NICs are InfiniBand or Ethernet"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_NIC), 8);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_PCIE_SWITCH), 4);
}

/* Columns by blanks, NICs under their own names, no NUMA column: sockets are what is nearer than SYS. */
static void
test_v100_mesh (void)
{
  g_auto (Import) unsaid = import_file ("v100x8_smi.txt", NULL);
  TEST_HAS (unsaid.error == NULL ? NULL : unsaid.error->message, "6 NVLinks a GPU: the type may be v100_sxm2, v100_sxm3");
  g_auto (Import) import = import_file ("v100x8_smi.txt", "v100_sxm2");
  TEST_HAS (import.text, "- {a: 0, b: 3, lanes: 2}\n");
  TEST_HAS (import.text, "- {a: 3, b: 7, lanes: 1}\n");
  TEST_TRUE (strstr (import.text, "{a: 0, b: 5") == NULL);
  TEST_HAS (import.text, "switch_per: {value: 2,");
  TEST_HAS (import.text, "count: {value: 2, source: measured, note: NUMA nodes");
  TEST_HAS (import.text, "type: cx5_edr100 # assumed");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_bridged_pairs_after_a_prompt (void)
{
  g_auto (Import) import = import_file ("a100_pcie_pairs_smi.txt", "a100_pcie");
  TEST_HAS (import.text, "kind: links\n");
  TEST_HAS (import.text, "- {a: 0, b: 1, lanes: 12}\n      - {a: 2, b: 3, lanes: 12}\n");
  TEST_HAS (import.text, "link: {class: nvlink3, lanes: {value: 12,");
  TEST_HAS (import.text, "count: {value: 2, source: measured, note: NUMA nodes");
  TEST_HAS (import.text, "count: {value: 1, source: measured, note: mlx5_0}");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

/* A800: eight links of the switch in use where an A100 has twelve. */
static void
test_fewer_links_than_the_type (void)
{
  static const char text[] = "     GPU0 GPU1 GPU2 CPU Affinity NUMA Affinity\n"
                             "GPU0  X   NV8  NV8  0-47 0\nGPU1 NV8   X   NV8  0-47 0\nGPU2 NV8  NV8   X   48-95 1\n";
  g_auto (Import) import = import_text (text, "a100_80_sxm");
  TEST_HAS (import.text, "kind: switch\n"); /* 2 x 8 > 12 */
  TEST_HAS (import.text, "lanes_used: {value: 8, source: measured");
  TEST_TRUE (warned (&import, "the NUMA nodes have 2, 1 GPUs"));
  g_auto (Import) direct = import_text ("GPU0 GPU1 GPU2\nGPU0 X NV6 NV6\nGPU1 NV6 X NV6\nGPU2 NV6 NV6 X\n", "a100_80_sxm");
  TEST_HAS (direct.text, "kind: links\n"); /* 2 x 6 = 12: each pair's own */
}

/* 32 EFA adapters, 4 beside each GPU: rdmap names tell the wire. */
static void
test_efa_by_name (void)
{
  g_autoptr (GString) text = g_string_new ("GPU0 GPU1 NIC0 NIC1 NIC2 NIC3 CPU Affinity\n");
  g_string_append (text, "GPU0 X NV18 PIX PIX NODE NODE 0-47\nGPU1 NV18 X NODE NODE PIX PIX 0-47\n\nNIC Legend:\n");
  for (unsigned i = 0; i < 4; i++)
    g_string_append_printf (text, "  NIC%u: rdmap%us0\n", i, 79 + i);
  g_auto (Import) import = import_text (text->str, "h100_sxm");
  TEST_HAS (import.text, "type: efa_v2_100 # assumed");
  TEST_HAS (import.text, "switch_per: {value: 1,");
  TEST_HAS (import.text, "under_switch: [nics]\n");
  TEST_TRUE (!warned (&import, "InfiniBand or Ethernet"));
}

static void
test_rows_that_disagree (void)
{
  g_auto (Import) import = import_text ("GPU0 GPU1\nGPU0 X PIX\nGPU1 SYS X\n", "l40s");
  TEST_TRUE (warned (&import, "t.txt:3:1: the rows of GPU0 and GPU1 disagree about each other; that of GPU0 is taken"));
  TEST_HAS (import.text, "switch_per: {value: 2,");
}

typedef struct {
  const char *text;
  const char *message;
} Refusal;

static void
test_refusals (void)
{
  static const Refusal cases[] = {
    { "", "t.txt:1:1: no header line" },
    { "\n\nno matrix\n", "t.txt:3:1: no header line (GPU0 GPU1 …); the output of `nvidia-smi topo -m` is accepted" },
    { "GPU0 X NV18\n", "t.txt:1:1: a row before the header" },
    { "GPU0 GPU1\nGPU0 X\n", "t.txt:2:1: the row of GPU0 has 1 relations; the header has 2 devices" },
    { "GPU0 GPU1\nGPU0 X PIX\n", "t.txt:1:6: no row of GPU1" },
    { "GPU0 GPU1\nGPU0 X PIX\nGPU2 PIX X\n", "t.txt:3:1: 'GPU2' is no device of the header" },
    { "GPU0 GPU1\nGPU0 X PIX\nGPU0 X PIX\n", "t.txt:3:1: a second row of GPU0" },
    { "GPU0 GPU1\nGPU0 X NV\n", "t.txt:2:8: 'NV' is no relation of two devices; X NV# PIX PXB PHB NODE SYS" },
    { "GPU0 GPU1\nGPU0 X NV0\n", "t.txt:2:8: 'NV0' is no relation" },
    { "GPU0 GPU1\nGPU0 X NV99999\n", "t.txt:2:8: 'NV99999' is no relation" },
    { "GPU0 GPU1\nGPU0 PIX PIX\n", "t.txt:2:6: 'PIX' where a device meets itself; X is accepted" },
    { "GPU0 GPU1\nGPU0 X X\n", "t.txt:2:8: 'X' between two devices" },
    { "GPU0 GPU0\n", "t.txt:1:6: GPU0 stands twice in the header" },
    { "\033[4mGPU0\033[0m\tGPU1\nGPU0\t X \tNO\n", "t.txt:2:10: 'NO' is no relation" },
    { "GPU0 GPU1\nGPU0 X SYS\nGPU1 SYS X\n", "t.txt:2:1: the GPU's type is not told" },
    { "GPU0 GPU1\nGPU0 X NV7\nGPU1 NV7 X\n", "t.txt:2:1: no shipped GPU type has 7 NVLinks; give the type (--gpu NAME)" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Import) import = import_text (cases[i].text, NULL);
    TEST_TRUE (import.text == NULL);
    TEST_TRUE (g_error_matches (import.error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
    TEST_HAS (import.error == NULL ? NULL : import.error->message, cases[i].message);
  }
  g_auto (Import) import = import_text ("GPU0 GPU1\nGPU0 X SYS\nGPU1 SYS X\n", "h100_smx");
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "h100_sxm"); /* the nearest name */
}

static void
test_too_many_devices (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (unsigned i = 0; i < 1025; i++)
    g_string_append_printf (text, "GPU%u ", i);
  g_auto (Import) import = import_text (text->str, NULL);
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "more than 1024 devices; at most 1024 are accepted");
}

int
main (void)
{
  static const TestCase cases[] = {
    { "NV18 between all needs the GPU type, and is a switch", test_h200 },
    { "an underlined header with ten NICs imports", test_a100_underlined },
    { "NICs that do not divide evenly say where they stand", test_uneven_nics },
    { "a hybrid cube mesh in blanks imports", test_v100_mesh },
    { "bridged pairs after a shell prompt import", test_bridged_pairs_after_a_prompt },
    { "fewer links than the type has are a switch with links down", test_fewer_links_than_the_type },
    { "EFA NICs are identified by name", test_efa_by_name },
    { "rows that disagree are warned about", test_rows_that_disagree },
    { "bad input is refused with its position", test_refusals },
    { "more than 1024 devices are refused", test_too_many_devices },
    { NULL, NULL },
  };
  return test_main ("import: nvidia-smi topo", cases);
}
