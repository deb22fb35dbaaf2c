//! What the demo shows while it plays: on a terminal a log that scrolls and below it the three tasks, drawn in place;
//! elsewhere a line per event.

use super::actor::DemoActor;
use crate::commands::task::style;
use crate::output;
use crate::terminal::Terminal;
use crate::ui::{Palette, Style, fitted, terminal_width};
use orange_engine::Error;
use std::fmt::Write as _;
use std::io::{IsTerminal, stdout};
use std::time::{Duration, Instant};

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
const CLEAR_BELOW: &str = "\r\x1b[J";
const CLEAR_ALL: &str = "\x1b[H\x1b[2J";

/// So often is the time in the live table brought up to date.
const FRAME: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, PartialEq, Eq)]
enum ScreenKind {
    Live,
    Plain,
    /// Somebody wants JSON, and only that.
    Silent,
}

pub(super) struct DemoScreen {
    kind: ScreenKind,
    /// As long as the table is drawn in place, and how often it had been taken at the last picture.
    terminal: Option<Terminal>,
    times: usize,
    palette: Palette,
    began: Instant,
    /// Lines of the table that are on the terminal now, and how wide it was.
    lines: usize,
    width: usize,
    /// What happened so far: when, to whom, what.
    log: Vec<(f64, String, String)>,
    /// Lines of the log that are on the terminal.
    told: usize,
    drawn: Option<Instant>,
    /// Why nothing can be shown any more. A reader that has gone away is no such reason.
    pub(super) failure: Option<Error>,
}

impl DemoScreen {
    pub(super) fn new(json: bool, began: Instant) -> DemoScreen {
        let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
        let kind = match (json, stdout().is_terminal() && !dumb) {
            (true, _) => ScreenKind::Silent,
            (false, true) => ScreenKind::Live,
            (false, false) => ScreenKind::Plain,
        };
        DemoScreen {
            kind,
            terminal: (kind == ScreenKind::Live).then(|| Terminal::take(HIDE_CURSOR, SHOW_CURSOR)),
            times: 1,
            palette: Palette::stdout(),
            began,
            lines: 0,
            width: terminal_width(),
            log: Vec::new(),
            told: 0,
            drawn: None,
            failure: None,
        }
    }

    /// Something happened; `who` is a task or the user.
    pub(super) fn tell(&mut self, who: &str, text: &str, cast: &[DemoActor]) {
        let at = self.began.elapsed().as_secs_f64();
        let entry = (at, who.to_owned(), text.to_owned());
        match self.kind {
            ScreenKind::Live => {
                self.log.push(entry);
                self.redraw(cast);
            }
            ScreenKind::Plain => self.write(&self.line(&entry, usize::MAX)),
            ScreenKind::Silent => {}
        }
    }

    fn line(&self, (at, who, text): &(f64, String, String), width: usize) -> String {
        let styled = if who == super::USER {
            Style::Cyan
        } else {
            Style::Bold
        };
        // The brackets, the time, the name and the blanks between them.
        let room = width.saturating_sub(19);
        let who = self.palette.paint(styled, who);
        format!("[{at:4.1}s] {who:8}  {}\n", fitted(text, room))
    }

    /// Brings the table up to date, if it is time.
    pub(super) fn tick(&mut self, cast: &[DemoActor]) {
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= FRAME);
        if self.kind == ScreenKind::Live && due {
            self.redraw(cast);
        }
    }

    /// The table as it stays, and the cursor below it.
    pub(super) fn close(&mut self, cast: &[DemoActor]) {
        if self.kind == ScreenKind::Live {
            self.redraw(cast);
            self.lines = 0;
            self.terminal = None;
        }
    }

    /// Text below everything.
    pub(super) fn print(&mut self, text: &str) {
        if self.kind != ScreenKind::Silent {
            self.write(text);
        }
    }

    fn redraw(&mut self, cast: &[DemoActor]) {
        let width = terminal_width();
        let table = self.table(cast, width);
        let mut text = String::new();
        let times = (self.terminal.as_ref()).map_or(self.times, Terminal::times);
        let resized = width != self.width || times != self.times;
        if resized {
            // Nobody knows how the terminal broke the lines that are there, or what a shell wrote below them; the
            // log is told again.
            text.push_str(CLEAR_ALL);
        } else if self.lines > 0 {
            let _ = write!(text, "\x1b[{}A{CLEAR_BELOW}", self.lines);
        }
        let known = if resized { 0 } else { self.told };
        for entry in self.log.iter().skip(known) {
            text.push_str(&self.line(entry, width));
        }
        text.push_str(&table);
        self.lines = table.matches('\n').count();
        self.width = width;
        self.times = times;
        self.drawn = Some(Instant::now());
        self.told = self.log.len();
        self.write(&text);
    }

    fn table(&self, cast: &[DemoActor], width: usize) -> String {
        let palette = self.palette;
        let over = cast.iter().filter(|actor| actor.status.is_over());
        let title = format!(
            "orange demo {:5.1}s   {} of 3 tasks are on main",
            self.began.elapsed().as_secs_f64(),
            over.count()
        );
        let mut text = format!("\n{}\n", palette.bold(&fitted(&title, width)));
        for actor in cast {
            let colour = style(actor.status);
            // The sign, the key and the status, with blanks.
            let room = width.saturating_sub(28);
            let _ = writeln!(
                text,
                "{}  {:8}  {:13}  {}",
                palette.paint(colour, actor.status.info().icon),
                palette.bold(&actor.key),
                palette.paint(colour, actor.status.as_str()),
                fitted(actor.demo_task.summary, room),
            );
            let now = fitted(&actor.now, width.saturating_sub(13));
            let _ = writeln!(text, "             {}", palette.paint(Style::Dim, &now));
        }
        text
    }

    fn write(&mut self, text: &str) {
        let _hold = self.terminal.as_ref().map(Terminal::hold);
        if let Err(error) = output::write(text.as_bytes()) {
            self.failure.get_or_insert(error);
        }
    }
}
