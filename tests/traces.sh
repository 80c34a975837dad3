#!/usr/bin/env bash
# Traces follow the Trace Event Format, and what was priced is in them. usage: traces.sh FORERUN SOURCE_DIR
# Exits 77 without python3.
set -euo pipefail
export FORERUN_PROGRESS=off FORERUN_DATA=$2
forerun=$1
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

cat >"$tmp/check.py" <<'P'
"""Fields that each phase of an event has; slices of a thread follow each other or nest; arrows have both ends. Then words that
names or arguments must have."""
import json, sys

NEEDS = {"X": {"name", "pid", "tid", "ts", "dur"}, "M": {"name", "pid", "args"}, "i": {"name", "pid", "tid", "ts", "s"},
         "C": {"name", "pid", "ts", "args"}}
NEEDS["s"] = NEEDS["f"] = {"name", "pid", "tid", "ts", "id", "cat"}
META = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}
with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
trace = json.loads(text)
assert trace["displayTimeUnit"] in ("ms", "ns")
assert {"program", "version", "scenario", "topology", "library", "seed"} <= set(trace["otherData"])
lanes, arrows = {}, {}
for event in trace["traceEvents"]:
    phase = event["ph"]
    assert phase in NEEDS and NEEDS[phase] <= set(event), event
    assert phase == "M" or event["ts"] >= 0, event
    if phase == "M":
        assert event["name"] in META and set(event["args"]) <= {"name", "sort_index"}, event
    if phase == "i":
        assert event["s"] in ("g", "p", "t"), event
    if phase == "C":
        assert event["args"] and all(isinstance(v, (int, float)) for v in event["args"].values()), event
    if phase in "sf":
        arrows.setdefault(event["id"], []).append(phase)
    if phase == "X":
        assert event["dur"] >= 0, event
        lanes.setdefault((event["pid"], event["tid"]), []).append((round(event["ts"] * 1000), round(event["dur"] * 1000)))
assert all(sorted(ends) == ["f", "s"] for ends in arrows.values())
for lane, slices in lanes.items():
    ends = []
    for start, length in sorted(slices, key=lambda s: (s[0], -s[1])):
        while ends and ends[-1] <= start:
            ends.pop()
        assert not ends or start + length <= ends[-1] + 1, (lane, start, length)
        ends.append(start + length)
for word in sys.argv[2:]:
    assert word in text, word
P

# scenario, flags, words: one of each kind of workload that has a trace
one () # name words… -- flags…
{
  local name=$1 words=()
  shift
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  "$forerun" run "$name" --quiet --trace "$tmp/t.json" "$@" >/dev/null 2>"$tmp/err" ||
    { cat "$tmp/err"; echo "FAILED: $name"; exit 1; }
  python3 "$tmp/check.py" "$tmp/t.json" "${words[@]}" || { echo "FAILED: the trace of $name"; exit 1; }
}
one quickstart latency --
one loader_starved '"data stall"' --
one checkpoint_async_vs_sync 'checkpoint (mean of a step)' 'written beside steps' 'the trace has micro-batches' --
one gds_two_sockets '"name":"read, 100000000000 B"' --
one one_tier_for_all ': steps"' '"name":"step 1"' '"name":"checkpoint ' --
one nemotron_h_8b '"kernels":"in_projection' '"slowdown"' scan_states '"algorithm"' --
one elastic_512 '"cause":"node"' '"replicas":15' '"name":"restart"' -- --goodput --set workload.failures.seeds=2 \
  --set workload.failures.step_time='9.5 s'
one diloco_two_sites '"outer exchange (mean of a step)"' 'all_reduce over 2 workers (fragment 1 of 4, bf16), every 100 steps' \
  'step 2 beside it' 'wait for the exchange' 'update of the outer parameters' -- \
  --set 'workload.local_steps={workers: 2, every: 100, fragments: 4, overlap: 2, format: bf16}' \
  --set topology.fabric.links.2.rate='1 Gb/s'
one two_jobs '"dense: operations"' '"all_reduce 4"' --
one streams '"ph":"X"' --
one "$2/scenarios/cases/66_train_and_serve.yaml" '"service: replica 0 steps"' '"service: replica 0 KV (%)"' \
  '"service: replica 0 waiting"' '"decode ' '"training: steps"' --
one serve_llama8b_h100 '"replica 0 KV (%)"' '"not shown"' 'steps and requests are left out' -- --set workload.load.requests=11000

# The check can fail.
printf '{"displayTimeUnit":"ms","otherData":{},"traceEvents":[{"ph":"X","pid":0}]}' >"$tmp/bad.json"
python3 "$tmp/check.py" "$tmp/bad.json" 2>/dev/null && { echo "FAILED: a slice without a time passes"; exit 1; }
echo "traces of 13 scenarios follow the format"
