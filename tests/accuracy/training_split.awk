# Groups that set constants and score as well: runs of one model by one framework, release and GPU, of which some are fitted and some
# scored. Each is printed, and the exit status is 1. The project's own runs are apart: one GPU is fitted, what more GPUs add scores.
# usage: awk -f csv.awk -f training_split.awk FILE.csv…

FNR == 1 { head($0); next }

{
  row($0)
  if (at("use") ~ /^(left|same_group)$/ || at("source") == "h200x4") next
  group = at("source") ", " at("software") ", " at("gpu") ", " at("model")
  if (at("use") ~ /^fitted/) fits[group] = at("name")
  else scores[group] = at("name")
}

END {
  for (group in fits)
    if (group in scores) {
      printf "one group fits (%s) and scores (%s): %s\n", fits[group], scores[group], group
      status = 1
    }
  exit status
}
