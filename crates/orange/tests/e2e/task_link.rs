//! TASK.md in a worktree: a link to the task's own file that git does not see and editors may replace.

use crate::env::{TestEnvironment, TestTask};
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
fn replaced_and_killed_on_the_way() {
    for hit in 1.. {
        let env = TestEnvironment::new();
        let (task, slot) = env.started("login");
        save_over(
            &slot,
            format!("{}\n## Notes\n\nby the editor\n", task.text()),
        );
        let run = env
            .call(["task", "update", &task.id, "--priority", "high"])
            .var("ORANGE_CRASH_AT", format!("*:{hit}"))
            .run();
        if run.code == 0 {
            assert!(hit > 3, "{hit} points only");
            break;
        }
        env.update(&task, &["--add-tag", "ui"]).ok();
        is_link(&slot, &task);
        assert!(task.text().contains("by the editor"), "{run}");
    }
}

#[test]
fn git_does_not_see_it() {
    let env = TestEnvironment::new();
    let exclude = env.shop().join(".git/info/exclude");
    fs::create_dir_all(exclude.parent().unwrap()).unwrap();
    fs::write(&exclude, "# mine\n*.bak").unwrap();
    let (task, slot) = env.started("login");
    assert_eq!(env.git(&slot, &["status", "--porcelain", "-uall"]), "");
    // Only at the top: a file of that name further down is the repository's business.
    fs::create_dir(slot.join("docs")).unwrap();
    fs::write(slot.join("docs/TASK.md"), "a page").unwrap();
    fs::write(slot.join("x.bak"), "ignored as before").unwrap();
    let seen = env.git(&slot, &["status", "--porcelain", "-uall"]);
    assert_eq!(seen, "?? docs/TASK.md");
    let text = fs::read_to_string(&exclude).unwrap();
    assert!(text.starts_with("# mine\n*.bak\n"), "{text}");
    for line in ["/TASK.md", "/ORANGE_TASK.md"] {
        assert_eq!(
            text.lines().filter(|found| found == &line).count(),
            1,
            "{text}"
        );
    }
    env.started("other");
    assert_eq!(fs::read_to_string(&exclude).unwrap(), text);
    // It goes with the slot, and the lines with the project.
    env.cancel(&task).ok();
    assert!(fs::symlink_metadata(slot.join("TASK.md")).is_err());
    assert_eq!(
        env.rescued(&env.shop(), &task, "docs/TASK.md").as_deref(),
        Some("a page")
    );
    assert_eq!(env.rescued(&env.shop(), &task, "TASK.md"), None);
    for task in env.keys(["--status", "planning"]) {
        env.orange(["task", "cancel", &task]).ok();
    }
    env.orange(["project", "remove", "shop"]).ok();
    assert_eq!(fs::read_to_string(&exclude).unwrap(), "# mine\n*.bak\n");
}
