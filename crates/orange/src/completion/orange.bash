# Completions of orange for bash:
#   source <(orange completions bash)      in ~/.bashrc, or this text as the file
#   ~/.local/share/bash-completion/completions/orange

_orange() {
    local rest=${COMP_LINE:0:COMP_POINT} words=() count=0 word blank i
    # Bash ends words at colons and equals signs too, and orange wants them whole.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:space:]]*}
        rest=${rest:${#blank}}
        word=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && word=$rest
        rest=${rest:${#word}}
        if ((count > 0)) && [[ -z $blank ]]; then
            words[count - 1]+=$word
        else
            words[count++]=$word
        fi
    done
    local current=${words[count - 1]} quoted='' kept
    # What stays as it is, because bash replaces only what follows it.
    kept=${current%"$2"}
    if [[ $current == [\'\"]* ]]; then
        quoted=${current:0:1}
        words[count - 1]=${current:1}
        kept=${kept#"$quoted"}
    fi
    COMPREPLY=()
    while IFS= read -r word; do
        word=${word#"$kept"}
        if [[ $word == *[!A-Za-z0-9_./:@%+=,~-]* ]]; then
            # In quotes bash leaves the word as it is: what it would obey there is not offered.
            if [[ -z $quoted ]]; then
                printf -v word %q "$word"
            elif [[ $quoted == \" && $word == *[\$\`\"\\!]* ]] || [[ $quoted == \' && $word == *\'* ]]; then
                continue
            fi
        fi
        COMPREPLY[${#COMPREPLY[@]}]=$word
    done < <(ORANGE_COMPLETE=bash command orange -- "${words[@]}" 2>/dev/null)
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *[/=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -o nosort -F _orange orange 2>/dev/null || complete -F _orange orange
