//! Claude Code: hooks in a settings file of the run's own say what it does, so the user's settings stay as they are.

mod dialogs;
mod headless;
mod limits;
mod login;
mod mcp;
mod project_files;
mod questions;
mod sources;
mod status;
mod transcript;
mod watching;

use super::kind::{HarnessFacts, HarnessKind};
use super::model::ModelChoice;
use super::probe::{Login, Probe, Version};
use super::supports::{ALL_MODES, Supports};
use super::watch::{HarnessWatch, Watched};
use super::words::without_invisible;
use super::{Occasion, Prepared};
use crate::error::Result;
use crate::headless::{HeadlessStart, TurnRequest, text_of};
use crate::runs::{IN_ITS_WINDOW, RunFolder, Signal, SignalKind, Subject};
use limits::{limit_in, with_limit};
use orange_core::config::{Effort, Permissions};
use orange_core::naming::shell_word;
use questions::ASKS_WORDS;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The settings of one run.
const SETTINGS: &str = "claude.json";

/// What it says of itself, with how long the hook may take. Only a question waits for a person.
const HOOKS: &[(&str, u32)] = &[
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("PreToolUse", 10),
    ("PostToolUse", 10),
    ("PostToolUseFailure", 10),
    ("PermissionRequest", 24 * 60 * 60),
    ("Stop", 10),
    ("StopFailure", 10),
];

/// Hooks that nothing waits for.
const IN_BACKGROUND: &[&str] = &["PreToolUse", "PostToolUse", "PostToolUseFailure"];

/// Variables of a claude around us that would make a new one take itself for a part of it.
const CLEARED: &[&str] = &[
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_EXECPATH",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_PID",
];

const FACTS: &HarnessFacts = &HarnessFacts {
    name: "claude",
    program: "claude",
    install: Some("npm install -g @anthropic-ai/claude-code"),
    adapter: "claude",
    supports: Supports {
        signals: Some("hooks"),
        delivery: "typed and confirmed",
        resume: true,
        permissions: Some(ALL_MODES),
        remembers: true,
        usage: Some("tokens and cost"),
        headless: true,
        usage_limits: true,
        model: true,
        effort: EFFORTS,
    },
    arguments: None,
    project_files: Some(project_files::LOADED),
    queues_messages: true,
    takes_mcp_servers: true,
    oldest: Some((
        Version(2, 1, 78),
        "its hooks tell of a turn that failed (StopFailure)",
    )),
    variables: &["ANTHROPIC_", "CLAUDE_"],
    cleared: CLEARED,
    ..HarnessFacts::TYPED
};

#[derive(Debug)]
pub(super) struct Claude;

impl HarnessKind for Claude {
    fn facts(&self) -> &'static HarnessFacts {
        FACTS
    }

    fn prepare(&self, occasion: &Occasion<'_>, _own: &[String]) -> Result<Prepared> {
        let settings = occasion.folder.join(SETTINGS).display().to_string();
        let mut arguments: Vec<String> = match occasion.permissions {
            Permissions::Full => vec!["--dangerously-skip-permissions".into()],
            Permissions::Edits => vec!["--permission-mode".into(), "acceptEdits".into()],
            Permissions::Ask => vec!["--permission-mode".into(), "default".into()],
        };
        let sources = sources::sources(
            occasion.worktree,
            occasion.environment,
            occasion.user_home,
            occasion.project_settings,
        );
        arguments.extend(sources.arguments);
        arguments.extend(["--settings".into(), settings]);
        arguments.extend(choice_arguments(occasion.choice));
        let conversation = occasion.conversation;
        arguments.extend(conversation.arguments("--session-id", "--resume"));
        arguments.extend(["--".into(), "{prompt}".into()]);
        let answers = dialogs::answers(occasion);
        let mut environment = answers.environment;
        environment.extend(sources.environment);
        environment.extend(own_environment(occasion.choice, occasion.permissions));
        Ok(Prepared {
            arguments,
            environment,
            withheld: answers.withheld,
            files: vec![(SETTINGS, settings_of(occasion, answers.settings))],
            ..Prepared::default()
        })
    }

    /// Where a draft is aside already, what stands in the line goes with the message: that loses nothing.
    fn stash_keys(&self, screen: &str) -> &'static [&'static str] {
        if screen.contains(STASHED) {
            &[]
        } else {
            &[STASH]
        }
    }

    /// White space in front does not help: `/help` is a command nevertheless. And of characters that nobody sees some would
    /// have to be looked at by a person, and none arrives.
    fn as_words(&self, text: &str) -> String {
        let text = without_invisible(text);
        if text.trim_start().starts_with(['/', '!']) {
            format!("Message: {text}")
        } else {
            text
        }
    }

    /// Notes what a hook reports; a question waits for its answer.
    fn take_report(
        &self,
        folder: &RunFolder,
        report: &Value,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Result<Option<String>> {
        let Some(signal) = signal(report).map(with_limit) else {
            return Ok(None);
        };
        if let Some(question) = questions::question(report, &signal.text) {
            folder.ask(&question, signal)?;
            let mut dialog = questions::Dialog::new(&own_folder(variable), report);
            let answer = folder.wait_for_answer(&question, || dialog.answered())?;
            return Ok(answer.map(|answer| questions::reply(&question, &answer)));
        }
        let has_run = ["PostToolUse", "PostToolUseFailure"].map(Value::from);
        if report
            .get("hook_event_name")
            .is_some_and(|event| has_run.contains(event))
        {
            let open = folder.questions();
            for question in open
                .iter()
                .filter(|question| questions::settles(report, question))
            {
                folder.settle(&question.id, SignalKind::Working, IN_ITS_WINDOW)?;
            }
        }
        folder.give_signal(&signal)?;
        Ok(None)
    }

    fn subject<'v>(&self, tool: &str, input: &'v Value) -> Option<Subject<'v>> {
        questions::subject(tool, input)
    }

    fn hooks_program(&self, run: &Path) -> Option<String> {
        let settings: Value = serde_json::from_slice(&fs::read(run.join(SETTINGS)).ok()?).ok()?;
        let command = settings.pointer("/hooks/SessionStart/0/hooks/0/command")?;
        let (program, _) = command.as_str()?.strip_prefix('\'')?.split_once("' ")?;
        Some(program.replace("'\\''", "'"))
    }

    fn watch(&self, run: &Watched<'_>) -> Option<Box<dyn HarnessWatch>> {
        let is_own = run.spec.adapter.name() == FACTS.name;
        is_own.then(|| Box::new(watching::Watching::new(run)) as Box<dyn HarnessWatch>)
    }

    fn headless(&self, request: &TurnRequest, world: &Probe<'_>) -> Option<Result<HeadlessStart>> {
        Some(headless::way(request, world))
    }

    fn login(&self, probe: &Probe<'_>, program: &Path) -> Login {
        login::login(probe, program)
    }

    fn credentials(&self, probe: &Probe<'_>) -> Option<Vec<PathBuf>> {
        probe.credentials("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json")
    }

    fn note(&self, probe: &Probe<'_>) -> Option<String> {
        let (file, settings) = probe.settings("CLAUDE_CONFIG_DIR", ".claude")?;
        let off = settings.get("disableAllHooks") == Some(&Value::Bool(true));
        off.then(|| {
            format!(
                "disableAllHooks is set in {}; for its agents Orange's settings overrule it, and your own hooks run too",
                file.display()
            )
        })
    }
}

/// Puts aside what a person has typed and not sent. Once something else is sent, claude puts it back by itself.
const STASH: &str = "C-s";

/// What its screen says while something is put aside. There is room for one: another would take its place.
const STASHED: &str = "› stashed";

/// What `--effort` accepts; claude ignores any other word.
const EFFORTS: &[Effort] = &[
    Effort::Low,
    Effort::Medium,
    Effort::High,
    Effort::Xhigh,
    Effort::Max,
];

/// Model and effort, as claude takes them with and without a terminal.
fn choice_arguments(choice: &ModelChoice) -> Vec<String> {
    choice.arguments("--model", "--effort")
}

/// Variables that claude needs with and without a terminal.
fn own_environment(
    choice: &ModelChoice,
    permissions: Permissions,
) -> impl Iterator<Item = (String, String)> {
    // One that the user has set for every claude would overrule `--effort`.
    let effort = choice
        .effort
        .clone()
        .map(|effort| ("CLAUDE_CODE_EFFORT_LEVEL", effort));
    // It refuses to work for root without questions, unless it is told that this is meant.
    let is_meant = permissions == Permissions::Full && rustix::process::geteuid().is_root();
    let sandbox = is_meant.then(|| ("IS_SANDBOX", "1".to_owned()));
    let variables = effort.into_iter().chain(sandbox);
    variables.map(|(name, value)| (name.to_owned(), value))
}

fn settings_of(occasion: &Occasion<'_>, answers: serde_json::Map<String, Value>) -> String {
    let command = format!(
        "{} signal --from claude --run {}",
        shell_word(&occasion.orange.display().to_string()),
        occasion.run
    );
    let hook = |(event, timeout): &(&str, u32)| {
        let background = IN_BACKGROUND.contains(event);
        let mut hook = json!({"type": "command", "command": command, "timeout": timeout});
        if background {
            hook["async"] = Value::Bool(true);
        }
        ((*event).to_owned(), json!([{"hooks": [hook]}]))
    };
    let hooks: serde_json::Map<String, Value> = HOOKS.iter().map(hook).collect();
    let mut settings = json!({
        // The person answered this by registering the project and choosing the mode.
        "skipDangerousModePermissionPrompt": occasion.permissions == Permissions::Full,
        "hooks": hooks,
        // A user who has switched off hooks of their own would silence ours.
        "disableAllHooks": false,
        "autoContinueAtUsageLimit": occasion.go_on,
        "permissions": {
            // TASK.md is a link that leads there, and a long prompt is read from here.
            "additionalDirectories": [occasion.task_folder, occasion.folder],
            "allow": allowed(occasion),
            "ask": asked_all_the_same(occasion.permissions),
            "deny": DENIED,
        },
    });
    if let Value::Object(settings) = &mut settings {
        settings.extend(answers);
    }
    settings.to_string()
}

/// Denied in every mode. It looks at what a command begins with; what gets past it meets the fence.
const DENIED: &[&str] = &[
    "Bash(git push:*)",
    "Bash(git send-pack:*)",
    "Bash(gh pr comment:*)",
    "Bash(gh pr create:*)",
    "Bash(gh pr edit:*)",
    "Bash(gh pr close:*)",
    "Bash(gh pr merge:*)",
    "Bash(gh pr review:*)",
    "Bash(gh issue comment:*)",
    "Bash(gh issue create:*)",
    "Bash(gh issue edit:*)",
    "Bash(gh issue close:*)",
    "Bash(gh release create:*)",
];

/// What the workflow itself needs, and in `edits` what goes with editing.
fn allowed(occasion: &Occasion<'_>) -> Vec<String> {
    let file = occasion.task_folder.join("TASK.md");
    let folder = occasion.task_folder.display();
    let workflow = [
        "orange task",
        "orange prompt",
        "orange workflow",
        "orange ls",
    ];
    let editing = [
        "git status",
        "git diff",
        "git log",
        "git show",
        "git add",
        "git commit",
    ];
    let commands: &[&str] = match occasion.permissions {
        Permissions::Full => return Vec::new(),
        Permissions::Edits => &editing,
        Permissions::Ask => &[],
    };
    let commands = workflow.iter().chain(commands);
    let mut rules: Vec<String> = commands.map(|words| format!("Bash({words}:*)")).collect();
    rules.extend([
        // Both slashes: a path of the whole disk.
        format!("Edit(/{})", file.display()),
        format!("Read(/{folder}/**)"),
        "Edit(./TASK.md)".to_owned(),
        "Edit(./ORANGE_TASK.md)".to_owned(),
    ]);
    rules
}

/// Commands of Orange that start others, and those of git that write although they look.
fn asked_all_the_same(mode: Permissions) -> &'static [&'static str] {
    match mode {
        Permissions::Full => &[],
        Permissions::Edits | Permissions::Ask => &[
            "Bash(orange task exec:*)",
            "Bash(orange task open:*)",
            "Bash(orange task shell:*)",
            "Bash(git * --ou*)",
            "Bash(git * --ext-d*)",
        ],
    }
}

/// Claude's own folder: a hook has the environment of its agent.
fn own_folder(variable: &dyn Fn(&str) -> Option<OsString>) -> PathBuf {
    let folder = |name| variable(name).filter(|folder| !folder.is_empty());
    let named = folder("CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let usual = || folder("HOME").map(|home| PathBuf::from(home).join(".claude"));
    named.or_else(usual).unwrap_or_default()
}

/// What a hook's report means; None for what says nothing new.
fn signal(report: &Value) -> Option<Signal> {
    let text = |name: &str| text_of(report, name);
    let said = |name: &str| text(name).unwrap_or_default().to_owned();
    let mut signal = Signal::now(SignalKind::Working);
    signal.conversation = text("session_id").map(str::to_owned);
    match text("hook_event_name")? {
        // The same conversation, made shorter in the middle of its work.
        "SessionStart" if text("source") == Some("compact") => return None,
        "SessionStart" => {
            signal.signal = SignalKind::SessionStarted;
            signal.transcript = text("transcript_path").map(str::to_owned);
        }
        "UserPromptSubmit" => {
            signal.signal = SignalKind::PromptTaken;
            signal.text = said("prompt");
        }
        // A part of the work goes on in the background, and is reported.
        "Stop" if has_background_tasks(report) => {}
        "Stop" => {
            signal.signal = SignalKind::TurnDone;
            signal.text = said("last_assistant_message");
        }
        "StopFailure" => {
            signal.signal = SignalKind::TurnFailed;
            signal.text = said("last_assistant_message");
            signal.error = text("error").map(str::to_owned);
            if signal.error.as_deref() == Some("rate_limit") {
                signal.until = text("transcript_path").and_then(|path| limit_in(Path::new(path)));
            }
        }
        "PermissionRequest" => {
            let tool = text("tool_name").unwrap_or("a tool");
            let input = report.get("tool_input").unwrap_or(&Value::Null);
            signal.signal = match tool {
                ASKS_WORDS => SignalKind::InputAsked,
                _ => SignalKind::PermissionAsked,
            };
            signal.text = asked(tool, input);
        }
        // A tool runs: the agent is at work.
        "PreToolUse" | "PostToolUse" | "PostToolUseFailure" => {}
        _ => return None,
    }
    Some(signal)
}

fn has_background_tasks(report: &Value) -> bool {
    let tasks = report.get("background_tasks").and_then(Value::as_array);
    tasks.is_some_and(|tasks| !tasks.is_empty())
}

/// What a person is asked, in one line.
fn asked(tool: &str, input: &Value) -> String {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    if tool == ASKS_WORDS {
        // `Which colour? (red, blue)`
        let texts =
            questions::asked_in(input)
                .into_iter()
                .map(|asked| match asked.options.as_slice() {
                    [] => asked.question,
                    options => format!("{} ({})", asked.question, options.join(", ")),
                });
        return texts.collect::<Vec<_>>().join(" / ");
    }
    let what = ["command", "file_path", "url", "pattern"];
    match what.into_iter().find_map(field) {
        Some(what) => format!("{tool}: {what}"),
        None => format!("{tool}: {input}"),
    }
}
