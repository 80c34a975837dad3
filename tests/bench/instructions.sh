#!/usr/bin/env bash
# Instructions that forerun executes for a few questions, counted by callgrind: the same on a busy machine and an idle one. Each is
# held against what tests/bench/instructions.tsv has; one that takes a quarter more has become slow for a reason.
# usage: instructions.sh FORERUN [--update]     (a Release build; exits 77 without valgrind, 1 when a count has grown)
set -euo pipefail

[ $# -eq 1 ] || { [ $# -eq 2 ] && [ "$2" = --update ]; } || { sed -n '4s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
forerun=$1
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
command -v valgrind >/dev/null || { echo "skipped: valgrind is not installed (apt-get install valgrind)" >&2; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

count () # arguments of forerun
{
  if ! FORERUN_DATA=$root valgrind --tool=callgrind --callgrind-out-file="$scratch/out" "$forerun" "$@" \
      >"$scratch/stdout" 2>"$scratch/err"; then
    cat "$scratch/err" >&2
    return 1
  fi
  awk '/^(summary|totals):/ { n = $2 } END { printf "%.1f", n / 1e6 }' "$scratch/out"
}

large=(--set 'fabric.spine={radix: 128}' --set 'fabric.core={radix: 128}')
declare -A arguments=(
  [step_128]="run $root/scenarios/llama3_70b_16nodes.yaml --quiet"
  [step_16384]="run $root/scenarios/llama31_405b_2048nodes.yaml --quiet"
  [step_deepseek_256]="run $root/scenarios/deepseek_v3_256.yaml --quiet"
  [coll_8]='coll all_reduce --topology hgx_h200'
  [plan_4_options]='plan buy_256_gpus --quiet --best 0 --threads 1 --set choices.topology=[hgx_h100]'
)
printf '%s\t%s\n' question million_instructions >"$scratch/new"
for name in coll_8 step_128 step_deepseek_256 step_16384 plan_4_options; do
  read -ra words <<<"${arguments[$name]}"
  printf '%s\t%s\n' "$name" "$(count "${words[@]}")" >>"$scratch/new"
done
printf '%s\t%s\n' coll_131072 "$(count coll all_reduce --topology hgx_h100 -n 16384 --algo ring "${large[@]}")" >>"$scratch/new"

if [ $# -eq 2 ]; then
  cp -- "$scratch/new" "$here/instructions.tsv"
  cat "$scratch/new"
  exit 0
fi
awk -F '\t' '
  NR == FNR { recorded[$1] = $2; next }
  FNR == 1 { printf "%-20s %10s %10s %7s\n", "question", "recorded", "now", "ratio"; next }
  { ratio = recorded[$1] > 0 ? $2 / recorded[$1] : 0
    worse = ratio > 1.25 || ratio == 0
    bad += worse
    printf "%-20s %10.1f %10.1f %7.3f%s\n", $1, recorded[$1], $2, ratio, worse ? "  grown" : "" }
  END { exit bad > 0 }' "$here/instructions.tsv" "$scratch/new"
