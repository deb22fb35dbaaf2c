//! One event in words, without who did it: `moved planning → working`, `started: claude`.

use super::{cut, fields, hooks, plain};
use crate::allow_rule::Scope;
use crate::gate::Verdict;
use crate::history::payload::{
    AgentSpawned, AgentState, IterationNote, PermissionNote, PlanWritten, ReviewNote, SpecSaved,
    StatusMoved, TaskMerged,
};
use crate::history::{Event, Payload};
use crate::merge::Strategy;
use crate::naming::{counted, short_commit};
use crate::reconcile::begins_anew;
use crate::runs::State;
use crate::task::{FieldMap, Status, Weight};
use crate::work::execution::{IterationKind, PhaseStatus};
use crate::work::spec::SpecSource;
use crate::workflow::Role;
use crate::{Text, text};
use serde_json::Value;

/// How much of a message a line shows, and how much of a reason: there the end often matters.
const MESSAGE: usize = 100;
const REASON: usize = 300;
const VALUE: usize = 60;
/// More fields than these are counted instead of told.
const FIELDS: usize = 4;

pub fn event_text(event: &Event) -> Text {
    with_time(event, None)
}

/// `claude`, or with what was asked of it `claude (model opus, effort high)`.
fn agent(start: &AgentSpawned<'_>) -> String {
    let harness = start.harness.unwrap_or("?");
    let asked = [("model", start.model), ("effort", start.effort)]
        .into_iter()
        .filter_map(|(name, asked)| Some(format!("{name} {}", plain(asked?))));
    match asked.collect::<Vec<_>>().as_slice() {
        [] => harness.to_owned(),
        asked => format!("{harness} ({})", asked.join(", ")),
    }
}

/// The same with how long a run was, where the event ends one.
pub(super) fn with_time(event: &Event, lasted: Option<&str>) -> Text {
    let reason = event.reason.as_deref().map(|text| cut(text, REASON));
    let reason = reason.filter(|reason| !reason.is_empty());
    let because = |what: &str| match &reason {
        Some(reason) => format!("{what}: {reason}"),
        None => what.to_owned(),
    };
    let ended = |how: &str| match lasted {
        Some(lasted) => because(&format!("{how} {lasted}")),
        None => because(how),
    };
    let hook = event.hook.as_deref().unwrap_or("a hook");
    let words = match event.payload() {
        Payload::TaskCreated(_) => "created the task".into(),
        Payload::TaskAdopted(_) => "took the task over as it was found".into(),
        Payload::TaskUpdated(update) => because(&updated(event, update.source)),
        Payload::TaskDeleted => "deleted the task".into(),
        Payload::TaskRestored => "brought the task back from the trash".into(),
        Payload::StatusChanged(made) | Payload::AutoAdvanced(made) => {
            moved(event, &made, reason.as_deref())
        }
        Payload::StatusDeferred(_) => because("wants to move on"),
        Payload::ReviewStarted(review) => reviewed(&review, "started"),
        Payload::ReviewPassed(review) => reviewed(&review, "passed"),
        Payload::ReviewFailed(review) => reviewed(&review, "failed"),
        Payload::HookCompleted(ended) => match (&reason, ended.slot) {
            (None, Some(slot)) => format!("{}: {slot}", hooks::done(hook)),
            (_, _) => because(&hooks::done(hook)),
        },
        Payload::HookFailed(_) => because(&hooks::failed(hook)),
        Payload::HookSkipped => because(&format!("did not {}", hooks::aim(hook))),
        Payload::TransitionFinished => "finished what goes with the move".into(),
        Payload::FieldsRestored(restored) => because(&put_back(event, restored.found.as_deref())),
        Payload::JournalRecovered(_) => because(if begins_anew(event) {
            "took TASK.md for right"
        } else {
            "took TASK.md for right, the journal lost events"
        }),
        Payload::FrontmatterRebuilt => because("rebuilt the frontmatter of TASK.md"),
        Payload::ContextChanged(change) => match change.gone {
            Some(true) => because("lost the Context"),
            Some(false) | None => because("changed the Context"),
        },
        Payload::AgentSpawned(start) => {
            let how = if start.resumed == Some(true) {
                "resumed"
            } else {
                "started"
            };
            format!("{how}: {}", agent(&start))
        }
        Payload::AgentExited(_) => ended("ended"),
        Payload::AgentCrashed(_) => ended("crashed"),
        Payload::AgentStopped(end) => match (&reason, end.outcome) {
            (None, Some(outcome)) => format!("stopped: {}", cut(&plain(outcome), VALUE)),
            (_, _) => ended("stopped"),
        },
        Payload::AgentNudged(_) => because("nudged"),
        Payload::AgentState(told) => return state(&told, reason.as_deref()),
        Payload::AgentAnswered(answer) => {
            let role = answer.role.map_or("?", Role::as_str);
            because(&format!("answered the {role}"))
        }
        Payload::PermissionAdded(note) => because(&remembered("allowed from now on", &note)),
        Payload::PermissionRemoved(note) => because(&remembered("no longer allowed", &note)),
        // An older program noted so what its agent said.
        Payload::Message(said) if said.role.is_none() => {
            format!("message: {}", quoted(said.words().unwrap_or_default()))
        }
        Payload::Message(sent) | Payload::MessageSent(sent) => {
            let role = sent.role.map_or("agent", Role::as_str);
            format!(
                "told the {role}: {}",
                quoted(sent.words().unwrap_or_default())
            )
        }
        Payload::MessageDelivered(_) => because("message delivered"),
        Payload::MessageFailed(_) => because("message not delivered"),
        Payload::AttentionRaised(_) => because("needs attention"),
        Payload::AttentionCleared(_) => because("needs no attention any more"),
        Payload::MergeStarted(attempt) => format!(
            "began to merge into {} ({})",
            attempt.target.unwrap_or("?"),
            attempt.strategy.map_or("?", Strategy::as_str)
        ),
        Payload::MergeStopped(_) => because("merge stopped"),
        Payload::TaskMerged(merge) => merged(&merge),
        Payload::VerifyStarted(check) => match check.command {
            None | Some("") => "check started".into(),
            Some(command) => format!("check started: {}", cut(command, VALUE)),
        },
        Payload::TaskVerified(_) => because("check"),
        Payload::PlanWritten(plan) => planned(&plan),
        Payload::SpecSaved(saved) => saved_spec(&saved),
        Payload::PhaseChanged(change) => {
            let phase = change.phase.unwrap_or("?");
            let state = change.state.map_or("?", PhaseStatus::as_str);
            because(&format!("phase {phase}: {state}"))
        }
        Payload::IterationStarted(note) => format!("began {}", iteration(&note)),
        Payload::IterationEnded(note) => iteration_ended(&note, reason.as_deref()),
        Payload::BudgetForced(note) => because(match note.forced {
            Some(false) => "its budget counts again",
            Some(true) | None => match &note.spent {
                Some(spent) => return format!("may go on although {}", cut(spent, REASON)).into(),
                None => "may go on although a budget is spent",
            },
        }),
        Payload::GateDecided(decision) => {
            let verdict = match decision.approved {
                Some(true) => "approved",
                Some(false) => "rejected",
                None => "decided about",
            };
            because(&format!(
                "{verdict} phase {}",
                decision.phase.unwrap_or("?")
            ))
        }
        Payload::TaskRewound(rewound) => {
            let head = rewound.head.map_or("?", short_commit);
            format!(
                "went back to phase {}, at {head}",
                rewound.phase.unwrap_or("?")
            )
        }
        Payload::TestResultsImported(results) => {
            let figures = results.figures.unwrap_or_default();
            format!("imported test results: {}", figures.words())
        }
        Payload::TestResultsRefused(_) => because("did not import a test report"),
        Payload::McpServerFailed(failed) => because(&format!(
            "MCP server {} failed in iteration {} of {}",
            failed.server.unwrap_or("?"),
            failed.iteration.unwrap_or_default(),
            failed.phase.unwrap_or("?")
        )),
        Payload::RescueRestored(restored) => {
            let place = restored.branch.or(restored.workspace);
            let place = place.map_or(String::new(), |place| format!(" to {place}"));
            let rescue = restored.rescue.unwrap_or("?");
            format!("restored the rescue {rescue}{place}")
        }
        Payload::Other(word) => other(word, event, reason.as_deref()),
    };
    words.into()
}

/// `made a plan: medium, spec → implement → review → test`
fn planned(plan: &PlanWritten<'_>) -> String {
    let weight = plan.weight.map_or("?", Weight::as_str);
    let phases = plan.phases.as_deref().unwrap_or_default();
    let how = match plan.edited {
        Some(true) => "changed the plan",
        Some(false) | None => "made a plan",
    };
    format!("{how}: {weight}, {}", phases.join(" → "))
}

/// `saved the spec: 1834 bytes, given on the command line`
fn saved_spec(saved: &SpecSaved<'_>) -> String {
    let bytes = saved.bytes.map(|bytes| counted(bytes, "byte"));
    let source = saved.source.map(|word| {
        let known: Result<SpecSource, _> = word.parse();
        known.map_or_else(|_| plain(word), |source| source.words().to_owned())
    });
    let said: Vec<String> = bytes.into_iter().chain(source).collect();
    format!("saved the spec: {}", said.join(", "))
}

/// `iteration 2 of implement`
fn iteration(note: &IterationNote<'_>) -> String {
    let number = note
        .iteration
        .map_or_else(|| "?".to_owned(), |number| number.to_string());
    let phase = note.phase.unwrap_or("?");
    match note.kind {
        Some(IterationKind::Turn) | None => format!("iteration {number} of {phase}"),
        Some(IterationKind::Judge) => format!("the judge of {phase}, iteration {number}"),
        Some(IterationKind::Classify) => "the classification".to_owned(),
        Some(kind) => format!("{kind} {number} of {phase}"),
    }
}

/// `iteration 2 of implement: continue, $0.12: the parser is done`
fn iteration_ended(note: &IterationNote<'_>, reason: Option<&str>) -> String {
    let kind = note.kind.unwrap_or_default();
    let came_to = note.outcome.map_or("?", |outcome| kind.words_of(outcome));
    let mut words = format!("{}: {came_to}", iteration(note));
    if let Some(usage) = note.usage.filter(|usage| !usage.is_empty()) {
        words.push_str(&format!(", {}", usage.in_brief()));
    }
    if let Some(why) = reason.or(note.summary).filter(|why| !why.is_empty()) {
        words.push_str(&format!(": {}", cut(why, REASON)));
    }
    if let Some(rescue) = note.rescue {
        words.push_str(&format!(
            "; what it changed was taken back (rescue {rescue})"
        ));
    }
    words
}

/// `moved agent-review → working, review failed`; what a person asked for goes with it.
fn moved(event: &Event, made: &StatusMoved<'_>, reason: Option<&str>) -> String {
    let mut words = match (&event.from, &event.to) {
        (Some(from), Some(to)) => format!("moved {from} → {to}"),
        (None, Some(to)) => format!("moved to {to}"),
        (_, None) => "moved".to_owned(),
    };
    match made.verdict {
        Some(Verdict::Pass) => words.push_str(", review passed"),
        Some(Verdict::Fail) => words.push_str(", review failed"),
        None => {}
    }
    if event.new_status().is_some_and(Status::is_in_review)
        && let Some(commit) = made.head
    {
        words.push_str(&format!(", handed off at {}", short_commit(commit)));
    }
    if let Some(reason) = reason {
        words.push_str(&format!(" ({reason})"));
    }
    for section in &event.append {
        words.push_str(&format!(": {}", quoted(&section.text)));
    }
    // A person's answer stands nowhere else.
    if let Some(said) = made.message.filter(|_| event.append.is_empty()) {
        words.push_str(&format!(": {}", quoted(said)));
    }
    words
}

/// `review round 2 passed`.
fn reviewed(review: &ReviewNote<'_>, what: &str) -> String {
    match review.round.or(review.attempt) {
        Some(round) => format!("review round {round} {what}"),
        None => format!("review {what}"),
    }
}

fn updated(event: &Event, source: Option<&str>) -> String {
    let by_hand = source == Some("file");
    match (by_hand, event.fields.is_empty()) {
        (_, true) => "changed nothing".into(),
        (true, false) => format!("was edited: {}", changed(&event.fields)),
        (false, false) => changed(&event.fields),
    }
}

fn changed(values: &FieldMap) -> String {
    if values.len() > FIELDS {
        return format!("changed {}", counted(values.len(), "field"));
    }
    let told = values
        .iter()
        .map(|(name, value)| fields::change(name, value));
    told.collect::<Vec<_>>().join(", ")
}

fn put_back(event: &Event, found: Option<&FieldMap>) -> String {
    let Some(found) = found else {
        return "put back what was edited by hand".into();
    };
    let told = |(name, was): (&String, &Value)| {
        let shown = |value: &Value| match fields::said(value) {
            nothing if nothing.is_empty() => "nothing".to_owned(),
            said => said,
        };
        let (noun, was) = (fields::noun(name), shown(was));
        match event.fields.get(name) {
            Some(right) => format!("{noun} ({was} → {})", shown(right)),
            None => format!("{noun} ({was})"),
        }
    };
    let told: Vec<String> = found.iter().map(told).collect();
    format!("put back what was edited by hand: {}", told.join(", "))
}

/// `allowed from now on, rule 3 for the project`; the reason says what.
fn remembered(what: &str, note: &PermissionNote<'_>) -> String {
    let number = note
        .rule
        .map_or_else(|| "?".to_owned(), |rule| rule.to_string());
    let scope = note.scope.map_or("?", Scope::as_str);
    format!("{what}, rule {number} for the {scope}")
}

fn state(told: &AgentState<'_>, reason: Option<&str>) -> Text {
    let what = match (told.state, told.until, told.again) {
        (Some(State::Waiting), Some(until), _) => {
            return text!("waiting until {} (usage limit)", until);
        }
        (Some(State::Failed), _, Some(again)) => text!("failed, goes on at {}", again),
        (Some(State::Working), ..) => return "goes on".into(),
        (Some(State::Finished | State::Idle), ..) => "ended its turn".into(),
        (Some(state), ..) => state.as_str().into(),
        (None, ..) => "is in an unknown state".into(),
    };
    match reason {
        Some(reason) => text!("{}: {reason}", what),
        None => what,
    }
}

fn merged(merge: &TaskMerged<'_>) -> String {
    let commit = merge.commit.unwrap_or_default();
    let target = merge.target.unwrap_or("the target");
    let strategy = merge.strategy.map_or("", Strategy::as_str);
    let mut words = format!("merged into {target} as {}", short_commit(commit));
    let commits = merge.commits;
    let of = commits.map_or_else(String::new, |number| counted(number, "commit"));
    let how = [of.as_str(), strategy].join(", ");
    let how = how.trim_matches([',', ' ']);
    if !how.is_empty() {
        words.push_str(&format!(" ({how})"));
    }
    if merge.pushed == Some(true) {
        words.push_str(", pushed");
    }
    words
}

/// What this version has no words for is told by its type, with what it says.
fn other(word: &str, event: &Event, reason: Option<&str>) -> String {
    let mut words = cut(&plain(word), VALUE);
    if let (Some(from), Some(to)) = (&event.from, &event.to) {
        words.push_str(&format!(" {from} → {to}"));
    }
    if let Some(said) = event.foreign_text() {
        words.push_str(&format!(": {}", quoted(said)));
    }
    if let Some(reason) = reason {
        words.push_str(&format!(" ({reason})"));
    }
    words
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", cut(text, MESSAGE))
}
