//! Carries out one step.

mod answer;
mod commands;
mod files;
mod flood;

pub(super) use answer::BAD_BYTES;

use super::agent::{Agent, Flow, Stop, outside_answer};
use super::program::Running;
use super::script::{Action, Artifact, Condition, Content, How, Only, Verdict, expected};
use super::text::{Text, Variable};
use super::{program, signals, task_file};
use orange_sys::error::plain;
use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;
use std::io;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// Between two looks at a condition.
const LOOK: Duration = Duration::from_millis(10);
/// The same where a look starts a program.
const LOOK_BY_COMMAND: Duration = Duration::from_millis(100);
const PIECE: usize = 64 * 1024;

/// Nothing comes from here any more, and nothing is listened to.
fn for_ever() -> ! {
    loop {
        std::thread::park();
    }
}

fn task_file_failed(error: &io::Error) -> Stop {
    Stop::Failed(format!("TASK.md: {}", plain(error)))
}

impl Agent {
    pub(super) fn act(&mut self, action: &Action, place: &str) -> Flow {
        match action {
            Action::Say(Only { value }) => {
                let text = self.fill(value);
                self.say(&text);
                Ok(())
            }
            Action::Pause(time) => self.pause(time.value.0),
            Action::Plan(artifact) => self.artifact("Plan", artifact),
            Action::Handoff(artifact) => self.artifact("Handoff", artifact),
            Action::Questions(artifact) => self.artifact("Questions", artifact),
            Action::Review { value, text, how } => {
                let verdict = match value {
                    Verdict::Pass => "Verdict: PASS",
                    Verdict::Fail => "Verdict: FAIL",
                };
                let text = text
                    .as_ref()
                    .map(|text| self.fill(text))
                    .unwrap_or_default();
                self.section("Review", &format!("{verdict}\n\n{text}"), *how)
            }
            Action::Section { value, text, how } => {
                self.section(&self.fill(value), &self.fill(text), *how)
            }
            Action::Frontmatter { value, how } => {
                let how = how.as_ref().map_or(How::Truncate, |how| how.0);
                task_file::write_fields(&self.folder, value, how).map_err(|e| task_file_failed(&e))
            }
            Action::Write(Content { file, text }) => {
                Ok(self.write(&self.fill(file), &self.fill(text), false)?)
            }
            Action::Append(Content { file, text }) => {
                Ok(self.write(&self.fill(file), &self.fill(text), true)?)
            }
            Action::Fill { value, size } => self.fill_file(&self.fill(value), size.0),
            Action::Delete(file) => Ok(self.delete(&self.fill(&file.value))?),
            Action::Commit {
                value,
                empty,
                expect,
                ignore,
            } => {
                let expected = expected(expect.as_ref(), *ignore);
                self.commit(&self.fill(value), *empty, expected)
            }
            Action::Git(command) => {
                let arguments = command.value.iter().map(|argument| self.fill(argument));
                self.command(program::git(arguments), command.expected())
            }
            // Any word: that a status is refused is a thing to rehearse.
            Action::Status(command) => {
                let status = format!("--status={}", command.value.0);
                let program = program::orange(["task", "update", &status]);
                self.command(program, command.expected())
            }
            Action::Complete(command) => {
                self.command(program::orange(["task", "complete"]), command.expected())
            }
            Action::Stuck(command) => {
                self.command(program::orange(["task", "stuck"]), command.expected())
            }
            Action::Run(command) => {
                let program = program::shell(&command.value.0, &self.variables());
                self.command(program, command.expected())
            }
            Action::Child(command) => self.child(&command.value.0),
            Action::Daemon { value, clear_env } => self.daemon(&value.0, *clear_env),
            Action::WaitFor { value, timeout } => {
                self.wait_for(&value.0, timeout.as_ref().map(|time| time.0))
            }
            Action::If {
                value,
                then,
                otherwise,
            } => {
                if self.holds(&value.0)? {
                    self.list(then, &format!("{place}.then."))
                } else {
                    self.list(otherwise, &format!("{place}.else."))
                }
            }
            Action::Repeat { value, steps } => {
                let mut left = value.0.map(NonZeroU32::get);
                while left != Some(0) && !self.skipping {
                    let played = self.played;
                    self.list(&steps.0, &format!("{place}."))?;
                    if played > 0 && self.played == played {
                        // No turn ends in it, so there is nothing to pass over.
                        break;
                    }
                    left = left.map(|left| left - 1);
                }
                Ok(())
            }
            Action::EndTurn {} => self.change_turn(),
            Action::AskPermission {
                value,
                allowed,
                denied,
            } => {
                if self.ask(&self.fill(value))? {
                    self.list(allowed, &format!("{place}.allowed."))
                } else {
                    self.list(denied, &format!("{place}.denied."))
                }
            }
            Action::Fail { .. } if self.played > 0 => self.change_turn(),
            Action::Fail {
                value,
                error,
                limit,
            } => {
                let text = self.fill(value);
                let error = error.as_ref().map(|error| error.0.as_str());
                self.fail(&text, error, limit.as_ref().map(|limit| limit.0))
            }
            Action::Answer(answer) => {
                self.answer(answer);
                Ok(())
            }
            Action::Use(Only { value }) => Ok(self.use_tokens(value)?),
            Action::LoseEnter(Only { value }) => {
                self.typing.lose_enter = value.as_ref().map_or(1, |count| count.0.get());
                Ok(())
            }
            Action::Flood(flood) => self.flood(flood),
            Action::Exit(Only { value }) => Err(Stop::Exit(
                value.as_ref().map_or(0, |code| i32::from(code.0)),
            )),
            Action::Crash(Only { value }) => {
                let signal = value.as_ref().map_or(Signal::SEGV, |signal| signal.0);
                self.events
                    .write("exiting", &json!({"signal": signal.as_raw()}));
                signals::die_by(signal);
                // It may take a moment.
                for_ever()
            }
            Action::Hang { ignore } => {
                let ignored = ignore.iter().flat_map(|ignored| &ignored.0);
                ignored.copied().for_each(signals::ignore);
                self.events.write("hanging", &json!({}));
                for_ever()
            }
            Action::Stop {} => Ok(kill_process(getpid(), Signal::STOP).map_err(io::Error::from)?),
        }
    }

    fn artifact(&self, name: &str, artifact: &Artifact) -> Flow {
        self.section(name, &self.fill(&artifact.text), artifact.how)
    }

    fn section(&self, name: &str, text: &str, how: Option<How>) -> Flow {
        task_file::write_section(&self.folder, name, text, how).map_err(|e| task_file_failed(&e))
    }

    pub(super) fn fill(&self, text: &Text) -> String {
        text.fill(|variable| self.value(variable))
    }

    fn value(&self, variable: Variable) -> String {
        let field =
            |name: &str| task_file::field(&self.folder, name).filter(|value| !value.is_empty());
        let prompt = self.prompt.as_deref().unwrap_or_default();
        match variable {
            Variable::Summary => field("summary")
                .unwrap_or_else(|| prompt.lines().next().unwrap_or_default().to_owned()),
            // It may have been renamed since.
            Variable::Branch => self
                .current_branch()
                .or_else(|| field("branch"))
                .unwrap_or_default(),
            Variable::Key => field("key").unwrap_or_else(|| "sim".into()),
            Variable::Role => self.run.role.as_str().into(),
            Variable::Round => self.run.round.to_string(),
            Variable::Attempt => self.run.attempt.to_string(),
            Variable::Phase => self.run.phase.clone().unwrap_or_default(),
            Variable::Iteration => self.run.iteration.to_string(),
            Variable::Message => self.message.clone(),
            Variable::Prompt => prompt.to_owned(),
        }
    }

    /// The same values for shell commands: `SIM_SUMMARY` and so on.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let named = Variable::ALL.iter().map(|variable| {
            let name = variable.as_str().to_uppercase();
            (format!("SIM_{name}"), self.value(*variable))
        });
        named.collect()
    }

    fn pause(&mut self, time: Duration) -> Flow {
        let begun = Instant::now();
        while let Some(left) = time
            .checked_sub(begun.elapsed())
            .filter(|left| !left.is_zero())
        {
            self.pump(left)?;
        }
        Ok(())
    }

    fn wait_for(&mut self, condition: &Condition, timeout: Option<Duration>) -> Flow {
        let begun = Instant::now();
        let nap = match condition {
            Condition::Command(_) => LOOK_BY_COMMAND,
            Condition::File(_) | Condition::Message(_) | Condition::Status(_) => LOOK,
        };
        loop {
            let met = match condition {
                Condition::Message(texts) => self.waiting_message(&texts.0)?,
                Condition::File(_) | Condition::Status(_) | Condition::Command(_) => {
                    self.holds(condition)?
                }
            };
            if met {
                return Ok(());
            }
            if timeout.is_some_and(|limit| begun.elapsed() >= limit) {
                return Err(Stop::Failed("it did not happen in time".into()));
            }
            self.pump(nap)?;
        }
    }

    fn holds(&mut self, condition: &Condition) -> Result<bool, Stop> {
        match condition {
            Condition::File(file) => Ok(self.folder.join(self.fill(file)).exists()),
            Condition::Message(texts) => Ok(self.contains(&self.message, &texts.0)),
            Condition::Status(statuses) => {
                let now = task_file::field(&self.folder, "status");
                Ok(now.is_some_and(|now| statuses.0.contains(&now)))
            }
            Condition::Command(command) => {
                let ended = self.wait_while(program::shell(&command.0, &self.variables()))?;
                Ok(ended.code() == Some(0))
            }
        }
    }

    /// Takes the first waiting message that fits into this turn, as some agents do.
    fn waiting_message(&mut self, texts: &[Text]) -> Result<bool, Stop> {
        let fits = |message: &String| self.contains(message, texts);
        let position = self.queue.iter().position(fits);
        match position.and_then(|position| self.queue.remove(position)) {
            Some(message) => {
                self.take_message(message);
                Ok(true)
            }
            None if self.closed => Err(Stop::Exit(0)),
            None => Ok(false),
        }
    }

    fn contains(&self, message: &str, texts: &[Text]) -> bool {
        let message = message.to_lowercase();
        let mut texts = texts.iter().map(|text| self.fill(text).to_lowercase());
        texts.len() == 0 || texts.any(|text| message.contains(&text))
    }

    fn ask(&mut self, question: &str) -> Result<bool, Stop> {
        if let Some(headless) = &self.headless {
            return Ok(headless.allows());
        }
        self.show(&format!("{question} (y/n)"));
        self.answer = None;
        self.asking = true;
        self.events
            .write("permission-asked", &json!({"text": question}));
        let mut hook = self.ask_outside(question);
        let answered = self.wait_for_yes_or_no(&mut hook);
        self.asking = false;
        if let Some(hook) = hook {
            // It was answered here, or will not be.
            hook.kill();
            self.question_is_over(answered.is_ok());
        }
        let allowed = answered?;
        self.events
            .write("permission-answered", &json!({"allowed": allowed}));
        self.show(if allowed { "Allowed." } else { "Denied." });
        Ok(allowed)
    }

    /// Whoever is first: a key, a line, or somebody who answers through Orange.
    fn wait_for_yes_or_no(&mut self, hook: &mut Option<Running>) -> Result<bool, Stop> {
        loop {
            if let Some(answer) = self.answer.take().or_else(|| self.line_answer()) {
                return Ok(answer);
            }
            if let Some(answer) = outside_answer(hook) {
                return Ok(answer);
            }
            if self.closed {
                return Err(Stop::Exit(0));
            }
            self.pump(LOOK)?;
        }
    }

    /// Without a terminal an answer is a line like any other.
    fn line_answer(&mut self) -> Option<bool> {
        let answers = |line: &String| {
            !line.is_empty()
                && ["yes", "no"]
                    .iter()
                    .any(|word| word.starts_with(line.trim()))
        };
        let line = (!self.terminal.interactive)
            .then(|| self.queue.front())
            .flatten();
        line.filter(|line| answers(line))?;
        self.queue.pop_front().map(|line| line.starts_with('y'))
    }
}
