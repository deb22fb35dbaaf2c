//! Which branch a workspace is on: where it comes from, who has it already, and when its name changes.

use crate::env::TestEnvironment;
use std::path::Path;

/// `HEAD` is that of the worktree where it was typed, at that time.
#[test]
fn a_base_that_means_something_else_elsewhere_is_kept_as_a_commit() {
    let env = TestEnvironment::new();
    let first = env.create(["first", "The first"]);
    env.bring_to(&first, "working");
    let slot = env.slot_of(&first);
    env.git(&slot, &["commit", "-q", "--allow-empty", "-m", "work"]);
    let head = env.git(&slot, &["rev-parse", "HEAD"]);
    let main = env.git(&env.shop(), &["rev-parse", "HEAD"]);
    assert_ne!(head, main);
    let make = |folder: &Path, base: &str| {
        let words = ["new", "Go on from here", "--base", base, "--json"];
        let made = env.call(words).at(folder).run().ok().json();
        made["task"]["base"].as_str().unwrap().to_owned()
    };
    assert_eq!(make(&slot, "HEAD"), head);
    assert_eq!(make(&slot, "@~1"), main);
    assert_eq!(make(&env.shop(), "HEAD"), main);
    assert_eq!(make(&slot, "main"), "main");
    env.call(["new", "From nowhere", "--base", "HEAD~9"])
        .at(&slot)
        .run()
        .fails_with(4)
        .says("HEAD~9");
}

/// Killed in the middle of a renaming, the next command ends it: git, task and pool agree.
#[test]
fn renaming_and_killed_on_the_way() {
    for hit in 1.. {
        let env = TestEnvironment::new();
        let (task, slot) = env.started("login");
        let run = env
            .call(["task", "update", &task.id, "--branch", "sign-in"])
            .var("ORANGE_CRASH_AT", format!("*:{hit}"))
            .run();
        if run.code == 0 {
            assert!(hit > 3, "{hit} points only");
            break;
        }
        env.update(&task, &["--priority", "high"]).ok();
        let branch = env.branch_at(&slot);
        assert_eq!(env.show(&task)["branch"], branch, "{run}");
        assert_eq!(env.pool_entry(1)["task"], format!("shop/{branch}"), "{run}");
    }
}
