# Where the time went: a bar a part, its time and its share beside it.
#
#   forerun run scenarios/llama3_8b_1node.yaml --plot pictures
#
# data     TSV with a header line and the columns part and value_s (s)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default breakdown.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='breakdown.tsv'; out='breakdown.svg'\" plots/breakdown.gp"
  exit status 2
}
if (!exists ("out")) { out = "breakdown.svg" }
series = ""
columns_needed = "part value_s"
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' ".quoted (data)))
height = 260 + 40 * (n_rows < 3 ? 3 : n_rows)
load folder (ARG0)."common.gp"

stats data using (column ("value_s")) name "V" nooutput
unit = V_max < 1e-3 ? "us" : V_max < 1 ? "ms" : "s"
scale = V_max < 1e-3 ? 1e6 : V_max < 1 ? 1e3 : 1
sum_s = V_sum > 0 ? V_sum : 1

# A colour says what a part is: work, communication that nothing hides, or waiting. The name says which.
array shade[3] = [0x0072B2, 0xD55E00, 0x999999]
array group_name[3] = ["compute", "exposed communication", "waiting"]
parts = "compute optimizer exposed_tp exposed_dp exposed_pp exposed_cp exposed_ep bubble launch_gap copy_wait straggler_wait" \
  ." data_stall checkpoint"
array in_words[13] = ["compute", "optimizer", "tensor-parallel communication", "data-parallel communication", \
  "pipeline communication", "context-parallel communication", "expert-parallel communication", "pipeline bubble", \
  "kernel launches", "copies", "slowest rank", "input data", "checkpoint"]
place (text) = sum [k = 1:words (parts)] (word (parts, k) eq text ? k : 0)
said (text) = place (text) == 0 ? text : in_words[place (text)]
group_of (text) = place (text) < 3 ? 1 : place (text) < 8 ? 2 : 3
hue (text) = shade[group_of (text)]
present = ""
see (g) = strstrt (present, g) > 0 ? 1 : (present = present." ".g, 1)
stats data using (see (sprintf ("%d", group_of (strcol ("part"))))) nooutput
text_of (v) = sprintf ("%.4g %s, %.1f %%", v * scale, unit, 100 * v / sum_s)

set key maxcols 3 width -3
if (words (present) < 2) { unset key }
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set yrange [n_rows - 0.5:-0.5]
set xrange [0:V_max > 0 ? V_max * scale * 1.35 : 1]
set xlabel "time (".unit.")\n "
plot data using (column ("value_s") * scale / 2):0:(0):(column ("value_s") * scale):($0 - 0.36):($0 + 0.36): \
    (hue (strcol ("part"))):ytic (said (strcol ("part"))) with boxxyerror fillstyle solid noborder \
    linecolor rgb variable notitle, \
  for [g in present] keyentry with boxes fillstyle solid noborder linecolor rgb shade[int (g)] title group_name[int (g)], \
  data using (column ("value_s") * scale):0:(text_of (column ("value_s"))) with labels left offset 0.8,0 notitle
