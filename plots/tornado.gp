# Sensitivity: how an answer changes when one constant does, the largest change on top.
#
#   forerun run scenarios/quickstart.yaml --sensitivity assumed --plot pictures
#
# data     TSV with a header line and the columns name, less and more: changes of the answer, as fractions
# by       the change of each constant, in % (default 20)
# less_is, more_is   what the two colours are, in place of that
# what     what changes (default time)
# note     behind it (default: none)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default tornado.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='tornado.tsv'; out='tornado.svg'\" plots/tornado.gp"
  exit status 2
}
if (!exists ("out")) { out = "tornado.svg" }
if (!exists ("by")) { by = 20 }
if (!exists ("less_is")) { less_is = sprintf ("%g %% less", by) }
if (!exists ("more_is")) { more_is = sprintf ("%g %% more", by) }
if (!exists ("what")) { what = "time" }
if (!exists ("note")) { note = "" }
series = ""
columns_needed = "name less more"
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' ".quoted (data)))
height = 230 + 34 * (n_rows < 2 ? 2 : n_rows)
load folder (ARG0)."common.gp"

least = 0
most = 0
reach (v) = (least = v < least ? v : least, most = v > most ? v : most, 1)
longest = 8
longer (text) = strlen (text) > longest ? (longest = strlen (text), 1) : 1
stats data using (reach (column ("less")) + reach (column ("more")) + longer (strcol ("name"))) nooutput
if (most == least) { most = 0.01 }
text_of (v) = abs (v) < 5e-5 ? "0 %" : sprintf (abs (v) < 0.01 ? "%+.2f %%" : "%+.1f %%", 100 * v)
# Where both move it the same way, each has half of the bar.
upper_to (l, m) = l * m > 0 ? 0 : 0.36
lower_from (l, m) = l * m > 0 ? 0 : -0.36

# Names on the left, then the bars, then two columns of numbers: each has a width of its own in dots, so that none lies on another.
left = 20 + 8.6 * longest
left = left < 110 ? 110 : left > 520 ? 520 : left
numbers = 190.0
span = 106.0 * (most - least) # bars, in %
low = 100 * least - 0.03 * span
dot = span / (945 - left - numbers) # % of a dot across
high = low + span + numbers * dot
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set border 0
set key maxcols 2
set lmargin at screen left / 960.0
set rmargin at screen 945 / 960.0
set yrange [n_rows - 0.4:-0.6]
set ytics scale 0
set xrange [low:high]
step = 10 ** floor (log10 (span))
step = span / step < 2 ? step / 5 : span / step < 5 ? step / 2 : step
while ((100 * most - 100 * least) / step > (945 - left - numbers) / 60) { step = 2 * step }
set format x "%+g"
set xtics step * ceil (low / step), step, step * floor ((low + span) / step)
set label 3 "change of the ".what." (%)".note at first low + span / 2, graph 0 center offset 0, -2.6
set xlabel " \n "
set arrow from 0, graph 0 to 0, graph 1 nohead linecolor rgb "#444444"
plot \
  data using (50 * column ("less")):0:(0):(100 * column ("less")):($0 - 0.36):($0 + upper_to (column ("less"), column ("more"))): \
    ytic (strcol ("name")) with boxxyerror fillstyle solid noborder linecolor rgb "#0072B2" title less_is, \
  data using (50 * column ("more")):0:(0):(100 * column ("more")):($0 + lower_from (column ("less"), column ("more"))):($0 + 0.36) \
    with boxxyerror fillstyle solid noborder linecolor rgb "#E69F00" title more_is, \
  data using (low + span + 90 * dot):0:(text_of (column ("less"))) with labels right font ",15" textcolor rgb "#0072B2" notitle, \
  data using (low + span + 180 * dot):0:(text_of (column ("more"))) with labels right font ",15" textcolor rgb "#8A5A00" notitle
