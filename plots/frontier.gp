# Throughput of a GPU against the time per output token that users see: a point a load, joined in the order of loads.
#
#   forerun run scenarios/serve_llama8b_h100.yaml --vary workload.load.closed=1,4,16,64 --vary-plot load.svg
#                                                                        (draws load_frontier.svg, among others)
#
# data      TSV with a header line and the columns tpot_s, tokens (output tokens/s a GPU), label (of the load) and series
# out       file to write; its ending decides the format: .svg, .png, .pdf (default frontier.svg)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='frontier.tsv'\" plots/frontier.gp"
  exit status 2
}
if (!exists ("out")) { out = "frontier.svg" }
series = "series"
columns_needed = "tpot_s tokens label series"
without_sizes = 1
load folder (ARG0)."common.gp"
set xlabel "time per output token (ms), median\n "
set ylabel "output tokens/s a GPU"
set yrange [0:*]
stats data using (1e3 * column ("tpot_s")) name "X" nooutput
wide = X_max > X_min ? X_max - X_min : 0.1 * X_max
set xrange [X_min - 0.05 * wide:X_max + 0.12 * wide]
plot for [i = 1:n_series] data using (1e3 * column ("tpot_s")):(label (1) eq name[i] || n_series == 1 ? column ("tokens") : NaN) \
  with linespoints linetype i pointsize 0.8 title n_series == 1 ? "by load" : name[i], \
  data using (1e3 * column ("tpot_s")):(column ("tokens")):(strcol ("label")) with labels left offset 0.8, -0.4 notitle
