# Rows of tests/data/training/published.csv and h200x4.csv as scenarios: FOLDER/NAME.yaml each (a / of a name becomes a _), and on stdout a line
# `file <tab> sets` each, sets separated by |. Rows marked `left` are passed over.
# usage: awk -v folder=FOLDER -v models=FOLDER [-v only=REGEX] [-v use=USE] -f csv.awk -f training.awk published.csv

FNR == 1 { head($0); next }

{
  row($0)
  if (at("use") == "left" || (only != "" && at("name") !~ only) || (use != "" && at("use") != use))
    next
  file = at("name")
  gsub("/", "_", file)
  out = folder "/" file ".yaml"
  model = at("model")
  if (model ~ /\.yaml$/)
    model = models "/" model
  zero = at("sync") == "zero1" ? 1 : at("sync") == "zero2" ? 2 : 0
  constants = at("gpu") == "h100_96_500w" ? ", calibration: h100_sxm" : "" # the same chip
  print "scenario: published" >out
  print "cluster: {topology: " at("topology") ", nodes: " at("nodes") ", gpus_per_node: " at("gpus_per_node") constants "}" >out
  print "workload:" >out
  print "  kind: training" >out
  print "  model: " model >out
  print "  sequence: " at("sequence") >out
  print "  global_batch: " at("global_batch") >out
  print "  micro_batch: " at("micro_batch") >out
  print "  precision: {" at("precision") "}" >out
  print "  parallel: {tp: " at("tp") ", sp: " at("sp") ", pp: " at("pp") (at("vp") > 1 ? ", vp: " at("vp") : "") ", cp: " at("cp") \
    ", ep: " at("ep") ", dp: " at("dp") (zero > 0 ? ", zero: " zero : "") "}" >out
  if (at("sync") == "fsdp")
    print "  fsdp: {reshard: true, prefetch: 1}" >out
  if (at("sync") == "fsdp_kept")
    print "  fsdp: {reshard: false, prefetch: 1}" >out
  if (at("sync") == "megatron_fsdp")
    print "  fsdp: {copies: false}" >out
  print "  recompute: " at("recompute") >out
  print "  overlap: {tp: " at("tp_overlap") "}" >out
  print "  framework: " at("framework") >out
  print "  software: {name: " at("software") ", year: " at("year") "}" >out
  n_keys = split(at("keys"), key, " ; ")
  for (i = 1; i <= n_keys; i++)
    print "  " key[i] >out
  close(out)
  sets = at("sets")
  gsub("=models/", "=" models "/models/", sets)
  print file "\t" sets
}
