#!/usr/bin/env bash
# clang accepts the C files of a build, or of its tests alone, with the project's warnings as errors. ninja keeps what was
# accepted: a file is read again when it, a header of it or its flags change. Skipped without clang.
# usage: clang.sh BUILD_DIR [tests]
set -euo pipefail

build=$(realpath -- "$1")
command -v clang >/dev/null || { echo "skipped: no clang here"; exit 77; }
[ -f "$build/compile_commands.json" ] || { echo "skipped: no compile_commands.json in $build"; exit 77; }
which='\.c$'
[ "${2:-}" != tests ] || which='/tests/[^ ]*\.c$'
folder=$build/tests/clang${2:+.$2}
mkdir -p -- "$folder"
{
  printf 'rule read\n  command = %s $flags -Werror -fsyntax-only -MD -MF $out.d $in && touch $out\n' "$(command -v clang)"
  printf '  depfile = $out.d\n  deps = gcc\n  description = clang $in\n'
  # One entry has its command and file in lines of their own; JSON's escapes and ninja's are undone and done.
  sed -nE 's/^  "command": "(.*)",?$/\1/p' "$build/compile_commands.json" |
    sed -E 's/\\(["\\])/\1/g; s/\$/$$/g; s/^([^ ]*ccache )?[^ ]+ //; s/ -o [^ ]+ -c / /' | grep -E "$which" |
    awk '{ file = $NF; sub(/ [^ ]*$/, ""); printf "build %d.read: read %s\n  flags = %s\n", NR, file, $0 }'
} >"$folder/new.ninja"
n=$(grep -c '^build ' "$folder/new.ninja")
[ "$n" -gt 100 ] || { echo "FAILED: only $n files found in compile_commands.json"; exit 1; }
cmp -s "$folder/new.ninja" "$folder/build.ninja" || cp -- "$folder/new.ninja" "$folder/build.ninja"
if ! ninja -C "$folder" -k 0 >"$folder/log" 2>&1; then
  grep -v '^\[' "$folder/log"
  exit 1
fi
echo "clang accepts $n files"
