//! What is said to somebody who asks for what cannot be: every such answer in one snapshot, and one tone in all.
//!
//! `INSTA_UPDATE=always cargo nextest run -p orange --test e2e refusals` writes it anew; read what changed.

use crate::env::TestEnvironment;
use insta::assert_snapshot;

/// Typed beside a task that is pending and has no agent, in the project `shop`.
const TYPED: &[&str] = &[
    "task answer TASK-001 --allow",
    "task attach TASK-001",
    "task complete TASK-001",
    "task create --from TASK-001",
    "task create their-branch 'Look at it' --status reviewing",
    "task deps TASK-009",
    "task diff TASK-001",
    "task exec TASK-001 -- true",
    "task list --project nowhere",
    "task merge TASK-001",
    "task path TASK-001",
    "task peek TASK-001",
    "task request-changes TASK-001 larger",
    "task rescue restore TASK-001 latest",
    "task rescue show TASK-001",
    "task resolve TASK-001 --message done",
    "task respawn TASK-001",
    "task restore TASK-009",
    "task send TASK-001 hello",
    "task stuck TASK-001",
    "task update TASK-001 --branch",
    "task update TASK-001 --status reviewing",
    "task verify TASK-001",
    "task wait TASK-001 --for done --timeout 0",
    "project add nowhere",
    "project remove nowhere",
    "project trust nowhere",
    "project update nowhere --pool-size 2",
    "workspace init --project nowhere",
    "config get merge.strategi",
    "config set merge.strategy quick",
    "config set nothing.like.it 1",
    "headless --harness none hello",
    "log --since never",
    "log --task TASK-009",
    "prompt show worker --task TASK-009",
    "search --project nowhere login",
    "status --format '{needs}'",
    "run",
    "man nothing",
    "completions tcsh",
];

#[test]
fn what_cannot_be_is_said_in_one_tone() {
    let env = TestEnvironment::new();
    env.create(["login", "Add a login form"]);
    let mut all = String::new();
    for line in TYPED {
        let words = line.split(' ').map(|word| word.trim_matches('\''));
        let words: Vec<&str> = words.collect();
        let said = env.orange(words.iter().copied());
        assert!(matches!(said.code, 1..=4), "{line}: {said}");
        all.push_str(&format!("$ orange {line}\n{said}\n\n"));
        check_tone(line, &said.stderr);
    }
    assert_snapshot!(all);
}

/// Lower case, no exclamation marks, and outside of quotes and backticks no name of the machine.
fn check_tone(line: &str, said: &str) {
    let errors = said.lines().filter_map(|line| line.strip_prefix("error: "));
    for message in errors {
        let first = message.split(' ').next().unwrap_or_default();
        let is_name = first.starts_with("TASK-");
        let is_capital = first.starts_with(|letter: char| letter.is_uppercase());
        assert!(is_name || !is_capital, "{line}: {message}");
        assert!(!message.contains('!'), "{line}: {message}");
        let prose: String = message.split(['`', '"', '\'']).step_by(2).collect();
        assert!(!prose.contains('_'), "{line}: {message}");
    }
}
