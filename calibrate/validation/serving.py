#!/usr/bin/env python3
"""Measures steps of inference in plain PyTorch, to score forerun's time of a step; nothing is fitted to them.

  python3 calibrate/validation/serving.py --out DIR [--budget 4m] [--smoke]
  torchrun --nproc-per-node N calibrate/validation/serving.py --out DIR [--budget 4m] [--smoke]

Writes DIR/steps.jsonl and DIR/kernels.jsonl, a line a case. A step is one forward pass of a decoder with random weights in bf16,
captured in a CUDA graph and replayed in a row: all sequences decode one token, or one prompt is prefilled. `passes` says how norms,
activations and rotations are computed: `fused`, by four Triton kernels as engines have them, or `plain`, by PyTorch's own
operations. Models named .tpN are the part of one of N GPUs, without its collectives. Under torchrun only steps are measured, of
models whose two all-reduces a layer run over all N GPUs by NCCL, inside the graph. Attention is PyTorch's scaled dot product:
FlashAttention, splitting the cache, when decoding; cuDNN in prompts. Needs PyTorch 2.6 or later with CUDA and Triton.
"""
import argparse
import dataclasses
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

POOL_B = 52 << 30  # of keys and values: beside 16 GB of weights on a GPU of 80 GB
LEAST_S = 0.04     # of replays in a row that make a sample
SAMPLES = 5
EPSILON = 1e-5


@dataclasses.dataclass(frozen=True)
class Part:
    """What one GPU has of a decoder."""
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocabulary: int


MODELS = {
    "llama3_8b": Part(32, 4096, 32, 8, 128, 14336, 128256),
    "llama3_8b.tp4": Part(32, 4096, 8, 2, 128, 3584, 32064),
    "llama3_70b.tp8": Part(80, 8192, 8, 1, 128, 3584, 16032),
}


@triton.jit
def add_norm_kernel(x, more, weight, out, n, epsilon, ADDS: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.arange(0, BLOCK)
    value = tl.load(x + row * n + at, mask=at < n, other=0).to(tl.float32)
    if ADDS:
        value += tl.load(more + row * n + at, mask=at < n, other=0).to(tl.float32)
        tl.store(x + row * n + at, value.to(tl.bfloat16), mask=at < n)
    scale = tl.rsqrt(tl.sum(value * value) / n + epsilon)
    tl.store(out + row * n + at, (value * scale * tl.load(weight + at, mask=at < n, other=0)).to(tl.bfloat16), mask=at < n)


@triton.jit
def gate_kernel(both, out, n, BLOCK: tl.constexpr):
    row, at = tl.program_id(0).to(tl.int64), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(both + row * 2 * n + at, mask=at < n, other=0).to(tl.float32)
    up = tl.load(both + row * 2 * n + n + at, mask=at < n, other=0).to(tl.float32)
    tl.store(out + row * n + at, (gate * tl.sigmoid(gate) * up).to(tl.bfloat16), mask=at < n)


@triton.jit
def rotate_kernel(qkv, cos, sin, width, HALF: tl.constexpr):
    token, head, at = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.arange(0, HALF)
    low = qkv + token * width + head * 2 * HALF + at
    a, b = tl.load(low).to(tl.float32), tl.load(low + HALF).to(tl.float32)
    c, s = tl.load(cos + token * HALF + at), tl.load(sin + token * HALF + at)
    tl.store(low, (a * c - b * s).to(tl.bfloat16))
    tl.store(low + HALF, (a * s + b * c).to(tl.bfloat16))


@triton.jit
def write_kernel(qkv, keys, values, at, width, first, sequence, token, KV: tl.constexpr, DIM: tl.constexpr):
    row, lane = tl.program_id(0).to(tl.int64), tl.arange(0, KV * DIM)
    to = row * sequence + at * token + lane
    tl.store(keys + to, tl.load(qkv + row * width + first + lane))
    tl.store(values + to, tl.load(qkv + row * width + first + KV * DIM + lane))


class Fused:
    """Passes as engines have them."""

    @staticmethod
    def add_norm(x, more, weight):
        out = torch.empty_like(x)
        add_norm_kernel[(x.shape[0],)](x, more if more is not None else x, weight, out, x.shape[1], EPSILON, more is not None,
                                       triton.next_power_of_2(x.shape[1]), num_warps=8)
        return x, out

    @staticmethod
    def gate(both):
        out = torch.empty(both.shape[0], both.shape[1] // 2, dtype=both.dtype, device=both.device)
        gate_kernel[(out.shape[0], triton.cdiv(out.shape[1], 1024))](both, out, out.shape[1], 1024)
        return out

    @staticmethod
    def rotate(qkv, cos, sin, part):
        rotate_kernel[(qkv.shape[0], part.heads + part.kv_heads)](qkv, cos, sin, qkv.shape[1], part.head_dim // 2, num_warps=1)

    @staticmethod
    def write(qkv, keys, values, at, part):
        write_kernel[(qkv.shape[0],)](qkv, keys, values, at, qkv.shape[1], part.heads * part.head_dim, keys.stride(0),
                                      keys.stride(1), part.kv_heads, part.head_dim, num_warps=4)


class Plain:
    """PyTorch's own operations, a kernel each."""

    @staticmethod
    def add_norm(x, more, weight):
        if more is not None:
            x = x + more
        return x, F.rms_norm(x, (x.shape[1],), weight, EPSILON)

    @staticmethod
    def gate(both):
        gate, up = both.chunk(2, -1)
        return F.silu(gate) * up

    @staticmethod
    def rotate(qkv, cos, sin, part):
        n = part.heads + part.kv_heads
        x = qkv[:, :n * part.head_dim].view(-1, n, 2, part.head_dim // 2)
        a, b = x[:, :, 0], x[:, :, 1]
        c, s = cos[:, None].to(x.dtype), sin[:, None].to(x.dtype)
        x.copy_(torch.stack((a * c - b * s, a * s + b * c), 2))

    @staticmethod
    def write(qkv, keys, values, at, part):
        k, v = qkv[:, part.heads * part.head_dim:].view(-1, 2, part.kv_heads, part.head_dim).unbind(1)
        keys[:, at], values[:, at] = k, v


PASSES = {"fused": Fused, "plain": Plain}


def random(*shape, scale=1.0):
    return torch.randn(shape, dtype=torch.bfloat16, device="cuda") * scale


def part_of(part, n):
    """What one of n GPUs has."""
    return dataclasses.replace(part, heads=part.heads // n, kv_heads=part.kv_heads // n, ffn=part.ffn // n, vocabulary=part.vocabulary // n)


def reduced(x):
    if dist.is_initialized():
        dist.all_reduce(x)
    return x


class Decoder:
    def __init__(self, part):
        self.part = part
        head, qkv = part.heads * part.head_dim, (part.heads + 2 * part.kv_heads) * part.head_dim
        self.layers = [{"norm": random(part.hidden), "qkv": random(qkv, part.hidden, scale=.02),
                        "out": random(part.hidden, head, scale=.02), "norm2": random(part.hidden),
                        "gate_up": random(2 * part.ffn, part.hidden, scale=.02), "down": random(part.hidden, part.ffn, scale=.02)}
                       for _ in range(part.layers)]
        self.table, self.norm = random(part.vocabulary, part.hidden), random(part.hidden)
        self.head = random(part.vocabulary, part.hidden, scale=.02)

    def forward(self, passes, ids, cos, sin, attend, rows):
        """Greedy tokens of `rows` (None: all). attend (layer, qkv): the result of attention, after writing keys and values."""
        x, more = F.embedding(ids, self.table), None
        for i, w in enumerate(self.layers):
            x, y = passes.add_norm(x, more, w["norm"])
            qkv = F.linear(y, w["qkv"])
            passes.rotate(qkv, cos, sin, self.part)
            x, y = passes.add_norm(x, reduced(F.linear(attend(i, qkv), w["out"])), w["norm2"])
            more = reduced(F.linear(passes.gate(F.linear(y, w["gate_up"])), w["down"]))
        _, y = passes.add_norm(x, more, self.norm)
        return F.linear(y if rows is None else y[rows], self.head).argmax(-1)


def grouped_decode(qkv, keys, values, part):
    """One query of each head; the heads that share keys are rows of one head."""
    q = qkv[:, :part.heads * part.head_dim].view(-1, part.kv_heads, part.heads // part.kv_heads, part.head_dim)
    out = F.scaled_dot_product_attention(q, keys.transpose(1, 2), values.transpose(1, 2))
    return out.reshape(qkv.shape[0], -1)


def graph_of(f):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        f()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        f()
    return graph


def agreed(n):
    """The first rank's n."""
    if not dist.is_initialized():
        return n
    said = torch.tensor([n], device="cuda")
    dist.broadcast(said, 0)
    return int(said.item())


def replays(graph):
    """Seconds of a replay among others in a row: median of samples, and the least and the most."""
    def sample(n):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(n):
            graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / n
    sample(1)
    n = agreed(max(2, min(400, int(LEAST_S / sample(2)) + 1)))
    seen = [sample(n) for _ in range(SAMPLES)]
    return {"time_s": round(statistics.median(seen), 9), "min_s": round(min(seen), 9), "max_s": round(max(seen), 9), "replays": n}


class Bench:
    def __init__(self, args):
        self.end = time.monotonic() + args.budget
        self.gpus = dist.get_world_size() if dist.is_initialized() else 1
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.pool = torch.empty(POOL_B // 2, dtype=torch.bfloat16, device="cuda")
        chunk = random(1 << 27)
        for i in range(0, self.pool.numel(), chunk.numel()):
            self.pool[i:i + chunk.numel()] = chunk
        self.files = {name: open(os.path.join(args.out, f"{name}.jsonl") if self.rank == 0 else os.devnull, "w")
                      for name in ("steps", "kernels")}

    def late(self):
        return bool(agreed(int(time.monotonic() > self.end)))

    def case(self, file, row, make):
        if self.late():
            return
        try:
            row = {**row, **replays(graph_of(make))}
        except Exception as e:  # a case that fails says why; the next ones go on
            torch.cuda.synchronize()
            row = {**row, "error": str(e).splitlines()[0][:200]}
        row["gpus"] = self.gpus
        print(json.dumps(row), file=self.files[file], flush=True)
        if self.rank == 0:
            print({k: v for k, v in row.items() if k not in ("min_s", "max_s", "replays")}, flush=True)

    def cache(self, part, layers, sequences, length):
        """Keys and values of each layer: [sequences, length, KV heads, dimension]; None where the pool is too small."""
        n = sequences * length * part.kv_heads * part.head_dim
        if 2 * layers * n > self.pool.numel():
            return None
        return [[self.pool[(2 * i + j) * n:(2 * i + j + 1) * n].view(sequences, length, part.kv_heads, part.head_dim) for j in (0, 1)]
                for i in range(layers)]


def angles(tokens, part):
    x = torch.rand(tokens, part.head_dim // 2, device="cuda") * 6.28
    return x.cos(), x.sin()


def decode_step(bench, name, decoder, sequences, context, passes):
    part = decoder.part
    cache = bench.cache(part, part.layers, sequences, context)
    if cache is None:
        return
    ids = torch.randint(part.vocabulary, (sequences,), device="cuda")
    cos, sin = angles(sequences, part)
    how = PASSES[passes]

    def attend(i, qkv):
        how.write(qkv, *cache[i], context - 1, part)
        return grouped_decode(qkv, *cache[i], part)

    def step():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            return decoder.forward(how, ids, cos, sin, attend, None)
    bench.case("steps", {"kind": "decode", "model": name, "passes": passes, "sequences": sequences, "context": context}, step)


def prefill_step(bench, name, decoder, tokens, cached, passes):
    """One prompt's chunk of `tokens` behind `cached` ones. cuDNN aligns a causal mask at the end; FlashAttention too."""
    part = decoder.part
    cache = bench.cache(part, part.layers, 1, cached + tokens)
    if cache is None:
        return
    ids = torch.randint(part.vocabulary, (tokens,), device="cuda")
    cos, sin = angles(tokens, part)
    how = PASSES[passes]
    first = part.heads * part.head_dim

    def attend(i, qkv):
        q = qkv[:, :first].view(1, tokens, part.heads, part.head_dim).transpose(1, 2)
        k, v = qkv[:, first:].view(tokens, 2, part.kv_heads, part.head_dim).unbind(1)
        cache[i][0][0, cached:], cache[i][1][0, cached:] = k, v
        k, v = (x.transpose(1, 2) for x in cache[i])
        return F.scaled_dot_product_attention(q, k, v, is_causal=cached == 0, enable_gqa=True).transpose(1, 2).reshape(tokens, first)

    def step():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return decoder.forward(how, ids, cos, sin, attend, slice(tokens - 1, tokens))
    bench.case("steps", {"kind": "prefill", "model": name, "passes": passes, "sequences": 1, "tokens": tokens, "cached": cached,
                         "masked": cached == 0}, step)


def models(n):
    """Parts to measure on n GPUs."""
    if n == 1:
        return MODELS
    return {"llama3_8b": part_of(MODELS["llama3_8b"], n), "llama3_70b.layers20": part_of(Part(20, 8192, 64, 8, 128, 28672, 128256), n)}


def steps(bench, smoke):
    for name, part in models(bench.gpus).items():
        decoder = Decoder(part)
        for context in (512, 2048, 8192)[:1 if smoke else 3]:
            for sequences in (1, 2, 4, 8, 16, 32, 64, 128, 256)[:3 if smoke else 9]:
                decode_step(bench, name, decoder, sequences, context, "fused")
        for tokens in (16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)[:2 if smoke else 10]:
            prefill_step(bench, name, decoder, tokens, 0, "fused")
        for tokens, cached in ((512, 2048), (512, 8192), (2048, 8192), (2048, 30720)):
            if not smoke:
                prefill_step(bench, name, decoder, tokens, cached, "fused")
        for sequences in (1, 16, 64, 256) if name == "llama3_8b" and not smoke else ():
            decode_step(bench, name, decoder, sequences, 2048, "plain")
        for tokens in (512, 2048, 8192) if name == "llama3_8b" and not smoke else ():
            prefill_step(bench, name, decoder, tokens, 0, "plain")
        del decoder
        torch.cuda.empty_cache()


def attention_kernels(bench, smoke):
    """PyTorch's FlashAttention, 16 calls in a graph, each with a cache of its own."""
    n = 16
    for name, part in MODELS.items():
        for context in (512, 2048, 8192):
            for sequences in (1, 4, 16, 64, 256):
                cache = bench.cache(part, n, sequences, context)
                if cache is None or smoke and sequences > 1:
                    continue
                qkv = random(sequences, (part.heads + 2 * part.kv_heads) * part.head_dim)

                def calls():
                    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                        for i in range(n):
                            grouped_decode(qkv, *cache[i], part)
                bench.case("kernels", {"kind": "decode_attention", "model": name, "sequences": sequences, "context": context, "calls": n},
                           calls)


def grouped_kernels(bench, smoke):
    """torch._grouped_mm (CUTLASS): all experts of a rank in one call, weights [experts, n, k]; 4 sets in turn."""
    shapes = {"mixtral_8x7b": (8, 4096, 14336), "qwen3_235b.ep4": (32, 4096, 1536), "deepseek_v3.ep8": (32, 7168, 2048)}
    for name, (experts, hidden, ffn) in shapes.items():
        for layer, n, k in (("gate_up", 2 * ffn, hidden), ("down", hidden, ffn)):
            sets = [random(experts, n, k) for _ in range(4)]
            for m in (1, 4, 16, 64, 256)[:1 if smoke else 5]:
                x = random(experts * m, k)
                ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * m

                def calls():
                    for w in sets:
                        torch._grouped_mm(x, w.transpose(1, 2), offs=ends)
                bench.case("kernels", {"kind": "grouped_mm", "model": f"{name}.{layer}", "groups": experts, "m": experts * m, "n": n, "k": k,
                                       "calls": len(sets)}, calls)
            del sets


def product_kernels(bench, smoke):
    """F.linear in bf16 inside a graph, 16 calls with weights of their own."""
    for name, n, k in (("llama3_8b.qkv", 6144, 4096), ("llama3_8b.down", 4096, 14336), ("llama3_70b.tp8.gate_up", 7168, 8192),
                       ("llama3_70b.tp8.out", 8192, 1024)):
        weights = [random(n, k, scale=.02) for _ in range(16)]
        for m in (1, 16, 64, 256)[:1 if smoke else 4]:
            x = random(m, k)
            bench.case("kernels", {"kind": "linear", "model": name, "m": m, "n": n, "k": k, "calls": len(weights)},
                       lambda: [F.linear(x, w) for w in weights])


def seconds(text):
    units = {"s": 1, "m": 60}
    if text[-1:] not in units or not text[:-1].replace(".", "", 1).isdigit():
        raise argparse.ArgumentTypeError(f"{text}: a number and s or m is accepted, as 4m")
    return float(text[:-1]) * units[text[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--budget", type=seconds, default="4m", help="no case begins later: 90s, 4m")
    parser.add_argument("--smoke", action="store_true", help="a few cases of each kind")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        print("serving.py: PyTorch finds no GPU; run it where one is", file=sys.stderr)
        return 2
    os.makedirs(args.out, exist_ok=True)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    torch.manual_seed(1)
    with torch.inference_mode():
        bench = Bench(args)
        if bench.gpus == 1:
            attention_kernels(bench, args.smoke)
            grouped_kernels(bench, args.smoke)
            product_kernels(bench, args.smoke)
        steps(bench, args.smoke)
    if bench.rank > 0:
        return 0
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda,
                      "cudnn": torch.backends.cudnn.version(), "late": bench.late()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
