//! A throw-away machine: a home, repositories and a clean environment, with the real program in it.

use crate::leaving::settle;
use crate::run::{Call, Run};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// What the snapshots must not depend on: a pattern, and what stands in its place.
const FILTERS: &[(&str, &str)] = &[
    // Which programs a machine has is its own business.
    (
        r"(?m)^[a-z ]{11}  (not installed:|\w+ is not installed;) .*\n",
        "",
    ),
    // Of `doctor` only what is wrong: the rest differs between machines.
    (r"(?m)^[a-z ]{11}[✓!] .*\n", ""),
    (r"\.damaged-\d+-\d+-\d+", ".damaged-[STAMP]"),
    (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "[TIME]"),
    (
        r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(?::[0-9]{2})?",
        "[TIME]",
    ),
    (
        r"(?m)^(  )(?:now|[0-9]+[smhdwy] ago) +(you|worker|reviewer|engine|file)\b",
        "${1}[AGE]  $2",
    ),
    (r"(?m)  (?:now|[0-9]+[smhdwy])$", "  [AGE]"),
    (r"\((?:now|[0-9]+[smhdwy] ago)\)", "([AGE])"),
    (r"(updated +)(?:now|[0-9]+[smhdwy] ago),", "${1}[AGE],"),
    (r"@[0-9a-f]{7}\b", "@[HASH]"),
    (r"(moved since review, to) [0-9a-f]{7}\b", "$1 [HASH]"),
    (
        r"(handed off|review passed|review failed) at [0-9a-f]{7}\b",
        "$1 at [HASH]",
    ),
    (r"\b[0-9a-f]{40}\b", "[HASH]"),
    (r#""?\b[0-9A-Za-z]{21}\b"?"#, "[ID]"),
    // An id that begins like a number is written in quotes.
    (r#"(?m)^id: "\[ID\]"$"#, "id: [ID]"),
];

/// One test's own world. The project `shop` is registered; commands run inside its repository.
pub(crate) struct TestEnvironment {
    root: TempDir,
    variables: BTreeMap<String, OsString>,
    _filters: insta::internals::SettingsBindDropGuard,
}

/// A task as the tests speak of it.
#[derive(Debug, Clone)]
pub(crate) struct TestTask {
    pub(crate) key: String,
    pub(crate) id: String,
    pub(crate) branch: String,
    pub(crate) folder: PathBuf,
}

impl TestTask {
    pub(crate) fn file(&self) -> PathBuf {
        self.folder.join("TASK.md")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.folder.join("history.jsonl")
    }

    pub(crate) fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    /// Adds text at the end of the body, as an agent would.
    pub(crate) fn append(&self, text: &str) {
        fs::write(self.file(), format!("{}\n{text}", self.text())).unwrap();
    }

    /// Replaces text somewhere in TASK.md, as an editor would; it must be there.
    pub(crate) fn edit(&self, old: &str, new: &str) {
        let text = self.text();
        assert!(text.contains(old), "{old:?} is not in\n{text}");
        fs::write(self.file(), text.replacen(old, new, 1)).unwrap();
    }

    /// Sets one field of the frontmatter, as an editor would; `value` is YAML on one line.
    pub(crate) fn set_field(&self, name: &str, value: &str) {
        let text = self.text();
        let (front, body) = text.split_once("\n---\n").unwrap();
        let mut inside = false;
        let mut kept: Vec<&str> = Vec::new();
        for line in front.lines() {
            inside = line.starts_with(&format!("{name}:")) || (inside && line.starts_with("  "));
            if !inside {
                kept.push(line);
            }
        }
        let front = format!("{}\n{name}: {value}", kept.join("\n"));
        fs::write(self.file(), format!("{front}\n---\n{body}")).unwrap();
    }

    /// The events in its journal. A line that is just being written is left out.
    pub(crate) fn history(&self) -> Vec<Value> {
        let bytes = fs::read(self.journal()).unwrap();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let text = std::str::from_utf8(&bytes[..whole.map_or(0, |end| end + 1)]).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The types of its events, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        self.history()
            .iter()
            .map(|event| event["type"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Its last event of that type.
    pub(crate) fn last(&self, kind: &str) -> Value {
        self.history()
            .into_iter()
            .rfind(|event| event["type"] == kind)
            .unwrap_or_else(|| panic!("no {kind} in {:?}", self.events()))
    }

    /// Files whose name begins so.
    pub(crate) fn files_like(&self, start: &str) -> Vec<PathBuf> {
        names_in(&self.folder)
            .into_iter()
            .filter(|name| name.starts_with(start))
            .map(|name| self.folder.join(name))
            .collect()
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

impl Drop for TestEnvironment {
    /// An errand that is late would write into a folder that is being removed.
    fn drop(&mut self) {
        settle(self.root.path());
    }
}

impl TestEnvironment {
    /// With the repository `shop`, registered.
    pub(crate) fn new() -> TestEnvironment {
        let env = TestEnvironment::empty();
        let repository = env.init_repository("shop");
        let path = repository.to_str().unwrap();
        env.orange(["project", "add", path, "--pool-size", "2"])
            .ok();
        env
    }

    /// With the repository `shop`, which orange has not heard of.
    pub(crate) fn unregistered() -> TestEnvironment {
        let env = TestEnvironment::empty();
        env.init_repository("shop");
        env
    }

    /// With nothing at all.
    pub(crate) fn empty() -> TestEnvironment {
        let root = tempfile::Builder::new().prefix("e2e-").tempdir().unwrap();
        let mut settings = insta::Settings::clone_current();
        let real = root.path().canonicalize().unwrap();
        let pattern = real.to_str().unwrap().replace('.', r"\.");
        settings.add_filter(&format!("{pattern}/home/orange"), "[HOME]");
        settings.add_filter(&pattern, "[TMP]");
        for (pattern, name) in FILTERS {
            settings.add_filter(pattern, *name);
        }
        let path = std::env::var_os("PATH").unwrap();
        let home = real.join("home");
        let fixed = |text: &str| OsString::from(text);
        let variables = BTreeMap::from([
            ("PATH".into(), path),
            ("ORANGE_HOME".into(), home.join("orange").into()),
            ("HOME".into(), home.clone().into()),
            ("LC_ALL".into(), fixed("C")),
            ("TZ".into(), fixed("UTC")),
            ("USER".into(), fixed("tester")),
            // Most tests play the agents themselves.
            ("ORANGE_AGENTS_HARNESS".into(), fixed("none")),
            ("ORANGE_AGENTS_REVIEW_HARNESS".into(), fixed("none")),
            ("ORANGE_AGENTS_SPAWN_ON_CREATE".into(), fixed("false")),
            ("GIT_CONFIG_GLOBAL".into(), fixed("/dev/null")),
            ("GIT_CONFIG_NOSYSTEM".into(), fixed("1")),
            ("GIT_AUTHOR_NAME".into(), fixed("Tester")),
            ("GIT_AUTHOR_EMAIL".into(), fixed("tester@example.com")),
            ("GIT_COMMITTER_NAME".into(), fixed("Tester")),
            ("GIT_COMMITTER_EMAIL".into(), fixed("tester@example.com")),
        ]);
        fs::create_dir_all(&home).unwrap();
        TestEnvironment {
            _filters: settings.bind_to_scope(),
            root,
            variables,
        }
    }

    /// Forgets variables that begin so.
    pub(crate) fn unset(&mut self, start: &str) {
        self.variables.retain(|name, _| !name.starts_with(start));
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    pub(crate) fn variables(&self) -> &BTreeMap<String, OsString> {
        &self.variables
    }

    pub(crate) fn variable(&self, name: &str) -> OsString {
        self.variables.get(name).cloned().unwrap_or_default()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    /// ORANGE_HOME.
    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home/orange")
    }

    pub(crate) fn tasks(&self) -> PathBuf {
        self.home().join("tasks")
    }

    /// The repository that commands run in.
    pub(crate) fn shop(&self) -> PathBuf {
        self.root().join("shop")
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        if path.starts_with(self.home()) && !self.home().exists() {
            // As orange would make it.
            fs::DirBuilder::new()
                .mode(0o700)
                .create(self.home())
                .unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// A repository with one commit on main.
    pub(crate) fn init_repository(&self, name: &str) -> PathBuf {
        let folder = self.root().join(name);
        fs::create_dir_all(&folder).unwrap();
        self.git(&folder, &["init", "-q", "-b", "main"]);
        self.commit(&folder, "README.md", "first");
        folder
    }

    /// Commits one file; gives the commit.
    pub(crate) fn commit(&self, repository: &Path, file: &str, content: &str) -> String {
        fs::write(repository.join(file), content).unwrap();
        self.git(repository, &["add", file]);
        self.git(
            repository,
            &["commit", "-q", "-m", &format!("change {file}")],
        );
        self.git(repository, &["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self
            .foreign("git")
            .current_dir(folder)
            .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Another program in the same environment.
    pub(crate) fn foreign(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.variables);
        command
    }

    /// Runs orange in the repository `shop`, or where nothing is if there is none.
    pub(crate) fn orange<A: AsRef<str>>(&self, arguments: impl IntoIterator<Item = A>) -> Run {
        self.call(arguments).run()
    }

    pub(crate) fn call<A: AsRef<str>>(&self, arguments: impl IntoIterator<Item = A>) -> Call<'_> {
        let shop = self.shop();
        let folder = if shop.is_dir() { shop } else { self.root() };
        let arguments = arguments
            .into_iter()
            .map(|argument| argument.as_ref().to_owned());
        Call::new(&self.variables, folder, arguments.collect())
    }

    /// Creates a task with these arguments of `task create`.
    pub(crate) fn create<A: AsRef<str>>(&self, arguments: impl IntoIterator<Item = A>) -> TestTask {
        let mut all = vec!["task".to_owned(), "create".into(), "--json".into()];
        all.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        let created = self.orange(all).ok().json();
        self.task_of(&created["task"])
    }

    /// A task from its JSON.
    pub(crate) fn task_of(&self, task: &Value) -> TestTask {
        let word = |name: &str| task[name].as_str().unwrap_or_default().to_owned();
        TestTask {
            key: word("key"),
            folder: self.tasks().join(word("project")).join(word("id")),
            id: word("id"),
            branch: word("branch"),
        }
    }

    /// The task as `task show --json` has it.
    pub(crate) fn show(&self, task: &TestTask) -> Value {
        let mut shown = self
            .orange(["task", "show", &task.id, "--json"])
            .ok()
            .json();
        shown["task"].take()
    }

    /// The tasks as `task list --json` has them.
    pub(crate) fn list<A: AsRef<str>>(&self, arguments: impl IntoIterator<Item = A>) -> Vec<Value> {
        let mut all = vec!["task".to_owned(), "list".into(), "--json".into()];
        all.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        let listed = self.orange(all).ok().json();
        listed["tasks"].as_array().unwrap().clone()
    }

    /// The keys of such a list.
    pub(crate) fn keys<A: AsRef<str>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Vec<String> {
        self.list(arguments)
            .iter()
            .map(|task| task["key"].as_str().unwrap_or("-").to_owned())
            .collect()
    }

    pub(crate) fn update(&self, task: &TestTask, arguments: &[&str]) -> Run {
        let mut all = vec!["task", "update", &task.id];
        all.extend(arguments);
        self.orange(all)
    }

    pub(crate) fn move_to(&self, task: &TestTask, status: &str) -> Run {
        self.update(task, &["--status", status])
    }

    /// Takes a new task to this status by hand, writing the artifacts on the way.
    pub(crate) fn bring_to(&self, task: &TestTask, status: &str) {
        self.take(task, way_to(status));
    }

    /// The same from where the task is.
    pub(crate) fn bring_on(&self, task: &TestTask, status: &str) {
        let way = way_to(status);
        let now = self.show(task)["status"].as_str().unwrap().to_owned();
        let passed = way.iter().position(|step| *step == now).unwrap() + 1;
        self.take(task, &way[passed..]);
    }

    fn take(&self, task: &TestTask, way: &[&str]) {
        for step in way {
            match *step {
                "working" => task.append("## Plan\n\nAPPROACH: straight ahead\n"),
                "agent-review" => task.append("## Handoff\n\nDONE: all of it\n"),
                "reviewing" => task.append("## Review\n\nVerdict: PASS\n"),
                _ => {}
            }
            self.move_to(task, step).ok();
        }
    }

    /// Where a task's work is done.
    pub(crate) fn slot_of(&self, task: &TestTask) -> PathBuf {
        let run = self.orange(["task", "path", &task.id]).ok();
        PathBuf::from(run.stdout.trim_end())
    }

    /// Makes a commit on a task's branch, in its worktree, and merges it into main by hand.
    pub(crate) fn work_and_merge(&self, task: &TestTask) {
        self.commit(&self.slot_of(task), &format!("{}.txt", task.key), "work");
        self.git(&self.shop(), &["merge", "-q", "--no-edit", &task.branch]);
    }

    /// Brings a new task to done, with work that is merged.
    pub(crate) fn finish(&self, task: &TestTask) {
        self.bring_to(task, "reviewing");
        self.work_and_merge(task);
        self.move_to(task, "done").ok();
    }
}

/// The statuses on the way to one.
fn way_to(status: &str) -> &'static [&'static str] {
    match status {
        "pending" => &[],
        "planning" => &["planning"],
        "clarification" => &["planning", "clarification"],
        "working" => &["planning", "working"],
        "stuck" => &["planning", "working", "stuck"],
        "agent-review" => &["planning", "working", "agent-review"],
        "reviewing" => &["planning", "working", "agent-review", "reviewing"],
        "cancelled" => &["cancelled"],
        other => panic!("no way to {other}"),
    }
}

/// A folder's whole content as one text, to compare before and after.
pub(crate) fn fingerprint(folder: &Path) -> String {
    let mut lines = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for name in names_in(&next) {
            let path = next.join(name);
            if path.is_dir() {
                lines.push(format!("{}/", path.display()));
                open.push(path);
            } else {
                lines.push(format!("{} {:?}", path.display(), fs::read(&path).unwrap()));
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

/// A terminal of this width that runs one line of shell; what it shows, as a person would see it.
pub(crate) fn in_terminal(env: &TestEnvironment, columns: u32, line: &str) -> String {
    with_answers(env, columns, line, "")
}

/// The same, with a person who types.
pub(crate) fn with_answers(
    env: &TestEnvironment,
    columns: u32,
    line: &str,
    answers: &str,
) -> String {
    // `script` gives the command a terminal of its own.
    let output = env
        .foreign("script")
        .args(["-qec", &format!("stty cols {columns} rows 40; {line}")])
        .arg("/dev/null")
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .current_dir(env.shop())
        .stdin(typed(env, answers))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

fn typed(env: &TestEnvironment, answers: &str) -> Stdio {
    if answers.is_empty() {
        return Stdio::null();
    }
    fs::File::open(env.write("answers", answers))
        .unwrap()
        .into()
}
