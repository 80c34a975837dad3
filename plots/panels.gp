# The panels of busbw.gp, which loads this: a panel a number of nodes, say, on the same axes. Without a column of panels each line
# has its own with its band, and the others stand behind it in grey.

across = n_panels < 4 ? n_panels : (n_panels + 1) / 2
down = n_panels < 4 ? 1 : 2
array kind[max_series]
n_kinds = 0
known_kinds = "|"
array kind_name[max_series]
rest_of (text) = by_line || strstrt (text, ",") == 0 ? text : text[:strstrt (text, ",") - 1]
do for [i = 1:n_series] {
  r = rest_of (name[i])
  kind[i] = 0
  do for [k = 1:n_kinds] { if (kind_name[k] eq r) { kind[i] = k } }
  if (kind[i] == 0) {
    n_kinds = n_kinds + 1
    kind_name[n_kinds] = r
    kind[i] = n_kinds
  }
}
in_panel (p, i, v) = label (1) eq name[i] && panel_of (0) eq panel_name[p] ? v : NaN
if (scale eq "log") { set yrange [Y_min / 1.5:Y_max * 1.5] } else { set yrange [0:Y_max * 1.05] }
coarse = ceil ((highest - lowest + 1) / (across > 2 ? 3.0 : 4.0))
ceiling = strstrt (broken, "\n") > 0 ? 0.86 : 0.90 # below the title
key_room = by_line ? 40.0 : 40.0 + 22 * ceil (n_kinds / 4.0)
foot = (key_room + 56) / height
tall = (ceiling - foot) / down
set multiplot
set lmargin at screen 0.02
set rmargin at screen 0.98
set bmargin at screen 0.005
set tmargin at screen key_room / height
if (broken ne "") { set label 99 broken at screen 0.5, screen 0.965 center offset 0, 0 font title_font }
unset title
set border 0
set key inside top center horizontal Left reverse samplen 2 maxcols 4
unset tics
unset grid
unset xlabel
set label 98 (y eq "busbw_Bps" ? "bus bandwidth (GB/s)" : y) at screen 0.02, screen foot + (ceiling - foot) / 2 center rotate by 90
set label 97 "message size" at screen 0.5, screen key_room / height + 10.0 / height center
unset ylabel
if (by_line) {
  plot keyentry with lines linewidth 3 linecolor rgb "#0072B2" title "this panel", \
    keyentry with boxes fillstyle solid 0.3 noborder linecolor rgb "#0072B2" title "error band", \
    keyentry with lines linewidth 1.5 linecolor rgb "#AAAAAA" title "the others", \
    for [k = 1:paired ne ""] keyentry with points pointtype 6 linecolor rgb "#D55E00" title "measured", NaN notitle
} else {
  plot for [k = 1:n_kinds] keyentry with lines linetype k title kind_name[k], NaN notitle
}
unset label
set border 3
set xtics nomirror out
set ytics nomirror out
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
unset key
do for [p = 1:n_panels] {
  c = (p - 1) % across
  r = (p - 1) / across
  set lmargin at screen 0.12 + c * 0.86 / across
  set rmargin at screen 0.12 + (c + 1) * 0.86 / across - 0.025
  set tmargin at screen ceiling - r * tall - 0.035
  set bmargin at screen ceiling - (r + 1) * tall + (r + 1 < down ? 0.035 : 0.02)
  set format y (c == 0 ? "%g" : "")
  lowest_row = p + across > n_panels # sizes stand below the last panel of a column alone
  set xtics ()
  do for [k = lowest:highest:coarse] { set xtics add ((lowest_row ? iec (2.0 ** k) : "") 2.0 ** k) }
  set label 1 panel_name[p] at graph 0.5, 1 center offset 0, 0.7
  if (by_line) {
    others = ""
    do for [i = 1:n_series] { if (i != p) { others = others." ".sprintf ("%d", i) } }
    drawn = "for [i in others] data using (column ('bytes')):(mine (int (i), column (y) / 1e9)) with lines" \
      ." dashtype 1 linewidth 1 linecolor rgb '#AAAAAA' notitle," \
      ." data using (column ('bytes')):(mine (p, low (y))):(mine (p, high (y))) with filledcurves linecolor rgb '#0072B2'" \
      ." fillstyle transparent solid 0.3 noborder notitle," \
      ." data using (column ('bytes')):(mine (p, column (y) / 1e9)) with lines dashtype 1 linewidth 3" \
      ." linecolor rgb '#0072B2' notitle"
    if (strstrt (" ".paired." ", sprintf (" %d ", p)) > 0) {
      drawn = drawn.", measured using (column ('bytes')):(mine (p, column (y) / 1e9)) with points pointtype 6" \
        ." pointsize 0.8 linewidth 1.5 linecolor rgb '#D55E00' notitle"
    }
    eval "plot ".drawn
  } else {
    here = ""
    do for [i = 1:n_series] {
      there = 0
      stats data using (in_panel (p, i, 1) == 1 ? (there = 1, 1) : 0) nooutput
      if (there) { here = here." ".sprintf ("%d", i) }
    }
    plot for [i in here] data using (column ("bytes")):(in_panel (p, int (i), column (y) / 1e9)) with lines \
      linetype kind[int (i)] notitle
  }
  unset label 1
}
unset multiplot
