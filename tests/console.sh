#!/usr/bin/env bash
# What a document shows is what the program says. Every ```console block of one command, "$ forerun …", is run in the source
# tree and compared with what stands below it (stdout, then stderr). Text keeps to 100 columns. These commands must not write files.
# Each line of a ```sh block that begins with "forerun " is run too, in a scratch folder with links to the tree: it must succeed.
# The version in "forerun 1.2.3" may differ, so that a release does not change every page.
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
  (cd -- "$source" && PATH=$tmp/bin:$PATH LC_ALL=C FORERUN_DATA=$source FORERUN_PROGRESS=off COLUMNS='' bash -c "$1" </dev/null) \
    >"$tmp/out" 2>"$tmp/err" || true
  cat -- "$tmp/out" "$tmp/err"
  case $1 in
    *--format* | *--wide*) ;;
    *) [ "$(LC_ALL=C.UTF-8 wc -L <"$tmp/out")" -le 100 ] || echo "$1" >>"$tmp/wide" ;;
  esac
}

try () # command line of a ```sh block
{
  (cd -- "$tmp/tree" && PATH=$tmp/bin:$PATH LC_ALL=C FORERUN_DATA=$source bash -c "$1" </dev/null) >"$tmp/out" 2>&1 ||
    { echo "$1"; tail -n 5 -- "$tmp/out"; } >>"$tmp/failed"
}

without_version () # file
{
  sed -E 's/forerun [0-9]+\.[0-9]+\.[0-9]+/forerun VERSION/' -- "$1"
}

mkdir "$tmp/tree"
ln -s -- "$source"/* "$tmp/tree/"

blocks=0
in_block=
in_commands=
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
    case $line in
      '```sh') in_commands=1 ;;
      '```'*) in_commands= ;;
      'forerun '*) [ -z "$in_commands" ] || { blocks=$((blocks + 1)); try "$line"; } ;;
    esac
  fi
done <"$document" >"$tmp/new"

if [ -s "$tmp/wide" ]; then
  echo "FAILED: lines of more than 100 columns are printed by:"
  cat -- "$tmp/wide"
  exit 1
fi
if [ -s "$tmp/failed" ]; then
  echo "FAILED: commands that $document shows:"
  cat -- "$tmp/failed"
  exit 1
fi
if [ "$blocks" -eq 0 ]; then
  [ -z "$update" ] || { echo "$document shows no command, so there is nothing to renew"; exit 0; }
  echo "FAILED: $document shows no command" >&2
  exit 1
fi
if cmp -s -- "$document" "$tmp/new" ||
  { [ -z "$update" ] && cmp -s <(without_version "$document") <(without_version "$tmp/new"); }; then
  echo "$blocks commands print what $document shows"
elif [ -n "$update" ]; then
  diff -u -- "$document" "$tmp/new" || true
  cat -- "$tmp/new" >"$document"
else
  echo "FAILED: not what $document shows (tests/console.sh --update rewrites it):"
  diff -u -- "$document" "$tmp/new" || true
  exit 1
fi
