//! Commits that no branch holds, and operations under way.

use crate::rescue::world::World;

#[test]
fn a_detached_head_with_commits() {
    let world = World::new();
    world.git(["checkout", "-q", "--detach"]);
    world.nothing_to_save();
    let first = world.commit("one", "1");
    let second = world.commit("two", "2");
    let saved = world.save();
    assert_eq!(world.parents(&saved.commit), std::slice::from_ref(&second));
    assert_eq!((saved.note.files, saved.note.commits), (0, 2));
    // A new rescue holds it anew, so that it is kept from now on.
    let again = world.save();
    assert!(world.reaches(&again.commit, &first));
    world.git(["branch", "kept", &second]);
    world.nothing_to_save();
}

#[test]
fn commits_that_only_the_reflog_knows() {
    let world = World::new();
    let lost = world.commit("one", "1");
    world.git(["reset", "-q", "--hard", "HEAD~1"]);
    let amended = world.commit("two", "2");
    world.git(["commit", "-q", "--amend", "-m", "again"]);
    let saved = world.save();
    assert!(world.reaches(&saved.commit, &lost));
    assert!(world.reaches(&saved.commit, &amended));
    assert_eq!(saved.note.commits, 2);
    // A rescue holds them now.
    world.nothing_to_save();
}

#[test]
fn not_one_of_many_commits_is_dropped() {
    let world = World::new();
    let mut lost = Vec::new();
    for number in 0..70 {
        let tree = world.git(["rev-parse", "HEAD^{tree}"]);
        let message = format!("lost {number}");
        let commit = world.git(["commit-tree", &tree, "-p", "main", "-m", &message]);
        lost.push(commit);
    }
    for commit in &lost {
        world.git(["update-ref", "-m", "moved", "HEAD", commit]);
    }
    world.git(["reset", "-q", "--hard", "main"]);
    let saved = world.save();
    assert_eq!(saved.note.commits, 70);
    assert!(world.parents(&saved.commit).len() <= 16);
    let all = world.git(["rev-list", &saved.commit]);
    for commit in &lost {
        assert!(all.contains(commit.as_str()), "{commit} was dropped");
    }
}

#[test]
fn a_reflog_with_commits_that_are_gone_for_good() {
    let world = World::new();
    let log = world.git_dir().join("logs/HEAD");
    let mut text = std::fs::read_to_string(&log).unwrap();
    let id = "1".repeat(40);
    text.push_str(&format!("{id} {id} T <t@e> 1 +0000\treset: \n"));
    std::fs::write(&log, text).unwrap();
    world.nothing_to_save();
    world.write("a", "changed");
    world.save();
}

/// Two branches that change the same line.
fn conflicting() -> World {
    let world = World::new();
    world.commit("a", "ours\n");
    world.git(["checkout", "-q", "-b", "other", "main"]);
    world.commit("a", "theirs\n");
    world.git(["checkout", "-q", "task"]);
    world
}

fn holds_the_conflict(world: &World, commit: &str) {
    let staged = world.trailer(commit, "Staged").unwrap();
    world.holds(&staged, "a.base", "a\n");
    let ours = world.blob(&staged, "a.ours").unwrap();
    let theirs = world.blob(&staged, "a.theirs").unwrap();
    let mut sides = [ours, theirs];
    sides.sort();
    assert_eq!(sides, [b"ours\n".to_vec(), b"theirs\n".to_vec()]);
    let file = std::fs::read(world.path("a")).unwrap();
    assert!(file.starts_with(b"<<<<<<<"));
    world.holds(commit, "a", &file);
    world.holds(&staged, "b", "staged\n");
}

#[test]
fn a_merge_with_conflicts() {
    let world = conflicting();
    assert!(
        !world
            .try_git(&world.slot, ["merge", "other"])
            .status
            .success()
    );
    world.write("b", "staged\n");
    world.git(["add", "b"]);
    world.write("a.ours", "a file of that name");
    world.git(["add", "a.ours"]);
    world.write("announced", "announced only");
    world.git(["add", "-N", "announced"]);
    let saved = world.save();
    let staged = world.trailer(&saved.commit, "Staged").unwrap();
    world.holds(&staged, "a.ours", "a file of that name");
    world.holds(&staged, "a.ours~", "ours\n");
    world.holds(&saved.commit, "announced", "announced only");
    let theirs = world.git(["rev-parse", "other"]);
    assert!(world.parents(&saved.commit).contains(&theirs));
    assert_eq!(world.trailer(&saved.commit, "Operation").unwrap(), "merge");
}

#[test]
fn a_rebase_with_conflicts() {
    let world = conflicting();
    let before = world.commit("later", "on the branch");
    assert!(
        !world
            .try_git(&world.slot, ["rebase", "other"])
            .status
            .success()
    );
    world.write("b", "staged\n");
    world.git(["add", "b"]);
    let saved = world.save();
    holds_the_conflict(&world, &saved.commit);
    assert!(world.parents(&saved.commit).contains(&before));
    assert_eq!(world.trailer(&saved.commit, "Operation").unwrap(), "rebase");
}

#[test]
fn a_rebase_that_made_commits_and_has_an_autostash() {
    let world = World::new();
    world.commit("one", "1");
    world.commit("two", "2");
    world.git(["checkout", "-q", "-b", "other", "main"]);
    world.commit("two", "another two");
    world.git(["checkout", "-q", "task"]);
    world.write("b", "stashed away\n");
    let rebase = world.try_git(&world.slot, ["rebase", "--autostash", "other"]);
    assert!(!rebase.status.success());
    let made = world.head();
    let saved = world.save();
    assert!(world.reaches(&saved.commit, &made));
    let stash = std::fs::read_to_string(world.git_dir().join("rebase-merge/autostash")).unwrap();
    assert!(
        world
            .parents(&saved.commit)
            .contains(&stash.trim().to_owned())
    );
    world.holds(stash.trim(), "b", "stashed away\n");
}

#[test]
fn a_cherry_pick_and_a_revert() {
    for (command, name) in [("cherry-pick", "cherry-pick"), ("revert", "revert")] {
        let world = conflicting();
        let argument = if command == "revert" { "HEAD" } else { "other" };
        if command == "revert" {
            world.commit("a", "third\n");
        }
        let target = if command == "revert" {
            "HEAD~1"
        } else {
            argument
        };
        let output = world.try_git(&world.slot, [command, target]);
        assert!(!output.status.success());
        let saved = world.save();
        assert_eq!(world.trailer(&saved.commit, "Operation").unwrap(), name);
        assert!(world.trailer(&saved.commit, "Staged").is_some());
    }
}

#[test]
fn refs_in_tables() {
    let mut world = World::without_commits();
    let folder = world.root.join("tables");
    let init = ["init", "-q", "-b", "main", "--ref-format=reftable"];
    std::fs::create_dir_all(&folder).unwrap();
    if !world.try_git(&folder, init).status.success() {
        return; // This git knows no other kind than files.
    }
    world.repository = folder.clone();
    world.slot = folder;
    world.commit("a", "a");
    let lost = world.commit("one", "1");
    world.git(["reset", "-q", "--hard", "HEAD~1"]);
    let saved = world.save();
    assert!(world.reaches(&saved.commit, &lost));
    world.git(["checkout", "-q", "--detach"]);
    let detached = world.commit("two", "2");
    world.write("a", "changed");
    let saved = world.save();
    assert!(world.reaches(&saved.commit, &detached));
    world.holds(&saved.commit, "a", "changed");
}

#[test]
fn refs_that_go_with_the_worktree_do_not_count() {
    let world = World::new();
    let lost = world.commit("one", "1");
    world.git(["update-ref", "refs/worktree/mine", &lost]);
    world.git(["reset", "-q", "--hard", "HEAD~1"]);
    std::fs::remove_file(world.git_dir().join("logs/HEAD")).unwrap();
    let saved = world.save();
    assert!(world.reaches(&saved.commit, &lost));
}
