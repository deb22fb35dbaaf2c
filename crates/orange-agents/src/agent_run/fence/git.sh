#!/bin/sh
# Orange's fence around its agents: git without what leaves this machine. Everything else goes to the real git.
here=${0%/*}

real() {
    rest=$PATH:
    while [ -n "$rest" ]; do
        folder=${rest%%:*}
        rest=${rest#*:}
        [ -n "$folder" ] || folder=.
        # Its own folder, and that of an agent around this one.
        case $folder in "$here" | */runs/*/fence) continue ;; esac
        if [ -x "$folder/git" ] && [ ! -d "$folder/git" ]; then
            found=$folder/git
            return 0
        fi
    done
    echo "orange: there is no git on PATH" >&2
    exit 127
}

refuse() {
    echo "orange: refused: git $1. An agent of Orange does not push: what leaves this machine is a person's decision." >&2
    echo "Commit your work and hand it over (orange task complete); the person looks at it, pushes and merges." >&2
    exit 1
}

# Whether git pushes with these arguments. Sets `command` and `first`, the word after it.
pushes() {
    command=
    first=
    option=
    for word in "$@"; do
        if [ -n "$option" ]; then
            case $option/$word in
            -c/[aA][lL][iI][aA][sS].*=*) (alias_pushes "${word#*=}") && return 0 ;;
            esac
            option=
            continue
        fi
        if [ -n "$command" ]; then
            first=$word
            break
        fi
        case $word in
        -C | -c | --config-env | --git-dir | --work-tree | --namespace | --super-prefix | --attr-source) option=$word ;;
        -*) ;;
        *) command=$word ;;
        esac
    done
    case $command/$first in
    push/* | send-pack/* | http-push/* | send-email/*) return 0 ;;
    subtree/push | lfs/push | svn/dcommit | p4/submit) return 0 ;;
    esac
    return 1
}

# Whether an alias with this value pushes. In a line of shell this is a guess: what it starts meets the pre-push hook.
alias_pushes() {
    case $1 in
    !*"git push"* | !*send-pack*) return 0 ;;
    !*) return 1 ;;
    esac
    set -f
    # shellcheck disable=SC2086 # An alias is split into words.
    pushes $1
}

# Runs git without the fence's own settings, which are the last ones: for what only reads or writes settings, so that
# tools which install hooks find the place that is the user's.
without_settings() {
    number=0
    while [ "$number" -lt "${GIT_CONFIG_COUNT:-0}" ]; do
        eval "value=\${GIT_CONFIG_VALUE_$number-}"
        if [ "$value" = "$here/hooks" ] && [ "$((number + 3))" = "$GIT_CONFIG_COUNT" ]; then
            GIT_CONFIG_COUNT=$number
            export GIT_CONFIG_COUNT
        fi
        number=$((number + 1))
    done
    exec "$found" "$@"
}

real
if pushes "$@"; then
    case $command in
    "") refuse "with an alias that pushes" ;;
    subtree | lfs | svn | p4) refuse "$command $first" ;;
    *) refuse "$command" ;;
    esac
fi
case $command/$first in
config/* | rev-parse/* | lfs/install | lfs/update | lfs/uninstall) without_settings "$@" ;;
esac
case $command in
"") ;;
# What is used all the time is no alias.
status | diff | log | add | commit | show | branch | checkout | switch | restore | fetch | pull | merge | stash | \
    rebase | reset | rm | mv | tag | worktree | ls-files | cat-file | remote | blame | grep | clone | init | apply) ;;
*)
    depth=0
    name=$command
    while [ "$depth" -lt 5 ]; do
        value=$("$found" config --get "alias.$name" 2>/dev/null) || break
        (alias_pushes "$value") && refuse "$command (an alias of: $value)"
        case $value in !*) break ;; esac
        # shellcheck disable=SC2086 # As above.
        name=$(set -f && pushes $value; printf %s "$command")
        depth=$((depth + 1))
    done
    ;;
esac
exec "$found" "$@"
