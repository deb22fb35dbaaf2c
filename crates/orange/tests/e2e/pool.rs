//! The pool of worktrees as the tests speak of it.

use crate::env::{TestEnvironment, TestTask};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

impl TestEnvironment {
    /// Creates a task on this branch and starts it. Gives its slot too.
    pub(crate) fn started(&self, branch: &str) -> (TestTask, PathBuf) {
        let task = self.create([branch, "Some work", "--project", "shop"]);
        let slot = self.start(&task);
        (task, slot)
    }

    /// Starts a task; gives its slot.
    pub(crate) fn start(&self, task: &TestTask) -> PathBuf {
        self.move_to(task, "planning").ok();
        self.slot_of(task)
    }

    pub(crate) fn cancel(&self, task: &TestTask) -> crate::run::Run {
        self.orange(["task", "cancel", &task.id])
    }

    pub(crate) fn slot(&self, number: u32) -> PathBuf {
        self.home().join(format!("workspaces/shop--{number}"))
    }

    pub(crate) fn pool_file(&self) -> PathBuf {
        self.home().join("workspaces/.pool.json")
    }

    /// What the pool file says of a slot of `shop`.
    pub(crate) fn pool_entry(&self, number: u32) -> Value {
        let text = fs::read_to_string(self.pool_file()).unwrap_or_default();
        let mut pool: Value = serde_json::from_str(&text).unwrap_or_default();
        pool["workspaces"][format!("shop--{number}")].take()
    }

    /// Changes the pool file as another program could.
    pub(crate) fn edit_pool(&self, edit: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.pool_file()).unwrap();
        let mut pool: Value = serde_json::from_str(&text).unwrap();
        edit(&mut pool);
        fs::write(self.pool_file(), pool.to_string()).unwrap();
    }

    pub(crate) fn pool_size(&self, size: u32) {
        self.orange([
            "project",
            "update",
            "shop",
            "--pool-size",
            &size.to_string(),
        ])
        .ok();
    }

    /// Adds to config.yaml.
    pub(crate) fn config(&self, text: &str) {
        let path = self.home().join("config.yaml");
        let before = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, before + text).unwrap();
    }

    /// The newest rescue of a task; the text of one of its files, if it has it.
    pub(crate) fn rescued(&self, repository: &Path, task: &TestTask, file: &str) -> Option<String> {
        let below = format!("refs/orange/rescue/{}", task.id);
        let format = "--format=%(refname) %(subject)";
        let names = ["for-each-ref", "--sort=-refname", format];
        let refs = self.git(repository, &[&names[..], &[&below]].concat());
        // That of the deleted branch has nothing but what was merged.
        let mut refs = refs
            .lines()
            .filter(|line| !line.ends_with("after the merge"));
        let (newest, _) = refs.next()?.split_once(' ')?;
        let output = self
            .foreign("git")
            .current_dir(repository)
            .args(["cat-file", "blob", &format!("{newest}:{file}")])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        output.status.success().then_some(text)
    }

    /// The branch checked out, or nothing.
    pub(crate) fn branch_at(&self, folder: &Path) -> String {
        self.git(folder, &["branch", "--show-current"])
    }

    /// A slot that nobody has: detached at this commit, and clean.
    #[track_caller]
    pub(crate) fn is_parked(&self, slot: &Path, commit: &str) {
        assert_eq!(self.branch_at(slot), "", "{}", slot.display());
        assert_eq!(self.git(slot, &["rev-parse", "HEAD"]), commit);
        assert_eq!(self.git(slot, &["status", "--porcelain"]), "");
    }
}
