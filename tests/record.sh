#!/usr/bin/env bash
# calibrate/record.yaml, which reports show, is what docs/validation.md says in short; other tests keep that document true.
# usage: record.sh [--update] SOURCE_DIR
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 1 ] || { sed -n '3s/^# //p' "$0" >&2; exit 2; }
document=$1/docs/validation.md
record=$1/calibrate/record.yaml
tmp=$(mktemp)
trap 'rm -f -- "$tmp"' EXIT

{
  echo '# How good predictions have been: docs/validation.md in short, made by tests/record.sh --update; a test compares.'
  echo 'record: validation'
  echo 'rows:'
  awk '
    function row(what, part, points, median, tail, quantile) {
      printf "  - {what: %s, part: \"%s\", points: %d, median: %s %%, tail: %s %%, quantile: %d %%}\n",
        what, part, points, median, tail, quantile
    }
    BEGIN { size["small"] = "below 64 KiB"; size["middle"] = "64 KiB to 16 MiB"; size["large"] = "16 MiB and more" }
    $1 == "all" && ($6 in size) { row("collectives", size[$6], $7, $8, $9, 95) }
    /^<!-- tests\/training.sh -->/ { inside = 1 }
    /^<!-- end of tests\/training.sh -->/ { inside = 0 }
    inside && /^\| (vendor-tuned|others|own) [^,]*\|/ {
      n = split ($0, cell, / *\| */)
      if (n >= 7 && cell[2] !~ /,/) row("training steps", cell[2], cell[3], cell[4], cell[5], 90)
    }' "$document"
} >"$tmp"
[ "$(grep -c 'what: collectives' "$tmp")" -eq 3 ] && grep -q 'what: training steps.*held out' "$tmp" ||
  { echo "$document: the summaries are not where they were"; exit 1; }
if [ -n "$update" ]; then
  cp -- "$tmp" "$record"
elif ! diff -u -- "$record" "$tmp"; then
  echo "If the change is meant: tests/record.sh --update SOURCE_DIR"
  exit 1
fi
