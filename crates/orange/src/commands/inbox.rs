//! `orange inbox`: everything that needs a person, with the question and the command that answers.

use super::task::why::{because, told};
use super::task::{style, why::Told};
use crate::completion::projects;
use crate::output::named;
use crate::session::Session;
use crate::ui::command::{command, task_name};
use crate::ui::{
    Extent, Palette, Style, clean, clean_block, relative, wrapped_prose, wrapped_under,
};
use clap::Args;
use orange_core::Timestamp;
use orange_core::display;
use orange_core::task::Status;
use orange_engine::Result;
use orange_engine::views::{InboxItem, inbox};
use serde::Serialize;
use std::fmt::Write;

/// List everything that needs you, in all projects
#[derive(Debug, Args)]
#[command(after_help = "\
What has waited longest comes first, with the question or the reason in full and the command that answers it. The same \
tasks are counted by `orange status` and listed by `orange ls --needs-me`.

Examples:
  orange inbox
  orange inbox --project shop
  orange inbox --json | jq -r '.inbox[].next'")]
pub(crate) struct InboxArgs {
    /// Only tasks of this project; may be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = projects())]
    project: Vec<String>,
}

/// An item for programs.
#[derive(Serialize)]
struct ItemView<'a> {
    #[serde(flatten)]
    why: Option<Told<'a>>,
    id: &'a str,
    project: &'a str,
    summary: &'a str,
    since: Timestamp,
    questions: &'a [String],
    damaged: Option<&'a str>,
}

impl<'a> ItemView<'a> {
    fn of(item: &'a InboxItem) -> ItemView<'a> {
        ItemView {
            why: item.why.as_ref().map(told),
            id: &item.row.id,
            project: &item.row.project,
            summary: &item.row.summary,
            since: item.since,
            questions: &item.questions,
            damaged: item.row.damaged.as_deref(),
        }
    }
}

pub(crate) fn run(session: &Session, args: &InboxArgs) -> Result<()> {
    let items = inbox::inbox(&session.call, &args.project)?;
    let views: Vec<ItemView<'_>> = items.iter().map(ItemView::of).collect();
    session.finish_as_it_is(named("inbox", views), || to_text(&items, Extent::stdout()))
}

/// The items as a person reads them. Nothing: that is said.
pub(crate) fn to_text(items: &[InboxItem], extent: Extent) -> String {
    if items.is_empty() {
        return "nothing needs you\n".to_owned();
    }
    let (now, palette) = (Timestamp::now(), Palette::stdout());
    let texts = items.iter().map(|item| one(item, now, palette, extent));
    texts.collect::<Vec<_>>().join("\n")
}

/// A headline, the reason and the questions below it, and the command that answers.
fn one(item: &InboxItem, now: Timestamp, palette: Palette, extent: Extent) -> String {
    const INDENT: usize = 2;
    let row = &item.row;
    let status: Option<Status> = row.status.parse().ok();
    let (word, colour) = match (&row.damaged, status) {
        (None, Some(status)) => (row.status.as_str(), style(status)),
        _ => ("damaged", Style::Red),
    };
    let summary = display::summary(&row.summary);
    let head = format!(
        "{}  {}  {}  {summary}\n",
        palette.bold(&clean(&task_name(&row.name()))),
        palette.paint(colour, word),
        palette.paint(Style::Dim, &relative(now, item.since)),
    );
    let mut text = wrapped_under(&head, INDENT, extent).into_owned();
    let reason = match (&item.why, &row.damaged) {
        (Some(why), _) => because(why),
        (None, damaged) => damaged.clone().unwrap_or_default(),
    };
    let lines = clean_block(&reason).into_owned();
    for line in lines.lines() {
        let line = format!("{:INDENT$}{line}\n", "");
        text.push_str(&wrapped_under(&line, INDENT, extent));
    }
    for question in &item.questions {
        // The reason may be the question already, in one line.
        if reason.ends_with(question.as_str()) {
            continue;
        }
        // Nobody takes an agent's words for those of Orange.
        let room = match extent {
            Extent::Columns(width) => Extent::Columns(width.saturating_sub(INDENT + 2).max(20)),
            Extent::Unlimited => extent,
        };
        for line in wrapped_prose(&clean_block(question), room).lines() {
            let _ = writeln!(text, "{:INDENT$}│ {line}", "");
        }
    }
    let next = item.why.as_ref().and_then(|why| why.next.as_ref());
    if let Some(next) = next {
        let _ = writeln!(text, "{:INDENT$}→ {}", "", command(next));
    }
    text
}
