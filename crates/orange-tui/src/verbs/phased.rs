//! What a person does with the phases of a task from the dashboard.

use super::{PhaseAtGate, VerbOutcome, moved};
use orange_engine::store::Place;
use orange_engine::tx::Committed;
use orange_engine::verbs::change::Changed;
use orange_engine::verbs::phased::rewind::RewindWish;
use orange_engine::verbs::phased::run::{Again, RunWish};
use orange_engine::verbs::phased::{
    gate, pause as pausing, rewind as rewinding, run as running, skip as skipping,
};
use orange_engine::verbs::start::StartOutcome;
use orange_engine::views::transcripts::{self, WantedTranscripts};
use orange_engine::{Call, Result, err};

/// So much of a transcript is shown, from its end.
const MOST_BYTES: usize = 256 * 1024;

fn done(done: Committed) -> VerbOutcome {
    moved(&Changed::from(done))
}

pub(super) fn approve(call: &Call, place: Place, shown: &PhaseAtGate) -> Result<VerbOutcome> {
    let wish = decision(shown, true, "");
    gate::decide(call, place, &wish).map(done)
}

pub(super) fn reject(
    call: &Call,
    place: Place,
    shown: &PhaseAtGate,
    why: &str,
) -> Result<VerbOutcome> {
    let wish = decision(shown, false, why);
    gate::decide(call, place, &wish).map(done)
}

/// A decision about what the person saw.
fn decision<'a>(
    shown: &'a PhaseAtGate,
    approved: bool,
    reason: &'a str,
) -> gate::PersonDecision<'a> {
    gate::PersonDecision {
        approved,
        reason,
        shown: Some((&shown.phase, shown.attempt)),
    }
}

pub(super) fn run(call: &Call, place: Place, again: Again) -> Result<VerbOutcome> {
    Ok(
        match running::run(call, place, again, &RunWish::default())? {
            StartOutcome::Started(changed) => moved(&changed),
            StartOutcome::Queued(task, why) => {
                VerbOutcome::said(format!("{}: queued, {why}", task.label()))
            }
        },
    )
}

pub(super) fn pause(call: &Call, place: Place) -> Result<VerbOutcome> {
    pausing::pause(call, place).map(done)
}

pub(super) fn skip(call: &Call, place: Place, phase: &str, why: &str) -> Result<VerbOutcome> {
    let committed = skipping::skip(call, place, phase, why)?;
    let label = committed.task.label();
    Ok(VerbOutcome::said(format!(
        "{label}: phase {phase} is left out"
    )))
}

pub(super) fn rewind(call: &Call, place: Place, phase: &str) -> Result<VerbOutcome> {
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
    Ok(VerbOutcome::said(format!(
        "{label}: back at phase {phase}{}{}",
        at.unwrap_or_default(),
        saved.unwrap_or_default()
    )))
}

/// The end of what was said last in a phase.
pub(super) fn transcript(call: &Call, place: Place, phase: &str) -> Result<VerbOutcome> {
    let wanted = WantedTranscripts {
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
    Ok(VerbOutcome::Text {
        title: format!("{} {}", task.label(), newest.name),
        lines,
    })
}
