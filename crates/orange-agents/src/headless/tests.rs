//! Turns with real processes: a shell script stands for the agent and speaks as the scripted one does (`#[cfg(test)]`).

use super::*;
use crate::harness::tests::found;
use crate::runs::ProcessId;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;
use tempfile::TempDir;

/// Long enough for any turn here, and never waited for.
const LONG: Duration = Duration::from_secs(300);
const SHORT: Duration = Duration::from_millis(300);

const DONE: &str =
    r#"echo '{"type":"text","text":"Done."}'; echo '{"type":"result","error":null}'"#;

/// An agent that carries out these lines of shell once it has its prompt.
struct Agent {
    home: TempDir,
    harness: Harness,
    request: TurnRequest,
    environment: BTreeMap<String, String>,
}

impl Agent {
    fn new(script: &str) -> Agent {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("worktree");
        fs::create_dir(&folder).unwrap();
        let program = home.path().join("agent");
        fs::write(&program, format!("#!/bin/sh\ncat > prompt\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        let harness = Harness {
            program: program.display().to_string(),
            arguments: Vec::new(),
            ..found("sim", "").unwrap().unwrap()
        };
        let request = TurnRequest {
            harness: "sim".into(),
            folder,
            prompt: "Do it.".into(),
            permissions: Permissions::Full,
            choice: ModelChoice::default(),
            resume: None,
            timeout: LONG,
            extras: TurnExtras::default(),
        };
        Agent {
            home,
            harness,
            request,
            environment: BTreeMap::new(),
        }
    }

    fn turn(&self) -> Turn {
        self.heard_turn(&|| false, &mut |_| {}).unwrap()
    }

    fn heard_turn(&self, stop: &dyn Fn() -> bool, listener: &mut Listener<'_>) -> Result<Turn> {
        let path = std::env::var_os("PATH").unwrap();
        let world = Probe {
            home: self.home.path(),
            user_home: None,
            search_path: Some(&path),
            environment: &self.environment,
        };
        let program = Path::new(&self.harness.program);
        listen_to_turn(
            &self.harness,
            program,
            &self.request,
            &world,
            stop,
            listener,
        )
    }

    /// What the agent wrote into a file in its folder.
    fn wrote(&self, name: &str) -> String {
        fs::read_to_string(self.request.folder.join(name)).unwrap_or_default()
    }

    fn process(&self, name: &str) -> Option<ProcessId> {
        ProcessId::of(self.wrote(name).trim().parse().ok()?)
    }
}

fn is_gone(process: Option<ProcessId>) -> bool {
    process.is_none_or(|process| !process.is_alive())
}

#[test]
fn what_it_says_is_heard_as_it_comes_and_summed_up_at_the_end() {
    let agent = Agent::new(&format!(
        r#"echo '{{"type":"session","id":"c1","used":{{"input":100,"cost":1.0}}}}'
echo 'npm warn old'
echo '{{"type":"text","text":"First."}}'
echo '{{"type":"step","name":"write","on":"a.rs"}}'
echo '{{"type":"usage","input":7,"output":3,"cost":0.5,"model":"m1"}}'
echo 'careful' >&2
{DONE}"#
    ));
    let mut said = Vec::new();
    let mut listener = |one: AgentOutput<'_>| {
        // How often it is told depends on how its output is cut into pieces.
        if !matches!(one, AgentOutput::Used { .. }) {
            said.push(format!("{one:?}"));
        }
    };
    let turn = agent.heard_turn(&|| false, &mut listener).unwrap();
    let expected = [
        "Other(\"npm warn old\\n\")",
        "Text(\"First.\")",
        "Tool { name: \"write\", on: \"a.rs\" }",
        "Text(\"Done.\")",
    ];
    assert_eq!(said, expected);
    assert_eq!((turn.error, turn.failure), (None, None));
    assert_eq!(turn.conversation.as_deref(), Some("c1"));
    assert_eq!((turn.text.as_str(), turn.junk_lines), ("Done.", 1));
    let of = |usage: Usage| (usage.input, usage.output, usage.cost);
    assert_eq!(of(turn.used), (7, 3, Some(0.5)));
    assert_eq!(of(turn.usage), (107, 3, Some(1.5)));
    assert_eq!(turn.model.as_deref(), Some("m1"));
    assert_eq!(agent.wrote("prompt"), "Do it.");
}

#[test]
fn a_line_of_20_mb_and_bad_bytes_survive() {
    let agent = Agent::new(
        r#"head -c 20971520 /dev/zero | tr '\0' x; echo
printf '{"type":"text","text":"a\377\376b "}\n'
printf '\377\376\n'
printf '{"type":"text","text":"'; head -c 20971520 /dev/zero | tr '\0' y; echo '"}'
echo '{"type":"result","error":null}'"#,
    );
    let (mut other, mut texts) = (0, Vec::new());
    let mut listener = |said: AgentOutput<'_>| match said {
        AgentOutput::Other(text) => other += text.len(),
        AgentOutput::Text(text) => texts.push(text.chars().take(4).collect::<String>()),
        AgentOutput::Tool { .. } | AgentOutput::Used { .. } => {}
    };
    let turn = agent.heard_turn(&|| false, &mut listener).unwrap();
    assert_eq!(turn.error, None);
    assert_eq!(turn.text.len(), 20 * 1024 * 1024);
    assert_eq!(other, 20 * 1024 * 1024 + 1 + "\u{fffd}\u{fffd}\n".len());
    assert_eq!(texts, ["a\u{fffd}\u{fffd}b", "yyyy"]);
    assert_eq!(turn.junk_lines, 2);
}

#[test]
fn an_agent_that_says_more_than_is_heard_waits() {
    let agent = Agent::new(&format!("head -c 50000000 /dev/zero\necho\n{DONE}"));
    let mut bytes = 0;
    let mut listener = |said: AgentOutput<'_>| {
        if let AgentOutput::Other(text) = said {
            // Slower than what says it.
            std::hint::black_box(text.chars().count());
            bytes += text.len();
        }
    };
    let turn = agent.heard_turn(&|| false, &mut listener).unwrap();
    assert_eq!((bytes, turn.text.as_str()), (50_000_001, "Done."));
}

#[test]
fn a_turn_ends_when_its_time_is_over_with_everything_that_it_started() {
    let mut agent = Agent::new(
        "sleep 1000 & echo $! > child\nsetsid sleep 1000 & echo $! > left\n\
         echo '{\"type\":\"usage\",\"input\":5}'\nwhile :; do echo x; sleep 0.05; done",
    );
    agent.request.timeout = SHORT;
    agent.request.extras.idle_timeout = Some(LONG);
    let turn = agent.turn();
    assert_eq!(turn.failure, Some(FailureKind::TimedOut));
    let error = turn.error.unwrap();
    assert_eq!(error, "it took longer than 300ms and was ended");
    assert_eq!(turn.used.input, 5, "what it used is not lost");
    assert!(is_gone(agent.process("child")) && is_gone(agent.process("left")));
}

#[test]
fn an_agent_that_says_nothing_is_ended_and_one_that_speaks_is_not() {
    let mut agent = Agent::new("trap '' TERM HUP\necho $$ > pid\nwhile :; do sleep 1000; done");
    agent.request.extras.idle_timeout = Some(SHORT);
    let turn = agent.turn();
    assert_eq!(turn.failure, Some(FailureKind::Idle));
    let error = turn.error.unwrap();
    assert_eq!(error, "it said nothing for longer than 300ms and was ended");
    assert!(is_gone(agent.process("pid")));

    let speaks = format!("for i in 1 2 3 4 5 6 7 8; do printf .; sleep 0.1; done; echo\n{DONE}");
    let mut agent = Agent::new(&speaks);
    agent.request.extras.idle_timeout = Some(2 * SHORT);
    assert_eq!(agent.turn().error, None);
}

#[test]
fn a_turn_that_is_stopped_tells_what_it_used() {
    let agent = Agent::new(
        "trap 'echo \"{\\\"type\\\":\\\"usage\\\",\\\"input\\\":9}\"; exit 3' TERM\n\
         echo '{\"type\":\"text\",\"text\":\"Begun.\"}'\ntouch begun\nwhile :; do sleep 0.01; done",
    );
    let begun = agent.request.folder.join("begun");
    let turn = agent.heard_turn(&|| begun.exists(), &mut |_| {}).unwrap();
    assert_eq!(turn.failure, Some(FailureKind::Interrupted));
    assert_eq!((turn.text.as_str(), turn.used.input), ("Begun.", 9));
}

#[test]
fn an_agent_that_ends_early_says_why() {
    let turn = Agent::new("echo 'no such model' >&2\nexit 7").turn();
    assert_eq!(turn.error.as_deref(), Some("no such model (exit code 7)"));
    assert_eq!(
        (turn.failure, turn.exit),
        (Some(FailureKind::Failed), Some(7))
    );
    let turn = Agent::new("kill -KILL $$").turn();
    let error = turn.error.unwrap();
    assert!(error.ends_with("ended by a signal"), "{error}");
    // It ends well in the middle of its turn.
    let turn = Agent::new("echo '{\"type\":\"text\",\"text\":\"x\"}'").turn();
    assert_eq!(turn.failure, Some(FailureKind::Failed));
    assert_eq!(turn.text, "x");
}

#[test]
fn failures_of_the_service_have_their_kind_and_their_time() {
    let failed = |more: &str| {
        let line = format!("{{\"type\":\"result\",\"error\":\"No.\"{more}}}");
        let turn = Agent::new(&format!("echo '{line}'")).turn();
        assert_eq!(turn.error.as_deref(), Some("No."));
        (turn.failure.unwrap().as_str(), turn.until)
    };
    let until = Timestamp::now() + Duration::from_secs(3600);
    assert_eq!(failed(""), ("service", None));
    let limit = format!(",\"kind\":\"rate_limit\",\"until\":\"{until}\"");
    assert_eq!(failed(&limit), ("limit", Some(until)));
    assert_eq!(failed(",\"kind\":\"rate_limit\""), ("service", None));
    let out = failed(",\"kind\":\"authentication_failed\"");
    assert_eq!(out, ("logged out", None));
    assert_eq!(failed(",\"kind\":\"billing_error\""), ("refused", None));
    assert_eq!(failed(",\"kind\":\"odd\""), ("failed", None));
}

#[test]
fn a_harness_that_is_missing_takes_no_turn() {
    let mut agent = Agent::new(DONE);
    agent.harness.program = "/nowhere/agent".into();
    let error = agent.heard_turn(&|| false, &mut |_| {}).unwrap_err();
    assert_eq!(error.code, crate::error::Code::NoCommand);
}

#[test]
fn what_left_and_holds_the_output_open_does_not_hold_up_the_turn() {
    let agent = Agent::new(&format!(
        "setsid sh -c 'echo $$ > left; exec sleep 1000' &\nwhile ! [ -s left ]; do :; done\n{DONE}"
    ));
    let began = Instant::now();
    let turn = agent.turn();
    assert_eq!(turn.error, None);
    assert!(is_gone(agent.process("left")));
    assert!(began.elapsed() < LONG);
}

#[test]
fn the_environment_of_a_turn_tells_what_it_belongs_to() {
    let mut agent = Agent::new(&format!("env > env\n{DONE}"));
    agent.environment = BTreeMap::from([("ANTHROPIC_MODEL".into(), "x".into())]);
    agent.request.extras.begin = Some("c7".into());
    agent.request.extras.turn_of = Some(TurnOf {
        task: "t1".into(),
        run: Some("r1".into()),
        role: Role::Executor,
        phase: "implement".into(),
        iteration: 12,
        attempt: 2,
        orange: "/opt/orange/bin/orange".into(),
        search_path: Some("/usr/bin:/bin".into()),
        withheld: vec!["HOME".into()],
    });
    agent.turn();
    let home = agent.home.path().display();
    let fence = format!("PATH={home}/runs/r1/fence:/opt/orange/bin:/usr/bin:/bin");
    let environment = agent.wrote("env");
    let lines: Vec<&str> = environment.lines().collect();
    for line in [
        "ORANGE_TASK_ID=t1",
        "ORANGE_RUN_ID=r1",
        "ORANGE_ROLE=executor",
        "ORANGE_PHASE=implement",
        "ORANGE_ITERATION=12",
        "ORANGE_ATTEMPT=2",
        "ANTHROPIC_MODEL=x",
        fence.as_str(),
    ] {
        assert!(lines.contains(&line), "{line} in {environment}");
    }
    assert!(!lines.iter().any(|line| line.starts_with("HOME=")));
    assert_eq!(agent.request.conversation(), Conversation::New("c7".into()));
}

#[test]
fn a_conversation_that_is_not_there_is_an_error_of_its_own() {
    let mut agent = Agent::new("echo 'there is no conversation c9' >&2; exit 4");
    agent.request.resume = Some("c9".into());
    let error = agent.heard_turn(&|| false, &mut |_| {}).unwrap_err();
    assert_eq!(error.code, crate::error::Code::NotFound);
}
