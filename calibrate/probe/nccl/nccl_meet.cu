/* Ranks of several processes meet and agree by all-reduces on the communicator that is measured: nothing else joins them, and
 * where it does not work nothing can be measured either. */
#include "nccl_run.h"

#include <stdio.h>

static bool
is_alone (const NcclSet *set)
{
  return set->local == set->nodes * set->gpus;
}

static bool
cuda_ok (NcclWorker *worker, bool ok)
{
  if (!ok)
    snprintf (worker->error, sizeof worker->error, "%s", probe_cuda_error ());
  return ok;
}

static bool
get_words (NcclWorker *worker, unsigned n_ranks)
{
  size_t bytes = (size_t)n_ranks * NCCL_WORDS * sizeof (float);
  if (worker->words_ranks >= n_ranks)
    return true;
  cudaFreeHost (worker->words_host);
  cudaFree (worker->words_device);
  worker->words_host = worker->words_device = NULL;
  worker->words_ranks = 0;
  if (!cuda_ok (worker, PROBE_CUDA (cudaMallocHost (&worker->words_host, bytes)) &&
                            PROBE_CUDA (cudaMalloc (&worker->words_device, bytes)) &&
                            PROBE_CUDA (cudaMemset (worker->words_device, 0, bytes))))
    return false;
  worker->words_ranks = n_ranks;
  return true;
}

bool
nccl_meet (NcclWorker *worker, const NcclSet *set)
{
  if (is_alone (set))
    return true;
  return cuda_ok (worker, PROBE_CUDA (cudaSetDevice (worker->device[0]))) && get_words (worker, set->nodes * set->gpus) &&
         nccl_ok (
             worker,
             ncclAllReduce (worker->words_device, worker->words_device, 1, ncclFloat, ncclSum, set->comm[0], worker->stream[0]),
             "meeting") &&
         cuda_ok (worker, PROBE_CUDA (cudaStreamSynchronize (worker->stream[0])));
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
  if (!cuda_ok (worker, PROBE_CUDA (cudaSetDevice (worker->device[0]))) || !get_words (worker, n_ranks))
    return false;
  nccl_agree_put (say, n_ranks, set->first, worker->words_host);
  if (!cuda_ok (worker,
                PROBE_CUDA (cudaMemcpyAsync (worker->words_device, worker->words_host, bytes, cudaMemcpyHostToDevice, stream))) ||
      !nccl_ok (worker, ncclAllReduce (worker->words_device, worker->words_device, n, ncclFloat, ncclSum, set->comm[0], stream),
                "agreeing") ||
      !cuda_ok (worker,
                PROBE_CUDA (cudaMemcpyAsync (worker->words_host, worker->words_device, bytes, cudaMemcpyDeviceToHost, stream)) &&
                    PROBE_CUDA (cudaStreamSynchronize (stream))))
    return false;
  nccl_agree_take (worker->words_host, n_ranks, out);
  if (out->broken)
    snprintf (worker->error, sizeof worker->error, "what the ranks told each other came out wrong");
  return !out->broken;
}
