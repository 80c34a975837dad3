#!/usr/bin/env bash
# What only the linker sees: who uses whose names. No folders of the layers (a layer's subfolders counted as folders of their own)
# use each other in a circle; inside a folder no circle holds more than three files; a name that other files can see begins with
# its layer's prefix. What breaks this today stands in tests/limits.txt.
#   usage: cycles.sh SOURCE_DIR BUILD_DIR OBJECTS     OBJECTS: a file with the path of each library's object, one a line
#          cycles.sh --graph SOURCE_DIR BUILD_DIR OBJECTS     prints who uses whom instead: file, file, name
#          cycles.sh --self-test
set -euo pipefail

names () # build folder, list of objects: "source d name" of each name that is defined, "source u name" of each that is used
{
  xargs -d '\n' nm -A -P -g <"$2" | awk -v build="$1/" '
    {
      file = $1
      sub (/:$/, "", file)
      if (index (file, build) == 1)
        file = substr (file, length (build) + 1)
      sub (/CMakeFiles\/[^\/]*\.dir\/(\.\/)?/, "", file)
      sub (/\.o$/, "", file)
      if ($3 == "U" || $3 == "w" || $3 == "v")
        print file, "u", $2
      else
        print file, "d", $2
    }'
}

# Edges between files: "user owner name", sorted.
edges ()
{
  LC_ALL=C sort -k 2,2 | awk '
    $2 == "d" { owner[$3] = $1; next }
    $3 in owner && owner[$3] != $1 { print $1, owner[$3], $3 }' | LC_ALL=C sort
}

# Circles, by Tarjan's search: "cycle FOLDER<tab>message" of files, "folders FOLDER<tab>message" of folders, below FOLDER.
circles () # filters edges
{
  awk '
    function folder (file) { sub (/\/[^\/]*$/, "", file); return file }
    function add (graph, from, to, why) {
      if ((graph, from, to) in seen)
        return
      seen[graph, from, to] = why
      if (!((graph, from) in n_next))
        nodes[graph] = nodes[graph] " " from
      next_of[graph, from, ++n_next[graph, from]] = to
    }
    function visit (graph, v,    i, w, ring) {
      low[graph, v] = at[graph, v] = ++count
      stack[++top] = v
      inside[graph, v] = 1
      for (i = 1; i <= n_next[graph, v]; i++) {
        w = next_of[graph, v, i]
        if (!((graph, w) in at)) {
          visit(graph, w)
          if (low[graph, w] < low[graph, v])
            low[graph, v] = low[graph, w]
        } else if (inside[graph, w] && at[graph, w] < low[graph, v])
          low[graph, v] = at[graph, w]
      }
      if (low[graph, v] != at[graph, v])
        return
      ring = ""
      size = 0
      do {
        w = stack[top--]
        inside[graph, w] = 0
        ring = ring (size++ ? " " : "") w
      } while (w != v)
      if (size > (graph == "folders" ? 1 : 3))
        tell(graph, ring)
    }
    function common (a, b) { # the deepest folder that holds both
      while (a != b)
        if (length (a) > length (b))
          sub (/\/?[^\/]*$/, "", a)
        else
          sub (/\/?[^\/]*$/, "", b)
      return a
    }
    function tell (graph, ring,    member, n, i, j, what, key) {
      n = split (ring, member, " ")
      for (i = 2; i <= n; i++) # sorted
        for (j = i; j > 1 && member[j] < member[j - 1]; j--) {
          what = member[j]
          member[j] = member[j - 1]
          member[j - 1] = what
        }
      key = "cycle " graph
      if (graph == "folders") {
        key = member[1]
        for (i = 2; i <= n; i++)
          key = common(key, member[i])
        key = "folders " (key == "" ? "." : key)
      }
      printf "%s\t%s: %d %s use each other in a circle", key, member[1], n, graph == "folders" ? "folders" : "files"
      for (i = 1; i <= n; i++)
        for (j = 1; j <= n; j++)
          if ((graph, member[i], member[j]) in seen)
            printf "; %s", seen[graph, member[i], member[j]]
      print ""
    }
    {
      from = folder($1)
      to = folder($2)
      if (from == to) {
        add(from, $1, $2, base($1) " of " base($2) ": " $3)
        all[from] = 1
      } else
        add("folders", from, to, $1 " of " $2 ": " $3)
    }
    function base (file) { sub (/.*\//, "", file); return file }
    END {
      all["folders"] = 1
      for (graph in all) {
        n_nodes = split (nodes[graph], list, " ")
        for (k = 1; k <= n_nodes; k++)
          if (!((graph, list[k]) in at))
            visit(graph, list[k])
      }
    }'
}

# Visible names without their layer's prefix: "prefix NAME<tab>message".
strangers () # layers.txt; filters names
{
  awk '
    FILENAME == ARGV[1] {
      if ($0 !~ /^#/ && NF >= 3 && $1 !~ /\//)
        prefix[$2] = $3 "_"
      next
    }
    $2 == "d" {
      layer = ""
      for (folder in prefix)
        if (index ($1, folder "/") == 1)
          layer = folder
      if (layer == "" && !told[$1]++)
        print "prefix " $3 "\t" $1 ": of no layer that layers.txt names"
      else if (layer != "" && index ($3, prefix[layer]) != 1)
        print "prefix " $3 "\t" $1 ": " $3 " is seen by other files and does not begin with " prefix[layer]
    }' "$1" -
}

# Findings but those that limits.txt names; a row that names none is a finding.
limited () # limits.txt; filters findings
{
  awk -F '\t' '
    FILENAME == ARGV[1] {
      if ($0 ~ /^(cycle|folders|prefix) [^ ]+$/) {
        line[$0] = FNR
        used[$0] = 0
      }
      next
    }
    $1 in used { used[$1] = 1; next }
    { rule = $1; sub (/ .*/, "", rule); print $2 " [" rule "]" }
    END {
      for (key in used)
        if (!used[key])
          print ARGV[1] ":" line[key] ": nothing breaks \"" key "\" any more: delete the row [limits]"
    }' "$1" - | LC_ALL=C sort
}

check () # layers.txt, limits.txt; names on stdin
{
  cat >"$tmp/names"
  edges <"$tmp/names" >"$tmp/edges"
  { circles <"$tmp/edges"; strangers "$1" <"$tmp/names"; } | limited "$2"
}

# Every rule must find what it is for, and leave the innocent alone.
self_test ()
{
  local wrong=0 got
  printf '# layer folder prefix may include\nlow sim/low low\nhigh sim/high high low\n' >"$tmp/layers.txt"
  expect () # finding or ''; row of limits.txt; names "file d|u name", divided by commas
  {
    printf '%s\n' "$2" >"$tmp/limits.txt"
    got=$(tr ',' '\n' <<<"$3" | check "$tmp/layers.txt" "$tmp/limits.txt")
    if [ -z "$1" ]; then
      [ -n "$got" ] || return 0
    elif [ "$(wc -l <<<"$got")" -eq 1 ] && [[ $got == *"$1"* ]]; then
      return 0
    fi
    printf 'FAILED: <<%s>> with <<%s>> should give <<%s>>, gave:\n%s\n' "$3" "$2" "$1" "$got"
    wrong=1
  }
  local two three four folders
  two="sim/low/a.c d low_a,sim/low/b.c d low_b,sim/low/a.c u low_b,sim/low/b.c u low_a"
  three="$two,sim/low/b.c u low_c,sim/low/c.c d low_c,sim/low/c.c u low_a"
  four="$three,sim/low/c.c u low_d,sim/low/d.c d low_d,sim/low/d.c u low_b,sim/low/d.c u puts"
  folders="sim/low/a.c d low_a,sim/low/x/b.c d low_b,sim/low/y/c.c d low_c,sim/low/a.c u low_b,sim/low/x/b.c u low_c"
  expect '' '' "$two"
  expect '' '' "$three"
  expect 'sim/low/a.c: 4 files use each other in a circle; a.c of b.c: low_b; b.c of a.c: low_a; b.c of c.c: low_c; ' '' "$four"
  expect '' 'cycle sim/low' "$four"
  expect 'limits.txt:1: nothing breaks "cycle sim/low" any more' 'cycle sim/low' "$three"
  expect '' '' "$folders"
  expect 'sim/low: 3 folders use each other in a circle; sim/low/a.c of sim/low/x/b.c: low_b; ' '' "$folders,sim/low/y/c.c u low_a"
  expect '' 'folders sim/low' "$folders,sim/low/y/c.c u low_a"
  expect 'limits.txt:1: nothing breaks "folders sim/low" any more' 'folders sim/low' "$folders"
  folders='sim/low/a.c d low_a,sim/high/b.c d high_b,sim/low/a.c u high_b,sim/high/b.c u low_a'
  expect 'sim/high: 2 folders use each other' '' "$folders"
  expect '' 'folders sim' "$folders"
  expect 'sim/low/a.c: high_a is seen by other files' '' 'sim/low/a.c d high_a'
  expect '' 'prefix high_a' 'sim/low/a.c d high_a'
  expect 'limits.txt:1: nothing breaks' 'prefix high_a' 'sim/low/a.c d low_a'
  expect 'sim/none/a.c: of no layer' '' 'sim/none/a.c d low_a'
  [ "$wrong" -ne 0 ] || echo "every rule finds what it is for"
  return "$wrong"
}

tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
graph=
if [ "${1:-}" = --graph ]; then
  graph=1
  shift
fi
if [ "${1:-}" = --self-test ]; then
  self_test
  exit
fi
[ $# -eq 3 ] || { sed -n '5,7s/^# *//p' "$0" >&2; exit 2; }
names "$2" "$3" >"$tmp/all"
if [ -n "$graph" ]; then
  edges <"$tmp/all"
  exit
fi
cd -- "$1"
check tests/layers.txt tests/limits.txt <"$tmp/all" >"$tmp/found"
files=$(wc -l <"$3")
uses=$(wc -l <"$tmp/edges")
[ "$files" -gt 0 ] && [ "$uses" -ge "$files" ] ||
  { echo "FAILED: $files files use $uses names of each other: nm says too little"; exit 1; }
if [ -s "$tmp/found" ]; then
  sed 's/; /\n    /g' "$tmp/found"
  echo "$(wc -l <"$tmp/found") findings"
  exit 1
fi
echo "$files files use $uses names of each other: nothing found"
