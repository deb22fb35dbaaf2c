# What every story needs: a home of its own, and the words it is told with. Stories read this file; it is no story.
# `tidy` is called before the home is removed, for what a story has to end itself.
# shellcheck shell=sh

root=$(cd "$(dirname "$0")/../.." && pwd)
program=${ORANGE:-$root/target/debug/orange}
[ -x "$program" ] || {
	echo "story: there is no program at $program; build it with \`cargo build\`" >&2
	exit 1
}
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")

stage=$(mktemp -d) || exit 1
stage=$(cd "$stage" && pwd -P)
tidy() { :; }
cleanup() {
	tidy
	cd / && rm -rf "$stage"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# Nothing of the machine's own settings takes part.
for name in $(env | sed -nE 's/^((GIT|ORANGE)_[A-Z_]*)=.*/\1/p'); do
	unset "$name"
done
mkdir "$stage/bin" && ln -s "$program" "$stage/bin/orange"
export HOME="$stage" ORANGE_HOME="$stage/orange" PATH="$stage/bin:$PATH"
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL="$stage/.gitconfig" LC_ALL=C SHELL=/bin/sh
unset XDG_CONFIG_HOME CLICOLOR_FORCE
cat >"$GIT_CONFIG_GLOBAL" <<'CONFIG'
[user]
	name = story
	email = story@localhost
[init]
	defaultBranch = main
[gc]
	auto = 0
[maintenance]
	auto = false
CONFIG

steps=0
said=$stage/said
code=0

# step TITLE: the next chapter.
step() {
	steps=$((steps + 1))
	printf '\n%s. %s\n' "$steps" "$*"
}

fail() {
	printf '\nstory: step %s: %s\n' "$steps" "$*" | shown >&2
	exit 1
}

# The temporary home is ~ for whoever reads along.
shown() { sed "s|$stage|~|g"; }

perform() {
	printf '\n  $ %s\n' "$1" | shown
	code=0
	(eval "$1") >"$said" 2>&1 </dev/null || code=$?
	sed 's/^/  /' "$said" | shown
}

# run COMMAND: must succeed.
run() {
	perform "$1"
	[ "$code" -eq 0 ] || fail "expected this to succeed; it ended with $code"
}

# refused CODE COMMAND: must end with this exit code.
refused() {
	perform "$2"
	[ "$code" -eq "$1" ] || fail "expected exit code $1, got $code"
	printf '  (exit %s)\n' "$code"
}

# expect TEXT: the last command said so.
expect() {
	grep -qF -e "$1" "$said" || fail "expected it to say: $1"
	printf '  ✓ says: %s\n' "$1" | shown
}

# unsaid TEXT: the last command did not say so.
unsaid() {
	! grep -qF -e "$1" "$said" || fail "expected it not to say: $1"
	printf '  ✓ does not say: %s\n' "$1" | shown
}

# check WHAT COMMAND…: the world is as it should be.
check() {
	what=$1
	shift
	"$@" >/dev/null 2>&1 || fail "it is not so: $what"
	printf '  ✓ %s\n' "$what" | shown
}

same() { [ "$1" = "$2" ]; }
absent() { [ ! -e "$1" ] && [ ! -L "$1" ]; }
contains() { grep -qF -e "$2" "$1"; }
missing() { ! grep -qi -e "$1" "$2"; }
quiet() { [ -z "$("$@")" ]; }
