#!/usr/bin/env bash
# What was measured (points), what a fit without the held-out part predicts (lines) and its band: a picture for each collective.
#
#   forerun fit FOLDER … --points points.tsv -o cal.yaml
#   plots/fit.sh points.tsv IMAGE_FOLDER [FILTER]      writes IMAGE_FOLDER/fit_OP.svg
#
# FILTER is an awk condition over the columns by name (`machine` is the system), e.g. 'launch == "graph" && max_channels == ""'
# (default: all). Lines are distinguished by system, algorithm, protocol, launch, GPUs and channels; those that are the same
# everywhere are left out of the key.
set -euo pipefail
[ $# -ge 2 ] && [ $# -le 3 ] || { sed -n '2,9s/^# \?//p' "$0" >&2; exit 2; }
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
points=$1
images=$2
source "$root/plots/draw.sh"
filter=${3:-1}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# Columns by name for the filter; one file of lines and one of points an operation. What is no name of a column is not read.
names=$(head -n 1 -- "$points" | tr '\t' '\n' | sed 's/^system$/machine/' |
  awk '/^[A-Za-z_][A-Za-z_0-9]*$/ { printf "%s = $%d; ", $1, NR }')
cat >"$work/split.awk" <<AWK
NR == 1 { next }
{ $names }
op !~ /^[a-z_]+$/ {
  print "plots/fit.sh: line " NR ": '" op "' is not an operation" > "/dev/stderr"
  exit refused = 1
}
$filter {
  key = "bytes\tsystem\talgo\tproto\tlaunch\tGPUs\tchannels\tbusbw_Bps"
  lines = work "/" op ".lines"
  points = work "/" op ".points"
  if (!(op in seen)) {
    seen[op] = 1
    print key "\ttime_s\ttime_lo_s\ttime_hi_s" > lines
    print key > points
    print op
  }
  what = bytes "\t" machine "\t" algo "\t" proto "\t" launch "\t" ranks "\t" (max_channels == "" ? "all" : max_channels)
  print what "\t" predicted_busbw_Bps "\t" predicted_s "\t" predicted_lo_s "\t" predicted_hi_s > lines
  print what "\t" measured_busbw_Bps > points
  n[op]++
  off = measured_busbw_Bps / predicted_busbw_Bps - 1
  within[op] += off >= -0.1 && off <= 0.1
}
END {
  if (refused)
    exit 1
  for (op in n) {
    name = op
    gsub ("_", "-", name)
    printf "%s: %d of %d measured points are within +-10 %% of the fit\n", name, within[op], n[op] > (work "/" op ".title")
  }
}
AWK
awk -F '\t' -v work="$work" -f "$work/split.awk" "$points" >"$work/ops"
[ -s "$work/ops" ] || { echo "plots/fit.sh: no point fits $filter" >&2; exit 1; }
mkdir -p -- "$images"
while read -r op; do
  { head -n 1 "$work/$op.lines"; tail -n +2 "$work/$op.lines" | sort -t "$(printf '\t')" -k2,7 -k1,1n -u; } >"$work/sorted"
  draw busbw.gp "$images/fit_$op.svg" data="$work/sorted" measured="$work/$op.points" title="$(cat "$work/$op.title")" \
    series='system algo proto launch GPUs channels'
done <"$work/ops"
