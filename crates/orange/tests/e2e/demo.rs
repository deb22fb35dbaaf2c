//! `orange demo`: it gets where it should in any surroundings, shows it, and leaves nothing, however it ends.

use crate::agents::Agents;
use crate::env::{TestEnvironment, fingerprint, in_terminal};
use crate::looker::Looker;
use crate::run::{Call, Run, program};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A machine with a folder for temporary files of its own, so that it can be seen what is left.
struct Machine {
    env: TestEnvironment,
}

impl Machine {
    fn new() -> Machine {
        let env = TestEnvironment::empty();
        fs::create_dir(env.root().join("t")).unwrap();
        Machine { env }
    }

    fn tmp(&self) -> PathBuf {
        self.env.root().join("t")
    }

    fn call(&self, arguments: &[&str]) -> Call<'_> {
        let all = ["demo"].iter().chain(arguments).copied();
        self.env
            .call(all)
            .var("TMPDIR", self.tmp().display().to_string())
    }

    fn demo(&self, arguments: &[&str]) -> Run {
        self.call(arguments).run()
    }

    /// Processes that know a folder in there, and what they are.
    fn processes(&self) -> Vec<(String, String)> {
        let mut wanted = self.tmp().into_os_string();
        wanted.push("/orange-demo-");
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter_map(|entry| {
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let mut windows = environment.windows(wanted.len());
            windows.find(|window| *window == wanted.as_bytes())?;
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            Some((entry.file_name().into_string().unwrap(), line))
        })
        .collect()
    }

    #[track_caller]
    fn nothing_is_left(&self) {
        let folders: Vec<_> = fs::read_dir(self.tmp()).unwrap().flatten().collect();
        assert!(folders.is_empty(), "{folders:?}");
        assert_eq!(self.processes(), Vec::new());
    }
}

impl Drop for Machine {
    /// A test that fails leaves nothing either.
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            let _ = self.env.foreign("kill").args(["-9", &pid]).status();
        }
    }
}

const MILESTONES: &[&str] = &[
    "you       $ orange run TASK-001",
    "TASK-001  executor started",
    "iteration 1 of implement: completed",
    "invoices say 04.03.2026",
    "iteration 1 of test: completed",
    "TASK-001  running → completed",
    "executed by a plan: implement, test; then merged",
    "TASK-002  reviewer: FAIL, There is no test",
    "TASK-002  worker is told what the review says",
    "TASK-002  reviewer started, round 2",
    "TASK-002  reviewer: PASS",
    "TASK-003  worker asks: How many requests",
    "you       $ orange send TASK-003",
    "TASK-003  worker crashed (signal 11)",
    "you       $ orange respawn TASK-003",
    "TASK-003  worker started again",
    "TASK-003  reviewer: PASS",
    "you       $ orange merge TASK-001",
    "TASK-001  merged: on main as ",
    "you       $ orange merge TASK-002",
    "TASK-002  merged: on main as ",
    "you       $ orange merge TASK-003",
    "TASK-003  merged: on main as ",
    "failed its first review, was fixed, passed the second, merged",
    "3 agents, 2 reviews, 2 commits squashed into ",
    "What is on main",
    " Fix the date on invoices (TASK-001)\n",
    " Add a login form (TASK-002)\n",
    " Limit requests to the API (TASK-003)\n",
    "nothing of it is left",
    "What to try next",
];

#[test]
fn in_a_pipe_it_tells_a_line_per_event_and_leaves_nothing() {
    let machine = Machine::new();
    let run = machine.demo(&["--speed", "fast"]);
    assert_eq!(run.code, 0, "{run}");
    for milestone in MILESTONES {
        assert!(run.stdout.contains(milestone), "{milestone}: {run}");
    }
    assert!(!run.stdout.contains('\u{1b}'), "{run}");
    assert!(run.stdout.starts_with("[ 0."), "{run}");
    assert_eq!(run.stderr, "");
    machine.nothing_is_left();
}

#[test]
fn nothing_of_the_surroundings_takes_part() {
    let mut machine = Machine::new();
    machine.env.unset("HOME");
    machine.env.unset("GIT_");
    let root = machine.env.root();
    let hook = machine.env.write("hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let settings = machine.env.write(
        "gitconfig",
        format!(
            "[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = /bin/false\n[core]\n\thooksPath = {}\n",
            root.join("hooks").display()
        ),
    );
    let foreign = root.join("foreign");
    machine.env.write("home/orange/config.yaml", "agents: [\n");
    let before = fingerprint(&machine.env.home());
    let run = machine
        .call(&["--speed", "fast", "--json"])
        .var("GIT_CONFIG_GLOBAL", settings.display().to_string())
        .var("GIT_DIR", "/nowhere")
        .var("TMUX", format!("{},1,0", foreign.display()))
        .var("TMUX_PANE", "%0")
        .var("ORANGE_TASK_ID", "somebody")
        .var("ORANGE_ROLE", "reviewer")
        .var("ORANGE_TMUX_SERVER", foreign.display().to_string())
        .var("ORANGE_AGENTS_LIMIT", "many")
        .run();
    assert_eq!(run.code, 0, "{run}");
    let said = run.json();
    assert_eq!(said["demo"]["ok"], true, "{run}");
    let tasks = said["demo"]["tasks"].as_array().unwrap();
    let of = |name: &str| -> Vec<u64> {
        let values = tasks.iter().map(|task| task[name].as_u64().unwrap());
        values.collect()
    };
    assert_eq!(of("agents"), [1, 3, 3]);
    assert_eq!(of("reviews"), [0, 2, 1]);
    assert_eq!(of("crashes"), [0, 0, 1]);
    assert_eq!(of("commits"), [2, 2, 2]);
    let mut statuses = tasks.iter().map(|task| task["status"].as_str().unwrap());
    assert_eq!(statuses.next(), Some("finished"));
    assert!(statuses.all(|status| status == "done"));
    // Each task is on main once, on top of the two commits that were there.
    let main = said["demo"]["main"].as_array().unwrap();
    assert_eq!(main.len(), 5, "{run}");
    for task in tasks {
        let is_it = |commit: &&serde_json::Value| commit["commit"] == task["merged_as"];
        assert_eq!(main.iter().filter(is_it).count(), 1, "{run}");
    }
    assert!(!foreign.exists());
    assert_eq!(fingerprint(&machine.env.home()), before);
    machine.nothing_is_left();
}

#[test]
fn on_a_terminal_the_tasks_are_drawn_in_place() {
    let machine = Machine::new();
    machine.env.init_repository("shop");
    let line = format!(
        "TMPDIR={} {} demo --speed fast; echo code $?",
        machine.tmp().display(),
        program().display()
    );
    let shown = in_terminal(&machine.env, 80, &line);
    assert!(shown.contains("code 0"), "{shown}");
    assert!(shown.contains("3 of 3 tasks are on main"), "{shown}");
    // Drawn anew above itself, with the cursor away meanwhile and back at the end.
    assert!(shown.contains("\u{1b}[8A"), "{shown}");
    let (hidden, back) = (shown.find("\u{1b}[?25l"), shown.rfind("\u{1b}[?25h"));
    assert!(hidden.is_some() && back > hidden, "{shown}");
    assert!(shown.contains("\u{1b}[33m★\u{1b}[0m"), "{shown}");
    let plain = in_terminal(&machine.env, 80, &format!("NO_COLOR=1 {line}"));
    assert!(!plain.contains("\u{1b}[33m"), "{plain}");
    machine.nothing_is_left();
}

#[test]
fn a_signal_in_the_middle_leaves_nothing() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let machine = Machine::new();
        let mut child = machine.call(&[]).spawn();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        assert!(lines.any(|line| line.contains("TASK-002  worker started")));
        let mut kill = machine.env.foreign("kill");
        kill.args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        let rest: Vec<String> = lines.collect();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{rest:?}");
        assert!(
            rest.iter()
                .any(|line| line.contains("nothing of it is left"))
        );
        machine.nothing_is_left();
    }
}

#[test]
fn one_that_cannot_succeed_says_what_did_not_get_where() {
    let machine = Machine::new();
    let run = machine.demo(&["--limit", "2"]);
    assert_eq!(run.code, 1, "{run}");
    // A slow machine does not even get to create them all.
    let named = [", not merged", "was not created"];
    let told: usize = named
        .iter()
        .map(|words| run.stdout.matches(words).count())
        .sum();
    assert_eq!(told, 3, "{run}");
    assert!(run.stdout.contains("given up after 2 seconds"), "{run}");
    assert!(!run.stdout.contains("What to try next"), "{run}");
    machine.nothing_is_left();
    let run = machine.demo(&["--limit", "1", "--json"]);
    assert_eq!((run.code, &run.json()["demo"]["ok"]), (1, &false.into()));
    machine.nothing_is_left();
    // What it says can no longer be written down.
    let line = format!("exec {} demo >/dev/full", program().display());
    let mut shell = machine.env.foreign("sh");
    let shell = shell.args(["-c", &line]).env("TMPDIR", machine.tmp());
    assert_eq!(shell.output().unwrap().status.code(), Some(1));
    machine.nothing_is_left();
}

#[test]
fn without_tmux_or_git_it_says_what_to_install() {
    let machine = Machine::new();
    let path = std::env::var_os("PATH").unwrap();
    for missing in ["tmux", "git"] {
        let bin = machine.env.root().join(format!("without-{missing}"));
        fs::create_dir(&bin).unwrap();
        for name in ["tmux", "git", "sh"]
            .iter()
            .filter(|name| **name != missing)
        {
            let mut folders = std::env::split_paths(&path);
            let found = folders.find_map(|folder| folder.join(name).canonicalize().ok());
            std::os::unix::fs::symlink(found.unwrap(), bin.join(name)).unwrap();
        }
        let call = machine.call(&["--speed", "fast"]);
        let run = call.var("PATH", bin.display().to_string()).run();
        assert_eq!(run.code, 1, "{run}");
        assert!(run.stderr.contains(missing), "{run}");
        assert!(run.stderr.contains("install"), "{run}");
        machine.nothing_is_left();
    }
}

#[test]
fn what_is_kept_can_be_looked_at_and_removed_as_it_says() {
    let machine = Machine::new();
    let run = machine.demo(&["--speed", "fast", "--keep"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("Everything is still there"), "{run}");
    let lines: Vec<&str> = run.stdout.lines().map(str::trim).collect();
    let begins = |start: &str| *lines.iter().find(|line| line.starts_with(start)).unwrap();
    let look = format!(
        "{} && {} ls --all && git status --short --branch",
        begins("cd "),
        program().display()
    );
    let mut shell = machine.env.foreign("sh");
    let listed = shell.args(["-c", &look]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let over = |word: &str| listed.matches(word).count();
    assert_eq!((over(" finished "), over(" done ")), (1, 2), "{listed}");
    // The user's own checkout has come along, and shows no change that nobody made.
    assert!(listed.ends_with("\n## main\n"), "{listed}");
    let away = lines.iter().find(|line| line.contains("kill-server"));
    let mut shell = machine.env.foreign("sh");
    shell.args(["-c", away.unwrap()]).status().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !machine.processes().is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = fs::remove_dir_all(machine.tmp());
    fs::create_dir(machine.tmp()).unwrap();
    machine.nothing_is_left();
}

/// A demo in the dashboard, in a window of a shell, until its tasks are there.
fn played(machine: &Agents) -> Looker<'_> {
    let looker = Looker::begin(machine);
    let tmp = machine.root().join("t");
    fs::create_dir_all(&tmp).unwrap();
    looker.type_line(&format!(
        "cd '{}'; TMPDIR='{}' '{}' demo --dashboard",
        machine.root().display(),
        tmp.display(),
        program().display()
    ));
    looker.until_given_back(false);
    looker.until_shown("TASK-003");
    looker
}

#[track_caller]
fn nothing_is_left(machine: &Agents) {
    let folder = machine.root().join("t");
    machine.until("nothing is left", || {
        fs::read_dir(&folder).unwrap().next().is_none()
            && !machine.is_running(&format!("{}/orange-demo-", folder.display()))
    });
}

#[test]
fn it_is_played_in_the_dashboard_by_the_one_who_sits_there() {
    let machine = Agents::new();
    let looker = played(&machine);
    looker.until_shown("How many requests");
    looker.press(&["n"]);
    looker.until_shown("a answer");
    looker.press(&["a"]);
    looker.until_shown("answer TASK-003: How many requests");
    looker.press(&["-l", "100 a minute"]);
    looker.press(&["Enter"]);
    looker.until_shown("clarification → planning");
    // Stopped and gone on with, as any program of a shell.
    looker.press(&["C-z"]);
    looker.until_shown("Stopped");
    looker.until_given_back(true);
    looker.type_line("fg");
    looker.until_given_back(false);
    looker.until_shown("TASK-003");
    looker.press(&["q"]);
    looker.until_given_back(true);
    looker.until_shown("docs/README.md lists the documents");
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 0");
    nothing_is_left(&machine);
}

#[test]
fn ctrl_c_and_a_signal_end_what_is_played_in_the_dashboard() {
    let machine = Agents::new();
    let looker = played(&machine);
    looker.press(&["C-c"]);
    looker.until_given_back(true);
    looker.until_shown("docs/README.md lists the documents");
    nothing_is_left(&machine);
    // A server that is ending holds its socket for a moment: the next terminal is another machine's.
    let machine = Agents::new();
    let looker = played(&machine);
    let processes = machine.processes().into_iter();
    let demo = processes.filter(|(_, line)| line.ends_with("demo --dashboard "));
    machine.kill(demo.map(|(pid, _)| pid).next_back().unwrap(), "-TERM");
    looker.until_given_back(true);
    looker.type_line("echo ended with $?");
    looker.until_shown("ended with 143");
    nothing_is_left(&machine);
}

#[test]
fn without_a_terminal_there_is_no_dashboard_to_play_in() {
    let machine = Machine::new();
    let run = machine.demo(&["--dashboard"]);
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("needs a terminal"), "{run}");
    machine.nothing_is_left();
}
