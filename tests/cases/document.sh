#!/usr/bin/env bash
# docs/cases.md has a row and scenarios/cases/answers.tsv a line of each case, in order. The case itself compares both.
# --update renews both.
# usage: document.sh [--update RUN_CASES FORERUN] SOURCE_DIR
set -euo pipefail

if [ "${1:-}" = --update ]; then
  document=$4/docs/cases.md
  "$2" "$3" "$4/scenarios/cases" --answers >"$document.new" || true
  mv -- "$document.new" "$4/scenarios/cases/answers.tsv"
  "$2" "$3" "$4/scenarios/cases" --markdown >"$document.new" || true
  awk -v file="$document.new" '
    $0 == "<!-- end -->" { inside = 0 }
    !inside { print }
    $0 == "<!-- run_cases --markdown -->" { inside = 1; while ((getline line <file) > 0) print line }' \
    "$document" >"$document.whole"
  mv -- "$document.whole" "$document"
  rm -- "$document.new"
  exit
fi
[ $# -eq 1 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
diff -u --label docs/cases.md --label scenarios/cases \
  <(sed -n '/^<!-- run_cases --markdown -->$/,/^<!-- end -->$/s/^| \([0-9][0-9]\) |.*/\1/p' "$1/docs/cases.md") \
  <(cd -- "$1/scenarios/cases" && printf '%.2s\n' *.expect | LC_ALL=C sort)
diff -u --label answers.tsv --label scenarios/cases \
  <(cut -f 1 "$1/scenarios/cases/answers.tsv") \
  <(cd -- "$1/scenarios/cases" && printf '%s\n' *.expect | sed 's/\.expect$//' | LC_ALL=C sort)
