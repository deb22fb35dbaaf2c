//! A window as lines that come one after the other, for a pipe or a file.

use crate::output;
use crate::ui::clean;
use orange_core::workflow::Role;
use orange_engine::engine::Screen;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// What was there at the last look, at whose window.
#[derive(Default)]
pub(super) struct News {
    whose: Option<Role>,
    lines: HashMap<Role, Vec<String>>,
    /// How many lines were new at the last look.
    came: usize,
    /// The last line, and since when it has been that: it may not be whole yet.
    last: Option<(String, Instant)>,
}

impl News {
    /// Can it be told where these lines go on from those before?
    pub(super) fn goes_on(&self, screen: &Screen) -> bool {
        let Some(before) = self.lines.get(&screen.role) else {
            return true;
        };
        before.is_empty() || fit(before, &lines_of(screen)).is_some()
    }

    /// Prints what is new, after a word about lines that were lost before it. False: nobody reads on.
    pub(super) fn tell(&mut self, screen: &Screen, lost: bool) -> bool {
        if self.whose.is_some_and(|before| before != screen.role) {
            output::note(&format!(
                "from here on the {} of {}",
                screen.role,
                screen.task.label()
            ));
        }
        self.whose = Some(screen.role);
        let mut now = lines_of(screen);
        if screen.alive && !self.is_whole(now.last()) {
            now.pop();
        }
        let before = self.lines.entry(screen.role).or_default();
        let mut text = String::new();
        if lost {
            before.clear();
            text.push_str("… lines are missing here: more came than the window keeps\n");
        }
        self.came = 0;
        for line in since(before, &now) {
            text.push_str(&clean(line));
            text.push('\n');
            self.came += 1;
        }
        *before = now;
        text.is_empty() || output::print_piece(text.as_bytes())
    }

    /// Has the last line been the same for a while?
    fn is_whole(&mut self, line: Option<&String>) -> bool {
        const WHILE: Duration = Duration::from_millis(150);
        let Some(line) = line else {
            return true;
        };
        match &self.last {
            Some((last, since)) if last == line => since.elapsed() >= WHILE,
            _ => {
                self.last = Some((line.clone(), Instant::now()));
                false
            }
        }
    }

    /// Lines come so fast that the next look should not wait.
    pub(super) fn in_a_flood(&self) -> bool {
        const MANY: usize = 200;
        self.came > MANY
    }
}

fn lines_of(screen: &Screen) -> Vec<String> {
    screen.text.trim_end().lines().map(str::to_owned).collect()
}

/// The lines that were not there before. Above, lines may have gone; below, they may have been drawn anew.
fn since<'a>(before: &'a [String], now: &'a [String]) -> impl Iterator<Item = &'a String> {
    let Fit { gone, above } = fit(before, now).unwrap_or_default();
    let before = before.get(gone..).unwrap_or_default();
    let same = before
        .iter()
        .zip(now.iter().skip(above))
        .take_while(|(old, new)| old == new)
        .count();
    let old: HashSet<&String> = before.iter().skip(same).collect();
    let is_new = move |line: &&String| !line.trim().is_empty() && !old.contains(line);
    now.iter().skip(above + same).filter(is_new)
}

/// How two looks fit together: lines that have gone from the top of the first, and lines above it in the second,
/// which was a look further up.
#[derive(Clone, Copy, Default)]
struct Fit {
    gone: usize,
    above: usize,
}

/// The fewest lines after which the two look alike.
fn fit(before: &[String], now: &[String]) -> Option<Fit> {
    /// So many lines in a row are no accident.
    const ENOUGH: usize = 8;
    let alike = |fit: &Fit| {
        let left = before.get(fit.gone..).unwrap_or_default();
        let needed = left.len().min(ENOUGH);
        let same = left.iter().zip(now.iter().skip(fit.above));
        needed > 0 && same.take_while(|(old, new)| old == new).count() >= needed
    };
    let scrolled = (0..before.len()).map(|gone| Fit { gone, above: 0 });
    let further_up = (1..now.len()).map(|above| Fit { gone: 0, above });
    scrolled.chain(further_up).find(alike)
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

    #[test]
    fn a_look_further_up_tells_nothing_twice() {
        assert_eq!(new("c d e", "a b c d e f"), "f");
        let long: Vec<String> = (0..3000).map(|number| number.to_string()).collect();
        assert_eq!(
            new(&long[1000..2000].join(" "), &long[500..].join(" ")),
            long[2000..].join(" ")
        );
    }

    #[test]
    fn lines_that_do_not_go_on_are_seen_as_such() {
        let all: Vec<String> = (0..9000).map(|number| number.to_string()).collect();
        assert!(fit(&all[..1000], &all[999..3000]).is_some());
        assert!(fit(&all[..1000], &all[1000..3000]).is_none());
    }
}
