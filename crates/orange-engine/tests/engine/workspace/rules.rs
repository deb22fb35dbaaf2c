//! Rules: the repository speaks through a commit, the user through the own settings.

use crate::workspace::world::{World, git_at};
use orange_core::config::WorkspaceConfig;
use orange_engine::Code;
use orange_engine::rules::Rules;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

const THEIRS: &str = "workspace:\n  copy: [node_modules/]\n  setup: [make, make test]\n  teardown: make clean\n  timeout: 5m\n";

fn own() -> WorkspaceConfig {
    WorkspaceConfig {
        copy: vec!["mine.local".into()],
        setup: vec!["own setup".into()],
        teardown: vec!["own teardown".into()],
        ..WorkspaceConfig::default()
    }
}

fn read(world: &World, commit: &str) -> Rules {
    Rules::read(&world.repository(), commit, &WorkspaceConfig::default()).unwrap()
}

#[test]
fn the_repository_s_rules_and_the_user_s_own_together() {
    let world = World::new();
    world.write(".orange/config.yaml", format!("{THEIRS}hats: 3\n"));
    world.write(".worktreeinclude", "# secrets\n.env\n\n");
    let commit = world.commit();
    let rules = Rules::read(&world.repository(), &commit, &own()).unwrap();
    assert_eq!(rules.copy, [".env", "node_modules/", "mine.local"]);
    assert_eq!(rules.setup, ["make", "make test", "own setup"]);
    assert_eq!(rules.teardown, ["make clean", "own teardown"]);
    assert_eq!(rules.timeout, Duration::from_secs(300));
    assert_eq!(rules.foreign.setup, ["make", "make test"]);
    assert_eq!(rules.foreign.teardown, ["make clean"]);
    assert_eq!(rules.commit, commit);
    let ignored: Vec<&str> = rules.ignored.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(ignored, ["hats"]);
    let without = rules.without_foreign();
    assert_eq!(without.setup, ["own setup"]);
    assert_eq!(without.teardown, ["own teardown"]);
    assert!(without.foreign.is_empty());
    let patient = WorkspaceConfig {
        timeout: Some(Duration::from_secs(7)),
        ..own()
    };
    let rules = Rules::read(&world.repository(), &commit, &patient).unwrap();
    assert_eq!(rules.timeout, Duration::from_secs(7));
}

#[test]
fn a_repository_without_rules_has_none() {
    let world = World::new();
    let rules = read(&world, &world.git(&["rev-parse", "HEAD"]));
    assert_eq!(
        (rules.copy.len(), rules.setup.len(), rules.teardown.len()),
        (0, 0, 0)
    );
    assert_eq!(rules.timeout, Duration::from_secs(600));
}

#[test]
fn only_the_commit_counts() {
    let world = World::new();
    world.write(".orange/config.yaml", THEIRS);
    world.write(".worktreeinclude", ".env\n");
    let base = world.commit();
    let expected = read(&world, &base);
    // Edits in the checkout, in the slot, on a branch, and an object put in another's place.
    let evil = "workspace:\n  setup: evil\n";
    world.write(".orange/config.yaml", evil);
    world.write(".worktreeinclude", "id_rsa\n");
    world.write_slot(".orange/config.yaml", evil);
    assert_eq!(read(&world, &base), expected);
    world.git(&["checkout", "-q", "-b", "task"]);
    let later = world.commit();
    assert_eq!(read(&world, &base), expected);
    assert_eq!(read(&world, &later).setup, ["evil"]);
    let object = |commit: &str| world.git(&["rev-parse", &format!("{commit}:.orange/config.yaml")]);
    world.git(&["replace", &object(&base), &object(&later)]);
    assert_eq!(
        world.git(&["show", &format!("{base}:.orange/config.yaml")]),
        evil.trim()
    );
    assert_eq!(read(&world, &base), expected);
}

#[test]
fn an_untracked_include_file_is_the_user_s_own() {
    let world = World::new();
    let base = world.git(&["rev-parse", "HEAD"]);
    world.write(".worktreeinclude", ".env\n");
    assert_eq!(read(&world, &base).copy, [".env"]);
    // Tracked on the branch that is checked out, it speaks for that branch only.
    let later = world.commit();
    assert_eq!(read(&world, &base).copy, [""; 0]);
    world.write(".worktreeinclude", ".other\n");
    assert_eq!(read(&world, &later).copy, [".env"]);
    fs::remove_file(world.repository().join(".worktreeinclude")).unwrap();
    assert_eq!(read(&world, &later).copy, [".env"]);
}

#[test]
fn a_broken_file_is_named_with_commit_and_line() {
    let world = World::new();
    let refused = |content: &[u8]| {
        world.write(".orange/config.yaml", content);
        let commit = world.commit();
        let error = Rules::read(&world.repository(), &commit, &own()).unwrap_err();
        assert_eq!(error.code, Code::Damaged);
        assert!(error.hint.unwrap().words().unwrap().contains("commit"));
        error.message.replace(commit.get(..7).unwrap(), "COMMIT")
    };
    assert_eq!(
        refused(b"workspace:\n  timeout: soon\n"),
        ".orange/config.yaml at commit COMMIT, line 2: workspace.timeout must be a time above 0: seconds, or such as 90s, 10m, 1h"
    );
    assert_eq!(
        refused(b"workspace:\n  setup: \"\xff\"\n"),
        ".orange/config.yaml at commit COMMIT, line 2: it is not UTF-8"
    );
    let message = refused(b"workspace:\n  setup: [make\n");
    assert!(
        message.starts_with(".orange/config.yaml at commit COMMIT"),
        "{message}"
    );
    assert!(message.contains("line "), "{message}");
    assert!(refused(&vec![b'#'; 1024 * 1024 + 1]).ends_with(": it is larger than 1 MB"));
    fs::remove_file(world.repository().join(".orange/config.yaml")).unwrap();
    symlink(
        "/etc/passwd",
        world.repository().join(".orange/config.yaml"),
    )
    .unwrap();
    let commit = world.commit();
    let error = Rules::read(&world.repository(), &commit, &own()).unwrap_err();
    assert!(
        error.message.ends_with(": it is not a plain file"),
        "{error}"
    );
}

#[test]
fn too_many_patterns_are_refused() {
    let world = World::new();
    world.write(
        ".worktreeinclude",
        "a-rather-long-pattern/*.local\n".repeat(10_000),
    );
    let commit = world.commit();
    let error = Rules::read(&world.repository(), &commit, &own()).unwrap_err();
    assert!(error.message.contains("too many patterns"), "{error}");
}

#[test]
fn a_bare_repository_has_rules_too() {
    let world = World::new();
    world.write(".orange/config.yaml", THEIRS);
    let commit = world.commit();
    git_at(
        &world.root(),
        &["clone", "-q", "--bare", "shop", "bare.git"],
    );
    let bare = world.root().join("bare.git");
    fs::write(bare.join(".worktreeinclude"), "x").unwrap();
    let rules = Rules::read(&bare, &commit, &WorkspaceConfig::default()).unwrap();
    assert_eq!(rules.setup, ["make", "make test"]);
    assert_eq!(rules.copy, ["node_modules/"]);
}

#[test]
fn a_commit_that_is_not_there_is_an_error() {
    let world = World::new();
    for commit in [
        "0123456789012345678901234567890123456789",
        "--name-only",
        "no such",
    ] {
        let error = Rules::read(&world.repository(), commit, &own()).unwrap_err();
        assert!(error.message.contains("git ls-tree"), "{error}");
    }
}
