//! Carries out one step.

mod commands;
mod files;
mod flood;

use super::agent::{Agent, Flow, Stop, outside_answer};
use super::program::Running;
use super::script::{Action, Condition};
use super::text::{Text, VARIABLES, Variable};
use super::{program, signals, task_file};
use orange_sys::error::plain;
use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;
use std::io;
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

pub(super) fn failed(error: &io::Error) -> Stop {
    Stop::Failed(plain(error))
}

impl Agent {
    pub(super) fn act(&mut self, action: &Action, place: &str) -> Flow {
        match action {
            Action::Say(text) => {
                let text = self.fill(text);
                self.say(&text);
                Ok(())
            }
            Action::Pause(time) => self.pause(*time),
            Action::Section { name, text, how } => {
                let (name, text) = (self.fill(name), self.fill(text));
                task_file::write_section(&self.folder, &name, &text, *how)
                    .map_err(|error| Stop::Failed(format!("TASK.md: {}", plain(&error))))
            }
            Action::Frontmatter { fields, how } => {
                task_file::write_fields(&self.folder, fields, *how)
                    .map_err(|error| Stop::Failed(format!("TASK.md: {}", plain(&error))))
            }
            Action::Write { file, text, append } => self
                .write(&self.fill(file), &self.fill(text), *append)
                .map_err(|e| failed(&e)),
            Action::Fill { file, bytes } => self.fill_file(&self.fill(file), *bytes),
            Action::Delete(file) => self.delete(&self.fill(file)).map_err(|e| failed(&e)),
            Action::Commit {
                message,
                empty,
                wanted,
            } => self.commit(&self.fill(message), *empty, *wanted),
            Action::Git { arguments, wanted } => {
                let arguments = arguments.iter().map(|argument| self.fill(argument));
                self.command(program::git(arguments), *wanted)
            }
            Action::Orange { arguments, wanted } => {
                self.command(program::orange(arguments), *wanted)
            }
            Action::Run { command, wanted } => {
                self.command(program::shell(command, &self.variables()), *wanted)
            }
            Action::Child(command) => self.child(command),
            Action::Daemon { command, clear_env } => self.daemon(command, *clear_env),
            Action::WaitFor { condition, timeout } => self.wait_for(condition, *timeout),
            Action::If {
                condition,
                then,
                otherwise,
            } => {
                if self.holds(condition)? {
                    self.list(then, &format!("{place}.then."))
                } else {
                    self.list(otherwise, &format!("{place}.else."))
                }
            }
            Action::Repeat { times, steps } => {
                let mut left = *times;
                while left != Some(0) && !self.skipping {
                    let played = self.played();
                    self.list(steps, &format!("{place}."))?;
                    if played > 0 && self.played() == played {
                        // No turn ends in it, so there is nothing to pass over.
                        break;
                    }
                    left = left.map(|left| left - 1);
                }
                Ok(())
            }
            Action::EndTurn => self.change_turn(),
            Action::AskPermission {
                question,
                allowed,
                denied,
            } => {
                if self.ask(&self.fill(question))? {
                    self.list(allowed, &format!("{place}.allowed."))
                } else {
                    self.list(denied, &format!("{place}.denied."))
                }
            }
            Action::Fail { .. } if self.played() > 0 => self.change_turn(),
            Action::Fail { text, error, limit } => {
                let text = self.fill(text);
                self.fail(&text, error.as_deref(), *limit)
            }
            Action::LoseEnter(count) => {
                self.typing.lose_enter = *count;
                Ok(())
            }
            Action::Flood(flood) => self.flood(*flood),
            Action::Exit(code) => Err(Stop::Exit(*code)),
            Action::Crash(signal) => {
                self.events
                    .write("exiting", &json!({"signal": signal.as_raw()}));
                signals::die_by(*signal);
                // It may take a moment.
                for_ever()
            }
            Action::Hang { ignore } => {
                ignore.iter().copied().for_each(signals::ignore);
                self.events.write("hanging", &json!({}));
                for_ever()
            }
            Action::Stop => kill_process(getpid(), Signal::STOP).map_err(|e| failed(&e.into())),
        }
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
            Variable::Message => self.message.clone(),
            Variable::Prompt => prompt.to_owned(),
        }
    }

    /// The same values for shell commands: `SIM_SUMMARY` and so on.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let named = VARIABLES.iter().map(|(name, variable)| {
            (
                format!("SIM_{}", name.to_uppercase()),
                self.value(*variable),
            )
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
                Condition::Message(texts) => self.waiting_message(texts)?,
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
            Condition::Message(texts) => Ok(self.contains(&self.message, texts)),
            Condition::Status(statuses) => {
                let now = task_file::field(&self.folder, "status");
                Ok(now.is_some_and(|now| statuses.contains(&now)))
            }
            Condition::Command(command) => {
                let ended = self.wait_while(program::shell(command, &self.variables()))?;
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
        if let Some(answer) = self.unasked {
            return Ok(answer);
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
