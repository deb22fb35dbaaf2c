//! What agents ask: shown to people, answered by them from anywhere, and journalled as answered, wherever that was.

use super::Engine;
use crate::error::{Code, Error, Result};
use crate::runs::Asked;
use crate::runs::{Answer, IN_ITS_WINDOW, Question, RunFolder, Signal, SignalKind, open_asks};
use crate::store::Place;
use crate::tx::TaskTx;
use orange_core::history::payload::{AgentAnswered, AttentionNote};
use orange_core::history::{Event, EventType, Payload};
use orange_core::runs::{Run, open_runs};
use orange_core::task::Task;
use orange_core::workflow::Role;
use orange_core::{Action, Timestamp, text};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::time::{Duration, Instant};

/// A question, and whose it is.
#[derive(Debug, Clone)]
pub struct OpenQuestion {
    pub run: Run,
    pub question: Question,
}

impl Serialize for OpenQuestion {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Keys<'a> {
            id: &'a str,
            run: &'a str,
            role: Role,
            harness: &'a str,
            at: Timestamp,
            text: &'a str,
            tool: &'a str,
            input: &'a Value,
            asked: &'a [Asked],
        }
        let (run, question) = (&self.run, &self.question);
        let keys = Keys {
            id: &question.id,
            run: &run.id,
            role: run.role,
            harness: &run.harness,
            at: question.at,
            text: &question.text,
            tool: &question.tool,
            input: &question.input,
            asked: &question.asked,
        };
        keys.serialize(to)
    }
}

impl Engine {
    /// What a task's agents ask and can be answered from here.
    pub fn questions(&self, place: Place) -> Result<(Task, Vec<OpenQuestion>)> {
        let view = self.view(place)?;
        let mut found = Vec::new();
        for run in open_runs(&view.history) {
            let folder = self.run_folder(&run.id);
            if !folder.is_alive() {
                continue;
            }
            let questions = folder.questions().into_iter();
            found.extend(questions.map(|question| OpenQuestion {
                run: run.clone(),
                question,
            }));
        }
        if found.is_empty() {
            return Err(self.nothing_asked(&view.task, &open_runs(&view.history)));
        }
        Ok((view.task, found))
    }

    fn nothing_asked(&self, task: &Task, runs: &[Run]) -> Error {
        let label = task.label();
        let asks = |run: &Run| {
            let folder = self.run_folder(&run.id);
            folder.is_alive() && !open_asks(&folder.signals()).is_empty()
        };
        match runs.iter().find(|run| asks(run)) {
            Some(run) => Error::new(
                Code::ConditionUnmet,
                format!(
                    "what the {} of {label} asks can only be answered in its window",
                    run.role
                ),
            )
            .hint(text!("go there: {}", Action::attach(label))),
            None => Error::new(
                Code::ConditionUnmet,
                format!("no agent of {label} asks anything"),
            )
            .hint(text!("{} says what it waits for", Action::explain(label))),
        }
    }

    /// Answers one question, by its name, and waits until the agent has the answer.
    pub fn answer(&self, asked: &OpenQuestion, answer: &Answer, patience: Duration) -> Result<()> {
        self.people_only("answer questions")?;
        let id = &asked.question.id;
        let folder = self.run_folder(&asked.run.id);
        if !folder.is_open(id) || !folder.answer(id, answer)? {
            return Err(meanwhile(id));
        }
        let how = taken(&folder, id, patience)?;
        self.tend(&asked.run.id)?;
        match how == IN_ITS_WINDOW {
            true => Err(meanwhile(id)),
            false => Ok(()),
        }
    }

    /// Tells of what is asked, once, and of what has been answered.
    pub(super) fn see_to_questions(&self, tx: &mut TaskTx<'_>, run: &Run) -> Result<()> {
        let signals = self.run_folder(&run.id).signals();
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
                events.push(self.answered_event(run, event, &signals));
            }
        }
        for ask in open {
            if !self.was_seen_to(tx, &ask.at.to_string()) {
                events.push(self.asked_event(run, ask));
            }
        }
        match events.is_empty() {
            true => Ok(()),
            false => tx.note(events),
        }
    }

    fn asked_event(&self, run: &Run, ask: &Signal) -> Event {
        let verb = match ask.signal {
            SignalKind::InputAsked => "asks",
            _ => "asks permission",
        };
        let what = super::messages::in_one_line(&ask.text);
        let note = AttentionNote {
            run: Some(&run.id),
            role: Some(run.role),
            turn: Some(&ask.at.to_string()),
            question: Some(ask.question.as_deref().unwrap_or_default()),
            ..AttentionNote::default()
        };
        self.attention_event(note, format!("its {} {verb}: {what}", run.role))
    }

    fn answered_event(&self, run: &Run, asked: &Event, signals: &[Signal]) -> Event {
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
        Event::of(Payload::AgentAnswered(answer), self.now())
            .by("human")
            .because(how)
    }
}

fn is_answered(tx: &TaskTx<'_>, turn: &str) -> bool {
    let mut events = tx.history().events.iter();
    events.any(|event| AgentAnswered::of(event).is_some_and(|it| it.answers == Some(turn)))
}

/// How the question came to its end.
fn taken(folder: &RunFolder, id: &str, patience: Duration) -> Result<String> {
    let deadline = Instant::now() + patience;
    while folder.is_open(id) {
        if Instant::now() >= deadline || !folder.is_alive() {
            return Err(
                Error::new(Code::Failed, "the agent has not taken the answer")
                    .hint("look at its window; what it asks can be answered there"),
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
    Error::new(
        Code::Conflict,
        format!("question {id} is not open any more: it was answered, or its turn is over"),
    )
    .hint("nothing was done; without an answer the command shows what is asked now")
}
