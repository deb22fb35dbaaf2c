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
use Kind::*;
use Repository::{Adds, Fills, No, Says, Tightens};

/// A row: key, kind, default and example, whether a repository may say it, where the value goes and how it is read, and
/// what people are told of it.
macro_rules! setting {
    ($key:literal => $kind:expr, $examples:expr, $repository:expr, $section:ident.$name:ident = $read:expr, $about:literal) => {
        row(
            $key,
            $kind,
            $examples,
            $repository,
            $about,
            |config, _, node| {
                let read: fn(&Node) -> Result<_, String> = $read;
                config.$section.$name = read(node)?;
                Ok(())
            },
        )
    };
}

const HOME: &str = "it is about your own home folder";
const MACHINE: &str = "it is about your own machine";
const MONEY: &str = "it decides what agents spend";
const RUNS: &str = "it decides which programs run";

/// Every setting, in the order in which people are told of them.
pub(super) const TABLE: &[Setting] = &[
    setting!("agents.harness" => Harness, (USUAL, HARNESSES[1]), No(RUNS),
        agents.harness = agents::name,
        "The harness of a task that names none. Which there are: `orange harness list`; none starts no agent."),
    setting!("agents.review_harness" => Harness, ("", USUAL), No(RUNS),
        agents.review_harness = |n| agents::name(n).map(Some),
        "The harness of reviews. Unless said: claude, or the worker's where that is not installed."),
    setting!("agents.model" => Text, ("", "opus"), No(MONEY), agents.model = agents::model,
        "The model of a worker whose task names none, in the words of `agents.harness`. Unless said: that harness's own \
         choice. A task with another harness does not get it."),
    setting!("agents.review_model" => Text, ("", "sonnet"), No(MONEY),
        agents.review_model = agents::model,
        "The same for reviewers, in the words of `agents.review_harness`."),
    setting!("agents.effort" => OneOf(Effort::WORDS), ("", "high"), No(MONEY),
        agents.effort = |n| one_of(n).map(Some),
        "How hard a worker thinks whose task does not say it. Unless said: the harness's own choice. Which of these a \
         harness accepts: `orange harness list`."),
    setting!("agents.review_effort" => OneOf(Effort::WORDS), ("", "medium"), No(MONEY),
        agents.review_effort = |n| one_of(n).map(Some),
        "The same for reviewers."),
    setting!("agents.limit" => Count, ("10", "4"), No(MONEY), agents.limit = above_zero,
        "Workers that may run at once, over all projects."),
    setting!("agents.spawn_on_create" => Flag, ("true", "false"), No(MONEY),
        agents.spawn_on_create = flag,
        "Whether a new task is started at once; if not, it waits for `orange task spawn`."),
    setting!("agents.permissions" => OneOf(Permissions::WORDS), ("", "edits"), No("it decides what agents may do"),
        agents.permissions = |n| one_of(n).map(Some),
        "What agents may do without asking, where project and task say nothing else. Unless said, you are asked once."),
    setting!("agents.project_settings" => Flag, ("false", "true"), No(RUNS),
        agents.project_settings = flag,
        "Whether claude loads a project's `.claude` and `.mcp.json`. Then it starts only where you agreed to exactly these \
         files (docs/harnesses.md)."),
    setting!("agents.go_on" => Flag, ("true", "false"), No(MONEY), agents.go_on = flag,
        "Whether an agent goes on by itself after a usage limit or a failure of its model's service."),
    setting!("agents.retry_delay" => Time, ("60s", "5m"), No(MONEY), agents.retry_delay = time_of,
        "How long after such a failure it is told to go on; longer after the next ones."),
    setting!("agents.start_patience" => Time, ("20s", "1m"), No(MACHINE),
        agents.start_patience = time_of,
        "An agent that has not begun so long after its start needs attention."),
    row(
        "harness.NAME",
        OwnHarness,
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
    setting!("review.max_rounds" => Count, ("2", "3"), Says, review.max_rounds = above_zero,
        "Failed reviews before a task is stuck and needs a person."),
    setting!("git.branch_template" => BranchTemplate, ("orange/{key}-{slug}", "work/{slug}"), Says,
        git.branch_template = branch_template,
        "How a task's branch is named after its summary: `{key}`, `{slug}`, `{id}` and `{project}` stand for the task's."),
    setting!("git.fetch" => OneOf(Fetch::WORDS), ("create", "background"), Says, git.fetch = one_of,
        "When the remote is asked for news: before a workspace is made ready (create), without waiting for the answer \
         (background), or never."),
    row(
        "merge.strategy",
        OneOf(Strategy::WORDS),
        ("squash", "rebase"),
        Says,
        "How a task's commits get into the target; `--strategy` of `orange task merge` says otherwise for one.",
        |c, _, n| {
            let word = crate::merge::strategy(scalar(n).unwrap_or_default());
            c.merge.strategy = word.map_err(must_be)?;
            Ok(())
        },
    ),
    setting!("merge.push" => Flag, ("true", "false"), No("it decides what leaves your machine"),
        merge.push = flag,
        "Whether a merge pushes the target where there is a remote. If not: only with --push."),
    setting!("merge.delete_remote_branch" => OneOf(RemoteBranches::WORDS), ("own", "never"), Fills,
        merge.delete_remote_branch = one_of,
        "Which branches of merged tasks are deleted on the remote: those that Orange pushed (own), always, or never."),
    setting!("workspace.copy" => Patterns, ("", r#"[.env, "certs/*.pem"]"#), Adds,
        workspace.copy = lines_of_text,
        "Ignored files that every workspace gets a copy of, as patterns like those of .gitignore."),
    setting!("workspace.setup" => Commands, ("", "[npm ci]"), Adds,
        workspace.setup = several_commands,
        "Commands that make a workspace ready. A repository's run only after you agreed to them (`orange project trust`)."),
    setting!("workspace.teardown" => Commands, ("", "[docker compose down]"), Adds,
        workspace.teardown = several_commands,
        "Commands that run before a workspace is given back. A repository's run only after you agreed to them."),
    setting!("workspace.timeout" => Time, ("10m", "30m"), Fills,
        workspace.timeout = |n| time_of(n).map(Some),
        "How long each of these commands may take."),
    setting!("verify.command" => Commands, ("", "[make test]"), Adds,
        workspace.verify = several_commands,
        "Commands that check what was handed over (docs/verify.md). A repository's run only after you agreed to them."),
    setting!("verify.timeout" => Time, ("10m", "1h"), Fills,
        workspace.verify_timeout = |n| time_of(n).map(Some),
        "How long each of these commands may take."),
    setting!("verify.on_failure" => OneOf(OnFailure::WORDS), ("return", "warn"), Tightens("return"),
        verify.on_failure = one_of,
        "What becomes of a task whose check fails where its base passes: it goes back to its worker as after a failed \
         review (return), or it moves on and the merge asks you (warn)."),
    setting!("list.keep_days" => Days, ("7", "14"), No(HOME), list.keep_days = days,
        "How long a task that is over stays in `orange task list`; `--all` shows older ones."),
    setting!("rescue.keep_days" => Days, ("30", "90"), No(HOME), rescue.keep_days = days,
        "How long work that was saved before something could destroy it is kept."),
    setting!("trash.keep_days" => Days, ("30", "90"), No(HOME), trash.keep_days = days,
        "How long deleted tasks are kept and can be restored."),
    setting!("screens.keep_days" => Days, ("30", "7"), No(HOME), screens.keep_days = days,
        "How long the last screens of agents are kept."),
    setting!("log.level" => OneOf(LogLevel::WORDS), ("info", "debug"), No(HOME), log.level = one_of,
        "How much is written to orange.log."),
    setting!("log.keep_days" => Days, ("30", "7"), No(HOME), log.keep_days = days,
        "How long orange.log is kept."),
    setting!("notify.command" => Text, ("", r#"notify-send "$ORANGE_NOTIFY_MESSAGE""#), No(RUNS),
        notify.command = text,
        "Run with `sh -c` for each thing that needs you."),
    setting!("monitor.interval" => Time, ("30s", "2m"), No(MACHINE), monitor.interval = time_of,
        "How often `orange watch` looks for agents that are gone."),
    setting!("tmux.server" => Text, ("", "orange"), No(MACHINE), tmux.server = text,
        "The tmux server for sessions: a name, or the path of a socket. Unless said: your default server."),
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

/// Tried at once, so that a mistake is found when it is made.
fn branch_template(node: &Node) -> Result<String, String> {
    let template = scalar(node).ok_or("must be text")?;
    crate::naming::check_template(template).map_err(|error| format!(": {error}"))?;
    Ok(template.to_owned())
}
