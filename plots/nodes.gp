# Bus bandwidth by nodes, a panel for each machine; plots/nodes.sh writes its data and calls it.
#
# dir     folder with line1, dots1, title1, …: nodes, busbw, low, high (GB/s); nodes, measured busbw
# panels  how many
# out     file to write, .svg or .png
if (out[strlen (out) - 3:] eq ".png") { set terminal pngcairo size 1080, 420 font "sans,11" } \
else { set terminal svg size 1080, 420 dynamic font "sans-serif,13" background "white" }
set output out
set logscale x 2
set xrange [1.7:75]
set yrange [0:*]
set xtics (2, 4, 8, 16, 32, 64)
set grid ytics linecolor rgb "#dddddd"
set border 3
set tics nomirror
set xlabel "nodes"
set key bottom left reverse Left samplen 2
set multiplot layout 1, panels title "All-reduce of 8 GiB: predicted bus bandwidth with its error band, and published measurements"
do for [i = 1:panels] {
  name = system ("cat ".dir."/title".i)
  set title name
  if (i == 1) { set ylabel "busbw (GB/s)" } else { unset ylabel; unset key }
  plot dir."/line".i using 1:3:4 with filledcurves fillcolor rgb "#cfe2f3" title "error band", \
       "" using 1:2 with linespoints linewidth 2 pointtype 7 pointsize 0.4 linecolor rgb "#0b5394" title "predicted", \
       dir."/dots".i using 1:2 with points pointtype 6 pointsize 1.2 linewidth 2 linecolor rgb "#b45f06" title "measured"
}
unset multiplot
