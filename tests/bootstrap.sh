#!/usr/bin/env bash
# What bootstrap.sh does on machines that are not this one: PATH holds stand-ins, and what is missing is left out.
# usage: bootstrap.sh SOURCE_DIR
set -euo pipefail

source=$(realpath -- "$1")
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
mkdir "$tmp/tree"
cp -- "$source/bootstrap.sh" "$source/CMakeLists.txt" "$tmp/tree"

machine () # tool…: PATH becomes the basic tools and these stand-ins; what they are asked to do is kept in $tmp/calls
{
  local tool
  rm -rf -- "${tmp:?}/bin"
  mkdir "$tmp/bin"
  : >"$tmp/calls"
  for tool in bash sh sed grep sort head cat cut dirname tr env nproc mkdir printf; do
    ln -s -- "$(command -v "$tool")" "$tmp/bin/$tool"
  done
  printf '#!/bin/sh\necho 1000\n' >"$tmp/bin/id"
  # shellcheck disable=SC2016 # the stand-in expands it
  printf '#!/bin/sh\n[ "$1" != -n ] || shift\nexec "$@"\n' >"$tmp/bin/sudo"
  for tool in "$@"; do
    printf '#!/bin/sh\necho "%s $*" >>"%s"\n' "$tool" "$tmp/calls" >"$tmp/bin/$tool"
  done
  [ ! -e "$tmp/bin/cmake" ] || printf '#!/bin/sh\necho "cmake version 99.1"\n' >"$tmp/bin/cmake"
  chmod +x "$tmp"/bin/id "$tmp"/bin/sudo
  for tool in "$@"; do chmod +x "$tmp/bin/$tool"; done
}

failed=0
expect () # status text arguments…: runs bootstrap.sh there
{
  local status=0 wanted=$1 text=$2
  shift 2
  (cd / && PATH=$tmp/bin CC='' bash "$tmp/tree/bootstrap.sh" "$@") >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
  if [ "$status" -ne "$wanted" ] || [[ "$(cat "$tmp/out" "$tmp/err")" != *"$text"* ]]; then
    echo "FAILED: bootstrap.sh $*: status $status, expected $wanted and '$text':"
    sed 's/^/  /' "$tmp/out" "$tmp/err"
    failed=1
  fi
}
calls () # text: apt-get was asked for it
{
  grep -qF -- "$1" "$tmp/calls" || { echo "FAILED: expected a call '$1', got:"; cat "$tmp/calls"; failed=1; }
}

complete=(cc cmake ninja pkg-config gnuplot protoc-c)

machine "${complete[@]}" apt-get
expect 0 '' packages
if grep -q apt-get "$tmp/calls"; then
  echo "FAILED: apt-get was called where nothing is missing"
  failed=1
fi

machine cc cmake ninja apt-get gnuplot
expect 1 'libyaml-dev        YAML input' packages
calls 'apt-get -qq'
calls 'libyaml-dev'
calls 'pkg-config'
if grep -qw 'cmake' "$tmp/calls"; then
  echo "FAILED: cmake was asked for where it is there"
  failed=1
fi

machine cc ninja pkg-config gnuplot
expect 1 'no Debian or Ubuntu' packages
expect 1 'dnf install' packages

machine cc ninja pkg-config gnuplot apt-get
rm "$tmp/bin/sudo"
expect 1 'as root, run: apt-get install cmake' packages

machine cc ninja pkg-config gnuplot apt-get
printf '#!/bin/sh\nexit 100\n' >"$tmp/bin/apt-get"
expect 1 'is this machine online?' packages

machine "${complete[@]}" apt-get
printf '#!/bin/sh\necho "cmake version 3.9.6"\n' >"$tmp/bin/cmake"
expect 1 'this system has cmake version 3.9.6' packages

machine cc cmake ninja pkg-config protoc-c
expect 0 'going on without gnuplot' packages
printf '#!/bin/sh\n[ "$2" != xlsxwriter ]\n' >"$tmp/bin/pkg-config"
expect 0 'going on without libxlsxwriter' packages
printf '#!/bin/sh\n[ "$2" != sqlite3 ]\n' >"$tmp/bin/pkg-config"
expect 0 'going on without SQLite' packages
printf '#!/bin/sh\n[ "$2" != libprotobuf-c ]\n' >"$tmp/bin/pkg-config"
expect 0 'going on without protobuf-c' packages

machine "${complete[@]}"
expect 2 'usage: bootstrap.sh'
expect 0 'usage: bootstrap.sh' --help
expect 2 "unknown command 'tset'; accepted: build, install, run, test" tset
expect 2 'which scenario?' run
expect 2 "test takes no arguments (got 'fast')" test fast

# A build ends with how to call the program; an installation with what PATH lacks.
mkdir -p "$tmp/tree/build/release"
: >"$tmp/tree/build/release/build.ninja"
machine "${complete[@]}"
expect 0 "ready; try: $tmp/tree/build/release/forerun plan" build
expect 0 "installed $tmp/prefix/bin/forerun" install "$tmp/prefix"
expect 0 "export PATH=\"$tmp/prefix/bin:\$PATH\"" install "$tmp/prefix"
expect 0 "ready; try: $tmp/prefix/bin/forerun plan" install "$tmp/prefix"
HOME=$tmp/home expect 0 "installed $tmp/home/.local/bin/forerun" install
mkdir -p "$tmp/prefix/bin"
printf '#!/bin/sh\n' >"$tmp/prefix/bin/forerun"
chmod +x "$tmp/prefix/bin/forerun"
mv "$tmp/bin" "$tmp/basic"
ln -s "$tmp/basic" "$tmp/bin"
there=$tmp/bin:$tmp/prefix/bin
(cd / && PATH=$there bash "$tmp/tree/bootstrap.sh" install "$tmp/prefix") >"$tmp/out" 2>"$tmp/err" </dev/null ||
  { echo "FAILED: install with its folder on PATH"; failed=1; }
if grep -q 'not on your PATH' "$tmp/err" || ! grep -q 'ready; try: forerun plan' "$tmp/err"; then
  echo "FAILED: installed on PATH, it says:"
  cat "$tmp/err"
  failed=1
fi
expect 2 "install takes one folder (got 'b' too)" install a b

[ "$failed" -ne 0 ] || echo "bootstrap.sh does what it says on other machines"
exit "$failed"
