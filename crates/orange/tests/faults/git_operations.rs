//! What the matrix of git faults does: a prepared home and repository per operation, its command, what must not be lost by
//! it and what it is to come to.

use crate::env::{Env, copy};
use crate::merge::{self, WORLDS, World};
use crate::scenarios::{empty_home, rescued, task_in, with_work};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// One operation, ready to be carried out in a copy of its home.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) base: Env,
    pub(crate) command: Vec<String>,
    /// What the operation is to come to; asked in the end, and whenever it claims success.
    pub(crate) goal: Goal,
    kept: Kept,
    /// Of merges: the checkout has the user's own edits.
    world: Option<World>,
}

pub(crate) enum Goal {
    Status(String, &'static str),
    /// The task is in the trash.
    Deleted(String),
    /// A file of the repository or of the home has this text.
    File(PathBuf, &'static str),
    /// No such folder.
    Gone(PathBuf),
    /// No ref below this one.
    NoRef(&'static str),
    /// The branch is there.
    Branch(&'static str),
}

/// What was there before, and must be there whatever happens.
struct Kept {
    commits: BTreeSet<String>,
    /// Paths below the folder of everything, and their contents.
    files: Vec<(PathBuf, String)>,
}

/// A rescue that is past its time may go.
const EXPIRED: &str = "refs/orange/rescue/0000000000000000000aa";
const OTHER: &str = "other place";

impl Operation {
    fn new(name: &'static str, base: Env, command: &[&str], goal: Goal) -> Operation {
        let commits = commits(&base, &[&format!("--exclude={EXPIRED}/*"), "--glob=refs/*"]);
        let mut files = Vec::new();
        let slots = base.home().join("workspaces");
        let slots = fs::read_dir(slots).into_iter().flatten().flatten();
        let mut worktrees: Vec<PathBuf> = slots.map(|entry| entry.path()).collect();
        worktrees.push(base.repository().to_owned());
        worktrees.push(base.folder().join(OTHER));
        for worktree in worktrees
            .iter()
            .filter(|folder| folder.join(".git").exists())
        {
            for path in dirty(&base, worktree) {
                let text = fs::read_to_string(&path).unwrap();
                files.push((path.strip_prefix(base.folder()).unwrap().to_owned(), text));
            }
        }
        Operation {
            name,
            command: command.iter().map(|word| (*word).to_owned()).collect(),
            goal,
            kept: Kept { commits, files },
            world: None,
            base,
        }
    }

    /// A copy of everything: home, repository, remote and the user's other worktree.
    pub(crate) fn fork(&self) -> Env {
        let env = merge::fork(&self.base);
        let other = self.base.folder().join(OTHER);
        if other.is_dir() {
            copy(&other, &env.folder().join(OTHER));
            let link = env.folder().join(OTHER).join(".git");
            let text = fs::read_to_string(&link).unwrap();
            let (old, new) = (self.base.folder(), env.folder());
            let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
            fs::write(&link, text.replace(old, new)).unwrap();
        }
        env
    }

    pub(crate) fn words(&self) -> Vec<&str> {
        self.command.iter().map(String::as_str).collect()
    }

    /// No commit that was on a ref is on none now, and every file that nobody had committed is where it was, or in a
    /// commit that a ref keeps.
    pub(crate) fn nothing_is_lost(&self, env: &Env, label: &str) {
        let now = commits(env, &["--glob=refs/*"]);
        let lost: Vec<&String> = self.kept.commits.difference(&now).collect();
        assert!(lost.is_empty(), "{label}: commits on no ref: {lost:?}");
        let mut objects = None;
        for (path, text) in &self.kept.files {
            let file = env.folder().join(path);
            if fs::read_to_string(&file).is_ok_and(|now| now == *text) {
                continue;
            }
            let users = !path.starts_with("home");
            assert!(!users, "{label}: the user's {} is changed", path.display());
            let objects = objects.get_or_insert_with(|| kept_objects(env));
            let id = blob_of(env, &self.base.folder().join(path));
            assert!(objects.contains(&id), "{label}: {} is lost", path.display());
        }
    }

    /// Is it as the operation wants it?
    pub(crate) fn is_reached(&self, env: &Env) -> bool {
        match &self.goal {
            Goal::Status(key, status) => {
                let shown = env.run(&["task", "show", key, "--json"]);
                let task: serde_json::Value =
                    serde_json::from_slice(&shown.stdout).unwrap_or_default();
                task["task"]["status"] == *status
            }
            Goal::Deleted(key) => !env.run(&["task", "show", key]).status.success(),
            Goal::File(path, text) => {
                fs::read_to_string(env.folder().join(path)).is_ok_and(|now| now == *text)
            }
            Goal::Gone(path) => !env.folder().join(path).exists(),
            Goal::NoRef(below) => env
                .git_says(env.repository(), &["for-each-ref", below])
                .is_empty(),
            Goal::Branch(name) => {
                let list = ["for-each-ref", "--format=%(refname:short)", "refs/heads/"];
                let all = env.git_says(env.repository(), &list);
                all.lines().any(|branch| branch == *name)
            }
        }
    }

    /// What only a merge can spoil: half of it in the target, or the user's checkout.
    pub(crate) fn merge_is_whole(&self, env: &Env, label: &str) {
        let (Some(world), Goal::Status(key, _)) = (self.world, &self.goal) else {
            return;
        };
        if label.contains("`git pull` brings it forward") {
            // The remote has it, and Orange has said what is to be done here.
            env.git(&["pull", "--quiet", "--ff-only", "origin", "main"]);
        }
        merge::holds(env, key, world, label);
        let other = env.folder().join(OTHER);
        assert_eq!(
            env.git_says(&other, &["status", "--porcelain"]),
            "",
            "{label}"
        );
    }
}

fn commits(env: &Env, which: &[&str]) -> BTreeSet<String> {
    let words = [&["rev-list"], which].concat();
    let text = env.git_says(env.repository(), &words);
    text.lines().map(str::to_owned).collect()
}

/// Everything that a ref leads to.
fn kept_objects(env: &Env) -> BTreeSet<String> {
    let list = [
        "rev-list",
        "--objects",
        "--no-object-names",
        "--glob=refs/*",
    ];
    let text = env.git_says(env.repository(), &list);
    text.lines().map(str::to_owned).collect()
}

fn blob_of(env: &Env, file: &Path) -> String {
    let hash = ["hash-object", "--no-filters", "--", file.to_str().unwrap()];
    env.git_says(env.repository(), &hash).trim().to_owned()
}

/// The files of a worktree that differ from its HEAD; the link to a task is nobody's work.
fn dirty(env: &Env, worktree: &Path) -> Vec<PathBuf> {
    let status = ["status", "--porcelain", "-z", "--untracked-files=all"];
    let text = env.git_says(worktree, &status);
    let names = text.split('\0').filter_map(|line| line.get(3..));
    let paths = names.map(|name| worktree.join(name));
    paths.filter(|path| path.is_file()).collect()
}

const HANDOFF: &str = "\n## Handoff\n\nDONE: all of it\n";

/// Every operation of the matrix, built from an empty home.
pub(crate) fn operations() -> Vec<Operation> {
    let mut all = vec![
        start("start in a new slot", false),
        start("start in a parked slot", true),
        create(),
        handover(),
        cancel(),
        delete(),
        restore(false),
        restore(true),
        gc(),
        workspace_gc(),
        repair(),
        remove_project(),
    ];
    all.extend(merges());
    all
}

fn start(name: &'static str, parked: bool) -> Operation {
    let env = empty_home();
    if parked {
        env.ok(&["workspace", "init", "1"]);
    }
    let key = env.create(&["fresh", "Some work"]);
    let command = ["task", "update", &key, "--status", "planning"];
    let goal = Goal::Status(key.clone(), "planning");
    Operation::new(name, env, &command, goal)
}

fn create() -> Operation {
    let env = empty_home();
    let command = [
        "task",
        "create",
        "theirs",
        "Look at this",
        "--status",
        "agent-review",
    ];
    let goal = Goal::Status("TASK-002".to_owned(), "agent-review");
    Operation::new("create for a branch", env, &command, goal)
}

fn handover() -> Operation {
    let env = empty_home();
    let key = with_work(&env);
    env.append_to_body(&key, HANDOFF);
    let command = ["task", "update", &key, "--status", "agent-review"];
    let goal = Goal::Status(key.clone(), "agent-review");
    Operation::new("hand over", env, &command, goal)
}

fn cancel() -> Operation {
    let env = empty_home();
    let key = with_work(&env);
    let command = ["task", "cancel", &key, "--yes"];
    let goal = Goal::Status(key.clone(), "cancelled");
    Operation::new("cancel", env, &command, goal)
}

fn delete() -> Operation {
    let env = empty_home();
    let key = with_work(&env);
    env.ok(&["task", "cancel", &key, "--yes"]);
    let command = ["task", "delete", &key, "--yes"];
    let goal = Goal::Deleted(key.clone());
    Operation::new("delete", env, &command, goal)
}

fn restore(to_branch: bool) -> Operation {
    let env = empty_home();
    let (key, rescue) = rescued(&env);
    let mut command = vec!["task", "rescue", "restore", &key, &rescue];
    if to_branch {
        command.extend(["--to-branch", "brought-back"]);
        let goal = Goal::Branch("brought-back");
        return Operation::new("restore a rescue as a branch", env, &command, goal);
    }
    let goal = Goal::File("home/workspaces/shop--1/changed".into(), "then");
    Operation::new("restore a rescue", env, &command, goal)
}

fn gc() -> Operation {
    let env = empty_home();
    for number in 1..3 {
        let message = format!(
            "rescue: a test\n\nOrange-Reason: a test\nOrange-Task: 0000000000000000000aa\n\
             Orange-Time: 2024-01-0{number}T03:04:05Z\nOrange-Files: 1\nOrange-Commits: 0\n"
        );
        let commit = ["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", &message];
        env.git(&["config", "user.name", "t"]);
        env.git(&["config", "user.email", "t@example.invalid"]);
        let commit = env.git_says(env.repository(), &commit);
        let name = format!("{EXPIRED}/2024010{number}T030405.000Z");
        env.git(&["update-ref", &name, commit.trim()]);
    }
    Operation::new("gc", env, &["gc"], Goal::NoRef(EXPIRED))
}

/// A free slot in which somebody has worked nevertheless.
fn with_dirty_free_slot() -> Env {
    let env = empty_home();
    env.ok(&["workspace", "init", "1"]);
    let slot = env.home().join("workspaces/shop--1");
    fs::write(slot.join("by-hand.txt"), "by hand\n").unwrap();
    env.git_at(&slot, &["add", "by-hand.txt"]);
    env.git_at(&slot, &["commit", "--quiet", "--message=by hand"]);
    env.git(&["update-ref", "refs/keep/by-hand", "refs/heads/main"]);
    fs::write(slot.join("more.txt"), "more\n").unwrap();
    env
}

fn workspace_gc() -> Operation {
    let env = with_dirty_free_slot();
    let goal = Goal::Gone("home/workspaces/shop--1".into());
    Operation::new("workspace gc", env, &["workspace", "gc", "--all"], goal)
}

fn remove_project() -> Operation {
    let env = with_dirty_free_slot();
    env.ok(&["task", "cancel", "TASK-001", "--yes"]);
    let goal = Goal::Gone("home/workspaces/shop--1".into());
    Operation::new("project remove", env, &["project", "remove", "shop"], goal)
}

/// The folder of a task's slot is gone; the branch has its commit, and git still knows what was staged.
fn repair() -> Operation {
    let env = empty_home();
    task_in(&env, "working");
    let slot = env.home().join("workspaces/shop--1");
    fs::write(slot.join("done.txt"), "done\n").unwrap();
    env.git_at(&slot, &["add", "done.txt"]);
    env.git_at(&slot, &["commit", "--quiet", "--message=work"]);
    fs::remove_dir_all(&slot).unwrap();
    let goal = Goal::File("home/workspaces/shop--1/done.txt".into(), "done\n");
    Operation::new("doctor --repair", env, &["doctor", "--repair"], goal)
}

fn merges() -> Vec<Operation> {
    let names = [
        "merge, checked out",
        "merge, not checked out",
        "merge and push",
    ];
    let mut all = Vec::new();
    for (name, world) in names.into_iter().zip(WORLDS) {
        all.push(merged(name, *world, |_| {}));
    }
    // With a slot that is saved and parked afterwards.
    let with_slot = World {
        slot: true,
        ..WORLDS[0]
    };
    all.push(merged("merge, with a slot", with_slot, |_| {}));
    // The target in a worktree of the user's that is not the main one.
    let elsewhere = |env: &Env| {
        let other = env.folder().join(OTHER);
        env.git(&[
            "worktree",
            "add",
            "--quiet",
            other.to_str().unwrap(),
            "main",
        ]);
    };
    all.push(merged("merge, in another worktree", WORLDS[1], elsewhere));
    all
}

fn merged(name: &'static str, world: World, prepare: impl Fn(&Env)) -> Operation {
    let (env, key) = merge::prepared(world);
    prepare(&env);
    let words = merge::merge(&key, world);
    let goal = Goal::Status(key.clone(), "done");
    let mut operation = Operation::new(name, env, &words, goal);
    operation.world = Some(world);
    operation
}
