//! `orange prompt list` and `show`: what agents are told.

use crate::env::TestEnvironment;
use crate::run::Run;
use insta::assert_snapshot;
use std::fs;

fn shown(env: &TestEnvironment, name: &str, task: &str) -> Run {
    env.orange(["prompt", "show", name, "--task", task])
}

#[test]
fn list_says_when_each_is_used() {
    let env = TestEnvironment::new();
    assert_snapshot!(env.orange(["prompt", "list"]).ok(), @"
    NAME                   FROM      WHEN
    worker                 built-in  a task with a summary starts
    worker-wait            built-in  a task is made for a branch that is to be reviewed
    clarify                built-in  a task without a summary starts
    reviewer               built-in  a review round starts
    stuck-fix              built-in  a task got stuck and its worker is gone
    review-failed          built-in  told to the worker: the review failed
    check-failed           built-in  told to the worker: a check of its work newly failed
    changes-requested      built-in  told to the worker: a person asks for changes
    answered               built-in  told to the worker: a person answered, or lets a stuck task go on
    told-stuck             built-in  told to the worker: its task is stuck
    nudge                  built-in  told to an agent whose turn ended without the artifact
    respawn-planning       built-in  a worker is started again in planning
    respawn-clarification  built-in  a worker is started again in clarification
    respawn-working        built-in  a worker is started again in working
    respawn-agent-review   built-in  a worker is started again in agent-review
    respawn-reviewing      built-in  a worker is started again in reviewing
    respawn-stuck          built-in  an agent is started again in stuck
    phase-research         built-in  an iteration of a phase of type research begins
    phase-spec             built-in  an iteration of a phase of type spec begins
    phase-design           built-in  an iteration of a phase of type design begins
    phase-implement        built-in  an iteration of a phase of type implement begins
    phase-review           built-in  an iteration of a phase of type review begins
    phase-docs             built-in  an iteration of a phase of type docs begins
    phase-test             built-in  an iteration of a phase of type test begins
    phase-validate         built-in  an iteration of a phase of type validate begins
    classify               built-in  a phased task without a weight is to run
    judge                  built-in  a judge is asked whether a phase counts
    ");
    // The same where there is no project, no commit, or not even a home.
    let elsewhere = TestEnvironment::empty();
    let list = elsewhere.orange(["prompt", "list"]).ok();
    assert_eq!(list.stdout, env.orange(["prompt", "list"]).stdout);
    elsewhere.git(&elsewhere.root(), &["init", "-q", "-b", "main", "new"]);
    elsewhere.orange(["project", "add", "new"]).ok();
    let list = elsewhere
        .orange(["prompt", "list", "--project", "new"])
        .ok();
    assert_eq!(list.stdout, env.orange(["prompt", "list"]).stdout);
}

#[test]
fn a_prompt_is_filled_in_for_a_task() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    env.bring_to(&task, "working");
    assert_snapshot!(shown(&env, "review-failed", &task.key).ok(), @r#"
    The review of task TASK-001 failed in round 0 of 2. The task is working again, and it is your turn.

    1. Read `## Review` in TASK.md. Leave it as it is.
    2. Fix every finding, or be ready to say why not. Test, commit on this branch.
    3. Write a new `## Handoff` (the old one is kept under another heading): `DONE:`, `REMAINING:`, `DECISIONS:`, `UNCERTAIN:`. Say there what you did about each finding.
    4. Run `orange task complete`, then wait. If the next review passes you hear nothing more.

    Something to ask: `## Questions` and `orange task update --status clarification`. No way forward: `orange task stuck --reason "<what is in the way>"`. As before, nothing is pushed, merged or posted, `## Context` is read-only, and `status` in the frontmatter is not edited by hand.
    "#);
    let text = shown(&env, "worker", &task.key).ok();
    let text = text
        .says("You are the worker of task TASK-001 in project shop.")
        .says("Task: Add a login form")
        .says("Branch: orange/TASK-001-add-a-login-form, from main, to be merged into main")
        .silent_about("{");
    // Inside the workspace, as its agent.
    let inside = env
        .call(["prompt", "show", "worker", "--task", &task.key])
        .at(env.slot_of(&task))
        .agent(&task, "worker")
        .run()
        .ok();
    assert_eq!(inside.stdout, text.stdout);
    let template = [
        "prompt",
        "show",
        "worker",
        "--task",
        &task.key,
        "--template",
    ];
    let template = env
        .orange(template)
        .ok()
        .says("task {key} in project {project}");
    let plain = env.orange(["prompt", "show", "worker"]).ok();
    assert_eq!(template.stdout, plain.stdout);
}

#[test]
fn json_has_the_noun_as_its_key() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    let arguments = ["prompt", "show", "nudge", "--task", &task.id, "--json"];
    let prompt = env.orange(arguments).ok().json()["prompt"].take();
    let names: Vec<&String> = prompt.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "name", "when", "origin", "commit", "path", "problem", "task", "text"
        ]
    );
    assert_eq!(prompt["name"], "nudge");
    assert_eq!(prompt["origin"], "built-in");
    assert_eq!(prompt["task"], "TASK-001");
    let text = prompt["text"].as_str().unwrap();
    assert!(text.starts_with("Your turn ended"), "{text}");
    let list = env.orange(["prompt", "list", "--json"]).ok().json();
    assert_eq!(list["prompts"].as_array().unwrap().len(), 27);
    assert_eq!(list["unknown_files"].as_array().unwrap().len(), 0);
}

#[test]
fn a_nudge_says_what_is_missing_now() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    env.bring_to(&task, "planning");
    shown(&env, "nudge", &task.key)
        .ok()
        .says("no \"## Plan\" section in TASK.md")
        .says("Then run `orange task update --status working`.");
    env.bring_on(&task, "agent-review");
    shown(&env, "nudge", &task.key)
        .ok()
        .says("no \"## Review\" section")
        .says("`orange task update --status working` for FAIL");
}

#[test]
fn the_reviewer_is_told_where_a_failed_review_leads() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    env.bring_to(&task, "agent-review");
    let reviewer = || shown(&env, "reviewer", &task.key).ok();
    reviewer()
        .says("FAIL: `orange task update --status working`")
        .says("`git diff main...HEAD`");
    env.write("home/orange/config.yaml", "review:\n  max_rounds: 1\n");
    reviewer().says("FAIL: `orange task update --status stuck`");
}

#[test]
fn a_summary_is_text_whatever_it_looks_like() {
    let env = TestEnvironment::new();
    let hostile = "{key} }{ {{x}} \"$(touch /tmp/pwned)\" `id` 'q' \\n ${HOME} -- \u{1b}[31m";
    let task = env.create(["branch", hostile]);
    let text = shown(&env, "worker", &task.key).ok().stdout;
    assert!(text.contains(&format!("Task: {hostile}\n")), "{text}");
}

#[test]
fn what_the_work_is_compared_with_is_safe_and_the_same_everywhere() {
    let env = TestEnvironment::new();
    let main = env.git(&env.shop(), &["rev-parse", "main"]);
    let odd = "a;id&$(x)";
    env.git(&env.shop(), &["branch", odd]);
    for base in [odd, "HEAD", "main~0"] {
        let task = env.create(["--base", base, "Add a form"]);
        shown(&env, "reviewer", &task.key)
            .ok()
            .says(&format!("`git diff {main}...HEAD`"))
            .silent_about(odd);
    }
    env.git(&env.shop(), &["branch", "theirs"]);
    let theirs = ["theirs", "Look at this", "--status", "agent-review"];
    let theirs = env.create(theirs);
    shown(&env, "worker-wait", &theirs.key)
        .ok()
        .says("`git diff main...HEAD`");
    // With a remote, its branch.
    env.git(&env.root(), &["clone", "-q", "--bare", "shop", "remote"]);
    let remote = env.root().join("remote");
    let shop = env.shop();
    env.git(
        &shop,
        &["remote", "add", "origin", remote.to_str().unwrap()],
    );
    env.git(&shop, &["fetch", "-q"]);
    let task = env.create(["Add a remote form"]);
    shown(&env, "reviewer", &task.key)
        .ok()
        .says("`git diff origin/main...HEAD`")
        .says("to be merged into main");
}

#[test]
fn a_repository_with_a_task_file_of_its_own() {
    let env = TestEnvironment::new();
    env.commit(&env.shop(), "TASK.md", "ours");
    let task = env.create(["Add a login form"]);
    let both = |run: Run| run.ok().says("Read ORANGE_TASK.md");
    let before = both(shown(&env, "worker", &task.key));
    env.bring_to(&task, "planning");
    let after = both(shown(&env, "worker", &task.key));
    assert_eq!(before.stdout, after.stdout);
    assert!(fs::symlink_metadata(env.slot_of(&task).join("ORANGE_TASK.md")).is_ok());
}

#[test]
fn what_is_not_there_is_said() {
    let env = TestEnvironment::new();
    let task = env.create(["Add a login form"]);
    env.orange(["prompt", "show", "wroker"])
        .fails_with(2)
        .says("\"wroker\" is not a prompt; did you mean worker? allowed: worker,");
    shown(&env, "worker", "TASK-099").fails_with(4);
    env.orange(["prompt", "list", "--project", "shp"])
        .fails_with(4)
        .says("known projects: shop");
    let both = [
        "prompt",
        "show",
        "worker",
        "--project",
        "shop",
        "--task",
        &task.key,
    ];
    env.orange(both).fails_with(2);
    fs::rename(env.shop(), env.root().join("moved")).unwrap();
    env.call(["prompt", "show", "worker", "--task", "shop:TASK-001"])
        .at(env.root())
        .run()
        .fails_with(4)
        .says("is not at");
}
