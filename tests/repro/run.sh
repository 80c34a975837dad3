#!/usr/bin/env bash
# Builds forerun with gcc and clang, Debug and Release, and compares what each says on the commands of the file beside: stdout,
# stderr and exit status, byte by byte. The first build runs everything twice, so that an answer that depends on addresses shows
# too. usage: run.sh [--levels] SOURCE_DIR WORK_DIR [cmake arguments…]      --levels: with -O1 and -O2 besides
# Without one of the compilers the rest is compared, and the test says that it was skipped (77).
set -euo pipefail
export FORERUN_PROGRESS=off

types=(Debug Release) # -O0 and -O3
if [ "${1:-}" = --levels ]; then
  types+=(O1 O2)
  shift
fi
source=$(realpath -- "$1")
mkdir -p -- "$2"
work=$(realpath -- "$2")
shift 2
commands=$source/tests/repro/commands

builds=()
missing=()
for compiler in gcc clang; do
  if ! command -v "$compiler" >/dev/null; then
    missing+=("$compiler")
    continue
  fi
  for type in "${types[@]}"; do
    name=$compiler-$type
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
