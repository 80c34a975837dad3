#!/usr/bin/env bash
# Runs one golden case: a folder with
#     cmd     a shell snippet (bash -eu), run in a copy of the folder with `forerun` on PATH
#     stdin   its standard input (default: empty)
#     out     what it must print on stdout (default: nothing)
#     err     what it must print on stderr (default: nothing)
#     exit    its exit status (default: 0)
# All other files of the folder are input. Exit status 77 of cmd skips the case; its stderr says why.
#
# Nothing of the caller's environment reaches cmd but sanitizer options. A critical message of GLib ends forerun (G_DEBUG). What
# differs by machine or release is replaced before comparing: @TMP@ the copy of the folder, @DATA@ the source tree, @VERSION@ the
# version. Besides, nothing may be left in $HOME and $TMPDIR: forerun writes in the working folder, where it is told to, and nowhere
# else.
set -euo pipefail

usage ()
{
  echo "usage: run.sh [--update] FORERUN SOURCE_DIR VERSION CASE_DIR" >&2
  exit 2
}

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 4 ] || usage
forerun=$(realpath -- "$1")
data=$(realpath -- "$2")
version=$3
case_dir=$(realpath -- "$4")
here=$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")")
[ -x "$forerun" ] || { echo "no executable $forerun: build it first" >&2; exit 2; }
[ -f "$case_dir/cmd" ] || { echo "no $case_dir/cmd" >&2; exit 2; }

tmp=$(realpath -- "$(mktemp -d)")
trap 'chmod -R u+rwX -- "$tmp" && rm -rf -- "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/home" "$tmp/tmp" "$tmp/got"
cp -R -- "$case_dir" "$tmp/case"
(cd -- "$tmp/case" && rm -f cmd stdin out err exit)
ln -s -- "$forerun" "$tmp/bin/forerun"
ln -s -- "$here/unprivileged" "$tmp/bin/unprivileged"

stdin=/dev/null
[ ! -f "$case_dir/stdin" ] || stdin=$case_dir/stdin
environment=(PATH="$tmp/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" HOME="$tmp/home" TMPDIR="$tmp/tmp" LC_ALL=C TZ=UTC
  FORERUN_DATA="$data" FORERUN_PROGRESS=off G_DEBUG=fatal-criticals)
for name in ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS; do
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done

status=0
(cd -- "$tmp/case" && exec env -i "${environment[@]}" bash --noprofile --norc -eu "$case_dir/cmd") \
  <"$stdin" >"$tmp/got/out.raw" 2>"$tmp/got/err.raw" || status=$?
if [ "$status" -eq 77 ]; then
  echo "skipped: $(cat "$tmp/got/err.raw")"
  exit 77
fi
echo "$status" >"$tmp/got/exit"

quote () # for the pattern of sed's s|…|…|
{
  printf '%s' "$1" | sed 's/[][\.*^$|]/\\&/g'
}
for stream in out err; do
  LC_ALL=C sed -e "s|$(quote "$tmp/case")|@TMP@|g" -e "s|$(quote "$data")|@DATA@|g" -e "s|\<$(quote "$version")\>|@VERSION@|g" \
    "$tmp/got/$stream.raw" >"$tmp/got/$stream"
done

failed=0
compare () # file default
{
  local expected=$case_dir/$1
  if [ ! -f "$expected" ]; then
    expected=$tmp/got/$1.default
    printf '%s' "$2" >"$expected"
  fi
  diff -u --label "expected/$1" --label "actual/$1" -- "$expected" "$tmp/got/$1" || failed=1
}
compare out ''
compare err ''
compare exit $'0\n'
left=$(cd -- "$tmp" && find home tmp -mindepth 1 | sort)
if [ -n "$left" ]; then
  printf 'left behind in the home or temporary folder:\n%s\n' "$left"
  failed=1
  [ -z "$update" ] || exit 1
fi
[ "$failed" -ne 0 ] || exit 0

if [ -z "$update" ]; then
  printf 'in %s:\n' "$case_dir"
  sed 's/^/  /' "$case_dir/cmd"
  printf 'If the change is meant: tests/golden/update.sh %s\n' "${case_dir#"$here"/}"
  exit 1
fi
write () # file default: a file that holds the default is not kept
{
  if [ "$(cat "$tmp/got/$1" && echo .)" = "$2." ]; then
    rm -f -- "$case_dir/$1"
  else
    cp -- "$tmp/got/$1" "$case_dir/$1"
  fi
}
write out ''
write err ''
write exit $'0\n'
