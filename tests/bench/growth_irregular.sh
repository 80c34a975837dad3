#!/usr/bin/env bash
# Processor seconds of irregular traffic against its flows (bench_irregular says which traffic): one run each, about two minutes.
# A TSV for plots/growth.gp.   usage: growth_irregular.sh BENCH_IRREGULAR          (a release build)
set -euo pipefail

[ $# -eq 1 ] || { echo "usage: growth_irregular.sh BENCH_IRREGULAR" >&2; exit 2; }
ours=$1

printf 'operation\tmessages\ttime_s\n'
while IFS=: read -r row all sizes name; do
  for n in $sizes; do
    "$ours" "$row" "$n" | awk -v name="$name" -v n="$n" -v all="$all" \
      '{ printf "%s\t%d\t%s\n", name, all ? n * (n - 1) : n, $3 }'
  done
done <<'ROWS'
incast:0:2000 8000 20000 100000 200000:incast
poisson:0:10000 20000 100000 200000 500000:Poisson
poisson_hashed:0:100000 200000 1000000:Poisson, hashed
hashed_4to1:1:256 512 1024:all-to-all, hashed, 4:1
hashed:1:64 128 256 512 1024:all-to-all, hashed, 1:1
ROWS
