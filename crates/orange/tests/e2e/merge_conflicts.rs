//! Merges that cannot be: every kind of conflict, named and with nothing changed; histories without a common commit;
//! and work that is in already.

use crate::merges::{LINES, Merges};
use std::fs;
use std::path::Path;

/// A branch and main, each changed in its own way from a common commit; the merge names `words`.
#[track_caller]
fn conflict(
    base: impl Fn(&Path),
    theirs: impl Fn(&Path),
    ours: impl Fn(&Path),
    words: &[&str],
) -> Merges {
    let env = Merges::with_remote();
    let shop = env.shop();
    base(&shop);
    env.git(&shop, &["add", "-A"]);
    env.git(&shop, &["commit", "-q", "--allow-empty", "-m", "base"]);
    env.branch_by("work", |folder| {
        theirs(folder);
        env.commit_all(folder, "theirs");
    });
    ours(&shop);
    env.commit_all(&shop, "ours");
    env.git(&shop, &["push", "-q", "origin", "main"]);
    let task = env.reviewed("work");
    for strategy in ["squash", "merge", "rebase"] {
        env.refuses(&task, &["--strategy", strategy], 3, words);
        assert_eq!(task.events().last().unwrap(), "merge.stopped");
        // Git's own names for the sides are no one's.
        let head = env.at(&shop, "work");
        env.merge(&task, &["--strategy", strategy])
            .silent_about(&head);
    }
    let why = env.why(&task).says("conflicts with main");
    why.says("request-changes")
        .says(words[0].split(':').next().unwrap());
    // A branch that moved is looked at anew: it conflicts until it has main in it.
    env.branch("work", &[("moved", "x")]);
    env.why(&task).says("conflicts with main");
    env.branch_by("work", |folder| {
        env.git(folder, &["merge", "-q", "-s", "ours", "--no-edit", "main"]);
    });
    env.why(&task).silent_about("conflicts with main");
    env
}

fn write(folder: &Path, file: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn nothing(_: &Path) {}

#[test]
fn the_same_lines() {
    conflict(
        nothing,
        |folder| write(folder, "lines", LINES.replace("two", "mine\u{1b}[31m")),
        |folder| write(folder, "lines", LINES.replace("two", "yours")),
        &[
            "lines: both changed the same lines",
            "line 2 of main",
            "main: yours",
            "TASK-001: mine",
        ],
    );
}

#[test]
fn the_way_out_fits_where_the_task_is() {
    let env = Merges::with_remote();
    let shop = env.shop();
    let task = env.create(["work", "Not reviewed yet"]);
    env.bring_to(&task, "planning");
    let slot = env.slot_of(&task);
    write(&slot, "lines", LINES.replace("two", "mine"));
    env.commit_all(&slot, "theirs");
    write(&shop, "lines", LINES.replace("two", "yours"));
    env.commit_all(&shop, "ours");
    // Nobody can ask for changes of what was not handed over.
    env.merge(&task, &["--force"])
        .fails_with(3)
        .says("conflicts in 1 file")
        .says("`orange respawn TASK-001 --role worker --message ")
        .silent_about("request-changes");
    env.bring_on(&task, "reviewing");
    env.merge(&task, &["--force"])
        .fails_with(3)
        .says("`orange request-changes TASK-001 ");
}

#[test]
fn very_many_files_stay_readable() {
    let env = Merges::new();
    let names: Vec<String> = (0..300).map(|n| format!("file{n:03}")).collect();
    let all = |content: &str| -> Vec<(String, String)> {
        let long = format!("{content}\n{}", "x".repeat(5000));
        names
            .iter()
            .map(|name| (name.clone(), long.clone()))
            .collect()
    };
    let fill = |folder: &Path, content: &str| {
        for (name, text) in all(content) {
            write(folder, &name, text);
        }
        env.commit_all(folder, content);
    };
    env.branch_by("work", |folder| fill(folder, "theirs"));
    fill(&env.shop(), "ours");
    let task = env.reviewed("work");
    env.refuses(
        &task,
        &[],
        3,
        &["in 300 files", "file000", "and 280 files more"],
    );
    let run = env.merge(&task, &[]);
    assert!(run.stderr.len() < 20_000, "{}", run.stderr.len());
    let line = serde_json::to_string(&task.last("merge.stopped")).unwrap();
    assert!(line.len() < 20_000, "{}", line.len());
    let why = env.why(&task).says("295 more");
    assert!(why.stdout.len() < 1000, "{why}");
}
