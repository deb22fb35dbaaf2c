//! Reads what the dashboard shows, on threads of their own: a slow disk, git or tmux never holds up a frame or a key.

pub(crate) mod changes;

use crate::app::{Input, rows};
use crate::verbs;
use orange_engine::background::monitor::Monitor;
use orange_engine::background::queue;
use orange_engine::store::feed::{Change, Feed};
use orange_engine::tmux::Attach;
use orange_engine::verbs::peek;
use orange_engine::views::{dashboard, search};
use orange_engine::{Call, settings};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// What the overview is asked for.
pub(crate) struct Wanted {
    pub(crate) projects: Vec<String>,
    pub(crate) with_older: bool,
    /// The project that the person is in.
    pub(crate) here: Option<String>,
}

/// A thread that does one thing at a time and always the newest that was asked for.
fn newest<T: Send + 'static>(mut work: impl FnMut(T) + Send + 'static) -> Sender<T> {
    let (asks, asked): (Sender<T>, Receiver<T>) = channel();
    thread::spawn(move || {
        while let Ok(mut ask) = asked.recv() {
            while let Ok(newer) = asked.try_recv() {
                ask = newer;
            }
            // A fault in one look must not end all later ones.
            let _ = catch_unwind(AssertUnwindSafe(|| work(ask)));
        }
    });
    asks
}

pub(crate) fn overview(call: Call, tell: Sender<Input>) -> Sender<Wanted> {
    newest(move |wanted: Wanted| {
        let call = call.anew();
        let mut loaded = dashboard::overview(&call, &wanted.projects, wanted.with_older);
        // Here, because no key waits for it.
        if let Ok(overview) = &mut loaded {
            rows::sort(&mut overview.rows, wanted.here.as_deref());
        }
        let _ = tell.send(Input::Overview(Box::new(loaded)));
    })
}

pub(crate) fn focus(call: Call, tell: Sender<Input>) -> Sender<String> {
    newest(move |folder: String| {
        let loaded = dashboard::focus(&call.anew(), &folder);
        let _ = tell.send(Input::Focus(folder, Box::new(loaded)));
    })
}

pub(crate) fn screen(call: Call, tell: Sender<Input>) -> Sender<String> {
    newest(move |folder: String| {
        let call = call.anew();
        let seen = peek::coloured(&call, call.store().place(&folder));
        let _ = tell.send(Input::Screen(folder, seen.ok()));
    })
}

/// More tasks than this are not gone through by hand.
const MOST_FOUND: usize = 500;

pub(crate) fn search(call: Call, tell: Sender<Input>) -> Sender<(String, Vec<String>)> {
    newest(move |(words, projects): (String, Vec<String>)| {
        // Brackets and the like alone are nothing to look for: the rows are narrowed by them all the same.
        let found = search::search(&call.anew(), &words, &projects, MOST_FOUND);
        let found = found.map_or(Vec::new(), |found| found.matches).into_iter();
        let _ = tell.send(Input::Found {
            words,
            tasks: found.map(|one| (one.project, one.id)).collect(),
        });
    })
}

/// Runs a verb beside everything else.
pub(crate) fn run(call: &Call, folder: String, verb: verbs::Verb, tell: Sender<Input>) {
    let call = call.anew();
    thread::spawn(move || {
        let what = verb.name();
        let done = catch_unwind(AssertUnwindSafe(|| verbs::run(&call, &folder, verb)));
        let outcome = Box::new(done.unwrap_or_else(|_| verbs::Outcome::Failed {
            text: format!("{what} failed by a fault of the program; the log says more"),
            hint: None,
        }));
        queue::leave_queue_to_errand(&call);
        let _ = tell.send(Input::Done {
            folder,
            what,
            outcome,
        });
    });
}

/// How often it is looked whether a person is back.
const LOOKS: Duration = Duration::from_millis(300);

/// Tells when the terminal that was switched to another session shows this one again.
pub(crate) fn return_of(attach: Attach, folder: String, tell: Sender<Input>) {
    thread::spawn(move || {
        loop {
            thread::sleep(LOOKS);
            match attach.is_back() {
                Some(false) => {}
                Some(true) => break,
                // The terminal or tmux is gone.
                None => return,
            }
        }
        let _ = tell.send(Input::Back {
            folder: Some(folder),
        });
    });
}

/// How long a new set of folders may wait to be watched.
const FOLDERS: Duration = Duration::from_millis(500);

/// Tells of every change in the home. What it is told are the folders of tasks that are not over: of the others nobody edits
/// the files.
pub(crate) fn feed(call: &Call, tell: Sender<Input>) -> Sender<Vec<String>> {
    let (asks, asked): (Sender<Vec<String>>, Receiver<Vec<String>>) = channel();
    let mut feed = Feed::open(call.store());
    thread::spawn(move || {
        loop {
            let mut is_news = false;
            while let Ok(folders) = asked.try_recv() {
                // Between the look that found them and now they may have been edited.
                is_news |= feed.watch_tasks(folders);
            }
            is_news |= match feed.next(if is_news { Duration::ZERO } else { FOLDERS }) {
                Change::Tasks(_) | Change::Runs | Change::Rescan => true,
                Change::Nothing => false,
            };
            if is_news && tell.send(Input::News).is_err() {
                return;
            }
        }
    });
    asks
}

/// Watches over agents, as `orange watch` does, unless another process does so.
pub(crate) fn monitor(call: Call, tell: Sender<Input>) {
    thread::spawn(move || {
        let mut monitor = Monitor::default();
        loop {
            let call = call.anew();
            let interval = settings::config(&call).map(|config| config.monitor.interval);
            let state = match monitor.tick(&call) {
                Ok(tick) if tick.follows => "monitor elsewhere",
                Ok(_) => "monitor here",
                Err(error) => {
                    tracing::warn!(%error, "the monitor could not look");
                    "monitor failed"
                }
            };
            if tell.send(Input::Monitor(state)).is_err() {
                return;
            }
            thread::sleep(interval.unwrap_or(Duration::from_secs(30)));
        }
    });
}
