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
    // What is said of the branch is over once the branch has moved.
    env.branch("work", &[("moved", "x")]);
    env.why(&task).silent_about("conflicts with main");
    env
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
        .says("`orange task respawn TASK-001 --role worker --message ")
        .silent_about("request-changes");
    env.bring_on(&task, "reviewing");
    env.merge(&task, &["--force"])
        .fails_with(3)
        .says("`orange task request-changes TASK-001 ");
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
    let env = Merges::with_remote();
    let shop = env.shop();
    let commit = |folder: &Path, revision: &str| {
        at(folder, revision);
        env.git(folder, &["commit", "-q", "-m", revision]);
    };
    commit(&shop, "main~2");
    env.branch_by("work", |folder| commit(folder, "main"));
    commit(&shop, "side");
    env.git(&shop, &["push", "-q", "origin", "main"]);
    let task = env.reviewed("work");
    env.refuses(&task, &[], 3, &["library: both moved the submodule"]);
}

#[test]
fn only_the_second_commit_conflicts() {
    let env = Merges::new();
    env.branch_by("work", |folder| {
        env.commit(folder, "first", "x");
        env.commit(folder, "lines", "theirs");
    });
    env.commit(&env.shop(), "lines", "ours");
    let task = env.reviewed("work");
    env.refuses(
        &task,
        &["--strategy", "rebase"],
        3,
        &["lines", "in 1 file;"],
    );
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

#[test]
fn a_history_of_its_own() {
    let env = Merges::with_remote();
    env.branch_by("work", |folder| {
        env.git(folder, &["switch", "-q", "--orphan", "alone"]);
        env.commit(folder, "new", "x");
    });
    let task = env.reviewed("alone");
    for strategy in ["squash", "merge", "rebase"] {
        env.refuses(
            &task,
            &["--strategy", strategy],
            3,
            &["no commit in common"],
        );
    }
    env.refuses(&task, &["--strategy", "ff"], 3, &["fast-forward"]);
}

#[test]
fn a_shallow_clone() {
    let env = Merges::with_remote();
    env.colleague_pushes("theirs", "x");
    let url = format!("file://{}", env.remote().display());
    env.git(&env.root(), &["clone", "-q", "--depth=1", &url, "shallow"]);
    let shallow = env.root().join("shallow");
    let path = shallow.to_str().unwrap();
    env.orange(["project", "add", path, "--name", "shallow"])
        .ok();
    env.git(&shallow, &["switch", "-q", "-c", "work"]);
    env.commit(&shallow, "new", "x");
    env.git(&shallow, &["switch", "-q", "main"]);
    let task = env.create([
        "work",
        "Do it",
        "--status",
        "reviewing",
        "--project",
        "shallow",
    ]);
    env.merge(&task, &[]).ok().says("pushed");
    assert!(env.file(&env.remote(), "main", "new").is_some());
}

#[test]
fn nothing_to_merge() {
    let env = Merges::new();
    let (task, _) = env.started("work");
    env.bring_on(&task, "reviewing");
    env.refuses(&task, &[], 3, &["no commits of its own", "task resolve"]);
    // Also when main has gone on meanwhile.
    env.commit(&env.shop(), "other", "x");
    env.refuses(&task, &[], 3, &["no commits of its own"]);
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
            let env = Merges::with_remote();
            let shop = env.shop();
            let task = env.work("work", &[("new", "x")]);
            for command in commands {
                env.git(&shop, command);
            }
            env.commit(&shop, "later", "x");
            env.git(&shop, &["push", "-q", "origin", "main"]);
            let before = env.everything();
            env.merge(&task, &["--strategy", strategy])
                .ok()
                .says("in main already");
            assert_eq!(env.everything(), before, "{name} {strategy}");
            assert!(env.is_done(&task), "{name} {strategy}");
        }
    }
}

#[test]
fn merged_twice_and_a_branch_that_is_gone() {
    let env = Merges::with_remote();
    let task = env.work("work", &[("new", "x")]);
    env.merge(&task, &[]).ok();
    let before = env.everything();
    env.merge(&task, &[]).ok().says("in main already");
    assert_eq!(env.everything(), before);
    let gone = env.work("gone", &[("other", "x")]);
    env.git(&env.shop(), &["branch", "-q", "-D", "gone"]);
    env.refuses(&gone, &[], 4, &["no branch gone", "task resolve TASK-002"]);
}
