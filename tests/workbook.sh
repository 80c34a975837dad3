#!/usr/bin/env bash
# The workbook of a plan: its formulas give forerun's own figures, to a cent, also with other prices.
# usage: workbook.sh FORERUN SOURCE this|office      this: python computes it; office: LibreOffice. Exits 77 where one is missing.
set -euo pipefail
forerun=$1
reader=$2/tests/workbook.py
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export FORERUN_DATA=$2
question=(plan lora_64_gpus --best 0 --rows 3 --per-machine --quiet)
fail ()
{
  echo "FAILED: $*"
  exit 1
}
# forerun's words where it must refuse, before it has searched
refuses () # words, arguments…
{
  local words=$1 status=0
  shift
  "$forerun" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
  [ "$status" -eq 2 ] || fail "forerun $* ends with $status"
  grep -qF -- "$words" "$tmp/err" || fail "forerun $* says $(cat "$tmp/err")"
  [ ! -e "$tmp/no.xlsx" ] || fail "forerun $* writes a file"
}
if ! "$forerun" "${question[@]}" -o "$tmp/a.xlsx" 2>"$tmp/err"; then
  grep -q 'writes no workbooks; install libxlsxwriter' "$tmp/err" || fail "$(cat "$tmp/err")"
  refuses 'writes no workbooks' plan buy_256_gpus -o "$tmp/no.xlsx"
  echo "skipped: this build has no libxlsxwriter, and says so"
  exit 77
fi
command -v python3 >/dev/null || { echo "skipped: python3 is not installed (apt-get install python3)"; exit 77; }

# What another price list must make of it: the same numbers by forerun and in the workbook.
prices=(--set 'prices.nodes=[{topology: hgx_h200, node: $333333, rent: $61.50/h}]' --set 'prices.electricity=$0.19/kWh'
  --set 'prices.storage_server=$99999' --set prices.pue=1.5 --set 'prices.residual=20 %' --set 'prices.spares=4 %'
  --set 'prices.utilisation=60 %' --set 'prices.colocation=$200/month')
cells=('Prices!a node of hgx_h200=333333' 'Prices!rent of one node of hgx_h200=61.5' 'Prices!electricity=0.19'
  'Prices!a storage server=99999' 'Assumptions!PUE of the building=1.5' 'Assumptions!value that is left=0.2'
  'Assumptions!spare parts=0.04' 'Assumptions!utilisation of what is bought=0.6' 'Prices!space for a kW=200')
"$forerun" "${question[@]}" --set prices.like=us_2026 "${prices[@]}" --format json >"$tmp/other.json"
python3 "$reader" set "$tmp/a.xlsx" "$tmp/other.xlsx" "${cells[@]}"

if [ "$3" = office ]; then
  if ! command -v soffice >/dev/null; then
    echo "skipped: LibreOffice is not installed (apt-get install libreoffice-calc-nogui)"
    exit 77
  fi
  # A profile of its own, in which files of other programs are always computed; every sheet with all digits, as CSV.
  mkdir -p "$tmp/profile/user"
  cat >"$tmp/profile/user/registrymodifications.xcu" <<'XCU'
<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop>
</item>
</oor:items>
XCU
  format='csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1'
  soffice --headless "-env:UserInstallation=file://$tmp/profile" --convert-to "$format" --outdir "$tmp/sheets" "$tmp/other.xlsx" \
    >"$tmp/log" 2>&1 || fail "$(cat "$tmp/log")"
  python3 "$reader" compare "$tmp/other.xlsx" "$tmp/other.json" "$tmp/sheets"
  exit
fi
python3 "$reader" compare "$tmp/other.xlsx" "$tmp/other.json"
for plan in "lora_64_gpus --per-machine" "train_30b_1mw --set acquisition=own" "rent_or_buy_70b" \
  "lora_64_gpus --set prices=eu_2026"; do
  read -ra words <<<"$plan"
  "$forerun" plan "${words[@]}" --best 0 --rows 3 --quiet --format json >"$tmp/answer.json"
  "$forerun" plan "${words[@]}" --best 0 --rows 3 --quiet -o "$tmp/b.xlsx"
  python3 "$reader" check "$tmp/b.xlsx" "$tmp/answer.json" || fail "plan $plan"
done
# the same bytes each time; without tokens there is no run; without an option the reason is the answer
"$forerun" "${question[@]}" -o "$tmp/again.xlsx"
cmp "$tmp/a.xlsx" "$tmp/again.xlsx" || fail "the same answer gives other bytes"
part () # workbook, file in it
{
  python3 -c 'import sys, zipfile; sys.stdout.write (zipfile.ZipFile (sys.argv[1]).read (sys.argv[2]).decode ())' "$@"
}
says () # words
{
  part "$tmp/b.xlsx" xl/sharedStrings.xml | grep -qF -- "$1" || fail "the workbook does not say '$1'"
}
"$forerun" "${question[@]}" --set goal.tokens=null --set goal.deadline=null --set goal.run_cost=null --set objective=time \
  -o "$tmp/b.xlsx"
says 'names no tokens'
"$forerun" plan smallest_cluster_405b --best 0 --rows 2 --quiet -o "$tmp/b.xlsx"
says 'No price is known'
status=0
"$forerun" "${question[@]}" --set goal.capex='$1000' -o "$tmp/b.xlsx" 2>"$tmp/err" || status=$?
[ "$status" -eq 3 ] || fail "a plan without an option ends with $status"
says 'no configuration meets the constraints'
"$forerun" plan lora_64_gpus --shard 1/1 --quiet >"$tmp/part.json"
"$forerun" merge "$tmp/part.json" --best 0 --rows 3 --per-machine --quiet -o "$tmp/b.xlsx"
[ "$(part "$tmp/b.xlsx" xl/worksheets/sheet4.xml)" = "$(part "$tmp/a.xlsx" xl/worksheets/sheet4.xml)" ] ||
  fail "merge writes other costs"
refuses '-o F.xlsx belongs to the answer of all parts' plan lora_64_gpus --shard 1/2 -o "$tmp/no.xlsx"
refuses '--columns picks columns of text' "${question[@]}" --columns topology -o "$tmp/no.xlsx"
mkdir "$tmp/box"
refuses 'outside' "${question[@]}" --sandbox "$tmp/box" -o "$tmp/no.xlsx"
