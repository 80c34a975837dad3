#!/usr/bin/env bash
# Builds forerun without optimisation by gcc and with it by clang, and compares what these and FORERUN say on the commands of the
# file beside: stdout, stderr and exit status, byte by byte. FORERUN runs everything twice, so that an answer that depends on
# addresses shows too. usage: run.sh [--levels] FORERUN SOURCE_DIR WORK_DIR [cmake arguments…]
# --levels: each of both compilers at -O0 to -O3
# Without one of the compilers the rest is compared, and the test says that it was skipped (77).
set -euo pipefail
export FORERUN_PROGRESS=off

wanted=(gcc-Debug clang-Release) # -O0 and -O3
if [ "${1:-}" = --levels ]; then
  wanted=({gcc,clang}-{Debug,O1,O2,Release})
  shift
fi
forerun=$(realpath -- "$1")
source=$(realpath -- "$2")
mkdir -p -- "$3"
work=$(realpath -- "$3")
shift 3
commands=$source/tests/repro/commands

mkdir -p -- "$work/given"
ln -sf -- "$forerun" "$work/given/forerun"
builds=(given)
missing=()
for name in "${wanted[@]}"; do
  compiler=${name%-*} type=${name#*-}
  if ! command -v "$compiler" >/dev/null; then
    missing+=("$compiler")
    continue
  fi
  case $type in
    O?) options=(-DCMAKE_BUILD_TYPE=Debug "-DCMAKE_C_FLAGS_DEBUG=-$type") ;;
    *) options=("-DCMAKE_BUILD_TYPE=$type") ;;
  esac
  if ! { CC=$compiler cmake -S "$source" -B "$work/$name" -G Ninja "${options[@]}" -DBUILD_TESTING=OFF "$@" &&
    ninja -C "$work/$name" -j 2 forerun; } >"$work/$name.log" 2>&1; then
    echo "FAILED: no build with $compiler, $type:"
    tail -n 40 "$work/$name.log"
    exit 1
  fi
  builds+=("$name")
done

answer () # build run
{
  local n=0 line arguments dir=$work/answers/$1.$2
  rm -rf -- "$dir"
  mkdir -p -- "$dir"
  while IFS= read -r line; do
    case $line in '' | '#'*) continue ;; esac
    n=$((n + 1))
    read -r -a arguments <<<"$line"
    local status=0
    (cd -- "$source" && FORERUN_DATA=$source LC_ALL=C "$work/$1/forerun" "${arguments[@]}") \
      >"$dir/$n.out" 2>"$dir/$n.err" </dev/null || status=$?
    printf '%s\n' "$status" >"$dir/$n.exit"
    if [ "$status" -ne 0 ] || [ ! -s "$dir/$n.out" ]; then
      printf 'FAILED: %s: forerun %s: ended with %s and %s bytes on stdout:\n' "$1" "$line" "$status" "$(stat -c %s "$dir/$n.out")"
      cat -- "$dir/$n.err"
      failed=1
    fi
  done <"$commands"
  [ "$n" -gt 0 ] || { echo "FAILED: no command in $commands"; failed=1; }
}

failed=0
reference=${builds[0]}.1
answer "${builds[0]}" 1
answer "${builds[0]}" 2
for build in "${builds[@]:1}"; do
  answer "$build" 1
done
for build in "${builds[0]}.2" "${builds[@]/%/.1}"; do
  if ! diff -r -q "$work/answers/$reference" "$work/answers/$build" >"$work/diff"; then
    echo "FAILED: $build differs from $reference (the number is the command's, counted in tests/repro/commands):"
    cat "$work/diff"
    diff -r -u "$work/answers/$reference" "$work/answers/$build" | cut -c 1-300 | head -n 20 || true
    failed=1
  fi
done
[ "$failed" -eq 0 ] || exit 1
echo "the same bytes from: ${builds[*]}"
if [ ${#missing[@]} -gt 0 ]; then
  echo "skipped: no ${missing[*]} here, so that nothing was compared with it"
  exit 77
fi
