//! `orange task why`: one line.

use super::without_answer;
use crate::error::Result;
use crate::session::Session;
use crate::ui::clean;
use clap::Args;
use orange_core::history::HookOutcome;
use orange_core::task::stands;
use orange_engine::engine::TaskView;
use serde_json::json;

/// Say why a task is where it is
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  orange task why TASK-002\n  orange task why TASK-002 --json")]
pub(crate) struct WhyArgs {
    /// The task; the one you are in unless given
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

pub(crate) fn run(session: &mut Session, args: &WhyArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    let view = session.engine.view(place)?;
    let why = session.engine.why(&view)?;
    let mut why = why;
    let mut because = why.because.clone();
    if let Some(damage) = &view.damaged {
        because = format!("its TASK.md is damaged: {damage}");
        why.next = Some("orange doctor --repair".to_owned());
        (why.needs_human, why.too_early) = (true, false);
    }
    why.needs_human |= view.attention.is_some();
    // A crash is what the answer speaks of already.
    let said = |attention: &&String| !attention.contains(" crashed: ");
    if let Some(attention) = view.attention.as_ref().filter(said) {
        because = match is_asked_by_its_agent(&because, attention) {
            true => without_answer(attention).to_owned(),
            false => format!("{because}; needs attention: {attention}"),
        };
    }
    let label = view.task.label();
    let answers = format!("orange task answer {label}");
    if view
        .attention
        .as_ref()
        .is_some_and(|words| words.contains(&answers))
    {
        why.next = Some(answers);
    }
    // Nothing goes on without what failed.
    if view.damaged.is_none() && hook_failed(&view) {
        why.next = Some(format!("orange task retry-hooks {label}"));
        (why.needs_human, why.too_early) = (true, false);
    }
    session.finish(
        || {
            json!({"why": {
                "task": label,
                "status": view.task.status.as_str(),
                "because": because,
                "next": why.next,
                "needs_human": why.needs_human,
            }})
        },
        || {
            let next = match &why.next {
                Some(command) if why.too_early => format!("; then: {command}"),
                Some(command) => format!("; next: {command}"),
                None => String::new(),
            };
            let stands = stands(view.task.status);
            format!("{label} {stands}: {}{next}\n", clean(&because))
        },
    );
    Ok(())
}
