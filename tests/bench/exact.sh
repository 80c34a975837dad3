#!/usr/bin/env bash
# Message-by-message collectives beside the answers that arithmetic gives, with what they cost: the topologies of
# tests/data/workload, 1 MiB a message, the textbook's library, one core. Where bench_simgrid was built, SimGrid's cost and
# answer in the same run.
# usage: exact.sh FORERUN [BENCH_SIMGRID]   a table: medians of 5 runs, peak memory          (a release build; needs GNU time)
#        exact.sh --check FORERUN           each once: fails where an answer is not the right one to 1e-6; looks at no time
set -euo pipefail

check=
[ "${1-}" != --check ] || { check=yes; shift; }
[ $# -eq 1 ] || [ $# -eq 2 ] || { sed -n '5,6s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }
forerun=$1 simgrid=${2-}
data=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../data/workload" && pwd -P)
runs=5
limit_s=120 # more than any row of ours takes; SimGrid is stopped there
[ -n "$check" ] && runs=1
[ -n "$check" ] || [ -x /usr/bin/time ] || { echo "needs GNU time: apt-get install time" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
failed=0

# Name of the row, topology, ranks, routing, operation, right answer in us ('above X': no closed form, but more than X).
# 20.97152 us is 1 MiB at 50 GB/s.
rows ()
{
  local m=20.97152
  cat <<ROWS
ring all-reduce, star|star_1024|1024||all_reduce|2046 * (2 + $m)
ring all-reduce, fat tree 16x8x8|tree_1024|1024||all_reduce|2046 * (6 + $m)
all-to-all, star|star_1024|1024||alltoall|1023 * $m + 2
all-to-all, fat tree|tree_1024|1024||alltoall|1023 * $m + 2
all-to-all, fat tree 4:1 at the leaf|tree_1024_4to1|1024||alltoall|16 * 1008 * $m / 4 + 4
128 ranks, 4:1, by destination|tree_1024_4to1|128||alltoall|16 * 112 * $m / 4 + 4
128 ranks, 4:1, hashed ECMP|tree_1024_4to1|128|ecmp|alltoall|above 16 * 112 * $m / 4 + 4
ROWS
  [ -n "$check" ] || cat <<ROWS
all-to-all, 4:1 at the leaf, hashed ECMP|tree_1024_4to1|1024|ecmp|alltoall|above 16 * 1008 * $m / 4 + 4
ROWS
}

median () # column of $tmp/cost
{
  sort -g -k "$1,$1" "$tmp/cost" | awk -v at="$1" '{ v[NR] = $at } END { print v[int((NR + 1) / 2)] }'
}

simulated_us () # topology ranks routing operation
{
  local set=() timed=()
  [ -z "$3" ] || set=(--set "fabric.routing=$3")
  [ -n "$check" ] || timed=(/usr/bin/time -a -o "$tmp/cost" -f '%e %U %M')
  "${timed[@]}" "$forerun" coll "$4" --topology "$data/$1.yaml" -n "$2" -b "${2}M" -e "${2}M" \
    --algo "$([ "$4" = alltoall ] && echo pairwise || echo ring)" --library plain --steps exact --format tsv "${set[@]}" |
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_s") at = i } NR == 2 { printf "%.9f", $at * 1e6 }'
}

simgrid_columns () # topology ranks operation our_s
{
  local answer
  [ -n "$simgrid" ] && [ "$2" = 1024 ] || return 0
  : >"$tmp/simgrid"
  if answer=$(/usr/bin/time -o "$tmp/simgrid" -f '%e %M' timeout "$limit_s" "$simgrid" "$1" "$3" 2>"$tmp/said"); then
    awk -v ours="$4" -v us="$answer" '
      { printf "  %8.2f %6.0f %14.4f %7.1f", $1, $2 * 1.024e-3, us * 1e-3, $1 / ours }' "$tmp/simgrid"
  else
    printf '  > %d s or failed' "$limit_s"
  fi
}

[ -n "$check" ] || printf '%-38s %14s %14s %8s %8s %6s%s\n' row 'simulated (ms)' 'right (ms)' 'wall (s)' 'user (s)' MB \
  "${simgrid:+"   SimGrid s     MB      says (ms)   ratio"}"
while IFS='|' read -r name topology ranks routing op right; do
  : >"$tmp/cost"
  for ((run = 0; run < runs; run++)); do
    us=$(simulated_us "$topology" "$ranks" "$routing" "$op")
  done
  verdict=$(awk -v us="$us" -v right="$(awk "BEGIN { printf \"%.9f\", ${right#above }; exit }")" -v above="${right%%[0-9]*}" '
    BEGIN { off = us / right - 1; ok = above != "" ? off > 1e-3 : off < 1e-6 && off > -1e-6
            printf "%s %.9f", ok ? "right" : "WRONG", right }')
  right_us=${verdict#* }
  [ "${verdict%% *}" = right ] || { echo "$name: $us us simulated, $right = $right_us us expected" >&2; failed=1; }
  [ -z "$check" ] || continue
  wall=$(median 1) user=$(median 2) peak_kB=$(median 3)
  awk -v name="$name" -v us="$us" -v right="$right_us" -v above="${right%%[0-9]*}" -v wall="$wall" -v user="$user" \
    -v kB="$peak_kB" '
    BEGIN { printf "%-38s %14.4f %s%13.4f %8.2f %8.2f %6.0f", name, us * 1e-3, above != "" ? ">" : " ", right * 1e-3, wall, user,
                   kB * 1.024e-3 }'
  simgrid_columns "$topology" "$ranks" "$op" "$wall"
  echo
done < <(rows)
exit "$failed"
