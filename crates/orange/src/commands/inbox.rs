//! `orange inbox`: everything that needs a person, with the question and the command that answers.

use super::task::style_of;
use super::task::why::because;
use crate::completion::projects;
use crate::output::named;
use crate::session::Session;
use crate::ui::command::{SPELLING, command, task_name};
use crate::ui::{
    Extent, Palette, Style, clean, clean_block, relative, wrapped_prose, wrapped_under,
};
use clap::Args;
use orange_core::display;
use orange_core::naming::counted;
use orange_core::{Action, Timestamp};
use orange_engine::Result;
use orange_engine::views::{InboxItem, InboxView, inbox};
use std::fmt::Write;

/// List everything that needs you, in all projects
#[derive(Debug, Args)]
#[command(after_help = "\
What has waited longest comes first, with the question or the reason and the command that answers it. On a terminal a \
question of more than 12 lines is cut; `orange answer` shows all of it. The same tasks are counted by `orange status` and listed by `orange ls --needs-me`.

Examples:
  orange inbox
  orange inbox --project shop
  orange inbox --json | jq -r '.inbox[].next'")]
pub(crate) struct InboxArgs {
    /// Only tasks of this project; may be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = projects())]
    project: Vec<String>,
}

pub(crate) fn run(session: &Session, args: &InboxArgs) -> Result<()> {
    let items = inbox::inbox(&session.call, &args.project)?;
    let views = items.iter().map(|item| InboxView::of(item, SPELLING));
    let views: Vec<InboxView<'_>> = views.collect();
    session.finish_as_it_is(named("inbox", views), || to_text(&items, Extent::stdout()))
}

/// The items as a person reads them. Nothing: that is said.
pub(crate) fn to_text(items: &[InboxItem], extent: Extent) -> String {
    if items.is_empty() {
        return "nothing needs you\n".to_owned();
    }
    let (now, palette) = (Timestamp::now(), Palette::stdout());
    let texts = items.iter().map(|item| one(item, now, palette, extent));
    let mut text = texts.collect::<Vec<_>>().join("\n");
    // The first ones have left the screen when the last is read.
    if items.len() > 1 {
        let _ = writeln!(text, "\n{} need you", items.len());
    }
    text
}

/// A reason that ends with the beginning of a question, in one line, without it: the question follows in full.
fn before_question<'r>(reason: &'r str, questions: &[&String]) -> &'r str {
    const ENOUGH: usize = 20;
    let first_line = questions.first().and_then(|text| text.lines().next());
    let beginning: String = first_line
        .unwrap_or_default()
        .chars()
        .take(ENOUGH)
        .collect();
    // A word or two may stand in any reason.
    let is_clear = beginning.chars().count() >= ENOUGH / 2;
    match reason.find(&beginning).filter(|_| is_clear) {
        Some(at) if at > 0 => reason[..at].trim_end(),
        _ => reason,
    }
}

/// The lines of a question that are shown, and how many are left out: on a terminal a long one would push all others off
/// the screen.
fn beginning(question: &str, extent: Extent) -> (Vec<&str>, usize) {
    const MOST: usize = 12;
    let mut lines: Vec<&str> = question.lines().collect();
    // A cut that saves a line or two is none.
    let is_long = lines.len() > MOST + 2 && extent != Extent::Unlimited;
    let left_out = if is_long { lines.len() - MOST } else { 0 };
    lines.truncate(lines.len() - left_out);
    (lines, left_out)
}

/// A headline, the reason and the questions below it, and the command that answers.
fn one(item: &InboxItem, now: Timestamp, palette: Palette, extent: Extent) -> String {
    const INDENT: usize = 2;
    let row = &item.row;
    let (word, colour) = match (&row.damaged, row.info()) {
        (None, Some(info)) => (row.status.clone(), style_of(info)),
        _ => ("damaged".to_owned(), Style::Red),
    };
    let word = match row.reason {
        Some(reason) => format!("{word} ({reason})"),
        None => word,
    };
    let summary = display::summary(&row.summary);
    let head = format!(
        "{}  {}  {}  {summary}\n",
        palette.bold(&clean(&task_name(&row.name()))),
        palette.paint(colour, &word),
        palette.paint(Style::Dim, &relative(now, item.since)),
    );
    let mut text = wrapped_under(&head, INDENT, extent).into_owned();
    let reason = match (&item.why, &row.damaged) {
        (Some(why), _) => because(why),
        (None, damaged) => damaged.clone().unwrap_or_default(),
    };
    let is_told = |question: &&String| reason.ends_with(question.as_str());
    let below: Vec<&String> = (item.questions.iter())
        .filter(|question| !is_told(question))
        .collect();
    let reason = before_question(&reason, &below);
    let lines = clean_block(reason).into_owned();
    for line in lines.lines() {
        let line = format!("{:INDENT$}{line}\n", "");
        text.push_str(&wrapped_under(&line, INDENT, extent));
    }
    for question in below {
        // Nobody takes an agent's words for those of Orange.
        let room = match extent {
            Extent::Columns(width) => Extent::Columns(width.saturating_sub(INDENT + 2).max(20)),
            Extent::Unlimited => extent,
        };
        let question = clean_block(question);
        let wrapped = wrapped_prose(&question, room);
        let (lines, left_out) = beginning(&wrapped, extent);
        for line in lines {
            let _ = writeln!(text, "{:INDENT$}│ {line}", "");
        }
        if left_out > 0 {
            let more = counted(left_out, "more line");
            let whole = command(&Action::answer_question(row.name()));
            let _ = writeln!(text, "{:INDENT$}… {more}: {whole}", "");
        }
    }
    let next = item.why.as_ref().and_then(|why| why.next.as_ref());
    if let Some(next) = next {
        let _ = writeln!(text, "{:INDENT$}→ {}", "", command(next));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_question_is_cut_on_a_terminal_only() {
        let question = "a line\n".repeat(40);
        let shown = |extent| {
            let (lines, left_out) = beginning(&question, extent);
            (lines.len(), left_out)
        };
        assert_eq!(shown(Extent::Columns(80)), (12, 28));
        assert_eq!(shown(Extent::Unlimited), (40, 0));
        let (lines, left_out) = beginning("a line\n\nanother\n", Extent::Columns(80));
        assert_eq!((lines.len(), left_out), (3, 0));
    }

    #[test]
    fn a_question_is_not_told_twice() {
        let question = "Bash: which of these?\n1. the blue one".to_owned();
        let reason = "its worker asks permission: Bash: which of these? ⏎ 1. the …";
        let short = before_question(reason, &[&question]);
        assert_eq!(short, "its worker asks permission:");
        assert_eq!(before_question("is stuck", &[&question]), "is stuck");
        assert_eq!(before_question("is stuck", &[]), "is stuck");
    }
}
