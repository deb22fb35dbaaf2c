//! A machine on which Orange runs real agents: they talk to a scripted model, and nobody has answered their dialogs.

use crate::agents::Agents;
use crate::cli::{claude_env, pi_env};
use crate::env::TestTask;
use crate::model::{Model, Step, say, shell};
use serde_json::{Value, json};
use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

/// What the user's own settings say. Nothing of it is Orange's to change.
const CLAUDE_SETTINGS: &str = r#"{"theme":"dark"}"#;

pub(crate) struct World {
    pub(crate) model: Model,
    agents: Agents,
}

impl Deref for World {
    type Target = Agents;
    fn deref(&self) -> &Agents {
        &self.agents
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Agents {
        &mut self.agents
    }
}

impl World {
    pub(crate) fn new() -> World {
        World::configured("")
    }

    /// With more in config.yaml.
    pub(crate) fn configured(more: &str) -> World {
        let model = Model::start();
        let mut agents = Agents::configured(more);
        let home = agents.root().join("home");
        let mut variables = pi_env(&model, &home);
        variables.extend(claude_env(&model, &home, &agents.shop()));
        for (name, value) in variables {
            agents.set(&name, value);
        }
        // Orange has to say by itself that root means it.
        agents.unset("IS_SANDBOX");
        agents.set("LC_ALL", "C.UTF-8");
        // Somebody who has used claude before, but neither here nor without its questions.
        let known = json!({"hasCompletedOnboarding": true}).to_string();
        agents.write("home/.claude/.claude.json", known);
        agents.write("home/.claude/settings.json", CLAUDE_SETTINGS);
        let usual = json!({"defaultProvider": "scripted-anthropic", "defaultModel": "scripted"});
        agents.write("home/.pi/agent/settings.json", usual.to_string());
        World { model, agents }
    }

    /// A new task for a harness, reviewed by another.
    pub(crate) fn task(&self, worker: &str, reviewer: &str, summary: &str) -> TestTask {
        let agents = ["--harness", worker, "--review-harness", reviewer];
        self.create([&["it", summary], &agents[..]].concat())
    }

    /// A new task of a repository whose own prompt for workers ends so.
    pub(crate) fn task_with_prompt(&self, harness: &str, end: &str) -> TestTask {
        let folder = self.shop().join(".orange/prompts");
        fs::create_dir_all(&folder).unwrap();
        let text = format!("Task {{key}}: {{summary}}\n\n{end}");
        fs::write(folder.join("worker.md"), text).unwrap();
        self.git(&self.shop(), &["add", "."]);
        self.git(&self.shop(), &["commit", "-q", "-m", "prompt"]);
        let branch = format!("long-{}", end.len());
        self.create([&branch, "Read it", "--harness", harness])
    }

    /// The process of the newest agent of a role.
    pub(crate) fn agent(&self, task: &TestTask, role: &str) -> u32 {
        let beside = self.run_agent(task, role);
        let children = fs::read_to_string(format!("/proc/{beside}/task/{beside}/children"));
        let children = children.unwrap();
        children.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// The prompt that the newest run of a role was started with.
    pub(crate) fn prompt(&self, task: &TestTask, role: &str) -> String {
        fs::read_to_string(self.run_folder(task, role).join("prompt.md")).unwrap()
    }

    /// Waits until the model has been asked something by an agent that was told exactly this.
    #[track_caller]
    pub(crate) fn until_heard(&self, text: &str) {
        self.until(&format!("the model hears {text:?}"), || {
            self.model.heard(text) > 0
        });
    }

    /// The window of the newest run of a role.
    pub(crate) fn pane(&self, task: &TestTask, role: &str) -> String {
        let text = fs::read_to_string(self.run_folder(task, role).join("pane.json")).unwrap();
        let pane: Value = serde_json::from_str(&text).unwrap();
        pane["pane"].as_str().unwrap().to_owned()
    }

    pub(crate) fn screen(&self, task: &TestTask, role: &str) -> String {
        let pane = self.pane(task, role);
        let output = self.tmux(&["capture-pane", "-p", "-t", &pane]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The user's own settings are as they were, and nothing is trusted for ever.
    #[track_caller]
    pub(crate) fn assert_settings_untouched(&self) {
        let folder = self.root().join("home/.claude");
        let settings = fs::read_to_string(folder.join("settings.json")).unwrap();
        assert_eq!(settings, CLAUDE_SETTINGS);
        let known = fs::read_to_string(folder.join(".claude.json")).unwrap();
        assert!(
            !known.contains("\"hasTrustDialogAccepted\":true"),
            "{known}"
        );
        let known: Value = serde_json::from_str(&known).unwrap();
        assert_ne!(known["bypassPermissionsModeAccepted"], true, "{known}");
    }

    /// A file that steps of the model wait for.
    pub(crate) fn gate(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }
}

/// The other of the two.
pub(crate) fn other(harness: &str) -> &'static str {
    match harness {
        "claude" => "pi",
        _ => "claude",
    }
}

/// Adds a section to TASK.md, then runs a command of Orange.
fn section(text: &str, command: &str) -> Step {
    shell(&format!("printf '\\n{text}\\n' >> TASK.md && {command}"))
}

/// The plan, and the move to working.
pub(crate) fn plan() -> Step {
    section(
        "## Plan\\n\\nAPPROACH: straight ahead\\nTOUCHING: greeting.txt",
        "orange task update --status working",
    )
}

/// A change, committed.
pub(crate) fn commit(text: &str) -> Step {
    shell(&format!(
        "echo '{text}' >> greeting.txt && git add greeting.txt && git commit -q -m '{text}'"
    ))
}

/// The handoff, and the move to review.
pub(crate) fn handoff() -> Step {
    section("## Handoff\\n\\nDONE: all of it", "orange task complete")
}

/// A worker's whole way to the review.
pub(crate) fn worker(text: &str) -> [Step; 4] {
    [plan(), commit(text), handoff(), say("Handed over.")]
}

/// What a worker does when it is told of a finding or a wish.
pub(crate) fn fix(text: &str) -> [Step; 3] {
    [commit(text), handoff(), say("Fixed.")]
}

/// A reviewer's whole way to its verdict.
pub(crate) fn review(verdict: &str) -> [Step; 2] {
    let status = match verdict {
        "PASS" => "reviewing",
        _ => "working",
    };
    let text = format!("## Review\\n\\nVerdict: {verdict}\\n\\ngreeting.txt:1 was read");
    let move_on = format!("orange task update --status {status}");
    [section(&text, &move_on), say("Judged.")]
}
