//! Carries out one step.

mod answer;
mod commands;
mod files;
mod flood;

pub(super) use answer::BAD_BYTES;

use super::agent::{SimAgent, StepResult, StepStop, outside_answer};
use super::program::RunningProgram;
use super::script::{
    Artifact, How, Only, ScriptAction, ScriptVerdict, WaitCondition, WrittenFile, expected,
};
use super::text::{ScriptText, TextVariable};
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

fn task_file_failed(error: &io::Error) -> StepStop {
    StepStop::Failed(format!("TASK.md: {}", plain(error)))
}

impl SimAgent {
    pub(super) fn act(&mut self, action: &ScriptAction, place: &str) -> StepResult {
        match action {
            ScriptAction::Say(Only { value }) => {
                let text = self.fill(value);
                self.say(&text);
                Ok(())
            }
            ScriptAction::Pause(time) => self.pause(time.value.0),
            ScriptAction::Plan(artifact) => self.artifact("Plan", artifact),
            ScriptAction::Handoff(artifact) => self.artifact("Handoff", artifact),
            ScriptAction::Questions(artifact) => self.artifact("Questions", artifact),
            ScriptAction::Review { value, text, how } => {
                let verdict = match value {
                    ScriptVerdict::Pass => "Verdict: PASS",
                    ScriptVerdict::Fail => "Verdict: FAIL",
                };
                let text = text
                    .as_ref()
                    .map(|text| self.fill(text))
                    .unwrap_or_default();
                self.section("Review", &format!("{verdict}\n\n{text}"), *how)
            }
            ScriptAction::Section { value, text, how } => {
                self.section(&self.fill(value), &self.fill(text), *how)
            }
            ScriptAction::Frontmatter { value, how } => {
                let how = how.as_ref().map_or(How::Truncate, |how| how.0);
                task_file::write_fields(&self.folder, value, how).map_err(|e| task_file_failed(&e))
            }
            ScriptAction::Write(WrittenFile { file, text }) => {
                Ok(self.write(&self.fill(file), &self.fill(text), false)?)
            }
            ScriptAction::Append(WrittenFile { file, text }) => {
                Ok(self.write(&self.fill(file), &self.fill(text), true)?)
            }
            ScriptAction::Fill { value, size } => self.fill_file(&self.fill(value), size.0),
            ScriptAction::Delete(file) => Ok(self.delete(&self.fill(&file.value))?),
            ScriptAction::Commit {
                value,
                empty,
                expect,
                ignore,
            } => {
                let expected = expected(expect.as_ref(), *ignore);
                self.commit(&self.fill(value), *empty, expected)
            }
            ScriptAction::Git(command) => {
                let arguments = command.value.iter().map(|argument| self.fill(argument));
                self.command(program::git(arguments), command.expected())
            }
            // Any word: that a status is refused is a thing to rehearse.
            ScriptAction::Status(command) => {
                let status = format!("--status={}", command.value.0);
                let program = program::orange(["task", "update", &status]);
                self.command(program, command.expected())
            }
            ScriptAction::Complete(command) => {
                self.command(program::orange(["task", "complete"]), command.expected())
            }
            ScriptAction::Stuck(command) => {
                self.command(program::orange(["task", "stuck"]), command.expected())
            }
            ScriptAction::Run(command) => {
                let program = program::shell(&command.value.0, &self.variables());
                self.command(program, command.expected())
            }
            ScriptAction::Child(command) => self.child(&command.value.0),
            ScriptAction::Daemon { value, clear_env } => self.daemon(&value.0, *clear_env),
            ScriptAction::WaitFor { value, timeout } => {
                self.wait_for(&value.0, timeout.as_ref().map(|time| time.0))
            }
            ScriptAction::If {
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
            ScriptAction::Repeat { value, steps } => {
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
            ScriptAction::EndTurn {} => self.change_turn(),
            ScriptAction::AskPermission {
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
            ScriptAction::Fail { .. } if self.played > 0 => self.change_turn(),
            ScriptAction::Fail {
                value,
                error,
                limit,
            } => {
                let text = self.fill(value);
                let error = error.as_ref().map(|error| error.0.as_str());
                self.fail(&text, error, limit.as_ref().map(|limit| limit.0))
            }
            ScriptAction::Answer(answer) => {
                self.answer(answer);
                Ok(())
            }
            ScriptAction::Use(Only { value }) => Ok(self.use_tokens(value)?),
            ScriptAction::LoseEnter(Only { value }) => {
                self.typing.lose_enter = value.as_ref().map_or(1, |count| count.0.get());
                Ok(())
            }
            ScriptAction::Flood(flood) => self.flood(flood),
            ScriptAction::Exit(Only { value }) => Err(StepStop::Exit(
                value.as_ref().map_or(0, |code| i32::from(code.0)),
            )),
            ScriptAction::Crash(Only { value }) => {
                let signal = value.as_ref().map_or(Signal::SEGV, |signal| signal.0);
                self.events
                    .write("exiting", &json!({"signal": signal.as_raw()}));
                signals::die_by(signal);
                // It may take a moment.
                for_ever()
            }
            ScriptAction::Hang { ignore } => {
                let ignored = ignore.iter().flat_map(|ignored| &ignored.0);
                ignored.copied().for_each(signals::ignore);
                self.events.write("hanging", &json!({}));
                for_ever()
            }
            ScriptAction::Stop {} => {
                Ok(kill_process(getpid(), Signal::STOP).map_err(io::Error::from)?)
            }
        }
    }

    fn artifact(&self, name: &str, artifact: &Artifact) -> StepResult {
        self.section(name, &self.fill(&artifact.text), artifact.how)
    }

    fn section(&self, name: &str, text: &str, how: Option<How>) -> StepResult {
        task_file::write_section(&self.folder, name, text, how).map_err(|e| task_file_failed(&e))
    }

    pub(super) fn fill(&self, text: &ScriptText) -> String {
        text.fill(|variable| self.value(variable))
    }

    fn value(&self, variable: TextVariable) -> String {
        let field =
            |name: &str| task_file::field(&self.folder, name).filter(|value| !value.is_empty());
        let prompt = self.prompt.as_deref().unwrap_or_default();
        match variable {
            TextVariable::Summary => field("summary")
                .unwrap_or_else(|| prompt.lines().next().unwrap_or_default().to_owned()),
            // It may have been renamed since.
            TextVariable::Branch => self
                .current_branch()
                .or_else(|| field("branch"))
                .unwrap_or_default(),
            TextVariable::Key => field("key").unwrap_or_else(|| "sim".into()),
            TextVariable::Role => self.run.role.as_str().into(),
            TextVariable::Round => self.run.round.to_string(),
            TextVariable::Attempt => self.run.attempt.to_string(),
            TextVariable::Phase => self.run.phase.clone().unwrap_or_default(),
            TextVariable::Iteration => self.run.iteration.to_string(),
            TextVariable::Message => self.message.clone(),
            TextVariable::Prompt => prompt.to_owned(),
        }
    }

    /// The same values for shell commands: `SIM_SUMMARY` and so on.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let named = TextVariable::ALL.iter().map(|variable| {
            let name = variable.as_str().to_uppercase();
            (format!("SIM_{name}"), self.value(*variable))
        });
        named.collect()
    }

    fn pause(&mut self, time: Duration) -> StepResult {
        let begun = Instant::now();
        while let Some(left) = time
            .checked_sub(begun.elapsed())
            .filter(|left| !left.is_zero())
        {
            self.pump(left)?;
        }
        Ok(())
    }

    fn wait_for(&mut self, condition: &WaitCondition, timeout: Option<Duration>) -> StepResult {
        let begun = Instant::now();
        let nap = match condition {
            WaitCondition::Command(_) => LOOK_BY_COMMAND,
            WaitCondition::File(_) | WaitCondition::Message(_) | WaitCondition::Status(_) => LOOK,
        };
        loop {
            let met = match condition {
                WaitCondition::Message(texts) => self.waiting_message(&texts.0)?,
                WaitCondition::File(_) | WaitCondition::Status(_) | WaitCondition::Command(_) => {
                    self.holds(condition)?
                }
            };
            if met {
                return Ok(());
            }
            if timeout.is_some_and(|limit| begun.elapsed() >= limit) {
                return Err(StepStop::Failed("it did not happen in time".into()));
            }
            self.pump(nap)?;
        }
    }

    fn holds(&mut self, condition: &WaitCondition) -> Result<bool, StepStop> {
        match condition {
            WaitCondition::File(file) => Ok(self.folder.join(self.fill(file)).exists()),
            WaitCondition::Message(texts) => Ok(self.contains(&self.message, &texts.0)),
            WaitCondition::Status(statuses) => {
                let now = task_file::field(&self.folder, "status");
                Ok(now.is_some_and(|now| statuses.0.contains(&now)))
            }
            WaitCondition::Command(command) => {
                let ended = self.wait_while(program::shell(&command.0, &self.variables()))?;
                Ok(ended.code() == Some(0))
            }
        }
    }

    /// Takes the first waiting message that fits into this turn, as some agents do.
    fn waiting_message(&mut self, texts: &[ScriptText]) -> Result<bool, StepStop> {
        let fits = |message: &String| self.contains(message, texts);
        let position = self.queue.iter().position(fits);
        match position.and_then(|position| self.queue.remove(position)) {
            Some(message) => {
                self.take_message(message);
                Ok(true)
            }
            None if self.closed => Err(StepStop::Exit(0)),
            None => Ok(false),
        }
    }

    fn contains(&self, message: &str, texts: &[ScriptText]) -> bool {
        let message = message.to_lowercase();
        let mut texts = texts.iter().map(|text| self.fill(text).to_lowercase());
        texts.len() == 0 || texts.any(|text| message.contains(&text))
    }

    fn ask(&mut self, question: &str) -> Result<bool, StepStop> {
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
    fn wait_for_yes_or_no(&mut self, hook: &mut Option<RunningProgram>) -> Result<bool, StepStop> {
        loop {
            if let Some(answer) = self.answer.take().or_else(|| self.line_answer()) {
                return Ok(answer);
            }
            if let Some(answer) = outside_answer(hook) {
                return Ok(answer);
            }
            if self.closed {
                return Err(StepStop::Exit(0));
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
