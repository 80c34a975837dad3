# Training steps, simulated against measured, by the number of GPUs: what is held out filled, what was fitted open.
#
#   tests/training.sh --points points.tsv FORERUN SOURCE_DIR
#   gnuplot -e "data='points.tsv'; out='training.svg'" plots/training.gp
#
# data      TSV with a header line and the columns use, kind, gpus, measured and predicted
# out       file to write; its ending decides the format: .svg, .png, .pdf (default training.svg)
# accepted  half the height of the shaded band, as a fraction (default 0.15: +-15 %)
# title     headline, put before the finding (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='points.tsv'\" plots/training.gp"
  exit status 2
}
if (!exists ("out")) { out = "training.svg" }
if (!exists ("accepted")) { accepted = 0.15 }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- ".quoted (data))
do for [c in "use kind gpus measured predicted"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}

error (kind, use) = strcol ("kind") eq kind && (use eq "fitted") == (strcol ("use") eq "fitted") \
  ? kept (100 * (column ("predicted") / column ("measured") - 1)) : NaN
# apart a little, so that runs of one size do not hide each other
spread (dummy) = column ("gpus") * (1 + 0.16 * sin (12.9898 * column (0)))

# what the axis shows; points beyond lie on its edge
least = -60.0
most = 40.0
kept (v) = v < least ? least : v > most ? most : v
n = 0
n_in = 0
n_out = 0
off (dummy) = column ("predicted") / column ("measured") - 1
judge (v) = (n = n + 1, n_in = n_in + (abs (v) <= accepted), 1)
beyond (v) = (n_out = n_out + (100 * v < least || 100 * v > most), 1)
stats data using (strcol ("use") eq "fitted" ? beyond (off (0)) : judge (off (0)) + beyond (off (0))) nooutput
finding = sprintf ("%d of %d steps that were not fitted are within +-%g %%", n_in, n, 100 * accepted)
title = exists ("title") ? title.": ".finding : finding

array colour[3] = ["#D55E00", "#0072B2", "#009E73"]
load folder (ARG0)."look.gp"
set output out
set key maxcols 2
set logscale x 2
set xlabel "GPUs\n "
set format x "%.0f"
set xrange [0.7:20000]
set yrange [least:most]
set ylabel "simulated / measured - 1 (%)".(n_out > 0 ? sprintf ("\n%d points beyond lie on the edge", n_out) : "")
set xzeroaxis linetype 1 linecolor rgb "#444444" linewidth 1
set object 1 rectangle from graph 0, first -100 * accepted to graph 1, first 100 * accepted behind \
  fillcolor rgb "#009E73" fillstyle transparent solid 0.12 noborder
plot \
  data using (spread (0)):(error ("others", "fitted")) with points pointtype 6 pointsize 0.6 linecolor rgb colour[2] \
    title "others, fitted", \
  data using (spread (0)):(error ("others", "not")) with points pointtype 7 pointsize 0.6 linecolor rgb colour[2] \
    title "others, not fitted", \
  data using (spread (0)):(error ("vendor-tuned", "fitted")) with points pointtype 6 pointsize 0.9 linewidth 1.5 \
    linecolor rgb colour[1] title "vendor-tuned, fitted", \
  data using (spread (0)):(error ("vendor-tuned", "not")) with points pointtype 7 pointsize 0.9 linecolor rgb colour[1] \
    title "vendor-tuned, not fitted", \
  data using (spread (0)):(error ("own", "fitted")) with points pointtype 6 pointsize 0.6 linecolor rgb colour[3] \
    title "PyTorch on H200, fitted", \
  data using (spread (0)):(error ("own", "not")) with points pointtype 7 pointsize 0.6 linecolor rgb colour[3] \
    title "PyTorch on H200, not fitted"
