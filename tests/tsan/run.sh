#!/usr/bin/env bash
# Builds the program with the thread sanitizer (preset `tsan`) and runs what has threads: a plan, many values of one key, failures
# of many seeds, replicas of a service. A race ends a call with status 66. usage: run.sh
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
(cd -- "$root" && cmake --preset tsan && ninja -C build/tsan forerun) >/dev/null
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
cp -- "$root"/tests/golden/plan/small/*.yaml "$tmp"
cd -- "$tmp"
export FORERUN_DATA=$root
# GLib itself is not built with the sanitizer: what it does by itself is not seen, and not judged.
export G_SLICE=always-malloc # its own lists of free memory are shared by threads under locks that are not seen
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 history_size=7 halt_on_error=1 exitcode=66 second_deadlock_stack=1"
failed=0
n=0
try ()
{
  local status=0
  n=$((n + 1))
  "$root/build/tsan/forerun" "$@" --quiet >out 2>err || status=$?
  [ "$status" -eq 0 ] || { echo "FAILED: status $status: forerun $*"; head -n 40 err; failed=1; }
}
for threads in 2 5; do
  try plan plan.yaml --threads "$threads" --best 3
  try plan plan.yaml --threads "$threads" --best 1 --sensitivity assumed
  try plan plan.yaml --threads "$threads" --shard 1/2
  try plan plan.yaml --threads "$threads" --resume "state$threads.json"
done
try plan plan.yaml --threads 3 --vary 'goal.tokens=10 G,100 G'
try run quickstart --vary cluster.nodes=1,2,4,8 --vary workload.bytes=1MiB,1GiB
try coll all_reduce --topology hgx_h200 -b 1M -e 1G --vary nodes=1,2,4
try topo hgx_h200 --vary nodes=1,2,4,8
try run llama3_405b_54days --set workload.failures.seeds=8 --vary 'workload.failures.days=1,2'
for threads in 2 5; do
  try run serve_llama70b_tp8 --threads "$threads" --set cluster.nodes=4 --set workload.replicas=4
  try run serve_gptoss_120b --threads "$threads" --shard 1/2
done
[ "$failed" -ne 0 ] || echo "no race in $n calls"
exit "$failed"
