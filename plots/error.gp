# How far predictions are from measurements: relative error of the time against message size, the accepted band shaded.
#
#   gnuplot -e "data='scores.tsv'; out='error.svg'" plots/error.gp
#
# data      TSV with a header line and the columns bytes (B), predicted_s and measured_s (s); or `error` (predicted / measured - 1)
#           instead of the two times
# out       file to write; its ending decides the format: .svg, .png, .pdf (default error.svg)
# series    columns that tell points apart, separated by blanks (default "system op algo proto nodes"; those that are missing or say
#           the same everywhere are left out)
# accepted  half the height of the shaded band, as a fraction (default 0.1: +-10 %)
# limit     what the axis shows, as a fraction; points beyond lie on its edge (default: the largest error)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='scores.tsv'; out='error.svg'\" plots/error.gp"
  exit status 2
}
if (!exists ("series")) { series = "system op algo proto nodes" }
if (!exists ("out")) { out = "error.svg" }
if (!exists ("accepted")) { accepted = 0.1 }
given = strstrt ("\t".system ("head -n 1 -- ".quoted (data))."\t", "\terror\t") > 0
columns_needed = given ? "bytes error" : "bytes predicted_s measured_s"
load folder (ARG0)."common.gp"

error (dummy) = given ? column ("error") : column ("predicted_s") / column ("measured_s") - 1
stats data using (error (0)) nooutput
largest = abs (STATS_min) > abs (STATS_max) ? abs (STATS_min) : abs (STATS_max)
inside = 0
stats data using (inside = inside + (abs (error (0)) <= accepted), 1) nooutput
n_rows = STATS_records
stats data using (abs (error (0))) nooutput
median = STATS_median

if (!exists ("limit")) { limit = largest }
limit = limit < 1.5 * accepted ? 1.5 * accepted : limit
shown (v) = v > limit ? limit : v < -limit ? -limit : v

set ylabel "predicted / measured - 1 (%)" \
  .(limit < largest ? sprintf ("\nlarger errors than %g %% lie on the edge", 100 * limit) : "")
set yrange [-105 * limit:125 * limit] # room for the finding above all points
set format y "%g"
set xzeroaxis linetype 1 linecolor rgb "#444444" linewidth 1
set object 1 rectangle from graph 0, first -100 * accepted to graph 1, first 100 * accepted behind \
  fillcolor rgb "#009E73" fillstyle transparent solid 0.12 noborder
finding = sprintf ("%d of %d within +-%g %%, median |error| %.1f %%", inside, n_rows, 100 * accepted, 100 * median)
if (exists ("title")) { set label 99 title.": ".finding } else { set label 1 finding at graph 0.01, 0.97 left }

mine (i) = label (1) eq name[i] ? 100 * shown (error (0)) : NaN
# Thousands of points cover each other: small ones, each series beside the others of its size, spread a little by their number.
many = n_rows > 1500
spread (i) = !many ? 1 : 2 ** (0.8 * ((i - 1 + (0.618 * $0 - floor (0.618 * $0))) / n_series - 0.5))
colour_of (i) = colour[(i - 1) % 7 + 1]
if (many) { do for [i = 1:n_series] { set linetype i linecolor rgb colour_of (i) pointtype 7 pointsize 0.25 } }
plot \
  for [i = 1:n_series] data using (column ("bytes") * spread (i)):(mine (i)) \
    with points linetype i title (many ? "" : name[i] eq "" ? "predictions" : name[i]), \
  for [i = 1:many ? n_series : 0] keyentry with points pointtype 7 pointsize 1 linecolor rgb colour_of (i) title name[i], \
  keyentry with boxes fillstyle solid 0.3 noborder linecolor rgb "#009E73" title sprintf ("+-%g %%", 100 * accepted)
