//! The dashboard with a real agent: a task from its creation to its merge by keys alone.

use crate::looker::Looker;
use crate::model::{shell, tool};
use crate::run::program;
use crate::world::{World, commit, fix, handoff, plan};
use serde_json::json;

/// Allows whatever is asked, as a person does who reads it, until something else is shown.
fn allow_until(env: &World, looker: &Looker<'_>, what: &str) {
    env.until(what, || {
        let shows = looker.shows();
        if shows.contains(what) {
            return true;
        }
        let key = if shows.contains("more to read") {
            "Down"
        } else if shows.contains("y allow") {
            "y"
        } else if shows.contains("a allow") {
            "a"
        } else {
            return false;
        };
        looker.until_question_is_read();
        looker.press(&[key]);
        false
    });
}

#[test]
fn claude_is_led_from_a_new_task_to_its_merge() {
    let env = World::configured("git:\n  fetch: never\n");
    let question = json!({"questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    }]});
    let steps = [
        tool("AskUserQuestion", question),
        plan(),
        shell("touch /tmp/orange-nowhere/one.txt"),
        commit("hello"),
        handoff(),
    ];
    env.model.when("You are the worker of task", steps);
    env.model.when("asks for changes", fix("hello, friend"));
    let looker = Looker::begin(&env);
    looker.resize(160, 45);
    looker.type_line(&format!(
        "cd '{}' && '{}'",
        env.shop().display(),
        program().display()
    ));
    looker.until_given_back(false);
    looker.until_shown("no tasks yet");
    looker.press(&["c"]);
    looker.until_shown("new task");
    looker.press(&["-l", "Greet the user"]);
    looker.press(&["Tab", "Tab", "Tab"]);
    looker.press(&["-l", "claude"]);
    looker.press(&["Enter"]);
    // Before the first agent of a project a person says what agents may do there.
    looker.until_shown("what may agents of project shop do without asking?");
    looker.until_question_is_read();
    looker.press(&["2"]);
    looker.until_shown("Which colour?");
    let task = env.task_of(&env.list([""; 0])[0]);
    looker.until_shown("a answer");
    looker.press(&["a"]);
    looker.until_shown("answer TASK-001: Which colour?");
    looker.press(&["-l", "Blue"]);
    looker.press(&["Enter"]);
    env.until_event(&task, "agent.answered");
    // The scripted reviewer passes what the real worker made.
    allow_until(&env, &looker, "m merge");
    env.until_status(&task, "reviewing");
    looker.press(&["r"]);
    looker.until_shown("what should change in TASK-001");
    looker.press(&["-l", "be kinder"]);
    looker.press(&["Enter"]);
    looker.until_shown("TASK-001: reviewing → working");
    env.until_told(&task, "asks for changes");
    looker.until_gone("m merge");
    allow_until(&env, &looker, "m merge");
    env.until_status(&task, "reviewing");
    // To its window and back.
    looker.press(&["Enter"]);
    looker.until_gone("m merge");
    looker.press(&["C-b"]);
    looker.press(&["d"]);
    looker.until_shown("back from TASK-001");
    looker.press(&["m"]);
    looker.until_shown("y merge");
    looker.until_question_is_read();
    looker.press(&["y"]);
    looker.until_shown("merged into main");
    env.until_status(&task, "done");
    let log = env.git(&env.shop(), &["log", "--format=%s", "main"]);
    assert!(log.contains("TASK-001"), "{log}");
    env.assert_settings_untouched();
}
