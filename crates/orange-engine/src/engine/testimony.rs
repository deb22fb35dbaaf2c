//! Whose word a journal is: seals put on events when Orange journals them, and compared before anything that
//! they say counts as evidence.

use super::Engine;
use crate::database::{Database, JournalSeal};
use crate::error::Result;
use crate::git::short;
use crate::seal::SealKey;
use orange_core::evidence::{Evidence, Statement, is_sealed};
use orange_core::history::{Event, EventType, History};

/// What of a journal Orange can confirm to have written itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Testimony {
    genuine: Vec<bool>,
    /// Sealed events are missing from the journal.
    pub incomplete: bool,
    /// Why nothing can be confirmed at all.
    pub unreadable: Option<String>,
}

impl Testimony {
    /// The evidence that counts.
    pub fn evidence(&self, history: &History) -> Evidence {
        Evidence::confirmed(history, |place| self.is_genuine(place))
    }

    /// Whether Orange wrote the event at this place of the journal. False for events that are not sealed.
    pub fn is_genuine(&self, place: usize) -> bool {
        self.genuine.get(place).copied().unwrap_or(false)
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
        let events = history.events.iter().enumerate();
        let events = events.filter(|(place, event)| counts(*place, event));
        History {
            events: events.map(|(_, event)| event.clone()).collect(),
            bad_lines: Vec::new(),
        }
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
        verdict_and_check(&Evidence::of(history), &self.evidence(history))
    }
}

fn verdict_and_check(said: &Evidence, counts: &Evidence) -> Vec<String> {
    let mut claims = Vec::new();
    if let Some(verdict) = said
        .verdict
        .as_ref()
        .filter(|_| said.verdict != counts.verdict)
    {
        let word = if verdict.passed { "passed" } else { "failed" };
        claims.push(format!("review {word}{}", at(&verdict.said)));
    } else if let Some(review) = said
        .review
        .as_ref()
        .filter(|_| said.review != counts.review)
    {
        claims.push(format!("approved by {}{}", review.by, at(review)));
    }
    if let Some(told) = said
        .verify
        .as_ref()
        .filter(|_| said.verify != counts.verify)
    {
        claims.push(told.words());
    }
    claims
}

fn at(said: &Statement) -> String {
    let head = said.head.as_deref();
    head.map_or(String::new(), |head| format!(" at {}", short(head)))
}

impl Engine {
    /// Which events of a task's journal Orange wrote. Says why where that cannot be found out; changes nothing.
    pub fn testimony(&mut self, task: &str, history: &History) -> Testimony {
        if !Database::path_in(self.store.home()).exists() {
            return Testimony {
                unreadable: Some("there is no orange.db".to_owned()),
                ..Testimony::default()
            };
        }
        self.compared(task, history)
            .unwrap_or_else(|error| Testimony {
                unreadable: Some(error.message),
                ..Testimony::default()
            })
    }

    fn compared(&mut self, task: &str, history: &History) -> Result<Testimony> {
        let database = self.database()?;
        let found = database.seal_key()?.compare(task, &history.events);
        let noted = database.journal_seal(task)?;
        Ok(Testimony {
            incomplete: noted.is_some_and(|noted| noted.incomplete || !found.has(&noted.seal)),
            genuine: found.genuine,
            unreadable: None,
        })
    }

    /// Seals events that are about to be journalled. One that cannot be sealed is journalled all the same: work goes
    /// on, and what it says has to be confirmed by a person.
    pub(crate) fn seal(&mut self, task: &str, history: &History, events: &mut [Event]) {
        if !events.iter().any(is_sealed) {
            return;
        }
        let key = match self.database().and_then(Database::seal_key) {
            Ok(key) => key,
            Err(error) => {
                self.notice(format!(
                    "what happens now cannot be confirmed later, and a merge will ask about it: {error}"
                ));
                return;
            }
        };
        put_seals(&key, task, history, events);
    }

    /// Remembers the last seal of what was journalled, so that it is missed if it goes. A process that dies before
    /// leaves an earlier seal, which is in the journal too.
    pub(crate) fn remember_seals(&mut self, task: &str, history: &History, events: &[Event]) {
        let matters = |event: &&Event| {
            matches!(
                event.kind,
                EventType::StatusChanged | EventType::VerifyStarted | EventType::TaskVerified
            )
        };
        let last = events.iter().rev().find(matters);
        let Some(seal) = last.and_then(|event| event.seal.clone()) else {
            return;
        };
        let remember = || -> Result<()> {
            let database = self.database()?;
            let before = database.seal_key()?.compare(task, &history.events);
            let noted = database.journal_seal(task)?;
            let incomplete = noted.is_some_and(|noted| !before.has(&noted.seal));
            database.note_journal_seal(task, &JournalSeal { seal, incomplete })
        };
        if let Err(error) = remember() {
            tracing::warn!(%error, task, "the last seal of a journal is not remembered");
        }
    }
}

fn put_seals(key: &SealKey, task: &str, history: &History, events: &mut [Event]) {
    let mut before = key.compare(task, &history.events).last;
    for event in events.iter_mut().filter(|event| is_sealed(event)) {
        event.seal = None;
        let seal = key.of_event(task, &before, event);
        before.clone_from(&seal);
        event.seal = Some(seal);
    }
}
