#!/usr/bin/env bash
# The gnuplot scripts draw what they are given, without a warning, and refuse what they cannot draw. usage: plots.sh SOURCE_DIR
set -euo pipefail

plots=$(realpath -- "$1")/plots
if ! command -v gnuplot >/dev/null; then
  echo "skipped: no gnuplot here"
  exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf -- "$tmp"' EXIT
cd -- "$tmp"
export LC_ALL=C # the poorest of places

failed=0
fail ()
{
  echo "FAILED: $*"
  [ ! -s said ] || sed 's/^/  /' said
  failed=1
}

# No text begins or ends beyond the canvas, and none lies on another of its line; a letter is taken as 0.45 of its height wide.
lies_inside () # what
{
  local found
  found=$(awk '
    /viewBox/ { split($0, box, /[" ]+/); wide = box[5]; high = box[6] }
    /<g transform="translate\(/ {
      match($0, /\([-0-9.]+,[-0-9.]+\)/)
      split(substr($0, RSTART + 1, RLENGTH - 2), at, ",")
      turned = index($0, "rotate(") > 0
      anchor = $0 ~ /text-anchor="end"/ ? 1 : $0 ~ /text-anchor="middle"/ ? 0.5 : 0
      match($0, /font-size="[0-9.]+/)
      size = substr($0, RSTART + 11, RLENGTH - 11)
    }
    /<text>/ && match($0, />[^<]+</) {
      text = substr($0, RSTART + 1, RLENGTH - 2)
      gsub(/&[a-z]+;/, "x", text)
      if (text ~ /^ *$/)
        next
      length_dots = 0.45 * size * length(text)
      from = (turned ? at[2] - (1 - anchor) * length_dots : at[1] - anchor * length_dots)
      to = from + length_dots
      if (from < -2 || to > (turned ? high : wide) + 2 || at[1] < 0 || at[1] > wide || at[2] < 0 || at[2] > high)
        print "beyond the canvas: " text
      for (k = 1; !turned && k <= n; k++)
        if (line[k] - at[2] < size / 2 && at[2] - line[k] < size / 2 && from < end[k] - 2 && start[k] < to - 2)
          print "\"" text "\" lies on \"" said[k] "\""
      if (!turned) {
        n++
        line[n] = at[2]
        start[n] = from
        end[n] = to
        said[n] = text
      }
    }' out.svg | head -n 3)
  [ -z "$found" ] || fail "$1: $found"
}

draws () # script variables text…: an SVG that says each text, and not a word on stderr
{
  local script=$1 variables=$2 text
  shift 2
  rm -f out.svg
  if ! gnuplot -e "out='out.svg'; $variables" "$plots/$script" >said 2>&1 || [ -s said ]; then
    fail "$script with $variables"
    return 0
  fi
  lies_inside "$script with $variables"
  for text in "$@"; do
    grep -qF -- ">$text<" out.svg || fail "$script with $variables: no '$text' in the picture"
  done
}

lacks () # text: the picture drawn last does not say it
{
  ! grep -qF -- "$1" out.svg || fail "'$1' is in the picture"
}

refuses () # script variables message
{
  local status=0
  gnuplot -e "$2" "$plots/$1" >said 2>&1 || status=$?
  if [ "$status" -ne 2 ] || ! grep -qF -- "$3" said; then
    fail "$1 with $2: status $status, expected 2 and '$3'"
  fi
}

table () # file: rows on stdin, blanks become tabs
{
  tr ' ' '\t' >"$1"
}

table coll.tsv <<'ROWS'
op bytes nodes algo time_s busbw_Bps time_lo_s time_hi_s
all_reduce 1024 1 ring 1e-5 1.8e8 9e-6 1.1e-5
all_reduce 1024 4 ring 4e-5 5e7 3e-5 5e-5
all_reduce 1048576 1 ring 2e-5 9e10 1.9e-5 2.1e-5
all_reduce 1048576 4 ring 6e-5 3e10 5e-5 7e-5
ROWS
table measured.tsv <<'ROWS'
bytes nodes busbw_Bps
1024 1 2e8
1024 8 2e7
ROWS
cp coll.tsv "a b's.tsv"
table plain.tsv <<'ROWS'
bytes busbw_Bps
4096 1e9
ROWS
table scores.tsv <<'ROWS'
bytes predicted_s measured_s
1024 1.05e-5 1e-5
2048 1.5e-5 1e-5
4096 0.91e-5 1e-5
8192 0.8e-5 1e-5
ROWS
head -n 1 coll.tsv >empty.tsv

# No two series of a script share a colour.
for script in "$plots"/*.gp; do
  sed -n 's/^array \(shade\|colour\)\[[0-9]*\] = \[\(["0#].*\)\]$/\2/p' "$script" | while read -r list; do
    tr ', ' '\n\n' <<<"$list" | grep -iE '(0x|#)[0-9a-f]{6}' | sort | uniq -d
  done >twice || true
  [ ! -s twice ] || fail "${script##*/} has a colour twice: $(tr '\n' ' ' <twice)"
done

draws busbw.gp "data='coll.tsv'" '1 node' '4 nodes' 'error band' '1 KiB' '512 KiB' 'bus bandwidth (GB/s)' 'message size'
lacks 'measured'
lacks '>ring' # all rows say ring: it tells nothing apart
draws busbw.gp "data='coll.tsv'; measured='measured.tsv'; bound=1e11; bound_name='four links'; scale='linear'; title='a_b'" \
  'points: measured' 'measured, not predicted' 'four links' 'a_b'
draws busbw.gp "data='plain.tsv'" 'predicted' '4 KiB'
lacks 'error band'
draws nodes.gp "data='coll.tsv'; title='all_reduce'" 'all_reduce' '1 KiB: 0.18 to 0.05' '1 MiB: 90 to 30' 'nodes' 'error band'
lacks 'measured'
grep -v 1048576 coll.tsv >one_size.tsv
draws nodes.gp "data='one_size.tsv'; title='all_reduce'" 'all_reduce: 0.18 GB/s on 1 node, 0.05 on 4'
table panels.tsv <<'ROWS'
nodes busbw_Bps time_s time_lo_s time_hi_s panel
2 4e11 1 0.9 1.1 EFA
4 3e11 1 0.9 1.1 EFA
2 2e11 1 0.9 1.1 TCP
ROWS
table seen.tsv <<'ROWS'
nodes busbw_Bps panel
2 3.9e11 EFA
ROWS
draws nodes.gp "data='panels.tsv'; panel='panel'; measured='seen.tsv'; title='8 GiB'" '8 GiB' 'EFA' 'TCP' 'measured'
refuses nodes.gp "data='panels.tsv'; panel='panel'; measured='plain.tsv'" "plain.tsv:1: no column 'nodes'"
refuses nodes.gp "data='panels.tsv'; panel='panel'; measured='measured.tsv'" "no column 'panel'"
sed 's/EFA/IB/' seen.tsv >strangers.tsv
refuses nodes.gp "data='panels.tsv'; panel='panel'; measured='strangers.tsv'" 'strangers.tsv: 1 points belong to no panel'
refuses nodes.gp "data='measured.tsv'" "no column 'time_s'"
refuses nodes.gp "out='x.svg'" 'data is not set'
# 1.05, 0.91 lie within 10 %; of 5, 50, 9, 20 % the median is (9 + 20) / 2 = 14.5.
draws error.gp "data='scores.tsv'" '2 of 4 within +-10 %, median |error| 14.5 %' 'predictions'
draws error.gp "data='scores.tsv'; accepted=0.25; limit=0.3" '3 of 4 within +-25 %, median |error| 14.5 %'

# 1.05 and 0.91 of what is held out lie within 10 %, 1.3 does not; 2 was fitted, `links` is another section.
printf '%s\n' 'section stage part point measured predicted' 'overlap together held_out gemm:_kernel 1e-3 1.05e-3' \
  'overlap together held_out gemm:_total 1e-1 0.91e-1' 'overlap together held_out gemm:_collective 2e-3 2.6e-3' \
  'overlap together fitted gemm:_kernel 1e-3 2e-3' 'links all held_out copy:_kernel 1e-3 2e-3' | tr ' ' '\t' >section.tsv
printf '%s\n' 'section stage part measured predicted' 'kernels gemm_bf16 fitted 1e-3 1.1e-3' \
  'kernels gemm_bf16 held_out 2e-3 3e-3' \
  'links h2d fitted 1e-3 2e-3' | tr ' ' '\t' >kernels.tsv
draws kernels.gp "data='kernels.tsv'; title='a b'" 'fitted' 'held out' 'gemm bf16' 'a b: 0 of 1 held-out points are within +-10 %'
lacks h2d
refuses kernels.gp "data='section.tsv'; out='x.svg'" 'no point of kernels'
refuses kernels.gp "data='coll.tsv'" "no column 'section'"
draws section.gp "data='section.tsv'; title='a_b'" \
  'a_b: 2 of 3 held-out points are within +-10 %' 'collective, held out' 'kernel, fitted'
refuses section.gp "data='section.tsv'; section='storage'" "no held-out point of section 'storage'"
refuses section.gp "data='coll.tsv'" "no column 'section'"

printf '%s\n' 'name use kind gpus measured predicted' 'a fitted vendor-tuned 8 1 1.1' 'b held_out vendor-tuned 64 2 1.9' \
  'c fitted others 8 1 0.9' 'd same_source others 8 1 1' 'e held_out own 4 1 1' | tr ' ' '\t' >training.tsv
draws training.gp "data='training.tsv'; title='a_b'" \
  'a_b: 3 of 3 steps that were not fitted are within +-15 %' 'vendor-tuned, not fitted' 'simulated / measured - 1 (%)' '64'
refuses training.gp "data='coll.tsv'" "no column 'use'"

table goodput.tsv <<'ROWS'
interval_s goodput goodput_lo goodput_hi goodput_closed_form best_interval_s best_goodput
60 0.8 0.7 0.85 0.81 300 0.92
600 0.9 0.85 0.95 0.9 300 0.92
ROWS
draws goodput.gp "data='goodput.tsv'; title='a_b'" 'a_b' '95 % of simulated runs' 'closed form' 'best' \
  'work between checkpoints (min)' '10'
refuses goodput.gp "data='coll.tsv'" "no column 'interval_s'"
refuses goodput.gp "out='x.svg'" 'data is not set'

table serving.tsv <<'ROWS'
start_s kv running waiting
0 0 1 3
0.5 0.4 4 0
2 0.6 4 1
ROWS
draws serving.gp "data='serving.tsv'" 'The KV cache is at most 60.0 % full' 'KV cache in use (%)' 'time (s)' 'sequences' \
  'requests that wait (right)'
refuses serving.gp "data='coll.tsv'" "no column 'start_s'"
refuses serving.gp "out='x.svg'" 'data is not set'
table frontier.tsv <<'ROWS'
tpot_s tokens label series
0.005 200 1 vllm
0.02 4000 64 vllm
0.006 180 1 sglang
0.025 4500 64 sglang
ROWS
draws frontier.gp "data='frontier.tsv'; title='a_b'" 'a_b' 'time per output token (ms), median' 'output tokens/s a GPU' vllm sglang
refuses frontier.gp "data='coll.tsv'" "no column 'tpot_s'"
refuses frontier.gp "out='x.svg'" 'data is not set'

table fleet.tsv <<'ROWS'
series mark x y
a_b front 10 100
a_b front 20 50
a_b measured 12 80
c front 10 200
c simulated 15 120
ROWS
draws fleet.gp "data='fleet.tsv'; title='t_t'; x_name='x of a user'; y_name='y of a GPU'; limit=15" \
  't_t' 'x of a user, logarithmic' 'a_b' SLO simulated measured
refuses fleet.gp "data='coll.tsv'" "no column 'series'"
refuses fleet.gp "out='x.svg'" 'data is not set'
table latency.tsv <<'ROWS'
load ttft_p50_s ttft_p99_s tpot_p50_s tpot_p99_s
1 0.03 0.05 0.007 0.007
64 0.5 1.5 0.014 0.016
ROWS
draws latency.gp "data='latency.tsv'; x_name='requests in flight'; title='a_b'" 'a_b' 'requests in flight' 'TTFT, median' \
  'TPOT, 99th percentile' 'time (ms), logarithmic'
refuses latency.gp "data='coll.tsv'" "no column 'load'"
refuses latency.gp "out='x.svg'" 'data is not set'
# Ten times the messages take ten times as long; what lies below 50,000 is not fitted.
printf '%s\n' 'operation ranks messages time_s' 'a_b 8 1e3 1' 'a_b 8 1e5 0.1' 'a_b 8 1e6 1' 'a_b 8 1e7 10' \
  'c 8 1e5 1' 'c 8 1e6 100' 'c 8 1e7 1e4' |
  tr ' ' '\t' >growth.tsv
draws growth.gp "data='growth.tsv'" 'a_b: exponent 1.00' 'c: exponent 2.00' 'processor time (s)'
refuses growth.gp "data='coll.tsv'" "no column 'operation'"

printf 'part\tvalue_s\ncompute\t0.75\nsomething new\t0.25\n' >parts.tsv
draws breakdown.gp "data='parts.tsv'; title='a_b'" 'a_b' compute 'something new' '750 ms, 75.0 %' '250 ms, 25.0 %' 'time (ms)'
refuses breakdown.gp "data='coll.tsv'" "no column 'part'"
printf 'stage kind start_s end_s\n' | tr ' ' '\t' >timeline.tsv
for stage in $(seq 0 63); do
  printf '%s\tforward\t0\t2\n%s\tidle\t2\t3\n' "$stage" "$stage" >>timeline.tsv
done
draws timeline.gp "data='timeline.tsv'; columns=800" forward idle 'pipeline stage' ' 60' \
  'time (s)' 'each of 800 columns has the colour of what most of it was'
lacks backward
head -n 3 timeline.tsv >one_stage.tsv
draws timeline.gp "data='one_stage.tsv'" forward 'time (s)'
refuses timeline.gp "data='parts.tsv'" "no column 'stage'"
printf 'stage weights gradients optimizer activations buffers other\n' | tr ' ' '\t' >memory.tsv
for stage in $(seq 0 63); do
  printf '%s\t1e9\t2e9\t3e9\t4e9\t5e9\t6e9\n' "$stage" >>memory.tsv
done
draws memory.gp "data='memory.tsv'; capacity=80e9" activations 'a GPU has 74.51 GiB' 'memory of a GPU (GiB)' ' 60'
head -n 2 memory.tsv >one_stage.tsv
draws memory.gp "data='one_stage.tsv'" weights
lacks 'a GPU has'
refuses memory.gp "data='parts.tsv'" "no column 'stage'"
table heat.tsv <<'ROWS'
x y z
100 8_a 0.25
400 8_a 0.5
100 16_a 4
400 16_a NaN
ROWS
{
  printf 'line\tx\trow\n1\t0\t-0.5\n1\t0\t0.5\n1\t250\t0.5\n1\t250\t1.5\n\n'
  printf '2\t150\t-0.5\n2\t150\t0.5\n2\t1e30\t0.5\n2\t1e30\t1.5\n'
} >lines.tsv
draws heat.gp "data='heat.tsv'; lines='lines.tsv'; middle=1; line_1='as long'; line_2='a_b'; title='t_t'; x_name='x_x'" \
  't_t' '8_a' '16_a' '100' '400' 'as long' 'a_b' 'x_x' '0.25' '4.00' '0.5' '2'
lacks '>NaN<'
lacks 'not in this range'
draws heat.gp "data='heat.tsv'; y_name='y'; x_name='keys (Gb/s)'; z_name='rate (GB/s)'" '8_a' 'keys (Gb/s)' 'rate (GB/s)' '4.00'
lacks 'as long'
sed 's/250/0/' lines.tsv >beside.tsv # a line that no column reaches is not promised
draws heat.gp "data='heat.tsv'; lines='beside.tsv'; middle=1; line_1='as long'; line_2='a_b'" 'as long: not in this range' 'a_b'
sed 's/^100/off/; s/^400/on/' heat.tsv >words.tsv
draws heat.gp "data='words.tsv'; numeric=0" 'off' 'on' '8_a'
head -n 2 heat.tsv >cell.tsv
draws heat.gp "data='cell.tsv'; middle=1" '8_a' '0.25'
awk 'BEGIN { print "x\ty\tz"; for (y = 0; y < 100; y++) for (x = 1; x <= 100; x++) print x "\trow" y "\t" x * y }' >large.tsv
draws heat.gp "data='large.tsv'" 'row0' 'row98' '2'
lacks '>99<'
refuses heat.gp "data='front.tsv.none'" 'cannot be read'
refuses heat.gp "data='coll.tsv'" "no column 'x'"
refuses heat.gp "data='heat.tsv'; lines='coll.tsv'" "no column 'line'"
sed 's/\t[^\t]*$/\tNaN/; 1s/NaN/z/' heat.tsv >untold.tsv
refuses heat.gp "data='untold.tsv'" 'z is a number in no row'

printf 'gpus\tnetwork\tbatch\tthroughput\tefficiency\n' >scaling.tsv
for rate in 100 400; do
  for gpus in 8 16 32; do printf '%d\t%d Gb/s\tbatch 64\t%d\t0.9\n' $gpus $rate $((gpus * rate)) >>scaling.tsv; done
done
draws scaling.gp "data='scaling.tsv'; title='t_t'; unit='sequences'" 't_t' '100 Gb/s' '400 Gb/s' 'grows with the GPUs' \
  'sequences / s' 'efficiency (%)' 'GPUs' '32'
lacks 'batch 64' # all rows say so: it tells nothing apart
sed 's/batch 64/batch 128/; s/t0.9/t0.8/' scaling.tsv | tail -n +2 | cat scaling.tsv - >batches.tsv
draws scaling.gp "data='batches.tsv'" '100 Gb/s' '400 Gb/s' 'batch 64' 'batch 128' 'efficiency (%)'
head -n 4 scaling.tsv >alone.tsv
draws scaling.gp "data='alone.tsv'" 'throughput'
refuses scaling.gp "data='heat.tsv'" "no column 'gpus'"

table front.tsv <<'ROWS'
machine time_s time_lo_s time_hi_s total total_lo total_hi front
a_b 864000 777600 950400 2e6 1.8e6 2.2e6 1
c 1728000 1555200 1900800 1e6 9e5 1.1e6 1
ROWS
draws front.gp "data='front.tsv'; title='t_t'" 't_t' 'a_b' 'cost (million $)' 'time of the run (days)' \
  'filled: on the front (no option is both faster and cheaper); bars: error band; both axes start at 0'
head -n 2 front.tsv >one.tsv
draws front.gp "data='one.tsv'" 'a_b' 'cost (million $)'
refuses front.gp "data='coll.tsv'" "no column 'machine'"
table cost.tsv <<'ROWS'
machine nodes network storage other interest support space rent energy
a_b 100e3 10e3 0 5e3 4e3 1e3 0 0 30e3
c 0 0 0 0 0 0 0 200e3 0
ROWS
draws cost.gp "data='cost.tsv'; title='t_t'" 't_t' 'a_b' 'network' 'energy' '$150 k' '$200 k' 'cost (thousand $)'
lacks '>storage<' # nobody pays for any
refuses cost.gp "data='front.tsv'" "no column 'nodes'"
printf 'name\tless\tmore\na_b.yaml: rate\t0.167\t-0.006\nc: latency\t-0.01\t0.01\n' >tornado.tsv
draws tornado.gp "data='tornado.tsv'; title='a_b'" \
  'a_b' 'a_b.yaml: rate' '+16.7 %' '-0.60 %' '20 % less' '20 % more' 'change of the time (%)'
draws tornado.gp "data='tornado.tsv'; less_is='half of it'; more_is='twice'" 'half of it' 'twice'
refuses tornado.gp "data='parts.tsv'" "no column 'name'"
printf 'link_class\tbusiest\tutilisation\tbytes\nib_ndr\ta_0 -> b\t0.625\t4.5e9\n' >links.tsv
draws links.gp "data='links.tsv'" ib_ndr '62.5 %  a_0 -> b; its class carried 4.5 GB'
refuses links.gp "data='parts.tsv'" "no column 'link_class'"

# Two rows of three sizes; the second row's last size has one algorithm only, which has no margin.
table winners.tsv <<'ROWS'
bytes nodes ranks algo proto best margin
1024 1 8 tree ll 1 0.5
1024 1 8 ring ll 0 -0.3
2048 1 8 ring simple 1 0.1
4096 1 8 nvls simple 1 2
1024 64 512 tree ll 1 0
2048 64 512 tree ll128 1 0.2
ROWS
printf '4096\t64\t512\tfuture\tsimple\t1\t\n' >>winners.tsv
table crossovers.tsv <<'ROWS'
nodes from_B algo instead_of
1 1500 ring tree
1 3000 nvls ring
ROWS
head -n 1 crossovers.tsv >no_crossovers.tsv
sed 's/\t1\t\([^\t]*\)$/\t0\t\1/' winners.tsv >nobody.tsv

draws winners.gp "data='winners.tsv'; crossovers='crossovers.tsv'; title='a_b'" 'a_b: tree is fastest in 3 of 6 cells' \
  '64 (512)' 'nodes (ranks)' tree ring nvls \
  future 'takes over' LL 128 S '1 KiB' 'message size'
draws winners.gp "data='winners.tsv'" 'pale: small lead'
lacks 'takes over'
draws winners.gp "data='winners.tsv'; crossovers='no_crossovers.tsv'" '1 (8)'
lacks 'takes over'
refuses winners.gp "out='x.svg'" 'data is not set'
refuses winners.gp "data='coll.tsv'" "no column 'ranks'"
refuses winners.gp "data='winners.tsv'; crossovers='coll.tsv'" "no column 'from_B'"
refuses winners.gp "data='nobody.tsv'" 'best is 1 in no row'

# A picture for each operation of what `forerun fit --points` wrote.
printf '%s\n' system stage part op algo proto launch nodes ranks max_channels bytes measured_s predicted_s predicted_lo_s \
  predicted_hi_s measured_busbw_Bps predicted_busbw_Bps |
  paste -s >points.tsv
for op in all_reduce sendrecv; do
  for ranks in 2 4; do
    for bytes in 1024 2048; do
      printf 's\tring LL\tfitted\t%s\tring\tll\tgraph\t1\t%s\t\t%s\t1e-5\t1.1e-5\t1e-5\t1.2e-5\t1e8\t1.1e8\n' \
        "$op" "$ranks" "$bytes"
    done
  done
done >>points.tsv
"$plots/fit.sh" points.tsv pictures 'ranks == 4 || op == "all_reduce"' >said 2>&1 && [ ! -s said ] || fail "fit.sh"
for picture in "all_reduce>2 GPUs<" "all_reduce>4 GPUs<" \
  "sendrecv>sendrecv: 2 of 2 measured points are within +-10 % of the fit<"; do
  grep -q "${picture#*>}" "pictures/fit_${picture%%>*}.svg" || fail "fit.sh: no '${picture#*>}' in the picture of ${picture%%>*}"
done
if "$plots/fit.sh" points.tsv pictures 'ranks == 3' >said 2>&1 || ! grep -q 'no point fits ranks == 3' said; then
  fail "fit.sh without points"
fi

# Neither a path nor a cell of the table becomes a part of a program: gnuplot's, awk's or the shell's.
hostile="it'; system('touch X'); a='b"
cp points.tsv "$hostile.tsv"
"$plots/fit.sh" "$hostile.tsv" "$hostile" >said 2>&1 && [ ! -s said ] && [ -s "$hostile/fit_all_reduce.svg" ] ||
  fail "fit.sh with quotes in its paths"
sed '1s/$/\tx=system(">X");y/; 2,$s/$/\t1/' points.tsv >columns.tsv
"$plots/fit.sh" columns.tsv pictures >said 2>&1 && [ ! -s said ] || fail "fit.sh with a column that is no name"
sed 's/all_reduce/..\/..\/x/' points.tsv >outside.tsv
if "$plots/fit.sh" outside.tsv pictures >said 2>&1 || ! grep -qF "line 2: '../../x' is not an operation" said; then
  fail "fit.sh with an operation that is no name"
fi
[ ! -e X ] || fail "fit.sh ran a command of its data"

refuses busbw.gp "out='x.svg'" 'data is not set'
refuses busbw.gp "data='nowhere.tsv'" 'nowhere.tsv: cannot be read'
refuses busbw.gp "data='coll.tsv'; y='busbw'" "coll.tsv:1: no column 'busbw'; there are: op"
refuses busbw.gp "data='coll.tsv'; out='x.gif'" '.svg, .png and .pdf are accepted'
refuses busbw.gp "data='coll.tsv'; scale='cubic'" 'log and linear are accepted'
refuses busbw.gp "data='coll.tsv'; measured='plain.tsv'" "plain.tsv:1: no column 'nodes'"
refuses busbw.gp "data='empty.tsv'" 'empty.tsv: no rows below the header'
refuses error.gp "data='coll.tsv'" "no column 'predicted_s'"
refuses error.gp "out='x.svg'" 'data is not set'

[ "$failed" -ne 0 ] || echo "the plots draw what they are given"
exit "$failed"
