#!/usr/bin/env bash
# Runs the commands of docs/pictures.md, and says which of its pictures they did not draw.
#
#   plots/gallery.sh FORERUN FOLDER     (to renew the page's: docs/images)
set -euo pipefail
forerun=$(realpath -- "${1:?which forerun?}")
folder=${2:?into which folder?}
page=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)/docs/pictures.md
if ! command -v gnuplot >/dev/null; then
  echo "skipped: no gnuplot here"
  exit 77
fi
mkdir -p -- "$folder"
cd -- "$folder"
commands=$(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page")
n=0
while IFS= read -r command; do
  eval "\"\$forerun\" ${command#forerun }" >/dev/null
  n=$((n + 1))
done <<<"$commands"
missing=0
for picture in $(sed -n 's/^!\[.*\](images\/\(.*\))$/\1/p' "$page"); do
  [ -s "$picture" ] || { echo "FAILED: no command of $page drew $picture"; missing=1; continue; }
  # The title, in the largest letters, has a figure.
  case $picture in
    *.svg)
      grep -A 1 'font-size="20' "$picture" | grep -o '<text>[^<]*\|<tspan[^<]*' | grep -q '[0-9]' ||
        { echo "FAILED: the title of $picture has no figure"; missing=1; }
      ;;
  esac
done
echo "$n commands drew $(sed -n 's/^!\[.*\](images\/\(.*\))$/\1/p' "$page" | wc -l) pictures"
exit $missing
