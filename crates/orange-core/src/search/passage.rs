//! Where something was found: of a long text the one line that says most about it, short enough to be read.

use super::{CLOSE, NEXT_EVENT, OPEN, original};
use crate::naming::one_line;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ops::Range;

/// A piece of text, and what was found in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Passage {
    pub text: String,
    /// In bytes of the text.
    #[serde(skip)]
    pub hits: Vec<Range<usize>>,
}

/// How many characters of a line are shown.
const WIDTH: usize = 160;
/// How many of them before what was found.
const BEFORE: usize = 40;

impl Passage {
    /// A text in which nothing was found.
    pub fn plain(text: String) -> Passage {
        Passage {
            text,
            hits: Vec::new(),
        }
    }

    /// A text with [`OPEN`] and [`CLOSE`] around what was found.
    pub fn of(marked: &str) -> Passage {
        let mut passage = Passage::default();
        let mut start = None;
        for c in original(marked).chars() {
            match c {
                OPEN => start = Some(passage.text.len()),
                CLOSE => {
                    let end = passage.text.len();
                    passage.hits.extend(start.take().map(|start| start..end));
                }
                _ => passage.text.push(c),
            }
        }
        // A phrase that goes on in the next line.
        let end = passage.text.len();
        passage.hits.extend(start.map(|start| start..end));
        passage
    }

    /// Only what stands around the first hit.
    fn shortened(&self) -> Passage {
        if self.text.chars().count() <= WIDTH {
            return self.clone();
        }
        let first = self.hits.first().map_or(0, |hit| hit.start);
        let before = self.text[..first].char_indices().rev();
        let start = before.take(BEFORE).last().map_or(first, |(at, _)| at);
        let mut after = self.text[start..].char_indices().skip(WIDTH);
        let end = after.next().map_or(self.text.len(), |(at, _)| start + at);
        let mut text = String::new();
        if start > 0 {
            text.push('…');
        }
        let shift = text.len();
        text.push_str(&self.text[start..end]);
        if end < self.text.len() {
            text.push('…');
        }
        let inside = |hit: &&Range<usize>| hit.start >= start && hit.end <= end;
        let moved = |hit: &Range<usize>| hit.start - start + shift..hit.end - start + shift;
        Passage {
            text,
            hits: self.hits.iter().filter(inside).map(moved).collect(),
        }
    }
}

/// The line that has most of what was looked for, by its number; the first of several. None: nothing was found here.
pub fn best_line(marked: &str) -> Option<(usize, Passage)> {
    best(marked.lines().enumerate(), false)
}

/// The event that has most of it, by its number; the newest of several.
pub fn best_event(marked: &str) -> Option<(usize, Passage)> {
    best(marked.split(NEXT_EVENT).enumerate(), true)
}

fn best<'t>(
    parts: impl Iterator<Item = (usize, &'t str)>,
    later_wins: bool,
) -> Option<(usize, Passage)> {
    let mut best: Option<(usize, usize, &str)> = None;
    for (number, part) in parts.filter(|(_, part)| part.contains(OPEN)) {
        let found = different_hits(part);
        let wins = best.is_none_or(|(_, most, _)| found > most || later_wins && found == most);
        if wins {
            best = Some((number, found, part));
        }
    }
    let (number, _, part) = best?;
    Some((number, Passage::of(&one_line(part)).shortened()))
}

fn different_hits(marked: &str) -> usize {
    let hits = marked.split(OPEN).skip(1);
    let words: BTreeSet<String> = hits
        .map(|hit| hit.split(CLOSE).next().unwrap_or_default().to_lowercase())
        .collect();
    words.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(passage: &Passage) -> String {
        let mut text = passage.text.clone();
        for hit in passage.hits.iter().rev() {
            text.insert(hit.end, ']');
            text.insert(hit.start, '[');
        }
        text
    }

    #[test]
    fn the_line_with_most_of_the_words_is_shown() {
        let text = "one \u{2}form\u{3}\n\n  the   \u{2}login\u{3} \u{2}form\u{3}\n\u{2}form\u{3}s";
        let (number, found) = best_line(text).unwrap();
        assert_eq!((number, shown(&found).as_str()), (2, "the [login] [form]"));
        assert_eq!(best_line("nothing here"), None);
    }

    #[test]
    fn of_events_the_newest_counts() {
        let text = "\u{2}a\u{3}\u{1e}b\u{1e}\u{2}a\u{3} again\u{1e}c";
        let (number, found) = best_event(text).unwrap();
        assert_eq!((number, shown(&found).as_str()), (2, "[a] again"));
    }

    #[test]
    fn long_lines_are_cut_around_the_first_hit() {
        let text = format!("{}\u{2}word\u{3}{}", "ä ".repeat(500), " ö".repeat(500));
        let (_, found) = best_line(&text).unwrap();
        let shown = shown(&found);
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("[word]"));
        assert!(found.text.chars().count() <= WIDTH + 2, "{shown}");
        // What is broken where it is not seen is whole here.
        let (_, chinese) = best_line("\u{200b}\u{2}登\u{200b}录\u{3}\u{200b}").unwrap();
        assert_eq!(chinese.text, "登录");
    }
}
