# What plans cost, by part: a bar a cluster option, in the order of the rows.
#
#   forerun plan buy_256_gpus --plot front.svg        # draws front_cost.svg too
#
# data     TSV with a header line and the columns machine and those of `parts`, in one currency
# sign     what stands before an amount (default $)
# parts    at most nine, separated by blanks (default nodes, network, storage, other, interest, support, space, rent and energy)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default cost.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='cost.tsv'; out='cost.svg'\" plots/cost.gp"
  exit status 2
}
if (!exists ("out")) { out = "cost.svg" }
if (!exists ("sign")) { sign = "$" }
if (!exists ("parts")) { parts = "nodes network storage other interest support space rent energy" }
series = ""
columns_needed = "machine ".parts
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' ".quoted (data)))
height = 250 + 40 * (n_rows < 3 ? 3 : n_rows)
load folder (ARG0)."common.gp"

# Nine colours, dark beside pale: neighbours differ in grey too, and wide parts say their name.
array shade[9] = [0x0072B2, 0xBBBBBB, 0x56B4E9, 0xD55E00, 0xF0E442, 0x882255, 0xE69F00, 0x332288, 0x44AA99]
array letters[9] = [0xFFFFFF, 0, 0, 0, 0, 0xFFFFFF, 0, 0xFFFFFF, 0]
in_words (part) = part eq "other" ? "racks, spares, delivery" : part eq "once" ? "one-off" : part
below (n) = sum [k = 1:n] column (word (parts, k))
stats data using (below (words (parts))) name "C" nooutput
unit = (C_max < 1e3 ? "" : C_max < 1e6 ? "thousand " : "million ").sign
suffix = C_max < 1e3 ? "" : C_max < 1e6 ? " k" : " M"
scale = C_max < 1e3 ? 1 : C_max < 1e6 ? 1e-3 : 1e-6
top = C_max > 0 ? C_max * scale * 1.17 : 1
array used[words (parts)]
do for [k = 1:words (parts)] {
  stats data using (column (word (parts, k))) name "P" nooutput
  used[k] = P_max > 0
}
shown = ""
do for [k = 1:words (parts)] { if (used[k]) { shown = shown." ".sprintf ("%d", k) } }
said_at (k) = scale * column (word (parts, k)) > 0.0152 * top * strlen (in_words (word (parts, k))) + 0.01 * top
wide = ""
do for [k in shown] {
  stats data using (said_at (int (k))) name "W" nooutput
  if (W_max > 0) { wide = wide." ".k }
}
# A gap parts neighbours whose greys are alike.
right_of (k) = scale * below (k) - (scale * column (word (parts, k)) > 0.006 * top ? 0.002 * top : 0)
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set key maxcols 5
set yrange [n_rows - 0.5:-0.5]
set xrange [0:top]
set xlabel "cost (".unit.")\n "
plot for [k in shown] \
  data using (0):0:(scale * below (int (k) - 1)):(right_of (int (k))):($0 - 0.36):($0 + 0.36):ytic (strcol ("machine")) \
    with boxxyerror fillstyle solid noborder fillcolor rgb shade[int (k)] notitle, \
  for [k in shown] keyentry with boxes fillstyle solid noborder fillcolor rgb shade[int (k)] \
    title in_words (word (parts, int (k))), \
  for [k in wide] data using (said_at (int (k)) ? scale * (below (int (k)) + below (int (k) - 1)) / 2 : NaN):0: \
    (in_words (word (parts, int (k)))) with labels center font ",13" textcolor rgb letters[int (k)] notitle, \
  data using (scale * below (words (parts))):0:(sign.sprintf ("%.3g%s", scale * below (words (parts)), suffix)) \
    with labels left offset 0.8,0 notitle
