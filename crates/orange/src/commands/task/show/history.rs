//! The part of `task show` about what happened: who did what, when, newest last.

use crate::ui::command::spelled;
use crate::ui::{Palette, Style, ago, clean, local};
use orange_core::Timestamp;
use orange_core::timeline::EventWeight;
use orange_engine::views::TimelineEntry;
use std::fmt::Write;

/// How many lines are shown unless all are asked for.
const SHOWN: usize = 15;

/// The last events, without a word about the others.
pub(super) fn last(timeline: &[TimelineEntry], most: usize) -> String {
    let told = timeline
        .iter()
        .filter(|entry| matches!(entry.weight, EventWeight::Story | EventWeight::Trouble));
    let mut told: Vec<&TimelineEntry> = told.collect();
    told.drain(..told.len().saturating_sub(most));
    written(&told, 0, false)
}

pub(super) fn to_text(timeline: &[TimelineEntry], all: bool) -> String {
    let lines = timeline
        .iter()
        .filter(|entry| entry.weight != EventWeight::Remark);
    let told = |entry: &&TimelineEntry| all || entry.weight != EventWeight::Detail;
    let mut entries: Vec<&TimelineEntry> = lines.clone().filter(told).collect();
    if !all {
        entries.drain(..entries.len().saturating_sub(SHOWN));
    }
    written(&entries, lines.count() - entries.len(), all)
}

/// `more` that are not shown are told of.
fn written(entries: &[&TimelineEntry], more: usize, all: bool) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let palette = Palette::stdout();
    let now = Timestamp::now();
    let time = |entry: &&TimelineEntry| {
        if all {
            // To the second: a whole history is read to see what came first.
            local(entry.at, "%Y-%m-%d %H:%M:%S")
        } else {
            ago(now, entry.at)
        }
    };
    let times: Vec<String> = entries.iter().map(time).collect();
    let longest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or_default();
    let when_width = longest(&mut times.iter().map(String::len));
    let who_width = longest(&mut entries.iter().map(|entry| entry.who.chars().count())).min(20);
    let mut text = String::from("\nhistory\n");
    if more > 0 {
        let line = format!("  {more} more: --history shows all");
        let _ = writeln!(text, "{}", palette.paint(Style::Dim, &line));
    }
    for (entry, when) in entries.iter().zip(&times) {
        let style = match entry.weight {
            EventWeight::Remark | EventWeight::Detail => Style::Dim,
            EventWeight::Story => Style::Plain,
            EventWeight::Trouble => Style::Yellow,
        };
        let _ = writeln!(
            text,
            "  {:when_width$}  {:who_width$}  {}",
            palette.paint(Style::Dim, when),
            clean(&entry.who),
            palette.paint(style, &spelled(&entry.words)),
        );
    }
    text
}
