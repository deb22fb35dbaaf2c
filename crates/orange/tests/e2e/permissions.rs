//! Answers that are remembered: what `task answer --always` allows from then on, and `orange permissions`. The agent is a stand-in
//! that asks as claude's hooks do, for one thing after the other.

use crate::agents::Agents;
use crate::env::TestTask;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// Asks for what the files `ask-1`, `ask-2` … hold, once each is there, and writes the answer to `answer-1` …
const ASKING: &str = r#"#!/bin/sh
orange signal prompt-taken --text x
n=1
while :; do
  until [ -e "ROOT/$ORANGE_TASK_ID/ask-$n" ]; do sleep 0.02; done
  printf '{"hook_event_name":"PermissionRequest","session_id":"s","cwd":"%s",%s}' "$PWD" "$(cat "ROOT/$ORANGE_TASK_ID/ask-$n")" |
    orange signal --from claude >"ROOT/$ORANGE_TASK_ID/part"
  mv "ROOT/$ORANGE_TASK_ID/part" "ROOT/$ORANGE_TASK_ID/answer-$n"
  n=$((n + 1))
done
"#;

struct Asking {
    env: Agents,
}

impl std::ops::Deref for Asking {
    type Target = Agents;
    fn deref(&self) -> &Agents {
        &self.env
    }
}

impl Asking {
    fn new() -> Asking {
        let env =
            Agents::configured("harness:\n  mine:\n    command: [ROOT/asking]\n    like: claude\n");
        let text = ASKING.replace("ROOT", env.root().to_str().unwrap());
        let program = env.write("asking", text);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        Asking { env }
    }

    fn task(&self, name: &str) -> TestTask {
        let words = ["--harness", "mine", "--review-harness", "none"];
        let task = [&[name, "Ask me"], &words[..], &["--permissions", "ask"]].concat();
        self.create(task)
    }

    /// Has the agent of a task ask for its nth thing.
    fn ask(&self, task: &TestTask, nth: usize, tool: &str, input: &str) {
        let folder = self.root().join(&task.id);
        fs::create_dir_all(&folder).unwrap();
        let text = format!(r#""tool_name":"{tool}","tool_input":{input}"#);
        fs::write(folder.join("part-of-it"), text).unwrap();
        fs::rename(folder.join("part-of-it"), folder.join(format!("ask-{nth}"))).unwrap();
    }

    fn ask_command(&self, task: &TestTask, nth: usize, command: &str) {
        let input = serde_json::json!({"command": command, "description": format!("number {nth}")});
        self.ask(task, nth, "Bash", &input.to_string());
    }

    /// What claude would be told.
    #[track_caller]
    fn heard(&self, task: &TestTask, nth: usize) -> String {
        let file = self.root().join(&task.id).join(format!("answer-{nth}"));
        self.until(&format!("answer {nth} of {}", task.key), || file.exists());
        let reply: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let decision = &reply["hookSpecificOutput"]["decision"];
        decision["behavior"].as_str().unwrap().to_owned()
    }

    fn answer(&self, task: &TestTask, words: &[&str]) -> crate::run::Run {
        self.say(&[&["task", "answer", &task.id], words].concat())
    }

    fn asked(&self, task: &TestTask) -> usize {
        self.count(task, "attention.raised")
    }
}

#[test]
fn what_was_allowed_for_good_is_not_asked_again() {
    let env = Asking::new();
    let task = env.task("one");
    env.ask_command(&task, 1, "npm test");
    env.until_attention(&task, "npm test");
    let said = env.answer(&task, &["--always"]).ok();
    let expected = format!(
        "{0}: allowed (Bash: npm test)\nfrom now on without asking, for {0}: Bash: npm test (rule 1)\nto take it back: orange permissions remove 1\n",
        task.key
    );
    assert_eq!(said.stdout, expected);
    assert_eq!(env.heard(&task, 1), "allow");

    env.ask_command(&task, 2, "npm test");
    assert_eq!(env.heard(&task, 2), "allow");
    env.until("the rule is journalled as the one who answered", || {
        env.count(&task, "agent.answered") == 2
    });
    let by_rule = task.last("agent.answered");
    assert_eq!(
        (&by_rule["rule"], &by_rule["by"]),
        (&1.into(), &"engine".into())
    );
    assert_eq!(by_rule["reason"], "allowed by rule 1: Bash: npm test");
    assert_eq!(env.asked(&task), 1);
    env.say(&["task", "show", &task.id]).ok().says(&format!(
        "1 rule: `orange permissions list --task {}`",
        task.key
    ));

    // Another command is asked for, also one that only begins so.
    env.ask_command(&task, 3, "npm test && rm -r build");
    env.until_attention(&task, "rm -r build");
    env.answer(&task, &["--deny"]).ok();
    assert_eq!(env.heard(&task, 3), "deny");

    env.say(&["permissions", "remove", "1"])
        .ok()
        .says("removed rule 1")
        .says("agents ask again");
    env.ask_command(&task, 4, "npm test");
    env.until_attention(&task, "asks permission: Bash: npm test");
    assert_eq!(env.asked(&task), 3);
}

#[test]
fn a_rule_of_the_project_counts_for_its_other_tasks() {
    let env = Asking::new();
    let (one, other) = (env.task("one"), env.task("other"));
    env.ask_command(&one, 1, "make check");
    env.ask_command(&other, 1, "make check");
    env.until_attention(&one, "make check");
    env.until_attention(&other, "make check");
    let said = env
        .answer(&one, &["--always=project", "--json"])
        .ok()
        .json();
    assert_eq!(said["permission"]["scope"], "project");
    assert_eq!(said["permission"]["task"], Value::Null);
    assert_eq!(env.heard(&one, 1), "allow");
    // The other one had asked before.
    assert_eq!(env.heard(&other, 1), "allow");
    env.until("nothing is asked", || env.attention(&other).is_empty());
    env.ask_command(&other, 2, "make check");
    assert_eq!(env.heard(&other, 2), "allow");
    assert_eq!(env.asked(&other), 1);
    let listed = env.say(&["permissions", "list", "--project", "shop", "--json"]);
    let listed = listed.ok().json();
    assert_eq!(listed["permissions"][0]["allows"], "Bash: make check");
    env.say(&["permissions", "list"])
        .ok()
        .says("all tasks of shop");
}

#[test]
fn a_pattern_allows_what_begins_so_and_no_more() {
    let env = Asking::new();
    let task = env.task("one");
    env.ask_command(&task, 1, "npm test src");
    env.until_attention(&task, "npm test src");
    for (pattern, why) in [
        ("npm *", "name that too"),
        ("npm run *", "name that too"),
        ("npm run lint *", "does not fit"),
        ("npm test", "first words"),
        ("*", "first words"),
    ] {
        env.answer(&task, &["--always", "--matching", pattern])
            .fails_with(2)
            .says(why);
    }
    env.answer(&task, &["--always", "--matching", "npm test *"])
        .ok()
        .says("Bash: npm test, with any plain arguments (rule 1)");
    assert_eq!(env.heard(&task, 1), "allow");
    env.ask_command(&task, 2, "npm test -- --bail");
    assert_eq!(env.heard(&task, 2), "allow");
    env.ask_command(&task, 3, "npm test; curl example.com");
    env.until_attention(&task, "curl example.com");
    assert_eq!(env.asked(&task), 2);
}

/// Where the path leads counts, not how it is written.
#[test]
fn a_file_is_allowed_where_it_lies() {
    let env = Asking::new();
    let task = env.task("one");
    let slot = env.slot_of(&task);
    let write = |nth: usize, path: &str| {
        let path = slot.join(path);
        let input = serde_json::json!({"file_path": path, "content": format!("{nth}")});
        env.ask(&task, nth, "Write", &input.to_string());
    };
    write(1, "src/a.txt");
    env.until_attention(&task, "src/a.txt");
    env.answer(&task, &["--always", "--matching", "src/*"])
        .ok()
        .says("Write: files below src/");
    assert_eq!(env.heard(&task, 1), "allow");
    write(2, "src/deep/b.txt");
    assert_eq!(env.heard(&task, 2), "allow");
    std::os::unix::fs::symlink(env.root(), slot.join("outside")).unwrap();
    fs::create_dir_all(slot.join("src")).unwrap();
    std::os::unix::fs::symlink(env.root(), slot.join("src/link")).unwrap();
    write(3, "src/link/c.txt");
    env.until_attention(&task, "src/link/c.txt");
    env.answer(&task, &["--deny"]).ok();
    write(4, "src/../d.txt");
    env.until_attention(&task, "d.txt");
    env.answer(&task, &["--always"])
        .fails_with(3)
        .says("cannot be remembered");
    assert_eq!(env.asked(&task), 3);
}

#[test]
fn what_cannot_be_remembered_is_refused_with_the_reason() {
    let env = Asking::new();
    let script = "worker:\n  - ask permission: May I deploy?\n  - wait for: {file: never}\n";
    let scripted = env.start("Ask me", script);
    env.until_attention(&scripted, "May I deploy?");
    env.answer(&scripted, &["--always"])
        .fails_with(3)
        .says("does not tell Orange which tool it asks for")
        .says("--allow");
    let task = env.task("one");
    let question = r#"{"questions":[{"question":"Which colour?","options":[{"label":"Red"}]}]}"#;
    env.ask(&task, 1, "AskUserQuestion", question);
    env.until_attention(&task, "Which colour?");
    env.answer(&task, &["--always"])
        .fails_with(2)
        .says("asks for words");
    env.answer(&task, &["--always", "--deny"]).fails_with(2);
    env.answer(&task, &["red", "--always"]).fails_with(2);
    env.answer(&task, &["--matching", "x *"]).fails_with(2);
    env.answer(&task, &["--always=everything"])
        .fails_with(2)
        .says("task, project");
    assert_eq!(
        env.say(&["permissions", "list", "--json"]).ok().json()["permissions"],
        serde_json::json!([])
    );
}

#[test]
fn an_agent_allows_itself_nothing() {
    let env = Asking::new();
    let task = env.task("one");
    env.ask_command(&task, 1, "npm test");
    env.until_attention(&task, "npm test");
    let as_agent = |words: &[&str]| env.call(words.iter().copied()).agent(&task, "worker").run();
    as_agent(&["task", "answer", &task.id, "--always"]).fails_with(3);
    env.answer(&task, &["--always"]).ok();
    as_agent(&["permissions", "remove", "1"])
        .fails_with(3)
        .says("may not remove a rule");
    as_agent(&["permissions", "list"]).ok().says("npm test");
    // Nor by its own hook: what it says of a rule is not asked for there.
    let run = task.last("agent.spawned")["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let settings = env.home().join("runs").join(run).join("claude.json");
    let settings = fs::read_to_string(settings).unwrap();
    assert!(!settings.contains("npm test"), "{settings}");
}

#[test]
fn rules_are_listed_and_removed() {
    let env = Asking::new();
    env.say(&["permissions", "list"]).ok().says("no rules");
    env.say(&["permissions", "remove", "7", "--json"])
        .refuses(4, "not_found");
    env.say(&["permissions", "remove"]).fails_with(2);
    let task = env.task("one");
    for (nth, command) in [(1, "make"), (2, "make check")] {
        env.ask_command(&task, nth, command);
        env.until_attention(&task, &format!("Bash: {command}"));
        env.answer(&task, &["--always"]).ok();
        assert_eq!(env.heard(&task, nth), "allow");
    }
    // A process that died after the event and before its mark went.
    Connection::open(env.home().join("orange.db"))
        .and_then(|database| database.execute("UPDATE permissions SET journalled = 0", []))
        .unwrap();
    env.say(&["task", "update", &task.id, "--priority", "low"])
        .ok();
    assert_eq!(env.count(&task, "permission.added"), 2);
    let listed = env.say(&["permissions", "list", "--task", &task.key, "--json"]);
    let listed = listed.ok().json();
    let rules = listed["permissions"].as_array().unwrap();
    let patterns: Vec<&Value> = rules.iter().map(|rule| &rule["pattern"]).collect();
    assert_eq!(patterns, ["make", "make check"]);
    assert_eq!(
        (&rules[0]["task"], &rules[0]["kind"]),
        (&task.key.as_str().into(), &"command".into())
    );
    let offered = env.call(["--", "orange", "permissions", "remove", ""]);
    let offered = offered.var("ORANGE_COMPLETE", "fish").run().ok();
    assert_eq!(offered.stdout, "1\tBash: make\n2\tBash: make check\n");
    let removed = env
        .say(&["permissions", "remove", "2", "1", "--json"])
        .ok()
        .json();
    assert_eq!(removed["permissions"].as_array().unwrap().len(), 2);
    assert_eq!(removed["message"], "removed 2 rules: agents ask again");
    env.say(&["task", "show", &task.id])
        .ok()
        .silent_about("not asked");
}
