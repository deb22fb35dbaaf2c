//! `orange search`: tasks by what is said in them.

use crate::commands::at_least_one;
use crate::commands::task::style;
use crate::completion::projects;
use crate::session::Session;
use crate::ui::{Extent, Palette, Style, ago, clean, fitted};
use clap::Args;
use orange_core::Timestamp;
use orange_core::naming::counted;
use orange_core::search::Query;
use orange_core::search::passage::Passage;
use orange_core::task::Status;
use orange_engine::Result;
use orange_engine::index::search::{Match, Matches, SearchHit, Whereabouts};
use orange_engine::views::search;
use std::ffi::OsString;
use std::fmt::Write;

/// Find tasks by what is said in them: summaries, bodies, histories, specifications, transcripts
#[derive(Debug, Args)]
#[command(after_help = "\
All words must occur; the last one may be the beginning of a word. \"Quotes\" hold words together (quote them \
for the shell as well), and -word leaves out tasks that have it. Case and accents do not count.

Looked at are summary, branch, key, id, tags, the body of TASK.md, and what the history has in words: messages, \
reasons, questions, answers; and of phased tasks the specification and the transcripts, the beginning of a long one. Deleted tasks are not.

Examples:
  orange search login
  orange search login form -draft
  orange search '\"log in\" timeout'      two words in a row, and a third
  orange search src/app.rs --all-projects
  orange search crash --limit 5 --json")]
pub(crate) struct SearchArgs {
    /// What to look for
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Tasks of this project; may be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = projects())]
    project: Vec<String>,
    /// Tasks of every project
    #[arg(long, conflicts_with = "project")]
    all_projects: bool,
    /// List at most N tasks
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    limit: usize,
}

/// `-word` is a word to leave out, not a flag of ours: a blank before it tells clap so.
pub(crate) fn with_exclusions(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let mut words = arguments.iter().enumerate().skip(1);
    // The command stands behind flags that every command has, and the value of the one that takes one.
    let command = loop {
        match words.next() {
            Some((_, word)) if word == "--config" => drop(words.next()),
            Some((_, word)) if word.as_encoded_bytes().starts_with(b"-") => {}
            found => break found,
        }
    };
    let Some(at) = command.and_then(|(at, word)| (word == "search").then_some(at)) else {
        return arguments;
    };
    for argument in arguments.iter_mut().skip(at) {
        let bytes = argument.as_encoded_bytes();
        if matches!(bytes, [b'-', first, ..] if *first != b'-') && bytes != b"-h" {
            let mut word = OsString::from(" ");
            word.push(&argument);
            *argument = word;
        }
    }
    arguments
}

pub(crate) fn run(session: &Session, args: &SearchArgs) -> Result<()> {
    let mut projects = args.project.clone();
    if projects.is_empty() && !args.all_projects {
        projects.extend(session.project(None)?);
    }
    let text = args.text.join(" ");
    let found = search::search(&session.call, &text, &projects, args.limit)?;
    let here = session.project(None)?;
    // Elsewhere a key alone names another task, or several.
    let several = session
        .call
        .projects()
        .map_or(true, |known| known.len() > 1);
    let elsewhere = |task: &Match| here.as_ref() != Some(&task.project);
    let with_project = several && found.matches.iter().any(elsewhere);
    session.finish(&found, || match found.total {
        0 => nothing(&Query::parse(&text), &projects, found.no_tasks),
        _ => as_text(&found, with_project),
    })
}

fn as_text(found: &Matches, with_project: bool) -> String {
    let mut text = String::new();
    let now = Timestamp::now();
    for task in &found.matches {
        text.push_str(&block(task, with_project, now));
    }
    let more = found.total - found.matches.len();
    if more > 0 {
        let _ = writeln!(
            text,
            "{} more: --limit {} shows them",
            counted(more, "task"),
            found.total
        );
    }
    text
}

fn nothing(query: &Query, projects: &[String], no_tasks: bool) -> String {
    let missed = query.missed();
    match projects {
        _ if no_tasks => {
            let place = match projects {
                [] => String::new(),
                projects => format!(" in {}", clean(&projects.join(", "))),
            };
            format!(
                "there are no tasks{place} to search; `orange new \"what is to be done\"` creates one\n"
            )
        }
        [] => format!("no task {missed}; deleted ones are not searched\n"),
        projects => format!(
            "no task in {} {missed}; --all-projects looks everywhere, deleted tasks are not searched\n",
            clean(&projects.join(", "))
        ),
    }
}

/// A task: a line with its summary, and one for every place where something was found.
fn block(task: &Match, with_project: bool, now: Timestamp) -> String {
    let palette = Palette::stdout();
    let (sign, colour) = match task.status.parse::<Status>() {
        Ok(status) => (status.info().icon, style(status)),
        Err(_) => ("✗", Style::Red),
    };
    let key = match task.key {
        Some(key) => key.to_string(),
        None => task.id.chars().take(8).collect(),
    };
    let mut head = format!("{} {}  ", palette.paint(colour, sign), palette.bold(&key));
    let mut taken = 4 + key.chars().count();
    if with_project {
        let _ = write!(head, "{}  ", clean(&task.project));
        taken += 2 + task.project.chars().count();
    }
    let summary = shown(&task.summary, taken);
    let mut text = format!("{head}{summary}\n");
    let besides = |one: &&SearchHit| one.place != Whereabouts::Summary;
    for finding in task.found.iter().filter(besides) {
        let SearchHit { place, passage, .. } = finding;
        let when = finding.event.as_ref().and_then(|event| event.timestamp);
        let when = when.map(|at| format!(" ({})", ago(now, at)));
        let file = finding.transcript.as_deref();
        let file = file.map_or(String::new(), |file| format!(" {}", clean(file)));
        let name = format!("{place}{file}{}", when.unwrap_or_default());
        let taken = 6 + name.chars().count();
        let name = format!("{name}:");
        let name = palette.paint(Style::Dim, &name);
        let _ = writeln!(text, "    {name} {}", shown(passage, taken));
    }
    text
}

/// A passage with what was found standing out, in what is left of a line.
fn shown(passage: &Passage, taken: usize) -> String {
    let palette = Palette::stdout();
    let text = match Extent::stdout() {
        Extent::Columns(columns) => fitted(&passage.text, columns.saturating_sub(taken).max(20)),
        Extent::Unlimited => return clean(&passage.text).into_owned(),
    };
    let mut out = String::new();
    let mut at = 0;
    // What was cut off, or made safe, is not where it was.
    let same = passage.text.bytes().zip(text.bytes());
    let same = same.take_while(|(one, other)| one == other).count();
    for hit in passage.hits.iter().filter(|hit| hit.end <= same) {
        out.push_str(&text[at..hit.start]);
        let _ = write!(out, "{}", palette.paint(Style::Yellow, &text[hit.clone()]));
        at = hit.end;
    }
    out.push_str(&text[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_to_leave_out_are_told_from_flags() {
        let given = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = with_exclusions(words).into_iter();
            words
                .map(|word| word.into_string().unwrap())
                .collect::<Vec<_>>()
                .join("|")
        };
        for (line, protected) in [
            ("orange search x -y --json", "orange|search|x| -y|--json"),
            ("orange --json search x -y", "orange|--json|search|x| -y"),
            (
                "orange --config K=V search -y",
                "orange|--config|K=V|search| -y",
            ),
            (
                "orange --config=K=V search -y",
                "orange|--config=K=V|search| -y",
            ),
            ("orange search -h", "orange|search|-h"),
            ("orange -V search -y", "orange|-V|search| -y"),
            ("orange task send search -y", "orange|task|send|search|-y"),
            ("orange --config search -y", "orange|--config|search|-y"),
            (
                "orange --config search search -y",
                "orange|--config|search|search| -y",
            ),
        ] {
            assert_eq!(given(line), protected);
        }
    }
}
