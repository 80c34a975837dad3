#!/usr/bin/env python3
"""Measures steps of torch.nn.DataParallel, one process for all GPUs, beside the same step on one GPU.

  python3 calibrate/validation/data_parallel.py --out DIR [--gpus 1,2,4]

Each step copies the parameters to every GPU, cuts the batch, runs a thread a GPU, gathers, and sums gradients on GPU 0. `loss: replica`
computes the loss in the replicas and gathers one number each; `loss: first` gathers the logits and computes it on GPU 0. Writes
DIR/data_parallel.jsonl, a line a case: medians, parts of the step by GPU 0's events, the host's time, the kernels of a trace by kind.
"""
import argparse
import gc
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import dataclasses  # noqa: E402

import measure  # noqa: E402
import model  # noqa: E402

CASES = [("gpt2_medium", {}, 1024, 4), ("llama_1b", {}, 2048, 2), ("llama_8b", {"layers": 8}, 4096, 1), ("gpt2_medium", {}, 1024, 16)]


class Part(nn.Module):
    """What a replica runs: the loss, or the logits that GPU 0 makes one of."""

    def __init__(self, decoder, first):
        super().__init__()
        self.decoder, self.first = decoder, first

    def forward(self, ids, targets):
        if not self.first:
            return self.decoder(ids, targets).reshape(1)
        x = self.decoder.embed(ids)
        for layer in self.decoder.layers:
            x = layer(x)
        return self.decoder.head(self.decoder.norm(x))


class Job:
    def __init__(self, dim, sequence, sequences, gpus, first):
        torch.manual_seed(1)
        device = torch.device("cuda", 0)
        torch.set_default_dtype(torch.bfloat16)
        with device:
            decoder = model.Decoder(dim, sequence, torch.bfloat16)
        torch.set_default_dtype(torch.float32)
        decoder.initialise()
        self.first, self.part = first, Part(decoder, first)
        self.run = nn.DataParallel(self.part, device_ids=list(range(gpus))) if gpus > 1 else self.part
        self.optimizer = torch.optim.AdamW(self.part.parameters(), lr=1e-5, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
        self.ids, self.targets = (torch.randint(dim.vocabulary, (gpus * sequences, sequence), device=device) for _ in range(2))
        self.loss, self.accumulate, self.dim = None, 1, dim

    def parameters(self):
        return list(self.part.parameters())

    def step(self, mark):
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            out = self.run(self.ids, self.targets)
            if self.first:
                self.loss = torch.nn.functional.cross_entropy(out.float(), self.targets.reshape(-1))
            else:
                self.loss = out.mean()
            mark("forward")
            self.loss.backward()
        mark("backward")
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        mark("optimizer")


def kernels_of(job):
    """[GPU, kind, kernels, seconds] of one step, from a trace."""
    import tempfile
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        job.step(measure.noted)
        for gpu in range(torch.cuda.device_count()):
            torch.cuda.synchronize(gpu)
    path = tempfile.mktemp(suffix=".json")
    profile.export_chrome_trace(path)
    with open(path) as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    os.unlink(path)
    begin, table = min(e["ts"] for e in events), {}
    for e in events:
        name, args = e["name"], e.get("args", {})
        kind = e["cat"] if e["cat"] != "kernel" else "nccl " + name.split("(")[0][-60:] if "nccl" in name.lower() else "kernel"
        if kind == "gpu_memcpy":
            kind += " " + name
        row = table.setdefault((args.get("device", -1), kind), [0, 0.0, 1e30, 0.0])
        row[0] += 1
        row[1] += e["dur"] * 1e-6
        row[2] = min(row[2], (e["ts"] - begin) * 1e-6)
        row[3] = max(row[3], (e["ts"] + e["dur"] - begin) * 1e-6)
    return [[gpu, kind, n, s, first, last] for (gpu, kind), (n, s, first, last) in sorted(table.items())]


def one(name, more, sequence, sequences, gpus, first):
    dim = dataclasses.replace(model.MODELS[name], **more)
    job = Job(dim, sequence, sequences, gpus, first)
    for _ in range(measure.WARM):
        job.step(measure.noted)
    measure.wait(torch.device("cuda"))
    begin = time.perf_counter()
    job.step(measure.noted)
    measure.wait(torch.device("cuda"))
    once = time.perf_counter() - begin
    n = max(measure.LEAST, min(measure.MOST, int(measure.ENOUGH_S / once)))
    out = {"model": name, **more, "sequence": sequence, "sequences_per_gpu": sequences, "gpus": gpus, "loss": "first" if first else "replica",
           **measure.timed(job, torch.device("cuda"), n), "enqueue": measure.enqueued(job, torch.device("cuda"), 3)}
    out["parameters_B"] = measure.size_of(job.parameters())
    for gpu in range(gpus):
        torch.cuda.reset_peak_memory_stats(gpu)
    job.step(measure.noted)
    out["peak_allocated_B"] = [torch.cuda.max_memory_allocated(gpu) for gpu in range(gpus)]
    out["kernels"] = kernels_of(job)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--gpus", default="1,2,4")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    with open(f"{args.out}/data_parallel.jsonl", "w") as f:
        for name, more, sequence, sequences in CASES:
            for gpus in map(int, args.gpus.split(",")):
                for first in (False, True):
                    try:
                        row = one(name, more, sequence, sequences, gpus, first)
                    except Exception as e:  # the other cases go on
                        row = {"model": name, "gpus": gpus, "error": f"{type(e).__name__}: {str(e)[:400]}"}
                    f.write(json.dumps(row) + "\n")
                    f.flush()
                    print(name, sequences, gpus, first, row.get("step_s"), row.get("host_s"), row.get("error", ""), flush=True)
                    gc.collect()
                    for gpu in range(torch.cuda.device_count()):
                        with torch.cuda.device(gpu):
                            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
