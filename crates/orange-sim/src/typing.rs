//! The line being typed, and what keys make of it.

use super::keys::Key;

#[derive(Debug, Default)]
pub(super) struct Typing {
    line: String,
    /// The last key was Ctrl-C: another one quits.
    leaving: bool,
    /// So many Enter are lost, as happens to those that come too soon.
    pub(super) lose_enter: u32,
}

/// What a key led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Nothing,
    Submitted(String),
    /// An Enter that the script told it to lose.
    Lost,
    Escape,
    /// The first Ctrl-C.
    Leaving,
    Quit(i32),
}

impl Typing {
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn key(&mut self, key: Key) -> Typed {
        let leaving = std::mem::replace(&mut self.leaving, key == Key::CtrlC);
        match key {
            Key::Character(character) => self.line.push(character),
            Key::LineEnd => self.line.push('\n'),
            Key::Paste(text) => self.line.push_str(&text),
            Key::Backspace => {
                self.line.pop();
            }
            Key::Clear => self.line.clear(),
            Key::Enter => return self.enter(),
            Key::Escape => return Typed::Escape,
            Key::CtrlC if leaving => return Typed::Quit(130),
            Key::CtrlC => {
                self.line.clear();
                return Typed::Leaving;
            }
            Key::CtrlD if self.line.is_empty() => return Typed::Quit(0),
            Key::CtrlD | Key::Other => {}
        }
        Typed::Nothing
    }

    fn enter(&mut self) -> Typed {
        if self.line.trim().is_empty() {
            return Typed::Nothing;
        }
        if self.lose_enter > 0 {
            self.lose_enter -= 1;
            return Typed::Lost;
        }
        Typed::Submitted(std::mem::take(&mut self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(typing: &mut Typing, text: &str) {
        for character in text.chars() {
            assert_eq!(typing.key(Key::Character(character)), Typed::Nothing);
        }
    }

    #[test]
    fn what_is_typed_and_pasted_is_submitted_by_enter_alone() {
        let mut typing = Typing::default();
        typed(&mut typing, "aö");
        typing.key(Key::Backspace);
        typing.key(Key::Paste("x\ny".into()));
        typing.key(Key::LineEnd);
        assert_eq!(typing.key(Key::Enter), Typed::Submitted("ax\ny\n".into()));
        assert_eq!(typing.line(), "");
        assert_eq!(typing.key(Key::Enter), Typed::Nothing);
        typed(&mut typing, "gone");
        typing.key(Key::Clear);
        assert_eq!(typing.key(Key::Enter), Typed::Nothing);
    }

    #[test]
    fn an_enter_can_be_lost_and_the_text_stays() {
        let mut typing = Typing {
            lose_enter: 1,
            ..Typing::default()
        };
        typed(&mut typing, "a");
        assert_eq!(typing.key(Key::Enter), Typed::Lost);
        assert_eq!(typing.key(Key::Enter), Typed::Submitted("a".into()));
    }

    #[test]
    fn quitting_takes_ctrl_c_twice_in_a_row_or_ctrl_d_on_an_empty_line() {
        let mut typing = Typing::default();
        typed(&mut typing, "a");
        assert_eq!(typing.key(Key::CtrlD), Typed::Nothing);
        assert_eq!(typing.key(Key::CtrlC), Typed::Leaving);
        typed(&mut typing, "b");
        assert_eq!(typing.key(Key::CtrlC), Typed::Leaving);
        assert_eq!(typing.key(Key::CtrlC), Typed::Quit(130));
        assert_eq!(typing.key(Key::CtrlD), Typed::Quit(0));
        assert_eq!(typing.key(Key::Escape), Typed::Escape);
    }
}
