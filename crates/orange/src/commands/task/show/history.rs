//! The part of `task show` about what happened: who did what, when, newest last.

use crate::ui::{Palette, Style, ago, clean, time_of_day};
use orange_core::Timestamp;
use orange_core::history::History;
use orange_core::timeline::{Entry, Weight, timeline};
use serde_json::{Value, json};
use std::fmt::Write;

/// How many lines are shown unless all are asked for.
const SHOWN: usize = 15;

/// The lines to show, and how many there are besides.
fn chosen(history: &History, all: bool) -> (Vec<Entry<'_>>, usize) {
    let mut entries = timeline(history, time_of_day);
    let whole = entries.len();
    if !all {
        entries.retain(|entry| entry.weight != Weight::Detail);
        let skip = entries.len().saturating_sub(SHOWN);
        entries.drain(..skip);
    }
    let more = whole - entries.len();
    (entries, more)
}

pub(super) fn to_json(history: &History) -> Value {
    let as_json = |entry: &Entry<'_>| {
        json!({
            "at": entry.event.timestamp.to_string(),
            "type": entry.event.kind.as_str(),
            "who": entry.who,
            "words": entry.words,
        })
    };
    chosen(history, true).0.iter().map(as_json).collect()
}

pub(super) fn to_text(history: &History, all: bool) -> String {
    let (entries, more) = chosen(history, all);
    if entries.is_empty() {
        return String::new();
    }
    let palette = Palette::stdout();
    let now = Timestamp::now();
    let time = |entry: &Entry<'_>| match all {
        true => whole_time(entry.event.timestamp),
        false => ago(now, entry.event.timestamp),
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
            Weight::Detail => Style::Dim,
            Weight::Story => Style::Plain,
            Weight::Trouble => Style::Yellow,
        };
        let _ = writeln!(
            text,
            "  {:when_width$}  {:who_width$}  {}",
            palette.paint(Style::Dim, when),
            clean(entry.who),
            palette.paint(style, &entry.words),
        );
    }
    text
}

/// To the second, here: a whole history is read to see what came first.
fn whole_time(time: Timestamp) -> String {
    let here = time.to_zoned(jiff::tz::TimeZone::system());
    here.strftime("%Y-%m-%d %H:%M:%S").to_string()
}
