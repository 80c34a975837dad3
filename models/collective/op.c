/* Names, size conventions and busbw factors of nccl-tests.
 *
 *     busbw = algbw x factor,  algbw = bytes / time
 *
 * factor: all_reduce 2(n-1)/n; all_gather, reduce_scatter, alltoall (n-1)/n; the others 1.
 * Source: nccl-tests doc/PERFORMANCE.md; src/all_reduce.cu:AllReduceGetBw and its siblings.
 * Check: test_models_op (2, 8 and 64 ranks: 1, 1.75, 1.96875). */
#include "models/op.h"

const BaseName mdl_op_names[] = {
  { "all_reduce", MDL_OP_ALL_REDUCE, "every rank gets the sum" },
  { "all_gather", MDL_OP_ALL_GATHER, "every rank gets every rank's part; bytes: of the gathered whole" },
  { "reduce_scatter", MDL_OP_REDUCE_SCATTER, "every rank gets its part of the sum; bytes: of the whole" },
  { "broadcast", MDL_OP_BROADCAST, "every rank gets the root's data" },
  { "reduce", MDL_OP_REDUCE, "the root gets the sum" },
  { "alltoall", MDL_OP_ALLTOALL, "every rank sends a part to every rank; bytes: what one rank sends, its own part included" },
  { "sendrecv", MDL_OP_SENDRECV, "every rank sends to the next; bytes: what one rank sends" },
  { NULL, 0, NULL },
};

const BaseName mdl_op_nccl_names[] = {
  { "AllReduce", MDL_OP_ALL_REDUCE, NULL },
  { "AllGather", MDL_OP_ALL_GATHER, NULL },
  { "ReduceScatter", MDL_OP_REDUCE_SCATTER, NULL },
  { "Broadcast", MDL_OP_BROADCAST, NULL },
  { "Reduce", MDL_OP_REDUCE, NULL },
  { NULL, 0, NULL },
};

#define ALGO_NAME(code, name, letter, help) { #name, MDL_ALGO_##code, help },
const BaseName mdl_algo_names[] = {
  MDL_ALGO_ROWS (ALGO_NAME){ "auto", MDL_ALGO_AUTO, "what the library chooses" },
  { "best", MDL_ALGO_BEST, "what is predicted fastest" },
  { NULL, 0, NULL },
};

char
mdl_algo_letter (MdlAlgo algo)
{
#define ALGO_LETTER(code, name, letter, help) [MDL_ALGO_##code] = (letter),
  static const char letters[MDL_ALGO_N] = { MDL_ALGO_ROWS (ALGO_LETTER) };
  g_return_val_if_fail (algo >= 0 && algo < MDL_ALGO_N, '?');
  return letters[algo];
}

/* Whether NCCL's word is the name in another case, its words apart or not. */
static gboolean
is_word (const char *name, const char *word)
{
  for (;; name++, word++) {
    name += *name == '_';
    word += *word == '_';
    if (g_ascii_tolower (*word) != *name)
      return FALSE;
    if (*name == '\0')
      return TRUE;
  }
}

const BaseName *
mdl_nccl_name_find (const BaseName *names, const char *word)
{
  const int n = names == mdl_algo_names ? MDL_ALGO_NCCL_N : G_MAXINT;
  for (const BaseName *row = names; row->name != NULL; row++)
    if (row->code >= 0 && row->code < n && is_word (row->name, word))
      return row;
  return NULL;
}

const BaseName mdl_proto_names[] = {
  { "ll", MDL_PROTO_LL, "low latency: 4 bytes of data and 4 of flag" },
  { "ll128", MDL_PROTO_LL128, "120 bytes of data and 8 of flag" },
  { "simple", MDL_PROTO_SIMPLE, "data, then a flag" },
  { "auto", MDL_PROTO_AUTO, "what the library chooses" },
  { NULL, 0, NULL },
};

const BaseName mdl_dtype_names[] = {
  { "int8", MDL_DTYPE_INT8, "1 byte" },
  { "fp8", MDL_DTYPE_FP8, "1 byte" },
  { "fp16", MDL_DTYPE_FP16, "2 bytes" },
  { "bf16", MDL_DTYPE_BF16, "2 bytes" },
  { "fp32", MDL_DTYPE_FP32, "4 bytes" },
  { "fp64", MDL_DTYPE_FP64, "8 bytes" },
  { NULL, 0, NULL },
};

unsigned
mdl_dtype_size_B (MdlDtype dtype)
{
  static const unsigned size_B[MDL_DTYPE_N] = {
    [MDL_DTYPE_INT8] = 1, [MDL_DTYPE_FP8] = 1,  [MDL_DTYPE_FP16] = 2,
    [MDL_DTYPE_BF16] = 2, [MDL_DTYPE_FP32] = 4, [MDL_DTYPE_FP64] = 8,
  };
  g_return_val_if_fail (dtype < MDL_DTYPE_N, 1);
  return size_B[dtype];
}

double
mdl_op_busbw_factor (MdlOp op, unsigned ranks)
{
  if (ranks == 0)
    return 0.0;
  double others = (double)(ranks - 1) / (double)ranks;
  switch (op) {
    case MDL_OP_ALL_REDUCE:
      return 2.0 * others;
    case MDL_OP_ALL_GATHER:
    case MDL_OP_REDUCE_SCATTER:
    case MDL_OP_ALLTOALL:
      return others;
    case MDL_OP_BROADCAST:
    case MDL_OP_REDUCE:
    case MDL_OP_SENDRECV:
    case MDL_OP_N:
      break;
  }
  return 1.0;
}
