//! What agents are told besides their prompts: why a phase is tried again, and what people said. A text is kept until its phase
//! is completed, because every new conversation of the phase has to be told it again; the words of people are kept beyond that,
//! for the phases that follow and for judges.

#[cfg(test)]
mod tests;

use super::{CriterionResult, Execution, IterationKind, RetryContext};
use crate::naming::counted;
use crate::work::answer::shortened;
use crate::work::plan::Plan;
use crate::workflow::IterationOutcome;

/// Of everything that an agent is told so.
pub(super) const LONGEST_TOLD: usize = 40 * 1024;
/// What is left of [`LONGEST_TOLD`] and is not worth to be filled with the beginning of another text.
const TOO_SHORT: usize = 256;
/// Of a question that is repeated together with its answer.
const LONGEST_QUESTION: usize = 2 * 1024;

impl RetryContext {
    /// Whether a person said it.
    fn is_of_person(&self) -> bool {
        self.said.is_some() || self.from.is_none()
    }

    /// Whether the agent of this phase still has to do something about it.
    fn is_for(&self, phase: &str) -> bool {
        self.phase == phase && !self.settled
    }

    /// What somebody else than the agent of its phase is told of it.
    fn for_others(&self) -> String {
        // A line that continues an item never looks like another item.
        let said = self.said.as_deref().unwrap_or(&self.text);
        format!("- {}", said.trim().replace('\n', "\n  "))
    }
}

/// What others are told when a person asks for changes.
pub(super) fn said_changes(text: &str) -> String {
    format!("Changes were asked for: {text}")
}

/// What others are told when a person rejects a phase.
pub(super) fn said_rejected(phase: &str, reason: &str) -> String {
    format!("Phase {phase} was rejected: {reason}")
}

/// What others are told when a person answers an agent.
pub(super) fn said_answered(phase: &str, question: &str, answer: &str) -> String {
    // The agent wrote the question: none of its lines may pass for a person's.
    let question = shortened(question.trim(), LONGEST_QUESTION).replace('\n', "\n> ");
    format!("The agent of phase {phase} asked:\n> {question}\nand was answered: {answer}")
}

impl Execution {
    /// The agent of a phase is told this in its next prompt. `said`: what others are told of it, if a person said it.
    pub(super) fn tell(&mut self, phase: &str, text: String, said: Option<String>) {
        self.keep_told(RetryContext {
            phase: phase.to_owned(),
            text,
            said,
            ..RetryContext::default()
        });
    }

    /// The agent of phase `target` is told that a phase failed, and why.
    pub(super) fn tell_of_failure(
        &mut self,
        target: &str,
        phase: &str,
        why: &str,
        said: Option<String>,
    ) {
        let text = format!("Phase {phase} failed: {why}");
        let is_same = |known: &RetryContext| known.phase == target && known.text == text;
        // The same once more is told once, and stays a person's.
        let before = self.retry_context.iter().find(|known| is_same(known));
        let said = said.or_else(|| before.and_then(|known| known.said.clone()));
        self.retry_context.retain(|known| !is_same(known));
        self.keep_told(RetryContext {
            phase: target.to_owned(),
            from: Some(phase.to_owned()),
            text,
            said,
            ..RetryContext::default()
        });
    }

    /// Adds a text, and drops those of machines that are too old to be told any more.
    fn keep_told(&mut self, context: RetryContext) {
        let phase = context.phase.clone();
        self.retry_context.push(context);
        let mut length = 0_usize;
        let mut newest_first: Vec<RetryContext> = self.retry_context.drain(..).rev().collect();
        newest_first.retain(|known| {
            if known.phase != phase || known.is_of_person() {
                return true;
            }
            let fits = length < LONGEST_TOLD;
            length = length.saturating_add(known.text.len());
            fits
        });
        self.retry_context = newest_first.into_iter().rev().collect();
    }

    /// A turn begins: prompts have everything that has been said so far from this one on.
    pub(super) fn note_told(&mut self) {
        let next = self.iterations.len();
        for context in &mut self.retry_context {
            context.told_since.get_or_insert(next);
        }
    }

    /// A phase is completed: its agent has nothing more to do about what it was told.
    pub(super) fn settle_told(&mut self, phase: &str) {
        self.retry_context
            .retain(|context| context.phase != phase || context.is_of_person());
        for context in &mut self.retry_context {
            context.settled |= context.phase == phase;
        }
    }

    /// A phase is left out. What a person said of it is taken back where no agent has been told; what was told may be done.
    pub(super) fn leave_out_told(&mut self, phase: &str) {
        self.retry_context
            .retain(|context| !context.is_for(phase) || context.told_since.is_some());
        self.settle_told(phase);
    }

    /// What was said of phases that begin anew is over; with `keep_words` the words of people stay.
    pub(super) fn forget_told(&mut self, phases: &[&str], keep_words: bool) {
        self.retry_context.retain(|context| {
            !phases.contains(&context.phase.as_str()) || (keep_words && context.is_of_person())
        });
    }

    /// Under another plan nobody is told what was for a phase that is gone; what a person said, all are.
    pub(super) fn forget_told_of_gone(&mut self, plan: &Plan) {
        let is_gone = |context: &RetryContext| plan.phase(&context.phase).is_none();
        self.retry_context
            .retain(|context| !is_gone(context) || context.is_of_person());
    }

    /// Whether a person asks for something that no agent has been told yet.
    pub fn has_untold_wish(&self) -> bool {
        let is_new = |context: &RetryContext| context.told_since.is_none() && !context.settled;
        self.retry_context
            .iter()
            .any(|context| context.from.is_none() && is_new(context))
    }

    /// What the agent of a phase has to be told besides its prompt: what a retry is about, what a person said, and what of
    /// its own last turn did not pass. In a conversation that it goes on with (`resume`) only what that has not read.
    pub fn told(&self, phase: &str, resume: Option<&str>) -> Option<String> {
        let contexts = self.retry_context.iter();
        let contexts =
            contexts.filter(|context| context.is_for(phase) && !self.has_read(resume, context));
        let mut texts = within_limit(contexts, |context| context.text.clone());
        texts.extend(self.told_of_failures(phase));
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// What people said about the task besides what the agent of this phase is [`told`](Execution::told), the oldest first; the
    /// same holds for `resume`.
    pub fn asked_of_others(&self, phase: &str, resume: Option<&str>) -> String {
        let contexts = self.retry_context.iter();
        self.asked_in(
            contexts.filter(|context| !context.is_for(phase) && !self.has_read(resume, context)),
        )
    }

    /// Everything that people said about the task, the oldest first.
    pub fn asked(&self) -> String {
        self.asked_in(self.retry_context.iter())
    }

    fn asked_in<'a>(&'a self, contexts: impl Iterator<Item = &'a RetryContext>) -> String {
        let of_people = contexts.filter(|context| context.is_of_person());
        within_limit(of_people, RetryContext::for_others).join("\n")
    }

    /// Whether a conversation knows a text: one of its turns began with it and was not broken off.
    fn has_read(&self, conversation: Option<&str>, context: &RetryContext) -> bool {
        let (Some(session), Some(since)) = (conversation, context.told_since) else {
            return false;
        };
        let mut turns = self.iterations.iter().skip(since);
        turns.any(|turn| {
            turn.kind == IterationKind::Turn
                && turn.session.as_deref() == Some(session)
                // An agent that failed may not even have read it.
                && turn
                    .outcome
                    .is_some_and(|outcome| outcome.has_result() && outcome != IterationOutcome::Failed)
        })
    }

    /// What of the last turn of a phase's attempt did not pass, in words for its agent.
    pub fn told_of_failures(&self, phase: &str) -> Option<String> {
        let mut newest_first = self.turns_of_attempt(phase).rev();
        let last =
            newest_first.find(|turn| turn.outcome.is_some_and(IterationOutcome::has_result))?;
        let mut lines: Vec<String> = last.failing().map(in_words).collect();
        match last.outcome {
            Some(IterationOutcome::TimedOut) => {
                let why = last.error.as_deref().unwrap_or("it ran out of time");
                lines.insert(0, format!("The last turn was ended: {why}."));
            }
            Some(IterationOutcome::Failed) => {
                let why = last.error.as_deref().unwrap_or("it ended with an error");
                lines.insert(0, format!("The last turn failed: {why}."));
            }
            _ => {}
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// The texts that fit into [`LONGEST_TOLD`], in the order in which they were said: those of people go before others, and newer
/// ones before older ones.
fn within_limit<'a>(
    contexts: impl Iterator<Item = &'a RetryContext>,
    text: impl Fn(&RetryContext) -> String,
) -> Vec<String> {
    let contexts: Vec<&RetryContext> = contexts.collect();
    let mut by_weight: Vec<usize> = (0..contexts.len()).rev().collect();
    by_weight.sort_by_key(|place| {
        !contexts
            .get(*place)
            .is_some_and(|known| known.is_of_person())
    });
    let mut left = LONGEST_TOLD;
    let mut kept: Vec<(usize, String)> = Vec::new();
    for place in by_weight {
        let Some(context) = contexts.get(place).filter(|_| left >= TOO_SHORT) else {
            continue;
        };
        let text = shortened(&text(context), left);
        left = left.saturating_sub(text.len());
        kept.push((place, text));
    }
    kept.sort_by_key(|(place, _)| *place);
    let left_out = contexts.len() - kept.len();
    let left_out = (left_out > 0).then(|| counted(left_out, "more text"));
    let note = left_out.map(|texts| format!("({texts} left out for length.)"));
    let texts = kept.into_iter().map(|(_, text)| text);
    note.into_iter().chain(texts).collect()
}

pub(super) fn in_words(check: &CriterionResult) -> String {
    match check.detail.trim() {
        "" => format!("{} did not pass.", check.criterion),
        detail => format!("{} did not pass:\n{detail}", check.criterion),
    }
}
