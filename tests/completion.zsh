# Completes command lines in an interactive zsh on a terminal of its own, as a user would. usage: zsh completion.zsh FOLDER LINE…
# FOLDER holds _forerun. Prints each line as it stands after one press of the tabulator.
emulate -R zsh
zmodload zsh/zpty || exit 77
folder=$1
shift
zpty shell "TERM=dumb zsh -f -i"
typeset got
expect () # text
{
  got=
  local piece
  local -F end=$((SECONDS + 30))
  while ((SECONDS < end)); do
    if zpty -r -t shell piece; then
      got+=$piece
      [[ $got == *${~1}* ]] && return 0
    else
      sleep 0.05
    fi
  done
  return 1
}
zpty -w shell "PS1=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=($folder \$fpath); autoload -Uz compinit; compinit -u -D; show () { zle complete-word; print -r -- \"[\$BUFFER]\"; BUFFER=; zle redisplay }; zle -N show; bindkey '^I' show; print RE''ADY"
expect READY || { print "zsh does not start: $got"; exit 1 }
for line; do
  zpty -w -n shell "$line"$'\t'
  expect '\[*\]' || { print "no answer to '$line': $got"; exit 1 }
  print -r -- "${${got##*\[}%%\]*}"
done
zpty -d shell
