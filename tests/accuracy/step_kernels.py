#!/usr/bin/env python3
"""Steps of PyTorch by constants of kernels that were fitted to a trace of another model on the same GPU, against what was measured.

usage: step_kernels.py FORERUN SOURCE_DIR [--limit MEDIAN,WORST] [--update]

Prints a row for each step of tests/data/import/kineto_shapes/steps.csv and each trace of another model. Ends with status 1 where the
median or the worst error is above its limit, in %, or the table of docs/fit.md differs; --update renews that.
"""
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile

BEGIN, END = "<!-- tests/accuracy/step_kernels.py -->\n", "<!-- end of tests/accuracy/step_kernels.py -->\n"
LLAMA = "positions: {kind: rope}, norm: rmsnorm"
MODELS = {
    "1b": "{layers: %s, hidden: 2048, vocabulary: 128256, attention: {kind: gqa, heads: 32, kv_heads: 8, head_dim: 64, bias: false, "
          "output_bias: false, fused: false}, " + LLAMA + ", tied: true, mlp: {kind: swiglu, ffn: 8192, bias: false, fused: false}}",
    "8b": "{layers: %s, hidden: 4096, vocabulary: 128256, attention: {kind: gqa, heads: 32, kv_heads: 8, head_dim: 128, bias: false, "
          "output_bias: false, fused: false}, " + LLAMA + ", tied: false, mlp: {kind: swiglu, ffn: 14336, bias: false, fused: false}}",
    "gpt": "{layers: %s, hidden: 1024, vocabulary: 50304, attention: {kind: mha, heads: 16, kv_heads: 16, head_dim: 64, bias: true, "
           "output_bias: true, fused: true}, positions: {kind: learned, length: 1024}, norm: layernorm, tied: true, "
           "mlp: {kind: gelu, ffn: 4096, bias: true, fused: false}}",
}
SCENARIO = """scenario: step
cluster: {topology: hgx_h100, nodes: 1, gpus_per_node: 1%s}
workload:
  kind: training
  model: %s
  sequence: %s
  global_batch: %s
  micro_batch: %s
  precision: {parameters: bf16, compute: bf16, gradients: bf16, reduce: bf16, master: none, optimizer: bf16}
  framework: eager
  clip: false
  optimizer: adamw_fused
%s"""
NAMED = "  software: {name: pytorch, year: 2026}\n"
FITTED = "  software: {name: pytorch, year: 2026, efficiency: 1, attention: 1}\n"
FITS = ["1b", "8b", "gpt", "1b+8b", "1b+gpt", "8b+gpt"]


def answer(command, source):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FORERUN_DATA": source})
    if done.returncode != 0:
        sys.exit(f"step_kernels.py: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def fit(forerun, source, folder, models, attention):
    """The calibration fitted to the traces of these models."""
    data = os.path.join(source, "tests/data/import/kineto_shapes")
    end = "_cudnn" if attention == "cudnn" else ""
    name = f"{models}_{attention}".replace("+", "_")
    kernels, out = os.path.join(folder, name + ".json"), os.path.join(folder, name + ".yaml")
    if os.path.exists(out):
        return out
    answer([forerun, "import", "kineto", *(f"{data}/{m}{end}.json.gz" for m in models.split("+")), "--kernels", "-o", kernels], source)
    answer([forerun, "fit", kernels, "--topology", "hgx_h100", "--name", name, "-o", out, "--quiet"], source)
    return out


def step_s(forerun, source, folder, row, software, calibration=None):
    path = os.path.join(folder, "step.yaml")
    with open(path, "w") as file:
        file.write(SCENARIO % (f", calibration: {calibration}" if calibration else "", MODELS[row["model"]] % row["layers"], row["s"],
                               row["mb"], row["mb"], software))
    return json.loads(answer([forerun, "run", path, "--format", "json", "--quiet"], source))["results"]["step_time_s"]


def main():
    forerun, source = sys.argv[1:3]
    with open(os.path.join(source, "tests/data/import/kineto_shapes/steps.csv")) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    columns = ["no framework named", "`pytorch` named"] + [f"fitted to {name}" for name in FITS]
    table = ["| step | measured (ms) | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    errors = {name: [] for name in columns}
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            measured, cells = float(row["step_s"]), []

            def score(name, *how):
                errors[name].append(100 * (step_s(forerun, source, folder, row, *how) / measured - 1))
                cells.append(f"{errors[name][-1]:+.1f}")
            score(columns[0], "")
            score(columns[1], NAMED)
            for name in FITS:
                missing = row["attention"] == "cudnn" and "gpt" in name
                if row["model"] in name.split("+") or missing:
                    cells.append("")
                else:
                    score(f"fitted to {name}", FITTED, fit(forerun, source, folder, name, row["attention"]))
            table.append(f"| `{row['case']}` | {1e3 * measured:.1f} | " + " | ".join(cells) + " |")
    fitted = [abs(e) for name in columns[2:] for e in errors[name]]
    sums = [f"{statistics.median(map(abs, errors[name])):.1f}, {max(map(abs, errors[name])):.1f}" for name in columns]
    table.append("| median, worst | | " + " | ".join(sums) + " |")
    print("\n".join(table))
    median, worst = statistics.median(fitted), max(fitted)
    print(f"fitted to a trace of another model: {len(fitted)} predictions, median {median:.1f} %, worst {worst:.1f} %")
    if "--limit" in sys.argv:
        limits = [float(x) for x in sys.argv[sys.argv.index("--limit") + 1].split(",")]
        if median > limits[0] or worst > limits[1]:
            sys.exit("step_kernels.py: that is above the limit")
    page = os.path.join(source, "docs/fit.md")
    with open(page) as file:
        text = file.read()
    if BEGIN not in text:
        return
    new = text.split(BEGIN)[0] + BEGIN + "\n".join(table) + "\n" + END + text.split(END)[1]
    if "--update" in sys.argv:
        with open(page, "w") as file:
            file.write(new)
    elif new != text:
        sys.exit("step_kernels.py: the table of docs/fit.md differs; --update renews it")


if __name__ == "__main__":
    main()
