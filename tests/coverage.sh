#!/usr/bin/env bash
# How much of the layers' code the tests have reached, by folder, against the record in tests/coverage.txt: more than 0.3 points
# below it is an error. Run it after the tests.
# usage: coverage.sh [--update] SOURCE_DIR BUILD_DIR [JOBS]     (--update renews the record)
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -ge 2 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
cd -- "$1"
record=tests/coverage.txt
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

gcovr --root . --filter 'sim/' --filter 'models/' --filter 'calibrate/' -j "${3:-1}" --csv "$tmp/files.csv" "$2" \
  >"$tmp/said" 2>&1 ||
  { cat -- "$tmp/said"; exit 1; }
awk -F , '
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  {
    folder = $at["filename"]
    sub (/\/[^\/]*$/, "", folder)
    lines[folder] += $at["line_total"]
    reached[folder] += $at["line_covered"]
  }
  END { for (folder in lines) printf "%s\t%d\t%d\n", folder, lines[folder], reached[folder] }' "$tmp/files.csv" |
  LC_ALL=C sort >"$tmp/folders"
awk -F '\t' '
  { printf "%-24s %6d of %6d lines  %5.1f %%\n", $1, $3, $2, 100 * $3 / $2; lines += $2; reached += $3 }
  END { printf "%-24s %6d of %6d lines  %5.1f %%\n", "all", reached, lines, 100 * reached / lines }' "$tmp/folders"
now=$(awk -F '\t' '{ lines += $2; reached += $3 } END { if (lines > 0) printf "%.1f", 100 * reached / lines }' "$tmp/folders")
[ -n "$now" ] || { echo "FAILED: gcovr found no line"; cat -- "$tmp/said"; exit 1; }
if [ -n "$update" ]; then
  sed -i "s/^[0-9.]*\$/$now/" "$record"
  exit
fi
awk -v now="$now" '
  /^[0-9.]+$/ {
    record = $0
    if (now < record - 0.3 - 1e-9) {
      print "FAILED: the tests reach " now " % of the lines; the record in tests/coverage.txt is " record " %"
      exit 1
    }
    if (now > record + 0.3)
      print "The record of " record " % can be raised: tests/coverage.sh --update SOURCE_DIR BUILD_DIR"
  }
  END { if (record == "") { print "FAILED: no record in tests/coverage.txt"; exit 1 } }' "$record"
