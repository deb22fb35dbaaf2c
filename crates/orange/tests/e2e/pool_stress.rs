//! Many commands at once on one repository, also from a second home: no slot breaks, and doctor reports nothing that is not so.

use crate::env::TestEnvironment;
use crate::run::program;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often each kind of command runs.
const TIMES: usize = 8;

/// A home, for threads.
struct Home {
    variables: Vec<(OsString, OsString)>,
    folder: PathBuf,
    shop: PathBuf,
}

impl Home {
    fn of(env: &TestEnvironment, folder: PathBuf) -> Home {
        let command = env.foreign("true");
        let variables = command.get_envs();
        Home {
            variables: variables
                .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
                .collect(),
            folder,
            shop: env.shop(),
        }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.variables.iter().cloned())
            .env("ORANGE_HOME", &self.folder)
            .current_dir(&self.shop);
        command
    }

    fn orange(&self, words: &[&str]) -> Output {
        self.command(program()).args(words).output().unwrap()
    }

    #[track_caller]
    fn ok(&self, words: &[&str]) -> String {
        let output = self.orange(words);
        assert!(output.status.success(), "{words:?}: {}", told(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn git(&self, folder: &Path, words: &[&str]) -> String {
        let output = self
            .command("git")
            .current_dir(folder)
            .args(words)
            .output()
            .unwrap();
        assert!(output.status.success(), "{words:?}: {}", told(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Starts a task on a new branch; gives its id and its slot, unless none was free.
    fn start(&self, branch: &str) -> Option<(String, PathBuf)> {
        let words = ["task", "create", branch, "Some work", "--json"];
        let made: serde_json::Value = serde_json::from_str(&self.ok(&words)).unwrap();
        let id = made["task"]["id"].as_str().unwrap().to_owned();
        let moved = self.orange(&["task", "update", &id, "--status", "planning"]);
        if !moved.status.success() {
            // No slot was free, or each was at work.
            assert_eq!(moved.status.code(), Some(3), "{}", told(&moved));
            self.ok(&["task", "cancel", &id, "--yes"]);
            return None;
        }
        let slot = PathBuf::from(self.ok(&["task", "path", &id]).trim());
        assert_eq!(self.git(&slot, &["branch", "--show-current"]), branch);
        assert!(slot.join("TASK.md").exists(), "{}", slot.display());
        assert_eq!(self.git(&slot, &["status", "--porcelain"]), "");
        std::fs::write(slot.join("work"), branch).unwrap();
        Some((id, slot))
    }

    fn start_and_cancel(&self, name: &str) -> usize {
        let mut started = 0;
        for turn in 0..TIMES {
            if let Some((id, slot)) = self.start(&format!("{name}-{turn}")) {
                started += 1;
                self.git(&slot, &["add", "work"]);
                self.git(&slot, &["commit", "-q", "-m", "work"]);
                self.ok(&["task", "cancel", &id, "--yes"]);
            }
        }
        started
    }
}

fn told(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

#[test]
fn commands_in_parallel_break_no_slot() {
    let env = TestEnvironment::new();
    let shop = env.shop();
    for n in 0..40 {
        std::fs::write(shop.join(format!("file-{n}")), "x".repeat(1000)).unwrap();
    }
    env.git(&shop, &["add", "."]);
    env.git(&shop, &["commit", "-q", "-m", "files"]);
    env.pool_size(3);
    let home = Home::of(&env, env.home());
    let other = Home::of(&env, env.root().join("other-home"));
    other.ok(&["project", "add", shop.to_str().unwrap()]);
    other.ok(&["project", "update", "shop", "--pool-size", "3"]);
    let started = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for (home, name) in [(&home, "one"), (&home, "two"), (&other, "three")] {
            let started = &started;
            scope.spawn(move || {
                started.fetch_add(home.start_and_cancel(name), Ordering::Relaxed);
            });
        }
        for words in [
            &["workspace", "gc", "--all"][..],
            &["doctor", "--repair"],
            &["doctor"],
        ] {
            let home = &home;
            scope.spawn(move || {
                for _ in 0..TIMES {
                    home.ok(words);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..TIMES {
                other.ok(&["workspace", "gc", "--all"]);
            }
        });
    });
    assert!(started.into_inner() > TIMES);
    for home in [&home, &other] {
        home.ok(&["doctor"]);
        for slot in ["a", "b", "c"] {
            let branch = format!("{slot}-{}", home.folder.file_name().unwrap().display());
            let told = home.ok(&["workspace", "list"]);
            assert!(home.start(&branch).is_some(), "{told}");
        }
        home.ok(&["doctor"]);
    }
}
