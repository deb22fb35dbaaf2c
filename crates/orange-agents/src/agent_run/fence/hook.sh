#!/bin/sh
# Orange's fence around its agents: core.hooksPath leads here, and this hands on to the hook that git would have run.
here=${0%/*}
name=${0##*/}

# The settings before the fence's own are the user's.
number=0
while [ "$number" -lt "${GIT_CONFIG_COUNT:-0}" ]; do
    eval "value=\${GIT_CONFIG_VALUE_$number-}"
    [ "$value" = "$here" ] && break
    number=$((number + 1))
done
hook=$(GIT_CONFIG_COUNT=$number git rev-parse --git-path "hooks/$name") || exit 0
case $hook in "" | "$here"/*) exit 0 ;; esac
if [ -x "$hook" ] && [ ! -d "$hook" ]; then
    exec "$hook" "$@"
fi
exit 0
