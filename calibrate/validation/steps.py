#!/usr/bin/env python3
"""Measures training steps of plain PyTorch on the GPUs of one node, to validate forerun's training simulator against.

  python3 calibrate/validation/steps.py --out DIR [--budget 9m] [--stages 4,1,2] [--smoke] [--only ID,...]

Stages are by GPUs of a case: 1 (every GPU takes cases, and one measures single kernels), 2 (every pair does), 4. Each writes
DIR/<stage>.jsonl, a line a case, as it goes: a cut leaves what came before. A case that fails, hangs or takes too long is a line
with `error`, and the processes are started again behind it. Needs PyTorch 2.6 or later with CUDA and NCCL, and nothing else;
`--device cpu` runs scaled-down cases by gloo, to test the scripts.
"""
import argparse
import faulthandler
import fcntl
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

STUCK_S = 12      # after one rank failed, others get so long to notice
CASE_S = 45       # limit of a case without its own
SHARES = {4: 0.74, 1: 0.17, 2: 0.09}
LATE_S = 20       # a case that began in time may end so much later
AGAIN = 75        # exit status: start me again, behind the case that failed
OVER = 76         # no time is left


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--budget", default="9m", help="of everything: 90s, 9m")
    parser.add_argument("--stages", default="4,1,2", help="in this order; shares of the budget are fixed, the last gets the rest")
    parser.add_argument("--gpus", type=int, help="of the machine; default: all, 4 at most")
    parser.add_argument("--smoke", action="store_true", help="a few cases of each kind")
    parser.add_argument("--only", default="", metavar="ID,...", help="these cases")
    parser.add_argument("--trace", default="", metavar="ID,...", help="keeps rank 0's whole trace of these")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def refuse(text):
    print(f"steps.py: {text}", file=sys.stderr)
    sys.exit(2)


def seconds(text):
    units = {"s": 1, "m": 60, "h": 3600}
    if text[-1:] not in units:
        refuse(f"--budget {text}: a number and s, m or h is accepted, as 9m")
    return float(text[:-1]) * units[text[-1]]


def cases_of(args):
    import cases
    table = cases.smoke() if args.smoke else {1: cases.one(), 2: cases.two(), 4: cases.four()}
    only = set(filter(None, args.only.split(",")))
    if only:
        unknown = only - {c["id"] for stage in table.values() for c in stage} - {"kernels"}
        if unknown:
            refuse(f"--only: no case is named {', '.join(sorted(unknown))}")
        table = {k: [c for c in stage if c["id"] in only] for k, stage in table.items()}
    if 1 in table and (not only or "kernels" in only) and args.device == "cuda":
        table[1].insert(0, {"id": "kernels", "kind": "kernels", "gpus": 1, "limit_s": 100})
    if args.device == "cpu":
        table = {k: [shrunk(c) for c in stage if "kind" not in c] for k, stage in table.items()}
    return table


def shrunk(case):
    """The same case with a model that a CPU can run in a moment."""
    layers = 4 * case.get("vp", 1) if "pp" in case else 2
    return dict(case, s=32, layers=layers, small=True, limit_s=60, precision=case.get("precision", "bf16"))


def take(path, n):
    """The next number below n that no one has; None when all are taken."""
    with open(path, "a+") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        f.seek(0)
        at = int(f.read() or 0)
        f.truncate(0)
        f.write(str(at + 1))
    return at if at < n else None


# ---- a worker: one rank ----

class Guard(threading.Thread):
    """Ends this process when a case goes on too long or when another rank failed and this one waits for it."""

    def __init__(self, flag, write, main):
        super().__init__(daemon=True)
        self.flag, self.write, self.main = flag, write, main
        self.case = self.until = self.failed_at = None

    def begin(self, case):
        self.case, self.failed_at, self.until = case, None, time.monotonic() + case.get("limit_s", CASE_S)

    def end(self):
        self.until = None

    def run(self):
        while True:
            time.sleep(0.5)
            until, now = self.until, time.monotonic()
            if until is None:
                continue
            if os.path.exists(self.flag):
                self.failed_at = self.failed_at or now
            if now > until:
                faulthandler.dump_traceback()
                if self.main:
                    self.write({"case": self.case["id"], "error": f"no end after {self.case.get('limit_s', CASE_S)} s"})
                os._exit(AGAIN)
            if self.failed_at and now > self.failed_at + STUCK_S:
                os._exit(AGAIN)


class Worker:
    def __init__(self, args, spec):
        import torch
        self.args, self.spec, self.torch = args, spec, torch
        self.stage, self.rank, self.size, self.gpu = spec["stage"], spec["rank"], spec["size"], spec["gpu"]
        self.device = torch.device("cuda", self.rank) if args.device == "cuda" else torch.device("cpu")
        self.flag = f"{spec['scratch']}/failed"
        self.guard = Guard(self.flag, self.write, self.rank == 0)
        self.guard.start()
        if args.device == "cuda":
            torch.cuda.set_device(self.device)
            free, total = torch.cuda.mem_get_info()
            self.context_B = total - free
            torch.backends.cuda.matmul.allow_tf32 = False
        if self.size > 1:
            import datetime
            import torch.distributed as dist
            more = {"device_id": self.device} if args.device == "cuda" else {}
            dist.init_process_group("nccl" if args.device == "cuda" else "gloo", rank=self.rank, world_size=self.size,
                                    timeout=datetime.timedelta(seconds=90), **more)
            self.dist = dist
            self.talk = dist.new_group(backend="gloo", timeout=datetime.timedelta(seconds=60))

    def write(self, row):
        with open(f"{self.args.out}/{self.stage}.jsonl", "a") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            f.write(json.dumps(row) + "\n")

    def all_of(self, thing):
        if self.size == 1:
            return [thing]
        out = [None] * self.size
        self.dist.all_gather_object(out, thing, group=self.talk)
        return out

    def agree(self, x):
        return max(self.all_of(x))

    def next(self, cases):
        at = None
        if self.rank == 0 and time.time() < self.spec["until"]:
            at = take(self.spec["next"], len(cases))
        return self.all_of(at)[0]

    def run(self, cases):
        while True:
            at = self.next(cases)
            if at is None:
                os._exit(OVER)
            case = cases[at]
            if self.rank == 0 and os.path.exists(self.flag):
                os.unlink(self.flag)
            self.all_of(None)
            self.guard.begin(case)
            begin, row, private, error = time.time(), None, {}, None
            try:
                row, private = self.measure(case)
            except Exception as e:
                open(self.flag, "w").close()
                error = f"rank {self.rank}: {type(e).__name__}: {str(e)[:600]}"
                self.write({"case": case["id"], "error": error})
                print(f"{case['id']}: {traceback.format_exc()[-3000:]}", file=sys.stderr, flush=True)
            errors = [e for e in self.all_of(error) if e]
            rows, privates = self.all_of(row), self.all_of(private)
            if self.rank == 0:
                if not errors:
                    self.write(self.record(case, rows, privates))
                print(f"{time.strftime('%X')} {case['id']} {time.time() - begin:.1f} s", *errors[:1], flush=True)
            self.guard.end()
            if any("CUDA error" in e for e in errors):
                os._exit(AGAIN)
            self.clear()

    def clear(self):
        gc.collect()
        if self.args.device == "cuda":
            if self.size > 1:
                import jobs
                jobs.flush_meshes(self.device)
                self.torch.cuda.synchronize()
                gc.collect()
            self.torch.cuda.empty_cache()

    def measure(self, case):
        import kernels
        import measure
        import model
        if case.get("kind") == "kernels":
            return kernels.single(), {}
        if case.get("kind") in ("collectives", "interference"):
            return getattr(kernels, case["kind"])(self.rank, self.size), {}
        if case.get("small"):
            import dataclasses
            big = model.MODELS[case["model"]]
            case = dict(case, model="small_" + case["model"])
            model.MODELS[case["model"]] = dataclasses.replace(big, hidden=64, heads=8, kv_heads=8 if big.gpt else 4, head_dim=8, ffn=128,
                                                              vocabulary=512, experts=min(big.experts, 8), top_k=min(big.top_k, 2))
        keep = f"{self.args.out}/trace_{case['id']}.json" if case["id"] in self.args.trace.split(",") and self.rank == 0 else None
        return measure.run(case, self.device, self.gpu, self.agree, keep)

    def record(self, case, rows, privates):
        import jobs
        import trace
        out = {"case": case["id"]}
        if "kind" in case:
            return dict(out, kind=case["kind"], rows=rows[0])
        out.update(scenario=jobs.scenario_of(case))
        dim, scenario = jobs.dimensions_of(case), out["scenario"]["workload"]
        flop = dim.model_flop(case["s"], scenario["global_batch"])
        step = max(r["step_s"] for r in rows)
        out.update(step_s=step, tokens=case["s"] * scenario["global_batch"], model_flop=flop,
                   model_flop_per_s_per_gpu=flop / step / case["gpus"], context_B=getattr(self, "context_B", None))
        each = [p.get("nccl_each_s") for p in privates]
        if len(rows) > 1 and all(each) and len({len(e) for e in each}) == 1 and case.get("pp", 1) == 1:
            out["nccl_least_of_ranks_s"] = sum(min(x) for x in zip(*each))
        if privates[0].get("pipeline"):
            begin = privates[0]["begin_us"]
            out["timeline"] = [trace.timeline(p["pipeline"], p["begin_us"] - begin) for p in privates]
        if "kernels" in privates[0]:
            out["kernels"] = privates[0]["kernels"]
        # Whole figures of every stage of a pipeline, else of rank 0 and of the slowest.
        busy = [r.get("trace", {}).get("compute_busy_s", 0.0) for r in rows]
        told = {0, busy.index(max(busy))} if case.get("pp", 1) == 1 else set(range(len(rows)))
        out["ranks"] = [dict(rank=i, **(r if i in told else {k: v for k, v in r.items() if k != "trace"})) for i, r in enumerate(rows)]
        return out


# ---- the driver ----

def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start(args, stage, gpus, until, scratch):
    port, started = free_port(), []
    for rank, gpu in enumerate(gpus):
        spec = {"stage": stage, "rank": rank, "size": len(gpus), "gpu": gpu, "until": until, "scratch": scratch,
                "next": f"{args.out}/.{stage}/next"}
        env = dict(os.environ, MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(len(gpus)), LOCAL_RANK=str(rank),
                   OMP_NUM_THREADS="4" if args.device == "cuda" else "1", PYTHONUNBUFFERED="1", TOKENIZERS_PARALLELISM="false",
                   NCCL_NVLS_ENABLE="0", TORCH_SYMM_MEM_DISABLE_MULTICAST="1", NVSHMEM_DISABLE_NVLS="1")
        if args.device == "cuda":
            env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, gpus))
        started.append(subprocess.Popen([sys.executable, *sys.argv, "--worker", json.dumps(spec)], env=env, start_new_session=True))
    return started


def stop(processes):
    for p in processes:
        if p.poll() is None:
            os.killpg(p.pid, signal.SIGKILL)
    for p in processes:
        p.wait()


def run_stage(args, stage, gpus, end):
    """Teams of `stage` GPUs each take cases until none is left or the time is over."""
    scratch = f"{args.out}/.{stage}"
    os.makedirs(scratch, exist_ok=True)
    teams = []
    for first in range(0, len(gpus) - stage + 1, stage):
        own = f"{scratch}/{first}"
        os.makedirs(own, exist_ok=True)
        team = {"gpus": gpus[first:first + stage], "scratch": own, "starts": 1}
        team["processes"] = start(args, stage, team["gpus"], end, own)
        teams.append(team)
    while any(team["processes"] for team in teams):
        time.sleep(0.3)
        over = time.time() > end + LATE_S
        for team in teams:
            codes = [p.poll() for p in team["processes"]]
            ended = [c for c in codes if c is not None]
            if not team["processes"] or not (ended or over):
                continue
            if not over and any(c != OVER for c in ended):
                time.sleep(1)  # let others write what they have to say
            elif not over and len(ended) < len(codes):
                continue
            stop(team["processes"])
            again = not over and any(c != OVER for c in ended) and team["starts"] < 8 and time.time() < end
            team["starts"] += 1
            team["processes"] = start(args, stage, team["gpus"], end, team["scratch"]) if again else []


def about(args):
    import torch
    out = {"torch": torch.__version__, "cuda": torch.version.cuda, "gpus": []}
    if args.device == "cuda":
        out["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        out["cudnn"] = torch.backends.cudnn.version()
        try:
            import pynvml
            pynvml.nvmlInit()
            out["driver"] = pynvml.nvmlSystemGetDriverVersion()
            out["gpus"] = [pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(i)) for i in range(pynvml.nvmlDeviceGetCount())]
        except Exception as e:
            out["nvml"] = str(e)
    return out


def main():
    args = parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    budget = seconds(args.budget)
    table = cases_of(args)
    if args.worker:
        spec = json.loads(args.worker)
        Worker(args, spec).run(table[spec["stage"]])
    begin = time.time()
    os.makedirs(args.out, exist_ok=True)
    with open(f"{args.out}/about.json", "w") as f:
        json.dump(dict(about(args), command=" ".join(a for a in sys.argv[1:] if "/" not in a)), f, indent=1)
    n = args.gpus or (min(4, count_gpus()) if args.device == "cuda" else 4)
    stages = [int(s) for s in args.stages.split(",")]
    left = sum(SHARES[s] for s in stages)
    for stage in stages:
        if stage > n or not table.get(stage):
            continue
        now = time.time()
        rest = begin + budget - now
        share = rest * SHARES[stage] / left
        left -= SHARES[stage]
        run_stage(args, stage, list(range(n)), now + share - (8 if stage != 1 else 5))
    print(f"done after {time.time() - begin:.0f} s")


def count_gpus():
    """Asked of another process: this one keeps no context on a GPU."""
    code = "import torch; print(torch.cuda.device_count())"
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


if __name__ == "__main__":
    main()
