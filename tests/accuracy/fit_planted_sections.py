#!/usr/bin/env python3
"""usage: fit_planted_sections.py FORERUN SOURCE

Constants of kernels, overlap, links and storage: fits a real probe's file, puts the predictions of that fit in the place of what was
measured, and fits again over defaults that know neither. What the first fit found is the truth of the second one: each constant is found
within 3 % or within its interval, or the fit says that the rows leave it open.
"""
import collections
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile

forerun, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
environment = dict(os.environ, FORERUN_DATA=source, FORERUN_PROGRESS="off")
SECTIONS = {"kernels": "compute", "overlap": "overlap", "links": "link", "storage": "storage"}
# Found further off than 3 %, and why is not known; docs/fit.md says so.
OFF = {"overlap.memory.traffic_cost": 0.13}
KNOWN = ("fitted", "at its limit", "agrees")
os.chdir(tempfile.mkdtemp())


def fit(probe, *words):
    done = subprocess.run([forerun, "fit", probe, "--topology", "hgx_h200", "--over", "bare.yaml", "--quiet", "--hold-out", "none",
                           "--format", "tsv", *words], env=environment, capture_output=True, text=True, check=True)
    return {row["constant"]: row for row in csv.DictReader(io.StringIO(done.stdout), delimiter="\t")
            if row["constant"].split(".")[0] in SECTIONS}


def imagine(probe, points):
    """The file's points of these sections that the fit took, as it predicts them."""
    told = collections.defaultdict(list)
    with open(points, encoding="utf-8") as text:
        for row in csv.DictReader(text, delimiter="\t"):
            told[SECTIONS[row["section"]], float(row["measured"])].append(float(row["predicted"]))
    kept = []
    for point in probe["points"]:
        found = told.get((point["section"], point.get("median_s")))
        if point["what"].endswith("_alone") or point.get("memory") == "own":
            kept.append(point)  # what others are compared with is measured, not predicted
        elif found:
            value = found.pop(0) if len(found) > 1 else found[0]
            kept.append(dict(point, median_s=value, ci_lo_s=value, ci_hi_s=value))
    return dict(probe, points=kept)


with open("bare.yaml", "w", encoding="utf-8") as out:
    out.write("calibration: bare\nlibrary: {}\n")  # not over the shipped constants, which have seen these points
real = os.path.join(source, "tests/data/probe/h200x4.json.gz")
truth = fit(real, "--section-points", "points.tsv")
with gzip.open(real, "rt") as text:
    imagined = imagine(json.load(text), "points.tsv")
with open("imagined.json", "w", encoding="utf-8") as out:
    json.dump(imagined, out)
found = fit("imagined.json")

good = True
count = collections.Counter()
for name, right in truth.items():
    mine = found.get(name)
    if mine is None:
        print("%s: WRONG: not named" % name)
        good = False
        continue
    value, true = float(mine["after_SI"]), float(right["after_SI"])
    error = abs(value / true - 1) if true else float(value != 0)
    line = "%s: %s" % (name, mine["verdict"])
    count[mine["verdict"]] += 1
    if right["verdict"] not in KNOWN:
        line += "; nothing was planted: the first fit left it open"
    elif mine["verdict"] in KNOWN:
        line += " within %.1f %%" % (100 * error)
        if error > max(OFF.get(name, 0.03), float(mine["half_width"] or 0)):
            line += "; WRONG: %.4g, not %.4g" % (value, true)
            good = False
    print(line)
print("%d constants: %s" % (len(truth), ", ".join("%d %s" % (n, verdict) for verdict, n in count.items())))
sys.exit(0 if good else 1)
