#!/usr/bin/env bash
# Rules of the house that a compiler does not check. usage: lint.sh SOURCE_DIR; lint.sh --self-test
#   layers        tests/layers.txt: each row's folder is there, and a row names earlier rows only, so that no arrow runs back
#   includes      a layer includes itself and what layers.txt allows, a subfolder with a row of its own what that row allows; a
#                 header that is not under include/ is seen within its layer's own folders only
#   process       only sim/cli prints, logs or ends the process; stdout and stderr are named there and in sim/base/output.c alone
#   files         files are opened by sim/base/file.c and sim/base/output.c alone, which know the sandbox
#   determinism   no wall clock, no process-wide random numbers, no process identity outside tests
#   locale        numbers are read by g_ascii_strtod and the unit parser: no function that follows the locale or hides errors
#   length        no line over 132 characters
#   file, function, parameters, folder
#                 no file over 700 lines; no function over 60 lines or with more than 7 parameters; no folder of a layer, subfolders
#                 counted alone, over 6,000 lines or 35 C files. What is over today stands in tests/limits.txt
#   limits        each row of tests/limits.txt is still needed: the list can only shrink
#   links         a relative link in a Markdown file leads to a file that is there
#   whitespace    no tabs in C, no blanks at the end of a line, a line end at the end of a file
# What only the linker sees (cycles between files and folders) is checked by tests/cycles.sh after a build.
set -euo pipefail

# Comments and the insides of strings become blanks, so that what a pattern finds is code.
code_of () # file...: prints file:line:code
{
  [ $# -eq 0 ] || LC_ALL=C awk '
    FNR == 1 { in_comment = 0 }
    {
      rest = $0
      code = ""
      while (rest != "") {
        if (in_comment) {
          end = index (rest, "*/")
          if (end == 0)
            break
          rest = substr (rest, end + 2)
          in_comment = 0
          code = code " "
        } else if (match (rest, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)+\047/)) {
          what = substr (rest, RSTART, 2)
          code = code substr (rest, 1, RSTART - 1)
          if (what == "//")
            break
          in_comment = what == "/*"
          if (!in_comment)
            code = code "\"\""
          rest = substr (rest, RSTART + RLENGTH)
        } else {
          code = code rest
          break
        }
      }
      print FILENAME ":" FNR ":" code
    }' "$@"
}

# Calls of the functions named: not members (x->time (…)), not parts of longer names, not declarations of their own.
calls () # alternatives; filters file:line:code
{
  LC_ALL=C grep -P '^[^:]*:\d+:.*(?<![\w.>])('"$1"')\s*\(' || true
}

# Rows of layers.txt: layer, folder, prefix, what it may include. A row LAYER/SUB is of a subfolder, and names what of its own layer
# it may include: subfolders as LAYER/OTHER, the files beside them as LAYER.
check_layers () # prints findings
{
  awk '
    /^#/ || NF == 0 { next }
    {
      at = FILENAME ":" FNR ": "
      if (NF < 3)
        print at "a row is: layer, folder, prefix, what it may include"
      else if ($1 in row)
        print at "\"" $1 "\" has a row already"
      else if (system ("test -d " $2) != 0)
        print at "no folder " $2
      own = $1
      sub (/\/.*/, "", own)
      if (own != $1 && !(own in row))
        print at "\"" own "\" has no earlier row"
      for (i = 4; i <= NF; i++)
        if (!($i in row))
          print at "\"" $i "\" has no earlier row"
        else if (own != $1 && $i != own && index ($i, own "/") != 1)
          print at "\"" $i "\" is not of " own ": a row of a subfolder names folders of its own layer"
      row[$1] = 1
    }' tests/layers.txt
}

# Each file is given twice: first all names, so that it is known what is there, then all lines.
check_includes () # file...: prints findings
{
  printf '%s\n' "$@" | awk '
    function folder_of (path) { return substr (path, 1, length (path) - length (base_of(path)) - 1) }
    function base_of (path) { sub (/.*\//, "", path); return path }
    function owner (dir,    best, r) { # the row whose folder holds this one; a deeper one wins
      if (dir in owners)
        return owners[dir]
      best = ""
      for (r in folder)
        if (index (dir "/", folder[r] "/") == 1 && (best == "" || length (folder[r]) > length (folder[best])))
          best = r
      return owners[dir] = best
    }
    function allows (r, other) { return r == other || index (allowed[r] " ", " " other " ") > 0 }
    function public (name,    r) { # in the include folder of a layer that this one may include
      for (r in folder)
        if (allows(layer, r) && (folder[r] "/include/" name) in there)
          return 1
      return 0
    }
    FILENAME == ARGV[1] {
      if ($0 !~ /^#/ && NF >= 3) {
        folder[$1] = $2
        allowed[$1] = ""
        for (i = 4; i <= NF; i++)
          allowed[$1] = allowed[$1] " " $i
      }
      next
    }
    FILENAME == "-" {
      there[$0] = 1
      if ($0 !~ /\/include\//) { # the compiler looks for a bare name in all folders of a layer
        layer = owner(folder_of($0))
        sub (/\/.*/, "", layer)
        name = layer "/" base_of($0)
        if (name in home)
          home[name] = "two"
        else
          home[name] = $0
      }
      next
    }
    FNR == 1 {
      dir = folder_of(FILENAME)
      row = owner(dir)
      layer = row
      sub (/\/.*/, "", layer)
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
      name = $0
      sub (/^[^"]*"/, "", name)
      sub (/".*/, "", name)
      at = FILENAME ":" FNR ": \"" name "\" "
      target = (dir "/" name) in there ? dir "/" name : folder[layer] "/" name
      if (!(target in there) && (layer "/" name) in home)
        target = home[layer "/" name]
      if (layer == "")
        print FILENAME ":" FNR ": in no layer that layers.txt names"
      else if (name ~ /\.\./)
        print at "goes up; include a public header as \"layer/name.h\""
      else if (target == "two")
        print at "is in more than one folder of " layer "; include it as \"folder/name.h\""
      else if (target in there) { # of the layer itself, and not public: by its place beside, or from the folder of the layer
        to = owner(folder_of(target))
        if (row != layer && to != row && !allows(row, to))
          print at "is not for " row ", which may include:" allowed[row]
      } else if (name ~ /-private\.h$/)
        print at "is private to its layer"
      else if (name ~ /\//) {
        other = name
        sub (/\/.*/, "", other)
        if (!(other in folder) || !allows(layer, other))
          print at "is not for " layer ", which may include:" allowed[layer]
      } else if (!public(name))
        print at "is not in " folder[layer]
    }' tests/layers.txt - "$@"
}

# Findings come as "rule key<tab>message". Those that tests/limits.txt names are dropped; a row that names none is a finding.
# Rows of the rules of tests/cycles.sh are its own business.
limited ()
{
  awk -F '\t' '
    FILENAME == ARGV[1] {
      if ($0 ~ /^(file|function|parameters|folder) [^ ]+$/) {
        line[$0] = FNR
        used[$0] = 0
      } else if ($0 !~ /^#/ && $0 !~ /^[ \t]*$/ && $0 !~ /^(cycle|folders|prefix) [^ ]+$/)
        print ARGV[1] ":" FNR ": no RULE KEY: \"" $0 "\" [limits]"
      next
    }
    $1 in used { used[$1] = 1; next }
    { rule = $1; sub (/ .*/, "", rule); print $2 " [" rule "]" }
    END {
      for (key in used)
        if (!used[key])
          print ARGV[1] ":" line[key] ": nothing is over \"" key "\" any more: delete the row [limits]"
    }' tests/limits.txt - | LC_ALL=C sort
}

# A definition begins in column 1, and so do its braces. Its parameters are the commas of the last parentheses before the brace.
check_functions () # file...: prints findings as "rule key<tab>message"
{
  code_of "$@" | awk '
    function parameters (text,    i, c, depth, commas, last) {
      for (i = 1; i <= length (text); i++) {
        c = substr (text, i, 1)
        if (c == "(" && depth++ == 0) {
          commas = 0
          last = substr (text, 1, i - 1)
          sub (/ *$/, "", last)
          sub (/.*[^A-Za-z0-9_]/, "", last)
        } else if (c == ")")
          depth--
        else if (c == "," && depth == 1)
          commas++
      }
      name = last
      return commas + 1
    }
    {
      match ($0, /:[0-9]+:/)
      file = substr ($0, 1, RSTART - 1)
      line = substr ($0, RSTART + 1, RLENGTH - 2)
      code = substr ($0, RSTART + RLENGTH)
      if (file != before)
        head = start = ""
      before = file
    }
    code ~ /^\{/ {
      start = line
      name = ""
      n = head ~ /\)[ \t]*$/ ? parameters(head) : 0
      if (n > 7)
        print "parameters " name "\t" file ":" line ": " name " has " n " parameters; 7 are accepted"
    }
    code ~ /^\}/ {
      if (start != "" && line - start - 1 > 60)
        print "function " name "\t" file ":" start ": " line - start - 1 " lines in a function; 60 are accepted"
      start = ""
    }
    code ~ /^[{}#]/ || code ~ /;[ \t]*$/ { head = ""; next }
    code ~ /[^ \t]/ { head = head " " code }'
}

check_sizes () # file...: prints findings as "rule key<tab>message"
{
  wc -l "$@" | awk '
    $2 == "total" && NF == 2 { next }
    $1 > 700 { print "file " $2 "\t" $2 ":701: " $1 " lines in a file; 700 are accepted" }
    $2 ~ /^(sim|models|calibrate)\/.*\.(c|h|cu|cc)$/ {
      folder = $2
      sub (/\/[^\/]*$/, "", folder)
      lines[folder] += $1
      files[folder] += $2 !~ /h$/
    }
    END {
      for (folder in lines) {
        if (lines[folder] > 6000 || files[folder] > 35)
          printf "folder %s\t%s: %d lines and %d C files in a folder; 6000 and 35 are accepted\n", folder, folder, lines[folder],
            files[folder]
      }
    }'
}

# Without files to look at, a pattern finds nothing.
lines_of () # pattern file...: file:line:text of matching lines
{
  local pattern=$1
  shift
  [ $# -eq 0 ] || LC_ALL=C grep -HnP "$pattern" "$@" || true
}

check_links () # file.md...: prints findings
{
  local file line target
  while IFS=: read -r file line target; do
    target=${target#*](}
    target=${target%)}
    case $target in *://* | '#'* | mailto:*) continue ;; esac
    [ -e "$(dirname -- "$file")/${target%%#*}" ] || echo "$file:$line: link to '$target', which is not there"
  done < <([ $# -eq 0 ] || grep -HnoP '\]\([^)\s]+\)' "$@" || true)
}

# g_error is left out: it is GLib's assertion with a message, for a programmer's fault.
prints='v?f?printf|v?dprintf|puts|putchar|putc|fputs|fputc|perror|psignal'
logs='g_print|g_printerr|g_log|g_message|g_warning|g_info|g_debug'
ends='exit|_exit|_Exit|quick_exit|abort'
clocks='time|clock|clock_gettime|gettimeofday|localtime|localtime_r|gmtime'
clocks+='|g_get_real_time|g_get_monotonic_time|g_date_time_new_now\w*'
dice='s?rand|rand_r|s?random|[dejlmn]rand48|getrandom|arc4random|getpid|g_random_\w+|g_rand_\w+|g_uuid_\w+'
readers='ato[fil]|atoll|strto[dfl]|strtold|v?f?scanf|v?sscanf|gets|strcpy|strcat|v?sprintf|g_strtod'

opens='fopen|freopen|fdopen|open|openat|creat|mkstemp|mkostemp|popen|system|opendir'
opens+='|g_file_[gs]et_contents\w*|g_mapped_file_new|g_f?open'

found=0
report () # rule; findings on stdin, one a line
{
  local line
  while IFS= read -r line; do
    printf '%s [%s]\n' "$line" "$1"
    found=$((found + 1))
  done
}

files () # find's arguments: fills the array `list`
{
  mapfile -t list < <(find "$@" 2>/dev/null | LC_ALL=C sort)
}

lint () # in the source tree
{
  local list layers library c all line
  files sim models calibrate -name '*.[ch]'
  layers=("${list[@]}")
  if [ ${#layers[@]} -eq 0 ]; then
    echo "no C sources below $PWD" >&2
    return 2
  fi
  # The probe is a program of its own for the machine that is measured: it prints, and looks at clocks.
  files sim models calibrate -name '*.[ch]' -not -path 'calibrate/probe/*'
  library=("${list[@]}")
  files sim models calibrate -name '*.[ch]' -not -path 'calibrate/probe/*' -not -path 'sim/cli/*'
  c=("${list[@]}")
  files sim models calibrate tests cmake plots -type f \
    '(' -name '*.[ch]' -o -name '*.c[uc]' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.gp' ')'
  all=("${list[@]}")

  report layers < <(check_layers)
  report includes < <(check_includes "${layers[@]}")
  report process < <(code_of "${c[@]}" | calls "$prints|$logs|$ends")
  report process < <(code_of "${c[@]}" | grep -v '^sim/base/output\.c:' |
    { LC_ALL=C grep -P '^[^:]*:\d+:.*(?<![\w.>])(stdout|stderr)\b(?!\s*\()' || true; })
  report files < <(code_of "${library[@]}" | grep -vE '^sim/base/(file|output)\.c:' | calls "$opens")
  # Progress is reported, and a search is saved, from time to time.
  local timed='^sim/(cli/([a-z]+/)?plan_watch|base/progress)\.c:'
  report determinism < <(code_of "${library[@]}" | grep -vE "$timed" | calls "$clocks|$dice")
  report determinism < <(code_of "${library[@]}" | grep -E "$timed" | calls "$dice")
  report locale < <(code_of "${library[@]}" | calls "$readers")

  files . -name '*.md' -not -path './build*' -not -path './.*'
  report links < <(check_links "${list[@]#./}")

  report length < <(LC_ALL=C awk '
    { gsub (/[\200-\277]/, "") } # characters, not bytes: what continues a UTF-8 character is not counted
    length ($0) > 132 { print FILENAME ":" FNR ": " length ($0) " characters in a line; 132 are accepted" }' "${all[@]}")
  files sim models calibrate -name '*.[ch]' -o -name '*.c[uc]'
  while IFS= read -r line; do
    printf '%s\n' "$line"
    found=$((found + 1))
  done < <({ check_functions "${list[@]}"; check_sizes "${all[@]}"; } | limited)
  report whitespace < <(lines_of '[ \t]$' "${all[@]}" | sed 's/^\([^:]*:[0-9]*\):.*/\1: blanks at the end of the line/')
  report whitespace < <(lines_of '\t' "${layers[@]}" | sed 's/^\([^:]*:[0-9]*\):.*/\1: a tab/')
  report whitespace < <(for file in "${all[@]}"; do
    [ -z "$(tail -c 1 "$file")" ] || echo "$file: no line end at the end of the file"
  done)

  if [ "$found" -gt 0 ]; then
    echo "$found findings"
    return 1
  fi
  echo "${#layers[@]} sources of layers, ${#all[@]} files in all: nothing found"
}

# Every rule must find what it is for, once and at the right place, and leave the innocent alone.
self_test ()
{
  local tmp wrong=0 got
  tmp=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf -- '$tmp'" EXIT
  cd -- "$tmp"
  expect () # file text rule or '' [row of layers.txt] [row of limits.txt]: lints a tree of one clean file and this one
  {
    rm -rf -- "$tmp/tree"
    mkdir -p "$tmp/tree/tests" "$tmp/tree/sim/base/include/base" "$tmp/tree/"{models/law,sim/{engine,cluster,cli/sub,top/include}}
    printf 'int base_x;\n' >"$tmp/tree/sim/base/include/base/x.h"
    touch "$tmp/tree/sim/top/include/top.h" "$tmp/tree/models/law/gas.h" "$tmp/tree/models/all-private.h"
    cat >"$tmp/tree/tests/layers.txt" <<'LAYERS'
# layer folder prefix may include
base     sim/base    base
engine   sim/engine  eng   base
models   models      mdl   base
cluster  sim/cluster clu   base models
top      sim/top     top   base cluster
cli      sim/cli     cli   base top
LAYERS
    printf '%s\n' "${4:-}" >>"$tmp/tree/tests/layers.txt"
    printf '# rule key\n%s\n' "${5:-}" >"$tmp/tree/tests/limits.txt"
    mkdir -p "$tmp/tree/$(dirname "$1")"
    [ -z "$2" ] || printf '%s' "$2" >"$tmp/tree/$1"
    got=$(cd "$tmp/tree" && found=0 && lint) || true
    if [ -z "$3" ]; then
      case $got in *'nothing found'*) return 0 ;; esac
    else
      case $got in "$1:"*"[$3]"*"1 findings"*) return 0 ;; esac
    fi
    printf 'FAILED: %s with <<%.60s>> should give %s, gave:\n%s\n' "$1" "$2" "${3:-nothing}" "$got"
    wrong=1
  }
  local n=$'\n'
  expect sim/engine/a.c "#include \"base/x.h\"$n" ''
  expect sim/base/a.c "#include \"engine/x.h\"$n" includes
  expect models/a.c "#include \"cluster/clu.h\"$n" includes
  expect sim/engine/a.c "#include \"models/coll.h\"$n" includes
  expect sim/top/a.c "#include \"cli/x.h\"$n" includes
  expect sim/engine/a.c "#include \"base/yaml-private.h\"$n" includes
  expect sim/engine/a.c "#include \"../base/include/base/x.h\"$n" includes
  expect sim/engine/a.c "#include \"nowhere.h\"$n" includes
  expect sim/other/a.c "#include \"base/x.h\"$n" includes
  expect sim/cli/a.c "#include \"top.h\"$n" ''
  expect models/a.c "#include \"top.h\"$n" includes
  # Folders of a layer see each other, until a row says what one may see; another layer sees none of them.
  expect models/law/a.c "#include \"gas.h\"$n#include \"all-private.h\"$n" ''
  expect models/a.c "#include \"law/gas.h\"$n" ''
  expect models/other/a.c "#include \"law/gas.h\"$n#include \"all-private.h\"$n" ''
  expect models/other/gas.h "#include \"gas.h\"$n" ''
  expect models/other/gas.h "#include \"x.h\"$n" includes
  expect models/a.c "#include \"gas.h\"$n" ''
  expect sim/cluster/a.c "#include \"gas.h\"$n" includes
  expect sim/cluster/a.c "#include \"law/gas.h\"$n" includes
  expect sim/cluster/a.c "#include \"models/law/gas-private.h\"$n" includes
  expect models/other/a.c "#include \"law/gas.h\"$n" includes "models/law models/law mdl${n}models/other models/other mdl models"
  expect models/law/a.c "#include \"all-private.h\"$n#include \"gas.h\"$n" '' "models/law models/law mdl models"
  expect models/law/a.c "#include \"all-private.h\"$n" includes "models/law models/law mdl"
  expect tests/layers.txt '' layers "late sim/base late cli later"
  expect tests/layers.txt '' layers "base sim/engine base"
  expect tests/layers.txt '' layers "late sim/late late"
  expect tests/layers.txt '' layers "late sim/base"
  expect tests/layers.txt '' layers "late/sub sim/base late"
  expect tests/layers.txt '' layers "cli/sub sim/cli/sub cli top"
  expect tests/layers.txt '' '' "cli/sub sim/cli/sub cli cli"
  expect models/a.c "  printf (\"%d\", 1);$n" process
  expect models/a.c "  if (x) exit(1);$n" process
  expect models/a.c "  g_warning (\"x\");$n" process
  expect models/a.c "FILE *f = stderr;$n" process
  expect sim/cli/a.c "  printf (\"x\"); exit (1);$n" ''
  expect sim/base/output.c "FILE *f = stdout;$n" ''
  expect models/a.c "/* printf (x) and exit (1) */ char *s = \"exit (1)\"; // abort ()$n" ''
  expect models/a.c "/* over$n exit (1)$n lines */ int a;$n" ''
  expect models/a.c "/* a */ exit (1); /* b */$n" process
  expect models/a.c "  snprintf (b, 3, \"x\"); g_string_append_printf (s, \"x\"); my_exit (1);$n" ''
  expect models/a.c "  double t = coll->time (4); base_random_u32 (random); x.clock (1);$n" ''
  expect models/a.c "  srand (time (NULL));$n" determinism
  expect sim/cli/a.c "  g_get_monotonic_time ();$n" determinism
  expect models/a.c "  g_random_int ();$n" determinism
  expect sim/cli/a.c "  FILE *file = fopen (path, text);$n" files
  expect sim/base/a.c "  g_file_get_contents (path, &text, NULL, NULL);$n" files
  expect sim/base/file.c "  int fd = open (path, O_RDONLY);$n" ''
  expect tests/unit/a.c "  time (NULL);$n" ''
  expect models/a.c "  double a = atof (s);$n" locale
  expect models/a.c "  g_ascii_strtod (s, NULL);$n" ''
  local many lines
  many=$(printf 'int a;\n%.0s' {1..701})
  lines=$(printf '  a;\n%.0s' {1..61})
  expect models/a.c "$many$n" file
  expect models/a.c "${many#*"$n"}$n" ''
  expect models/a.c "$many$n" '' '' 'file models/a.c'
  expect tests/limits.txt '' limits '' 'file models/a.c'
  expect tests/limits.txt '' limits '' 'function f'
  expect tests/limits.txt '' limits '' 'parameters f'
  expect tests/limits.txt '' limits '' 'folder sim/base'
  expect tests/limits.txt '' limits '' 'fold sim/base'
  expect models/a.c "void f (void)$n{$n$lines$n}$n" function
  expect models/a.c "void f (void)$n{$n${lines#*"$n"}$n}$n" ''
  expect models/a.c "void f (void)$n{$n$lines$n}$n" '' '' 'function f'
  expect models/a.cu "int$n*f (int a, int (*b) (int, int), int c, int d, int e, int g,$n   int h, int i)$n{$n}$n" parameters
  expect models/a.c "int f (int a, int (*b) (int, int), int c, int d, int e, int g,$n   int h) // i, j$n{$n}$n" ''
  expect models/a.c "int f (int a, int b, int c, int d, int e, int g, int h, int i);$n" ''
  expect models/a.c "int f (int a, int b, int c, int d, int e, int g, int h, int i)$n{$n}$n" '' '' 'parameters f'
  expect models/a.c "// $(printf 'x%.0s' {1..130})$n" length
  expect models/a.c "// $(printf 'ä%.0s' {1..129})$n" ''
  expect docs/a.md "[a](../sim/base/include/base/x.h#top) and [b](https://example.org/x) and [c](#here)$n" ''
  expect docs/a.md "see [a](nowhere.md)$n" links
  expect models/a.c "int a; $n" whitespace
  expect models/a.c "	int a;$n" whitespace
  expect models/a.c 'int a;' whitespace
  [ "$wrong" -ne 0 ] || echo "every rule finds what it is for"
  return "$wrong"
}

case ${1:-} in
  --self-test) self_test ;;
  '') echo "usage: lint.sh SOURCE_DIR | --self-test" >&2; exit 2 ;;
  *)
    cd -- "$1"
    lint
    ;;
esac
