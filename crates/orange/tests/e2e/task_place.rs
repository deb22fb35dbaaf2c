//! `orange task path`, `open`, `shell` and `exec`, and what a folder of the pool stands for.

use crate::env::{TestEnvironment, TestTask, in_terminal, with_answers};
use crate::run::program;
use insta::assert_snapshot;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Puts a new task into a slot, with a real worktree of its branch, the way an older home has it.
pub(crate) fn settle(env: &TestEnvironment, task: &TestTask, slot: &str) -> PathBuf {
    let folder = env.home().join("workspaces").join(slot);
    let path = folder.to_str().unwrap();
    env.git(
        &env.shop(),
        &["worktree", "add", "-q", "-b", &task.branch, path, "main"],
    );
    claim(task, slot);
    folder
}

/// The field alone.
fn claim(task: &TestTask, slot: &str) {
    fs::remove_file(task.journal()).unwrap();
    // Nor has it ever had one, as far as anybody knows.
    fs::remove_file(task.folder.join(".lock")).unwrap();
    task.edit(
        "status: pending",
        &format!("status: working\nworkspace: {slot}"),
    );
}

fn settled() -> (TestEnvironment, TestTask, PathBuf) {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let slot = settle(&env, &task, "shop--1");
    (env, task, slot)
}

/// A program of the test's own.
pub(crate) fn script(env: &TestEnvironment, name: &str, text: &str) -> PathBuf {
    let source = env.write("source", format!("#!/bin/sh\n{text}\n"));
    let path = env.root().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // By another process: a file that any process of ours still has open for writing cannot be started.
    let mut install = env.foreign("install");
    install.args(["-m", "755"]).arg(source).arg(&path);
    assert!(install.status().unwrap().success());
    path
}

#[test]
fn path() {
    let (env, task, slot) = settled();
    assert_snapshot!(env.orange(["task", "path", "TASK-001"]), @"[HOME]/workspaces/shop--1");
    assert_snapshot!(env.orange(["task", "path", "TASK-001", "--json"]), @r#"{"path":"[HOME]/workspaces/shop--1"}"#);
    assert_snapshot!(env.orange(["task", "path", "TASK-001", "--task"]), @"[HOME]/tasks/shop/[ID]");
    let below = slot.join("src");
    fs::create_dir(&below).unwrap();
    let run = env.call(["task", "path"]).at(&below).run().ok();
    assert_eq!(Path::new(run.stdout.trim_end()), slot);
    // A task that cannot be read has a folder nevertheless.
    fs::write(task.file(), "rubbish").unwrap();
    let run = env.orange(["task", "path", &task.id, "--task"]).ok();
    assert_eq!(Path::new(run.stdout.trim_end()), task.folder);
}

#[test]
fn a_task_without_a_workspace() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    assert_snapshot!(env.orange(["task", "path", "TASK-001"]), @"
    ------- stderr -------
    error: TASK-001 has no workspace: it is pending
    hint: `orange update TASK-001 --status planning` gives it one; `orange path TASK-001 --task` is the folder of its TASK.md
    [exit status: 3]
    ");
    env.orange(["task", "path", "TASK-001", "--json"])
        .refuses(3, "condition_unmet");
    for arguments in [&["open"][..], &["shell"], &["exec", "--", "true"]] {
        let mut all = vec!["task", arguments[0], "TASK-001"];
        all.extend(&arguments[1..]);
        env.orange(all).fails_with(3).says("has no workspace");
    }
    env.orange(["task", "cancel", &task.id]).ok();
    env.orange(["task", "path", "TASK-001"])
        .fails_with(3)
        .says("orange rescue list");
}

#[test]
fn a_workspace_that_is_gone_or_never_was() {
    let (env, _, slot) = settled();
    fs::remove_dir_all(&slot).unwrap();
    assert_snapshot!(env.orange(["task", "path", "TASK-001"]), @"
    ------- stderr -------
    error: the workspace of TASK-001, [HOME]/workspaces/shop--1, is gone
    hint: `orange doctor` says what is left of it and what can be done
    [exit status: 1]
    ");
    // A name that leads out of the pool is not followed.
    let other = env.create(["other", "Another one"]);
    claim(&other, "../../../shop");
    assert_snapshot!(env.orange(["task", "exec", "TASK-002", "--", "pwd"]), @r#"
    ------- stderr -------
    error: the workspace of TASK-002, "../../../shop", is not the name of a workspace
    hint: `orange doctor` says what is left of it and what can be done
    [exit status: 1]
    "#);
    env.orange(["task", "show", "TASK-002"])
        .ok()
        .says("is not the name of a workspace");
}

#[test]
fn exec_runs_there_and_streams_through() {
    let (env, task, slot) = settled();
    let run = env
        .call([
            "task",
            "exec",
            "TASK-001",
            "--",
            "sh",
            "-c",
            "pwd; echo \"$PWD\"; git branch --show-current; cat; echo oops >&2; exit 7",
        ])
        // Variables of a hook would lead git elsewhere.
        .var("GIT_DIR", env.shop().join(".git").to_str().unwrap())
        .var("PWD", "/")
        .input("typed\n")
        .run()
        .fails_with(7);
    let slot = slot.to_str().unwrap();
    assert_eq!(
        run.stdout,
        format!("{slot}\n{slot}\n{}\ntyped\n", task.branch)
    );
    assert_eq!(run.stderr, "oops\n");
    // What follows `--` is not for us; a program of the worktree may be named relative to it.
    script(&env, "home/orange/workspaces/shop--1/run me", "echo \"$@\"");
    let run = env
        .call(["task", "exec", "--", "./run me", "--json", "--", "-x"])
        .at(slot)
        .run()
        .ok();
    assert_eq!(run.stdout, "--json -- -x\n");
}

#[test]
fn exec_ends_as_its_command_does() {
    let (env, _, slot) = settled();
    let line = format!(
        "'{}' task exec -- sh -c 'kill -TERM $$'; echo $?",
        program().display()
    );
    let output = env
        .foreign("sh")
        .args(["-c", &line])
        .current_dir(&slot)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "143\n");
    assert_snapshot!(env.orange(["task", "exec", "TASK-001", "--", "no-such-program"]), @"
    ------- stderr -------
    error: there is no program no-such-program on PATH
    hint: check its name; a line of shell needs one: `-- sh -c '…'`
    [exit status: 127]
    ");
    assert_snapshot!(env.orange(["task", "exec", "TASK-001", "--", "./nothing", "--json"]), @"
    ------- stderr -------
    error: there is no program ./nothing
    hint: check its path; a relative one starts at the worktree
    [exit status: 127]
    ");
    assert_snapshot!(env.orange(["task", "exec", "TASK-001", "--", "./README.md"]), @"
    ------- stderr -------
    error: cannot start ./README.md: permission denied
    hint: check that it is a program and may be executed
    [exit status: 127]
    ");
    assert_snapshot!(env.orange(["task", "exec", "TASK-001"]), @"
    ------- stderr -------
    error: <COMMAND>... is missing
    hint: `orange task exec [OPTIONS] [ID] -- <COMMAND>...`; for more, run `orange task exec --help`
    [exit status: 2]
    ");
}

#[test]
fn shell_is_a_persons() {
    let (env, task, slot) = settled();
    let say = "echo \"in $(pwd) as ${ORANGE_TASK_ID-nobody} ${ORANGE_ROLE-none}\"; cat; exit 3";
    let shell = script(&env, "my shell", say);
    let run = env
        .call(["task", "shell", "TASK-001"])
        .agent(&task, "worker")
        .var("SHELL", shell.to_str().unwrap())
        .input("typed\n")
        .run()
        .fails_with(3);
    let expected = format!("in {} as nobody none\ntyped\n", slot.display());
    assert_eq!((run.stdout, run.stderr), (expected, String::new()));
    // Without SHELL there is always sh.
    let run = env
        .call(["task", "shell"])
        .at(&slot)
        .input("echo $0; pwd; exit 4\n")
        .run()
        .fails_with(4);
    assert_eq!(run.stdout, format!("/bin/sh\n{}\n", slot.display()));
    env.call(["task", "shell", "TASK-001"])
        .var("SHELL", "/no/such/shell")
        .run()
        .fails_with(127)
        .says("there is no program /no/such/shell");
    // On a terminal it says where one is.
    let line = format!("'{}' task shell TASK-001", program().display());
    let shown = with_answers(&env, 200, &line, "exit 0\n");
    let place = format!(
        "TASK-001 Add a login form in {}; `exit` leads back",
        slot.display()
    );
    assert!(shown.contains(&place), "{shown}");
}

#[test]
fn open_starts_the_editor() {
    let (env, task, slot) = settled();
    let say = "for word; do echo \"<$word>\"; done; pwd; echo ${ORANGE_TASK_ID-nobody}";
    let editor = script(&env, "editor", say);
    let editor = editor.to_str().unwrap();
    let slot = slot.to_str().unwrap();
    let open = |variables: &[(&str, &str)], more: &[&str]| {
        let mut call = env.call([&["task", "open", "TASK-001"], more].concat());
        for (name, value) in variables {
            call = call.var(name, *value);
        }
        call.agent(&task, "worker").run()
    };
    let run = open(&[("EDITOR", editor)], &[]).ok();
    assert_eq!(run.stdout, format!("<{slot}>\n{slot}\nnobody\n"));
    let with_flag = format!("{editor} -w");
    let run = open(&[("VISUAL", &with_flag), ("EDITOR", "false")], &[]).ok();
    assert_eq!(run.stdout, format!("<-w>\n<{slot}>\n{slot}\nnobody\n"));
    let spaced = script(&env, "my editor", say);
    let quoted = format!("'{}' \"two words\"", spaced.display());
    let run = open(&[("VISUAL", "false")], &["--with", &quoted]).ok();
    assert_eq!(
        run.stdout,
        format!("<two words>\n<{slot}>\n{slot}\nnobody\n")
    );
    // A file of it, at a line if the editor is known to take one.
    let file = &["--file", "README.md", "--line", "7"];
    let run = open(&[("EDITOR", editor)], file).ok();
    assert_eq!(run.stdout, format!("<{slot}/README.md>\n{slot}\nnobody\n"));
    let vim = script(&env, "bin/vim", say).display().to_string();
    let run = open(&[("EDITOR", &vim)], file).ok();
    assert_eq!(
        run.stdout,
        format!("<+7>\n<{slot}/README.md>\n{slot}\nnobody\n")
    );
    open(&[("EDITOR", editor)], &["--file", "nowhere"])
        .fails_with(4)
        .says("there is no file nowhere in");
    open(&[("EDITOR", editor)], &["--line", "7"]).fails_with(2);
    open(&[("EDITOR", "false")], &[]).fails_with(1);
    open(&[("EDITOR", "no-such-editor")], &[])
        .fails_with(127)
        .says("no-such-editor");
    assert_snapshot!(open(&[("VISUAL", "")], &[]), @r#"
    ------- stderr -------
    error: there is no editor to open it with
    hint: set VISUAL or EDITOR, or name one: `orange open --with "code -n"`
    [exit status: 2]
    "#);
}

#[test]
fn what_another_program_says_is_not_json() {
    let (env, ..) = settled();
    for arguments in [&["open"][..], &["shell"], &["exec", "--", "true"]] {
        let mut all = vec!["--json", "task", arguments[0], "TASK-001"];
        all.extend(&arguments[1..]);
        env.orange(all).refuses(2, "usage");
    }
}

#[test]
fn inside_a_slot_its_task_is_meant() {
    let (env, first, slot) = settled();
    let second = env.create(["second", "The second one"]);
    let below = slot.join("a/b");
    fs::create_dir_all(&below).unwrap();
    // A link that the task before left behind does not count.
    symlink(second.file(), slot.join("TASK.md")).unwrap();
    for command in [
        &["task", "show"][..],
        &["task", "why"],
        &["task", "deps"],
        &["task", "path", "--task"],
        &["task", "update", "--summary", "From inside"],
        &["task", "stuck"],
    ] {
        env.call(command).at(&below).run().ok();
    }
    let shown = env.show(&first);
    assert_eq!(shown["summary"], "From inside");
    assert_eq!(shown["status"], "stuck");
    assert_eq!(env.show(&second)["summary"], "The second one");
    // The project too: a key alone is enough, and a new task lands there.
    let other = env.init_repository("books");
    env.orange(["project", "add", other.to_str().unwrap()]).ok();
    env.orange(["new", "A book", "--project", "books"]).ok();
    let run = env
        .call(["task", "path", "TASK-002", "--task"])
        .at(&below)
        .run();
    assert_eq!(Path::new(run.ok().stdout.trim_end()), second.folder);
    // What puts a task away wants a name.
    env.call(["task", "delete"]).at(&below).run().fails_with(2);
}

#[test]
fn a_slot_nobody_has_or_two_claim() {
    let (env, _, slot) = settled();
    let free = env.home().join("workspaces/shop--2");
    fs::create_dir_all(&free).unwrap();
    assert_snapshot!(env.call(["task", "show"]).at(&free).run(), @"
    ------- stderr -------
    error: no task given, and this directory is not a task's workspace
    hint: name it: a key like TASK-001, an id, or project/branch
    [exit status: 2]
    ");
    let second = env.create(["second", "The second one"]);
    claim(&second, "shop--1");
    // Make both known.
    env.orange(["ls"]).ok();
    env.call(["task", "show"])
        .at(&slot)
        .run()
        .fails_with(4)
        .says("\"shop--1\" names more than one task")
        .says("shop:TASK-001")
        .says("shop:TASK-002  The second one");
    // An agent knows its task nevertheless.
    let run = env
        .call(["task", "show", "--json"])
        .at(&slot)
        .agent(&second, "worker")
        .run()
        .ok();
    assert_eq!(run.json()["task"]["id"], second.id);
}

#[test]
fn an_agent_is_in_its_project_wherever_it_stands() {
    let env = TestEnvironment::new();
    let task = env.create(["login", "Add a login form"]);
    let books = env.init_repository("books");
    env.orange(["project", "add", books.to_str().unwrap()]).ok();
    env.orange(["new", "A book", "--project", "books"]).ok();
    let plain = env.root().join("plain");
    fs::create_dir(&plain).unwrap();
    let show = || env.call(["task", "show", "TASK-001", "--json"]).at(&plain);
    show().run().refuses(4, "ambiguous");
    let shown = show().agent(&task, "worker").run().ok().json();
    assert_eq!(shown["task"]["id"], task.id);
}

#[test]
fn a_linked_home_has_the_same_slots() {
    let (env, task, slot) = settled();
    let linked = env.root().join("linked");
    symlink(env.home(), &linked).unwrap();
    let run = env
        .call(["task", "why", "--json"])
        .var("ORANGE_HOME", linked.to_str().unwrap())
        .at(&slot)
        .run()
        .ok();
    assert_eq!(run.json()["why"]["task"], task.key);
    let why = in_terminal(
        &env,
        100,
        &format!(
            "cd '{}' && '{}' task why",
            linked.join("workspaces/shop--1").display(),
            program().display()
        ),
    );
    assert!(why.starts_with("TASK-001 is working"), "{why}");
}
