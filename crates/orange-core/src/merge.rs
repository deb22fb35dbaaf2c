//! What a merge is made of before git is asked: how it is done, and the words of its commit.

use crate::artifact;
use crate::choice;
use crate::choice::NotAllowed;
use crate::task::Task;
use std::fmt::Write as _;

choice! {
    /// How a task's commits get into its target.
    pub enum Strategy ("merge strategy") {
        /// One commit with all of the change.
        Squash = "squash",
        /// The commits as they are, and one that joins them.
        Merge = "merge",
        /// The commits one by one on top of the target.
        Rebase = "rebase",
        /// The commits as they are, if the target has not moved.
        Ff = "ff",
    }
}

impl Strategy {
    /// What is asked of a task whose branch conflicts with its target. Commits that are taken one by one conflict again
    /// after the target was merged into the branch.
    pub fn conflict_request(self, target: &str) -> String {
        match self {
            Strategy::Rebase => format!("rebase onto {target} and resolve the conflicts"),
            Strategy::Squash | Strategy::Merge | Strategy::Ff => {
                format!("bring {target} in and resolve the conflicts")
            }
        }
    }
}

/// A strategy by its name; `preserve` is what older settings call a merge.
pub fn strategy(word: &str) -> Result<Strategy, NotAllowed> {
    match word {
        "preserve" => Ok(Strategy::Merge),
        _ => word.parse(),
    }
}

choice! {
    /// Which branches on the remote are deleted once their work is in.
    pub enum RemoteBranches ("choice of remote branches") {
        /// Those that Orange itself pushed.
        Own = "own",
        /// Every one whose commits are all in.
        Always = "always",
        Never = "never",
    }
}

/// Somebody who wrote a part of the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}

impl Author {
    fn is(&self, other: &Author) -> bool {
        self.email.eq_ignore_ascii_case(&other.email)
    }
}

/// Who is to be named as the author of one commit made of many, and who besides. The one with the most commits;
/// of several the first.
pub fn credits(authors: &[Author], co_authors: &[Author]) -> Option<(Author, Vec<Author>)> {
    let mut known: Vec<(&Author, usize)> = Vec::new();
    for author in authors {
        match known.iter_mut().find(|(other, _)| other.is(author)) {
            Some((_, commits)) => *commits += 1,
            None => known.push((author, 1)),
        }
    }
    let most = known.iter().map(|(_, commits)| *commits).max()?;
    let (first, _) = *known.iter().find(|(_, commits)| *commits == most)?;
    let mut others: Vec<Author> = Vec::new();
    for author in known.iter().map(|(author, _)| *author).chain(co_authors) {
        if !author.is(first) && !others.iter().any(|other| other.is(author)) {
            others.push(author.clone());
        }
    }
    Some((first.clone(), others))
}

/// The `Co-authored-by` lines of a commit's message.
pub fn co_authors(message: &str) -> Vec<Author> {
    let prefix = "co-authored-by:";
    let named = message.lines().filter_map(|line| {
        let word = line.get(..prefix.len())?;
        let rest = line.get(prefix.len()..)?;
        word.eq_ignore_ascii_case(prefix).then_some(rest)
    });
    named
        .filter_map(|text| {
            let (name, email) = text.trim().strip_suffix('>')?.split_once('<')?;
            Some(Author {
                name: name.trim().to_owned(),
                email: email.trim().to_owned(),
            })
        })
        .collect()
}

/// A first line longer than this is cut; all of it then stands below.
const SUBJECT: usize = 100;
/// What is taken over of a handoff.
const HANDOFF_LINES: usize = 60;
const HANDOFF_CHARS: usize = 6000;

/// The message of the commit that brings a task in: its summary and key, then what its handoff says.
pub fn message(task: &Task, body: &str, strategy: Strategy, others: &[Author]) -> String {
    let label = task.label();
    let summary = plain(&task.summary).replace('\n', " ");
    let summary = match summary.trim() {
        "" => task.branch.as_str(),
        summary => summary,
    };
    let lead = match strategy {
        Strategy::Merge => "Merge: ",
        Strategy::Squash | Strategy::Rebase | Strategy::Ff => "",
    };
    let cut = summary.chars().count() > SUBJECT;
    let subject: String = summary.chars().take(SUBJECT).collect();
    let dots = if cut { "…" } else { "" };
    let mut text = format!("{lead}{}{dots} ({label})\n", subject.trim_end());
    if cut {
        let _ = write!(text, "\n{summary}\n");
    }
    let handoff = handoff(body);
    if !handoff.is_empty() {
        let _ = write!(text, "\n{handoff}\n");
    }
    let _ = write!(text, "\nTask: {}:{label}\n", task.project);
    for author in others {
        let _ = writeln!(text, "Co-authored-by: {} <{}>", author.name, author.email);
    }
    text
}

/// What the handoff says, without what a terminal or git could take for something else.
fn handoff(body: &str) -> String {
    let content = artifact::section(body, "Handoff").and_then(|found| body.get(found.content));
    let text = plain(content.unwrap_or_default());
    let mut kept: Vec<&str> = text.trim().lines().map(str::trim_end).collect();
    let whole = kept.len() <= HANDOFF_LINES && text.chars().count() <= HANDOFF_CHARS;
    kept.truncate(HANDOFF_LINES);
    let mut kept: String = kept.join("\n").chars().take(HANDOFF_CHARS).collect();
    if !whole {
        kept.push_str("\n…");
    }
    kept
}

/// A text without control characters, and without those that turn the direction of what follows.
fn plain(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .filter(|c| matches!(c, '\n' | '\t') || !c.is_control() && !turns(*c))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn author(name: &str, email: &str) -> Author {
        Author {
            name: name.into(),
            email: email.into(),
        }
    }

    fn task(summary: &str) -> Task {
        Task {
            summary: summary.into(),
            project: "shop".into(),
            key: Some(crate::id::Key::numbered(7)),
            branch: "orange/login".into(),
            ..Task::default()
        }
    }

    #[test]
    fn the_one_with_most_commits_is_the_author_and_nobody_is_left_out() {
        let (ann, bob) = (author("Ann", "ann@x"), author("Bob", "bob@x"));
        let authors = [bob.clone(), ann.clone(), author("ann", "ANN@x")];
        let helper = author("Helper", "helper@x");
        let found = credits(&authors, &[helper.clone(), bob.clone()]);
        assert_eq!(found, Some((ann, vec![bob, helper])));
        assert_eq!(credits(&[], &[]), None);
    }

    #[test]
    fn co_authors_are_read_from_trailers() {
        let message =
            "x\n\nCo-Authored-By: Ann B <ann@x>\nco-authored-by: nobody\nCo-authored-by: é\n";
        assert_eq!(co_authors(message), [author("Ann B", "ann@x")]);
    }

    #[test]
    fn a_message_says_what_which_and_how() {
        let body = "## Handoff\nDONE: the form\nREMAINING: \u{1b}[31mnothing\n\n## Review\nVerdict: PASS\n";
        let text = message(
            &task("Add a login\nform"),
            body,
            Strategy::Squash,
            &[author("Bob", "bob@x")],
        );
        assert_eq!(
            text,
            "Add a login form (TASK-007)\n\nDONE: the form\nREMAINING: [31mnothing\n\nTask: shop:TASK-007\nCo-authored-by: Bob <bob@x>\n"
        );
        let text = message(&task(""), "", Strategy::Merge, &[]);
        assert_eq!(
            text,
            "Merge: orange/login (TASK-007)\n\nTask: shop:TASK-007\n"
        );
    }

    #[test]
    fn what_is_too_long_is_cut_where_it_can_be_seen() {
        let long = "word ".repeat(60);
        let text = message(&task(&long), "", Strategy::Squash, &[]);
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.ends_with("… (TASK-007)") && text.contains(long.trim()),
            "{text}"
        );
        let body = format!("## Handoff\nDONE: x\n{}", "line\n".repeat(200));
        let text = message(&task("x"), &body, Strategy::Squash, &[]);
        assert!(
            text.lines().count() < 70 && text.contains("\n…\n"),
            "{text}"
        );
    }
}
