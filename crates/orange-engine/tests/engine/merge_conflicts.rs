//! Merges that cannot be: every kind of conflict, named and with nothing changed; histories without a common commit;
//! and work that is in already.

use crate::merges::{Merges, by, plain};
use orange_engine::Code;
use orange_engine::verbs::merge::MergeWish;
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
    let home = Merges::with_remote();
    let shop = home.shop();
    base(&shop);
    home.git(&shop, &["add", "-A"]);
    home.git(&shop, &["commit", "-q", "--allow-empty", "-m", "base"]);
    home.branch_by("work", |folder| {
        theirs(folder);
        home.commit_all(folder, "theirs");
    });
    ours(&shop);
    home.commit_all(&shop, "ours");
    home.git(&shop, &["push", "-q", "origin", "main"]);
    let task = home.reviewed("work");
    for strategy in ["squash", "merge", "rebase"] {
        home.refuses(&task, &by(strategy), Code::Conflict, words);
        assert_eq!(task.events().last().unwrap(), "merge.stopped");
        // Git's own names for the sides are no one's.
        let head = home.at(&shop, "work");
        home.merge(&task, &by(strategy)).silent_about(&head);
    }
    let why = home.why(&task);
    let file = words[0].split(':').next().unwrap();
    assert!(
        why.contains("conflicts with main") && why.contains(file),
        "{why}"
    );
    // Another commit resolves nothing; a merge of main does.
    home.branch("work", &[("moved", "x")]);
    assert!(home.why(&task).contains("conflicts with main"));
    home.branch_by("work", |folder| {
        home.git(folder, &["merge", "-q", "-s", "ours", "--no-edit", "main"]);
    });
    assert!(!home.why(&task).contains("conflicts with main"));
    home
}

fn write(folder: &Path, file: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn nothing(_: &Path) {}

fn git(folder: &Path, words: &[&str]) {
    let mut git = std::process::Command::new("git");
    git.env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(
        git.current_dir(folder)
            .args(words)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_binary_file() {
    conflict(
        |folder| write(folder, "image", [0, 1, 2, 3, 255]),
        |folder| write(folder, "image", [0, 9, 2, 3, 255]),
        |folder| write(folder, "image", [0, 8, 2, 3, 255]),
        &["image: both changed it, and it is binary"],
    );
}

#[test]
fn two_new_names() {
    conflict(
        nothing,
        |folder| git(folder, &["mv", "lines", "theirs"]),
        |folder| git(folder, &["mv", "lines", "ours"]),
        &["lines: both renamed it", "ours: ", "theirs: "],
    );
}

#[test]
fn deleted_and_renamed() {
    conflict(
        nothing,
        |folder| git(folder, &["mv", "lines", "new name"]),
        |folder| git(folder, &["rm", "-q", "lines"]),
        &[
            "new name: deleted in main, renamed in TASK-001",
            "in 1 file;",
        ],
    );
}

#[test]
fn deleted_and_changed() {
    conflict(
        nothing,
        |folder| write(folder, "lines", "changed"),
        |folder| git(folder, &["rm", "-q", "lines"]),
        &["lines: deleted in main, changed in TASK-001"],
    );
    conflict(
        nothing,
        |folder| git(folder, &["rm", "-q", "lines"]),
        |folder| write(folder, "lines", "changed"),
        &["lines: deleted in TASK-001, changed in main"],
    );
}

#[test]
fn two_new_files_of_one_name() {
    conflict(
        nothing,
        |folder| write(folder, "new", "theirs\n"),
        |folder| write(folder, "new", "ours\n"),
        &["new: both added it", "main: ours", "TASK-001: theirs"],
    );
}

#[test]
fn a_file_and_a_folder() {
    conflict(
        nothing,
        |folder| write(folder, "thing", "a file"),
        |folder| write(folder, "thing/part", "in a folder"),
        &[
            "thing: a file on one side, a folder on the other",
            "in 1 file;",
        ],
    );
}

#[test]
fn odd_names() {
    let name = "ordner/ü \"q\" '#1' $(x).txt";
    conflict(
        |folder| write(folder, name, "a\n"),
        |folder| write(folder, name, "b\n"),
        |folder| write(folder, name, "c\n"),
        &[name],
    );
}

#[test]
fn a_submodule() {
    let library = tempfile::tempdir().unwrap();
    let place = library.path();
    git(place, &["init", "-q", "-b", "main"]);
    for name in ["one", "two", "three"] {
        write(place, name, name);
        git(place, &["add", "-A"]);
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        git(place, &[&who[..], &["commit", "-q", "-m", name]].concat());
    }
    git(place, &["branch", "side", "HEAD~1"]);
    let source = place.to_str().unwrap();
    let at = |folder: &Path, revision: &str| {
        let id = std::process::Command::new("git")
            .args(["-C", source, "rev-parse", revision])
            .output()
            .unwrap();
        let id = String::from_utf8(id.stdout).unwrap();
        let entry = format!("160000,{},library", id.trim());
        git(folder, &["update-index", "--add", "--cacheinfo", &entry]);
        // The commit takes the entry; there is no folder to look into.
        fs::create_dir_all(folder.join("library")).unwrap();
    };
    let home = Merges::with_remote();
    let shop = home.shop();
    let commit = |folder: &Path, revision: &str| {
        at(folder, revision);
        home.git(folder, &["commit", "-q", "-m", revision]);
    };
    commit(&shop, "main~2");
    home.branch_by("work", |folder| commit(folder, "main"));
    commit(&shop, "side");
    home.git(&shop, &["push", "-q", "origin", "main"]);
    let task = home.reviewed("work");
    home.refuses(
        &task,
        &plain(),
        Code::Conflict,
        &["library: both moved the submodule"],
    );
}

#[test]
fn only_the_second_commit_conflicts() {
    let home = Merges::new();
    home.branch_by("work", |folder| {
        home.commit(folder, "first", "x");
        home.commit(folder, "lines", "theirs");
    });
    home.commit(&home.shop(), "lines", "ours");
    let task = home.reviewed("work");
    home.refuses(
        &task,
        &by("rebase"),
        Code::Conflict,
        &["lines", "in 1 file;"],
    );
}

#[test]
fn who_rebases_is_told_to_rebase() {
    let home = Merges::new();
    home.branch("work", &[("lines", "theirs")]);
    home.commit(&home.shop(), "lines", "ours");
    let task = home.reviewed("work");
    home.refuses(&task, &plain(), Code::Conflict, &["lines"]);
    assert!(home.why(&task).contains("must bring main in first"));
    home.refuses(&task, &by("rebase"), Code::Conflict, &["lines"]);
    assert!(home.why(&task).contains("must rebase it onto main first"));
    let rebase_anyway = MergeWish {
        force: true,
        ..by("rebase")
    };
    // With main merged into it, the first commit conflicts as before.
    home.branch_by("work", |folder| {
        home.git(folder, &["merge", "-q", "-s", "ours", "--no-edit", "main"]);
    });
    home.refuses(&task, &rebase_anyway, Code::Conflict, &["lines"]);
    home.branch_by("work", |folder| {
        home.git(folder, &["rebase", "-q", "-X", "theirs", "main"]);
    });
    home.merge(&task, &rebase_anyway).ok();
}

#[test]
fn a_history_of_its_own() {
    let home = Merges::with_remote();
    home.branch_by("work", |folder| {
        home.git(folder, &["switch", "-q", "--orphan", "alone"]);
        home.commit(folder, "new", "x");
    });
    let task = home.reviewed("alone");
    for strategy in ["squash", "merge", "rebase"] {
        home.refuses(
            &task,
            &by(strategy),
            Code::ConditionUnmet,
            &["no commit in common"],
        );
    }
    home.refuses(&task, &by("ff"), Code::ConditionUnmet, &["fast-forward"]);
}

#[test]
fn a_shallow_clone() {
    let home = Merges::with_remote();
    home.colleague_pushes("theirs", "x");
    let url = format!("file://{}", home.remote().display());
    home.git(&home.root(), &["clone", "-q", "--depth=1", &url, "shallow"]);
    let shallow = home.root().join("shallow");
    home.add_project_as(&shallow, Some("shallow")).ok();
    home.git(&shallow, &["switch", "-q", "-c", "work"]);
    home.commit(&shallow, "new", "x");
    home.git(&shallow, &["switch", "-q", "main"]);
    let task = home.create_with("work", |new| {
        new.project = "shallow".to_owned();
        new.status = Some("reviewing".parse().unwrap());
    });
    assert!(home.merge(&task, &plain()).value().pushed);
    assert!(home.file_at(&home.remote(), "main", "new").is_some());
}

#[test]
fn nothing_to_merge() {
    let home = Merges::new();
    let (task, _) = home.started("work");
    home.bring_on(&task, "reviewing");
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["no commits of its own", "Resolve { task"],
    );
    // Also when main has gone on meanwhile.
    home.commit(&home.shop(), "other", "x");
    home.refuses(
        &task,
        &plain(),
        Code::ConditionUnmet,
        &["no commits of its own"],
    );
}

#[test]
fn work_that_came_in_by_hand() {
    let ways: [(&str, &[&[&str]]); 4] = [
        ("ff", &[&["merge", "-q", "--ff-only", "work"]]),
        ("join", &[&["merge", "-q", "--no-ff", "--no-edit", "work"]]),
        (
            "pick",
            &[
                &["commit", "-q", "--allow-empty", "-m", "x"],
                &["cherry-pick", "work"],
            ],
        ),
        (
            "squash",
            &[
                &["merge", "-q", "--squash", "work"],
                &["commit", "-q", "-m", "by hand"],
            ],
        ),
    ];
    for (name, commands) in ways {
        for strategy in ["squash", "merge", "rebase"] {
            let home = Merges::with_remote();
            let shop = home.shop();
            let task = home.work("work", &[("new", "x")]);
            for command in commands {
                home.git(&shop, command);
            }
            home.commit(&shop, "later", "x");
            home.git(&shop, &["push", "-q", "origin", "main"]);
            let before = home.everything();
            assert!(home.merge(&task, &by(strategy)).value().already);
            assert_eq!(home.everything(), before, "{name} {strategy}");
            assert!(home.is_done(&task), "{name} {strategy}");
        }
    }
}

#[test]
fn merged_twice_and_a_branch_that_is_gone() {
    let home = Merges::with_remote();
    let task = home.work("work", &[("new", "x")]);
    home.merge(&task, &plain()).ok();
    let before = home.everything();
    assert!(home.merge(&task, &plain()).value().already);
    assert_eq!(home.everything(), before);
    let gone = home.work("gone", &[("other", "x")]);
    home.git(&home.shop(), &["branch", "-q", "-D", "gone"]);
    home.refuses(
        &gone,
        &plain(),
        Code::NotFound,
        &["no branch gone", "Resolve { task: shop:TASK-002 }"],
    );
}
