//! The line being typed, and what keys make of it.

use super::keys::PressedKey;

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

    pub(super) fn key(&mut self, key: PressedKey) -> Typed {
        let leaving = std::mem::replace(&mut self.leaving, key == PressedKey::CtrlC);
        match key {
            PressedKey::Character(character) => self.line.push(character),
            PressedKey::LineEnd => self.line.push('\n'),
            PressedKey::Paste(text) => self.line.push_str(&text),
            PressedKey::Backspace => {
                self.line.pop();
            }
            PressedKey::Clear => self.line.clear(),
            PressedKey::Enter => return self.enter(),
            PressedKey::Escape => return Typed::Escape,
            PressedKey::CtrlC if leaving => return Typed::Quit(130),
            PressedKey::CtrlC => {
                self.line.clear();
                return Typed::Leaving;
            }
            PressedKey::CtrlD if self.line.is_empty() => return Typed::Quit(0),
            PressedKey::CtrlD | PressedKey::Other => {}
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
            assert_eq!(typing.key(PressedKey::Character(character)), Typed::Nothing);
        }
    }

    #[test]
    fn what_is_typed_and_pasted_is_submitted_by_enter_alone() {
        let mut typing = Typing::default();
        typed(&mut typing, "aö");
        typing.key(PressedKey::Backspace);
        typing.key(PressedKey::Paste("x\ny".into()));
        typing.key(PressedKey::LineEnd);
        assert_eq!(
            typing.key(PressedKey::Enter),
            Typed::Submitted("ax\ny\n".into())
        );
        assert_eq!(typing.line(), "");
        assert_eq!(typing.key(PressedKey::Enter), Typed::Nothing);
        typed(&mut typing, "gone");
        typing.key(PressedKey::Clear);
        assert_eq!(typing.key(PressedKey::Enter), Typed::Nothing);
    }

    #[test]
    fn an_enter_can_be_lost_and_the_text_stays() {
        let mut typing = Typing {
            lose_enter: 1,
            ..Typing::default()
        };
        typed(&mut typing, "a");
        assert_eq!(typing.key(PressedKey::Enter), Typed::Lost);
        assert_eq!(typing.key(PressedKey::Enter), Typed::Submitted("a".into()));
    }

    #[test]
    fn quitting_takes_ctrl_c_twice_in_a_row_or_ctrl_d_on_an_empty_line() {
        let mut typing = Typing::default();
        typed(&mut typing, "a");
        assert_eq!(typing.key(PressedKey::CtrlD), Typed::Nothing);
        assert_eq!(typing.key(PressedKey::CtrlC), Typed::Leaving);
        typed(&mut typing, "b");
        assert_eq!(typing.key(PressedKey::CtrlC), Typed::Leaving);
        assert_eq!(typing.key(PressedKey::CtrlC), Typed::Quit(130));
        assert_eq!(typing.key(PressedKey::CtrlD), Typed::Quit(0));
        assert_eq!(typing.key(PressedKey::Escape), Typed::Escape);
    }
}
