#!/usr/bin/env bash
# Builds the fuzz preset (clang) and runs each target for some seconds, from its corpus. A crash becomes a file in
# tests/fuzz/regress/TARGET, which ctest replays without libFuzzer from then on: commit it with the fix.
# usage: run.sh [-j JOBS] SECONDS [TARGET…]      e.g. tests/fuzz/run.sh 60; tests/fuzz/run.sh 600 yaml
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
build=$root/build/fuzz

usage ()
{
  sed -n '4s/^# //p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

jobs=$(nproc)
if [ "${1:-}" = -j ]; then
  jobs=${2:-}
  shift 2 || usage
fi
[ $# -ge 1 ] || usage
for number in "$jobs" "$1"; do
  case $number in '' | 0 | *[!0-9]*) usage ;; esac
done
seconds=$1
shift
command -v clang >/dev/null || { echo "fuzzing needs clang (libFuzzer): apt-get install clang" >&2; exit 1; }

(cd -- "$root" && cmake --preset fuzz) >/dev/null
mapfile -t all < <(ninja -C "$build" -t targets all | sed -n 's/^fuzz_\([A-Za-z0-9_]*\): phony$/\1/p' | sort)
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")
[ ${#targets[@]} -gt 0 ] || { echo "no fuzz target is registered (forerun_fuzz in tests/parts/)" >&2; exit 1; }
for target in "${targets[@]}"; do
  case " ${all[*]} " in *" $target "*) ;; *) echo "no target '$target'; there are: ${all[*]}" >&2; exit 2 ;; esac
done
ninja -C "$build" -j "$jobs" "${targets[@]/#/fuzz_}"

failed=()
for target in "${targets[@]}"; do
  # What the fuzzer finds goes to the build folder: the corpus of the repository grows on purpose only.
  found=$build/corpus/$target
  regress=$here/regress/$target
  dictionary=$here/$target.dict
  mkdir -p -- "$found" "$regress" "$here/corpus/$target"
  options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1
    "-artifact_prefix=$regress/")
  [ ! -f "$dictionary" ] || options+=("-dict=$dictionary")
  echo "== $target, $seconds s"
  "$build/tests/fuzz_$target" "${options[@]}" "$found" "$here/corpus/$target" "$regress" || failed+=("$target")
  rmdir --ignore-fail-on-non-empty -- "$regress" "$here/corpus/$target"
done
if [ ${#failed[@]} -gt 0 ]; then
  echo "crashed: ${failed[*]}; the inputs are in tests/fuzz/regress/"
  exit 1
fi
echo "no crash: ${targets[*]}"
