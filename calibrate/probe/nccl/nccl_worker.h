/* The worker: a process of its own that runs NCCL under the environment it was started with. */
#ifndef FORERUN_PROBE_NCCL_WORKER_H
#define FORERUN_PROBE_NCCL_WORKER_H

/* Hidden: --nccl-worker GPUS BYTES LOG LIBRARY [DEVICE], GPUS of the machine in use, LOG and LIBRARY '-' for none; requests on 3,
 * answers on 4, a line each. With DEVICE it has that GPU alone, and is one rank among others:
 *   in   a ProbeRequest (probe_plan.h); with DEVICE also "id", and what joins and drops a communicator (probe_layout.h)
 *   out  "ready VERSION BYTES" once, the size of its buffers; then for each request "ok K S…", "choice ALGO PROTO CHANNELS",
 *        without LOG "ran", "id HEX", "joined", "dropped", or "error WHY" (this case alone), or "fatal WHY" (and the worker ends);
 *        "." is a sign of life */
#define NCCL_WORKER_OPTION "--nccl-worker"

int nccl_worker_main (int argc, char **argv);

#endif
