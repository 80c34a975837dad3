"""Single kernels as PyTorch calls them, and what calls cost the host: durations from the profiler, so no launch is in them."""
import json
import os
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.attention import sdpa_kernel

import trace
from jobs import BACKENDS

REPEATS = 5
FLUSH_B = 256 << 20  # several times the L2


class Timer:
    """Operations of one session; `results` reads the trace once."""

    def __init__(self):
        self.labels, self.flush = [], torch.empty(FLUSH_B, dtype=torch.int8, device="cuda")
        self.profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        self.profile.__enter__()

    def mark(self, label):
        self.labels.append(label)
        torch.cuda._sleep(100)

    def time(self, row, parts):
        """parts: [(name, function)], run in a row; operands do not lie in the L2 unless a part before has put them there."""
        for _ in range(2):
            for _, f in parts:
                f()
        for _ in range(REPEATS):
            self.flush.fill_(1)
            self.mark(None)
            for name, f in parts:
                f()
                self.mark((row, name))

    def results(self):
        torch.cuda.synchronize()
        self.profile.__exit__(None, None, None)
        path = tempfile.mktemp(suffix=".json")
        self.profile.export_chrome_trace(path)
        with open(path) as f:
            events = trace.gpu_events(json.load(f))
        os.unlink(path)
        current, rows, label = [], {}, iter(self.labels)
        for e in events:
            if trace.MARKER not in e["name"]:
                current.append(e)
                continue
            what = next(label)
            if what is not None:
                key = (json.dumps(what[0]), what[1])
                rows.setdefault(key, []).append((sum(x["end"] - x["start"] for x in current) * 1e-6, [x["name"] for x in current]))
            current = []
        out = {}
        for (row, name), seen in rows.items():
            row = out.setdefault(row, json.loads(row))
            row[f"{name}_s"] = round(statistics.median(s for s, _ in seen), 9)
            row[f"{name}_kernels"] = len(seen[-1][1])
            if name in ("forward", "backward"):
                row[f"{name}_names"] = sorted({n[:60] for n in seen[-1][1]})[:3] if row["op"] == "sdpa" else None
        return [{k: v for k, v in row.items() if v is not None} for row in out.values()]


def random(*shape, grad=False, dtype=torch.bfloat16):
    return torch.randn(shape, dtype=dtype, device="cuda").requires_grad_(grad)


def both(timer, row, f, inputs):
    """Forward and backward of f () with respect to `inputs`."""
    held = {}

    def forward():
        held["y"] = f()
        if "g" not in held:
            held["g"] = torch.randn_like(held["y"])

    def backward():
        torch.autograd.grad(held["y"], inputs, held["g"])
    timer.time(row, [("forward", forward), ("backward", backward)])


def attention(timer):
    """As the model has it: q, k, v are [batch, length, heads, head_dim] in memory."""
    cases = []
    for backend in ("flash", "cudnn"):
        for heads, kv_heads, dim in ((32, 8, 128), (8, 2, 128), (32, 8, 64), (16, 16, 64)):
            for batch, length in ((1, 1024), (1, 2048), (2, 2048), (1, 4096), (4, 2048), (1, 8192), (1, 16384)):
                if length * batch <= 8192 or heads == 32:
                    cases.append((backend, batch, heads, kv_heads, length, dim, True))
        cases += [(backend, 1, 32, 32, 4096, 128, True), (backend, 1, 32, 32, 8192, 128, True), (backend, 1, 32, 8, 8192, 128, False),
                  (backend, 1, 32, 8, 2048, 128, False), (backend, 8, 16, 16, 1024, 64, True), (backend, 1, 1, 1, 8192, 128, True),
                  (backend, 1, 4, 1, 8192, 128, True), (backend, 1, 64, 8, 8192, 128, True)]
    for backend, batch, heads, kv_heads, length, dim, causal in cases:
        row = {"op": "sdpa", "backend": backend, "batch": batch, "heads": heads, "kv_heads": kv_heads, "length": length,
               "head_dim": dim, "causal": causal}
        q, k, v = (random(batch, length, n, dim).transpose(1, 2).requires_grad_() for n in (heads, kv_heads, kv_heads))
        more = {"enable_gqa": True} if heads != kv_heads else {}
        with sdpa_kernel(BACKENDS[backend]):
            both(timer, row, lambda: F.scaled_dot_product_attention(q, k, v, is_causal=causal, **more), (q, k, v))


def memory_bound(timer):
    for tokens, hidden in ((2048, 2048), (4096, 2048), (4096, 4096), (8192, 4096), (8192, 8192), (16384, 4096)):
        x = random(tokens, hidden, grad=True)
        weight, bias = random(hidden, grad=True), random(hidden, grad=True)
        size = {"tokens": tokens, "width": hidden, "dtype": "bf16"}
        both(timer, {"op": "rms_norm", **size}, lambda: F.rms_norm(x, (hidden,), weight, 1e-5), (x, weight))
        both(timer, {"op": "layer_norm", **size}, lambda: F.layer_norm(x, (hidden,), weight, bias, 1e-5), (x, weight, bias))
        both(timer, {"op": "rms_norm_by_hand", **size},
             lambda: weight * (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype), (x, weight))
        other = random(tokens, hidden, grad=True)
        both(timer, {"op": "add", **size}, lambda: x + other, (x, other))
    for tokens, width in ((2048, 8192), (4096, 14336), (8192, 14336), (4096, 4096)):
        x, y = random(tokens, width, grad=True), random(tokens, width, grad=True)
        size = {"tokens": tokens, "width": width, "dtype": "bf16"}
        both(timer, {"op": "silu_mul", **size}, lambda: F.silu(x) * y, (x, y))
        both(timer, {"op": "gelu_tanh", **size}, lambda: F.gelu(x, approximate="tanh"), (x,))
    for tokens, vocabulary in ((2048, 50304), (4096, 50304), (2048, 128256), (4096, 128256), (8192, 128256), (8192, 32064)):
        x, target = random(tokens, vocabulary, grad=True), torch.randint(vocabulary, (tokens,), device="cuda")
        both(timer, {"op": "cross_entropy_fp32", "tokens": tokens, "width": vocabulary}, lambda: F.cross_entropy(x.float(), target), (x,))
    for tokens, vocabulary, hidden in ((4096, 50304, 1024), (4096, 128256, 2048), (4096, 128256, 4096), (8192, 128256, 4096)):
        table, ids = random(vocabulary, hidden, grad=True), torch.randint(vocabulary, (tokens,), device="cuda")
        both(timer, {"op": "embedding", "tokens": tokens, "width": hidden, "rows": vocabulary}, lambda: F.embedding(ids, table), (table,))


def rope(timer):
    from model import rotate
    for tokens, heads, dim in ((2048, 32, 64), (4096, 32, 128), (8192, 32, 128), (8192, 8, 128)):
        q = random(1, tokens, heads, dim).transpose(1, 2).requires_grad_()
        cos, sin = random(tokens, dim), random(tokens, dim)
        both(timer, {"op": "rope", "tokens": tokens, "heads": heads, "head_dim": dim}, lambda: rotate(q, cos, sin), (q,))


def optimizer(timer):
    """AdamW over tensors like a model's: `n` of `elements` each."""
    shapes = ((1, 1 << 20), (16, 1 << 20), (64, 1 << 20), (8, 1 << 24), (32, 1 << 24), (64, 1 << 24), (4, 1 << 28), (200, 1 << 16),
              (100, 4096))
    for parameter in (torch.bfloat16, torch.float32):
        for kind in ("fused", "foreach"):
            for n, elements in shapes:
                held = [torch.nn.Parameter(random(elements, dtype=parameter)) for _ in range(n)]
                for p in held:
                    p.grad = random(elements, dtype=parameter)
                adam = torch.optim.AdamW(held, lr=1e-5, **{kind: True})
                timer.time({"op": "adamw", "kind": kind, "dtype": str(parameter)[6:], "tensors": n, "elements": elements},
                           [("step", adam.step)])
                del adam, held
    for n, elements in ((100, 1 << 20), (64, 1 << 24)):
        held = [torch.nn.Parameter(random(elements)) for _ in range(n)]
        for p in held:
            p.grad = random(elements)
        timer.time({"op": "clip_grad_norm", "dtype": "bfloat16", "tensors": n, "elements": elements},
                   [("step", lambda: torch.nn.utils.clip_grad_norm_(held, 1.0, foreach=True))])


def host_s(f, n=2000):
    """Median of three: host time of one call when the GPU has nothing better to do."""
    seen = []
    for _ in range(3):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(n):
            f()
        seen.append((time.perf_counter() - begin) / n)
        torch.cuda.synchronize()
    return statistics.median(seen)


def host():
    """Small operands: the GPU is faster than the host. Backward is what a chain of 50 of them takes, by piece."""
    x, w, b = random(64, 64), random(64, 64), random(64)
    xg, wg = random(64, 64, grad=True), random(64, 64, grad=True)
    q = random(1, 4, 64, 64, grad=True)
    table = {
        "add": lambda: x + x, "add_grad": lambda: xg + x, "linear": lambda: F.linear(x, w), "linear_grad": lambda: F.linear(xg, wg),
        "silu_grad": lambda: F.silu(xg), "rms_norm_grad": lambda: F.rms_norm(xg, (64,), b), "view": lambda: x.view(-1),
        "transpose": lambda: x.t(), "empty": lambda: torch.empty(64, 64, device="cuda"), "event": lambda: torch.cuda.Event().record(),
    }
    rows = [{"op": "host", "call": name, "host_s": host_s(f)} for name, f in table.items()]
    with sdpa_kernel(BACKENDS["flash"]):
        rows.append({"op": "host", "call": "sdpa_grad", "host_s": host_s(lambda: F.scaled_dot_product_attention(q, q, q), 500)})
    weights = [random(64, 64, grad=True) for _ in range(50)]
    pieces = {"linear": F.linear, "silu": lambda y, _: F.silu(y), "add": lambda y, _: y + x}
    for name, piece in pieces.items():
        def chain():
            y = xg
            for w in weights:
                y = piece(y, w)
            return y
        forward = host_s(chain, 20)
        total = host_s(lambda: chain().backward(x), 20)
        rows.append({"op": "host", "call": f"{name}_chain", "host_s": forward / 50, "backward_host_s": (total - forward) / 50})
    return rows


def single():
    """Rows of one GPU."""
    rows = host()
    for section in (attention, memory_bound, rope, optimizer):
        timer = Timer()
        try:
            section(timer)
        finally:
            rows += timer.results()
        torch.cuda.empty_cache()
    return rows


OPS = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all", "send_recv")


def collective(op, bytes_, dtype, n, rank):
    """A call of torch.distributed; bytes as nccl-tests count: of a rank's buffer, of the gathered one for all_gather."""
    elements = max(n, bytes_ // torch.empty(0, dtype=dtype).element_size() // n * n)
    whole = torch.randn(elements, device="cuda").to(dtype)
    part, out = torch.empty_like(whole[:elements // n]), torch.empty_like(whole)
    if op == "all_reduce":
        return lambda: dist.all_reduce(whole)
    if op == "all_gather":
        return lambda: dist.all_gather_into_tensor(out, part)
    if op == "reduce_scatter":
        return lambda: dist.reduce_scatter_tensor(part, whole)
    if op == "all_to_all":
        return lambda: dist.all_to_all_single(out, whole)

    def send_recv():
        ops = [dist.P2POp(dist.isend, whole, (rank + 1) % n), dist.P2POp(dist.irecv, out, (rank - 1) % n)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
    return send_recv


def collectives(rank, n):
    """Host time of a call, GPU time in a row, by torch.distributed."""
    rows = []
    for op in OPS:
        for dtype in (torch.bfloat16, torch.float32):
            for bytes_ in (4 << 10, 1 << 20, 8 << 20, 25 << 20, 64 << 20, 256 << 20, 1 << 30):
                if dtype == torch.float32 and op not in ("all_reduce", "reduce_scatter"):
                    continue
                call = collective(op, bytes_, dtype, n, rank)
                repeats = 20 if bytes_ <= 64 << 20 else 5
                for _ in range(5):
                    call()
                dist.barrier()
                torch.cuda.synchronize()
                a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin = time.perf_counter()
                a.record()
                for _ in range(repeats):
                    call()
                b.record()
                launched = (time.perf_counter() - begin) / repeats
                torch.cuda.synchronize()
                rows.append({"op": op, "dtype": str(dtype)[6:], "bytes": bytes_, "ranks": n, "time_s": a.elapsed_time(b) * 1e-3 / repeats,
                             "host_s": launched})
    return rows


def interference(rank, n):
    """Kernels alone, collectives alone, both at once: by median duration of a kernel in a trace."""
    x, w = random(8192, 4096), random(14336, 4096)
    big, small, other = random(1 << 27), random(2048, 4096), random(4096, 4096)
    q = random(1, 4096, 32, 128).transpose(1, 2)
    work = {"gemm_8192x14336x4096": lambda: F.linear(x, w), "gemm_2048x4096x4096": lambda: F.linear(small, other),
            "add_256MiB": lambda: big + 1,
            "sdpa_4096": lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True)}
    comm = {f"{op}_{str(dtype)[6:]}": (op, dtype) for op, dtype in (("all_reduce", torch.bfloat16), ("all_gather", torch.bfloat16),
            ("reduce_scatter", torch.float32), ("reduce_scatter", torch.bfloat16), ("all_to_all", torch.bfloat16))}
    aside, rows = torch.cuda.Stream(), []
    for name, (op, dtype) in comm.items():
        call = collective(op, 256 << 20, dtype, n, rank)
        for kernel, f in work.items():
            with sdpa_kernel(BACKENDS["flash"]):
                rows.append({"kernel": kernel, "collective": name, "bytes": 256 << 20, **beside(f, call, aside)})
    return rows


def beside(f, call, aside):
    def compute(seconds):
        times = max(4, int(seconds / max(one, 1e-6)))
        for _ in range(min(times, 2000)):
            f()

    def communicate(times):
        with torch.cuda.stream(aside):
            for _ in range(times):
                call()
    for _ in range(3):
        f()
        communicate(1)
    torch.cuda.synchronize()
    a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    a.record()
    for _ in range(10):
        f()
    b.record()
    torch.cuda.synchronize()
    one = a.elapsed_time(b) * 1e-4
    out = {}
    for what in ("alone", "comm", "both"):
        dist.barrier()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            if what != "alone":
                communicate(8)
            if what != "comm":
                compute(5e-3 if what == "alone" else 15e-3)
            torch.cuda.synchronize()
        path = tempfile.mktemp(suffix=".json")
        profile.export_chrome_trace(path)
        with open(path) as g:
            events = trace.gpu_events(json.load(g))
        os.unlink(path)
        for e in events:
            e["kind"] = trace.kind_of(e)
        spans = {side: trace.Spans((e["start"], e["end"]) for e in events if (e["kind"] == "nccl") == side) for side in (True, False)}
        for side, key in ((False, "kernel"), (True, "collective")):
            long = []
            mine = [e for e in events if (e["kind"] == "nccl") == side and e["cat"] == "kernel"]
            longest = max((e["end"] - e["start"] for e in mine), default=0.0)
            for e in mine:
                length = e["end"] - e["start"]
                if length > 0.2 * longest:  # not a helper of the kernel in question
                    if what != "both" or spans[not side].within(e["start"], e["end"]) > (0.98 if side is False else 0.9) * length:
                        long.append(length * 1e-6)
            if long:
                out[f"{key}_{'beside' if what == 'both' else 'alone'}_s"] = statistics.median(long)
                out[f"{key}_{'beside' if what == 'both' else 'alone'}_n"] = len(long)
    return out
