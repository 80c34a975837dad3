# Fronts of a plan for a service: a line a cluster option, which joins its best layouts at rising load; filled points were simulated
# by the engine, open ones measured.
#
#   forerun plan serve_70b_slo --plot fleet.svg --measured tests/data/serving/serving.csv
#
# data     TSV with a header line and the columns series, mark (front, simulated, measured), x and y
# x_name   what x is, with its unit
# y_name   what y is
# limit    of the SLO on x, drawn as an upright line; 0: none (default)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default fleet.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='fleet.tsv'; out='fleet.svg'\" plots/fleet.gp"
  exit status 2
}
if (!exists ("out")) { out = "fleet.svg" }
if (!exists ("x_name")) { x_name = "x" }
if (!exists ("y_name")) { y_name = "y" }
if (!exists ("limit")) { limit = 0 }
series = "series"
columns_needed = "series mark x y"
without_sizes = 1
height = 640
load folder (ARG0)."common.gp"
set xlabel x_name.", logarithmic\n "
set ylabel y_name.", logarithmic"
set logscale xy 10
stats data using (column ("x")) name "X" nooutput
stats data using (column ("y")) name "Y" nooutput
set xrange [X_min / 1.15:X_max * 1.15]
set yrange [Y_min / 1.3:Y_max * 1.6]
if (limit > X_min / 1.15 && limit < X_max * 1.15) {
  set arrow 1 from limit, graph 0 to limit, graph 1 nohead linecolor rgb "#444444" dashtype 2 linewidth 1.5
  set label 1 "SLO" at limit, graph 0.97 left offset 0.6, 0 font ",14" textcolor rgb "#444444"
}
has_mark (m) = int (system ("awk -F '\\t' '$2 == \"".m."\" { n++ } END { print n + 0 }' ".quoted (data)))
of (i) = (n_series == 1 || label (1) eq name[i]) && strcol ("mark") eq "front" ? column ("y") : NaN
number (dummy) = n_series == 1 ? 1 : (sum [k = 1:n_series] (label (1) eq name[k] ? k : 0))
only = n_series == 1 ? system ("awk -F '\\t' 'NR == 2 { print $1 }' ".quoted (data)) : ""
# points of a mark, each in the colour of its series
points (m, kind) = has_mark (m) == 0 ? "" : sprintf (", data using (column ('x')):(strcol ('mark') eq '%s' ? column ('y') : NaN)" \
  .":(number (0)) with points linecolor variable pointtype %d pointsize 1.2 notitle" \
  .", keyentry with points linecolor rgb '#444444' pointtype %d pointsize 1.2 title '%s'", m, kind, kind, m)
eval "plot for [i = 1:n_series] data using (column ('x')):(of (i)) with lines linetype i title n_series == 1 ? only : name[i]" \
  .points ("simulated", 7).points ("measured", 6)
