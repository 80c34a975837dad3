# How busy the busiest link of each class was, and what the class carried.
#
#   forerun run scenarios/quickstart.yaml --plot pictures
#
# data     TSV with a header line and the columns link_class, busiest, utilisation (0 to 1) and bytes (B)
# out      file to write; its ending decides the format: .svg, .png, .pdf (default links.svg)
# title    headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='links.tsv'; out='links.svg'\" plots/links.gp"
  exit status 2
}
if (!exists ("out")) { out = "links.svg" }
series = ""
columns_needed = "link_class busiest utilisation bytes"
without_sizes = 1
n_rows = int (system ("awk 'END { print NR - 1 }' ".quoted (data)))
height = 130 + 62 * (n_rows < 2 ? 2 : n_rows)
load folder (ARG0)."common.gp"

power (b) = b < 1e3 ? 0 : b < 1e6 ? 1 : b < 1e9 ? 2 : b < 1e12 ? 3 : b < 1e15 ? 4 : 5
array prefix[6] = ["", "k", "M", "G", "T", "P"]
size_of (b) = sprintf ("%.4g %sB", b / 1000.0 ** power (b), prefix[power (b) + 1])
text_of (dummy) = sprintf ("%.1f %%  %s; its class carried %s", 100 * column ("utilisation"), strcol ("busiest"), \
  size_of (column ("bytes")))

unset key
unset grid
set grid xtics linecolor rgb "#dddddd" linewidth 1 linetype 1
set yrange [n_rows - 0.5:-0.7]
set xrange [0:100]
set xlabel "time that the busiest link of the class was busy (% of the run, at full rate)"
plot data using (50):0:(0):(100 * column ("utilisation")):($0 - 0.12):($0 + 0.36):ytic (strcol ("link_class")) \
    with boxxyerror fillstyle solid noborder linecolor rgb "#0072B2", \
  data using (0):($0 - 0.34):(text_of (0)) with labels left offset 0.3,0
