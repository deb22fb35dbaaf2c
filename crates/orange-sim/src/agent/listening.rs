//! What is typed, at any time: keys that make a message, interrupt, answer a question or quit.

use super::super::input::Input;
use super::super::keys::Key;
use super::super::typing::Typed;
use super::{Agent, Flow, Stop};
use serde_json::json;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

impl Agent {
    /// Takes in what was typed, waiting for it no longer than this.
    pub(crate) fn pump(&mut self, limit: Duration) -> Flow {
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

    fn receive(&mut self, input: Input) -> Flow {
        match input {
            Input::Key(key) if self.asking && answers(&key) => {
                self.answer = Some(key == Key::Character('y') || key == Key::Character('Y'));
            }
            Input::Key(key) => return self.key(key),
            Input::Line(line) if line.trim().is_empty() => {}
            Input::Line(line) => self.submit(line),
            // As the hangup would have ended it.
            Input::Closed if self.terminal.interactive => return Err(Stop::Exit(129)),
            Input::Closed => self.closed = true,
        }
        Ok(())
    }

    fn key(&mut self, key: Key) -> Flow {
        let swallowed = self.asking && !matches!(key, Key::Escape | Key::CtrlC | Key::CtrlD);
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
            Typed::Escape if self.in_turn => return Err(Stop::Interrupted),
            Typed::Escape => {}
            Typed::Leaving => self.show("Press Ctrl-C again to quit."),
            Typed::Quit(code) => return Err(Stop::Exit(code)),
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

fn answers(key: &Key) -> bool {
    matches!(key, Key::Character('y' | 'Y' | 'n' | 'N'))
}
