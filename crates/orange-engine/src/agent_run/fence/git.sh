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

real
command=
first=
option=
for word in "$@"; do
    if [ -n "$option" ]; then
        case $option/$word in -c/[aA][lL][iI][aA][sS].*push* | -c/[aA][lL][iI][aA][sS].*send-pack*)
            refuse "with an alias that pushes" ;;
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
case $command in
"") ;;
push | send-pack | http-push | send-email) refuse "$command" ;;
subtree | lfs) [ "$first" = push ] && refuse "$command push" ;;
svn) [ "$first" = dcommit ] && refuse "svn dcommit" ;;
p4) [ "$first" = submit ] && refuse "p4 submit" ;;
# What is used all the time is no alias.
status | diff | log | add | commit | show | branch | checkout | switch | restore | rev-parse | fetch | pull | merge | \
    rebase | reset | rm | mv | tag | worktree | config | ls-files | cat-file | remote | blame | grep | clone | init | apply) ;;
*)
    depth=0
    name=$command
    while [ "$depth" -lt 5 ]; do
        value=$("$found" config --get "alias.$name" 2>/dev/null) || break
        case " $value " in *" push "* | *"send-pack"* | *"git push"*) refuse "$command (an alias of: $value)" ;; esac
        name=${value%% *}
        depth=$((depth + 1))
    done
    ;;
esac
exec "$found" "$@"
