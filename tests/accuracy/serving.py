#!/usr/bin/env python3
"""Predicted against measured TTFT and TPOT of serving engines.

usage: serving.py FORERUN SOURCE_DIR [--use fit|score] [--rows] [--limit MEDIAN] [--tail P90] [--first MEDIAN P90]

Each run of tests/data/serving/serving.csv whose model and GPU forerun has becomes a scenario of kind `serving`: a closed loop with the
run's concurrency, lengths, layout and precision. Printed: runs, median and 90th percentile of the absolute error, and the median signed
error, by group of split.tsv and for all groups of a use. Ends with status 1 where TPOT (--limit, --tail) or TTFT (--first) of the
runs that score is above a limit, in %. TTFT is compared as the mean over requests, which the source does not say.
"""
import csv, json, os, statistics, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

GPUS = {"H100": "hgx_h100", "H200": "hgx_h200", "B200": "hgx_b200", "B300": "hgx_b300", "GB200": "gb200_nvl72"}
MODELS = {
    "Qwen/Qwen3-32B": "qwen3_32b",
    "nvidia/Qwen3-32B-NVFP4": "qwen3_32b",
    "meta-llama/Llama-3.1-8B-Instruct": "llama31_8b",
    "nvidia/Llama-3.1-8B-Instruct-FP8": "llama31_8b",
    "Qwen/Qwen3-235B-A22B-FP8": "qwen3_235b_a22b",
    "deepseek-ai/DeepSeek-R1": "deepseek_v3",
    "nvidia/DeepSeek-R1-NVFP4": "deepseek_v3",
    "nvidia/DeepSeek-V3.1-NVFP4": "deepseek_v3",
    "openai/gpt-oss-120b": "gpt_oss_120b",
}


def formats(row):
    """`precision:` of the row: of the matrices, of the experts."""
    text = row["precision"]
    moe = text.split("moe")[-1]
    gemm = text.split(";")[0]
    one = lambda t: "nvfp4" if "fp4" in t else "fp8" if "fp8" in t else "int4" if "int4" in t else "bf16"
    if row["model"].startswith("openai/gpt-oss"):
        return {"weights": "bf16", "moe": "mxfp4"}
    if row["model"].endswith("NVFP4") or "nvfp4" in text:
        attention = "fp8" if "DeepSeek" in row["model"] else "nvfp4"
        return {"weights": one(gemm), "moe": one(moe), "attention": attention if "Qwen" not in row["model"] else "nvfp4"}
    return {"weights": one(gemm), "moe": one(moe)}


def of_aiconfigurator(row, engine, precision, n, isl):
    """How AIConfigurator deploys. TensorRT-LLM: cli/backends/trtllm.py, cli/templates/trtllm at 96102834 (2025-08): a batch of the run's
    concurrency with a graph for each size, 1,500 tokens beside a prompt, 80 % of the memory, and for models in 8 or 4 bit the KV cache
    in fp8. Prompts of the runs of Llama 3.1 8B in fp8 by vLLM, which may be fitted, were in the cache: AIPerf as
    generator/config/backend_templates/benchmark/bench_run.sh.j2 at f90534bc2 (2026-02) calls it sends 100 prompts again and again.
    vLLM: generator at 95ddf241 (2025-12) passes no limit of tokens; 2,048, the default of vLLM's SchedulerConfig, is what the runs that
    fit agree with. SGLang: generator/rule_plugin/sglang.rule at 17676b35; runs of 0.5.1 are older."""
    if engine["name"] == "sglang" and engine["version"] > "0.5.1":
        engine["mixed"] = True
    if engine["name"] == "vllm":
        engine["max_num_batched_tokens"] = 2048
    if engine["name"] == "trtllm":
        engine.update(max_num_seqs=n, max_num_batched_tokens=n + isl + 1500, cuda_graphs=n, memory=0.8)
        if row["precision"].startswith(("fp8", "fp4")):
            precision["kv"] = "fp8"


def mark_pairs(rows):
    """Sets `pair` of runs that InferenceX has twice, alike in all but time: "fast" of the one with the shorter TPOT."""
    alike = {}
    for row in rows:
        key = [row[k] for k in ("gpu", "framework", "model", "precision", "isl", "osl", "concurrency", "tp", "ep", "attention_dp", "origin")]
        alike.setdefault(tuple(key), []).append(row)
    for key, those in alike.items():
        if key[-1] != "per_model" and len(those) > 1:
            fastest = min(those, key=lambda row: float(row["tpot_ms"]))
            for row in those:
                row["pair"] = "fast" if row is fastest else "slow"


def mtp_of(row, n, isl, dp):
    """Drafts of multi-token prediction of a run; 0: none. InferenceX's list has which of its runs use it. Of two runs alike the faster
    one does, as the list has that layout with and without. TensorRT-LLM 1.1 on H200 has the concurrencies of the list with drafts
    alone, each once (128 and 256 too), and one pair. SGLang's list without drafts ends at 64 requests, with 8,192 tokens at 4."""
    image, pair = (row["gpu"], row["framework"]), row.get("pair")
    if image == ("B200", "trtllm 1.2.0rc6.post3") or (image == ("H200", "trtllm 1.1.0rc2.post2") and pair != "slow"):
        return 1 if dp > 1 else 3
    if image == ("B200", "sglang 0.5.9") and "fp8" in row["precision"] and row["tp"] == "8":
        return 2 if pair == "fast" or (pair is None and n > (4 if isl == 8192 else 64)) else 0
    return 0


def of_inferencex(row, engine, precision, n, isl, dp):
    """How InferenceX deploys: benchmarks/single_node of SemiAnalysisAI/InferenceX at 12ba0ae07 (2026-03), whose images these runs have.
    Acceptance, as no run says its own: of one draft 85 % (DeepSeek-V3's report, arXiv 2412.19437, 5.4.3); of more 70 % each, with which
    three drafts speed up a single sequence 2.16 times, as NVIDIA/TensorRT-LLM's tech_blog/blog2 measured."""
    hopper, engine["prefix_cache"] = row["gpu"].startswith("H"), False
    drafts = mtp_of(row, n, isl, dp) if "DeepSeek" in row["model"] else 0
    if engine["name"] == "vllm":
        engine.update(max_num_seqs=n if hopper else 512, max_num_batched_tokens=8192, cuda_graphs=2048, memory=0.9)
    elif engine["name"] == "sglang":
        fp4 = "nvfp4" in row["precision"]
        most = (512 if isl + int(row["osl"]) == 2048 else 256) if hopper else 512 if drafts else 256 if fp4 else 128
        engine.update(max_num_seqs=most, cuda_graphs=most, memory=0.85 if fp4 else 0.82)
        engine["max_num_batched_tokens"] = 16384 if fp4 or drafts else 32768
        if not hopper and not fp4 and row["tp"] == "4":
            engine.update(max_num_seqs=32, cuda_graphs=32, memory=0.95, max_num_batched_tokens=8192)
        if not hopper:
            engine["poll"] = 30 if n >= 16 else 10
    elif "gpt-oss" in row["model"]:
        engine.update(max_num_seqs=512, max_num_batched_tokens=20000, cuda_graphs=n, memory=0.85)
    else:
        batch = n if dp < 2 else max(n // (4 if "nvfp4" in row["precision"] else 8), 1)
        tokens = (drafts + 1) * batch + isl + 128 if drafts else max(8192, n + isl + 128)
        engine.update(max_num_batched_tokens=tokens, cuda_graphs=128 if hopper else batch, memory=0.75 if hopper else 0.8)
        if drafts:
            engine["max_num_seqs"] = batch
        if dp > 1:
            engine["balance"] = 60
    if not (hopper and engine["name"] != "trtllm"):
        precision["kv"] = "fp8"
    return {"drafts": drafts, "acceptance": [0.85 if drafts == 1 else 0.7]} if drafts else None


def ranks(row):
    """Attention data parallelism; where the source leaves it out, what makes tp x dp of a mixture of experts its ep x moe_tp."""
    tp, ep, moe_tp = (max(int(row[k] or 1), 1) for k in ("tp", "ep", "moe_tp"))
    stated = max(int(row["attention_dp"] or 1), 1)
    return stated if row["attention_dp"] or row["kind"] == "dense" or not int(row["moe_tp"] or 0) else max(ep * moe_tp // tp, 1)


def scenario(row, calibration=None):
    name, _, version = row["framework"].partition(" ")
    number = version.split("rc")[0].split(".post")[0].strip(".")
    if not number or not number[0].isdigit():
        number = ""
    if name == "trtllm" and number.startswith("0."):
        number = ""  # a version of Dynamo's runtime, not of TensorRT-LLM
    n = int(row["concurrency"])
    tp, pp, ep = (max(int(row[k] or 1), 1) for k in ("tp", "pp", "ep"))
    dp = ranks(row)
    engine = {"name": name}
    if number:
        engine["version"] = number
    isl, osl = int(row["isl"]), int(row["osl"])
    precision, speculative = formats(row), None
    load = {"closed": n, "requests": 10 * n, "input": isl, "output": osl}
    if name == "vllm" and row["model"] == "nvidia/Llama-3.1-8B-Instruct-FP8":
        load.update({"as": "aiperf", "requests": 20 * n, "warm_up": 2 * n})
    if row["origin"] == "per_model":
        of_aiconfigurator(row, engine, precision, n, isl)
    else:
        load["as"] = "inferencex"
        speculative = of_inferencex(row, engine, precision, n, isl, dp)
    workload = {
        "kind": "serving",
        "model": MODELS[row["model"]],
        "engine": engine,
        "parallel": {"tp": tp, "pp": pp, "dp_attn": dp, "ep": ep},
        "precision": precision,
        "load": load,
    }
    if speculative:
        workload["speculative"] = speculative
    cluster = {"topology": GPUS[row["gpu"]], "nodes": 1}
    if calibration:
        cluster["calibration"] = calibration
    return {"scenario": "row", "cluster": cluster, "workload": workload}


def predict(forerun, row, folder, index, calibration=None):
    path = os.path.join(folder, f"row{index}.yaml")
    with open(path, "w") as out:
        json.dump(scenario(row, calibration), out)
    done = subprocess.run([forerun, "run", path, "--format", "json"], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr.strip().split("\n")[0]
    result = json.loads(done.stdout)
    result = result.get("result", result)
    while "ttft" not in result:
        result = next(v for v in result.values() if isinstance(v, dict) and ("ttft" in v or "result" in v))
    return (result["ttft"]["mean_s"], result["tpot"]["mean_s"]), None


def line(name, errors):
    size = sorted(abs(e) for e in errors)
    if size:
        p90 = size[min(len(size) - 1, int(0.9 * len(size)))]
        return f"{len(size):5d} {100 * statistics.median(size):7.1f} {100 * p90:7.1f} {100 * statistics.median(errors):+7.1f}"
    return ""


def main():
    forerun, source = sys.argv[1:3]
    use = sys.argv[sys.argv.index("--use") + 1] if "--use" in sys.argv else None
    split = {}
    for row in csv.DictReader(open(f"{source}/tests/data/serving/split.tsv"), delimiter="\t"):
        split[row["gpu"], row["framework"], row["model"], row["origin"]] = row["use"]
    rows = []
    for row in csv.DictReader(open(f"{source}/tests/data/serving/serving.csv")):
        row["use"] = split[row["gpu"], row["framework"], row["model"], row["origin"]]
        if row["model"] in MODELS and row["gpu"] in GPUS and (use is None or row["use"] == use):
            rows.append(row)
    mark_pairs(rows)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda x: predict(forerun, x[1], folder, x[0]), enumerate(rows)))
    groups, failed = {}, {}
    for row, (answer, why) in zip(rows, answers):
        group = (row["use"], row["gpu"], row["framework"], row["model"])
        if answer is None:
            failed.setdefault((group, why.split(": ", 1)[-1]), []).append(row)
            continue
        ttft = answer[0] * 1e3 / float(row["ttft_ms"]) - 1
        tpot = answer[1] * 1e3 / float(row["tpot_ms"]) - 1
        for key in (group, (row["use"],), (row["use"], row["kind"])):
            groups.setdefault(key, ([], []))
            groups[key][0].append(tpot)
            groups[key][1].append(ttft)
        if "--rows" in sys.argv:
            keys = ("use", "gpu", "framework", "model", "precision", "isl", "osl", "concurrency", "tp", "ep", "attention_dp")
            print("\t".join([row[k] for k in keys] + [row["tpot_ms"], f"{answer[1] * 1e3:.3f}", row["ttft_ms"], f"{answer[0] * 1e3:.1f}"]))
    print("# runs, |error| of TPOT median and p90, its median; the same of TTFT, in %")
    for key in sorted(groups, key=lambda k: (len(k), k)):
        print(f"{' '.join(key):75s} {line(key, groups[key][0])}  {line(key, groups[key][1])[5:]}")
    for (group, why), those in failed.items():
        print(f"# not run: {' '.join(group)}: {len(those)} ({why})")
    over = False
    for flag, which, n in (("--limit", 0, 1), ("--tail", 0, 1), ("--first", 1, 2)):
        if flag not in sys.argv:
            continue
        size = sorted(abs(e) for e in groups[("score",)][which])
        median, p90 = 100 * statistics.median(size), 100 * size[min(len(size) - 1, int(0.9 * len(size)))]
        at = sys.argv.index(flag) + 1
        for value, limit in zip([median, p90] if n == 2 else [p90 if flag == "--tail" else median], sys.argv[at : at + n]):
            print(f"# {flag} of the runs that score: {value:.1f} %, limit {limit} %")
            over = over or value > float(limit)
    sys.exit(over)


if __name__ == "__main__":
    main()
