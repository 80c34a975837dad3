#!/usr/bin/env bash
# One plan, or one service, by many processes of MPI: the bytes of one process, its errors and statuses once, and what happens where
# a process is lost or the run is interrupted. usage: mpi.sh FORERUN SOURCE_DIR MPIRUN|none
set -euo pipefail
export FORERUN_PROGRESS=off

forerun=$(realpath -- "$1")
export FORERUN_DATA
FORERUN_DATA=$(realpath -- "$2")
mpirun=$3

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"

# Open MPI wants to be asked before it runs for root, and more processes than there are processors; the look for leaks would find
# its own.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

fail ()
{
  echo "mpi.sh: $*" >&2
  exit 1
}

# Runs a command; its status is in $status, what it says in out.txt and err.txt.
status=
try ()
{
  status=0
  "$@" >out.txt 2>err.txt </dev/null || status=$?
}

says () # text
{
  grep -qF -- "$1" err.txt || fail "no '$1' in: $(cat err.txt)"
}

if [ "$mpirun" = none ]; then
  OMPI_COMM_WORLD_SIZE=2 try "$forerun" plan nic_4x400_or_8x400
  [ "$status" -eq 2 ] || fail "status $status without MPI"
  says "built without MPI"
  [ ! -s out.txt ] || fail "an answer of one of two processes"
  try "$forerun" plan nic_4x400_or_8x400 --mpi on
  [ "$status" -eq 2 ] || fail "status $status of --mpi on without MPI"
  OMPI_COMM_WORLD_SIZE=2 try "$forerun" plan nic_4x400_or_8x400 --mpi off --rows 1
  [ "$status" -eq 0 ] || fail "status $status of --mpi off"
  OMPI_COMM_WORLD_SIZE=2 try "$forerun" run serve_llama70b_tp8
  [ "$status" -eq 2 ] || fail "status $status of a service without MPI"
  OMPI_COMM_WORLD_SIZE=2 try "$forerun" run quickstart
  [ "$status" -eq 0 ] || fail "status $status of a scenario that is not shared"
  echo "skipped: this forerun was built without MPI (packages libopenmpi-dev, openmpi-bin)"
  exit 77
fi

declare -A many=([text]="1 2" [tsv]=3 [json]=5)
# The same bytes on stdout and nothing else on stderr, in each format, with as many processes as come.
# shellcheck disable=SC2086 # flags are words
for flags in "rent_or_buy_70b --rows 30 --best 5" \
  "buy_256_gpus --set choices.topology=[hgx_h100] --set objective=pareto --set free.tp=[4,8] --set free.pp=[1,2] --rows 9"; do
  for format in text tsv json; do
    "$forerun" plan $flags --quiet --format $format >one
    for n in ${many[$format]}; do
      try "$mpirun" -n $n "$forerun" plan $flags --quiet --format $format
      [ "$status" -eq 0 ] || fail "status $status of $n processes: $(cat err.txt)"
      cmp one out.txt || fail "$n processes answer differently ($flags, $format)"
      [ ! -s err.txt ] || fail "$n processes say: $(cat err.txt)"
    done
  done
done

# Written once, by process 0; a part is shared too.
"$forerun" plan rent_or_buy_70b --quiet --rows 5 >one
for i in 1 2; do
  "$mpirun" -n 3 "$forerun" plan rent_or_buy_70b --quiet --shard $i/2 -o part$i.json
done
"$forerun" merge part1.json part2.json --quiet --rows 5 -o merged
cmp one merged || fail "parts by MPI answer differently"

# Errors are reported once, with their status.
try "$mpirun" -n 3 "$forerun" plan nowhere
[ "$status" -eq 2 ] || fail "status $status of a plan that is none"
[ "$(grep -c "no 'nowhere.yaml'" err.txt)" -eq 1 ] || fail "not said once: $(cat err.txt)"
try "$mpirun" -n 2 "$forerun" plan rent_or_buy_70b --set 'goal.deadline=1 s'
[ "$status" -eq 3 ] || fail "status $status where nothing meets the constraints"
[ "$(grep -c "no configuration meets" err.txt)" -eq 1 ] || fail "not said once: $(cat err.txt)"
try "$mpirun" -n 1 "$forerun" plan rent_or_buy_70b : -n 1 "$forerun" plan nic_4x400_or_8x400
[ "$status" -eq 2 ] || fail "status $status of two plans"
says "process 1 of 2"
says "another input"
try "$mpirun" -n 1 "$forerun" plan rent_or_buy_70b : -n 1 "$forerun" plan nowhere
[ "$status" -eq 2 ] || fail "status $status where one process has no plan"
says "no 'nowhere.yaml'"
[ ! -s out.txt ] || fail "an answer beside an error"
try "$mpirun" -n 2 "$forerun" plan rent_or_buy_70b --mpi maybe
[ "$status" -eq 2 ] || fail "status $status of --mpi maybe"
try "$mpirun" -n 2 "$forerun" plan nic_4x400_or_8x400 --mpi off --rows 1 --format tsv
[ "$(grep -c ^1 out.txt)" -eq 2 ] || fail "--mpi off: each process answers"

# A service's replicas are shared, with the same bytes; what joins replicas is named once; other scenarios are run by each process.
service=(run serve_llama70b_tp8 --quiet --set cluster.nodes=3 --set workload.replicas=3 --set workload.load.requests=300)
for format in text tsv json; do
  "$forerun" "${service[@]}" --threads 1 --format $format >one
  for n in 1 2 5; do
    try "$mpirun" -n $n "$forerun" "${service[@]}" --threads 1 --format $format
    [ "$status" -eq 0 ] || fail "status $status of $n processes: $(cat err.txt)"
    cmp one out.txt || fail "$n processes answer differently (service, $format)"
    [ ! -s err.txt ] || fail "$n processes say: $(cat err.txt)"
  done
done
try "$mpirun" -n 3 "$forerun" "${service[@]}" --set workload.router=least_loaded
[ "$status" -eq 2 ] || fail "status $status of a router that looks at replicas"
[ "$(grep -c "this router looks at the state of all replicas" err.txt)" -eq 1 ] || fail "not said once: $(cat err.txt)"
try "$mpirun" -n 2 "$forerun" "${service[@]}" --set workload.load.input=200000
[ "$status" -eq 2 ] || fail "status $status of a request that is too long"
[ "$(grep -c "request 0 has 200000 tokens" err.txt)" -eq 1 ] || fail "not said once: $(cat err.txt)"
[ ! -s out.txt ] || fail "an answer beside an error"
try "$mpirun" -n 2 "$forerun" "${service[@]}" --trace trace.json
[ "$status" -eq 2 ] || fail "status $status of --trace by two processes"
says "--mpi off"
try "$mpirun" -n 2 "$forerun" "${service[@]}" --shard 1/2
[ "$status" -eq 2 ] || fail "status $status of --shard beside MPI"
try "$mpirun" -n 2 "$forerun" "${service[@]}" --mpi off --format tsv
[ "$(grep -c ^300 out.txt)" -eq 2 ] || fail "--mpi off: each process answers"
try "$mpirun" -n 2 "$forerun" run quickstart --quiet --format tsv
[ "$(grep -c nvls_tree out.txt)" -eq 2 ] || fail "a scenario that is not shared: each process answers"
try "$mpirun" -n 2 "$forerun" run quickstart --mpi on
[ "$status" -eq 2 ] || fail "status $status of --mpi on of what is not shared"

# Starts a long search of 3 processes and waits until it is under way; their pids are in $rank_0 and $others, mpirun's in $all.
search=(plan buy_256_gpus --quiet --rows 3 --set choices.topology=[hgx_h100])
long=("${search[@]}" --resume state.json -o answer.txt)
start ()
{
  local child
  "$mpirun" -n 3 "$forerun" "${long[@]}" >out.txt 2>err.txt </dev/null &
  all=$!
  rank_0=
  others=()
  until [ -s state.json ]; do
    kill -0 $all 2>/dev/null || fail "ended before it began: $(cat err.txt)"
    sleep 0.02
  done
  sleep 0.1
  # shellcheck disable=SC2013 # pids between blanks
  for child in $(cat /proc/$all/task/*/children); do
    if tr '\0' '\n' <"/proc/$child/environ" | grep -x OMPI_COMM_WORLD_RANK=0 >/dev/null; then
      rank_0=$child
    else
      others+=("$child")
    fi
  done
}

if [ -r /proc/self/task/$$/children ] && "$mpirun" --version 2>/dev/null | grep "Open MPI" >/dev/null; then
  "$forerun" "${search[@]}" >whole.txt

  # A process that dies: the run fails whole, and nothing is half written.
  start
  kill -KILL "${others[0]}"
  status=0
  wait $all || status=$?
  [ "$status" -ne 0 ] || fail "a process was killed, and the status is 0"
  [ ! -e answer.txt ] || fail "an answer of a run that failed"
  says "signal 9"
  [ -z "$(find . -name 'answer*' -o -name 'state.json?*' -o -name '.state*')" ] || fail "left behind: $(ls -A)"

  # What was kept goes on, with another number of processes.
  "$mpirun" -n 2 "$forerun" "${long[@]}"
  cmp whole.txt answer.txt || fail "after a process was lost the answer differs"

  # A signal to process 0, as mpirun passes it on.
  rm -f state.json answer.txt
  start
  kill -TERM "$rank_0"
  status=0
  wait $all || status=$?
  [ "$status" -eq 143 ] || fail "interrupted, and the status is $status"
  [ ! -e answer.txt ] || fail "an answer of a run that was interrupted"
  says "interrupted; state.json has"
  "$forerun" "${long[@]}"
  cmp whole.txt answer.txt || fail "after an interrupt the answer differs"
fi
echo "passed"
