/* Times of kernels by the shapes of operations: which case an operation is, what a call takes, and what is refused. Times are in
 * microseconds; the traces are written here. */
#include <string.h>

#include "harness.h"
#include "scenario/trace.h"

#define HEAD "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"GPU X\"}],\n\"traceEvents\": [\n"
#define TAIL "{\"ph\": \"M\", \"name\": \"end\"}]}\n"
#define OPERATION(id, name, dims, types, strides, concrete)                                                               \
  "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" name "\", \"pid\": 1, \"tid\": 1, \"ts\": 1, \"dur\": 1, "          \
  "\"args\": {\"External id\": " #id ", \"Input Dims\": " dims ", \"Input type\": " types ", \"Input Strides\": " strides \
  ", \"Concrete Inputs\": " concrete "}},\n"
#define KERNEL_OF(id, name, ts, dur)                                                                                           \
  "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": 2, \"dur\": 1, " \
  "\"args\": {\"correlation\": " #ts "}},\n"                                                                                   \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"" name "\", \"pid\": 0, \"tid\": 7, \"ts\": " #ts ", \"dur\": " #dur       \
  ", \"args\": {\"device\": 0, \"stream\": 7, \"correlation\": " #ts ", \"External id\": " #id "}},\n"
#define BF16_2 "[\"c10::BFloat16\", \"c10::BFloat16\"]"
#define NONE_2 "[\"\", \"\"]"

static gboolean
add (ScnTraceKernels *kernels, const char *path, const char *text, gint64 step, char **message)
{
  g_autoptr (BaseDiag) warnings = base_diag_new ();
  g_autoptr (GError) error = NULL;
  if (scn_trace_kernels_add (kernels, path, text, strlen (text), step, warnings, &error))
    return TRUE;
  *message = g_strdup (error->message);
  return FALSE;
}

/* The document of a trace, or the message with which it is refused. Returned: full. */
static char *
kernels_of (const char *text)
{
  g_autoptr (ScnTraceKernels) kernels = scn_trace_kernels_new ();
  g_autoptr (GError) error = NULL;
  char *message = NULL;
  if (!add (kernels, "t.json", text, -1, &message))
    return message;
  char *out = scn_trace_kernels_write (kernels, &error);
  return out != NULL ? out : g_strdup (error->message);
}

/* The members of the only point of an operation with one kernel of 100 us, before the times. Returned: full; empty: no point. */
static char *
case_of (const char *operation)
{
  g_autofree char *text = g_strconcat (HEAD, operation, KERNEL_OF (5, "k", 100, 100), TAIL, NULL);
  g_autofree char *out = kernels_of (text);
  char *from = strstr (out, "\"what\""), *to = from != NULL ? strstr (from, ", \"median_s\"") : NULL;
  return to != NULL ? g_strndup (from, (gsize)(to - from)) : g_strdup ("");
}

static void
check_case (const char *operation, const char *expected)
{
  g_autofree char *what = case_of (operation);
  TEST_STR (what, expected);
}

#define GEMM(what, dtype, op, m, n, k, more)                                                                                 \
  "\"what\": \"" what "\", \"dtype\": \"" dtype "\", \"op\": \"" op "\", \"m\": " #m ", \"n\": " #n ", \"k\": " #k ", " more \
  ", \"mode\": \"sustained\""

/* A layer of 30 features out and 20 in, on 10 tokens: which pass it is stands in how the factors lie in memory. */
static void
test_products (void)
{
  check_case (OPERATION (5, "aten::mm", "[[10, 20], [20, 30]]", BF16_2, "[[20, 1], [1, 20]]", NONE_2),
              GEMM ("gemm", "bf16", "forward", 10, 30, 20, "\"batch\": 1"));
  check_case (OPERATION (5, "aten::mm", "[[10, 30], [30, 20]]", BF16_2, "[[30, 1], [20, 1]]", NONE_2),
              GEMM ("gemm", "bf16", "dgrad", 10, 30, 20, "\"batch\": 1"));
  check_case (OPERATION (5, "aten::mm", "[[30, 10], [10, 20]]", BF16_2, "[[1, 30], [20, 1]]", NONE_2),
              GEMM ("gemm", "bf16", "wgrad", 10, 30, 20, "\"batch\": 1"));
  /* Without strides, as PyTorch wrote before 2.4. */
  check_case (OPERATION (5, "aten::mm", "[[10, 20], [20, 30]]", BF16_2, "[]", NONE_2),
              GEMM ("gemm", "bf16", "forward", 10, 30, 20, "\"batch\": 1"));
  check_case (OPERATION (5, "aten::addmm", "[[30], [10, 20], [20, 30]]", "[\"c10::Half\", \"c10::Half\", \"c10::Half\"]",
                         "[[1], [20, 1], [1, 20]]", "[\"\", \"\", \"\"]"),
              GEMM ("gemm", "fp16", "forward", 10, 30, 20, "\"batch\": 1"));
  check_case (OPERATION (5, "aten::bmm", "[[4, 10, 20], [4, 20, 30]]", BF16_2, "[[200, 20, 1], [600, 1, 20]]", NONE_2),
              GEMM ("gemm_batched", "bf16", "forward", 10, 30, 20, "\"batch\": 4"));
  check_case (OPERATION (5, "aten::_scaled_mm", "[[16, 32], [32, 64], [], []]",
                         "[\"c10::Float8_e4m3fn\", \"c10::Float8_e4m3fn\", \"float\", \"float\"]", "[[32, 1], [1, 32], [], []]",
                         "[\"\", \"\", \"\", \"\"]"),
              GEMM ("gemm", "fp8", "forward", 16, 64, 32, "\"batch\": 1"));
  check_case (OPERATION (5, "aten::_grouped_mm", "[[64, 20], [8, 20, 30], [8]]", "[\"c10::BFloat16\", \"c10::BFloat16\", \"int\"]",
                         "[[20, 1], [600, 1, 20], [1]]", "[\"\", \"\", \"\"]"),
              GEMM ("gemm_grouped", "bf16", "forward", 64, 30, 20, "\"groups\": 8, \"balance\": \"even\""));
  check_case (OPERATION (5, "aten::_grouped_mm", "[[30, 64], [64, 20], [8]]", "[\"c10::BFloat16\", \"c10::BFloat16\", \"int\"]",
                         "[[1, 30], [20, 1], [1]]", "[\"\", \"\", \"\"]"),
              GEMM ("gemm_grouped", "bf16", "wgrad", 64, 30, 20, "\"groups\": 8, \"balance\": \"even\""));
}

/* What has no case: other formats, shapes that do not fit together, a whole matrix that is added, other operations. */
static void
test_left_out (void)
{
  check_case (OPERATION (5, "aten::mm", "[[10, 20], [20, 30]]", "[\"long int\", \"long int\"]", "[[20, 1], [30, 1]]", NONE_2), "");
  check_case (OPERATION (5, "aten::mm", "[[10, 20], [21, 30]]", BF16_2, "[[20, 1], [30, 1]]", NONE_2), "");
  check_case (OPERATION (5, "aten::mm", "[[10, 0], [0, 30]]", BF16_2, "[[1, 1], [30, 1]]", NONE_2), "");
  check_case (OPERATION (5, "aten::mm", "[[10, \"20\"], [20, 30]]", BF16_2, "[[20, 1], [30, 1]]", NONE_2), "");
  check_case (OPERATION (5, "aten::bmm", "[[4, 10, 20], [3, 20, 30]]", BF16_2, "[[1, 1, 1], [1, 1, 1]]", NONE_2), "");
  check_case (OPERATION (5, "aten::bmm", "[[1, 1, 4, 10, 20], [4, 20, 30]]", BF16_2, "[[], []]", NONE_2), "");
  check_case (OPERATION (5, "aten::addmm", "[[10, 30], [10, 20], [20, 30]]",
                         "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]", "[[30, 1], [20, 1], [1, 20]]", NONE_2),
              "");
  check_case (OPERATION (5, "aten::_grouped_mm", "[[64, 20], [8, 20, 30], []]", "[\"c10::BFloat16\", \"c10::BFloat16\", \"\"]",
                         "[[20, 1], [600, 1, 20], []]", NONE_2),
              "");
  check_case (OPERATION (5, "aten::_flash_attention_forward", "[[100, 4, 64], [100, 2, 64]]", BF16_2, "[[], []]", NONE_2), "");
  check_case (OPERATION (5, "aten::sort", "[[10, 20]]", "[\"float\"]", "[[20, 1]]", "[\"\"]"), "");
}

#define FLASH(causal, window) \
  "[\"\", \"\", \"\", \"\", \"\", \"100\", \"100\", \"0.\", \"" causal "\", \"False\", \"\", \"" window "\"]"
#define ATTENTION(library, op, causal)                                                        \
  "\"what\": \"attention\", \"library\": \"" library "\", \"dtype\": \"bf16\", \"op\": \"" op \
  "\", \"batch\": 2, \"heads\": 8, \"kv_heads\": 4, \"length\": 100, \"kv_length\": 100, \"head_dim\": 64, \"causal\": " causal

static void
test_attention (void)
{
  check_case (OPERATION (5, "aten::_flash_attention_forward", "[[2, 100, 8, 64], [2, 100, 4, 64], [2, 100, 4, 64]]", BF16_2,
                         "[[], []]", FLASH ("True", "")),
              ATTENTION ("flash", "forward", "true"));
  check_case (OPERATION (5, "aten::_flash_attention_forward", "[[2, 100, 8, 64], [2, 100, 4, 64]]", BF16_2, "[[], []]",
                         FLASH ("False", "")),
              ATTENTION ("flash", "forward", "false"));
  check_case (OPERATION (5, "aten::_flash_attention_forward", "[[2, 100, 8, 64], [2, 100, 4, 64]]", BF16_2, "[[], []]",
                         FLASH ("True", "16")),
              "");
  check_case (OPERATION (5, "aten::_flash_attention_backward", "[[2, 100, 8, 64], [2, 100, 8, 64], [2, 100, 4, 64]]",
                         "[\"c10::BFloat16\", \"c10::BFloat16\", \"c10::BFloat16\"]", "[[], [], []]",
                         "[\"\", \"\", \"\", \"\", \"\", \"\", \"\", \"\", \"100\", \"100\", \"0.\", \"True\"]"),
              ATTENTION ("flash", "backward", "true"));
  check_case (OPERATION (5, "aten::_cudnn_attention_forward", "[[2, 8, 100, 64], [2, 4, 100, 64]]", BF16_2, "[[], []]",
                         "[\"\", \"\", \"\", \"\", \"\", \"\", \"100\", \"100\", \"True\", \"0.\", \"False\", \"False\"]"),
              ATTENTION ("cudnn", "forward", "false"));
}

static double
member_of (const char *document, const char *key)
{
  const char *at = strstr (document, key);
  return at != NULL ? g_ascii_strtod (at + strlen (key), NULL) : -1;
}

#define MM         OPERATION (5, "aten::mm", "[[10, 20], [20, 30]]", BF16_2, "[[20, 1], [1, 20]]", NONE_2)
#define MM_AGAIN   OPERATION (6, "aten::mm", "[[10, 20], [20, 30]]", BF16_2, "[[20, 1], [1, 20]]", NONE_2)
#define FLOATS(id) OPERATION (id, "aten::mm", "[[10, 20], [20, 30]]", "[\"float\", \"float\"]", "[[20, 1], [1, 20]]", NONE_2)

/* A call's kernels add up, each with the gap of 4 us that lies between two that were queued in time. */
static void
test_times (void)
{
  g_autofree char *out = kernels_of (HEAD MM MM_AGAIN KERNEL_OF (5, "a", 100, 10) KERNEL_OF (5, "b", 114, 20)
                                         KERNEL_OF (6, "a", 138, 10) KERNEL_OF (6, "b", 152, 40) TAIL);
  TEST_NEAR (member_of (out, "\"gap_s\": "), 4e-6, 1e-4);
  TEST_NEAR (member_of (out, "\"median_s\": "), 0.5 * (38e-6 + 58e-6), 1e-4);
  /* 10 us either side: a standard deviation of 14.14 us, 10 us of the mean of two, 1.25 times that of the median. */
  TEST_NEAR (member_of (out, "\"ci_lo_s\": "), 48e-6 - 24.5e-6, 1e-4);
  TEST_NEAR (member_of (out, "\"ci_hi_s\": "), 48e-6 + 24.5e-6, 1e-4);
  TEST_NEAR (member_of (out, "\"samples\": "), 2, 1e-4);
  /* Factors in fp32 by the kernel: on the tensor cores. */
  g_autofree char *tf32 = kernels_of (HEAD FLOATS (5) KERNEL_OF (5, "sm80_tf32_gemm", 100, 10) TAIL);
  TEST_HAS (tf32, "\"dtype\": \"tf32\"");
  g_autofree char *fp32 = kernels_of (HEAD FLOATS (5) KERNEL_OF (5, "sgemm", 100, 10) TAIL);
  TEST_HAS (fp32, "\"dtype\": \"fp32\"");
}

/* A collective beside a call slows it, whichever began first. */
static void
test_disturbed (void)
{
#define NCCL(ts, dur)                                                                                                 \
  "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"ncclDevKernel_AllReduce\", \"pid\": 0, \"tid\": 20, \"ts\": " #ts \
  ", \"dur\": " #dur ", \"args\": {\"device\": 0, \"stream\": 20, \"correlation\": 9" #ts "}},\n"
#define THREE KERNEL_OF (5, "a", 100, 10) KERNEL_OF (6, "a", 200, 30)
  g_autofree char *before = kernels_of (HEAD MM MM_AGAIN NCCL (90, 15) THREE TAIL);
  TEST_NEAR (member_of (before, "\"median_s\": "), 30e-6, 1e-4);
  g_autofree char *after = kernels_of (HEAD MM MM_AGAIN NCCL (220, 50) THREE TAIL);
  TEST_NEAR (member_of (after, "\"median_s\": "), 10e-6, 1e-4);
}

/* All passes are one point, the mean of their kernels: an addition of arrays of 1200 B, a fill of 600 B, a cast, a sum. */
static void
test_passes (void)
{
  g_autofree char *out = kernels_of (
      HEAD OPERATION (5, "aten::add", "[[20, 30], [20, 30], []]", "[\"c10::BFloat16\", \"c10::BFloat16\", \"Scalar\"]",
                      "[[30, 1], [30, 1], []]", "[\"\", \"\", \"1\"]")
          OPERATION (6, "aten::fill_", "[[10, 30], []]", "[\"c10::BFloat16\", \"Scalar\"]", "[[30, 1], []]", "[\"\", \"0\"]")
              OPERATION (7, "aten::copy_", "[[10, 10], [10, 10]]", "[\"float\", \"c10::BFloat16\"]", "[[10, 1], [10, 1]]", NONE_2)
                  OPERATION (8, "aten::sum", "[[100, 10]]", "[\"float\"]", "[[10, 1]]", "[\"\"]") KERNEL_OF (5, "k", 100, 10)
                      KERNEL_OF (6, "k", 200, 20) KERNEL_OF (7, "k", 300, 30) KERNEL_OF (8, "k", 400, 40) TAIL);
  TEST_NEAR (member_of (out, "\"read_B\": "), (2400 + 0 + 200 + 4000) / 4.0, 1e-4);
  TEST_NEAR (member_of (out, "\"written_B\": "), (1200 + 600 + 400 + 0) / 4.0, 1e-4);
  TEST_NEAR (member_of (out, "\"median_s\": "), 25e-6, 1e-4);
  TEST_NEAR (member_of (out, "\"samples\": "), 4, 1e-4);
}

/* One step of those that are marked. */
static void
test_steps (void)
{
#define STEP(n, ts)                                                                                                       \
  "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" #n "\", \"pid\": 1, \"tid\": 1, \"ts\": " #ts \
  ", \"dur\": 10},\n"
  static const char text[] = HEAD STEP (1, 0) STEP (2, 50) MM KERNEL_OF (5, "a", 100, 10) TAIL;
  char *message = NULL;
  g_autoptr (ScnTraceKernels) kernels = scn_trace_kernels_new ();
  TEST_TRUE (add (kernels, "t.json", text, 1, &message));
  TEST_FALSE (add (kernels, "t.json", text, 2, &message));
  TEST_HAS (message, "step 2 of rank 0 has no kernel");
  g_free (message);
}

static void
test_refused (void)
{
  g_autofree char *shapeless = kernels_of (HEAD KERNEL_OF (5, "a", 100, 10) TAIL);
  TEST_HAS (shapeless, "record_shapes=True");
  g_autofree char *unknown =
      kernels_of (HEAD OPERATION (5, "aten::sort", "[[10]]", "[\"float\"]", "[[1]]", "[\"\"]") KERNEL_OF (5, "a", 100, 10) TAIL);
  TEST_HAS (unknown, "t.json: no matrix product, fused attention or pass");
  g_autofree char *cut = kernels_of (HEAD MM);
  TEST_HAS (cut, "cut off");
  g_autoptr (ScnTraceKernels) kernels = scn_trace_kernels_new ();
  g_autofree char *message = NULL;
  static const char other[] = "{\"schemaVersion\": 1, \"traceEvents\": [\n" MM KERNEL_OF (5, "a", 100, 10) TAIL;
  TEST_TRUE (add (kernels, "x.json", HEAD MM KERNEL_OF (5, "a", 100, 10) TAIL, -1, &message));
  TEST_FALSE (add (kernels, "y.json", other, -1, &message));
  TEST_HAS (message, "y.json: its GPU is 'unknown', that of x.json 'GPU X'");
}

static const TestCase cases[] = {
  { "a product is the pass that its factors lie for", test_products },
  { "operations without a case are left out", test_left_out },
  { "attention has its heads and its library", test_attention },
  { "a call takes its kernels and their gaps", test_times },
  { "calls beside collectives are left out", test_disturbed },
  { "passes over memory are one mean", test_passes },
  { "a step can be chosen", test_steps },
  { "what has no shapes is refused with the remedy", test_refused },
  { NULL, NULL },
};

int
main (void)
{
  return test_main ("scenario trace kernels", cases);
}
