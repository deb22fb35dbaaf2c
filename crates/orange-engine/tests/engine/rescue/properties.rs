//! Whatever was done in a worktree: after a save, every file and commit is held by a branch or a rescue.

use crate::rescue::world::World;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

#[derive(Debug, Clone)]
enum Step {
    Write(u8, u8),
    Delete(u8),
    Rename(u8, u8),
    Stage(u8),
    StageAll,
    Commit,
    Detach,
    Reset(bool),
    Switch,
    Save,
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0..6_u8;
    prop_oneof![
        5 => (file.clone(), any::<u8>()).prop_map(|(name, content)| Step::Write(name, content)),
        1 => file.clone().prop_map(Step::Delete),
        1 => (file.clone(), file.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        3 => file.prop_map(Step::Stage),
        1 => Just(Step::StageAll),
        3 => Just(Step::Commit),
        1 => Just(Step::Detach),
        1 => any::<bool>().prop_map(Step::Reset),
        1 => Just(Step::Switch),
        1 => Just(Step::Save),
    ]
}

/// Some names are files, some lie in folders of the others' names.
fn name(number: u8) -> &'static str {
    ["a", "b", "dir/c", "dir/d", "new", "new dir/e"][usize::from(number)]
}

fn carry_out(world: &World, step: &Step, seen: &mut BTreeSet<String>) {
    let ignore_failure = |arguments: &[&str]| {
        world.try_git(&world.slot, arguments);
    };
    match step {
        Step::Write(file, content) => world.write(name(*file), format!("{content}\n")),
        Step::Delete(file) => {
            let _ = fs::remove_file(world.path(name(*file)));
        }
        Step::Rename(from, to) => {
            fs::create_dir_all(world.path(name(*to)).parent().unwrap()).unwrap();
            let _ = fs::rename(world.path(name(*from)), world.path(name(*to)));
        }
        Step::Stage(file) => ignore_failure(&["add", "-A", "--", name(*file)]),
        Step::StageAll => ignore_failure(&["add", "-A"]),
        Step::Commit => {
            ignore_failure(&["commit", "-q", "--allow-empty", "-m", "work"]);
            seen.insert(world.head());
        }
        Step::Detach => ignore_failure(&["checkout", "-q", "--detach"]),
        // What a hard reset throws away before a save is nobody's to bring back, except commits.
        Step::Reset(true) => ignore_failure(&["reset", "-q", "--hard", "HEAD~1"]),
        Step::Reset(false) => ignore_failure(&["reset", "-q", "--soft", "HEAD~1"]),
        Step::Switch => ignore_failure(&["checkout", "-q", "task"]),
        Step::Save => {
            world.try_save().unwrap();
        }
    }
}

fn every_object(world: &World) -> BTreeSet<String> {
    let arguments = [
        "rev-list",
        "--objects",
        "--no-object-names",
        "--glob=refs/*",
    ];
    let text = world.git_at(&world.repository, arguments);
    text.lines().map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(steps in prop::collection::vec(step(), 1..14)) {
        let world = World::new();
        let mut commits = BTreeSet::new();
        for step in &steps {
            carry_out(&world, step, &mut commits);
        }
        let staged = world.git(["ls-files", "-s"]);
        world.try_save().unwrap();
        let held = every_object(&world);
        for commit in &commits {
            prop_assert!(held.contains(commit), "commit {commit} is lost");
        }
        for line in staged.lines() {
            let blob = line.split(' ').nth(1).unwrap();
            prop_assert!(held.contains(blob), "staged {line} is lost");
        }
        for (path, (_, _, bytes)) in crate::rescue::world::files(&world.slot) {
            if path.is_file() && !path.ends_with(".git") {
                let path = path.to_str().unwrap();
                let blob = world.git(["hash-object", path]);
                prop_assert!(held.contains(&blob), "{path} is lost: {bytes:?}");
            }
        }
        // Said to be saved once, it need not be said again unless HEAD itself hangs on it.
        let again = world.try_save().unwrap();
        let clean = world.git(["status", "--porcelain"]).is_empty();
        let detached = !world.try_git(&world.slot, ["symbolic-ref", "-q", "HEAD"]).status.success();
        prop_assert!(again.is_none() || !clean || detached);
    }
}
