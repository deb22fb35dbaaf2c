//! What needs the person is told apart, stays where it is, and only what was seen is decided.

use super::{begin, dashboard_process};
use crate::agents::Agents;
use crate::env::TestTask;
use crate::looker::Looker;
use crate::run::program;

/// A task whose worker asks for permission and then waits.
fn asks(env: &Agents, summary: &str, question: &str) -> TestTask {
    let script = format!("worker:\n  - ask permission: \"{question}\"\n  - hang\n");
    let task = env.start(summary, &script);
    env.until_attention(&task, question);
    task
}

fn with_slots(slots: &str) -> Agents {
    let env = Agents::new();
    env.say(&["project", "update", "shop", "--pool-size", slots])
        .ok();
    env
}

/// Check 1.
#[test]
fn six_tasks_that_need_somebody_say_six_things_in_eighty_columns() {
    let env = with_slots("6");
    asks(
        &env,
        "Deploy the shop",
        "Bash: rsync -a --delete build/ deploy@shop.example.com:/srv/shop/current/",
    );
    asks(&env, "Tidy the style sheets", "Bash: npm install");
    let asked = env.start(
        "Pick the colour of the checkout button",
        "worker:\n  - questions: |\n      1. Which colour: the brand blue or the accent green?\n  - status: clarification\n  - hang\n",
    );
    env.until_status(&asked, "clarification");
    let crashed = env.start("Cache product images", "worker:\n  - crash\n");
    env.until_event(&crashed, "agent.crashed");
    let reviewed = env.create(["Add a login form"]);
    env.until_status(&reviewed, "reviewing");
    let stuck = env.start(
        "Log out",
        "worker:\n  - plan: \"APPROACH: a link\"\n  - status: working\n  - stuck\n  - hang\n",
    );
    env.until_status(&stuck, "stuck");
    let looker = begin(&env, "dashboard", "6 need you");
    env.until("six notes", || looker.shows().matches('↳').count() == 6);
    // What its branch changes is compared beside everything else.
    looker.until_shown("review passed: 1 file");
    let shows = looker.shows();
    let mut notes: Vec<&str> = shows.lines().filter(|line| line.contains('↳')).collect();
    notes.sort_unstable();
    notes.dedup();
    assert_eq!(notes.len(), 6, "{shows}");
    for line in shows.lines() {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
    for text in ["npm install", "brand blue", "review passed", "crashed"] {
        assert!(
            notes.iter().any(|note| note.contains(text)),
            "{text}\n{shows}"
        );
    }
}

/// Check 2.
#[test]
fn the_cursor_stays_on_its_task_whatever_comes_and_goes_above() {
    let env = with_slots("4");
    for summary in ["One", "Two", "Three", "Four"] {
        env.orange(["new", summary, "--no-spawn"]).ok();
    }
    let looker = begin(&env, "dashboard", "TASK-004");
    // New tasks stand above older ones.
    while !looker.selected().contains("TASK-002") {
        let before = looker.selected();
        looker.press(&["j"]);
        env.until("the cursor moves", || looker.selected() != before);
    }
    asks(&env, "Five", "May I deploy?");
    looker.until_shown("May I deploy?");
    looker.until_selected("TASK-002");
    env.orange(["new", "Six", "--no-spawn"]).ok();
    looker.until_shown("TASK-006");
    looker.until_selected("TASK-002");
    env.orange(["task", "delete", "TASK-004", "--yes"]).ok();
    looker.until_gone("TASK-004");
    env.say(&["task", "answer", "TASK-005", "--deny"]).ok();
    looker.until_gone("May I deploy?");
    looker.until_selected("TASK-002");
    looker.press(&["x"]);
    looker.until_shown("cancel TASK-002 \"Two\"?");
    looker.press(&["Escape"]);
    looker.until_gone("cancel TASK-002 \"Two\"?");
}

/// Check 3.
#[test]
fn n_goes_to_the_oldest_first_and_what_is_answered_elsewhere_counts_no_more() {
    let env = with_slots("3");
    for (summary, question) in [("One", "first?"), ("Two", "second?"), ("Three", "third?")] {
        asks(&env, summary, question);
    }
    env.orange(["new", "Four", "--no-spawn"]).ok();
    let looker = begin(&env, "dashboard", "3 need you");
    looker.press(&["G"]);
    looker.until_selected("TASK-004");
    for key in ["TASK-001", "TASK-002", "TASK-003"] {
        looker.press(&["n"]);
        looker.until_selected(key);
    }
    env.say(&["task", "answer", "TASK-001", "--deny"]).ok();
    looker.until_shown("2 need you");
    looker.press(&["N"]);
    looker.until_selected("TASK-002");
}

#[test]
fn what_another_project_needs_is_counted_and_answered_in_the_inbox() {
    let env = Agents::new();
    env.orange(["new", "Log out", "--no-spawn", "--project", "shop"])
        .ok();
    let blog = env.init_repository("blog");
    env.orange(["project", "add", &blog.display().to_string()])
        .ok();
    let script = env.script(
        "blog",
        "worker:\n  - ask permission: May I post?\n  - hang\n",
    );
    env.orange(["new", "Post it", "--project", "blog", "--harness", &script])
        .ok();
    let looker = begin(&env, "dashboard", "nothing needs you, 1 elsewhere");
    looker.until_shown("Log out");
    assert!(!looker.shows().contains("Post it"), "{}", looker.shows());
    looker.press(&["Tab"]);
    looker.until_shown("its worker asks permission: May I post?");
    looker.until_question_is_read();
    looker.press(&["a"]);
    looker.until_shown("TASK-001: allowed");
    looker.until_gone("elsewhere");
    looker.press(&["q"]);
    looker.until_given_back(true);
}

/// Check 4: the dashboard is stopped while what it shows is answered and the next thing is asked.
#[test]
fn a_question_that_was_not_on_the_screen_is_not_answered() {
    let env = with_slots("1");
    let script = "worker:\n  - ask permission: May I deploy?\n  - ask permission: May I clean up?\n  - hang\n";
    let task = env.start("Deploy it", script);
    let looker = Looker::begin(&env);
    // Below a shell that controls no jobs: another one would take the terminal from who is stopped.
    let line = format!("sh -c \"'{}' dashboard; true\"", program().display());
    looker.type_line(&format!("cd '{}' && {line}", env.shop().display()));
    looker.until_shown("a allow");
    looker.until_question_is_read();
    let dashboard = dashboard_process(&env);
    env.kill(dashboard, "-STOP");
    env.say(&["task", "answer", &task.id, "--deny"]).ok();
    env.until_attention(&task, "May I clean up?");
    looker.press(&["a"]);
    env.kill(dashboard, "-CONT");
    looker.until_shown("May I clean up?");
    env.until("it says why", || {
        let shows = looker.shows();
        // Either the answer went to a question that is not open any more, or the new one is shown before it is answered.
        shows.contains("no question") || shows.contains("answered") || shows.contains("y allow")
    });
    assert_eq!(env.count(&task, "agent.answered"), 1);
    assert!(env.attention(&task).contains("May I clean up?"));
}

/// Check 5.
#[test]
fn a_paste_runs_no_key() {
    let env = with_slots("1");
    let task = asks(&env, "Deploy it", "May I deploy?");
    let looker = begin(&env, "dashboard", "a allow");
    looker.until_question_is_read();
    let before = task.events();
    looker.paste("xydyq");
    looker.until_shown("message to the worker of TASK-001");
    looker.until_shown("xydyq");
    assert_eq!(task.events(), before);
    // The draft stays until it is sent.
    looker.press(&["Escape"]);
    looker.until_gone("xydyq");
    looker.press(&["i"]);
    looker.until_shown("xydyq");
}
