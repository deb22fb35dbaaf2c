//! A TASK.md that cannot be read: lists go on, doctor says what it would do, repair loses nothing.

use crate::env::{TestEnvironment, TestTask};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

const BODY: &str = "\n## Plan\n\nAPPROACH: survives, ünïcode too\n";

/// A task in working with a body of its own, and one beside it that must stay well.
fn two() -> (TestEnvironment, TestTask) {
    let env = TestEnvironment::new();
    let task = env.create(["hurt", "Gets hurt"]);
    env.create(["well", "Stays well"]);
    env.bring_to(&task, "planning");
    task.append(BODY.trim_start());
    env.move_to(&task, "working").ok();
    (env, task)
}

/// Damages the file and checks the whole way: list, show, doctor, repair, doctor.
#[track_caller]
fn heals(damage: impl FnOnce(&TestTask), reason: &str, body_survives: bool) {
    let (env, task) = two();
    damage(&task);
    let before = fs::read(task.file()).ok();

    // The list shows it as damaged, with the reason and all it still knows; the other is as ever.
    let rows = env.list([""; 0]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    let hurt = rows.iter().find(|row| row["key"] == "TASK-001").unwrap();
    let said = hurt["damaged"].as_str().unwrap_or_else(|| panic!("{hurt}"));
    assert!(said.contains(reason), "{said}");
    assert_eq!(hurt["status"], "working");
    let well = rows.iter().find(|row| row["key"] == "TASK-002").unwrap();
    assert_eq!(
        (&well["damaged"], &well["summary"]),
        (&Value::Null, &"Stays well".into())
    );
    env.orange(["ls"])
        .ok()
        .says("✗")
        .says("damaged")
        .says("Stays well");
    let shown = env
        .orange(["task", "show", "TASK-001", "--json"])
        .ok()
        .json();
    assert_eq!(shown["task"]["status"], "working");
    assert!(
        shown["task"]["damaged"].as_str().unwrap().contains(reason),
        "{shown}"
    );
    env.orange(["task", "why", "TASK-001"]).ok().says("damaged");
    assert_eq!(
        fs::read(task.file()).ok(),
        before,
        "looking wrote something"
    );

    // Doctor names it and changes nothing.
    let doctor = env
        .orange(["doctor"])
        .fails_with(1)
        .says("shop:TASK-001")
        .says("--repair: ");
    let doctor = doctor.says(reason);
    doctor.says("error: 1 problem found");
    assert_eq!(fs::read(task.file()).ok(), before, "doctor wrote something");

    // Repair mends it, keeps the original, and loses no text.
    env.orange(["doctor", "--repair"]).ok().says("✓");
    let aside = task.files_like("TASK.md.damaged-");
    if let Some(before) = before {
        assert_eq!(aside.len(), 1, "{aside:?}");
        assert_eq!(fs::read(&aside[0]).unwrap(), before);
    }
    let shown = env.show(&task);
    assert_eq!(shown["damaged"], Value::Null);
    assert_eq!(shown["status"], "working");
    assert_eq!(shown["summary"], "Gets hurt");
    if body_survives {
        let body = shown["body"].as_str().unwrap();
        assert!(body.contains("APPROACH: survives, ünïcode too"), "{body:?}");
    }
    let _ = task.last("frontmatter.rebuilt");
    env.orange(["doctor"]).ok().says("all is well");

    // And it works on.
    task.append("## Handoff\n\nDONE: in spite of it all\n");
    env.orange(["task", "complete", &task.id]).ok();
}

fn rewrite(task: &TestTask, change: impl FnOnce(String) -> String) {
    fs::write(task.file(), change(task.text())).unwrap();
}

#[test]
fn no_frontmatter() {
    heals(
        |task| {
            rewrite(task, |text| {
                text.split_once("\n---\n").unwrap().1.to_owned()
            })
        },
        "does not start with a `---` line",
        true,
    );
}

#[test]
fn an_empty_file() {
    heals(
        |task| fs::write(task.file(), "").unwrap(),
        "does not start with a `---` line",
        false,
    );
}

#[test]
fn an_unclosed_frontmatter() {
    heals(
        |task| rewrite(task, |text| text.replacen("\n---\n", "\n", 1)),
        "no closing `---` line",
        true,
    );
}

#[test]
fn broken_yaml() {
    heals(
        |task| {
            rewrite(task, |text| {
                text.replacen("branch: hurt", "branch: [hurt", 1)
            })
        },
        "line ",
        true,
    );
}

#[test]
fn a_list_instead_of_keys() {
    heals(
        |task| {
            rewrite(task, |text| {
                format!(
                    "---\n- one\n- two\n---\n{}",
                    text.split_once("\n---\n").unwrap().1
                )
            })
        },
        "not a list of `key: value` lines",
        true,
    );
}

#[test]
fn not_utf8() {
    heals(
        |task| {
            let mut bytes = task.text().into_bytes();
            let at = bytes
                .windows(9)
                .position(|part| part == b"Gets hurt")
                .unwrap();
            bytes[at] = 0xff;
            fs::write(task.file(), bytes).unwrap();
        },
        "not valid UTF-8",
        true,
    );
}

#[test]
fn a_conflict_marker() {
    heals(
        |task| {
            rewrite(task, |text| {
                text.replacen(
                    "branch: hurt\n",
                    "<<<<<<< HEAD\nbranch: hurt\n=======\nbranch: other\n>>>>>>> theirs\n",
                    1,
                )
            })
        },
        "merge conflict marker",
        true,
    );
}

#[test]
fn a_key_twice() {
    heals(
        |task| {
            rewrite(task, |text| {
                text.replacen("branch: hurt\n", "branch: hurt\nbranch: other\n", 1)
            })
        },
        "repeats the key `branch`",
        true,
    );
}

#[test]
fn fifty_megabytes() {
    heals(
        |task| rewrite(task, |text| format!("{text}\n{}", "x".repeat(50 << 20))),
        "bytes long, more than the 8388608 that are read",
        true,
    );
}

#[test]
fn a_folder_in_its_place() {
    heals(
        |task| {
            fs::remove_file(task.file()).unwrap();
            fs::create_dir(task.file()).unwrap();
            fs::write(task.file().join("inside.txt"), "kept").unwrap();
        },
        "not a regular file",
        false,
    );
}

#[test]
fn what_lay_in_the_folder_is_kept() {
    let (env, task) = two();
    fs::remove_file(task.file()).unwrap();
    fs::create_dir(task.file()).unwrap();
    fs::write(task.file().join("inside.txt"), "kept").unwrap();
    env.orange(["doctor", "--repair"]).ok();
    let aside = task.files_like("TASK.md.damaged-");
    assert_eq!(
        fs::read_to_string(aside[0].join("inside.txt")).unwrap(),
        "kept"
    );
}

#[test]
fn a_missing_file() {
    heals(
        |task| fs::remove_file(task.file()).unwrap(),
        "TASK.md is missing",
        false,
    );
}

#[test]
fn a_dangling_link() {
    heals(
        |task| {
            fs::remove_file(task.file()).unwrap();
            std::os::unix::fs::symlink("/nonexistent", task.file()).unwrap();
        },
        "not a regular file",
        false,
    );
}

#[test]
fn a_value_outside_its_set() {
    heals(
        |task| {
            rewrite(task, |text| {
                text.replacen("category: feature", "category: fun", 1)
            })
        },
        "\"fun\" is not a category",
        true,
    );
}

#[test]
fn a_value_outside_its_set_is_named_with_file_and_line() {
    let (env, task) = two();
    task.edit("priority: normal", "priority: urgent");
    assert_snapshot!(env.orange(["task", "update", "TASK-001", "--add-tag", "x"]), @r#"
    ------- stderr -------
    error: [HOME]/tasks/shop/[ID]/TASK.md: line 14: priority: "urgent" is not a priority; allowed: critical, high, normal, low
    hint: correct the line; or run `orange doctor --repair`, which puts back the last good value and keeps your file beside it
    [exit status: 1]
    "#);
    let error = env
        .orange(["task", "stuck", "TASK-001", "--json"])
        .refuses(1, "damaged");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("TASK.md: line 14"),
        "{error}"
    );
    assert_snapshot!(env.orange(["ls"]), @r#"
       KEY       STATUS   SUMMARY                                                                                          BRANCH  UPDATED
    ✗  TASK-001  damaged  line 14: priority: "urgent" is not a priority; allowed: critical, high, normal, low · Gets hurt  hurt    [AGE]
    ·  TASK-002  pending  Stays well                                                                                       well    [AGE]
    "#);
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @r#"
    TASK-001 is working
    its TASK.md is damaged: line 14: priority: "urgent" is not a priority; allowed: critical, high, normal, low; correct that line, or let `orange doctor --repair` put back the last good value
    next: ${EDITOR:-vi} "$(orange path TASK-001 --task)/TASK.md"
    "#);
    env.orange(["task", "merge", "TASK-001", "--force"])
        .fails_with(3)
        .says("TASK-001 is damaged, so it is not merged")
        .says("orange doctor --repair");
    assert_snapshot!(env.orange(["doctor"]), @r#"
    tasks      ✗ shop:TASK-001 (shop/[ID]): line 14: priority: "urgent" is not a priority; allowed: critical, high, normal, low; correct it in [HOME]/tasks/shop/[ID]/TASK.md
                   --repair: puts back the last good value and keeps your file beside it
    checked 2 tasks and 1 project
    ------- stderr -------
    error: 1 problem found
    hint: `orange doctor --repair` does what it can
    [exit status: 1]
    "#);
    assert_snapshot!(env.orange(["doctor", "--repair"]), @r#"
    tasks      + shop:TASK-001 (shop/[ID]): line 14: priority: "urgent" is not a priority; allowed: critical, high, normal, low → the last good value is put back; TASK-001 is working
    checked 2 tasks and 1 project: 1 problem found and repaired
    ------- stderr -------
    note: TASK-001: TASK.md was rebuilt from its journal; the damaged file is kept as TASK.md.damaged-[STAMP]
    "#);
    assert!(
        task.text().contains("\npriority: normal\n"),
        "{}",
        task.text()
    );
    assert!(task.text().ends_with(BODY.trim_start()), "{}", task.text());
    env.orange(["doctor"]).ok();
    // Correcting the line by hand does as well.
    task.edit("queue: active", "queue: later");
    env.orange(["task", "stuck", "TASK-001"]).fails_with(1);
    task.edit("queue: later", "queue: backlog");
    env.orange(["task", "stuck", "TASK-001"]).ok();
    assert_eq!(env.show(&task)["queue"], "backlog");
}

#[test]
fn what_the_journal_can_rebuild_a_command_rebuilds() {
    let (env, task) = two();
    let damaged = task.text().replacen("\n---\n", "\n", 1);
    fs::write(task.file(), &damaged).unwrap();
    assert_snapshot!(env.orange(["task", "stuck", "TASK-001"]), @"
    TASK-001: working → stuck
    ------- stderr -------
    note: TASK-001: TASK.md was rebuilt from its journal; the damaged file is kept as TASK.md.damaged-[STAMP]
    ");
    let aside = task.files_like("TASK.md.damaged-");
    assert_eq!(fs::read_to_string(&aside[0]).unwrap(), damaged);
    assert!(
        env.show(&task)["body"]
            .as_str()
            .unwrap()
            .contains("APPROACH: survives")
    );
    env.orange(["doctor"]).ok();
}

#[test]
fn what_a_person_must_see_first_stops_a_command() {
    let (env, task) = two();
    fs::remove_file(task.file()).unwrap();
    assert_snapshot!(env.orange(["task", "stuck", "TASK-001"]), @"
    ------- stderr -------
    error: [HOME]/tasks/shop/[ID]/TASK.md: TASK.md is missing
    hint: run `orange doctor` to see what can be repaired, `orange doctor --repair` to do it
    [exit status: 1]
    ");
    assert!(!task.file().exists());
}

#[test]
fn neither_file_nor_journal() {
    let (env, task) = two();
    fs::write(task.file(), "Only prose is left.\n").unwrap();
    fs::remove_file(task.journal()).unwrap();
    let rows = env.list([""; 0]);
    assert_eq!(
        rows.iter().filter(|row| row["damaged"].is_string()).count(),
        1
    );
    env.orange(["task", "show", &task.id, "--json"])
        .refuses(1, "damaged");
    // Nothing says its status and branch, so nothing is made up.
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("no line says its status; no line says its branch")
        .says("correct ");
    assert_eq!(task.text(), "Only prose is left.\n");
    // What lines still say is enough; a blank line before them too.
    let text =
        "\n---\nstatus: working\nbranch: hurt\n{\nsummary: Again\n---\nOnly prose is left.\n";
    fs::write(task.file(), text).unwrap();
    env.orange(["doctor", "--repair"]).ok();
    let shown = env.show(&task);
    assert_eq!(
        (&shown["status"], &shown["branch"]),
        (&"working".into(), &"hurt".into())
    );
    assert!(
        shown["body"]
            .as_str()
            .unwrap()
            .contains("Only prose is left."),
        "{shown}"
    );
    let [kept] = &task.files_like("TASK.md.damaged-")[..] else {
        panic!("{:?}", task.files_like("TASK.md"));
    };
    assert_eq!(fs::read_to_string(kept).unwrap(), text);
    // A new key: the old one is not used twice.
    assert_ne!(shown["key"], "TASK-002");
    env.orange(["doctor"]).ok();
}

#[test]
fn a_value_that_nothing_else_says_is_not_made_up() {
    let env = TestEnvironment::new();
    let folder = env.tasks().join("shop/byhand");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("TASK.md");
    let text = "\u{feff}\n \n---\nid: byhand\nbranch: b\nstatus: wrking\ncreated_at: 2026-11-03\n---\nbody\n";
    fs::write(&file, text).unwrap();
    env.orange(["doctor", "--repair"])
        .fails_with(1)
        .says("line 6: status: \"wrking\" is not a status")
        .says("there is no journal that has its last good value");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    env.orange(["task", "update", "byhand", "--priority", "high"])
        .fails_with(1)
        .says("hint: correct the line: there is no journal");
    // With that corrected, all is read: the date, and what comes before the frontmatter.
    let text = text.replace("wrking", "working");
    fs::write(&file, &text).unwrap();
    env.orange(["task", "update", "byhand", "--priority", "high"])
        .ok();
    let shown = env.orange(["task", "show", "byhand", "--json"]).ok().json();
    assert_eq!(shown["task"]["status"], "working");
    assert_eq!(shown["task"]["created_at"], "2026-11-03T00:00:00Z");
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .starts_with("\u{feff}\n \n---\n")
    );
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("\ncreated_at: 2026-11-03\n")
    );
    env.orange(["doctor"]).ok();
}
