#!/usr/bin/env bash
# Pages of --report in a browser without a screen: they show what they say in the light and in the dark and on paper, run nothing
# and ask for nothing. usage: page.sh FORERUN SOURCE_DIR
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
[ "$failed" -ne 0 ] || echo "the page shows, in the light, in the dark and on paper"
exit "$failed"
