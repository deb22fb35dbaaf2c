//! Tasks: files that are damaged, folders that claim the same task, dependencies that lead nowhere or in a circle.

use crate::call::Call;
use crate::error::Result;
use crate::index::list::TaskFilter;
use crate::maintenance::doctor::task_of;
use crate::maintenance::every_task;
use crate::store::{Place, lock};
use crate::tx::TaskTx;
use crate::tx::racing::kept_texts;
use crate::views::doctor::DoctorReport;
use crate::views::list;
use crate::{field_checks, tx};
use orange_core::attention::unreadable;
use orange_core::history::{Event, EventType};
use orange_core::id::read_stored;
use orange_core::naming::counted;
use orange_core::reconcile::Broken;
use orange_core::{Action, TaskName};

pub(crate) fn check_tasks(call: &Call, report: &mut DoctorReport) -> Result<()> {
    // Every folder is read: the index looks only at TASK.md, and a journal may be damaged too.
    call.fresh_index()?.reread()?;
    let tasks = every_task(call)?;
    report.tasks = tasks.len();
    let mut sick = 0;
    for task in &tasks {
        let subject = task.key.map_or(task.folder.clone(), |key| {
            format!("{}:{key} ({})", task.project, task.folder)
        });
        let place = call.store.place(&task.folder);
        let trouble = trouble_of(call, &place);
        if let Some(reason) = &task.damaged {
            sick += 1;
            handle_damage(call, report, &subject, reason, &place, &trouble);
        } else if trouble.lost.is_some() || trouble.unreadable.is_some() {
            sick += 1;
        }
        for name in kept_texts(&place.path) {
            let path = place.path.join(name);
            let text = "two writers changed TASK.md at once, and one text could not be merged";
            let path = path.display();
            let how = format!("take over what is missing from {path}, then delete that file");
            report.by_hand(&subject, text, how);
        }
        if let Some(lost) = trouble.lost {
            let how = "takes TASK.md as it is, and lets history.jsonl go on from there";
            report.repair(&subject, lost, how, || {
                let repaired = tx::lock_for_repair(call, place.clone());
                repaired.map(|_| "it goes on from TASK.md as it is")
            });
        }
        if let Some(unreadable) = trouble.unreadable {
            let how = "takes it out of history.jsonl and keeps it in a file beside it; the task works without it already";
            report.repair(&subject, unreadable, how, || {
                take_out_lines(call, place, |tx| tx.take_out_bad_lines())
            });
        }
    }
    for (what, folders) in call.index()?.doubles()? {
        let problem = format!("is claimed by {}", folders.join(" and "));
        report.by_hand(what, problem, "move one of the folders out of tasks/");
    }
    let of = match report.projects {
        // That projects.json cannot be read has been said.
        0 => String::new(),
        count => format!(" of {}", counted(count, "project")),
    };
    match (tasks.len(), sick) {
        (0, _) => report.fine("no tasks yet"),
        (all, 0) => report.fine(format!("{}{of}", counted(all, "task"))),
        (all, sick) if sick == all => {}
        (all, sick) => report.fine(match all - sick {
            1 => "the other task is sound".to_owned(),
            sound => format!("the other {sound} tasks are sound"),
        }),
    }
    Ok(())
}

/// Takes lines out of a journal and says where they are.
pub(crate) fn take_out_lines(
    call: &Call,
    place: Place,
    take: impl FnOnce(&mut TaskTx<'_>) -> Result<Option<String>>,
) -> Result<String> {
    let mut tx = tx::lock_for_repair(call, place)?;
    let name = take(&mut tx)?;
    tx.commit(Vec::new()).map(drop)?;
    Ok(name.map_or("it is in order".to_owned(), |name| {
        format!("set aside as {name}")
    }))
}

/// A TASK.md that cannot be used. What a person wrote into it is theirs to correct first.
fn handle_damage(
    call: &Call,
    report: &mut DoctorReport,
    subject: &str,
    reason: &str,
    place: &Place,
    trouble: &Trouble,
) {
    let file = place.task_file();
    if trouble.is_unknown {
        let how = format!(
            "correct it in {}: there is no journal that has its last good value",
            file.display()
        );
        return report.by_hand(subject, reason, how);
    }
    let is_there = file.symlink_metadata().is_ok();
    let problem = if trouble.bad_value && !report.repairs {
        format!("{reason}; correct it in {}", file.display())
    } else {
        reason.to_owned()
    };
    let (how, done) = match (trouble.bad_value, is_there) {
        (true, _) => (
            "puts back the last good value and keeps your file beside it",
            "the last good value is put back",
        ),
        (false, true) => (
            "keeps the damaged file beside it and rebuilds TASK.md from history.jsonl; the body is kept as far as it can be read",
            "rebuilt",
        ),
        (false, false) => (
            "writes TASK.md again from history.jsonl, without the body, which went with it",
            "written again; its body is lost",
        ),
    };
    let how = if trouble.has_journal {
        how
    } else {
        "keeps the damaged file beside it and rebuilds TASK.md from the lines that can be read, if they say enough"
    };
    report.repair(subject, problem, how, || {
        let tx = tx::lock_for_repair(call, place.clone())?;
        let (label, status) = (tx.task.label(), tx.task.status);
        Ok(format!("{done}; {label} is {status}"))
    });
}

/// Looks at the files themselves: what a list says of a task is only the one thing to look at first.
fn trouble_of(call: &Call, place: &Place) -> Trouble {
    // What cannot be read at all is damage, and the list has it.
    let Ok(snapshot) = call.store.read(place) else {
        return Trouble::default();
    };
    let witness = || lock::read_witness(&place.path);
    let truth = snapshot.reconcile(place, &witness, call.now(), &mut |_, _| None);
    let is_bad_value = |broken: &Broken| matches!(broken, Broken::Value { .. });
    let recovered = |event: &&Event| event.kind == EventType::JournalRecovered;
    Trouble {
        unreadable: unreadable(&snapshot.history),
        bad_value: truth
            .as_ref()
            .is_ok_and(|truth| truth.broken.as_ref().is_some_and(is_bad_value)),
        is_unknown: truth.as_ref().is_err_and(is_bad_value),
        has_journal: !snapshot.history.own().is_empty(),
        lost: truth.ok().and_then(|truth| {
            let event = truth.events.iter().find(recovered)?;
            event.reason.clone()
        }),
    }
}

/// Dependencies on tasks that do not exist, and cycles made by hand.
pub(crate) fn check_links(call: &Call, report: &mut DoctorReport) -> Result<()> {
    let all = TaskFilter {
        with_fields: true,
        ..TaskFilter::default()
    };
    let mut cycles_seen: Vec<Vec<String>> = Vec::new();
    for row in list::listed(call, &all)? {
        let Some(key) = row.key else { continue };
        let subject = format!("{}:{key}", row.project);
        for reference in &task_of(&row.fields).blocked_by {
            let stored = read_stored(&row.project, reference);
            let mut is_known = false;
            if let Some(blocker) = stored {
                let (project, number) = (&blocker.project, blocker.number);
                let found = call.index()?.by_number(project, number)?;
                is_known =
                    found.is_some_and(|found| found.key.is_some_and(|key| blocker.fits(key)));
                let cycle = field_checks::cycle_through(call, &row.project, key, project, number)?;
                if let Some(mut cycle) = cycle {
                    cycle.pop();
                    cycle.sort();
                    if !cycles_seen.contains(&cycle) {
                        let problem = format!("waits for itself: {}", cycle.join(", "));
                        report.by_hand(&subject, problem, Action::remove_blocker(None, None));
                        cycles_seen.push(cycle);
                    }
                }
            }
            if !is_known {
                let problem = format!("waits for {reference}, which does not exist");
                let how = Action::remove_blocker(
                    TaskName::new(&row.project, Some(key), &row.id),
                    reference.clone(),
                );
                report.by_hand(&subject, problem, how);
            }
        }
    }
    Ok(())
}

/// What is wrong with the files of a task, in words where there is more to say.
#[derive(Default)]
struct Trouble {
    /// Lines of its journal that are no events.
    unreadable: Option<String>,
    /// Events that its journal had once.
    lost: Option<String>,
    /// Its TASK.md is sound but for a value that somebody typed, and the journal has another.
    bad_value: bool,
    /// The same, but there is no journal.
    is_unknown: bool,
    /// There is a journal of ours to rebuild the file from.
    has_journal: bool,
}
