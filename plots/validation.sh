#!/usr/bin/env bash
# Ring all-reduce on 2 and 8 H200, predicted against measured: draws docs/images/ring_h200x2.svg and ring_h200x8.svg and prints the
# table of docs/validation.md, by protocol, launch mode and size band. The topology is what NCCL dumped on the node measured.
#
#   plots/validation.sh [--tables] [FORERUN] [IMAGE_FOLDER]     (default build/release/forerun, docs/images)
#
# --tables prints the table only; gnuplot is not needed then. Small is below 64 KiB, large above 16 MiB.
set -euo pipefail
draw=yes
if [ "${1:-}" = --tables ]; then
  draw=
  shift
fi
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
forerun=${1:-$root/build/release/forerun}
images=${2:-$root/docs/images}
data=$root/tests/data
source "$root/plots/draw.sh"
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

"$forerun" import nccl-topo "$data/import/h200x8_topo.xml" --name h200x8 -o "$work/h200x8.yaml" --quiet

section () # file, heading: size (B) and out-of-place time (us) of one block of nccl-tests' output
{
  awk -v want="## $2" '
    index ($0, "##") == 1 { on = $0 == want; next }
    on && $1 ~ /^[0-9]+$/ && NF > 5 { print $1 "\t" $6 }' "$1" | sort -n -u -k1,1
}

join_one () # file, heading, GPUs, protocol, launch: bytes, series, time, low, high, measured (s), GPUs
{
  section "$1" "$2" >"$work/measured"
  "$forerun" coll all_reduce --topology "$work/h200x8.yaml" -g "$3" -b 1K -e 4G -f 2 --algo ring --proto "$4" --launch "$5" \
    --calibration h200_sxm --dtype fp32 --format tsv --quiet >"$work/predicted"
  awk -F '\t' -v OFS='\t' -v proto="$4" -v launch="$5" -v g="$3" '
    FNR == NR { measured[$1] = $2 * 1e-6; next }
    FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    ($at["bytes"]) in measured {
      print $at["bytes"], proto ", " launch, $at["time_s"], $at["time_lo_s"], $at["time_hi_s"], measured[$at["bytes"]], g
    }' "$work/measured" "$work/predicted"
}

for g in 2 8; do
  for proto in LL LL128 Simple; do
    join_one "$data/h200x8/all_reduce_graph.txt" "ar_Ring_$proto graph t=$g" "$g" "${proto,,}" registered
    join_one "$data/h200x8/all_reduce_launch.txt" "ar_Ring_$proto g=$g NCCL_ALGO=Ring NCCL_PROTO=$proto" "$g" "${proto,,}" serial
  done
done >"$work/joined"

picture () # GPUs: bus bandwidth, a line a protocol and launch mode, points as measured
{
  local title
  title=$(awk -F '\t' -v g="$1" '
    $7 == g { n++; e = $3 / $6 - 1; n_in += e >= -0.1 && e <= 0.1 }
    END { printf "Ring all-reduce on %d H200: %d of %d measured points are within +-10 %%", g, n_in, n }' "$work/joined")
  awk -F '\t' -v OFS='\t' -v g="$1" '
    BEGIN { print "bytes", "series", "busbw_Bps", "time_s", "time_lo_s", "time_hi_s" }
    $7 == g { print $1, $2, 2 * (g - 1) / g * $1 / $3, $3, $4, $5 }' "$work/joined" >"$work/lines"
  awk -F '\t' -v OFS='\t' -v g="$1" '
    BEGIN { print "bytes", "series", "busbw_Bps" }
    $7 == g { print $1, $2, 2 * (g - 1) / g * $1 / $6 }' "$work/joined" >"$work/points"
  draw busbw.gp "$images/ring_h200x$1.svg" data="$work/lines" measured="$work/points" series=series title="$title"
}

if [ -n "$draw" ]; then
  mkdir -p -- "$images"
  picture 2
  picture 8
fi

echo "| GPUs | protocol, launch | small: points, median, worst | middle | large |"
echo "|---|---|---|---|---|"
awk -F '\t' -v OFS='\t' '
  {
    e = $3 / $6 - 1
    print $7, $2, $1 < 65536 ? 1 : $1 <= 16777216 ? 2 : 3, e < 0 ? -e : e
  }' "$work/joined" | sort -t "$(printf '\t')" -k1,1n -k2,2 -k3,3n -k4,4g | awk -F '\t' '
  function cell() {
    m = n % 2 ? e[(n + 1) / 2] : (e[n / 2] + e[n / 2 + 1]) / 2
    return sprintf ("%d, %.1f %%, %.1f %%", n, 100 * m, 100 * e[n])
  }
  function flush() { if (n) row = row " | " cell(); n = 0 }
  $1 FS $2 != key { flush(); if (key != "") print row " |"; key = $1 FS $2; band = $3; row = "| " $1 " | " $2 }
  $3 != band { flush(); band = $3 }
  { e[++n] = $4 }
  END { flush(); print row " |" }'
