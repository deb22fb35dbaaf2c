//! The table of settings, a row each: from it follow the known keys, what is checked, `config show`, the schema for
//! editors and docs/configuration.md.

use super::harnesses::{HARNESSES, USUAL};
use super::values::{
    above_zero, days, flag, lines_of_text, must_be, one_of, scalar, several_commands, text, time_of,
};
use super::{
    Config, Effort, Fetch, Kind, LogLevel, OnFailure, Permissions, Repository, Setting, agents,
};
use crate::merge::{RemoteBranches, Strategy};
use crate::yaml::Node;

use Repository::{Adds, Fills, No, Says, Tightens};

const HOME: &str = "it is about your own home folder";
const MACHINE: &str = "it is about your own machine";
const MONEY: &str = "it decides what agents spend";
const RUNS: &str = "it decides which programs run";

/// Every setting, in the order in which people are told of them.
pub(super) const TABLE: &[Setting] = &[
    row(
        "agents.harness",
        Kind::Harness,
        (USUAL, HARNESSES[1]),
        No(RUNS),
        "The harness of a task that names none. Which there are: `orange harness list`; none starts no agent.",
        |c, _, n| put(&mut c.agents.harness, agents::name(n)),
    ),
    row(
        "agents.review_harness",
        Kind::Harness,
        ("", USUAL),
        No(RUNS),
        "The harness of reviews. Unless said: claude, or the worker's where that is not installed.",
        |c, _, n| put(&mut c.agents.review_harness, agents::name(n).map(Some)),
    ),
    row(
        "agents.model",
        Kind::Text,
        ("", "opus"),
        No(MONEY),
        "The model of a worker whose task names none, in the words of `agents.harness`. Unless said: that harness's own \
         choice. A task with another harness does not get it.",
        |c, _, n| put(&mut c.agents.model, agents::model(n)),
    ),
    row(
        "agents.review_model",
        Kind::Text,
        ("", "sonnet"),
        No(MONEY),
        "The same for reviewers, in the words of `agents.review_harness`.",
        |c, _, n| put(&mut c.agents.review_model, agents::model(n)),
    ),
    row(
        "agents.effort",
        Kind::OneOf(Effort::WORDS),
        ("", "high"),
        No(MONEY),
        "How hard a worker thinks whose task does not say it. Unless said: the harness's own choice. Which of these a \
         harness accepts: `orange harness list`.",
        |c, _, n| put(&mut c.agents.effort, one_of(n).map(Some)),
    ),
    row(
        "agents.review_effort",
        Kind::OneOf(Effort::WORDS),
        ("", "medium"),
        No(MONEY),
        "The same for reviewers.",
        |c, _, n| put(&mut c.agents.review_effort, one_of(n).map(Some)),
    ),
    row(
        "agents.limit",
        Kind::Count,
        ("10", "4"),
        No(MONEY),
        "Workers that may run at once, over all projects.",
        |c, _, n| put(&mut c.agents.limit, above_zero(n)),
    ),
    row(
        "agents.spawn_on_create",
        Kind::Flag,
        ("true", "false"),
        No(MONEY),
        "Whether a new task is started at once; if not, it waits for `orange task spawn`.",
        |c, _, n| put(&mut c.agents.spawn_on_create, flag(n)),
    ),
    row(
        "agents.permissions",
        Kind::OneOf(Permissions::WORDS),
        ("", "edits"),
        No("it decides what agents may do"),
        "What agents may do without asking, where project and task say nothing else. Unless said, you are asked once.",
        |c, _, n| put(&mut c.agents.permissions, one_of(n).map(Some)),
    ),
    row(
        "agents.project_settings",
        Kind::Flag,
        ("false", "true"),
        No(RUNS),
        "Whether claude loads a project's `.claude` and `.mcp.json`. Then it starts only where you agreed to exactly these \
         files (docs/harnesses.md).",
        |c, _, n| put(&mut c.agents.project_settings, flag(n)),
    ),
    row(
        "agents.go_on",
        Kind::Flag,
        ("true", "false"),
        No(MONEY),
        "Whether an agent goes on by itself after a usage limit or a failure of its model's service.",
        |c, _, n| put(&mut c.agents.go_on, flag(n)),
    ),
    row(
        "agents.retry_delay",
        Kind::Time,
        ("60s", "5m"),
        No(MONEY),
        "How long after such a failure it is told to go on; longer after the next ones.",
        |c, _, n| put(&mut c.agents.retry_delay, time_of(n)),
    ),
    row(
        "agents.start_patience",
        Kind::Time,
        ("20s", "1m"),
        No(MACHINE),
        "An agent that has not begun so long after its start needs attention.",
        |c, _, n| put(&mut c.agents.start_patience, time_of(n)),
    ),
    row(
        "harness.NAME",
        Kind::OwnHarness,
        ("", r#"[my-agent, --ask, "{prompt}"]"#),
        No(RUNS),
        "A harness of your own, called NAME: a command as a list of words, in which `{prompt}` or `{prompt_file}` stands \
         for the prompt; or a mapping with `command` and any of `like`, `one_shot`, `signals`, `interrupt` (docs/agents.md).",
        |c, key, n| {
            let name = agents::own_name(key)?;
            c.harnesses.insert(name, agents::custom(n)?);
            Ok(())
        },
    ),
    row(
        "review.max_rounds",
        Kind::Count,
        ("2", "3"),
        Says,
        "Failed reviews before a task is stuck and needs a person.",
        |c, _, n| put(&mut c.review.max_rounds, above_zero(n)),
    ),
    row(
        "git.branch_template",
        Kind::BranchTemplate,
        ("orange/{key}-{slug}", "work/{slug}"),
        Says,
        "How a task's branch is named after its summary: `{key}`, `{slug}`, `{id}` and `{project}` stand for the task's.",
        |c, _, n| put(&mut c.git.branch_template, branch_template(n)),
    ),
    row(
        "git.fetch",
        Kind::OneOf(Fetch::WORDS),
        ("create", "background"),
        Says,
        "When the remote is asked for news: before a workspace is made ready (create), without waiting for the answer \
         (background), or never.",
        |c, _, n| put(&mut c.git.fetch, one_of(n)),
    ),
    row(
        "merge.strategy",
        Kind::OneOf(Strategy::WORDS),
        ("squash", "rebase"),
        Says,
        "How a task's commits get into the target; `--strategy` of `orange task merge` says otherwise for one.",
        |c, _, n| {
            let word = crate::merge::strategy(scalar(n).unwrap_or_default());
            put(&mut c.merge.strategy, word.map_err(must_be))
        },
    ),
    row(
        "merge.push",
        Kind::Flag,
        ("true", "false"),
        No("it decides what leaves your machine"),
        "Whether a merge pushes the target where there is a remote. If not: only with --push.",
        |c, _, n| put(&mut c.merge.push, flag(n)),
    ),
    row(
        "merge.delete_remote_branch",
        Kind::OneOf(RemoteBranches::WORDS),
        ("own", "never"),
        Fills,
        "Which branches of merged tasks are deleted on the remote: those that Orange pushed (own), always, or never.",
        |c, _, n| put(&mut c.merge.delete_remote_branch, one_of(n)),
    ),
    row(
        "workspace.copy",
        Kind::Patterns,
        ("", r#"[.env, "certs/*.pem"]"#),
        Adds,
        "Ignored files that every workspace gets a copy of, as patterns like those of .gitignore.",
        |c, _, n| put(&mut c.workspace.copy, lines_of_text(n)),
    ),
    row(
        "workspace.setup",
        Kind::Commands,
        ("", "[npm ci]"),
        Adds,
        "Commands that make a workspace ready. A repository's run only after you agreed to them (`orange project trust`).",
        |c, _, n| put(&mut c.workspace.setup, several_commands(n)),
    ),
    row(
        "workspace.teardown",
        Kind::Commands,
        ("", "[docker compose down]"),
        Adds,
        "Commands that run before a workspace is given back. A repository's run only after you agreed to them.",
        |c, _, n| put(&mut c.workspace.teardown, several_commands(n)),
    ),
    row(
        "workspace.timeout",
        Kind::Time,
        ("10m", "30m"),
        Fills,
        "How long each of these commands may take.",
        |c, _, n| put(&mut c.workspace.timeout, time_of(n).map(Some)),
    ),
    row(
        "verify.command",
        Kind::Commands,
        ("", "[make test]"),
        Adds,
        "Commands that check what was handed over (docs/verify.md). A repository's run only after you agreed to them.",
        |c, _, n| put(&mut c.workspace.verify, several_commands(n)),
    ),
    row(
        "verify.timeout",
        Kind::Time,
        ("10m", "1h"),
        Fills,
        "How long each of these commands may take.",
        |c, _, n| put(&mut c.workspace.verify_timeout, time_of(n).map(Some)),
    ),
    row(
        "verify.on_failure",
        Kind::OneOf(OnFailure::WORDS),
        ("return", "warn"),
        Tightens("return"),
        "What becomes of a task whose check fails where its base passes: it goes back to its worker as after a failed \
         review (return), or it moves on and the merge asks you (warn).",
        |c, _, n| put(&mut c.verify.on_failure, one_of(n)),
    ),
    row(
        "list.keep_days",
        Kind::Days,
        ("7", "14"),
        No(HOME),
        "How long a task that is over stays in `orange task list`; `--all` shows older ones.",
        |c, _, n| put(&mut c.list.keep_days, days(n)),
    ),
    row(
        "rescue.keep_days",
        Kind::Days,
        ("30", "90"),
        No(HOME),
        "How long work that was saved before something could destroy it is kept.",
        |c, _, n| put(&mut c.rescue.keep_days, days(n)),
    ),
    row(
        "trash.keep_days",
        Kind::Days,
        ("30", "90"),
        No(HOME),
        "How long deleted tasks are kept and can be restored.",
        |c, _, n| put(&mut c.trash.keep_days, days(n)),
    ),
    row(
        "screens.keep_days",
        Kind::Days,
        ("30", "7"),
        No(HOME),
        "How long the last screens of agents are kept.",
        |c, _, n| put(&mut c.screens.keep_days, days(n)),
    ),
    row(
        "log.level",
        Kind::OneOf(LogLevel::WORDS),
        ("info", "debug"),
        No(HOME),
        "How much is written to orange.log.",
        |c, _, n| put(&mut c.log.level, one_of(n)),
    ),
    row(
        "log.keep_days",
        Kind::Days,
        ("30", "7"),
        No(HOME),
        "How long orange.log is kept.",
        |c, _, n| put(&mut c.log.keep_days, days(n)),
    ),
    row(
        "notify.command",
        Kind::Text,
        ("", r#"notify-send "$ORANGE_NOTIFY_MESSAGE""#),
        No(RUNS),
        "Run with `sh -c` for each thing that needs you.",
        |c, _, n| put(&mut c.notify.command, text(n)),
    ),
    row(
        "monitor.interval",
        Kind::Time,
        ("30s", "2m"),
        No(MACHINE),
        "How often `orange watch` looks for agents that are gone.",
        |c, _, n| put(&mut c.monitor.interval, time_of(n)),
    ),
    row(
        "tmux.server",
        Kind::Text,
        ("", "orange"),
        No(MACHINE),
        "The tmux server for sessions: a name, or the path of a socket. Unless said: your default server.",
        |c, _, n| put(&mut c.tmux.server, text(n)),
    ),
];

/// Their keys.
pub(super) const KEYS: [&str; TABLE.len()] = {
    let mut keys = [""; TABLE.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = TABLE[at].key;
        at += 1;
    }
    keys
};

const fn row(
    key: &'static str,
    kind: Kind,
    (default, example): (&'static str, &'static str),
    repository: Repository,
    about: &'static str,
    set: fn(&mut Config, &str, &Node) -> Result<(), String>,
) -> Setting {
    Setting {
        key,
        kind,
        default,
        example,
        repository,
        about,
        set,
    }
}

fn put<T>(place: &mut T, value: Result<T, String>) -> Result<(), String> {
    *place = value?;
    Ok(())
}

/// Tried at once, so that a mistake is found when it is made.
fn branch_template(node: &Node) -> Result<String, String> {
    let template = scalar(node).ok_or("must be text")?;
    crate::naming::check_template(template).map_err(|error| format!(": {error}"))?;
    Ok(template.to_owned())
}
