#!/usr/bin/env bash
# The table of docs/cases.md is what run_cases prints today.  usage: document.sh RUN_CASES FORERUN SOURCE_DIR
set -euo pipefail
diff -u <(sed -n '/^<!-- run_cases --markdown -->$/,/^<!-- end -->$/p' "$3/docs/cases.md" | sed '1d;$d') \
  <("$1" "$2" "$3/scenarios/cases" --markdown)
