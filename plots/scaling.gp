# Throughput by number of GPUs, a line a network and batch, beside one that grows with the GPUs; below, what a GPU is worth.
#
#   forerun ratio ddp_16_nodes --rate '25,100,400 Gb/s' --plot ratio.svg    (writes ratio_scaling.svg)
#
# data     TSV with a header line and the columns gpus, network (text), batch, throughput (units/s) and efficiency (1: all of it)
# unit     what throughput counts (default samples)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default scaling.svg)
# title    headline (default: none)
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='scaling.tsv'; out='scaling.svg'\" plots/scaling.gp"
  exit status 2
}
if (!exists ("out")) { out = "scaling.svg" }
if (!exists ("unit")) { unit = "samples" }
series = "network batch"
columns_needed = "gpus network batch throughput efficiency"
without_sizes = 1
height = 760
load system ("dirname -- '".ARG0."'")."/common.gp"

stats data using (column ("gpus")) name "X" nooutput
stats data using (column ("throughput")) name "Y" nooutput
top = 0
see (x, y) = x == X_min && y > top ? (top = y, 1) : 1
stats data using (see (column ("gpus"), column ("throughput"))) nooutput
array seen[X_records]
n_seen = 0
is_new (v) = n_seen == 0 ? 1 : ((sum [k = 1:n_seen] (seen[k] == v)) == 0)
keep (v) = is_new (v) ? (n_seen = n_seen + 1, seen[n_seen] = v, 1) : 0
stats data using (keep (column ("gpus"))) nooutput
set logscale x 2
set xrange [X_min / 1.1:X_max * 1.1]
set xtics ()
do for [k = 1:n_seen] { if (n_seen <= 12 || k % int (n_seen / 8) == 1) { set xtics add (sprintf ("%g", seen[k]) seen[k]) } }
of (i, v) = n_series == 1 || label (1) eq name[i] ? v : NaN
said_as (i) = n_series == 1 ? "throughput" : name[i]
set samples 2
many = n_series > 24
set multiplot

# The names have a place of their own: as many as there are, they cover nothing.
set lmargin at screen 0.70
set rmargin at screen 0.99
set tmargin at screen 0.95
set bmargin at screen 0.04
unset border
unset tics
unset grid
set key inside left top Left reverse samplen 2 spacing 1.1
if (many) { set key font ",8" spacing 0.9 }
set xrange [1:2]
set yrange [0:1]
title_of_all = exists ("title") ? title : ""
unset title
plot NaN with lines linewidth 1.5 dashtype 3 linecolor rgb "#888888" title "grows with the GPUs", \
  for [i = 1:n_series] NaN with linespoints linetype i pointsize 0.9 title said_as (i)

set border 3
set xtics nomirror out
set ytics nomirror out
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
unset key
set xrange [X_min / 1.1:X_max * 1.1]
set lmargin at screen 0.10
set rmargin at screen 0.67
set tmargin at screen 0.93
set bmargin at screen 0.44
if (title_of_all ne "") { set title title_of_all }
set xtics ()
do for [k = 1:n_seen] { if (n_seen <= 12 || k % int (n_seen / 8) == 1) { set xtics add (sprintf ("%g", seen[k]) seen[k]) } }
set logscale y 10
highest = Y_max > top * X_max / X_min ? Y_max : top * X_max / X_min
set yrange [Y_min / 1.2:highest * 1.2]
set ytics ()
few = log10 (highest / Y_min) > 2.5
do for [k = floor (log10 (Y_min)):ceil (log10 (highest))] {
  do for [m in (few ? "1" : "1 2 5")] { set ytics add (sprintf ("%g", m * 10.0 ** k) m * 10.0 ** k) }
}
set ylabel unit." / s"
plot (top * x / X_min) with lines linewidth 1.5 dashtype 3 linecolor rgb "#888888" notitle, \
  for [i = 1:n_series] data using (column ("gpus")):(of (i, column ("throughput"))) with linespoints linetype i \
    pointsize 0.9 notitle

unset title
unset logscale y
set tmargin at screen 0.38
set bmargin at screen 0.10
set xlabel "GPUs"
set ylabel "efficiency (%)"
set yrange [0:*]
set ytics nomirror out autofreq
plot for [i = 1:n_series] data using (column ("gpus")):(of (i, 100 * column ("efficiency"))) with linespoints \
    linetype i pointsize 0.9 notitle
unset multiplot
