# What changes when a key of the input changes: a line a series against the values of the key.
#
#   forerun run scenarios/quickstart.yaml --vary topology.node.nics.rate='100 Gb/s,200 Gb/s,400 Gb/s' --vary-plot rate.svg
#
# data     TSV with a header line and the columns x (number), label (the value as typed), series and y
# x_name   name of the key, with its unit
# y_name   name of the column of the answer, ending in its unit
# numeric  1: x are numbers; 0: labels side by side
# out      file to write; its ending decides the format: .svg, .png, .pdf (default vary.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='vary.tsv'; out='vary.svg'\" plots/vary.gp"
  exit status 2
}
if (!exists ("out")) { out = "vary.svg" }
if (!exists ("x_name")) { x_name = "x" }
if (!exists ("y_name")) { y_name = "y" }
if (!exists ("numeric")) { numeric = 1 }
series = "series"
columns_needed = "x label series y"
without_sizes = 1
load folder (ARG0)."common.gp"

# A column's unit is the end of its name; bytes are shown as GB.
ends (text) = strlen (y_name) > strlen (text) && y_name[strlen (y_name) - strlen (text) + 1:] eq text
scale = ends ("_Bps") || ends ("_B") ? 1e-9 : 1
without (text) = y_name[:strlen (y_name) - strlen (text)]
y_title = ends ("_Bps") ? without ("_Bps")." (GB/s)" : ends ("_B") ? without ("_B")." (GB)" \
  : ends ("_s") && !ends ("_per_s") ? without ("_s")." (s)" : y_name
in_words (text) = system ("printf '%s' ".quoted (text)." | tr _ ' '")
set xlabel x_name."\n "
y_title = in_words (y_title)
set ylabel y_title
stats data using (column ("x")) name "X" nooutput
stats data using (column ("y")) name "Y" nooutput
if (Y_min > 0 && Y_max / Y_min >= 30) {
  set logscale y 10
  set ylabel y_title.", logarithmic"
} else { if (Y_min >= 0) { set yrange [0:*] } }
wide = X_max > X_min ? X_max - X_min : 1
if (numeric && X_min > 0 && X_max / X_min >= 8) {
  set logscale x 2
  set xrange [X_min / 1.1:X_max * 1.1]
} else {
  set xrange [X_min - 0.05 * wide:X_max + 0.05 * wide]
}
set xtics ()
array seen[X_records]
n_seen = 0
is_new (v) = (sum [k = 1:n_seen] (seen[k] == v)) == 0
keep (v) = is_new (v) ? (n_seen = n_seen + 1, seen[n_seen] = v, 1) : 0
stats data using (keep (column ("x"))) nooutput
if (numeric) {
  do for [k = 1:n_seen] { if (n_seen <= 12 || k % (n_seen / 8) == 1) { set xtics add (sprintf ("%g", seen[k]) seen[k]) } }
  plot for [i = 1:n_series] data using (column ("x")):(label (1) eq name[i] || n_series == 1 ? scale * column ("y") : NaN) \
    with linespoints linetype i pointsize 0.8 title n_series == 1 ? y_title : name[i]
} else {
  plot for [i = 1:n_series] data \
    using (column ("x")):(label (1) eq name[i] || n_series == 1 ? scale * column ("y") : NaN):xtic (strcol ("label")) \
    with points linetype i pointsize 1.2 title n_series == 1 ? y_title : name[i]
}
