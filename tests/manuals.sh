#!/usr/bin/env bash
# What the tables of flags become: no line of --help is over 100 characters, every flag is in its manual page, groff finds no fault
# with a page, and bash, zsh and fish complete verbs, flags and shipped names. usage: manuals.sh FORERUN SOURCE_DIR
set -euo pipefail
export LC_ALL=C.UTF-8 # lengths are in characters

here=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")
forerun=$(realpath -- "$1")
export FORERUN_DATA
FORERUN_DATA=$(realpath -- "$2")
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
PATH=$(dirname -- "$forerun"):$PATH
failed=0
fail ()
{
  echo "FAILED: $*"
  failed=1
}

"$forerun" --manuals "$tmp"
"$forerun" --help >"$tmp/help"
mapfile -t verbs < <(sed -n '/^verbs$/,/^$/s/^  \([a-z]*\) .*/\1/p' "$tmp/help")
[ "${#verbs[@]}" -ge 15 ] || fail "--help lists ${#verbs[@]} verbs"

check_width () # file what
{
  local line
  while IFS= read -r line; do
    [ "${#line}" -le 100 ] || fail "$2: over 100 characters: $line"
  done <"$1"
}
check_page () # page
{
  local said
  command -v groff >/dev/null || return 0
  said=$(groff -man -ww -Tutf8 -z "$1" 2>&1) || true
  [ -z "$said" ] || fail "$1: $said"
}

check_width "$tmp/help" 'forerun --help'
check_page "$tmp/man/man1/forerun.1"
for verb in "${verbs[@]}"; do
  page=$tmp/man/man1/forerun-$verb.1
  "$forerun" "$verb" --help >"$tmp/help"
  check_width "$tmp/help" "forerun $verb --help"
  check_page "$page"
  grep -q "forerun\\\\-$verb (1)" "$tmp/man/man1/forerun.1" || fail "forerun(1) does not name $verb"
  sed 's/\\-/-/g; s/\\f[BR]//g' "$page" >"$tmp/page"
  mapfile -t flags < <(grep -oE '^  (-., )?--[a-z-]+' "$tmp/help" | grep -oE -- '--[a-z-]+')
  [ "${#flags[@]}" -ge 8 ] || fail "forerun $verb --help has ${#flags[@]} flags"
  for flag in "${flags[@]}"; do
    grep -qE -- "^(-., )?$flag( |\$)" "$tmp/page" || fail "forerun-$verb(1) lacks $flag"
    for script in bash-completion/completions/forerun zsh/site-functions/_forerun; do
      grep -E "^    $verb\) flags=" "$tmp/$script" | grep -qE -- "[ ']$flag[ ':]" || fail "$script: $verb lacks $flag"
    done
    grep -qE -- "_from $verb' -l ${flag#--}( |\$)" "$tmp/fish/vendor_completions.d/forerun.fish" || fail "fish: $verb lacks $flag"
  done
done

# shellcheck disable=SC1091 # written just now
. "$tmp/bash-completion/completions/forerun"
completes () # expected words...: the last word is completed
{
  local expected=$1
  shift
  COMP_WORDS=(forerun "$@") COMP_CWORD=$# COMPREPLY=()
  _forerun
  [[ " ${COMPREPLY[*]} " == *" $expected "* ]] || fail "forerun $*: completed by '${COMPREPLY[*]}', which lacks '$expected'"
}
completes plan pl
completes --topology coll all_reduce --topo
completes hgx_h200 coll all_reduce --topology hgx_
completes buy_256_gpus plan buy
completes quickstart run quick
completes topologies list topo
completes ring explain all_reduce --algo ri
completes json run quickstart --format j
completes nccl-tests import nccl-
# The same lines in zsh, on a terminal of its own, and in fish.
zsh_lines=() fish_failed=0
for pair in 'forerun pla|plan' 'forerun plan buy_2|buy_256_gpus' 'forerun coll all_reduce --topolo|--topology' \
  'forerun coll all_reduce --topology hgx_h8|hgx_h800' 'forerun run quicks|quickstart' 'forerun list topo|topologies' \
  'forerun explain all_reduce --algo rin|ring' 'forerun run quickstart --format j|json' 'forerun --compl|--completion' \
  'forerun --completion z|zsh'; do
  line=${pair%|*}
  zsh_lines+=("$line")
  echo "${line% *} ${pair#*|}" >>"$tmp/completed"
  command -v fish >/dev/null || continue
  HOME=$tmp fish -N -c "source $tmp/fish/vendor_completions.d/forerun.fish; complete -C '$line'" >"$tmp/out" 2>&1 || fish_failed=1
  cut -f 1 "$tmp/out" | grep -qx -- "${pair#*|}" || fish_failed=1
  [ "$fish_failed" -eq 0 ] || fail "fish: $line: $(head -n 3 "$tmp/out")"
done
if command -v zsh >/dev/null; then
  zsh -f "$here/completion.zsh" "$tmp/zsh/site-functions" "${zsh_lines[@]}" >"$tmp/out" 2>&1 || fail "zsh: $(cat "$tmp/out")"
  sed 's/ *$//' "$tmp/out" | diff - "$tmp/completed" || fail "zsh completes otherwise"
fi
command -v zsh >/dev/null && command -v fish >/dev/null || echo "skipped: zsh or fish is not here"

# Each list that a script asks for exists.
grep -ohE 'forerun list [a-z-]+' "$tmp/bash-completion/completions/forerun" | sort -u >"$tmp/lists"
while read -r _ _ kind; do
  "$forerun" list "$kind" >"$tmp/out" 2>&1 || fail "forerun list $kind: $(cat "$tmp/out")"
done <"$tmp/lists"

for shell in bash zsh fish; do
  case $shell in zsh) script=_forerun ;; fish) script=forerun.fish ;; *) script=forerun ;; esac
  "$forerun" --completion "$shell" | cmp -s - "$tmp"/*/*/"$script" || fail "--completion $shell differs from what is installed"
done
status=0
"$forerun" --completion csh >"$tmp/out" 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "--completion csh ends with $status"

# A verb alone shows its usage and an example in three lines; only some verbs do something by themselves.
for verb in "${verbs[@]}"; do
  case $verb in list | validate) continue ;; esac
  status=0
  "$forerun" "$verb" >"$tmp/out" 2>"$tmp/err" || status=$?
  if [ "$status" -ne 2 ] || [ -s "$tmp/out" ] || [ "$(wc -l <"$tmp/err")" -ne 3 ] ||
    ! grep -q "^example:  forerun $verb " "$tmp/err"; then
    fail "forerun $verb: status $status, $(cat "$tmp/err")"
  fi
done

# The version as JSON: the commit may be null, the rest is not.
"$forerun" --version --json >"$tmp/version"
for key in version compiler data data_sha256; do
  grep -qE "\"$key\" : \"[^\"]+\"" "$tmp/version" || fail "--version --json has no $key: $(cat "$tmp/version")"
done
for key in commit build_type mpi; do
  grep -q "\"$key\" : " "$tmp/version" || fail "--version --json has no $key"
done
# A release build of a checkout that has nothing uncommitted names the commit that it is of.
if grep -q '"build_type" : "Release"' "$tmp/version" && head=$(git -C "$FORERUN_DATA" rev-parse HEAD 2>/dev/null); then
  grep -q "\"commit\" : \"$head\"" "$tmp/version" || fail "--version --json names another commit than $head"
fi
mkdir "$tmp/data"
cp -r -- "$FORERUN_DATA/topologies" "$FORERUN_DATA/scenarios" "$FORERUN_DATA/calibrate" "$tmp/data"
FORERUN_DATA=$tmp/data "$forerun" --version --json | grep data_sha256 >"$tmp/same"
grep -qF "$(cat "$tmp/same")" "$tmp/version" || fail "the checksum of a copy of the data differs"
echo '# another' >>"$tmp/data/topologies/hgx_h200.yaml"
FORERUN_DATA=$tmp/data "$forerun" --version --json | grep data_sha256 >"$tmp/other"
if cmp -s "$tmp/same" "$tmp/other"; then fail "the checksum does not see a change"; fi

[ "$failed" -ne 0 ] || echo "help, manual pages and completion say the same"
exit "$failed"
