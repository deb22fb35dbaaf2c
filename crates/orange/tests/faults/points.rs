//! Every crash point of the program by name, and which test kills at it. A point that drops out of the code fails here.

use crate::sources::sources;
use std::fs;
use std::path::Path;

/// Points that commands without agents lead to: `crash.rs` kills at each of them.
pub(crate) const OF_EVERY_COMMAND: &[&str] = &[
    "acquire.brought",
    "acquire.checked-out",
    "acquire.linked",
    "acquire.set-up",
    "acquire.worktree",
    "commit.journalled",
    "commit.written",
    "create.journalled",
    "create.marked",
    "create.renamed",
    "create.written",
    "delete.journalled",
    "delete.moved",
    "hook.after",
    "hook.before",
    "hooks.journalled",
    "journal.appended",
    "journal.synced",
    "marked",
    "pool.written",
    "reconciled.journalled",
    "release.confirmed",
    "release.detached",
    "release.moved",
    "release.parked",
    "release.reset",
    "release.saved",
    "replace.before_unlink",
    "replace.done",
    "replace.exchanged",
    "replace.temp_written",
    "rescue.saved",
    "rescue.tree",
    "reserved",
    "restore.journalled",
    "restore.moved",
    "unmark.before",
    "write.opened",
    "write.prepared",
];

/// Points of a merge, which also moves branches: `merge.rs` kills at each of them.
pub(crate) const OF_MERGES: &[&str] = &[
    "merge.computed",
    "merge.started",
    "merge.pushed",
    "merge.moved",
    "forward.locked",
    "forward.files",
    "forward.merged",
    "forward.written",
    "merge.verified",
];

/// Points that only agents and checks lead to, and those of what goes when it has expired: the files of `e2e` below kill
/// at each of them.
const OF_AGENTS_AND_GC: &[&str] = &[
    "spawn.written",
    "spawn.opened",
    "spawn.started",
    "exit.advanced",
    "exit.counted",
    "adopted.started",
    "branch.saved",
    "dashboard.key",
    "message.journalled",
    "queue.taken",
    "verify.requested",
    "verify.prepared",
    "verify.ran",
    "verify.journalled",
    "verify.returned",
    "gc.rescues_forgotten",
    "gc.trash_renamed",
    "remove.checked",
    "remove.forgotten",
    "remove.moved",
    "revive.checked-out",
];

/// Points of executors and of what people say to phased tasks: `e2e/phased_kills.rs`, `phased_faults.rs` and `phased_lost.rs` kill at each of them.
const OF_EXECUTIONS: &[&str] = &[
    "answer.stored",
    "change.moved",
    "changes.stored",
    "decision.moved",
    "execution.advanced",
    "execution.checked",
    "execution.checkpoint",
    "execution.committed",
    "execution.journalled",
    "execution.opened",
    "execution.spent",
    "execution.transcript",
    "executor.decided",
    "gate.stored",
    "judge.answered",
    "judge.decided",
    "judge.opened",
    "judge.spent",
    "orphan.moved",
    "repair.aside",
    "repair.built",
    "results.placed",
    "results.staged",
    "results.stored",
    "review.cleaned",
    "review.moved",
    "review.saved",
    "rewind.moved",
    "rewind.saved",
    "rewind.stored",
    "rewind.told",
    "spec.stored",
    "start.failed",
];

/// Where these points are killed at, with real windows and real checks.
const IN_E2E: &[&str] = &[
    "adopted_sessions.rs",
    "agent_crash_points.rs",
    "agent_merge.rs",
    "dashboard/leaving.rs",
    "doctor_workspaces.rs",
    "gc.rs",
    "phased_faults.rs",
    "phased_kills.rs",
    "phased_lost.rs",
    "test_results.rs",
    "slot_races.rs",
    "verify_kills.rs",
    "verify_return.rs",
];

/// The names in the code of all crates, sorted; a name as often as it is there.
fn in_the_code() -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in sources() {
        for (at, call) in text.match_indices("crash_point(") {
            if text[..at].ends_with("fn ") {
                continue;
            }
            let argument = text[at + call.len()..].trim_start();
            let name = argument
                .strip_prefix('"')
                .and_then(|rest| rest.split_once('"'));
            let place = path.display();
            let (name, _) = name.unwrap_or_else(|| panic!("{place}: a point without a name"));
            found.push(name.to_owned());
        }
    }
    found.sort();
    found
}

fn listed() -> Vec<&'static str> {
    let all = [OF_EVERY_COMMAND, OF_MERGES, OF_AGENTS_AND_GC, OF_EXECUTIONS];
    let mut listed = all.concat();
    listed.sort_unstable();
    listed
}

#[test]
fn every_crash_point_is_in_the_code_once_and_in_the_list() {
    assert_eq!(
        in_the_code(),
        listed(),
        "the code (left) has other crash points than the list (right)"
    );
}

#[test]
fn what_kills_at_the_points_of_agents_executions_and_gc_names_each_of_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e");
    let read = |name: &&str| fs::read_to_string(folder.join(name)).unwrap();
    let tests: String = IN_E2E.iter().map(read).collect();
    for point in [OF_AGENTS_AND_GC, OF_EXECUTIONS].concat() {
        assert!(tests.contains(&format!("\"{point}\"")), "{point}");
    }
}

#[test]
fn the_soak_kills_at_points_that_exist() {
    let soak = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soak");
    for (file, list) in [
        ("plan.rs", "const POINTS"),
        ("plan.rs", "const CREATION"),
        ("phased.rs", "const POINTS"),
    ] {
        let text = fs::read_to_string(soak.join(file)).unwrap();
        let (_, rest) = text.split_once(list).unwrap();
        let (names, _) = rest.split_once("];").unwrap();
        for name in names.split('"').skip(1).step_by(2) {
            assert!(listed().contains(&name), "{list}: {name}");
        }
    }
}
