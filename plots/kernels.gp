# How far predictions of kernels are from measurements: predicted / measured - 1 against the time measured, one panel for what was
# fitted and one for what was held out.
#
#   forerun fit probe.json --topology T -o cal.yaml --section-points points.tsv
#   gnuplot -e "data='points.tsv'; out='kernels.svg'" plots/kernels.gp
#
# data      TSV with a header line and the columns section, stage, part, measured and predicted (s)
# out       file to write; its ending decides the format: .svg, .png, .pdf (default kernels.svg)
# accepted  half the height of the shaded band, as a fraction (default 0.1: +-10 %)
# limit     what the axis shows, as a fraction; points beyond lie on its edge (default 0.3)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='points.tsv'; out='kernels.svg'\" plots/kernels.gp"
  exit status 2
}
if (!exists ("out")) { out = "kernels.svg" }
if (!exists ("accepted")) { accepted = 0.1 }
if (!exists ("limit")) { limit = 0.3 }
if (!exists ("title")) { title = "" }
header = system ("head -n 1 -- ".quoted (data))
needed = "section stage part measured predicted"
do for [i = 1:words (needed)] {
  if (strstrt ("\t".header."\t", "\t".word (needed, i)."\t") == 0) {
    printerr sprintf ("%s: no column '%s' in its first line", data, word (needed, i))
    exit status 2
  }
}
ending = system (sprintf ("printf '%%s' %s | sed 's/.*\\.//'", quoted (out)))
if (ending eq "png") { set terminal pngcairo size 1100, 620 font "sans,11" } else {
  if (ending eq "pdf") { set terminal pdfcairo size 11in, 6.2in font "sans,11" } else {
    set terminal svg size 1100, 620 font "sans,12" background rgb "white"
  }
}
set output out
set datafile separator "\t"
set key autotitle columnheader

list = "NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } ". \
       "$at[\"section\"] == \"kernels\" && !seen[$at[\"stage\"]]++ { print $at[\"stage\"] }"
stages = system ("awk -F'\\t' ".quoted (list)." ".quoted (data)." | tr ' ' '_'")
name (i) = system (sprintf ("printf '%%s' %s | tr '_' ' '", quoted (word (stages, i))))
n_stages = words (stages)
if (n_stages == 0) {
  printerr sprintf ("%s: no point of kernels", data)
  exit status 2
}
array stage[n_stages]
do for [i = 1:n_stages] { stage[i] = name (i) }

shown (v) = v > limit ? limit : v < -limit ? -limit : v
error (dummy) = shown (column ("predicted") / column ("measured") - 1)
of (i, fitted) = stringcolumn ("section") eq "kernels" && stringcolumn ("stage") eq stage[i] && \
                 ((stringcolumn ("part") eq "fitted") == fitted) ? 100 * error (0) : NaN

set logscale x
set xlabel "measured"
set xtics ("1 us" 1, "10 us" 10, "0.1 ms" 100, "1 ms" 1e3, "10 ms" 1e4)
set xrange [0.4:6e4]
set yrange [-105 * limit:105 * limit]
set grid linecolor rgb "#dddddd"
set xzeroaxis linetype 1 linecolor rgb "#444444"
set object 1 rectangle from graph 0, first -100 * accepted to graph 1, first 100 * accepted behind \
  fillcolor rgb "#009E73" fillstyle transparent solid 0.12 noborder
set pointsize 0.6
set linetype 1 linecolor rgb "#0072B2" pointtype 7
set linetype 2 linecolor rgb "#E69F00" pointtype 5
set linetype 3 linecolor rgb "#CC79A7" pointtype 9
set linetype 4 linecolor rgb "#56B4E9" pointtype 11
set linetype 5 linecolor rgb "#000000" pointtype 2
set linetype 6 linecolor rgb "#D55E00" pointtype 1
set linetype 7 linecolor rgb "#009E73" pointtype 13
set linetype 8 linecolor rgb "#888888" pointtype 4
set multiplot layout 1, 2 title title
do for [fitted = 1:0:-1] {
  set title fitted ? "fitted" : "held out"
  if (fitted) {
    set ylabel "predicted / measured - 1 (%)"
    set key off
  } else {
    unset ylabel
    set key outside right top reverse Left
  }
  plot for [i = 1:n_stages] data using (1e6 * column ("measured")):(of (i, fitted)) with points linetype i title stage[i]
}
unset multiplot
