#!/usr/bin/env bash
# Which measured rows may be fitted, and which only score. Prints split.tsv from serving.csv; --check compares it with the file.
#
# A group is a GPU, a framework with its version, and a model: its rows are never divided. Rows from the collection of 2026-03-25
# score only. Of the others the groups of each GPU and kind of model (dense, moe) stand in the order of the SHA-256 of
# "gpu|framework|model"; the first fits, the second scores, the third fits, and so on. Nothing of a measured time enters.
# usage: split.sh [--check]
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

split ()
{
  awk -F, 'NR > 1 { print $1 "|" $2 "|" $3 "\t" $4 "\t" $15 }' "$here/serving.csv" |
    LC_ALL=C sort | uniq -c | sed -E 's/^ *([0-9]+) /\1\t/' |
    while IFS=$'\t' read -r runs group kind origin; do
      hash=$(printf %s "$group" | sha256sum | cut -c1-16)
      printf '%s\t%s\t%s\t%s\t%s\n' "$origin" "${group%%|*}" "$kind" "$hash" "$group|$runs"
    done | LC_ALL=C sort -t $'\t' -k1,1 -k2,2 -k3,3 -k4,4 |
    awk -F '\t' '
      BEGIN { OFS = "\t"; print "use", "gpu", "framework", "model", "kind", "origin", "runs", "sha256" }
      {
        split($5, part, "|")
        stratum = $1 "\t" $2 "\t" $3
        n[stratum]++
        use = $1 != "per_model" ? "score" : n[stratum] % 2 ? "fit" : "score"
        print use, part[1], part[2], part[3], $3, $1, part[4], $4
      }'
}

case "${1:-}" in
  '') split ;;
  --check) diff -u "$here/split.tsv" <(split) || { echo "split.tsv is not what the rule gives for serving.csv" >&2; exit 1; } ;;
  *) sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
