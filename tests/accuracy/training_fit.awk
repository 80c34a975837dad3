# Efficiencies by framework, generation and format from the rows marked `fitted`: of a row with time T = rest + compute / efficiency +
# attention / efficiency of it (read off three simulations), the efficiency that gives what was measured, attention as all else; of
# rows alike, the median. Beside it, where both may differ: the pair with the least mean size of the errors' logarithms.
# usage: awk -f csv.awk -f training_fit.awk whole.tsv slow.tsv attention.tsv published.csv
#   seconds at efficiencies 1 and 1, 0.8 and 1, 1 and 0.8 (of all else, of attention)

function format_of(precision) {
  match(precision, /compute: [a-z0-9]+/)
  return substr(precision, RSTART + 9, RLENGTH - 9)
}

function generation(gpu) { return gpu ~ /^a100/ ? 80 : gpu ~ /^h/ ? 90 : gpu ~ /300/ ? 103 : 100 }

function size(x) { return x < 0 ? -x : x }

FILENAME == ARGV[1] { split($0, f, "\t"); whole[f[1]] = f[2]; next }
FILENAME == ARGV[2] { split($0, f, "\t"); slow[f[1]] = f[2]; next }
FILENAME == ARGV[3] { split($0, f, "\t"); attention[f[1]] = f[2]; next }
FNR == 1 { head($0); next }

{
  row($0)
  name = at("name")
  if (at("use") != "fitted" || !(name in whole))
    next
  key = sprintf("%-12s %3d %s", at("software"), generation(at("gpu")), format_of(at("precision")))
  if (!(key in n)) keys[++n_keys] = key
  k = ++n[key]
  a[key, k] = (attention[name] - whole[name]) / 0.25
  g[key, k] = (slow[name] - whole[name]) / 0.25
  b[key, k] = whole[name] - a[key, k] - g[key, k]
  m[key, k] = at("step_time_s")
}

END {
  for (i = 1; i <= n_keys; i++) {
    key = keys[i]
    for (k = 1; k <= n[key]; k++) {
      v = (g[key, k] + a[key, k]) / (m[key, k] - b[key, k])
      for (p = k - 1; p >= 1 && sorted[p] > v; p--) sorted[p + 1] = sorted[p]
      sorted[p + 1] = v
    }
    half = int((n[key] + 1) / 2)
    least = 1e9
    for (e = 50; e <= 130; e += 2)
      for (t = 20; t <= 110; t += 2) {
        sum = 0
        for (k = 1; k <= n[key] && sum < least; k++)
          sum += size(log((b[key, k] + 100 * g[key, k] / e + 100 * a[key, k] / t) / m[key, k]))
        if (sum < least) { least = sum; best_e = e; best_t = t }
      }
    printf "%s  %3d runs: %.1f %%; or %d %%, attention %d %% (mean error %.1f %%)\n", key, n[key],
      50 * (sorted[half] + sorted[n[key] + 1 - half]), best_e, best_t, 100 * least / n[key]
  }
}
