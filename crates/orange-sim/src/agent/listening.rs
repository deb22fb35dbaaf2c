//! What is typed, at any time: keys that make a message, interrupt, answer a question or quit.

use super::super::input::TypedInput;
use super::super::keys::PressedKey;
use super::super::typing::Typed;
use super::{SimAgent, StepResult, StepStop};
use serde_json::json;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

impl SimAgent {
    /// Takes in what was typed, waiting for it no longer than this.
    pub(crate) fn pump(&mut self, limit: Duration) -> StepResult {
        match self.input.recv_timeout(limit) {
            Ok(input) => self.receive(input)?,
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(limit);
                return Ok(());
            }
        }
        while let Ok(input) = self.input.try_recv() {
            self.receive(input)?;
        }
        Ok(())
    }

    fn receive(&mut self, input: TypedInput) -> StepResult {
        match input {
            TypedInput::Key(key) if self.asking && answers(&key) => {
                self.answer =
                    Some(key == PressedKey::Character('y') || key == PressedKey::Character('Y'));
            }
            TypedInput::Key(key) => return self.key(key),
            TypedInput::Line(line) if line.trim().is_empty() => {}
            TypedInput::Line(line) => self.submit(line),
            // As the hangup would have ended it.
            TypedInput::Closed if self.terminal.interactive => return Err(StepStop::Exit(129)),
            TypedInput::Closed => self.closed = true,
        }
        Ok(())
    }

    fn key(&mut self, key: PressedKey) -> StepResult {
        let swallowed = self.asking
            && !matches!(
                key,
                PressedKey::Escape | PressedKey::CtrlC | PressedKey::CtrlD
            );
        if swallowed {
            // A question has the keyboard: what is meant for the input line is lost.
            self.events
                .write("input-ignored", &json!({"key": format!("{key:?}")}));
            return Ok(());
        }
        match self.typing.key(key) {
            Typed::Nothing => {}
            Typed::Submitted(text) => self.submit(text),
            Typed::Lost => self.events.write("enter-lost", &json!({})),
            Typed::Escape if self.in_turn => return Err(StepStop::Interrupted),
            Typed::Escape => {}
            Typed::Leaving => self.show("Press Ctrl-C again to quit."),
            Typed::Quit(code) => return Err(StepStop::Exit(code)),
        }
        self.terminal.draw(self.typing.line());
        Ok(())
    }

    fn submit(&mut self, text: String) {
        let about = json!({"text": text, "queued": self.in_turn});
        self.events.write("input", &about);
        self.queue.push_back(text);
    }
}

fn answers(key: &PressedKey) -> bool {
    matches!(key, PressedKey::Character('y' | 'Y' | 'n' | 'N'))
}
