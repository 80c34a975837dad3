# Latency by load: time to the first token and time per output token, median and 99th percentile.
#
#   forerun run scenarios/serve_llama8b_h100.yaml --vary workload.load.closed=1,4,16,64 --vary-plot load.svg
#                                                                        (draws load_latency.svg, among others)
#
# data      TSV with a header line and the columns load, ttft_p50_s, ttft_p99_s, tpot_p50_s and tpot_p99_s
# x_name    name of the load
# out       file to write; its ending decides the format: .svg, .png, .pdf (default latency.svg)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='latency.tsv'\" plots/latency.gp"
  exit status 2
}
if (!exists ("out")) { out = "latency.svg" }
if (!exists ("x_name")) { x_name = "load" }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- ".quoted (data))
do for [c in "load ttft_p50_s ttft_p99_s tpot_p50_s tpot_p99_s"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}
if (!exists ("title")) { title = "" }
load folder (ARG0)."look.gp"
set output out
set xlabel x_name."\n "
set ylabel "time (ms), logarithmic"
set logscale y 10
stats data using (column ("load")) name "X" nooutput
if (X_min > 0 && X_max / X_min >= 8) { set logscale x 2 }
set key maxcols 2
# a colour a time, full for the median and dashed for the 99th percentile
ms (c) = 1e3 * column (c)
plot \
  data using (column ("load")):(ms ("ttft_p50_s")) with linespoints linewidth 2 pointtype 7 pointsize 0.7 \
    linecolor rgb "#0072B2" title "TTFT, median", \
  data using (column ("load")):(ms ("ttft_p99_s")) with linespoints linewidth 2 dashtype 2 pointtype 6 pointsize 0.7 \
    linecolor rgb "#0072B2" title "TTFT, 99th percentile", \
  data using (column ("load")):(ms ("tpot_p50_s")) with linespoints linewidth 2 pointtype 7 pointsize 0.7 \
    linecolor rgb "#D55E00" title "TPOT, median", \
  data using (column ("load")):(ms ("tpot_p99_s")) with linespoints linewidth 2 dashtype 2 pointtype 6 pointsize 0.7 \
    linecolor rgb "#D55E00" title "TPOT, 99th percentile"
