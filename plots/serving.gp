# A serving run over time: use of the KV cache, sequences that decode, requests that wait.
#
#   forerun run scenarios/serve_llama8b_h100.yaml --plot pictures       (draws pictures/serving.svg, among others)
#
# data      TSV with a header line and the columns start_s, kv (0 to 1), running and waiting, by rising time
# out       file to write; its ending decides the format: .svg, .png, .pdf (default serving.svg)
# title     headline (default: the highest use)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='serving.tsv'\" plots/serving.gp"
  exit status 2
}
if (!exists ("out")) { out = "serving.svg" }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- ".quoted (data))
do for [c in "start_s kv running waiting"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}
stats data using (100 * column ("kv")) name "K" nooutput
stats data using (column ("running") + column ("waiting")) name "R" nooutput
if (!exists ("title")) { title = "" }
if (title eq "") { title = sprintf ("The KV cache is at most %.1f %% full", K_max) }
load folder (ARG0)."look.gp"
set output out
set xlabel "time (s)\n "
set format x "%g"
set format y "%g"
set format y2 "%g"
set ylabel "KV cache in use (%)"
set yrange [0:(K_max > 0 ? 1.1 * K_max : 1)]
set y2label "sequences"
set y2range [0:(R_max > 0 ? 1.1 * R_max : 1)]
set y2tics nomirror
set border 11
set xrange [*:*] noextend
plot \
  data using (column ("start_s")):(100 * column ("kv")) with filledcurves y1=0 fillcolor rgb "#0072B2" \
    fillstyle transparent solid 0.25 noborder title "KV cache in use (left)", \
  data using (column ("start_s")):(column ("running")) axes x1y2 with steps linewidth 2 linecolor rgb "#009E73" \
    title "sequences in the engine (right)", \
  data using (column ("start_s")):(column ("waiting")) axes x1y2 with steps linewidth 2 dashtype 2 linecolor rgb "#D55E00" \
    title "requests that wait (right)"
