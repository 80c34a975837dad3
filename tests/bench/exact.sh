#!/usr/bin/env bash
# Seconds and memory of message-by-message collectives on 1,024 ranks, with what they should take: tests/data/workload.
# usage: exact.sh FORERUN        (a release build; needs GNU time)
set -euo pipefail

[ $# -eq 1 ] || { sed -n '3s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
forerun=$1
data=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../data/workload" && pwd -P)
[ -x /usr/bin/time ] || { echo "needs GNU time: apt-get install time" >&2; exit 1; }

printf '%-10s %-11s %14s %14s %9s %8s\n' topology operation 'simulated (ms)' 'expected (ms)' 'run (s)' 'peak MB'
measure () # topology operation algorithm expected_ms
{
  local out cost
  cost=$(mktemp)
  out=$(/usr/bin/time -o "$cost" -f '%e %M' "$forerun" coll "$2" --topology "$data/$1.yaml" -b 1G -e 1G --algo "$3" \
    --library plain --steps exact --format tsv)
  awk -F '\t' -v topology="$1" -v op="$2" -v expected="$4" -v cost="$(cat "$cost")" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_s") at = i }
    NR == 2 { split (cost, c, " ")
              printf "%-10s %-11s %14.4f %14.4f %9.2f %8.0f\n", topology, op, $at * 1e3, expected, c[1], c[2] * 1.024e-3
            }' <<<"$out"
  rm -f -- "$cost"
}
measure star_1024 all_reduce ring 46.9997
measure tree_1024 all_reduce ring 55.1837
measure star_1024 alltoall pairwise 21.4559
measure tree_1024 alltoall pairwise 21.4559
