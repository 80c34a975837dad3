# Throughput by number of GPUs, a line a network, beside one that grows with the GPUs; below, the scaling efficiency. Each batch has
# panels of its own, so that lines of different batches do not cover each other.
#
#   forerun ratio ddp_16_nodes --rate '25,100,400 Gb/s' --plot ratio.svg    (writes ratio_scaling.svg)
#
# data     TSV with a header line and the columns gpus, network (text), batch, throughput (units/s) and efficiency (1: all of it)
# unit     what throughput counts (default samples)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default scaling.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='scaling.tsv'; out='scaling.svg'\" plots/scaling.gp"
  exit status 2
}
if (!exists ("out")) { out = "scaling.svg" }
if (!exists ("unit")) { unit = "samples" }
columns_needed = "gpus network batch throughput efficiency"
batches = int (system ("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } at[\"batch\"] \
  && !seen[$at[\"batch\"]]++ \
  { n++ } END { print n + 0 }' ".quoted (data)." 2>/dev/null"))
panels = batches > 1 && batches <= 4 ? batches : 1
series = panels > 1 || batches < 2 ? "network" : "network batch"
without_sizes = 1
height = 780
load folder (ARG0)."common.gp"

stats data using (column ("gpus")) name "X" nooutput
stats data using (column ("throughput")) name "Y" nooutput
array seen[X_records]
n_seen = 0
is_new (v) = n_seen == 0 ? 1 : ((sum [k = 1:n_seen] (seen[k] == v)) == 0)
keep (v) = is_new (v) ? (n_seen = n_seen + 1, seen[n_seen] = v, 1) : 0
stats data using (keep (column ("gpus"))) nooutput
array batch[panels]
n_batches = 0
known_batches = "|"
note_batch (b) = n_batches == panels || strstrt (known_batches, "|".b."|") > 0 ? 1 \
  : (n_batches = n_batches + 1, batch[n_batches] = b, known_batches = known_batches.b."|", 1)
stats data using (note_batch (strcol ("batch"))) nooutput
in_panel (p) = panels == 1 || strcol ("batch") eq batch[p]
of (p, i, v) = in_panel (p) && (n_series == 1 || label (1) eq name[i]) ? v : NaN
said_as (i) = n_series == 1 ? "throughput" : name[i]

# Networks by rising darkness, which grey keeps; many series keep the colours of lines.
if (n_series > 1 && n_series <= 8) {
  array shade[8] = [0xE69F00, 0xD55E00, 0xCC79A7, 0x56B4E9, 0x0072B2, 0x332288, 0x009E73, 0x000000]
  do for [i = 1:n_series] { set linetype i linecolor rgb shade[i] }
}
set samples 2
set logscale x 2
set multiplot

# The names have a place of their own below: as many as there are, they cover nothing.
key_rows = ceil ((n_series + 1) / 4.0)
base = (28.0 + 22 * key_rows) / height
base = base > 0.36 ? 0.36 : base
set lmargin at screen 0.02
set rmargin at screen 0.98
set bmargin at screen 0.01
set tmargin at screen base
unset border
unset tics
unset grid
set key inside top center horizontal Left reverse samplen 2 spacing 1.1 maxcols 4
if (n_series > 24) { set key font ",9" spacing 0.8 maxcols 6 }
set xrange [1:2]
set yrange [0:1]
unset title
unset label 99
plot NaN with lines linewidth 1.5 dashtype 3 linecolor rgb "#888888" title "grows with the GPUs", \
  for [i = 1:n_series] NaN with linespoints linetype i pointsize 0.9 title said_as (i)

if (broken ne "") { set label 99 broken at screen 0.5, screen 0.965 center offset 0, 0 font title_font }
set border 3
set xtics nomirror out
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
unset key
set xrange [X_min / 1.1:X_max * 1.1]
skip = int (ceil (n_seen * panels / 12.0))
wide = 0.88 / panels
low = base + 0.10
do for [p = 1:panels] {
  top = 0
  see (x, y) = x == X_min && y > top ? (top = y, 1) : 1
  stats data using (in_panel (p) ? see (column ("gpus"), column ("throughput")) : 0) nooutput
  if (p == 1) { highest = Y_max > top * X_max / X_min ? Y_max : top * X_max / X_min }
  set lmargin at screen 0.11 + (p - 1) * wide
  set rmargin at screen 0.11 + p * wide - 0.025
  set tmargin at screen (panels > 1 ? 0.88 : 0.92)
  set bmargin at screen low + 0.42 * (0.90 - low) + 0.05
  if (panels > 1) { set label 1 batch[p] at graph 0.5, 1 center offset 0, 0.9 }
  set xtics ()
  do for [k = 1:n_seen] { if ((n_seen - k) % skip == 0) { set xtics add ("" seen[k]) } }
  set logscale y 10
  set yrange [Y_min / 1.2:highest * 1.2]
  set ytics nomirror out
  set ytics ()
  few = log10 (highest / Y_min) > 2.5
  do for [k = floor (log10 (Y_min)):ceil (log10 (highest))] {
    do for [m in (few ? "1" : "1 2 5")] { set ytics add ((p == 1 ? sprintf ("%g", m * 10.0 ** k) : "") m * 10.0 ** k) }
  }
  if (p == 1) { set ylabel unit." / s" offset 0.5 } else { unset ylabel }
  unset xlabel
  plot (top * x / X_min) with lines linewidth 1.5 dashtype 3 linecolor rgb "#888888" notitle, \
    for [i = 1:n_series] data using (column ("gpus")):(of (p, i, column ("throughput"))) with linespoints linetype i \
      pointsize 0.9 notitle
  unset label
  unset logscale y
  set xtics ()
  do for [k = 1:n_seen] { if ((n_seen - k) % skip == 0) { set xtics add (sprintf ("%g", seen[k]) seen[k]) } }
  set tmargin at screen low + 0.42 * (0.90 - low)
  set bmargin at screen low
  set xlabel "GPUs"
  if (p == 1) { set ylabel "efficiency (%)" offset 0.5 } else { unset ylabel }
  set yrange [0:*]
  set ytics nomirror out autofreq
  if (p > 1) { set format y "" }
  plot for [i = 1:n_series] data using (column ("gpus")):(of (p, i, 100 * column ("efficiency"))) with linespoints \
      linetype i pointsize 0.9 notitle
  set format y "%g"
}
unset multiplot
