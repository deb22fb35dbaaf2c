//! `orange task why`: one line.

use super::without_answer;
use crate::error::Result;
use crate::session::Session;
use crate::ui::command::{command, quoted_command};
use crate::ui::{Extent, clean};
use clap::Args;
use orange_core::action::Action;
use orange_core::history::HookOutcome;
use orange_core::reconcile::Broken;
use orange_engine::views::TaskView;
use serde_json::json;

/// Say why a task is where it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  orange task why TASK-002\n  orange task why TASK-002 --json")]
pub(crate) struct WhyArgs {
    /// The task (default: the one you are in)
    id: Option<String>,
}

fn hook_failed(view: &TaskView) -> bool {
    let last = view.history.last_transition();
    last.is_some_and(|transition| {
        let mut hooks = transition.hooks.iter();
        hooks.any(|hook| matches!(hook.outcome, HookOutcome::Failed(_)))
    })
}

/// Does what needs attention say all that the answer says already: that the agent it waits for asks something?
fn is_asked_by_its_agent(because: &str, attention: &str) -> bool {
    let agents = ["its worker ", "its reviewer "];
    attention.contains(" (answer: ")
        && agents
            .iter()
            .any(|agent| because.starts_with(agent) && attention.starts_with(agent))
}

/// Why a task is where it is, and what moves it on.
pub(super) struct Answer {
    because: String,
    next: Option<Action>,
    too_early: bool,
    needs_human: bool,
}

impl Answer {
    pub(super) fn of(session: &Session, view: &TaskView) -> Result<Answer> {
        let why = session.engine.why(view)?;
        let label = view.task.label();
        let mut answer = Answer {
            because: why.reason.text(&label, quoted_command),
            next: why.next,
            too_early: why.too_early,
            needs_human: why.needs_human || view.attention.is_some(),
        };
        if !view.history.bad_lines.is_empty() {
            answer.next = Some(Action::Repair);
            (answer.needs_human, answer.too_early) = (true, false);
        }
        if let Some(damage) = &view.damaged {
            answer.because = format!("its TASK.md is damaged: {damage}");
            answer.next = Some(Action::Repair);
            (answer.needs_human, answer.too_early) = (true, false);
            // What a person wrote is theirs to correct; a repair takes it out of the file.
            if matches!(damage, Broken::Value { .. }) {
                answer.because.push_str(&format!(
                    "; correct that line, or let {} put back the last good value",
                    quoted_command(&Action::Repair)
                ));
                answer.next = Some(Action::EditTaskFile {
                    task: label.clone(),
                });
            }
        }
        if let Some(lost) = &view.lost_workspace
            && view.damaged.is_none()
        {
            answer.because = lost.what.clone();
            answer.next = Some(lost.next.clone());
            (answer.needs_human, answer.too_early) = (true, false);
            return Ok(answer);
        }
        // A crash is what the answer speaks of already.
        let said = |attention: &&String| !attention.contains(" crashed: ");
        if let Some(attention) = view.attention.as_ref().filter(said) {
            answer.because = match is_asked_by_its_agent(&answer.because, attention) {
                true => without_answer(attention).to_owned(),
                false => format!("{}; needs attention: {attention}", answer.because),
            };
        }
        let answers = Action::AnswerQuestion {
            task: label.clone(),
        };
        let attention = view.attention.as_ref();
        if attention.is_some_and(|words| words.contains(&command(&answers))) {
            answer.next = Some(answers);
        }
        // Nothing goes on without what failed.
        if view.damaged.is_none() && hook_failed(view) {
            // One that would fail in the same way is no advice.
            let refused = session.engine.start_refused(&view.task);
            answer.next = Some(match refused {
                Some(refused) => refused.next,
                None => Action::RetryHooks { task: label },
            });
            (answer.needs_human, answer.too_early) = (true, false);
        }
        Ok(answer)
    }

    /// One line; where it does not fit into one, the command has a line of its own.
    pub(super) fn to_text(&self, view: &TaskView, extent: Extent) -> String {
        let text = format!(
            "{} {}: {}",
            view.task.label(),
            view.task.status.phrase(),
            clean(&self.because)
        );
        let Some(command) = self.next.as_ref().map(command) else {
            return format!("{text}\n");
        };
        let word = if self.too_early { "then" } else { "next" };
        let line = format!("{text}; {word}: {command}\n");
        match extent {
            Extent::Columns(width) if line.chars().count() > width => {
                format!("{text}\n{word}: {command}\n")
            }
            Extent::Columns(_) | Extent::Unlimited => line,
        }
    }
}

pub(crate) fn run(session: &Session, args: &WhyArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let view = session.engine.view_judged(place)?;
    let answer = Answer::of(session, &view)?;
    session.finish(
        || {
            json!({"why": {
                "task": view.task.label(),
                "status": view.task.status.as_str(),
                "because": answer.because,
                "next": answer.next.as_ref().map(command),
                "too_early": answer.too_early,
                "needs_human": answer.needs_human,
            }})
        },
        || answer.to_text(&view, Extent::stdout()),
    );
    Ok(())
}
