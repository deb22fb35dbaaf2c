//! The dashboard in a real terminal: what is typed there happens, what happens elsewhere shows, and the terminal is given
//! back whatever ends it.

mod attention;
mod deciding;
mod leaving;
mod screens;
mod starting;

use crate::agents::Agents;
use crate::looker::Looker;
use crate::run::program;

/// A dashboard of the project, once it has drawn what is there.
fn begin<'e>(env: &'e Agents, arguments: &str, shows: &str) -> Looker<'e> {
    let looker = Looker::begin(env);
    begin_at(env, &looker, arguments, shows);
    looker
}

/// The same in a terminal that is there.
fn begin_at(env: &Agents, looker: &Looker<'_>, arguments: &str, shows: &str) {
    let line = format!(
        "cd '{}' && '{}' {arguments}",
        env.shop().display(),
        program().display()
    );
    looker.type_line(&line);
    looker.until_given_back(false);
    looker.until_shown(shows);
}

/// Not the shell that it was started by.
fn is_dashboard(line: &str) -> bool {
    let program = program().display().to_string();
    line.strip_prefix(&program)
        .is_some_and(|rest| rest.starts_with(" dashboard"))
}

/// The process that draws.
fn dashboard_process(env: &Agents) -> u32 {
    let mut processes = env.processes().into_iter();
    let found = processes.find(|(_, line)| is_dashboard(line));
    found.expect("the dashboard").0
}

#[test]
fn a_task_goes_from_nothing_to_merged_by_keys_alone() {
    let env = Agents::new();
    let looker = begin(&env, "", "no tasks yet");
    looker.press(&["c"]);
    looker.until_shown("new task");
    looker.press(&["-l", "Add a login form"]);
    looker.press(&["Enter"]);
    looker.until_shown("TASK-001");
    // Its agents work on their own; nobody presses a key until it is the person's turn.
    looker.until_shown("m merge");
    looker.press(&["D"]);
    looker.until_shown("+# Add a login form");
    looker.press(&["r"]);
    looker.until_shown("what should change in TASK-001");
    looker.press(&["-l", "a larger button"]);
    looker.press(&["Enter"]);
    looker.until_shown("TASK-001: reviewing → working");
    let task = env.task_of(&env.list([""; 0])[0]);
    env.until_count(&task, "review.passed", 2);
    // What the person saw before they wrote is not shown again.
    let since = env.orange(["task", "diff", &task.id, "--since-seen", "--json"]);
    let since = since.ok().json();
    assert_eq!(since["diff"]["against"], "what you last saw");
    let turn = env.orange(["task", "diff", &task.id, "--last-turn", "--json"]);
    assert_eq!(turn.ok().json()["diff"]["head"], since["diff"]["head"]);
    looker.until_shown("m merge");
    looker.press(&["m"]);
    looker.until_shown("y merge");
    // Enter is no.
    looker.until_question_is_read();
    looker.press(&["Enter"]);
    looker.until_shown("nothing was done");
    looker.press(&["m"]);
    looker.until_shown("y merge");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("merged into main");
    env.until_status(&task, "done");
    assert!(task.text().contains("a larger button"));
    looker.press(&["q"]);
    looker.press(&["q"]);
    looker.until_given_back(true);
}

#[test]
fn what_happens_elsewhere_shows_and_only_the_question_that_was_seen_is_answered() {
    let env = Agents::new();
    let script = "worker:\n  - ask permission: May I deploy?\n  - ask permission: May I clean up?\n  - hang\n";
    let task = env.start("Deploy it", script);
    let looker = begin(&env, "dashboard", "May I deploy?");
    looker.until_shown("a allow");
    // Answered elsewhere: the next question shows without a key.
    env.say(&["task", "answer", &task.id, "--deny"]).ok();
    looker.until_shown("May I clean up?");
    env.until("the first one is not shown any more", || {
        !looker.shows().contains("May I deploy?")
    });
    looker.until_shown("its worker asks permission: May I clean up?");
    looker.until_question_is_read();
    looker.press(&["a"]);
    env.until_count(&task, "agent.answered", 2);
    let answers: Vec<String> = task
        .history()
        .iter()
        .filter(|event| event["type"] == "agent.answered")
        .map(|event| event["reason"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(answers, ["denied", "allowed"]);
    // A task that another terminal creates shows too.
    env.orange(["new", "Log out", "--no-spawn", "--project", "shop"])
        .ok();
    looker.until_shown("Log out");
}

#[test]
fn the_terminal_is_given_back_whatever_ends_it() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn", "--project", "shop"])
        .ok();
    let looker = begin(&env, "dashboard --ascii", "Log out");
    assert!(looker.shows().is_ascii(), "{}", looker.shows());
    looker.until_shown("monitor here");
    let another = "another orange watches already";
    env.orange(["watch", "--once"]).ok().says(another);
    looker.press(&["C-z"]);
    looker.until_shown("Stopped");
    looker.until_given_back(true);
    // Stopped, it watches over nothing, and keeps nobody else from it.
    env.orange(["watch", "--once"]).ok().silent_about(another);
    looker.type_line("fg");
    looker.until_given_back(false);
    looker.until_shown("Log out");
    env.kill(dashboard_process(&env), "-TERM");
    looker.until_given_back(true);
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 0");
}

#[test]
fn without_a_terminal_it_says_what_does_the_same() {
    let env = Agents::new();
    env.orange(["dashboard"])
        .fails_with(3)
        .says("the dashboard needs a terminal")
        .says("orange ls");
    env.orange(["dashboard", "--project", "nowhere"])
        .fails_with(3);
}

#[test]
fn several_tasks_are_cancelled_with_a_key_of_ones_own() {
    let env = Agents::configured(
        "dashboard:\n  mouse: false\n  ascii: true\n  keys:\n    cancel: X\n    mark: '+'\n",
    );
    for summary in ["Log out", "Log in"] {
        env.orange(["new", summary, "--no-spawn", "--project", "shop"])
            .ok();
    }
    let looker = begin(&env, "dashboard", "X cancel");
    assert!(looker.shows().is_ascii(), "{}", looker.shows());
    looker.press(&["+"]);
    looker.press(&["+"]);
    looker.until_shown("2 marked");
    looker.press(&["X"]);
    looker.until_shown("cancel 2 tasks?");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("2 cancelled");
    for task in env.list(["--all"]) {
        assert_eq!(task["status"], "cancelled");
    }
    looker.press(&["q"]);
    looker.until_given_back(true);
}

#[test]
fn what_was_saved_is_looked_at_and_brought_back() {
    let env = Agents::new();
    let task = env.start("Add a login form", "worker:\n  - hang\n");
    env.until_status(&task, "planning");
    let slot = env.slot_of(&task);
    std::fs::write(slot.join("login.html"), "a form").unwrap();
    let name = crate::task_rescue::rescue(&env, &task, &slot, 5);
    assert!(!slot.join("login.html").exists());
    let looker = begin(&env, "dashboard", "Add a login form");
    looker.press(&["S"]);
    looker.until_shown(&format!("a {name}"));
    looker.until_question_is_read();
    looker.press(&["a"]);
    looker.until_shown("A login.html");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("1 file written");
    assert_eq!(
        std::fs::read_to_string(slot.join("login.html")).unwrap(),
        "a form"
    );
    looker.press(&["q"]);
    looker.until_given_back(true);
}
