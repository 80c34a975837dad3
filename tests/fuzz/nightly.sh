#!/usr/bin/env bash
# What takes too long for the suite, each with its time limit, one after the other: all libFuzzer targets, changed files and command
# lines with a new seed on the program and on its build with sanitizers, kills, equal bytes from gcc and clang at each level of
# optimisation, and races between threads. Prints a line for each;
# the reports of what failed are in build/nightly. Exit status 1: something failed.
# usage: nightly.sh [SECONDS] [FILES] [SEED]     seconds of each target (60), files a campaign (20000), seed (of the day)
set -uo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
seconds=${1:-60}
files=${2:-20000}
seed=${3:-$(date -u +%Y%m%d)}
for number in "$seconds" "$files" "$seed"; do
  case $number in '' | *[!0-9]*) sed -n 5p "${BASH_SOURCE[0]}" >&2; exit 2 ;; esac
done
logs=$root/build/nightly
mkdir -p -- "$logs"
cd -- "$logs" || exit 1
failed=0
part () # limit in seconds, name, command...
{
  local limit=$1 name=$2 status=0
  shift 2
  SECONDS=0
  timeout -k 60 "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null || status=$?
  case $status in
    0) status=passed ;;
    77) status=skipped ;;
    124 | 137) status="over its limit of $limit s" failed=1 ;;
    *) status="FAILED with status $status" failed=1 ;;
  esac
  printf '%-10s %s, %d s: %s\n' "$name" "$status" "$SECONDS" "$(tail -n 1 "$logs/$name.log")"
}
build () # preset, targets…
{
  (cd -- "$root" && cmake --preset "$1" && ninja -C "build/$1" "${@:2}") || return 1
}
export -f build
export root

for preset in release asan; do
  part 3600 "build-$preset" bash -c 'build "$@"' build "$preset" forerun mutate
  [ -x "$root/build/$preset/forerun" ] || continue
  [ "$preset" = release ] || files=$((files / 10))
  part $((files * 2 + 600)) "mutate-$preset" "$root/tests/fuzz/campaign.sh" "$root/build/$preset/forerun" \
    "$root/build/$preset/tests/mutate" "$root" "$logs/mutate-$preset-$seed" "$files" $((files / 4)) "$seed"
done
part 3600 kill "$root/tests/fuzz/kill.sh" "$root/build/release/forerun" "$root" 100 "$seed"
part 7200 levels "$root/tests/repro/run.sh" --levels "$root/build/release/forerun" "$root" "$logs/levels"
part 7200 threads "$root/tests/tsan/run.sh"
if command -v clang >/dev/null; then
  part $((seconds * 60 + 3600)) fuzz "$root/tests/fuzz/run.sh" -j 1 "$seconds"
else
  echo "fuzz       skipped: no clang"
fi
exit "$failed"
