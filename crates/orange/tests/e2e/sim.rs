//! `orange sim`: an agent at a real terminal, with a script.

mod faults;
mod headless;
mod phases;
mod stage;
mod tasks;

use crate::env::TestEnvironment;
use stage::{Stage, alive};
use std::fs;
use std::path::Path;

const ECHO: &str = "worker:\n  - repeat: forever\n    steps:\n      - say: \"heard {message}\"\n      - end turn\n";

#[test]
fn a_prompt_is_a_turn_and_messages_typed_or_pasted_are_the_next() {
    let stage = Stage::new(ECHO);
    stage.start("the\nprompt");
    assert_eq!(stage.nth("started", 1)["prompt_length"], 10);
    assert_eq!(stage.nth("turn-done", 1)["text"], "prompt");
    stage.keys(&["typex", "BSpace", "d", "Enter"]);
    assert_eq!(stage.nth("turn-done", 2)["text"], "heard typed");
    let long = format!("first\nsecond é\n{}", "0123456789\n".repeat(1200));
    stage.paste(&long);
    stage.shows("⏎");
    assert_eq!(
        stage.all("input").len(),
        1,
        "a paste is not sent before Enter"
    );
    stage.keys(&["Enter"]);
    stage.nth("turn-done", 3);
    assert_eq!(stage.texts("prompt-taken"), ["the\nprompt", "typed", &long]);
    stage.keys(&["C-d"]);
    assert_eq!(stage.exit_code(), "0");
    let terminal = stage.terminal_after();
    for mode in ["icanon", "echo", "isig", "icrnl", "iexten"] {
        assert!(
            terminal.split_whitespace().any(|word| word == mode),
            "{mode}\n{terminal}"
        );
    }
}

#[test]
fn messages_in_the_middle_of_a_turn_wait_for_their_own() {
    let stage = Stage::new(
        "worker:\n  - wait for: {file: go}\n  - say: first done\n  - end turn\n  - say: \"a {message}\"\n  - end turn\n  - say: \"b {message}\"\n",
    );
    stage.start("begin");
    stage.begun("wait for");
    stage.keys(&["one", "Enter"]);
    stage.keys(&["two", "Enter"]);
    assert_eq!(stage.nth("input", 2)["queued"], true);
    assert!(stage.all("turn-done").is_empty());
    fs::write(stage.folder.join("go"), "").unwrap();
    stage.nth("turn-done", 3);
    assert_eq!(stage.texts("turn-done"), ["first done", "a one", "b two"]);
    stage.keys(&["more", "Enter"]);
    let said = stage.nth("turn-done", 4);
    assert_eq!(said["text"], "There is nothing left to do in my script.");
}

#[test]
fn escape_interrupts_the_turn_and_what_was_left_of_it() {
    let stage = Stage::new(
        "worker:\n  - run: echo $$ > pid; exec sleep 1000\n  - write: never\n    text: x\n  - end turn\n  - say: \"next {message}\"\n",
    );
    stage.start("begin");
    let command = stage.file(Path::new("pid"));
    stage.keys(&["Escape"]);
    stage.nth("interrupted", 1);
    let command = command.trim().parse().unwrap();
    assert!(!alive(command), "what it ran ends with the turn");
    stage.paste("go on");
    stage.keys(&["Enter"]);
    assert_eq!(stage.nth("turn-done", 1)["text"], "next go on");
    assert!(!stage.folder.join("never").exists());
    // Not even with a message right behind it.
    let stage = Stage::new("worker:\n  - pause: 1h\n  - end turn\n  - say: \"next {message}\"\n");
    stage.start("begin");
    stage.begun("pause");
    stage.keys(&["Escape", "fix", "Enter"]);
    assert_eq!(stage.nth("turn-done", 1)["text"], "next fix");
    assert_eq!(stage.all("interrupted").len(), 1);
}

#[test]
fn a_message_can_be_taken_into_the_running_turn() {
    let stage = Stage::new(
        "worker:\n  - wait for: {message: [stop, Halt]}\n  - say: \"got {message}\"\n  - end turn\n  - say: \"then {message}\"\n",
    );
    stage.start("begin");
    stage.begun("wait for");
    stage.keys(&["other", "Enter"]);
    stage.keys(&["please halt", "Enter"]);
    stage.nth("turn-done", 2);
    assert_eq!(stage.texts("turn-done"), ["got please halt", "then other"]);
}

#[test]
fn permission_is_asked_for_and_the_question_has_the_keyboard() {
    let stage = Stage::new(
        "worker:\n  - repeat: 2\n    steps:\n      - ask permission: May I, {prompt}?\n        allowed:\n          - say: thanks\n        denied:\n          - say: then not\n      - end turn\n",
    );
    stage.start("Ann");
    assert_eq!(stage.nth("permission-asked", 1)["text"], "May I, Ann?");
    stage.shows("May I, Ann? (y/n)");
    stage.paste("y is not the answer");
    stage.keys(&["Enter"]);
    stage.nth("input-ignored", 2);
    stage.keys(&["y"]);
    assert_eq!(stage.nth("turn-done", 1)["text"], "thanks");
    stage.keys(&["again", "Enter"]);
    stage.nth("permission-asked", 2);
    stage.keys(&["n"]);
    assert_eq!(stage.nth("turn-done", 2)["text"], "then not");
    assert_eq!(stage.texts("input"), ["again"]);
}

#[test]
fn an_enter_can_be_lost_and_the_text_stays_in_the_line() {
    let stage = Stage::new("worker:\n  - lose enter\n  - end turn\n  - say: \"got {message}\"\n");
    stage.start("begin");
    stage.nth("turn-done", 1);
    stage.paste("hello");
    stage.keys(&["Enter"]);
    stage.nth("enter-lost", 1);
    assert!(stage.screen().contains("> hello"), "{}", stage.screen());
    stage.keys(&["Enter"]);
    assert_eq!(stage.nth("turn-done", 2)["text"], "got hello");
}

#[test]
fn ctrl_c_twice_quits() {
    let stage = Stage::new(ECHO);
    stage.start("begin");
    stage.nth("turn-done", 1);
    stage.keys(&["C-c"]);
    stage.shows("Press Ctrl-C again to quit.");
    stage.keys(&["C-c"]);
    assert_eq!(stage.exit_code(), "130");
    assert_eq!(stage.nth("exiting", 1)["code"], 130);
}

#[test]
fn without_a_terminal_lines_are_messages_and_their_end_is_the_end() {
    let stage = Stage::new(ECHO);
    let output = stage.without_terminal("", "one\n\ntwo");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(stage.texts("turn-done"), ["heard one", "heard two"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn without_a_terminal_a_question_is_answered_by_a_line() {
    let stage = Stage::new(
        "worker:\n  - ask permission: May I?\n    allowed:\n      - say: thanks\n  - ask permission: And this?\n    denied:\n      - say: \"then not\"\n",
    );
    let output = stage.without_terminal("go", "y\nno\n");
    assert!(output.status.success());
    let answers: Vec<bool> = stage
        .all("permission-answered")
        .iter()
        .map(|event| event["allowed"] == true)
        .collect();
    assert_eq!(answers, [true, false]);
    assert_eq!(stage.texts("turn-done"), ["then not"]);
}

#[test]
fn signals_are_reported_with_a_run_and_only_then() {
    let mut stage = Stage::new("worker:\n  - say: \"-done\"\n");
    let output = stage.without_terminal("begin", "");
    assert!(output.status.success(), "{output:?}");
    assert!(stage.all("signalled").is_empty());
    // Whatever is first on PATH is called, as by any agent's hooks.
    let bin = stage.env.root().join("bin");
    stage.env.write(
        "bin/orange",
        "#!/bin/sh\nfor a; do printf '%s|' \"$a\" >> called; done\ncase $3 in --text-file=*) cat \"${3#*=}\" >> called;; esac\necho >> called\n[ $2 != turn-done ]\n",
    );
    let chmod = stage
        .env
        .foreign("chmod")
        .arg("755")
        .arg(bin.join("orange"))
        .status();
    assert!(chmod.unwrap().success());
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    stage.set("PATH", &path);
    stage.set("ORANGE_RUN_ID", "run1");
    stage.without_terminal("the\nprompt", "");
    let called = stage.file(Path::new("called"));
    assert!(
        called.starts_with("signal|prompt-taken|--text-file="),
        "{called}"
    );
    assert!(called.contains("|the\nprompt\n"), "{called}");
    assert!(
        called.ends_with("\nsignal|turn-done|--text=-done|\n"),
        "{called}"
    );
    let outcomes: Vec<bool> = stage
        .all("signalled")
        .iter()
        .map(|e| e["ok"] == true)
        .collect();
    assert_eq!(
        outcomes,
        [true, false],
        "a report that fails does not end the agent"
    );
}

#[test]
fn a_script_that_cannot_be_read_is_refused_with_its_line() {
    let env = TestEnvironment::unregistered();
    let script = env.write("bad.yaml", "worker:\n  - say: hi\n  - sya: hi\n");
    let run = env.orange(["sim", "--json", "--script", script.to_str().unwrap()]);
    let error = run.refuses(2, "usage");
    assert_eq!(
        error["message"],
        format!("{}: line 3: there is no step `sya`", script.display())
    );
    assert!(error["hint"].as_str().unwrap().contains("end turn"));
    env.orange(["sim", "--script", "/no/such/file"])
        .fails_with(2)
        .says("cannot read the script");
    env.orange(["sim", "--log", "/no/such/folder/log"])
        .fails_with(1)
        .says("cannot open the log");
    env.orange(["sim", "--role", "boss"])
        .fails_with(2)
        .says("worker, reviewer");
    assert!(!env.home().exists(), "an agent opens no home");
}

#[test]
fn the_environment_names_script_role_and_log() {
    let env = TestEnvironment::unregistered();
    let script = env.write("mine.yaml", "reviewer round 2: [say: mine]\n");
    let log = env.root().join("env.log");
    let run = env
        .call(["sim", "--round=2", "--attempt=0", "go"])
        .var("ORANGE_SIM_SCRIPT", script.to_str().unwrap())
        .var("ORANGE_SIM_LOG", log.to_str().unwrap())
        .var("ORANGE_ROLE", "reviewer")
        .run()
        .ok();
    assert!(run.stdout.ends_with("\nmine\n"), "{run}");
    let text = fs::read_to_string(log).unwrap();
    assert!(text.contains(r#""list":"reviewer round 2""#), "{text}");
    let default = env.orange(["sim", "--show-default"]).ok();
    assert!(default.stdout.contains("\nworker:\n"));
}
