//! A window as lines that come one after the other, for a pipe or a file.

use crate::output;
use crate::ui::clean;
use orange_core::workflow::Role;
use orange_engine::engine::Screen;
use std::collections::{HashMap, HashSet};

/// What was there at the last look, at whose window.
#[derive(Default)]
pub(super) struct News {
    whose: Option<Role>,
    lines: HashMap<Role, Vec<String>>,
}

impl News {
    /// Prints what is new. False: nobody reads on.
    pub(super) fn tell(&mut self, screen: &Screen) -> bool {
        if self.whose.is_some_and(|before| before != screen.role) {
            output::note(&format!(
                "from here on the {} of {}",
                screen.role,
                screen.task.label()
            ));
        }
        self.whose = Some(screen.role);
        let now: Vec<String> = screen.text.trim_end().lines().map(str::to_owned).collect();
        let before = self.lines.entry(screen.role).or_default();
        let text: String = since(before, &now)
            .map(|line| format!("{}\n", clean(line)))
            .collect();
        *before = now;
        text.is_empty() || output::print_piece(text.as_bytes())
    }
}

/// The lines that were not there before. Above, lines may have gone; below, they may have been drawn anew.
fn since<'a>(before: &'a [String], now: &'a [String]) -> impl Iterator<Item = &'a String> {
    let gone = gone_above(before, now);
    let before = before.get(gone..).unwrap_or_default();
    let same = before
        .iter()
        .zip(now)
        .take_while(|(old, new)| old == new)
        .count();
    let old: HashSet<&String> = before.iter().skip(same).collect();
    let is_new = move |line: &&String| !line.trim().is_empty() && !old.contains(line);
    now.iter().skip(same).filter(is_new)
}

/// How many lines have gone from the top: the fewest after which the two look alike.
fn gone_above(before: &[String], now: &[String]) -> usize {
    /// So many lines in a row are no accident.
    const ENOUGH: usize = 8;
    let alike = |gone: &usize| {
        let left = before.get(*gone..).unwrap_or_default();
        let needed = left.len().min(ENOUGH);
        needed > 0
            && left
                .iter()
                .zip(now)
                .take_while(|(old, new)| old == new)
                .count()
                >= needed
    };
    (0..before.len()).find(alike).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn new(before: &str, now: &str) -> String {
        let (before, now) = (lines(before), lines(now));
        since(&before, &now).cloned().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_what_was_not_there_is_told() {
        assert_eq!(new("", "a b"), "a b");
        assert_eq!(new("a b", "a b"), "");
        assert_eq!(new("a b", "a b c d"), "c d");
        assert_eq!(new("a b > prompt", "a b c > prompt"), "c");
        assert_eq!(new("a b working.", "a b working.."), "working..");
    }

    #[test]
    fn lines_that_left_above_are_not_told_again() {
        assert_eq!(new("a b c d e", "c d e f"), "f");
        let long: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
        assert_eq!(
            new(&long[..1900].join(" "), &long[100..].join(" ")),
            long[1900..].join(" ")
        );
    }
}
