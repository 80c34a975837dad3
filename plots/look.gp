# How all plots look: the terminal that the ending of `out` asks for, letters that can still be read when the plot is 700 dots
# wide, and a title that is broken where it is too long. Reads `out`, `height` and `title`; `ending` where `out` has none.

# `height`: of an SVG or PNG of 960 dots across; a PDF keeps the proportion.
if (!exists ("height")) { height = 600 }
if (!exists ("ending")) { ending = strlen (out) > 4 ? out[strlen (out) - 3:] : "" }
if (ending eq ".svg") {
  set terminal svg size 960,height font "sans-serif,17" background "white" enhanced
} else { if (ending eq ".png") {
  set terminal pngcairo size 960,height font "sans-serif,13" noenhanced
} else { if (ending eq ".pdf") {
  set terminal pdfcairo size 16cm,(height / 60.0)cm font "sans-serif,11" noenhanced
} else {
  printerr "out='".out."': its ending decides the format; .svg, .png and .pdf are accepted"
  exit status 2
} } }
title_font = ending eq ".svg" ? "sans-serif,20" : ending eq ".png" ? "sans-serif,15" : "sans-serif,13"
set termoption noenhanced # an underscore in a name is an underscore

# Broken at the last blank before `title_width` letters, again and again.
if (!exists ("title_width")) { title_width = 82 }
broken = ""
rest = exists ("title") ? title : ""
while (strlen (rest) > title_width) {
  at_blank = title_width
  while (at_blank > 1 && rest[at_blank:at_blank] ne " ") { at_blank = at_blank - 1 }
  if (at_blank == 1) { at_blank = title_width }
  broken = broken.rest[:at_blank]."\n"
  rest = rest[at_blank + 1:]
}
broken = broken.rest
# In the middle of the whole plot, whatever its margins; an empty title of as many lines keeps the place.
if (broken ne "") {
  two = strlen (rest) < strlen (title)
  set title (two ? " \n " : " ") font title_font
  set label 99 broken at screen 0.5, graph 1 center offset 0, (two ? 2.1 : 1.1) font title_font
}

set border 3 linecolor rgb "#444444"
set tics nomirror out
set grid linecolor rgb "#dddddd" linewidth 1 linetype 1
set key outside bottom center horizontal Left reverse samplen 2 spacing 1.1 maxcols 4
