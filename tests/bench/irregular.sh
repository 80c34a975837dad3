#!/usr/bin/env bash
# Irregular traffic beside SimGrid: flows of many to one, flows at random, all-to-alls on paths at random (bench_irregular says
# which). Processor time and peak memory of one run each; SimGrid is stopped after a while, and where it ends its last end is
# shown beside ours. usage: irregular.sh BENCH_IRREGULAR [BENCH_SIMGRID]          (needs GNU time; a release build)
set -euo pipefail

[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n '4s/^# .*usage/usage/p' "${BASH_SOURCE[0]}" >&2; exit 2; }
ours=$1 simgrid=${2-}
limit_s=120
tmp=$(mktemp)
trap 'rm -f -- "$tmp"' EXIT

by_simgrid () # row N
{
  local answer
  [ -n "$simgrid" ] || return 0
  case $1 in poisson | incast) ;; *) return 0 ;; esac
  if answer=$(/usr/bin/time -o "$tmp" -f '%U %M' timeout "$limit_s" "$simgrid" "$1" "$2" 2>/dev/null); then
    awk -v us="$answer" '{ printf "    SimGrid: %.2f s, %.1f MB, ends at %.12g ms\n", $1, $2 * 1.024e-3, us * 1e-3 }' "$tmp"
  else
    echo "    SimGrid: more than $limit_s s"
  fi
}

while read -r row n; do
  timeout 600 "$ours" "$row" "$n" || echo "$row $n: more than 600 s"
  [ "$n" -gt 40000 ] || by_simgrid "$row" "$n"
done <<'ROWS'
incast 2000
incast 8000
incast 20000
incast 100000
incast 200000
incast_1024 100000
poisson 10000
poisson 20000
poisson 100000
poisson 500000
poisson 1000000
poisson_hashed 100000
poisson_hashed 1000000
hashed 256
hashed 512
hashed 1024
hashed_4to1 256
hashed_4to1 512
hashed_4to1 1024
ROWS
