//! Pushes that get past a `git` on PATH: a remote with a push URL of its own, git by its absolute path, a repository's
//! hooks. And what must go on in spite of the fence: the repository's hooks, and pushes that are not an agent's.

use crate::agent_fence::{branches, run, with_remote};
use crate::agents::Agents;
use crate::run::program;
use crate::verify::with_check;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The real git, by its absolute path.
fn git() -> String {
    let path = std::env::var_os("PATH").unwrap();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let found = places.find(|git| git.is_file()).unwrap();
    found.to_str().unwrap().to_owned()
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A remote that has a URL for pushes alone, which no `pushInsteadOf` applies to.
fn with_push_url() -> (Agents, PathBuf) {
    let (env, remote) = with_remote();
    let path = remote.to_str().unwrap();
    env.git(&env.shop(), &["config", "remote.origin.pushurl", path]);
    (env, remote)
}

/// Makes a repository in the worktree a submodule of it.
const SUBMODULE: &str = "git init -q sub && git -C sub commit -q --allow-empty -m x && git submodule add -q ./sub sub && \
     git -C sub remote add origin x";

#[test]
fn a_push_url_does_not_lead_out() {
    let (env, remote) = with_push_url();
    let before = branches(&env, &remote);
    let (git, place) = (git(), remote.display());
    let tries = [
        "PATH=/usr/local/bin:/usr/bin:/bin git push origin HEAD",
        &format!("{git} push origin HEAD"),
        &format!("{git} -C . push --all origin"),
        &format!("{git} config alias.up push; {git} up origin HEAD"),
        // A remote that nobody knew when the agent started.
        &format!(
            "{git} remote add late x; {git} config remote.late.pushurl {place}; {git} push late HEAD"
        ),
        &format!("{git} rebase -q --exec 'git push origin HEAD:refs/heads/x' HEAD~1"),
        &format!(
            "{git} rebase --abort; {SUBMODULE} && git -C sub config remote.origin.pushurl {place} && {git} -c protocol.file.allow=always submodule foreach 'git -C . push origin HEAD:refs/heads/x'"
        ),
    ];
    let (_, out) = run(&env, &tries);
    let refused = out.matches("orange: refused: git push").count();
    assert_eq!(refused, tries.len(), "{out}");
    assert!(!out.contains("exit 0"), "{out}");
    assert_eq!(branches(&env, &remote), before);
}

/// A longer rule of the user's beats the one that leads nowhere.
#[test]
fn a_rule_of_the_users_for_pushes_does_not_lead_out() {
    let (env, remote) = with_remote();
    let before = branches(&env, &remote);
    let place = remote.to_str().unwrap();
    let key = format!("url.{place}.pushInsteadOf");
    env.git(&env.shop(), &["config", &key, place]);
    let (_, out) = run(&env, &[&format!("{} push origin HEAD", git())]);
    assert!(out.contains("orange: refused: git push"), "{out}");
    assert_eq!(branches(&env, &remote), before);
}

/// Git itself refuses: it is told to sign pushes, and the other side takes no signed ones.
#[test]
fn a_push_without_its_hook_does_not_leave_either() {
    let (env, remote) = with_push_url();
    let before = branches(&env, &remote);
    let (_, out) = run(&env, &[&format!("{} push --no-verify origin HEAD", git())]);
    assert!(out.contains("does not support --signed push"), "{out}");
    assert!(!out.contains("exit 0"), "{out}");
    assert_eq!(branches(&env, &remote), before);
}

/// Git puts its own folder first on PATH for a hook: the `git` there is not the fence's.
#[test]
fn a_hook_of_the_repository_neither_pushes_nor_posts() {
    let (mut env, remote) = with_push_url();
    let calls = env.root().join("calls");
    let gh = env.root().join("programs/gh");
    script(&gh, &format!("echo \"$*\" >> {}", calls.display()));
    env.put_first_in_path(gh.parent().unwrap());
    let before = branches(&env, &remote);
    let hook = "git push origin HEAD; gh pr create --fill; true";
    script(&env.shop().join(".git/hooks/post-commit"), hook);
    let (_, out) = run(&env, &["git commit -q --allow-empty -m more"]);
    assert!(out.contains("orange: refused: git push"), "{out}");
    assert!(out.contains("orange: refused: gh pr create"), "{out}");
    assert!(out.contains("exit 0"), "{out}");
    assert_eq!(branches(&env, &remote), before);
    assert!(!calls.exists());
}

/// Arguments, standard input and exit codes arrive, from `.git/hooks` and from a `core.hooksPath` that comes later.
#[test]
fn the_hooks_of_a_repository_run_as_ever() {
    let env = Agents::new();
    let hooks = env.shop().join(".git/hooks");
    let said = env.root().join("said");
    script(&hooks.join("pre-commit"), "test ! -e bad");
    script(&hooks.join("commit-msg"), "echo signed >> \"$1\"");
    script(
        &hooks.join("post-rewrite"),
        &format!("echo \"rewrite $1\" >> {0}; wc -l >> {0}", said.display()),
    );
    // One that runs all the time, and is handed on because it was there before.
    script(
        &hooks.join("reference-transaction"),
        &format!("echo refs >> {}", said.display()),
    );
    let husky = format!("echo \"husky $0\" >> {}; exit 7", said.display());
    script(&env.root().join("husky-hook"), &husky);
    let root = env.root();
    let (task, out) = run(
        &env,
        &[
            "git commit -q --allow-empty -m message && git log -1 --format=%B | grep signed",
            "touch bad && git commit -q --allow-empty -m no",
            "rm bad && git commit -q --amend --allow-empty -m again",
            "test \"$(git rev-parse --git-path hooks)\" = \"$(git rev-parse --git-common-dir)/hooks\"",
            "git config core.hooksPath",
            &format!(
                "mkdir .husky && cp {}/husky-hook .husky/pre-commit",
                root.display()
            ),
            "git config core.hooksPath .husky && git config core.hooksPath",
            "git commit -q --allow-empty -m no",
            "cd .husky && git commit -q --allow-empty -m no",
            "git commit -q --no-verify --allow-empty -m yes",
        ],
    );
    let codes: Vec<&str> = out
        .lines()
        .filter_map(|line| line.strip_prefix("exit "))
        .collect();
    let wanted = ["0", "1", "0", "0", "1", "0", "0", "1", "1", "0"];
    assert_eq!(codes, wanted, "{out}");
    let said = fs::read_to_string(said).unwrap();
    assert!(said.contains("rewrite amend\n1\n"), "{said}");
    assert!(said.contains("refs\n"), "{said}");
    let husky = said
        .lines()
        .filter(|line| *line == "husky .husky/pre-commit");
    assert_eq!(husky.count(), 2, "{said}");
    // A person's git runs them without the fence.
    let slot = env.slot_of(&task);
    let mut person = env.foreign("git");
    let person = person.current_dir(slot).args(["commit", "--allow-empty"]);
    assert!(!person.args(["-m", "no"]).output().unwrap().status.success());
}

/// What Orange starts because an agent handed over is not fenced in.
#[test]
fn a_check_after_a_handover_is_not_fenced() {
    let env = with_check("git push -q \"$(cat ROOT/place)\" HEAD:refs/heads/checked\n");
    let remote = env.root().join("remote.git");
    env.git(&env.root(), &["init", "-q", "--bare", "remote.git"]);
    env.write("place", remote.to_str().unwrap());
    env.start(
        "Hand it over",
        "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - commit: work\n    empty: true\n  - handoff: 'DONE: all'\n  - complete\n  - wait for: {file: never}\nreviewer:\n  - wait for: {file: never}\n",
    );
    env.until("the check pushes", || {
        branches(&env, &remote).contains("checked")
    });
}

/// The merge's own push goes out, also when the person gives the word in the agent's window.
#[test]
fn a_merge_in_the_window_of_an_agent_is_pushed() {
    let (env, remote) = with_push_url();
    let task = env.start(
        "Push the merge",
        "worker:\n  - plan: 'APPROACH: x'\n  - status: working\n  - write: new.txt\n    text: x\n  - commit: work\n  - handoff: 'DONE: all'\n  - complete\n  - exit: 0\nreviewer:\n  - review: PASS\n  - status: reviewing\n  - wait for: {file: never}\n",
    );
    env.until_status(&task, "reviewing");
    env.until("a shell follows the agent", || {
        let format = "#{window_name} #{pane_current_command}";
        let said = env.tmux(&["list-panes", "-a", "-F", format]);
        let text = String::from_utf8_lossy(&said.stdout).into_owned();
        text.lines()
            .any(|line| line.starts_with("worker ") && line.ends_with("sh"))
    });
    let line = format!("{} task merge", program().display());
    let window = "=shop/pushthemerge:worker";
    env.tmux(&["send-keys", "-t", window, &line, "Enter"]);
    env.until_status(&task, "done");
    let pushed = env.git(&remote, &["ls-tree", "--name-only", "main"]);
    assert!(pushed.contains("new.txt"), "{pushed}");
}
