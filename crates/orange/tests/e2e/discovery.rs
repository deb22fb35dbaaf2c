//! A folder that git would take for a bare repository, committed as ordinary files: its settings run nothing.

use crate::env::TestEnvironment;
use crate::run::Run;
use insta::assert_snapshot;
use std::fs;
use std::path::{Path, PathBuf};

/// Commits such a folder into `shop`. Each of its settings writes the marker when git obeys it.
fn trap(env: &TestEnvironment) -> (PathBuf, PathBuf) {
    let marker = env.root().join("marker");
    let write = format!("touch {}; false", marker.display());
    let folder = env.shop().join("fixtures/evil.git");
    for (name, text) in [
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
        ("objects/info/packs", "\n".to_owned()),
        ("refs/heads/.keep", String::new()),
        (
            "config",
            format!(
                "[core]\n\trepositoryformatversion = 0\n\tworktree = ..\n\tfsmonitor = \"{write}\"\n\
                 \tpager = \"{write}\"\n\tsshCommand = \"{write}\"\n\
                 [alias]\n\tst = \"!{write}\"\n\
                 [remote \"origin\"]\n\turl = /nowhere\n\tuploadpack = \"{write}\"\n\
                 \tfetch = +refs/heads/*:refs/remotes/origin/*\n"
            ),
        ),
    ] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    env.git(&env.shop(), &["add", "fixtures"]);
    env.git(&env.shop(), &["commit", "-q", "-m", "fixtures"]);
    (folder, marker)
}

fn at(env: &TestEnvironment, folder: &Path, words: &[&str]) -> Run {
    env.call(words.iter().copied()).at(folder).run()
}

#[test]
fn the_trap_works_for_git_itself() {
    let env = TestEnvironment::unregistered();
    let (folder, marker) = trap(&env);
    let mut git = env.foreign("git");
    git.current_dir(&folder).arg("fetch").output().unwrap();
    assert!(marker.exists());
}

#[test]
fn no_command_obeys_an_embedded_bare_repository() {
    let env = TestEnvironment::unregistered();
    let (folder, marker) = trap(&env);
    let other = env.init_repository("mail");
    env.orange(["project", "add", other.to_str().unwrap()]).ok();
    for place in [folder.clone(), folder.join("refs/heads")] {
        for words in [
            &["status"][..],
            &["ls"],
            &["task", "show"],
            &["task", "diff"],
            &["config", "show"],
            &["doctor"],
            &["project", "list"],
        ] {
            at(&env, &place, words);
            assert!(!marker.exists(), "{words:?}");
        }
        let tab = env.call(["--", "orange", "task", "show", ""]);
        tab.at(&place).var("ORANGE_COMPLETE", "fish").run().ok();
        for words in [&["project", "add", "."][..], &["new", "Add a login form"]] {
            at(&env, &place, words)
                .fails_with(3)
                .says("evil.git is a bare repository inside");
        }
        at(&env, &place, &["task", "show"]).fails_with(2);
    }
    assert_snapshot!(at(&env, &folder, &["project", "add", "."]), @"
    ------- stderr -------
    error: [TMP]/shop/fixtures/evil.git is a bare repository inside the repository [TMP]/shop, so its settings may be somebody else's commands
    hint: give the path [TMP]/shop, or move the bare repository out of it if it is yours
    [exit status: 3]
    ");
    assert!(!marker.exists());
    assert_eq!(
        env.orange(["project", "list", "--json"]).ok().json()["projects"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}

/// Within a registered work tree such a folder is a folder like any other.
#[test]
fn inside_a_registered_repository_the_project_is_the_outer_one() {
    let env = TestEnvironment::new();
    let (folder, marker) = trap(&env);
    let words = ["new", "--json", "--base", "HEAD", "Add a login form"];
    let made = at(&env, &folder, &words).ok().json();
    assert_eq!(made["task"]["project"], "shop");
    let task = env.task_of(&made["task"]);
    env.bring_to(&task, "working");
    for place in [folder, env.slot_of(&task).join("fixtures/evil.git")] {
        for words in [
            &["status"][..],
            &["ls"],
            &["task", "show", "TASK-001"],
            &["task", "why", "TASK-001"],
            &["task", "diff", "TASK-001"],
        ] {
            at(&env, &place, words).ok();
        }
        at(&env, &place, &["project", "add", "."]).fails_with(3);
    }
    assert!(!marker.exists());
}
