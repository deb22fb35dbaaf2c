//! Completions: what is offered, asked for as the scripts do; and the scripts in real shells, with a real Tab.

use crate::env::{TestEnvironment, fingerprint};
use crate::run::program;
use std::process::Output;
use std::time::{Duration, Instant};

/// What fish would be offered for a line: values, a tab, what they are.
fn offered(env: &TestEnvironment, words: &[&str]) -> Vec<String> {
    let mut arguments = vec!["--", "orange"];
    arguments.extend(words);
    let run = env.call(arguments).var("ORANGE_COMPLETE", "fish").run();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run}");
    run.stdout.lines().map(str::to_owned).collect()
}

/// The same without what they are.
fn values(env: &TestEnvironment, words: &[&str]) -> Vec<String> {
    let value = |line: String| line.split('\t').next().unwrap().to_owned();
    offered(env, words).into_iter().map(value).collect()
}

#[test]
fn tasks_by_every_name_they_have() {
    let env = TestEnvironment::new();
    let login = env.create(["Add a login form"]);
    let menu = env.create(["fix/menu", "Fix the menu"]);
    let other = env.init_repository("mail");
    env.orange(["project", "add", other.to_str().unwrap()]).ok();
    env.create(["--project", "mail", "--branch", "spam", "Stop spam"]);
    assert_eq!(
        offered(&env, &["task", "show", ""]),
        [
            "TASK-002\tpending: Fix the menu",
            "TASK-001\tpending: Add a login form"
        ]
    );
    assert_eq!(values(&env, &["task", "show", "task-002"]), ["TASK-002"]);
    assert_eq!(values(&env, &["task", "show", "fix/"]), ["fix/menu"]);
    assert_eq!(
        values(&env, &["task", "show", "shop/fix"]),
        ["shop/fix/menu"]
    );
    assert_eq!(values(&env, &["task", "show", "ma"]), ["mail:TASK-001"]);
    assert_eq!(
        values(&env, &["task", "show", &menu.id[..6]]),
        [menu.id.as_str()]
    );
    // A number is a key's; it never becomes somebody's id.
    assert_eq!(values(&env, &["task", "show", "2"]), ["2"]);
    assert_eq!(values(&env, &["task", "show", "9"]), [""; 0]);
    // The project that the line names, and one per comma.
    let line = [
        "task",
        "create",
        "x",
        "--project",
        "mail",
        "--blocked-by",
        "",
    ];
    assert_eq!(values(&env, &line), ["TASK-001"]);
    let line = ["new", "x", "--blocked-by", "TASK-001,TASK-00"];
    assert_eq!(
        values(&env, &line),
        ["TASK-001,TASK-002", "TASK-001,TASK-001"]
    );
    // One that is over comes last, and where the command is not for it only if no other fits.
    env.create(["Sign out"]);
    env.orange(["task", "cancel", &menu.key]).ok();
    let all = ["TASK-003", "TASK-001", "TASK-002"];
    assert_eq!(values(&env, &["task", "show", "TASK"]), all);
    assert_eq!(values(&env, &["task", "cancel", ""]), all[..2]);
    assert_eq!(values(&env, &["task", "cancel", "TASK-002"]), ["TASK-002"]);
    env.orange(["task", "cancel", &login.key]).ok();
    assert!(!values(&env, &["task", "merge", ""]).contains(&"TASK-001".to_owned()));
    assert_eq!(
        values(&env, &["task", "create", "--from", ""]),
        ["TASK-002", "TASK-001"]
    );
    env.orange(["task", "delete", &login.key, "--yes"]).ok();
    assert_eq!(values(&env, &["task", "restore", ""]), ["TASK-001"]);
}

#[test]
fn commands_offer_the_tasks_that_they_are_for() {
    let env = TestEnvironment::new();
    let reviewed = env.create(["Add a login form"]);
    let planned = env.create(["Fix the menu"]);
    let over = env.create(["Sign out"]);
    env.create(["Not begun"]);
    env.bring_to(&reviewed, "reviewing");
    env.bring_to(&planned, "planning");
    env.orange(["task", "cancel", &over.key]).ok();
    for (command, expected) in [
        (&["task", "merge"][..], &["TASK-001", "TASK-002"][..]),
        (&["merge"], &["TASK-001", "TASK-002"]),
        (&["task", "request-changes"], &["TASK-001"]),
        (&["task", "spawn"], &["TASK-004"]),
        (&["task", "delete"], &["TASK-003"]),
        (&["task", "wait"], &["TASK-004", "TASK-002", "TASK-001"]),
        (
            &["task", "why"],
            &["TASK-004", "TASK-002", "TASK-001", "TASK-003"],
        ),
    ] {
        let line = [command, &[""]].concat();
        assert_eq!(values(&env, &line), expected, "{command:?}");
    }
}

#[test]
fn settings_and_what_they_may_be() {
    let env = TestEnvironment::new();
    let file = "agents:\n  limit: 4\nharness:\n  mine: [my-agent]\nnotify:\n  command: say it\n";
    std::fs::write(env.home().join("config.yaml"), file).unwrap();
    let keys = values(&env, &["config", "get", ""]);
    assert!(
        keys.is_sorted() && keys.contains(&"harness.mine".to_owned()),
        "{keys:?}"
    );
    assert_eq!(
        values(&env, &["config", "set", "merge.s"]),
        ["merge.strategy"]
    );
    assert_eq!(
        values(&env, &["config", "unset", ""]),
        ["agents.limit", "harness.mine", "notify.command"]
    );
    let set = |words: &[&str]| offered(&env, &[&["config", "set"], words].concat());
    assert_eq!(set(&["merge.push", ""]), ["true\tas it is now", "false"]);
    assert_eq!(
        set(&["agents.limit", ""]),
        ["4\tas it is now", "10\tthe default"]
    );
    assert_eq!(set(&["log.keep_days", ""]), ["30\tas it is now"]);
    assert_eq!(set(&["notify.command", ""]), ["say it\tas it is now"]);
    assert_eq!(set(&["tmux.server", ""]), ["orange\tfor example"]);
    assert_eq!(set(&["git.fetch", "b"]), ["background"]);
    assert_eq!(set(&["agents.harness", "m"]), ["mine"]);
    assert!(set(&["log.level", ""]).contains(&"trace".to_owned()));
    // One value is enough, and a setting that there is not has none.
    assert!(set(&["git.fetch", "never", "b"]).is_empty());
    assert!(set(&["git.fetsch", "b"]).is_empty());
    assert_eq!(
        values(&env, &["ls", "--config", "merge.str"]),
        ["merge.strategy="]
    );
    assert_eq!(
        values(&env, &["ls", "--config", "merge.strategy=re"]),
        ["merge.strategy=rebase"]
    );
}

#[test]
fn outside_of_any_project_tasks_have_their_projects_name() {
    let env = TestEnvironment::new();
    env.create(["Add a login form"]);
    let words = ["--", "orange", "task", "show", ""];
    let run = env
        .call(words)
        .at(env.root())
        .var("ORANGE_COMPLETE", "zsh")
        .run();
    assert_eq!(run.stdout, "shop\\:TASK-001:pending: Add a login form\n");
}

#[test]
fn keys_with_a_prefix_are_offered_from_everywhere() {
    let env = TestEnvironment::new();
    let web = env.init_repository("web");
    env.call(["project", "add", "--prefix", "WEB"])
        .at(&web)
        .run()
        .ok();
    env.create(["Here"]);
    for summary in ["One", "Two"] {
        env.create([summary, "--project", "web"]);
    }
    let show = |begun: &str| values(&env, &["task", "show", begun]);
    assert_eq!(show(""), ["TASK-001"]);
    assert_eq!(show("we"), ["web:WEB-002", "web:WEB-001"]);
    assert_eq!(show("WEB-"), ["WEB-002", "WEB-001"]);
    assert_eq!(show("web-002"), ["WEB-002"]);
}

#[test]
fn whatever_else_has_a_name() {
    let env = TestEnvironment::new();
    env.git(&env.shop(), &["branch", "feature/a"]);
    let task = env.create(["Add a login form"]);
    assert_eq!(values(&env, &["ls", "--project", ""]), ["shop"]);
    assert_eq!(values(&env, &["project", "remove", "s"]), ["shop"]);
    assert_eq!(
        values(&env, &["ls", "--status", "pending,st"]),
        ["pending,stuck"]
    );
    assert_eq!(values(&env, &["ls", "--status=st"]), ["--status=stuck"]);
    assert_eq!(values(&env, &["new", "--base", "fea"]), ["feature/a"]);
    assert_eq!(values(&env, &["new", "--harness", "cl"]), ["claude"]);
    assert_eq!(
        values(&env, &["new", "--permissions", ""]),
        ["full", "edits", "ask"]
    );
    assert_eq!(values(&env, &["merge", "--strategy", "re"]), ["rebase"]);
    assert_eq!(values(&env, &["prompt", "show", "nu"]), ["nudge"]);
    assert_eq!(values(&env, &["completions", ""]), ["bash", "zsh", "fish"]);
    assert_eq!(values(&env, &["help", "exit"]), ["exit-codes"]);
    assert_eq!(values(&env, &["help", "task", "mer"]), ["merge"]);
    assert_eq!(
        values(&env, &["man", "task", "rescue", ""]),
        ["list", "show", "restore"]
    );
    assert_eq!(
        values(&env, &["task", "wait", &task.key, "--for", "n"]),
        ["needs-me"]
    );
    // Flags come with a dash, or where there is nothing else.
    assert_eq!(
        values(&env, &["task", "show", "--h"]),
        ["--history", "--help"]
    );
    assert!(values(&env, &["doctor", ""]).contains(&"--repair".to_owned()));
    env.bring_to(&task, "planning");
    std::fs::write(env.slot_of(&task).join("new.txt"), "new").unwrap();
    env.orange(["task", "cancel", &task.key]).ok();
    let rescues = values(&env, &["task", "rescue", "restore", &task.key, ""]);
    assert_eq!(rescues.len(), 2, "{rescues:?}");
    assert_eq!(rescues[0], "latest");
    // However it is named, a deleted one too.
    for named in ["task-001", "1", &task.id[..10]] {
        let again = values(&env, &["task", "rescue", "restore", named, ""]);
        assert_eq!(again, rescues, "{named}");
    }
    assert_eq!(
        values(&env, &["task", "rescue", "list", ""]),
        [task.key.as_str()]
    );
    env.orange(["task", "delete", &task.key, "--yes"]).ok();
    let deleted = values(&env, &["task", "rescue", "restore", &task.key, ""]);
    assert_eq!(deleted, rescues);
}

#[test]
fn it_never_fails_never_speaks_and_never_writes() {
    let mut env = TestEnvironment::new();
    env.create(["Line one\u{1b}[31m of it"]);
    let text = offered(&env, &["task", "show", ""]).join("\n");
    assert!(text.starts_with("TASK-001\tpending: Line one"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text:?}");
    let before = fingerprint(&env.tasks());
    // What is not of this program is left as it is.
    std::fs::write(env.home().join("index.db"), "no database").unwrap();
    std::fs::write(env.home().join("projects.json"), "{").unwrap();
    std::fs::write(env.home().join("config.yaml"), "agents: [").unwrap();
    assert!(offered(&env, &["task", "show", "TASK"]).is_empty());
    assert!(offered(&env, &["ls", "--project", ""]).is_empty());
    assert!(values(&env, &["new", "--harness", ""]).contains(&"sim".to_owned()));
    assert!(offered(&env, &["task", "show", "--no-such-flag"]).is_empty());
    assert_eq!(fingerprint(&env.tasks()), before);
    assert_eq!(
        std::fs::read_to_string(env.home().join("index.db")).unwrap(),
        "no database"
    );
    env.unset("ORANGE_HOME");
    env.unset("HOME");
    offered(&env, &["task", "show", ""]);
    env.set("ORANGE_HOME", "/nowhere/at/all");
    assert!(offered(&env, &["task", "show", "TASK"]).is_empty());
    for shell in ["tcsh", ""] {
        let run = env
            .call(["--", "orange", ""])
            .var("ORANGE_COMPLETE", shell)
            .run();
        assert_eq!(
            (run.stdout.as_str(), run.stderr.as_str()),
            ("", ""),
            "{run}"
        );
    }
}

/// Generous: only a test that fails waits so long.
const CEILING: Duration = Duration::from_secs(60);

/// A shell at a terminal.
struct Terminal<'e> {
    env: &'e TestEnvironment,
}

impl Terminal<'_> {
    /// In the repository `shop`; it has read the completions in this way.
    fn of<'e>(env: &'e TestEnvironment, shell: &str, read: &str) -> Terminal<'e> {
        let terminal = Terminal { env };
        let folder = env.shop();
        let arguments = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "30",
            "-c",
        ];
        let mut arguments = arguments.to_vec();
        arguments.extend([folder.to_str().unwrap(), shell]);
        let started = terminal.tmux(&arguments);
        assert!(started.status.success(), "{started:?}");
        terminal.keys(&["-l", &format!("{read}; echo r''eady")]);
        terminal.keys(&["Enter"]);
        terminal.until("\nready");
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let socket = self.env.root().join("t");
        let mut command = self.env.foreign("tmux");
        command.arg("-S").arg(socket).args(arguments);
        command.env("TERM", "xterm-256color").output().unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        let mut arguments = vec!["send-keys"];
        arguments.extend(keys);
        self.tmux(&arguments);
    }

    fn until(&self, expected: &str) {
        self.look(expected, true);
    }

    fn look(&self, expected: &str, there: bool) {
        let begun = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            let screen = format!("\n{}", String::from_utf8_lossy(&screen.stdout));
            if screen.contains(expected) == there {
                return;
            }
            assert!(
                begun.elapsed() < CEILING,
                "{expected:?}, {there}:\n{screen}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Types a line and Tab, and waits for what must come of it.
    fn offers(&self, line: &str, what: &str) {
        self.keys(&["-l", line]);
        self.keys(&["Tab"]);
        self.until(what);
    }

    /// The same, and clears the line, so that the next one is not taken for this one.
    fn completes(&self, line: &str, to: &str) {
        self.offers(line, to);
        self.keys(&["C-u"]);
        self.look(to, false);
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// A home with a task, a rescue-worthy name and a branch that no shell may take at its word.
fn world() -> TestEnvironment {
    let mut env = TestEnvironment::new();
    let own = program().parent().unwrap().to_owned();
    let path = std::env::split_paths(&env.variable("PATH")).collect::<Vec<_>>();
    let path = std::env::join_paths(std::iter::once(own).chain(path)).unwrap();
    env.set("PATH", path);
    env.set("LC_ALL", "C.UTF-8");
    env.create(["Add a login form"]);
    let other = env.init_repository("mail");
    env.orange(["project", "add", other.to_str().unwrap()]).ok();
    env.create(["--project", "mail", "--branch", "spam", "Stop spam"]);
    env.git(&env.shop(), &["branch", "weird;name"]);
    env.git(&env.shop(), &["branch", "evil/$(touch${IFS}/tmp/x)"]);
    env.git(&env.shop(), &["branch", "evil/tame-name"]);
    env
}

/// What every shell makes of a Tab.
fn completes_everything(terminal: &Terminal<'_>) {
    terminal.completes("orange task reque", "orange task request-changes");
    terminal.completes("orange task why TASK-", "orange task why TASK-001");
    // Colons and equals signs end words in bash.
    terminal.completes("orange task why mail:", "orange task why mail:TASK-001");
    terminal.completes("orange task why mai", "orange task why mail:TASK-001");
    terminal.completes("orange ls --project=ma", "orange ls --project=mail");
    terminal.completes("orange ls --status done,can", "--status done,cancelled");
    terminal.completes(
        "orange diff orange/",
        "diff orange/TASK-001-add-a-login-form",
    );
    terminal.completes("orange help exit", "orange help exit-codes");
    terminal.completes("orange config set git.fet", "config set git.fetch");
    terminal.completes("orange config set git.fetch b", "git.fetch background");
    terminal.completes(
        "orange --config git.fetch=b",
        "--config git.fetch=background",
    );
}

#[test]
fn bash() {
    let env = world();
    let terminal = Terminal::of(
        &env,
        "bash --norc --noprofile",
        "source <(orange completions bash)",
    );
    completes_everything(&terminal);
    terminal.completes("orange new --base weird", "--base weird\\;name");
    // In quotes bash would run what a branch is called.
    terminal.completes("orange new --base \"evil/", "--base \"evil/tame-name\"");
    // Nothing to offer: the line stays as it is.
    terminal.keys(&["-l", "orange task restore --no-such-"]);
    terminal.keys(&["Tab"]);
    terminal.completes("x", "--no-such-x");
}

#[test]
fn bash_reads_it_from_a_file() {
    let env = world();
    let file = env.write(
        "completions/orange",
        env.orange(["completions", "bash"]).ok().stdout,
    );
    let read = format!("source {}; complete -p orange", file.display());
    let terminal = Terminal::of(&env, "bash --norc --noprofile", &read);
    terminal.until("-F _orange orange");
    terminal.completes("orange task why TASK-", "orange task why TASK-001");
}

#[test]
fn zsh() {
    let env = world();
    let terminal = Terminal::of(&env, "zsh -f", "source <(orange completions zsh)");
    completes_everything(&terminal);
    terminal.completes("orange new --base weird", "--base weird\\;name");
    // Several are listed with what they are.
    terminal.offers("orange task re", "-- Start an agent again that is gone");
}

#[test]
fn zsh_finds_it_in_its_folders() {
    let env = world();
    env.write(
        "functions/_orange",
        env.orange(["completions", "zsh"]).ok().stdout,
    );
    let folder = env.root().join("functions");
    let read = format!(
        "fpath=({} $fpath); autoload -Uz compinit; compinit -u",
        folder.display()
    );
    let terminal = Terminal::of(&env, "zsh -f", &read);
    terminal.completes("orange task why TASK-", "orange task why TASK-001");
}

#[test]
fn fish() {
    let env = world();
    let terminal = Terminal::of(&env, "fish --no-config", "orange completions fish | source");
    completes_everything(&terminal);
    terminal.completes("orange new --base weird", "weird\\;name");
    terminal.offers("orange task re", "Start an agent again that is gone");
}

#[test]
fn the_script_as_json() {
    let env = TestEnvironment::empty();
    let value = env.orange(["completions", "fish", "--json"]).ok().json();
    assert_eq!(value["completions"]["shell"], "fish");
    let script = value["completions"]["script"].as_str().unwrap().to_owned();
    assert_eq!(script, env.orange(["completions", "fish"]).ok().stdout);
    assert_eq!(env.orange(["completions", "tcsh"]).code, 2);
    assert!(!env.home().exists());
}
