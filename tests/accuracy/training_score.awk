# How far simulated training steps are from published ones. Reads lines `name, predicted seconds, least, most` (tabs) and then
# tests/data/training/published.csv; -v mode=table (markdown), misses (rows above 15 %), points (tsv for plots/training.gp).
# -v limits=FILE: lines `use source gpu format median p90` (percent) that a row may reach; where one is worse, `worse` stands in its
# last column and the exit status is 1.
# usage: awk -f csv.awk -f training_score.awk -v mode=table predicted.tsv published.csv

function format_of(precision) {
  match(precision, /compute: [a-z0-9]+/)
  return substr(precision, RSTART + 9, RLENGTH - 9)
}

function vendor(source) { return source ~ /^(mlperf|nemo|megatron|korthikanti|narayanan)/ }

function kind_of(source) { return vendor(source) ? "vendor-tuned" : source == "h200x4" || source == "data_parallel" ? "own" : "others" }

# How the project's own runs are cut: what their names begin with.
function way(name) {
  if (name ~ /^data_parallel\//) return "data_parallel"
  sub(/^h200x4\//, "", name)
  if (name !~ /^(ddp|fsdp|hsdp|tp|pp|ep)[0-9]/) return "one GPU"
  sub(/[0-9].*/, "", name)
  return name
}

# Published after the runs of 2023 to 2025 that most efficiencies were fitted to.
function of_2026(source) { return source ~ /^(megatron_bridge_26|automodel|prime_rl|torchtitan_h200)$/ }

function add(group, error) {
  if (!(group in count)) order[++n_groups] = group
  value[group, ++count[group]] = error
  inside[group] += is_inside
}

# Sorts the sizes (or the values) of a group into sorted[1…].
function sort_group(group, sizes,    i, k, v) {
  for (i = 1; i <= count[group]; i++) {
    v = value[group, i]
    if (sizes && v < 0) v = -v
    for (k = i - 1; k >= 1 && sorted[k] > v; k--) sorted[k + 1] = sorted[k]
    sorted[k + 1] = v
  }
}

# Quantile of sorted[1…n], between neighbours in proportion.
function quantile(n, share,    spot, low) {
  spot = share * (n - 1) + 1
  low = int(spot)
  return low >= n ? sorted[n] : sorted[low] + (spot - low) * (sorted[low + 1] - sorted[low])
}

BEGIN {
  while (limits != "" && (getline line <limits) > 0)
    if (split(line, f, " ") == 6 && f[1] !~ /^#/) {
      most_median[f[1] " " f[2] " " f[3] " " f[4]] = f[5]
      most_p90[f[1] " " f[2] " " f[3] " " f[4]] = f[6]
    }
}

FILENAME == ARGV[1] { split($0, f, "\t"); predicted[f[1]] = f[2]; least[f[1]] = f[3]; most[f[1]] = f[4]; next }

FNR == 1 { head($0); next }

{
  row($0)
  if (at("use") == "left") { left++; next }
  if (!(at("name") in predicted)) { missing[++n_missing] = at("name"); next }
  error = predicted[at("name")] / at("step_time_s") - 1
  is_inside = at("step_time_s") + 0 >= least[at("name")] + 0 && at("step_time_s") + 0 <= most[at("name")] + 0
  runs++
  reports += at("reports")
  kind = kind_of(at("source"))
  group = at("use") " " at("source") " " at("gpu") " " format_of(at("precision"))
  add(group, error)
  add("all " kind " " at("use") " -", error)
  if (kind == "own")
    add("all own " at("use") ", " way(at("name")) " -", error)
  if (vendor(at("source")))
    add("all vendor-tuned " at("use") (at("keys") ~ /moe:/ ? ", experts" : ", dense") " -", error)
  experts = at("keys") ~ /moe:/ ? ", experts" : ", dense"
  if (of_2026(at("source")))
    add("all of 2026, " at("source") experts ", " at("use") " -", error)
  if (at("use") !~ /^(fitted|same_group)/)
    add("all not fitted -", error)
  if (mode == "points")
    print at("name"), at("use"), kind, at("source"), at("nodes") * at("gpus_per_node"), at("step_time_s"), predicted[at("name")]
  if (mode == "misses" && (error > 0.15 || error < -0.15))
    printf "| %s | %s | %.4g | %.4g | %+.0f %% |\n", at("name"), at("use"), at("step_time_s"), predicted[at("name")], 100 * error
}

function line_of(group,    f, n, median, p90, worst, bias, verdict) {
  split(group, f, " ")
  sort_group(group, 1)
  n = count[group]
  median = 100 * quantile(n, 0.5)
  p90 = 100 * quantile(n, 0.9)
  worst = 100 * sorted[n]
  sort_group(group, 0)
  bias = 100 * quantile(n, 0.5)
  if (mode == "limits") {
    printf "%s %d %d\n", group, roof(median * 1.3, 3), roof(p90 * 1.3, 6)
    return
  }
  verdict = ""
  if (group in most_median) {
    verdict = sprintf("%d, %d", most_median[group], most_p90[group])
    if (median > most_median[group] || p90 > most_p90[group]) { verdict = verdict " worse"; failed = 1 }
  } else if (limits != "" && f[1] != "all") { verdict = "no limit: worse"; failed = 1 }
  if (f[1] == "all")
    printf "| %s | %d | %.1f | %.1f | %.1f | %+.1f | %.0f |\n", whole(group), n, median, p90, worst, bias, 100 * inside[group] / n
  else
    printf "| %s | %s | %s | %s | %d | %.1f | %.1f | %.1f | %+.1f | %.0f | %s |\n", f[1], f[2], f[3], f[4], n, median, p90, worst,
      bias, 100 * inside[group] / n, verdict
}

function whole(group) { sub(/^all /, "", group); sub(/ -$/, "", group); gsub(/_/, " ", group); return group }

function roof(v, least) { if (v < least) v = least; return v == int(v) ? v : int(v) + 1 }

END {
  if (mode == "limits")
    for (i = 1; i <= n_groups; i++) { if (order[i] !~ /^all /) line_of(order[i]) }
  if (mode == "table") {
    printf "%d runs (%d reports) are scored, %d are not. Error of the step time, %%.\n\n", runs, reports, left
    print "| | runs | median | 90th percentile | worst | bias | in band (%) |\n|---|---|---|---|---|---|---|"
    for (i = 1; i <= n_groups; i++) if (order[i] ~ /^all /) line_of(order[i])
    print "\n| use | source | GPU | format | runs | median | 90th percentile | worst | bias | in band (%) | allowed |\n|---|---|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= n_groups; i++) if (order[i] !~ /^all /) line_of(order[i])
  }
  for (i = 1; i <= n_missing; i++) { print missing[i] ": not predicted" >"/dev/stderr"; failed = 1 }
  exit failed
}
