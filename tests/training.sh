#!/usr/bin/env bash
# Errors of published and measured training steps, simulated. docs/validation.md has the summary and the ratios of pairs,
# tests/accuracy/training.txt the rows by source, GPU and format and the runs with large errors. No row may be worse than
# tests/data/training/limits.txt allows.
# usage: training.sh [--update|--limits|--fit|--points FILE|--only REGEX] FORERUN SOURCE_DIR
#   --update   renews docs/validation.md and training.txt (limits are still judged)
#   --limits   prints limits.txt anew: 1.3 times what is reached
#   --fit      prints the efficiencies that calibrate/defaults/frameworks.yaml should have, from the rows marked `fitted`
#   --points   writes name, use, kind, source, GPUs, measured and predicted seconds, for plots/training.gp
#   --only     runs the rows whose name fits, and prints predicted and measured
set -euo pipefail

usage ()
{
  sed -n '5,10s/^# //p' "$0" >&2
  exit 2
}
what=compare argument=
case ${1:-} in
  --update | --limits | --fit) what=${1#--}; shift ;;
  --points | --only) what=${1#--}; argument=${2:-}; [ -n "$argument" ] || usage; shift 2 ;;
esac
[ $# -eq 2 ] || usage
source=$(realpath -- "$2")
runs=("$source"/tests/data/training/{published,mlperf_5,other_frameworks,h200x4}.csv)
tools=$source/tests/accuracy
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
# a copy: a program that is linked anew meanwhile loses rows
cp -- "$1" "$tmp/forerun"
FORERUN=$tmp/forerun
FORERUN_DATA=$source
export FORERUN FORERUN_DATA

# One scenario: `name <tab> seconds <tab> least <tab> most` on stdout.
simulate () # folder, "file <tab> sets", further sets…
{
  local folder=$1 file sets one args=() list=()
  IFS=$'\t' read -r file sets <<<"$2"
  shift 2
  IFS='|' read -ra list <<<"$sets"
  for one in "${list[@]}" "$@"; do args+=(--set "$one"); done
  if ! "$FORERUN" run "$folder/$file.yaml" "${args[@]}" --format json --quiet >"$folder/$file.json" 2>"$folder/$file.err"; then
    cat -- "$folder/$file.err" >&2
    return 0
  fi
  local times
  mapfile -t times < <(sed -n 's/^ *"step_time\(_lo\|_hi\|\)_s" : \([0-9.e+-]*\),$/\2/p' "$folder/$file.json")
  # memory of the fullest rank: B that it needs and has, and whether that fits
  local memory
  mapfile -t memory < <(sed -n '/"memory_B" : {/,/"largest"/s/^ *"\(total\|capacity\|fits\)" : \([^,]*\),$/\2/p' \
    "$folder/$file.json")
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$file" "${times[0]-}" "${times[1]-}" "${times[2]-}" "${memory[@]:0:3}"
}
export -f simulate

# All of them, as many at once as there are processors.
predict () # out, further sets…
{
  local out=$1
  shift
  tr '\n' '\0' <"$tmp/list" | xargs -0 -P "$(nproc)" -I{} bash -c 'simulate "$@"' _ "$tmp" {} "$@" >"$tmp/unsorted"
  # files have a _ for the / of a name
  awk -F '\t' -v OFS='\t' 'NR == FNR { file = $1; gsub("/", "_", file); name[file] = $1; next } { $1 = name[$1]; print }' \
    "$tmp/names" "$tmp/unsorted" | LC_ALL=C sort >"$out"
}

score () # mode, variables…
{
  local mode=$1
  shift
  awk -v mode="$mode" "$@" -f "$tools/csv.awk" -f "$tools/training_score.awk" "$tmp/predicted" "${runs[@]}"
}

awk -f "$tools/csv.awk" -f "$tools/training_split.awk" "${runs[@]}" >&2
awk -f "$tools/csv.awk" -f <(echo 'FNR == 1 { head($0); next } { row($0); print at("name") }') "${runs[@]}" >"$tmp/names"
awk -v folder="$tmp" -v models="$source/tests/data/training" -v only="$([ "$what" != only ] || echo "$argument")" \
  -v use="$([ "$what" != fit ] || echo fitted)" -f "$tools/csv.awk" -f "$tools/training.awk" "${runs[@]}" >"$tmp/list"

case $what in
  fit)
    predict "$tmp/whole" workload.software.efficiency=1 workload.software.attention=1
    predict "$tmp/slow" workload.software.efficiency=0.8 workload.software.attention=1
    predict "$tmp/attention" workload.software.efficiency=1 workload.software.attention=0.8
    exec awk -f "$tools/csv.awk" -f "$tools/training_fit.awk" "$tmp/whole" "$tmp/slow" "$tmp/attention" "${runs[@]}"
    ;;
  only)
    predict "$tmp/predicted"
    awk -f "$tools/csv.awk" -f <(echo 'FILENAME == ARGV[1] { split($0, f, "\t"); p[f[1]] = f[2]; next } FNR == 1 { head($0); next }
      { row($0) }
      at("name") in p { printf "%-52s measured %10.4g s  predicted %10.4g s  %+6.1f %%\n", at("name"), at("step_time_s"),
        p[at("name")], 100 * (p[at("name")] / at("step_time_s") - 1) }') "$tmp/predicted" "${runs[@]}"
    exit
    ;;
esac

predict "$tmp/predicted"
# before anything is written: a document must not lose rows
missing=$(awk -F '\t' '$2 + 0 > 0 { gsub("/", "_", $1); print $1 }' "$tmp/predicted" | LC_ALL=C sort |
  comm -13 - <(cut -f1 "$tmp/list" | LC_ALL=C sort))
if [ -n "$missing" ]; then
  sed 's/$/: not predicted/' <<<"$missing" >&2
  exit 1
fi
case $what in
  limits)
    sed -n '/^#/p' "$source/tests/data/training/limits.txt"
    score limits
    exit
    ;;
  points)
    { printf 'name\tuse\tkind\tsource\tgpus\tmeasured\tpredicted\n'; score points -v OFS='\t'; } >"$argument"
    exit
    ;;
esac

document=$source/docs/validation.md
worse=0
score table -v limits="$source/tests/data/training/limits.txt" >"$tmp/table" || worse=1
{
  sed '/^| use |/,$d' "$tmp/table"
  awk -v bands="$source/calibrate/defaults/comparisons/steps.yaml" -f "$tools/csv.awk" -f "$tools/training_ratios.awk" \
    "$tmp/predicted" "${runs[@]}" || echo worse >"$tmp/ratios"
} >"$tmp/block"
{
  sed -n '/^| use |/,$p' "$tmp/table"
  echo
  echo '| run with an error above 15 % | use | measured (s) | predicted (s) | error |'
  echo '|---|---|---|---|---|'
  score misses || true # reported above
  echo
  echo '| run that is said not to fit | inputs | needs (GiB) | has (GiB) |'
  echo '|---|---|---|---|'
  awk -v predicted="$tmp/predicted" -f "$tools/csv.awk" -f "$tools/training_fits.awk" "${runs[@]}"
} >"$tmp/rows"
grep -qxF -- '<!-- tests/training.sh -->' "$document" || { echo "$document: no line '<!-- tests/training.sh -->'"; exit 1; }
awk -v file="$tmp/block" '
  $0 == "<!-- end of tests/training.sh -->" { inside = 0 }
  !inside { print }
  $0 == "<!-- tests/training.sh -->" { inside = 1; while ((getline line <file) > 0) print line }' "$document" >"$tmp/new"
[ ! -e "$tmp/ratios" ] || worse=1
status=0
diff -u -- "$document" "$tmp/new" || status=1
diff -u -- "$tools/training.txt" "$tmp/rows" || status=1
if [ "$what" = update ]; then
  cp -- "$tmp/new" "$document"
  cp -- "$tmp/rows" "$tools/training.txt"
  status=0
elif [ "$status" -ne 0 ]; then
  echo "If the change is meant: tests/training.sh --update FORERUN SOURCE_DIR"
fi
[ "$worse" -eq 0 ] || { grep 'worse' "$tmp/table" || true; status=1; }
exit "$status"
