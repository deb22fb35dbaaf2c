//! Tasks: files that are damaged, folders that claim the same task, dependencies that lead nowhere or in a circle.

use crate::call::Call;
use crate::error::Result;
use crate::index::list::Filter;
use crate::maintenance::doctor::task_of;
use crate::store::{Place, lock};
use crate::tx::racing::kept_texts;
use crate::views::doctor::Report;
use crate::views::list;
use crate::{field_checks, tx};
use orange_core::Action;
use orange_core::attention::unreadable;
use orange_core::history::{Event, EventType};
use orange_core::id::read_stored;
use orange_core::naming::counted;
use orange_core::reconcile::Broken;
use orange_core::task::Task;

pub(crate) fn check_tasks(call: &Call, report: &mut Report, repair: bool) -> Result<()> {
    let all = Filter {
        all: true,
        ..Filter::default()
    };
    // Every folder is read: the index looks only at TASK.md, and a journal may be damaged too.
    call.fresh_index()?.reread()?;
    let tasks = list::listed(call, &all)?;
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
            handle_damage(call, report, &subject, reason, &place, &trouble, repair);
        } else if trouble.lost.is_some() || trouble.unreadable.is_some() {
            sick += 1;
        }
        for name in kept_texts(&place.path) {
            let path = place.path.join(name);
            let text = "two writers changed TASK.md at once, and one text could not be merged";
            report.add(&subject, text).by_hand(format!(
                "take over what is missing from {}, then delete that file",
                path.display()
            ));
        }
        if let Some(lost) = trouble.lost {
            let finding = report.add(&subject, lost);
            finding.repair("takes TASK.md as it is, and lets history.jsonl go on from there");
            if repair {
                let outcome = tx::lock_for_repair(call, place.clone());
                finding.done(outcome.map(|_| "it goes on from TASK.md as it is".to_owned()));
            }
        }
        if let Some(unreadable) = trouble.unreadable {
            let finding = report.add(&subject, unreadable);
            finding.repair("takes it out of history.jsonl and keeps it in a file beside it; the task works without it already");
            if repair {
                let outcome = tx::lock_for_repair(call, place).and_then(|mut tx| {
                    let name = tx.take_out_bad_lines()?;
                    tx.commit(Vec::new()).map(drop)?;
                    Ok(name.map_or_else(
                        || "it is in order".to_owned(),
                        |name| format!("set aside as {name}"),
                    ))
                });
                finding.done(outcome);
            }
        }
    }
    for (what, folders) in call.index()?.doubles()? {
        report
            .add(what, format!("is claimed by {}", folders.join(" and ")))
            .by_hand("move one of the folders out of tasks/");
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

/// A TASK.md that cannot be used. What a person wrote into it is theirs to correct first.
fn handle_damage(
    call: &Call,
    report: &mut Report,
    subject: &str,
    reason: &str,
    place: &Place,
    trouble: &Trouble,
    repair: bool,
) {
    let file = place.task_file();
    if trouble.is_unknown {
        report.add(subject, reason).by_hand(format!(
            "correct it in {}: there is no journal that has its last good value",
            file.display()
        ));
        return;
    }
    let is_there = file.symlink_metadata().is_ok();
    let problem = if trouble.bad_value && !repair {
        format!("{reason}; correct it in {}", file.display())
    } else {
        reason.to_owned()
    };
    let finding = report.add(subject, problem);
    finding.repair(match (trouble.bad_value, is_there) {
            _ if !trouble.has_journal => "keeps the damaged file beside it and rebuilds TASK.md from the lines that can be read, if they say enough",
            (true, _) => "puts back the last good value and keeps your file beside it",
            (false, true) => "keeps the damaged file beside it and rebuilds TASK.md from history.jsonl; the body is kept as far as it can be read",
            (false, false) => "writes TASK.md again from history.jsonl, without the body, which went with it",
        });
    if repair {
        let outcome = tx::lock_for_repair(call, place.clone()).map(|tx| {
            let done = match (trouble.bad_value, is_there) {
                (true, _) => "the last good value is put back",
                (false, true) => "rebuilt",
                (false, false) => "written again; its body is lost",
            };
            format!("{done}; {} is {}", tx.task.label(), tx.task.status)
        });
        finding.done(outcome);
    }
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
pub(crate) fn check_links(call: &Call, report: &mut Report) -> Result<()> {
    let all = Filter {
        with_fields: true,
        ..Filter::default()
    };
    let mut cycles_seen: Vec<Vec<String>> = Vec::new();
    for row in list::listed(call, &all)? {
        let task: Task = task_of(&row.fields);
        let Some(key) = row.key else { continue };
        for reference in &task.blocked_by {
            let known = match read_stored(&row.project, reference) {
                Some((project, blocker)) => {
                    if let Some(mut cycle) =
                        field_checks::cycle_through(call, &row.project, key, &project, blocker)?
                    {
                        cycle.pop();
                        cycle.sort();
                        if !cycles_seen.contains(&cycle) {
                            report
                                .add(
                                    format!("{}:{key}", row.project),
                                    format!("waits for itself: {}", cycle.join(", ")),
                                )
                                .by_hand(Action::remove_blocker(None, None));
                            cycles_seen.push(cycle);
                        }
                    }
                    call.index()?.by_key(&project, blocker)?.is_some()
                }
                None => false,
            };
            if !known {
                report
                    .add(
                        format!("{}:{key}", row.project),
                        format!("waits for {reference}, which does not exist"),
                    )
                    .by_hand(Action::remove_blocker(key.to_string(), reference.clone()));
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
