#!/usr/bin/env bash
# Where published cuts of models stand among all that plan finds. usage: plan_ranks.sh FORERUN
#
# SC21: Narayanan et al. 2104.04473, table 1, as their scripts run it (Megatron-LM, examples/sc21/run_table_1.sh): all activations
# computed again, no sharding of the optimizer, interleaved from 76 B to 530 B. Without a pipeline they use PyTorch's DDP, which
# reduces gradients beside the last backward pass; with one, Megatron's own, which reduces them behind it (schedules.py: no_sync is
# of forward_backward_no_pipelining alone). Korthikanti et al. 2205.05198, table 5: sequence parallel, selective recompute,
# interleaved. Both on DGX A100 of 80 GB, without flash attention, and with sends that both sides wait for (Megatron-LM of these
# years, p2p_communication.py: _communicate() waits for its requests and for the device). A cut here is tp x pp; of each the fastest
# micro-batch and number of chunks counts.
# Prints a row a model; fails where more than MOST_OUT stand behind the first three, or a published cut is slower than the first by
# more than MOST_OVER %.
set -euo pipefail
[ $# -eq 1 ] && [ -x "$1" ] || { echo "usage: plan_ranks.sh FORERUN" >&2; exit 2; }
forerun=$1
MOST_OUT=1
MOST_OVER=9

# model nodes batch recompute schedules chunks pp overlap
plan_of ()
{
  cat <<END
plan: published
goal: {model: $1}
choices: {topology: [dgx_a100], nodes: [$2]}
free: {tp: auto, pp: $7, vp: $6, zero: [0], micro_batch: [1, 2, 4, 8, 16], recompute: [$4], schedule: $5}
fixed:
  sequence: 2048
  global_batch: $3
  precision: {compute: fp16, gradients: fp32, reduce: fp16, master: fp32}
  flash: false
  dropout: true
  software: {name: megatron, year: 2022}
  overlap: {gradients: $8, p2p: false}
END
}

# tp, pp and seconds of each layout; nothing where none fits
steps ()
{
  plan_of "$@" | { "$forerun" plan - --best 0 --rows 100000 --format tsv --quiet 2> "$errors" || [ $? -eq 3 ]; } | awk -F '\t' '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { print $at["tp"], $at["pp"], $at["step_time_s"] }'
}

# model nodes batch tp pp recompute schedules chunks overlap (of layouts without a pipeline)
rank ()
{
  {
    steps "$1" "$2" "$3" "$6" "$7" "$8" '[1]' "$9"
    steps "$1" "$2" "$3" "$6" "$7" "$8" '[2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 15, 16, 20, 21, 24, 30, 32, 35, 40, 48, 60, 64]' false
  } | sort -g -k 3 -s | awk -v model="$1" -v tp="$4" -v pp="$5" '
    {
      cut = $1 " " $2
      if (cut in seen) next
      seen[cut] = 1
      n++
      if (n == 1) first = $3
      if ($1 == tp && $2 == pp) { rank = n; own = $3 }
    }
    END {
      if (rank == 0) print model, 0, n, "-"
      else printf "%s %d %d %.1f\n", model, rank, n, 100 * (own / first - 1)
    }'
}

errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
{
  rank megatron_1_7b 4 512 1 1 full '[1f1b]' '[1]' true
  rank megatron_3_6b 8 512 2 1 full '[1f1b]' '[1]' true
  rank megatron_7_5b 16 512 4 1 full '[1f1b]' '[1]' true
  rank megatron_18b 32 1024 8 1 full '[1f1b]' '[1]' true
  rank megatron_39b 64 1536 8 2 full '[1f1b]' '[1]' true
  rank megatron_76b 128 1792 8 4 full '[1f1b, interleaved]' auto true
  rank megatron_145b 192 2304 8 8 full '[1f1b, interleaved]' auto true
  rank megatron_310b 240 2160 8 16 full '[1f1b, interleaved]' auto true
  rank megatron_530b 315 2520 8 35 full '[1f1b, interleaved]' auto true
  rank megatron_1t 384 3072 8 64 full '[1f1b]' '[1]' true
  rank megatron_22b 1 4 8 1 selective '[1f1b, interleaved]' auto false
  rank gpt3_175b 8 64 8 8 selective '[1f1b, interleaved]' auto false
  rank megatron_530b 35 280 8 35 selective '[1f1b, interleaved]' auto false
  rank megatron_1t 64 512 8 64 selective '[1f1b, interleaved]' auto false
} | awk -v most_out=$MOST_OUT -v most_over=$MOST_OVER '
  BEGIN { print "model rank of over_%" }
  { print; out += $2 > 3 || $2 == 0; bad += $2 == 0 || $4 > most_over; n++ }
  END {
    printf "%d of %d within the first three\n", n - out, n
    if (out > most_out || bad > 0 || n != 14) exit 1
  }'
