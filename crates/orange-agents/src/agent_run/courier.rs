//! Types messages into the agent's window, one after the other, and finds out whether the agent took them: by
//! its own signals, or where it gives none by the screen.

use crate::error::Result;
use crate::harness::watch::MessageQueue;
use crate::harness::words::without_invisible;
use crate::runs::{
    Delivery, Message, RunFolder, RunSpec, Signal, SignalKind, State, open_asks, state_after,
};
use crate::tmux::{Pane, Tmux};
use orange_core::Timestamp;
use std::time::{Duration, Instant};

/// Between pasting and Enter: without a gap some agents lose the Enter.
const GAP: Duration = Duration::from_millis(200);
/// How long an idle agent may take to answer an Enter.
const ANSWER: Duration = Duration::from_secs(2);
/// The same for one that puts a person's own words back into its line once ours are taken: an Enter too many sends those.
const ANSWER_OF_A_QUEUE: Duration = Duration::from_secs(10);
/// How often Enter is pressed before a message counts as not delivered.
const MOST_ENTERS: u32 = 3;
/// An agent that gives no signals is left alone for so long after its start.
const SETTLING: Duration = Duration::from_secs(3);
/// How long an idle agent that fetches its messages itself may take to do so.
const FETCHING: Duration = Duration::from_secs(20);
/// How long a dialog may stay that was answered from elsewhere.
const CLOSING: Duration = Duration::from_secs(1);
/// How long an interrupted turn may take to end before the message is typed anyway.
const INTERRUPTION: Duration = Duration::from_secs(1);

/// How it is known that a message has arrived.
const CONFIRMED: &str = "confirmed by the agent";

pub(super) struct Courier {
    folder: RunFolder,
    spec: RunSpec,
    began: Instant,
    underway: Option<Underway>,
    /// Messages that count as not delivered. They may stand in the agent's line, and be sent with the next one.
    given_up: Vec<Underway>,
    signals: Vec<Signal>,
    /// Length of the signals' file when it was read.
    read: u64,
    /// Turns that ended and were told of.
    told: usize,
}

/// A message on its way.
struct Underway {
    message: Message,
    stage: DeliveryStage,
    since: Instant,
    /// How many signals there were before it was typed.
    before: usize,
    enters: u32,
    /// Its turn was interrupted: no agent reports the end of such a turn.
    interrupted: bool,
    /// The screen after pasting, where that is all there is to go by.
    screen: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DeliveryStage {
    Interrupting,
    Pasted,
    Entered,
    /// It was taken. Whether it waits in the agent is waited for, and if so the turn is ended, if that is wished.
    Queued,
}

impl Courier {
    pub(super) fn new(folder: RunFolder, spec: RunSpec) -> Courier {
        Courier {
            folder,
            spec,
            began: Instant::now(),
            underway: None,
            given_up: Vec::new(),
            signals: Vec::new(),
            read: 0,
            told: 0,
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.underway.is_some()
    }

    /// Goes one step further; `queue` is what waits in the agent. True when there is news that somebody should look at.
    pub(super) fn step(
        &mut self,
        now: Instant,
        queue: &MessageQueue,
        pane: impl Fn() -> Option<(Tmux, Pane)>,
    ) -> bool {
        self.read_signals();
        let mut news = self.turns_ended();
        if self.underway.is_none() && self.is_ready(now) {
            self.underway = self.next(now, queue);
        }
        if let Some(mut underway) = self.underway.take() {
            let moved = match pane() {
                Some((tmux, pane)) => self.advance(&mut underway, now, queue, &tmux, &pane),
                None => Ok(Some(failed("its window is not known"))),
            };
            match moved.unwrap_or_else(|error| Some(failed(&error.message))) {
                None => self.underway = Some(underway),
                Some(outcome) => {
                    news = true;
                    self.note(&underway, &outcome);
                    if !outcome.delivered && underway.stage == DeliveryStage::Entered {
                        self.given_up.push(underway);
                    }
                }
            }
        }
        self.taken_late() || news
    }

    /// What stood in the agent's line was sent anyway, by a person or with the next message.
    fn taken_late(&mut self) -> bool {
        let given_up = std::mem::take(&mut self.given_up);
        let (taken, still): (Vec<_>, Vec<_>) =
            given_up.into_iter().partition(|lost| self.was_taken(lost));
        self.given_up = still;
        for late in &taken {
            self.note(late, &delivered("taken late"));
        }
        !taken.is_empty()
    }

    fn note(&self, underway: &Underway, outcome: &Delivery) {
        let id = &underway.message.id;
        if let Err(error) = self.folder.note_outcome(id, outcome) {
            tracing::warn!(%error, "what became of a message is not noted");
        }
    }

    /// Where the agent keeps the conversation.
    pub(super) fn transcript(&self) -> Option<&str> {
        let mut newest_first = self.signals.iter().rev();
        newest_first.find_map(|signal| signal.transcript.as_deref())
    }

    /// Has the agent taken its first prompt, or done anything else but start?
    pub(super) fn has_begun(&self) -> bool {
        let begun = |signal: &Signal| signal.signal != SignalKind::SessionStarted;
        self.signals.iter().any(begun)
    }

    pub(super) fn read_signals(&mut self) {
        let length = std::fs::metadata(self.folder.path().join("signals.jsonl"))
            .map_or(0, |found| found.len());
        if length != self.read {
            self.read = length;
            self.signals = self.folder.signals();
        }
    }

    /// A turn that ended while nothing is on its way may need somebody.
    fn turns_ended(&mut self) -> bool {
        let before = std::iter::once(None).chain(self.signals.iter().map(Some));
        let is_news = |(before, signal): &(Option<&Signal>, &Signal)| match signal.signal {
            SignalKind::SessionStarted => false,
            // It goes on although the turn before had failed, or somebody was asked.
            SignalKind::PromptTaken => before.is_some_and(|before| {
                !matches!(
                    before.signal,
                    SignalKind::SessionStarted
                        | SignalKind::PromptTaken
                        | SignalKind::Working
                        | SignalKind::TurnDone
                )
            }),
            SignalKind::Working
            | SignalKind::TurnDone
            | SignalKind::TurnFailed
            | SignalKind::Interrupted
            | SignalKind::PermissionAsked
            | SignalKind::InputAsked => true,
        };
        let count = before.zip(&self.signals).filter(is_news).count();
        // What it asks cannot wait for a message that it takes only afterwards.
        let news = count > self.told && (self.underway.is_none() || self.asks());
        if news {
            self.told = count;
        }
        news
    }

    /// Would the agent see what is typed as a message?
    fn is_ready(&self, now: Instant) -> bool {
        if !self.spec.adapter.gives_signals() {
            return now.duration_since(self.began) > SETTLING;
        }
        let taken = |signal: &Signal| signal.signal == SignalKind::PromptTaken;
        // Before its first prompt it is still starting; a question it asks would take the message for the answer.
        self.signals.iter().any(taken) && !self.asks()
    }

    /// Does it ask something, or did it until just now? A dialog stays on the screen for a moment after it was answered
    /// from elsewhere, and would take an Enter for a yes.
    fn asks(&self) -> bool {
        let closing = self
            .signals
            .iter()
            .rfind(|signal| signal.signal == SignalKind::Working && signal.question.is_some());
        let just_now = closing.is_some_and(|signal| {
            let since = Timestamp::now().duration_since(signal.at);
            since.unsigned_abs() < CLOSING
        });
        just_now || !open_asks(&self.signals).is_empty()
    }

    /// The same, with what it has said since this step began.
    fn asks_by_now(&self) -> bool {
        self.asks() || !open_asks(&self.folder.signals()).is_empty()
    }

    fn next(&self, now: Instant, queue: &MessageQueue) -> Option<Underway> {
        let message = self.folder.waiting().into_iter().next()?;
        // One after the other: what comes just after the end of a turn would overtake what waits for it.
        if !queue.is_empty() && !message.interrupt && !self.is_idle_for_long() {
            return None;
        }
        Some(Underway {
            stage: DeliveryStage::Interrupting,
            since: now,
            before: self.signals.len(),
            enters: 0,
            interrupted: false,
            screen: String::new(),
            message,
        })
    }

    /// Goes one step further with a message; gives what became of it, once that is known.
    fn advance(
        &self,
        underway: &mut Underway,
        now: Instant,
        queue: &MessageQueue,
        tmux: &Tmux,
        pane: &Pane,
    ) -> Result<Option<Delivery>> {
        let adapter = self.spec.adapter;
        let waited = now.duration_since(underway.since);
        match underway.stage {
            DeliveryStage::Interrupting => {
                if self.asks() {
                    return Ok(None);
                }
                let interrupts = !adapter.fetches_messages() && !adapter.queues_messages();
                if interrupts && underway.message.interrupt && !self.is_idle() {
                    if !underway.interrupted {
                        tmux.press(pane, self.interrupt_key())?;
                        underway.interrupted = true;
                    }
                    if waited < INTERRUPTION {
                        return Ok(None);
                    }
                }
                underway.before = self.signals.len();
                underway.since = now;
                if adapter.fetches_messages() {
                    underway.stage = DeliveryStage::Entered;
                    return Ok(None);
                }
                let words = adapter.as_words(&underway.message.text);
                if adapter.queues_messages() {
                    let stash = adapter.stash_keys(&tmux.capture(pane, None)?);
                    tmux.submit(pane, stash, &words, &["Enter"])?;
                    underway.enters += 1;
                    underway.stage = DeliveryStage::Entered;
                } else {
                    tmux.paste(pane, &words)?;
                    underway.stage = DeliveryStage::Pasted;
                }
            }
            // A question that came up meanwhile must not be answered by it.
            DeliveryStage::Pasted if waited >= GAP && !self.asks_by_now() => {
                if !self.spec.adapter.gives_signals() {
                    underway.screen = tmux.look(pane)?;
                }
                tmux.press(pane, "Enter")?;
                underway.enters += 1;
                underway.stage = DeliveryStage::Entered;
                underway.since = now;
            }
            DeliveryStage::Pasted => {}
            DeliveryStage::Entered => return self.confirm(underway, now, tmux, pane),
            DeliveryStage::Queued => {
                let wanted = squeezed(&underway.message.text);
                let is_it = |text: &str| squeezed(text).contains(&wanted);
                if !queue.knows(is_it) && waited < ANSWER {
                    return Ok(None);
                }
                // Only while it waits: pressed later, it would end the turn that the message began.
                if underway.message.interrupt && queue.waits(is_it) && !self.has_ended(underway) {
                    tmux.press(pane, self.interrupt_key())?;
                }
                return Ok(Some(delivered(CONFIRMED)));
            }
        }
        Ok(None)
    }

    fn interrupt_key(&self) -> &str {
        self.spec.interrupt.as_deref().unwrap_or("Escape")
    }

    /// Is the turn over in which it was typed?
    fn has_ended(&self, underway: &Underway) -> bool {
        let mut since = self.signals.iter().skip(underway.before);
        since.any(|signal| {
            matches!(
                signal.signal,
                SignalKind::TurnDone | SignalKind::TurnFailed | SignalKind::Interrupted
            )
        })
    }

    fn confirm(
        &self,
        underway: &mut Underway,
        now: Instant,
        tmux: &Tmux,
        pane: &Pane,
    ) -> Result<Option<Delivery>> {
        let adapter = self.spec.adapter;
        if self.was_taken(underway) {
            if adapter.queues_messages() {
                underway.stage = DeliveryStage::Queued;
                underway.since = now;
                return Ok(None);
            }
            return Ok(Some(delivered(CONFIRMED)));
        }
        let busy = self.spec.adapter.gives_signals() && !self.is_idle();
        let patient = !underway.interrupted || underway.enters >= MOST_ENTERS || self.asks();
        if busy && patient {
            // It queues what comes in the middle of a turn, and takes it afterwards.
            underway.since = now;
            return Ok(None);
        }
        let answer = if adapter.queues_messages() {
            ANSWER_OF_A_QUEUE
        } else {
            ANSWER
        };
        if now.duration_since(underway.since) < answer {
            return Ok(None);
        }
        if self.spec.adapter.fetches_messages() {
            return Ok(if now.duration_since(underway.since) < FETCHING {
                None
            } else {
                Some(failed("the agent did not fetch it"))
            });
        }
        if !self.spec.adapter.gives_signals() && tmux.look(pane)? != underway.screen {
            let how = "typed; the screen changed, this harness gives no signals";
            return Ok(Some(delivered(how)));
        }
        if underway.enters >= MOST_ENTERS {
            return Ok(Some(failed("the agent did not take it")));
        }
        if self.asks_by_now() {
            return Ok(None);
        }
        tmux.press(pane, "Enter")?;
        underway.enters += 1;
        underway.since = now;
        Ok(None)
    }

    /// A person may have typed something before or after it: it counts when it is part of what was taken.
    fn was_taken(&self, underway: &Underway) -> bool {
        let wanted = squeezed(&underway.message.text);
        let adapter = self.spec.adapter;
        // An agent that fetches its messages may have done so before anybody looked; their ids are their own.
        let is_it = |(at, signal): (usize, &Signal)| match &signal.message {
            Some(message) => *message == underway.message.id,
            None if at < underway.before || adapter.fetches_messages() => false,
            None => squeezed(&signal.text).contains(&wanted),
        };
        let mut taken = self
            .signals
            .iter()
            .enumerate()
            .filter(|(_, signal)| signal.signal == SignalKind::PromptTaken);
        taken.any(is_it)
    }

    fn is_idle_for_long(&self) -> bool {
        let since = self.signals.last().map(|last| last.at);
        let long = |since: Timestamp| since + ANSWER < Timestamp::now();
        self.is_idle() && since.is_some_and(long)
    }

    fn is_idle(&self) -> bool {
        let last = self.signals.last().map(|signal| state_after(signal.signal));
        matches!(
            last,
            Some(State::Idle | State::Failed | State::WaitsForInput)
        )
    }
}

fn delivered(how: &str) -> Delivery {
    Delivery {
        delivered: true,
        detail: how.to_owned(),
    }
}

fn failed(why: &str) -> Delivery {
    Delivery {
        delivered: false,
        detail: why.to_owned(),
    }
}

/// Terminals and agents change white space and what nobody sees; letters they leave alone.
fn squeezed(text: &str) -> String {
    let mut text = without_invisible(text);
    text.retain(|letter| !letter.is_whitespace());
    text
}
