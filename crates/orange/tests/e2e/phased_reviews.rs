//! The review phase: what it finds goes back to implement and into review.md, and what it changes in files is taken back.

use crate::agents::Agents;
use crate::env::TestTask;
use crate::phased_runs::phased;
use std::fs;

const PLAN: &str = "\
task_id: TASK-001
weight: small
generated_at: 2026-01-10T10:45:00Z
phases:
  - {name: implement, type: implement, max_iterations: 3, gate: {type: auto}}
  - {name: review, type: review, max_iterations: 3, gate: {type: auto}}
";

const IMPLEMENTS: &str = "\
executor implement:
  - run: printf 'one\\n' >work.txt
  - answer: complete
    summary: implemented
";

pub(crate) fn reviewed(env: &Agents, review: &str) -> TestTask {
    let task = phased(env, "small", &format!("{IMPLEMENTS}{review}"), &[]);
    let plan = env.write("plan.yaml", PLAN);
    let plan = plan.display().to_string();
    env.orange(["plan", "edit", &task.key, "--file", &plan])
        .ok();
    env.update(&task, &["--gate", "review=auto"]).ok();
    task
}

fn review_file(env: &Agents, task: &TestTask) -> String {
    let folder = env.orange(["path", &task.key, "--task"]).ok().stdout;
    let path = std::path::Path::new(folder.trim()).join("review.md");
    fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn major_findings_go_back_to_implement_and_into_review_md() {
    let env = Agents::new();
    let review = "\
executor review attempt 1:
  - answer: complete
    findings:
      - {severity: major, file: work.txt, line: 1, text: The word is wrong.}
      - {severity: major, file: /etc/passwd, text: It is read.}
executor review:
  - wait for: {file: ROOT/go}
    timeout: 60s
  - answer: complete
    findings:
      - {severity: minor, line: 45, text: A constant would do.}
";
    let task = reviewed(&env, review);
    env.orange(["run", &task.key]).ok();
    env.until("it is reviewed again", || {
        env.orange(["why", &task.key])
            .stdout
            .contains("iteration 1 of 3 of review: its agent")
            && env.count(&task, "iteration.ended") >= 3
    });
    let text = review_file(&env, &task);
    assert!(
        text.starts_with("# Review: TASK-001 / implement\n\n## Verdict: CHANGES REQUESTED\n"),
        "{text}"
    );
    assert!(
        text.contains("- work.txt:1: The word is wrong.\n"),
        "{text}"
    );
    assert!(
        text.contains("- /etc/passwd (not a file of the repository): It is read.\n"),
        "{text}"
    );
    let second = [
        "transcript",
        &task.key,
        "--phase",
        "implement",
        "--iteration",
        "2",
    ];
    env.orange(second)
        .ok()
        .says("the review has 2 major findings:")
        .says("work.txt:1: The word is wrong.");
    env.write("go", "");
    env.until_status(&task, "completed");
    let text = review_file(&env, &task);
    assert!(text.contains("## Verdict: APPROVED\n"), "{text}");
    assert!(
        text.contains("### Major\n- None\n\n### Minor\n- Line 45: A constant would do.\n"),
        "{text}"
    );
}

/// It commits, changes, adds and deletes; or it leaves the branch.
pub(crate) const CHANGES: &str = "\
executor review:
  - run: |
      echo spoiled >work.txt && echo new >new.txt && git add -A
      git -c user.name=a -c user.email=a@b commit -qm sneaky
      echo more >>work.txt && echo untracked >untracked.txt
  - answer: complete
    summary: looked at it
";

const LEAVES: &str = "\
executor review:
  - run: git switch -q -c elsewhere && echo x >x.txt
  - answer: complete
    summary: looked at it
";

#[test]
fn what_a_review_changes_is_saved_and_taken_back() {
    for (script, rescued) in [(CHANGES, "untracked.txt"), (LEAVES, "x.txt")] {
        let env = Agents::new();
        let task = reviewed(&env, script);
        env.orange(["run", &task.key]).ok();
        env.until_status(&task, "completed");
        is_taken_back(&env, &task);
        let shown = env.orange(["rescue", "show", &task.key, "latest"]);
        let list = env
            .orange(["rescue", "list", &task.key, "--json"])
            .ok()
            .json();
        let rescues = list["rescues"].as_array().unwrap();
        let commits: Vec<_> = rescues
            .iter()
            .map(|one| one["commit"].as_str().unwrap())
            .collect();
        let held = commits.iter().any(|commit| {
            let files = env.git(&env.shop(), &["ls-tree", "-r", "--name-only", commit]);
            files.lines().any(|file| file == rescued)
        });
        assert!(held, "{list}\n{shown}");
        let of_review = ["transcript", &task.key, "--phase", "review"];
        env.orange(of_review)
            .ok()
            .says("Changes taken back: yes (kept as rescue ");
        env.orange(["show", &task.key, "--history"])
            .ok()
            .says("what it changed was taken back (rescue ");
    }
}

/// The branch holds what was implemented, and nothing of the review's.
#[track_caller]
pub(crate) fn is_taken_back(env: &Agents, task: &TestTask) {
    let work = env.git(&env.shop(), &["show", &format!("{}:work.txt", task.branch)]);
    assert_eq!(work.trim(), "one");
    let files = env.git(&env.shop(), &["ls-tree", "--name-only", &task.branch]);
    assert!(
        !files.contains("new.txt") && !files.contains("untracked.txt"),
        "{files}"
    );
    let commits = env.git(
        &env.shop(),
        &["log", "--format=%s", &format!("main..{}", task.branch)],
    );
    assert_eq!(commits.lines().count(), 1, "{commits}");
}

#[test]
fn what_a_review_that_is_paused_has_changed_is_taken_back_too() {
    let env = Agents::new();
    let review = CHANGES.replace(
        "  - answer",
        "  - say: It is changed.\n  - wait for: {file: ROOT/go}\n    timeout: 60s\n  - answer",
    );
    let task = reviewed(&env, &review);
    env.orange(["run", &task.key]).ok();
    env.until("the review has changed something", || {
        env.orange(["transcript", &task.key])
            .stdout
            .contains("It is changed.")
    });
    env.orange(["pause", &task.key]).ok();
    assert_eq!(env.status(&task), "paused");
    is_taken_back(&env, &task);
    env.write("go", "");
    env.orange(["resume", &task.key]).ok();
    env.until_status(&task, "completed");
    is_taken_back(&env, &task);
}

#[test]
fn changes_asked_for_after_the_end_keep_the_branch() {
    let env = Agents::new();
    let review = "executor review:\n  - answer: complete\n    summary: fine\n";
    let task = reviewed(&env, review);
    env.orange(["run", &task.key]).ok();
    env.until_status(&task, "completed");
    let before = env.git(&env.shop(), &["rev-parse", &task.branch]);
    env.orange(["request-changes", &task.key, "make it bigger"])
        .ok();
    env.until("it is completed again", || {
        env.count(&task, "iteration.ended") == 4 && env.status(&task) == "completed"
    });
    let now = env.git(&env.shop(), &["rev-parse", &task.branch]);
    assert_eq!(
        before, now,
        "nothing was to be changed, and nothing was lost"
    );
    let second = [
        "transcript",
        &task.key,
        "--phase",
        "implement",
        "--iteration",
        "2",
    ];
    env.orange(second).ok().says("make it bigger");
    let phases = &env.show(&task)["execution"]["phases"];
    assert_eq!(
        (
            &phases["implement"]["attempt"],
            &phases["review"]["attempt"]
        ),
        (&2.into(), &2.into())
    );
}
