#!/usr/bin/env bash
# The tables of docs/validation.md and docs/validation_collectives.md are what plots/validation.sh and forerun validate print.
# No row is worse than its margin.
# usage: validation.sh [--update] FORERUN SOURCE_DIR     (--update renews both tables; the margins are still judged)
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 2 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

status=0
renew () # document, first line, last line, file with what belongs between them
{
  grep -qxF -- "$2" "$1" || { echo "$1: no line '$2'"; exit 1; }
  awk -v first="$2" -v last="$3" -v file="$4" '
    $0 == last { inside = 0 }
    !inside { print }
    $0 == first { inside = 1; while ((getline line <file) > 0) print line }' "$1" >"$tmp/new"
  diff -u -- "$1" "$tmp/new" || status=1
  [ -z "$update" ] || cp -- "$tmp/new" "$1"
}

worse=0
"$2/plots/validation.sh" --tables "$forerun" >"$tmp/ring"
FORERUN_DATA=$2 "$forerun" validate --quiet --wide >"$tmp/scores" || worse=$?
{ echo '```text'; cat -- "$tmp/scores"; echo '```'; } >"$tmp/block"

renew "$2/docs/validation.md" '<!-- plots/validation.sh --tables -->' '<!-- end -->' "$tmp/ring"
renew "$2/docs/validation_collectives.md" '<!-- forerun validate --quiet --wide -->' '<!-- end of forerun validate -->' "$tmp/block"
if [ -n "$update" ]; then
  status=0
elif [ "$status" -ne 0 ]; then
  echo "If the change is meant: tests/validation.sh --update FORERUN SOURCE_DIR"
fi
if [ "$worse" -ne 0 ]; then
  grep -E ' worse$' "$tmp/scores" || true
  status=1
fi
exit "$status"
