# How far predicted ratios of two training steps are from measured ones: pairs of runs of one source, framework, model, sequence and
# format, by what differs between them. Reads as training_score.awk does. A group of n runs has n (n - 1) / 2 pairs; each counts
# 2 / n, so that a group counts by its runs. Prints a row for each kind of pair. With -v bands=FILE
# (calibrate/defaults/comparisons/steps.yaml) fails where `half` holds less than 45 % or more than 55 % of its pairs, or `most` less
# than 92 %: then they are not what they say.
# usage: awk -f csv.awk -f training_ratios.awk predicted.tsv published.csv…

function format_of(precision) {
  match(precision, /compute: [a-z0-9]+/)
  return substr(precision, RSTART + 9, RLENGTH - 9)
}

function cut_here() {
  return at("tp") " " at("sp") " " at("pp") " " at("vp") " " at("cp") " " at("ep") " " at("sync") " " at("micro_batch") " " at("recompute")
}

FILENAME == ARGV[1] { split($0, f, "\t"); predicted[f[1]] = f[2]; next }

FNR == 1 { head($0); next }

{
  row($0)
  if (at("use") == "left" || !(at("name") in predicted) || at("source") == "data_parallel") next # one process: no plan has that
  # the year is the release's; another GPU of the same source comes with its own
  group = at("source") "|" at("software") "|" at("model") "|" at("sequence") "|" format_of(at("precision")) "|" (at("keys") ~ /lora/)
  n++
  error[n] = log(predicted[at("name")] / at("step_time_s"))
  gpu[n] = at("gpu")
  cut_of[n] = cut_here()
  kin_group[n] = group
  experts[n] = at("keys") ~ /moe:/
  members[group] = members[group] " " n
}

function take(kind, size, weight,    i) {
  count[kind]++
  value[kind, count[kind]] = size < 0 ? -size : size
  share[kind, count[kind]] = weight
  total[kind] += weight
}

# Sorts a kind's pairs by size, with their weights.
function sort_kind(kind,    i, k, v, w) {
  for (i = 2; i <= count[kind]; i++) {
    v = value[kind, i]
    w = share[kind, i]
    for (k = i - 1; k >= 1 && value[kind, k] > v; k--) {
      value[kind, k + 1] = value[kind, k]
      share[kind, k + 1] = share[kind, k]
    }
    value[kind, k + 1] = v
    share[kind, k + 1] = w
  }
}

function quantile(kind, wanted,    i, sum) {
  for (i = 1; i <= count[kind]; i++) {
    sum += share[kind, i]
    if (sum >= wanted * total[kind]) return exp(value[kind, i]) - 1
  }
  return exp(value[kind, count[kind]]) - 1
}

function held_by(kind, band,    i, sum) {
  for (i = 1; i <= count[kind] && value[kind, i] <= log(1 + band) + 1e-12; i++) sum += share[kind, i]
  return sum / total[kind]
}

END {
  for (group in members) {
    m = split(members[group], one, " ")
    for (i = 1; i <= m; i++)
      for (k = i + 1; k <= m; k++) {
        a = one[i]
        b = one[k]
        kind = (experts[a] ? "experts " : "dense ") (gpu[a] != gpu[b] ? "other_gpu" : cut_of[a] == cut_of[b] && !experts[a] ? "same_layout" : "same_gpu")
        take(kind, error[a] - error[b], 2 / m)
      }
  }
  while (bands != "" && (getline line <bands) > 0)
    if (match(line, /^  - \{model: [a-z]+, similarity: [a-z_]+, /)) {
      split(substr(line, RSTART, RLENGTH), f, /[:, ]+/)
      kind = f[4] " " f[6]
      match(line, /half: \{value: [0-9.]+/)
      half[kind] = substr(line, RSTART + 14, RLENGTH - 14) / 100
      match(line, /most: \{value: [0-9.]+/)
      most[kind] = substr(line, RSTART + 14, RLENGTH - 14) / 100
    }
  text["same_layout"] = "number of GPUs or sequences; same parallel layout"
  text["same_gpu"] = "parallel layout; same GPUs"
  text["other_gpu"] = "type of GPU"
  n_models = split("dense experts", models, " ")
  n_kinds = split("same_layout same_gpu other_gpu", kinds, " ")
  print "| model | difference between the two runs | pairs | median error (%) | 95th percentile (%) |"
  print "|---|---|---|---|---|"
  for (j = 1; j <= n_models; j++)
    for (i = 1; i <= n_kinds; i++) {
      kind = models[j] " " kinds[i]
      if (count[kind] == 0) continue # with experts there are few: of cuts all together
      sort_kind(kind)
      printf "| %s | %s | %d | %.1f | %.1f |\n", models[j], text[kinds[i]], count[kind], 100 * quantile(kind, 0.5), 100 * quantile(kind, 0.95)
      if (bands == "") continue
      if (!(kind in most) || held_by(kind, half[kind]) < 0.45 || held_by(kind, half[kind]) > 0.55 || held_by(kind, most[kind]) < 0.92) {
        printf "%s: of the pairs %.0f %% are within %s, %.0f %% within %s; accepted: 45 to 55, and 92 or more\n", kind,
          100 * held_by(kind, half[kind]), half[kind], 100 * held_by(kind, most[kind]), most[kind] >"/dev/stderr"
        failed = 1
      }
    }
  exit failed
}
