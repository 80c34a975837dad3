#!/usr/bin/env bash
# Bus bandwidth by nodes, a panel for each network: predictions with their error bands, and published measurements of that size.
# For a cluster of your own: forerun coll OP --topology T -n 2,4,8,… -b 8G -e 8G --measured YOURS.csv --plot nodes.svg
#
#   plots/nodes.sh FORERUN OUT.svg
set -euo pipefail
[ $# -eq 2 ] || { sed -n '5s/^# *//p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
out=$2
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
command -v gnuplot >/dev/null || { echo "skipped: no gnuplot here"; exit 77; }
source "$root/plots/draw.sh"
export FORERUN_DATA=$root
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

# Title, operation, size in B, topology, numbers of nodes, and the clusters of tests/data/systems.yaml that are such.
panels='H100, 8x InfiniBand NDR|all_reduce|8589934592|hgx_h100|2,4,8,16,32,64,128|ndr_h100_dell ndr_h100_pair
H100, 32x EFA 2|all_reduce|8589934592|p5|2,4,8,16,32,64,128|h100_p5 efa2_p5_second efa2_p5_peak
B200, 8x EFA 4|all_reduce|8589934592|p6_b200|2,4,8,16,32,64,128|b200_stas efa4_p6_b200_peak
A100, 4x EFA 1, 2 GiB|all_reduce|2147483648|p4d|2,4,8,16,32,64,128|a100_p4de
H100, TCPXO, all-gather|all_gather|8589934592|a3_mega|2,4,8,16,32,64,128|tcpxo_a3_dstack
GB200 NVL72, 18 a rack|all_reduce|8589934592|gb200_nvl72|18,36,72,144,288,576|nvl72_rack nvl72_20_racks'
"$forerun" validate --points --quiet >"$tmp/points" || true
while IFS='|' read -r title op bytes topology nodes systems; do
  "$forerun" coll "$op" --topology "$topology" -n "$nodes" -b "$bytes" -e "$bytes" --format tsv --quiet |
    awk -F '\t' -v OFS='\t' -v title="$title" 'NR == 1 { print $0, "panel"; next } { print $0, title }' >"$tmp/rows"
  if [ -s "$tmp/lines" ]; then tail -n +2 "$tmp/rows" >>"$tmp/lines"; else cp "$tmp/rows" "$tmp/lines"; fi
  awk -F '\t' -v OFS='\t' -v title="$title" -v op="$op" -v bytes="$bytes" -v systems=" $systems " '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["bytes"] == bytes && $at["op"] == op && $at["algo"] == "auto" && $at["nodes"] > 1 && index(systems, " " $at["system"] " ") {
      n = $at["ranks"]
      factor = op == "all_reduce" ? 2 * (n - 1) / n : (n - 1) / n
      print $at["nodes"], bytes * factor / $at["measured_s"], title
    }' "$tmp/points" >"$tmp/dots"
  [ -s "$tmp/dots" ] || { echo "plots/nodes.sh: no measurement for '$title'" >&2; exit 1; }
  cat "$tmp/dots" >>"$tmp/all"
done <<<"$panels"
{ printf 'nodes\tbusbw_Bps\tpanel\n'; cat "$tmp/all"; } >"$tmp/measured"
draw nodes.gp "$out" data="$tmp/lines" measured="$tmp/measured" panel=panel height=700 \
  title='Bus bandwidth of 8 GiB (all-reduce if not said otherwise) by number of nodes'
