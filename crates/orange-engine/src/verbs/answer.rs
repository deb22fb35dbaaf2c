//! What agents ask: shown to people, answered by them from anywhere, and journalled as answered, wherever that was.

use crate::call::Call;
use crate::database::StoredRule;
use crate::effects::messages;
use crate::error::{Code, Error, Result, err};
use crate::runs::{
    self, IN_ITS_WINDOW, Question, QuestionAnswer, RunFolder, RunSpec, Signal, SignalKind,
    open_asks,
};
use crate::store::Place;
use crate::tx::TaskTx;
use crate::verbs::{handle_signals, permissions};
use crate::views::PermissionRow;
use crate::views::questions::open_questions;
use crate::views::results::OpenQuestion;
use crate::views::task;
use crate::{access, allow_rules, sessions};
use orange_core::allow_rule::{AllowRule, Scope};
use orange_core::history::payload::{AgentAnswered, AttentionNote};
use orange_core::history::{Event, EventType, Payload};
use orange_core::runs::{Run, open_runs};
use orange_core::task::Task;
use orange_core::{Action, Parameter, text};
use std::time::{Duration, Instant};

/// What a task's agents ask and can be answered from here.
pub fn questions(call: &Call, place: Place) -> Result<(Task, Vec<OpenQuestion>)> {
    let view = task::view(call, place)?;
    let found = open_questions(call, &view.history);
    if found.is_empty() {
        return Err(nothing_asked(call, &view.task, &open_runs(&view.history)));
    }
    Ok((view.task, found))
}

fn nothing_asked(call: &Call, task: &Task, runs: &[Run]) -> Error {
    let label = task.label();
    let asks = |run: &Run| {
        let folder = sessions::run_folder(call, &run.id);
        folder.is_alive() && !open_asks(&folder.signals()).is_empty()
    };
    match runs.iter().find(|run| asks(run)) {
        Some(run) => err!(
            ConditionUnmet,
            "what the {} of {label} asks can only be answered in its window",
            run.role
        )
        .hint(text!("go there: {}", Action::attach(task.name()))),
        None => err!(ConditionUnmet, "no agent of {label} asks anything").hint(text!(
            "{} says what it waits for",
            Action::explain(task.name())
        )),
    }
}

/// Answers one question, by its name, and waits until the agent has the answer.
pub fn answer(
    call: &Call,
    task: &Task,
    asked: &OpenQuestion,
    answer: &QuestionAnswer,
    timeout: Duration,
) -> Result<()> {
    access::people_only(call, "answer questions")?;
    let id = &asked.question.id;
    let folder = sessions::run_folder(call, &asked.run.id);
    if !folder.is_open(id) || !folder.answer(id, answer)? {
        return Err(meanwhile(id));
    }
    let how = taken(task, &folder, id, timeout)?;
    handle_signals::handle_signals(call, &asked.run.id)?;
    if how == IN_ITS_WINDOW {
        Err(meanwhile(id))
    } else {
        Ok(())
    }
}

/// What is to be allowed from now on, besides the question at hand.
#[derive(Debug, Clone)]
pub struct Always<'a> {
    pub scope: Scope,
    /// None: exactly what is asked.
    pub matching: Option<&'a str>,
}

/// Allows what is asked, and the same from now on.
pub fn answer_always(
    call: &Call,
    task: &Task,
    asked: &OpenQuestion,
    always: &Always<'_>,
    timeout: Duration,
) -> Result<PermissionRow> {
    access::people_only(call, "answer questions")?;
    let id = &asked.question.id;
    let folder = sessions::run_folder(call, &asked.run.id);
    let Some(spec) = folder.spec().filter(|_| folder.is_open(id)) else {
        return Err(meanwhile(id));
    };
    let rule = rule_for(&spec, &asked.question, always)?;
    let place = call.store.place(&spec.folder);
    let added = permissions::add(call, place, always.scope, &rule)?;
    let number = added.permission.number;
    let yes = QuestionAnswer {
        rule: None,
        ..QuestionAnswer::by_rule(number)
    };
    match answer(call, task, asked, &yes, timeout) {
        // The rule was quicker than the answer: that is a yes too.
        Err(error) if error.code == Code::Conflict && is_allowed_by(&folder, id, number) => {}
        Err(error) => {
            // What was not answered is not remembered either.
            if added.new {
                permissions::remove(call, &[number])?;
            }
            return Err(error);
        }
        Ok(()) => {}
    }
    if always.scope == Scope::Project {
        answer_others(call, &task.project, &asked.run.id);
    }
    Ok(added.permission)
}

fn is_allowed_by(folder: &RunFolder, question: &str, rule: u32) -> bool {
    let given = folder.given_answer(question);
    given.is_some_and(|given| given.rule == Some(rule))
}

/// The rule that a question gives.
fn rule_for(spec: &RunSpec, question: &Question, always: &Always<'_>) -> Result<AllowRule> {
    let refused = |why: String| {
        err!(Refused, "this cannot be remembered: {why}").hint(text!(
            "allow it this once with {}, or in its window",
            Parameter::Allow
        ))
    };
    let request = spec.request(question).map_err(refused)?;
    let (harness, tool) = (spec.adapter.adapter(), question.tool.as_str());
    match always.matching {
        Some(pattern) => AllowRule::matching(harness, tool, &request, pattern).map_err(|why| {
            err!(Usage, "{why}")
                .hint("nothing was answered; without a pattern exactly what is asked is allowed")
        }),
        None => AllowRule::exact(harness, tool, &request).map_err(refused),
    }
}

/// Agents of other tasks may have been asking the same; none of them is waited for.
fn answer_others(call: &Call, project: &str, but: &str) {
    for folder in runs::all(call.store.home()) {
        let (id, spec) = (folder.id(), folder.spec());
        let is_of_project =
            spec.is_some_and(|spec| call.store.place(&spec.folder).project == project);
        let asks =
            id != but && is_of_project && folder.is_alive() && !folder.questions().is_empty();
        if asks && let Err(error) = handle_signals::handle_signals(call, &id) {
            tracing::warn!(%error, run = id, "what it asks is answered later");
        }
    }
}

/// Tells of what is asked, once, and of what has been answered. Answers what a rule allows, and says whether there was any.
pub(crate) fn journal_questions(tx: &mut TaskTx<'_>, run: &Run) -> Result<bool> {
    let folder = sessions::run_folder(tx.call, &run.id);
    let signals = folder.signals();
    let open = open_asks(&signals);
    let mut events = Vec::new();
    let mut allowed: Vec<(&str, u32)> = Vec::new();
    for event in &tx.history().events {
        let is_question = event.kind == EventType::AttentionRaised
            && event.run() == Some(&run.id)
            && event.question().is_some();
        if !is_question {
            continue;
        }
        let turn = event.turn().unwrap_or_default();
        let is_open = open.iter().any(|ask| ask.at.to_string() == turn);
        if !is_open && answer_to(tx, run, turn).is_none() {
            events.push(answered_event(tx.call, run, event, &signals));
        }
    }
    for ask in open {
        let (turn, question) = (ask.at.to_string(), ask.question.as_deref());
        if let Some(answer) = answer_to(tx, run, &turn) {
            // Whoever journalled it may not have lived to hand it over.
            allowed.extend(question.zip(answer.rule));
        } else if let Some((question, rule)) = allowed_ask(tx, &folder, ask) {
            events.push(allowed_event(tx.call, run, ask, &rule));
            allowed.push((question, rule.number));
        } else if !messages::is_handled(tx, &turn) {
            events.push(asked_event(tx.call, run, ask));
        }
    }
    tx.note(events)?;
    for (question, number) in &allowed {
        folder.answer(question, &QuestionAnswer::by_rule(*number))?;
    }
    Ok(!allowed.is_empty())
}

/// The question, and the rule that allows what it asks. Nobody is asked then.
fn allowed_ask<'a>(
    tx: &TaskTx<'_>,
    folder: &RunFolder,
    ask: &'a Signal,
) -> Option<(&'a str, StoredRule)> {
    let name = ask.question.as_deref()?;
    let question = folder.question(name)?;
    let is_permission = ask.signal == SignalKind::PermissionAsked && question.asked.is_empty();
    if !is_permission || folder.given_answer(name).is_some() {
        return None;
    }
    let spec = folder.spec()?;
    let request = spec.request(&question).ok()?;
    let (harness, tool) = (spec.adapter.adapter(), &question.tool);
    let rule = allow_rules::allowing(tx.call, &tx.task, harness, tool, &request)?;
    Some((name, rule))
}

fn allowed_event(call: &Call, run: &Run, ask: &Signal, rule: &StoredRule) -> Event {
    let turn = ask.at.to_string();
    let answer = AgentAnswered {
        run: Some(&run.id),
        role: Some(run.role),
        question: ask.question.as_deref(),
        answers: Some(&turn),
        rule: Some(rule.number),
    };
    let what = messages::in_one_line(&ask.text);
    Event::of(Payload::AgentAnswered(answer), call.now())
        .by("engine")
        .because(format!("allowed by rule {}: {what}", rule.number))
}

fn asked_event(call: &Call, run: &Run, ask: &Signal) -> Event {
    let verb = match ask.signal {
        SignalKind::InputAsked => "asks",
        _ => "asks permission",
    };
    let what = messages::in_one_line(&ask.text);
    let note = AttentionNote {
        run: Some(&run.id),
        role: Some(run.role),
        turn: Some(&ask.at.to_string()),
        question: Some(ask.question.as_deref().unwrap_or_default()),
        ..AttentionNote::default()
    };
    messages::attention_event(call, note, format!("its {} {verb}: {what}", run.role))
}

fn answered_event(call: &Call, run: &Run, asked: &Event, signals: &[Signal]) -> Event {
    let question = asked.question().unwrap_or_default();
    let of_it = |signal: &&Signal| {
        signal.signal == SignalKind::Working && signal.question.as_deref() == Some(question)
    };
    let how = match signals.iter().find(of_it) {
        Some(signal) if !signal.text.is_empty() => signal.text.clone(),
        Some(_) | None => IN_ITS_WINDOW.to_owned(),
    };
    let answer = AgentAnswered {
        run: Some(&run.id),
        role: Some(run.role),
        question: Some(question),
        answers: Some(asked.turn().unwrap_or_default()),
        rule: None,
    };
    Event::of(Payload::AgentAnswered(answer), call.now())
        .by("human")
        .because(how)
}

fn answer_to<'t>(tx: &'t TaskTx<'_>, run: &Run, turn: &str) -> Option<AgentAnswered<'t>> {
    let answers = tx.history().events.iter().filter_map(AgentAnswered::of);
    let of_run = |it: &AgentAnswered<'_>| it.run.is_none_or(|id| id == run.id);
    answers
        .into_iter()
        .find(|it| it.answers == Some(turn) && of_run(it))
}

/// How the question came to its end.
fn taken(task: &Task, folder: &RunFolder, id: &str, timeout: Duration) -> Result<String> {
    let deadline = Instant::now() + timeout;
    while folder.is_open(id) {
        if Instant::now() >= deadline || !folder.is_alive() {
            let window = Action::attach(task.name());
            return Err(
                err!(Failed, "the agent has not taken the answer").hint(text!(
                    "look at its window, where it can be answered too: {}",
                    window
                )),
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let closing = folder.signals().into_iter().rfind(|signal| {
        signal.signal == SignalKind::Working && signal.question.as_deref() == Some(id)
    });
    Ok(closing.map_or_else(|| IN_ITS_WINDOW.to_owned(), |signal| signal.text))
}

fn meanwhile(id: &str) -> Error {
    err!(
        Conflict,
        "question {id} is not open any more: it was answered, or its turn is over"
    )
    .hint("nothing was done; without an answer the command shows what is asked now")
}
