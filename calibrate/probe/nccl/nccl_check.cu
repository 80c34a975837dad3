/* Known inputs and exact outputs. Inputs are whole numbers from 0 to 7 that depend on rank and place; sums of all ranks (2^21 would
 * be too many) are exact in fp32 in any order, so that every element of every output is compared for equality. */
#include "nccl_run.h"

#define BLOCKS  2048
#define THREADS 256
#define POISON  0xa5 /* four such bytes are no whole number as fp32 */

static __device__ float
input (unsigned rank, size_t i)
{
  unsigned h = (unsigned)i * 2654435761U + rank * 0x85ebca6bU; /* Knuth's and Murmur's odd constants; any mix would do */
  h ^= h >> 15;
  h *= 0x2c1b3c6dU;
  h ^= h >> 12;
  return (float)(h & 7);
}

static __device__ float
input_sum (unsigned n_ranks, size_t i)
{
  float sum = 0;
  for (unsigned rank = 0; rank < n_ranks; rank++)
    sum += input (rank, i);
  return sum;
}

/* Element i of what `rank` gets; `count` as probe_op_count. */
static __device__ float
expected (int op, unsigned rank, unsigned n_ranks, size_t count, size_t i)
{
  switch (op) {
    case PROBE_OP_ALL_GATHER:
      return input ((unsigned)(i / count), i % count);
    case PROBE_OP_REDUCE_SCATTER:
      return input_sum (n_ranks, rank * count + i);
    case PROBE_OP_BROADCAST:
      return input (0, i);
    case PROBE_OP_ALLTOALL:
      return input ((unsigned)(i / count), rank * count + i % count);
    case PROBE_OP_SENDRECV:
      return input ((rank + n_ranks - 1) % n_ranks, i);
    default: /* all_reduce, reduce */
      return input_sum (n_ranks, i);
  }
}

static __global__ void
fill (float *out, size_t n, unsigned rank)
{
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    out[i] = input (rank, i);
}

static __global__ void
compare (const float *out, size_t n, int op, unsigned rank, unsigned n_ranks, size_t count, unsigned long long *wrong)
{
  unsigned long long found = 0;
  for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    found += !(out[i] == expected (op, rank, n_ranks, count, i));
  if (found > 0)
    atomicAdd (wrong, found);
}

/* Elements of a rank's output. */
static size_t
output_count (const ProbeRequest *request)
{
  unsigned ranks = probe_request_ranks (request);
  size_t count = probe_op_count (request->op, request->bytes, ranks);
  return request->op == PROBE_OP_ALL_GATHER || request->op == PROBE_OP_ALLTOALL ? count * ranks : count;
}

static bool
fill_input (NcclWorker *worker, unsigned i, unsigned rank)
{
  if (worker->filled[i] == rank + 1)
    return true;
  worker->filled[i] = 0;
  fill<<<BLOCKS, THREADS, 0, worker->stream[i]>>> (worker->in[i], worker->capacity_B / sizeof (float), rank);
  if (!PROBE_CUDA (cudaGetLastError ()) || !PROBE_CUDA (cudaStreamSynchronize (worker->stream[i])))
    return false;
  worker->filled[i] = rank + 1;
  return true;
}

bool
nccl_prepare_output (NcclWorker *worker, const NcclSet *set, const ProbeRequest *request)
{
  size_t bytes = output_count (request) * sizeof (float);
  for (unsigned i = 0; i < set->local; i++) {
    cudaStream_t stream = worker->stream[i];
    if (!PROBE_CUDA (cudaSetDevice (worker->device[i])) || !fill_input (worker, i, set->first + i))
      return false;
    if (request->in_place) {
      if (!PROBE_CUDA (cudaMemcpyAsync (worker->out[i], worker->in[i], bytes, cudaMemcpyDeviceToDevice, stream)))
        return false;
    } else if (!PROBE_CUDA (cudaMemsetAsync (worker->out[i], POISON, bytes, stream))) {
      return false;
    }
  }
  for (unsigned i = 0; i < set->local; i++)
    if (!PROBE_CUDA (cudaStreamSynchronize (worker->stream[i])))
      return false;
  return true;
}

NcclEnd
nccl_check_output (NcclWorker *worker, const NcclSet *set, const ProbeRequest *request)
{
  unsigned ranks = probe_request_ranks (request);
  size_t n = output_count (request), count = probe_op_count (request->op, request->bytes, ranks);
  unsigned local = request->op != PROBE_OP_REDUCE ? set->local : set->first == 0 ? 1 : 0; /* the root alone gets something */
  for (unsigned i = 0; i < local; i++) {
    cudaStream_t stream = worker->stream[i];
    if (!PROBE_CUDA (cudaSetDevice (worker->device[i])) ||
        !PROBE_CUDA (cudaMemsetAsync (worker->wrong[i], 0, sizeof *worker->wrong[i], stream)))
      return NCCL_BROKEN;
    compare<<<BLOCKS, THREADS, 0, stream>>> (worker->out[i], n, (int)request->op, set->first + i, ranks, count, worker->wrong[i]);
    if (!PROBE_CUDA (cudaGetLastError ()))
      return NCCL_BROKEN;
  }
  bool right = true;
  for (unsigned i = 0; i < local; i++) {
    unsigned long long wrong = 0;
    if (!PROBE_CUDA (cudaSetDevice (worker->device[i])) || !PROBE_CUDA (cudaStreamSynchronize (worker->stream[i])) ||
        !PROBE_CUDA (cudaMemcpy (&wrong, worker->wrong[i], sizeof wrong, cudaMemcpyDeviceToHost)))
      return NCCL_BROKEN;
    if (wrong > 0)
      right = probe_fail ("wrong data: %llu of %zu elements on rank %u", wrong, n, set->first + i);
  }
  return right ? NCCL_DONE : NCCL_REFUSED;
}
