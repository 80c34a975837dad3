# What a fit of a calibration's section says of its points: predicted against measured, held-out points filled.
#
#   forerun fit probe.json --topology T --section-points points.tsv -o cal.yaml
#   gnuplot -e "data='points.tsv'; section='overlap'; out='overlap.svg'" plots/section.gp
#
# data      TSV with a header line and the columns section, part, point, measured and predicted
# section   which one (default "overlap")
# kinds     ends of the points' texts that are told apart, separated by blanks (default "kernel collective total")
# out       file to write; its ending decides the format: .svg, .png, .pdf (default section.svg)
# accepted  half the height of the shaded band, as a fraction (default 0.1: +-10 %)
# title     headline, put before the finding (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='points.tsv'\" plots/section.gp"
  exit status 2
}
if (!exists ("section")) { section = "overlap" }
if (!exists ("kinds")) { kinds = "kernel collective total" }
if (!exists ("out")) { out = "section.svg" }
if (!exists ("accepted")) { accepted = 0.1 }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- ".quoted (data))
do for [c in "section part point measured predicted"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}

ends (text, tail) = strlen (text) >= strlen (tail) && text[strlen (text) - strlen (tail) + 1:] eq tail
held (dummy) = strcol ("part") ne "fitted"
off (kind, is_held) = strcol ("section") eq section && ends (strcol ("point"), kind) && held (0) == is_held \
  ? 100 * (column ("predicted") / column ("measured") - 1) : NaN
at (kind, is_held) = off (kind, is_held) == off (kind, is_held) ? 1e3 * column ("measured") : NaN # other sections widen no axis
n = 0
n_in = 0
stats data using (strcol ("section") eq section && held (0) ? (n = n + 1, \
  n_in = n_in + (abs (column ("predicted") / column ("measured") - 1) <= accepted), 1) : NaN) nooutput
if (n == 0) {
  printerr data.": no held-out point of section '".section."'"
  exit status 2
}

finding = sprintf ("%d of %d held-out points are within +-%g %%", n_in, n, 100 * accepted)
title = exists ("title") ? title.": ".finding : finding
array colour[7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
load folder (ARG0)."look.gp"
set output out
set key outside right center vertical maxcols 1 Left reverse samplen 2 spacing 1.2
set logscale x 10
set xlabel "measured time (ms)"
set format x "%g"
set ylabel "predicted / measured - 1 (%)"
set xzeroaxis linetype 1 linecolor rgb "#444444" linewidth 1
set object 1 rectangle from graph 0, first -100 * accepted to graph 1, first 100 * accepted behind \
  fillcolor rgb "#009E73" fillstyle transparent solid 0.12 noborder
plot \
  for [i = 1:words (kinds)] data using (at (word (kinds, i), 1)):(off (word (kinds, i), 1)) \
    with points pointtype 2 * i + 5 pointsize 0.8 linecolor rgb colour[(i - 1) % 7 + 1] title word (kinds, i).", held out", \
  for [i = 1:words (kinds)] data using (at (word (kinds, i), 0)):(off (word (kinds, i), 0)) \
    with points pointtype 2 * i + 4 pointsize 0.8 linecolor rgb colour[(i - 1) % 7 + 1] title word (kinds, i).", fitted"
