# What each pipeline stage does when: a row a stage, a colour a kind.
#
#   forerun run scenarios/pipeline_4_stages.yaml --plot pictures
#
# data     TSV with a header line and the columns stage, kind, start_s and end_s (s)
# columns  the rows of data were put together into so many columns of equal width (default 0: they were not)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default timeline.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='timeline.tsv'; out='timeline.svg'\" plots/timeline.gp"
  exit status 2
}
if (!exists ("out")) { out = "timeline.svg" }
if (!exists ("columns")) { columns = 0 }
series = ""
columns_needed = "stage kind start_s end_s"
without_sizes = 1
n_rows = int (system ("awk -F '\\t' 'NR > 1 && $1 + 1 > n { n = $1 + 1 } END { print n + 0 }' ".quoted (data)))
row_height = n_rows <= 8 ? 40 : n_rows <= 24 ? 24 : 14
height = 230 + row_height * (n_rows < 3 ? 3 : n_rows)
load folder (ARG0)."common.gp"

stats data using (column ("end_s")) name "T" nooutput
unit = T_max < 1e-3 ? "us" : T_max < 1 ? "ms" : "s"
scale = T_max < 1e-3 ? 1e6 : T_max < 1 ? 1e3 : 1

kinds = "forward backward weight recompute optimizer other exchange idle"
array said_as[8] = ["forward", "backward", "weight gradients", "recomputation", "optimizer", "copies, host", \
  "communication only", "idle"]
array shade[8] = ["#8CCBF0", "#0072B2", "#009E73", "#CC79A7", "#000000", "#777777", "#D55E00", "#EEEEEE"]
present = ""
see (kind) = strstrt (" ".present." ", " ".kind." ") > 0 ? 1 : (present = present." ".kind, 1)
stats data using (see (strcol ("kind"))) nooutput

unset grid
set key samplen 1.5 maxcols 4 width -1
set border 1
set yrange [n_rows - 0.5:-0.5]
set xrange [0:T_max * scale]
set xlabel "time (".unit.")".(columns > 0 ? sprintf ("\neach of %d columns has the colour of what most of it was", columns) \
  : "")."\n "
set ylabel "pipeline stage"
set ytics scale 0
set ytics 0, n_rows <= 32 ? 1 : 4
gap = row_height <= 14 ? 0.44 : 0.4
mine (kind, v) = strcol ("kind") eq kind ? v * scale : NaN
parts = ""
do for [i = 1:words (kinds)] {
  if (strstrt (" ".present." ", " ".word (kinds, i)." ") > 0) {
    parts = parts.sprintf ("%sdata using (mine ('%s', column ('start_s'))):(column ('stage')):(mine ('%s', column ('start_s')))" \
      .":(mine ('%s', column ('end_s'))):(column ('stage') - gap):(column ('stage') + gap)" \
      ." with boxxyerror fillstyle solid noborder linecolor rgb '%s' notitle" \
      .", keyentry with boxes fillstyle solid noborder linecolor rgb '%s' title said_as[%d]", \
      parts eq "" ? "" : ", ", word (kinds, i), word (kinds, i), word (kinds, i), shade[i], shade[i], i)
  }
}
eval "plot ".parts
