#!/usr/bin/env bash
# Bus bandwidth of an all-reduce of 8 GiB by nodes: predictions with their error bands, and published measurements of that size.
#
#   plots/nodes.sh FORERUN OUT.svg
set -euo pipefail
[ $# -eq 2 ] || { sed -n '4s/^# *//p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
out=$2
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot here"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

# Topology, title, and the clusters of tests/data that are such.
machines='hgx_h100|H100, 8x InfiniBand NDR|ndr_h100_dell ndr_h100_pair
p5|H100, 32x EFA 2|h100_p5 efa2_p5_second efa2_p5_peak
p6_b200|B200, 8x EFA 4|b200_stas efa4_p6_b200_peak'
FORERUN_DATA=$root "$forerun" validate --points --quiet >"$tmp/points" || true
panel=0
while IFS='|' read -r topology title systems; do
  panel=$((panel + 1))
  FORERUN_DATA=$root "$forerun" coll all_reduce --topology "$topology" -n 2,4,8,16,32,64 -b 8G -e 8G --format tsv --quiet |
    awk -F '\t' '
      NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
      $at["op"] != "op" {
        B = $at["busbw_Bps"] * $at["time_s"] / 1e9
        print $at["nodes"], B / $at["time_s"], B / $at["time_hi_s"], B / $at["time_lo_s"]
      }' >"$tmp/line$panel"
  awk -F '\t' -v systems=" $systems " '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["bytes"] == 8589934592 && $at["op"] == "all_reduce" && $at["algo"] == "auto" && $at["nodes"] > 1 &&
    index(systems, " " $at["system"] " ") {
      n = $at["ranks"]
      print $at["nodes"], $at["bytes"] * 2 * (n - 1) / n / $at["measured_s"] / 1e9
    }' "$tmp/points" >"$tmp/dots$panel"
  echo "$title" >"$tmp/title$panel"
done <<<"$machines"
gnuplot -e "dir='$tmp'; out='$out'; panels=$panel" "$root/plots/nodes.gp"
