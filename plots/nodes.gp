# Bandwidth against the number of nodes: as predicted with its error band, and points as measured; a panel for each size, or for
# each value of another column.
#
#   forerun coll all_reduce --topology hgx_h100 -n 2,4,8,16,32,64,128 -b 8G -e 8G --plot nodes.svg
#
# data      TSV with a header line and the columns nodes, time_s, time_lo_s, time_hi_s and busbw_Bps (B/s), as `forerun coll`
#           writes it
# measured  nodes and busbw_Bps as measured, and the column of panels (default: none)
# panel     the column whose values have a panel each (default bytes; of one value there is one panel)
# out       file to write; its ending decides the format: .svg, .png, .pdf (default nodes.svg)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='coll.tsv'; out='nodes.svg'\" plots/nodes.gp"
  exit status 2
}
if (!exists ("out")) { out = "nodes.svg" }
if (!exists ("panel")) { panel = "bytes" }
series = panel
columns_needed = "nodes busbw_Bps"
without_sizes = 1
load folder (ARG0)."common.gp"
do for [column in "time_s time_lo_s time_hi_s"] {
  if (!has (data, column)) {
    printerr data.":1: no column '".column."'; there are: ".header (data)
    exit status 2
  }
}
if (measured ne "" && keys ne "" && !has (measured, panel)) {
  printerr measured.":1: no column '".panel."', which tells the panels of ".data." apart"
  exit status 2
}

array prefix[6] = ["", "Ki", "Mi", "Gi", "Ti", "Pi"]
thousands (x) = x < 1024 ? 0 : 1 + thousands (x / 1024)
iec (x) = sprintf ("%g %sB", x / 1024 ** thousands (x), prefix[thousands (x) + 1])
name_of (i) = panel eq "bytes" ? iec (real (name[i])).": ".said_of (i) : name[i]

# A rate is a size over a time: the longest time gives the lowest rate.
low (dummy) = column ("busbw_Bps") * column ("time_s") / column ("time_hi_s") / 1e9
high (dummy) = column ("busbw_Bps") * column ("time_s") / column ("time_lo_s") / 1e9
mine (i, v) = label (1) eq name[i] ? v : NaN

# Points of no panel would be lost.
n_lost = 0
n_points = 0
if (measured ne "") {
  stats measured using (n_points = n_points + 1, \
    n_lost = n_lost + (keys ne "" && strstrt (known, "|".label (1)."|") == 0), 1) nooutput
  if (n_lost > 0) {
    printerr measured.": ".sprintf ("%d", n_lost)." points belong to no panel of ".data
    exit status 2
  }
}

# From the fewest to the most nodes of a panel.
array first_Bps[n_series]
array last_Bps[n_series]
array first_at[n_series]
array last_at[n_series]
do for [i = 1:n_series] {
  first_Bps[i] = NaN
  stats data using (v = mine (i, column ("nodes")), v != v ? NaN \
    : (first_Bps[i] == first_Bps[i] ? 1 : (first_at[i] = v, first_Bps[i] = column ("busbw_Bps")), \
       last_at[i] = v, last_Bps[i] = column ("busbw_Bps"), v)) nooutput
}
said_of (i) = first_at[i] == last_at[i] ? sprintf ("%.3g", first_Bps[i] / 1e9) \
  : sprintf ("%.3g to %.3g", first_Bps[i] / 1e9, last_Bps[i] / 1e9)
if (exists ("title") && n_series == 1) {
  broken = title.sprintf (": %.3g GB/s on %s", first_Bps[1] / 1e9, said ("nodes", sprintf ("%g", first_at[1]))) \
    .(first_at[1] == last_at[1] ? "" : sprintf (", %.3g on %g", last_Bps[1] / 1e9, last_at[1]))
}

across = n_series <= 3 ? n_series : n_series == 4 ? 2 : 3
down = ceil (n_series / (across + 0.0))
set logscale x 2
set border 3 linecolor rgb "#444444"
foot = 80.0 / height # key and the name of the axis
ceiling = broken eq "" ? 0.97 : strstrt (broken, "\n") > 0 ? 0.88 : 0.92
tall = (ceiling - foot) / down
wide = 0.90 / across
set multiplot
if (broken ne "") { set label 99 broken at screen 0.5, screen 0.965 center offset 0, 0 font title_font }
unset title

# The key, by itself at the foot.
set lmargin at screen 0.02
set rmargin at screen 0.98
set bmargin at screen 0.005
set tmargin at screen 44.0 / height
set border 0
unset tics
unset grid
set key inside center center horizontal Left reverse samplen 2 maxcols 4
set label 98 "bus bandwidth (GB/s)" at screen 0.022, screen foot + (ceiling - foot) / 2 center rotate by 90
set label 97 "nodes" at screen 0.53, screen 52.0 / height center
set yrange [0:1]
set xrange [1:2]
plot keyentry with linespoints linecolor rgb "#0072B2" linewidth 3 dashtype 1 pointtype 7 pointsize 0.5 title "predicted", \
  keyentry with boxes fillstyle solid 0.3 noborder linecolor rgb "#0072B2" title "error band", \
  for [k = 1:n_points > 0] keyentry with points pointtype 6 pointsize 1.1 linewidth 2 linecolor rgb "#D55E00" title "measured", \
  NaN notitle
unset label
unset key
set border 3 linecolor rgb "#444444"
set xtics nomirror out
set ytics nomirror out
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
set xrange [*:*] # stats leaves out what lies outside
set yrange [*:*]
stats data using (column ("nodes")) name "N" nooutput
array at_nodes[N_records]
do for [i = 1:n_series] {
  c = (i - 1) % across
  r = (i - 1) / across
  set lmargin at screen 0.105 + c * wide
  set rmargin at screen 0.105 + (c + 1) * wide - 0.055
  set tmargin at screen ceiling - r * tall - 30.0 / height
  set bmargin at screen ceiling - (r + 1) * tall + (r + 1 < down ? 40.0 : 22.0) / height
  set xrange [*:*]
  set yrange [*:*]
  n_at = 0
  is_new (v) = (sum [k = 1:n_at] (at_nodes[k] == v)) == 0
  keep (v) = v == v && is_new (v) ? (n_at = n_at + 1, at_nodes[n_at] = v, 1) : 0
  stats data using (keep (mine (i, column ("nodes")))) nooutput
  stats data using (mine (i, column ("nodes"))) name "X" nooutput
  stats data using (mine (i, high (0))) name "Y" nooutput
  top = Y_max
  least = X_min
  most = X_max
  n_here = 0
  if (n_points > 0) {
    stats measured using (n_here = n_here + (keys eq "" || label (1) eq name[i]), 1) nooutput
  }
  if (n_here > 0) {
    stats measured using (keys eq "" || label (1) eq name[i] ? (v = column ("busbw_Bps") / 1e9, top = v > top ? v : top, \
      least = column ("nodes") < least ? column ("nodes") : least, \
      most = column ("nodes") > most ? column ("nodes") : most, v) : NaN) nooutput
  }
  set yrange [0:top * 1.06]
  set xrange [least / 1.25:most * 1.25]
  set xtics ()
  every = ceil (n_at / (across > 1 ? 8.0 : 14.0))
  do for [k = 1:n_at:every] { set xtics add (sprintf ("%g", at_nodes[k]) at_nodes[k]) }
  if (n_series > 1) { set label 1 name_of (i) at graph 0.5, 1 center offset 0, 0.7 }
  drawn = "data using (mine (i, column ('nodes'))):(low (0)):(high (0)) with filledcurves linecolor rgb '#0072B2'" \
    ." fillstyle transparent solid 0.3 noborder notitle," \
    ." data using (mine (i, column ('nodes'))):(column ('busbw_Bps') / 1e9) with linespoints linecolor rgb '#0072B2' linewidth 3" \
    ." dashtype 1 pointtype 7 pointsize 0.5 notitle"
  if (n_here > 0) {
    drawn = drawn.", measured using (keys eq '' || label (1) eq name[i] ? column ('nodes') : NaN):(column ('busbw_Bps') / 1e9)" \
      ." with points pointtype 6 pointsize 1.1 linewidth 2 linecolor rgb '#D55E00' notitle"
  }
  eval "plot ".drawn
  unset label 1
}
unset multiplot
