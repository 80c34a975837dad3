#!/usr/bin/env bash
# What fits to two nodes of H200 say of what they did not see: every second size and 3 GPUs are held out.
#   tables  4 GPUs: rings and trees on all channels and on 1 to 16, operations by NCCL's choice (tests/data/h200x4)
#   probe   4 GPUs of another node: what forerun-probe wrote in four minutes (tests/data/probe)
# usage: fit.sh FORERUN SOURCE_DIR
set -euo pipefail

forerun=$1
data=$2/tests/data
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failed=0

fit () # name, what is fitted…
{
  local name=$1
  shift
  echo "== $name"
  "$forerun" fit "$@" --over h200_sxm --quiet -o "$scratch/$name.yaml" --report "$scratch/$name.txt"
  "$forerun" check "$scratch/$name.yaml" --quiet >/dev/null
  grep -E "^all |^# NCCL's" "$scratch/$name.txt"
  sed -n '/^# band/,$p' "$scratch/$name.txt"
}

check () # name, part, most median (%), most 95th percentile (%)
{
  awk -v part="$2" -v median="$3" -v p95="$4" '
    $1 == "all" && index($0, " " part " ") && $(NF - 4) == "all" { ok = $(NF - 2) <= median && $(NF - 1) <= p95 }
    END { exit !ok }' "$scratch/$1.txt" || { echo "$1, $2: worse than $3 and $4 %"; failed=1; }
}

bands () # name: 90 % bands hold 80 to 100 of a hundred points that they were not made from
{
  awk '/^# band/ { on = 1 } on && NF == 3 && $3 ~ /^[0-9]+$/ { n++; if ($3 < 80) bad = 1 } END { exit bad || n < 3 }' \
    "$scratch/$1.txt" || { echo "$1: a band holds too few"; failed=1; }
}

fit tables "$data" --systems h200_vm4_graph,h200_vm4_few
check tables "other sizes" 3 10
check tables "other GPU counts" 5 22
bands tables
fit probe "$data/probe/h200x4.json.gz" --topology hgx_h200
check probe "other sizes" 3.5 12.5
check probe "other GPU counts" 4.5 15
bands probe
grep -q "^# NCCL's choice: 315 of 315 as predicted" "$scratch/probe.txt" || { echo "probe: NCCL chose otherwise"; failed=1; }
exit "$failed"
