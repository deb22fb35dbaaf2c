//! The keys of the dashboard, in one table: its footer, its help, the documents and the setting that changes keys come from it.

use serde::Serialize;

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
            group: Group::$group,
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
    /// One character, or the name of a key: `Enter`, `Tab`, `Esc`.
    pub key: &'static str,
    pub group: Group,
    /// For the footer.
    pub label: &'static str,
    /// For the help.
    pub about: &'static str,
}

/// The parts of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Group {
    Decide,
    Work,
    Go,
    End,
}

impl Group {
    pub const ALL: [Group; 4] = [Group::Decide, Group::Work, Group::Go, Group::End];

    pub fn title(self) -> &'static str {
        match self {
            Group::Decide => "decide",
            Group::Work => "work",
            Group::Go => "go",
            Group::End => "end",
        }
    }
}

keys! {
    Yes "yes" "a" Decide "yes" "answer a question, allow what is asked",
    Always "always" "A" Decide "always" "allow what is asked, now and from now on",
    No "no" "r" Decide "no" "request changes, or deny what is asked, with words",
    Merge "merge" "m" Decide "merge" "merge the work into its target",
    Create "create" "c" Work "new task" "create a task",
    Message "message" "i" Work "message" "write to the agent",
    Diff "diff" "D" Work "diff" "look at the changes",
    Editor "editor" "e" Work "editor" "open the workspace in your editor",
    Shell "shell" "!" Work "shell" "open a shell in the workspace",
    Enter "enter" "Enter" Go "attach" "start the task, go to its agent, or start the agent again",
    View "view" "v" Go "view" "look at the task: timeline, changes, screen, TASK.md, agents",
    NextNeed "next" "n" Go "next" "go to the next task that needs you",
    PreviousNeed "previous" "N" Go "previous" "go to the one before",
    Down "down" "j" Go "down" "move down",
    Up "up" "k" Go "up" "move up",
    Fold "fold" "h" Go "fold" "fold the project",
    Unfold "unfold" "l" Go "unfold" "unfold the project",
    First "first" "g" Go "first" "go to the first line",
    Last "last" "G" Go "last" "go to the last line",
    PageDown "page-down" "J" Go "page down" "scroll the preview or the text down",
    PageUp "page-up" "K" Go "page up" "scroll the preview or the text up",
    NextView "next-view" "Tab" Go "views" "list, inbox, board; the next tab of a task",
    Search "search" "/" Go "search" "narrow the list to tasks with these words",
    Filter "filter" "f" Go "filter" "narrow the list to a status, or show all that is over",
    Palette "palette" ":" Go "commands" "find an action by its name",
    Copy "copy" "y" Go "copy" "copy the name of the task",
    Help "help" "?" Go "help" "show every key",
    Cancel "cancel" "x" End "cancel" "cancel the task",
    Delete "delete" "d" End "delete" "delete the task, which can be restored",
    Undo "undo" "u" End "undo" "restore what was deleted, create anew what was cancelled",
    Back "back" "Esc" End "back" "go one step back",
    Quit "quit" "q" End "quit" "go back, and quit at the top; agents go on",
}

impl KeyAction {
    pub fn row(self) -> &'static KeyRow {
        &KEYS[self as usize]
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
}
