# How the time of a simulation grows with its messages, on two logarithmic axes, with the fitted exponent of each operation.
#
#   tests/bench/growth.sh build/release/forerun >growth.tsv
#   gnuplot -e "data='growth.tsv'; out='growth.svg'" plots/growth.gp
#
# data    TSV with a header line and the columns operation, messages and time_s
# out     file to write; its ending decides the format: .svg, .png, .pdf (default growth.svg)
# title   headline (default: what the exponents say)
# from    least number of messages that the fit takes (default 50000: below, starting the program is what takes time)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='growth.tsv'\" plots/growth.gp"
  exit status 2
}
if (!exists ("out")) { out = "growth.svg" }
if (!exists ("from")) { from = 50000 }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- ".quoted (data))
do for [c in "operation messages time_s"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}

max_lines = 7
array name[max_lines]
array factor[max_lines]
array exponent[max_lines]
n = 0
known = "|"
note (text) = strstrt (known, "|".text."|") > 0 || n == max_lines ? 1 : (n = n + 1, name[n] = text, known = known.text."|", 1)
stats data using (note (strcol ("operation"))) nooutput
if (n == 0) {
  printerr data.": no rows below the header"
  exit status 2
}
taken (i) = strcol ("operation") eq name[i] && column ("messages") >= from
do for [i = 1:n] {
  stats data using (taken (i) ? log10 (column ("messages")) : NaN):(log10 (column ("time_s"))) name "growth" nooutput
  exponent[i] = growth_slope
  factor[i] = 10 ** growth_intercept
}

# Okabe and Ito, Color Universal Design (2008).
array colour[7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
steepest = exponent[1]
do for [i = 2:n] { if (exponent[i] > steepest) { steepest = exponent[i] } }
finding = steepest <= 1.1 ? "Twice the messages take at most about twice the time" : \
          sprintf ("Twice the messages take up to %.1f times the time", 2 ** steepest)
if (!exists ("title")) { title = finding }
load folder (ARG0)."look.gp"
set output out
set key inside vertical maxcols 1 left top reverse Left
set logscale xy 10
set xlabel "messages (both axes are logarithmic)"
set ylabel "processor time (s)"
set format x "1e%T"
set format y "%g"
plot for [i = 1:n] data using (strcol ("operation") eq name[i] ? column ("messages") : NaN):(column ("time_s")) with points \
       pointtype 7 linecolor rgb colour[i] title sprintf ("%s: exponent %.2f", name[i], exponent[i]), \
     for [i = 1:n] [m = from:4e7] factor[i] * m ** exponent[i] with lines linewidth 2 linecolor rgb colour[i] notitle
