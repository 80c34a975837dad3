#!/usr/bin/env bash
# The examples of docs/examples/ say what the program says. usage: examples.sh c|python EXAMPLE LIBRARY FORERUN SOURCE_DIR
# EXAMPLE: the program built of predict.c, or predict.py. Exits 77 without python3.
set -euo pipefail
export FORERUN_PROGRESS=off

what=$1 example=$2 library=$3 forerun=$4
export FORERUN_DATA=$5 FORERUN_LIBRARY=$library
case $what in
  c) predict=("$example") ;;
  python)
    command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }
    predict=(python3 "$example")
    ;;
  *) sed -n '2s/^# .*usage: //p' "$0" >&2; exit 2 ;;
esac
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

# A field: key, value, unit. The program's value is the cell of the table that it prints for machines.
same () # scenario set key unit
{
  local said told
  said=$("${predict[@]}" "$1" "$2" -- "$3" 2>/dev/null)
  told=$("$forerun" run "$1" --set "$2" --format tsv --quiet |
    awk -F '\t' -v key="$3" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at[key] }')
  [ -n "$told" ] && awk -F '\t' -v key="$3" -v told="$told" -v unit="$4" '
    $1 != key || ($2 "" != told "" && $2 + 0 != told + 0) || $3 != unit { exit 1 }' <<<"$said" ||
    { echo "FAILED: $1 with $2: the example says <<$said>>, the program says $3 <<$told>> in <<$4>>"; exit 1; }
}
same quickstart cluster.nodes=2 time_s s
same quickstart cluster.nodes=4 busbw_Bps B/s
same quickstart workload.op=all_gather bound_by ''
same kv_offload workload.bytes='2 GiB' rate_Bps B/s

# What is wrong is said as the program says it, and is a failure.
if "${predict[@]}" quickstart cluster.nods=4 >"$tmp/out" 2>"$tmp/said"; then
  echo "FAILED: a key that does not exist is no failure"
  exit 1
fi
"$forerun" run quickstart --set cluster.nods=4 2>"$tmp/told" && exit 1
diff "$tmp/told" "$tmp/said" || { echo "FAILED: errors differ"; exit 1; }
[ ! -s "$tmp/out" ]

# The whole answer: fields by key in C, the document in Python.
if [ "$what" = c ]; then
  "${predict[@]}" quickstart >"$tmp/said"
  for key in kind op time_s bound_by links.0.utilisation events; do
    grep -q "^$key	[^	]" "$tmp/said" || { echo "FAILED: no field $key:"; cat "$tmp/said"; exit 1; }
  done
else
  "${predict[@]}" two_jobs >"$tmp/said" 2>/dev/null
  "$forerun" run two_jobs --format json >"$tmp/told" 2>/dev/null
  python3 -c 'import json, sys; a, b = (json.load (open (f)) for f in sys.argv[1:]); sys.exit (a != b)' "$tmp/said" "$tmp/told" ||
    { echo "FAILED: the documents differ"; diff "$tmp/said" "$tmp/told"; exit 1; }
fi
echo "the example says what the program says"
