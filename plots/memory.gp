# Device memory of each pipeline stage at its fullest moment, by what it is for, and what a GPU has.
#
#   forerun run scenarios/llama3_70b_16nodes.yaml --plot pictures
#
# data      TSV with a header line and the columns stage, weights, gradients, optimizer, activations, buffers and other (B)
# capacity  what a GPU has, in B (default 0: not known)
# out       file to write; its ending decides the format: .svg, .png, .pdf (default memory.svg)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='memory.tsv'; out='memory.svg'\" plots/memory.gp"
  exit status 2
}
if (!exists ("out")) { out = "memory.svg" }
if (!exists ("capacity")) { capacity = 0 }
series = ""
parts = "weights gradients optimizer activations buffers other"
columns_needed = "stage ".parts
without_sizes = 1
height = 520
load folder (ARG0)."common.gp"

GiB = 1073741824.0
# Dark beside pale: neighbours differ in grey too.
array shade[6] = ["#0072B2", "#A6D8F5", "#00694C", "#E69F00", "#882255", "#BBBBBB"]
total (k) = k == 0 ? 0 : column (word (parts, k)) + total (k - 1)
stats data using (total (words (parts)) / GiB) name "M" nooutput
n_rows = int (M_records)
top = M_max > capacity / GiB ? M_max : capacity / GiB

set key outside right center vertical Left reverse samplen 1.5 spacing 1.2 maxcols 1 invert
set xlabel "pipeline stage"
set ylabel "memory of a GPU (GiB)"
set xrange [n_rows < 6 ? -3.5 + n_rows / 2.0 : -0.7:n_rows < 6 ? 2.5 + n_rows / 2.0 : n_rows - 0.3]
set xtics 0, n_rows <= 24 ? 1 : 4, n_rows - 1
set yrange [0:top > 0 ? top * 1.08 : 1]
half = 0.4
bars = ""
do for [k = 1:words (parts)] {
  bars = bars.sprintf ("%sdata using 0:(total (%d) / GiB):($0 - half):($0 + half):(total (%d) / GiB):(total (%d) / GiB)" \
    ." with boxxyerror fillstyle solid noborder linecolor rgb '%s' notitle" \
    .", keyentry with boxes fillstyle solid noborder linecolor rgb '%s' title '%s'", \
    k == 1 ? "" : ", ", k, k - 1, k, shade[k], shade[k], word (parts, k))
}
if (capacity > 0) {
  bars = bars.sprintf (", capacity / GiB with lines dashtype 2 linewidth 2 linecolor rgb '#D55E00' title 'a GPU has %.4g GiB'", \
    capacity / GiB)
}
eval "plot ".bars
