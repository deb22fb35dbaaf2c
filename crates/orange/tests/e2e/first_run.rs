//! The first minutes, on machines that lack something: each command says what is missing and what to do.

use crate::env::TestEnvironment;
use insta::assert_snapshot;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What a newcomer tries.
const COMMANDS: &[&[&str]] = &[
    &["new", "Add a login form"],
    &["ls"],
    &["log"],
    &["watch", "--once"],
    &["project", "add", "."],
];

/// The commands in a folder, and what each says.
fn tried(env: &TestEnvironment, folder: &Path) -> String {
    let one = |command: &&[&str]| {
        let said = env.call(*command).at(folder).run();
        format!("$ orange {}\n{said}", command.join(" "))
    };
    COMMANDS.iter().map(one).collect()
}

/// A machine on which these are the only programs, and tasks start the scripted agent.
fn only_with(programs: &[&str]) -> TestEnvironment {
    let mut env = TestEnvironment::empty();
    let bin = env.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in programs {
        let search = std::env::var_os("PATH").unwrap();
        let found = std::env::split_paths(&search).map(|folder| folder.join(program));
        let mut found = found.filter(|path| path.is_file());
        symlink(found.next().unwrap(), bin.join(program)).unwrap();
    }
    env.init_repository("shop");
    env.set("PATH", bin);
    env.unset("ORANGE_AGENTS_");
    env.set("ORANGE_AGENTS_HARNESS", "sim");
    env.set("ORANGE_TMUX_SERVER", env.root().join("tmux"));
    env
}

#[test]
fn without_a_command_the_commands_are_shown() {
    let env = TestEnvironment::empty();
    let run = env.orange([""; 0]).ok();
    run.says("Usage: orange").says("orange demo");
    assert!(!env.home().exists(), "nothing is made by looking");
}

#[test]
fn outside_a_repository() {
    let env = TestEnvironment::empty();
    assert_snapshot!(tried(&env, &env.root()), @r#"
    $ orange new Add a login form
    ------- stderr -------
    error: this folder is in no git repository
    hint: go into a repository, or name a registered one with --project
    [exit status: 4]
    $ orange ls
    no open tasks; `orange new "…"` creates one
    $ orange log
    ------- stderr -------
    note: nothing has been logged yet ([HOME]/orange.log)
    $ orange watch --once
    $ orange project add .
    ------- stderr -------
    error: [TMP] is not inside a git repository
    hint: make a repository there first, or give the path of one
    [exit status: 4]
    "#);
    assert!(!env.home().join("projects.json").exists());
    assert!(!env.tasks().exists());
}

#[test]
fn without_git() {
    let env = only_with(&["sh", "tmux"]);
    assert_snapshot!(tried(&env, &env.shop()), @r#"
    $ orange new Add a login form
    ------- stderr -------
    error: cannot start git: it is not installed, or not on PATH
    hint: install git 2.39 or newer and make sure it is on PATH
    [exit status: 1]
    $ orange ls
    no open tasks; `orange new "…"` creates one
    $ orange log
    ------- stderr -------
    note: nothing has been logged yet ([HOME]/orange.log)
    $ orange watch --once
    $ orange project add .
    ------- stderr -------
    error: cannot start git: it is not installed, or not on PATH
    hint: install git 2.39 or newer and make sure it is on PATH
    [exit status: 1]
    "#);
    assert_snapshot!(env.orange(["demo"]), @"
    ------- stderr -------
    error: the demo needs git, and it cannot be started
    hint: install git 2.39 or newer: `sudo apt-get install git`, `brew install git`
    [exit status: 1]
    ");
    assert!(!env.home().join("projects.json").exists());
    assert!(!env.tasks().exists());
    // Nor does it use up a key where the project is known.
    let mut env = only_with(&["sh", "git"]);
    assert_eq!(env.create(["The first", "--no-spawn"]).key, "TASK-001");
    let path = env.variable("PATH");
    env.set("PATH", env.root().join("nothing"));
    env.orange(["new", "Without git"])
        .fails_with(1)
        .says("cannot start git");
    env.set("PATH", path);
    assert_eq!(env.create(["The second", "--no-spawn"]).key, "TASK-002");
}

#[test]
fn without_tmux() {
    let env = only_with(&["sh", "git"]);
    assert_snapshot!(tried(&env, &env.shop()), @r#"
    $ orange new Add a login form
    ------- stderr -------
    note: registered project shop at [TMP]/shop (default branch main); 5 workspaces; change it with `orange project update shop --pool-size N`
    error: cannot start tmux: it is not installed, or not on PATH
    hint: `apt install tmux` or `brew install tmux` installs it; nothing was created, --no-spawn creates it for later
    [exit status: 1]
    $ orange ls
    no open tasks in shop; `orange new "…"` creates one
    $ orange log
    [TIME] info  project  project registered project=shop
    [TIME] error command  cannot start tmux: it is not installed, or not on PATH code=failed by=you command="new Add a login form" source="No such file or directory (os error 2)"
    $ orange watch --once
    $ orange project add .
    already registered: project shop at [TMP]/shop (default branch main, 5 workspaces)
    "#);
    assert_snapshot!(env.orange(["demo"]), @"
    ------- stderr -------
    error: the demo needs tmux: cannot start tmux: it is not installed, or not on PATH
    hint: `apt install tmux` or `brew install tmux` installs it
    [exit status: 1]
    ");
    // Without an agent there is no need of it, and no key was used up.
    assert_eq!(env.create(["Later", "--no-spawn"]).key, "TASK-001");
}

#[test]
fn in_a_repository_without_commits_and_in_a_bare_one() {
    let mut env = TestEnvironment::empty();
    env.set("ORANGE_AGENTS_SPAWN_ON_CREATE", "true");
    env.set("ORANGE_AGENTS_HARNESS", "sim");
    env.set("ORANGE_TMUX_SERVER", env.root().join("tmux"));
    for kind in [
        &["init", "-q", "-b", "main", "shop"][..],
        &["init", "-q", "--bare", "-b", "main", "bare"],
    ] {
        env.git(&env.root(), kind);
    }
    assert_snapshot!(env.orange(["new", "Add a login form"]), @"
    created TASK-001 Add a login form
      branch   orange/TASK-001-add-a-login-form (not made yet) from main (no commits yet)
      testing  UI, by its words; else orange update TASK-001 --ui-testing false
      file     [HOME]/tasks/shop/[ID]/TASK.md
      queued   [TMP]/shop has no commit that a branch could start from (make a first commit there; it may be empty)
    next: orange why TASK-001
    ------- stderr -------
    note: registered project shop at [TMP]/shop (default branch main); 5 workspaces; change it with `orange project update shop --pool-size N`
    ");
    assert_snapshot!(env.orange(["task", "why", "TASK-001"]), @"
    TASK-001 is pending
    [TMP]/shop has no commit that its branch could start from
    next: git -C [TMP]/shop commit --allow-empty -m start
    ");
    assert_snapshot!(env.orange(["task", "spawn", "TASK-001"]), @"TASK-001 is queued: [TMP]/shop has no commit that a branch could start from (make a first commit there; it may be empty)");
    assert_snapshot!(env.call(["new", "Add a login form"]).at(env.root().join("bare")).run(), @"
    created TASK-001 Add a login form
      branch   orange/TASK-001-add-a-login-form (not made yet) from main (no commits yet)
      testing  UI, by its words; else orange update TASK-001 --ui-testing false
      file     [HOME]/tasks/bare/[ID]/TASK.md
      queued   [TMP]/bare has no commit that a branch could start from (make a first commit there; it may be empty)
    next: orange why TASK-001
    ------- stderr -------
    note: registered project bare at [TMP]/bare (default branch main); 5 workspaces; change it with `orange project update bare --pool-size N`
    ");
    env.commit(&env.shop(), "README.md", "first");
    // Whoever looks after the queue may have started it by then.
    env.orange(["task", "why", "TASK-001"])
        .ok()
        .silent_about("no commit");
}

#[test]
fn a_home_that_cannot_be_one() {
    let mut env = TestEnvironment::unregistered();
    let file = env.write("a-file", "no folder");
    env.set("ORANGE_HOME", file);
    assert_snapshot!(tried(&env, &env.shop()), @"
    $ orange new Add a login form
    ------- stderr -------
    error: [TMP]/a-file is a file, and orange keeps its state in a folder of that name
    hint: move it away, or set ORANGE_HOME to another folder
    [exit status: 1]
    $ orange ls
    ------- stderr -------
    error: [TMP]/a-file is a file, and orange keeps its state in a folder of that name
    hint: move it away, or set ORANGE_HOME to another folder
    [exit status: 1]
    $ orange log
    ------- stderr -------
    error: [TMP]/a-file is a file, and orange keeps its state in a folder of that name
    hint: move it away, or set ORANGE_HOME to another folder
    [exit status: 1]
    $ orange watch --once
    ------- stderr -------
    error: [TMP]/a-file is a file, and orange keeps its state in a folder of that name
    hint: move it away, or set ORANGE_HOME to another folder
    [exit status: 1]
    $ orange project add .
    ------- stderr -------
    error: [TMP]/a-file is a file, and orange keeps its state in a folder of that name
    hint: move it away, or set ORANGE_HOME to another folder
    [exit status: 1]
    ");
    env.set("ORANGE_HOME", "relative/home");
    assert_snapshot!(env.orange(["ls"]), @"
    ------- stderr -------
    error: ORANGE_HOME is relative/home, which is another folder wherever you are
    hint: set it to a path that begins with /
    [exit status: 2]
    ");
    env.set("ORANGE_HOME", "");
    // One that is no path; an empty one would be that of whoever runs the tests.
    env.set("HOME", "relative");
    assert_snapshot!(env.orange(["new", "Add a login form"]), @"
    ------- stderr -------
    error: there is no home folder
    hint: set HOME or ORANGE_HOME
    [exit status: 2]
    ");
    env.set("HOME", env.root().join("other"));
    env.write("other/orange", "no folder");
    assert_snapshot!(env.orange(["new", "Add a login form"]), @"
    ------- stderr -------
    error: [TMP]/other/orange is a file, and orange keeps its state in a folder of that name
    hint: move it away, or set ORANGE_HOME to another folder
    [exit status: 1]
    ");
}

#[test]
fn in_a_folder_whose_name_is_no_text() {
    let env = TestEnvironment::empty();
    let name = OsStr::from_bytes(b"caf\xe9");
    let folder = env.root().join(name);
    std::fs::create_dir(&folder).unwrap();
    env.git(&folder, &["init", "-q", "-b", "main"]);
    env.commit(&folder, "README.md", "first");
    assert_snapshot!(tried(&env, &folder), @r#"
    $ orange new Add a login form
    ------- stderr -------
    error: the path of the repository is not UTF-8 text, so it cannot be registered: [TMP]/caf�
    hint: give that folder another name
    [exit status: 3]
    $ orange ls
    no open tasks; `orange new "…"` creates one
    $ orange log
    ------- stderr -------
    note: nothing has been logged yet ([HOME]/orange.log)
    $ orange watch --once
    $ orange project add .
    ------- stderr -------
    error: the path of the repository is not UTF-8 text, so it cannot be registered: [TMP]/caf�
    hint: give that folder another name
    [exit status: 3]
    "#);
    assert!(!env.home().join("projects.json").exists());
}

#[test]
fn without_a_terminal_nothing_is_asked() {
    let mut env = TestEnvironment::unregistered();
    env.unset("ORANGE_AGENTS_");
    env.set("ORANGE_AGENTS_HARNESS", "claude");
    env.set("ORANGE_TMUX_SERVER", env.root().join("tmux"));
    // The harness may be there or not: it does not wait for an answer in either case.
    let run = env.orange(["new", "Add a login form", "--no-spawn"]).ok();
    run.says("created TASK-001").silent_about("[y/n]");
}
