#!/usr/bin/env bash
# The tables of docs/validation.md are what plots/validation.sh and forerun validate print, and no row is worse than its margin.
# usage: validation.sh [--update] FORERUN SOURCE_DIR     (--update renews both tables; the margins are still judged)
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 2 ] || { sed -n '3s/^# //p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
document=$2/docs/validation.md
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

# Prints the document with the lines between two marks replaced by a file's.
replace () # first line, last line, file
{
  awk -v first="$1" -v last="$2" -v file="$3" '
    $0 == last { inside = 0 }
    !inside { print }
    $0 == first { inside = 1; while ((getline line <file) > 0) print line }' "$tmp/document"
}

worse=0
"$2/plots/validation.sh" --tables "$forerun" >"$tmp/ring"
FORERUN_DATA=$2 "$forerun" validate --quiet >"$tmp/scores" || worse=$?
{ echo '```text'; cat -- "$tmp/scores"; echo '```'; } >"$tmp/block"

cp -- "$document" "$tmp/document"
for mark in '<!-- plots/validation.sh --tables -->' '<!-- forerun validate --quiet -->'; do
  grep -qxF -- "$mark" "$document" || { echo "$document: no line '$mark'"; exit 1; }
done
replace '<!-- plots/validation.sh --tables -->' '<!-- end -->' "$tmp/ring" >"$tmp/half"
mv -- "$tmp/half" "$tmp/document"
replace '<!-- forerun validate --quiet -->' '<!-- end of forerun validate -->' "$tmp/block" >"$tmp/new"

status=0
diff -u -- "$document" "$tmp/new" || status=1
if [ -n "$update" ]; then
  cp -- "$tmp/new" "$document"
  status=0
elif [ "$status" -ne 0 ]; then
  echo "If the change is meant: tests/validation.sh --update FORERUN SOURCE_DIR"
fi
if [ "$worse" -ne 0 ]; then
  grep -E ' worse$' "$tmp/scores" || true
  status=1
fi
exit "$status"
