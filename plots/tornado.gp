# What an answer hangs on: how it changes when one constant does, the largest change on top.
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
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='tornado.tsv'; out='tornado.svg'\" plots/tornado.gp"
  exit status 2
}
if (!exists ("out")) { out = "tornado.svg" }
if (!exists ("by")) { by = 20 }
if (!exists ("less_is")) { less_is = sprintf ("%g %% less of it", by) }
if (!exists ("more_is")) { more_is = sprintf ("%g %% more", by) }
if (!exists ("what")) { what = "time" }
if (!exists ("note")) { note = "" }
series = ""
columns_needed = "name less more"
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' '".data."'"))
height = 170 + 46 * (n_rows < 2 ? 2 : n_rows)
load system ("dirname -- '".ARG0."'")."/common.gp"

widest = 0
wider (v) = abs (v) > widest ? (widest = abs (v), 1) : 1
stats data using (wider (column ("less")) + wider (column ("more"))) nooutput
if (widest == 0) { widest = 0.01 }
text_of (l, m) = sprintf ("%+.2f %%, %+.2f %%", 100 * l, 100 * m)
# Where both move it the same way, each has half of the bar.
upper_to (l, m) = l * m > 0 ? 0.13 : 0.36
lower_from (l, m) = l * m > 0 ? 0.13 : -0.1
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set border 1
set key outside top center horizontal Left reverse samplen 1.5
set yrange [n_rows - 0.4:-0.75]
unset ytics
set xrange [-130 * widest:130 * widest]
set xlabel "change of the ".what." (%)".note
set arrow from 0, graph 0 to 0, graph 1 nohead linecolor rgb "#444444"
plot \
  data using (50 * column ("less")):0:(0):(100 * column ("less")):($0 - 0.1):($0 + upper_to (column ("less"), column ("more"))) \
    with boxxyerror fillstyle solid noborder linecolor rgb "#0072B2" title less_is, \
  data using (50 * column ("more")):0:(0):(100 * column ("more")):($0 + lower_from (column ("less"), column ("more"))):($0 + 0.36) \
    with boxxyerror fillstyle solid noborder linecolor rgb "#E69F00" title more_is, \
  data using (-128 * widest):($0 - 0.34):(strcol ("name")."   ".text_of (column ("less"), column ("more"))) with labels left notitle
