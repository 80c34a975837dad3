#!/usr/bin/env bash
# A million requests on 1,000 replicas, as shared: threads of one process, parts of a job array and their merge, processes of MPI.
# The least of so many runs each: elapsed and processor seconds (user and system, of all processes), the most memory of a process.
# All must answer alike. usage: service.sh FORERUN [MPIRUN [RUNS]]      elapsed times need a machine that has nothing else to do
set -euo pipefail

[ $# -ge 1 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
mpirun=${2:-}
runs=${3:-1}
cores=$(nproc)
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
cd -- "$tmp"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

cat >million.yaml <<'END'
scenario: million
cluster: {topology: hgx_h100, nodes: 125}
workload:
  kind: serving
  model: llama31_8b
  engine: {name: vllm}
  replicas: 1000
  load: {rate: 5000, requests: 1000000, warm_up: 1000, input: 512, output: 64}
END
fleet=(run million.yaml --quiet)

measure () # name workers command…: the least elapsed time's row
{
  local name=$1 workers=$2 run
  shift 2
  : >cost
  for ((run = 0; run < runs; run++)); do
    /usr/bin/time -a -o cost -f '%e %U %S %M' "$@" >out 2>err || { cat err >&2; exit 1; }
    [ ! -f reference ] || [ ! -s out ] || cmp -s reference out || { echo "service.sh: $name: another answer" >&2; exit 1; }
  done
  sort -n cost | head -n 1 | awk -v name="$name" -v workers="$workers" '
    { printf "%s\t%d\t%.2f\t%.2f\t%.0f\n", name, workers, $1, $2 + $3, $4 / 1024 }'
}

printf 'what\tworkers\telapsed_s\tprocessor_s\tmemory_MiB\n'
measure threads 1 "$forerun" "${fleet[@]}" --threads 1
cp out reference
for ((n = 2; n <= cores; n *= 2)); do
  measure threads $n "$forerun" "${fleet[@]}" --threads $n
done
for of in 2 4; do
  for ((i = 1; i <= of; i++)); do
    measure "part $i of $of" 1 "$forerun" "${fleet[@]}" --threads 1 --shard $i/$of -o part$i-$of.json
  done
  measure "merge of $of" 1 "$forerun" merge part?-$of.json --quiet
done
if [ -n "$mpirun" ]; then
  for ((n = 1; n <= cores; n *= 2)); do
    measure processes $n "$mpirun" -n $n "$forerun" "${fleet[@]}"
  done
fi
