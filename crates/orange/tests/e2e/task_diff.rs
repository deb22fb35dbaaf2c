//! `orange task diff`: what a task changed, as a patch, in numbers, on a terminal.

use crate::env::{TestEnvironment, TestTask, fingerprint, in_terminal};
use crate::run::Run;
use crate::task_place::script;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

fn diff(env: &TestEnvironment, task: &TestTask, words: &[&str]) -> Run {
    env.orange([&["task", "diff", &task.id], words].concat())
}

fn json(env: &TestEnvironment, task: &TestTask, words: &[&str]) -> Value {
    let mut value = diff(env, task, &[words, &["--json"]].concat()).ok().json();
    value["diff"].take()
}

/// A patch applied to a checkout of a commit; the tree that comes of it.
fn applied(env: &TestEnvironment, commit: &str, patch: &str) -> String {
    let folder = env.root().join("applied");
    let path = folder.to_str().unwrap();
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "--detach", path, commit],
    );
    let file = env.write("patch", patch);
    env.git(&folder, &["apply", "--index", file.to_str().unwrap()]);
    let tree = env.git(&folder, &["write-tree"]);
    env.git(&env.shop(), &["worktree", "remove", "--force", path]);
    tree
}

fn paths(diff: &Value) -> Vec<String> {
    let files = diff["files"].as_array().unwrap();
    let line = |file: &Value| {
        let word = |name: &str| file[name].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {} +{} -{}{}",
            word("status"),
            word("old_path"),
            word("path"),
            file["added"],
            file["deleted"],
            if file["binary"] == true {
                " binary"
            } else {
                ""
            }
        )
    };
    files.iter().map(line).collect()
}

/// Changed, new, renamed, deleted and binary files, in two commits.
fn with_work(env: &TestEnvironment) -> (TestTask, PathBuf) {
    let shop = env.shop();
    env.commit(&shop, "long", &"a line\n".repeat(30));
    env.commit(&shop, "gone", "old\n");
    let (task, slot) = env.started("login");
    env.git(&slot, &["mv", "long", "longer"]);
    env.commit(&slot, "README.md", "first\nsecond\n");
    env.git(&slot, &["rm", "-q", "gone"]);
    fs::write(slot.join("logo"), [0, 1, 2, 255]).unwrap();
    env.git(&slot, &["add", "."]);
    env.commit(&slot, "größe und mehr", "1\n");
    (task, slot)
}

#[test]
fn a_patch_holds_everything_and_can_be_applied() {
    let env = TestEnvironment::new();
    let (task, slot) = with_work(&env);
    // What happens on the target meanwhile is not the task's.
    env.commit(&env.shop(), "elsewhere", "new on main\n");
    let run = diff(&env, &task, &[]).ok().silent_about("elsewhere");
    assert_eq!(run.stderr, "");
    let base = env.git(&slot, &["merge-base", "main", "HEAD"]);
    let tree = env.git(&slot, &["rev-parse", "HEAD^{tree}"]);
    assert_eq!(applied(&env, &base, &run.stdout), tree);
    // Settings of the user's change nothing about that.
    for setting in ["diff.noprefix", "diff.mnemonicPrefix", "diff.relative"] {
        env.git(&env.shop(), &["config", setting, "true"]);
    }
    env.git(&env.shop(), &["config", "color.ui", "always"]);
    env.git(&env.shop(), &["config", "diff.context", "0"]);
    assert_eq!(diff(&env, &task, &[]).ok().stdout, run.stdout);
    assert_eq!(env.orange(["diff", "login"]).ok().stdout, run.stdout);
    assert_snapshot!(diff(&env, &task, &["--stat"]).ok(), @"
    README.md      |   3 ++-
    gone           |   1 -
    größe und mehr |   1 +
    logo           | Bin 0 -> 4 bytes
    long => longer |   0
    5 files changed, 3 insertions(+), 2 deletions(-)
    ");
    let json = json(&env, &task, &[]);
    assert_snapshot!(paths(&json).join("\n"), @"
    modified - README.md +2 -1
    deleted - gone +0 -1
    added - größe und mehr +1 -0
    added - logo +0 -0 binary
    renamed long longer +0 -0
    ");
    assert_eq!(json["base"], base);
    assert_eq!(json["head"], env.git(&slot, &["rev-parse", "HEAD"]));
    assert_eq!(
        (&json["commits"], &json["against"]),
        (&2.into(), &"main".into())
    );
    assert_snapshot!(json["totals"], @r#"{"files":5,"added":3,"deleted":2}"#);
}

#[test]
fn some_files_only() {
    let env = TestEnvironment::new();
    let (task, _) = with_work(&env);
    let run = diff(
        &env,
        &task,
        &["--file", "README.md", "--file", "g*", "--stat"],
    )
    .ok();
    assert_snapshot!(run, @"
    README.md      | 3 ++-
    gone           | 1 -
    größe und mehr | 1 +
    3 files changed, 3 insertions(+), 2 deletions(-)
    ");
    assert_snapshot!(diff(&env, &task, &["--file", "nowhere"]).ok(), @"
    ------- stderr -------
    note: TASK-001: nothing of that differs from main
    ");
    assert_eq!(
        json(&env, &task, &["--file", "nowhere"])["totals"]["files"],
        0
    );
    diff(&env, &task, &["--file=--output=x"]).ok();
    assert!(!env.shop().join("x").exists());
    assert_snapshot!(diff(&env, &task, &["--file", "/etc"]).fails_with(1), @"
    ------- stderr -------
    error: git diff: /etc: '/etc' is outside repository at '[TMP]/shop'
    hint: paths are those of the repository, from its root: `src/main.rs`, `docs`, `*.md`
    [exit status: 1]
    ");
}

#[test]
fn where_there_is_nothing_to_see_it_says_why() {
    let env = TestEnvironment::new();
    let pending = env.create(["later", "Not begun"]);
    assert_snapshot!(diff(&env, &pending, &[]).fails_with(4), @"
    ------- stderr -------
    error: there is no branch later in [TMP]/shop
    hint: TASK-001 has not begun; `orange spawn TASK-001` starts it
    [exit status: 4]
    ");
    diff(&env, &pending, &["--uncommitted"]).fails_with(3);
    let (task, slot) = env.started("login");
    assert_snapshot!(diff(&env, &task, &[]).ok(), @"
    ------- stderr -------
    note: TASK-002: login has no commits of its own yet; --uncommitted shows what lies in its worktree
    ");
    assert_eq!(json(&env, &task, &[])["commits"], 0);
    assert_snapshot!(diff(&env, &task, &["--uncommitted"]).ok(), @"
    ------- stderr -------
    note: TASK-002: everything in its worktree is committed
    ");
    assert_snapshot!(diff(&env, &task, &["--since-review"]).fails_with(3), @"
    ------- stderr -------
    error: TASK-002 has not been reviewed yet
    hint: `orange diff TASK-002` shows all of its work
    [exit status: 3]
    ");
    env.commit(&slot, "a", "1");
    env.git(&slot, &["revert", "--no-edit", "HEAD"]);
    assert_snapshot!(diff(&env, &task, &[]).ok(), @"
    ------- stderr -------
    note: TASK-002: nothing differs from main
    ");
    env.update(&task, &["--target-branch", "release"]).ok();
    assert_snapshot!(diff(&env, &task, &[]).fails_with(4), @"
    ------- stderr -------
    error: there is no branch release in [TMP]/shop to compare with
    hint: say where the work goes: `orange update TASK-002 --target-branch BRANCH`
    [exit status: 4]
    ");
    env.orange(["task", "diff", "--since-review", "--uncommitted"])
        .fails_with(2);
}

#[test]
fn since_the_review() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.commit(&slot, "a", "1\n");
    env.bring_on(&task, "reviewing");
    let run = diff(&env, &task, &["--since-review"]).ok();
    assert_eq!(run.stdout, "");
    run.says("nothing came after the review of");
    let reviewed = env.git(&slot, &["rev-parse", "HEAD"]);
    env.commit(&slot, "b", "2\n");
    env.commit(&slot, "c", "3\n");
    let later = json(&env, &task, &["--since-review"]);
    assert_eq!(later["commits"], 2);
    assert_eq!(later["base"], reviewed);
    assert_eq!(paths(&later), ["added - b +1 -0", "added - c +1 -0"]);
    // Amended: the reviewed commit is only to be found by its name.
    env.git(&slot, &["reset", "-q", "--soft", "main"]);
    env.git(&slot, &["rm", "-qf", "b"]);
    env.git(&slot, &["commit", "-q", "-m", "again"]);
    let run = diff(&env, &task, &["--since-review"]).ok();
    assert!(
        run.stdout.contains("b/c") && !run.stdout.contains("b/b"),
        "{run}"
    );
    run.says("is not part of login any more (rebased or amended)");
}

#[test]
fn what_is_not_committed() {
    let env = TestEnvironment::new();
    let (task, slot) = with_work(&env);
    let head = env.git(&slot, &["rev-parse", "HEAD"]);
    fs::write(slot.join("README.md"), "first\nthird\n").unwrap();
    fs::write(slot.join("staged"), "s\n").unwrap();
    env.git(&slot, &["add", "staged"]);
    fs::create_dir(slot.join("folder")).unwrap();
    fs::write(slot.join("folder/new"), [0, 7]).unwrap();
    fs::remove_file(slot.join("logo")).unwrap();
    env.write("shop/.git/info/exclude", "/TASK.md\n/ignored\n");
    fs::write(slot.join("ignored"), "i").unwrap();
    let before = (
        env.git(&slot, &["status", "--porcelain"]),
        fingerprint(&env.shop().join(".git/worktrees")),
    );
    let run = diff(&env, &task, &["--uncommitted"]).ok();
    assert_snapshot!(paths(&json(&env, &task, &["--uncommitted"])).join("\n"), @"
    modified - README.md +1 -1
    added - folder/new +0 -0 binary
    deleted - logo +0 -0 binary
    added - staged +1 -0
    ");
    let after = (
        env.git(&slot, &["status", "--porcelain"]),
        fingerprint(&env.shop().join(".git/worktrees")),
    );
    assert_eq!(before, after);
    let tree = applied(&env, &head, &run.stdout);
    env.git(&slot, &["add", "."]);
    assert_eq!(env.git(&slot, &["write-tree"]), tree);
}

#[test]
fn work_that_is_only_remembered() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let head = env.commit(&slot, "a", "1\n");
    env.bring_on(&task, "reviewing");
    // Without a worktree.
    env.cancel(&task).ok();
    assert_eq!(paths(&json(&env, &task, &[])), ["added - a +1 -0"]);
    env.git(&env.shop(), &["branch", "-q", "-D", "login"]);
    let run = diff(&env, &task, &[]).ok().says("the branch login is gone");
    assert!(run.stdout.contains("b/a"), "{run}");
    // In a clone that never had it.
    let clone = env.root().join("clone");
    let path = clone.to_str().unwrap();
    env.git(
        &env.shop(),
        &["clone", "-q", "--single-branch", "--no-local", ".", path],
    );
    env.orange(["project", "update", "shop", "--path", path])
        .ok();
    diff(&env, &task, &[]).fails_with(4).says(&head[..7]);
    env.orange(["project", "remove", "shop"]);
}

#[test]
fn what_was_merged() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    let base = env.git(&env.shop(), &["rev-parse", "main"]);
    env.commit(&slot, "a", "1\n");
    let head = env.commit(&slot, "b", "2\n");
    env.bring_on(&task, "reviewing");
    env.git(&env.shop(), &["merge", "-q", "--squash", "login"]);
    env.git(&env.shop(), &["commit", "-q", "-m", "login"]);
    let commit = env.git(&env.shop(), &["rev-parse", "main"]);
    env.orange(["task", "resolve", &task.id, "--message", "squashed"])
        .ok();
    // As a merge leaves it in the journal.
    let event = serde_json::json!({
        "timestamp": "2026-01-01T00:00:00Z", "type": "task.merged", "by": "human",
        "commit": commit, "head": head, "target": "main", "onto": base,
    });
    let journal = fs::read_to_string(task.journal()).unwrap();
    fs::write(task.journal(), format!("{journal}{event}\n")).unwrap();
    env.commit(&env.shop(), "later", "x");
    let merged = json(&env, &task, &[]);
    assert_eq!(
        (&merged["commits"], &merged["head"]),
        (&2.into(), &head.into())
    );
    let stat = &env.show(&task)["diff"];
    assert_eq!((&stat["commits"], &stat["files"]), (&2.into(), &2.into()));
    env.orange(["task", "show", &task.id])
        .says("2 commits, 2 files, +2 −0 against main");
    // The branch and its commits are gone; what landed is not.
    let clone = env.root().join("clone");
    let path = clone.to_str().unwrap();
    env.git(
        &env.shop(),
        &["clone", "-q", "--single-branch", "--no-local", ".", path],
    );
    env.orange(["project", "update", "shop", "--path", path])
        .ok();
    let run = diff(&env, &task, &["--stat"]).ok();
    run.says("2 files changed").says("its own commits are gone");
}

#[test]
fn unrelated_history_counts_as_new() {
    let env = TestEnvironment::new();
    let (task, slot) = env.started("login");
    env.git(&slot, &["checkout", "-q", "--orphan", "island"]);
    env.commit(&slot, "a", "1\n");
    env.git(&slot, &["branch", "-q", "-f", "login", "HEAD"]);
    let run = diff(&env, &task, &["--stat"]).ok();
    run.says("2 files changed")
        .says("it shares no history with main");
    assert_eq!(env.show(&task)["diff"]["files"], 2);
    assert_eq!(env.show(&task)["diff"]["base"], Value::Null);
}

#[test]
fn a_repository_runs_nothing_by_it() {
    let env = TestEnvironment::new();
    let (task, slot) = with_work(&env);
    let trap = script(&env, "bin/trap", "touch \"$(dirname \"$0\")/sprung\"; cat");
    let trap = trap.to_str().unwrap();
    for setting in [
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "core.pager",
        "pager.diff",
        "core.fsmonitor",
    ] {
        env.git(&env.shop(), &["config", setting, trap]);
    }
    env.write("shop/.git/info/attributes", "* diff=evil\n");
    for words in [&[][..], &["--stat"], &["--uncommitted"], &["--json"]] {
        fs::write(slot.join("README.md"), "changed").unwrap();
        diff(&env, &task, words).ok();
    }
    let orange = crate::run::program().display().to_string();
    in_terminal(&env, 80, &format!("PAGER=cat '{orange}' diff TASK-001"));
    let sprung = Path::new(trap).with_file_name("sprung");
    assert!(!sprung.exists());
    // The trap is a real one.
    env.git(&env.shop(), &["diff", "main...login"]);
    assert!(sprung.exists());
}

#[test]
fn on_a_terminal_it_is_coloured_paged_and_harmless() {
    let env = TestEnvironment::new();
    let (_, slot) = env.started("login");
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[8mhidden\u{1b}[0m \u{202e}back\r\n\tplain\n";
    env.commit(&slot, "a", hostile);
    let orange = crate::run::program().display().to_string();
    let show = |words: &str| in_terminal(&env, 80, &format!("{words} '{orange}' diff TASK-001"));
    let coloured = show("PAGER=cat");
    assert!(
        coloured.contains("\u{1b}[32m+\tplain\u{1b}[0m\n"),
        "{coloured}"
    );
    assert!(
        coloured.contains("␛]0;owned␇␛[8mhidden␛[0m \u{fffd}back␍"),
        "{coloured}"
    );
    assert!(
        coloured.contains("TASK-001 login: 1 commit since main at"),
        "{coloured}"
    );
    let plain = show("NO_COLOR=1 PAGER=cat");
    assert!(
        !plain.contains('\u{1b}') && plain.contains("+\tplain\n"),
        "{plain}"
    );
    // The user's own pager gets it, whole, with colours.
    let pager = script(&env, "bin/pager", "echo \"[$LESS]\"; sed 's/^/> /'");
    let pager = pager.display().to_string();
    let paged = show(&format!("GIT_PAGER='{pager} -x'"));
    assert!(paged.contains("[FRX]"), "{paged}");
    assert!(paged.contains("> \u{1b}[32m+\tplain\u{1b}[0m"), "{paged}");
    // One that stops reading is no failure; one that is not there neither.
    let stopped = show("GIT_PAGER='head -1'") + &show("GIT_PAGER=true");
    assert!(!stopped.contains("error"), "{stopped}");
    let without = show("PAGER=no-such-pager");
    assert!(without.contains("+\tplain"), "{without}");
    assert!(
        without.contains("the pager `no-such-pager` cannot be started"),
        "{without}"
    );
    let straight = in_terminal(
        &env,
        80,
        &format!("'{orange}' diff TASK-001 --no-pager --stat"),
    );
    assert!(
        straight.contains(" a | 2 \u{1b}[32m++\u{1b}[0m\n"),
        "{straight}"
    );
    env.git(&env.shop(), &["config", "color.diff", "never"]);
    assert!(!show("PAGER=cat").contains('\u{1b}'));
}
