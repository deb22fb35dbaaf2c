//! Specifications: given, shown, edited, written by the phase spec and checked; what agents hear of them.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::{WORKS, phased};
use serde_json::Value;
use std::path::Path;

pub(crate) const WHOLE: &str = "\
# Specification: a walrus on the start page

## Problem Statement
Nobody sees a walrus.

## Success Criteria
- [ ] The walrus is there.

## Scope
The start page.

## Technical Approach
A picture.
";

fn spec(env: &Agents, task: &TestTask) -> Value {
    let shown = env.orange(["spec", "show", &task.key, "--json"]).ok();
    shown.json()["spec"].clone()
}

fn phase(env: &Agents, task: &TestTask, name: &str) -> Value {
    env.show(task)["execution"]["phases"][name].clone()
}

fn transcript(env: &Agents, task: &TestTask, phase: &str, iteration: &str) -> String {
    let words = [
        "transcript",
        &task.key,
        "--phase",
        phase,
        "--iteration",
        iteration,
    ];
    env.orange(words).ok().stdout
}

/// Where a refused text is kept, by what the refusal says.
fn kept(message: &str) -> &Path {
    let (_, path) = message.split_once("your text is in ").unwrap();
    Path::new(path.lines().next().unwrap())
}

#[test]
fn a_specification_that_is_given_skips_its_phase() {
    let env = Agents::new();
    let file = env.write("spec.md", WHOLE);
    let file = file.to_str().unwrap();
    let task = phased(
        &env,
        "medium",
        WORKS,
        &["--spec", file, "--gate", "review=auto"],
    );
    let saved = spec(&env, &task);
    assert_eq!(saved["task_id"], "TASK-001");
    assert_eq!(saved["content"], WHOLE);
    assert_eq!(saved["source"], "cli");
    assert_eq!(saved["created_at"], saved["updated_at"]);
    assert_eq!(phase(&env, &task, "spec")["status"], "skipped");
    assert_eq!(task.last("spec.saved")["source"], "cli");
    assert_eq!(task.last("spec.saved")["bytes"], WHOLE.len());
    let shown = env.orange(["spec", "show", &task.key]).ok();
    assert_eq!(shown.stdout, WHOLE);
    env.orange(["show", &task.key])
        .ok()
        .says("given on the command line");
    env.orange(["run", &task.key, "--dry-run"])
        .ok()
        .says("- [ ] The walrus is there.");
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let said = transcript(&env, &task, "implement", "1");
    assert!(
        said.contains("The specification:\n\n# Specification: a walrus"),
        "{said}"
    );
    assert!(said.contains("- spec: the spec was given"), "{said}");
    let found = env.orange(["search", "walrus", "--json"]).ok().json();
    let places = found["matches"][0]["found"].as_array().unwrap().iter();
    let places: Vec<_> = places.filter_map(|found| found["in"].as_str()).collect();
    assert!(places.contains(&"spec"), "{found}");
}

#[test]
fn one_from_a_pipe_without_checkboxes_is_taken_and_noted() {
    let env = Agents::new();
    let harness = env.script("phased", WORKS);
    // Its weight is found out later: the plan that is written then leaves the phase out too.
    let new = [
        "new",
        "A walrus",
        "--workflow",
        "phased",
        "--harness",
        &harness,
        "--spec",
        "-",
    ];
    let run = env.call(new).input("Just a walrus.\n").run().ok();
    run.says("it has no `## Problem Statement`");
    let task = env.task_of(&env.list(["--all"])[0]);
    env.orange(["update", &task.key, "--weight", "medium"]).ok();
    assert_eq!(phase(&env, &task, "spec")["status"], "skipped");
    assert_eq!(phase(&env, &task, "implement")["status"], "pending");
    // What rewind brings back stays so under another plan.
    env.orange(["rewind", &task.key, "--to", "spec"]).ok();
    env.orange(["plan", "reset", &task.key]).ok();
    assert_eq!(phase(&env, &task, "spec")["status"], "pending");
    let again = env.call(["spec", "set", &task.key, "-"]);
    let again = again.input("Just a walrus.\n").run().ok();
    again.says("has that specification already; left out: phase spec");
    assert_eq!(env.count(&task, "spec.saved"), 1);
}

#[test]
fn what_cannot_be_a_specification_is_refused_and_makes_no_task() {
    let env = Agents::new();
    let new = [
        "new",
        "A walrus",
        "--workflow",
        "phased",
        "--spec",
        "-",
        "--json",
    ];
    for (input, wanted) in [
        (b" \n".to_vec(), "is empty"),
        (b"a\0b".to_vec(), "NUL"),
        (vec![b'a', 0xff], "not UTF-8"),
        (vec![b'x'; 4 * 1024 * 1024 + 1], "larger than 4 MB"),
    ] {
        let error = env.call(new).input(input).run().refuses(2, "usage");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(wanted), "{message}");
        assert!(error["hint"].is_string(), "{error}");
    }
    env.call(["new", "x", "--no-spawn", "--spec", "-"])
        .input(WHOLE)
        .run()
        .fails_with(2)
        .says("--context");
    env.orange(["new", "x", "--workflow", "phased", "--spec", "missing.md"])
        .fails_with(2)
        .says("--spec: cannot read missing.md");
    assert!(env.list(["--all"]).is_empty());
    let task = phased(&env, "medium", WORKS, &[]);
    env.orange(["spec", "show", &task.key])
        .fails_with(4)
        .says("orange spec set TASK-001 FILE");
    let set = ["spec", "set", &task.key, "-"];
    env.call(set)
        .input(" ")
        .run()
        .fails_with(2)
        .says("is empty");
    let as_agent = env.call(["task", "spec", "set", &task.key, "-"]);
    let as_agent = as_agent.agent(&task, "executor");
    as_agent
        .input(WHOLE)
        .run()
        .fails_with(3)
        .says("may not give specifications");
    let interactive = env.create(["other", "Look at it", "--no-spawn"]);
    env.orange(["spec", "show", &interactive.key])
        .fails_with(3)
        .says("no phases");
}

/// The first specification has no checkbox, the second none at all, the third is whole.
const WRITES: &str = "\
executor:
  - write: '{phase}.txt'
    text: done
  - answer: complete
executor spec iteration 1:
  - answer: complete
    artifact: |
      ## Problem Statement
      No walrus.
      ## Success Criteria
      It is there.
      ## Scope
      One.
      ## Technical Approach
      A picture.
executor spec iteration 2:
  - answer: complete
    artifact: \"\"
executor spec iteration 3:
  - answer: complete
    artifact: \"## Problem Statement\\nNo walrus.\\n## Success Criteria\\n- [ ] A walrus.\\n## Scope\\nOne.\\n## Technical Approach\\nA picture.\\n\"
";

#[test]
fn the_outline_is_checked_before_anybody_decides() {
    let env = Agents::new();
    let gates = ["--gate", "spec=human", "--gate", "review=auto"];
    let task = phased(&env, "medium", WRITES, &gates);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    // Not before the third turn.
    let written = phase(&env, &task, "spec");
    assert_eq!(written["iterations"], 3);
    let checks = written["checks"].as_array().unwrap();
    let outline = checks
        .iter()
        .find(|check| check["criterion"] == "spec_complete");
    assert_eq!(outline.unwrap()["passed"], true);
    let said = transcript(&env, &task, "spec", "2");
    assert!(
        said.contains("`## Success Criteria` has no checkbox `- [ ]`"),
        "{said}"
    );
    let said = transcript(&env, &task, "spec", "3");
    assert!(said.contains("your answer had no specification"), "{said}");
    let saved = spec(&env, &task);
    assert_eq!(saved["source"], "spec-phase");
    assert!(
        saved["content"]
            .as_str()
            .unwrap()
            .contains("- [ ] A walrus.")
    );
    assert_eq!(env.count(&task, "spec.saved"), 2);
    assert_eq!(task.last("spec.saved")["by"], "engine");
    // A person decides about this one, so it stays as it is.
    let set = env.call(["spec", "set", &task.key, "-", "--json"]);
    let refused = set.input(WHOLE).run().refuses(3, "illegal_transition");
    let message = refused["message"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(kept(message)).unwrap(), WHOLE);
    std::fs::remove_file(kept(message)).unwrap();
    env.orange(["approve", &task.key]).ok();
    env.until_status(&task, "completed");
    let said = transcript(&env, &task, "implement", "1");
    assert!(said.contains("- [ ] A walrus."), "{said}");
}

#[test]
fn an_editor_and_a_question_of_the_phase() {
    let env = Agents::new();
    let asks = "executor:\n  - answer: complete\nexecutor spec:\n  - answer: blocked\n    question: Which colour?\n";
    let task = phased(&env, "medium", asks, &["--gate", "review=auto"]);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "blocked");
    let edit = |editor: &str| {
        let call = env.call(["spec", "edit", &task.key, "--json"]);
        call.var("VISUAL", editor).run()
    };
    let unchanged = edit("true").ok().json();
    assert_eq!(unchanged["message"], "TASK-001: nothing was changed");
    let error = edit("truncate -s 0").refuses(2, "usage");
    std::fs::remove_file(kept(error["message"].as_str().unwrap())).unwrap();
    // It begins with the headings.
    let saved = edit("sed -i 's/^## Scope/## Scope\\n\\nblue/'").ok().json();
    let message = saved["message"].as_str().unwrap();
    assert!(message.contains("left out: phase spec"), "{message}");
    let content = spec(&env, &task)["content"].clone();
    let content = content.as_str().unwrap();
    assert!(
        content.starts_with("# Specification: Rename the button\n"),
        "{content}"
    );
    assert!(content.contains("## Scope\n\nblue\n"), "{content}");
    // Nobody has to answer any more, and it goes on.
    env.until_status(&task, "completed");
    assert_eq!(phase(&env, &task, "spec")["status"], "skipped");
}

#[test]
fn one_that_is_given_while_its_phase_is_unfinished_leaves_the_rest_of_it_out() {
    let env = Agents::new();
    let waits = "executor:\n  - answer: complete\nexecutor spec:\n  - say: It begins.\n  - wait for:\n      file: ROOT/go\n    timeout: 60s\n";
    let task = phased(&env, "medium", waits, &["--gate", "review=auto"]);
    env.orange(["run", &task.key]).ok();
    env.until_event(&task, "iteration.started");
    let file = env.write("spec.md", WHOLE);
    let set = ["spec", "set", &task.key, file.to_str().unwrap()];
    // Not under the hands of the agent that writes it.
    assert_ne!(env.orange(set).code, 0);
    env.orange(["pause", &task.key]).ok();
    env.until_status(&task, "paused");
    env.orange(set).ok().says("left out: phase spec");
    assert_eq!(phase(&env, &task, "spec")["status"], "skipped");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    assert_eq!(spec(&env, &task)["content"], WHOLE);
    let first = transcript(&env, &task, "implement", "1");
    assert!(first.contains("# Specification: a walrus"), "{first}");
}

#[test]
fn a_long_specification_is_kept_whole_and_cut_in_prompts() {
    let env = Agents::new();
    let beginning = "# A long one\n\n";
    let long = format!("{beginning}{}the end\n", "ümlaut and text\n".repeat(70_000));
    assert!(long.len() > 1024 * 1024);
    std::fs::create_dir_all(env.shop().join(".orange/prompts")).unwrap();
    env.commit(
        &env.shop(),
        ".orange/prompts/phase-implement.md",
        "Do {{SPEC_CONTENT}}\n\nThen {answer}",
    );
    let file = env.write("long.md", &long);
    let options = ["--spec", file.to_str().unwrap()];
    let task = phased(&env, "trivial", WORKS, &options);
    assert_eq!(env.orange(["spec", "show", &task.key]).ok().stdout, long);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let said = transcript(&env, &task, "implement", "1");
    assert!(
        said.contains("Do The specification:\n\n# A long one"),
        "{}",
        &said[..300]
    );
    assert!(said.len() < 60 * 1024, "{}", said.len());
    let rest = format!("of {} bytes; `orange task spec show TASK-001`", long.len());
    assert!(said.contains(&rest));
    assert_eq!(
        spec(&env, &task)["content"].as_str().unwrap().len(),
        long.len()
    );
}

#[test]
fn the_file_of_an_older_home_is_read_and_never_written() {
    let env = Agents::new();
    let harness = env.script("phased", WORKS);
    let new = [
        "An older task",
        "--workflow",
        "phased",
        "--harness",
        &harness,
    ];
    let task = env.create(new);
    let file = task.file().with_file_name("spec.md");
    std::fs::write(&file, WHOLE).unwrap();
    let events = task.events();
    let saved = spec(&env, &task);
    assert_eq!(
        (&saved["content"], &saved["source"]),
        (&WHOLE.into(), &"import".into())
    );
    env.orange(["show", &task.key])
        .ok()
        .says("in spec.md, from an older home");
    env.orange(["search", "walrus"]).ok().says("spec: ");
    assert_eq!(task.events(), events);
    env.orange(["update", &task.key, "--weight", "medium"]).ok();
    assert_eq!(phase(&env, &task, "spec")["status"], "skipped");
    let given = "# Another one\n";
    env.call(["spec", "set", &task.key, "-"])
        .input(given)
        .run()
        .ok();
    assert_eq!(spec(&env, &task)["content"], given);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), WHOLE);
    // It is taken for what an agent would write, also where the plan is older than it.
    let planned = env.create([&new[..], &["--weight", "medium"]].concat());
    std::fs::write(planned.file().with_file_name("spec.md"), WHOLE).unwrap();
    env.orange(["run", &planned.key]).ok();
    env.until("the phase is left out", || {
        phase(&env, &planned, "spec")["status"] == "skipped"
    });
    assert_eq!(spec(&env, &planned)["content"], WHOLE);
    // What nobody wrote is not kept.
    env.call(["spec", "set", &task.key, "-"])
        .input(" \n")
        .run()
        .fails_with(2)
        .silent_about("your text is in");
    // One that cannot be used is told of, and keeps nobody from another one.
    let second = env.create(new);
    std::fs::write(second.file().with_file_name("spec.md"), [b'a', 0xff]).unwrap();
    env.orange(["spec", "show", &second.key])
        .fails_with(1)
        .says("it is not UTF-8 text");
    env.orange(["show", &second.key]).ok();
    env.call(["spec", "set", &second.key, "-"])
        .input(given)
        .run()
        .ok();
    assert_eq!(spec(&env, &second)["content"], given);
}
