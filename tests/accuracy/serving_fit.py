#!/usr/bin/env python3
"""What ten runs of an engine on a GPU are worth: `forerun fit --serving` takes the ten of a group that tests/data/serving/ten.tsv
names, and the calibration that it writes predicts the others of that group.

usage: serving_fit.py FORERUN SOURCE_DIR [--draw 2] [--group WORD] [--keep FOLDER] [--tpot MEDIAN P90] [--ttft MEDIAN P90] [--worse POINTS]

Printed by group: |error| of TPOT and of TTFT, median and 90th percentile in %, before the fit and after it. Ends with status 1 where
one of all groups together is above a limit, or where the fit raises the 90th percentile of TPOT of a group by more than --worse points. --draw 2: ten other runs (ten2.tsv). The fits are thrown away; --keep leaves their files.
"""
import csv, json, os, statistics, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
import serving


def flat(prefix, value, out):
    """`engine.max_num_seqs` and so on of a mapping, as `fit` reads columns."""
    for key, item in value.items():
        if isinstance(item, dict):
            flat(prefix + key + ".", item, out)
        elif prefix:
            out[prefix + key] = {True: "yes", False: "no"}.get(item, item) if isinstance(item, bool) else item


def fit(forerun, rows, folder, index):
    """The calibration of a group: its path; None where it cannot be fitted."""
    whole = serving.scenario(rows[0])
    table, base = os.path.join(folder, f"ten{index}.csv"), os.path.join(folder, f"base{index}.yaml")
    with open(base, "w") as out:
        json.dump(whole, out)
    lines = []
    for row in rows:
        if serving.predict(forerun, row, folder, f"{index}_fits")[0] is None:
            continue  # a run that does not fit into memory here, which the fit would refuse
        cells = {"ttft_ms": row["ttft_ms"], "tpot_ms": row["tpot_ms"]}
        flat("", serving.scenario(row)["workload"], cells)
        lines.append(cells)
    with open(table, "w") as out:
        writer = csv.DictWriter(out, sorted(set().union(*lines)))
        writer.writeheader()
        writer.writerows(lines)
    path = os.path.join(folder, f"fitted{index}.yaml")
    done = subprocess.run([forerun, "fit", table, "--serving", base, "-o", path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"FAILED: {rows[0]['gpu']} {rows[0]['framework']} {rows[0]['model']}: {done.stderr}")
    if "--verbose" in sys.argv:
        print(done.stderr)
    return path


def errors_of(forerun, rows, folder, index, calibration):
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda x: serving.predict(forerun, x[1], folder, f"{index}_{x[0]}", calibration), enumerate(rows)))
    tpot, ttft = [], []
    for row, (answer, _) in zip(rows, answers):
        if answer is not None:
            ttft.append(answer[0] * 1e3 / float(row["ttft_ms"]) - 1)
            tpot.append(answer[1] * 1e3 / float(row["tpot_ms"]) - 1)
    return tpot, ttft


def both(errors):
    size = sorted(abs(e) for e in errors)
    return 100 * statistics.median(size), 100 * size[min(len(size) - 1, int(0.9 * len(size)))]


def limits(flag):
    at = sys.argv.index(flag) if flag in sys.argv else 0
    return [float(x) for x in sys.argv[at + 1 : at + 3]] if at else [float("inf")] * 2


def main():
    forerun, source = sys.argv[1:3]
    wanted = sys.argv[sys.argv.index("--group") + 1] if "--group" in sys.argv else ""
    lines = list(csv.DictReader(open(f"{source}/tests/data/serving/serving.csv")))
    groups = {}
    draw = sys.argv[sys.argv.index("--draw") + 1] if "--draw" in sys.argv else ""
    for row in csv.DictReader(open(f"{source}/tests/data/serving/ten{draw}.tsv"), delimiter="\t"):
        name = row["gpu"], row["framework"], row["model"]
        groups.setdefault(name, {"fit": [], "score": []})[row["use"]].append(lines[int(row["line"]) - 2])
    sums, over = [[], [], [], []], []
    worse = float(sys.argv[sys.argv.index("--worse") + 1]) if "--worse" in sys.argv else float("inf")
    print("# runs; |error| in %, median and p90: TPOT before, TPOT after ten runs, TTFT before, TTFT after")
    with tempfile.TemporaryDirectory() as temporary:
        folder = sys.argv[sys.argv.index("--keep") + 1] if "--keep" in sys.argv else temporary
        for index, (name, uses) in enumerate(sorted(groups.items())):
            if wanted not in " ".join(name):
                continue
            calibration = fit(forerun, uses["fit"], folder, index)
            before = errors_of(forerun, uses["score"], folder, index, None)
            after = errors_of(forerun, uses["score"], folder, index, calibration)
            each = [before[0], after[0], before[1], after[1]]
            for total, errors in zip(sums, each):
                total += errors
            if both(after[0])[1] > both(before[0])[1] + worse:
                over.append(f"{' '.join(name)}: TPOT from {both(before[0])[1]:.1f} to {both(after[0])[1]:.1f} %")
            print(f"{' '.join(name):65s} {len(before[0]):4d} " + " ".join("%7.1f %6.1f" % both(e) for e in each), flush=True)
    print(f"{'all':65s} {len(sums[0]):4d} " + " ".join("%7.1f %6.1f" % both(e) for e in sums))
    found = both(sums[1]) + both(sums[3])
    most = limits("--tpot") + limits("--ttft")
    over += [f"{x:.1f} % is above {m:.1f} %" for x, m in zip(found, most) if x > m]
    if over:
        sys.exit("FAILED: " + "; ".join(over))


main()
