//! The agent itself: its turns, and the steps of each.

mod hooks;
mod listening;

use super::SimSettings;
use super::events::Events;
use super::headless::Talk;
use super::input::{self, TypedInput};
use super::script::{ScriptAction, ScriptStep, WhichRun};
use super::terminal::AgentTerminal;
use super::typing::Typing;
pub(super) use hooks::outside_answer;
use orange_core::Timestamp;
use orange_sys::error::plain;
use serde_json::json;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::process::Child;
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// What it says to a message for which the script has no steps.
const NOTHING_LEFT: &str = "There is nothing left to do in my script.";
const IDLE: Duration = Duration::from_secs(1);

/// Why a step did not come to its end.
#[derive(Debug)]
pub(super) enum StepStop {
    /// It says so and goes on with the next one.
    Failed(String),
    /// Escape: the turn is over.
    Interrupted,
    Exit(i32),
}

pub(super) type StepResult = Result<(), StepStop>;

impl From<io::Error> for StepStop {
    fn from(error: io::Error) -> StepStop {
        StepStop::Failed(plain(&error))
    }
}

pub(super) struct SimAgent {
    pub(super) folder: PathBuf,
    pub(super) run: WhichRun,
    pub(super) terminal: AgentTerminal,
    pub(super) events: Events,
    pub(super) typing: Typing,
    pub(super) children: Vec<Child>,
    pub(super) prompt: Option<String>,
    pub(super) message: String,
    /// While a question is on the screen; then the answer to it.
    pub(super) asking: bool,
    pub(super) answer: Option<bool>,
    /// Messages that have been submitted and not been taken.
    pub(super) queue: VecDeque<String>,
    pub(super) closed: bool,
    run_id: Option<String>,
    input: Receiver<TypedInput>,
    in_turn: bool,
    /// After an interruption: on to the end of this turn.
    pub(super) skipping: bool,
    steps_in_turn: usize,
    last_said: String,
    /// How its turn failed, if it did.
    end: TurnEnd,
    /// Turns of the script that an earlier process has played, and that are still to be passed over.
    pub(super) played: usize,
    /// For a turn without a terminal. Nobody is there to be asked then.
    pub(super) headless: Option<Talk>,
}

/// What became of a turn, for whoever asked for it without a terminal.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnEnd {
    /// None: it went well.
    pub(super) failure: Option<String>,
    /// What kind of failure, in a word.
    pub(super) kind: Option<String>,
    /// When a usage limit ends.
    pub(super) until: Option<String>,
}

impl SimAgent {
    pub(super) fn new(
        settings: SimSettings,
        run: WhichRun,
        terminal: AgentTerminal,
        events: Events,
    ) -> SimAgent {
        let prompt = settings.prompt.filter(|prompt| !prompt.trim().is_empty());
        SimAgent {
            folder: settings.folder,
            run,
            input: input::start(terminal.interactive),
            terminal,
            events,
            typing: Typing::default(),
            children: Vec::new(),
            queue: prompt.into_iter().collect(),
            prompt: None,
            message: String::new(),
            asking: false,
            answer: None,
            closed: false,
            run_id: settings.run_id,
            in_turn: false,
            skipping: false,
            steps_in_turn: 0,
            last_said: String::new(),
            end: TurnEnd::default(),
            played: 0,
            headless: None,
        }
    }

    /// Says how its turn ended, where somebody asked for one; nothing in the middle of a turn.
    pub(super) fn tell_end(&mut self) -> orange_sys::Result<()> {
        match &mut self.headless {
            Some(headless) if !self.in_turn => headless.end(&self.end),
            Some(_) | None => Ok(()),
        }
    }

    /// Lives until something ends it; gives the exit code.
    pub(super) fn live(&mut self, steps: &[ScriptStep]) -> i32 {
        let WhichRun {
            role,
            round,
            attempt,
            ..
        } = self.run;
        self.show(&format!(
            "orange sim: {role}, round {round}, attempt {attempt}"
        ));
        let code = match self.all_turns(steps) {
            Err(StepStop::Exit(code)) => code,
            Ok(()) | Err(StepStop::Failed(_) | StepStop::Interrupted) => 0,
        };
        self.events.write("exiting", &json!({"code": code}));
        code
    }

    fn all_turns(&mut self, steps: &[ScriptStep]) -> StepResult {
        if self.played == 0 {
            self.next_turn()?;
        }
        self.list(steps, "")?;
        if self.played > 0 {
            self.played = 0;
            self.next_turn()?;
        }
        loop {
            if self.in_turn && self.steps_in_turn == 0 {
                self.say(NOTHING_LEFT);
            }
            self.end_turn();
            self.next_turn()?;
        }
    }

    /// Carries out steps one after the other. `inside` says which step they belong to.
    pub(super) fn list(&mut self, steps: &[ScriptStep], inside: &str) -> StepResult {
        for (index, step) in steps.iter().enumerate() {
            // What ends a turn, or may have an end of a turn in it, is counted.
            let counts = matches!(
                step.action,
                ScriptAction::Repeat { .. } | ScriptAction::Fail { .. }
            );
            let is_played = self.played > 0 && !counts;
            if (self.skipping || is_played) && !matches!(step.action, ScriptAction::EndTurn {}) {
                continue;
            }
            let place = format!("{inside}{}", index + 1);
            match self.step(step, &place) {
                Err(StepStop::Interrupted) => self.interrupted(),
                other => other?,
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &ScriptStep, place: &str) -> StepResult {
        let mut about = json!({"index": place, "step": step.name, "line": step.line});
        self.events.write("step-begun", &about);
        self.steps_in_turn += 1;
        let speaks = matches!(
            step.action,
            ScriptAction::Say(_)
                | ScriptAction::Answer(_)
                | ScriptAction::Use(_)
                | ScriptAction::EndTurn {}
        );
        if let Some(headless) = self.headless.as_ref().filter(|_| !speaks) {
            headless.step(&step.name, step.line);
        }
        self.children
            .retain_mut(|child| matches!(child.try_wait(), Ok(None)));
        // Escape at the very end of a turn has nothing to interrupt, and must not cost the next one.
        let heard = match step.action {
            ScriptAction::EndTurn {} => Ok(()),
            _ => self.pump(Duration::ZERO),
        };
        match heard.and_then(|()| self.act(&step.action, place)) {
            Err(StepStop::Failed(reason)) => {
                self.show(&format!("! {}: {reason}", step.name));
                about["reason"] = reason.into();
                self.events.write("step-failed", &about);
            }
            Ok(()) => self.events.write("step-ended", &about),
            Err(stop @ (StepStop::Interrupted | StepStop::Exit(_))) => return Err(stop),
        }
        Ok(())
    }

    /// Ends the turn and waits for the message that begins the next.
    pub(super) fn change_turn(&mut self) -> StepResult {
        if self.played > 1 {
            self.played -= 1;
            return Ok(());
        }
        self.played = 0;
        self.end_turn();
        self.next_turn()
    }

    /// The model's service fails: the turn is over, and the next message begins another.
    pub(super) fn fail(
        &mut self,
        text: &str,
        error: Option<&str>,
        limit: Option<Duration>,
    ) -> StepResult {
        self.show(&format!("! {text}"));
        self.in_turn = false;
        let until = limit.map(|limit| (Timestamp::now() + limit).to_string());
        self.end = TurnEnd {
            failure: Some(text.to_owned()),
            kind: error.map(str::to_owned),
            until: until.clone(),
        };
        let about = json!({"text": text, "error": error, "until": until});
        self.events.write("turn-failed", &about);
        let options = [("error", error), ("until", until.as_deref())];
        let options = options.into_iter();
        let more: Vec<String> = options
            .filter_map(|(name, value)| Some(format!("--{name}={}", value?)))
            .collect();
        self.signal_with("turn-failed", text, &more);
        self.next_turn()
    }

    fn end_turn(&mut self) {
        self.skipping = false;
        // An interrupted turn is over already, and real agents tell nobody.
        if std::mem::replace(&mut self.in_turn, false) {
            let line = self.last_said.clone();
            self.events.write("turn-done", &json!({"text": line}));
            self.signal("turn-done", &line);
        }
    }

    fn next_turn(&mut self) -> StepResult {
        let message = loop {
            if let Some(message) = self.queue.pop_front() {
                break message;
            }
            if self.closed {
                return Err(StepStop::Exit(0));
            }
            self.pump(IDLE)?;
        };
        self.in_turn = true;
        self.steps_in_turn = 0;
        self.last_said.clear();
        self.take_message(message);
        Ok(())
    }

    /// A message reaches the agent.
    pub(super) fn take_message(&mut self, message: String) {
        self.show(&format!("> {}", shortened(&message)));
        self.events.write("prompt-taken", &json!({"text": message}));
        self.signal("prompt-taken", &message);
        self.prompt.get_or_insert_with(|| message.clone());
        self.message = message;
    }

    fn interrupted(&mut self) {
        self.in_turn = false;
        self.skipping = true;
        self.asking = false;
        self.show("Interrupted.");
        self.events.write("interrupted", &json!({}));
    }

    /// What the agent says; its last line goes with the end of the turn.
    pub(super) fn say(&mut self, text: &str) {
        if let Some(line) = text.lines().rfind(|line| !line.trim().is_empty()) {
            self.last_said = line.to_owned();
            if let Some(headless) = &self.headless {
                headless.said(text);
            }
        }
        self.show(text);
    }

    /// What is only to be seen.
    pub(super) fn show(&self, text: &str) {
        self.terminal.say(text, self.typing.line());
    }
}

/// The first lines of a message.
fn shortened(message: &str) -> String {
    const MOST: usize = 5;
    let count = message.lines().count();
    let mut lines: Vec<String> = message
        .lines()
        .take(MOST)
        .map(|line| line.chars().take(400).collect())
        .collect();
    if count > MOST {
        lines.push(format!("… and {} lines more", count - MOST));
    }
    lines.join("\n  ")
}
