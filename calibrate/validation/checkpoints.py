#!/usr/bin/env python3
"""Measures checkpoints of a sharded training state: copies to the host, writes, and what they cost a step that runs meanwhile.

  torchrun --nproc-per-node N calibrate/validation/checkpoints.py --out DIR --disk PATH [--disk PATH ...]

Each rank holds its share of a model under FSDP2 (fp32 parameters and AdamW moments). Rank 0 writes DIR/checkpoints.jsonl: `snapshot` to
pinned and to pageable memory, alone and all ranks at once; `steps` alone and beside the copy; `save` and `async_save` of
torch.distributed.checkpoint with their stall; `load`; plain `write` and `read` of the same bytes by file, with fsync.
"""
import argparse
import json
import os
import shutil
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import jobs  # noqa: E402
import measure  # noqa: E402


def largest(x):
    t = torch.tensor([x], dtype=torch.float64, device="cuda")
    dist.all_reduce(t, op=dist.ReduceOp.MAX)
    return t.item()


def state_of(job):
    tensors = {f"p{i}": p.detach() for i, p in enumerate(job.parameters())}
    for i, p in enumerate(job.parameters()):
        for key, value in job.optimizer.state[p].items():
            if torch.is_tensor(value) and value.dim() > 0:
                tensors[f"{key}{i}"] = value
    return tensors


def local(t):
    return t.to_local() if hasattr(t, "to_local") else t


def timed(work, n=3):
    seen = []
    for _ in range(n):
        torch.cuda.synchronize()
        dist.barrier()
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        seen.append(largest(time.perf_counter() - begin))
    return statistics.median(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--disk", action="append", default=[])
    args = parser.parse_args()
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl", device_id=device)
    os.makedirs(args.out, exist_ok=True)
    rows = open(f"{args.out}/checkpoints.jsonl", "a") if rank == 0 else open(os.devnull, "w")

    def tell(**row):
        rows.write(json.dumps(dict(gpus=size, **row)) + "\n")
        rows.flush()
        if rank == 0:
            print(json.dumps(row), flush=True)

    case = {"id": "state", "model": "llama_8b", "layers": 8, "s": 4096, "mb": 1, "gpus": size, "dp_by": "fsdp", "precision": "fp32"}
    if size == 1:
        case.update(dp_by=None, precision="amp", layers=4)
        case.pop("dp_by")
    job = jobs.new_job(case, device)
    for _ in range(3):
        job.step(measure.noted)
    state = state_of(job)
    bytes_ = sum(local(t).numel() * local(t).element_size() for t in state.values())
    pinned = {k: torch.empty(local(t).shape, dtype=t.dtype, pin_memory=True) for k, t in state.items()}
    pageable = {k: torch.empty(local(t).shape, dtype=t.dtype).zero_() for k, t in state.items()}

    def snapshot(to, turn=None):
        if turn is None or turn == rank:
            for key, t in state.items():
                to[key].copy_(local(t), non_blocking=True)
    for name, to in (("pinned", pinned), ("pageable", pageable)):
        snapshot(to)
        torch.cuda.synchronize()
        tell(what="snapshot", to=name, ranks="all", bytes_per_rank=bytes_, tensors=len(state), s=timed(lambda: snapshot(to)))
        tell(what="snapshot", to=name, ranks="one", bytes_per_rank=bytes_, tensors=len(state), s=timed(lambda: snapshot(to, 0)))

    def back():
        for key, t in state.items():
            local(t).copy_(pinned[key], non_blocking=True)
    tell(what="restore", to="pinned", ranks="all", bytes_per_rank=bytes_, s=timed(back))

    def steps(n):
        for _ in range(n):
            job.step(measure.noted)
    alone = timed(lambda: steps(5)) / 5
    side = torch.cuda.Stream()

    def beside():
        with torch.cuda.stream(side):
            snapshot(pinned)
        steps(5)
    tell(what="steps", beside="nothing", n=5, s=alone * 5)
    tell(what="steps", beside="snapshot", n=5, s=timed(beside))

    for disk in args.disk:
        kind = os.path.basename(os.path.dirname(disk.rstrip("/"))) or disk
        own = f"{disk}/rank{rank}"
        os.makedirs(own, exist_ok=True)
        free = shutil.disk_usage(disk).free
        if free < 2.5 * bytes_ * size:
            tell(what="skipped", disk=kind, free=free)
            continue
        flat = [pinned[k].view(-1).view(torch.uint8).numpy() for k in sorted(pinned)]

        def write():
            with open(f"{own}/plain", "wb", buffering=0) as f:
                for part in flat:
                    view = memoryview(part)
                    while len(view):
                        view = view[f.write(view[:1 << 24]):]
                os.fsync(f.fileno())
        tell(what="write", disk=kind, bytes_per_rank=bytes_, fsync=True, s=timed(write, 2))

        def read():
            scratch = bytearray(1 << 24)
            with open(f"{own}/plain", "rb", buffering=0) as f:
                while f.readinto(scratch):
                    pass
        tell(what="read", disk=kind, cached=True, bytes_per_rank=bytes_, s=timed(read, 2))
        os.unlink(f"{own}/plain")
        whole = {"state": state}

        def save():
            dcp.save(whole, checkpoint_id=f"{disk}/save")
        tell(what="save", disk=kind, bytes_per_rank=bytes_, s=timed(save, 2))

        def load():
            dcp.load(whole, checkpoint_id=f"{disk}/save")
        tell(what="load", disk=kind, bytes_per_rank=bytes_, s=timed(load, 2))
        for attempt in range(2):
            torch.cuda.synchronize()
            dist.barrier()
            begin = time.perf_counter()
            future = dcp.async_save(whole, checkpoint_id=f"{disk}/async{attempt}")
            stall = largest(time.perf_counter() - begin)
            at, n = time.perf_counter(), 0
            while n < 5 or (n < 200 and largest(0.0 if future.done() else 1.0)):
                job.step(measure.noted)
                torch.cuda.synchronize()
                n += 1
            meanwhile = largest(time.perf_counter() - at)
            future.result()
            tell(what="async_save", disk=kind, attempt=attempt, bytes_per_rank=bytes_, stall_s=stall, total_s=largest(time.perf_counter() - begin),
                 steps=n, steps_s=meanwhile, step_alone_s=alone)
        dist.barrier()
        if rank == 0:
            for name in ("save", "async0", "async1"):
                shutil.rmtree(f"{disk}/{name}", ignore_errors=True)
    dist.barrier()
    rows.close()
    os._exit(0)


if __name__ == "__main__":
    main()
