//! Why a task is where it is, and what moves it on.

use super::task::TaskView;
use crate::engine::Engine;
use crate::error::Result;
use orange_core::action::Action;
use orange_core::history::HookOutcome;
use orange_core::reason::Reason;
use orange_core::reconcile::Broken;
use orange_core::task::Status;

/// Why a task is where it is, and what moves it on.
#[derive(Debug)]
pub struct Explanation {
    pub task: String,
    pub status: Status,
    pub reason: Reason,
    pub next: Option<Action>,
    /// `next` is for later.
    pub too_early: bool,
    pub needs_human: bool,
}

impl Engine {
    /// Why the task is where it is, with what keeps it from going on beside its status.
    pub fn explanation(&self, view: &TaskView) -> Result<Explanation> {
        let why = self.why(view)?;
        let label = view.task.label();
        let mut answer = Explanation {
            task: label.clone(),
            status: view.task.status,
            reason: why.reason,
            next: why.next,
            too_early: why.too_early,
            needs_human: why.needs_human || view.attention.is_some(),
        };
        if !view.history.bad_lines.is_empty() {
            answer.needs(Action::Repair);
        }
        if let Some(damage) = &view.damaged {
            // What a person wrote is theirs to correct; a repair takes it out of the file.
            let by_hand = matches!(damage, Broken::Value { .. });
            answer.reason = Reason::Damaged {
                damage: damage.to_string(),
                by_hand,
            };
            answer.needs(match by_hand {
                true => Action::EditTaskFile {
                    task: label.clone(),
                },
                false => Action::Repair,
            });
        }
        if let Some(lost) = &view.lost_workspace
            && view.damaged.is_none()
        {
            answer.reason = Reason::LostWorkspace {
                what: lost.what.clone(),
            };
            answer.needs(lost.next.clone());
            return Ok(answer);
        }
        // A crash is what the answer speaks of already.
        let said = |attention: &&String| !attention.contains(" crashed: ");
        if let Some(attention) = view.attention.as_ref().filter(said) {
            answer.reason = match is_asked_by_its_agent(&answer.reason, attention) {
                true => Reason::AgentAsks {
                    what: without_answer(attention).to_owned(),
                },
                false => Reason::Attention {
                    besides: Box::new(answer.reason),
                    what: attention.clone(),
                },
            };
        }
        // The journal has how a question is answered as the end of its text.
        let answers = format!("orange task answer {label}");
        let attention = view.attention.as_ref();
        if attention.is_some_and(|words| words.contains(&answers)) {
            answer.next = Some(Action::AnswerQuestion {
                task: label.clone(),
            });
        }
        // Nothing goes on without what failed.
        if view.damaged.is_none() && hook_failed(view) {
            // One that would fail in the same way is no advice.
            let refused = self.start_refused(&view.task).map(|refused| refused.next);
            answer.needs(refused.unwrap_or(Action::RetryHooks { task: label }));
        }
        Ok(answer)
    }
}

impl Explanation {
    /// Nothing goes on before a person does this.
    fn needs(&mut self, next: Action) {
        self.next = Some(next);
        (self.needs_human, self.too_early) = (true, false);
    }
}

fn hook_failed(view: &TaskView) -> bool {
    let last = view.history.last_transition();
    last.is_some_and(|transition| {
        let mut hooks = transition.hooks.iter();
        hooks.any(|hook| matches!(hook.outcome, HookOutcome::Failed(_)))
    })
}

/// Does what needs attention say all that the answer says already: that the agent it waits for asks something?
fn is_asked_by_its_agent(reason: &Reason, attention: &str) -> bool {
    let (Reason::AgentGone { role, .. } | Reason::AgentAtWork { role, .. }) = reason else {
        return false;
    };
    attention.contains(" (answer: ") && attention.starts_with(&format!("its {role} "))
}

/// What needs attention, without the command that answers it at its end.
pub fn without_answer(attention: &str) -> &str {
    match attention.rsplit_once(" (answer: ") {
        Some((asked, how)) if how.ends_with(')') => asked,
        _ => attention,
    }
}
