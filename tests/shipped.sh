#!/usr/bin/env bash
# Every shipped file is checked, run and explained, one in text and the next in JSON: the exit status is the one expected, nothing
# is critical to GLib, and no number is nan or infinite. The first file of each kind that is no scenario is refused by `run` and
# `explain` with a message.
# usage: shipped.sh FORERUN SOURCE_DIR scenarios|parts [K N]: with K and N, every Nth file from the Kth on
set -euo pipefail
export LC_ALL=C.UTF-8
export G_DEBUG=fatal-criticals # GLib ends the program at its first critical message

forerun=$(realpath -- "$1")
cd -- "$2"
export FORERUN_DATA=$PWD
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
failed=0 n=0 format=json
fail ()
{
  echo "FAILED: $*"
  failed=1
}

# Runs forerun; says what is wrong with its answer.
try () # expected status, arguments
{
  local want=$1 status=0
  shift
  n=$((n + 1))
  "$forerun" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
  [ "$status" -eq "$want" ] || fail "forerun $*: exit status $status, expected $want: $(head -n 3 "$tmp/err")"
  ! grep -q CRITICAL "$tmp/err" || fail "forerun $*: $(grep -m 1 CRITICAL "$tmp/err")"
  ! grep -hwiE -m 1 'nan|inf|infinity' "$tmp/out" "$tmp/err" || fail "forerun $*: that line has a number that is none"
  [ "$want" -eq 0 ] || [ -s "$tmp/err" ] || fail "forerun $*: refused without a word"
}

first_key () # file
{
  sed -n 's/^\([a-z_]*\):.*/\1/p' "$1" | head -n 1
}

declare -A seen=()
refused () # file, kind: no scenario; the first of its kind is tried
{
  [ -z "${seen[$2]:-}" ] || return 0
  seen[$2]=1
  try 2 run "$1"
  try 2 explain "$1"
}

mapfile -t files < <(find scenarios topologies calibrate -name "*.yaml" | sort |
  awk -v k="${4:-1}" -v n="${5:-1}" "NR % n == k % n")
parts=()
for file in "${files[@]}"; do
  key=$(first_key "$file")
  case $3,$key in
    scenarios,scenario)
      format=$([ "$format" = text ] && echo json || echo text)
      try 0 check "$file"
      try 0 run "$file"
      if grep -q '^jobs:' "$file"; then
        try 2 explain "$file"
      else
        try 0 explain "$file" --format "$format"
      fi
      ;;
    scenarios,* | parts,scenario) ;;
    parts,links | parts,record | parts,storage | parts,summary | parts,tuner) # read by calibrations, and by no one else
      try 2 check "$file"
      refused "$file" "$key"
      ;;
    parts,*)
      parts+=("$file")
      refused "$file" "$key"
      ;;
  esac
done
[ ${#parts[@]} -eq 0 ] || try 0 check "${parts[@]}"
[ "$n" -ge $((30 / ${5:-1})) ] || fail "only $n commands"
[ "$failed" -ne 0 ] || echo "ok: $n commands"
exit "$failed"
