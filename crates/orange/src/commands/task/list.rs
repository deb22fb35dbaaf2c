//! `orange task list`: what is going on, in one screen.

use super::diff::lines;
use super::{status, style_of, word};
use crate::commands::at_least_one;
use crate::completion::{projects, statuses, words};
use crate::session::Session;
use crate::ui::command::spelled;
use crate::ui::{Cell, Column, Extent, Style, Table, fitted, relative};
use clap::Args;
use orange_core::Timestamp;
use orange_core::display;
use orange_core::naming::counted;
use orange_core::task::{Category, Priority, Queue, Status};
use orange_core::usage::Usage;
use orange_engine::Result;
use orange_engine::index::DiffStat;
use orange_engine::index::list::{ListedTask, Listing, TaskFilter};
use orange_engine::sessions::{self, LiveAgents, SessionState};
use orange_engine::views::{Checks, TaskRow, list, list_json, row_note};
use std::fmt::Write;

/// List tasks
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  orange ls                              tasks of the project you are in
  orange ls --all                        those too that have been over for long
  orange ls --project shop --status working,stuck
  orange ls --needs-me                   what waits for you
  orange ls --ready                      what could be started now
  orange ls --search login --json

Done and cancelled tasks leave the list after list.keep_days (7).

Signs: · pending  ✎ planning  ? clarification  ▶ working  ◎ agent-review
       ★ reviewing  ! stuck  ⇉ delegated  ✓ done  – cancelled  ✗ damaged
Phased tasks: · created, planned  ✎ classifying  ▶ running, finalizing
       ★ blocked (gate, merge), completed  ? blocked (input)
       ⧗ blocked (dependencies)  ∥ paused  ! failed  ✓ finished

Agents (second column): ● alive  ✗ one should be and is not  ○ none expected

What needs you comes first; a second line says why.

Columns, shown when a listed task has something to show:
  PHASE      the phase that it is in, and how many of its iterations are used
  DIFF       lines added and deleted against the target, number of commits
  CHECKS     ✓ passed  ✗ failed  … running  stale: passed on an older commit
             ✗ base: failed, and fails where the work started from too
  REVIEW     ✓ the review has seen all commits  +2: two commits since then
  CONFLICTS  how many files conflict with the target
  COST       what its agents cost (≥: at least), or how many tokens
  UPDATED    how long ago the task changed: its status, or another field")]
pub(crate) struct TaskListArgs {
    /// Tasks of this project; may be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = projects())]
    project: Vec<String>,
    /// Tasks of every project
    #[arg(long, conflicts_with = "project")]
    all_projects: bool,
    /// Tasks in this status; may be given more than once
    #[arg(long, value_delimiter = ',', value_parser = status, add = statuses())]
    status: Vec<Status>,
    /// All done and cancelled tasks too, however long ago
    #[arg(long)]
    all: bool,
    /// Only tasks that wait for you, as in `orange inbox`
    #[arg(long, conflicts_with = "ready")]
    needs_me: bool,
    /// Only tasks that could be started now: pending, and nothing they wait for is open
    #[arg(long)]
    ready: bool,
    /// active or backlog
    #[arg(long, value_delimiter = ',', value_parser = word::<Queue>, add = words(Queue::WORDS))]
    queue: Vec<Queue>,
    /// feature, bug, refactor, chore, docs or test
    #[arg(long, value_delimiter = ',', value_parser = word::<Category>, add = words(Category::WORDS))]
    category: Vec<Category>,
    /// critical, high, normal or low
    #[arg(long, value_delimiter = ',', value_parser = word::<Priority>, add = words(Priority::WORDS))]
    priority: Vec<Priority>,
    /// Tasks with this tag; with several, all of them
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Words anywhere in the task, as in `orange search`; or any text in summary, branch, key, id or tags
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    search: Option<String>,
    /// List at most N tasks
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
}

/// List tasks (short for `task list`)
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    #[command(flatten)]
    pub(crate) list: TaskListArgs,
}

pub(crate) fn run(session: &Session, args: &TaskListArgs) -> Result<()> {
    let mut projects = args.project.clone();
    if projects.is_empty() && !args.all_projects {
        projects.extend(session.project(None)?);
    }
    let filter = TaskFilter {
        statuses: args.status.iter().map(ToString::to_string).collect(),
        queues: args.queue.iter().map(ToString::to_string).collect(),
        categories: args.category.iter().map(ToString::to_string).collect(),
        priorities: args.priority.clone(),
        tags: args.tag.clone(),
        all: args.all,
        over_since: Some(list::over_since(&session.call)?),
        ready: args.ready,
        needs_me: args.needs_me,
        search: args.search.clone(),
        limit: args.limit,
        with_fields: session.json,
        with_diff: true,
        projects,
        ..TaskFilter::default()
    };
    let json = session.json;
    let live = sessions::live_and_adopted_agents(&session.call);
    let (text, more) = list::list_as(&session.call, &filter, |listing| {
        let text = if json {
            list_json(&listing.rows, &live)
        } else {
            as_text(session, &listing, &filter, &live)
        };
        let more = listing.more;
        // The process ends soon: giving back thousands of small pieces of memory one by one only takes time.
        std::mem::forget(listing);
        (text, more)
    })?;
    if json {
        crate::output::print_json_text(&text);
    } else {
        crate::output::print(&text);
    }
    if more > 0 && !json {
        // Beside the list: who cut it off and counts its lines gets as many as asked for.
        crate::output::say(&format!("… and {more} more\n"));
    }
    Ok(())
}

const COLUMNS: &[Column] = &[
    Column::new(""),
    Column::new(""),
    Column::new("KEY"),
    // Keys of several projects look alike: it stays.
    Column::new("PROJECT").max(16).min(8),
    Column::new("STATUS"),
    Column::new("PHASE").priority(28),
    Column::new("PRIORITY").priority(30),
    Column::new("SUMMARY").min(24).ease(36).max(100).flexible(),
    Column::new("DIFF").priority(25),
    Column::new("CHECKS").priority(24),
    Column::new("REVIEW").priority(22),
    Column::new("CONFLICTS").priority(21),
    Column::new("COST").priority(12),
    Column::new("BRANCH").max(56).min(16).priority(10),
    Column::new("UPDATED").priority(20),
];

/// Of a note in a row; `inbox` and `--json` have all of it.
const LONGEST_NOTE: usize = 100;

/// The table, and how many of those that are over are not in it.
fn as_text(session: &Session, listing: &Listing, filter: &TaskFilter, live: &LiveAgents) -> String {
    let mut text = match listing.rows.as_slice() {
        [] => nothing(filter),
        rows => table(session, rows, live),
    };
    match listing.older {
        0 => {}
        1 => text.push_str("1 older one is over: `orange ls --all`\n"),
        older => {
            let _ = writeln!(text, "{older} older ones are over: `orange ls --all`");
        }
    }
    text
}

fn table(session: &Session, rows: &[ListedTask], live: &LiveAgents) -> String {
    let now = Timestamp::now();
    let several = rows
        .windows(2)
        .any(|pair| pair[0].project != pair[1].project);
    let urgent = rows
        .iter()
        .any(|row| row.priority != Priority::Normal as i64);
    let in_tmux = rows.iter().any(|row| row.has_session);
    let in_phases = rows.iter().any(|row| row.phase.is_some());
    let changed = |row: &ListedTask| row.diff.as_ref().is_some_and(|stat| stat.commits > 0);
    let any_changed = rows.iter().any(changed);
    let any = |has: &dyn Fn(&DiffStat) -> bool| {
        rows.iter().filter_map(|row| row.diff.as_deref()).any(has)
    };
    let reviewed = any(&|stat| stat.since_review.is_some());
    let conflicting = any(&|stat| !conflicts(stat).is_empty());
    let shown_rows: Vec<TaskRow<'_>> = rows.iter().map(|row| TaskRow::of(row, live)).collect();
    let checked = shown_rows.iter().any(|row| row.checks.is_some());
    let paid = shown_rows.iter().any(|row| row.usage.is_some());
    let shown = |position: usize| match position {
        1 => in_tmux,
        3 => several,
        5 => in_phases,
        6 => urgent,
        8 => any_changed,
        9 => checked,
        10 => reviewed,
        11 => conflicting,
        12 => paid,
        _ => true,
    };
    let columns: Vec<Column> = COLUMNS
        .iter()
        .enumerate()
        .filter(|(position, _)| shown(*position))
        .map(|(_, column)| *column)
        .collect();
    let mut table = Table::new(&columns);
    // Programs that read a pipe count lines: there a row stays one line.
    let notes_below = Extent::stdout() != Extent::Unlimited;
    let mut looks = row_note::MOST_LOOKS;
    for (row, shown_row) in rows.iter().zip(shown_rows) {
        let trouble = if notes_below {
            None
        } else {
            // One long request would move the columns of all rows.
            row_note::in_row(&shown_row).map(|note| fitted(&spelled(&note), LONGEST_NOTE))
        };
        let positions = (0..COLUMNS.len()).filter(|position| shown(*position));
        table.row(positions.map(|position| cell(position, &shown_row, trouble.as_deref(), now)));
        if !notes_below {
            continue;
        }
        if let Some(note) = row_note::below_row(&session.call, &shown_row, &mut looks) {
            let colour = if row.damaged.is_some() {
                Style::Red
            } else {
                Style::Yellow
            };
            table.note(Cell::new(spelled(&note), colour));
        }
    }
    let text = table.to_text();
    // As the rows: see `run`.
    std::mem::forget(table);
    text
}

/// What a row has in one of the columns.
fn cell<'a>(
    position: usize,
    shown: &TaskRow<'a>,
    trouble: Option<&str>,
    now: Timestamp,
) -> Cell<'a> {
    let row = shown.listed;
    let (sign, colour) = match (&row.damaged, shown.info()) {
        (Some(_), _) | (None, None) => ("✗", Style::Red),
        (None, Some(info)) => (info.icon, style_of(info)),
    };
    match position {
        0 => Cell::new(sign, colour),
        1 => session(shown.session),
        2 => match row.key {
            Some(key) => Cell::new(key.to_string(), Style::Bold),
            None => Cell::new(row.id.chars().take(8).collect::<String>(), Style::Bold),
        },
        3 => Cell::from(row.project.as_str()),
        4 if row.damaged.is_some() => Cell::new("damaged", colour),
        4 => Cell::new(row.status.as_str(), colour),
        5 => Cell::new(row.phase_in_words().unwrap_or_default(), Style::Plain),
        6 => priority(row.priority),
        7 => summary(row, trouble),
        8 => diff(row),
        9 => checks(shown.checks),
        10 => review(row),
        11 => conflict_count(row),
        12 => cost(shown.usage),
        13 if row.damaged.is_some() => Cell::new(row.branch.as_str(), Style::Dim).giving_way(),
        13 => Cell::new(row.branch.as_str(), Style::Dim),
        // Of a damaged one it may not be known.
        _ if row.updated_second == 0 => Cell::from(""),
        _ => {
            let then = Timestamp::from_second(row.updated_second).unwrap_or(now);
            Cell::new(relative(now, then), Style::Dim)
        }
    }
}

/// `+120 −4 · 3 commits`: lines, and in how many commits.
fn diff(row: &ListedTask) -> Cell<'_> {
    match row.diff.as_deref() {
        Some(stat) if stat.commits > 0 => {
            let commits = counted(stat.commits as usize, "commit");
            Cell::from(format!("{} · {commits}", lines(stat)))
        }
        Some(_) | None => Cell::from(""),
    }
}

fn checks(state: Option<Checks>) -> Cell<'static> {
    match state {
        None => Cell::from(""),
        Some(Checks::Running) => Cell::new("…", Style::Plain),
        Some(Checks::Passed) => Cell::new("✓", Style::Green),
        Some(Checks::Stale) => Cell::new("stale", Style::Dim),
        Some(Checks::Failed) => Cell::new("✗", Style::Red),
        Some(Checks::FailedOnBase) => Cell::new("✗ base", Style::Dim),
    }
}

/// Whether the review has seen all commits, or how many it has not.
fn review(row: &ListedTask) -> Cell<'static> {
    match row.diff.as_ref().and_then(|stat| stat.since_review) {
        None => Cell::from(""),
        Some(0) => Cell::new("✓", Style::Green),
        Some(commits) => Cell::new(format!("+{commits}"), Style::Yellow),
    }
}

fn conflicts(stat: &DiffStat) -> &[String] {
    stat.conflicts.as_deref().unwrap_or_default()
}

fn conflict_count(row: &ListedTask) -> Cell<'static> {
    match row.diff.as_deref().map(conflicts) {
        None | Some([]) => Cell::from(""),
        Some(files) => Cell::new(counted(files.len(), "file"), Style::Red),
    }
}

fn cost(usage: Option<Usage>) -> Cell<'static> {
    usage.map_or_else(|| Cell::from(""), |usage| Cell::from(usage.in_brief()))
}

fn session(state: SessionState) -> Cell<'static> {
    match state {
        SessionState::Alive => Cell::new("●", Style::Green),
        SessionState::Gone => Cell::new("✗", Style::Red),
        SessionState::None => Cell::new("○", Style::Dim),
    }
}

fn priority(order: i64) -> Cell<'static> {
    let mut all = Priority::ALL.iter();
    match all.find(|priority| **priority as i64 == order) {
        Some(Priority::Critical) => Cell::new("critical", Style::Red),
        Some(Priority::High) => Cell::new("high", Style::Yellow),
        Some(Priority::Low) => Cell::new("low", Style::Dim),
        Some(Priority::Normal) | None => Cell::new("", Style::Plain),
    }
}

/// The summary; where there is no line below it, with the trouble before it.
fn summary<'a>(row: &'a ListedTask, trouble: Option<&str>) -> Cell<'a> {
    if let Some(trouble) = trouble {
        if row.damaged.is_none() {
            return Cell::new(format!("{trouble} · {}", row.summary), Style::Yellow);
        }
        // Its status says that it is damaged; why takes no columns from the others, but what its own row has no use for.
        let (text, counts) = match row.summary.as_str() {
            "" => (trouble.to_owned(), 0),
            summary => (format!("{trouble} · {summary}"), summary.chars().count()),
        };
        return Cell::new(text, Style::Red).counting(counts).taking();
    }
    if row.waits_for.is_empty() {
        let style = if row.summary.is_empty() {
            Style::Dim
        } else {
            Style::Plain
        };
        return Cell::new(display::summary(&row.summary), style);
    }
    let mut text = format!("{} · waits for ", row.summary);
    let waits = row.waits_for.iter();
    let references: Vec<&str> = waits.map(|waits| waits.reference.as_str()).collect();
    text.push_str(&references.join(", "));
    Cell::from(text)
}

fn nothing(filter: &TaskFilter) -> String {
    let place = match filter.projects.as_slice() {
        [] => String::new(),
        projects => format!(" in {}", projects.join(", ")),
    };
    let narrowed = !filter.statuses.is_empty()
        || !filter.queues.is_empty()
        || !filter.categories.is_empty()
        || !filter.priorities.is_empty()
        || !filter.tags.is_empty()
        || filter.search.is_some();
    if filter.needs_me {
        format!("no task{place} needs you\n")
    } else if filter.ready {
        format!("no task{place} is ready to start\n")
    } else if narrowed {
        format!("no task{place} matches\n")
    } else if filter.all {
        format!("no tasks{place}; create one with `orange new \"what is to be done\"`\n")
    } else {
        format!("no open tasks{place}; `orange new \"…\"` creates one\n")
    }
}
