#!/usr/bin/env bash
# Rules of the house that a compiler does not check. usage: lint.sh SOURCE_DIR; lint.sh --self-test
#   includes      a layer includes itself and what tests/layers.txt allows; a *-private.h only from its own layer: in one folder
#                 by its name, in a subfolder as "subfolder/name-private.h"
#   process       only sim/cli prints, logs or ends the process; stdout and stderr are named there and in sim/base/output.c alone
#   determinism   no wall clock, no process-wide random numbers, no process identity outside tests
#   locale        numbers are read by g_ascii_strtod and the unit parser: no function that follows the locale or hides errors
#   length        no file over 800 lines, no line over 132 characters, no C function over 80 lines
#   links         a relative link in a Markdown file leads to a file that is there
#   whitespace    no tabs in C, no blanks at the end of a line, a line end at the end of a file
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)

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

check_includes () # file...: prints findings
{
  awk '
    FILENAME == ARGV[1] {
      if ($0 !~ /^#/ && NF >= 2) {
        folder[$1] = $2
        allowed[$1] = " " $0 " "
        sub (/^ +[^ ]+ +[^ ]+/, " " $1, allowed[$1])
      }
      next
    }
    function layer_of (file,   l)
    {
      for (l in folder)
        if (index (file, folder[l] "/") == 1)
          return l
      return ""
    }
    !asked++ { # a header that stands in any subfolder of a layer is seen by the whole layer
      for (i = 2; i < ARGC; i++) {
        if (ARGV[i] ~ /\/include\//)
          continue
        base = ARGV[i]
        sub (/.*\//, "", base)
        known[layer_of(ARGV[i]) "/" base]
      }
    }
    FNR == 1 {
      layer = layer_of(FILENAME)
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
      name = $0
      sub (/^[^"]*"/, "", name)
      sub (/".*/, "", name)
      at = FILENAME ":" FNR ": "
      if (layer == "")
        print at "in no layer that layers.txt names"
      else if (name ~ /\.\./)
        print at "\"" name "\" goes up; include a public header as \"layer/name.h\""
      else if (name ~ /\//) {
        other = name
        sub (/\/.*/, "", other)
        if (name ~ /-private\.h$/) {
          if ((getline line < (folder[layer] "/" name)) < 0)
            print at "\"" name "\" is private to its folder"
        }
        else if (index (allowed[layer] " ", " " other " ") == 0)
          print at "\"" name "\" is not for " layer ", which may include:" allowed[layer]
      } else if (!((layer "/" name) in known))
        print at "\"" name "\" is not in " folder[layer]
    }' "$here/layers.txt" "$@"
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
  local list layers library c all
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
    '(' -name '*.[ch]' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.gp' ')'
  all=("${list[@]}")

  report includes < <(check_includes "${layers[@]}")
  report process < <(code_of "${c[@]}" | calls "$prints|$logs|$ends")
  report process < <(code_of "${c[@]}" | grep -v '^sim/base/output\.c:' |
    { LC_ALL=C grep -P '^[^:]*:\d+:.*(?<![\w.>])(stdout|stderr)\b(?!\s*\()' || true; })
  # What goes on beside a search shows how fast it is, and saves it from time to time.
  report determinism < <(code_of "${library[@]}" | grep -v '^sim/cli/plan_watch\.c:' | calls "$clocks|$dice")
  report determinism < <(code_of sim/cli/plan_watch.c 2>/dev/null | calls "$dice")
  report locale < <(code_of "${library[@]}" | calls "$readers")

  files . -name '*.md' -not -path './build*' -not -path './.*'
  report links < <(check_links "${list[@]#./}")

  report length < <(LC_ALL=C awk '
    FNR == 801 { print FILENAME ":801: the file goes on beyond 800 lines" }
    { gsub (/[\200-\277]/, "") } # characters, not bytes: what continues a UTF-8 character is not counted
    length ($0) > 132 { print FILENAME ":" FNR ": " length ($0) " characters in a line; 132 are accepted" }' "${all[@]}")
  report length < <(awk '
    FNR == 1 { start = 0 }
    /^\{/ { start = FNR }
    /^\}/ {
      if (start && FNR - start - 1 > 80)
        print FILENAME ":" start ": " FNR - start - 1 " lines in a function; 80 are accepted"
      start = 0
    }' "${layers[@]}")
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
  expect () # file text rule or '' : lints a tree of one clean file and this one
  {
    rm -rf -- "$tmp/tree"
    mkdir -p "$tmp/tree/sim/base/include/base" "$tmp/tree/$(dirname "$1")"
    printf 'int base_x;\n' >"$tmp/tree/sim/base/include/base/x.h"
    printf '%s' "$2" >"$tmp/tree/$1"
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
  expect sim/report/a.c "#include \"cli/x.h\"$n" includes
  expect sim/engine/a.c "#include \"base/yaml-private.h\"$n" includes
  expect sim/base/part/y-private.h "#include \"part/y-private.h\"$n" ''
  expect sim/engine/a.c "#include \"part/y-private.h\"$n" includes
  expect sim/engine/a.c "#include \"../base/include/base/x.h\"$n" includes
  expect sim/engine/a.c "#include \"nowhere.h\"$n" includes
  expect sim/other/a.c "#include \"base/x.h\"$n" includes
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
  expect tests/unit/a.c "  time (NULL);$n" ''
  expect models/a.c "  double a = atof (s);$n" locale
  expect models/a.c "  g_ascii_strtod (s, NULL);$n" ''
  expect models/a.c "$(printf 'int a;\n%.0s' {1..801})$n" length
  expect models/a.c "$(printf 'int a;\n%.0s' {1..800})$n" ''
  expect models/a.c "// $(printf 'x%.0s' {1..130})$n" length
  expect models/a.c "// $(printf 'ä%.0s' {1..129})$n" ''
  expect models/a.c "void f (void)$n{$n$(printf '  a;\n%.0s' {1..81})$n}$n" length
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
