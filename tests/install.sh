#!/usr/bin/env bash
# What `cmake --install` lays down works where it lies, without the source tree and without a variable: the program, and the library
# from C by pkg-config, by find_package and linked statically. usage: install.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

build=$(realpath -- "$1")
source=$(realpath -- "$2")
# Outside any source tree, or the program would find its data there.
tmp=$(realpath -- "$(mktemp -d)")
trap 'rm -rf -- "$tmp"' EXIT

cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
mv -- "$tmp/prefix" "$tmp/moved" # no path of the installation is compiled in
cd -- "$tmp"
unset FORERUN_DATA
PATH=$tmp/moved/bin:$PATH
forerun list topologies >listed
grep -qw hgx_h200 listed || { echo "FAILED: the shipped topologies are not found:"; cat listed; exit 1; }
forerun coll all_reduce --topology hgx_h200 -b 1M -e 1M --format json >answer

libdir=$(dirname -- "$(find "$tmp/moved" -name libforerun.so)")
nm -D --defined-only "$libdir/libforerun.so" | awk '$3 !~ /^fr_/ && $2 != "A" { print $3 }' >strangers
[ ! -s strangers ] || { echo "FAILED: the shared library shows names that do not begin with fr_:"; cat strangers; exit 1; }
nm --defined-only --extern-only "$libdir/libforerun.a" | awk 'NF == 3 && $3 !~ /^fr_/ { print $3 }' >strangers
[ ! -s strangers ] || { echo "FAILED: the static library shows names that do not begin with fr_:"; cat strangers; exit 1; }

forerun run quickstart --format tsv --quiet |
  awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "time_s") at = i } NR == 2 { printf "time_s\t%s\ts\n", $at }' >told
said () # how; command...: the program built of predict.c says what `forerun run` says, about the data that were installed
{
  local how=$1
  shift
  LD_LIBRARY_PATH=$libdir "$@" quickstart -- time_s >said 2>/dev/null || { echo "FAILED: $how: predict ends with $?"; exit 1; }
  cmp -s said told || { echo "FAILED: $how: it says"; cat said; echo "and the program"; cat told; exit 1; }
}
cp -- "$source/docs/examples/predict.c" .
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra compile < <(pkg-config --cflags forerun)
read -ra link < <(pkg-config --libs forerun)
read -ra static < <(pkg-config --static --libs forerun | sed 's/-lforerun/-l:libforerun.a/')
# Counters and sanitizers need libraries of their own in each program.
nm -D "$libdir/libforerun.so" >symbols # into a file: grep -q would end nm by SIGPIPE, which pipefail takes for "not found"
if grep -Eq '__asan|__gcov' symbols || ! command -v cc >/dev/null; then
  echo "skipped: programs of another build cannot be linked with this one"
else
  cc "${compile[@]}" predict.c "${link[@]}" -o by_pkg_config
  said pkg-config ./by_pkg_config
  cc "${compile[@]}" predict.c "${static[@]}" -o static
  said 'pkg-config --static' ./static
  printf '%s\n' 'cmake_minimum_required (VERSION 3.25)' 'project (user C)' 'find_package (forerun 0.2 REQUIRED)' \
    'add_executable (by_cmake predict.c)' 'target_link_libraries (by_cmake PRIVATE forerun::forerun)' >CMakeLists.txt
  { cmake -S . -B user -DCMAKE_PREFIX_PATH="$tmp/moved" && cmake --build user; } >log 2>&1 || { cat log; exit 1; }
  said find_package user/by_cmake
fi

# The compiled-in fallback must not be what found them: with the installed data gone, they are another's or missing.
rm -r -- "$tmp/moved/share/forerun/topologies/hgx_h200.yaml"
if forerun list topologies | grep -w hgx_h200 >grep.out; then
  echo "FAILED: the topologies listed are not those that were installed"
  exit 1
fi
find "$tmp/moved" -path '*/share/doc' -prune -o \
  '(' -name '*.h' -o -name '*.a' -o -name '*.c' ')' -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ' >sources
[ "$(cat sources)" = "forerun.h libforerun.a " ] || { echo "FAILED: installed besides the data: $(cat sources)"; exit 1; }
echo "an installation works where it lies"
