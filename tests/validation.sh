#!/usr/bin/env bash
# The tables of docs/validation.md and docs/validation_collectives.md are what plots/validation.sh and `forerun validate` give;
# tests/accuracy/collectives.txt is what `forerun validate --wide` prints. No row is worse than its margin.
# usage: validation.sh [--update] FORERUN SOURCE_DIR     (--update renews all of them; the margins are still judged)
set -euo pipefail

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
[ $# -eq 2 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
forerun=$(realpath -- "$1")
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT

status=0
renew () # document, first line, last line, file with what belongs between them
{
  grep -qxF -- "$2" "$1" || { echo "$1: no line '$2'"; exit 1; }
  awk -v first="$2" -v last="$3" -v file="$4" '
    $0 == last { inside = 0 }
    !inside { print }
    $0 == first { inside = 1; while ((getline line <file) > 0) print line }' "$1" >"$tmp/new"
  diff -u -- "$1" "$tmp/new" || status=1
  [ -z "$update" ] || cp -- "$tmp/new" "$1"
}

# A row for each value of the column "$1" (a heading and a field of --points): in each size band the number of measurements, the
# median error and the worst, in per cent.
summary () # heading, field
{
  echo "| $1 | below 64 KiB: points, median, worst | 64 KiB to 16 MiB | 16 MiB and more |"
  echo "|---|---|---|---|"
  awk -F '\t' -v OFS='\t' -v field="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      name = $at[field]
      if (!(name in order)) order[name] = ++n
      e = $at["predicted_s"] / $at["measured_s"] - 1
      print order[name], name, $at["bytes"] < 65536 ? 1 : $at["bytes"] < 16777216 ? 2 : 3, e < 0 ? -e : e
    }' "$tmp/points" | LC_ALL=C sort -t "$(printf '\t')" -k1,1n -k3,3n -k4,4g | awk -F '\t' '
    function close_cell(    m) {
      if (n > 0) {
        m = n % 2 ? e[(n + 1) / 2] : (e[n / 2] + e[n / 2 + 1]) / 2
        cell[band] = sprintf("%d, %.1f %%, %.1f %%", n, 100 * m, 100 * e[n])
      }
      n = 0
    }
    function close_row() {
      close_cell()
      if (name != "") printf "| %s | %s | %s | %s |\n", name, cell[1], cell[2], cell[3]
      split("", cell)
    }
    $2 != name { close_row(); name = $2; band = 0 }
    $3 != band { close_cell(); band = $3 }
    { e[++n] = $4 }
    END { close_row() }'
}

# A row for each network and role.
networks ()
{
  echo "| network | role | clusters | nodes | points | median | 90th percentile | worst | bias | in band |"
  echo "|---|---|---|---|---|---|---|---|---|---|"
  awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      lo = $at["min_nodes"]
      hi = $at["max_nodes"]
      printf "| %s | %s | %d | %s | %d | %.1f %% | %.1f %% | %.1f %% | %+.1f %% | %.0f %% |\n", $at["fabric"], $at["role"],
        $at["systems"], lo == hi ? lo : lo " to " hi, $at["points"], 100 * $at["median"], 100 * $at["p90"], 100 * $at["worst"],
        100 * $at["bias"], 100 * $at["within"]
    }' "$tmp/fabrics"
}

worse=0
"$2/plots/validation.sh" --tables "$forerun" >"$tmp/ring"
FORERUN_DATA=$2 "$forerun" validate --quiet --wide >"$tmp/scores" || worse=$?
FORERUN_DATA=$2 "$forerun" validate --quiet --points >"$tmp/points" || true # the verdict is that of the other call
FORERUN_DATA=$2 "$forerun" validate --quiet --fabrics --format tsv >"$tmp/fabrics" || true
networks >"$tmp/networks"
{ summary system system; echo; summary operation op; echo; summary nodes nodes; } >"$tmp/block"

renew "$2/docs/validation.md" '<!-- plots/validation.sh --tables -->' '<!-- end -->' "$tmp/ring"
renew "$2/docs/validation.md" '<!-- tests/validation.sh -->' '<!-- end of tests/validation.sh -->' "$tmp/networks"
renew "$2/docs/validation_collectives.md" '<!-- tests/validation.sh -->' '<!-- end of tests/validation.sh -->' "$tmp/block"
diff -u -- "$2/tests/accuracy/collectives.txt" "$tmp/scores" || status=1
[ -z "$update" ] || cp -- "$tmp/scores" "$2/tests/accuracy/collectives.txt"
if [ -n "$update" ]; then
  status=0
elif [ "$status" -ne 0 ]; then
  echo "If the change is meant: tests/validation.sh --update FORERUN SOURCE_DIR"
fi
if [ "$worse" -ne 0 ]; then
  grep -E ' worse$' "$tmp/scores" || true
  status=1
fi
exit "$status"
