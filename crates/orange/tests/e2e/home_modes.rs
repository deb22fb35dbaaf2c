//! Who may open Orange's own files: their user alone. What git, agents and checks make follows the user's umask.

use crate::agents::Agents;
use crate::env::TestEnvironment;
use crate::run::program;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Everything of Orange's own in the home: all but what is in slots. Links have no mode.
fn own_files(home: &Path) -> Vec<PathBuf> {
    let mut found = vec![home.to_owned()];
    let mut open = vec![home.to_owned()];
    while let Some(folder) = open.pop() {
        let in_pool = folder == home.join("workspaces");
        // What agents and errands make comes and goes meanwhile.
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_slot = in_pool && !entry.file_name().to_string_lossy().starts_with('.');
            if is_slot || path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found
}

fn open_to_others(home: &Path) -> Vec<String> {
    let all = own_files(home).into_iter();
    let open = all.filter_map(|path| {
        let mode = fs::symlink_metadata(&path).ok()?.permissions().mode() & 0o7777;
        (mode & 0o077 != 0).then(|| format!("{mode:o} {}", path.display()))
    });
    open.collect()
}

/// Runs orange in `shop` with this umask, as a shell would.
fn with_umask(env: &TestEnvironment, umask: &str, words: &[&str]) -> Output {
    let mut shell = env.foreign("sh");
    shell.args(["-c", "umask $0; exec \"$@\"", umask]);
    let call = shell.arg(program()).args(words).current_dir(env.shop());
    call.output().unwrap()
}

#[track_caller]
fn under(env: &TestEnvironment, umask: &str, words: &[&str]) {
    let output = with_umask(env, umask, words);
    assert!(output.status.success(), "{words:?}: {output:?}");
}

const SCRIPT: &str = "\
worker:
  - plan: 'APPROACH: x'
  - status: working
  - write: by-agent
    text: x
  - commit: work
  - run: umask > ROOT/umask-of-agent
  - handoff: 'DONE: x'
  - complete
reviewer:
  - review: PASS
  - status: reviewing
";

/// A whole life of a task with agents, a setup command and a check, all with this umask, in a home that is new.
fn a_life(umask: &str) -> Agents {
    let env = Agents::bare();
    let shop = env.init_repository("shop");
    fs::create_dir(shop.join(".orange")).unwrap();
    let root = env.root();
    let root = root.display();
    let check = format!("umask > {root}/umask-of-check; touch {root}/by-check");
    env.commit(
        &shop,
        ".orange/config.yaml",
        &format!("workspace:\n  setup: touch by-setup\nverify:\n  command: {check}\n"),
    );
    let harness = env.script("life", SCRIPT);
    let agents = ["--harness", &harness, "--review-harness", &harness];
    let socket = env.socket();
    let server = ["config", "set", "tmux.server", socket.to_str().unwrap()];
    under(&env, umask, &server);
    under(&env, umask, &["project", "add", "."]);
    under(&env, umask, &["project", "trust", "shop", "--yes"]);
    let create = ["task", "create", "--branch", "life", "--summary", "Live"];
    under(&env, umask, &[&create[..], &agents].concat());
    let shown = env
        .orange(["task", "show", "TASK-001", "--json"])
        .ok()
        .json();
    let task = env.task_of(&shown["task"]);
    env.until_status(&task, "reviewing");
    let slot = env.slot_of(&task);
    assert!(slot.join("by-agent").exists());
    env
}

#[test]
fn a_new_home_is_private_whatever_the_umask() {
    let env = a_life("000");
    for words in [
        &["search", "Live"][..],
        &["doctor"],
        &["watch", "--once"],
        &["task", "send", "TASK-001", "hello"],
    ] {
        with_umask(&env, "000", words);
    }
    assert_eq!(mode(&env.home()), 0o700);
    assert_eq!(open_to_others(&env.home()), Vec::<String>::new());
    under(&env, "000", &["task", "merge", "TASK-001"]);
    let other = env.create(["--branch", "other", "Go away", "--no-spawn"]);
    under(&env, "000", &["task", "delete", &other.id, "--yes"]);
    assert_eq!(open_to_others(&env.home()), Vec::<String>::new());
    let names: Vec<String> = own_files(&env.home())
        .iter()
        .map(|path| path.strip_prefix(env.home()).unwrap().display().to_string())
        .collect();
    for name in [
        "orange.db",
        "index.db",
        "feed.jsonl",
        "orange.log",
        "projects.json",
        "config.yaml",
        "trash",
        "verify",
    ] {
        assert!(
            names.iter().any(|found| found == name),
            "{name} is not in {names:?}"
        );
    }
    // Outside of it nothing changed.
    let umask = |who: &str| fs::read_to_string(env.root().join(format!("umask-of-{who}"))).unwrap();
    assert_eq!(
        (umask("agent").trim(), umask("check").trim()),
        ("0000", "0000")
    );
}

#[test]
fn what_git_agents_and_checks_make_follows_the_umask_of_the_user() {
    let env = a_life("022");
    let shown = env
        .orange(["task", "show", "TASK-001", "--json"])
        .ok()
        .json();
    let slot = env.slot_of(&env.task_of(&shown["task"]));
    for path in [
        slot.join("README.md"),
        slot.join("by-setup"),
        slot.join("by-agent"),
        env.root().join("by-check"),
        env.shop().join(".git/info/exclude"),
    ] {
        assert_eq!(format!("{:o}", mode(&path)), "644", "{}", path.display());
    }
    assert_eq!(mode(&slot), 0o755);
    assert_eq!(open_to_others(&env.home()), Vec::<String>::new());
}

#[test]
fn a_strict_umask_breaks_nothing() {
    let env = a_life("077");
    under(&env, "077", &["task", "merge", "TASK-001"]);
    assert_eq!(open_to_others(&env.home()), Vec::<String>::new());
}

/// Gives every file of the home the mode that it had in older versions.
fn make_old(home: &Path) {
    for path in own_files(home) {
        set_mode(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
}

#[test]
fn doctor_finds_an_open_home_and_makes_it_private() {
    let env = TestEnvironment::new();
    let task = env.create(["A task"]);
    env.bring_to(&task, "working");
    let slot = env.slot_of(&task);
    make_old(&env.home());
    let program = env.write("home/orange/harness/tool", "#!/bin/sh\n");
    set_mode(&program, 0o755);
    let copy = task.folder.join("rescued/20261001T000000.000Z/tool");
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    fs::write(&copy, "").unwrap();
    set_mode(&copy, 0o755);
    let mine = env.write("home/orange/notes.txt", "mine");
    set_mode(&mine, 0o644);
    let readme = mode(&slot.join("README.md"));
    // No command changes it by itself.
    env.orange(["task", "update", &task.id, "--summary", "Another"])
        .ok();
    assert_eq!(mode(&env.home()), 0o755);
    let found = env.orange(["doctor", "--json"]).fails_with(1).json();
    let about: Vec<&str> = found["doctor"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|finding| finding["problem"].as_str())
        .filter(|problem| problem.contains("other users"))
        .collect();
    assert_eq!(about, ["other users can open it (its mode is 755)"]);
    env.orange(["doctor", "--repair"])
        .says("other users can open it (its mode is 755) → its mode is 700");
    assert_eq!(mode(&env.home()), 0o700);
    assert_eq!(mode(&program), 0o700);
    let left = open_to_others(&env.home());
    let kept = ["rescued/20261001T000000.000Z", "notes.txt"];
    let only = |line: &String| kept.iter().any(|name| line.contains(name));
    assert!(left.iter().all(only), "{left:?}");
    // What is not Orange's keeps its mode: content of worktrees, copies of it, files of the user's.
    assert_eq!((mode(&copy), mode(&mine)), (0o755, 0o644));
    assert_eq!(mode(&slot.join("README.md")), readme);
    env.orange(["doctor"]).silent_about("other users");
}

#[test]
fn a_home_that_is_shared_with_a_group_or_is_a_link() {
    let env = TestEnvironment::new();
    set_mode(&env.home(), 0o750);
    env.orange(["doctor"])
        .ok()
        .says("can open it (its mode is 750); if that is not what you want, give it the mode 700");
    env.orange(["doctor", "--repair"]).ok();
    assert_eq!(mode(&env.home()), 0o750);
    let real = env.root().join("elsewhere");
    fs::rename(env.home(), &real).unwrap();
    symlink(&real, env.home()).unwrap();
    set_mode(&real, 0o755);
    env.orange(["doctor"])
        .fails_with(1)
        .says("other users can open it");
    env.orange(["doctor", "--repair"]).ok();
    assert_eq!(mode(&real), 0o700);
    env.orange(["ls"]).ok();
}

#[test]
fn a_home_that_is_not_utf8_is_refused_in_one_way() {
    use std::os::unix::ffi::OsStringExt;

    let mut env = TestEnvironment::unregistered();
    let mut home = env.root().join("home/").into_os_string().into_vec();
    home.extend(b"\xff-orange");
    env.set("ORANGE_HOME", std::ffi::OsString::from_vec(home));
    let commands: &[&[&str]] = &[
        &["ls"],
        &["new", "A task"],
        &["task", "show", "1"],
        &["project", "add", "."],
        &["doctor"],
        &["gc"],
        &["log"],
        &["config", "show"],
        &["search", "x"],
        &["workspace", "list"],
    ];
    for command in commands {
        env.orange(command.iter().copied())
            .fails_with(2)
            .says("which is not UTF-8")
            .says("hint: set ORANGE_HOME to a path in UTF-8");
    }
    // The line in a prompt stays empty, as with any other trouble.
    env.orange(["status"]).ok();
}
