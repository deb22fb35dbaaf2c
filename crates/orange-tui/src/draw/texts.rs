//! The texts of a task's tabs: its timeline, TASK.md and its agents. Formatted once for what was read and for a width, and kept: a
//! TASK.md may be long, and a frame must not wait for it.

use super::flow::Flow;
use super::markdown::markdown;
use crate::app::{App, Tab};
use jiff::tz::TimeZone;
use orange_core::Timestamp;
use orange_core::timeline::EventWeight;
use orange_engine::views::AgentView;
use orange_engine::views::dashboard::Focus;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::cell::RefCell;
use std::rc::Rc;

/// More lines of one entry are not shown: a message may be as long as a book.
const MOST: usize = 12;
/// So many entries of a timeline are shown, the newest.
const ENTRIES: usize = 500;
/// Where the words of a timeline begin, on a screen that has room for that.
const MARGIN: usize = 25;

/// A text as it was formatted last: of which tab, of which reading, for which width.
#[derive(Default)]
pub(crate) struct Texts {
    kept: RefCell<Option<(WrappedTextKey, Rc<Vec<Line<'static>>>)>>,
    /// Counts what was read.
    reading: u64,
}

type WrappedTextKey = (Tab, u64, usize);

impl Texts {
    /// Something else was read.
    pub(crate) fn forget(&mut self) {
        self.reading += 1;
        self.kept.replace(None);
    }
}

/// The lines of the open tab; none for one that is drawn in another way, or before its task was read.
pub(crate) fn lines(app: &App, width: usize) -> Rc<Vec<Line<'static>>> {
    let key = (app.tab, app.texts.reading, width);
    if let Some((known, lines)) = &*app.texts.kept.borrow()
        && *known == key
    {
        return Rc::clone(lines);
    }
    let lines = match (app.tab, app.focused()) {
        (Tab::Timeline, Some(focus)) => timeline(app, focus, width),
        (Tab::File, Some(focus)) if focus.body.trim().is_empty() => {
            vec![Line::raw(" TASK.md has no text yet")]
        }
        (Tab::File, Some(focus)) => {
            let mut lines = markdown(&focus.body, app.theme, width.saturating_sub(2));
            for line in &mut lines {
                line.spans.insert(0, Span::raw(" "));
            }
            lines
        }
        (Tab::Agents, Some(focus)) => agents(app, focus, width),
        (Tab::Changes | Tab::Screen | Tab::Phases, _) | (_, None) => return Rc::default(),
    };
    let lines = Rc::new(lines);
    app.texts.kept.replace(Some((key, Rc::clone(&lines))));
    lines
}

fn clock(time: Timestamp) -> String {
    let zoned = time.to_zoned(TimeZone::system());
    zoned.strftime("%d %b %H:%M").to_string()
}

/// Words after a margin, in a few lines.
fn told(
    first: Vec<Span<'static>>,
    margin: usize,
    words: &str,
    style: Style,
    width: usize,
) -> Vec<Line<'static>> {
    let mut flow = Flow::new(width.saturating_sub(1));
    flow.begin(first, vec![Span::raw(" ".repeat(margin))]);
    flow.words(words, style);
    let mut lines = flow.lines();
    if lines.len() > MOST {
        lines.truncate(MOST);
        if let Some(last) = lines.last_mut() {
            *last = Line::raw(format!("{}…", " ".repeat(margin)));
        }
    }
    lines
}

/// What happened, the newest first.
fn timeline(app: &App, focus: &Focus, width: usize) -> Vec<Line<'static>> {
    let entries = focus.timeline.iter().rev().take(ENTRIES);
    let mut lines: Vec<Line<'static>> = entries
        .flat_map(|entry| {
            let style = match entry.weight {
                EventWeight::Trouble => app.theme.trouble(),
                EventWeight::Story => Style::new(),
                _ => app.theme.dim(),
            };
            let first = vec![
                Span::styled(format!(" {}  ", clock(entry.at)), app.theme.dim()),
                Span::styled(format!("{:<9} ", entry.who), style),
            ];
            let margin = if width >= 60 { MARGIN } else { 4 };
            told(first, margin, &app.spelled(&entry.words), style, width)
        })
        .collect();
    if focus.timeline.len() > ENTRIES {
        let text = format!(
            " … what is older: orange show {} --history",
            focus.task.label()
        );
        lines.push(Line::styled(text, app.theme.dim()));
    }
    lines
}

/// Each agent with what it does, what it said and what it has not been told yet.
fn agents(app: &App, focus: &Focus, width: usize) -> Vec<Line<'static>> {
    if focus.agents.is_empty() {
        return vec![Line::raw(" it has had no agent yet")];
    }
    let mut lines = Vec::new();
    for agent in focus.agents.iter().rev() {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(one_agent(app, agent, width));
    }
    lines
}

fn one_agent(app: &App, agent: &AgentView, width: usize) -> Vec<Line<'static>> {
    let (sign, style) = if agent.alive {
        ("●", app.theme.good())
    } else {
        ("○", app.theme.dim())
    };
    let mut about = format!(
        "{}, {}, since {}",
        agent.role,
        agent.harness,
        clock(agent.started)
    );
    if let Some(usage) = &agent.usage {
        about.push_str(&format!(", {}", usage.in_brief()));
    }
    let first = vec![Span::styled(format!(" {sign} "), style)];
    let mut lines = told(first, 3, &about, app.theme.bold(), width);
    let doing = agent
        .doing
        .as_ref()
        .map(|doing| app.spelled(&doing.words()));
    let state = match (&agent.ended, agent.alive, doing) {
        (Some(end), ..) => format!("{} {}: {}", end.how, clock(end.at), end.reason),
        (None, true, Some(doing)) => doing,
        (None, true, None) => "alive".to_owned(),
        (None, false, _) => "its process is gone".to_owned(),
    };
    let margin = || vec![Span::raw("   ")];
    let state = state.trim_end_matches(": ");
    lines.extend(told(margin(), 3, state, Style::new(), width));
    if let Some(said) = &agent.said {
        lines.extend(told(margin(), 3, said, app.theme.dim(), width));
    }
    for message in &agent.waiting {
        let text = format!("not delivered yet: {message}");
        lines.extend(told(margin(), 3, &text, app.theme.need(), width));
    }
    lines
}
