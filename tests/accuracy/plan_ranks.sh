#!/usr/bin/env bash
# Where published cuts of models stand among all that plan finds. usage: plan_ranks.sh FORERUN
#
# SC21: Narayanan et al. 2104.04473, table 1: all activations computed again, no sharing of the optimizer, one reduction at the end
# of a step. Korthikanti et al. 2205.05198, table 5: sequence parallel, selective recompute, interleaved. Both on DGX A100 of 80 GB,
# without flash attention, and with sends that both sides wait for (Megatron-LM of these years, p2p_communication.py: _communicate()
# waits for its requests and for the device). A cut here is tp x pp; of each the fastest micro-batch and number of chunks counts.
# Prints a row a model; fails where more than MOST_OUT stand behind the first three, or a published cut is slower than the first by
# more than MOST_OVER %.
set -euo pipefail
[ $# -eq 1 ] && [ -x "$1" ] || { echo "usage: plan_ranks.sh FORERUN" >&2; exit 2; }
forerun=$1
MOST_OUT=2
MOST_OVER=9

# model nodes batch tp pp recompute schedules chunks
plan_of ()
{
  cat <<END
plan: published
goal: {model: $1}
choices: {topology: [dgx_a100], nodes: [$2]}
free: {tp: auto, pp: auto, vp: $8, zero: [0], micro_batch: [1, 2, 4, 8], recompute: [$6], schedule: $7}
fixed:
  sequence: 2048
  global_batch: $3
  precision: {compute: fp16, gradients: fp32, reduce: fp16, master: fp32}
  flash: false
  dropout: true
  software: {name: megatron, year: 2022}
  overlap: {gradients: false, p2p: false}
END
}

rank ()
{
  plan_of "$@" | "$forerun" plan - --best 0 --rows 100000 --format tsv --quiet | awk -F '\t' -v model="$1" -v tp="$4" -v pp="$5" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    {
      cut = $at["tp"] " " $at["pp"]
      if (cut in seen) next
      seen[cut] = 1
      n++
      if (n == 1) first = $at["step_time_s"]
      if ($at["tp"] == tp && $at["pp"] == pp) { rank = n; own = $at["step_time_s"] }
    }
    END {
      if (rank == 0) print model, 0, n, "-"
      else printf "%s %d %d %.1f\n", model, rank, n, 100 * (own / first - 1)
    }'
}

{
  rank megatron_1_7b 4 512 1 1 full '[1f1b]' '[1]'
  rank megatron_3_6b 8 512 2 1 full '[1f1b]' '[1]'
  rank megatron_7_5b 16 512 4 1 full '[1f1b]' '[1]'
  rank megatron_18b 32 1024 8 1 full '[1f1b]' '[1]'
  rank megatron_39b 64 1536 8 2 full '[1f1b]' '[1]'
  rank megatron_76b 128 1792 8 4 full '[1f1b]' '[1]'
  rank megatron_145b 192 2304 8 8 full '[1f1b]' '[1]'
  rank megatron_310b 240 2160 8 16 full '[1f1b]' '[1]'
  rank megatron_530b 315 2520 8 35 full '[1f1b]' '[1]'
  rank megatron_1t 384 3072 8 64 full '[1f1b]' '[1]'
  rank megatron_22b 1 4 8 1 selective '[1f1b, interleaved]' auto
  rank gpt3_175b 8 64 8 8 selective '[1f1b, interleaved]' auto
  rank megatron_530b 35 280 8 35 selective '[1f1b, interleaved]' auto
  rank megatron_1t 64 512 8 64 selective '[1f1b, interleaved]' auto
} | awk -v most_out=$MOST_OUT -v most_over=$MOST_OVER '
  BEGIN { print "model rank of over_%" }
  { print; out += $2 > 3 || $2 == 0; bad += $2 == 0 || $4 > most_over; n++ }
  END {
    printf "%d of %d within the first three\n", n - out, n
    if (out > most_out || bad > 0 || n != 14) exit 1
  }'
