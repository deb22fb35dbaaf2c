//! The agent in a task's worktree: TASK.md, git, and `orange` as its own tool.

use super::stage::Stage;
use std::fs;

#[test]
fn the_built_in_worker_and_reviewer_take_a_task_through_review() {
    let (mut stage, task) = Stage::with_task("executor: []\n");
    stage.start("Add a form");
    stage.nth("turn-done", 1);
    let shown = stage.env.show(&task);
    assert_eq!(shown["status"], "agent-review", "{}", stage.screen());
    let text = task.text();
    assert!(
        text.contains("## Plan\n\nAPPROACH: ") && text.contains("## Handoff\n\nDONE: "),
        "{text}"
    );
    assert!(
        stage.all("step-failed").is_empty(),
        "{:?}",
        stage.all("step-failed")
    );
    let commits = || {
        stage
            .env
            .git(&stage.folder, &["log", "--format=%ae", "main.."])
    };
    assert_eq!(commits(), "sim@localhost");
    assert!(stage.folder.join(format!("sim/{}.md", task.key)).exists());

    // The first review fails; the worker hears of it.
    task.append("## Review\n\nVerdict: FAIL\n\nnot enough\n");
    stage.env.move_to(&task, "working").ok();
    stage.paste("The review failed. Read ## Review and fix it.");
    stage.keys(&["Enter"]);
    stage.nth("turn-done", 2);
    assert_eq!(
        stage.env.show(&task)["status"],
        "agent-review",
        "{}",
        stage.screen()
    );
    assert_eq!(commits().lines().count(), 2);
    assert!(
        stage.all("step-failed").is_empty(),
        "{:?}",
        stage.all("step-failed")
    );

    stage.set("ORANGE_ROLE", "reviewer");
    stage.without_terminal("Review it", "");
    let started = stage.nth("started", 2);
    assert_eq!(
        (&started["role"], &started["round"]),
        (&"reviewer".into(), &2.into())
    );
    assert_eq!(stage.env.show(&task)["status"], "reviewing");
}

#[test]
fn a_section_written_by_renaming_replaces_the_link() {
    let (stage, task) = Stage::with_task(
        "worker:\n  - plan: \"APPROACH: {summary} on {branch}\"\n    how: rename\n  - run: test ! -L TASK.md\n  - status: working\n",
    );
    stage.without_terminal("go", "");
    assert!(
        stage.all("step-failed").is_empty(),
        "{:?}",
        stage.all("step-failed")
    );
    assert_eq!(stage.env.show(&task)["status"], "working");
    assert!(
        task.text().contains("APPROACH: Add a form on work/form\n"),
        "{}",
        task.text()
    );
    let link = fs::symlink_metadata(stage.folder.join("TASK.md")).unwrap();
    assert!(link.is_symlink(), "Orange took it over");
}

#[test]
fn an_agent_that_edits_its_own_status_is_put_right() {
    let (stage, task) =
        Stage::with_task("worker:\n  - frontmatter: {status: done, priority: high}\n");
    stage.without_terminal("go", "");
    assert!(stage.all("step-failed").is_empty());
    let shown = stage.env.show(&task);
    assert_eq!(
        (&shown["status"], &shown["priority"]),
        (&"planning".into(), &"high".into())
    );
}

#[test]
fn what_a_command_says_and_how_it_ends_matters_as_the_script_wants() {
    let (stage, task) = Stage::with_task(
        "worker:\n  - complete\n  - complete:\n    expect: 3\n  - run: exit 7\n    expect: 7\n  - run: exit 7\n  - run: exit 7\n    ignore: true\n  - run: kill -9 $$\n  - write: a/b.txt\n    text: \"{key} {{}}\"\n  - append: a/b.txt\n    text: \"!\"\n  - commit: one\n  - commit: nothing\n  - commit: two\n    empty: true\n  - fill: big\n    size: 3MB\n  - delete: a\n  - delete: a\n  - wait for: {file: never}\n    timeout: 5ms\n  - run: test \"$SIM_KEY\" = \"$WANTED\" && orange --version\n",
    );
    let mut stage = stage;
    stage.set("WANTED", &task.key);
    let output = stage.without_terminal("go", "");
    assert!(output.status.success());
    let failed: Vec<(u64, String)> = stage
        .all("step-failed")
        .iter()
        .map(|event| {
            (
                event["line"].as_u64().unwrap(),
                event["reason"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let lines: Vec<u64> = failed.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 7, 10, 16, 22, 23], "{failed:?}");
    assert!(
        failed[0].1.starts_with("exit code 3: error: "),
        "{failed:?}"
    );
    assert_eq!(failed[1].1, "exit code 7");
    assert_eq!(failed[2].1, "signal 9");
    let content = stage.env.git(&stage.folder, &["show", "HEAD:a/b.txt"]);
    assert_eq!(content, format!("{} {{}}!", task.key));
    assert_eq!(
        fs::metadata(stage.folder.join("big")).unwrap().len(),
        3 << 20
    );
}

/// The recipes of docs/contributing/sim.md, by the list they stand in.
fn recipes() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/contributing/sim.md"
    );
    let text = fs::read_to_string(path).unwrap();
    let recipes = text.split("### Recipes").nth(1).unwrap();
    let recipes = recipes.split("```yaml\n").nth(1).unwrap();
    recipes.split("```").next().unwrap().to_owned()
}

#[test]
fn the_recipe_for_delegating_makes_children() {
    let recipe = recipes().replacen(
        "worker:",
        "worker:\n  - plan: \"APPROACH: parts\"\n  - status: working",
        1,
    );
    let (stage, task) = Stage::with_task(&recipe);
    stage.without_terminal("go", "");
    assert!(
        stage.all("step-failed").is_empty(),
        "{:?}",
        stage.all("step-failed")
    );
    assert_eq!(stage.env.show(&task)["status"], "delegated");
    assert_eq!(stage.env.list([""; 0]).len(), 3);
}

#[test]
fn the_recipes_for_git_leave_a_renamed_branch_and_half_a_rebase() {
    let recipe = recipes().replace("worker attempt 2:", "reviewer:");
    let (mut stage, _) = Stage::with_task(&recipe);
    stage.set("ORANGE_ROLE", "reviewer");
    stage.without_terminal("go", "");
    assert!(
        stage.all("step-failed").is_empty(),
        "{:?}",
        stage.all("step-failed")
    );
    let branch = stage
        .env
        .git(&stage.folder, &["branch", "--list", "renamed-elsewhere"]);
    assert!(branch.contains("renamed-elsewhere"), "{branch}");
    let status = stage.env.git(&stage.folder, &["status"]);
    assert!(
        status.contains("rebase in progress") && status.contains("both added"),
        "{status}"
    );
}
