//! The worktree in which commits are checked that were handed over: one per project, beside the pool and not counted
//! in its size. Nobody works there, and one check at a time has it.

use crate::call::Call;
use crate::error::{Code, Result, err};
use crate::git::worktree;
use crate::person_environment::PersonEnvironment;
use crate::projects::Project;
use crate::rules::{self, Rules};
use crate::runs;
use crate::store::locks::{Rank, about_to_wait};
use crate::workspaces::setup::surroundings_of_check;
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::{self, acquire, commands, files, release, tidy};
use orange_core::naming::counted;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// In the environment of everything that a check starts: the folder of its worktree. What an Orange that was killed
/// left running is found by it.
pub const CHECK_MARK: &str = "ORANGE_VERIFYING";

/// How long to wait before asking again whether the worktree is free.
const NAP: Duration = Duration::from_millis(50);

/// `shop--verify`.
pub fn verify_slot(project: &str) -> String {
    format!("{project}--verify")
}

/// The worktree, as long as a check has it.
pub(crate) struct VerifySlot {
    lock: SlotLock,
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
}

impl VerifySlot {
    /// Ends what a check has left behind, however it detached itself.
    pub(crate) fn end_processes(folder: &Path) {
        let folder = folder.display().to_string();
        runs::end_marked(None, CHECK_MARK, &folder, || {});
    }
}

/// The folder of a project's checks, if there is one.
pub(crate) fn verify_folder(call: &Call, project: &str) -> Option<String> {
    let name = verify_slot(project);
    workspaces::slot_folder(call, &name)
        .is_dir()
        .then_some(name)
}

/// Waits until no other check has the worktree; None when nobody wants the result any more.
pub(crate) fn take_verify_slot(
    call: &Call,
    project: &Project,
    wanted: &dyn Fn() -> bool,
) -> Result<Option<VerifySlot>> {
    let name = verify_slot(&project.name);
    let folder = workspaces::slot_folder(call, &name);
    about_to_wait(Rank::Slot);
    loop {
        match SlotLock::try_take(&call.store, &name) {
            Ok(lock) => {
                VerifySlot::end_processes(&folder);
                return Ok(Some(VerifySlot { lock, name, folder }));
            }
            Err(error) if error.code == Code::Busy => {}
            Err(error) => return Err(error),
        }
        if !wanted() {
            return Ok(None);
        }
        std::thread::sleep(NAP);
    }
}

/// Checks a commit out, with nothing else around it but what git ignores and the files that a slot gets too.
pub(crate) fn prepare_check(
    call: &Call,
    project: &Project,
    slot: &VerifySlot,
    commit: &str,
    rules: &Rules,
) -> Result<()> {
    let folder = &slot.folder;
    worktree::inside(&call.store.workspaces(), folder)?;
    if let Some(who) = release::occupant(folder) {
        return Err(err!(ConditionUnmet, "{who} lives in {}", slot.name).hint(
            "leave that folder, or end that process; Orange never ends what is not its own",
        ));
    }
    slot.lock.handed_on(|| -> Result<()> {
        if acquire::make_worktree(&call.site(&project.path), folder, commit)? {
            return Ok(());
        }
        // A check that was killed leaves something behind, and a person may have looked in.
        let saved = tidy::tidy(
            call,
            &slot.name,
            folder,
            commit,
            "found where commits are checked",
        )?;
        if let Some(saved) = saved.saved {
            tracing::info!(saved, slot = slot.name, "was not clean");
        }
        match saved.kept {
            None => Ok(()),
            Some(why) => Err(err!(
                ConditionUnmet,
                "{} cannot be cleaned: {why}",
                slot.name
            )),
        }
    })?;
    let copied = files::copy_into(&project.path, folder, &rules.copy, true)?;
    if !copied.skipped.is_empty() {
        let count = counted(copied.skipped.len(), "file");
        tracing::warn!(count, slot = slot.name, "not copied");
    }
    Ok(())
}

/// Leaves the worktree as a free slot is left. What lies in it was made by the check a moment ago and is
/// nobody's work: nothing of it is saved, or every run of the tests would leave a rescue.
pub(crate) fn park_check(
    call: &Call,
    project: &Project,
    slot: &VerifySlot,
    rules: &Rules,
    person: &PersonEnvironment,
    log: &Path,
) {
    let folder = &call.site(&slot.folder);
    let env = surroundings_of_check(project, (&slot.name, folder), person);
    // Its end says nothing of the commit.
    if let Err(failed) = commands::run(folder, &rules.teardown, rules.timeout, &env, log) {
        tracing::warn!(%failed, slot = slot.name, "teardown");
    }
    VerifySlot::end_processes(folder);
    let parked = slot.lock.handed_on(|| -> Result<()> {
        worktree::inside(&call.store.workspaces(), folder)?;
        let park = rules::parking_place(call, project)?;
        worktree::quit_unfinished(folder)?;
        worktree::detach(folder)?;
        worktree::clean(folder)?;
        worktree::reset(folder, &park)?;
        // What the checked commit ignored, and the parking place does not.
        worktree::clean(folder)?;
        worktree::forget_moves(folder)
    });
    if let Err(error) = parked {
        // The next check saves and tidies it first.
        tracing::warn!(%error, slot = slot.name, "not parked");
    }
}
