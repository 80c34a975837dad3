#!/usr/bin/env bash
# Pages of --report in a browser without a screen: they show what they say in the light and in the dark and on paper, run nothing
# and ask for nothing; at the widths of a phone, a tablet and a screen nothing is cut off, lies on something else or is too pale,
# and the keyboard reaches what scrolls (page_measure.html). usage: page.sh FORERUN SOURCE_DIR
set -euo pipefail

forerun=$(realpath -- "$1")
source=$(realpath -- "$2")
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "skipped: no chromium here"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
cd -- "$tmp"
export FORERUN_DATA=$source HOME=$tmp

failed=0
fail ()
{
  echo "FAILED: $*"
  failed=1
}

browse () # flags…: on the page; what it says goes to said
{
  timeout 100 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$tmp/profile" \
    --host-resolver-rules='MAP * ~NOTFOUND' --window-size=1000,1200 "$@" "file://$tmp/page.html" >said 2>log
}

# A name that would change the page, were it not text.
sed 's/^scenario: .*/scenario: "<script>document.title=\x27changed\x27<\/script>"/' \
  "$source/scenarios/pipeline_4_stages.yaml" >it.yaml
"$forerun" run it.yaml --quiet --report page.html -o answer 2>/dev/null
browse --dump-dom || { echo "skipped: $browser does not run here: $(tail -n 1 log)"; exit 77; }
grep -qF "<title>&lt;script&gt;document.title='changed'&lt;/script&gt;</title>" said ||
  fail "the title is $(grep -o '<title>.*' said)"
grep -qF 'step time' said || fail "the page does not say 'step time'"
! grep -qi '<script' page.html || fail "a script is in the page"
! grep -oE "(src|href)=[^ >]*" page.html | grep -v "=[\"']#" || fail "the page asks for something"

browse --screenshot="$tmp/light.png" --blink-settings=preferredColorScheme=1 || fail "no picture of the page"
browse --screenshot="$tmp/dark.png" --blink-settings=preferredColorScheme=0 || fail "no picture of the page in the dark"
browse --print-to-pdf="$tmp/page.pdf" --no-pdf-header-footer || fail "no print of the page"
for file in light.png dark.png page.pdf; do
  [ "$(stat -c %s "$file" 2>/dev/null || echo 0)" -gt 10000 ] || fail "$file is nearly empty"
done
! cmp -s light.png dark.png || fail "the page is the same in the dark"
head -c 5 page.pdf | grep -q '%PDF-' || fail "page.pdf is none"
# ---- laid out ----

"$forerun" plan "$source/tests/golden/plan/files/plan.yaml" --quiet --report plan.html -o answer 2>/dev/null
"$forerun" plan "$source/tests/golden/plan/small/plan.yaml" --quiet --report small.html -o answer 2>/dev/null
"$forerun" coll all_reduce --topology hgx_h100 -n 2 --quiet --report coll.html -o answer 2>/dev/null
"$forerun" compare all_reduce --topology hgx_h100 --nodes 1,2 -b 1K -e 64M -f 8 --quiet --report compare.html -o answer 2>/dev/null
cp -- "$source/tests/page_measure.html" measure.html

measure () # pages, divided by commas; in the light and in the dark; findings go to said
{
  : >findings
  for scheme in 1 0; do
    timeout 200 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --window-size=1300,1000 \
      --host-resolver-rules='MAP * ~NOTFOUND' --allow-file-access-from-files --virtual-time-budget=100000 \
      --blink-settings=preferredColorScheme=$scheme --dump-dom "file://$tmp/measure.html?$1" 2>log |
      sed -n '/<pre id="said">/,/^measured/{s/<[^>]*>//g;p}' >>findings
  done
}

# What must be found: a page that is wider than a phone, pale, without words for its picture, with a text on a text.
cat >bad.html <<'BAD'
<!DOCTYPE html><html lang="en"><title>bad</title><main><h1>bad</h1><p style="color:#aaa">pale</p><p style="width:50rem">wide</p>
<figure><svg width="90" height="20" role="img"><text y="15">one</text><text y="15">two</text></svg></figure>
<p>below</p><p style="margin-top:-2rem">above</p><table><tr><th>head</th></tr></table>
<div class="scroll" tabindex="0" style="overflow-x:auto"><table><tr><td style="min-width:90rem">far</td></tr></table></div>
<i id="a"></i><i id="a"></i></main></html>
BAD
measure bad.html
for what in 'wider than its window' 'contrast 2.3' 'a picture without words' '"one" lies on text "two"' \
  'P "below" lies on P "above"' 'a head without a scope' \
  'a table is cut: TABLE "far"' 'two elements with id a'; do
  grep -qF -- "$what" findings || fail "a bad page passes: not found: $what"
done
measure page.html,plan.html,small.html,coll.html,compare.html
[ "$(grep -c '^measured 5 pages, 0 findings$' findings)" -eq 2 ] || { cat findings; fail "pages are not well laid out"; }

# Every end of an element is there, and attributes are quoted: strict readers take the page too.
if command -v xmllint >/dev/null; then
  xmllint --noout page.html plan.html small.html coll.html compare.html || fail "a page is not well-formed"
fi

[ "$failed" -ne 0 ] || echo "the page shows, in the light, in the dark and on paper"
exit "$failed"
