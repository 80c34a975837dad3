#!/usr/bin/env bash
# Draws docs/images/ring_h200x{2,8}.{svg,png} and prints the tables of docs/validation.md: ring all-reduce on 2 and 8 H200, predicted
# against measured, by protocol and by size band. Topology: as NCCL dumped it on the node that was measured.
#
#   plots/validation.sh [FORERUN] [IMAGE_FOLDER]     (default build/release/forerun, docs/images)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
forerun=${1:-$root/build/release/forerun}
images=${2:-$root/docs/images}
data=$root/tests/data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$images"

"$forerun" import nccl-topo "$data/import/h200x8_topo.xml" --name h200x8 -o "$work/h200x8.yaml" --quiet

# section FILE HEADING: size and out-of-place time of one block of nccl-tests output
section() {
  awk -v want="## $2" 'index ($0, "##") == 1 { on = $0 == want; next } on && $1 ~ /^[0-9]+$/ && NF > 5 { print $1 "\t" $6 }' "$1" | sort -n -u -k1,1
}

# join_one FILE HEADING GPUS PROTO LAUNCH: rows of "bytes op algo proto nodes launch ranks time_s measured_s …"
join_one() {
  section "$1" "$2" > "$work/measured"
  "$forerun" coll all_reduce --topology "$work/h200x8.yaml" -g "$3" -b 1K -e 4G -f 2 --algo ring --proto "$4" --launch "$5" \
    --calibration h200_sxm --dtype fp32 --format tsv --quiet > "$work/predicted"
  awk -F '\t' -v OFS='\t' -v proto="$4" -v launch="$5" -v g="$3" '
    FNR == NR { measured[$1] = $2 * 1e-6; next }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    ($at["bytes"]) in measured { b = $at["bytes"]
      print b, g " GPUs " proto " " launch, $at["time_s"], $at["time_lo_s"], $at["time_hi_s"], measured[b], g }
  ' "$work/measured" "$work/predicted"
}

{
  for g in 2 8; do
    for proto in LL LL128 Simple; do
      lower=${proto,,}
      join_one "$data/h200x8/all_reduce_graph.txt" "ar_Ring_$proto graph t=$g" "$g" "$lower" graph
      join_one "$data/h200x8/all_reduce_launch.txt" "ar_Ring_$proto g=$g NCCL_ALGO=Ring NCCL_PROTO=$proto" "$g" "$lower" serial
    done
  done
} > "$work/joined"

# The picture: bus bandwidth of the mode that reaches 4 GiB, one line a protocol, and points as measured.
for g in 2 8; do
  awk -F '\t' -v OFS='\t' -v g="$g" 'BEGIN { print "bytes", "series", "busbw_Bps", "time_s", "time_lo_s", "time_hi_s" }
    $7 == g { f = 2 * (g - 1) / g; print $1, $2, f * $1 / $3, $3, $4, $5 }' "$work/joined" > "$work/predicted_$g.tsv"
  awk -F '\t' -v OFS='\t' -v g="$g" 'BEGIN { print "bytes", "series", "busbw_Bps" }
    $7 == g { f = 2 * (g - 1) / g; print $1, $2, f * $1 / $6 }' "$work/joined" > "$work/measured_$g.tsv"
  for kind in svg png; do
    gnuplot -e "data='$work/predicted_$g.tsv'; measured='$work/measured_$g.tsv'; series='series'; out='$images/ring_h200x$g.$kind'; title='Ring all-reduce on $g H200: predicted (lines) and measured (points)'" "$root/plots/busbw.gp"
  done
done

echo "| ranks, protocol, launch | band | points | median error | worst error |"
echo "|---|---|---|---|---|"
awk -F '\t' -v OFS='\t' '{ e = $3 / $6 - 1; if (e < 0) e = -e; band = $1 < 65536 ? "1 below 64 KiB" : $1 <= 16777216 ? "2 64 KiB to 16 MiB" : "3 above 16 MiB"; print $2, band, e }' "$work/joined" |
  sort -t "$(printf '\t')" -k1,1 -k2,2 -k3,3g |
  awk -F '\t' '
    function flush() { if (n) printf "| %s | %s | %d | %.1f %% | %.1f %% |\n", key, substr (band, 3), n, 100 * (n % 2 ? e[(n + 1) / 2] : (e[n / 2] + e[n / 2 + 1]) / 2), 100 * e[n] }
    $1 != key || $2 != band { flush (); n = 0; key = $1; band = $2 }
    { e[++n] = $3 }
    END { flush () }'
