#!/usr/bin/env python3
"""Records steps of plain PyTorch by torch.profiler, and measures the same steps without it.

  python3 calibrate/validation/profiles.py --out DIR [--gpus 1,2] [--only ID,...] [--shapes]

For each number of GPUs and each case: DIR/steps.jsonl gets a line with the median step, measured before any profiler ran, and
DIR/ID_gpusN_rankR.json.gz the trace of three steps of rank R, as `forerun import kineto` reads it. With one GPU the model is wrapped by
DDP or FSDP2 as well, with a communicator of one rank. Needs PyTorch 2.6 or later with CUDA and NCCL.

--shapes: other cases, of one GPU. Those of a few layers are recorded, three steps with record_shapes=True, as `forerun import kineto
--kernels` reads it. The others are measured, to compare predictions with.
"""
import argparse
import gzip
import json
import os
import shutil
import sys
import time

import torch
import torch.distributed as dist

import jobs
import measure
from cases import case

CASES = [case("ddp_gpt_mb16", "gpt2_medium", 1024, 16, dp_by="ddp"),
         case("ddp_1b", "llama_1b", 2048, 2, dp_by="ddp"),
         case("ddp_8b_l8", "llama_8b", 4096, 1, layers=8, dp_by="ddp"),
         case("fsdp_1b", "llama_1b", 2048, 2, dp_by="fsdp", precision="fp32"),
         case("fsdp_8b_l8", "llama_8b", 4096, 1, layers=8, dp_by="fsdp", precision="fp32")]
# Kernels with their shapes: few layers, so that traces are small.
SHAPES = [case("k_1b", "llama_1b", 2048, 2, layers=6), case("k_gpt", "gpt2_medium", 1024, 8, layers=6),
          case("k_8b", "llama_8b", 4096, 1, layers=4), case("k_1b_cudnn", "llama_1b", 2048, 2, layers=6, attention="cudnn"),
          case("k_8b_cudnn", "llama_8b", 4096, 1, layers=4, attention="cudnn"),
          case("k_mixtral", "mixtral", 4096, 1, layers=1, grouped=True)]
WHOLE = [case("1b_s2048_mb2", "llama_1b", 2048, 2), case("1b_s2048_mb4", "llama_1b", 2048, 4), case("1b_s8192_mb1", "llama_1b", 8192, 1),
         case("gpt_mb8", "gpt2_medium", 1024, 8), case("gpt_mb16", "gpt2_medium", 1024, 16),
         case("8b_l8_s4096_mb1", "llama_8b", 4096, 1, layers=8), case("8b_l8_s4096_mb2", "llama_8b", 4096, 2, layers=8),
         case("8b_l8_s8192_mb1", "llama_8b", 8192, 1, layers=8),
         case("1b_s2048_mb2_cudnn", "llama_1b", 2048, 2, attention="cudnn"),
         case("1b_s8192_mb1_cudnn", "llama_1b", 8192, 1, attention="cudnn"),
         case("8b_l8_s4096_mb1_cudnn", "llama_8b", 4096, 1, layers=8, attention="cudnn"),
         case("8b_l8_s8192_mb1_cudnn", "llama_8b", 8192, 1, layers=8, attention="cudnn")]
WARM, STEPS = 5, 40
HOT_S = 3  # until power and temperature limit the clock as in training; the profiler's warm-up takes as long


def quiet(_):
    pass


def hot_steps(job):
    """So many steps take HOT_S. They have run."""
    torch.cuda.synchronize()
    begin, n = time.perf_counter(), 0
    while time.perf_counter() - begin < HOT_S:
        job.step(quiet)
        torch.cuda.synchronize()
        n += 1
    return n


def record(job, path, shapes):
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    active, warm = 3, hot_steps(job) if shapes else 2
    schedule = torch.profiler.schedule(wait=0, warmup=warm, active=active, repeat=1)
    with torch.profiler.profile(activities=activities, schedule=schedule, record_shapes=shapes,
                                on_trace_ready=lambda profile: profile.export_chrome_trace(path)) as profile:
        for _ in range(warm + active):
            job.step(quiet)
            profile.step()
    with open(path, "rb") as f, gzip.open(path + ".gz", "wb", 9) as g:
        shutil.copyfileobj(f, g)
    os.unlink(path)


def run(rank, gpus, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29500 + gpus))
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", rank=rank, world_size=gpus, device_id=device)
    sets = (WHOLE, SHAPES) if args.shapes else (CASES, CASES)
    for traced in (False, True):  # a process in which a profiler ran launches later
        for c in sets[traced]:
            if args.only and c["id"] not in args.only.split(","):
                continue
            job = jobs.new_job(dict(c, gpus=gpus), device)
            for _ in range(WARM):
                job.step(quiet)
            dist.barrier()
            if traced:
                record(job, f"{args.out}/{c['id']}_gpus{gpus}_rank{rank}.json", args.shapes)
            else:
                row = dict(c, gpus=gpus, device=torch.cuda.get_device_name(device), torch=torch.__version__,
                           nccl=".".join(map(str, torch.cuda.nccl.version())), **measure.timed(job, device, STEPS))
                if rank == 0:
                    with open(f"{args.out}/steps.jsonl", "a") as f:
                        f.write(json.dumps(row) + "\n")
            del job
            torch.cuda.empty_cache()
            dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--gpus", default="1,2")
    parser.add_argument("--only", default="", metavar="ID,...")
    parser.add_argument("--shapes", action="store_true", help="kernels with their shapes, on one GPU")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("profiles.py: no GPU")
    os.makedirs(args.out, exist_ok=True)
    for gpus in [1] if args.shapes else map(int, args.gpus.split(",")):
        torch.multiprocessing.spawn(run, (gpus, args), gpus)


if __name__ == "__main__":
    main()
