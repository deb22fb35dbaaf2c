//! The keys of the dashboard, in one table: its footer, its help, the documents and the setting that changes keys come from it.

use crate::display::clean_width;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of the key for a blank.
pub const SPACE: &str = "space";

/// What a key does.
macro_rules! keys {
    ($($action:ident $name:literal $key:literal $group:ident $label:literal $about:literal,)*) => {
        /// Something that a key of the dashboard does.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum KeyAction { $($action),* }

        /// Every action with its key, in the order of the help.
        pub const KEYS: &[KeyRow] = &[$(KeyRow {
            action: KeyAction::$action,
            name: $name,
            key: $key,
            group: KeyGroup::$group,
            label: $label,
            about: $about,
        }),*];
    };
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRow {
    pub action: KeyAction,
    /// Its name in the setting `dashboard.keys`.
    pub name: &'static str,
    /// One character, or the name of a key: `Enter`, `Tab`, `Esc`, `space`.
    pub key: &'static str,
    pub group: KeyGroup,
    /// For the footer.
    pub label: &'static str,
    /// For the help.
    pub about: &'static str,
}

/// The parts of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum KeyGroup {
    Decide,
    Work,
    Go,
    End,
}

impl KeyGroup {
    pub const ALL: [KeyGroup; 4] = [
        KeyGroup::Decide,
        KeyGroup::Work,
        KeyGroup::Go,
        KeyGroup::End,
    ];

    pub fn title(self) -> &'static str {
        match self {
            KeyGroup::Decide => "decide",
            KeyGroup::Work => "work",
            KeyGroup::Go => "go",
            KeyGroup::End => "end",
        }
    }
}

keys! {
    Yes "yes" "a" Decide "yes" "answer a question, allow what is asked, approve a phase",
    Always "always" "A" Decide "always" "allow what is asked, now and from now on",
    No "no" "r" Decide "no" "request changes, deny what is asked, or reject a phase, with words",
    Merge "merge" "m" Decide "merge" "merge the work into its target",
    Skip "skip" ">" Decide "skip" "leave out the phase of a plan that is selected, or the one that the task is in",
    Rewind "rewind" "<" Decide "rewind" "go back to the phase that is selected, or begin the one that the task is in anew",
    Create "create" "c" Work "new task" "create a task",
    Message "message" "i" Work "message" "write to the agent",
    Diff "diff" "D" Work "diff" "look at the changes; there, show another part of them",
    Editor "editor" "e" Work "editor" "open the workspace in your editor, in the changes the file at its line",
    Mark "mark" "space" Work "mark" "mark it: cancel, delete, changes, merge act on all marked; in the changes: the file is viewed",
    Shell "shell" "!" Work "shell" "open a shell in the workspace",
    Pause "pause" "s" Work "pause" "pause a phased task, or have it go on",
    Enter "enter" "Enter" Go "attach" "start the task, go to its agent, or start the agent again",
    View "view" "v" Go "view" "look at it: timeline, changes, screen, TASK.md, agents, phases; there, read the transcript",
    NextNeed "next" "n" Go "next" "go to the next task that needs you",
    PreviousNeed "previous" "N" Go "previous" "go to the one before",
    Down "down" "j" Go "down" "move down",
    Up "up" "k" Go "up" "move up",
    Fold "fold" "h" Go "fold" "fold the project; in the changes fold the file or go to the one before",
    Unfold "unfold" "l" Go "unfold" "unfold the project; in the changes unfold the file or go to the next",
    First "first" "g" Go "first" "go to the first line",
    Last "last" "G" Go "last" "go to the last line",
    PageDown "page-down" "J" Go "page down" "scroll the preview or the text down",
    PageUp "page-up" "K" Go "page up" "scroll the preview or the text up",
    NextHunk "next-hunk" "]" Go "hunk" "go to the next change of the file, or to the next file",
    PreviousHunk "previous-hunk" "[" Go "hunk before" "go to the change before, or to the file before",
    NextView "next-view" "Tab" Go "views" "list, inbox, board; the next tab of a task",
    Search "search" "/" Go "search" "narrow the list to tasks with these words",
    Filter "filter" "f" Go "filter" "narrow the list to a status, or show all that is over",
    Palette "palette" ":" Go "commands" "find an action by its name",
    Copy "copy" "y" Go "copy" "copy the name of the task",
    Help "help" "?" Go "help" "show every key",
    Cancel "cancel" "x" End "cancel" "cancel the task",
    Delete "delete" "d" End "delete" "delete the task, which can be restored",
    Rescue "rescue" "S" End "rescues" "show what was saved of the task's work, and bring it back",
    Undo "undo" "u" End "undo" "restore what was deleted, create anew what was cancelled",
    Back "back" "Esc" End "back" "go one step back",
    Quit "quit" "q" End "quit" "go back, and quit at the top; agents go on",
}

impl KeyAction {
    pub fn row(self) -> &'static KeyRow {
        &KEYS[self as usize]
    }

    /// The action of a name, if a person may choose its key: those of Enter, Tab and Esc always have them.
    pub fn changeable(name: &str) -> Option<KeyAction> {
        let row = KEYS.iter().find(|row| row.name == name)?;
        (!matches!(row.key, "Enter" | "Tab" | "Esc")).then_some(row.action)
    }
}

/// The keys that a person chose.
pub type ChosenKeys = BTreeMap<KeyAction, String>;

/// Why a key cannot be chosen, if it cannot. Digits choose a workspace or a tab.
pub fn check_key(key: &str) -> Result<(), &'static str> {
    let mut letters = key.chars();
    let is_visible = |c: char| !c.is_whitespace() && !c.is_control() && !c.is_ascii_digit();
    let is_one = match (letters.next(), letters.next()) {
        (Some(letter), None) => is_visible(letter) && clean_width(key) == 1,
        _ => key == SPACE,
    };
    if is_one {
        Ok(())
    } else {
        Err("must be one visible character, or space; not a digit")
    }
}

/// A choice that does not count: another action has the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    pub action: KeyAction,
    pub other: KeyAction,
}

/// Every action with its key, and the choices that do not count. Where two actions would have one key, the default
/// counts for each that was chosen.
pub fn with_chosen(chosen: &ChosenKeys) -> (Vec<(KeyAction, String)>, Vec<Clash>) {
    let mut chosen = chosen.clone();
    let mut clashes = Vec::new();
    loop {
        let key_of = |row: &KeyRow| match chosen.get(&row.action) {
            Some(key) => key.clone(),
            None => row.key.to_owned(),
        };
        let keys: Vec<_> = KEYS.iter().map(|row| (row.action, key_of(row))).collect();
        let found: Vec<Clash> = chosen
            .iter()
            .filter_map(|(action, key)| {
                let mut others = keys.iter();
                let (other, _) = others.find(|(other, of)| other != action && of == key)?;
                Some(Clash {
                    action: *action,
                    other: *other,
                })
            })
            .collect();
        if found.is_empty() {
            return (keys, clashes);
        }
        chosen.retain(|action, _| found.iter().all(|clash| clash.action != *action));
        clashes.extend(found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_action_has_its_own_key_and_name() {
        let keys: HashSet<_> = KEYS.iter().map(|row| row.key).collect();
        let names: HashSet<_> = KEYS.iter().map(|row| row.name).collect();
        assert_eq!((keys.len(), names.len()), (KEYS.len(), KEYS.len()));
        assert!(KEYS.iter().all(|row| row.action.row() == row));
    }

    fn chosen(keys: &[(KeyAction, &str)]) -> ChosenKeys {
        let keys = keys.iter();
        keys.map(|(action, key)| (*action, (*key).to_owned()))
            .collect()
    }

    #[test]
    fn a_chosen_key_takes_the_place_of_the_default() {
        let (keys, clashes) = with_chosen(&chosen(&[
            (KeyAction::Merge, "x"),
            (KeyAction::Cancel, "m"),
            (KeyAction::Quit, "Q"),
        ]));
        assert_eq!(clashes, []);
        for wanted in [
            (KeyAction::Merge, "x"),
            (KeyAction::Cancel, "m"),
            (KeyAction::Quit, "Q"),
            (KeyAction::Delete, "d"),
        ] {
            assert!(keys.contains(&(wanted.0, wanted.1.to_owned())));
        }
    }

    #[test]
    fn where_two_would_have_one_key_the_defaults_count() {
        let clash = |action, other| Clash { action, other };
        // Once `x` is cancel's again, `m` is merge's.
        let (keys, clashes) = with_chosen(&chosen(&[
            (KeyAction::Merge, "d"),
            (KeyAction::Cancel, "m"),
        ]));
        assert_eq!(
            clashes,
            [
                clash(KeyAction::Merge, KeyAction::Delete),
                clash(KeyAction::Cancel, KeyAction::Merge),
            ]
        );
        assert_eq!(keys, with_chosen(&ChosenKeys::new()).0);
        let (keys, clashes) = with_chosen(&chosen(&[
            (KeyAction::Merge, "M"),
            (KeyAction::Cancel, "M"),
        ]));
        assert_eq!(clashes.len(), 2);
        assert_eq!(keys, with_chosen(&ChosenKeys::new()).0);
    }

    #[test]
    fn a_key_is_one_visible_character() {
        for good in ["M", "ü", "+", "space", "#"] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        for bad in [
            "", "5", "Enter", "Esc", "Tab", " ", "\u{1b}", "xy", "日", "\u{301}",
        ] {
            assert!(check_key(bad).is_err(), "{bad:?}");
        }
        assert_eq!(KeyAction::changeable("merge"), Some(KeyAction::Merge));
        for fixed in ["enter", "back", "next-view", "nothing"] {
            assert_eq!(KeyAction::changeable(fixed), None, "{fixed}");
        }
    }
}
