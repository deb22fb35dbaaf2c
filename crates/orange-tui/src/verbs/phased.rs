//! What a person does with the phases of a task from the dashboard.

use super::{Gate, Outcome, moved};
use orange_core::task::Task;
use orange_core::workflow::Workflow;
use orange_engine::store::Place;
use orange_engine::tx::Committed;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::rewind::RewindWish;
use orange_engine::verbs::phased::run::{Again, RunWish};
use orange_engine::verbs::phased::{
    gate, pause as pausing, rewind as rewinding, run as running, skip as skipping,
};
use orange_engine::verbs::start::StartOutcome;
use orange_engine::views::transcripts::{self, Wanted};
use orange_engine::views::{phased, task};
use orange_engine::{Call, Result, err};

/// So much of a transcript is shown, from its end.
const MOST_BYTES: usize = 256 * 1024;

/// Whether a task has phases by its workflow.
pub(super) fn is_phased(task: &Task) -> bool {
    Workflow::named(task.workflow).has_plans
}

fn done(done: Committed) -> Outcome {
    moved(&Changed::from(done))
}

pub(super) fn approve(call: &Call, place: Place, shown: &Gate) -> Result<Outcome> {
    is_as_shown(call, &place, shown)?;
    gate::approve(call, place, "").map(done)
}

pub(super) fn reject(call: &Call, place: Place, shown: &Gate, why: &str) -> Result<Outcome> {
    is_as_shown(call, &place, shown)?;
    gate::reject(call, place, why).map(done)
}

/// Refuses a decision about something else than what the person saw.
fn is_as_shown(call: &Call, place: &Place, shown: &Gate) -> Result<()> {
    let task = task::view(call, place.clone())?.task;
    let execution = phased::phased(call, &task)?;
    let now = execution.as_ref().and_then(|execution| {
        let phase = execution.current_phase().filter(|_| execution.is_at_gate)?;
        Some((phase.name.as_str(), phase.attempt))
    });
    if now == Some((&shown.phase, shown.attempt)) {
        return Ok(());
    }
    let label = task.label();
    Err(err!(
        Conflict,
        "{label} does not wait for a decision about {} any more; nothing was changed",
        shown.phase
    ))
}

pub(super) fn run(call: &Call, place: Place, again: Again) -> Result<Outcome> {
    Ok(
        match running::run(call, place, again, &RunWish::default())? {
            StartOutcome::Started(changed) => moved(&changed),
            StartOutcome::Queued(task, why) => {
                Outcome::said(format!("{}: queued, {why}", task.label()))
            }
        },
    )
}

pub(super) fn pause(call: &Call, place: Place) -> Result<Outcome> {
    pausing::pause(call, place).map(done)
}

pub(super) fn skip(call: &Call, place: Place, phase: &str, why: &str) -> Result<Outcome> {
    let committed = skipping::skip(call, place, phase, why)?;
    let label = committed.task.label();
    Ok(Outcome::said(format!("{label}: phase {phase} is left out")))
}

pub(super) fn rewind(call: &Call, place: Place, phase: &str) -> Result<Outcome> {
    let wish = RewindWish {
        phase: phase.to_owned(),
        before: false,
    };
    let rewound = rewinding::rewind(call, place, &wish)?;
    let label = rewound.done.task.label();
    let commit = rewound.commit.as_deref();
    let at = commit.map(|commit| format!(" at {}", commit.get(..7).unwrap_or(commit)));
    let saved = rewound
        .rescue
        .map(|name| format!("; rescue {name} has what came after"));
    Ok(Outcome::said(format!(
        "{label}: back at phase {phase}{}{}",
        at.unwrap_or_default(),
        saved.unwrap_or_default()
    )))
}

/// The end of what was said last in a phase.
pub(super) fn transcript(call: &Call, place: Place, phase: &str) -> Result<Outcome> {
    let wanted = Wanted {
        phase: Some(phase.to_owned()),
        iteration: None,
    };
    let (task, found) = transcripts::transcripts(call, place, &wanted)?;
    let Some(newest) = found.last() else {
        return Err(err!(
            NotFound,
            "nothing was said in {phase} of {} yet",
            task.label()
        ));
    };
    let mut end: Vec<u8> = Vec::new();
    let mut is_cut = false;
    transcripts::read(newest, &mut |piece| {
        end.extend_from_slice(piece);
        if end.len() > 2 * MOST_BYTES {
            end.drain(..end.len() - MOST_BYTES);
            is_cut = true;
        }
        true
    })?;
    let text = String::from_utf8_lossy(&end);
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| line.replace('\t', "    "))
        .collect();
    if is_cut {
        let path = newest.path.display();
        lines.insert(0, format!("… the beginning is in {path}"));
    }
    Ok(Outcome::Text {
        title: format!("{} {}", task.label(), newest.name),
        lines,
    })
}
