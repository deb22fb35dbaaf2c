//! What the agent of a turn is told: the prompt of its phase, with everything that it cannot know otherwise.

use crate::call::Call;
use crate::error::Result;
use crate::execution;
use crate::prompt::{prompt_of_phase, ui};
use crate::store::Place;
use orange_core::artifact::section;
use orange_core::naming::cut_at;
use orange_core::prompt::{PromptName, Values};
use orange_core::task::Task;
use orange_core::work::execution::{Execution, Iteration, PhaseStatus, WantedTurn};
use orange_core::work::plan::{PhaseKind, Plan, PlannedPhase};

/// How the final answer has to look.
const ANSWER: &str = r#"End your final message with one JSON object, and nothing after it:
{"status": "complete", "summary": "what was done, in a sentence or two"}
- `status` is `complete` when the phase is done, `continue` when there is more to do in it, `blocked` when you cannot go on without an answer from a person; then `question` has the question.
- `summary` is read by the next phase. `reason` says why you are blocked or have to continue.
- Optional: `touching` (a list of the files you changed), `findings` (a list of {"severity": "major" or "minor", "file", "line", "text"}), `artifact` (Markdown that the phase was to write)."#;

/// So much of an earlier phase's artifact goes into a prompt.
const LONGEST_ARTIFACT: usize = 40 * 1024;

/// What a prompt is about.
#[derive(Clone, Copy)]
pub(crate) struct PromptOf<'a> {
    pub(crate) call: &'a Call,
    pub(crate) place: &'a Place,
    pub(crate) task: &'a Task,
    pub(crate) plan: &'a Plan,
}

/// The prompt of a turn.
pub(crate) fn prompt(
    this: &PromptOf<'_>,
    execution: &Execution,
    phase: &PlannedPhase,
    wanted: &WantedTurn,
) -> Result<String> {
    let Some(name) = PromptName::for_phase(phase.kind) else {
        return Ok(String::new());
    };
    let (context, spec) = (context(this)?, spec(this)?);
    let resume = wanted.resume.as_deref();
    let fill = |values: Values| Values {
        phase: phase.name.clone(),
        iteration: wanted.iteration_of_attempt.to_string(),
        max_iterations: phase.max_iterations.to_string(),
        context: under("What the person who created the task says:", &context),
        spec: under("The specification:", &spec),
        earlier: under(
            "What earlier phases came to:",
            &earlier(this, execution, phase, wanted),
        ),
        asked: under(
            "What a person asked for on this task, the oldest first (where two contradict, the newer one counts):",
            &execution.asked_of_others(&phase.name, resume),
        ),
        retry: under(
            retry_title(wanted),
            &execution.told(&phase.name, resume).unwrap_or_default(),
        ),
        ui: ui::context(this.place, this.task, phase),
        criteria: criteria(phase),
        answer: ANSWER.to_owned(),
        ..values
    };
    prompt_of_phase(
        this.call,
        this.task,
        name,
        Some(&phase.prompt_template),
        fill,
    )
}

/// An agent that begins in the middle is told everything, also what the one before it has done.
fn retry_title(wanted: &WantedTurn) -> &'static str {
    match (&wanted.resume, wanted.iteration_of_attempt) {
        (Some(_), _) => "What has to be done differently, or was said, since the last turn:",
        (None, 0 | 1) => "What has to be done differently, or was said:",
        (None, _) => {
            "What has to be done differently, or was said; some of it may be done already:"
        }
    }
}

/// What the task's file says under `## Context`.
pub(crate) fn context(this: &PromptOf<'_>) -> Result<String> {
    let snapshot = this.call.store.read(this.place)?;
    let body = snapshot.body();
    let context = section(body, "Context").and_then(|section| body.get(section.content));
    Ok(context.unwrap_or_default().to_owned())
}

/// A text below a line that says what it is; nothing for nothing.
fn under(title: &str, text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!("{title}\n\n{text}"),
    }
}

fn criteria(phase: &PlannedPhase) -> String {
    let criteria = phase.completion_criteria.iter();
    let words: Vec<String> = criteria.map(ToString::to_string).collect();
    words.join("; ")
}

/// The specification of the task. Of a long one the beginning, and how to read the rest.
pub(crate) fn spec(this: &PromptOf<'_>) -> Result<String> {
    let Some(spec) = execution::spec::spec(this.call, this.place, this.task)? else {
        return Ok(String::new());
    };
    let shown = cut_at(&spec.content, LONGEST_ARTIFACT);
    if shown.len() == spec.content.len() {
        return Ok(spec.content);
    }
    Ok(format!(
        "{}\n\n(These are the first {} of {} bytes; `orange task spec show {}` prints all of it.)",
        shown.trim_end(),
        shown.len(),
        spec.content.len(),
        this.task.label()
    ))
}

/// What the last turn of the phases of a kind handed over.
fn artifact(execution: &Execution, this: &PromptOf<'_>, kind: PhaseKind) -> String {
    let of_kind = |name: &str| {
        let phase = this.plan.phase(name);
        phase.is_some_and(|phase| phase.kind == kind)
    };
    // What an attempt handed over that was rejected or gone back from is no longer so.
    let is_current = |iteration: &&Iteration| {
        let state = execution.phase(&iteration.phase);
        of_kind(&iteration.phase) && state.is_some_and(|state| state.attempt == iteration.attempt)
    };
    let mut newest_first = execution.iterations.iter().rev().filter(is_current);
    let found = newest_first.find_map(|iteration| iteration.answer.as_ref()?.artifact.as_deref());
    cut_at(found.unwrap_or_default(), LONGEST_ARTIFACT).to_owned()
}

/// The summaries of the phases before this one.
fn earlier(
    this: &PromptOf<'_>,
    execution: &Execution,
    phase: &PlannedPhase,
    wanted: &WantedTurn,
) -> String {
    let before = this.plan.phases.iter();
    let before = before.take_while(|known| known.name != phase.name);
    let mut lines = Vec::new();
    for known in before {
        let Some(state) = execution.phase(&known.name) else {
            continue;
        };
        let words = match state.status {
            PhaseStatus::Completed => {
                let summary = state.summary.as_deref();
                summary.unwrap_or(state.status.as_str())
            }
            PhaseStatus::Skipped => match state.error.as_deref() {
                // Its reason says more than that a person did it.
                Some(why) if known.kind == PhaseKind::Spec => why,
                _ => "left out by a person",
            },
            _ => continue,
        };
        lines.push(format!("- {}: {words}", known.name));
    }
    // An agent that goes on in its own conversation knows what it did.
    let own = execution
        .phase(&phase.name)
        .filter(|_| wanted.resume.is_none() && wanted.iteration_of_attempt > 1);
    if let Some(summary) = own.and_then(|state| state.summary.as_deref()) {
        lines.push(format!("- {}, so far: {summary}", phase.name));
    }
    for kind in [PhaseKind::Research, PhaseKind::Design] {
        let text = artifact(execution, this, kind);
        if !text.is_empty() && phase.kind != kind {
            lines.push(format!("\nWhat {} wrote:\n\n{text}", kind.as_str()));
        }
    }
    lines.join("\n")
}
