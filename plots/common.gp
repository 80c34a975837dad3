# What the plots share; each loads it after its variables `data`, `measured`, `series`, `out` and `columns_needed` are set.
# Reads TSV with a header line of column names, a name ending in its unit (bytes, time_s, busbw_Bps). Gives:
#   has (file, column)   whether the header of the file has the column
#   n_series, name[i]    what tells lines apart, in the order in which it appears in `data`
#   label (1)            of the row being read: label (1) eq name[i] picks the rows of a line
# and the terminal, the axis of sizes, and a palette that the colour-blind can tell apart, with a dash and a point for each colour.

set datafile separator "\t"
set datafile columnheaders
set datafile missing NaN # rows that a line leaves out do not break it

# ---- input ----

header (file) = system ("head -n 1 -- ".quoted (file))
has (file, column) = strstrt ("\t".header (file)."\t", "\t".column."\t") > 0
readable (file) = system ("test -f ".quoted (file)." -a -r ".quoted (file)." && echo yes") eq "yes"

if (!exists ("measured")) { measured = "" }
do for [file in (measured eq "" ? "data" : "data measured")] {
  path = value (file)
  if (!readable (path)) {
    printerr path.": cannot be read; a TSV file with a header line is accepted"
    exit status 2
  }
  do for [column in columns_needed] {
    if (!has (path, column)) {
      printerr path.":1: no column '".column."'; there are: ".header (path)
      exit status 2
    }
  }
}

# ---- series ----

# Columns of `series` that say the same in every row tell no lines apart, and are left out.
first = ""
differs = 0
look (text) = (first eq "" ? (first = text, 1) : (differs = differs || text ne first, 1))
keys = ""
do for [column in series] {
  if (has (data, column)) {
    first = ""
    differs = 0
    stats data using (look (strcol (column))) nooutput
    if (differs) { keys = keys." ".column }
  }
}
said (column, text) = column eq "nodes" ? text.(text eq "1" ? " node" : " nodes") \
                    : column eq "GPUs" ? text.(text eq "1" ? " GPU" : " GPUs") \
                    : column eq "ranks" ? text.(text eq "1" ? " rank" : " ranks") : text
label (i) = i > words (keys) ? "" : (i > 1 ? ", " : "").said (word (keys, i), strcol (word (keys, i))).label (i + 1)

max_series = 64
array name[max_series]
n_series = 0
known = "|"
note (text) = strstrt (known, "|".text."|") > 0 || n_series == max_series ? 1 \
            : (n_series = n_series + 1, name[n_series] = text, known = known.text."|", 1)
stats data using (note (label (1))) nooutput
if (n_series == 0) {
  printerr data.": no rows below the header"
  exit status 2
}

# ---- look ----

# Okabe and Ito, Color Universal Design (2008), without the yellow, which is too pale for lines. Each series also has a dash and a
# point of its own, so that a print in grey can be read.
array colour[7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
do for [i = 1:max_series] {
  dash = (i - 1) % 5 + 1 # a dash in parentheses would be a pattern
  point = 4 + (i - 1) % 10
  set linetype i linecolor rgb colour[(i - 1) % 7 + 1] dashtype dash linewidth 2 pointtype point pointsize 1
}

# `height`: of an SVG or PNG of 960 dots across; a PDF keeps the proportion.
if (!exists ("height")) { height = 600 }
load folder (ARG0)."look.gp"
set output out

# Sizes are powers of 2 apart: at most eight labels, each 2^k times the one before.
# `without_sizes`: the axis is the script's own.
if (!exists ("without_sizes")) {
  stats data using (column ("bytes")) nooutput
  if (STATS_min <= 0) {
    printerr data.": bytes is 0 in some row, which a logarithmic axis cannot show"
    exit status 2
  }
  array prefix[6] = ["", "Ki", "Mi", "Gi", "Ti", "Pi"]
  thousands (x) = x < 1024 ? 0 : 1 + thousands (x / 1024)
  iec (x) = sprintf ("%g %sB", x / 1024 ** thousands (x), prefix[thousands (x) + 1])
  lowest = floor (log (STATS_min) / log (2) + 0.001)
  highest = ceil (log (STATS_max) / log (2) - 0.001)
  set logscale x 2
  set xtics ()
  do for [k = lowest:highest:ceil ((highest - lowest + 1) / 8.0)] { set xtics add (iec (2.0 ** k) 2.0 ** k) }
  set xrange [STATS_min / 1.2:STATS_max * 1.2]
  set xlabel "message size\n "
}
