#!/usr/bin/env python3
"""Predicted against measured steps of inference in plain PyTorch under CUDA graphs; nothing is fitted to them.

usage: serving_steps.py FORERUN SOURCE_DIR [--rows] [--median PERCENT] [--tail PERCENT]

Each row of tests/data/serving/pytorch_steps*.csv becomes a scenario of kind `serving_step` without an engine's own times. Models named .tpN are the part of one of N GPUs, so collectives are left out of the prediction;
rows with `gpus` above 1 have them. Printed: rows, median and 90th percentile of the absolute error and the median signed error, by
model and kind. "Wide": more sequences x KV heads than the GPU has SMs, where PyTorch's FlashAttention reads 2.4 TB/s on H200; engines
have other kernels. Ends with status 1 where the median or 90th percentile of the rows that are not wide is above its limit.
"""
import csv, glob, json, os, statistics, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

MODELS = {"llama3_8b": "llama31_8b", "llama3_70b": "llama31_70b"}
GPUS = {"H100": "hgx_h100", "H200": "hgx_h200"}
SMS = 132
KV_HEADS = 8
ENGINE = """calibration: plain_pytorch
over: {over}
summary: plain PyTorch, which has no times of an engine
source: measured
engines:
  rows:
    - name: vllm
      version: "0.9.0"
      max_num_seqs: 1000
      max_num_batched_tokens: 1000000
      cuda_graphs: 1000000
      async: yes
      chunked: yes
      prefix_cache: no
      block: 16
      memory: 90 %
      graphs: 0 B
      other: 0 B
      watermark: 0
      times: [{{capability: 80, step: 0 us, sequence: 0 us, request: 0 us, token: 0 us, layer: 0 us, kernel: 0 us, gemm: 100 %}}]
"""


def layout(row):
    """Name of the model, layers where it has fewer, tensor parallelism."""
    name, _, part = row["model"].partition(".tp")
    name, _, layers = name.partition(".layers")
    return MODELS[name], int(layers or 0), int(part or row["gpus"])


def is_wide(row):
    return row["kind"] == "decode" and int(row["sequences"]) * max(KV_HEADS // layout(row)[2], 1) > SMS


def scenario(row, calibration):
    name, layers, tp = layout(row)
    workload = {
        "kind": "serving_step",
        "model": {"like": name, "layers": layers} if layers else name,
        "engine": {"name": "vllm", "version": "0.9.0", "cuda_graphs": 1000000, "kv_blocks": 200000, "all_reduce": "nccl"},
        "parallel": {"tp": tp},
    }
    if row["kind"] == "decode":
        workload |= {"decode": int(row["sequences"]), "context": int(row["context"])}
    else:
        workload |= {"prompts": 1, "prompt": int(row["tokens"]), "cached": int(row["cached"])}
    return {"scenario": "step", "cluster": {"topology": GPUS[row["gpu"]], "nodes": 1, "calibration": calibration}, "workload": workload}


def predict(forerun, row):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, tempfile.NamedTemporaryFile("w", suffix=".yaml") as engine:
        engine.write(ENGINE.format(over=f"{row['gpu'].lower()}_sxm"))
        engine.flush()
        json.dump(scenario(row, engine.name), file)
        file.flush()
        ran = subprocess.run([forerun, "run", file.name, "--format", "json", "--quiet"], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"serving_steps.py: {row}: {ran.stderr}")
    result = json.loads(ran.stdout)["results"]
    alone = ".tp" in row["model"] and int(row["gpus"]) == 1
    return result["time_s"] - (result["breakdown_s"]["tp"] if alone else 0)


def read(source):
    for path in sorted(glob.glob(os.path.join(source, "tests/data/serving/pytorch_steps*.csv"))):
        for row in csv.DictReader(open(path)):
            row.setdefault("gpu", "H200")
            row.setdefault("gpus", "1")
            if row["passes"] == "fused":  # engines fuse the passes; PyTorch's own are the script's other half
                yield row


def line(name, errors):
    size = sorted(abs(e) for e in errors)
    tail = size[min(len(size) - 1, int(0.9 * len(size)))]
    print(f"{name:34} {len(errors):5}  {statistics.median(size):7.1f}  {tail:6.1f}  {statistics.median(errors):+7.1f}")
    return statistics.median(size), tail


def main():
    arguments = sys.argv[1:]
    limit = {}
    for flag in ("--median", "--tail"):
        if flag in arguments:
            at = arguments.index(flag)
            limit[flag] = float(arguments[at + 1])
            del arguments[at:at + 2]
    shows = "--rows" in arguments
    forerun, source = [os.path.abspath(a) for a in arguments if a != "--rows"]
    rows = list(read(source))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda row: predict(forerun, row), rows))
    groups = {}
    for row, time_s in zip(rows, found):
        error = 100 * (time_s / float(row["time_s"]) - 1)
        groups.setdefault((row["gpu"], row["gpus"], row["kind"], row["model"], "wide" if is_wide(row) else ""), []).append(error)
        if shows:
            what = f"{row['sequences']} x {row['context']}" if row["kind"] == "decode" else f"{row['tokens']} after {row['cached']}"
            print(f"{row['gpu']} {row['gpus']} {row['kind']:8} {row['model']:16} {what:16} {float(row['time_s']) * 1e3:9.3f} ms {time_s * 1e3:9.3f} {error:+6.1f} %")
    print(f"{'steps':34} {'rows':>5}  {'median':>7}  {'p90':>6}  {'signed':>7}   (%)")
    for key, errors in groups.items():
        line(" ".join((key[0], "x" + key[1], *key[2:])), errors)
    line("wide", [e for key, errors in groups.items() if key[4] for e in errors])
    median, tail = line("all others", [e for key, errors in groups.items() if not key[4] for e in errors])
    return median > limit.get("--median", 1e9) or tail > limit.get("--tail", 1e9)


if __name__ == "__main__":
    sys.exit(main())
