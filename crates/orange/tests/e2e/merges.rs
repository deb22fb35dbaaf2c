//! A repository with tasks to merge: branches made beside the user's checkout, a bare remote on disk, and
//! everything that a merge must leave alone as one text to compare.

use crate::env::{TestEnvironment, TestTask, names_in};
use crate::run::Run;
use std::fs;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that every branch may quarrel about.
pub(crate) const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";

/// A test environment with work to merge.
pub(crate) struct Merges {
    env: TestEnvironment,
}

impl Deref for Merges {
    type Target = TestEnvironment;
    fn deref(&self) -> &TestEnvironment {
        &self.env
    }
}

impl DerefMut for Merges {
    fn deref_mut(&mut self) -> &mut TestEnvironment {
        &mut self.env
    }
}

impl Merges {
    /// The user's checkout is `shop`, on main; there is no remote.
    pub(crate) fn new() -> Merges {
        let env = TestEnvironment::unregistered();
        env.commit(&env.shop(), "lines", LINES);
        let path = env.shop();
        let path = path.to_str().unwrap();
        env.orange(["project", "add", path, "--pool-size", "2"])
            .ok();
        Merges { env }
    }

    /// The same with a remote that has main.
    pub(crate) fn with_remote() -> Merges {
        let env = Merges::new();
        let remote = env.remote();
        let shop = env.shop();
        env.git(
            &env.root(),
            &["init", "-q", "--bare", "-b", "main", "remote.git"],
        );
        env.git(
            &shop,
            &["remote", "add", "origin", remote.to_str().unwrap()],
        );
        env.git(&shop, &["push", "-q", "-u", "origin", "main"]);
        env
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.root().join("remote.git")
    }

    /// A branch from main with one commit that leaves these files behind, made away from every checkout.
    pub(crate) fn branch(&self, name: &str, files: &[(&str, &str)]) {
        self.branch_by(name, |folder| {
            for (file, content) in files {
                let path = folder.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            self.commit_all(folder, &format!("{name} work"));
        });
    }

    /// The same with anything that can be done in a worktree.
    pub(crate) fn branch_by(&self, name: &str, work: impl FnOnce(&Path)) {
        let folder = self.root().join("beside");
        let place = folder.to_str().unwrap();
        let shop = self.shop();
        let known = self.git(&shop, &["branch", "--list", name]);
        if known.is_empty() {
            self.git(&shop, &["worktree", "add", "-q", "-b", name, place, "main"])
        } else {
            self.git(&shop, &["worktree", "add", "-q", place, name])
        };
        work(&folder);
        self.git(&shop, &["worktree", "remove", "--force", place]);
    }

    pub(crate) fn commit_all(&self, folder: &Path, message: &str) -> String {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "-m", message]);
        self.git(folder, &["rev-parse", "HEAD"])
    }

    /// A task whose branch has one commit, and which a person takes for reviewed.
    pub(crate) fn work(&self, name: &str, files: &[(&str, &str)]) -> TestTask {
        self.branch(name, files);
        self.reviewed(name)
    }

    /// The same for a branch that is there.
    pub(crate) fn reviewed(&self, branch: &str) -> TestTask {
        self.create([branch, &format!("Do {branch}"), "--status", "reviewing"])
    }

    pub(crate) fn merge(&self, task: &TestTask, arguments: &[&str]) -> Run {
        let mut all = vec!["task", "merge", &task.id];
        all.extend(arguments);
        self.orange(all)
    }

    pub(crate) fn why(&self, task: &TestTask) -> Run {
        self.orange(["task", "why", &task.id]).ok()
    }

    pub(crate) fn is_done(&self, task: &TestTask) -> bool {
        self.show(task)["status"] == "done"
    }

    /// The commit that a revision names.
    pub(crate) fn at(&self, repository: &Path, revision: &str) -> String {
        self.git(repository, &["rev-parse", "--verify", revision])
    }

    /// The subjects of a branch's own line, newest first, without the two that every test begins with.
    pub(crate) fn line(&self, repository: &Path, revision: &str) -> Vec<String> {
        let log = ["log", "--first-parent", "--format=%s", revision];
        let text = self.git(repository, &log);
        let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
        all.truncate(all.len().saturating_sub(2));
        all
    }

    /// Everything that a merge which does not happen must leave alone: refs, index, files, the remote.
    pub(crate) fn everything(&self) -> String {
        let mut text = self.surroundings(&self.shop());
        if self.remote().exists() {
            text += &self.git(&self.remote(), &["for-each-ref"]);
        }
        text
    }

    /// One checkout: where its HEAD is, all refs, its index and its files, byte for byte.
    pub(crate) fn surroundings(&self, checkout: &Path) -> String {
        let said = |words: &[&str]| self.git(checkout, words);
        format!(
            "{}\n{}\n{}\n{}\n",
            fs::read_to_string(checkout.join(".git/HEAD")).unwrap_or_default(),
            said(&["for-each-ref"]),
            said(&["ls-files", "-s"]),
            files(checkout)
        )
    }

    /// A hook of a repository.
    pub(crate) fn hook(&self, repository: &Path, name: &str, script: &str) {
        let folder = if repository.join(".git").is_dir() {
            repository.join(".git/hooks")
        } else {
            repository.join("hooks")
        };
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The merge is refused with this code and these words, and nothing anywhere is changed by it.
    #[track_caller]
    pub(crate) fn refuses(&self, task: &TestTask, arguments: &[&str], code: i32, words: &[&str]) {
        let before = self.everything();
        let mut run = self.merge(task, arguments).fails_with(code);
        for word in words {
            run = run.says(word);
        }
        assert_eq!(self.everything(), before, "{run}");
        assert_ne!(self.show(task)["status"], "done", "{run}");
        assert!(run.stderr.contains("hint: "), "{run}");
        for bad in ["thread '", "RUST_BACKTRACE", "\u{1b}"] {
            assert!(!run.stderr.contains(bad), "{run}");
        }
    }
}

/// Files of a checkout, without git's own.
fn files(folder: &Path) -> String {
    let mut lines = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for name in names_in(&next) {
            let path = next.join(&name);
            let about = fs::symlink_metadata(&path).unwrap();
            if name == ".git" {
                continue;
            } else if about.is_dir() {
                open.push(path);
            } else {
                let mode = about.permissions().mode();
                let content = fs::read(&path).unwrap_or_default();
                lines.push(format!("{} {mode:o} {content:?}", path.display()));
            }
        }
    }
    lines.sort();
    lines.join("\n")
}
