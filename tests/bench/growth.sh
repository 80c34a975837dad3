#!/usr/bin/env bash
# Processor seconds of message-by-message collectives against their messages: 64 to 4,096 ranks on one switch, 1 MiB a message, the
# textbook's library, user and system, the least of 5 runs each. A TSV for plots/growth.gp.   usage: growth.sh FORERUN
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: growth.sh FORERUN" >&2; exit 2; }
forerun=$1
data=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../data/workload" && pwd -P)
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

printf 'operation\tranks\tmessages\ttime_s\n'
measure () # name operation algorithm ranks messages
{
  local run TIMEFORMAT='%3U %3S'
  : >"$tmp/cost"
  for run in 1 2 3 4 5; do
    { time "$forerun" coll "$2" --topology "$data/star_1024.yaml" --set "nodes=$4" --set "fabric.leaf.radix=$4" -b "$4M" -e "$4M" \
      --algo "$3" --library plain --steps exact --format tsv >/dev/null 2>&1; } 2>>"$tmp/cost"
  done
  awk -v name="$1" -v ranks="$4" -v messages="$5" '
    NR == 1 || $1 + $2 < least { least = $1 + $2 }
    END { printf "%s\t%d\t%d\t%.3f\n", name, ranks, messages, least }' "$tmp/cost"
}
for ranks in 64 128 256 512 1024 2048 4096; do
  measure 'ring all-reduce' all_reduce ring "$ranks" $((2 * ranks * (ranks - 1)))
  [ "$ranks" -gt 2048 ] || measure 'all-to-all at once' alltoall pairwise "$ranks" $((ranks * (ranks - 1)))
done
