"""Times, memory and a trace of one job on one rank."""
import json
import os
import statistics
import tempfile
import threading
import time

import torch

import jobs
import trace

WARM = 3
LEAST, MOST = 10, 40  # timed steps
ENOUGH_S = 1.5        # of timed steps
FEW, LONG_S = 6, 0.5  # steps longer than LONG_S: so many


def noted(name):
    """A mark that nobody reads."""


class Events:
    """Marks as CUDA events on the compute stream: when the GPU got there."""

    def __init__(self):
        self.marks = []

    def __call__(self, name):
        if name[0] not in "<>":
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self.marks.append((name, event))

    def times(self):
        """[(name, seconds since the mark before)]"""
        return [(b[0], a[1].elapsed_time(b[1]) * 1e-3) for a, b in zip(self.marks, self.marks[1:])]


class Clocks:
    """The same by the host's clock, where there is no GPU."""

    def __init__(self):
        self.marks = []

    def __call__(self, name):
        if name[0] not in "<>":
            self.marks.append((name, time.perf_counter()))

    def times(self):
        return [(b[0], b[1] - a[1]) for a, b in zip(self.marks, self.marks[1:])]


class Watch(threading.Thread):
    """SM clock and power of a GPU, a few times a second, as far as NVML tells."""

    def __init__(self, index):
        super().__init__(daemon=True)
        self.done, self.seen, self.handle = threading.Event(), [], None
        try:
            import pynvml
            pynvml.nvmlInit()
            self.nvml, self.handle = pynvml, pynvml.nvmlDeviceGetHandleByIndex(index)
        except Exception:  # no NVML, no numbers
            pass

    def run(self):
        while self.handle is not None and not self.done.wait(0.2):
            clock = self.nvml.nvmlDeviceGetClockInfo(self.handle, self.nvml.NVML_CLOCK_SM)
            self.seen.append((clock, self.nvml.nvmlDeviceGetPowerUsage(self.handle) * 1e-3))

    def result(self):
        self.done.set()
        if not self.seen:
            return {}
        clock, power = zip(*self.seen)
        return {"sm_clock_MHz": statistics.median(clock), "power_W": round(statistics.median(power), 1)}


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize()


def timed(job, device, n):
    """n steps in a row, waited for at the end only: medians of a step and its parts, and the wall's mean."""
    marks = Events() if device.type == "cuda" else Clocks()
    wait(device)
    begin = time.perf_counter()
    hosts = []
    for _ in range(n):
        at = time.perf_counter()
        marks("step")
        job.step(marks)
        hosts.append(time.perf_counter() - at)
    marks("step")
    wait(device)
    wall = (time.perf_counter() - begin) / n
    steps, current = [], None
    for name, seconds in [("step", 0.0)] + marks.times():
        if name == "step":
            if current is not None:
                current["rest"] += seconds
                steps.append(current)
            current = {"rest": 0.0}
        else:
            current[name] = current.get(name, 0.0) + seconds
    totals = [sum(s.values()) for s in steps]
    out = {"step_s": statistics.median(totals), "step_min_s": min(totals), "step_max_s": max(totals), "steps": n, "wall_s": wall,
           "host_s": statistics.median(hosts)}
    for name in steps[0]:
        if name != "rest":
            out[f"{name}_s"] = statistics.median([s[name] for s in steps])
    return out


def size_of(tensors):
    """Bytes on this rank."""
    total = 0
    for t in tensors:
        if torch.is_tensor(t):
            local = t.to_local() if hasattr(t, "to_local") else t
            total += local.numel() * local.element_size()
    return total


def memory(job, device):
    """Bytes between steps, at each forward pass's end, at most; as PyTorch's allocator counts, and what the GPU says is used."""
    out = {"parameters_B": size_of(job.parameters()),
           "optimizer_B": size_of(v for state in job.optimizer.state.values() for v in state.values()),
           "parameters": sum((p.to_local() if hasattr(p, "to_local") else p).numel() for p in job.parameters())}
    if device.type != "cuda":
        job.step(noted)
        return out
    wait(device)
    torch.cuda.reset_peak_memory_stats()
    out["between_steps_B"] = torch.cuda.memory_allocated()
    seen = {}

    def look(name):
        if name[0] not in "<>":
            seen[name] = max(seen.get(name, 0), torch.cuda.memory_allocated())
            if name in ("backward", "pipeline"):
                seen["gradients"] = size_of(p.grad for p in job.parameters() if p.grad is not None)
    job.step(look)
    wait(device)
    free, total = torch.cuda.mem_get_info()
    out.update({f"after_{k}_B" if k != "gradients" else "gradients_B": v for k, v in seen.items()})
    out.update(peak_allocated_B=torch.cuda.max_memory_allocated(), peak_reserved_B=torch.cuda.max_memory_reserved(),
               used_B=total - free)
    return out


def traced(job, device, case, keep=None):
    """Three steps under the profiler, of which the middle one is looked at."""
    labels = []

    def mark(name):
        labels.append(name)
        torch.cuda._sleep(100)
    wait(device)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(3):
            mark("step")
            job.step(mark)
        mark("step")
        wait(device)
    path = keep or tempfile.mktemp(suffix=".json", prefix="step")
    profile.export_chrome_trace(path)
    del profile
    with open(path) as f:
        document = json.load(f)
    if keep is None:
        os.unlink(path)
    else:
        with open(path, "w") as f:
            json.dump(dict(document, labels=labels), f)
    once = case.get("pp", 1) == 1 and case.get("accumulate", 1) == 1
    return trace.summary(document, labels, 1, kernels=case.get("kernels", False), layers=job.dim.layers if once else None)


def enqueued(job, device, n):
    """How long the host needs to launch a step and its parts for an idle GPU, least of n; where it gets ahead by some 1,000 kernels it
    waits for the GPU's queue, and in a pipeline for other ranks."""
    seen = []
    for _ in range(n):
        wait(device)
        marks = Clocks()
        marks("step")
        job.step(marks)
        parts = {}
        for name, seconds in marks.times():
            parts[name] = parts.get(name, 0.0) + seconds
        seen.append(parts)
    wait(device)
    least = min(seen, key=lambda parts: sum(parts.values()))
    return {"step_s": sum(least.values()), **{f"{name}_s": s for name, s in least.items()}}


def loss_of(job):
    """Of the last micro-batch (of a pipeline: the mean), where this rank has it."""
    return None if job.loss is None else float(job.loss.detach()) * job.accumulate


def run(case, device, index, agree, keep=None, job=None):
    """A case on this rank. `agree(x)`: the largest x of all ranks, so that all do the same number of steps. Returns what may be
    printed, and what other ranks' numbers are needed for."""
    torch.manual_seed(0)
    baseline = torch.cuda.memory_allocated() if device.type == "cuda" else 0
    begin = time.perf_counter()
    job = job or jobs.new_job(case, device)
    wait(device)
    if device.type == "cuda":
        torch.cuda.empty_cache()
    built = time.perf_counter() - begin
    for _ in range(WARM):
        job.step(noted)
    wait(device)
    first_loss = loss_of(job)
    begin = time.perf_counter()
    job.step(noted)
    wait(device)
    once = agree(time.perf_counter() - begin)
    n = FEW if once > LONG_S else max(LEAST, min(MOST, int(ENOUGH_S / once)))
    n = n if device.type == "cuda" else 2
    watch = Watch(index)
    watch.start()
    out = {"gpu": index, "build_s": round(built, 2), **timed(job, device, n)}
    out.update(watch.result())
    out["enqueue"] = enqueued(job, device, 1 if once > LONG_S else 3)
    out["memory"] = {"baseline_B": baseline, **memory(job, device)}
    out["loss"] = [first_loss, loss_of(job)]
    if hasattr(job, "model") and job.dim.experts:
        out["expert_rows_over_mean"] = job.model.layers[0].mlp.fullest
    private = {}
    if device.type == "cuda" and not case.get("untraced"):
        out["trace"], private = traced(job, device, case, keep)
    return out, private
