/* The worker: a process of its own that runs NCCL under the environment it was started with. */
#ifndef FORERUN_PROBE_NCCL_WORKER_H
#define FORERUN_PROBE_NCCL_WORKER_H

/* Hidden: forerun-probe --nccl-worker GPUS BYTES LOG LIBRARY, both last '-' for none; requests on 3, answers on 4, a line each:
 *   in   a ProbeRequest (probe_plan.h)
 *   out  "ready VERSION" once; then for each request "ok S…", "choice ALGO PROTO CHANNELS", or "error WHY" (this case alone), or
 *        "fatal WHY" (and the worker ends); "." is a sign of life */
#define NCCL_WORKER_OPTION "--nccl-worker"

int nccl_worker_main (int argc, char **argv);

#endif
