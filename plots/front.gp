# Time against cost of a plan: the best of each machine with its error band, and the front that none beats in both.
#
#   forerun plan buy_256_gpus --plot front.svg
#
# data     TSV with a header line and the columns machine, time_s, time_lo_s, time_hi_s, total_usd, total_lo_usd, total_hi_usd and
#          front (1: on it), by rising time
# out      file to write; its ending decides the format: .svg, .png, .pdf (default front.svg)
# title    headline (default: none)
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='front.tsv'; out='front.svg'\" plots/front.gp"
  exit status 2
}
if (!exists ("out")) { out = "front.svg" }
series = "machine"
columns_needed = "machine time_s time_lo_s time_hi_s total_usd total_lo_usd total_hi_usd front"
without_sizes = 1
height = 700
load system ("dirname -- '".ARG0."'")."/common.gp"

stats data using (column ("total_hi_usd")) name "C" nooutput
stats data using (column ("time_hi_s")) name "T" nooutput
unit = C_max < 1e3 ? "$" : C_max < 1e6 ? "k$" : "M$"
scale = C_max < 1e3 ? 1 : C_max < 1e6 ? 1e-3 : 1e-6
hours = T_max < 3 * 86400
per = hours ? 3600.0 : 86400.0
set xlabel "time of the run (".(hours ? "h" : "days").")\n "
set ylabel "cost (".unit.")"
set offsets graph 0.03, graph 0.03, graph 0.05, graph 0.03
set key outside bottom center horizontal maxcols 2
of (i, value) = n_series < 2 || label (1) eq name[i] ? value : NaN
on_front (value) = column ("front") > 0 ? value : NaN
only = strlen (name[1]) > 0 ? name[1] : "the best"
plot \
  data using (on_front (column ("time_s") / per)):(column ("total_usd") * scale) with linespoints dashtype 2 linewidth 1.5 \
    linecolor rgb "#444444" pointtype 6 pointsize 2.2 title "front: none is faster and cheaper", \
  for [i = 1:n_series] data using (of (i, column ("time_s") / per)):(column ("total_usd") * scale): \
    (column ("time_lo_s") / per):(column ("time_hi_s") / per):(column ("total_lo_usd") * scale):(column ("total_hi_usd") * scale) \
    with xyerrorbars linetype i linewidth 1.5 title (n_series < 2 ? only : name[i])
