#!/usr/bin/env bash
# docs/architecture.md is what is built. Its picture shows tests/layers.txt, each layer has a paragraph that names its folder and
# its prefix, and the functions of its walk are in the files that the table names and are called in the table's order (seen by
# gdb).
#   usage: architecture.sh SOURCE_DIR FORERUN
#          architecture.sh --write SOURCE_DIR     writes docs/images/layers.{dot,svg} and the files of the walk's functions
set -euo pipefail

write=
if [ "${1:-}" = --write ]; then
  write=1
  shift
fi
[ $# -eq $((write ? 1 : 2)) ] || { sed -n '5,6s/^# *//p' "$0" >&2; exit 2; }
forerun=$([ -n "$write" ] || realpath -- "$2")
cd -- "$1"
page=docs/architecture.md
picture=docs/images/layers
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
wrong=0

fail () # message
{
  echo "FAILED: $1"
  wrong=1
}

# The picture's text: a box a layer, with its title on the page; arrows as the rows have them, without those that follow from
# others.
draw ()
{
  awk '
    FILENAME == ARGV[1] { # ### `base`: units, YAML, schemas, tables
      if (sub (/^### `/, "")) {
        name = $0
        sub (/`.*/, "", name)
        sub (/^[^:]*: */, "")
        job[name] = $0
      }
      next
    }
    /^#/ || NF < 3 || $1 ~ /\// { next }
    {
      order[++n] = $1
      folder[$1] = $2
      for (i = 4; i <= NF; i++)
        from[$1, $i] = 1
    }
    function reached (to, by) { # a row has all that it may include, so that one step is enough
      for (k = 1; k <= n; k++)
        if (from[to, order[k]] && from[order[k], by])
          return 1
      return 0
    }
    END {
      print "// The layers of tests/layers.txt; made by tests/architecture.sh --write, and a test compares."
      print "digraph layers {"
      print "  graph [rankdir=TB, nodesep=0.25, ranksep=0.3, margin=0]"
      print "  node [shape=box, style=filled, fillcolor=\"#eaf2fb\", color=\"#3b6ea5\", fontname=\"Helvetica\", fontsize=11]"
      print "  edge [color=\"#3b6ea5\", arrowsize=0.7]"
      for (i = 1; i <= n; i++)
        printf "  %s [label=<<b>%s</b>%s<br/><font point-size=\"9\">%s</font>>]\n", order[i], order[i],
          folder[order[i]] == order[i] ? "" : "  " folder[order[i]],
          order[i] in job ? job[order[i]] : "no paragraph"
      for (i = 1; i <= n; i++)
        for (j = 1; j < i; j++)
          if (from[order[i], order[j]] && !reached(order[i], order[j]))
            printf "  %s -> %s\n", order[j], order[i]
      print "  node [shape=note, fillcolor=\"#fff8e1\", color=\"#a67c00\", fontsize=10]"
      print "  edge [color=\"#a67c00\", style=dashed]"
      print "  topologies [label=\"topologies/*.yaml\"]"
      print "  constants_files [label=\"calibrate/defaults/*.yaml\"]"
      print "  scenarios [label=\"scenarios/*.yaml\"]"
      print "  measurements [label=\"measurements\"]"
      print "  answer [label=\"text, JSON, TSV, SVG, HTML\"]"
      print "  topologies -> cluster"
      print "  constants_files -> constants"
      print "  scenarios -> scenario"
      print "  measurements -> calibrate"
      print "  cli -> answer"
      print "  programs [label=\"your own programs\"]"
      print "  api -> programs"
      print "}"
    }' "$page" tests/layers.txt
}

titles () # of boxes and arrows of an SVG, whatever version of Graphviz drew it
{
  grep -o '<title>[^<]*</title>' "$1" | LC_ALL=C sort
}

check_picture ()
{
  diff -u -- "$picture.dot" "$tmp/layers.dot" ||
    fail "$picture.dot is not what tests/layers.txt and $page say; architecture.sh --write"
  command -v dot >/dev/null || { echo "not drawn: no dot (package graphviz)"; return; }
  dot -Tsvg "$tmp/layers.dot" >"$tmp/layers.svg"
  cmp -s <(titles "$picture.svg") <(titles "$tmp/layers.svg") ||
    fail "$picture.svg is not drawn from $picture.dot; architecture.sh --write"
}

check_paragraphs ()
{
  local layer folder prefix
  while read -r layer folder prefix _; do
    grep -A1 -- "^### \`$layer\`: ." "$page" | grep -F -- "\`$folder\`, prefix \`${prefix}_\`." >/dev/null ||
      fail "$page: no paragraph '### \`$layer\`: …' that begins with '\`$folder\`, prefix \`${prefix}_\`.'"
  done < <(grep -v '^#' tests/layers.txt | awk 'NF >= 3 && $1 !~ /\//')
  while read -r layer; do
    grep -q "^$layer " tests/layers.txt || fail "$page: '$layer' is no row of tests/layers.txt"
  done < <(sed -n 's/^### `\([^`]*\)`.*/\1/p' "$page")
}

walk () # rows of the table: function file
{
  sed -n 's/^| `\([a-z_0-9]*\)` | \([^ ]*\.c\) |.*/\1 \2/p' "$page"
}

defines () # function file
{
  [ -f "$2" ] && grep -q "^$1 (" "$2"
}

check_walk ()
{
  local name file header
  while read -r name file; do
    defines "$name" "$file" || fail "$page: $file does not define $name; architecture.sh --write finds where it is"
  done < <(walk)
  while read -r header; do
    find sim models calibrate -path "*/include/$header" | grep . >/dev/null || fail "$page: no header $header"
  done < <(grep -o '`[a-z]*/[a-z_]*\.h`' "$page" | tr -d '`')
}

# Each function stops the program once; what gdb says is the order. A compiler may have put a few into their callers.
check_order ()
{
  command -v gdb >/dev/null || { echo "order of the walk not checked: no gdb"; return; }
  walk | while read -r name _; do
    echo "tbreak $name"
  done >"$tmp/commands"
  { echo 'run'; walk | sed 's/.*/continue/'; } >>"$tmp/commands"
  FORERUN_DATA=$PWD ASAN_OPTIONS=detect_leaks=0 timeout 100 gdb -q -batch -iex 'set debuginfod enabled off' -x "$tmp/commands" \
    --args "$forerun" run scenarios/quickstart.yaml >"$tmp/gdb" 2>&1 || true
  if grep -q 'ptrace\|not permitted' "$tmp/gdb" || ! grep -q '^Temporary breakpoint .* main (' "$tmp/gdb"; then
    echo "order of the walk not checked: gdb may not run the program here"
    return
  fi
  sed -En 's/^(Thread .* hit )?Temporary breakpoint [0-9]+, (0x[0-9a-f]+ in )?([a-z_0-9]+) \(.*/\3/p' "$tmp/gdb" \
    >"$tmp/called"
  walk | cut -d ' ' -f 1 | grep -Fx -f "$tmp/called" >"$tmp/told"
  diff -u -- "$tmp/told" "$tmp/called" || fail "$page: the walk's functions (-) are called in another order (+)"
  local missing
  missing=$(walk | cut -d ' ' -f 1 | grep -vFx -f "$tmp/called" | tr '\n' ' ' || true)
  [ "$(wc -w <<<"$missing")" -le 4 ] || fail "$page: the walk names functions that are not called: $missing"
}

# Files move; the walk follows.
renew_walk ()
{
  local name file now
  while read -r name file; do
    defines "$name" "$file" && continue
    now=$(grep -rl --include='*.c' "^$name (" sim models calibrate || true)
    if [ "$(wc -w <<<"$now")" -eq 1 ]; then
      sed -i "s#^| \`$name\` | $file |#| \`$name\` | $now |#" "$page"
    else
      fail "$page: $name is defined in $(wc -w <<<"$now") files; mend its row"
    fi
  done < <(walk)
}

draw >"$tmp/layers.dot"
if [ -n "$write" ]; then
  cp -- "$tmp/layers.dot" "$picture.dot"
  dot -Tsvg "$picture.dot" >"$picture.svg"
  renew_walk
  exit "$wrong"
fi
check_picture
check_paragraphs
check_walk
check_order
[ "$wrong" -ne 0 ] || echo "$page is what is built: $(grep -c '^### ' "$page") layers, $(walk | wc -l) functions in order"
exit "$wrong"
