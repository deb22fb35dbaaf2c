//! Questions that an agent waits with. Each has a name, so that an answer never goes to another one: whoever waits for
//! it (a hook of claude, the extension of pi, `orange signal --wait`) looks for `answers/NAME.json`.

use super::{RunFolder, Signal, SignalKind};
use crate::error::{Error, IoContext, Result, err};
use crate::store::make_folder;
use orange_core::Timestamp;
use orange_sys::process::unique_name;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io;
use std::time::Duration;

/// Between two looks for an answer.
const LOOK: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub id: String,
    pub at: Timestamp,
    /// In one line.
    pub text: String,
    /// The tool that it is about, and what the tool was given.
    #[serde(default)]
    pub tool: String,
    #[serde(default)]
    pub input: Value,
    /// The folder that the agent is in; empty where it does not say.
    #[serde(default)]
    pub cwd: String,
    /// What wants words for an answer. Empty where a yes or no is asked for.
    #[serde(default)]
    pub asked: Vec<Asked>,
}

/// One question that wants words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    pub question: String,
    /// What it offers; other words are taken too.
    #[serde(default)]
    pub options: Vec<String>,
}

impl Asked {
    /// The option that is meant, however its letters are written; else the words themselves.
    pub fn option<'t>(&'t self, words: &'t str) -> &'t str {
        let same = |option: &&String| option.eq_ignore_ascii_case(words.trim());
        self.options.iter().find(same).map_or(words, String::as_str)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    pub allow: bool,
    /// What the agent is told with a no.
    #[serde(default)]
    pub message: String,
    /// The words that were asked for, one text per question.
    #[serde(default)]
    pub answers: Vec<String>,
    /// The number of the rule by which Orange answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<u32>,
}

impl QuestionAnswer {
    /// A yes without a person: a rule allows it.
    pub fn by_rule(number: u32) -> QuestionAnswer {
        QuestionAnswer {
            allow: true,
            message: String::new(),
            answers: Vec::new(),
            rule: Some(number),
        }
    }

    /// What is journalled of it.
    pub fn words(&self) -> String {
        if let Some(number) = self.rule {
            return format!("allowed by rule {number}");
        }
        match (self.allow, self.answers.is_empty()) {
            (true, true) => "allowed".to_owned(),
            (true, false) => format!("answered: {}", self.answers.join(", ")),
            (false, _) if self.message.is_empty() => "denied".to_owned(),
            (false, _) => format!("denied: {}", self.message),
        }
    }
}

impl Question {
    pub fn new(text: String) -> Question {
        Question {
            id: nanoid::nanoid!(8, &orange_core::id::ID_ALPHABET),
            at: Timestamp::now(),
            text,
            tool: String::new(),
            input: Value::Null,
            cwd: String::new(),
            asked: Vec::new(),
        }
    }
}

/// What an agent asks and nobody has answered, oldest first. One without a name is over when the agent goes on.
pub fn open_asks(signals: &[Signal]) -> Vec<&Signal> {
    let mut open: Vec<&Signal> = Vec::new();
    for signal in signals {
        let has_name = |ask: &&Signal| ask.question.is_some();
        match (signal.signal, &signal.question) {
            (SignalKind::PermissionAsked | SignalKind::InputAsked, _) => {
                open.retain(has_name);
                open.push(signal);
            }
            (SignalKind::Working, Some(_)) => open.retain(|ask| ask.question != signal.question),
            (SignalKind::Working | SignalKind::PromptTaken, _) => open.retain(has_name),
            (
                SignalKind::SessionStarted
                | SignalKind::TurnDone
                | SignalKind::TurnFailed
                | SignalKind::Interrupted,
                _,
            ) => open.clear(),
        }
    }
    open
}

impl RunFolder {
    /// Asks: the question is there before anybody hears of it.
    pub fn ask(&self, question: &Question, mut signal: Signal) -> Result<()> {
        make_folder(&self.path.join("questions")).doing("write", &self.path)?;
        self.put(&question_name(&question.id), question)?;
        signal.at = question.at;
        signal.question = Some(question.id.clone());
        self.give_signal(&signal)
    }

    /// The questions with a name that nobody has answered, oldest first.
    pub fn questions(&self) -> Vec<Question> {
        let signals = self.signals();
        let names = open_asks(&signals)
            .into_iter()
            .filter_map(|ask| ask.question.as_deref());
        names.filter_map(|id| self.question(id)).collect()
    }

    /// A question by its name, whether it is open or not.
    pub fn question(&self, name: &str) -> Option<Question> {
        self.get(&question_name(name))
    }

    /// The answer that was handed over, if one was.
    pub fn given_answer(&self, question: &str) -> Option<QuestionAnswer> {
        self.get(&answer_name(question))
    }

    pub fn is_open(&self, question: &str) -> bool {
        let signals = self.signals();
        let open = open_asks(&signals);
        open.iter()
            .any(|ask| ask.question.as_deref() == Some(question))
    }

    /// Hands an answer over. False if there is one already.
    pub fn answer(&self, question: &str, answer: &QuestionAnswer) -> Result<bool> {
        let failed = |error: io::Error| Error::io("write", &self.path, &error);
        make_folder(&self.path.join("answers")).map_err(failed)?;
        let aside = format!("answers/{question}.{}", unique_name());
        self.put(&aside, answer)?;
        let aside = self.path.join(aside);
        // Unlike a rename it leaves an answer that is there.
        let linked = fs::hard_link(&aside, self.path.join(answer_name(question)));
        let _ = fs::remove_file(&aside);
        match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    /// Notes that a question is over; `how` says by what.
    pub fn settle(&self, question: &str, kind: SignalKind, how: &str) -> Result<()> {
        let signal = Signal {
            text: how.to_owned(),
            question: Some(question.to_owned()),
            ..Signal::now(kind)
        };
        self.give_signal(&signal)
    }

    /// Waits until a question is answered from outside, and gives the answer; None when it is over in another way.
    /// `elsewhere` says when an answer was given where the agent asked, and what the agent does since.
    pub fn wait_for_answer(
        &self,
        question: &Question,
        mut elsewhere: impl FnMut() -> Option<SignalKind>,
    ) -> Result<Option<QuestionAnswer>> {
        let mut length = None;
        loop {
            if let Some(answer) = self.given_answer(&question.id) {
                self.settle(&question.id, SignalKind::Working, &answer.words())?;
                return Ok(Some(answer));
            }
            let now = fs::metadata(self.path.join("signals.jsonl")).map(|found| found.len());
            let now = now.map_err(|_| err!(NotFound, "the run is over"))?;
            if length.replace(now) != Some(now) && !self.is_open(&question.id) {
                return Ok(None);
            }
            if !self.is_alive() {
                return Ok(None);
            }
            if let Some(kind) = elsewhere() {
                self.settle(&question.id, kind, IN_ITS_WINDOW)?;
                return Ok(None);
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// How an answer came that was given where the agent asked.
pub const IN_ITS_WINDOW: &str = "answered in its window";

fn question_name(question: &str) -> String {
    format!("questions/{question}.json")
}

fn answer_name(question: &str) -> String {
    format!("answers/{question}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(signals: &[(SignalKind, Option<&str>)]) -> Vec<Option<String>> {
        let signals: Vec<Signal> = signals
            .iter()
            .map(|(kind, question)| Signal {
                question: question.map(str::to_owned),
                ..Signal::now(*kind)
            })
            .collect();
        let open = open_asks(&signals);
        open.into_iter().map(|ask| ask.question.clone()).collect()
    }

    const ASKS: SignalKind = SignalKind::PermissionAsked;
    const WORKS: SignalKind = SignalKind::Working;

    #[test]
    fn a_named_question_is_closed_by_its_name_or_the_end_of_the_turn() {
        let two = [(ASKS, Some("a")), (ASKS, Some("b"))];
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(open(&two), [named("a"), named("b")]);
        let works = [&two[..], &[(WORKS, None)]].concat();
        assert_eq!(open(&works), [named("a"), named("b")]);
        let one = [&two[..], &[(WORKS, Some("a"))]].concat();
        assert_eq!(open(&one), [named("b")]);
        let over = [&two[..], &[(SignalKind::TurnDone, None)]].concat();
        assert_eq!(open(&over), [None; 0]);
    }

    #[test]
    fn one_without_a_name_is_closed_by_whatever_goes_on() {
        assert_eq!(open(&[(ASKS, None)]), [None]);
        assert_eq!(open(&[(ASKS, None), (WORKS, None)]), [None; 0]);
    }
}
