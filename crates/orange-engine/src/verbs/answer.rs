//! What agents ask: shown to people, answered by them from anywhere, and journalled as answered, wherever that was.

use crate::call::Call;
use crate::effects::messages;
use crate::error::{Error, Result, err};
use crate::runs::{Answer, IN_ITS_WINDOW, RunFolder, Signal, SignalKind, open_asks};
use crate::store::Place;
use crate::tx::TaskTx;
use crate::verbs::handle_signals;
use crate::views::results::OpenQuestion;
use crate::views::task;
use crate::{access, sessions};
use orange_core::history::payload::{AgentAnswered, AttentionNote};
use orange_core::history::{Event, EventType, History, Payload};
use orange_core::runs::{Run, open_runs};
use orange_core::task::Task;
use orange_core::{Action, text};
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

/// What the agents of a task ask and can be answered from here.
pub fn open_questions(call: &Call, history: &History) -> Vec<OpenQuestion> {
    let mut found = Vec::new();
    for run in open_runs(history) {
        let folder = sessions::run_folder(call, &run.id);
        if !folder.is_alive() {
            continue;
        }
        let questions = folder.questions().into_iter();
        found.extend(questions.map(|question| OpenQuestion {
            run: run.clone(),
            question,
        }));
    }
    found
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
    answer: &Answer,
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

/// Tells of what is asked, once, and of what has been answered.
pub(crate) fn journal_questions(tx: &mut TaskTx<'_>, run: &Run) -> Result<()> {
    let signals = sessions::run_folder(tx.call, &run.id).signals();
    let open = open_asks(&signals);
    let mut events = Vec::new();
    for event in &tx.history().events {
        let is_question = event.kind == EventType::AttentionRaised
            && event.run() == Some(&run.id)
            && event.question().is_some();
        if !is_question {
            continue;
        }
        let turn = event.turn().unwrap_or_default();
        let is_open = open.iter().any(|ask| ask.at.to_string() == turn);
        if !is_open && !is_answered(tx, turn) {
            events.push(answered_event(tx.call, run, event, &signals));
        }
    }
    for ask in open {
        if !messages::is_handled(tx, &ask.at.to_string()) {
            events.push(asked_event(tx.call, run, ask));
        }
    }
    tx.note(events)
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
    };
    Event::of(Payload::AgentAnswered(answer), call.now())
        .by("human")
        .because(how)
}

fn is_answered(tx: &TaskTx<'_>, turn: &str) -> bool {
    let mut events = tx.history().events.iter();
    events.any(|event| AgentAnswered::of(event).is_some_and(|it| it.answers == Some(turn)))
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
