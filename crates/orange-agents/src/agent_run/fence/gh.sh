#!/bin/sh
# Orange's fence around its agents: gh as far as it reads. What posts or changes something on a forge is refused.
here=${0%/*}

real() {
    rest=$PATH:
    while [ -n "$rest" ]; do
        folder=${rest%%:*}
        rest=${rest#*:}
        [ -n "$folder" ] || folder=.
        # Its own folder, and that of an agent around this one.
        case $folder in "$here" | */runs/*/fence) continue ;; esac
        if [ -x "$folder/gh" ] && [ ! -d "$folder/gh" ]; then
            found=$folder/gh
            return 0
        fi
    done
    echo "orange: there is no gh on PATH" >&2
    exit 127
}

refuse() {
    echo "orange: refused: gh $*. An agent of Orange only reads there: what is posted is a person's decision." >&2
    echo "Write it into TASK.md (the handoff, the review); the person posts it." >&2
    exit 1
}

real
group=
verb=
skip=
for word in "$@"; do
    if [ -n "$skip" ]; then
        skip=
        continue
    fi
    case $word in
    -h | --help) exec "$found" "$@" ;;
    -R | --repo | --hostname) skip=yes ;;
    -*) ;;
    *)
        if [ -z "$group" ]; then
            group=$word
        else
            verb=$word
            break
        fi
        ;;
    esac
done

case "$*" in "$group $verb --help" | "$group $verb -h") exec "$found" "$@" ;; esac

reads_api() {
    previous=
    method=GET
    for word in "$@"; do
        case $previous in -X | --method) method=$word ;; esac
        case $word in
        --method=*) method=${word#*=} ;;
        -X?*) method=${word#-X} method=${method#=} ;;
        -f* | -F* | --field* | --raw-field* | --input*) return 1 ;;
        graphql | */graphql) return 1 ;;
        esac
        previous=$word
    done
    case $method in [gG][eE][tT]) return 0 ;; *) return 1 ;; esac
}

case $group/$verb in
/ | help/* | version/ | completion/* | search/* | status/*) ;;
pr/view | pr/diff | pr/checks | pr/list | pr/ls | pr/status | pr/checkout | pr/) ;;
issue/view | issue/list | issue/ls | issue/status | issue/) ;;
run/view | run/list | run/ls | run/watch | run/download | run/) ;;
workflow/view | workflow/list | workflow/ls | workflow/) ;;
repo/view | repo/list | repo/ls | repo/clone | repo/) ;;
release/view | release/list | release/ls | release/download | release/) ;;
gist/view | gist/list | gist/ls | gist/clone | gist/) ;;
label/list | label/ls | cache/list | cache/ls | ruleset/view | ruleset/list | ruleset/check) ;;
project/view | project/list | project/item-list | project/field-list | org/list | variable/list | variable/get) ;;
# The second is how git logs in, to fetch.
auth/status | auth/git-credential) ;;
config/get | config/list | alias/list | extension/list) ;;
api/*) reads_api "$@" || refuse "$group ${verb:-} (only GET, without fields)" ;;
*) refuse "$group${verb:+ $verb}" ;;
esac
exec "$found" "$@"
