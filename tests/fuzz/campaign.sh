#!/usr/bin/env bash
# Changed files and command lines in parts of 500 files, each with a seed of its own, one process at a time and at the lowest
# priority. What is done is kept in FOLDER/parts: a call that was stopped continues there. The last line sums up.
# usage: campaign.sh FORERUN MUTATE SOURCE_DIR FOLDER FILES LINES SEED
set -euo pipefail

[ $# -eq 7 ] || { sed -n 4p "${BASH_SOURCE[0]}" >&2; exit 2; }
forerun=$(realpath -- "$1")
mutate=$(realpath -- "$2")
source=$(realpath -- "$3")
files=$5 lines=$6 seed=$7
for number in "$files" "$lines" "$seed"; do
  case $number in '' | *[!0-9]*) sed -n 4p "${BASH_SOURCE[0]}" >&2; exit 2 ;; esac
done
mkdir -p -- "$4"
cd -- "$4"
touch -- parts failed
# Small files that are written and removed without end: in memory, where there is such a folder.
if [ -z "${TMPDIR:-}" ] && [ -d /dev/shm ] && [ -w /dev/shm ]; then
  export TMPDIR=/dev/shm
fi
part=500
n_parts=$(((files + part - 1) / part))
for ((i = 0; i < n_parts; i++)); do
  now=$((files - i * part < part ? files - i * part : part))
  # The command lines are spread over the parts.
  key="$((seed + i)) $now $((lines * (i + 1) / n_parts - lines * i / n_parts))"
  if grep -q -x -F -- "$key" <(cut -d : -f 1 parts); then
    continue
  fi
  read -r -a arguments <<<"$key"
  status=0
  nice -n 19 "$mutate" "$forerun" "$source" "${arguments[@]:1}" "${arguments[0]}" >out 2>&1 || status=$?
  [ "$status" -le 1 ] || { cat out; exit "$status"; } # stopped, or out of order: this part is not done
  grep '^FAILED' out | sed "s/^/seed ${arguments[0]}: /" >>failed || true
  printf '%s: %s\n' "$key" "$(tail -n 1 out)" >>parts
done
awk '{ files += $2; lines += $3 } END { printf "%d files and %d command lines in %d parts; ", files, lines, NR }' parts
wc -l <failed | awk '{ print $1 " broke a promise" }'
[ ! -s failed ] || { cat failed; exit 1; }
