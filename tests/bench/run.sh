#!/usr/bin/env bash
# Runs the benches of a build folder one after the other. usage: run.sh BUILD_DIR
# Each row of bench_flow and bench_model gets a process of its own, so that the peak memory it prints is its own.
set -euo pipefail

for bench in queue flow cluster model goodput plan; do
  if [ $# -ne 1 ] || [ ! -x "$1/tests/bench_$bench" ]; then
    echo "usage: run.sh BUILD_DIR, the folder of a Release build with its benches (tests/bench_$bench)" >&2
    exit 2
  fi
done
"$1/tests/bench_queue"
for row in star tree2 tree2over tree3 independent ring link; do
  "$1/tests/bench_flow" "$row"
done
"$1/tests/bench_cluster"
for row in 70b_128 70b_1024 405b_16384 405b_131072 deepseek_256 ring_100000 tree_100000; do
  "$1/tests/bench_model" "$row"
done
"$1/tests/bench_goodput"
"$1/tests/bench_plan"
