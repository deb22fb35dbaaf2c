//! Answers to what agents ask, in a process that goes on with other work afterwards. The test plays the agent.

use crate::home::{STARTER, TestHome};
use orange_core::Timestamp;
use orange_core::runs::Run;
use orange_core::workflow::Role;
use orange_engine::person_environment::inherited;
use orange_engine::runs::{Extras, Question, RunFolder, RunSpec, Signal, SignalKind};
use orange_engine::views::results::OpenQuestion;
use serde_json::json;
use std::thread;

#[test]
fn an_answer_changes_the_environment_of_no_other_program() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let spec: RunSpec = serde_json::from_value(json!({
        "run": "run-1",
        "task": task.id,
        "folder": task.place.folder(),
        "role": "worker",
        "harness": "none",
        "command": [],
        "worktree": slot,
    }))
    .unwrap();
    let folder = RunFolder::new(&home.folder(), &spec.run);
    folder.write(&spec, "", &Extras::default()).unwrap();
    let _alive = folder.lock().unwrap().unwrap();
    let question = Question::new("run make?".to_owned());
    let asks = Signal::now(SignalKind::PermissionAsked);
    folder.ask(&question, asks).unwrap();
    let asked = OpenQuestion {
        run: Run {
            model: None,
            id: spec.run.clone(),
            role: Role::Worker,
            harness: spec.harness.clone(),
            started: Timestamp::now(),
            end: None,
            conversation: None,
            transcript: None,
            workspace: None,
            usage: None,
            review_before: None,
            review: None,
            seals_end: false,
        },
        question: question.clone(),
    };
    thread::scope(|scope| {
        let agent = scope.spawn(|| folder.wait_for_answer(&question, || None).unwrap());
        home.answer(&task, &asked, true).ok();
        assert!(agent.join().unwrap().unwrap().allow);
    });
    // The next git of this process may be about another person's task.
    assert_eq!(inherited(STARTER), None);
}
