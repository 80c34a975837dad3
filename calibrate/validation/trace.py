"""What a profiler's trace says about one step: what ran, how long, beside what, and when nothing did.

A trace is in Chrome's format, as torch.profiler writes it; times in us. Steps and parts of them are told apart by marker kernels
(torch.cuda._sleep) on the compute stream, in the order of the names that the host gave them.
"""
import bisect
import re
from collections import defaultdict

MARKER = "spin_kernel"
KINDS = (
    ("nccl", r"ncclDev|ncclKernel"),
    ("attention_backward", r"flash_bwd|bprop|dot_do_o|convert_dq|fmha_reduce_head|fmha.*bwd"),
    ("attention_forward", r"flash_fwd|fprop|fmha|flash::"),
    ("gemm", r"gemm|nvjet|cutlass|cublas|splitk|xmma|gemv"),
    ("multi_tensor", r"multi_tensor_apply"),
    ("loss", r"softmax|nll_loss|cross_entropy"),
    ("embedding", r"embedding|index|scatter|gather|compute_grad_weight|partial_segment|krn_partials|partials_per"),
    ("norm", r"layer_?norm|rms_?norm|GammaBeta|RowwiseMoments"),
    ("sort", r"sort|scan|histogram|bincount|topk|unique"),
    ("reduce", r"reduce_kernel"),
    ("cat", r"CatArray|split_with_sizes|chunk_cat"),
    ("triton", r"^triton_"),
    ("elementwise", r"elementwise|copy|fill"),
)
KINDS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in KINDS)


def kind_of(event):
    if event["cat"] == "gpu_memcpy":
        return "memcpy"
    if event["cat"] == "gpu_memset":
        return "memset"
    for kind, pattern in KINDS:
        if pattern.search(event["name"]):
            return kind
    return "other"


class Spans:
    """A union of intervals."""

    def __init__(self, pairs):
        self.starts, self.ends = [], []
        for start, end in sorted(pairs):
            if self.ends and start <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)
        self.before = [0.0]
        for start, end in zip(self.starts, self.ends):
            self.before.append(self.before[-1] + end - start)

    def until(self, t):
        i = bisect.bisect_right(self.starts, t)
        return self.before[i] - max(0.0, self.ends[i - 1] - t) if i else 0.0

    def within(self, start, end):
        """Covered length between the two."""
        return self.until(end) - self.until(start)

    def total(self):
        return self.before[-1]

    def common(self, other):
        return sum(other.within(s, e) for s, e in zip(self.starts, self.ends))


def gpu_events(document, device=None):
    found = []
    for e in document["traceEvents"]:
        if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            args = e["args"]
            if device is None or args.get("device") == device:
                found.append({"cat": e["cat"], "name": e["name"], "start": float(e["ts"]), "end": float(e["ts"]) + float(e["dur"]),
                              "stream": args.get("stream"), "grid": str(args.get("grid")), "block": str(args.get("block"))})
    found.sort(key=lambda e: (e["start"], e["end"]))
    return found


def cut(events, labels, step):
    """Events of one step between its "step" marks, each with its part; marks with < and > are the pipeline's. Returns events, the
    stretch, the marks inside."""
    marks = [e for e in events if MARKER in e["name"]]
    if len(marks) != len(labels):
        raise ValueError(f"{len(marks)} marker kernels, {len(labels)} marks")
    if len({e["stream"] for e in marks}) != 1:
        raise ValueError("marks on several streams")
    at = [i for i, label in enumerate(labels) if label == "step"]
    first, last = at[step], at[step + 1]
    begin, end = marks[first]["end"], marks[last]["start"]
    ends = [(marks[i]["start"], labels[i]) for i in range(first + 1, last + 1) if labels[i][0] not in "<>"]
    inside = []
    for e in events:
        if e["start"] >= begin and e["start"] < end and MARKER not in e["name"]:
            i = bisect.bisect_right([t for t, _ in ends], e["start"]) if e["stream"] == marks[0]["stream"] else -1
            part = ends[min(i, len(ends) - 1)][1] if i >= 0 else "side"
            inside.append(dict(e, part="rest" if part == "step" else part, kind=kind_of(e)))
    pipeline = [(labels[i], marks[i]["start"] - begin, marks[i]["end"] - begin) for i in range(first + 1, last)]
    return inside, begin, end, pipeline, marks[0]["stream"]


def slowdown(events, nccl, layers):
    """GEMMs wholly beside collectives against the same ones of other layers wholly alone: weighted mean ratio, count. A kernel that a
    part has k · layers + r times is the (its number mod k)-th of its layer; the r are the head's: forward the last, backward the
    first."""
    alike, groups = defaultdict(list), defaultdict(lambda: ([], []))
    for e in events:
        if e["kind"] == "gemm" and e["part"] in ("forward", "backward"):
            alike[e["name"], e["grid"], e["part"]].append(e)
    for key, found in alike.items():
        k, r = divmod(len(found), layers)
        if r > 2 or not k:
            continue
        for i, e in enumerate(found[r:] if key[2] == "backward" else found[:len(found) - r]):
            long = e["end"] - e["start"]
            beside = nccl.within(e["start"], e["end"]) / long if long else 0.0
            if beside > 0.95 or beside < 0.05:
                groups[(*key, i % k)][beside > 0.5].append(long)
    alone_us = beside_us = n = 0
    for alone, beside in groups.values():
        if len(alone) >= 2 and len(beside) >= 2:
            alone_us += sorted(alone)[len(alone) // 2] * len(beside)
            beside_us += sum(beside)
            n += len(beside)
    return (beside_us / alone_us if alone_us else None), n


def summary(document, labels, step=1, device=None, kernels=False, layers=None):
    """One step of a trace in seconds. layers: of a model that runs whole once a step."""
    events, begin, end, pipeline, stream = cut(gpu_events(document, device), labels, step)
    us = 1e-6
    comm = [e for e in events if e["kind"] == "nccl"]
    work = [e for e in events if e["kind"] != "nccl"]
    main = Spans((e["start"], e["end"]) for e in work if e["stream"] == stream)
    side = Spans((e["start"], e["end"]) for e in work if e["stream"] != stream)
    nccl = Spans((e["start"], e["end"]) for e in comm)
    everything = Spans((e["start"], e["end"]) for e in events)
    parts = defaultdict(lambda: defaultdict(lambda: [0, 0.0]))
    for e in events:
        cell = parts[e["part"]][e["kind"]]
        cell[0] += 1
        cell[1] += (e["end"] - e["start"]) * us
    collectives = defaultdict(lambda: [0, 0.0, 0.0])
    for e in comm:
        name = re.sub(r"^(void )?nccl(DevKernel|Kernel)_", "", e["name"])
        cell = collectives[re.sub(r"\(.*", "", name)]
        cell[0] += 1
        cell[1] += (e["end"] - e["start"]) * us
        cell[2] += (e["end"] - e["start"] - main.within(e["start"], e["end"])) * us
    gemm = Spans((e["start"], e["end"]) for e in work if e["kind"] == "gemm")
    ratio, n = slowdown(work, nccl, layers) if layers else (None, 0)
    out = {
        "step_s": (end - begin) * us, "kernels": sum(e["cat"] == "kernel" for e in events), "compute_busy_s": main.total() * us,
        "side_busy_s": side.total() * us, "nccl_s": sum(e["end"] - e["start"] for e in comm) * us, "nccl_busy_s": nccl.total() * us,
        "nccl_hidden_s": nccl.common(main) * us, "nccl_exposed_s": (nccl.total() - nccl.common(main)) * us,
        "nccl_on_compute_stream_s": sum(e["end"] - e["start"] for e in comm if e["stream"] == stream) * us,
        "compute_wait_s": (end - begin - main.total()) * us, "idle_s": (end - begin - everything.within(begin, end)) * us,
        "gemm_s": gemm.total() * us, "gemm_beside_nccl_s": gemm.common(nccl) * us, "gemm_slowdown_beside_nccl": ratio,
        "gemm_slowdown_n": n,
        "parts": {p: {k: [c[0], round(c[1], 8)] for k, c in sorted(kinds.items())} for p, kinds in parts.items()},
        "collectives": {k: [c[0], round(c[1], 8), round(c[2], 8)] for k, c in sorted(collectives.items())},
    }
    private = {"begin_us": begin, "nccl_each_s": [(e["end"] - e["start"]) * us for e in comm], "pipeline": pipeline}
    if kernels:
        names = defaultdict(lambda: [0, 0.0])
        for e in events:
            cell = names[e["part"], e["kind"], re.sub(r"\s+", " ", e["name"])[:160]]
            cell[0] += 1
            cell[1] += (e["end"] - e["start"]) * us
        private["kernels"] = [[*k, c[0], round(c[1], 8)] for k, c in sorted(names.items(), key=lambda x: -x[1][1])]
    return out, private


def timeline(pipeline, shift_us):
    """What a stage did when: [name, start, end] in seconds from the step's beginning on the first rank: other ranks may begin before."""
    opened, out = {}, []
    for label, start, end in pipeline:
        if label[0] == "<":
            opened[label[1:]] = end
        elif label[0] == ">":
            out.append([label[1:], round((opened.pop(label[1:]) + shift_us) * 1e-6, 7), round((start + shift_us) * 1e-6, 7)])
    return out
