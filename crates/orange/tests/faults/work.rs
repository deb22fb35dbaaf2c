//! Work of every kind in a slot that is given back, given away and killed in between: all of it is found again.

use crate::check::{Heads, at_rest, at_rest_with};
use crate::env::Env;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// One thing that happens. Numbers choose among what is there.
#[derive(Debug, Clone)]
enum Step {
    /// Ends the task, if there is one, and starts another in the same slot.
    Start {
        kill: Option<usize>,
    },
    Edit(usize),
    Untracked(usize),
    Stage,
    Commit,
    Amend,
    RenameFile(usize),
    DeleteFile(usize),
    RenameBranch,
    DetachAndCommit,
    /// Back to the commit before, as an agent does that wants to begin again.
    Reset,
    Cancel {
        kill: Option<usize>,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let kill = || prop_oneof![1 => Just(None), 2 => (1..40_usize).prop_map(Some)];
    prop_oneof![
        2 => kill().prop_map(|kill| Step::Start { kill }),
        3 => (0..9_usize).prop_map(Step::Edit),
        2 => (0..9_usize).prop_map(Step::Untracked),
        2 => Just(Step::Stage),
        3 => Just(Step::Commit),
        1 => Just(Step::Amend),
        1 => (0..9_usize).prop_map(Step::RenameFile),
        1 => (0..9_usize).prop_map(Step::DeleteFile),
        1 => Just(Step::RenameBranch),
        1 => Just(Step::DetachAndCommit),
        1 => Just(Step::Reset),
        2 => kill().prop_map(|kill| Step::Cancel { kill }),
    ]
}

struct World {
    env: Env,
    task: Option<String>,
    /// The work of this task goes on without a branch.
    moved: bool,
    /// Grows with everything that gets a name or a content of its own.
    count: usize,
    commits: BTreeSet<String>,
    /// Contents that were on the disk or staged when a slot was given back.
    contents: BTreeSet<String>,
}

impl World {
    fn new() -> World {
        let env = Env::new();
        env.ok(&["project", "update", "shop", "--pool-size", "1"]);
        fs::write(env.repository().join("README.md"), "first").unwrap();
        env.git(&["add", "README.md"]);
        env.git(&["commit", "--quiet", "--message=readme"]);
        World {
            env,
            task: None,
            moved: false,
            count: 0,
            commits: BTreeSet::new(),
            contents: BTreeSet::new(),
        }
    }

    fn slot(&self) -> PathBuf {
        self.env.home().join("workspaces/shop--1")
    }

    fn fresh(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    fn git(&self, arguments: &[&str]) {
        self.env.git_at(&self.slot(), arguments);
    }

    fn says(&self, arguments: &[&str]) -> String {
        self.env.git_says(&self.slot(), arguments)
    }

    fn status_of(&self, key: &str) -> String {
        let shown = self.env.ok(&["task", "show", key]);
        shown["task"]["status"].as_str().unwrap().to_owned()
    }

    /// Files of the slot that are work: neither git's nor the link.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.slot()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if entry.file_name() == ".git" || kind.is_symlink() {
                    continue;
                }
                if kind.is_dir() {
                    open.push(entry.path())
                } else {
                    found.push(entry.path())
                }
            }
        }
        found.sort();
        found
    }

    fn pick(&self, number: usize) -> Option<PathBuf> {
        let files = self.files();
        (!files.is_empty()).then(|| files[number % files.len()].clone())
    }

    fn note_commits(&mut self) {
        if self.task.is_some() {
            self.commits
                .insert(self.says(&["rev-parse", "HEAD"]).trim().to_owned());
        }
    }

    /// Everything that must not be lost when the slot is given back now.
    fn note_contents(&mut self) {
        let files = self.files();
        let mut hash = vec!["hash-object", "--no-filters", "--"];
        hash.extend(files.iter().map(|file| file.to_str().unwrap()));
        if !files.is_empty() {
            let ids = self.says(&hash);
            self.contents.extend(ids.lines().map(str::to_owned));
        }
        let staged = self.says(&["ls-files", "-s"]);
        let ids = staged.lines().filter_map(|line| line.split(' ').nth(1));
        self.contents.extend(ids.map(str::to_owned));
    }

    /// Runs a command, killed on its way or not, then an unrelated one; done again until it has happened.
    fn insist(&self, key: &str, arguments: &[&str], kill: Option<usize>, wanted: &str) {
        if let Some(hit) = kill {
            let mut command = self.env.command(arguments);
            command.env("ORANGE_CRASH_AT", format!("*:{hit}"));
            command.output().unwrap();
            let label = format!("{arguments:?} killed at {hit}");
            // Killed before anything changed, the slot is still as the work left it.
            let heads = if self.moved {
                Heads::AsTheWorkLeftThem
            } else {
                Heads::OnTheirBranch
            };
            at_rest_with(&self.env, &label, heads);
        }
        if self.status_of(key) != wanted {
            self.env.ok(arguments);
        }
        assert_eq!(self.status_of(key), wanted);
    }

    fn start(&mut self, kill: Option<usize>) {
        self.cancel(None);
        let branch = format!("work-{}", self.fresh());
        let key = self.env.create(&[&branch, "Some work"]);
        let arguments = ["task", "update", &key, "--status", "planning"];
        self.insist(&key, &arguments, kill, "planning");
        assert_eq!(self.says(&["branch", "--show-current"]).trim(), branch);
        assert_eq!(self.says(&["status", "--porcelain"]), "");
        self.task = Some(key);
    }

    fn cancel(&mut self, kill: Option<usize>) {
        let Some(key) = self.task.take() else {
            return;
        };
        self.note_contents();
        self.insist(&key, &["task", "cancel", &key, "--yes"], kill, "cancelled");
        self.moved = false;
        self.everything_is_there();
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Start { kill } => self.start(*kill),
            Step::Cancel { kill } => self.cancel(*kill),
            _ if self.task.is_none() => {}
            work => self.work(work),
        }
        self.note_commits();
    }

    fn work(&mut self, step: &Step) {
        let number = self.fresh();
        let text = format!("content {number}\n");
        let message = format!("--message=commit {number}");
        match step {
            Step::Edit(which) => {
                if let Some(file) = self.pick(*which) {
                    fs::write(file, text).unwrap();
                }
            }
            Step::Untracked(which) => {
                let folder = self.slot().join(["", "sub", "sub/ö ä"][which % 3]);
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join(format!("new {number}")), text).unwrap();
            }
            Step::Stage => self.git(&["add", "--all"]),
            Step::Commit => {
                self.git(&["add", "--all"]);
                self.git(&["commit", "--quiet", "--allow-empty", &message]);
            }
            Step::Amend => self.git(&["commit", "--quiet", "--allow-empty", "--amend", &message]),
            Step::RenameFile(which) => {
                if let Some(file) = self.pick(*which) {
                    fs::rename(&file, self.slot().join(format!("renamed {number}"))).unwrap();
                }
            }
            Step::DeleteFile(which) => {
                if let Some(file) = self.pick(*which) {
                    fs::remove_file(file).unwrap();
                }
            }
            Step::RenameBranch => {
                if !self.says(&["branch", "--show-current"]).is_empty() {
                    self.git(&["branch", "--move", &format!("renamed-{number}")]);
                    self.moved = true;
                }
            }
            Step::DetachAndCommit => {
                self.git(&["checkout", "--quiet", "--detach"]);
                self.moved = true;
                self.git(&["commit", "--quiet", "--allow-empty", &message]);
            }
            Step::Reset => {
                if self.says(&["rev-list", "--count", "HEAD"]).trim() != "1" {
                    self.git(&["reset", "--quiet", "--soft", "HEAD~1"]);
                }
            }
            Step::Start { .. } | Step::Cancel { .. } => {}
        }
    }

    /// Every commit that ever was HEAD, and every content that a given back slot had, can be reached from a ref.
    fn everything_is_there(&self) {
        let list = [
            "rev-list",
            "--objects",
            "--no-object-names",
            "--glob=refs/*",
        ];
        let reached = self.env.git_says(self.env.repository(), &list);
        let reached: BTreeSet<&str> = reached.lines().collect();
        for (what, ids) in [("commit", &self.commits), ("content", &self.contents)] {
            for id in ids {
                let told = || {
                    self.env
                        .git_says(self.env.repository(), &["cat-file", "-p", id])
                };
                assert!(
                    reached.contains(id.as_str()),
                    "{what} {id} is lost: {}",
                    told()
                );
            }
        }
    }
}

fn lived_through(steps: &[Step]) {
    let mut world = World::new();
    world.start(None);
    for step in steps {
        world.take(step);
    }
    world.cancel(None);
    at_rest(&world.env, "at the end");
    world.everything_is_there();
}

#[test]
fn no_work_is_ever_lost() {
    let config = Config {
        cases: 25,
        failure_persistence: None,
        max_shrink_iters: 60,
        ..Config::default()
    };
    let steps = prop::collection::vec(step(), 3..11);
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        lived_through(&steps);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

#[test]
fn a_renamed_branch_survives_a_kill_before_anything_changed() {
    let kill = Some(1);
    lived_through(&[
        Step::RenameBranch,
        Step::Cancel { kill },
        Step::Start { kill: None },
    ]);
}

#[test]
fn work_without_a_branch_survives_a_kill_before_anything_changed() {
    let cancel = |kill| Step::Cancel { kill };
    lived_through(&[
        Step::DetachAndCommit,
        cancel(Some(1)),
        Step::Start { kill: None },
    ]);
}
