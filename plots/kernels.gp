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
# title     headline, put before the finding (default: none)
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
set datafile separator "\t"
set datafile columnheaders

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

n = 0
n_in = 0
n_out = 0
off (dummy) = column ("predicted") / column ("measured") - 1
judge (v) = (n = n + 1, n_in = n_in + (abs (v) <= accepted), 1)
beyond (v) = (n_out = n_out + (abs (v) > limit), 1)
stats data using (stringcolumn ("section") ne "kernels" ? 0 : beyond (off (0)) \
  + (stringcolumn ("part") eq "fitted" ? 0 : judge (off (0)))) nooutput
finding = sprintf ("%d of %d held-out points are within +-%g %%", n_in, n, 100 * accepted)
title = title eq "" ? finding : title.": ".finding

height = 640
load folder (ARG0)."look.gp"
set output out
array shade[8] = ["#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#D55E00", "#009E73", "#888888"]
array mark[8] = [7, 5, 9, 11, 2, 1, 13, 4]
do for [i = 1:n_stages] { set linetype i linecolor rgb shade[(i - 1) % 8 + 1] pointtype mark[(i - 1) % 8 + 1] pointsize 0.7 }
key_rows = ceil (n_stages / 4.0)
base = (20.0 + 24 * key_rows) / height
set multiplot
if (broken ne "") { set label 99 broken at screen 0.5, screen 0.965 center offset 0, 0 font title_font }
unset title
set lmargin at screen 0.02
set rmargin at screen 0.98
set bmargin at screen 0.01
set tmargin at screen base
unset border
unset tics
unset grid
set key inside top center horizontal Left reverse samplen 1 spacing 1.1 maxcols 4
set xrange [1:2]
set yrange [0:1]
plot for [i = 1:n_stages] NaN with points linetype i pointsize 1 title stage[i]
unset label 99
unset key
set border 3
set logscale x
set xtics ("1 us" 1, "10 us" 10, "0.1 ms" 100, "1 ms" 1e3, "10 ms" 1e4) nomirror out
set ytics nomirror out
set xrange [0.4:6e4]
set yrange [-105 * limit:105 * limit]
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
set xzeroaxis linetype 1 linecolor rgb "#444444"
set object 1 rectangle from graph 0, first -100 * accepted to graph 1, first 100 * accepted behind \
  fillcolor rgb "#009E73" fillstyle transparent solid 0.12 noborder
set xlabel "measured time"
set bmargin at screen base + 80.0 / height
set tmargin at screen 0.86
do for [fitted = 1:0:-1] {
  set lmargin at screen (fitted ? 0.11 : 0.58)
  set rmargin at screen (fitted ? 0.53 : 0.98)
  set label 1 (fitted ? "fitted" : "held out") at graph 0.5, 1 center offset 0, 0.8
  if (fitted) {
    set ylabel "predicted / measured - 1 (%)".(n_out > 0 ? sprintf ("\n%d points beyond lie on the edge", n_out) : "")
  } else { unset ylabel }
  plot for [i = 1:n_stages] data using (1e6 * column ("measured")):(of (i, fitted)) with points linetype i notitle
}
unset multiplot
