#!/usr/bin/env bash
# The rows of docs/questions.md against the program: each command is run, and the pieces of its answer in `backticks` must stand
# in what it prints, in that order. A row whose command is not `forerun …` is not run.
# usage: questions.sh FORERUN SOURCE_DIR [JOBS]
set -euo pipefail

[ $# -ge 2 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
program=$(realpath -- "$1")
source=$(realpath -- "$2")
jobs=${3:-$(nproc)}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
mkdir "$work/bin" "$work/here"
ln -s -- "$program" "$work/bin/forerun"
export PATH="$work/bin:$PATH" FORERUN_DATA="$source" FORERUN_PROGRESS=off COLUMNS=200 LC_ALL=C.UTF-8
cd -- "$work/here"

# line, command, and the pieces, one file a row
awk -v out="$work" '
  function field (text) { gsub (/\\\|/, "\001", text); return text }
  {
    n = split (field ($0), cell, "|")
    if (n != 7)
      next
    command = cell[5]
    gsub (/^ *`|` *$/, "", command)
    if (command !~ /^forerun /)
      next
    gsub (/\001/, "|", command)
    answer = cell[6]
    file = sprintf ("%s/row.%05d", out, NR)
    print command > file
    while (match (answer, /`[^`]+`/)) {
      print substr (answer, RSTART + 1, RLENGTH - 2) > file
      answer = substr (answer, RSTART + RLENGTH)
    }
    close (file)
  }' "$source/docs/questions.md"

look () # file of a row
{
  local command line said piece rest
  line=$((10#${1##*.}))
  {
    read -r command
    said=$(timeout 300 bash -c "$command" 2>&1 </dev/null) || true
    rest=$said
    while read -r piece; do
      case $rest in
        *"$piece"*) rest=${rest#*"$piece"} ;;
        *)
          printf 'FAILED: docs/questions.md:%d: "%s" is not in what this prints, or not in that order: %s\n' \
            "$line" "$piece" "$command"
          return 1
          ;;
      esac
    done
  } <"$1"
}
export -f look

rows=("$work"/row.*)
[ -e "${rows[0]}" ] || { echo "FAILED: docs/questions.md has no row with a command"; exit 1; }
printf '%s\0' "${rows[@]}" | xargs -0 -n 1 -P "$jobs" bash -c 'look "$1" || exit 1' _ || exit 1
echo "questions: the answers to ${#rows[@]} commands stand in what they print"
