#!/usr/bin/env python3
"""usage: fit_planted_node.py FORERUN SOURCE [TOPOLOGY...]

Constants of operations inside a node: changes one constant of each stage of the fit at a time, lets forerun make rows with it on 2 to 8
GPUs, and fits these over the calibration without the change. Each constant is found within 3 %, or the fit says that the rows leave it
open; no constant of the stage may claim another value. The constants are those that the fit itself names, so a new one is tested, too.
"""
import concurrent.futures
import csv
import io
import os
import subprocess
import sys
import tempfile

forerun, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
topologies = sys.argv[3:] or ["hgx_h200"]
environment = dict(os.environ, FORERUN_DATA=source, FORERUN_PROGRESS="off")
work = tempfile.mkdtemp()
os.chdir(work)

LOCKSTEP, CHAIN, PAIRS = ["all_reduce", "all_gather", "reduce_scatter"], ["broadcast", "reduce"], ["alltoall", "sendrecv"]
KNOWN = ("fitted", "at its limit", "agrees")


def run(*words):
    """Standard output; nothing where forerun refuses."""
    done = subprocess.run([forerun, *words], env=environment, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def questions():
    """What is measured: operation, GPUs, algorithm, protocol, launch, most channels (0: any)."""
    for gpus in (2, 3, 4, 6, 8):
        for proto in ("ll", "ll128", "simple"):
            for op in LOCKSTEP + CHAIN:
                yield op, gpus, "ring", proto, "graph", 0
            yield "all_reduce", gpus, "tree", proto, "graph", 0
        for op in LOCKSTEP:
            yield op, gpus, "nvls", "simple", "graph", 0
        for op in PAIRS:
            yield op, gpus, "auto", "auto", "graph", 0
        for launch in ("threads", "serial"):
            yield "all_reduce", gpus, "auto", "auto", launch, 0
            yield "alltoall", gpus, "auto", "auto", launch, 0
    for proto in ("ll", "ll128", "simple"):
        for algo in ("ring", "tree"):
            for channels in (1, 4, 16):
                yield "all_reduce", 8, algo, proto, "graph", channels


def ask(topology, calibration, question):
    op, gpus, algo, proto, launch, channels = question
    words = ["coll", op, "--topology", topology, "-n", "1", "-g", str(gpus), "--launch", launch, "--calibration", calibration,
             "-b", "1K", "-e", "4G", "-f", "4", "--mode", "model", "--format", "tsv", "--quiet"]
    if algo != "auto":
        words += ["--algo", algo, "--proto", proto]
    if channels:
        words += ["--max-channels", str(channels)]
    return [[op, 1, gpus, algo, proto, launch, channels or "", row["bytes"], "%.5f" % (float(row["time_s"]) * 1e6)]
            for row in csv.DictReader(io.StringIO(run(*words)), delimiter="\t")]


def write_rows(path, topology, calibration):
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        answers = list(pool.map(lambda question: ask(topology, calibration, question), questions()))
    with open(path, "w", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow("op nodes gpus algo proto launch max_channels bytes time_us".split())
        for answer in answers:
            rows.writerows(answer)


def fit(path, topology, over):
    text = run("fit", path, "--topology", topology, "--over", over, "--hold-out", "none", "--format", "tsv", "--quiet")
    return {row["constant"]: row for row in csv.DictReader(io.StringIO(text), delimiter="\t")}


def unit(constant):
    before = constant["before"]
    return " B/s" if before.endswith("/s") else " s" if before.endswith("s") else " B" if before.endswith("B") else ""


def write_truth(path, over, planted):
    """A calibration with these values, {path: text}, over another one."""
    tree = {}
    for name, text in planted.items():
        at = tree
        keys = name.split(".")
        for key in keys[:-1]:
            at = at.setdefault(key, {})
        at[keys[-1]] = text

    def lines(part, depth):
        for key, value in part.items():
            if isinstance(value, dict):
                yield "  " * depth + key + ":"
                yield from lines(value, depth + 1)
            else:
                yield "  " * depth + key + ": " + value

    with open(path, "w", encoding="utf-8") as out:
        out.write("calibration: truth\nover: %s\nsource: measured\nlibrary:\n" % over)
        out.write("\n".join(lines(tree, 1)) + "\n")


def accepted(over, name, text):
    write_truth("one.yaml", over, {name: text})
    return run("check", "one.yaml") != ""


def plant(over, constant):
    """A value that the calibration accepts: as a share may not be above 1."""
    for factor in (0.77, 1.3):
        text = "%.8g%s" % (float(constant["before_SI"]) * factor, unit(constant))
        if accepted(over, constant["constant"], text):
            return factor, text
    return None, None


def off(a, b):
    return abs(a / b - 1) if b else float(a != 0)


def judge(fitted, stage_of, planted, base):
    """Lines to print, and whether all is well."""
    good = True
    for name, (factor, _) in planted.items():
        found = fitted.get(name)
        if found is None:
            print("  %s x %.2f: WRONG: the fit does not name it" % (name, factor))
            good = False
            continue
        truth = float(base[name]["before_SI"]) * factor
        error = off(float(found["after_SI"]), truth)
        line = "  %s x %.2f: %s" % (name, factor, found["verdict"])
        if found["verdict"] == "fitted":
            line += " within %.1f %%" % (100 * error)
        for other, row in fitted.items():
            right = float(base[other]["before_SI"]) * planted[other][0] if other in planted else float(row["before_SI"])
            wrong = off(float(row["after_SI"]), right)
            width = float(row["half_width"] or 0)
            if stage_of.get(other) == stage_of[name] and row["verdict"] in KNOWN and wrong > 0.03 and width < wrong:
                line += "; WRONG: %s is %s at %.4g, not %.4g" % (other, row["verdict"], float(row["after_SI"]), right)
                good = False
        print(line, flush=True)
    return good


def main():
    good = True
    for topology in topologies:
        head = run("coll", "all_reduce", "--topology", topology, "-n", "1", "-b", "1K", "-e", "1K", "--quiet")
        over = next(word.split()[1].rstrip(",") for word in head.split(", ") if word.startswith("calibration "))
        write_rows("base.csv", topology, over)
        base = fit("base.csv", topology, over)
        stage_of = {name: row["stage"] for name, row in base.items()}
        left = {}
        for name, row in base.items():
            if float(row["before_SI"]) != 0 and int(row["points"] or 0) >= 0:
                left.setdefault(row["stage"], []).append(name)
        print("%s over %s: %d constants in %d stages" % (topology, over, sum(map(len, left.values())), len(left)), flush=True)
        while any(left.values()):
            planted = {}
            for names in left.values():
                if names:
                    name = names.pop(0)
                    factor, text = plant(over, base[name])
                    if factor is not None:
                        planted[name] = (factor, text)
            write_truth("truth.yaml", over, {name: text for name, (_, text) in planted.items()})
            write_rows("planted.csv", topology, "truth.yaml")
            good = judge(fit("planted.csv", topology, over), stage_of, planted, base) and good
    return 0 if good else 1


sys.exit(main())
