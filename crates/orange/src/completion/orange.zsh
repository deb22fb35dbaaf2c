#compdef orange
# Completions of orange for zsh:
#   source <(orange completions zsh)       in ~/.zshrc, or this text as the file
#   _orange in a folder of $fpath

_orange() {
    local -a found closed open
    local value
    found=("${(@f)$(ORANGE_COMPLETE=zsh command orange -- "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
    for value in $found; do
        # A folder, or a flag before its value: more is to be typed.
        if [[ ${value%%:*} == *[/=] ]]; then
            open+=("$value")
        else
            closed+=("$value")
        fi
    done
    (( ${#closed} + ${#open} )) || return 1
    (( ${#closed} )) && _describe -V orange closed
    (( ${#open} )) && _describe -V orange open -S ''
    return 0
}

if [[ ${funcstack[1]-} == _orange ]]; then
    _orange "$@"
else
    (( ${+functions[compdef]} )) || { autoload -Uz compinit && compinit -i; }
    compdef _orange orange
fi
