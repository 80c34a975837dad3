#!/usr/bin/env bash
# Rewrites what golden cases expect to what forerun says now, and shows each difference: read it as you would review it.
# usage: update.sh [-x FORERUN] PATTERN…      PATTERN as in a shell: 'input/*', coll/ring_8_gpus, '*' for all
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd -- "$here/../.." && pwd -P)
forerun=
if [ "${1:-}" = -x ]; then
  forerun=${2:?-x needs a path}
  shift 2
fi
if [ $# -eq 0 ]; then
  sed -n '2,3s/^# //p' "$0" >&2
  exit 2
fi
for build in dev release; do
  [ -n "$forerun" ] || [ ! -x "$root/build/$build/forerun" ] || forerun=$root/build/$build/forerun
done
[ -n "$forerun" ] || { echo "no forerun in build/dev or build/release: build it, or name it with -x" >&2; exit 1; }
version=$(sed -n 's/^project(forerun VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")

echo "with $forerun"
matched=0
failed=0
for cmd in "$here"/*/*/cmd; do
  dir=$(dirname -- "$cmd")
  name=${dir#"$here"/}
  for pattern in "$@"; do
    # shellcheck disable=SC2053 # the right side is a pattern on purpose
    [[ $name == $pattern ]] || continue
    matched=$((matched + 1))
    echo "== $name"
    status=0
    "$here/run.sh" --update "$forerun" "$root" "$version" "$dir" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || failed=1
    break
  done
done
if [ "$matched" -eq 0 ]; then
  echo "no case matches: $*" >&2
  exit 1
fi
exit "$failed"
