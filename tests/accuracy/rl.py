#!/usr/bin/env python3
"""Predicted against measured times of a step of GRPO. Nothing is fitted to them.

usage: rl.py FORERUN SOURCE_DIR [--rows] [--limit MEDIAN]

Each run of tests/data/rl becomes a scenario of kind `rl`, colocated. Recomputation is that of NeMo-RL's recipes of the same names
(examples/configs/recipes/llm/performance). Assumed, as the source does not say: prompts of 150 tokens, answers by a normal law of the
published mean with a deviation of 40 % that the longest sequence cuts. Ends with status 1 where the median error is above its limit, in %.
"""
import csv, json, os, statistics, subprocess, sys, tempfile

PROMPT = 150
RECOMPUTED = ("llama31_8b", "qwen3_235b_a22b", "deepseek_v3")  # activation_checkpointing of the recipes
UNEVEN = ("deepseek_v3", "qwen3_235b_a22b")  # layers that stages do not divide
TOPOLOGY = {"H100": "hgx_h100", "GB200": "gb200_nvl72"}


def scenario(row):
    n = {k: int(row[k]) for k in ("nodes", "max_length", "mean_length", "batch", "train_batch", "gen_tp", "tp", "cp", "ep", "pp")}
    train = {"kind": "training", "parallel": {k: n[k] for k in ("tp", "cp", "ep", "pp") if n[k] > 1}}
    if n["tp"] > 1:
        train["parallel"]["sp"] = True  # as its recipes have it
    if row["model"] in RECOMPUTED:
        train["recompute"] = "full"
    if row["model"] in UNEVEN and n["pp"] > 1:
        train["pipeline"] = {"uneven": True}
    mean, most = n["mean_length"] - PROMPT, n["max_length"] - PROMPT
    return {
        "scenario": "rl", "cluster": {"topology": TOPOLOGY[row["gpu"]], "nodes": n["nodes"]},
        "workload": {
            "kind": "rl", "model": row["model"], "prompts": n["batch"] // 32, "samples": 32,
            "lengths": {"input": {"law": "uniform", "min": PROMPT, "max": PROMPT},
                        "output": {"law": "normal", "mean": mean, "deviation": min(0.4 * mean, (most - mean) / 2), "max": most}},
            "rollout": {"engine": {"name": "vllm", "memory": 0.6}, "parallel": {"tp": n["gen_tp"]}},
            "reference": True, "updates": n["batch"] // n["train_batch"], "framework": "nemo_rl",
            "train": train,
        },
    }


def predict(forerun, source, row):
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        json.dump(scenario(row), file)
        file.flush()
        done = subprocess.run([forerun, "run", file.name, "--format", "json", "--quiet"], capture_output=True, text=True,
                              env={**os.environ, "FORERUN_DATA": source})
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[0].split(": ", 1)[-1]
    return json.loads(done.stdout), ""


def main():
    forerun, source = sys.argv[1:3]
    path = os.path.join(source, "tests/data/rl/nemo_rl.csv")
    with open(path) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    errors, refused, inside = [], [], 0
    for row in rows:
        result, why = predict(forerun, source, row)
        name = f"{row['version']} {row['gpu']:5s} {int(row['nodes']) * int(row['gpus_per_node']):4d} {row['model']:15s}"
        if result is None:
            refused.append((name, why))
            continue
        result = result["results"]
        step = result["time_s"]
        errors.append(step / float(row["step_s"]) - 1)
        inside += result["time_lo_s"] <= float(row["step_s"]) <= result["time_hi_s"]
        if "--rows" in sys.argv:
            print(f"{name} measured {float(row['step_s']):7.1f} s  predicted {step:7.1f} s  {100 * errors[-1]:+6.1f} %  "
                  f"(generation {result['generation_s']:.0f}, update {result['update_s']:.0f}, log-probabilities "
                  f"{result['phases_s']['old_logprobs'] + result['phases_s']['reference']:.0f}, sync {result['sync_s']:.0f}, change "
                  f"{result['phases_s']['change']:.0f}; band {result['time_lo_s']:.0f} to {result['time_hi_s']:.0f})")
    for name, why in refused:
        print(f"{name} not predicted: {why}")
    if not errors:
        sys.exit("no run could be predicted")
    median = 100 * statistics.median(abs(e) for e in errors)
    print(f"{len(errors)} of {len(rows)} runs: median error {median:.0f} %, signed {100 * statistics.median(errors):+.0f} %, "
          f"{inside} within the band")
    if "--limit" in sys.argv and median > float(sys.argv[sys.argv.index("--limit") + 1]):
        sys.exit(1)


if __name__ == "__main__":
    main()
