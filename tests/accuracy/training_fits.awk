# Runs that the simulator says do not fit, though they ran: what the fullest rank needs and has, and whether all inputs were published.
# usage: awk -v predicted=predicted.tsv -f csv.awk -f training_fits.awk published.csv
BEGIN {
  while ((getline line <predicted) > 0) {
    split(line, f, "\t")
    if (f[7] == "false") { needs[f[1]] = f[5] / 2 ^ 30; has[f[1]] = f[6] / 2 ^ 30 }
  }
}

FNR == 1 { head($0); next }

{ row($0) }

at("name") in needs {
  printf "| %s | %s | %.1f | %.1f |\n", at("name"), at("use") == "assumed" ? "assumed" : "published", needs[at("name")],
    has[at("name")]
}
