# A map of an answer over two keys: a column a value of the first, a row a value of the second, a colour a value of the answer.
#
#   forerun ratio ddp_16_nodes --rate '25,50,100,200,400 Gb/s' --plot ratio.svg
#   forerun run p5_storage_tiers --vary workload.threads=1,4,16,64 --vary workload.io_size='4 KiB,64 KiB,1 MiB' --vary-map map.svg
#
# data     TSV with a header line and the columns x (number, or text where numeric is 0), y (text) and z (number)
# lines    TSV with the columns line (1 or 2), x and row (rows count from 0, -0.5 is the lower edge of the first): drawn over it,
#          broken at empty lines (default: none)
# x_name   name of the first key, with its unit; y_name, z_name: likewise
# numeric  1: x are numbers, on a logarithmic axis where all are above 0 and they span a factor of 4 (default 1)
# middle   the colours are about this value, pale below and dark above, by their logarithm (default 0: one scale from dark to light)
# line_1   what the lines say; line_2 likewise
# out      file to write; its ending decides the format: .svg, .png, .pdf (default heat.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='heat.tsv'; out='heat.svg'\" plots/heat.gp"
  exit status 2
}
if (!exists ("out")) { out = "heat.svg" }
if (!exists ("lines")) { lines = "" }
if (!exists ("x_name")) { x_name = "x" }
if (!exists ("y_name")) { y_name = "y" }
if (!exists ("z_name")) { z_name = "z" }
if (!exists ("numeric")) { numeric = 1 }
if (!exists ("middle")) { middle = 0 }
series = ""
columns_needed = "x y z"
without_sizes = 1
rows_there = int (system ("cat -- ".quoted (data)." 2>/dev/null \
  | awk -F '\\t' 'NR > 1 && !seen[$2]++ { n++ } END { print n + 0 }'"))
height = rows_there <= 12 ? 640 : rows_there <= 60 ? 160 + 40 * rows_there : 2560
load folder (ARG0)."common.gp"
if (lines ne "") {
  do for [column in "line x row"] {
    if (!has (lines, column)) {
      printerr lines.": no column '".column."'; there are: ".header (lines)
      exit status 2
    }
  }
}

# ---- what there is ----

stats data using (column ("z")) name "Z" nooutput
if (!exists ("Z_records") || Z_records == 0) {
  printerr data.": z is a number in no row"
  exit status 2
}
most = 4096
array at[most]
array text[most]
array row[most]
n_columns = 0
n_rows = 0
column_of (s) = n_columns == 0 ? 0 : (sum [k = 1:n_columns] (text[k] eq s ? k : 0))
row_of (s) = n_rows == 0 ? 0 : (sum [k = 1:n_rows] (row[k] eq s ? k : 0))
note_column (s) = column_of (s) > 0 || n_columns == most ? 1 : (n_columns = n_columns + 1, text[n_columns] = s, 1)
note_row (s) = row_of (s) > 0 || n_rows == most ? 1 : (n_rows = n_rows + 1, row[n_rows] = s, 1)
stats data using (note_column (strcol ("x")) + note_row (strcol ("y"))) nooutput

# Columns by rising numbers; edges of cells between them, on the axis's scale.
ascending = 1
if (numeric) {
  do for [k = 1:n_columns] { at[k] = real (text[k]) }
  do for [k = 2:n_columns] {
    v = at[k]
    s = text[k]
    i = k
    while (i > 1) {
      if (at[i - 1] <= v) { break }
      at[i] = at[i - 1]
      text[i] = text[i - 1]
      i = i - 1
    }
    at[i] = v
    text[i] = s
  }
} else { do for [k = 1:n_columns] { at[k] = k } }
logs = numeric && at[1] > 0 && (n_columns == 1 || at[n_columns] >= 4 * at[1])
between (a, b) = logs ? sqrt (a * b) : (a + b) / 2.0
beyond (a, b) = logs ? a * a / b : 2 * a - b # the mirror of b behind a
array edge[most + 1]
do for [k = 2:n_columns] { edge[k] = between (at[k - 1], at[k]) }
if (n_columns == 1) {
  edge[1] = logs ? at[1] / 2.0 : at[1] - 0.5
  edge[2] = logs ? at[1] * 2.0 : at[1] + 0.5
} else {
  edge[1] = beyond (at[1], edge[2])
  edge[n_columns + 1] = beyond (at[n_columns], edge[n_columns])
}

# ---- colours ----

# From white over Okabe and Ito's orange to brown around a middle, else viridis (van der Walt and Smith, 2015): the colour-blind
# can read both, and so can a print in grey, since both grow darker in one direction.
if (middle > 0) {
  set palette defined (0 "#FFFFFF", 0.25 "#FDEBCB", 0.5 "#F0A83C", 0.75 "#C04A00", 1 "#4D1500")
  shown (z) = z > 0 ? log10 (z / middle) : NaN
  reach = Z_min > 0 ? (abs (log10 (Z_min / middle)) > abs (log10 (Z_max / middle)) ? abs (log10 (Z_min / middle)) \
    : abs (log10 (Z_max / middle))) : 1
  reach = reach < 0.1 ? 0.1 : reach > 1 ? 1 : reach
  set cbrange [-reach:reach]
  set cbtics ()
  do for [v in "0.1 0.2 0.5 0.7 0.8 0.9 1 1.1 1.25 1.5 2 5 10"] {
    if (abs (log10 (v)) <= reach * 1.001 && (reach < 0.32 || strstrt (" 0.1 0.2 0.5 1 2 5 10 ", " ".v." ") > 0)) {
      set cbtics add (sprintf ("%s%g", abs (log10 (v)) > 0.999 ? (v < 1 ? "<= " : ">= ") : "", v * middle) log10 (v))
    }
  }
  is_dark (z) = shown (z) > 0.25 * reach
} else {
  set palette defined (0 "#440154", 0.25 "#3B528B", 0.5 "#21918C", 0.75 "#5EC962", 1 "#FDE725")
  spans = Z_min > 0 && Z_max >= 30 * Z_min
  shown (z) = spans ? log10 (z) : z
  low = shown (Z_min)
  high = shown (Z_max) > low ? shown (Z_max) : low + 1
  set cbrange [low:high]
  if (spans) {
    set cbtics ()
    do for [k = floor (low):ceil (high)] {
      if (k >= low - 1e-9 && k <= high + 1e-9) { set cbtics add (sprintf ("%g", 10.0 ** k) k) }
    }
  }
  is_dark (z) = shown (z) < low + 0.55 * (high - low)
}
set cblabel z_name
set rmargin at screen 0.84
unset colorbox
set colorbox

# ---- the map ----

unset grid
set border 0
set tics scale 0
set yrange [0.5:n_rows + 0.5]
set ytics ()
skip = ceil (n_rows / 60.0)
do for [k = 1:n_rows:int (skip)] { set ytics add (sprintf ("%s", row[k]) k) }
set ylabel y_name
if (logs) { set logscale x 10 }
set xrange [edge[1]:edge[n_columns + 1]]
set xtics ()
# A column has its label where there is room beside the one before; 640 dots are across.
along (v) = 640 * (logs ? log (v / edge[1]) / log (edge[n_columns + 1] / edge[1]) : (v - edge[1]) / (edge[n_columns + 1] - edge[1]))
taken = -1e9
do for [k = 1:n_columns] {
  says = numeric ? sprintf ("%g", at[k]) : text[k]
  half = 5.0 * strlen (says)
  if (along (at[k]) - half > taken + 6) {
    set xtics add (sprintf ("%s", says) at[k])
    taken = along (at[k]) + half
  }
}
set xlabel x_name."\n "
set key samplen 3.5 maxcols 2
if (lines eq "") { unset key }

place (s) = column_of (s)
digits (z) = abs (z) >= 1000 || (abs (z) < 0.001 && z != 0) ? sprintf ("%.2g", z) : abs (z) >= 100 ? sprintf ("%.0f", z) \
  : abs (z) >= 10 ? sprintf ("%.1f", z) : abs (z) >= 0.1 || z == 0 ? sprintf ("%.2f", z) : sprintf ("%.3f", z)
number (z, dark) = (z == z) && is_dark (z) == dark ? digits (z) : ""
parts = "data using (at[place (strcol ('x'))]):(row_of (strcol ('y')))" \
  .":(edge[place (strcol ('x'))]):(edge[place (strcol ('x')) + 1])" \
  .":(row_of (strcol ('y')) - 0.5):(row_of (strcol ('y')) + 0.5):(shown (column ('z')))" \
  ." with boxxyerror fillstyle solid noborder linecolor palette notitle"
inside (x) = x < edge[1] ? edge[1] : x > edge[n_columns + 1] ? edge[n_columns + 1] : x
do for [l = 1:2] {
  says = l == 1 ? (exists ("line_1") ? line_1 : "line 1") : (exists ("line_2") ? line_2 : "line 2")
  if (lines ne "") {
    n_inside = int (system (sprintf ("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } \
      $at[\"line\"] == %d && $at[\"x\"] > %.9g && $at[\"x\"] < %.9g { n++ } END { print n + 0 }' %s", \
      l, edge[1], edge[n_columns + 1], quoted (lines))))
    if (n_inside == 0) { # the legend promises no line that is not there
      parts = parts.sprintf (", keyentry with lines linewidth 0 linecolor rgb '#FFFFFF'" \
        ." title '%s: not in this range'", says)
      continue
    }
    drawn = sprintf (", lines using (column ('line') == %d ? inside (column ('x')) : NaN):(column ('row') + 1) with lines ", l)
    parts = parts.drawn."linewidth 5 linecolor rgb '#FFFFFF' notitle" \
      .drawn \
      .sprintf ("linewidth %g %s linecolor rgb '#000000' title '%s'", \
        l == 1 ? 3 : 2.5, l == 1 ? "dashtype 1" : "dashtype (6, 4)", says)
  }
}
if (n_columns <= 16 && n_rows <= 24) {
  do for [dark = 0:1] {
    parts = parts.sprintf (", data using (at[place (strcol ('x'))]):(row_of (strcol ('y'))):(number (column ('z'), %d))", dark) \
      ." with labels font ',".(n_columns > 10 ? "11" : "14") \
      ."' textcolor rgb '".(dark ? "#FFFFFF" : "#222222")."' notitle"
  }
}
eval "plot ".parts
