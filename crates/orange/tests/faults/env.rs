//! A throw-away home, a real repository, and the debug binary with nothing of the user's environment.

use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// The name of the only project.
pub(crate) const PROJECT: &str = "shop";

/// One home and its repository, which has worktrees in the home: they are copied together.
pub(crate) struct Env {
    folder: TempDir,
    repository: PathBuf,
}

impl Env {
    /// A home in memory with one project: a killed process leaves the same there as on a disk.
    pub(crate) fn new() -> Env {
        Env::within(&memory())
    }

    /// As [`Env::new`], below a folder of one's choice.
    pub(crate) fn within(parent: &Path) -> Env {
        let folder = temporary(parent);
        let env = Env {
            repository: folder.path().join("repository"),
            folder,
        };
        fs::create_dir(env.repository()).unwrap();
        env.git(&["init", "--quiet", "--template=", "--initial-branch=main"]);
        env.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
        let path = env.repository().to_str().unwrap().to_owned();
        let add = [
            "project",
            "add",
            &path,
            "--name",
            PROJECT,
            "--pool-size",
            "1000",
        ];
        env.ok(&add);
        env
    }

    /// A copy of this home as it is now.
    pub(crate) fn fork(&self) -> Env {
        self.moved_to(self.folder.path().parent().unwrap())
    }

    /// A copy of this home below another folder.
    pub(crate) fn moved_to(&self, parent: &Path) -> Env {
        let folder = temporary(parent);
        let copied = Env {
            repository: folder.path().join("repository"),
            folder,
        };
        copy(self.repository(), copied.repository());
        self.copy_home(&copied);
        copied
    }

    /// Copies the home alone, over whatever is there; what names places names the copy's.
    pub(crate) fn copy_home(&self, to: &Env) {
        let _ = fs::remove_dir_all(to.home());
        let _ = fs::remove_dir_all(to.repository().join(".git/worktrees"));
        copy(&self.home(), &to.home());
        let worktrees = self.repository().join(".git/worktrees");
        if worktrees.is_dir() {
            copy(&worktrees, &to.repository().join(".git/worktrees"));
        }
        let names = |folder: PathBuf, name: &str| -> Vec<PathBuf> {
            let entries = fs::read_dir(folder).into_iter().flatten();
            let paths = entries.map(|entry| entry.unwrap().path().join(name));
            paths
                .filter(|path| path.symlink_metadata().is_ok())
                .collect()
        };
        let mut files = names(to.repository().join(".git/worktrees"), "gitdir");
        files.extend(names(to.home().join("workspaces"), ".git"));
        files.push(to.home().join("projects.json"));
        // Or it would be a copy, in which nothing may be changed.
        let record = to.home().join(".home.json");
        files.extend(record.is_file().then_some(record));
        let (old, new) = (self.folder.path(), to.folder.path());
        let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace(old, new)).unwrap();
        }
        for link in names(to.home().join("workspaces"), "TASK.md") {
            let target = fs::read_link(&link).unwrap();
            fs::remove_file(&link).unwrap();
            let target = target.to_str().unwrap().replace(old, new);
            std::os::unix::fs::symlink(target, link).unwrap();
        }
    }

    /// The folder that everything lies in.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn repository(&self) -> &Path {
        &self.repository
    }

    pub(crate) fn tasks(&self) -> PathBuf {
        self.home().join("tasks").join(PROJECT)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("orange"));
        command.args(arguments).current_dir(self.repository());
        self.isolate(&mut command);
        command
    }

    pub(crate) fn isolate(&self, command: &mut Command) {
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.folder.path())
            .env("ORANGE_HOME", self.home())
            .env("USER", "tester")
            // The tests play the agents themselves.
            .env("ORANGE_AGENTS_HARNESS", "none")
            .env("ORANGE_AGENTS_REVIEW_HARNESS", "none")
            .env("ORANGE_AGENTS_SPAWN_ON_CREATE", "false")
            .stdin(Stdio::null());
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must succeed and gives its JSON.
    #[track_caller]
    pub(crate) fn ok(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", told(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Creates a task on a branch of its own and gives its key.
    #[track_caller]
    pub(crate) fn create(&self, arguments: &[&str]) -> String {
        let made = self.ok(&[&["task", "create"], arguments].concat());
        made["task"]["key"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn update(&self, key: &str, arguments: &[&str]) {
        self.ok(&[&["task", "update", key], arguments].concat());
    }

    /// Where a task's files lie.
    #[track_caller]
    pub(crate) fn folder_of(&self, key: &str) -> PathBuf {
        let shown = self.ok(&["task", "show", key]);
        let id = shown["task"]["id"].as_str().unwrap();
        let folder = self.tasks().join(id);
        assert!(folder.is_dir(), "{}", folder.display());
        folder
    }

    /// Adds to the body as a person would, while nobody else is at it.
    pub(crate) fn append_to_body(&self, key: &str, text: &str) {
        let file = self.folder_of(key).join("TASK.md");
        fs::write(&file, fs::read_to_string(&file).unwrap() + text).unwrap();
    }

    pub(crate) fn git(&self, arguments: &[&str]) {
        self.git_at(self.repository(), arguments);
    }

    pub(crate) fn git_at(&self, folder: &Path, arguments: &[&str]) {
        let output = Command::new("git")
            .current_dir(folder)
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
            .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
            .args(arguments)
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }
}

impl Env {
    /// What git says in a folder; nothing where there is none.
    pub(crate) fn git_says(&self, folder: &Path, arguments: &[&str]) -> String {
        if !folder.is_dir() {
            return String::new();
        }
        let output = Command::new("git")
            .current_dir(folder)
            .args(arguments)
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// An errand that a command left may still write, so that a folder which is being deleted is not empty again.
impl Drop for Env {
    fn drop(&mut self) {
        for _ in 0..1000 {
            match fs::remove_dir_all(self.folder.path()) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                    std::thread::yield_now();
                }
                Ok(()) | Err(_) => return,
            }
        }
    }
}

/// What a process said, for messages.
pub(crate) fn told(output: &Output) -> String {
    format!(
        "{} {}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

pub(crate) fn memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    }
}

fn temporary(parent: &Path) -> TempDir {
    let builder = tempfile::Builder::new()
        .prefix("orange-")
        .tempdir_in(parent);
    builder.unwrap()
}

/// Copies a folder with everything in it. An errand that a command left may still be at work, and SQLite removes its side
/// files when the last process closes a database: then the copy is begun again.
pub(crate) fn copy(from: &Path, to: &Path) {
    for _ in 0..100 {
        match try_copy(from, to) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::remove_dir_all(to).unwrap();
            }
            Err(error) => panic!("{} cannot be copied: {error}", from.display()),
        }
    }
    panic!("{} does not stand still", from.display());
}

fn try_copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            try_copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Does `work` for every item, a few at a time; a failure names its item.
pub(crate) fn in_parallel<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some(item) =
                    items.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    work(item);
                }
            });
        }
    });
}
