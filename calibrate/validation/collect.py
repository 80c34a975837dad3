#!/usr/bin/env python3
"""Brings runs of steps.py together as test data.

  python3 calibrate/validation/collect.py --out DIR RUN...

RUN is a folder that steps.py wrote; what a later one has replaces an earlier one's. Writes DIR/<n>_gpus.jsonl, a line a case;
steps.csv, the same in a row each; repeats.csv, every run's time of cases that ran more than once; kernels.csv, collectives.csv,
interference.csv; kernel_tables.csv, the kernels of one step of some cases.
"""
import argparse
import csv
import json
import os
import sys

STEP = ["case", "gpus", "model", "layers", "sequence", "micro_batch", "accumulate", "micro_batches", "tp", "sp", "pp", "vp", "ep", "dp", "data_parallel",
        "schedule", "precision", "recompute", "framework", "attention", "step_s", "least_s", "most_s", "forward_s", "backward_s",
        "optimizer_s", "enqueue_s", "tokens", "model_flop", "flop_per_s_per_gpu", "peak_allocated_B", "peak_reserved_B", "used_B",
        "baseline_B", "traced_step_s", "compute_busy_s", "compute_wait_s", "idle_s", "nccl_busy_s", "nccl_hidden_s", "nccl_exposed_s",
        "gemm_s", "gemm_beside_nccl_s", "kernels", "sm_clock_MHz", "power_W"]


def read(runs):
    """Lines of all runs by stage and case, and each run's times."""
    stages, times = {}, []
    for number, run in enumerate(runs, 1):
        for name in sorted(os.listdir(run)):
            if not name.endswith(".jsonl"):
                continue
            with open(os.path.join(run, name), encoding="utf-8") as f:
                for line in f:
                    row = json.loads(line)
                    if "error" in row:
                        print(f"{run}: {row['case']} failed: {row['error'][:200]}", file=sys.stderr)
                        continue
                    stages.setdefault(int(name[:-6]), {})[row["case"]] = row
                    if "step_s" in row:
                        first = row["ranks"][0]
                        times.append([row["case"], number, row["step_s"], first["step_min_s"], first["step_max_s"],
                                      *(first.get(k) for k in ("gpu", "sm_clock_MHz", "power_W"))])
    return stages, times


def flat(row):
    """A line's row of steps.csv; times, memory and clocks of the rank where they are most, traces of rank 0's."""
    scenario, ranks = row["scenario"], row["ranks"]
    work, more = scenario["workload"], scenario["torch"]
    parallel, precision = work["parallel"], work["precision"]
    memory, trace, first = [r["memory"] for r in ranks], ranks[0].get("trace", {}), ranks[0]
    dp = scenario["gpus"] // (parallel["tp"] * parallel["pp"])
    out = {"case": row["case"], "gpus": scenario["gpus"], "model": scenario["model"]["name"], "layers": scenario["model"]["layers"],
           "sequence": work["sequence"], "micro_batch": work["micro_batch"], "accumulate": work["accumulate"],
           "micro_batches": work["global_batch"] // (dp * work["micro_batch"]), **{k: parallel[k] for k in ("tp", "pp", "vp", "ep")},
           "sp": int(parallel["sp"]), "dp": dp, "data_parallel": more.get("dp_by"), "schedule": work.get("schedule"),
           "precision": "amp" if more["autocast"] else precision["parameters"], "recompute": work["recompute"],
           "framework": work["framework"], "attention": more["attention"], "step_s": row["step_s"],
           "least_s": min(r["step_min_s"] for r in ranks), "most_s": max(r["step_max_s"] for r in ranks),
           "enqueue_s": first["enqueue"]["step_s"], "tokens": row["tokens"], "model_flop": row["model_flop"],
           "flop_per_s_per_gpu": row["model_flop_per_s_per_gpu"], "traced_step_s": trace.get("step_s")}
    for key in ("forward_s", "backward_s", "optimizer_s", "sm_clock_MHz", "power_W"):
        out[key] = first.get(key)
    for key in ("peak_allocated_B", "peak_reserved_B", "used_B"):
        out[key] = max(m[key] for m in memory)
    out["baseline_B"] = memory[0]["baseline_B"]
    for key in STEP[STEP.index("compute_busy_s"):STEP.index("sm_clock_MHz")]:
        out[key] = trace.get(key)
    return out


def tidy(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def write(path, head, rows):
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(head)
        out.writerows([tidy(v) for v in row] for row in rows)


def write_tables(directory, kind, rows):
    """Rows of dictionaries; columns in order of first use."""
    head = list(dict.fromkeys(k for row in rows for k in row))
    write(os.path.join(directory, f"{kind}.csv"), head, [[row.get(k) for k in head] for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("runs", nargs="+", metavar="RUN")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    stages, times = read(args.runs)
    steps, tables = [], []
    for stage, rows in sorted(stages.items()):
        with open(os.path.join(args.out, f"{stage}_gpus.jsonl"), "w", encoding="utf-8") as f:
            for case, row in sorted(rows.items()):
                if "kind" in row:
                    found = [{k: " | ".join(v) if isinstance(v, list) else v for k, v in r.items()} for r in row["rows"]]
                    write_tables(args.out, row["kind"], found)
                    continue
                tables += [[case, *r] for r in row.pop("kernels", [])]
                steps.append(flat(row))
                f.write(json.dumps(json.loads(json.dumps(row), parse_float=lambda x: float(f"{float(x):.7g}"))) + "\n")
    write(os.path.join(args.out, "steps.csv"), STEP, [[s[k] for k in STEP] for s in steps])
    write(os.path.join(args.out, "kernel_tables.csv"), ["case", "part", "kind", "kernel", "count", "total_s"], tables)
    often = {case for case in (t[0] for t in times) if sum(t[0] == case for t in times) > 1}
    write(os.path.join(args.out, "repeats.csv"), ["case", "run", "step_s", "least_s", "most_s", "gpu", "sm_clock_MHz", "power_W"],
          sorted(t for t in times if t[0] in often))


if __name__ == "__main__":
    main()
