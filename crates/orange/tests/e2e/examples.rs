//! Every example is typed: those of `--help`, and those of the documents.

pub(crate) mod documents;
mod played;
mod shown;
mod situations;
mod stages;
pub(crate) mod tree;
mod world;

use situations::{SITUATIONS, Situation, USUAL};
use tree::Example;
use world::{How, World};

/// Examples that do not end with 0, and why that is right.
const ENDS: &[(&str, i32, &str)] = &[
    (
        "orange project trust shop",
        3,
        "it asks, and nobody is there to answer",
    ),
    ("orange new --edit", 2, "there is no terminal to write at"),
    (
        "orange dashboard --all-projects",
        3,
        "there is no terminal to draw on",
    ),
    (
        "orange dashboard --project shop --ascii",
        3,
        "there is no terminal to draw on",
    ),
    (
        "orange demo --dashboard",
        3,
        "there is no terminal to draw on",
    ),
];

fn how(line: &str) -> How {
    let is = |words: &str| line.contains(words);
    if is("--follow") || (is("orange watch") && !is("--once")) {
        How::Interrupted
    } else if is(" attach ") {
        How::Attached
    } else {
        How::Plain
    }
}

/// Types the examples of one situation, each as if it were the first; gives what went wrong.
fn play(situation: &'static Situation) {
    let mut failures = Vec::new();
    let mut used: Option<(World, String)> = None;
    for example in tree::examples() {
        if Situation::find(&example).name != situation.name {
            continue;
        }
        let mut world = match used.take() {
            Some((world, before)) if world.condition() == before => world,
            _ => situation.world(),
        };
        let before = world.condition();
        let home = world.folder.clone();
        if example.remark.starts_with("inside a workspace") {
            world.prepare("cd \"$(orange path TASK-001)\"");
        }
        let line = situation.fill_in(&mut world, &example.line);
        let said = world.run(&line, how(&example.line));
        world.folder = home;
        let row = ENDS.iter().find(|(line, ..)| example.line == *line);
        let expected = row.map_or(0, |(_, code, _)| *code);
        let interrupted = how(&example.line) == How::Interrupted && said.code == 130;
        if said.code != expected && !interrupted {
            failures.push(format!(
                "$ {line}\n{}[exit status: {}]",
                said.text, said.code
            ));
        }
        used = Some((world, before));
    }
    assert!(used.is_some(), "no example needs {:?}", situation.name);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// The situation of this name; the tests below name each one.
fn named(name: &str) -> &'static Situation {
    let mut all = SITUATIONS.iter().chain([&USUAL]);
    all.find(|row| row.name == name).unwrap()
}

macro_rules! situations {
    ($($test:ident: $name:literal),* $(,)?) => {
        const TESTED: &[&str] = &[$($name),*];
        $(#[test] fn $test() { play(named($name)); })*
    };
}

situations! {
    help_of_a_task_that_waits_for_a_decision: "reviewing",
    help_of_a_task_that_has_not_begun: "pending",
    help_of_a_task_with_a_plan: "planned",
    help_of_a_task_that_is_worked_on: "working",
    help_of_a_task_under_review: "agent-review",
    help_of_a_task_that_is_over: "over",
    help_of_a_task_with_a_rescue: "rescued",
    help_of_an_agent_that_wants_words: "asked for words",
    help_of_an_agent_that_wants_permission: "asked for permission",
    help_of_an_agent_that_asks_for_a_command: "asked for a command",
    help_of_rules_for_agents: "allowed for good",
    help_of_an_agent_that_crashed: "crashed",
    help_of_a_task_in_the_trash: "deleted",
    help_of_another_repository: "another repository",
    help_of_a_repository_that_moved: "a repository that moved",
    help_of_a_project_without_tasks: "no task",
    help_of_a_repository_with_commands: "commands of a repository",
    help_of_a_repository_with_checks: "checks",
    help_of_hooks: "in an agent's hook",
    help_of_the_demo: "demo",
    help_of_a_phase_that_runs: "a phase runs",
    help_of_a_task_that_is_paused: "paused",
    help_of_a_phase_that_failed: "a phase failed",
    help_of_a_phase_at_its_gate: "at a phase gate",
    help_of_phases_that_are_over: "phases are over",
    help_of_phases_to_come: "phases to come",
    help_of_specifications: "specifications",
    help_of_tests_that_were_run: "tests were run",
}

/// No example is left out, and no row of the tables is left over.
#[test]
fn every_example_of_the_help_has_a_test() {
    let examples = tree::examples();
    assert!(examples.len() > 100, "{}", examples.len());
    for example in &examples {
        let name = Situation::find(example).name;
        assert!(
            TESTED.contains(&name),
            "{}: nobody plays {name}",
            example.line
        );
    }
    for words in SITUATIONS.iter().flat_map(|row| row.of) {
        let line = |example: &Example| format!("{} ", example.line);
        assert!(
            examples.iter().any(|example| line(example).contains(words)),
            "no example has {words:?} any more"
        );
    }
    for (line, _, reason) in ENDS {
        assert!(
            examples.iter().any(|example| example.line == *line),
            "no example is {line:?} any more ({reason})"
        );
    }
}
