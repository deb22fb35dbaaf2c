#!/bin/sh
# The story of the pool: what happens to worktrees and to the work in them, step by step.
#
#   sh tests/stories/workspaces.sh            (uses target/debug/orange; ORANGE=… for another)
#
# Every command is printed and run as printed, and what it must say or do is checked (✓); the first check that
# fails ends the story. It lives in a temporary home of its own, shown as ~, and needs neither network nor root.
set -eu

# shellcheck source=tests/stories/telling.sh
. "$(dirname "$0")/telling.sh"

lodger=
tidy() { [ -z "$lodger" ] || kill "$lodger" 2>/dev/null || true; }

# The story is about worktrees: whoever reads along is the agent, and says when a task starts.
export ORANGE_AGENTS_HARNESS=none ORANGE_AGENTS_REVIEW_HARNESS=none ORANGE_AGENTS_SPAWN_ON_CREATE=false

pool=$ORANGE_HOME/workspaces
shop=$stage/shop

# ---------------------------------------------------------------------------------------------------------------

step "A repository with a remote, an ignored .env, and two commits that nobody has pushed yet"

git init -q --bare "$stage/origin.git"
git clone -q "$stage/origin.git" "$shop" 2>/dev/null
cd "$shop"
echo "the shop" >README.md
echo ".env" >.gitignore
echo ".env" >.worktreeinclude
echo "SECRET=1" >.env
git add README.md .gitignore .worktreeinclude
git commit -q -m "first commit"
git push -q origin main
git commit -q --allow-empty -m "not pushed, one"
git commit -q --allow-empty -m "not pushed, two"
git clone -q "$stage/origin.git" "$stage/colleague"
own_head=$(git rev-parse HEAD)

run "orange project add . --pool-size 2"
expect "2 workspaces"
run "orange new 'Add a login form'"
expect "fetched now; your local main has 2 commits that are not in it"

step "Meanwhile a colleague pushes. The task starts from what the remote has now, and says so"

git -C "$stage/colleague" commit -q --allow-empty -m "from a colleague"
git -C "$stage/colleague" push -q origin main
base=$(git -C "$stage/colleague" rev-parse HEAD)

run "orange task update TASK-001 --status planning"
expect "slot     shop--1"
expect "starts from origin/main@$(git rev-parse --short=7 "$base"), fetched now; your local main has 2 commits that are not in it"
check "the worktree is at the colleague's commit" same "$(git -C "$pool/shop--1" rev-parse HEAD)" "$base"
check "its branch is the task's" same "$(git -C "$pool/shop--1" branch --show-current)" orange/TASK-001-add-a-login-form

step "In the worktree: a link to the task's file that git does not see, and the ignored .env"

run "cd \"\$(orange task path TASK-001)\" && ls -A && git status --short"
unsaid "??"
check "TASK.md is a link to the task's own file" same \
	"$(readlink "$pool/shop--1/TASK.md")" "$(orange task path TASK-001 --task)/TASK.md"
check ".env was copied, as .worktreeinclude asks" contains "$pool/shop--1/.env" "SECRET=1"
check "the user's checkout has no TASK.md" absent "$shop/TASK.md"

step "Work: one commit, one change, one new file"

cd "$pool/shop--1"
run "echo form >login.html && git add login.html && git commit -q -m 'a form'"
run "echo 'with a login' >>README.md && echo 'ask about cookies' >notes.txt"
run "orange workspace list"
expect "1 changed, 1 untracked"
expect "(not made yet)"
run "orange task show          # inside a workspace: its task"
expect "1 ahead of origin/main"
expect "1 changed file, 1 untracked"
cd "$shop"
run "orange task exec TASK-001 -- git log --oneline -1"
expect "a form"
refused 7 "orange task exec TASK-001 -- sh -c 'exit 7'"
refused 127 "orange task exec TASK-001 -- no-such-program"
run "echo pwd | orange task shell TASK-001"
expect "$pool/shop--1"
run "orange task open TASK-001 --with 'ls -d'"

step "Cancelled: the slot is given back, and what was not committed is saved first"

run "orange task cancel TASK-001 --yes"
expect "what was not committed is saved"
run "orange workspace list"
expect "(parked at $(git rev-parse --short=7 "$base"))"
expect "clean"
check "the branch still has its commit" git cat-file -e orange/TASK-001-add-a-login-form:login.html
check "nothing of the task is left in the slot" absent "$pool/shop--1/notes.txt"
run "orange task rescue list TASK-001"
expect "2 files"
run "orange task rescue show TASK-001"
expect "M README.md"
expect "A notes.txt"
expect "ignored files are not in it"

step "It comes back whole, as a branch"

refused 3 "orange task rescue restore TASK-001 latest"
expect "add --to-branch NAME"
run "orange task rescue restore TASK-001 latest --to-branch rescued/login"
run "git show --stat --format= rescued/login && git show rescued/login:notes.txt"
expect "ask about cookies"
check "below it is the commit of the task" same \
	"$(git rev-parse rescued/login^)" "$(git rev-parse orange/TASK-001-add-a-login-form)"

step "The next task gets the same slot, clean"

run "orange new 'Show a logout button' >/dev/null && orange task update TASK-002 --status planning"
expect "slot     shop--1"
check "no change of the task before it" same "$(cat "$pool/shop--1/README.md")" "the shop"
check "no file of the task before it" absent "$pool/shop--1/login.html"

step "Two slots, two tasks: the third is told who has them"

run "orange new 'Write the manual' >/dev/null && orange task update TASK-003 --status planning"
expect "slot     shop--2"
run "orange new 'Sell gift cards' >/dev/null"
refused 3 "orange task update TASK-004 --status planning"
expect "all 2 slots are taken, by TASK-002, TASK-003"
run "orange task why TASK-004"
expect "TASK-002, TASK-003"

step "A free slot in which somebody's process lives is passed over and named, never cleared"

run "orange task cancel TASK-003 --yes"
mkfifo "$stage/arrived"
(cd "$pool/shop--2" && echo here >"$stage/arrived" && exec sleep 600) &
lodger=$!
read -r _ <"$stage/arrived"
refused 3 "orange task update TASK-004 --status planning"
expect "shop--2 (process $lodger"
expect "Orange never ends or deletes what is not its own"
run "orange project update shop --pool-size 3"
run "orange task update TASK-004 --status planning"
expect "shop--2 is passed over: process $lodger"
expect "slot     shop--3"
check "the process lives on" kill -0 "$lodger"
kill "$lodger"
wait "$lodger" 2>/dev/null || true
lodger=

step "An agent renames its branch: the task follows"

run "orange task exec TASK-002 -- git branch -m logout"
run "orange task update TASK-002 --priority high"
expect "its branch was renamed from orange/TASK-002-show-a-logout-button to logout"
run "orange task show shop/logout | head -n 5"
expect "TASK-002 Show a logout button"
check "the pool follows too" contains "$pool/.pool.json" "shop/logout"

step "An editor replaces the link by a file: its text is taken over, the link put back"

run "cd ~/orange/workspaces/shop--1 && cp TASK.md TASK.new && printf '\n## Plan\n\nAPPROACH: a button in the menu\n' >>TASK.new && mv TASK.new TASK.md"
check "TASK.md is a file now" test ! -L "$pool/shop--1/TASK.md"
run "orange task update TASK-002 --status working"
expect "its text is taken over, the link put back"
check "the plan is in the task's own file" contains \
	"$(orange task path TASK-002 --task)/TASK.md" "a button in the menu"
check "TASK.md is a link again" test -L "$pool/shop--1/TASK.md"

step "A repository brings commands along: nothing runs before you agreed to them"

mkdir .orange
cat >.orange/config.yaml <<'RULES'
workspace:
  setup: echo "looking for the tools"; test -e "$HOME/tools"
  teardown: echo "$ORANGE_TASK_KEY leaves $ORANGE_WORKSPACE" >>"$HOME/guests"
RULES
git add .orange
git commit -q -m "how to prepare a workspace"
git pull -q --rebase origin main
git push -q origin main
own_head=$(git rev-parse HEAD)
run "orange new 'Accept coupons' >/dev/null"
refused 3 "orange task update TASK-005 --status planning"
expect "comes with commands that you have not agreed to"
run "orange task why TASK-005"
expect "TASK-005 is pending"
refused 3 "orange project trust shop"
expect "test -e \"\$HOME/tools\""
run "orange project trust shop --yes"
expect "agreed to the commands of project shop"

step "A setup that fails is shown with its output; put it right and try again"

refused 1 "orange task update TASK-005 --status planning"
expect "could not take a slot"
expect "  looking for the tools"
run "orange task show TASK-005 | head -n 4"
expect "attention"
check "all of its output is in a log beside the task" contains \
	"$(orange task path TASK-005 --task)/setup.log" "looking for the tools"
run "touch ~/tools && orange task retry-hooks TASK-005"
expect "slot     shop--2"

step "Rules come from the base commit: what an agent writes into its worktree changes none"

run "cd ~/orange/workspaces/shop--2 && sed -i.old 's/guests/robbed/' .orange/config.yaml && rm .orange/config.yaml.old && git commit -q -a -m 'other rules'"
run "orange task cancel TASK-005 --yes"
run "cat ~/guests"
expect "TASK-005 leaves shop--2"
check "the agent's own command did not run" absent "$stage/robbed"

step "A worktree is deleted by hand: everybody says so, and the doctor checks the branch out again"

run "rm -rf ~/orange/workspaces/shop--3"
run "orange task show TASK-004"
expect "the folder is gone"
refused 1 "orange task path TASK-004"
refused 1 "orange doctor"
expect "the worktree of TASK-004 is gone"
run "orange doctor --repair"
expect "orange/TASK-004-sell-gift-cards is checked out again"
check "the link is back too" test -L "$pool/shop--3/TASK.md"
run "orange task cancel TASK-004 --yes"
run "orange new 'Sell gift cards, again' >/dev/null && orange task update TASK-006 --status planning"
expect "slot     shop--2"

step "The pool's file is deleted: it is made again from the tasks"

run "echo draft >~/orange/workspaces/shop--1/draft.txt"
run "rm ~/orange/workspaces/.pool.json"
run "orange workspace list"
expect "TASK-002"
expect "TASK-006"
run "orange task cancel TASK-002 --yes"
run "orange task rescue show TASK-002"
expect "A draft.txt"

step "kill -9 in the middle: the next command, whichever it is, finishes what was begun"

run "orange new 'Print receipts' >/dev/null"
perform "ORANGE_CRASH_AT=acquire.checked-out orange task update TASK-007 --status planning"
case $code in
137)
	printf '  (killed)\n'
	slot=$(basename "$(git worktree list | sed -n 's/ .*TASK-007.*//p')")
	check "there is a worktree, and no link in it yet" absent "$pool/$slot/TASK.md"
	run "orange ls"
	check "now there is" test -L "$pool/$slot/TASK.md"
	;;
0) printf '  (a release build has no crash points: it was not killed)\n' ;;
*) fail "expected it to be killed; it ended with $code" ;;
esac
run "orange task show TASK-007"
expect "take a slot       completed"

step "Done, like cancelled, gives the slot back"

run "orange task resolve TASK-007 --message 'printed by the till'"
run "orange workspace list"
unsaid "TASK-007"

step "A smaller pool: free slots beyond it go, a slot that a task has stays"

run "orange project update shop --pool-size 2 && orange workspace gc"
expect "removed shop--3"
check "its folder is gone" absent "$pool/shop--3"
run "orange workspace gc --all"
expect "removed shop--1"
expect "kept shop--2: TASK-006 has it"
run "orange task cancel TASK-006 --yes && orange workspace gc --all && git worktree list"
unsaid "orange/workspaces"
run "orange task rescue list TASK-001      # what was saved stays, for 30 days"
expect "2 files"

step "At the end: all is well, and your own checkout is as you left it"

run "orange doctor"
expect "all is well"
check "the checkout is where it was" same "$(git rev-parse HEAD)" "$own_head"
check "nothing is changed or new in it" quiet git status --porcelain
run "orange project remove shop"
check "no line of Orange's is left in info/exclude" missing orange .git/info/exclude

printf '\nThat was the story: %s steps, every one of them checked.\n' "$steps"
