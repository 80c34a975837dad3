/* Ranks of several processes meet and agree by all-reduces on the communicator that is measured: nothing else joins them, and
 * where it does not work nothing can be measured either. */
#include "nccl_run.h"

static bool
is_alone (const NcclSet *set)
{
  return set->local == set->nodes * set->gpus;
}

/* Words of all ranks of the set, on the GPU whose the first of them here is; it becomes the current one. */
static bool
get_words (NcclWorker *worker, const NcclSet *set)
{
  unsigned n_ranks = set->nodes * set->gpus;
  size_t bytes = (size_t)n_ranks * NCCL_WORDS * sizeof (float);
  if (!PROBE_CUDA (cudaSetDevice (worker->device[0])))
    return false;
  if (worker->words_ranks >= n_ranks)
    return true;
  cudaFreeHost (worker->words_host);
  cudaFree (worker->words_device);
  worker->words_host = worker->words_device = NULL;
  worker->words_ranks = 0;
  if (!PROBE_CUDA (cudaMallocHost (&worker->words_host, bytes)) || !PROBE_CUDA (cudaMalloc (&worker->words_device, bytes)) ||
      !PROBE_CUDA (cudaMemset (worker->words_device, 0, bytes)))
    return false;
  worker->words_ranks = n_ranks;
  return true;
}

static bool
sum_words (NcclWorker *worker, const NcclSet *set, size_t n, const char *what)
{
  float *words = worker->words_device;
  return nccl_ok (ncclAllReduce (words, words, n, ncclFloat, ncclSum, set->comm[0], worker->stream[0]), what);
}

bool
nccl_meet (NcclWorker *worker, const NcclSet *set)
{
  return is_alone (set) || (get_words (worker, set) && sum_words (worker, set, 1, "meeting") &&
                            PROBE_CUDA (cudaStreamSynchronize (worker->stream[0])));
}

bool
nccl_agree (NcclWorker *worker, const NcclSet *set, const NcclSay *say, NcclVerdict *out)
{
  unsigned n_ranks = set->nodes * set->gpus;
  if (is_alone (set)) {
    *out = NcclVerdict ();
    out->time_s = say->time_s;
    out->spent_s = say->spent_s;
    out->failed = say->failed ? 0 : -1;
    return true;
  }
  size_t n = (size_t)n_ranks * NCCL_WORDS, bytes = n * sizeof (float);
  cudaStream_t stream = worker->stream[0];
  if (!get_words (worker, set))
    return false;
  nccl_agree_put (say, n_ranks, set->first, worker->words_host);
  if (!PROBE_CUDA (cudaMemcpyAsync (worker->words_device, worker->words_host, bytes, cudaMemcpyHostToDevice, stream)) ||
      !sum_words (worker, set, n, "agreeing") ||
      !PROBE_CUDA (cudaMemcpyAsync (worker->words_host, worker->words_device, bytes, cudaMemcpyDeviceToHost, stream)) ||
      !PROBE_CUDA (cudaStreamSynchronize (stream)))
    return false;
  nccl_agree_take (worker->words_host, n_ranks, out);
  return !out->broken || probe_fail ("what the ranks told each other came out wrong");
}
