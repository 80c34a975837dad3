# Goodput by the interval between checkpoints: the mean of runs by events with the band of 95 % of them, and the closed form.
#
#   forerun run scenarios/llama3_405b_54days.yaml --goodput --format tsv -o goodput.tsv \
#     --vary workload.checkpoint.every=8,12,18,26,38,56,76,100,150,220,320,470,690,1000
#   gnuplot -e "data='goodput.tsv'; out='goodput.svg'" plots/goodput.gp
#
# data      TSV with a header line and the columns interval_s, goodput, goodput_lo, goodput_hi, goodput_closed_form, best_interval_s
#           and best_goodput, by rising interval
# out       file to write; its ending decides the format: .svg, .png, .pdf (default goodput.svg)
# title     headline (default: none)
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='goodput.tsv'\" plots/goodput.gp"
  exit status 2
}
if (!exists ("out")) { out = "goodput.svg" }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- '".data."'")
do for [c in "interval_s goodput goodput_lo goodput_hi goodput_closed_form best_interval_s best_goodput"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}

minutes (dummy) = column ("interval_s") / 60
first (x) = column (0) < 1 ? x : NaN

ending = strlen (out) > 4 ? out[strlen (out) - 3:] : ""
if (ending eq ".png") { set terminal pngcairo size 960,600 font "sans-serif,11" noenhanced } \
else { if (ending eq ".pdf") { set terminal pdfcairo size 16cm,10cm font "sans-serif,10" noenhanced } \
else { set terminal svg size 960,600 font "sans-serif,14" background "white" noenhanced } }
set output out
set border 3
set tics nomirror out
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
set key inside bottom center vertical Left reverse samplen 2
if (exists ("title")) { set title title }
set logscale x 10
set format x "%g"
set xrange [*:*] noextend
set xlabel "work between checkpoints (min)"
set ylabel "useful time / all time (%)"
set yrange [*:100]
plot \
  data using (minutes (0)):(100 * column ("goodput_lo")):(100 * column ("goodput_hi")) with filledcurves \
    fillcolor rgb "#0072B2" fillstyle transparent solid 0.25 noborder title "95 % of runs", \
  data using (minutes (0)):(100 * column ("goodput")) with lines linewidth 2 linecolor rgb "#0072B2" \
    title "mean of runs by events", \
  data using (minutes (0)):(100 * column ("goodput_closed_form")) with lines linewidth 2 dashtype 2 linecolor rgb "#D55E00" \
    title "closed form", \
  data using (first (column ("best_interval_s") / 60)):(100 * column ("best_goodput")) with points pointtype 7 pointsize 1.2 \
    linecolor rgb "#009E73" title "best"
