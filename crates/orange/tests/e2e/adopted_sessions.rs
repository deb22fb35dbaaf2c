//! Tasks of the program before this one whose agents may still be at work, and reviews that it made.

use crate::adoption::put_older_home;
use crate::agents::Agents;
use crate::env::{TestEnvironment, TestTask};
use crate::merges::Merges;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Works in dark-mode, in a slot and a session.
const WORKING: &str = "Zb3kQ9xT1mW7pLr5vNc2Y";
/// Was reviewed; it has no slot.
const REVIEWED: &str = "A1b2C3d4E5f6G7h8I9j0K";

/// A home of the older program, with a tmux server of the test's own.
fn older_home() -> Agents {
    let mut env = Agents::bare();
    env.init_repository("shop");
    let folder = env.root().join("tmux-folder");
    fs::create_dir(&folder).unwrap();
    env.set("TMUX_TMPDIR", folder);
    put_older_home(&mut env, "home-000");
    env
}

fn task(env: &TestEnvironment, id: &str) -> TestTask {
    TestTask {
        key: String::new(),
        id: id.to_owned(),
        branch: String::new(),
        folder: env.tasks().join("shop").join(id),
    }
}

fn slot(env: &TestEnvironment) -> PathBuf {
    env.home().join("workspaces/shop--1")
}

/// Starts a worker as the older program did.
fn start_session(env: &Agents) {
    let slot = slot(env);
    let folder = slot.to_str().unwrap();
    let words = [
        "new-session",
        "-d",
        "-s",
        "shop/dark-mode",
        "-n",
        "worker",
        "-c",
        folder,
    ];
    let started = env.tmux(&[&words[..], &["sleep", "1000"]].concat());
    assert!(started.status.success(), "{started:?}");
}

fn shown(env: &TestEnvironment, id: &str) -> Value {
    let shown = env.orange(["task", "show", id, "--json"]).ok().json();
    shown["task"].clone()
}

#[test]
fn a_live_session_is_shown_and_never_doubled() {
    let env = older_home();
    let task = task(&env, WORKING);
    let harness = env.script("hang", "worker:\n  - hang\n");
    task.edit("harness: claude", &format!("harness: \"{harness}\""));
    start_session(&env);
    let windows = env.windows();
    let before = task.text();
    env.orange(["ls"]).ok().says("▶  ●  Zb3kQ9xT");
    assert_eq!(task.text(), before, "a list writes nothing");
    assert_eq!(shown(&env, WORKING)["session"], "alive");
    assert_eq!(env.list(["--status", "working"])[0]["session"], "alive");
    env.orange(["task", "why", WORKING])
        .ok()
        .says("another program started");
    let refused = env.orange(["task", "respawn", WORKING, "--json"]);
    let refused = refused.refuses(3, "conflict");
    let hint = refused["hint"].as_str().unwrap();
    assert!(
        hint.contains("tmux kill-session -t '=shop/dark-mode'"),
        "{hint}"
    );
    env.orange(["watch", "--once"]).ok();
    assert_eq!(env.windows(), windows);
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    assert!(env.runs().is_empty());

    // Gone: the exit rules apply, once, and then it is Orange's.
    env.tmux(&["kill-session", "-t", "=shop/dark-mode"]);
    env.orange(["ls"]).ok().says("▶  ✗  ");
    env.orange(["watch", "--once"]).ok();
    env.orange(["watch", "--once"]).ok();
    assert_eq!(env.count(&task, "agent.crashed"), 1, "{:?}", task.events());
    let reason = task.last("agent.crashed")["reason"].clone();
    assert!(
        reason
            .as_str()
            .unwrap()
            .contains("its tmux session shop/dark-mode is gone"),
        "{reason}"
    );
    assert_eq!(shown(&env, WORKING)["crash_count"], 1);
    assert_eq!(shown(&env, WORKING)["session"], "gone");
    env.orange(["task", "respawn", WORKING]).ok();
    assert_eq!(env.windows(), ["shop/dark-mode:worker"]);
    assert_eq!(shown(&env, WORKING)["session"], "alive");
    // Before that agent ran, it got its TASK.md.
    let slot = slot(&env);
    assert_eq!(fs::read_link(slot.join("TASK.md")).unwrap(), task.file());
    assert_eq!(env.git(&slot, &["status", "--porcelain"]), "");
    let lines = fs::read_to_string(env.shop().join(".git/info/exclude")).unwrap();
    assert!(lines.contains("/TASK.md\n"), "{lines}");
    env.orange(["task", "cancel", WORKING, "--yes"]).ok();
    assert!(env.windows().is_empty(), "{:?}", env.windows());
}

#[test]
fn a_request_for_changes_starts_no_second_worker() {
    let env = older_home();
    let task = task(&env, WORKING);
    task.edit("status: working", "status: reviewing");
    start_session(&env);
    let windows = env.windows();
    env.orange(["task", "request-changes", WORKING, "the text is too small"]);
    assert_eq!(env.windows(), windows);
    let why = task.last("hook.failed")["reason"].clone();
    assert!(
        why.as_str()
            .unwrap()
            .contains("which another program started"),
        "{why}"
    );
    assert!(task.text().contains("the text is too small"));
    // Its session is not Orange's to end, and a person hears of it.
    env.orange(["task", "cancel", WORKING, "--yes"])
        .ok()
        .says("tmux kill-session -t '=shop/dark-mode'");
    assert_eq!(env.windows(), windows);
}

#[test]
fn the_exit_rules_apply_when_the_session_is_gone() {
    let handoff = "\n## Handoff\n\nDONE: the palette\n";
    let pass = "\n## Review\n\nVerdict: PASS\n";
    let fail = "\n## Review\n\nVerdict: FAIL\n\nToo dark.\n";
    // What the file said, and what it says after one look.
    let cases = [
        ("working", 0, "", "working", 1),
        ("working", 1, "", "stuck", 0),
        ("working", 0, handoff, "agent-review", 0),
        ("agent-review", 0, pass, "reviewing", 0),
        ("agent-review", 0, fail, "working", 0),
        ("agent-review", 0, "", "agent-review", 1),
        // The plan is there already: it went on to work, and left nothing.
        ("planning", 0, "", "working", 1),
        ("clarification", 0, "", "clarification", 0),
        ("reviewing", 0, "", "reviewing", 0),
        ("stuck", 0, "", "stuck", 0),
    ];
    for (status, crashes, more, then, counted) in cases {
        let env = older_home();
        let task = task(&env, WORKING);
        task.edit(
            "harness: claude\nreview_harness: claude",
            "harness: none\nreview_harness: none",
        );
        task.edit("status: working", &format!("status: {status}"));
        task.edit("crash_count: 0", &format!("crash_count: {crashes}"));
        fs::write(task.file(), format!("{}{more}", task.text())).unwrap();
        env.orange(["watch", "--once"]).ok();
        let case = format!("{status} {crashes} {more:?}: {:?}", task.events());
        let now = shown(&env, WORKING);
        assert_eq!(now["status"], then, "{case}");
        assert_eq!(now["crash_count"], counted, "{case}");
        // Looked at again, nothing more comes of it.
        let events = task.events();
        env.orange(["watch", "--once"]).ok();
        env.orange(["task", "why", WORKING]).ok();
        assert_eq!(task.events(), events, "{case}");
        env.orange(["doctor"]).says("✓ 4 tasks of 1 project");
    }
}

#[test]
fn a_kill_in_the_middle_of_it_is_made_up_for() {
    let env = older_home();
    let task = task(&env, WORKING);
    task.edit("review_harness: claude", "review_harness: none");
    fs::write(
        task.file(),
        format!("{}\n## Handoff\n\nDONE: it\n", task.text()),
    )
    .unwrap();
    let call = env.call(["task", "why", WORKING]);
    let killed = call.var("ORANGE_CRASH_AT", "adopted.started").run();
    killed.fails_with(-1).says("killed at adopted.started");
    assert_eq!(task.events().last().unwrap(), "agent.spawned");
    env.orange(["watch", "--once"]).ok();
    assert_eq!(shown(&env, WORKING)["status"], "agent-review");
    // The older program journalled a start too.
    assert_eq!(env.count(&task, "agent.spawned"), 2);
    assert_eq!(env.count(&task, "agent.crashed"), 0);
    assert_eq!(env.count(&task, "agent.exited"), 1);
}

#[test]
fn a_task_without_a_session_is_not_judged() {
    let env = older_home();
    let task = task(&env, WORKING);
    task.edit("tmux_session: shop/dark-mode", "tmux_session: null");
    env.orange(["watch", "--once"]).ok();
    let now = shown(&env, WORKING);
    assert_eq!(
        (&now["status"], &now["crash_count"]),
        (&"working".into(), &0.into())
    );
    assert_eq!(now["session"], "none");
}

/// The commits of the branch that was reviewed.
fn csv_export(env: &TestEnvironment) {
    let shop = env.shop();
    env.git(&shop, &["switch", "-q", "-c", "csv-export"]);
    env.commit(&shop, "export.rs", "rows");
    env.git(&shop, &["switch", "-q", "main"]);
}

#[test]
fn a_review_in_the_file_counts_and_a_merge_tells_where_it_comes_from() {
    let told = "its review passed before Orange had the task: TASK.md says so";
    let env = older_home();
    csv_export(&env);
    env.orange(["task", "why", REVIEWED]).ok().says(told);
    let evidence = &shown(&env, REVIEWED)["evidence"];
    assert_eq!(evidence["verdict"]["passed"], true);
    env.orange(["task", "merge", REVIEWED])
        .fails_with(3)
        .says(told)
        .silent_about("no review of it has passed");
    env.orange(["task", "merge", REVIEWED, "--force"]).ok();
    assert!(env.shop().join("export.rs").exists());
}

#[test]
fn without_a_passing_review_in_the_file_nothing_has_passed() {
    for (old, new) in [
        ("Verdict: PASS", "Verdict: FAIL"),
        ("## Review", "## Notes"),
    ] {
        let env = older_home();
        csv_export(&env);
        task(&env, REVIEWED).edit(old, new);
        env.orange(["task", "merge", REVIEWED])
            .fails_with(3)
            .says("no review of it has passed");
        // What is written after the task was adopted is nobody's review.
        task(&env, REVIEWED).edit(new, old);
        env.orange(["task", "merge", REVIEWED])
            .fails_with(3)
            .says("no review of it has passed");
    }
}

#[test]
fn a_verdict_of_the_older_reviewer_names_no_commit() {
    let env = older_home();
    csv_export(&env);
    let reviewed = task(&env, REVIEWED);
    reviewed.edit("status: reviewing", "status: agent-review");
    reviewed.edit("tmux_session: null", "tmux_session: shop/csv-export");
    env.orange(["watch", "--once"]).ok();
    assert_eq!(shown(&env, REVIEWED)["status"], "reviewing");
    env.orange(["task", "merge", REVIEWED])
        .fails_with(3)
        .says("nobody noted which commit was reviewed");
}

#[test]
fn a_link_that_was_committed_before_is_a_concern() {
    let env = older_home();
    let slot = slot(&env);
    std::os::unix::fs::symlink(task(&env, WORKING).file(), slot.join("TASK.md")).unwrap();
    env.git(&slot, &["add", "-A"]);
    env.git(&slot, &["commit", "-q", "-m", "all of it"]);
    env.orange(["task", "merge", WORKING])
        .fails_with(3)
        .says("TASK.md was committed on its branch as a link");
}

#[test]
fn a_stuck_task_that_a_person_took_over_is_not_reviewed() {
    let env = Merges::new();
    let (task, slot) = env.started("work");
    env.commit(&slot, "new", "x");
    env.bring_on(&task, "working");
    env.orange(["task", "stuck", &task.id]).ok();
    env.move_to(&task, "reviewing").ok();
    env.refuses(&task, &[], 3, &["no review of it has passed"]);
    env.why(&task).says("no review of it has passed");
    env.merge(&task, &["--force"]).ok();
}
