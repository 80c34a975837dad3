#!/usr/bin/env python3
"""Predicted against measured TTFT and TPOT of fleets whose prefill and decode are apart. Nothing is fitted to them.

usage: serving_fleets.py FORERUN SOURCE_DIR [--rows] [--every N] [--only TEXT] [--tpot MEDIAN P90] [--first MEDIAN P90] [--order SHARE]

Each run of tests/data/serving/fleets.csv becomes a scenario of kind `serving` with two pools. Printed: runs, median and 90th percentile of
the absolute error and the median signed error of TPOT and TTFT, by GPU and engine and for all. Order: of each two runs of one group
(GPU, engine, model, lengths) whose measured output tokens/s a GPU at no worse TPOT differ by more than 10 %, the share that is predicted
in the same order. --every N takes one run of N, --only TEXT those whose row has this text. Ends with status 1 where an error is above its limit, or the order below it, in %.
"""
import csv, itertools, json, os, statistics, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serving

PER_NODE = {"GB200": 4, "GB300": 4}


def pool(row, name, engine, backend):
    tp, dp, ep = (max(int(row[f"{name}_{k}"] or 1), 1) for k in ("tp", "dp", "ep"))
    ep = min(ep, tp * dp)
    its = {"role": name, "replicas": int(row[f"{name}_workers"]), "parallel": {"tp": tp, "dp_attn": dp, "ep": ep}, "engine": engine}
    backend = row[f"{name}_exchange"] or backend
    if backend and dp > 1 and (ep > 8 or row[f"{name}_exchange"]):
        its["moe"] = {"backend": backend}
        if name == "decode" and row["redundant"]:
            its["moe"]["redundant"] = int(row["redundant"])
    return its, int(row[f"{name}_workers"]) * tp * dp


def engines(row, name, number, isl):
    """Of the two pools. What a recipe leaves out has the engine's default, but for a limit of tokens below a prompt."""
    prefill = {"name": name, "prefix_cache": False, "max_num_batched_tokens": max(8192, isl + 128)}
    decode = {"name": name, "prefix_cache": False}
    if not (name == "trtllm" and number.startswith("0.")):  # else a version of Dynamo's runtime
        prefill["version"] = decode["version"] = number
    batch = int(row["decode_batch"] or 0)
    if batch:
        decode.update(max_num_seqs=batch, cuda_graphs=batch)
    if row["decode_graph"]:
        decode["cuda_graphs"] = int(row["decode_graph"])
    for its, column, key in (
        (prefill, "prefill_batch", "max_num_seqs"),
        (prefill, "prefill_tokens", "max_num_batched_tokens"),
        (prefill, "prefill_poll", "poll"),
        (decode, "decode_poll", "poll"),
        (decode, "stream", "stream_interval"),
        (prefill, "prefill_memory", "memory"),
        (decode, "decode_memory", "memory"),
    ):
        if row[column]:
            its[key] = float(row[column]) if key == "memory" else int(row[column])
    if name == "trtllm" and row["prefill_batch"]:
        prefill["async"] = False  # disable_overlap_scheduler
    if "balance" in row["options"]:
        decode["balance"] = 60
    return prefill, decode


def scenario(row):
    name, _, version = row["framework"].partition(" ")
    number = version.split("rc")[0].split(".post")[0].strip(".")
    n, isl, osl = row["concurrency"], int(row["isl"]), int(row["osl"])
    if not n:  # as AIConfigurator sends: all places of the decode workers
        n = int(row["decode_workers"]) * int(row["decode_batch"]) * max(int(row["decode_dp"]), 1)
    n = int(n)
    prefill, decode = engines(row, name, number, isl)
    precision = serving.formats(row)
    if "kv16" not in row["options"] and (not row["gpu"].startswith("H") or (name == "trtllm" and row["recipe"])):
        precision["kv"] = "fp8"
    rack = row["gpu"].startswith("GB")
    backend = "nvlink_one_sided" if rack and name == "trtllm" else None
    a, gpus = pool(row, "prefill", prefill, backend)
    b, more = pool(row, "decode", decode, backend)
    workload = {
        "kind": "serving",
        "model": serving.MODELS[row["model"]],
        "engine": decode,
        "precision": precision,
        "router": "least_loaded",
        "pools": [a, b],
        "load": {"closed": n, "requests": 10 * n, "input": isl, "output": osl},
    }
    if row["library"]:
        workload["transfer"] = {"library": row["library"]}
    if row["origin"] != "per_model":
        workload["load"]["as"] = "inferencex"
        workload["router"] = "round_robin"  # Dynamo's default, which no recipe changes
        workload.setdefault("transfer", {})["to"] = "round_robin"
    drafts = int(row["drafts"] or 0)
    if drafts:
        b["speculative"] = {"drafts": drafts, "acceptance": [0.85 if drafts == 1 else 0.7]}
    per = PER_NODE.get(row["gpu"], 8)
    b["first_gpu"] = -(-gpus // per) * per  # pools do not share nodes
    nodes = b["first_gpu"] // per + -(-more // per)
    topology = {"GB300": "gb300_nvl72"}.get(row["gpu"], serving.GPUS.get(row["gpu"]))
    return {"scenario": "row", "cluster": {"topology": topology, "nodes": nodes}, "workload": workload}, gpus + more


def predict(forerun, row, folder, index):
    what, gpus = scenario(row)
    path = os.path.join(folder, f"row{index}.yaml")
    with open(path, "w") as out:
        json.dump(what, out)
    done = subprocess.run([forerun, "run", path, "--format", "json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().split("\n")[0]
    result = json.loads(done.stdout)
    result = result.get("result", result)
    while "ttft" not in result:
        result = next(v for v in result.values() if isinstance(v, dict) and ("ttft" in v or "result" in v))
    return (result["ttft"]["mean_s"] * 1e3, result["tpot"]["mean_s"] * 1e3, gpus), None


def rate(row, ttft_ms, tpot_ms, gpus):
    """Output tokens/s a GPU of a closed loop."""
    n, osl = int(row["concurrency"] or 0), int(row["osl"])
    return 1e3 * n * osl / (ttft_ms + tpot_ms * (osl - 1)) / gpus


def order(rows, answers):
    right = asked = 0
    for (a, x), (b, y) in itertools.combinations([z for z in zip(rows, answers) if z[1][0] and z[0]["concurrency"]], 2):
        if any(a[k] != b[k] for k in ("gpu", "framework", "model", "isl", "osl", "precision")):
            continue
        gpus = x[0][2], y[0][2]
        was = [rate(r, float(r["ttft_ms"]), float(r["tpot_ms"]), g) for r, g in ((a, gpus[0]), (b, gpus[1]))]
        now = [rate(r, z[0][0], z[0][1], g) for r, z, g in ((a, x, gpus[0]), (b, y, gpus[1]))]
        if abs(was[0] / was[1] - 1) < 0.1:
            continue
        asked += 1
        right += (was[0] > was[1]) == (now[0] > now[1])
    return right, asked


def main():
    forerun, source = sys.argv[1:3]
    every = int(sys.argv[sys.argv.index("--every") + 1]) if "--every" in sys.argv else 1
    rows = [r for r in csv.DictReader(open(f"{source}/tests/data/serving/fleets.csv")) if r["model"] in serving.MODELS]
    if "--only" in sys.argv:
        rows = [r for r in rows if sys.argv[sys.argv.index("--only") + 1] in " ".join(r.values())]
    rows = rows[::every]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool_:
        answers = list(pool_.map(lambda x: predict(forerun, x[1], folder, x[0]), enumerate(rows)))
    groups, failed = {}, {}
    for row, (answer, why) in zip(rows, answers):
        group = row["gpu"] + " " + row["framework"] + " " + row["model"].split("/")[-1]
        if answer is None:
            failed.setdefault((group, why.split(": ", 1)[-1]), []).append(row)
            continue
        tpot, ttft = answer[1] / float(row["tpot_ms"]) - 1, answer[0] / float(row["ttft_ms"]) - 1
        for key in (group, "drafts" if int(row["drafts"] or 0) else "no drafts", "all"):
            groups.setdefault(key, ([], []))
            groups[key][0].append(tpot)
            groups[key][1].append(ttft)
        if "--rows" in sys.argv:
            keys = [k for k in row if k not in ("recipe", "model", "precision")]
            print("\t".join([row[k] for k in keys] + [f"{answer[0]:.1f}", f"{answer[1]:.3f}"]))
    print("# runs, |error| of TPOT median and p90, its median; the same of TTFT, in %")
    for key in sorted(groups, key=lambda k: (k in ("drafts", "no drafts"), k == "all", k)):
        print(f"{key:60s} {serving.line(key, groups[key][0])}  {serving.line(key, groups[key][1])[5:]}")
    right, asked = order(rows, answers)
    print(f"# order of two layouts: {right} of {asked} pairs right" + (f", {100 * right / asked:.1f} %" if asked else ""))
    for (group, why), those in failed.items():
        print(f"# not run: {group}: {len(those)} ({why})")
    over = asked and "--order" in sys.argv and 100 * right / asked < float(sys.argv[sys.argv.index("--order") + 1])
    for flag, which in (("--tpot", 0), ("--first", 1)):
        if flag in sys.argv:
            size = sorted(abs(e) for e in groups["all"][which])
            found = 100 * statistics.median(size), 100 * size[min(len(size) - 1, int(0.9 * len(size)))]
            at = sys.argv.index(flag) + 1
            over = over or any(x > float(limit) for x, limit in zip(found, sys.argv[at : at + 2]))
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
