//! Real agents that ask: what they ask is shown, answered from the command line or in their window, and never let through
//! by itself.

use crate::cli::{PI_ANTHROPIC, Place, Variables, claude_env, pi_env};
use crate::model::{Model, edit, say, shell, tool, write};
use crate::shown::shown;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// Generous: only a test that fails waits so long.
const CEILING: Duration = Duration::from_secs(60);

const SUMMARY: &str = "Paint the shop";

#[derive(Clone, Copy, PartialEq)]
enum Cli {
    Claude,
    Pi,
}

/// One task of one agent, with a person at the command line.
struct Desk {
    model: Model,
    place: Place,
    variables: Variables,
}

impl Desk {
    /// A task in which the agent does these steps; then it is idle.
    fn new(cli: Cli, mode: &str, steps: impl IntoIterator<Item = crate::model::Step>) -> Desk {
        let (model, place) = (Model::start(), Place::new());
        let mut variables = match cli {
            Cli::Claude => claude_env(&model, &place.home(), &place.repository()),
            Cli::Pi => pi_env(&model, &place.home()),
        };
        variables.remove("IS_SANDBOX");
        let home = place.home().join("orange");
        fs::create_dir_all(&home).unwrap();
        let name = if cli == Cli::Pi { "pi" } else { "claude" };
        let config = format!(
            "tmux:\n  server: {}\nagents:\n  harness: {name}\n  review_harness: none\ngit:\n  fetch: never\n",
            home.join("tmux").display()
        );
        fs::write(home.join("config.yaml"), config).unwrap();
        variables.insert("ORANGE_HOME".into(), home.into());
        if cli == Cli::Pi {
            let (provider, model) = PI_ANTHROPIC.split_once('/').unwrap();
            let settings = json!({"defaultProvider": provider, "defaultModel": model});
            let file = place.home().join(".pi/agent/settings.json");
            fs::write(file, settings.to_string()).unwrap();
        }
        model.when(SUMMARY, steps);
        let desk = Desk {
            model,
            place,
            variables,
        };
        for words in [
            &["config", "user.name", "x"][..],
            &["config", "user.email", "x@y"],
            &["commit", "-q", "--allow-empty", "-m", "one"],
        ] {
            assert!(desk.command("git").args(words).status().unwrap().success());
        }
        desk.orange(&["project", "add", ".", "--permissions", mode]);
        desk.orange(&["task", "create", "paint", SUMMARY]);
        desk
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(&self.variables)
            .current_dir(self.place.repository());
        command
    }

    fn try_orange(&self, words: &[&str]) -> (bool, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_orange"));
        let output = command.args(words).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text).into_owned();
        (output.status.success(), text)
    }

    #[track_caller]
    fn orange(&self, words: &[&str]) -> String {
        let (well, text) = self.try_orange(words);
        assert!(well, "orange {words:?}\n{text}");
        text
    }

    fn task(&self) -> Value {
        let text = self.orange(&["task", "show", "TASK-001", "--json"]);
        // What there is to say besides stands below it.
        let line = text.lines().next().unwrap();
        serde_json::from_str::<Value>(line).unwrap()["task"].take()
    }

    fn attention(&self) -> String {
        let task = self.task();
        task["attention"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + CEILING;
        while !holds() {
            let seen = || {
                let screen = self.try_orange(&["task", "peek", "TASK-001"]).1;
                format!(
                    "{screen}\n{}",
                    self.try_orange(&["task", "show", "TASK-001"]).1
                )
            };
            assert!(
                Instant::now() < deadline,
                "waited in vain for: {what}\n{}",
                seen()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    #[track_caller]
    fn until_asked(&self, what: &str) {
        self.until(what, || self.attention().contains(what));
    }

    /// How often a person was asked.
    fn asked(&self) -> usize {
        let shown = self.orange(&["task", "show", "TASK-001", "--history", "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let events = shown["task"]["history"].as_array().unwrap();
        let raised = |event: &&Value| event["type"] == "attention.raised";
        events.iter().filter(raised).count()
    }

    /// How often a person was asked for this.
    fn asked_for(&self, what: &str) -> usize {
        let shown = self.orange(&["task", "show", "TASK-001", "--history", "--json"]);
        let shown: Value = serde_json::from_str(&shown).unwrap();
        let events = shown["task"]["history"].as_array().unwrap();
        let is_it = |event: &&Value| {
            let reason = event["reason"].as_str().unwrap_or_default();
            event["type"] == "attention.raised"
                && event["question"].is_string()
                && reason.contains(what)
        };
        events.iter().filter(is_it).count()
    }

    fn screen(&self) -> String {
        self.orange(&["task", "peek", "TASK-001"])
    }

    fn press(&self, key: &str) {
        let socket = self.place.home().join("orange/tmux");
        let mut tmux = self.command("tmux");
        let pane = self.task()["agents"][0]["pane"]
            .as_str()
            .unwrap()
            .to_owned();
        let pressed = tmux
            .arg("-S")
            .arg(socket)
            .args(["send-keys", "-t", &pane, key]);
        assert!(pressed.status().unwrap().success());
    }

    fn file(&self, name: &str) -> PathBuf {
        let slot = self.orange(&["task", "path", "TASK-001"]);
        PathBuf::from(slot.trim()).join(name)
    }

    /// Was the model told this?
    fn told(&self, words: &str) -> bool {
        let requests = self.model.requests();
        requests
            .iter()
            .any(|request| request.body.to_string().contains(words))
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let socket = self.place.home().join("orange/tmux");
        let mut tmux = self.command("tmux");
        let _ = tmux.arg("-S").arg(socket).arg("kill-server").output();
    }
}

fn answered_from_the_command_line(cli: Cli) {
    let steps = [
        shell("touch one.txt"),
        shell("touch two.txt"),
        say("That is all."),
    ];
    let desk = Desk::new(cli, "ask", steps);
    desk.until_asked("touch one.txt");
    let (listed, why) = (
        desk.orange(&["ls"]),
        desk.orange(&["task", "why", "TASK-001"]),
    );
    assert!(listed.contains("asks permission"), "{listed}");
    assert!(why.contains("asks permission"), "{why}");
    assert!(why.contains("orange answer TASK-001"), "{why}");
    assert!(!desk.file("one.txt").exists());
    desk.orange(&["task", "answer", "TASK-001", "--allow"]);
    desk.until("the file is made", || desk.file("one.txt").exists());
    desk.until_asked("touch two.txt");
    desk.orange(&[
        "task",
        "answer",
        "TASK-001",
        "--deny",
        "--message",
        "one is enough",
    ]);
    desk.until("the model hears why", || desk.told("one is enough"));
    desk.until("nothing is asked", || !desk.attention().contains("asks"));
    assert!(!desk.file("two.txt").exists());
}

#[test]
fn claude_is_answered_from_the_command_line() {
    answered_from_the_command_line(Cli::Claude);
    shown("claude", "permission-asked");
}

#[test]
fn pi_is_answered_from_the_command_line() {
    answered_from_the_command_line(Cli::Pi);
    shown("pi", "permission-asked");
}

impl Desk {
    /// The settings of the user, of the agent and of the repository, by name. Not what the agent notes of its conversations.
    fn settings(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let slot = self.file(".");
        let mut open = vec![self.place.home(), self.place.repository(), slot];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let (path, name) = (entry.path(), entry.file_name());
                let name = name.to_string_lossy().into_owned();
                let is_own = path.starts_with(self.place.home().join("orange"));
                let is_agents = ["settings", "models", "auth", "keybindings", "trust"];
                if entry.file_type().unwrap().is_dir() && name != ".git" && !is_own {
                    open.push(path);
                } else if is_agents.iter().any(|part| name.contains(part)) {
                    found.insert(path.clone(), fs::read_to_string(&path).unwrap_or_default());
                }
            }
        }
        found
    }

    /// What claude remembers by itself of tools that were allowed.
    fn remembered_by_claude(&self) -> Vec<Value> {
        let file = self.place.home().join(".claude/.claude.json");
        let known: Value = match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text).unwrap(),
            Err(_) => return Vec::new(),
        };
        let projects = known["projects"].as_object().cloned().unwrap_or_default();
        let tools = projects
            .values()
            .filter_map(|project| project["allowedTools"].as_array());
        tools.flatten().cloned().collect()
    }
}

/// Asked once, then never again for the same, until the rule is removed; and nothing of it in the agent's own settings.
fn remembered(cli: Cli) {
    let steps = [
        shell("touch one.txt"),
        shell("rm one.txt"),
        shell("touch one.txt"),
        shell("touch two.txt"),
        say("That is all."),
    ];
    let desk = Desk::new(cli, "ask", steps);
    desk.until_asked("touch one.txt");
    let before = desk.settings();
    assert!(!before.is_empty());
    let said = desk.orange(&["task", "answer", "TASK-001", "--always"]);
    assert!(said.contains("orange permissions remove 1"), "{said}");
    desk.until_asked("rm one.txt");
    assert!(desk.file("one.txt").exists());
    desk.orange(&["task", "answer", "TASK-001", "--allow"]);
    // The same command again is not asked for, another one is.
    desk.until_asked("touch two.txt");
    assert!(desk.file("one.txt").exists());
    assert_eq!(desk.asked_for("touch one.txt"), 1);
    let history = desk.orange(&["task", "show", "TASK-001", "--history", "--json"]);
    assert!(history.contains("allowed by rule 1: "), "{history}");
    desk.orange(&["task", "answer", "TASK-001", "--deny"]);
    desk.until("its turn is over", || {
        !desk.attention().contains("asks") && desk.told("touch two.txt")
    });
    assert_eq!(desk.settings(), before);
    assert_eq!(desk.remembered_by_claude(), [Value::Null; 0]);

    desk.orange(&["permissions", "remove", "1"]);
    desk.model
        .when("Go on now", [shell("touch one.txt"), say("That is all.")]);
    desk.orange(&["task", "send", "TASK-001", "Go on now"]);
    desk.until_asked("touch one.txt");
    assert_eq!(desk.asked_for("touch one.txt"), 2);
    desk.orange(&["task", "answer", "TASK-001", "--deny"]);
}

#[test]
fn claude_does_not_ask_again_for_what_was_allowed_for_good() {
    remembered(Cli::Claude);
    shown("claude", "permission-remembered");
}

#[test]
fn pi_does_not_ask_again_for_what_was_allowed_for_good() {
    remembered(Cli::Pi);
    shown("pi", "permission-remembered");
}

/// What is told just after an answer arrives, and is known to have arrived.
fn told_after_an_answer(cli: Cli) {
    let desk = Desk::new(cli, "ask", [shell("touch one.txt"), say("That is all.")]);
    desk.until_asked("touch one.txt");
    desk.orange(&["task", "answer", "TASK-001", "--deny"]);
    desk.orange(&["task", "send", "TASK-001", "and what now?"]);
    desk.until("the model hears it", || desk.told("and what now?"));
    let count = |kind: &str| {
        let shown = desk.orange(&["task", "show", "TASK-001", "--history", "--json"]);
        let shown = shown.replace("\": \"", "\":\"");
        shown.matches(&format!("\"type\":\"{kind}\"")).count()
    };
    desk.until("every message is known to have arrived", || {
        let sent = count("message");
        sent > 0 && sent == count("message.delivered")
    });
    assert_eq!(count("message.failed"), 0);
}

#[test]
fn claude_is_told_after_an_answer() {
    told_after_an_answer(Cli::Claude);
}

#[test]
fn pi_is_told_after_an_answer() {
    told_after_an_answer(Cli::Pi);
}

fn answered_in_the_window(cli: Cli, shows: &str, key: &str) {
    let desk = Desk::new(cli, "ask", [shell("touch one.txt"), say("That is all.")]);
    desk.until_asked("touch one.txt");
    desk.until("the dialog is shown", || desk.screen().contains(shows));
    desk.press(key);
    desk.until("the file is made", || desk.file("one.txt").exists());
    desk.until("it is known as answered", || {
        !desk.attention().contains("asks")
    });
    let (well, said) = desk.try_orange(&["task", "answer", "TASK-001", "--allow"]);
    assert!(!well && said.contains("asks anything"), "{said}");
}

#[test]
fn claude_is_answered_in_its_window() {
    answered_in_the_window(Cli::Claude, "1. Yes", "1");
}

#[test]
fn pi_is_answered_in_its_window() {
    answered_in_the_window(Cli::Pi, "Deny", "Enter");
}

/// A command that looks like one that needs no question, and is none.
fn asked_in_disguise(cli: Cli, mode: &str, command: &str) {
    let desk = Desk::new(cli, mode, [shell(command), say("That is all.")]);
    desk.until_asked("asks permission");
    assert!(!desk.file("made").exists());
}

#[test]
fn pi_asks_before_a_command_that_runs_others_however_it_is_written() {
    asked_in_disguise(
        Cli::Pi,
        "ask",
        "orange task \"exec\" TASK-001 -- touch made",
    );
    asked_in_disguise(Cli::Pi, "ask", "orange task\texec TASK-001 -- touch made");
}

#[test]
fn claude_asks_before_it_writes_with_a_command_that_looks() {
    asked_in_disguise(Cli::Claude, "edits", "git log --output=made");
}

#[test]
fn pi_asks_before_it_writes_with_a_command_that_looks() {
    asked_in_disguise(Cli::Pi, "edits", "git log --output=made");
    asked_in_disguise(Cli::Pi, "edits", "git log --'outp'=made");
}

#[test]
fn claude_hears_which_option_a_person_chose() {
    let question = json!({"questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    }]});
    let steps = [tool("AskUserQuestion", question), say("Then so.")];
    // It is asked in every mode: only a person knows.
    let desk = Desk::new(Cli::Claude, "full", steps);
    desk.until_asked("Which colour?");
    let said = desk.orange(&["task", "answer", "TASK-001"]);
    assert!(said.contains("- Blue"), "{said}");
    let (well, said) = desk.try_orange(&["task", "answer", "TASK-001", "--allow"]);
    assert!(!well && said.contains("asks for words"), "{said}");
    desk.orange(&["task", "answer", "TASK-001", "blue"]);
    desk.until("the model hears it", || desk.told("have been answered"));
    assert!(desk.told("=\\\"Blue\\\""));
    desk.until("nothing is asked", || !desk.attention().contains("asks"));
}

fn edits_without_a_question(cli: Cli) {
    let steps = [
        write("shop.txt", "blue\n"),
        shell("git add shop.txt"),
        shell("git commit -q -m painted"),
        shell("orange task show TASK-001"),
        shell("touch elsewhere.txt && curl --version"),
        say("That is all."),
    ];
    let desk = Desk::new(cli, "edits", steps);
    desk.until_asked("curl --version");
    let slot = desk.file("shop.txt");
    assert_eq!(fs::read_to_string(&slot).unwrap(), "blue\n");
    let log = desk
        .command("git")
        .arg("-C")
        .arg(slot.parent().unwrap())
        .args(["log", "-1", "--format=%s"])
        .output();
    assert_eq!(String::from_utf8_lossy(&log.unwrap().stdout), "painted\n");
    assert_eq!(desk.asked(), 1);
    desk.orange(&["task", "answer", "TASK-001", "--deny"]);
}

#[test]
fn claude_edits_and_commits_without_a_question_in_edits() {
    edits_without_a_question(Cli::Claude);
}

#[test]
fn pi_edits_and_commits_without_a_question_in_edits() {
    edits_without_a_question(Cli::Pi);
}

fn own_task_in_ask(cli: Cli) {
    let desk = Desk::new(cli, "ask", [say("Ready.")]);
    // Claude does not write through a link, and says where it leads.
    let (argument, file) = match cli {
        Cli::Pi => ("path", "TASK.md".to_owned()),
        Cli::Claude => (
            "file_path",
            desk.task()["path"].as_str().unwrap().to_owned(),
        ),
    };
    let steps = [
        shell("orange task list"),
        tool("read", json!({argument: file})),
        edit(
            &file,
            "summary: Paint the shop",
            "summary: Paint the shop blue",
        ),
        write("made.txt", "x"),
        say("That is all."),
    ];
    desk.model.when("Go on now", steps);
    desk.orange(&["task", "send", "TASK-001", "Go on now"]);
    // The first thing it asks for is the file: reading, its own commands and its own TASK.md are free.
    desk.until_asked("made.txt");
    assert_eq!(desk.task()["summary"], "Paint the shop blue");
    desk.orange(&["task", "answer", "TASK-001", "--deny"]);
    desk.until("nothing is asked", || !desk.attention().contains("asks"));
    assert!(!desk.file("made.txt").exists());
}

#[test]
fn claude_reads_and_edits_its_task_without_a_question_in_ask() {
    own_task_in_ask(Cli::Claude);
}

#[test]
fn pi_reads_and_edits_its_task_without_a_question_in_ask() {
    own_task_in_ask(Cli::Pi);
}
