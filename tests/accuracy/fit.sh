#!/usr/bin/env bash
# What a fit to one node says of what it did not see: 4 H200, rings and trees on all channels and on 1 to 16, operations by NCCL's
# choice. Every second size and 3 GPUs are held out.
# usage: fit.sh FORERUN SOURCE_DIR
set -euo pipefail

forerun=$1
data=$2
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
"$forerun" fit "$data/tests/data" --systems h200_vm4_graph,h200_vm4_few --over h200_sxm --quiet -o "$scratch/cal.yaml" \
  --report "$scratch/report.txt"
"$forerun" check "$scratch/cal.yaml"
grep -E '^all ' "$scratch/report.txt"
sed -n '/^# band/,$p' "$scratch/report.txt"
# part, most median (%), most 95th percentile (%)
check ()
{
  awk -v part="$1" -v median="$2" -v p95="$3" '
    $1 == "all" && index($0, " " part " ") && $(NF - 4) == "all" { seen = 1; ok = $(NF - 2) <= median && $(NF - 1) <= p95 }
    END { if (!seen || !ok) { print part ": worse than " median " and " p95 " %"; exit 1 } }' "$scratch/report.txt"
}
check "other sizes" 3 10
check "other GPU counts" 5 22
# Bands are to hold 90 % of what they were not made from.
awk '/^# band/ { on = 1 } on && NF == 3 && $3 ~ /^[0-9]+$/ { n++; if ($3 < 80 || $3 > 100) bad = 1 } END { exit bad || n < 3 }' \
  "$scratch/report.txt"
