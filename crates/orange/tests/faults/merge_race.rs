//! Four processes merge tasks of one repository in random order and by random strategies, while its user or a colleague
//! goes on working: every change of every task is in the target exactly once, and no checkout shows a change that was not
//! made there.

use crate::crash::Dice;
use crate::env::{Env, told};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const TASKS: usize = 8;
const PROCESSES: usize = 4;
const STRATEGIES: &[&str] = &["squash", "merge", "rebase"];

struct Race {
    env: Env,
    /// The user's second checkout, on a branch of its own.
    other: PathBuf,
    remote: Option<PathBuf>,
    keys: Vec<String>,
}

/// Far enough apart that no two tasks meet.
fn shared_file(lines_of: &[usize]) -> String {
    let line = |number: usize| {
        if lines_of.contains(&number) {
            format!("{number} token-{number}-\n\n\n\n\n\n")
        } else {
            format!("{number}\n\n\n\n\n\n")
        }
    };
    (0..TASKS).map(line).collect()
}

fn race(with_remote: bool) -> Race {
    let env = Env::new();
    for (name, value) in [("user.name", "t"), ("user.email", "t@example.invalid")] {
        env.git(&["config", name, value]);
    }
    let repository = env.repository().to_owned();
    fs::write(repository.join("shared.txt"), shared_file(&[])).unwrap();
    fs::write(repository.join("mine.txt"), "as it was\n").unwrap();
    env.git(&["add", "."]);
    env.git(&["commit", "--quiet", "--message=second"]);
    let remote = with_remote.then(|| env.folder().join("remote.git"));
    if let Some(remote) = &remote {
        env.git(&["init", "--quiet", "--bare", remote.to_str().unwrap()]);
        env.git(&["remote", "add", "origin", "../remote.git"]);
        env.git(&["push", "--quiet", "origin", "main"]);
        let colleague = env.folder().join("colleague");
        let url = remote.to_str().unwrap();
        env.git(&[
            "clone",
            "--quiet",
            "--branch=main",
            url,
            colleague.to_str().unwrap(),
        ]);
        for (name, value) in [("user.name", "c"), ("user.email", "c@example.invalid")] {
            env.git_at(&colleague, &["config", name, value]);
        }
    }
    let mut keys = Vec::new();
    for number in 0..TASKS {
        let branch = format!("task-{number}");
        env.git(&["switch", "--quiet", "--create", &branch, "main"]);
        fs::write(repository.join("shared.txt"), shared_file(&[number])).unwrap();
        env.git(&["commit", "--quiet", "--all", "--message=in the shared file"]);
        let own = format!("own-{number}.txt");
        fs::write(repository.join(&own), format!("own-token-{number}-\n")).unwrap();
        env.git(&["add", "."]);
        env.git(&["commit", "--quiet", "--message=in a file of its own"]);
        env.git(&["switch", "--quiet", "main"]);
        let summary = format!("Task {number}");
        keys.push(env.create(&[&branch, &summary, "--status", "reviewing"]));
    }
    let other = env.folder().join("other");
    env.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "other",
        other.to_str().unwrap(),
    ]);
    for checkout in [repository.as_path(), &other] {
        fs::write(checkout.join("mine.txt"), "an edit of the user\n").unwrap();
        fs::write(checkout.join("untracked.txt"), "a file of the user\n").unwrap();
    }
    Race {
        env,
        other,
        remote,
        keys,
    }
}

impl Race {
    /// A commit of somebody else: of the user in the main checkout, or of a colleague on the remote.
    fn others_commit(&self, number: usize) {
        let folder = match &self.remote {
            Some(_) => self.env.folder().join("colleague"),
            None => self.env.repository().to_owned(),
        };
        let name = format!("user-{number}.txt");
        fs::write(folder.join(&name), format!("user-token-{number}-\n")).unwrap();
        let message = format!("--message=user {number}");
        let words: [&[&str]; 2] = [
            &["add", &name],
            &["commit", "--quiet", &message, "--", &name],
        ];
        for arguments in words {
            while !self.tries(&folder, arguments) {
                std::thread::yield_now();
            }
        }
        if self.remote.is_some() {
            while !self.tries(&folder, &["push", "--quiet", "origin", "HEAD:main"]) {
                self.env
                    .git_at(&folder, &["pull", "--quiet", "--rebase", "origin", "main"]);
            }
        }
    }

    /// False if another git was quicker.
    fn tries(&self, folder: &Path, arguments: &[&str]) -> bool {
        let output = std::process::Command::new("git")
            .current_dir(folder)
            .args(arguments)
            .env("HOME", self.env.folder())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        let quicker = ["lock", "fetch first", "non-fast-forward", "rejected"];
        assert!(
            output.status.success() || quicker.iter().any(|word| text.contains(word)),
            "git {arguments:?}: {text}"
        );
        output.status.success()
    }

    fn show(&self, folder: &Path, path: &str) -> String {
        self.env
            .git_says(folder, &["show", &format!("main:{path}")])
    }

    fn check(&self, commits: usize, label: &str) {
        let places = [Some(self.env.repository().to_owned()), self.remote.clone()];
        for folder in places.into_iter().flatten() {
            let at = format!("{label}, {}", folder.display());
            let all: Vec<usize> = (0..TASKS).collect();
            assert_eq!(self.show(&folder, "shared.txt"), shared_file(&all), "{at}");
            for number in 0..TASKS {
                let own = format!("own-{number}.txt");
                let token = format!("own-token-{number}-");
                assert_eq!(self.show(&folder, &own), format!("{token}\n"), "{at}");
                let words = ["log", "--format=%s", "--no-merges", "-S", &token, "main"];
                let by = self.env.git_says(&folder, &words);
                assert_eq!(by.lines().count(), 1, "{at}: {token} came by {by:?}");
            }
        }
        for number in 0..commits {
            let folder = self.remote.as_deref().unwrap_or(self.env.repository());
            let text = self.show(folder, &format!("user-{number}.txt"));
            assert_eq!(text, format!("user-token-{number}-\n"), "{label}");
        }
        for checkout in [self.env.repository(), &self.other] {
            let status = self.env.git_says(checkout, &["status", "--porcelain"]);
            assert_eq!(
                status,
                " M mine.txt\n?? untracked.txt\n",
                "{label}: {}",
                checkout.display()
            );
            let text = |name: &str| fs::read_to_string(checkout.join(name)).unwrap();
            assert_eq!(text("mine.txt"), "an edit of the user\n", "{label}");
            assert_eq!(text("untracked.txt"), "a file of the user\n", "{label}");
        }
        for key in &self.keys {
            let shown = self.env.ok(&["task", "show", key]);
            assert_eq!(shown["task"]["status"], "done", "{label}: {key}");
        }
    }
}

#[test]
fn merges_of_four_processes_land_once_each_and_leave_the_user_alone() {
    let seed = std::env::var("ORANGE_TEST_SEED").map_or(20_261_115, |seed| seed.parse().unwrap());
    println!("seed {seed}");
    let mut dice = Dice(seed);
    for round in 0..4 {
        let race = race(round % 2 == 1);
        let mut waiting: Vec<(String, &str)> = Vec::new();
        for key in &race.keys {
            let strategy = STRATEGIES[dice.below(STRATEGIES.len())];
            waiting.insert(dice.below(waiting.len() + 1), (key.clone(), strategy));
        }
        let label = format!("seed {seed}, round {round}, {waiting:?}");
        let waiting = Mutex::new(VecDeque::from(waiting));
        let over = AtomicBool::new(false);
        let merged = AtomicUsize::new(0);
        let commits = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let merging: Vec<_> = (0..PROCESSES)
                .map(|_| {
                    scope.spawn(|| {
                        loop {
                            let Some((key, strategy)) = waiting.lock().unwrap().pop_front() else {
                                return;
                            };
                            let words = ["task", "merge", &key, "--strategy", strategy];
                            let output = race.env.run(&words);
                            // What the checkout looks like tells how it came to that.
                            let looks = || {
                                let words = ["diff", "HEAD", "--", "shared.txt"];
                                let repository = race.env.repository();
                                let status = ["status", "--porcelain=v2", "--branch"];
                                let status = race.env.git_says(repository, &status);
                                format!("{status}\n{}", race.env.git_says(repository, &words))
                            };
                            assert!(
                                output.status.success(),
                                "{label}: {key}: {}\n{}",
                                told(&output),
                                looks()
                            );
                            merged.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    let seen = merged.load(Ordering::SeqCst);
                    race.others_commit(commits.load(Ordering::SeqCst));
                    commits.fetch_add(1, Ordering::SeqCst);
                    // Somebody who pushes without a pause would be quicker than anybody else for ever.
                    let waits = || race.remote.is_some() && merged.load(Ordering::SeqCst) == seen;
                    while waits() && !over.load(Ordering::SeqCst) {
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                }
            });
            let ended: Vec<_> = merging.into_iter().map(|thread| thread.join()).collect();
            over.store(true, Ordering::SeqCst);
            assert!(ended.iter().all(Result::is_ok), "{label}");
        });
        let commits = commits.into_inner();
        assert!(commits > 0, "{label}: the user did nothing");
        race.check(commits, &label);
        println!("round {round}: {TASKS} merges, {commits} commits of the user");
    }
}
