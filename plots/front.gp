# Time and cost of a plan's cluster options: a row an option, its time on the left and its cost on the right, each with its error
# band; filled points are on the front, where no other option is both faster and cheaper.
#
#   forerun plan buy_256_gpus --plot front.svg
#
# data     TSV with a header line and the columns machine, time_s, time_lo_s, time_hi_s, total, total_lo, total_hi (in one
#          currency) and front (1: on it)
# sign     what stands before an amount (default $)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default front.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='front.tsv'; out='front.svg'\" plots/front.gp"
  exit status 2
}
if (!exists ("out")) { out = "front.svg" }
if (!exists ("sign")) { sign = "$" }
series = "machine"
columns_needed = "machine time_s time_lo_s time_hi_s total total_lo total_hi front"
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' ".quoted (data)))
row_height = n_rows <= 20 ? 34 : n_rows <= 60 ? 22 : 16
height = 210 + row_height * (n_rows < 3 ? 3 : n_rows)
load folder (ARG0)."common.gp"

stats data using (column ("total_hi")) name "C" nooutput
stats data using (column ("time_hi_s")) name "T" nooutput
widest = 8
wider (text) = strlen (text) > widest ? (widest = strlen (text), 1) : 1
stats data using (wider (strcol ("machine"))) nooutput
unit = (C_max < 1e3 ? "" : C_max < 1e6 ? "thousand " : "million ").sign
scale = C_max < 1e3 ? 1 : C_max < 1e6 ? 1e-3 : 1e-6
hours = T_max < 3 * 86400
per = hours ? 3600.0 : 86400.0
on_front (value, is) = (column ("front") > 0) == is ? value : NaN
days (dummy) = column ("time_s") / per
money (dummy) = column ("total") * scale

named = ":ytic (strcol ('machine'))" # in the first panel alone
stats data using (column ("front")) name "F" nooutput
point (v, lo, hi, tint, kind, is) \
  = sprintf ("data using (on_front (%s, %d)):0:(%s):(%s)%s with" \
  ." xerrorbars linecolor rgb '%s' dashtype 1 linewidth 2 pointtype %d pointsize %g", \
    v, is, lo, hi, named, tint, kind + is, 1 + 0.3 * is)
panel (v, lo, hi, tint, kind) = "plot ".(F_min < 1 ? point (v, lo, hi, tint, kind, 0) : "").(F_min < 1 && F_max > 0 ? ", " : "") \
  .(F_max > 0 ? point (v, lo, hi, tint, kind, 1) : "")

left = 0.012 + 0.0112 * widest
left = left > 0.46 ? 0.46 : left < 0.12 ? 0.12 : left
# at most five steps of an axis, so that their labels do not meet
tens (x) = 10.0 ** floor (log10 (x))
steps (most) = most / 5 <= tens (most / 5) ? tens (most / 5) : most / 5 <= 2 * tens (most / 5) ? 2 * tens (most / 5) \
  : most / 5 <= 5 * tens (most / 5) ? 5 * tens (most / 5) : 10 * tens (most / 5)
middle = left + 0.49 * (0.98 - left)
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set border 1
set yrange [n_rows - 0.4:-0.6]
set ytics scale 0
unset key
unset title
set bmargin at screen 128.0 / height
set tmargin at screen 1 - 72.0 / height
set multiplot
set lmargin at screen left
set rmargin at screen middle - 0.02
set xrange [0:T_max / per * 1.04]
set xtics steps (T_max / per * 1.04)
set xlabel "time of the run (".(hours ? "h" : "days").")"
eval panel ("days (0)", "column ('time_lo_s') / per", "column ('time_hi_s') / per", "#0072B2", 6)
unset label 99
named = ""
unset ytics
set lmargin at screen middle + 0.02
set rmargin at screen 0.98
set xrange [0:C_max * scale * 1.04]
set xtics steps (C_max * scale * 1.04)
set xlabel "cost (".unit.")"
set label 2 "filled: on the front (no option is both faster and cheaper); bars: error band; both axes start at 0" \
  at screen 0.98, screen 22.0 / height right font ",14" textcolor rgb "#444444"
eval panel ("money (0)", "column ('total_lo') * scale", "column ('total_hi') * scale", "#D55E00", 4)
unset multiplot
