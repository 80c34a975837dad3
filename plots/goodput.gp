# Goodput by the interval between checkpoints: the mean of simulated runs with the band of 95 % of them, and the closed form.
#
#   forerun run scenarios/llama3_405b_54days.yaml --goodput --format tsv -o goodput.tsv \
#     --vary workload.checkpoint.every=8,12,18,26,38,56,76,100,150,220,320,470,690,1000
#   gnuplot -e "data='goodput.tsv'; out='goodput.svg'" plots/goodput.gp
#
# data      TSV with a header line and the columns interval_s, goodput, goodput_lo, goodput_hi, goodput_closed_form, best_interval_s
#           and best_goodput, by rising interval
# out       file to write; its ending decides the format: .svg, .png, .pdf (default goodput.svg)
# title     headline (default: the best interval and its goodput)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='goodput.tsv'\" plots/goodput.gp"
  exit status 2
}
if (!exists ("out")) { out = "goodput.svg" }
set datafile separator "\t"
set datafile columnheaders
header = system ("head -n 1 -- ".quoted (data))
do for [c in "interval_s goodput goodput_lo goodput_hi goodput_closed_form best_interval_s best_goodput"] {
  if (strstrt ("\t".header."\t", "\t".c."\t") == 0) {
    printerr data.":1: no column '".c."'; there are: ".header
    exit status 2
  }
}

minutes (dummy) = column ("interval_s") / 60
first (x) = column (0) < 1 ? x : NaN

stats data using (column ("best_interval_s")) name "I" nooutput
stats data using (100 * column ("best_goodput")) name "B" nooutput
if (!exists ("title")) { title = "" }
if (title eq "") { title = sprintf ("Goodput is highest, %.1f %%, with %.3g min between checkpoints", B_max, I_max / 60) }
load folder (ARG0)."look.gp"
set output out
set key maxcols 2
set logscale x 10
set format x "%g"
set xrange [*:*] noextend
set xlabel "work between checkpoints (min)\n "
stats data using (100 * column ("goodput_lo")) name "G" nooutput
floor_of = G_min > 20 ? 5 * floor (G_min / 5) : 0
set ylabel "goodput: useful time / all time (%)".(floor_of > 0 ? sprintf ("\naxis starts at %g %%", floor_of) : "")
set yrange [floor_of:100]
plot \
  data using (minutes (0)):(100 * column ("goodput_lo")):(100 * column ("goodput_hi")) with filledcurves \
    fillcolor rgb "#0072B2" fillstyle transparent solid 0.25 noborder title "95 % of simulated runs", \
  data using (minutes (0)):(100 * column ("goodput")) with lines linewidth 2 linecolor rgb "#0072B2" \
    title "mean of simulated runs", \
  data using (minutes (0)):(100 * column ("goodput_closed_form")) with lines linewidth 2 dashtype 2 linecolor rgb "#D55E00" \
    title "closed form", \
  data using (first (column ("best_interval_s") / 60)):(100 * column ("best_goodput")) with points pointtype 7 pointsize 1.2 \
    linecolor rgb "#009E73" title "best"
