#!/usr/bin/env bash
# What `cmake --install` lays down works where it lies, without the source tree and without a variable. usage: install.sh BUILD_DIR
set -euo pipefail

build=$(realpath -- "$1")
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
# The compiled-in fallback must not be what found them: with the installed data gone, they are another's or missing.
rm -r -- "$tmp/moved/share/forerun/topologies/hgx_h200.yaml"
if forerun list topologies | grep -qw hgx_h200; then
  echo "FAILED: the topologies listed are not those that were installed"
  exit 1
fi
if [ -n "$(find "$tmp/moved" -name '*.h' -o -name '*.a' -o -name '*.c')" ]; then
  echo "FAILED: more is installed than a user needs"
  exit 1
fi
echo "an installation works where it lies"
