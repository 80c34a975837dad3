#!/usr/bin/env bash
# Processor seconds of irregular traffic against its flows (bench_irregular says which traffic): one run each, about three minutes.
# A TSV for plots/growth.gp.   usage: growth_irregular.sh BENCH_IRREGULAR          (a release build)
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: growth_irregular.sh BENCH_IRREGULAR" >&2; exit 2; }
ours=$1

printf 'operation\tmessages\ttime_s\n'
while IFS=: read -r row all name sizes; do
  for n in $sizes; do
    "$ours" "$row" "$n" | awk -v name="$name" -v n="$n" -v all="$all" '{ printf "%s\t%d\t%s\n", name, all ? n * (n - 1) : n, $3 }'
  done
done <<'ROWS'
incast:0:incast:10000 20000 50000 100000 200000
poisson:0:Poisson:20000 50000 100000 200000 500000 1000000
poisson_hashed:0:Poisson, hashed:20000 50000 100000 200000 500000 1000000
hashed_4to1:1:all-to-all, hashed, 4-1:64 128 256 512 1024
hashed:1:all-to-all, hashed, 1-1:64 128 256 512 1024
ROWS
