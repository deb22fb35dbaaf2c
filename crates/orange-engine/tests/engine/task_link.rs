//! TASK.md in a worktree: a link to the task's own file that git does not see and editors may replace.

use crate::home::TestHome;
use crate::task::{TestTask, fingerprint};
use orange_core::task::Field;
use std::fs;
use std::path::Path;

/// Writes as many editors do: a new file, renamed over the old one.
fn save_over(slot: &Path, text: impl AsRef<[u8]>) {
    fs::write(slot.join(".TASK.md.swp"), text).unwrap();
    fs::rename(slot.join(".TASK.md.swp"), slot.join("TASK.md")).unwrap();
}

#[track_caller]
fn is_link(slot: &Path, task: &TestTask) {
    assert_eq!(fs::read_link(slot.join("TASK.md")).unwrap(), task.file());
}

#[test]
fn replaced_by_an_editor() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    is_link(&slot, &task);
    save_over(
        &slot,
        format!("{}\n## Notes\n\nby the editor\n", task.text()),
    );
    home.set(&task, Field::Priority, "high")
        .ok()
        .says("its text is taken over, the link put back");
    is_link(&slot, &task);
    assert!(task.text().contains("## Notes\n\nby the editor\n"));
    assert!(task.text().contains("priority: high"));
    assert_eq!(
        task.files_like("TASK.md.conflict"),
        [] as [std::path::PathBuf; 0]
    );
    // Twice in a row, and with nothing but a body.
    save_over(&slot, "## Notes\n\nby the editor\n\nand once more\n");
    home.set(&task, Field::Priority, "low").ok();
    is_link(&slot, &task);
    assert!(task.text().contains("and once more"));
}

#[test]
fn replaced_right_before_the_end() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    save_over(&slot, format!("{}\n## Notes\n\nlast words\n", task.text()));
    home.cancel(&task).ok();
    assert!(task.text().contains("last words"));
    assert!(fs::symlink_metadata(slot.join("TASK.md")).is_err());
}

#[test]
fn replaced_while_the_task_changed_too() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let base = task.text();
    save_over(&slot, format!("{base}\n## Notes\n\nby the editor\n"));
    task.append("## Plan\n\nAPPROACH: written meanwhile\n");
    home.set(&task, Field::Priority, "high").ok();
    is_link(&slot, &task);
    let mut texts = vec![task.text()];
    for kept in task.files_like("TASK.md.conflict") {
        texts.push(fs::read_to_string(kept).unwrap());
    }
    for text in ["by the editor", "written meanwhile"] {
        assert!(texts.iter().any(|found| found.contains(text)), "{texts:?}");
    }
}

#[test]
fn replaced_by_what_is_no_text() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    let before = task.text();
    save_over(&slot, b"\xff\xfe not text");
    home.set(&task, Field::Priority, "high").ok();
    is_link(&slot, &task);
    let [kept] = &task.files_like("TASK.md.conflict")[..] else {
        panic!("{:?}", task.files_like("TASK.md"));
    };
    assert_eq!(fs::read(kept).unwrap(), b"\xff\xfe not text");
    assert_eq!(task.text().lines().count(), before.lines().count());
}

/// An editor that was still open writes into the slot when its task is over.
#[test]
fn a_file_in_a_free_slot_is_not_the_next_tasks() {
    let home = TestHome::new();
    let (task, slot) = home.started("login");
    home.cancel(&task).ok();
    fs::write(slot.join("TASK.md"), "written too late").unwrap();
    let (next, same) = home.started("next");
    assert_eq!(same, slot);
    is_link(&slot, &next);
    home.set(&next, Field::Priority, "high").ok();
    assert!(!next.text().contains("written too late"));
    let kept = fingerprint(&task.folder.join("rescued"));
    assert!(
        kept.contains(&format!("{:?}", b"written too late")),
        "{kept}"
    );
}
