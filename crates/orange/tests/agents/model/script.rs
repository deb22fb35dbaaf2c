//! What the model is to say: steps, the scripts they belong to, and which of them is next.

use super::request::{Human, Request};
use super::tools::Call;
use serde_json::Value;
use std::path::PathBuf;

/// One answer of the model, or one thing that goes wrong instead.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    kind: Kind,
    after: Option<PathBuf>,
    /// How often a fault happens before the script goes on.
    left: usize,
}

#[derive(Debug, Clone)]
enum Kind {
    Answer(Answer),
    Fault(Fault),
}

#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) usage: Usage,
}

/// Tokens that are reported.
#[derive(Debug, Clone)]
pub(super) struct Usage {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_written: u64,
}

impl Default for Usage {
    fn default() -> Usage {
        Usage {
            input: 100,
            output: 10,
            cache_read: 0,
            cache_written: 0,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Fault {
    Status {
        status: u16,
        headers: Vec<(String, String)>,
        body: Option<Value>,
    },
    /// The stream begins and never goes on.
    Hang,
    /// The connection ends after so many events of the answer.
    Cut(usize),
    /// Bytes that mean nothing.
    Junk,
}

/// Text, which ends the agent's turn.
pub(crate) fn say(text: &str) -> Step {
    Step::answer(Answer {
        text: Some(text.to_owned()),
        ..Answer::default()
    })
}

/// A call of the agent's shell.
pub(crate) fn shell(command: &str) -> Step {
    Step::call(Call::Shell(command.to_owned()))
}

/// A file is written, whole.
pub(crate) fn write(path: &str, text: &str) -> Step {
    Step::call(Call::Write {
        path: path.to_owned(),
        text: text.to_owned(),
    })
}

/// Text in a file is replaced.
pub(crate) fn edit(path: &str, old: &str, new: &str) -> Step {
    Step::call(Call::Edit {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    })
}

/// Any tool, with its arguments as they are.
pub(crate) fn tool(name: &str, arguments: Value) -> Step {
    Step::call(Call::Named {
        name: name.to_owned(),
        arguments,
    })
}

/// An HTTP error.
pub(crate) fn status(status: u16) -> Step {
    Step::fault(Fault::Status {
        status,
        headers: Vec::new(),
        body: None,
    })
}

/// The answer begins and never goes on.
pub(crate) fn hang() -> Step {
    Step::fault(Fault::Hang)
}

/// The next answer breaks off after so many events.
pub(crate) fn cut_stream_after(events: usize) -> Step {
    Step::fault(Fault::Cut(events))
}

/// An answer that is none.
pub(crate) fn junk() -> Step {
    Step::fault(Fault::Junk)
}

impl Step {
    fn answer(answer: Answer) -> Step {
        Step {
            kind: Kind::Answer(answer),
            after: None,
            left: 0,
        }
    }

    fn call(call: Call) -> Step {
        Step::answer(Answer {
            calls: vec![call],
            ..Answer::default()
        })
    }

    fn fault(fault: Fault) -> Step {
        Step {
            kind: Kind::Fault(fault),
            after: None,
            left: 1,
        }
    }

    fn with_answer(mut self, change: impl FnOnce(&mut Answer)) -> Step {
        match &mut self.kind {
            Kind::Answer(answer) => change(answer),
            Kind::Fault(fault) => panic!("not for a fault: {fault:?}"),
        }
        self
    }

    /// The tokens it took: new ones of the prompt, and those of the answer.
    pub(crate) fn usage(self, input: u64, output: u64) -> Step {
        self.with_answer(|answer| {
            answer.usage.input = input;
            answer.usage.output = output;
        })
    }

    /// The tokens that were read from the cache and written to it.
    pub(crate) fn cached(self, read: u64, written: u64) -> Step {
        self.with_answer(|answer| {
            answer.usage.cache_read = read;
            answer.usage.cache_written = written;
        })
    }

    /// Text before the calls, in the same answer.
    pub(crate) fn saying(self, text: &str) -> Step {
        self.with_answer(|answer| answer.text = Some(text.to_owned()))
    }

    /// More calls in the same answer.
    pub(crate) fn and(self, other: Step) -> Step {
        let Kind::Answer(other) = other.kind else {
            panic!("a fault cannot be a part of an answer");
        };
        self.with_answer(|answer| answer.calls.extend(other.calls))
    }

    /// Not before this file is there.
    pub(crate) fn after(mut self, file: impl Into<PathBuf>) -> Step {
        self.after = Some(file.into());
        self
    }

    /// How often it goes wrong before the script goes on; once, if nothing is said.
    pub(crate) fn times(mut self, times: usize) -> Step {
        let Kind::Fault(_) = self.kind else {
            panic!("an answer is given as often as it is asked for");
        };
        self.left = times;
        self
    }

    /// It goes wrong for ever.
    pub(crate) fn always(self) -> Step {
        self.times(usize::MAX)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Step {
        match &mut self.kind {
            Kind::Fault(Fault::Status { headers, .. }) => {
                headers.push((name.to_owned(), value.to_owned()));
            }
            other => panic!("only for a status: {other:?}"),
        }
        self
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Step {
        self.header("retry-after", &seconds.to_string())
    }

    /// Instead of the body that the protocol has for such an error.
    pub(crate) fn body(mut self, json: Value) -> Step {
        match &mut self.kind {
            Kind::Fault(Fault::Status { body, .. }) => *body = Some(json),
            other => panic!("only for a status: {other:?}"),
        }
        self
    }
}

/// What happens to one request.
#[derive(Debug, Clone, Default)]
pub(super) struct Play {
    pub(super) after: Option<PathBuf>,
    pub(super) fault: Option<Fault>,
    pub(super) answer: Answer,
}

impl Play {
    fn text(text: &str) -> Play {
        Play {
            answer: Answer {
                text: Some(text.to_owned()),
                ..Answer::default()
            },
            ..Play::default()
        }
    }
}

pub(super) struct Script {
    needle: String,
    steps: Vec<Step>,
}

impl Script {
    pub(super) fn new(needle: &str, steps: impl IntoIterator<Item = Step>) -> Script {
        let steps: Vec<Step> = steps.into_iter().collect();
        let answers = steps.iter().filter_map(|step| match &step.kind {
            Kind::Answer(answer) => Some(answer.calls.len()),
            Kind::Fault(_) => None,
        });
        let widths: Vec<usize> = answers.collect();
        let before_last = widths.split_last().map_or(&[][..], |(_, before)| before);
        assert!(
            !before_last.contains(&0),
            "text ends the turn, so nothing of the script for {needle:?} can follow it"
        );
        Script {
            needle: needle.to_owned(),
            steps,
        }
    }

    /// What comes after so many results of tools. Agents ask again after a fault, with the same conversation, so faults
    /// are counted.
    fn play(&mut self, results: usize) -> Play {
        let mut done = 0;
        let mut fault = None;
        for step in &mut self.steps {
            match &step.kind {
                Kind::Fault(next) if done == results && fault.is_none() && step.left > 0 => {
                    step.left -= 1;
                    fault = Some((next.clone(), step.after.clone()));
                }
                Kind::Fault(_) => {}
                Kind::Answer(answer) if results <= done => {
                    return with_fault(fault, answer.clone(), step.after.clone());
                }
                Kind::Answer(answer) => done += answer.calls.len(),
            }
        }
        with_fault(fault, Play::text("That is all.").answer, None)
    }
}

fn with_fault(
    fault: Option<(Fault, Option<PathBuf>)>,
    answer: Answer,
    after: Option<PathBuf>,
) -> Play {
    match fault {
        Some((fault, after)) => Play {
            after,
            fault: Some(fault),
            answer,
        },
        None => Play {
            after,
            fault: None,
            answer,
        },
    }
}

pub(super) struct Scripts {
    scripts: Vec<Script>,
    pub(super) otherwise: Script,
}

impl Default for Scripts {
    fn default() -> Scripts {
        Scripts {
            scripts: Vec::new(),
            otherwise: Script::new("", [say("I do not know what to do.")]),
        }
    }
}

impl Scripts {
    pub(super) fn add(&mut self, script: Script) {
        self.scripts.push(script);
    }

    /// What this request gets.
    pub(super) fn play(&mut self, request: &Request) -> Play {
        // A title for the session, a probe: nothing that belongs to the conversation.
        if request.tools.is_empty() {
            return Play::text("Scripted");
        }
        let (script, results) = self.find(&request.humans);
        script.play(results)
    }

    /// The script for the latest message, and the results since. A message that came in the middle of a turn and that
    /// no script is for changes nothing: the agent goes on with what it was doing.
    fn find(&mut self, humans: &[Human]) -> (&mut Script, usize) {
        let mut results = 0;
        for human in humans.iter().rev() {
            results += human.results;
            let mut scripts = self.scripts.iter();
            let at = scripts.rposition(|script| human.text.contains(&script.needle));
            if let Some(at) = at {
                return (&mut self.scripts[at], results);
            }
            if !human.in_turn {
                break;
            }
        }
        (&mut self.otherwise, results)
    }
}
