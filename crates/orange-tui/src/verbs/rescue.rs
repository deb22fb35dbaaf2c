//! Rescues as the dashboard shows them, and bringing one back into the task's workspace.

use super::VerbOutcome;
use orange_core::Timestamp;
use orange_core::display::time::relative;
use orange_core::naming::counted;
use orange_engine::verbs::rescue::{
    self, RescueOwner, RestoredRescue, RestoredTo, rescue_named, rescue_owner_at, restore_rescue,
    show_rescue,
};
use orange_engine::{Call, Result};

fn owner(call: &Call, folder: &str) -> Result<RescueOwner> {
    rescue_owner_at(call, call.store().place(folder))
}

/// Names and texts, the newest first.
pub(super) fn list(call: &Call, folder: &str) -> Result<VerbOutcome> {
    let now = Timestamp::now();
    let rescues = rescue::rescues(&owner(call, folder)?)?;
    let text = |one: &orange_engine::rescue::Rescue| {
        let (name, note) = (&one.name, &one.note);
        let (age, holds) = (relative(now, note.time), counted(note.files, "file"));
        format!("{name}  {age}  {holds}  {}", note.reason)
    };
    let newest_first = rescues.iter().rev();
    let listed = newest_first.map(|one| (one.name.clone(), text(one)));
    Ok(VerbOutcome::Rescues(listed.collect()))
}

/// What is in one.
pub(super) fn show(call: &Call, folder: &str, name: &str) -> Result<VerbOutcome> {
    let owner = owner(call, folder)?;
    let shown = show_rescue(&owner, &rescue_named(&owner, name)?)?;
    let note = &shown.rescue.note;
    let mut lines = vec![format!("saved {}: {}", note.time, note.reason)];
    let files = shown.files.iter();
    lines.extend(files.map(|file| format!("{} {}", file.status, file.path.display())));
    let copies = shown.copies.iter();
    lines.extend(copies.map(|path| format!("copied as it was: {}", path.display())));
    let commits = shown.commits.iter();
    lines.extend(commits.map(|lost| {
        let short = lost.commit.get(..7).unwrap_or(&lost.commit);
        format!("commit that only rescues hold: {short} {}", lost.subject)
    }));
    if let Some(gone) = &shown.raw_gone {
        lines.push(format!("the copies in {gone} are gone"));
    }
    lines.push(
        "the files go into the task's workspace; what is there now is saved first; ignored files are not in it"
            .to_owned(),
    );
    Ok(VerbOutcome::Rescue {
        name: shown.rescue.name.clone(),
        lines,
    })
}

pub(super) fn bring_back(call: &Call, folder: &str, name: &str) -> Result<VerbOutcome> {
    let owner = owner(call, folder)?;
    let RestoredRescue { rescue, to } = restore_rescue(call, &owner, name, None)?;
    let (label, name) = (&owner.label, &rescue.name);
    let text = match to {
        RestoredTo::Branch { branch } => format!("{label}: {name} is the branch {branch} now"),
        RestoredTo::Workspace {
            name: workspace,
            restored,
        } => {
            let written = counted(restored.written, "file");
            let deleted = restored.deleted;
            let mut text = format!(
                "{label}: {name} is back in {workspace}: {written} written, {deleted} deleted"
            );
            if let Some(before) = &restored.before {
                text.push_str(&format!("; what was there before is rescue {before}"));
            }
            for path in &restored.not_copied {
                let path = path.display();
                text.push_str(&format!(
                    "; {path} is not copied back: its place is not free"
                ));
            }
            text
        }
    };
    Ok(VerbOutcome::said(text))
}
