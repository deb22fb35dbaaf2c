//! What `orange help`, `--help` and the man pages say beside the arguments themselves: examples, topics, tables.

pub(crate) mod after;
pub(crate) mod files;
pub(crate) mod groups;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod topics;
pub(crate) mod variables;

use clap::Command;
use orange_core::suggest::nearest;
use orange_engine::{Error, Result, err};

/// Has it a page of its own?
pub(crate) fn is_shown(command: &&Command) -> bool {
    !command.is_hide_set()
}

/// The command that these words after `orange` name.
pub(crate) fn command_of<'c>(root: &'c mut Command, words: &[String]) -> Result<&'c mut Command> {
    let verbs = of_tasks(root);
    let mut command = root;
    for (position, word) in words.iter().enumerate() {
        let shown = command.get_subcommands().filter(is_shown);
        let mut known: Vec<String> = shown.map(|below| below.get_name().to_owned()).collect();
        if position == 0 {
            // Those that are listed only below `task` too.
            known.extend(verbs.iter().cloned());
        }
        let below = command.find_subcommand_mut(word);
        command = below
            .filter(|_| known.contains(word))
            .ok_or_else(|| unknown(&words[..position], word, &known))?;
    }
    Ok(command)
}

/// The commands of `orange task`, which can be given without that word.
pub(crate) fn of_tasks(root: &Command) -> Vec<String> {
    let task = root.find_subcommand("task");
    let all = task.into_iter().flat_map(Command::get_subcommands);
    let shown = all.filter(is_shown);
    shown.map(|command| command.get_name().to_owned()).collect()
}

fn unknown(before: &[String], word: &str, known: &[String]) -> Error {
    let known = known.iter().map(String::as_str);
    if before.is_empty() {
        if let Some(topic) = topics::Topic::named(word) {
            return err!(Usage, "{word:?} is a topic, not a command")
                .hint(format!("`orange help {}` shows it", topic.name));
        }
        let topics = topics::ALL.iter().map(|topic| topic.name);
        let meant = match nearest(word, topics.clone().chain(known)) {
            Some(meant) => format!("did you mean `orange help {meant}`? "),
            None => String::new(),
        };
        let topics: Vec<&str> = topics.collect();
        return err!(Usage, "{word:?} is neither a command nor a topic")
            .hint(format!("{meant}topics: {}", topics.join(", ")));
    }
    let before = before.join(" ");
    let hint = match nearest(word, known) {
        Some(meant) => format!("did you mean `orange {before} {meant}`?"),
        None => format!("`orange {before} --help` lists those that there are"),
    };
    err!(Usage, "there is no command `orange {before} {word}`").hint(hint)
}
