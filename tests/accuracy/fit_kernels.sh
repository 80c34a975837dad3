#!/usr/bin/env bash
# What fits to one node's kernels say of what they did not see: every second shape, and all shapes of Llama 3 405B.
# Fitted over the defaults, not over the shipped constants, which have seen these files.
# usage: fit_kernels.sh FORERUN SOURCE_DIR
set -euo pipefail

forerun=$1
data=$2/tests/data/probe
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failed=0
printf 'calibration: bare\nlibrary: {}\n' >"$scratch/bare.yaml"

fit () # file, topology
{
  echo "== $1"
  "$forerun" fit "$data/$1.json.gz" --topology "$2" --over "$scratch/bare.yaml" --quiet -o "$scratch/$1.yaml" \
    --report "$scratch/$1.all"
  "$forerun" check "$scratch/$1.yaml" --quiet >/dev/null
  sed -n '/^# kernels: error/,/^# error band/p' "$scratch/$1.all" | tee "$scratch/$1.txt"
}

check () # file, stage, part, most median (%), most 95th percentile (%)
{
  awk -v stage="$2" -v part="$3" -v median="$4" -v p95="$5" '
    index($0, stage " ") == 1 && substr($0, length(stage) + 1) ~ "^ +" part " +[0-9]" {
      sub("^" stage " +" part " +", ""); ok = $2 <= median && $3 <= p95 }
    END { exit !ok }' "$scratch/$1.txt" || { echo "$1, $2, $3: worse than $4 and $5 %"; failed=1; }
}

# Two nodes measure the same shapes 3.5 % (bf16) apart in the median and 11 % at the 95th percentile, in fp8 3 and 14 %.
fit h200x4 hgx_h200
check h200x4 "gemm bf16" "held out" 4 15.5
check h200x4 "gemm bf16" "other kinds" 3 11
check h200x4 "gemm fp8" "held out" 6 18
check h200x4 "gemm fp8" "other kinds" 5 15.5
check h200x4 "bf16 forward, sustained" "held out" 2 4
check h200x4 "memory-bound" "held out" 3 12
fit h100x1 hgx_h100
check h100x1 "gemm bf16" "held out" 5 15
check h100x1 "gemm bf16" "other kinds" 3.5 11.5
check h100x1 "gemm fp8" "held out" 5.5 16
check h100x1 "gemm fp8" "other kinds" 4.5 14
check h100x1 "memory-bound" "held out" 3 11
# What adding up the parts of one long sequence on few KV heads takes is assumed: 31 % at the 95th percentile.
fit h200_serving hgx_h200
check h200_serving "decode" "held out" 7.5 32
check h200_serving "decode" "other kinds" 5.5 26
check h200_serving "few tokens" "fitted" 10 23
check h200_serving "few tokens, grouped" "fitted" 20 30
fit h100_serving hgx_h100
check h100_serving "decode" "held out" 6 27
check h100_serving "decode" "other kinds" 5 22
check h100_serving "few tokens" "fitted" 10 23
check h100_serving "few tokens, grouped" "fitted" 20 32
awk '
  /^# error band/ { n++; if (!match($0, /contains [0-9]+ %/) || substr($0, RSTART + 9) + 0 < 80) bad = 1 }
  END { exit bad || n != 1 }' \
  "$scratch/h200x4.txt" || { echo "h200x4: the band holds too few"; failed=1; }
exit "$failed"
