#!/usr/bin/env bash
# calibrate/record.yaml, which reports show, and the first table of docs/validation.md are the summary of that page's other tables
# and of tests/accuracy/collectives.txt.
# usage: record.sh [--update] SOURCE_DIR     (--update renews both)
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 1 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
document=$1/docs/validation.md
record=$1/calibrate/record.yaml
tmp=$(mktemp)
page=$(mktemp)
trap 'rm -f -- "$tmp" "$page"' EXIT

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
    }' "$1/tests/accuracy/collectives.txt" "$document"
} >"$tmp"
[ "$(grep -c 'what: collectives' "$tmp")" -eq 3 ] && grep -q 'what: training steps.*held out' "$tmp" ||
  { echo "$document: the summaries are not where they were"; exit 1; }
awk '
  FNR == NR && match ($0, /part: "[^"]*"/) {
    part = substr ($0, RSTART + 7, RLENGTH - 8)
    n = split ($0, cell, /[:,}] */)
    for (i = 1; i < n; i++) value[cell[i]] = cell[i + 1]
    sub (/.*what: /, "")
    sub (/,.*/, "")
    rows = rows "| " $0 " | " part " | " value["points"] " | " value["median"]
    rows = rows " | " value["tail"] " (" value["quantile"] + 0 "th) |\n"
  }
  FNR == NR { next }
  $0 == "<!-- end of tests/record.sh -->" { inside = 0; marks++ }
  !inside { print }
  $0 == "<!-- tests/record.sh -->" {
    inside = 1
    marks++
    printf "| prediction | part | measurements | median error | 90th or 95th percentile |\n|---|---|---|---|---|\n%s", rows
  }
  END { exit marks != 2 }' "$tmp" "$document" >"$page" || { echo "$document: the first table has lost its marks"; exit 1; }
if [ -n "$update" ]; then
  cp -- "$tmp" "$record"
  cat -- "$page" >"$document"
elif ! diff -u -- "$record" "$tmp" || ! diff -u -- "$document" "$page"; then
  echo "If the change is meant: tests/record.sh --update SOURCE_DIR"
  exit 1
fi
