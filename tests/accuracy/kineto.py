#!/usr/bin/env python3
"""Steps of PyTorch's profiler on one number of GPUs, predicted on another, against what was measured there.

usage: kineto.py FORERUN SOURCE_DIR [--limit WORST] [--update]

Prints a row a case of tests/data/import/kineto/steps.csv. Ends with status 1 where the worst error is above its limit, in %, or the
table of docs/traces.md differs; --update renews that.
"""
import csv, json, os, subprocess, sys, tempfile

BEGIN, END = "<!-- tests/accuracy/kineto.py -->\n", "<!-- end of tests/accuracy/kineto.py -->\n"


def answer(command, source):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FORERUN_DATA": source})
    if done.returncode != 0:
        sys.exit(f"kineto.py: {' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def main():
    forerun, source = sys.argv[1:3]
    data = os.path.join(source, "tests/data/import/kineto")
    with open(os.path.join(data, "steps.csv")) as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    errors, table = [], ["| case | GPUs of the trace | GPUs | measured (ms) | predicted (ms) | error (%) |", "|---|---|---|---|---|---|"]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as step:
        for row in rows:
            trace = os.path.join(data, f"{row['case']}_gpus{row['trace']}_rank0.json.gz")
            step.seek(0)
            step.truncate()
            step.write(answer([forerun, "import", "kineto", trace, "--like", "h200x8_vm", "--nodes", "1", "--gpus", row["gpus"],
                               "--quiet"], source))
            step.flush()
            run = [forerun, "run", step.name, "--set", "nccl.NCCL_NVLS_ENABLE=0", "--format", "json", "--quiet"]
            predicted, measured = json.loads(answer(run, source))["results"]["time_s"], float(row["step_s"])
            errors.append(100 * (predicted / measured - 1))
            table.append(f"| `{row['case']}` | {row['trace']} | {row['gpus']} | {1e3 * measured:.1f} | {1e3 * predicted:.1f} | "
                         f"{errors[-1]:+.1f} |")
    print("\n".join(table))
    worst = max(map(abs, errors))
    if "--limit" in sys.argv and worst > float(sys.argv[sys.argv.index("--limit") + 1]):
        sys.exit(f"kineto.py: the worst error is {worst:.1f} %, above the limit")
    page = os.path.join(source, "docs/traces.md")
    with open(page) as file:
        text = file.read()
    before, after = text.split(BEGIN)[0] + BEGIN, END + text.split(END)[1]
    new = before + "\n".join(table) + "\n" + after
    if "--update" in sys.argv:
        with open(page, "w") as file:
            file.write(new)
    elif new != text:
        sys.exit("kineto.py: the table of docs/traces.md differs; --update renews it")


if __name__ == "__main__":
    main()
