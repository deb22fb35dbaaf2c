//! A repository with a slot beside it, in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

pub(crate) struct World {
    root: TempDir,
}

impl World {
    /// The repository ignores `.env`, `*.local`, `node_modules/` and `deep/`; the slot is a worktree at its commit.
    pub(crate) fn new() -> World {
        let world = World {
            root: tempfile::Builder::new()
                .prefix("workspace-")
                .tempdir()
                .unwrap(),
        };
        fs::create_dir(world.repository()).unwrap();
        world.git(&["init", "-q", "-b", "main"]);
        world.write(".gitignore", ".env\n*.local\nnode_modules/\ndeep/\n");
        world.write("tracked.txt", "tracked");
        world.commit();
        let slot = world.slot();
        world.git(&["worktree", "add", "-q", "--detach", slot.to_str().unwrap()]);
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.root().join("shop")
    }

    pub(crate) fn slot(&self) -> PathBuf {
        self.root().join("workspaces/shop/1")
    }

    /// Writes a file of the user's checkout.
    pub(crate) fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        put(&self.repository().join(path), content)
    }

    /// Writes a file of the slot.
    pub(crate) fn write_slot(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        put(&self.slot().join(path), content)
    }

    /// Commits everything in the checkout that is not ignored.
    pub(crate) fn commit(&self) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a commit"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git_at(&self.repository(), arguments)
    }

    /// All files and links below the slot, the link to its repository left out.
    pub(crate) fn files_in_slot(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.slot()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else if entry.file_name() != ".git" {
                    found.push(entry.path().strip_prefix(self.slot()).unwrap().to_owned());
                }
            }
        }
        found.sort();
        found
    }
}

pub(crate) fn git_at(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
        .args([
            "-c",
            "user.name=Tester",
            "-c",
            "user.email=tester@example.com",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn put(path: &Path, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
    path.to_owned()
}
