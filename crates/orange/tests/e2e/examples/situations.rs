//! How things stand when an example is typed. Examples speak of TASK-001 in the project `shop`, in whose repository they
//! are typed: unless a row below says otherwise, it waits for a person's decision, with its worker alive.

use super::tree::Example;
use super::world::{How, World};

/// One way that things can stand.
pub(crate) struct Situation {
    pub(crate) name: &'static str,
    /// Words of the examples that need it.
    pub(crate) of: &'static [&'static str],
    /// What happened before.
    before: &'static str,
    /// What an example shows and cannot know, and what prints what it is here.
    stand_ins: &'static [(&'static str, &'static str)],
}

/// What every example finds in the repository.
const REPOSITORY: &str = "\
printf 'test:\\n\\ttrue\\n' >Makefile
git add Makefile && git commit -q -m 'a test'
git branch their-branch && git worktree add -q ../theirs their-branch
echo theirs >../theirs/theirs.txt && git -C ../theirs add . && git -C ../theirs commit -q -m theirs
git worktree remove ../theirs
echo 'what to think of' | tee notes.md prompt.md >prompt.txt
orange sim --show-default >mine.yaml
mkdir -p ~/.local/share/bash-completion/completions
echo 'in the middle of something' >>README.md
";

/// A report of two tests, of which one fails.
pub(crate) const TEST_REPORT: &str = "\
printf '%s\\n' '{\"suites\": [{\"name\": \"Login Flow\", \"tests\": [' >report.json
printf '%s\\n' '{\"name\": \"should log in\", \"status\": \"passed\", \"duration\": 40},' >>report.json
printf '%s\\n' '{\"name\": \"should show an error\", \"status\": \"failed\", \"error\": \"there is none\"}]}]}' >>report.json";

/// Everything that names no other.
pub(crate) const USUAL: Situation = Situation {
    name: "reviewing",
    of: &[],
    before: "\
orange new 'Add a login form'
orange wait TASK-001 --for reviewing
orange new 'Log out' --blocked-by TASK-001
orange new 'Fix the menu' --blocked-by TASK-002",
    stand_ins: &[],
};

/// The first that an example has words of is its own.
pub(crate) const SITUATIONS: &[Situation] = &[
    Situation {
        name: "demo",
        of: &["orange demo"],
        before: "",
        stand_ins: &[("orange demo", "echo orange demo --speed fast")],
    },
    Situation {
        name: "pending",
        of: &["orange spawn", "--status planning", "run --ready"],
        before: "\
orange new 'Add a login form' --no-spawn
orange new 'Log out' --no-spawn",
        stand_ins: &[],
    },
    Situation {
        name: "planned",
        of: &["--status working "],
        before: "\
orange new 'Add a login form' --harness none
printf '\\n## Plan\\n\\nAPPROACH: a form\\n' >>\"$(orange path TASK-001)/TASK.md\"",
        stand_ins: &[],
    },
    Situation {
        name: "working",
        of: &["orange complete", "orange stuck"],
        before: "\
orange new 'Add a login form' --harness none --review-harness none
cd \"$(orange path TASK-001)\"
printf '\\n## Plan\\n\\nAPPROACH: a form\\n' >>TASK.md
orange update --status working
printf '\\n## Handoff\\n\\nDONE: a form\\n' >>TASK.md
cd -",
        stand_ins: &[],
    },
    Situation {
        name: "agent-review",
        of: &["--role reviewer"],
        before: "\
{ sed '/^reviewer:/,$d' mine.yaml; printf 'reviewer:\\n  - wait for: {message: true}\\n'; } >../slow.yaml
orange new 'Add a login form' --review-harness \"sim:$(realpath ../slow.yaml)\"
until orange show TASK-001 --json | grep -q '\"status\":\"agent-review\"'; do sleep 0.05; done
until orange peek TASK-001 --role reviewer; do sleep 0.05; done",
        stand_ins: &[],
    },
    Situation {
        name: "over",
        of: &["--from TASK-001", "orange delete"],
        before: "\
orange new 'Add a login form' --harness none
echo work >\"$(orange path TASK-001)/login.txt\"
orange new 'Add a menu' --harness none
orange cancel TASK-001 TASK-002 --yes",
        stand_ins: &[],
    },
    Situation {
        name: "rescued",
        of: &["orange rescue"],
        before: "\
orange new 'Add a login form' --harness none
saved TASK-001 2026-11-15 11:38:20 login.txt",
        stand_ins: &[],
    },
    Situation {
        name: "asked for words",
        of: &["orange answer TASK-001 \"the blue one\""],
        before: "\
cat >../asks <<'END'
#!/bin/sh
orange signal prompt-taken --text-file \"$1\"
orange signal input-asked --text 'which colour?' --wait
exec cat
END
chmod +x ../asks
printf 'harness:\\n  mine:\\n    command: [%s, \"{prompt_file}\"]\\n    signals: true\\n' \"$(realpath ../asks)\" >>~/orange/config.yaml
orange new 'Add a login form' --harness mine
until orange answer TASK-001; do sleep 0.05; done",
        stand_ins: &[],
    },
    Situation {
        name: "asked for a command",
        of: &["--always"],
        before: "\
printf 'harness:\\n  mine:\\n    command: [asking, npm test]\\n    like: claude\\n' >>~/orange/config.yaml
orange new 'Add a login form' --harness mine --permissions ask
until orange answer TASK-001; do sleep 0.05; done",
        stand_ins: &[],
    },
    Situation {
        name: "allowed for good",
        of: &["orange permissions"],
        before: "\
printf 'harness:\\n  mine:\\n    command: [asking, npm test, make]\\n    like: claude\\n' >>~/orange/config.yaml
orange new 'Add a login form' --harness mine --permissions ask
until orange answer TASK-001 --always; do sleep 0.05; done
until orange answer TASK-001 | grep -q make; do sleep 0.05; done
orange answer TASK-001 --always",
        stand_ins: &[],
    },
    Situation {
        name: "asked for permission",
        of: &["orange answer"],
        before: "\
printf 'worker:\\n  - ask permission: May I deploy?\\n  - wait for: {file: never}\\n' >../asks.yaml
orange new 'Add a login form' --harness \"sim:$(realpath ../asks.yaml)\"
until orange answer TASK-001; do sleep 0.05; done",
        stand_ins: &[(
            "4f1c09ab27de",
            "orange answer TASK-001 | sed -n 's/.*--question \\([^ ]*\\).*/\\1/p'",
        )],
    },
    Situation {
        name: "crashed",
        of: &["orange respawn"],
        before: "\
printf 'worker:\\n  - crash\\nworker attempt 2:\\n  - wait for: {file: never}\\n' >../crashes.yaml
orange new 'Add a login form' --harness \"sim:$(realpath ../crashes.yaml)\"
orange wait TASK-001 --for needs-me",
        stand_ins: &[],
    },
    Situation {
        name: "deleted",
        of: &["orange restore"],
        before: "\
orange new 'Add a login form' --harness none
orange cancel TASK-001 --yes
orange delete TASK-001 --yes",
        stand_ins: &[],
    },
    Situation {
        name: "another repository",
        of: &["project add ~/code/shop"],
        before: "\
orange project remove shop
git clone -q . ~/code/shop",
        stand_ins: &[],
    },
    Situation {
        name: "a repository that moved",
        of: &["--path ~/new/place/shop"],
        before: "\
cd .. && mkdir -p ~/new/place && mv shop ~/new/place/shop
ln -s ~/new/place/shop shop && cd shop",
        stand_ins: &[],
    },
    Situation {
        name: "no task",
        of: &["project remove"],
        before: "",
        stand_ins: &[],
    },
    Situation {
        name: "commands of a repository",
        of: &["project trust"],
        before: "\
mkdir .orange && printf 'verify:\\n  command: make test\\n' >.orange/config.yaml
git add .orange && git commit -q -m 'what is checked'",
        stand_ins: &[],
    },
    Situation {
        name: "checks",
        of: &["orange verify"],
        before: "\
mkdir .orange && printf 'verify:\\n  command: make test\\n' >.orange/config.yaml
git add .orange && git commit -q -m 'what is checked'
orange project trust shop --yes
orange new 'Add a login form'
orange wait TASK-001 --for reviewing",
        stand_ins: &[],
    },
    Situation {
        name: "in an agent's hook",
        of: &["orange signal"],
        before: "\
orange new 'Add a login form'
orange wait TASK-001 --for reviewing",
        stand_ins: &[
            // As an agent's environment has it.
            (
                "orange signal",
                "echo ORANGE_RUN_ID=$(basename ~/orange/runs/*) orange signal",
            ),
            // Somebody has to answer.
            (
                "--wait",
                "echo '--wait & until orange answer TASK-001 --deny; do sleep 0.05; done; wait $!'",
            ),
        ],
    },
    Situation {
        name: "a phase runs",
        of: &["orange pause"],
        before: "\
printf 'executor:\\n  - wait for: {file: never}\\n' >../waits.yaml
orange new 'Add a login form' --workflow phased --weight small --harness \"sim:$(realpath ../waits.yaml)\"
orange run TASK-001
until orange transcript TASK-001; do sleep 0.05; done",
        stand_ins: &[],
    },
    Situation {
        name: "paused",
        of: &["orange resume"],
        before: "\
printf 'executor:\\n  - wait for: {file: never}\\n' >../waits.yaml
orange new 'Add a login form' --workflow phased --weight small --harness \"sim:$(realpath ../waits.yaml)\"
orange run TASK-001
orange pause TASK-001",
        stand_ins: &[],
    },
    Situation {
        name: "a phase failed",
        of: &["orange retry"],
        before: "\
printf 'phases:\\n  retries: 0\\n' >>~/orange/config.yaml
printf 'executor:\\n  - answer: continue\\n' >../never.yaml
orange new 'Add a login form' --workflow phased --weight trivial --harness \"sim:$(realpath ../never.yaml)\"
orange run TASK-001
orange wait TASK-001 --for needs-me",
        stand_ins: &[],
    },
    Situation {
        name: "at a phase gate",
        of: &["orange approve", "orange reject"],
        before: "\
orange new 'Add a login form' --workflow phased --weight trivial --gate implement=human
orange run TASK-001
orange wait TASK-001 --for needs-me",
        stand_ins: &[],
    },
    Situation {
        name: "phases are over",
        of: &["orange rewind", "orange transcript"],
        before: "\
printf 'executor:\\n  - answer: complete\\nexecutor implement iteration 1:\\n  - answer: continue\\n' >../twice.yaml
orange new 'Add a login form' --workflow phased --weight small --harness \"sim:$(realpath ../twice.yaml)\"
orange run TASK-001
orange wait TASK-001 --for needs-me",
        stand_ins: &[],
    },
    Situation {
        name: "specifications",
        of: &["orange spec ", "--spec "],
        before: "\
printf '## Problem Statement\\n\\nNobody can log in.\\n' >spec.md
orange new 'Add a login form' --workflow phased --weight large --spec spec.md
orange new 'Log out' --workflow phased --weight large",
        stand_ins: &[],
    },
    Situation {
        name: "tests were run",
        of: &["orange test-results"],
        before: "\
orange new 'Add a login form' --no-spawn
printf '{\"suites\": [{\"name\": \"Login Flow\", \"tests\": [{\"name\": \"should log in\", \"status\": \"passed\"}]}]}' >report.json
mkdir test-results && cp report.json test-results
orange test-results import TASK-001 report.json",
        stand_ins: &[],
    },
    Situation {
        name: "phases to come",
        of: &["orange run TASK", "orange plan", "orange skip", "--gate ", "TASK-003 --weight"],
        before: "\
orange new 'Add a login form' --workflow phased --weight large
orange new 'Log out' --workflow phased --weight large
orange new 'Fix the menu' --workflow phased --weight medium",
        stand_ins: &[],
    },
];

impl Situation {
    pub(crate) fn find(example: &Example) -> &'static Situation {
        // So that a row can ask for the end of a line too.
        let line = format!("{} ", example.line);
        let mut rows = SITUATIONS.iter();
        rows.find(|row| row.of.iter().any(|words| line.contains(words)))
            .unwrap_or(&USUAL)
    }

    /// A machine on which this is so.
    pub(crate) fn world(&self) -> World {
        let mut world = World::new();
        world.prepare(REPOSITORY);
        world.prepare(self.before);
        world
    }

    /// The line with what it cannot know.
    pub(crate) fn fill_in(&self, world: &mut World, line: &str) -> String {
        let mut line = line.to_owned();
        // What other shells take in is printed at least.
        for (theirs, here) in [
            ("source <(orange completions zsh)", "orange completions zsh"),
            ("| source", "| grep -q ."),
        ] {
            line = line.replace(theirs, here);
        }
        for (shown, command) in self.stand_ins {
            if line.contains(shown) {
                let said = world.run(command, How::Plain);
                line = line.replace(shown, said.text.trim());
            }
        }
        line
    }
}
