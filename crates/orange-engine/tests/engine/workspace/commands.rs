//! Setup and teardown commands: their surroundings, their ends, their output.

use orange_engine::git::Site;
use orange_engine::git::site::Behalf;
use orange_engine::workspaces::commands::{CommandEnd, CommandFailed, Variables, run};
use orange_engine::{Code, Error};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// More than anything here takes; a test that reaches it has failed.
const AMPLE: Duration = Duration::from_secs(120);

struct Slot {
    root: TempDir,
}

impl Slot {
    fn new() -> Slot {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("slot")).unwrap();
        Slot { root }
    }

    fn site(&self) -> Site {
        Behalf::nobody().at(self.path())
    }

    fn path(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("slot")
    }

    fn log_file(&self) -> PathBuf {
        self.root.path().join("logs/setup.log")
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.log_file()).unwrap()).into_owned()
    }

    fn run(&self, commands: &[&str]) -> Result<(), CommandFailed> {
        self.run_within(AMPLE, commands)
    }

    fn run_within(&self, timeout: Duration, commands: &[&str]) -> Result<(), CommandFailed> {
        let commands: Vec<String> = commands.iter().map(|text| (*text).to_owned()).collect();
        let env = Variables {
            more: vec![("ORANGE_TASK_ID".to_owned(), "the task".to_owned())],
            ..Variables::default()
        };
        run(&self.site(), &commands, timeout, &env, &self.log_file())
    }

    /// The process whose number is in this file of the slot.
    fn process(&self, file: &str) -> i32 {
        let text = fs::read_to_string(self.path().join(file)).unwrap();
        text.trim().parse().unwrap()
    }
}

/// Waits until a process has ended; a zombie that nobody reaps has.
fn wait_for_end(process: i32) {
    for _ in 0..6000 {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let state = stat.rsplit(") ").next().unwrap_or_default().chars().next();
        if matches!(state, None | Some('Z' | 'X')) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    end(process);
    panic!("process {process} goes on");
}

/// No test leaves anything running, not even a failed one.
fn end(process: i32) {
    let process = rustix::process::Pid::from_raw(process).unwrap();
    let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
}

#[test]
fn commands_run_in_order_in_the_slot() {
    let slot = Slot::new();
    slot.run(&[
        "pwd > where; echo one >> order",
        "echo two >> order; echo \"$ORANGE_TASK_ID\" > task",
        "cat > stdin; echo heard >&2",
        "-no-option 2> /dev/null; true",
    ])
    .unwrap();
    let read = |name: &str| fs::read_to_string(slot.path().join(name)).unwrap();
    assert_eq!(Path::new(read("where").trim()), slot.path());
    assert_eq!(read("order"), "one\ntwo\n");
    assert_eq!(read("task"), "the task\n");
    assert_eq!(read("stdin"), "");
    assert_eq!(
        slot.log(),
        "$ pwd > where; echo one >> order\n[exit code 0]\n\
         $ echo two >> order; echo \"$ORANGE_TASK_ID\" > task\n[exit code 0]\n\
         $ cat > stdin; echo heard >&2\nheard\n[exit code 0]\n\
         $ -no-option 2> /dev/null; true\n[exit code 0]\n"
    );
    slot.run(&[]).unwrap();
}

#[test]
fn the_first_failure_ends_it_and_says_all() {
    let slot = Slot::new();
    let failed = slot
        .run(&[
            "echo fine",
            "echo 'not so fine'; printf '\\033[31mred\\033[0m'; exit 7",
            "touch never",
        ])
        .unwrap_err();
    assert_eq!(failed.end, CommandEnd::Exit(7));
    assert_eq!(failed.tail, ["not so fine", "red"]);
    assert_eq!(failed.log, slot.log_file());
    assert!(!slot.path().join("never").exists());
    assert!(
        slot.log()
            .ends_with("\u{1b}[31mred\u{1b}[0m\n[exit code 7]\n")
    );
    let error = Error::from(failed);
    assert_eq!(error.code, Code::Failed);
    assert!(
        error
            .message
            .ends_with("failed: exit code 7\n  not so fine\n  red"),
        "{error}"
    );
    assert!(error.hint.unwrap().words().unwrap().contains("setup.log"));
}

#[test]
fn a_signal_is_said() {
    let slot = Slot::new();
    let failed = slot.run(&["echo before; kill -SEGV $$"]).unwrap_err();
    assert_eq!(failed.end, CommandEnd::Signal(11));
    assert_eq!(failed.tail, ["before"]);
}

#[test]
fn what_cannot_start_is_said() {
    let slot = Slot::new();
    let commands = ["true".to_owned()];
    let gone = slot.site().beside(slot.path().join("gone"));
    let failed = run(
        &gone,
        &commands,
        AMPLE,
        &Variables::default(),
        &slot.log_file(),
    )
    .unwrap_err();
    assert!(matches!(failed.end, CommandEnd::NotStarted(_)), "{failed}");
    fs::write(slot.root.path().join("file"), "").unwrap();
    let log = slot.root.path().join("file/no/log");
    let failed = run(&slot.site(), &commands, AMPLE, &Variables::default(), &log).unwrap_err();
    assert!(matches!(failed.end, CommandEnd::NotStarted(_)), "{failed}");
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
    let slot = Slot::new();
    let limit = Duration::from_millis(300);
    // One in the background that listens to nothing, one in the foreground; neither holds the output.
    let command = "echo begun; \
                   sh -c 'trap \"\" TERM HUP; echo $$ > deaf; while :; do sleep 1; done' > /dev/null 2>&1 & \
                   sh -c 'echo $$ > child; exec sleep 1000' > /dev/null 2>&1";
    // The time has to be enough for both to have begun.
    let mut failed = slot.run_within(limit, &[command]).unwrap_err();
    for factor in [10, 100] {
        if slot.path().join("deaf").exists() && slot.path().join("child").exists() {
            break;
        }
        failed = slot.run_within(limit * factor, &[command]).unwrap_err();
    }
    assert!(matches!(failed.end, CommandEnd::TimedOut(_)), "{failed}");
    assert_eq!(failed.tail, ["begun"]);
    wait_for_end(slot.process("child"));
    wait_for_end(slot.process("deaf"));
    assert!(slot.log().contains("[stopped after "), "{}", slot.log());
    let error = Error::from(failed);
    assert!(
        error
            .hint
            .unwrap()
            .words()
            .unwrap()
            .contains("workspace.timeout")
    );
}

#[test]
fn a_command_that_listens_may_say_good_bye() {
    let slot = Slot::new();
    let command =
        "trap 'echo cleaned; exit 0' TERM; echo ready > ready; while :; do sleep 0.05; done";
    let mut failed = slot
        .run_within(Duration::from_millis(300), &[command])
        .unwrap_err();
    if !slot.path().join("ready").exists() {
        failed = slot
            .run_within(Duration::from_secs(20), &[command])
            .unwrap_err();
    }
    assert!(matches!(failed.end, CommandEnd::TimedOut(_)), "{failed}");
    assert_eq!(failed.tail.last().unwrap(), "cleaned");
}

#[test]
fn a_background_process_is_not_waited_for() {
    let slot = Slot::new();
    // It holds the output open and would for ever; with it the next command runs nevertheless.
    slot.run(&["sh -c 'echo $$ > left; exec sleep 100000' & while ! test -s left; do sleep 0.01; done; echo done", "touch next"])
        .unwrap();
    let left = slot.process("left");
    let alive = fs::read_to_string(format!("/proc/{left}/stat"));
    end(left);
    assert!(alive.is_ok_and(|stat| !stat.contains(") Z")));
    assert!(slot.path().join("next").exists());
    assert!(
        slot.log().contains("done\n[exit code 0]\n"),
        "{}",
        slot.log()
    );
}

#[test]
fn a_failed_command_leaves_nothing_running() {
    let slot = Slot::new();
    let failed = slot
        .run(&["sh -c 'echo $$ > left; exec sleep 100000' & while ! test -s left; do sleep 0.01; done; exit 3"])
        .unwrap_err();
    assert_eq!(failed.end, CommandEnd::Exit(3));
    wait_for_end(slot.process("left"));
}

#[test]
fn a_flood_on_one_line_is_bounded() {
    let slot = Slot::new();
    let failed = slot
        .run(&["head -c 30000000 /dev/zero | tr '\\0' x; exit 1"])
        .unwrap_err();
    assert_eq!(failed.tail.len(), 1);
    assert!(failed.tail[0].chars().count() <= 501);
    assert!(failed.tail[0].starts_with("xxx"));
    let size = fs::metadata(slot.log_file()).unwrap().len();
    assert!((10 << 20..(10 << 20) + 1000).contains(&size), "{size}");
    assert!(
        slot.log()
            .ends_with("[the rest of the output was dropped: more than 10 MB]\n\n[exit code 1]\n")
    );
    // The next one begins a new log; the old one stays beside it.
    slot.run(&["echo fresh"]).unwrap();
    assert_eq!(slot.log(), "$ echo fresh\nfresh\n[exit code 0]\n");
    assert!(slot.root.path().join("logs/setup.log.old").exists());
}

#[test]
fn only_the_last_lines_are_shown_and_nothing_that_acts_on_a_terminal() {
    let slot = Slot::new();
    let failed = slot
        .run(&["i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; printf 'bad \\377 byte\\a\\n\\n\\n1%%\\r99%%\\n'; exit 1"])
        .unwrap_err();
    assert_eq!(failed.tail.len(), 10);
    assert_eq!(failed.tail[0], "line 4992");
    assert_eq!(failed.tail[8], "bad \u{fffd} byte");
    assert_eq!(failed.tail[9], "99%");
    assert!(slot.log().contains("line 0\nline 1\n"));
}

#[test]
fn a_log_is_its_owner_s_and_no_link() {
    use std::os::unix::fs::PermissionsExt;
    let slot = Slot::new();
    slot.run(&["echo secret"]).unwrap();
    let mode = fs::metadata(slot.log_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let victim = slot.root.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(slot.log_file()).unwrap();
    std::os::unix::fs::symlink(&victim, slot.log_file()).unwrap();
    slot.run(&["echo x"]).unwrap_err();
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
}

#[test]
fn there_is_no_terminal_to_ask_at() {
    let slot = Slot::new();
    let failed = slot.run(&["exec < /dev/tty; cat"]).unwrap_err();
    assert!(matches!(failed.end, CommandEnd::Exit(_)), "{failed}");
}

#[test]
fn the_variables_of_a_git_hook_reach_no_command() {
    // Variables are this whole process's; so the test runs in one of its own.
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "workspace::commands::no_variable_of_git_is_handed_on",
        ])
        .env("GIT_DIR", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere/index")
        .env("HARMLESS", "kept")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
}

/// Also run by the test above, where there are such variables.
#[test]
fn no_variable_of_git_is_handed_on() {
    let slot = Slot::new();
    slot.run(&["echo \"$GIT_DIR-$GIT_INDEX_FILE-$HARMLESS\" > said"])
        .unwrap();
    let said = fs::read_to_string(slot.path().join("said")).unwrap();
    let harmless = std::env::var("HARMLESS").unwrap_or_default();
    assert_eq!(said, format!("--{harmless}\n"));
}
