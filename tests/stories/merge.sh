#!/bin/sh
# The story of the merge: three tasks on one repository, two of them in conflict, and a user who works in the main
# checkout all the while, step by step.
#
#   sh tests/stories/merge.sh                 (uses target/debug/orange; ORANGE=… for another)
#
# Every command is printed and run as printed, and what it must say or do is checked (✓); the first check that
# fails ends the story. The agents are scripted. It lives in a temporary home of its own, shown as ~, with a tmux
# server of its own, and needs neither network nor root.
set -eu

# shellcheck source=tests/stories/telling.sh
. "$(dirname "$0")/telling.sh"

tidy() {
	tmux -S "$stage/tmux" kill-server 2>/dev/null || true
	# What ran there may be writing its last words.
	tries=0
	until rm -rf "$stage" 2>/dev/null || [ "$tries" -eq 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}

unset TMUX TMUX_PANE
export ORANGE_TMUX_SERVER="$stage/tmux"
shop=$stage/shop
origin=$stage/origin.git

# script NAME DONE WORK [MORE]: what the agents of a task do. WORK is what the worker does first, MORE what it does
# when changes are asked for.
script() {
	cat >"$stage/$1.yaml" <<SCRIPT
worker:
  - plan: "APPROACH: $2"
  - status: working
$3
  - handoff: "DONE: $2"
  - complete
  - end turn
  - say: "{message}"
${4:-}
  - handoff: "DONE: $2, with main brought in"
  - complete

reviewer:
  - review: PASS
  - status: reviewing
SCRIPT
}

# Every branch here and on the remote, and where it is.
refs() {
	git -C "$shop" for-each-ref --format='%(refname) %(objectname)' refs/heads refs/remotes
	git -C "$origin" for-each-ref --format='%(refname) %(objectname)'
}

# What the user has in hand: changes that are staged, changes that are not, files that git does not know.
in_hand() {
	git -C "$shop" status --porcelain
	git -C "$shop" diff
	git -C "$shop" diff --cached
	cat "$shop/todo.txt"
}

# What must not change is noted, and compared.
note() {
	refs >"$stage/refs"
	in_hand >"$stage/hand"
}
unmoved() { refs | cmp -s - "$stage/refs"; }
untouched() { in_hand | cmp -s - "$stage/hand"; }
nothing_changed() {
	check "no branch has moved, here or on origin" unmoved
	check "what the user has in hand is as it was" untouched
}

# once TEXT: exactly one commit of main says so in its first line.
once() { [ "$(git -C "$shop" log --format=%s main | grep -cxF -e "$1")" -eq 1 ]; }
pushed() { same "$(git -C "$shop" rev-parse main)" "$(git -C "$origin" rev-parse main)"; }
status_of() { orange task show "$1" --json | sed -n 's/.*"status": *"\([a-z-]*\)".*/\1/p' | head -n 1; }

# ---------------------------------------------------------------------------------------------------------------

step "A repository with a remote. Its user is in the middle of something"

git init -q --bare "$origin"
cat >"$origin/hooks/pre-receive" <<'HOOK'
#!/bin/sh
[ ! -e "$GIT_DIR/closed" ] || { echo "the shop is closed for stocktaking"; exit 1; }
HOOK
chmod +x "$origin/hooks/pre-receive"
git clone -q "$origin" "$shop" 2>/dev/null
cd "$shop"
printf 'black tea 3\ngreen tea 4\nherb tea 2\n' >prices.txt
echo "the shop" >README.md
echo "mon-fri" >hours.txt
git add .
git commit -q -m "first commit"
git push -q origin main
run "echo 'sells tea' >>README.md; echo 'sat too' >>hours.txt; git add hours.txt; echo 'order milk' >todo.txt; git status --short"
run "orange project add . --pool-size 4"

step "Three tasks, each with its agents in a worktree of its own. Two of them change the same line"

script price "green tea costs 5" "  - run: sed -i.old 's/green tea 4/green tea 5/' prices.txt && rm prices.txt.old
  - commit: green tea costs 5"
script sale "green tea on sale" "  - run: sed -i.old 's/green tea 4/green tea 3, on sale/' prices.txt && rm prices.txt.old
  - commit: green tea on sale" "  - git: [merge, main]
    expect: 1
  - run: printf 'black tea 3\ngreen tea 5, on sale for 3\nherb tea 2\n' >prices.txt
  - commit: bring main in"
script manual "a manual" "  - write: manual.md
    text: |
      How to make tea.
  - commit: a manual
  - append: manual.md
    text: |
      Boil water first.
  - commit: the manual begins with water"
run "orange new 'Green tea costs more' --harness sim:$stage/price.yaml --review-harness sim:$stage/price.yaml >/dev/null"
run "orange new 'Put green tea on sale' --harness sim:$stage/sale.yaml --review-harness sim:$stage/sale.yaml >/dev/null"
run "orange new 'Write a manual' --harness sim:$stage/manual.yaml --review-harness sim:$stage/manual.yaml >/dev/null"
for task in TASK-001 TASK-002 TASK-003; do
	run "orange task wait $task --for reviewing --timeout 60"
done
run "orange ls"
mark=$(git rev-parse main)
check "main is where it was" same "$mark" "$(git -C "$origin" rev-parse main)"

step "The first is merged: one commit on main, on origin too, and under the user's own changes"

note
run "orange task merge TASK-001"
expect "merged into main as"
expect "1 commit squashed"
expect "pushed    main to origin"
expect "your checkout $shop is at it now"
check "what the user has in hand is as it was" untouched
check "their checkout has the new price" contains prices.txt "green tea 5"
check "origin has the same main" pushed
run "git log -1 --format='%an, %s%n%n%b' main"
expect "sim, Green tea costs more (TASK-001)"
expect "DONE: green tea costs 5"
run "orange task show TASK-001 | head -n 4"
expect "done"

step "The user commits something of their own, and goes on"

run "git commit -q -m 'open on saturdays' && echo 'order cups' >>todo.txt && git status --short --branch"
expect "[ahead 1]"

step "The second conflicts: nothing is changed, and it is said where and what to do"

note
refused 3 "orange task merge TASK-002"
expect "prices.txt: both changed the same lines"
expect "line 2 of main"
expect "main: green tea 5"
expect "TASK-002: green tea 3, on sale"
nothing_changed
check "no merge is under way in the checkout" absent .git/MERGE_HEAD
check "the task still waits for a decision" same "$(status_of TASK-002)" reviewing
run "orange task why TASK-002"
expect "it conflicts with main in prices.txt"
expect "orange request-changes TASK-002"

step "Its agent is asked to bring main in; it resolves the conflict, and is reviewed again"

run "orange task request-changes TASK-002 'bring main in and resolve the conflicts in prices.txt'"
run "orange task wait TASK-002 --for reviewing --timeout 60"
run "orange task why TASK-002"
unsaid "conflicts"
check "the user's checkout knows nothing of it yet" contains prices.txt "green tea 5"

step "Merged; the user's own commit goes to origin with it, and that is said"

note
run "orange task merge TASK-002"
expect "pushed with it: 1 commit of main that origin did not have"
expect "merged into main as"
check "what the user has in hand is as it was" untouched
check "the checkout shows how it was resolved" contains prices.txt "green tea 5, on sale for 3"
check "origin has the same main" pushed
check "the user's commit is there once" once "open on saturdays"

step "The remote refuses the third: nothing is merged here either"

run "touch ~/origin.git/closed"
note
refused 1 "orange task merge TASK-003 --strategy rebase"
expect "nothing was merged: origin did not take main"
expect "the shop is closed for stocktaking"
nothing_changed
check "the task still waits for a decision" same "$(status_of TASK-003)" reviewing
run "rm ~/origin.git/closed"

step "A file of the user's is in the way: refused before anything is pushed, and named"

run "echo 'my own notes on tea' >manual.md"
note
refused 3 "orange task merge TASK-003 --strategy rebase"
expect "has changes that are not committed, in manual.md"
nothing_changed
check "their file is as it was" contains manual.md "my own notes on tea"
run "mv manual.md notes.md"

step "A commit that no reviewer has seen: shown, and merged only at your word"

run "orange task exec TASK-003 -- sh -c 'echo Enjoy. >>manual.md && git commit -q -a -m \"a last word\"'"
note
refused 3 "orange task merge TASK-003 --strategy rebase"
expect "1 commit since review"
expect "a last word"
expect "orange merge TASK-003 --strategy rebase --force"
nothing_changed

step "Meanwhile a colleague pushes. The third lands on top of that, commit by commit"

git clone -q "$origin" "$stage/colleague"
git -C "$stage/colleague" commit -q --allow-empty -m "from a colleague"
git -C "$stage/colleague" push -q origin main
note
run "orange task merge TASK-003 --strategy rebase --force"
expect "3 commits rebased"
check "what the user has in hand is as it was" untouched
check "the colleague's commit is below it" same \
	"$(git rev-parse main~3)" "$(git -C "$stage/colleague" rev-parse HEAD)"
check "their author is who wrote them" same "$(git log -1 --skip=1 --format=%an main)" sim
check "origin has the same main" pushed
check "the checkout has the manual" contains manual.md "Enjoy."

step "Nobody has reviewed the fourth: only with --force. The process is killed in the middle, the next one goes on"

run "orange new 'Sell mugs' --harness none >/dev/null"
run "cd \"\$(orange task path TASK-004)\" && echo 'mug 7' >mugs.txt && git add mugs.txt && git commit -q -m 'mugs'"
note
refused 3 "orange task merge TASK-004"
expect "no review of it has passed"
nothing_changed
perform "ORANGE_CRASH_AT=merge.pushed orange task merge TASK-004 --force"
case $code in
137)
	printf '  (killed)\n'
	check "origin has it, the user's checkout not yet" absent mugs.txt
	run "orange ls --all"
	expect "its merge into main was cut short; it is finished now"
	;;
0) printf '  (a release build has no crash points: it was not killed)\n' ;;
*) fail "expected it to be killed; it ended with $code" ;;
esac
check "what the user has in hand is as it was" untouched
check "the checkout has it now" contains mugs.txt "mug 7"
check "the task is done" same "$(status_of TASK-004)" "done"
check "origin has the same main" pushed

step "At the end: everything is on main, here and on origin, exactly once"

run "git log --format='%h %an: %s' main"
for subject in "first commit" "Green tea costs more (TASK-001)" "open on saturdays" "Put green tea on sale (TASK-002)" \
	"from a colleague" "a manual" "the manual begins with water" "a last word" "Sell mugs (TASK-004)"; do
	check "once: $subject" once "$subject"
done
check "and nothing else" same "$(git rev-list --count main)" 9
run "cat prices.txt manual.md mugs.txt"
check "the prices are those of both tasks" same "$(git show main:prices.txt | sed -n 2p)" "green tea 5, on sale for 3"
check "the manual is whole" same "$(git show main:manual.md | grep -c .)" 3

step "The slots are free, all is well, and the user still has in hand what they had"

run "orange ls"
check "every task is over" same "$(orange ls | grep -c -e ' done ' -e ' cancelled ')" "$(orange ls | grep -c TASK-)"
run "orange workspace list"
unsaid "TASK-"
check "no session is left" quiet tmux -S "$stage/tmux" list-sessions
run "git status --short"
expect " M README.md"
expect "?? todo.txt"
expect "?? notes.md"
run "orange doctor"
expect "all is well"

printf '\nThat was the story: %s steps, every one of them checked.\n' "$steps"
