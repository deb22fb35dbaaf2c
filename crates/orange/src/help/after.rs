//! The text after the arguments of a command, taken apart: prose and examples.

use clap::Command;

#[derive(Debug, Default)]
pub(crate) struct After {
    /// Paragraphs before and after the examples.
    pub(crate) prose: Vec<String>,
    pub(crate) examples: Vec<String>,
}

impl After {
    pub(crate) fn of(command: &Command) -> After {
        let text = command.get_after_help().map(ToString::to_string);
        let mut after = After::default();
        for paragraph in text.unwrap_or_default().split("\n\n") {
            let lines = paragraph.split_once('\n');
            match lines {
                Some(("Example:" | "Examples:", examples)) => {
                    let examples = examples.lines().map(|line| line.trim().to_owned());
                    after.examples.extend(examples);
                }
                _ if paragraph.trim().is_empty() => {}
                _ => after.prose.push(paragraph.to_owned()),
            }
        }
        after
    }
}
