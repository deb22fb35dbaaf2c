//! A window as lines that come one after the other, for a pipe or a file.

use crate::output;
use crate::ui::clean;
use orange_core::workflow::Role;
use orange_engine::tmux::Scrollback;
use orange_engine::verbs::peek::Screen;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// What was there at the last look, at whose window.
#[derive(Default)]
pub(super) struct ScreenNews {
    whose: Option<Role>,
    looks: HashMap<Role, ScreenLook>,
    /// How many lines were new at the last look.
    came: usize,
    /// The last line, and since when it has been that: it may not be whole yet.
    last: Option<(String, Instant)>,
}

#[derive(Default)]
struct ScreenLook {
    run: String,
    lines: Vec<String>,
    /// How many rows the window has had above the first of these; None: not known.
    above: Option<i64>,
    scrollback: Scrollback,
}

impl ScreenLook {
    /// A look at that many rows above the screen.
    fn of(screen: &Screen, depth: u32) -> ScreenLook {
        let now = screen.scrollback;
        // A full scrollback has discarded an unknown number of lines.
        let known = now != Scrollback::default() && !now.is_full();
        ScreenLook {
            run: screen.run.clone(),
            lines: lines_of(screen),
            above: known.then(|| i64::from(now.lines.saturating_sub(depth))),
            scrollback: now,
        }
    }

    /// Is what looks as if nothing had come, something that came once more? Rows have left the window since.
    fn hides(&self, next: &ScreenLook, fit: Fit) -> bool {
        next.above.is_none()
            && fit.gone == 0
            && self.run == next.run
            && self.scrollback.lines != next.scrollback.lines
            && since(&self.lines, &next.lines, fit).is_empty()
    }

    /// How the next look fits to this one, if it can be told.
    fn fit(&self, next: &ScreenLook) -> Option<Fit> {
        let shift = match (self.above, next.above) {
            (Some(before), Some(now)) if self.run == next.run => Some(now - before),
            _ => None,
        };
        fit(&self.lines, &next.lines, shift)
    }
}

impl ScreenNews {
    /// Can it be told where these lines go on from those before?
    pub(super) fn goes_on(&self, screen: &Screen, depth: u32) -> bool {
        let Some(before) = self.looks.get(&screen.role) else {
            return true;
        };
        let next = ScreenLook::of(screen, depth);
        let fit = before.fit(&next);
        before.lines.is_empty() || fit.is_some_and(|fit| !before.hides(&next, fit))
    }

    /// Prints what is new, after a word about lines that were lost before it. False: nobody reads on.
    pub(super) fn tell(&mut self, screen: &Screen, depth: u32, lost: bool) -> bool {
        if self.whose.is_some_and(|before| before != screen.role) {
            output::note(&format!(
                "from here on the {} of {}",
                screen.role,
                screen.task.label()
            ));
        }
        self.whose = Some(screen.role);
        let before = self.looks.remove(&screen.role).unwrap_or_default();
        let mut now = ScreenLook::of(screen, depth);
        if screen.alive && !self.is_whole(now.lines.last()) {
            now.lines.pop();
        }
        let mut text = String::new();
        let known = if lost {
            text.push_str("… lines are missing here: more came than the window keeps\n");
            &[]
        } else {
            before.lines.as_slice()
        };
        self.came = 0;
        let fit = before.fit(&now).filter(|_| !lost).unwrap_or_default();
        for line in since(known, &now.lines, fit) {
            text.push_str(&clean(line));
            text.push('\n');
            self.came += 1;
        }
        self.looks.insert(screen.role, now);
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
fn since<'a>(before: &'a [String], now: &'a [String], Fit { gone, above }: Fit) -> Vec<&'a String> {
    let before = before.get(gone..).unwrap_or_default();
    let same = before
        .iter()
        .zip(now.iter().skip(above))
        .take_while(|(old, new)| old == new)
        .count();
    // Each line that was below stands for one that is there again, such as a prompt, and not for more.
    let mut old: HashMap<&str, usize> = HashMap::new();
    for line in before.iter().skip(same) {
        *old.entry(line).or_default() += 1;
    }
    let mut new = Vec::new();
    for line in now.iter().skip(above + same) {
        match old.get_mut(line.as_str()) {
            Some(left @ 1..) => *left -= 1,
            _ if line.trim().is_empty() => {}
            _ => new.push(line),
        }
    }
    new
}

/// How two looks fit together: lines that have gone from the top of the first, and lines above it in the second,
/// which was a look further up.
#[derive(Clone, Copy, Default)]
struct Fit {
    gone: usize,
    above: usize,
}

/// `shift`: how many rows the first row is further down than before. Wide lines take several rows, so it is the most
/// that can be; the nearest below that looks alike is taken, for output that repeats itself looks alike in many
/// places, and to tell a line twice is better than not at all. Without it: the fewest lines that look alike.
fn fit(before: &[String], now: &[String], shift: Option<i64>) -> Option<Fit> {
    /// So many lines in a row are no accident.
    const ENOUGH: usize = 8;
    let alike = |fit: &Fit| {
        let left = before.get(fit.gone..).unwrap_or_default();
        let needed = left.len().min(ENOUGH);
        let same = left.iter().zip(now.iter().skip(fit.above));
        needed > 0 && same.take_while(|(old, new)| old == new).count() >= needed
    };
    let gone = |gone: usize| Fit { gone, above: 0 };
    let above = |above: usize| Fit { gone: 0, above };
    let most = |rows: u64, lines: &[String]| usize::try_from(rows).unwrap_or(0).min(lines.len());
    match shift {
        Some(0) => Some(Fit::default()),
        Some(down @ 1..) => (0..=most(down.unsigned_abs(), before))
            .rev()
            .map(gone)
            .find(alike),
        Some(up) => (0..=most(up.unsigned_abs(), now))
            .rev()
            .map(above)
            .find(alike),
        None => (0..before.len())
            .map(gone)
            .chain((1..now.len()).map(above))
            .find(alike),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn new(before: &str, now: &str) -> String {
        moved(before, now, None)
    }

    fn moved(before: &str, now: &str, shift: Option<i64>) -> String {
        let (before, now) = (lines(before), lines(now));
        let fit = fit(&before, &now, shift).unwrap_or_default();
        let new: Vec<String> = since(&before, &now, fit).into_iter().cloned().collect();
        new.join(" ")
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
        assert!(fit(&all[..1000], &all[999..3000], None).is_some());
        assert!(fit(&all[..1000], &all[1000..3000], None).is_none());
        assert!(fit(&all[..1000], &all[1000..3000], Some(1000)).is_none());
    }

    /// The same output once more looks as if nothing had come, but for the rows that have gone.
    #[test]
    fn output_that_repeats_itself_is_told_each_time() {
        let run: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let twice = [run.clone(), run.clone()].concat();
        let (before, now) = (twice[..150].join(" "), twice[50..].join(" "));
        assert_eq!(moved(&before, &now, Some(50)), twice[150..].join(" "));
        assert_eq!(
            moved(&run.join(" "), &twice.join(" "), Some(0)),
            run.join(" ")
        );
        let thrice = [twice.clone(), run.clone()].concat();
        let (screen, all) = (thrice[100..200].join(" "), thrice.join(" "));
        assert_eq!(moved(&screen, &all, Some(-100)), run.join(" "));
        assert_eq!(moved("a done >", "a done b done >", Some(0)), "b done");
    }
}
