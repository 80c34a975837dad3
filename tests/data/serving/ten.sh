#!/usr/bin/env bash
# Which ten runs of a group a user would have fitted, and which of that group then score. Prints ten.tsv from serving.csv; --check
# compares it and the second draw with the files. --draw 2 prints ten2.tsv.
#
# Groups of the origin `per_model` with 20 runs or more, of models that forerun has. Within a group the runs stand in the order of
# the SHA-256 of their settings and line (columns 1 to 14 of serving.csv); the first ten fit, the others score. Of the second draw
# the ten next ones fit, where a group has 40 runs or more, and all others score: ten other runs show what a fit owes to chance. No
# measured time enters. A test makes these fits and throws them away: no constant that is shipped comes from them.
# usage: ten.sh [--draw 2 | --check]
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

# DRAW
ten ()
{
  echo $'use\tgpu\tframework\tmodel\tline\tsha256'
  awk -F, '
    NR > 1 && $15 == "per_model" {
      settings = $1
      for (i = 2; i <= 14; i++)
        settings = settings "," $i
      print $1 "|" $2 "|" $3 "\t" NR "\t" settings
    }' "$here/serving.csv" |
    while IFS=$'\t' read -r group line settings; do
      printf '%s\t%s\t%s\n' "$group" "$(printf '%s,%s' "$settings" "$line" | sha256sum | cut -c1-16)" "$line"
    done | LC_ALL=C sort -t $'\t' -k1,1 -k2,2 |
    awk -F '\t' -v draw="$1" '
      BEGIN { OFS = "\t" }
      { rows[$1]++; text[$1, rows[$1]] = $3 OFS $2; if (rows[$1] == 1) order[++groups] = $1 }
      END {
        for (g = 1; g <= groups; g++) {
          if (rows[order[g]] < 20 * draw)
            continue
          split(order[g], part, "|")
          for (i = 1; i <= rows[order[g]]; i++)
            print int((i - 1) / 10) + 1 == draw ? "fit" : "score", part[1], part[2], part[3], text[order[g], i]
        }
      }'
}

case "${1:-}" in
  '') ten 1 ;;
  --draw) ten "${2:?}" ;;
  --check)
    for draw in 1 2; do
      file=ten$([ "$draw" = 1 ] || echo "$draw").tsv
      diff -u "$here/$file" <(ten "$draw") || { echo "$file is not what the rule gives for serving.csv" >&2; exit 1; }
    done
    ;;
  *) sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
