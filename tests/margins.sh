#!/usr/bin/env bash
# Prints tests/data/margins.yaml anew: 1.3 times the worst of what each system and operation reaches in a size band, a median of
# 3 % and a 95th percentile of 6 % at least. Limits are renewed when a model became better, never because it became worse.
# usage: margins.sh FORERUN SOURCE_DIR >margins.yaml
set -euo pipefail

[ $# -eq 2 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
cat <<'HEAD'
# How far off `forerun validate` may be before it fails: 1.3 times what was reached, at least 3 % (median) and 6 % (95th
# percentile), by system, operation and size band, printed by tests/margins.sh. The first limit that fits a row counts. The goal
# is a median of 5 % and a 95th percentile of 15 %.
margins: shipped
small_max: 64 KiB
middle_max: 16 MiB
limits:
HEAD
FORERUN_DATA=$2 "$1" validate --quiet --format tsv 2>/dev/null | awk -F '\t' '
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  $at["system"] == "all" { next }
  {
    key = $at["system"] " " $at["op"]
    if (!(key in seen)) { seen[key] = 1; order[++n] = key }
    band = key " " $at["band"]
    has[band] = 1
    if ($at["median"] > median[band]) median[band] = $at["median"]
    if ($at["p95"] > p95[band]) p95[band] = $at["p95"]
  }
  function limit (reached, least) {
    reached = 1.3 * 100 * reached < least ? least : 1.3 * 100 * reached
    return reached == int (reached) ? reached : int (reached) + 1
  }
  END {
    split("small middle large", bands, " ")
    for (k = 1; k <= n; k++)
      for (b = 1; b <= 3; b++) {
        band = order[k] " " bands[b]
        split(order[k], part, " ")
        if (band in has)
          printf "  - {systems: [%s], op: %s, band: %s, median: %d %%, p95: %d %%}\n", part[1], part[2], bands[b],
            limit(median[band], 3), limit(p95[band], 6)
      }
  }'
