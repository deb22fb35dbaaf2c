//! What needs a person, the longest wait first, with the question or the reason in full.

use crate::call::Call;
use crate::error::Result;
use crate::index::list::{ListedTask, TaskFilter};
use crate::views::questions::{open_questions, questions_in_file};
use crate::views::results::OpenQuestion;
use crate::views::task::{self, TaskView};
use crate::views::why::{self, Explanation};
use crate::views::{Spelling, WhyView, list, phased};
use orange_core::Timestamp;
use orange_core::artifact::section;
use orange_core::attention::raised;
use orange_core::history::{Event, History};
use orange_core::task::Task;
use orange_core::workflow::Intent;
use serde::Serialize;

/// One task that waits for a person.
#[derive(Debug)]
pub struct InboxItem {
    pub row: ListedTask,
    /// Since when it waits.
    pub since: Timestamp,
    /// What an agent asks, word for word: each question with its options.
    pub questions: Vec<String>,
    /// None for a task whose files cannot be read: its row says why.
    pub why: Option<Explanation>,
}

/// An item for programs.
#[derive(Debug, Serialize)]
pub struct InboxView<'a> {
    #[serde(flatten)]
    why: Option<WhyView<'a>>,
    id: &'a str,
    project: &'a str,
    summary: &'a str,
    since: Timestamp,
    questions: &'a [String],
    damaged: Option<&'a str>,
}

impl<'a> InboxView<'a> {
    pub fn of(item: &'a InboxItem, spelling: Spelling) -> InboxView<'a> {
        let why = item.why.as_ref();
        InboxView {
            why: why.map(|why| WhyView::of(why, spelling)),
            id: &item.row.id,
            project: &item.row.project,
            summary: &item.row.summary,
            since: item.since,
            questions: &item.questions,
            damaged: item.row.damaged.as_deref(),
        }
    }
}

/// Everything that needs a person in these projects; in all, if none is named.
pub fn inbox(call: &Call, projects: &[String]) -> Result<Vec<InboxItem>> {
    let filter = TaskFilter {
        projects: projects.to_vec(),
        needs_me: true,
        ..TaskFilter::default()
    };
    let rows = list::list(call, &filter)?.into_iter();
    let mut items: Vec<InboxItem> = rows.map(|row| item(call, row)).collect();
    items.sort_by(|one, other| {
        let order = |item: &InboxItem| (item.since, item.row.updated_second);
        order(one)
            .cmp(&order(other))
            .then_with(|| one.row.folder.cmp(&other.row.folder))
    });
    Ok(items)
}

/// What a task that needs a person asks of them, in one line, as far as its own files say: the first question, or what was
/// said when it came to its status. Quick enough for every row on a screen.
pub fn asked_in_brief(call: &Call, row: &ListedTask) -> Option<String> {
    let snapshot = call.store.read(&call.store.place(&row.folder)).ok()?;
    let body = snapshot.body();
    if let Some(asked) = phased::asked_at_gate(call, row) {
        return Some(asked);
    }
    if offers(row, Intent::Answer)
        && let Some(asked) = section(body, "Questions")
    {
        let asked = body.get(asked.content)?;
        let lines = asked.lines().map(str::trim);
        // A question may go on below its first line.
        let first = lines.skip_while(|line| line.is_empty());
        let first: Vec<&str> = first.take_while(|line| !line.is_empty()).collect();
        return Some(first.join(" ")).filter(|asked| !asked.is_empty());
    }
    // A decision is asked for, whatever brought it there.
    if offers(row, Intent::Merge) {
        return None;
    }
    let came = |event: &&Event| event.to.as_deref() == Some(row.status.as_str());
    let event = snapshot.history.events.iter().rfind(came)?;
    event.reason.clone().filter(|reason| !reason.is_empty())
}

/// Whether a person can do this with a listed task.
pub(super) fn offers(row: &ListedTask, intent: Intent) -> bool {
    let status = row.status.parse();
    status.is_ok_and(|status| Task::standing_at(status, row.reason).offers(intent))
}

/// Since when a listed task waits for a person, as its own files say; quick enough for every row on a screen.
pub(super) fn waits_since(call: &Call, row: &ListedTask) -> Option<Timestamp> {
    let history = call.store.place(&row.folder).history().ok()?;
    since_in(&history, row.attention.is_some(), &row.status)
}

fn item(call: &Call, row: ListedTask) -> InboxItem {
    let updated = Timestamp::from_second(row.updated_second).unwrap_or_default();
    let view = task::view(call, call.store.place(&row.folder));
    let explained = view.and_then(|view| Ok((why::explanation(call, &view)?, view)));
    match explained {
        Ok((why, view)) => InboxItem {
            since: since(&view).unwrap_or(updated),
            questions: questions(call, &view),
            why: Some(why),
            row,
        },
        Err(error) => {
            tracing::debug!(%error, folder = row.folder, "a task in the inbox cannot be read");
            InboxItem {
                since: updated,
                questions: Vec::new(),
                why: None,
                row,
            }
        }
    }
}

/// When somebody was asked for: by a remark in the journal, or by the status it came to.
fn since(view: &TaskView) -> Option<Timestamp> {
    since_in(
        &view.history,
        view.attention.is_some(),
        view.task.status.as_str(),
    )
}

fn since_in(history: &History, is_raised: bool, status: &str) -> Option<Timestamp> {
    let asked = raised(history).filter(|_| is_raised);
    let here = |event: &&Event| event.to.as_deref() == Some(status);
    let event = asked.or_else(|| history.events.iter().rfind(here))?;
    Some(event.timestamp)
}

/// What is asked in an agent's window and can be answered from here; else what stands in TASK.md for the person.
fn questions(call: &Call, view: &TaskView) -> Vec<String> {
    let open = open_questions(call, &view.history);
    if !open.is_empty() {
        return open.iter().map(question_text).collect();
    }
    let asked = questions_in_file(view);
    asked.into_iter().filter(|text| !text.is_empty()).collect()
}

fn question_text(open: &OpenQuestion) -> String {
    let question = &open.question;
    if question.asked.is_empty() {
        return question.text.clone();
    }
    let one = |asked: &crate::runs::Asked| {
        let options = asked.options.iter().map(|option| format!("\n- {option}"));
        format!("{}{}", asked.question, options.collect::<String>())
    };
    question
        .asked
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .join("\n")
}
