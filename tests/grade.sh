#!/usr/bin/env bash
# Reading grade of the prose in Markdown pages. usage: grade.sh [--check MOST | --prose] FILE.md…
# Prints page, words of prose and Flesch-Kincaid grade, separated by tabs. --check exits 1 if a page is above MOST; --prose prints
# the text that is graded. Exits 77 without `style` (Debian package diction), 2 if a file has no prose or cannot be read.
# Code blocks, tables, headings, images, comments, tags and link targets are removed. Inline code and names or numbers with digits
# count as one short word. A list item is a paragraph, and a paragraph ends with a full stop.
set -euo pipefail
export LC_ALL=C

# `style` begins a sentence with a capital letter only, and drops what it does not take for a sentence. It ends one at a colon and
# at the dot of an abbreviation. So each sentence gets a capital, and a colon becomes a comma.
prose () # file: prints one paragraph a line, with an empty line after each
{
  awk '
    function words (from,    list, n, i, lead, tail, to) { # names and numbers with digits become a word; signs are left out
      to = ""
      n = split (from, list, /[ \t]+/)
      for (i = 1; i <= n; i++) {
        if (list[i] !~ /[A-Za-z0-9.!?()]/)
          continue
        if (list[i] ~ /[0-9]/) {
          lead = tail = list[i]
          sub (/[^(].*/, "", lead)
          if (!match (tail, /[^A-Za-z0-9]+$/))
            tail = ""
          else
            tail = substr (tail, RSTART)
          list[i] = lead "ten" tail
        }
        to = to " " list[i]
      }
      return to
    }
    function put (    link, at) { # the paragraph collected so far, if it has words
      gsub (/``[^`]+``|`[^`]+`/, "code", text)
      gsub (/!\[[^]]*\]\([^)]*\)/, " ", text)
      while (match (text, /\[[^][]*\](\([^)]*\)|\[[^]]*\])/)) {
        link = substr (text, RSTART, RLENGTH)
        at = index (link, "]")
        text = substr (text, 1, RSTART - 1) substr (link, 2, at - 2) substr (text, RSTART + RLENGTH)
      }
      gsub (/<[A-Za-z\/][^>]*>|&[a-z]+;|https?:[^ )]*/, " ", text)
      gsub (/[\200-\377]+/, " ", text) # dashes, multiplication signs, arrows
      gsub (/\*|"/, "", text)
      gsub (/e\.g\./, "eg", text)
      gsub (/i\.e\./, "ie", text)
      gsub (/vs\./, "vs", text)
      while (match (text, /(etc|al)\. [a-z(]/))
        text = substr (text, 1, RSTART + RLENGTH - 4) substr (text, RSTART + RLENGTH - 2)
      gsub (/:/, ",", text)
      text = words(text)
      gsub (/[ \t]+/, " ", text)
      gsub (/^ | $/, "", text)
      sub (/ *[:;,]?$/, ".", text)
      sub (/[.!?]+\.$/, ".", text)
      sub (/[.!?]+\)\.$/, ").", text)
      while (match (text, /^[( ]*[a-z]|[.!?]\)* [( ]*[a-z]/)) {
        at = RSTART + RLENGTH - 1
        text = substr (text, 1, at - 1) toupper (substr (text, at, 1)) substr (text, at + 1)
      }
      if (text ~ /[A-Za-z]/)
        print text "\n"
      text = ""
    }
    {
      line = $0
      while (match (line, /<!--.*-->/))
        line = substr (line, 1, RSTART - 1) substr (line, RSTART + RLENGTH)
      if (comment && sub (/.*-->/, "", line))
        comment = 0
      if (comment)
        next
      comment = sub (/<!--.*/, "", line)
    }
    line ~ /^[ \t]*(```|~~~)/ { put (); fenced = !fenced; next }
    fenced { next }
    line ~ /^[ \t]*$/ { put (); indented = 1; next }
    indented && line ~ /^(    |\t)/ { next } # code: an indented block behind an empty line
    { indented = 0 }
    { sub (/^[ \t]*(>[ \t]*)+/, "", line) }
    line ~ /^[ \t]*\||^#|^[ \t]*(---|===)|^\[[^]]+\]:/ { put (); next }
    line ~ /^[ \t]*([-*+]|[0-9]+[.)])[ \t]/ { put (); sub (/^[ \t]*([-*+]|[0-9]+[.)])[ \t]+/, "", line) }
    { text = text " " line }
    END { put () }' "$1"
}

usage ()
{
  sed -n '2s/^# .*usage: //p' "$0" >&2
  exit 2
}

most='' what=grade
case ${1:-} in
  --check)
    most=${2:-}
    [[ $most =~ ^[0-9]+(\.[0-9]+)?$ ]] || usage
    shift 2
    ;;
  --prose)
    what=prose
    shift
    ;;
esac
[ $# -gt 0 ] || usage
if [ "$what" = prose ]; then
  for page; do
    prose "$page"
  done
  exit
fi
command -v style >/dev/null || { echo "skipped: style is not installed (apt-get install diction)" >&2; exit 77; }
over=0
for page; do
  [ -r "$page" ] || { echo "$page: cannot be read" >&2; exit 2; }
  said=$(prose "$page" | style --language en)
  row=$(awk -v page="$page" '
    $1 == "Kincaid:" { grade = $2 }
    $2 == "words," { words = $1 }
    END { if (words > 0) printf "%s\t%d\t%.1f\n", page, words, grade }' <<<"$said")
  [ -n "$row" ] || { echo "$page: no prose" >&2; exit 2; }
  printf '%s\n' "$row"
  if [ -n "$most" ] && awk -v grade="${row##*$'\t'}" -v most="$most" 'BEGIN { exit !(grade > most) }'; then
    echo "$page: reading grade ${row##*$'\t'}; $most is accepted" >&2
    over=1
  fi
done
exit "$over"
