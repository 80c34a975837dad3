# Rows of a CSV file by the names of its columns: head (line) once, row (line), then at (name).

# Cells of a line to f[1…]; a cell in double quotes may hold commas, and a double quote twice.
function cut(line, f,    n, i, c, inside, text) {
  n = 0; text = ""; inside = 0
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (inside && c == "\"" && substr(line, i + 1, 1) == "\"") { text = text c; i++ }
    else if (c == "\"") inside = !inside
    else if (c == "," && !inside) { f[++n] = text; text = "" }
    else text = text c
  }
  f[++n] = text
  return n
}

function head(line,    n, i, f) {
  n = cut(line, f)
  for (i = 1; i <= n; i++) place[f[i]] = i
}

function row(line) { cut(line, cell) }

function at(name) {
  if (!(name in place)) { print "no column '" name "'" >"/dev/stderr"; exit 2 }
  return cell[place[name]]
}
