#!/usr/bin/env bash
# What CPack makes of a build: the archive runs where it is unpacked and needs no symbol of glibc newer than 2.36; the list of
# dependencies names what CMake looks for; Debian's packages have what policy wants, lintian finds nothing, and installed by dpkg
# the program answers the quickstart from `/` and is removed again. What needs root, dpkg or lintian is skipped without them.
# usage: package.sh BUILD_DIR SOURCE_DIR
set -euo pipefail

build=$(realpath -- "$1")
source=$(realpath -- "$2")
tmp=$(realpath -- "$(mktemp -d)")
installed=()
clean_up ()
{
  [ ${#installed[@]} -eq 0 ] || dpkg --purge "${installed[@]}" >/dev/null 2>&1 || true
  rm -rf -- "$tmp"
}
trap clean_up EXIT
unset FORERUN_DATA
failed=0
fail ()
{
  echo "FAILED: $*"
  failed=1
}
pack () # generator
{
  (cd -- "$build" && cpack -G "$1" -B "$tmp/$1") >"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
}
quickstart () # program, answer: from /
{
  (cd / && "$1" run quickstart --format tsv --quiet) >"$2" 2>"$tmp/err" || fail "$1 run quickstart: $(cat "$tmp/err")"
}
quickstart "$build/forerun" "$tmp/expected"
[ -s "$tmp/expected" ] || { echo "FAILED: the build answers nothing"; exit 1; }

# ---- the list of dependencies ----
spdx=$build/forerun.spdx.json
grep -q '"spdxVersion": "SPDX-2.3"' "$spdx" || fail "$spdx has no version"
if command -v python3 >/dev/null; then
  python3 -m json.tool "$spdx" >"$tmp/json" || fail "$spdx is not JSON"
fi
sed -nE 's/^pkg_check_modules\([A-Z_]+ REQUIRED IMPORTED_TARGET ([^)]*)\)/\1/p' "$source/cmake/Packages.cmake" |
  tr ' ' '\n' | sed 's/[<>=].*//' | sort >"$tmp/modules"
sed -nE 's/.*\{"name": "([^"]+)".*"versionInfo": "([^"]*)".*/\1 \2/p' "$spdx" |
  grep -vE '^(forerun|mpi|xlsxwriter|sqlite3|libprotobuf-c) ' | sort >"$tmp/listed"
while read -r module; do
  echo "$module $(pkg-config --modversion "$module")"
done <"$tmp/modules" >"$tmp/found"
[ "$(wc -l <"$tmp/found")" -ge 7 ] || fail "cmake/Packages.cmake names $(wc -l <"$tmp/found") modules"
diff "$tmp/found" "$tmp/listed" || fail "$spdx lists other modules or versions than cmake/Packages.cmake finds"

# ---- the archive ----
pack TGZ
mkdir "$tmp/unpacked"
tar -xzf "$tmp"/TGZ/forerun-*.tar.gz -C "$tmp/unpacked" --strip-components 1
quickstart "$tmp/unpacked/bin/forerun" "$tmp/answer"
cmp "$tmp/expected" "$tmp/answer" || fail "the unpacked program answers otherwise"
host=$(getconf GNU_LIBC_VERSION | cut -d ' ' -f 2)
for file in "$tmp/unpacked/bin/forerun" "$(find "$tmp/unpacked" -name 'libforerun.so.*' -type f)"; do
  needed=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
  [ -n "$needed" ] || fail "${file##*/} names no symbol of glibc"
  if [ "$(printf '%s\n2.36\n' "$needed" | sort -V | tail -n 1)" != 2.36 ]; then
    if [ "$(printf '%s\n2.36\n' "$host" | sort -V | tail -n 1)" = 2.36 ]; then
      fail "${file##*/} needs glibc $needed; 2.36 is the newest accepted"
    else
      echo "skipped: this machine has glibc $host; an archive for others is built on Debian 12 (Containerfile)"
    fi
  fi
done

# ---- Debian ----
if ! command -v dpkg-deb >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
  echo "skipped: no dpkg-deb or dpkg-shlibdeps here (package dpkg-dev)"
  [ "$failed" -eq 0 ] && exit 77
  exit 1
fi
pack DEB
debs=("$tmp"/DEB/*.deb)
names=$(for deb in "${debs[@]}"; do dpkg-deb -f "$deb" Package; done | sort | tr '\n' ' ')
[ "$names" = "forerun forerun-doc libforerun-dev libforerun0 " ] || fail "packages: $names"
for deb in "${debs[@]}"; do
  name=$(dpkg-deb -f "$deb" Package)
  dpkg-deb -c "$deb" >"$tmp/list"
  for file in copyright changelog.Debian.gz changelog.gz; do
    grep -q " ./usr/share/doc/$name/$file\$" "$tmp/list" || fail "$name has no $file"
  done
  if grep -q 'share/man/.*\.[0-9]$' "$tmp/list"; then fail "$name has a manual page that is not compressed"; fi
done
depends=$(dpkg-deb -f "$tmp"/DEB/forerun_*.deb Depends)
for library in libc6 libglib2.0 libjson-glib libyaml libnlopt liblapacke; do
  [[ $depends == *$library* ]] || fail "forerun does not depend on $library: $depends"
done
if grep -q '"name": "xlsxwriter"' "$spdx" && [[ $depends != *libxlsxwriter* ]]; then
  fail "forerun is built with libxlsxwriter and does not depend on it: $depends"
fi
if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning "${debs[@]}" || fail "lintian"
else
  echo "skipped: no lintian here"
fi

there=$(dpkg-query -W -f '${db:Status-Status} ' forerun libforerun0 libforerun-dev forerun-doc 2>/dev/null || true)
if [ "$(id -u)" -ne 0 ] || [[ $there == *installed* && $there != *not-installed* ]]; then
  echo "skipped: packages are installed by root only, and where none of them is installed"
  [ "$failed" -eq 0 ] && exit 77
  exit 1
fi
installed=(forerun-doc libforerun-dev libforerun0 forerun)
dpkg -i "${debs[@]}" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "dpkg -i"; }
quickstart /usr/bin/forerun "$tmp/answer"
cmp "$tmp/expected" "$tmp/answer" || fail "the installed program answers otherwise"
/usr/bin/forerun --version --json | grep -q '"data" : "/usr/share/forerun"' || fail "the installed program reads other data"
gzip -dc /usr/share/man/man1/forerun-plan.1.gz | grep -q '^\.TH' || fail "no manual page is installed"
if command -v cc >/dev/null && ! objdump -T /usr/lib/libforerun.so.0 2>/dev/null | grep -Eq '__asan|__gcov'; then
  read -ra flags < <(pkg-config --cflags --libs forerun)
  cc "$source/docs/examples/predict.c" "${flags[@]}" -o "$tmp/predict" || fail "libforerun-dev: predict.c does not compile"
  (cd / && "$tmp/predict" quickstart -- time_s) >"$tmp/answer" 2>"$tmp/err" || fail "predict: $(cat "$tmp/err")"
fi
dpkg --purge "${installed[@]}" >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "dpkg --purge"; }
installed=()
left=$(find /usr/bin /usr/lib /usr/share -path '*forerun*' -not -path "$source/*" 2>/dev/null | head -n 5)
[ -z "$left" ] || fail "left behind: $left"

[ "$failed" -ne 0 ] || echo "packages are whole, and what they install works"
exit "$failed"
