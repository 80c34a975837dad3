#!/usr/bin/env bash
# usage: fit_planted.sh FORERUN SOURCE [TOPOLOGY...]
# Changes one constant of the network after another, lets forerun make rows over two nodes with it, fits these over the
# calibration without the change, and compares: each constant is found within 3 %, or said to be undetermined or one of several.
# No other constant may claim another value. The constants are those that the fit itself names, so a new one is tested, too.
set -euo pipefail
forerun=$1 source=$2
shift 2
[ $# -gt 0 ] || set -- hgx_h100
export FORERUN_DATA=$source FORERUN_PROGRESS=off
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

rows () # CALIBRATION: operations by each algorithm and protocol that runs, as CSV
{
  echo op,nodes,gpus,algo,proto,bytes,time_us
  while read -r op algo proto; do
    flags=()
    [ "$algo" = auto ] || flags=(--algo "$algo" --proto "$proto")
    "$forerun" coll "$op" --topology "$topology" -n 2 --calibration "$1" "${flags[@]}" -b 1K -e 4G -f 8 --mode model \
      --format tsv --quiet 2>refused |
      awk -F'\t' -v OFS=, -v op="$op" -v algo="$algo" -v proto="$proto" \
        'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
         {printf "%s,%d,%d,%s,%s,%s,%.4f\n", op, $at["nodes"], $at["ranks"] / $at["nodes"], algo, proto, $at["bytes"],
                 $at["time_s"] * 1e6}' || true
  done <<'R'
all_reduce ring ll
all_reduce ring ll128
all_reduce ring simple
all_reduce tree ll
all_reduce tree ll128
all_reduce tree simple
all_reduce nvls_tree simple
all_gather auto auto
alltoall auto auto
sendrecv auto auto
R
}

fit () # CSV: the constants, as TSV
{
  "$forerun" fit "$1" --topology "$topology" --over "$over" --hold-out none --format tsv --quiet 2>/dev/null || true
}

calibration () # CONSTANT VALUE: over the default
{
  python3 - "$over" "$1" "$2" <<'P'
import sys
over, path, value = sys.argv[1:]
keys = path.split('.')
if keys[0] != 'links':
    keys = ['library'] + keys
print('calibration: truth\nover: %s\nsource: measured' % over)
for depth, key in enumerate(keys):
    print('  ' * depth + key + ':' + (' ' + value if depth == len(keys) - 1 else ''))
P
}

bad=0
for topology; do
  over=$("$forerun" coll all_reduce --topology "$topology" -n 2 -b 1K -e 1K --format json --quiet |
    python3 -c 'import json,sys; print(json.load(sys.stdin)["result"].get("calibration", ""))' 2>/dev/null || true)
  over=${over:-h100_sxm}
  rows "$over" >default.csv
  fit default.csv >default.tsv
  # name, value in SI, unit
  awk -F'\t' 'NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next} $at["points"] > 0 {
    unit = $at["before"] ~ "/s$" ? "B/s" : $at["before"] ~ "s$" ? "s" : ""
    print $at["constant"], $at["before_SI"], unit}' default.tsv >constants
  echo "$topology: $(wc -l <constants) constants, $(($(wc -l <default.csv) - 1)) rows"
  while read -r constant value unit; do
    for factor in 0.77 1.3; do
      planted=$(awk -v v="$value" -v f=$factor 'BEGIN {printf "%.8g", v * f}')
      calibration "$constant" "$planted $unit" >truth.yaml
      "$forerun" check truth.yaml >/dev/null 2>&1 && break # a share may not be above 1
    done
    rows truth.yaml >planted.csv
    fit planted.csv >planted.tsv
    awk -F'\t' -v want="$constant" -v truth="$planted" -v where="$topology" '
      function off (a, b) {return a > b ? a / b - 1 : b / a - 1}
      NR == 1 {for (i = 1; i <= NF; i++) at[$i] = i; next}
      {
        verdict = $at["verdict"]
        known = verdict == "fitted" || verdict == "at its limit" || verdict == "agrees"
        right = $at["constant"] == want ? truth : $at["before_SI"]
        error = off ($at["after_SI"], right)
        if ($at["constant"] == want) {
          line = sprintf ("%s %s x %.2f: %s", where, want, truth / $at["before_SI"], verdict)
          if (verdict == "fitted")
            line = line sprintf (" within %.1f %%", 100 * error)
          found = 1
        }
        if (known && error > 0.03 && $at["half_width"] + 0 < error)
          wrong = wrong sprintf ("; WRONG: %s is %s at %.4g, not %.4g", $at["constant"], verdict, $at["after_SI"], right)
      }
      END {print line wrong; exit wrong != "" || !found}' planted.tsv || bad=1
  done <constants
done
exit $bad
