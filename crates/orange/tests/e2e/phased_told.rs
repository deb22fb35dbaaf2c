//! What agents are told of what people and reviews said: nothing of it is lost where a conversation begins anew, and every phase
//! that follows hears what a person asked for.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_reviews::reviewed;
use crate::phased_runs::{WORKS, phased};
use crate::run::Run;
use std::fs;

/// The transcript of an iteration, with its prompt.
fn transcript(env: &Agents, task: &TestTask, phase: &str, iteration: u32) -> Run {
    let iteration = iteration.to_string();
    let of = ["--phase", phase, "--iteration", &iteration];
    env.orange([&["transcript", &task.key], &of[..]].concat())
        .ok()
}

fn completed_again(env: &Agents, task: &TestTask, iterations: usize) {
    env.until("it is completed again", || {
        env.count(task, "iteration.ended") == iterations && env.status(task) == "completed"
    });
}

#[test]
fn changes_asked_for_are_told_to_the_attempt_after_one_that_failed() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
    summary: done
executor implement iteration 2:
  - answer: continue
executor implement iteration 3:
  - answer: continue
executor implement iteration 4:
  - answer: continue
";
    let task = phased(&env, "trivial", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["request-changes", &task.key, "PURPLE"]).ok();
    completed_again(&env, &task, 5);
    let prompt = |iteration| transcript(&env, &task, "implement", iteration);
    prompt(2).says("A person asks for changes: PURPLE");
    // It goes on in its conversation.
    prompt(3).silent_about("PURPLE");
    prompt(4).silent_about("PURPLE");
    prompt(5)
        .says("A person asks for changes: PURPLE")
        .says("Phase implement failed: it is not complete after 3 iterations");
    let state = &env.show(&task)["execution"];
    assert_eq!(state["retry_context"], serde_json::Value::Null);
}

#[test]
fn findings_of_a_review_are_told_to_a_conversation_that_takes_over() {
    let env = Agents::configured("phases:\n  max_tokens: 100\n");
    let review = "\
executor implement iteration 2:
  - use: {input: 200, output: 1}
  - answer: continue
executor review:
  - answer: complete
executor review iteration 1:
  - answer: complete
    findings: [{severity: major, text: it loses data}]
";
    let task = reviewed(&env, review);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    for iteration in [2, 3] {
        transcript(&env, &task, "implement", iteration).says("it loses data");
    }
}

#[test]
fn a_conversation_that_is_gone_begins_anew_with_all_that_was_said() {
    let env = Agents::new();
    let script = "\
executor:
  - answer: complete
executor implement iteration 2:
  - answer: blocked
    question: Which one?
";
    let task = phased(&env, "trivial", script, &[]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    env.orange(["request-changes", &task.key, "PURPLE"]).ok();
    env.until_status(&task, "blocked");
    fs::remove_dir_all(env.home().join("harness/sim")).unwrap();
    env.orange(["answer", &task.key, "the dark one"]).ok();
    env.until_status(&task, "completed");
    transcript(&env, &task, "implement", 3)
        .says("A person asks for changes: PURPLE")
        .says("The answer: the dark one");
}

#[test]
fn reviewer_judge_and_tester_hear_what_a_person_asked_for() {
    let env = Agents::new();
    let script = format!(
        "{WORKS}\
executor implement iteration 3:
  - answer: blocked
    question: Which blue?
judge:
  - say: '{{{{\"decision\": \"approved\", \"reason\": \"fine\"}}}}'
"
    );
    let harness = env.script("phased", &script);
    let gates = ["--gate", "implement=ai", "--review-harness", &harness];
    let task = phased(&env, "small", &script, &gates);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    transcript(&env, &task, "test", 1).silent_about("asked for on this task");
    env.orange(["request-changes", &task.key, "BLUE please"])
        .ok();
    env.until_status(&task, "blocked");
    env.orange(["answer", &task.key, "the DARK one"]).ok();
    completed_again(&env, &task, 7);
    // Who does it is told so, once.
    transcript(&env, &task, "implement", 3)
        .says("A person asks for changes: BLUE please")
        .silent_about("asked for on this task");
    for (phase, iteration) in [("implement", 5), ("test", 2)] {
        transcript(&env, &task, phase, iteration)
            .says("What a person asked for")
            .says("- Changes were asked for: BLUE please")
            .says("  > Which blue?")
            .says("  and was answered: the DARK one");
    }
}
