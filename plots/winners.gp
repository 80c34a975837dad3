# A map of winners: which algorithm is the fastest by message size (across) and number of nodes (up), the paler the smaller its
# lead; the letters in a cell are its protocol, black lines stand at the sizes where one algorithm takes over from another.
#
#   forerun compare all_reduce --topology dgx_h100 --nodes 1,2,4,8 --format tsv -o winners.tsv
#   gnuplot -e "data='winners.tsv'; out='winners.svg'" plots/winners.gp
#
# data        TSV with a header line and the columns bytes (B), nodes, ranks, algo, proto, best (1: the fastest) and margin (time of
#             the next over its own, less 1), as forerun compare writes it
# crossovers  TSV with the columns nodes, from_B, algo and instead_of: the exact sizes of the lines (default: none are drawn)
# out         file to write; its ending decides the format: .svg, .png, .pdf (default winners.svg)
# title       headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='winners.tsv'; out='winners.svg'\" plots/winners.gp"
  exit status 2
}
if (!exists ("out")) { out = "winners.svg" }
if (!exists ("crossovers")) { crossovers = "" }
series = "algo"
columns_needed = "bytes nodes ranks algo proto best margin"
wins = system ("awk -F '\\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } at[\"best\"] && $at[\"best\"] == 1 \
  { n[$at[\"algo\"]]++; all++ } END { for (a in n) if (n[a] > n[most] || (n[a] == n[most] && a < most)) most = a; \
  if (all) print most, \"is fastest in\", n[most], \"of\", all, \"cells\" }' ".quoted (data)." 2>/dev/null")
title = exists ("title") && wins ne "" ? title.": ".wins : exists ("title") ? title : wins
load folder (ARG0)."common.gp"
do for [column in (crossovers eq "" ? "" : "nodes from_B algo instead_of")] {
  if (!has (crossovers, column)) {
    printerr crossovers.": no column '".column."'; there are: ".header (crossovers)
    exit status 2
  }
}

# ---- what there is ----

# Okabe and Ito again, one colour an algorithm whatever else is shown; the names that are not here share the last.
algorithms = "tree ring collnet_direct collnet_chain nvls nvls_tree pat pairwise"
array shade[9] = [0xE69F00, 0x56B4E9, 0xCC79A7, 0xD55E00, 0x009E73, 0xF0E442, 0x0072B2, 0x999999, 0x666666]
place (text) = sum [k = 1:words (algorithms)] (word (algorithms, k) eq text ? k : 0)
shade_of (text) = shade[place (text) == 0 ? 9 : place (text)]

# Node counts are rows at equal distances, in the order of the data; sizes a constant factor apart, as the data has them.
counts = ""
ranks_of = ""
winners = ""
cells = 0
first_size = 0
last_size = 0
row_of (n) = sum [k = 1:words (counts)] (word (counts, k) eq n ? k : 0)
holds (list, text) = strstrt (" ".list." ", " ".text." ") > 0
note_row (n, r) = holds (counts, n) ? 1 : (counts = counts." ".n, ranks_of = ranks_of." ".r, 1)
note_winner (a) = holds (winners, a) ? 1 : (winners = winners." ".a, 1)
note_size (n, b) = n ne word (counts, 1) ? 1 : (first_size = first_size == 0 ? b : first_size, last_size = b, cells = cells + 1, 1)
stats data using (note_row (strcol ("nodes"), strcol ("ranks"))) nooutput
note (n, a, b) = note_winner (a) + note_size (n, b)
stats data using (column ("best") == 1 ? note (strcol ("nodes"), strcol ("algo"), column ("bytes")) : 0) nooutput
if (cells == 0) {
  printerr data.": best is 1 in no row"
  exit status 2
}
half = cells > 1 ? (last_size / real (first_size)) ** (0.5 / (cells - 1)) : sqrt (2)
n_rows = words (counts)

# ---- the map ----

unset grid
set border 0
set tics scale 0
set yrange [0.5:n_rows + 0.5]
set ytics ()
do for [k = 1:n_rows] { set ytics add (word (counts, k)." (".word (ranks_of, k).")" k) }
set ylabel "nodes (ranks)"
set xrange [first_size / half:last_size * half]
set xtics nomirror out scale 1

# Leads of 50 % and more are in full colour, none at all is a quarter of it; alpha 0 is opaque.
# An empty margin is of an algorithm without a rival.
lead (m) = m > 0.5 ? 1 : m / 0.5
alpha (m) = m eq "" ? 0 : int (0xC0 * (1 - lead (real (m))))
hue (a, m) = alpha (m) * 0x1000000 + shade_of (a)
y (dummy) = row_of (strcol ("nodes"))
wins (v) = column ("best") == 1 ? v : NaN
short (p) = p eq "ll" ? "LL" : p eq "ll128" ? "128" : p eq "simple" ? "S" : p

has_letters = cells <= 40
parts = "data using (wins (column ('bytes'))):(y (0)):(column ('bytes') / half):(column ('bytes') * half)" \
  .":(y (0) - 0.5):(y (0) + 0.5):(hue (strcol ('algo'), strcol ('margin')))" \
  ." with boxxyerror fillstyle solid noborder linecolor rgb variable notitle"
if (has_letters) {
  parts = parts.", data using (wins (column ('bytes'))):(y (0)):(short (strcol ('proto')))" \
    ." with labels font ',11' textcolor rgb '#222222' notitle"
}

n_lines = crossovers eq "" ? 0 : int (system ("wc -l <".quoted (crossovers))) - 1
if (n_lines > 0) {
  parts = parts.", crossovers using (column ('from_B')):(y (0) - 0.5):(0):(1)" \
    ." with vectors nohead dashtype 1 linewidth 3 linecolor rgb '#000000' notitle"
}
do for [a in winners] {
  parts = parts.sprintf (", keyentry with boxes fillstyle solid noborder linecolor rgb 0x%06X title '%s'", shade_of (a), a)
}
if (n_lines > 0) { parts = parts.", keyentry with lines dashtype 1 linewidth 3 linecolor rgb '#000000' title 'takes over'" }
parts = parts.", keyentry with boxes fillstyle solid noborder linecolor rgb 0xCCCCCC title 'pale: small lead'"
eval "plot ".parts
