#!/usr/bin/env bash
# A runner that cannot fail proves nothing: each case below is wrong in one way and must be refused, or right and must pass.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
tmp=$(mktemp -d)
trap 'chmod -R u+rwX -- "$tmp" && rm -rf -- "$tmp"' EXIT
mkdir "$tmp/data"
cat >"$tmp/forerun" <<'FAKE'
#!/bin/sh
case $1 in
  version) echo "forerun 1.2.3 of 11.2.3" ;;
  where) echo "$FORERUN_DATA and $PWD" ;;
  talk) echo "warning: talk" >&2 ;;
  fail) exit "$2" ;;
  litter) touch "$HOME/.forerun" ;;
esac
FAKE
chmod +x "$tmp/forerun"

wrong=0
expect () # status what: runs the case in $tmp/case
{
  local status=0
  "$here/run.sh" "$tmp/forerun" "$tmp/data" 1.2.3 "$tmp/case" >"$tmp/said" 2>&1 || status=$?
  if [ "$status" -ne "$1" ]; then
    printf 'FAILED: %s: the runner ended with %s, expected %s\n' "$2" "$status" "$1"
    sed 's/^/  /' "$tmp/said"
    wrong=1
  fi
}
new_case () # cmd
{
  rm -rf -- "$tmp/case"
  mkdir "$tmp/case"
  printf '%s\n' "$1" >"$tmp/case/cmd"
}

new_case 'forerun version'
expect 1 'stdout that nobody expects'
printf 'forerun @VERSION@ of 11.2.3\n' >"$tmp/case/out"
expect 0 'the version is replaced, a number that ends alike is not'
printf 'forerun @VERSION@ of 11.2.4\n' >"$tmp/case/out"
expect 1 'stdout that differs'
printf 'forerun @VERSION@ of 11.2.3' >"$tmp/case/out"
expect 1 'stdout that differs in its last line end'

new_case 'forerun talk'
expect 1 'stderr that nobody expects'
printf 'warning: talk\n' >"$tmp/case/err"
expect 0 'stderr as expected'

new_case 'forerun fail 2'
expect 1 'a status that nobody expects'
echo 2 >"$tmp/case/exit"
expect 0 'a status as expected'
new_case 'true'
echo 2 >"$tmp/case/exit"
expect 1 'a success where a failure is expected'
new_case 'forerun fail 77'
expect 77 'a skipped case'

new_case 'forerun where'
printf '@DATA@ and @TMP@\n' >"$tmp/case/out"
expect 0 'folders are replaced'
new_case 'forerun litter'
expect 1 'a file left in the home folder'
new_case 'cat; ls'
printf 'told\n' >"$tmp/case/stdin"
printf 'input.yaml\n' >"$tmp/case/input.yaml"
printf 'told\ninput.yaml\n' >"$tmp/case/out"
expect 0 'stdin is given, and only input lies in the working folder'

# An explicit update writes what was said, and only what differs from the defaults.
new_case 'forerun version; forerun fail 3'
echo 'stale' >"$tmp/case/err"
"$here/run.sh" --update "$tmp/forerun" "$tmp/data" 1.2.3 "$tmp/case" >/dev/null
expect 0 'an updated case'
[ "$(ls "$tmp/case")" = "$(printf 'cmd\nexit\nout')" ] || { echo "FAILED: an update left: $(ls "$tmp/case")"; wrong=1; }

if "$here/unprivileged" true 2>/dev/null; then
  new_case 'echo secret >closed; chmod 000 closed; unprivileged cat closed 2>/dev/null'
  echo 1 >"$tmp/case/exit"
  expect 0 'a closed file is closed, to root too'
fi

exit "$wrong"
