# Text as one word of a shell, for what the plots ask of head and awk: a quote in the name of a file or in its data runs no command.
escaped (text) = strstrt (text, "'") == 0 ? text \
               : text[:strstrt (text, "'") - 1]."'\\''".escaped (text[strstrt (text, "'") + 1:])
quoted (text) = "'".escaped (text)."'"
