//! Slots, and files of slots, that a killed process was moving out (`workspaces/.leaving`), where no slot of the pool leads
//! to them any more. A slot that the pool has finds what is its own there when it is used or checked.

use crate::call::Call;
use crate::error::{Result, err};
use crate::git::state;
use crate::maintenance::workspaces;
use crate::projects::Project;
use crate::views::doctor::DoctorReport;
use crate::workspaces::quarantine::{LEAVING, left_of};
use crate::workspaces::slot_lock::SlotLock;
use crate::workspaces::slot_number;
use orange_sys::listing;

pub(crate) fn check_leaving(
    call: &Call,
    projects: &[Project],
    report: &mut DoctorReport,
) -> Result<()> {
    for path in listing::entries(&call.store.workspaces().join(LEAVING)) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let (slot, is_whole) = left_of(&name);
        // A process that is at work in the slot has its lock.
        let lock = SlotLock::if_free(&call.store, slot);
        let Some(Some(lock)) = report.checked(slot, lock) else {
            continue;
        };
        if is_known(call, slot)? || !path.exists() {
            continue;
        }
        drop(lock);
        let project = projects
            .iter()
            .find(|project| slot_number(&project.name, slot).is_some());
        let subject = format!("workspaces/{LEAVING}/{name}");
        let problem = format!("holds files of {slot}, a slot that the pool does not know");
        let is_worktree = is_whole && state::git_folder(&path).is_ok();
        let Some(project) = project.filter(|_| is_worktree) else {
            let how = format!(
                "take what you need out of {}, then remove it",
                path.display()
            );
            report.by_hand(subject, problem, how);
            continue;
        };
        report.repair(subject, problem, "moves it back into its place", || {
            workspaces::forget_all_gone(call, project)?;
            if crate::workspaces::slot_folder(call, slot).is_dir() {
                Ok("it is in its place again")
            } else {
                Err(err!(Busy, "another process is at work there"))
            }
        });
    }
    Ok(())
}

/// Whether the checks of slots look at what is left of it.
fn is_known(call: &Call, slot: &str) -> Result<bool> {
    Ok(crate::workspaces::pool(call)?.workspaces.contains_key(slot)
        || crate::workspaces::slot_folder(call, slot).is_dir())
}
