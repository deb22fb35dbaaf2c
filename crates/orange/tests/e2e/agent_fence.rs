//! The fence around agents: no push leaves, nothing is posted, and everything else works as ever.

use crate::agents::Agents;
use crate::env::TestTask;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The repository `shop` with a remote on disk.
pub(crate) fn with_remote() -> (Agents, PathBuf) {
    let env = Agents::new();
    let remote = env.root().join("remote.git");
    let path = remote.to_str().unwrap();
    env.git(&env.root(), &["init", "-q", "--bare", path]);
    env.git(&env.shop(), &["remote", "add", "origin", path]);
    env.git(&env.shop(), &["push", "-q", "origin", "main"]);
    (env, remote)
}

pub(crate) fn branches(env: &Agents, repository: &Path) -> String {
    env.git(
        repository,
        &["for-each-ref", "--format=%(refname) %(objectname)"],
    )
}

/// A task whose worker runs these lines one after the other, each with what it printed in `out`.
pub(crate) fn run(env: &Agents, lines: &[&str]) -> (TestTask, String) {
    let mut script = String::from("worker:\n  - commit: work\n    empty: true\n");
    for line in lines {
        let line = line.replace('\'', "''");
        script.push_str(&format!(
            "  - run: '( {line} ) >> ROOT/out 2>&1; echo \"exit $?\" >> ROOT/out'\n"
        ));
    }
    script.push_str("  - write: ready\n    text: x\n  - wait for: {file: never}\n");
    let task = env.start("Try the fence", &script);
    let ready = env.slot_of(&task).join("ready");
    env.until("all of it was tried", || ready.exists());
    let out = fs::read_to_string(env.root().join("out")).unwrap();
    (task, out)
}

#[test]
fn no_push_leaves_whatever_it_is_called() {
    let (env, remote) = with_remote();
    let before = branches(&env, &remote);
    let script = env.write("push.sh", "git push origin HEAD\n");
    let script = format!("sh {}", script.display());
    let tries = [
        "git push origin HEAD",
        "git -C . push origin HEAD",
        "git -c a.b=c push origin HEAD",
        "git --git-dir=\"$(git rev-parse --git-dir)\" push origin HEAD",
        "bash -c 'git push origin HEAD'",
        &script,
        "git -c alias.up=push up origin HEAD",
        "git config alias.up 'push origin HEAD'; git up",
        "git send-pack origin HEAD",
        "env git push --all origin",
    ];
    let (_, out) = run(&env, &tries);
    assert_eq!(
        out.matches("orange: refused: git").count(),
        tries.len(),
        "{out}"
    );
    assert_eq!(out.matches("exit 1").count(), tries.len(), "{out}");
    assert!(out.contains("a person's decision"), "{out}");
    assert_eq!(branches(&env, &remote), before);
}

#[test]
fn a_shell_that_forgets_the_path_does_not_push_either() {
    let (env, remote) = with_remote();
    let before = branches(&env, &remote);
    let git = "PATH=/usr/local/bin:/usr/bin:/bin git push origin HEAD";
    let (_, out) = run(&env, &[git]);
    assert!(out.contains("agents-of-orange-do-not-push"), "{out}");
    assert!(!out.contains("exit 0"), "{out}");
    assert_eq!(branches(&env, &remote), before);
}

#[test]
fn everything_else_of_git_works_and_people_push() {
    let (env, remote) = with_remote();
    let works = [
        "git fetch -q origin",
        "git log --oneline -1",
        "git stash list",
        "echo x > stashed && git stash push -q -u && git stash drop -q",
        "echo x > stashed && git config alias.put 'stash push -q' && git put -u && git stash drop -q",
        "echo x > stashed && git -c alias.away='stash push -q -u' away && git stash drop -q",
        "git config alias.talk '!echo push it' && git talk",
        "git -c user.name=x -c user.email=x@y commit -q --allow-empty -m 'push the button'",
        "cd / && git --version",
        "git -C .git rev-parse HEAD || git rev-parse HEAD",
        "orange show > /dev/null",
    ];
    let (task, out) = run(&env, &works);
    assert_eq!(out.matches("exit 0").count(), works.len(), "{out}");
    assert!(!out.contains("refused"), "{out}");
    env.git(&env.slot_of(&task), &["push", "-q", "origin", "HEAD"]);
    assert!(branches(&env, &remote).contains("trythefence"));
}

/// Stands for the network: a `gh` that records what it is called with.
fn recording_gh(env: &mut Agents) -> PathBuf {
    let calls = env.root().join("calls");
    let gh = env.write(
        "programs/gh",
        format!("#!/bin/sh\nprintf '%s\\n' \"$*\" >> {}\n", calls.display()),
    );
    fs::set_permissions(&gh, fs::Permissions::from_mode(0o755)).unwrap();
    env.put_first_in_path(gh.parent().unwrap());
    calls
}

#[test]
fn gh_reads_and_does_not_post() {
    let mut env = Agents::new();
    let calls = recording_gh(&mut env);
    let posts = [
        "gh pr comment 1 --body x",
        "gh pr create --fill",
        "gh pr review 1 --approve",
        "gh -R a/b pr merge 1",
        "gh issue comment 3 -b x",
        "gh api repos/a/b/issues/1/comments -f body=x",
        "gh api -X POST repos/a/b/issues",
        "gh api --method=DELETE repos/a/b",
        "gh api graphql",
        "gh release create v1",
        "bash -c 'gh pr close 1'",
    ];
    let reads = [
        "gh pr view 1",
        "gh pr view 1 --comments",
        "gh -R a/b pr diff 1",
        "gh pr checks 1",
        "gh issue list",
        "gh run view 1 --log",
        "gh api repos/a/b/pulls/1",
        "gh api -X GET repos/a/b",
        "gh auth status",
        "gh --version",
        "gh pr comment --help",
    ];
    let (_, out) = run(&env, &[&posts[..], &reads[..]].concat());
    assert_eq!(
        out.matches("orange: refused: gh").count(),
        posts.len(),
        "{out}"
    );
    assert_eq!(out.matches("exit 0").count(), reads.len(), "{out}");
    let called = fs::read_to_string(calls).unwrap();
    let wanted: Vec<&str> = reads.iter().map(|call| &call[3..]).collect();
    assert_eq!(called.lines().collect::<Vec<_>>(), wanted);
}

#[test]
fn the_shell_after_an_agent_is_not_fenced() {
    let (env, remote) = with_remote();
    let task = env.start(
        "Leave a shell",
        "worker:\n  - commit: work\n    empty: true\n  - exit: 0\n",
    );
    env.until_shell();
    let pane = task.last("agent.spawned")["pane"]
        .as_str()
        .unwrap()
        .to_owned();
    let line = "git push -q origin HEAD; echo pushed > pushed-it";
    env.tmux(&["send-keys", "-t", &pane, "-l", line]);
    env.tmux(&["send-keys", "-t", &pane, "Enter"]);
    env.until("the person pushes", || {
        branches(&env, &remote).contains("leaveashell")
    });
}
