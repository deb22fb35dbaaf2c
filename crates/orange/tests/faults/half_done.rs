//! Git that fails after its work, that fails instead of answering, and that leaves locks: what Orange makes of it.

use crate::env::{Env, told};
use crate::git_wrapper::{Way, Wrapper, locks};
use crate::merge::{WORLDS, checkout_is_the_users, holds, merge, merged_again, prepared};
use crate::scenarios::with_work;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Moves a file away and puts a folder in its place that git cannot remove: nobody can write the file, root included.
fn block(file: &Path) {
    fs::rename(file, file.with_extension("aside")).unwrap();
    fs::create_dir(file).unwrap();
    fs::write(file.join("in the way"), "").unwrap();
}

fn unblock(file: &Path) {
    fs::remove_dir_all(file).unwrap();
    fs::rename(file.with_extension("aside"), file).unwrap();
}

/// Waits for a condition; one that never comes fails the test.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(
            std::time::Instant::now() < deadline,
            "waited in vain: {what}"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn commit_at(env: &Env, name: &str) -> String {
    let text = env.git_says(env.repository(), &["rev-parse", name]);
    text.trim().to_owned()
}

#[test]
fn a_merge_whose_reflog_cannot_be_written_is_finished() {
    let (env, key) = prepared(WORLDS[0]);
    let log = env.repository().join(".git/logs/HEAD");
    block(&log);
    let output = env.run(&merge(&key, WORLDS[0]));
    unblock(&log);
    assert!(output.status.success(), "{}", told(&output));
    assert!(holds(&env, &key, WORLDS[0], "a reflog that is a folder"));
    // What the user commits next must not undo the merge.
    env.git(&["commit", "--quiet", "--all", "--message=the user's own"]);
    let changed = env.git_says(env.repository(), &["show", "--format=", "--name-only"]);
    assert_eq!(changed, "mine.txt\n");
}

#[test]
fn a_target_that_was_moved_by_a_git_that_was_killed_then_is_merged() {
    for world in [WORLDS[0], WORLDS[1]] {
        let (env, key) = prepared(world);
        let script = "case \"$*\" in *'update-ref -m '*) \"$real\" \"$@\"; kill -9 $$;; esac";
        let output = Wrapper::with(&env, script).run(&env, &merge(&key, world));
        assert!(output.status.success(), "{world:?}: {}", told(&output));
        assert!(holds(&env, &key, world, "killed after its work"));
    }
}

#[test]
fn an_index_that_cannot_be_put_in_place_stays_locked_until_it_can() {
    let (env, key) = prepared(WORLDS[0]);
    let index = env.repository().join(".git/index");
    let script = format!(
        "case \"$*\" in *'update-ref -m '*) \"$real\" \"$@\"; code=$?\n\
         mv '{0}' '{0}.aside' && mkdir -p '{0}/in the way'; exit $code;; esac",
        index.display()
    );
    let output = Wrapper::with(&env, &script).run(&env, &merge(&key, WORLDS[0]));
    assert!(!output.status.success(), "{}", told(&output));
    let said = told(&output);
    assert!(
        said.contains("the next command finishes the merge"),
        "{said}"
    );
    // Nobody can commit the old index over the merge meanwhile.
    assert!(env.repository().join(".git/index.lock").exists());
    let listed = env.run(&["task", "list"]);
    assert!(listed.status.success(), "{}", told(&listed));
    unblock(&index);
    env.ok(&["task", "list"]);
    assert!(holds(&env, &key, WORLDS[0], "with its index again"));
}

#[test]
fn a_git_that_cannot_read_head_does_not_make_a_cancel_reset_the_branch() {
    for way in ["exit 128", "exit 1", "kill -9 $$"] {
        let env = Env::new();
        let key = with_work(&env);
        let before = commit_at(&env, "the-branch");
        let script = format!("case \"$*\" in *'rev-parse --verify --quiet HEAD'*) {way};; esac");
        let cancel = ["task", "cancel", &key, "--yes"];
        let wrapper = Wrapper::with(&env, &script);
        wrapper.run(&env, &cancel);
        assert!(
            wrapper
                .calls()
                .iter()
                .any(|call| call.contains("--quiet HEAD")),
            "{way}: not asked"
        );
        assert_eq!(commit_at(&env, "the-branch"), before, "{way}");
        env.ok(&["task", "retry-hooks", &key]);
        crate::check::at_rest(&env, way);
        assert_eq!(commit_at(&env, "the-branch"), before, "{way}: at the end");
    }
}

/// The slot is half cleaned when git fails, and the task is moved back: its next agent finds its branch and its files.
#[test]
fn a_slot_whose_cleaning_failed_is_made_ready_again() {
    for call in ["read-tree --reset", "hash-object", "update-ref --no-deref"] {
        let env = crate::scenarios::empty_home();
        // The slot had another task before.
        let before = env.create(&["before", "Earlier work"]);
        env.update(&before, &["--status", "planning"]);
        env.ok(&["task", "cancel", &before, "--yes"]);
        let key = crate::scenarios::task_in(&env, "working with a child");
        let path = env.ok(&["task", "path", &key])["path"].clone();
        let slot = Path::new(path.as_str().unwrap());
        fs::write(slot.join("new.txt"), "new").unwrap();
        env.git_at(slot, &["add", "--all"]);
        env.git_at(slot, &["commit", "--quiet", "--message=work"]);
        let before = commit_at(&env, "the-branch");
        let script = format!("case \"$*\" in *'{call}'*) exit 128;; esac");
        let delegate = ["task", "update", &key, "--status", "delegated"];
        let wrapper = Wrapper::with(&env, &script);
        wrapper.run(&env, &delegate);
        let calls = wrapper.calls();
        assert!(
            calls.iter().any(|it| it.contains(call)),
            "{call}: {calls:?}"
        );
        fs::write(slot.join("late.txt"), "late").unwrap();
        env.update(&key, &["--status", "working"]);
        assert_eq!(commit_at(&env, "the-branch"), before, "{call}");
        let path = env.ok(&["task", "path", &key])["path"].clone();
        let slot = Path::new(path.as_str().unwrap());
        let branch = env.git_says(slot, &["symbolic-ref", "--short", "HEAD"]);
        assert_eq!(branch.trim(), "the-branch", "{call}");
        // What nobody had committed is still there, or in a rescue of its own task.
        let changed = env.git_says(slot, &["status", "--porcelain"]);
        let rescues = env.run(&["task", "rescue", "show", &key, "latest"]);
        let is_rescued = told(&rescues).contains("late.txt");
        assert!(
            changed.trim() == "?? late.txt" || is_rescued,
            "{call}: {changed}{}",
            told(&rescues)
        );
        assert!(
            changed.is_empty() || changed.trim() == "?? late.txt",
            "{call}: {changed}"
        );
        assert!(slot.join("TASK.md").is_symlink(), "{call}");
        crate::check::at_rest(&env, call);
    }
}

/// The target is checked out in a worktree of the user's, and git dies with Orange when it has written the files there: the
/// next command takes the files back, or finishes the merge.
#[test]
fn a_killed_merge_in_a_linked_worktree_is_finished_or_taken_back() {
    for kill in ["kill -9 $PPID; kill -9 $$", "kill -9 $$"] {
        let (env, key) = prepared(WORLDS[1]);
        let other = env.folder().join("other");
        let place = other.to_str().unwrap();
        env.git(&["worktree", "add", "--quiet", place, "main"]);
        let script = format!(
            "case \"$*\" in *'read-tree -m -u '*) \"$real\" \"$@\"; : > \"$dir/fired\"; {kill};; esac"
        );
        let wrapper = Wrapper::with(&env, &script);
        wrapper.run(&env, &merge(&key, WORLDS[1]));
        assert!(wrapper.has_fired(), "{kill}");
        env.ok(&["task", "list"]);
        let changed = env.git_says(&other, &["status", "--porcelain"]);
        assert_eq!(changed, "", "{kill}");
        assert_eq!(locks(&env), Vec::<String>::new(), "{kill}");
        merged_again(&env, &key, WORLDS[1], kill);
        assert_eq!(
            env.git_says(&other, &["status", "--porcelain"]),
            "",
            "{kill}"
        );
    }
}

/// A release is cut short after HEAD was moved and before any file was: the next attempt compares the files with the commit
/// that they belong to, so it finds what it has saved, and nothing that was committed is taken for a change.
#[test]
fn a_release_that_goes_on_makes_no_second_rescue() {
    for call in ["diff-tree -r -z --raw", "hash-object --no-filters"] {
        for how in ["exit 128", "kill -9 $PPID; kill -9 $$"] {
            let env = crate::scenarios::empty_home();
            let key = crate::scenarios::task_in(&env, "working");
            let slot = env.home().join("workspaces/shop--1");
            fs::write(slot.join("done.txt"), "done").unwrap();
            env.git_at(&slot, &["add", "done.txt"]);
            env.git_at(&slot, &["commit", "--quiet", "--message=work"]);
            fs::write(slot.join("late.txt"), "late").unwrap();
            // The first such call compares the worktree before it is saved.
            let script = format!(
                "case \"$*\" in *'{call}'*) [ -e '{}/head' ] && {{ : > \"$dir/fired\"; {how}; }};; esac",
                env.home().join("workspaces/.leaving/shop--1").display()
            );
            let wrapper = Wrapper::with(&env, &script);
            wrapper.run(&env, &["task", "cancel", &key, "--yes"]);
            let label = format!("{call}: {how}");
            assert!(wrapper.has_fired(), "{label}");
            env.ok(&["task", "list"]);
            env.run(&["task", "retry-hooks", &key]);
            let refs = env.git_says(env.repository(), &["for-each-ref", "refs/orange/rescue"]);
            assert_eq!(refs.lines().count(), 1, "{label}: {refs}");
            let again = env.create(&["again", "--from", &key, "--with-work"]);
            env.update(&again, &["--status", "planning"]);
            let path = env.ok(&["task", "path", &again])["path"].clone();
            let found = fs::read_to_string(Path::new(path.as_str().unwrap()).join("late.txt"));
            assert_eq!(found.unwrap(), "late", "{label}");
            crate::check::at_rest(&env, &label);
        }
    }
}

/// A git of the user's is at work where an earlier one of Orange's was killed. It is called from elsewhere, by GIT_DIR.
#[test]
fn the_locks_of_a_live_git_that_is_called_from_elsewhere_stay() {
    use std::io::Write;
    let (env, key) = prepared(WORLDS[0]);
    killed_over_its_locks(&env, &key, true);
    until("git holds its locks", || !locks(&env).is_empty());
    until("git is dead", || {
        let gits = fs::read_dir("/proc").unwrap().flatten();
        !gits.into_iter().any(|process| {
            fs::read_link(process.path().join("cwd")).is_ok_and(|at| at.starts_with(env.folder()))
        })
    });
    for lock in locks(&env) {
        fs::remove_file(lock).unwrap();
    }
    let (from, to) = (commit_at(&env, "main"), commit_at(&env, "the-branch"));
    let mut git = std::process::Command::new("git")
        .current_dir("/")
        .args(["update-ref", "--stdin"])
        .env("GIT_DIR", env.repository().join(".git"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut words = git.stdin.take().unwrap();
    writeln!(words, "start\nupdate refs/heads/main {to} {from}\nprepare").unwrap();
    until("git has prepared", || locks(&env).len() >= 2);
    env.ok(&["task", "list"]);
    writeln!(words, "commit").unwrap();
    drop(words);
    assert!(git.wait().unwrap().success());
    assert_eq!(commit_at(&env, "main"), to);
}

/// A lock in another worktree of the user's is not that of a git that was killed elsewhere.
#[test]
fn a_lock_in_another_worktree_stays() {
    let (env, key) = prepared(WORLDS[0]);
    let other = env.folder().join("other");
    env.git(&["branch", "of-the-user"]);
    let place = other.to_str().unwrap();
    env.git(&["worktree", "add", "--quiet", place, "of-the-user"]);
    let own = env.git_says(&other, &["rev-parse", "--absolute-git-dir"]);
    let lock = Path::new(own.trim()).join("HEAD.lock");
    let script = format!(
        "case \"$*\" in *'update-ref -m '*) : > '{}'; kill -9 $$;; esac",
        lock.display()
    );
    Wrapper::with(&env, &script).run(&env, &merge(&key, WORLDS[0]));
    assert!(lock.exists());
    merged_again(&env, &key, WORLDS[0], "with a lock elsewhere");
    assert!(lock.exists());
}

/// A merge in which git is killed while it holds the locks of the target, and of HEAD.
fn killed_over_its_locks(env: &Env, key: &str, orange_too: bool) {
    let kill_orange = if orange_too { "kill -9 $PPID; " } else { "" };
    let script = format!(
        "case \"$*\" in *'update-ref -m '*) {kill_orange}exec strace -f -o /dev/null -e trace=rename \
         -e inject=rename:signal=SIGKILL:when=1 \"$real\" \"$@\";; esac"
    );
    let output = Wrapper::with(env, &script).run(env, &merge(key, WORLDS[0]));
    assert!(!output.status.success(), "{}", told(&output));
}

#[test]
fn locks_of_a_git_that_orange_started_go_with_it() {
    let (env, key) = prepared(WORLDS[0]);
    killed_over_its_locks(&env, &key, false);
    assert_eq!(locks(&env), Vec::<String>::new());
    checkout_is_the_users(&env, "git was killed");
    merged_again(&env, &key, WORLDS[0], "git was killed");
}

#[test]
fn locks_of_a_git_that_died_with_its_orange_go_with_the_next_command() {
    let (env, key) = prepared(WORLDS[0]);
    killed_over_its_locks(&env, &key, true);
    // Orange is dead before its git is.
    until("git holds its locks", || {
        locks(&env).iter().any(|lock| lock.ends_with("main.lock"))
    });
    let is_at_work = || {
        let text = fs::read_dir(env.home().join(".git-calls")).unwrap();
        text.flatten().any(|entry| {
            let note = fs::read_to_string(entry.path()).unwrap_or_default();
            let pid = note
                .rsplit("\"pid\":")
                .next()
                .and_then(|rest| rest.split(',').next());
            pid.is_some_and(|pid| Path::new("/proc").join(pid).exists())
        })
    };
    until("git is dead", || !is_at_work());
    env.ok(&["task", "list"]);
    assert_eq!(locks(&env), Vec::<String>::new());
    checkout_is_the_users(&env, "both were killed");
    merged_again(&env, &key, WORLDS[0], "both were killed");
}

#[test]
fn a_lock_of_an_unknown_git_is_named_with_its_age_and_stays() {
    let (env, key) = prepared(WORLDS[1]);
    let lock = env.repository().join(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    let then = SystemTime::now() - Duration::from_secs(2 * 60 * 60 + 5);
    let file = fs::File::options().write(true).open(&lock).unwrap();
    file.set_modified(then).unwrap();
    let output = env.run(&merge(&key, WORLDS[1]));
    assert!(!output.status.success(), "{}", told(&output));
    let said = told(&output);
    for part in ["2 hours old", &format!("`rm '{}'`", lock.display())] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(lock.exists());
    fs::remove_file(&lock).unwrap();
    merged_again(&env, &key, WORLDS[1], "without the lock");
}

/// The ways of the matrix do what their names say.
#[test]
fn the_wrapper_fails_and_dies_as_it_is_told() {
    let env = Env::new();
    for way in Way::ALL {
        let name = way.name().replace(' ', "-");
        let wrapper = Wrapper::failing_at(&env, 1, way);
        let mut git = std::process::Command::new("git");
        git.current_dir(env.repository()).args([
            "update-ref",
            &format!("refs/heads/{name}"),
            "HEAD",
        ]);
        let output = wrapper.before(git).output().unwrap();
        assert!(!output.status.success(), "{name}: {}", told(&output));
        let refs = env.git_says(
            env.repository(),
            &["for-each-ref", "--format=%(refname:short)"],
        );
        let done = matches!(way, Way::FailsAfter | Way::KilledAfter);
        assert_eq!(
            refs.lines().any(|made| made == name),
            done,
            "{name}: {refs}"
        );
        let lock = env
            .repository()
            .join(format!(".git/refs/heads/{name}.lock"));
        assert_eq!(lock.exists(), way == Way::KilledMidway, "{name}");
    }
}
