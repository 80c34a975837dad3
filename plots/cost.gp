# What plans cost, by part: a bar a machine, in the order of the rows.
#
#   forerun plan buy_256_gpus --plot front.svg        # draws front_cost.svg too
#
# data     TSV with a header line and the columns machine and those of `parts`, in USD
# parts    at most nine, separated by blanks (default nodes, network, adapters, switches, optics, cables, storage, rent and energy)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default cost.svg)
# title    headline (default: none)
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='cost.tsv'; out='cost.svg'\" plots/cost.gp"
  exit status 2
}
if (!exists ("out")) { out = "cost.svg" }
if (!exists ("parts")) { parts = "nodes network adapters switches optics cables storage rent energy" }
series = ""
columns_needed = "machine ".parts
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' '".data."'"))
height = 190 + 34 * (n_rows < 3 ? 3 : n_rows)
load system ("dirname -- '".ARG0."'")."/common.gp"

array shade[9] = [0x0072B2, 0x999999, 0x56B4E9, 0xD55E00, 0xE69F00, 0xF0E442, 0xCC79A7, 0x0072B2, 0x009E73]
below (n) = sum [k = 1:n] column (word (parts, k))
stats data using (below (words (parts))) name "C" nooutput
unit = C_max < 1e3 ? "$" : C_max < 1e6 ? "k$" : "M$"
scale = C_max < 1e3 ? 1 : C_max < 1e6 ? 1e-3 : 1e-6
array used[words (parts)]
do for [k = 1:words (parts)] {
  stats data using (column (word (parts, k))) name "P" nooutput
  used[k] = P_max > 0
}
shown = ""
do for [k = 1:words (parts)] { if (used[k]) { shown = shown." ".sprintf ("%d", k) } }
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set key outside bottom center horizontal Left reverse samplen 1.5 maxcols 5
set yrange [n_rows - 0.5:-0.5]
set xrange [0:C_max > 0 ? C_max * scale * 1.15 : 1]
set xlabel "cost (".unit.")\n "
plot for [k in shown] \
  data using (scale * below (int (k))):0:(scale * below (int (k) - 1)):(scale * below (int (k))):($0 - 0.36):($0 + 0.36): \
    ytic (strcol ("machine")) with boxxyerror fillstyle solid noborder linecolor rgb shade[int (k)] title word (parts, int (k)), \
  data using (scale * below (words (parts))):0:(sprintf ("%.4g", scale * below (words (parts)))) \
    with labels left offset 0.8,0 notitle
