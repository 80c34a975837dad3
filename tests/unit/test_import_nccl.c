/* NCCL's topology XML to topology YAML: what the text says, that it loads again, and how bad input is refused. */
#include "import_fixture.h"

static Import
import_text_as (const char *path, const char *bytes, gsize n_B, const char *gpu_type)
{
  return import_with (clu_import_nccl_topo, path, bytes, n_B, gpu_type);
}

static Import
import_file_as (const char *name, const char *gpu_type)
{
  g_autofree char *path = g_build_filename (DATA, name, NULL), *bytes = NULL;
  gsize n_B = 0;
  CU_ASSERT_TRUE_FATAL (g_file_get_contents (path, &bytes, &n_B, NULL));
  return import_text_as (name, bytes, n_B, gpu_type);
}

static Import
import_file (const char *name)
{
  return import_file_as (name, NULL);
}

static Import
import_text (const char *text)
{
  return import_text_as ("t.xml", text, strlen (text), NULL);
}

static void
test_h200_virtual_machine (void)
{
  g_auto (Import) import = import_file ("h200x8_topo.xml");
  TEST_HAS (import.text, "type: h200_sxm\n");
  TEST_HAS (import.text, "count: {value: 8, source: measured");
  TEST_HAS (import.text, "kind: switch\n");
  TEST_HAS (import.text, "switches: {value: 1, source: assumed");
  TEST_HAS (import.text, "generation: {value: 5, source: measured"); /* 32 GT/s */
  TEST_HAS (import.text, "lanes: {value: 16, source: assumed");      /* link_width="0" */
  TEST_HAS (import.text, "switch_per: {value: 0,");
  TEST_HAS (import.text, "frontend: {rate: {value: 10 Gb/s, source: measured, note: eth0}}");
  TEST_TRUE (strstr (import.text, "nics:") == NULL);
  TEST_INT (base_diag_n_warnings (import.warnings), 3);
  TEST_TRUE (warned (&import, "h200x8_topo.xml:9:7: eth0 (10 Gb/s, no RDMA) is taken for the front-end"));
  TEST_TRUE (warned (&import, "x16 is assumed"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_n_gpus (clu), 8);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_NIC), 0);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_PCIE_SWITCH), 0);
}

/* GPU pairs with two NICs behind two levels of switches: one switch of two GPUs and two NICs, uplink of 16 GT/s x16. */
static void
test_a100_switched (void)
{
  g_auto (Import) import = import_file ("a100x8_switched.xml");
  TEST_HAS (import.text, "type: a100_40_sxm\n");
  TEST_HAS (import.text, "switches: {value: 6, source: measured");
  TEST_HAS (import.text, "planes: [2, 2, 2, 2, 2, 2]\n");
  TEST_TRUE (strstr (import.text, "sharp") == NULL); /* NVSwitch of Ampere does not reduce */
  TEST_HAS (import.text, "switch_per: {value: 2, source: measured");
  TEST_HAS (import.text, "under_switch: [nics]\n");
  TEST_HAS (import.text, "vendor: amd\n");
  TEST_HAS (import.text, "type: cx6_hdr200\n");
  TEST_TRUE (warned (&import, "mlx5_8 is left out of the fabric"));
  TEST_TRUE (warned (&import, "mlx5_9 is left out of the fabric"));
  TEST_TRUE (warned (&import, "2 NUMA nodes without a GPU"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_NIC), 8);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_PCIE_SWITCH), 4);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_SOCKET), 4);
}

static void
test_h100_narrow_uplinks (void)
{
  g_auto (Import) import = import_file ("h100x8_roce.xml");
  TEST_HAS (import.text, "type: h100_sxm\n");
  TEST_HAS (import.text, "planes: [5, 4, 5, 4]\n"); /* the GPUs list the switches in different orders; by bus id all agree */
  TEST_HAS (import.text, "sharp: true");
  TEST_HAS (import.text, "switch_per: {value: 1, source: measured");
  TEST_HAS (import.text, "    uplink:\n      generation: {value: 4, source: measured, note: \"NCCL topology dump: 16 GT/s\"}\n"
                         "      lanes: {value: 8, source: measured");
  TEST_HAS (import.text, "type: cx7_roce400\n");
  TEST_TRUE (warned (&import, "eth0 (25 Gb/s, no RDMA)"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_PCIE_SWITCH), 8);
}

static void
test_v100_mesh (void)
{
  g_auto (Import) import = import_file ("v100x8_mesh.xml");
  TEST_HAS (import.text, "type: v100_sxm2\n");
  TEST_HAS (import.text, "kind: links\n");
  TEST_HAS (import.text, "- {a: 0, b: 3, lanes: 2}\n");
  TEST_HAS (import.text, "- {a: 6, b: 7, lanes: 2}\n");
  TEST_TRUE (strstr (import.text, "{a: 0, b: 5") == NULL);
  TEST_HAS (import.text, "type: cx4_edr100\n");
  TEST_INT (base_diag_n_warnings (import.warnings), 0);
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_node_n (clu, 0, CLU_DEV_NVSWITCH), 0);
}

/* 10 links of 44712 MB/s: 447.12 GB/s. */
static void
test_coherent_link (void)
{
  g_auto (Import) import = import_file ("gh200.xml");
  TEST_HAS (import.text, "type: gh200\n");
  TEST_HAS (import.text, "gpu_link: {class: nvlink_c2c, rate: {value: 447.12 GB/s, source: measured");
  TEST_HAS (import.text, "vendor: arm\n");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_n_gpus (clu), 1);
}

static void
test_domain_of_two_hosts (void)
{
  g_auto (Import) import = import_file ("gb200_two_trays.xml");
  TEST_HAS (import.text, "nodes: 2\n");
  TEST_HAS (import.text, "count: {value: 4, source: measured");
  TEST_HAS (import.text, "nvlink_domain: {nodes: 2}\n");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_n_gpus (clu), 8);
  TEST_INT (clu_domain_of_node (clu, 0), clu_domain_of_node (clu, 1));
}

static void
test_uneven_tree_is_warned_about (void)
{
  g_auto (Import) import = import_file ("l40s_uneven.xml");
  TEST_HAS (import.text, "type: l40s\n");
  TEST_HAS (import.text, "nvlink: {kind: none}\n");
  TEST_HAS (import.text, "switch_per: {value: 0,");
  TEST_HAS (import.text, "type: cx6_roce200 # assumed");
  TEST_TRUE (warned (&import, "0, 1, … are the machine's 0 2 3 1"));
  TEST_TRUE (warned (&import, "GPUs stand 3, 1 behind the PCIe switches"));
  TEST_TRUE (warned (&import, "l40s_uneven.xml:28:5: PCI device 0000:83:00.0 is neither GPU, NIC nor bridge"));
  TEST_TRUE (warned (&import, "the NICs' rate is not said"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_file_without_gpu_elements (void)
{
  g_auto (Import) refused = import_file ("cloud_static.xml");
  TEST_TRUE (refused.text == NULL);
  TEST_TRUE (g_error_matches (refused.error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
  TEST_HAS (refused.error->message, "cloud_static.xml:5:7: the GPU's type is not told");
  g_auto (Import) import = import_file_as ("cloud_static.xml", "a100_40_sxm");
  TEST_HAS (import.text, "type: a100_40_sxm\n");
  TEST_HAS (import.text, "switch_per: {value: 2,");
  TEST_HAS (import.text, "nvlink: # assumed: the file does not list NVLinks\n    kind: switch\n");
  TEST_HAS (import.text, "type: cx6_hdr200 # assumed");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
  g_auto (Import) wrong = import_file_as ("cloud_static.xml", "a100_40_smx");
  TEST_TRUE (wrong.text == NULL);
  TEST_HAS (wrong.error->message, "a100_40_sxm"); /* the nearest */
}

/* Small machines written here: `gpus` and what else a case needs. */
#define GPU(bus, dev, device, links)                                                                                       \
  "<pci busid='" bus "' class='0x030200' vendor='0x10de' device='" device "' link_speed='32.0 GT/s PCIe' link_width='16'>" \
  "<gpu dev='" dev "' sm='90'>" links "</gpu></pci>"
#define SYSTEM(body)    "<system version='1'><cpu numaid='0' arch='x86_64' vendor='GenuineIntel'>" body "</cpu></system>"
#define SWITCHED(count) "<nvlink target='fffffff:ff:ff.0' count='" count "' tclass='0x068000'/>"

static void
test_type_that_is_not_shipped (void)
{
  g_auto (Import) import = import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x232c", "") GPU ("0000:02:00.0", "1", "0x232c", "")));
  TEST_HAS (import.text, "gpu: pci_10de_232c\n");
  TEST_HAS (import.text, "product: \"GH100 [H20 HBM3e]\"\n");
  TEST_HAS (import.text, "pcie: {class: pcie5, lanes: 16}\n");
  TEST_TRUE (warned (&import, "no GPU type is shipped for GH100 [H20 HBM3e]"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_unknown_device_is_guessed_by_nvlinks (void)
{
  g_auto (Import) import = import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0xffff", SWITCHED ("18")) //
                                                GPU ("0000:02:00.0", "1", "0xffff", SWITCHED ("18"))));
  CU_ASSERT_PTR_NOT_NULL_FATAL (import.text);
  TEST_TRUE (warned (&import, "PCI device 10de:ffff is not known; taken for gh200"));
  TEST_TRUE (warned (&import, "h100_sxm, h20, h200_nvl, h200_sxm"));
}

/* One link down on one GPU: 17 of 18 for all, and it is said. */
static void
test_failed_link (void)
{
  g_auto (Import) import = import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", SWITCHED ("18")) //
                                                GPU ("0000:02:00.0", "1", "0x2330", SWITCHED ("17"))));
  TEST_HAS (import.text, "lanes_used: {value: 17, source: measured");
  TEST_TRUE (warned (&import, "GPUs have 17 to 18 NVLinks to the switch"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_links_that_disagree (void)
{
  g_auto (Import) import =
      import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "<nvlink target='0000:02:00.0' count='6' tclass='0x030200'/>")
                               GPU ("0000:02:00.0", "1", "0x2330",
                                    "<nvlink target='0000:01:00.0' count='4' tclass='0x030200'/>"
                                    "<nvlink target='0000:09:00.0' count='4' tclass='0x030200'/>")));
  TEST_HAS (import.text, "- {a: 0, b: 1, lanes: 4}\n");
  TEST_TRUE (warned (&import, "GPU 0 says 6 NVLinks to GPU 1, which says 4; the fewer are taken"));
  TEST_TRUE (warned (&import, "NVLinks to GPU 0000:09:00.0, which is not in the file, are left out"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_card_under_bridge (void)
{
  g_auto (Import) import =
      import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x2331", "<nvlink target='0000:02:00.0' count='12' tclass='0x030200'/>") GPU (
          "0000:02:00.0", "1", "0x2331", "<nvlink target='0000:01:00.0' count='12' tclass='0x030200'/>")));
  TEST_HAS (import.text, "type: h100_pcie\n");
  TEST_HAS (import.text, "- {a: 0, b: 1, lanes: 12}\n");
  TEST_HAS (import.text, "link: {class: nvlink4, lanes: {value: 12, source: measured");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

#define NIC(bus, net) "<pci busid='" bus "' class='0x020700' vendor='0x15b3' device='0x1021'><nic>" net "</nic></pci>"

static void
test_merged_ports_are_one_adapter (void)
{
  g_auto (Import) import = import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "") NIC (
      "0000:02:00.0", "<net name='mlx5_0' speed='200000' gdr='1'/><net name='mlx5_1' speed='200000' gdr='1'/>"
                      "<net name='mlx5_0+mlx5_1' speed='400000' gdr='1'/>")));
  TEST_HAS (import.text, "type: cx7_ndr400\n    count: {value: 1, source: measured, note: mlx5_0+mlx5_1}");
}

/* Three switches of two GPUs, adapters behind two of them: two divide over six GPUs, but not over three switches. */
static void
test_nics_that_do_not_divide_over_switches (void)
{
#define PAIR(n, more)                                                                                                   \
  "<pci busid='0000:" n                                                                                                 \
  "0:00.0' class='0x060400' link_speed='32.0 GT/s PCIe' link_width='16'>" GPU ("0000:" n "1:00.0", n "0", "0x2330", "") \
      GPU ("0000:" n "2:00.0", n "1", "0x2330", "") more "</pci>"
  g_auto (Import) import = import_text (SYSTEM (PAIR ("1", NIC ("0000:13:00.0", "<net name='a' speed='400000' gdr='1'/>")) PAIR (
      "2", NIC ("0000:23:00.0", "<net name='b' speed='400000' gdr='1'/>")) PAIR ("3", "")));
#undef PAIR
  TEST_HAS (import.text, "switch_per: {value: 2,");
  TEST_HAS (import.text, "count: {value: 2, source: measured, note: \"a, b\"}");
  TEST_TRUE (strstr (import.text, "under_switch") == NULL);
  TEST_HAS (import.text, "    on: [pcie_switch0, pcie_switch1] # measured\n");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_made_up_links_are_not_believed (void)
{
  g_auto (Import) import =
      import_text (SYSTEM ("<pci busid='0000:10:00.0' class='0x060400' link_speed='2.5 GT/s PCIe' link_width='1'>" //
                           GPU ("0000:11:00.0", "0", "0x2330", "") "</pci>"));
  TEST_HAS (import.text, "    uplink:\n      lanes: {value: 16, source: assumed");
  TEST_TRUE (warned (&import, "a PCIe link of 2.5 GT/s is older than these GPUs; taken as not said"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_rate_between_types (void)
{
  g_auto (Import) import =
      import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "") NIC ("0000:02:00.0", "<net name='mlx5_0' speed='300000'/>")));
  TEST_HAS (import.text, "rate: {value: 300 Gb/s, source: measured");
  TEST_TRUE (warned (&import, "no NIC type of 300 Gb/s is shipped"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_names_cannot_break_the_text (void)
{
  g_auto (Import) import = import_text (SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "") NIC (
      "0000:02:00.0", "<net name='a: {b&#10;topology: evil, \"#' speed='400000' gdr='1'/>")));
  TEST_HAS (import.text, "\\ntopology: evil");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_STR (clu_name (clu), "imported");
}

static void
test_rccl_mesh (void)
{
  g_auto (Import) import = import_file ("mi300x8_rccl.xml");
  TEST_HAS (import.text, "type: mi300x\n");
  TEST_HAS (import.text, "kind: full_mesh # measured: RCCL topology dump\n");
  TEST_HAS (import.text, "switch_per: {value: 1,");
  TEST_HAS (import.text, "under_switch: [nics]\n");
  TEST_HAS (import.text, "type: cx7_roce400\n    count: {value: 8,");
  TEST_INT (base_diag_n_warnings (import.warnings), 0);
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL_FATAL (clu);
  TEST_INT (clu_n_gpus (clu), 8);
}

static void
test_rccl_architecture (void)
{
  g_auto (Import) import = import_file ("mi250x_rccl.xml");
  TEST_HAS (import.text, "vendor: amd\n      scale_up: {class: xgmi_mi250x, lanes: {value: 6,");
  TEST_HAS (import.text, "- {a: 0, b: 1, lanes: 4}\n");
  TEST_HAS (import.text, "- {a: 1, b: 3, lanes: 1}\n");
  TEST_TRUE (warned (&import, "the GPU is said to be one die of MI200"));
  TEST_TRUE (warned (&import, "cxi0 runs at 200000 Gb/s by this file, which no NIC does; taken as not said"));
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_links_that_fail_break_the_mesh (void)
{
  g_autofree char *path = g_build_filename (DATA, "mi300x8_rccl.xml", NULL), *bytes = NULL;
  CU_ASSERT_TRUE_FATAL (g_file_get_contents (path, &bytes, NULL, NULL));
  char *link = strstr (bytes, "<xgmi target=\"0000:23:00.0\" count=\"1\"");
  CU_ASSERT_PTR_NOT_NULL_FATAL (link);
  strstr (link, "count=\"1\"")[strlen ("count=\"")] = '0'; /* GPU 0 says none to GPU 1 */
  g_auto (Import) import = import_text (bytes);
  TEST_HAS (import.text, "kind: full_mesh");
  TEST_TRUE (warned (&import, "GPU 1 says 1 xGMI links to GPU 0, which says 0; the one is taken"));
}

static void
test_type_that_contradicts_the_file (void)
{
  g_auto (Import) import = import_file_as ("mi300x8_rccl.xml", "mi325x");
  TEST_HAS (import.text, "type: mi325x\n");
  TEST_TRUE (warned (&import, "the file says Aqua Vanjaram [Instinct MI300X]; GPU type mi325x, which was given, is taken"));
}

/* As clouds write for NCCL: bus ids and classes of GPUs and of the NICs that it is to use. */
static void
test_nics_of_static_files_do_rdma (void)
{
  static const char text[] = SYSTEM ("<pci busid='1' class='0x030200'/><pci busid='2' class='0x020000'/>");
  g_auto (Import) import = import_text_as ("t.xml", text, strlen (text), "a100_40_sxm");
  TEST_HAS (import.text, "type: cx6_roce200 # assumed");
  g_autoptr (Clu) clu = load (&import);
  CU_ASSERT_PTR_NOT_NULL (clu);
}

static void
test_links_that_are_not_listed (void)
{
  static const char text[] = SYSTEM ("<pci busid='1' class='0x030200'/><pci busid='2' class='0x030200'/>");
  g_auto (Import) import = import_text_as ("t.xml", text, strlen (text), "v100_sxm2");
  TEST_TRUE (warned (&import, "which GPUs the 6 of GPU type v100_sxm2 join is not known; the topology has none"));
}

typedef struct {
  const char *text;
  const char *message;
} Refusal;

static void
test_refusals (void)
{
  static const Refusal cases[] = {
    { "", "t.xml:1:1: not well-formed XML" },
    { "<system version=\"1\">\n  <cpu\n", "t.xml:2:3: not well-formed XML" },
    { "<system version=\"1\"></cpu>", "t.xml:1:21: not well-formed XML" },
    { "<topology version=\"2.0\"/>", "t.xml:1:1: the top element is <topology>; NCCL's topology has <system version=\"1\">" },
    { "<!-- x -->\n <system/>", "t.xml:2:2: <system> without a version; version=\"1\" is accepted" },
    { "<system version=\"3\"/>", "t.xml:1:1: <system> has version '3'; versions 1 (NCCL's) and 2 (RCCL's) are accepted" },
    { "<graphs version=\"1\"/>", "forerun import nccl-graph reads this file" },
    { "<system version=\"2\"><cpu><pci busid='1' class='0x120000'><gpu gcn='908'/></pci>\n"
      "<pci busid='1' class='0x120000'><gpu gcn='908'/></pci></cpu></system>",
      "t.xml:2:1: busid 1 is given twice" },
    { "<system version=\"2\"><cpu><pci busid='1' class='0x120000'><gpu gcn='908'>\n<xgmi count='1'/></gpu></pci></cpu></system>",
      "t.xml:2:1: <xgmi> without a target" },
    { "<system version=\"1\"/><system version=\"1\"/>", "t.xml:1:22: <system> after the end of <system>" },
    { "<system version=\"1\"><cpu numaid=\"0\"/></system>", "t.xml:1:1: no GPU; " },
    { "<system version=\"1\"><cpu numaid=\"x\"/></system>", "t.xml:1:21: numaid of <cpu> is 'x'; a whole number up to 65535" },
    { SYSTEM ("<pci class='0x030200'/>"), "<pci> without a busid" },
    { SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "") GPU ("0000:01:00.0", "1", "0x2330", "")),
      "busid 0000:01:00.0 is given twice" },
    { SYSTEM (GPU ("0000:0A:00.0", "0", "0x2330", "") GPU ("0000:0a:00.0", "1", "0x2330", "")),
      "busid 0000:0a:00.0 is given twice" },
    { SYSTEM (GPU ("0000:01:00.0", "-3", "0x2330", "")), "dev of <gpu> is '-3'; a whole number up to 65535" },
    { SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", SWITCHED ("99999999999"))),
      "count of <nvlink> is '99999999999'; a whole number up to 1024" },
    { SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "<nvlink count='1'/>")), "<nvlink> without a target" },
    { SYSTEM (GPU ("0000:01:00.0", "0", "0x2330", "") NIC ("0000:02:00.0", "<net name='a' speed='fast'/>")),
      "speed of <net> is 'fast'" },
    { "<system version=\"1\" name=\"\xff\"/>", "t.xml:1:27: not UTF-8 text" },
  };
  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Import) import = import_text (cases[i].text);
    TEST_TRUE (import.text == NULL);
    TEST_TRUE (g_error_matches (import.error, BASE_ERROR, (gint)BASE_ERROR_INPUT));
    TEST_HAS (import.error == NULL ? NULL : import.error->message, cases[i].message);
  }
}

static void
test_nul_bytes_are_refused (void)
{
  static const char text[] = "<system version=\"1\">\n\0</system>";
  g_auto (Import) import = import_text_as ("t.xml", text, sizeof text - 1, NULL);
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "t.xml:2:1: not UTF-8 text (or a NUL byte)");
}

static void
test_columns_count_characters (void)
{
  /* 26 characters up to name=", two of two bytes each, "> and four blanks: '<' is character 35, byte 37 */
  g_auto (Import) import = import_text ("<system version=\"1\" name=\"\xc3\xa9\xc3\xa9\">    <cpu numaid=\"x\"/></system>");
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "t.xml:1:35: numaid");
}

static void
test_deep_nesting_is_refused (void)
{
  g_autoptr (GString) text = g_string_new ("<system version=\"1\"><cpu>\n");
  for (unsigned i = 0; i < 100; i++)
    g_string_append_printf (text, "<pci busid=\"%u\">\n", i);
  g_auto (Import) import = import_text (text->str);
  /* <system>, <cpu> and 62 <pci> are 64 levels; the 63rd <pci> is on line 64 */
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "t.xml:64:1: elements are nested too deeply; at most 64 levels");
}

static void
test_large_files_are_refused (void)
{
  gsize n_B = 100u << 20;
  g_autofree char *text = g_malloc (n_B);
  memset (text, ' ', n_B);
  g_auto (Import) import = import_text_as ("t.xml", text, n_B, NULL);
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "bytes are too many; at most 16 MiB");
}

static void
test_too_many_gpus_are_refused (void)
{
  g_autoptr (GString) text = g_string_new ("<system version=\"1\"><cpu>\n");
  for (unsigned i = 0; i < 1025; i++)
    g_string_append_printf (text, "<pci busid=\"%u\" class=\"0x030200\" device=\"0x2330\" vendor=\"0x10de\"/>\n", i);
  g_string_append (text, "</cpu></system>");
  g_auto (Import) import = import_text (text->str);
  TEST_HAS (import.error == NULL ? NULL : import.error->message, "t.xml:1026:1: more than 1024 GPUs in one node");
}

static void
test_same_input_same_text (void)
{
  g_auto (Import) a = import_file ("v100x8_mesh.xml"), b = import_file ("v100x8_mesh.xml");
  TEST_STR (a.text, b.text);
}

int
main (void)
{
  static const TestCase cases[] = {
    { "a virtual machine with hidden switches and no NIC imports with warnings", test_h200_virtual_machine },
    { "two levels of PCIe switches become one, storage NICs stay out of the fabric", test_a100_switched },
    { "narrow uplinks, planes of NVSwitches and RoCE are kept", test_h100_narrow_uplinks },
    { "a hybrid cube mesh keeps its links", test_v100_mesh },
    { "a coherent link to the CPU has links times rate", test_coherent_link },
    { "two hosts of one NVLink domain become two nodes", test_domain_of_two_hosts },
    { "an uneven PCIe tree is warned about", test_uneven_tree_is_warned_about },
    { "a file of bus ids alone needs the GPU type", test_file_without_gpu_elements },
    { "a GPU that is not shipped is written in place", test_type_that_is_not_shipped },
    { "an unknown device is guessed by compute capability and NVLinks", test_unknown_device_is_guessed_by_nvlinks },
    { "a failed NVLink lowers lanes_used", test_failed_link },
    { "GPUs that disagree about a link are warned about", test_links_that_disagree },
    { "PCIe cards under a bridge name the NVLink class", test_card_under_bridge },
    { "RCCL's version 2 with links to every other GPU is a full mesh", test_rccl_mesh },
    { "an architecture alone names the class of the links", test_rccl_architecture },
    { "links of one direction are taken, with a warning", test_links_that_fail_break_the_mesh },
    { "a GPU type that contradicts the file is warned about", test_type_that_contradicts_the_file },
    { "NICs of files that list bus ids only do RDMA", test_nics_of_static_files_do_rdma },
    { "links of unswitched GPUs that the file does not list are warned about", test_links_that_are_not_listed },
    { "two ports merged by NCCL are one adapter", test_merged_ports_are_one_adapter },
    { "adapters that do not divide over the switches say where they stand", test_nics_that_do_not_divide_over_switches },
    { "PCIe links that a virtual machine makes up are not believed", test_made_up_links_are_not_believed },
    { "a NIC rate between types overrides the type's", test_rate_between_types },
    { "names from the dump cannot break the text", test_names_cannot_break_the_text },
    { "bad input is refused with its position", test_refusals },
    { "NUL bytes are refused", test_nul_bytes_are_refused },
    { "columns count characters, not bytes", test_columns_count_characters },
    { "more than 64 levels are refused", test_deep_nesting_is_refused },
    { "files over 16 MiB are refused", test_large_files_are_refused },
    { "more than 1024 GPUs are refused", test_too_many_gpus_are_refused },
    { "the same dump gives the same text", test_same_input_same_text },
    { NULL, NULL },
  };
  return test_main ("import: NCCL topology", cases);
}
