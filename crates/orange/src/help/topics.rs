//! The topics of `orange help`: short texts, with tables made from what the program knows.

use super::tables;
use std::fmt::Write;

pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    text: &'static str,
    /// Commands that have to do with it.
    pub(super) see: &'static [&'static str],
}

macro_rules! topic {
    ($name:literal, $about:literal, $see:expr) => {
        Topic {
            name: $name,
            about: $about,
            text: include_str!(concat!($name, ".md")),
            see: &$see,
        }
    };
}

pub(crate) const ALL: &[Topic] = &[
    topic!(
        "workflow",
        "from pending to done: statuses and who moves a task",
        ["workflow show", "task why", "task update"]
    ),
    topic!(
        "task-file",
        "TASK.md: its fields, and which of them are yours",
        ["task show", "task update", "task path"]
    ),
    topic!(
        "artifacts",
        "what agents write, and the gates that want it",
        ["task complete", "task update", "prompt show"]
    ),
    topic!(
        "references",
        "how to name a task",
        ["task list", "task show", "search"]
    ),
    topic!(
        "harnesses",
        "the agent CLIs, and how to add one",
        ["harness list", "doctor", "headless"]
    ),
    topic!(
        "permissions",
        "what agents may do without asking",
        ["task answer", "task update", "project update"]
    ),
    topic!(
        "rescue",
        "how work is kept from being lost",
        [
            "task rescue list",
            "task rescue restore",
            "task restore",
            "gc"
        ]
    ),
    topic!(
        "configuration",
        "settings, and which word counts",
        ["config show", "config set", "project trust"]
    ),
    topic!(
        "environment",
        "every variable that means something",
        ["config show"]
    ),
    topic!("files", "what lies where", ["doctor", "log", "task path"]),
    topic!("json", "output for programs", ["task list", "task show"]),
    topic!(
        "exit-codes",
        "what a script can rely on",
        ["task wait", "task exec"]
    ),
];

/// Another word for a topic.
const ALSO: &[(&str, &str)] = &[
    ("gates", "artifacts"),
    ("settings", "configuration"),
    ("variables", "environment"),
    ("exit-code", "exit-codes"),
    ("TASK.md", "task-file"),
];

impl Topic {
    pub(crate) fn named(word: &str) -> Option<&'static Topic> {
        let other = ALSO.iter().find(|(also, _)| *also == word);
        let name = other.map_or(word, |(_, name)| name);
        ALL.iter().find(|topic| topic.name == name)
    }

    /// The text as it is read: tables put in, commands that have to do with it named.
    pub(crate) fn text(&self) -> String {
        let mut text = tables::filled(self.text.trim_end());
        let see: Vec<String> = self.see.iter().map(|it| format!("`orange {it}`")).collect();
        let see = tables::listed(see.iter().map(String::as_str));
        let _ = write!(text, "\nSee also:\n\n{see}\n");
        text
    }
}

/// For `orange help`: every topic in a line.
pub(crate) fn listed() -> String {
    let mut text = String::from("Topics (`orange help TOPIC`):\n");
    for topic in ALL {
        let _ = writeln!(text, "  {:<14} {}", topic.name, topic.about);
    }
    text
}
