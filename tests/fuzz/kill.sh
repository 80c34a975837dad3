#!/usr/bin/env bash
# Kills plan, fit and report by SIGKILL, COUNT times each, at moments drawn from a seed, and looks at each file that they write: it
# holds what it held before, or all that a whole run writes. A search that was killed is resumed from what it kept, and gives the
# same answer.
# usage: kill.sh FORERUN SOURCE_DIR COUNT SEED
set -euo pipefail

forerun=$(realpath -- "$1")
source=$(realpath -- "$2")
count=$3
RANDOM=$4
export FORERUN_DATA=$source
tmp=$(realpath -- "$(mktemp -d)")
trap 'rm -rf -- "$tmp"' EXIT
cp -- "$source"/tests/golden/plan/small/*.yaml "$source/tests/data/probe/h200x4_storage.json.gz" "$tmp"
cd -- "$tmp"
plan=("$forerun" plan plan.yaml --quiet --threads 1 --best 1 --resume state.json -o answer --report page.html)
fit=("$forerun" fit h200x4_storage.json.gz --quiet --topology hgx_h200 -o answer --report notes --section-points points.tsv)
report=("$forerun" run quickstart --quiet -o answer --report page.html)

milliseconds ()
{
  local now=${EPOCHREALTIME/[.,]/}
  echo $((now / 1000))
}
# What a whole run writes, and how long it takes: the shortest of three.
declare -A takes
for what in plan fit report; do
  declare -n command=$what
  takes[$what]=60000
  for _ in 1 2 3; do
    rm -f answer page.html notes points.tsv state.json
    start=$(milliseconds)
    "${command[@]}" >out 2>err || { echo "FAILED: ${command[*]}: $(cat err)"; exit 1; }
    took=$(($(milliseconds) - start))
    [ "$took" -ge "${takes[$what]}" ] || takes[$what]=$took
  done
  mkdir "new.$what"
  for file in answer page.html notes points.tsv; do
    [ ! -e "$file" ] || mv -- "$file" "new.$what"
  done
done

failed=0
fail ()
{
  echo "FAILED: $*"
  failed=1
}
old=0 new=0
declare -A killed=([plan]=0 [fit]=0 [report]=0)
# A call that ended before its moment is not counted, and there is another.
for ((i = 0; i < 60 * count; i++)); do
  case $((i % 3)) in 0) what=plan ;; 1) what=fit ;; 2) what=report ;; esac
  [ "${killed[$what]}" -lt "$count" ] || continue
  declare -n command=$what
  # The last third of a run writes: half of the moments are there.
  moment=$((RANDOM % (takes[$what] + takes[$what] / 10 + 1)))
  [ $((RANDOM % 2)) -eq 0 ] || moment=$((takes[$what] * 2 / 3 + moment / 2))
  for file in "new.$what"/*; do
    echo "what was there before" >"${file##*/}"
  done
  "${command[@]}" >out 2>err &
  pid=$!
  sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
  kill -KILL "$pid" 2>/dev/null || true
  status=0
  wait "$pid" 2>/dev/null || status=$?
  if [ "$status" -eq 137 ]; then
    killed[$what]=$((killed[$what] + 1))
  elif [ "$moment" -lt "${takes[$what]}" ]; then # the machine had more to do when the whole runs were timed
    takes[$what]=$moment
  fi
  for file in "new.$what"/*; do
    name=${file##*/}
    if cmp -s "$file" "$name"; then
      new=$((new + 1))
    elif [ "$(cat "$name")" = "what was there before" ]; then
      old=$((old + 1))
    else
      fail "case $i: $what, killed after $moment ms: $name is neither old nor new"
    fi
  done
  if [ "$what" = plan ] && [ $((i % 2)) -eq 0 ]; then
    "${command[@]}" >out 2>err || fail "case $i: the search cannot be resumed: $(cat err)"
    cmp -s new.plan/answer answer || fail "case $i: the resumed search answers otherwise"
    rm -f state.json
  fi
done
left=$(find . -maxdepth 1 -name '.forerun-*' | wc -l)
for what in plan fit report; do
  [ "${killed[$what]}" -eq "$count" ] || fail "only ${killed[$what]} of $count calls of $what were killed"
done
echo "$count calls of each of plan, fit and report killed; $old files old, $new new; $left temporary files left by kills"
exit "$failed"
