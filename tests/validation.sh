#!/usr/bin/env bash
# The table of docs/validation.md is what plots/validation.sh prints today.  usage: validation.sh FORERUN SOURCE_DIR
set -euo pipefail
diff -u <(sed -n '/^<!-- plots\/validation.sh --tables -->$/,/^<!-- end -->$/p' "$2/docs/validation.md" | sed '1d;$d') \
  <("$2/plots/validation.sh" --tables "$1")
