#!/usr/bin/env bash
# Builds forerun on a fresh machine, then runs it or its tests. Prints only talk, on stderr: stdout belongs to forerun.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

usage ()
{
  cat <<'TEXT'
usage: bootstrap.sh COMMAND [ARGUMENT...]

  build             build the program: build/release/forerun
  install [PREFIX]  build, and install the program, libforerun, manual pages and completion (default: ~/.local)
  run FILE...       build, then `forerun run FILE...` (paths are relative to the current folder)
  test              build, then run the tests except the slow ones: some minutes
  slow              build, then run the slow tests
  sanitize          run the tests, those of accuracy left out, with the address and undefined-behaviour sanitizers
  coverage          fraction of code that tests reach; fails if it is below tests/coverage.txt (needs gcovr)
  packages          install missing packages, nothing else
  --help            this text

Examples
  ./bootstrap.sh install
  ./bootstrap.sh run scenarios/quickstart.yaml --format json

Missing Debian or Ubuntu packages are installed with apt-get, as root or with sudo. If none is missing, neither is used.
Only `install` writes anything else outside this folder.

Environment
  CC                 the C compiler (default: cc)
  JOBS               compilers and tests at a time (default: the number of processors)
  FORERUN_WERROR=ON  warnings are errors in the release build too
TEXT
}

say ()
{
  printf 'bootstrap: %s\n' "$*" >&2
}

die ()
{
  say "$@"
  exit 1
}

# ---- packages ----

# The oldest CMake that CMakeLists.txt accepts is said there and nowhere else.
cmake_needed ()
{
  sed -n 's/^cmake_minimum_required(VERSION \([0-9.]*\)).*/\1/p' "$root/CMakeLists.txt"
}

have_cmake ()
{
  command -v cmake >/dev/null || return 1
  local needed found
  needed=$(cmake_needed)
  found=$(cmake --version | sed -n '1s/^cmake version \([0-9.]*\).*/\1/p')
  [ "$(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n 1)" = "$needed" ]
}

have_compiler ()
{
  # shellcheck disable=SC2086 # CC may hold a launcher or flags, as CMake allows
  ${CC:-cc} -x c -fsyntax-only - <<<'#include <stdio.h>' 2>/dev/null
}

have_library () # module [minimum]
{
  pkg-config --exists "$1${2:+ >= $2}" 2>/dev/null
}

# package|how to see that it is there|what it is for. Files and programs are looked for rather than packages, so that what was built
# from source counts too, and no root is needed to look.
requirements ()
{
  cat <<'TABLE'
gcc|have_compiler|the C compiler
libc6-dev|have_compiler|the headers of the C library
cmake|have_cmake|configures the build
ninja-build|command -v ninja|runs the build
pkg-config|command -v pkg-config|finds the libraries
libglib2.0-dev|have_library gio-2.0 2.66|containers, options, files
libjson-glib-dev|have_library json-glib-1.0|JSON output
libyaml-dev|have_library yaml-0.1|YAML input
libnlopt-dev|have_library nlopt|the optimiser of fits
liblapacke-dev|have_library lapacke|intervals of fits
libcunit1-dev|have_library cunit|unit tests
libxlsxwriter-dev|have_library xlsxwriter|workbooks of plans, optional
libsqlite3-dev|have_library sqlite3|exports of Nsight Systems, optional
libprotobuf-c-dev|have_library libprotobuf-c|Chakra traces, optional
protobuf-c-compiler|command -v protoc-c|Chakra traces, optional
gnuplot-nox|command -v gnuplot|plots, at run time only
TABLE
}

needed_of () # lines of missing_packages: those that the build cannot do without
{
  grep -vE '^(gnuplot-nox|libxlsxwriter-dev|libsqlite3-dev|libprotobuf-c-dev|protobuf-c-compiler)\|' <<<"$1" || true
}

missing_packages () # prints "package|why" lines
{
  local package check why
  while IFS='|' read -r package check why; do
    eval "$check" >/dev/null 2>&1 || printf '%s|%s\n' "$package" "$why"
  done < <(requirements)
}

install_packages () # package...
{
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "not root and no sudo here; as root, run: apt-get install $*"
    as_root=(sudo)
    [ -t 0 ] || as_root=(sudo -n)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
  say "running: ${as_root[*]:+${as_root[*]} }apt-get install $*"
  # An update that fails is not the end: the lists may be there, and a mirror may be down that nothing is needed from.
  "${apt[@]}" update >&2 </dev/null || say "apt-get update failed; trying with the package lists that are there"
  "${apt[@]}" install --no-install-recommends "$@" >&2 </dev/null
}

other_distribution ()
{
  say "this is no Debian or Ubuntu (no apt-get): install the above with the package manager of your system, then start again"
  say "  Fedora:   dnf install gcc cmake ninja-build pkgconf glib2-devel json-glib-devel libyaml-devel NLopt-devel lapack-devel CUnit-devel libxlsxwriter-devel sqlite-devel protobuf-c-devel protobuf-c-compiler gnuplot"
  say "  Arch:     pacman -S gcc cmake ninja pkgconf glib2 json-glib libyaml nlopt lapacke cunit libxlsxwriter sqlite protobuf-c gnuplot"
  say "  openSUSE: zypper install gcc cmake ninja pkgconf glib2-devel json-glib-devel libyaml-devel nlopt-devel lapacke-devel cunit-devel libxlsxwriter-devel sqlite3-devel libprotobuf-c-devel gnuplot"
  exit 1
}

ensure_packages ()
{
  local missing names required
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  say "missing:"
  while IFS='|' read -r package why; do
    printf '  %-18s %s\n' "$package" "$why" >&2
  done <<<"$missing"
  required=$(needed_of "$missing")
  if [ -z "$required" ]; then
    [[ $missing != *gnuplot* ]] || say "going on without gnuplot: only plots need it (apt-get install gnuplot-nox)"
    [[ $missing != *xlsxwriter* ]] || say "going on without libxlsxwriter: only workbooks need it (apt-get install libxlsxwriter-dev)"
    [[ $missing != *sqlite3* ]] || say "going on without SQLite: only exports of Nsight Systems need it (apt-get install libsqlite3-dev)"
    [[ $missing != *protobuf* ]] || say "going on without protobuf-c: only Chakra traces need it (apt-get install libprotobuf-c-dev protobuf-c-compiler)"
    return 0
  fi
  command -v apt-get >/dev/null || other_distribution
  mapfile -t names < <(cut -d '|' -f 1 <<<"$missing")
  install_packages "${names[@]}" ||
    die "the packages could not be installed; is this machine online? (as root: apt-get update && apt-get install ${names[*]})"
  missing=$(needed_of "$(missing_packages)")
  [ -z "$missing" ] && return 0
  grep -q '^cmake' <<<"$missing" &&
    say "CMake $(cmake_needed) or newer is needed, this system has $(cmake --version | head -n 1); Debian 12 and Ubuntu 24.04 are new enough"
  die "still missing after installation: $(cut -d '|' -f 1 <<<"$missing" | tr '\n' ' ')"
}

# ---- build ----

# A compiler's cache, where one is installed, serves other checkouts too.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=1

# A build folder that was copied or moved names a source folder that is not this one; CMake refuses it with a long message.
configure () # preset
{
  local preset=$1 build=$root/build/$1 home fresh=() extra=()
  [ -z "${FORERUN_WERROR:-}" ] || extra=("-DFORERUN_WERROR=$FORERUN_WERROR")
  ! command -v ccache >/dev/null || export CMAKE_C_COMPILER_LAUNCHER=ccache
  if [ -f "$build/CMakeCache.txt" ]; then
    home=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")
    [ "$home" = "$root" ] || fresh=(--fresh)
  fi
  if [ -f "$build/build.ninja" ] && [ ${#fresh[@]} -eq 0 ] && [ ${#extra[@]} -eq 0 ]; then
    return 0
  fi
  say "configuring build/$preset"
  mkdir -p "$build"
  if ! (cd -- "$root" && cmake --preset "$preset" "${fresh[@]}" "${extra[@]}") >"$build/configure.log" 2>&1; then
    cat "$build/configure.log" >&2
    die "cmake could not configure the build (the log is $build/configure.log)"
  fi
}

build () # preset target
{
  configure "$1"
  if [ "$2" != forerun ] || [ ! -x "$root/build/$1/forerun" ]; then
    say "building build/$1, $jobs files at a time"
  fi
  ninja -C "$root/build/$1" --quiet -j "$jobs" "$2" 2>&1 | sed '/^ninja: no work to do/d' >&2 ||
    die "the build failed; what the compiler said is above"
}

run_tests () # preset, ctest's choice of labels...
{
  local preset=$1
  shift
  build "$preset" all
  ctest --test-dir "$root/build/$preset" "$@" -j "$jobs" --output-on-failure --no-tests=error
}

# How to call a program in a folder: by its name where PATH finds that one, else by its path.
say_how_to_call () # folder
{
  if [ "$(command -v forerun || true)" = "$1/forerun" ]; then
    say "ready; try: forerun plan buy_256_gpus"
  else
    say "ready; try: $1/forerun plan buy_256_gpus"
  fi
}

install_program () # prefix
{
  local prefix=${1:-${HOME:?}/.local}
  mkdir -p -- "$prefix" || die "the folder $prefix cannot be made"
  prefix=$(cd -- "$prefix" && pwd -P)
  build release forerun
  build release libforerun
  build release libforerun_static
  cmake --install "$root/build/release" --prefix "$prefix" >"$root/build/release/install.log" 2>&1 || {
    cat "$root/build/release/install.log" >&2
    die "the program could not be installed in $prefix"
  }
  say "installed $prefix/bin/forerun"
  case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) say "$prefix/bin is not on your PATH; add this line to ~/.profile:  export PATH=\"$prefix/bin:\$PATH\"" ;;
  esac
  say_how_to_call "$prefix/bin"
}

coverage ()
{
  command -v gcovr >/dev/null || die "coverage needs gcovr (as root: apt-get install gcovr)"
  # Counters add up over runs: what an earlier one left would count too.
  [ ! -d "$root/build/coverage" ] || find "$root/build/coverage" -name '*.gcda' -delete
  # Counters need libgcov where a program is linked to the static library. Whether shipped scenarios answer is no line's test.
  run_tests coverage -L 'unit|golden|law' -LE slow -E 'installed_where_it_lies|shipped_'
  "$root/tests/coverage.sh" "$root" "$root/build/coverage" "$jobs"
}

jobs=${JOBS:-$(nproc)}
case $jobs in
  '' | 0 | *[!0-9]*)
    say "JOBS is '$jobs'; a number of at least 1 is accepted"
    exit 2
    ;;
esac

case ${1:-} in
  run)
    shift
    if [ $# -eq 0 ]; then
      say "run: which scenario? e.g. $0 run scenarios/quickstart.yaml"
      exit 2
    fi
    ensure_packages
    build release forerun
    exec "$root/build/release/forerun" run "$@"
    ;;
  install)
    if [ $# -gt 2 ]; then
      say "install takes one folder (got '$3' too)"
      exit 2
    fi
    ensure_packages
    install_program "${2:-}"
    ;;
  test | slow | sanitize | coverage | build | packages)
    if [ $# -gt 1 ]; then
      say "$1 takes no arguments (got '$2')"
      exit 2
    fi
    ensure_packages
    case $1 in
      # Benches assert nothing; all else does.
      test) run_tests release -LE 'bench|slow' ;;
      slow) run_tests release -L slow ;;
      # Errors of predictions are the same there, and shorter tests reach their code.
      sanitize) run_tests asan -LE 'bench|slow|accuracy' ;;
      coverage) coverage ;;
      build)
        build release forerun
        say_how_to_call "$root/build/release"
        ;;
    esac
    ;;
  -h | --help | help)
    usage
    ;;
  '')
    usage >&2
    exit 2
    ;;
  *)
    say "unknown command '$1'; accepted: build, install, run, test, slow, sanitize, coverage, packages, --help"
    exit 2
    ;;
esac
