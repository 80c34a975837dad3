#!/usr/bin/env bash
# What a document shows is what the program says: every ```console block of one command, "$ forerun …", is run in the source
# tree and compared with what stands below it (stdout, then stderr); text keeps to 100 columns. Only commands that write nothing
# belong into a document.
# usage: console.sh [--update] FORERUN SOURCE_DIR DOCUMENT
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 3 ] || { echo "usage: console.sh [--update] FORERUN SOURCE_DIR DOCUMENT" >&2; exit 2; }
forerun=$(realpath -- "$1")
source=$(realpath -- "$2")
document=$(realpath -- "$3")
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
mkdir "$tmp/bin"
ln -s -- "$forerun" "$tmp/bin/forerun"

run () # command line: its output as the document shows it
{
  (cd -- "$source" && PATH=$tmp/bin:$PATH LC_ALL=C FORERUN_DATA=$source COLUMNS='' bash -c "$1" </dev/null) \
    >"$tmp/out" 2>"$tmp/err" || true
  cat -- "$tmp/out" "$tmp/err"
  case $1 in
    *--format* | *--wide*) ;;
    *) [ "$(LC_ALL=C.UTF-8 wc -L <"$tmp/out")" -le 100 ] || echo "$1" >>"$tmp/wide" ;;
  esac
}

blocks=0
in_block=
while IFS= read -r line || [ -n "$line" ]; do
  if [ "$line" = '```console' ]; then
    in_block=1
    echo "$line"
  elif [ -n "$in_block" ] && [ "$line" = '```' ]; then
    in_block=
    echo "$line"
  elif [ -n "$in_block" ] && [[ "$line" == '$ '* ]]; then
    blocks=$((blocks + 1))
    echo "$line"
    run "${line#\$ }"
  elif [ -z "$in_block" ]; then
    printf '%s\n' "$line"
  fi
done <"$document" >"$tmp/new"

if [ -s "$tmp/wide" ]; then
  echo "FAILED: lines of more than 100 columns are printed by:"
  cat -- "$tmp/wide"
  exit 1
fi
[ "$blocks" -gt 0 ] || { echo "FAILED: $document shows no command" >&2; exit 1; }
if cmp -s -- "$document" "$tmp/new"; then
  echo "$blocks commands print what $document shows"
elif [ -n "$update" ]; then
  diff -u -- "$document" "$tmp/new" || true
  cat -- "$tmp/new" >"$document"
else
  echo "FAILED: not what $document shows (tests/console.sh --update rewrites it):"
  diff -u -- "$document" "$tmp/new" || true
  exit 1
fi
