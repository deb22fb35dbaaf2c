//! A repository with a linked worktree, as a task has it, and what the tests ask of it.

use orange_core::Timestamp;
use orange_engine::git::Site;
use orange_engine::git::site::Behalf;
use orange_engine::rescue::{Rescue, Save, save};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const TASK: &str = "V1StGXR8Z5jdHi6BmyTab";

pub(crate) struct World {
    _root: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) repository: PathBuf,
    pub(crate) slot: PathBuf,
}

/// Where git may change something, with no home to keep notes in.
pub(crate) fn site(folder: &Path) -> Site {
    Behalf::nobody().at(folder)
}

impl World {
    /// One commit on main with `a`, `b` and `dir/c`; a worktree of it on the branch `task`.
    pub(crate) fn new() -> World {
        let world = World::without_commits();
        for (name, content) in [("a", "a\n"), ("b", "b\n"), ("dir/c", "c\n")] {
            let path = world.repository.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::write(world.repository.join(".gitignore"), "*.ignored\n").unwrap();
        world.git_at(&world.repository, ["add", "-A"]);
        world.git_at(&world.repository, ["commit", "-q", "-m", "first"]);
        let slot = world.slot.to_str().unwrap();
        world.git_at(
            &world.repository,
            ["worktree", "add", "-q", "-b", "task", slot],
        );
        world
    }

    /// A repository in which nothing ever happened; no worktree.
    pub(crate) fn without_commits() -> World {
        let temp = tempfile::Builder::new()
            .prefix("rescue-")
            .tempdir()
            .unwrap();
        let root = temp.path().canonicalize().unwrap();
        let world = World {
            repository: root.join("repository"),
            slot: root.join("workspaces/shop--1"),
            root,
            _root: temp,
        };
        fs::create_dir_all(&world.repository).unwrap();
        fs::create_dir_all(world.slot.parent().unwrap()).unwrap();
        world.init(&world.repository);
        world
    }

    pub(crate) fn init(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        self.git_at(folder, ["init", "-q", "-b", "main"]);
        // The engine's calls see the user's settings; what matters here is set nearer.
        for (key, value) in [
            ("core.excludesFile", "/dev/null"),
            ("core.attributesFile", "/dev/null"),
            ("core.autocrlf", "false"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
            ("protocol.file.allow", "always"),
        ] {
            self.git_at(folder, ["config", key, value]);
        }
    }

    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", &self.root)
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_ALLOW_PROTOCOL", "file")
            .env("GIT_EDITOR", "true")
            .stdin(Stdio::null());
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Tester")
                .env(format!("GIT_{who}_EMAIL"), "tester@example.com");
        }
        command
    }

    pub(crate) fn try_git<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Output {
        self.command(folder).args(arguments).output().unwrap()
    }

    pub(crate) fn git_at<A: AsRef<OsStr>>(
        &self,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> String {
        let arguments: Vec<OsString> = arguments.into_iter().map(|a| a.as_ref().into()).collect();
        let output = self.try_git(folder, &arguments);
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// In the worktree.
    pub(crate) fn git<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> String {
        self.git_at(&self.slot, arguments)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.slot.join(name)
    }

    pub(crate) fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    /// Commits a file; gives the commit.
    pub(crate) fn commit(&self, name: &str, content: &str) -> String {
        self.write(name, content);
        self.git(["add", "-A"]);
        self.git(["commit", "-q", "-m", name]);
        self.head()
    }

    pub(crate) fn head(&self) -> String {
        self.git(["rev-parse", "HEAD"])
    }

    pub(crate) fn raw_folder(&self) -> PathBuf {
        self.root.join("tasks/shop").join(TASK).join("rescued")
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        PathBuf::from(self.git(["rev-parse", "--absolute-git-dir"]))
    }

    pub(crate) fn with_save<T>(&self, then: impl FnOnce(&Save<'_>) -> T) -> T {
        then(&Save {
            slot: &site(&self.slot),
            task_id: TASK,
            raw_folder: &self.raw_folder(),
            branch: Some("task"),
            reason: "release",
            now: Timestamp::from_millisecond(1_800_000_000_123).unwrap(),
        })
    }

    /// Saves the worktree, and sees to it that nothing in it was touched.
    pub(crate) fn try_save(&self) -> orange_engine::Result<Option<Rescue>> {
        let before = self.state();
        let saved = self.with_save(save);
        let after = self.state();
        let touched: Vec<&PathBuf> = before
            .keys()
            .chain(after.keys())
            .filter(|path| before.get(*path) != after.get(*path))
            .collect();
        assert!(touched.is_empty(), "saving touched {touched:?}");
        let left: Vec<PathBuf> = fs::read_dir(self.git_dir())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.to_string_lossy().contains("orange-rescue-"))
            .collect();
        assert!(left.is_empty(), "left behind: {left:?}");
        saved
    }

    pub(crate) fn save(&self) -> Rescue {
        self.try_save()
            .unwrap()
            .expect("there was something to save")
    }

    /// The copies that belong to a rescue.
    pub(crate) fn copies(&self, saved: &Rescue) -> PathBuf {
        self.raw_folder().join(saved.note.raw.as_ref().unwrap())
    }

    pub(crate) fn nothing_to_save(&self) {
        assert_eq!(self.try_save().unwrap(), None);
    }

    /// Index, HEAD and every file with its mode and time.
    fn state(&self) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
        let mut found = files(&self.slot);
        let git_dir = self.slot.join(".git");
        found.retain(|path, _| !path.starts_with(&git_dir));
        for name in ["index", "HEAD", "logs/HEAD", "index.lock"] {
            let path = self.git_dir().join(name);
            if let Ok(bytes) = fs::read(&path) {
                found.insert(path, (0, 0, bytes));
            }
        }
        found
    }

    /// A file of a commit, byte by byte.
    pub(crate) fn blob(&self, commit: &str, path: impl AsRef<OsStr>) -> Option<Vec<u8>> {
        let mut name = OsString::from(format!("{commit}:"));
        name.push(path);
        let output = self.try_git(
            &self.repository,
            [OsStr::new("cat-file"), "blob".as_ref(), &name],
        );
        output.status.success().then_some(output.stdout)
    }

    #[track_caller]
    pub(crate) fn holds(&self, commit: &str, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = path.as_ref();
        let found = self.blob(commit, path);
        assert_eq!(
            found.as_deref().map(String::from_utf8_lossy),
            Some(String::from_utf8_lossy(content.as_ref())),
            "{path:?}"
        );
    }

    /// The paths of a commit.
    pub(crate) fn names(&self, commit: &str) -> Vec<String> {
        let text = self.git_at(&self.repository, ["ls-tree", "-r", "--name-only", commit]);
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn mode(&self, commit: &str, path: &str) -> String {
        let text = self.git_at(&self.repository, ["ls-tree", commit, "--", path]);
        text.split(' ').next().unwrap().to_owned()
    }

    pub(crate) fn parents(&self, commit: &str) -> Vec<String> {
        let text = self.git_at(&self.repository, ["rev-list", "--parents", "-n1", commit]);
        text.split(' ').skip(1).map(str::to_owned).collect()
    }

    pub(crate) fn reaches(&self, commit: &str, other: &str) -> bool {
        let arguments = ["merge-base", "--is-ancestor", other, commit];
        self.try_git(&self.repository, arguments).status.success()
    }

    /// A value of the machine-readable part of the message.
    pub(crate) fn trailer(&self, commit: &str, name: &str) -> Option<String> {
        let text = self.git_at(&self.repository, ["log", "-1", "--format=%B", commit]);
        text.lines().find_map(|line| {
            line.strip_prefix(&format!("Orange-{name}: "))
                .map(str::to_owned)
        })
    }
}

/// Every file below a folder: mode, time, content.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.unwrap().path();
            let data = fs::symlink_metadata(&path).unwrap();
            let bytes = if data.is_symlink() {
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes()
            } else if data.is_file() {
                fs::read(&path).unwrap_or_default()
            } else {
                Vec::new()
            };
            if data.is_dir() {
                open.push(path.clone());
            }
            found.insert(path, (data.permissions().mode(), data.mtime_nsec(), bytes));
        }
    }
    found
}
