#!/usr/bin/env bash
# How a plan's search scales: threads of one process, processes of MPI, parts of a job array. The least of so many runs each,
# elapsed and processor seconds (user and system, of all processes), beside the speed-up over one thread.
# usage: plan.sh FORERUN [MPIRUN [RUNS]]      on a machine that has nothing else to do: elapsed times
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
mpirun=${2:-}
runs=${3:-5}
cores=$(nproc)
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
cd -- "$tmp"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# 36 machines, no runs of the engine.
large=(plan buy_256_gpus --quiet --set 'choices.nodes=[16, 32, 64]' --set 'constraints={power: 4 MW}')
first=("${large[@]}" --rows 1 --best 0)

measure () # name workers command…: the least elapsed time's row
{
  local name=$1 workers=$2 run TIMEFORMAT='%3R %3U %3S'
  shift 2
  : >cost
  for ((run = 0; run < runs; run++)); do
    { time "$@" >out 2>err; } 2>>cost || { cat err >&2; exit 1; }
    [ ! -f reference ] || cmp -s reference out || { echo "plan.sh: $name: another answer" >&2; exit 1; }
  done
  sort -n cost | head -n 1 | awk -v name="$name" -v workers="$workers" -v one="${one:-0}" '
    { printf "%s\t%d\t%.2f\t%.2f\t%.2f\n", name, workers, $1, $2 + $3, (one > 0 ? one / $1 : 1) }'
}

one_of () # row: its elapsed seconds
{
  cut -f 3 <<<"$1"
}

printf 'what\tworkers\telapsed_s\tprocessor_s\tspeed_up\n'
"$forerun" "${first[@]}" >reference
row=$(measure threads 1 "$forerun" "${first[@]}" --threads 1)
one=$(one_of "$row")
echo "$row"
for ((n = 2; n <= cores; n *= 2)); do
  measure threads $n "$forerun" "${first[@]}" --threads $n
done
if [ -n "$mpirun" ]; then
  for ((n = 1; n <= cores; n *= 2)); do
    measure processes $n "$mpirun" -n $n "$forerun" "${first[@]}"
  done
fi
rm reference
measure 'a part of 8' 1 "$forerun" "${large[@]}" --threads 1 --shard 1/8
for i in 1 2 3 4 5 6 7 8; do
  "$forerun" "${large[@]}" --threads 1 --shard $i/8 -o part$i.json
done
measure 'merge of 8 parts' 1 "$forerun" merge part?.json --quiet --rows 1 --best 0 --threads 1

# Sixteen of the engine's runs, of a search whose first stage is known.
"$forerun" plan buy_256_gpus --quiet --best 0 --resume known.json >out
engine () # threads
{
  cp known.json again.json
  "$forerun" plan buy_256_gpus --quiet --rows 1 --best 16 --threads "$1" --resume again.json
}
one=
engine 1 >reference
row=$(measure 'engine, threads' 1 engine 1)
one=$(one_of "$row")
echo "$row"
for ((n = 2; n <= cores; n *= 2)); do
  measure 'engine, threads' $n engine $n
done
