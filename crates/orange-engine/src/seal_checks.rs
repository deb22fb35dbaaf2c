//! Whose word a journal is: seals put on events when Orange journals them, and compared before anything that
//! they say counts as evidence.

use crate::call::Call;
use crate::database::{Database, JournalSeal, Mark};
use crate::error::Result;
use crate::git::short;
use crate::runs::Ended;
use crate::seal::{self, SealedJournal};
use orange_core::evidence::{Evidence, Statement};
use orange_core::history::{Event, EventType, History};
use orange_core::naming::counted;
use orange_core::runs::Run;
use orange_core::task::Field;
use std::collections::BTreeSet;

/// What of a journal Orange can confirm to have written itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SealCheck {
    pub(crate) seals: SealedJournal,
    /// Sealed events are missing from the journal.
    pub incomplete: bool,
    /// Why nothing can be confirmed at all.
    pub unreadable: Option<String>,
}

impl SealCheck {
    /// The evidence that counts.
    pub fn evidence(&self, history: &History) -> Evidence {
        Evidence::confirmed(history, |place| self.is_genuine(place))
    }

    /// Whether Orange wrote the event at this place of the journal. False for events that are not sealed.
    pub fn is_genuine(&self, place: usize) -> bool {
        self.seals.genuine.get(place) == Some(&true)
    }

    /// The journal without what somebody else put in after Orange had begun to seal it.
    pub(crate) fn trusted(&self, history: &History) -> History {
        filtered(history, |place, _| !self.is_foreign(place))
    }

    pub(crate) fn is_foreign(&self, place: usize) -> bool {
        self.seals.foreign.get(place) == Some(&true)
    }

    /// What somebody else did to the journal, if anything.
    pub(crate) fn tampering(&self) -> Option<String> {
        let foreign = self.seals.foreign.iter();
        let count = foreign.filter(|foreign| **foreign).count();
        match (count, self.incomplete) {
            (0, false) => None,
            (0, true) => Some("history.jsonl lacks lines that Orange wrote".to_owned()),
            (count, _) => Some(format!(
                "history.jsonl has {} that Orange did not write",
                counted(count, "line")
            )),
        }
    }

    /// The fields that events of somebody else change.
    pub(crate) fn foreign_fields(&self, history: &History) -> Vec<String> {
        let events = history.events.iter().enumerate();
        let foreign = events.filter(|(place, _)| self.is_foreign(*place));
        let names = foreign.flat_map(|(_, event)| event.fields.keys().cloned());
        Vec::from_iter(BTreeSet::from_iter(names))
    }

    /// The journal without wishes and results that Orange did not write.
    pub(crate) fn without_forged(&self, history: &History) -> History {
        let counts = |place: usize, event: &Event| {
            let said = matches!(
                event.kind,
                EventType::StatusDeferred | EventType::VerifyStarted | EventType::TaskVerified
            );
            !said || self.is_genuine(place)
        };
        filtered(history, counts)
    }

    /// What the journal says of reviews and checks without Orange having written it, each in a few words.
    pub fn unconfirmed(&self, history: &History) -> Vec<String> {
        let (said, counts) = (Evidence::of(history), self.evidence(history));
        let mut claims = Vec::new();
        if said.handoff != counts.handoff
            && let Some(handoff) = &said.handoff
        {
            claims.push(format!("handed off{}", at(handoff)));
        }
        claims.extend(verdict_and_check(&said, &counts));
        claims
    }

    /// The same of what lets a task be merged; empty if Orange can confirm it.
    pub(crate) fn doubts(&self, history: &History) -> Vec<String> {
        let mut claims = verdict_and_check(&Evidence::of(history), &self.evidence(history));
        let fields = self.foreign_fields(history);
        if !fields.is_empty() {
            claims.push(format!("new values of {}", fields.join(", ")));
        }
        claims
    }
}

fn filtered(history: &History, counts: impl Fn(usize, &Event) -> bool) -> History {
    let events = history.events.iter().enumerate();
    let events = events.filter(|(place, event)| counts(*place, event));
    History {
        events: events.map(|(_, event)| event.clone()).collect(),
        bad_lines: history.bad_lines.clone(),
    }
}

fn verdict_and_check(said: &Evidence, counts: &Evidence) -> Vec<String> {
    let mut claims = Vec::new();
    if let Some(verdict) = &said.verdict
        && said.verdict != counts.verdict
    {
        let word = if verdict.passed { "passed" } else { "failed" };
        claims.push(format!("review {word}{}", at(&verdict.said)));
    } else if let Some(review) = &said.review
        && said.review != counts.review
    {
        claims.push(format!("approved by {}{}", review.by, at(review)));
    }
    if let Some(told) = &said.verify
        && said.verify != counts.verify
    {
        claims.push(told.words());
    }
    claims
}

fn at(said: &Statement) -> String {
    let head = said.head.as_deref();
    head.map_or(String::new(), |head| format!(" at {}", short(head)))
}

/// Which events of a task's journal Orange wrote. Says why where that cannot be found out; changes nothing.
pub fn check_seals(call: &Call, task: &str, history: &History) -> SealCheck {
    let kept = call.with_existing_database(|database| {
        Ok((database.seal_key()?, database.journal_seal(task)?))
    });
    let (key, noted) = match kept {
        Ok(Some(kept)) => kept,
        Ok(None) => return unreadable("there is no orange.db".to_owned()),
        Err(error) => {
            tracing::warn!(%error, task, "seals are not compared");
            return unreadable(error.message);
        }
    };
    let seals = key.compare(task, &history.events);
    SealCheck {
        incomplete: seals.has_gap
            || noted.is_some_and(|noted| noted.incomplete || !seals.has(&noted.seal)),
        seals,
        unreadable: None,
    }
}

fn unreadable(why: String) -> SealCheck {
    SealCheck {
        unreadable: Some(why),
        ..SealCheck::default()
    }
}

/// Takes events out of a journal that was read which somebody else wrote: they never happened. What is returned speaks
/// of the journal as it is written.
pub(crate) fn drop_unsealed(call: &Call, history: &mut History) -> SealCheck {
    let id = history.events.iter().find_map(|event| {
        let id = event.fields.get(Field::Id.name())?.as_str()?;
        Some(id.to_owned())
    });
    let sealed = check_seals(call, &id.unwrap_or_default(), history);
    let mut place = 0..;
    let is_ours = |_: &Event| place.next().is_some_and(|place| !sealed.is_foreign(place));
    history.events.retain(is_ours);
    sealed
}

/// Whether `run-agent` wrote how the run ended. A run that an earlier version started has no seal at its end.
pub(crate) fn is_sealed_end(call: &Call, run: &Run, ended: Option<&Ended>) -> bool {
    let Some(ended) = ended else {
        return false;
    };
    if !run.seals_end {
        return true;
    }
    let key = call.with_database(Database::seal_key);
    let right = key.map(|key| key.of_file(seal::END, &run.id, &ended.unsealed()));
    right.is_ok_and(|right| ended.seal.as_deref() == Some(right.as_str()))
}

/// Seals events that are about to be journalled. What cannot be sealed is not journalled: later it would be taken for
/// somebody else's.
pub(crate) fn seal(
    call: &Call,
    task: &str,
    seals: &mut SealedJournal,
    events: &mut [Event],
) -> Result<()> {
    let key = call.with_database(Database::seal_key)?;
    key.put(task, seals, events);
    Ok(())
}

/// The last seal of these events that is remembered: that of a move or of a check.
pub(crate) fn remembered(events: &[Event]) -> Option<String> {
    let matters = |event: &&Event| {
        let is_check = matches!(
            event.kind,
            EventType::VerifyStarted | EventType::TaskVerified
        );
        is_check || event.is_move()
    };
    events.iter().rev().find(matters)?.seal.clone()
}

/// Notes in orange.db what was journalled just now: rows that are told of, and the last seal, so that it is missed if it goes. A
/// process that dies before leaves marks and an earlier seal, both of which the journal explains.
pub(crate) fn note_journalled(
    call: &Call,
    task: &str,
    seals: &SealedJournal,
    events: &[Event],
    marks: &[Mark],
) {
    let seal = remembered(events);
    if seal.is_none() && marks.is_empty() {
        return;
    }
    let noted = call.with_database(|database| {
        let last = match seal {
            Some(seal) => {
                let noted = database.journal_seal(task)?;
                let incomplete = noted.is_some_and(|noted| !seals.has(&noted.seal));
                Some(JournalSeal { seal, incomplete })
            }
            None => None,
        };
        database.note_journalled(task, marks, last.as_ref())
    });
    if let Err(error) = noted {
        // It has happened: whoever locks the task next finds these rows in its journal.
        tracing::warn!(%error, task, "orange.db does not know what was journalled");
    }
}
