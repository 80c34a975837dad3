#!/usr/bin/env bash
# Draws the pictures of docs/images that show measurements: fits (fit_*, overlap, kernels), a service (fleet), rings on H200 and,
# where its points are given, training steps. plots/gallery.sh draws those of docs/pictures.md.
#
#   plots/documents.sh FORERUN FOLDER [TRAINING.tsv]     (to renew the pages': docs/images)
#
# TRAINING.tsv is written by tests/training.sh --points.
set -euo pipefail
forerun=$(realpath -- "${1:?which forerun?}")
mkdir -p -- "${2:?into which folder?}"
folder=$(realpath -- "$2")
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
export FORERUN_DATA=$root
source "$root/plots/draw.sh"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
data=$root/tests/data

"$root/plots/validation.sh" "$forerun" "$folder" >/dev/null
"$forerun" fit "$data" --systems h200_vm4_graph,h200_vm4_few --over h200_sxm --quiet --points "$work/tables.tsv" \
  -o "$work/tables.yaml" --report "$work/tables.txt"
"$root/plots/fit.sh" "$work/tables.tsv" "$folder" \
  'machine == "h200_vm4_graph" && ranks == 4 && max_channels == "" && stage !~ /^launch/'
"$forerun" fit "$root/tests/accuracy/h200x8" --systems fitted,large,held --hold-out sizes,gpus,held --min-size 1KiB --split \
  --over h200_sxm --quiet --points "$work/goal.tsv" -o "$work/goal.yaml" --report "$work/goal.txt"
"$root/plots/fit.sh" "$work/goal.tsv" "$work/trees" \
  'algo == "tree" && proto == "simple" && launch != "serial" && (ranks == 2 || ranks == 4 || ranks == 8)'
mv -- "$work/trees/fit_all_reduce.svg" "$folder/fit_tree_simple.svg"

# a plan for a service with measured runs beside: only its first picture is of the page
cat >"$work/qwen.yaml" <<'PLAN'
plan: qwen3_32b_fp8
goal: {model: qwen3_32b, load: {rate: 10, input: 2048, output: 512}, slo: {ttft: 2 s, tpot: 40 ms}}
choices: {topology: [hgx_h100, hgx_h200, hgx_b200]}
engine: {name: trtllm}
free: {tp: [1, 2, 4, 8], weights: [fp8]}
prices: us_2026
PLAN
"$forerun" plan "$work/qwen.yaml" --quiet --plot "$work/fleet.svg" --measured "$data/serving/serving.csv" -o "$work/qwen.txt"
mv -- "$work/fleet.svg" "$folder/fleet.svg"

probe=$data/probe/h200x4.json.gz
printf 'calibration: bare\nlibrary: {}\n' >"$work/bare.yaml" # not over the shipped constants, which have seen these points
"$forerun" fit "$probe" --topology hgx_h200 --over "$work/bare.yaml" --quiet --section-points "$work/points.tsv" \
  -o "$work/probe.yaml" --report "$work/probe.txt"
draw section.gp "$folder/overlap.svg" data="$work/points.tsv" section=overlap title='Kernels and collectives on 4 H200'
draw kernels.gp "$folder/kernels.svg" data="$work/points.tsv" title='Kernels on H200'
if [ -n "${3:-}" ]; then
  draw training.gp "$folder/training.svg" data="$3" title='Training steps'
fi
