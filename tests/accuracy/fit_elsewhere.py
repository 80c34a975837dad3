#!/usr/bin/env python3
"""usage: fit_elsewhere.py FORERUN SOURCE

Fits one part of the published rows of a cluster over nodes and predicts another part, which the fit has not seen: another algorithm,
another cluster of the same kind, the sizes between. Prints the median error before and after the fit. A fit that makes it worse by
more than a tenth and one point has moved something that its rows do not tell: exit 1.
"""
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile

forerun, source = map(os.path.abspath, sys.argv[1:3])
os.environ.update(FORERUN_DATA=source, FORERUN_PROGRESS="off")


def table(*command):
    """Rows of a TSV answer; none where the command fails."""
    done = subprocess.run([forerun, *command, "--quiet", "--format", "tsv"], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    return list(csv.DictReader(io.StringIO("\n".join(lines)), delimiter="\t"))


ROWS = [row for row in table("validate", os.path.join(source, "tests/data"), "--points") if int(row["nodes"]) > 1]


def rows_of(system, algo=None):
    rows = [row for row in ROWS if row["system"] == system and algo in (None, row["algo"])]
    return sorted(rows, key=lambda row: int(row["bytes"]))


def predict(row, topology, calibration):
    command = ["coll", row["op"], "--topology", topology, "-n", row["nodes"], "-b", row["bytes"], "-e", row["bytes"]]
    if row["algo"] != "auto":
        command += ["--algo", row["algo"]]
    if calibration:
        command += ["--calibration", calibration]
    return float(table(*command)[0]["time_s"])


def error(rows, topology, calibration=None):
    return 100 * statistics.median(abs(predict(row, topology, calibration) / float(row["measured_s"]) - 1) for row in rows)


def fit(rows, topology):
    """The calibration's path, or None where the rows tell nothing."""
    with open("rows.csv", "w", encoding="utf-8") as out:
        print("op,nodes,gpus,algo,bytes,time_us", file=out)
        for row in rows:
            gpus = int(row["ranks"]) // int(row["nodes"])
            print(row["op"], row["nodes"], gpus, row["algo"], row["bytes"], float(row["measured_s"]) * 1e6, sep=",", file=out)
    done = subprocess.run([forerun, "fit", "rows.csv", "--topology", topology, "--quiet", "-o", "fitted.yaml"],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        sys.exit(done.stderr)
    return "fitted.yaml" if done.returncode == 0 else None


def between(system):
    return rows_of(system)[::2], rows_of(system)[1::2]


CASES = [
    ("2 H100 nodes: NCCL's choice, then rings", "hgx_h100", rows_of("ndr_h100_pair", "auto"), rows_of("ndr_h100_pair", "ring")),
    ("2 H100 nodes: rings, then NCCL's choice", "hgx_h100", rows_of("ndr_h100_pair", "ring"), rows_of("ndr_h100_pair", "auto")),
    ("2 H100 nodes: one cluster, then another", "hgx_h100", rows_of("ndr_h100_dell"), rows_of("ndr_h100_pair")),
    ("2 H100 nodes: the other, then the one", "hgx_h100", rows_of("ndr_h100_pair"), rows_of("ndr_h100_dell")),
    ("2 H100 nodes: every second size", "hgx_h100", *between("ndr_h100_dell")),
    ("2 p5 nodes: every second size", "p5", *between("h100_p5")),
    ("2 p4de nodes: every second size", "p4d", *between("a100_p4de")),
    ("2 a3-megagpu nodes: every second size", "a3_mega", *between("tcpxo_a3_dstack")),
]

worse = False
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    print("| fitted, then predicted | rows fitted, predicted | median error before | after |")
    print("|---|---|---|---|")
    for name, topology, fitted, others in CASES:
        before = error(others, topology)
        calibration = fit(fitted, topology)
        after = error(others, topology, calibration) if calibration else before
        mark = " WORSE" if after > 1.1 * before + 1 else ""
        worse = worse or bool(mark)
        print(f"| {name} | {len(fitted)}, {len(others)} | {before:.1f} % | {after:.1f} %{mark} |", flush=True)
    os.chdir("/")
sys.exit(worse)
