#!/bin/sh
# The story of two plans. A small task is executed phase by phase, killed, resumed, rewound, skipped and merged. A medium one is specified
# and judged, waits at a gate through a restart of everything, is sent back by its review, rewound and merged. Every token that an
# agent used is counted once.
#
#   sh tests/stories/phased.sh            (uses target/debug/orange; ORANGE=… for another)
#
# Every command is printed and run as printed, and what it must say or do is checked (✓); the first check that
# fails ends the story. It lives in a temporary home of its own, shown as ~, and needs neither network nor root.
set -eu

# shellcheck source=tests/stories/telling.sh
. "$(dirname "$0")/telling.sh"

shop=$stage/shop
tidy() {
	tmux -S "$stage/tmux" kill-server 2>/dev/null || true
}
export ORANGE_TMUX_SERVER="$stage/tmux"


# The task that is told of.
task=TASK-001

# figure PATH: a figure of the task's execution, as --json has it.
figure() { orange task show "$task" --json | jq -r ".task.execution$1"; }

status_of() { orange task show "$1" --json | jq -r .task.status; }
is() { [ "$(figure "$1")" = "$2" ]; }
stands() { [ "$(status_of "$task")" = "$1" ]; }

# The sum of what agents wrote down in a file, and what is counted of it: tokens in, out, cached, and the cost in 1/10000 $.
told() { awk '{ i += $1; o += $2; c += $3; m += $4 } END { print i, o, c, m }' "$1"; }
counted() { figure ' | [.tokens.input_tokens, .tokens.output_tokens, .tokens.cache_read_input_tokens, (.cost.total_cost_usd * 10000 | round)] | join(" ")'; }

# hold WHAT COMMAND…: it becomes so, sooner or later.
hold() {
	what=$1
	shift
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 1200 ] || fail "it does not become so: $what"
		sleep 0.05
	done
	printf '  ✓ %s\n' "$what" | shown
}

# ---------------------------------------------------------------------------------------------------------------

step "A repository with a check of its own, and an agent whose every turn tells what it used"

git init -q -b main "$shop"
cd "$shop"
mkdir .orange
cat >.orange/config.yaml <<'YAML'
verify:
  command: sh check.sh
YAML
printf 'test ! -e broken\n' >check.sh
git add .
git commit -q -m "first commit"

# Each turn tells Orange what it used, and writes it down for the end of the story: tokens in, out, cached, and the cost in 1/10000 $.
cat >"$stage/agent.yaml" <<YAML
executor implement iteration 1:
  - write: tea.txt
    text: "green tea 4\n"
  - write: broken
    text: "half done\n"
  - use: {input: 1000, output: 100, cost: 0.01}
  - run: echo 1000 100 0 100 >>$stage/used
  - answer: complete
    summary: the tea has a price

executor implement iteration 2:
  - use: {input: 200, output: 20, cost: 0.002}
  - run: echo 200 20 0 20 >>$stage/used
  - delete: broken
  - wait for: {file: go}
  - delete: go
  - answer: complete
    summary: it was broken, and is not any more

executor implement:
  - delete: broken
  - use: {input: 30, output: 3, cost: 0.0003}
  - run: echo 30 3 0 3 >>$stage/used
  - answer: complete
    summary: mended

executor test:
  - use: {input: 4, output: 1, cache_read: 5, cost: 0.0001}
  - run: echo 4 1 5 1 >>$stage/used
  - answer: complete
    summary: tested
YAML

run "orange project add . --pool-size 2"
run "orange project trust shop --yes"
run "orange new 'Sell green tea' --workflow phased --weight small --harness sim:$stage/agent.yaml"
expect "plan"
run "orange plan show TASK-001"
expect "implement"
expect "all_tests_pass"
run "orange run TASK-001 --dry-run | head -n 30"
expect "iteration 1 of implement"
check "a dry run starts nothing" same "$(status_of TASK-001)" planned

step "It runs. The agent says that it is done; the check says that it is not, and the agent hears why"

run "orange run TASK-001"
expect "planned → running"
hold "the second iteration runs" is .phases.implement.iterations 2
check "the first one has a commit, by Orange" same \
	"$(git log --format=%s -n 1 --skip=0 --reverse main..orange/TASK-001-sell-green-tea | head -n 1)" "[orange] TASK-001: implement - completed"
run "orange why TASK-001"
expect "iteration 2 of 5 of implement"
check "its transcript says what the agent was told" contains \
	"$(orange task path TASK-001 --task)/transcripts/01-implement-002.md" "all_tests_pass did not pass"
run "orange transcript TASK-001 --phase implement --iteration 1 | head -n 6"
expect "# Transcript: TASK-001 / implement / iteration 1"

step "Its executor is killed in the middle of that turn. Nothing of the work and of the cost is lost"

executor=$(figure .executor_pid)
run "kill -9 $executor"
hold "the executor is gone" sh -c "! kill -0 $executor 2>/dev/null"
run "orange why TASK-001"
expect "its executor is gone"
expect "orange resume TASK-001"
run "orange watch --once"
hold "the task is paused" stands paused
run "orange why TASK-001"
expect "paused"
expect "orange resume TASK-001"
check "the slot is free" same "$(orange workspace list | grep -c 'free')" 2
run "orange ls"
expect "paused"

step "Resumed, it goes on with another iteration; the one that was killed uses up none"

run "orange resume TASK-001"
hold "the task is completed" stands completed
run "orange show TASK-001"
expect "completed"
check "implement had three iterations, two of which count" is .phases.implement.iterations 3
check "test had one" is .phases.test.iterations 1
run "git log --format=%s main..orange/TASK-001-sell-green-tea"
expect "implement"

step "A rewind: test and what comes before it again, and the branch where implement was left"

tip=$(git rev-parse orange/TASK-001-sell-green-tea)
run "orange rewind TASK-001 --to test"
expect "goes back to test"
check "it waits for somebody to run it" stands planned
check "the work is where it was: test had changed nothing" same "$(git rev-parse orange/TASK-001-sell-green-tea)" "$tip"
check "test is pending again" is .phases.test.status pending
check "implement is not" is .phases.implement.status completed

step "A skip, instead: a person takes it on themselves"

run "orange skip TASK-001 test --reason 'tested by hand'"
run "orange run TASK-001"
hold "the task is completed" stands completed
check "test was left out" is .phases.test.status skipped

step "What it cost: what the agent told, turn by turn, once each"

printf '  told:    %s\n  counted: %s\n' "$(told "$stage/used")" "$(counted)"
check "the sum is what the agent told" same "$(counted)" "$(told "$stage/used")"

step "Merged like any other task"

run "orange merge TASK-001"
expect "merged into main as"
check "the tea is on main" git cat-file -e main:tea.txt
check "what was broken is not" sh -c '! git cat-file -e main:broken 2>/dev/null'
run "orange ls --all"
expect "finished"

# ---------------------------------------------------------------------------------------------------------------

step "A medium task: its specification is judged before anybody implements it"

cat >"$stage/medium.yaml" <<YAML
executor spec iteration 1:
  - use: {input: 500, output: 50, cost: 0.005}
  - run: echo 500 50 0 50 >>$stage/used-2
  - answer: complete
    summary: what black tea costs
    artifact: |
      ## Problem Statement
      Nobody knows what black tea costs.

executor spec:
  - use: {input: 600, output: 60, cost: 0.006}
  - run: echo 600 60 0 60 >>$stage/used-2
  - answer: complete
    summary: what black tea costs, and how it is seen
    artifact: |
      ## Problem Statement
      Nobody knows what black tea costs.

      ## Success Criteria
      - [ ] tea.txt has a price for it

      ## Scope
      The price list.

      ## Technical Approach
      A line more.

judge:
  - use: {input: 90, output: 9, cost: 0.0009}
  - run: echo 90 9 0 9 >>$stage/used-2
  - say: '{{"decision": "approved", "reason": "it can be checked"}}'

executor implement:
  - append: tea.txt
    text: "black tea 3\n"
  - use: {input: 1000, output: 100, cost: 0.01}
  - run: echo 1000 100 0 100 >>$stage/used-2
  - answer: complete
    summary: black tea has a price

executor review attempt 1:
  - write: reviewed.txt
    text: "the reviewer was here\n"
  - use: {input: 70, output: 7, cost: 0.0007}
  - run: echo 70 7 0 7 >>$stage/used-2
  - answer: complete
    summary: the price is wrong
    findings:
      - {severity: major, file: tea.txt, line: 2, text: Black tea costs 5.}
      - {severity: minor, file: tea.txt, text: The list is not sorted.}

executor review:
  - use: {input: 80, output: 8, cost: 0.0008}
  - run: echo 80 8 0 8 >>$stage/used-2
  - answer: complete
    summary: nothing is left to say

executor test:
  - use: {input: 40, output: 4, cache_read: 5, cost: 0.0004}
  - run: echo 40 4 5 4 >>$stage/used-2
  - answer: complete
    summary: the price is there
YAML
task=TASK-002
run "orange new 'Sell black tea' --workflow phased --weight medium --gate implement=human --harness sim:$stage/medium.yaml --review-harness sim:$stage/medium.yaml"
run "orange run TASK-002"
hold "implement waits for a person" stands blocked
run "orange spec show TASK-002"
expect "## Success Criteria"
check "the first specification was not whole, which its agent was told" is .phases.spec.iterations 2
run "orange transcript TASK-002 --phase spec --iteration 2 | grep -A 4 'did not pass'"
expect "spec_complete did not pass"
check "a judge has approved it" same "$(figure '.gates[0] | [.phase, .gate_type, .approved] | join(" ")')" "spec ai true"
run "orange why TASK-002"
expect "waits at a phase gate"
expect "orange approve TASK-002"

step "Everything is restarted while it waits. Then a person approves"

run "tmux -S ~/tmux kill-server; true"
run "orange watch --once"
check "it waits as before" stands blocked
check "no slot is held" same "$(orange workspace list | grep -c 'free')" 2
run "orange approve TASK-002 --reason 'as I wanted it'"

step "Its review finds something that has to be changed, and implementing begins again"

hold "implement has an attempt more, and waits again" sh -c "[ \"\$(orange task show TASK-002 --json | jq -r .task.execution.phases.implement.attempt,.task.status | tr '\\n' ' ')\" = '2 blocked ' ]"
run "cat '$(orange task path TASK-002 --task)/review.md'"
expect "## Verdict: CHANGES REQUESTED"
expect "Black tea costs 5."
check "what the reviewer wrote is not on the branch" sh -c "! git cat-file -e orange/TASK-002-sell-black-tea:reviewed.txt 2>/dev/null"
run "orange rescue list TASK-002"
expect "1 file"
check "its agent was told of it" contains \
	"$(orange task path TASK-002 --task)/transcripts/02-implement-002.md" "Black tea costs 5."
run "orange approve TASK-002"
hold "the task is completed" stands completed
run "orange show TASK-002"
expect "completed"

step "A rewind of its test, and what all of it cost"

run "orange rewind TASK-002 --to test"
run "orange run TASK-002"
hold "the task is completed again" stands completed
check "test ran twice" is .phases.test.iterations 2
run "orange cost --by phase"
expect "implement"
expect "spec"
run "orange cost --by task"
printf '  told:    %s\n  counted: %s\n' "$(told "$stage/used-2")" "$(counted)"
check "the sum is what the agents told, judges included" same "$(counted)" "$(told "$stage/used-2")"

step "Merged, with a person's word"

run "orange merge TASK-002"
expect "merged into main as"
check "both kinds of tea are on main" same "$(git show main:tea.txt | grep -c tea)" 3

printf '\nThat was the story: %s steps, every one of them checked.\n' "$steps"
