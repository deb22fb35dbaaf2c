//! The topics of `orange help`: short texts, with tables made from what the program knows.

use super::tables;
use std::fmt::Write;

pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    text: &'static str,
}

macro_rules! topic {
    ($name:literal, $about:literal) => {
        Topic {
            name: $name,
            about: $about,
            text: include_str!(concat!($name, ".md")),
        }
    };
}

pub(crate) const ALL: &[Topic] = &[
    topic!(
        "workflow",
        "from pending to done: statuses and who moves a task"
    ),
    topic!(
        "phased",
        "plans, phases, their gates, specifications and budgets"
    ),
    topic!(
        "task-file",
        "TASK.md: its fields, and which of them are yours"
    ),
    topic!("artifacts", "what agents write, and the gates that want it"),
    topic!("references", "how to name a task"),
    topic!("harnesses", "the agent CLIs, and how to add one"),
    topic!("permissions", "what agents may do without asking"),
    topic!("rescue", "how work is kept from being lost"),
    topic!("configuration", "settings, and which word counts"),
    topic!("environment", "every variable that means something"),
    topic!("files", "what lies where"),
    topic!("json", "output for programs"),
    topic!("exit-codes", "what a script can rely on"),
];

/// Another word for a topic.
const ALSO: &[(&str, &str)] = &[
    ("gates", "artifacts"),
    ("phases", "phased"),
    ("plans", "phased"),
    ("budgets", "phased"),
    ("specs", "phased"),
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

    /// The text as it is read, with its tables.
    pub(crate) fn text(&self) -> String {
        tables::filled(self.text.trim_end())
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
