# shellcheck shell=bash
# Read by the scripts beside it: source "$root/plots/draw.sh".

# draw SCRIPT.gp FILE NAME=VALUE…: draws FILE with the variables given. A value is a text between single quotes, in which gnuplot
# reads nothing but a quote; -d: without the user's ~/.gnuplot.
draw ()
{
  local script=$1 commands="" word value quote=\'
  shift
  for word in "out=$1" "${@:2}"; do
    value=${word#*=}
    value=${value//[[:cntrl:]]/ }
    commands+="${word%%=*}='${value//$quote/$quote$quote}'; "
  done
  gnuplot -d -e "$commands" "$(dirname -- "${BASH_SOURCE[0]}")/$script"
}
