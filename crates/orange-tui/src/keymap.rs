//! Which key does what: the table of `orange_core::keys`, as changed by the settings.

use orange_core::keys::{ChosenKeys, KeyAction, SPACE, with_chosen};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Keys and what they do.
#[derive(Debug, Clone)]
pub struct Keymap {
    keys: Vec<(KeyAction, String)>,
}

impl Default for Keymap {
    fn default() -> Keymap {
        Keymap::new(&ChosenKeys::new())
    }
}

impl Keymap {
    /// The table with the keys that a person chose. What clashes does not count.
    pub fn new(chosen: &ChosenKeys) -> Keymap {
        Keymap {
            keys: with_chosen(chosen).0,
        }
    }

    /// What a key does. Arrows and the like always mean the same.
    pub fn action(&self, event: KeyEvent) -> Option<KeyAction> {
        match event.code {
            KeyCode::Down => return Some(KeyAction::Down),
            KeyCode::Up => return Some(KeyAction::Up),
            KeyCode::Left => return Some(KeyAction::Fold),
            KeyCode::Right => return Some(KeyAction::Unfold),
            KeyCode::Home => return Some(KeyAction::First),
            KeyCode::End => return Some(KeyAction::Last),
            KeyCode::PageDown => return Some(KeyAction::PageDown),
            KeyCode::PageUp => return Some(KeyAction::PageUp),
            _ => {}
        }
        let name = match event.code {
            KeyCode::Enter => "Enter".to_owned(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::Tab => "Tab".to_owned(),
            KeyCode::Char(' ') if is_plain(event.modifiers) => SPACE.to_owned(),
            KeyCode::Char(letter) if is_plain(event.modifiers) => letter.to_string(),
            _ => return None,
        };
        let mut keys = self.keys.iter();
        keys.find(|(_, key)| *key == name)
            .map(|(action, _)| *action)
    }

    /// The key of an action, as it is shown.
    pub fn key(&self, action: KeyAction) -> &str {
        let mut keys = self.keys.iter();
        let found = keys.find(|(known, _)| *known == action);
        found.map_or("", |(_, key)| match key.as_str() {
            "Enter" => "⏎",
            key => key,
        })
    }
}

/// A letter that is typed, with or without shift.
pub fn is_plain(modifiers: KeyModifiers) -> bool {
    (modifiers - KeyModifiers::SHIFT).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::keys::KEYS;

    #[test]
    fn every_action_is_reached_by_its_key() {
        let keymap = Keymap::default();
        for row in KEYS {
            let code = match row.key {
                "Enter" => KeyCode::Enter,
                "Esc" => KeyCode::Esc,
                "Tab" => KeyCode::Tab,
                SPACE => KeyCode::Char(' '),
                letter => KeyCode::Char(letter.chars().next().unwrap()),
            };
            let event = KeyEvent::new(code, KeyModifiers::NONE);
            assert_eq!(keymap.action(event), Some(row.action), "{}", row.name);
        }
        let control = KeyEvent::new(KeyCode::Char('x'), KeyModifiers::CONTROL);
        assert_eq!(keymap.action(control), None);
    }

    #[test]
    fn a_chosen_key_acts_and_is_shown_and_the_default_does_nothing() {
        let chosen = [(KeyAction::Merge, "M".to_owned())];
        let keymap = Keymap::new(&ChosenKeys::from(chosen));
        let typed = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
        assert_eq!(keymap.action(typed('M')), Some(KeyAction::Merge));
        assert_eq!(keymap.action(typed('m')), None);
        assert_eq!(keymap.key(KeyAction::Merge), "M");
        let down = KeyEvent::new(KeyCode::Down, KeyModifiers::NONE);
        assert_eq!(keymap.action(down), Some(KeyAction::Down));
    }
}
