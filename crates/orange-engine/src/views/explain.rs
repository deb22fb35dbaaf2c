//! Why a task is where it is, and what moves it on.

use crate::call::Call;
use crate::error::Result;
use crate::views::task::TaskView;
use crate::views::why;
use crate::workspaces::project_consent;
use orange_core::Action;
use orange_core::attention::{self, raised};
use orange_core::history::{Event, EventType, HookOutcome};
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

/// Why the task is where it is, with what keeps it from going on beside its status.
pub fn explanation(call: &Call, view: &TaskView) -> Result<Explanation> {
    let why = why::why_of(call, view)?;
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
        answer.needs(Action::repair());
    }
    if let Some(damage) = &view.damaged {
        // What a person wrote is theirs to correct; a repair takes it out of the file.
        let by_hand = matches!(damage, Broken::Value { .. });
        answer.reason = Reason::Damaged {
            damage: damage.to_string(),
            by_hand,
        };
        answer.needs(if by_hand {
            Action::edit_task_file(&label)
        } else {
            Action::repair()
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
    let raised = raised(&view.history).filter(|_| !hook_failed(view));
    // A crash is what the answer speaks of already.
    let crashed = raised.is_some_and(|event| event.kind == EventType::AgentCrashed);
    let answers = view.answer();
    if let Some(attention) = view.attention.as_ref().filter(|_| !crashed) {
        let is_its_agents = raised.is_some_and(|event| is_of_its_agent(&answer.reason, event));
        answer.reason = if answers.is_some() && is_its_agents {
            Reason::AgentAsks {
                what: attention.clone(),
            }
        } else {
            Reason::Attention {
                besides: Box::new(answer.reason),
                what: attention.clone(),
            }
        };
    }
    if let Some(Action::AnswerQuestion { .. }) = answers {
        answer.next = answers;
    }
    // Nothing goes on without what failed.
    if view.damaged.is_none() && hook_failed(view) {
        // One that would fail in the same way is no advice.
        let refused = project_consent::start_refused(call, &view.task).map(|refused| refused.next);
        answer.needs(refused.unwrap_or(Action::retry_hooks(label)));
    }
    Ok(answer)
}

impl TaskView {
    /// What answers the question that an agent asks. One without a name can only be answered in its window.
    pub fn answer(&self) -> Option<Action> {
        // What is shown first is about something else then.
        if self.lost_workspace.is_some() || hook_failed(self) {
            return None;
        }
        raised(&self.history).and_then(|event| attention::answer(event, &self.task.label()))
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

/// Is it about the agent that the task waits for?
fn is_of_its_agent(reason: &Reason, event: &Event) -> bool {
    let (Reason::AgentGone { role, .. } | Reason::AgentAtWork { role, .. }) = reason else {
        return false;
    };
    event.role() == Some(*role)
}
