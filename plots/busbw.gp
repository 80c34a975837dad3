# Bandwidth against message size: a line a series as predicted, its error band shaded, points as measured.
#
#   forerun coll all_reduce --topology hgx_h200 --format tsv -o coll.tsv
#   gnuplot -e "data='coll.tsv'; out='busbw.svg'" plots/busbw.gp
#
# data      TSV with a header line and the columns bytes (B) and busbw_Bps (B/s), as forerun writes it; with time_s,
#           time_lo_s and time_hi_s too, the band is shown
# measured  the same columns, measured; series of the same name get the colour of their line (default: none)
# out       file to write; its ending decides the format: .svg, .png, .pdf (default busbw.svg)
# series    columns that tell lines apart, separated by blanks (default "op algo proto nodes"; those that are missing or say the
# same
#           everywhere are left out)
# y         the column shown, in B/s (default busbw_Bps)
# scale     log or linear, of bandwidth; sizes are always logarithmic (default log)
# bound     a horizontal line, in B/s, e.g. what the links allow; bound_name says what it is (default: none)
# panel     a column whose values have a panel each, one of `series` (default: the line itself where there are two to six lines
#           with bands, so that bands do not cover each other; "": one panel)
# title     headline (default: none)
folder (path) = strstrt (path, "/") == 0 ? "" : path[:strstrt (path, "/")].folder (path[strstrt (path, "/") + 1:])
load folder (ARG0)."shell.gp"
if (!exists ("data")) {
  printerr "data is not set; e.g. gnuplot -e \"data='coll.tsv'; out='busbw.svg'\" plots/busbw.gp"
  exit status 2
}
if (!exists ("series")) { series = "op algo proto nodes" }
if (!exists ("out")) { out = "busbw.svg" }
if (!exists ("y")) { y = "busbw_Bps" }
if (!exists ("scale")) { scale = "log" }
if (!exists ("bound_name")) { bound_name = "bound" }
if (scale ne "log" && scale ne "linear") {
  printerr "scale='".scale."': log and linear are accepted"
  exit status 2
}
columns_needed = "bytes ".y
load folder (ARG0)."common.gp"

set ylabel (y eq "busbw_Bps" ? "bus bandwidth (GB/s)" : y eq "algbw_Bps" ? "algorithm bandwidth (GB/s)" : y." / 1e9")
stats data using (column (y) / 1e9) nooutput
if (scale eq "log") {
  set logscale y 10
  set format y "%g"
  if (STATS_min == STATS_max) { set yrange [STATS_min / 10:STATS_max * 10] }
} else {
  set yrange [0:*]
  if (STATS_max <= 0) { set yrange [0:1] }
}

# A rate is a size over a time: the longest time gives the lowest rate.
has_band = has (data, "time_s") && has (data, "time_lo_s") && has (data, "time_hi_s")
low (c) = column (c) * column ("time_s") / column ("time_hi_s") / 1e9
high (c) = column (c) * column ("time_s") / column ("time_lo_s") / 1e9
mine (i, v) = label (1) eq name[i] ? v : NaN
key_of (i) = name[i] eq "" ? "predicted" : name[i]

# Measured points have the colour of the line of the same name, those of no line are black.
is_mine (i) = label (1) eq name[i]
stranger (v) = strstrt (known, "|".label (1)."|") > 0 ? NaN : v
n_strangers = 0
paired = "" # the series that have points
if (measured ne "") {
  do for [key in keys] {
    if (!has (measured, key)) {
      printerr measured.":1: no column '".key."', which tells the lines of ".data." apart; name other columns in series"
      exit status 2
    }
  }
  do for [i = 1:n_series] {
    n_mine = 0
    n_strangers = 0
    stats measured using (n_mine = n_mine + is_mine (i), n_strangers = n_strangers + (stranger (1) == 1), 1) nooutput
    if (n_mine > 0) { paired = paired." ".i }
  }
}

# The title says how far lines get.
stats data using (column (y) / 1e9) name "Y" nooutput
if (exists ("title") && measured eq "" && n_series <= 64) {
  reaches = ""
  do for [i = 1:n_series] {
    peak = 0
    stats data using (mine (i, 1) == 1 ? (peak = column (y) / 1e9 > peak ? column (y) / 1e9 : peak, 1) : 0) nooutput
    if (n_series <= 3 || peak >= Y_max) {
      reaches = reaches.(reaches eq "" ? "" : ", ").sprintf ("%.3g", peak).(name[i] eq "" ? "" : " (".name[i].")")
    }
  }
  broken = title.": up to ".reaches." GB/s"
  set label 99 broken
}

# ---- panels ----

array panel_name[max_series]
n_panels = 0
known_panels = "|"
if (!exists ("panel")) { panel = "" }
by_line = panel eq "" && has_band && n_series >= 2 && n_series <= 6 && n_strangers == 0
panel_of (dummy) = by_line ? label (1) : said (panel, strcol (panel))
note_panel (p) = n_panels == max_series || strstrt (known_panels, "|".p."|") > 0 ? 1 \
  : (n_panels = n_panels + 1, panel_name[n_panels] = p, known_panels = known_panels.p."|", 1)
if (by_line || (panel ne "" && has (data, panel))) { stats data using (note_panel (panel_of (0))) nooutput }
if (n_panels > 6) { n_panels = 0 }
# The plot is put together from the parts that there is something to show of.
parts = ""
if (has_band) {
  parts = "for [i = 1:n_series] data using (column ('bytes')):(mine (i, low (y))):(mine (i, high (y)))" \
    ." with filledcurves linetype i fillstyle transparent solid 0.15 noborder notitle, "
}
parts = parts."for [i = 1:n_series] data using (column ('bytes')):(mine (i, column (y) / 1e9))" \
  ." with lines linetype i title key_of (i)"
if (paired ne "") {
  parts = parts.", for [i in paired] measured using (column ('bytes')):(mine (i + 0, column (y) / 1e9))" \
    ." with points linetype i + 0 notitle" \
    .", keyentry with points pointtype 4 linecolor rgb '#666666' title 'points: measured'"
}
if (n_strangers > 0) {
  parts = parts.", measured using (column ('bytes')):(stranger (column (y) / 1e9))" \
    ." with points pointtype 2 linecolor rgb '#000000' title 'measured, not predicted'"
}
if (has_band) {
  parts = parts.", keyentry with boxes fillstyle solid 0.3 noborder linecolor rgb '#888888' title 'error band'"
}
if (exists ("bound")) {
  parts = parts.", bound / 1e9 with lines dashtype 3 linewidth 1.5 linecolor rgb '#444444' title bound_name"
}
if (n_panels < 2) { eval "plot ".parts } else { load folder (ARG0)."panels.gp" }
