//! The table of settings, a row each: from it follow the structs that hold them, the known keys, what is checked,
//! `config show`, the schema for editors and docs/reference/configuration.md.

use super::harnesses::{HARNESSES, REVIEWER};
use super::names::{self, KEYS_START};
use super::plans::{self, OwnPlans};
use super::prices;
use super::values::{
    above_zero, days, dollars, flag, lines_of_text, must_be, one_of, percent, scalar,
    several_commands, several_words, text, time_of, url, words_or_none,
};
use super::{
    CustomHarnesses, Effort, Fetch, GatesConfig, HarnessChange, HarnessChanges, LogLevel,
    OnFailure, Permissions, RepositoryWord, Setting, SettingKind, agents,
};
use crate::keys::{ChosenKeys, KeyAction, check_key};
use crate::merge::{RemoteBranches, Strategy};
use crate::task::{Weight, WorkflowName};
use crate::work::phase_gate::PhaseGateKind;
use crate::work::prices::Prices;
use crate::yaml::Node;
use RepositoryWord::{Adds, Fills, Limited, No, Says, Stricter, Tightens};
use SettingKind::*;
use std::sync::LazyLock;
use std::time::Duration;

/// Declares the settings: a section of them with its struct, and of each setting its key, kind, default and example, whether
/// a repository may say it, the field with its default value, how it is read, and what people are told of it.
macro_rules! settings {
    ($(
        $(#[$meta:meta])*
        $struct:ident $section:ident $(with $more:ident: $more_type:ty)? {$(
            $key:literal => $kind:expr, ($default:expr, $example:expr), $repository:expr,
            $name:ident: $type:ty = $value:expr, read $read:expr, $about:literal;
        )+}
        $(+ $row:expr;)*
    )+) => {
        /// Settings. A missing file, or a missing key, means the default.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Config {
            $(pub $section: $struct,)+
            pub harnesses: CustomHarnesses,
            /// Of those that Orange knows by itself.
            pub harness_changes: HarnessChanges,
            /// Of the dashboard.
            pub keys: ChosenKeys,
            pub gates: GatesConfig,
            pub prices: Prices,
        }

        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq)]
            pub struct $struct {
                $(#[doc = $about] pub $name: $type,)+
                $(pub(super) $more: $more_type,)?
            }

            impl Default for $struct {
                fn default() -> Self {
                    $struct {
                        $($name: $value,)+
                        $($more: <$more_type>::default(),)?
                    }
                }
            }
        )+

        /// Every setting, in the order in which people are told of them.
        pub(super) const TABLE: &[Setting] = &[$(
            $(Setting {
                key: $key,
                kind: $kind,
                default: $default,
                example: $example,
                repository: $repository,
                about: $about,
                set: |config, _, node| {
                    let read: fn(&Node) -> Result<$type, String> = $read;
                    config.$section.$name = read(node)?;
                    Ok(())
                },
            },)+
            $($row,)*
        )+];
    };
}

const HOME: &str = "it is about your own home folder";
const MACHINE: &str = "it is about your own machine";
const MONEY: &str = "it decides what agents spend";
const SCREEN: &str = "it is about your own screen and keyboard";
const RUNS: &str = "it decides which programs run";

/// Its value goes by the name that its key has.
const OWN_HARNESS: Setting = Setting {
    key: "harness.NAME",
    kind: OwnHarness,
    default: "",
    example: r#"[my-agent, --ask, "{prompt}"]"#,
    repository: No(RUNS),
    about: "A harness of your own, called NAME: a command as a list of words, in which `{prompt}` or `{prompt_file}` stands \
         for the prompt; or a mapping with `command` and any of `like`, `one_shot`, `signals`, `interrupt` (docs/agents.md).",
    set: |config, key, node| {
        let name = agents::own_name(key)?;
        config.harnesses.insert(name, agents::custom(node)?);
        Ok(())
    },
};

/// Its value goes by the harness's name, too.
const HARNESS_MODEL: Setting = Setting {
    key: "harness.NAME.model",
    kind: Text,
    default: "",
    example: "opus",
    repository: No(MONEY),
    about: "The model of agents with the harness NAME, one of those that Orange knows, where neither the task nor \
            `agents.model` or `agents.review_model` says one.",
    set: |config, key, node| {
        change_of(config, key)?.model = agents::model(node)?;
        Ok(())
    },
};

const HARNESS_COMMAND: Setting = Setting {
    key: "harness.NAME.command",
    kind: Words,
    default: "",
    example: "[/opt/codex/bin/codex]",
    repository: No(RUNS),
    about: "How the harness NAME, one of those that Orange knows, is started: the program, perhaps with first arguments. \
            Unless said: as it is called, such as `claude`.",
    set: |config, key, node| {
        change_of(config, key)?.command = several_words(node)?;
        Ok(())
    },
};

fn change_of<'c>(config: &'c mut Config, key: &str) -> Result<&'c mut HarnessChange, String> {
    let Some((name, _)) = names::change_of(key) else {
        let known = HARNESSES.join(", ");
        return Err(format!(": write one of {known} for NAME"));
    };
    Ok(config.harness_changes.entry(name.to_owned()).or_default())
}

/// Its value goes by the action whose name its key has.
const OWN_KEY: Setting = Setting {
    key: "dashboard.keys.NAME",
    kind: Key,
    default: "",
    example: "M",
    repository: No(SCREEN),
    about: "The key of the action NAME of the dashboard, such as `merge` or `next` (docs/dashboard.md lists them). Two actions with \
         one key: the default counts for what you chose.",
    set: |config, key, node| {
        let name = key.strip_prefix(KEYS_START).unwrap_or(key);
        let action = KeyAction::changeable(name).ok_or_else(|| {
            ": write the name of an action for NAME, such as dashboard.keys.merge".to_owned()
        })?;
        let chosen = scalar(node).unwrap_or_default();
        check_key(chosen)?;
        config.keys.insert(action, chosen.to_owned());
        Ok(())
    },
};

const SPEC_GATE: Setting = gate(
    "gates.spec",
    "ai",
    "Who decides whether a specification will do: nobody and nothing (skip), its criteria (auto), a model that judges it (ai) or \
     you (human). What the settings say counts before the plan; a weight may have a gate of its own, and a task.",
);
const DESIGN_GATE: Setting = gate("gates.design", "ai", "The same for a design.");
const REVIEW_GATE: Setting = gate("gates.review", "ai", "The same for the review.");
const MERGE_GATE: Setting = gate(
    "gates.merge",
    "human",
    "The same for the merge of a task whose phases are over.",
);
const PHASE_GATE: Setting = gate(
    "gates.PHASE",
    "auto",
    "The same for the phases with the name PHASE. Unless said: what the plan says.",
);
const WEIGHT_GATE: Setting = gate(
    "gates.weight_overrides.WEIGHT.PHASE",
    "",
    "The same for the phases PHASE of tasks of that weight. Unless said, spec and design of large and greenfield, and review of \
     greenfield, are yours to decide.",
);

const fn gate(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        key,
        kind: OneOf(PhaseGateKind::WORDS),
        default,
        example: "human",
        repository: Stricter,
        about,
        set: |config, key, node| config.gates.say(key, node),
    }
}

const PLAN: Setting = Setting {
    key: "weights.plans.WEIGHT",
    kind: Phases,
    default: "",
    example: "[{name: implement, max_iterations: 5}, {name: test}]",
    repository: Limited,
    about: "The phases of tasks of that weight, as a plan has them (docs/reference/configuration.md). A repository's choose \
            neither model nor effort, their gates are only stricter, no phase that is judged or after which you decide is left out or moved, no completion criterion is dropped, and their \
            commands and MCP servers run only after you agreed to them (`orange project trust`).",
    set: plans::say,
};

const PRICE: Setting = Setting {
    key: "prices.MODEL",
    kind: Price,
    default: "",
    example: "{input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}",
    repository: No(MONEY),
    about: "What a million tokens of that model cost in US dollars, for harnesses that tell tokens and no cost: any of `input`, \
            `output`, `cache_read` and `cache_write`. A cost with a price that is not said is a least one (≥).",
    set: prices::say,
};

settings! {
    /// What tasks are.
    TasksConfig tasks {
        "tasks.workflow" => OneOf(WorkflowName::WORDS), ("interactive", "phased"), Says,
            workflow: WorkflowName = WorkflowName::Interactive, read one_of,
            "The workflow of new tasks: an agent in a window with whom you work (interactive), or a plan of phases that is \
             executed (phased). `--workflow` says otherwise for one.";
    }
    /// Who works.
    AgentsConfig agents {
        "agents.harness" => Harness, ("", HARNESSES[1]), No(RUNS),
            harness: Option<String> = None, read |n| agents::name(n).map(Some),
            "The harness of a task that names none. Unless said: the first of `orange harness list` that is installed; none starts \
             no agent.";
        "agents.review_harness" => Harness, ("", REVIEWER), No(RUNS),
            review_harness: Option<String> = None, read |n| agents::name(n).map(Some),
            "The harness of reviews. Unless said: claude, or the worker's where that is not installed.";
        "agents.model" => Text, ("", "opus"), No(MONEY), model: Option<String> = None, read agents::model,
            "The model of a worker whose task names none, in the words of `agents.harness`, or else of the first that is \
             installed. Unless said: that harness's own \
             choice. A task with another harness does not get it.";
        "agents.review_model" => Text, ("", "sonnet"), No(MONEY),
            review_model: Option<String> = None, read agents::model,
            "The same for reviewers, in the words of `agents.review_harness`.";
        "agents.effort" => OneOf(Effort::WORDS), ("", "high"), No(MONEY),
            effort: Option<Effort> = None, read |n| one_of(n).map(Some),
            "How hard a worker thinks whose task does not say it. Unless said: the harness's own choice. Which of these a \
             harness accepts: `orange harness list`.";
        "agents.review_effort" => OneOf(Effort::WORDS), ("", "medium"), No(MONEY),
            review_effort: Option<Effort> = None, read |n| one_of(n).map(Some),
            "The same for reviewers.";
        "agents.limit" => Count, ("10", "4"), No(MONEY), limit: u32 = 10, read above_zero,
            "Workers that may run at once, over all projects.";
        "agents.spawn_on_create" => Flag, ("true", "false"), No(MONEY), spawn_on_create: bool = true, read flag,
            "Whether a new task is started at once; if not, it waits for `orange spawn`.";
        "agents.permissions" => OneOf(Permissions::WORDS), ("", "edits"), No("it decides what agents may do"),
            permissions: Option<Permissions> = None, read |n| one_of(n).map(Some),
            "What agents may do without asking, where project and task say nothing else. Unless said, you are asked once.";
        "agents.project_settings" => Flag, ("false", "true"), No(RUNS), project_settings: bool = false, read flag,
            "Whether claude loads a project's `.claude` and `.mcp.json`. Then it starts only where you agreed to exactly these \
             files (docs/reference/harnesses.md).";
        "agents.go_on" => Flag, ("true", "false"), No(MONEY), go_on: bool = true, read flag,
            "Whether an agent goes on by itself after a usage limit or a failure of its model's service.";
        "agents.retry_delay" => Time, ("60s", "5m"), No(MONEY),
            retry_delay: Duration = Duration::from_secs(60), read time_of,
            "How long after such a failure it is told to go on; longer after the next ones.";
        "agents.start_timeout" => Time, ("20s", "1m"), No(MACHINE),
            start_timeout: Duration = Duration::from_secs(20), read time_of,
            "An agent that has not begun so long after its start needs attention.";
    }
    + OWN_HARNESS;
    + HARNESS_MODEL;
    + HARNESS_COMMAND;
    ReviewConfig review {
        "review.max_rounds" => Count, ("2", "3"), Says, max_rounds: u32 = 2, read above_zero,
            "Failed reviews before a task is stuck and needs a person.";
    }
    GitConfig git {
        "git.branch_template" => BranchTemplate, ("orange/{key}-{slug}", "work/{slug}"), Says,
            branch_template: String = "orange/{key}-{slug}".into(), read branch_template,
            "How a task's branch is named after its summary: `{key}`, `{slug}`, `{id}` and `{project}` stand for the task's.";
        "git.checkpoint_prefix" => Line, ("[orange]", "wip:"), Says,
            checkpoint_prefix: String = "[orange]".into(), read prefix,
            "How the messages of commits begin that Orange makes between the iterations of a phase.";
        "git.fetch" => OneOf(Fetch::WORDS), ("create", "background"), Says, fetch: Fetch = Fetch::Create, read one_of,
            "When the remote is asked for news: before a workspace is made ready (create), without waiting for the answer \
             (background), or never.";
    }
    /// How phases are executed.
    PhasesConfig phases {
        "phases.turn_timeout" => Time, ("10m", "20m"), Says,
            turn_timeout: Duration = Duration::from_secs(600), read time_of,
            "How long one turn of an agent may take where the plan's phase says nothing. A turn that was ended counts as an \
             iteration.";
        "phases.idle_timeout" => Time, ("5m", "10m"), Says,
            idle_timeout: Duration = Duration::from_secs(300), read time_of,
            "A turn that puts nothing out for so long is ended.";
        "phases.timeout" => Time, ("4h", "8h"), Says,
            timeout: Duration = Duration::from_secs(4 * 60 * 60), read time_of,
            "A phase that takes longer has failed.";
        "phases.max_tokens" => Count, ("100000", "200000"), No(MONEY), max_tokens: u32 = 100_000, read above_zero,
            "Uncached input and output of one session; then the next iteration begins a new one with a summary.";
        "phases.retries" => UpTo(MOST_RETRIES), ("5", "2"), Says, retries: u32 = 5, read retries,
            "How often a phase that failed is tried again before the task has failed.";
    }
    /// How much a task is, and which phases follow from it.
    WeightsConfig weights with plans: OwnPlans {
        "weights.default" => OneOf(Weight::WORDS), ("medium", "small"), Says,
            default: Weight = Weight::Medium, read one_of,
            "The weight of a task for which neither a person nor the classification sets one.";
        "weights.allow_override" => Flag, ("true", "false"), Says, allow_override: bool = true, read flag,
            "Whether `--weight` may be said; if not, it is refused.";
    }
    + PLAN;
    + SPEC_GATE;
    + DESIGN_GATE;
    + REVIEW_GATE;
    + MERGE_GATE;
    + PHASE_GATE;
    + WEIGHT_GATE;
    + PRICE;
    /// What agents may cost.
    BudgetConfig budget {
        "budget.task" => Dollars, ("", "3"), No(MONEY),
            task: Option<f64> = None, read |n| dollars(n).map(Some),
            "What one task may cost, in US dollars. A phased task is paused before its next turn once that is spent; one whose agent \
             sits in a window is not stopped (docs/phased.md).";
        "budget.month" => Dollars, ("", "100"), No(MONEY),
            month: Option<f64> = None, read |n| dollars(n).map(Some),
            "What all tasks together may cost in a calendar month, runs of interactive tasks too. Once it is spent, phased tasks are \
             paused and no task starts by itself; the review of an interactive task is part of what a person started, and still begins.";
        "budget.warn_at" => Percent, ("80", "90"), No(MONEY),
            warn_at: u32 = 80, read percent,
            "From how many per cent of a budget on you are warned, once.";
    }
    /// How finished work gets in.
    MergeConfig merge {
        "merge.strategy" => OneOf(Strategy::WORDS), ("squash", "rebase"), Says,
            strategy: Strategy = Strategy::Squash, read strategy,
            "How a task's commits get into the target; `--strategy` of `orange merge` says otherwise for one.";
        "merge.push" => Flag, ("true", "false"), No("it decides what leaves your machine"),
            push: bool = true, read flag,
            "Whether a merge pushes the target where there is a remote. If not: only with --push.";
        "merge.delete_branch" => Flag, ("true", "false"), Fills, delete_branch: bool = true, read flag,
            "Whether the branch that Orange made for a task is deleted here once it is merged. It is saved as a rescue first \
             (docs/reference/merging.md).";
        "merge.delete_remote_branch" => OneOf(RemoteBranches::WORDS), ("own", "never"), Fills,
            delete_remote_branch: RemoteBranches = RemoteBranches::Own, read one_of,
            "Which branches of merged tasks are deleted on the remote: those that Orange pushed (own), always, or never.";
    }
    /// How many workspaces there may be.
    PoolConfig pool {
        "workspace.pool_size" => Count, ("5", "8"), No(MACHINE), size: u32 = 5, read above_zero,
            "How many workspaces a new project may have at once; each is made when it is first needed. Of a project that is \
             there: `orange project update NAME --pool-size N`.";
    }
    /// What a workspace gets besides the checkout, and how its work is checked. A repository may say this too, in
    /// `.orange/config.yaml`.
    WorkspaceConfig workspace {
        "workspace.copy" => Patterns, ("", r#"[.env, "certs/*.pem"]"#), Adds,
            copy: Vec<String> = Vec::new(), read lines_of_text,
            "Ignored files that every workspace gets a copy of, as patterns like those of .gitignore.";
        "workspace.setup" => Commands, ("", "[npm ci]"), Adds, setup: Vec<String> = Vec::new(), read several_commands,
            "Commands that make a workspace ready. A repository's run only after you agreed to them (`orange project trust`).";
        "workspace.teardown" => Commands, ("", "[docker compose down]"), Adds,
            teardown: Vec<String> = Vec::new(), read several_commands,
            "Commands that run before a workspace is given back. A repository's run only after you agreed to them.";
        "workspace.timeout" => Time, ("10m", "30m"), Fills,
            timeout: Option<Duration> = None, read |n| time_of(n).map(Some),
            "How long each of these commands may take.";
        "verify.command" => Commands, ("", "[make test]"), Adds,
            verify: Vec<String> = Vec::new(), read several_commands,
            "Commands that check what was handed over (docs/reviewing.md). A repository's run only after you agreed to them.";
        "verify.lint" => Commands, ("", "[make lint]"), Adds, lint: Vec<String> = Vec::new(), read several_commands,
            "Commands that pass where a phase has left no lint errors (`no_lint_errors`). A repository's run only after you \
             agreed to them.";
        "verify.coverage" => Commands, ("", "[make coverage]"), Adds, coverage: Vec<String> = Vec::new(), read several_commands,
            "Commands that measure how much the tests cover (`coverage_above`): the last percentage they print counts. A \
             repository's run only after you agreed to them.";
        "verify.timeout" => Time, ("10m", "1h"), Fills,
            verify_timeout: Option<Duration> = None, read |n| time_of(n).map(Some),
            "How long each of these commands may take.";
    }
    /// What follows from a check of handed-over work.
    VerifyConfig verify {
        "verify.on_failure" => OneOf(OnFailure::WORDS), ("return", "warn"), Tightens("return"),
            on_failure: OnFailure = OnFailure::Return, read one_of,
            "What becomes of a task whose check fails where its base passes: it goes back to its worker as after a failed \
             review (return), or it moves on and the merge asks you (warn).";
    }
    PromptsConfig prompts {
        "prompts.directory" => Folder, (".orange/prompts", "tools/prompts"), Says,
            directory: String = crate::prompt::FOLDER.into(), read folder,
            "Where a repository has prompts of its own: a folder in it, read as it is committed where work starts from. What is not \
             there is looked for in `.orange/prompts`.";
    }
    McpConfig mcp {
        "mcp.playwright" => Words, ("npx @playwright/mcp@0.0.83", "[npx, \"@playwright/mcp@0.0.83\", --browser, firefox]"), No(RUNS),
            playwright: Vec<String> = ["npx", "@playwright/mcp@0.0.83"].map(str::to_owned).to_vec(), read words_or_none,
            "The MCP server that drives a browser: agents of phased tasks with `--ui-testing` get it in the phases implement, test \
             and validate, where their harness takes MCP servers. `[]`: none.";
    }
    ListConfig list {
        "list.keep_days" => Days, ("7", "14"), No(HOME), keep_days: u32 = 7, read days,
            "How long a task that is over stays in `orange ls`; `--all` shows older ones.";
    }
    RescueConfig rescue {
        "rescue.keep_days" => Days, ("30", "90"), No(HOME), keep_days: u32 = 30, read days,
            "How long work that was saved before something could destroy it is kept.";
    }
    TrashConfig trash {
        "trash.keep_days" => Days, ("30", "90"), No(HOME), keep_days: u32 = 30, read days,
            "How long deleted tasks are kept and can be restored.";
    }
    ScreensConfig screens {
        "screens.keep_days" => Days, ("30", "7"), No(HOME), keep_days: u32 = 30, read days,
            "How long the last screens of agents are kept.";
    }
    LogConfig log {
        "log.level" => OneOf(LogLevel::WORDS), ("info", "debug"), No(HOME),
            level: LogLevel = LogLevel::Info, read one_of,
            "How much is written to orange.log.";
        "log.keep_days" => Days, ("30", "7"), No(HOME), keep_days: u32 = 30, read days,
            "How long orange.log is kept.";
    }
    NotifyConfig notify {
        "notify.command" => Text, ("", r#"notify-send "$ORANGE_NOTIFY_MESSAGE""#), No(RUNS),
            command: Option<String> = None, read text,
            "Run with `sh -c` for each thing that needs you.";
        "notify.webhook" => Url, ("", "https://example.org/orange"), No("it decides what leaves your machine"),
            webhook: Option<String> = None, read url,
            "A URL that is told of each thing that needs you: a POST with JSON (docs/many-tasks.md).";
        "notify.webhook_secret" => Secret, ("", "what only you and the receiver know"), No("it is yours"),
            webhook_secret: Option<String> = None, read text,
            "With it each POST is signed (HMAC-SHA256 of its body), so that the receiver knows that it is yours.";
    }
    /// How the dashboard looks and is used.
    DashboardConfig dashboard {
        "dashboard.mouse" => Flag, ("true", "false"), No(SCREEN), mouse: bool = true, read flag,
            "Whether a click and the wheel mean something in the dashboard; if not, they are the terminal's, as with `--no-mouse`.";
        "dashboard.ascii" => Flag, ("false", "true"), No(SCREEN), ascii: bool = false, read flag,
            "Whether the dashboard is drawn with ASCII characters only, as with `--ascii`.";
    }
    + OWN_KEY;
    MonitorConfig monitor {
        "monitor.interval" => Time, ("30s", "2m"), No(MACHINE),
            interval: Duration = Duration::from_secs(30), read time_of,
            "How often `orange watch` looks for agents that are gone.";
    }
    TmuxConfig tmux {
        "tmux.server" => Text, ("", "orange"), No(MACHINE), server: Option<String> = None, read text,
            "The tmux server for sessions: a name, or the path of a socket. Unless said: your default server.";
    }
}

pub(super) static KEYS: LazyLock<Vec<&str>> =
    LazyLock::new(|| TABLE.iter().map(|setting| setting.key).collect());

fn strategy(node: &Node) -> Result<Strategy, String> {
    crate::merge::strategy(scalar(node).unwrap_or_default()).map_err(must_be)
}

const MOST_RETRIES: u32 = 100;

fn retries(node: &Node) -> Result<u32, String> {
    let number = scalar(node).and_then(|text| text.parse().ok());
    number
        .filter(|number| *number <= MOST_RETRIES)
        .ok_or_else(|| format!("must be a whole number from 0 to {MOST_RETRIES}"))
}

const LONGEST_PREFIX: usize = 60;

fn prefix(node: &Node) -> Result<String, String> {
    let text = scalar(node).map(str::trim).unwrap_or_default();
    let is_line = !text.is_empty() && text.len() <= LONGEST_PREFIX;
    if is_line && !text.chars().any(char::is_control) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "must be a line of text, not longer than {LONGEST_PREFIX} bytes"
        ))
    }
}

/// A folder inside a repository, as git names it.
fn folder(node: &Node) -> Result<String, String> {
    let wanted = "must be a folder inside the repository, such as tools/prompts";
    let text = scalar(node).ok_or(wanted)?;
    let text = text.trim().trim_end_matches('/');
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_part = |part: &str| {
        let is_special = matches!(part, "" | "." | "..") || part.eq_ignore_ascii_case(".git");
        !is_special && !part.chars().any(char::is_control)
    };
    if text.len() <= LONGEST_FOLDER && text.split('/').all(is_part) {
        Ok(text.to_owned())
    } else {
        Err(wanted.to_owned())
    }
}

const LONGEST_FOLDER: usize = 500;

/// Tried at once, so that a mistake is found when it is made.
fn branch_template(node: &Node) -> Result<String, String> {
    let template = scalar(node).ok_or("must be text")?;
    crate::naming::check_template(template).map_err(|error| format!(": {error}"))?;
    Ok(template.to_owned())
}
