//! Turns without a terminal, through `orange headless`: what comes of them, and what becomes of those that go wrong.

use crate::cli::{PI_ANTHROPIC, Place, Variables, claude_env, pi_env};
use crate::model::{Model, hang, say, shell, status, write};
use crate::shown::shown;
use orange_core::Timestamp;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// A harness, ready to be asked.
struct Headless {
    name: &'static str,
    model: Model,
    place: Place,
    variables: Variables,
}

impl Headless {
    fn claude() -> Headless {
        let (model, place) = (Model::start(), Place::new());
        let variables = claude_env(&model, &place.home(), &place.repository());
        Headless::new("claude", model, place, variables)
    }

    fn pi() -> Headless {
        let (model, place) = (Model::start(), Place::new());
        let variables = pi_env(&model, &place.home());
        let this = Headless::new("pi", model, place, variables);
        let own =
            format!("harness:\n  pi:\n    command: [pi, --model, {PI_ANTHROPIC}]\n    like: pi\n");
        let home = this.place.home().join("orange");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("config.yaml"), own).unwrap();
        this
    }

    fn new(name: &'static str, model: Model, place: Place, mut variables: Variables) -> Headless {
        variables.insert("ORANGE_HOME".into(), place.home().join("orange").into());
        Headless {
            name,
            model,
            place,
            variables,
        }
    }

    /// What it prints as JSON, whether it went well or not.
    #[track_caller]
    fn ask(&self, more: &[&str], prompt: &str) -> (Value, Output) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orange"))
            .args(["--json", "headless", "--harness", self.name])
            .args(more)
            .arg("-")
            .env_clear()
            .envs(&self.variables)
            .current_dir(self.place.repository())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(prompt.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        let value = serde_json::from_slice(&output.stdout);
        (
            value.unwrap_or_else(|error| panic!("{error}: {output:?}")),
            output,
        )
    }

    /// A turn that went well.
    #[track_caller]
    fn turn(&self, more: &[&str], prompt: &str) -> Value {
        let (value, output) = self.ask(more, prompt);
        let turn = &value["turn"];
        assert!(
            output.status.success() && turn["is_error"] == false,
            "{value}"
        );
        assert_eq!(turn["junk_lines"], 0, "{value}");
        turn.clone()
    }
}

#[track_caller]
fn assert_works_and_resumes(this: &Headless) {
    this.model.when(
        "Begin.",
        [
            shell("echo worked > proof.txt").usage(1000, 20),
            say("It is done.").usage(200, 10).cached(100, 20),
        ],
    );
    this.model.when("And then?", [say("Nothing.").usage(50, 5)]);
    let turn = this.turn(&[], "Begin.");
    assert_eq!(turn["text"], "It is done.");
    assert_eq!(this.place.read("proof.txt"), "worked\n");
    assert_eq!(this.model.heard("Begin."), 1);
    let usage = &turn["usage"];
    assert_eq!(
        (&usage["input"], &usage["output"]),
        (&1200.into(), &30.into())
    );
    assert_eq!(
        (&usage["cache_read"], &usage["cache_write"]),
        (&100.into(), &20.into())
    );
    let cost = usage["cost"].as_f64().unwrap();
    assert!(cost > 0.0, "{turn}");
    assert_eq!(turn["used"], turn["usage"]);
    assert!(turn["model"].is_string(), "{turn}");
    shown(this.name, "headless");

    let conversation = turn["conversation"].as_str().unwrap();
    let second = this.turn(&["--resume", conversation], "And then?");
    assert_eq!(second["conversation"], conversation);
    assert_eq!(second["text"], "Nothing.");
    let last = this.model.requests().pop().unwrap();
    assert_eq!(last.texts(), ["Begin.", "And then?"]);
    // Of the whole conversation, tokens and cost alike.
    let usage = &second["usage"];
    assert_eq!(
        (&usage["input"], &usage["output"]),
        (&1250.into(), &35.into())
    );
    assert!(usage["cost"].as_f64().unwrap() > cost, "{second}");
    let used = &second["used"];
    assert_eq!((&used["input"], &used["output"]), (&50.into(), &5.into()));
    shown(this.name, "headless-resume");
}

#[test]
fn claude_takes_a_turn_and_goes_on_with_it() {
    assert_works_and_resumes(&Headless::claude());
}

#[test]
fn pi_takes_a_turn_and_goes_on_with_it() {
    assert_works_and_resumes(&Headless::pi());
}

#[track_caller]
fn assert_tells_what_went_wrong(this: &Headless, asked_for: &str) {
    this.model.when("No answer.", [status(400).always()]);
    let (value, output) = this.ask(&[], "No answer.");
    assert_eq!(output.status.code(), Some(1), "{value}");
    assert_eq!(value["turn"]["is_error"], true);
    let error = value["turn"]["error"].as_str().unwrap();
    assert!(error.contains("400"), "{error}");
    assert_eq!(value["turn"]["failure"], "refused");

    let (value, output) = this.ask(&["--resume", asked_for], "Go on.");
    assert_eq!(output.status.code(), Some(4), "{value}");
    assert_eq!(value["error"]["code"], "not_found");
    assert!(
        value["error"]["hint"]
            .as_str()
            .unwrap()
            .contains("--resume"),
        "{value}"
    );

    // Nobody is there to be asked, so it is refused, and the agent is told.
    this.model.when(
        "Touch it.",
        [
            shell("touch touched.txt"),
            write("written.txt", "x"),
            say("I may not."),
        ],
    );
    let turn = this.turn(&["--permissions", "ask"], "Touch it.");
    assert_eq!(turn["text"], "I may not.");
    assert!(!this.place.repository().join("touched.txt").exists());
    assert_eq!(this.place.read("written.txt"), "");
}

#[test]
fn claude_tells_what_went_wrong() {
    assert_tells_what_went_wrong(&Headless::claude(), "0b6e7a52-6d0a-4b1e-9d0e-2f6c2f3d9c11");
}

#[test]
fn pi_tells_what_went_wrong() {
    assert_tells_what_went_wrong(&Headless::pi(), "0b6e7a52-6d0a-4b1e-9d0e-2f6c2f3d9c11");
}

/// A usage limit has its end, and nobody waits for an account that is not there.
#[track_caller]
fn assert_tells_limits_and_logins_apart(mut this: Headless, log_out: fn(&mut Headless)) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let reset = now.as_secs() + 3600;
    let limit = status(429)
        .header("anthropic-ratelimit-unified-status", "rejected")
        .header("anthropic-ratelimit-unified-reset", &reset.to_string())
        .header(
            "anthropic-ratelimit-unified-representative-claim",
            "five_hour",
        )
        .header("retry-after", "3600");
    this.model.when("Too much.", [limit.always()]);
    let (value, _) = this.ask(&[], "Too much.");
    assert_eq!(value["turn"]["failure"], "limit", "{value}");
    let until: Timestamp = value["turn"]["until"].as_str().unwrap().parse().unwrap();
    let late = until.as_second() - i64::try_from(reset).unwrap();
    assert!((0..60).contains(&late), "{value}");
    log_out(&mut this);
    let (value, _) = this.ask(&[], "Nobody.");
    assert_eq!(value["turn"]["failure"], "logged out", "{value}");
}

#[test]
fn claude_tells_limits_and_logins_apart() {
    let mut this = Headless::claude();
    // Somebody with a subscription instead of a key.
    this.variables.remove("ANTHROPIC_AUTH_TOKEN");
    this.variables
        .insert("CLAUDE_CODE_OAUTH_TOKEN".into(), "fake".into());
    assert_tells_limits_and_logins_apart(this, |this| {
        this.variables.remove("CLAUDE_CODE_OAUTH_TOKEN");
    });
}

#[test]
fn pi_tells_limits_and_logins_apart() {
    let this = Headless::pi();
    let settings = this.place.home().join(".pi/agent/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, r#"{"retry": {"enabled": false}}"#).unwrap();
    assert_tells_limits_and_logins_apart(this, |this| {
        let config = this.place.home().join("orange/config.yaml");
        fs::remove_file(config).unwrap();
        let empty = this.place.home().join("nothing");
        this.variables
            .insert("PI_CODING_AGENT_DIR".into(), empty.into());
    });
}

#[track_caller]
fn assert_ends_with_all_it_started(this: &Headless) {
    let mark = this.place.repository().join("left.pid");
    let left = format!(
        "(setsid sleep 1000 >/dev/null 2>&1 & echo $! > {})",
        mark.display()
    );
    this.model.when("Wait.", [shell(&left), hang()]);
    let (value, output) = this.ask(&["--timeout", "8s"], "Wait.");
    assert_eq!(output.status.code(), Some(1), "{value}");
    let error = value["turn"]["error"].as_str().unwrap();
    assert!(error.contains("longer than 8s"), "{error}");
    let pid = fs::read_to_string(&mark).unwrap();
    let left = format!("/proc/{}/cmdline", pid.trim());
    assert_eq!(
        fs::read(left).unwrap_or_default(),
        b"",
        "what it left still runs"
    );
}

#[test]
fn claude_is_ended_when_the_time_is_over() {
    assert_ends_with_all_it_started(&Headless::claude());
}

#[test]
fn pi_is_ended_when_the_time_is_over() {
    assert_ends_with_all_it_started(&Headless::pi());
}

#[test]
fn a_prompt_of_250_kb_arrives_whole_in_both() {
    let prompt = format!("/{} ünï 漢字", "word ".repeat(50_000));
    for this in [Headless::claude(), Headless::pi()] {
        this.model.otherwise([say("Read.")]);
        assert_eq!(this.turn(&[], &prompt)["text"], "Read.");
        // A leading slash would be a command of claude's.
        let heard = this.model.heard(&prompt) + this.model.heard(&format!("Message: {prompt}"));
        assert_eq!(heard, 1, "{}", this.name);
    }
}

/// Only what stands outside of the agents keeps a script of theirs from pushing.
#[test]
fn no_agent_without_a_terminal_pushes() {
    for this in [Headless::claude(), Headless::pi()] {
        let push = "git -C . push /nowhere HEAD > said.txt 2>&1; true";
        this.model.otherwise([shell(push), say("Tried.")]);
        assert_eq!(this.turn(&[], "Push it")["text"], "Tried.");
        let said = fs::read_to_string(this.place.repository().join("said.txt")).unwrap();
        assert!(said.contains("orange: refused: git push"), "{said}");
    }
}

#[test]
fn a_conversation_is_no_option() {
    let (value, output) = Headless::claude().ask(&["--resume=--help"], "hi");
    assert_eq!(value["error"]["code"], "not_found", "{value}");
    assert_eq!(output.status.code(), Some(4));
}

#[test]
fn a_repository_runs_nothing_in_a_headless_claude() {
    let this = Headless::claude();
    let repository = this.place.repository();
    let mark = repository.join("mark");
    let touch = format!("touch {}", mark.display());
    let hook = serde_json::json!([{"hooks": [{"type": "command", "command": touch}]}]);
    let settings = serde_json::json!({"hooks": {"SessionStart": hook, "Stop": hook}});
    fs::create_dir(repository.join(".claude")).unwrap();
    fs::write(
        repository.join(".claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let server = serde_json::json!({"command": "sh", "args": ["-c", format!("{touch}; cat")]});
    let servers = serde_json::json!({"mcpServers": {"evil": server}});
    fs::write(repository.join(".mcp.json"), servers.to_string()).unwrap();
    fs::write(repository.join("CLAUDE.md"), "Speak INSTRUCTED.\n").unwrap();
    this.model.when("Begin.", [say("Done.")]);
    this.turn(&[], "Begin.");
    assert!(!mark.exists());
    let mut requests = this.model.requests().into_iter();
    assert!(requests.any(|request| request.body.to_string().contains("INSTRUCTED")));
}
