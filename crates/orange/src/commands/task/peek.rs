//! `orange task peek`: what an agent's window shows, once or as long as somebody looks.

mod live;
mod news;

use super::word;
use crate::completion::{Wanted, tasks, words};
use crate::output::{self, named};
use crate::session::Session;
use crate::signals::Signals;
use crate::ui::clean_block;
use clap::Args;
use live::Live;
use news::ScreenNews;
use orange_core::workflow::Role;
use orange_engine::Result;
use orange_engine::store::Place;
use orange_engine::verbs::peek::{self, Screen};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often the window is looked at.
const NAP: Duration = Duration::from_millis(200);
/// How long after an agent's end the next one may take to begin.
const GRACE: Duration = Duration::from_secs(3);
/// How far back lines are looked for that may have left the screen between two looks.
const HISTORY: u32 = 1000;

/// How many lines are shown by default.
const LAST: u32 = 20;

/// Show what an agent's window shows
#[derive(Debug, Args)]
#[command(after_help = "\
Shows the last lines of it without frames and empty lines; --screen shows all of it as it is drawn. An agent that is \
gone left its last screen.

--follow shows it live, on a terminal in place, elsewhere each new line. It goes from the worker to the reviewer and \
back as the task does, unless --role says whose window; it ends when no agent follows, with q on a terminal, or with \
Ctrl-C.

Examples:
  orange peek TASK-001
  orange peek TASK-001 --lines 200
  orange peek TASK-001 --screen
  orange peek TASK-001 --follow")]
pub(crate) struct PeekArgs {
    /// The task (default: the one you are in)
    #[arg(add = tasks(Wanted::Any))]
    id: Option<String>,
    /// The window of the worker, the reviewer or the executor
    #[arg(long, value_parser = word::<Role>, add = words(Role::WORDS))]
    role: Option<Role>,
    /// The last N lines (default: 20); with --screen, so many lines above the visible screen too
    #[arg(long, value_name = "N")]
    lines: Option<u32>,
    /// Show the whole screen as it is drawn
    #[arg(long)]
    screen: bool,
    /// Show changes until the agent ends
    #[arg(long, short)]
    follow: bool,
}

pub(crate) fn run(session: &Session, args: &PeekArgs) -> Result<()> {
    let place = session.task(args.id.as_deref())?;
    // So many lines may be blank or frames: one screen more is read than is shown.
    let above = args
        .lines
        .filter(|_| args.screen || args.lines > Some(LAST));
    let screen = peek::peek(&session.call, place.clone(), args.role, above)?;
    if args.follow && screen.alive {
        return follow(session, args, &place);
    }
    if screen.is_transcript {
        output::note(&format!(
            "{} is gone; this is the end of its last transcript",
            agent(&screen)
        ));
    } else if screen.kept.is_some() {
        output::note(&format!(
            "{} is gone; this is the last it showed",
            agent(&screen)
        ));
    } else if args.follow {
        output::note(&format!(
            "{} has ended; nothing is to follow",
            agent(&screen)
        ));
    }
    session.finish_as_it_is(named("screen", &screen), || {
        let text = clean_block(screen.text.trim_end());
        let lines = args.lines.unwrap_or(LAST) as usize;
        if args.screen {
            format!("{text}\n")
        } else {
            last_lines(&text, lines)
        }
    })
}

/// The last lines in which something is said, without frames and rules around it.
fn last_lines(text: &str, most: usize) -> String {
    let is_drawing = |c: char| matches!(c, '\u{2500}'..='\u{259f}');
    let said = text.lines().rev().filter_map(|line| {
        let bare = line.trim_end().trim_end_matches(is_drawing).trim_end();
        let bare = match bare.trim_start().chars().next() {
            Some(first) if is_drawing(first) => bare.trim_start().trim_start_matches(is_drawing),
            _ => bare,
        };
        (!bare.trim().is_empty()).then_some(bare)
    });
    let mut lines: Vec<&str> = said.take(most).collect();
    lines.reverse();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn agent(screen: &Screen) -> String {
    format!("the {} of {}", screen.role, screen.task.label())
}

enum PeekOutput {
    Live(Live),
    Lines(ScreenNews),
    /// One value for each screen that differs from the one before.
    Json(String),
}

impl PeekOutput {
    /// Waits until the next look, and tells whether nobody wants one.
    fn is_enough(&mut self) -> bool {
        match self {
            PeekOutput::Live(live) => live.asked_to_end(NAP),
            PeekOutput::Lines(news) => output::is_closed(if news.in_a_flood() {
                Duration::ZERO
            } else {
                NAP
            }),
            PeekOutput::Json(_) => output::is_closed(NAP),
        }
    }
}

/// Prints the new lines. Where they do not go on from those before, more of the window's history is read; what it has
/// lost is said.
fn tell(
    session: &Session,
    place: &Place,
    role: Option<Role>,
    news: &mut ScreenNews,
    (screen, depth): (&Screen, u32),
) -> bool {
    if news.goes_on(screen, depth) || screen.kept.is_some() {
        return news.tell(screen, depth, false);
    }
    // More than there was a moment ago, for more may have come.
    let deeper = screen.scrollback.lines.saturating_add(depth);
    let wider = peek::peek(&session.call, place.clone(), role, Some(deeper));
    let (screen, depth) = match &wider {
        Ok(wider) if wider.run == screen.run => (wider, deeper),
        _ => (screen, depth),
    };
    let lost = !news.goes_on(screen, depth);
    news.tell(screen, depth, lost)
}

fn follow(session: &Session, args: &PeekArgs, place: &Place) -> Result<()> {
    let signals = Signals::watch();
    let capable = std::env::var("TERM").is_ok_and(|term| term != "dumb");
    let mut shown = match (session.json, std::io::stdout().is_terminal() && capable) {
        (true, _) => PeekOutput::Json(String::new()),
        (false, true) => PeekOutput::Live(Live::begin()),
        (false, false) => PeekOutput::Lines(ScreenNews::default()),
    };
    let mut lines = match shown {
        PeekOutput::Lines(_) => args.lines.or(Some(HISTORY)),
        PeekOutput::Live(_) | PeekOutput::Json(_) => args.lines,
    };
    let mut last = String::new();
    let mut ended = false;
    let mut alive = Instant::now();
    let outcome = loop {
        let screen = match peek::peek(&session.call, place.clone(), args.role, lines) {
            Ok(screen) => screen,
            // Its window went, and nothing of it was kept.
            Err(error) if error.code == orange_engine::Code::NotFound => {
                ended = true;
                break Ok(());
            }
            Err(error) => break Err(error),
        };
        let read_on = match &mut shown {
            PeekOutput::Live(live) => live.draw(&screen),
            PeekOutput::Lines(news) => {
                let depth = lines.unwrap_or(0);
                lines = lines.max(Some(HISTORY));
                tell(session, place, args.role, news, (&screen, depth))
            }
            PeekOutput::Json(before) => match output::as_json(&named("screen", &screen))? {
                same if same == *before => true,
                value => {
                    *before = value;
                    output::print_json_text(before)
                }
            },
        };
        last = agent(&screen);
        ended = !screen.alive;
        if !ended {
            alive = Instant::now();
        }
        let over = alive.elapsed() > GRACE;
        if !read_on || over || shown.is_enough() || signals.seen().is_some() {
            break Ok(());
        }
    };
    // The terminal is as it was before anything else is said.
    drop(shown);
    signals.obey();
    if ended {
        output::note(&format!(
            "{last} has ended; `orange peek` shows its last screen"
        ));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_lines_are_words_without_their_frame() {
        let screen = "old\n\n  indented\n╭──────╮\n│ > say it │\n╰──────╯\n────\n  status ▌\n\n";
        assert_eq!(last_lines(screen, 3), "  indented\n > say it\n  status\n");
        assert_eq!(last_lines(screen, 1), "  status\n");
        assert_eq!(last_lines("\n──\n", 5), "");
    }
}
