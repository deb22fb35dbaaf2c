//! Reads what the dashboard shows, on threads of their own: a slow disk, git or tmux never holds up a frame or a key.

pub(crate) mod changes;

use crate::app::{Input, rows};
use crate::verbs;
use orange_engine::background::monitor::{Monitor, Tick};
use orange_engine::background::queue;
use orange_engine::store::feed::{Feed, HomeChange};
use orange_engine::tmux::Attach;
use orange_engine::verbs::peek;
use orange_engine::views::{dashboard, search};
use orange_engine::{Call, Result, settings};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// What the overview is asked for.
pub(crate) struct WantedOverview {
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

/// So many tasks are looked at at the same time.
const MOST_LOOKS: usize = 4;

/// Looks at tasks beside each other, so that one whose lock or window takes long holds up no other. Of each task there is one
/// look at a time, and another one after it if it was asked for meanwhile. Where all places are taken, the newest ask waits.
#[derive(Clone)]
pub(crate) struct TaskLooks {
    running: Arc<Mutex<RunningLooks>>,
    work: Arc<dyn Fn(&str) + Send + Sync>,
}

#[derive(Default)]
struct RunningLooks {
    /// Folders of tasks; true: it was asked for again.
    now: Vec<(String, bool)>,
    next: Option<String>,
}

impl TaskLooks {
    fn new(work: impl Fn(&str) + Send + Sync + 'static) -> TaskLooks {
        TaskLooks {
            running: Arc::default(),
            work: Arc::new(work),
        }
    }

    pub(crate) fn ask(&self, folder: String) {
        let mut running = locked(&self.running);
        if let Some((_, again)) = running.now.iter_mut().find(|(known, _)| *known == folder) {
            *again = true;
        } else if running.now.len() >= MOST_LOOKS {
            running.next = Some(folder);
        } else {
            running.now.push((folder.clone(), false));
            let looks = self.clone();
            thread::spawn(move || looks.look(folder));
        }
    }

    fn look(&self, mut folder: String) {
        loop {
            // A fault in one look must not end all later ones.
            let _ = catch_unwind(AssertUnwindSafe(|| (self.work)(&folder)));
            let mut running = locked(&self.running);
            let place = running.now.iter().position(|(known, _)| *known == folder);
            let Some(place) = place else {
                return;
            };
            if std::mem::take(&mut running.now[place].1) {
                continue;
            }
            running.now.remove(place);
            let Some(next) = running.next.take() else {
                return;
            };
            running.now.push((next.clone(), false));
            folder = next;
        }
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn overview(call: Call, tell: Sender<Input>) -> Sender<WantedOverview> {
    newest(move |wanted: WantedOverview| {
        let call = call.anew();
        let mut loaded = dashboard::overview(&call, &wanted.projects, wanted.with_older);
        // Here, because no key waits for it.
        if let Ok(overview) = &mut loaded {
            rows::sort(&mut overview.rows, wanted.here.as_deref());
        }
        let _ = tell.send(Input::Overview(Box::new(loaded)));
    })
}

pub(crate) fn focus(call: Call, tell: Sender<Input>) -> TaskLooks {
    TaskLooks::new(move |folder| {
        let loaded = dashboard::focus(&call.anew(), folder);
        let _ = tell.send(Input::Focus(folder.to_owned(), Box::new(loaded)));
    })
}

pub(crate) fn screen(call: Call, tell: Sender<Input>) -> TaskLooks {
    TaskLooks::new(move |folder| {
        let call = call.anew();
        let seen = peek::coloured(&call, call.store().place(folder));
        let _ = tell.send(Input::Screen(folder.to_owned(), seen.ok()));
    })
}

/// More tasks than this are not gone through by hand.
const MOST_FOUND: usize = 500;

pub(crate) fn search(call: Call, tell: Sender<Input>) -> Sender<(String, Vec<String>)> {
    newest(move |(words, projects): (String, Vec<String>)| {
        // The rows are narrowed by any words; a search for brackets and the like finds nothing.
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
        let done = catch_unwind(AssertUnwindSafe(|| {
            let done = verbs::run(&call, &folder, verb);
            queue::leave_queue_to_errand(&call);
            done
        }));
        let outcome = Box::new(done.unwrap_or_else(|_| verbs::VerbOutcome::Failed {
            text: format!("{what} failed by a fault of the program; the log says more").into(),
            hint: None,
        }));
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
/// After a fault nothing is tried again at once.
const AFTER_FAULT: Duration = Duration::from_secs(5);

/// Whether there are news of which the dashboard has not heard. It may have lent its terminal for hours; one word is enough then.
#[derive(Clone, Default)]
pub(crate) struct NewsFlag(Arc<AtomicBool>);

impl NewsFlag {
    /// False: nobody listens any more.
    fn tell(&self, tell: &Sender<Input>) -> bool {
        self.0.swap(true, Ordering::SeqCst) || tell.send(Input::News).is_ok()
    }

    pub(crate) fn heard(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Tells of every change in the home. What it is told are the folders of tasks that are not over: of the others nobody edits
/// the files.
pub(crate) fn feed(call: &Call, tell: Sender<Input>, news: NewsFlag) -> Sender<Vec<String>> {
    let (asks, asked): (Sender<Vec<String>>, Receiver<Vec<String>>) = channel();
    let call = call.clone();
    let mut feed = Feed::open(call.store());
    thread::spawn(move || {
        loop {
            let looked = catch_unwind(AssertUnwindSafe(|| {
                let mut is_news = false;
                while let Ok(folders) = asked.try_recv() {
                    // Between the look that found them and now they may have been edited.
                    is_news |= feed.watch_tasks(folders);
                }
                match feed.next(if is_news { Duration::ZERO } else { FOLDERS }) {
                    HomeChange::Tasks(_) | HomeChange::Runs | HomeChange::Rescan => true,
                    HomeChange::Nothing => is_news,
                }
            }));
            let is_news = looked.unwrap_or_else(|_| {
                // What changes before the feed is open again is seen by the look that follows.
                tracing::error!("the feed of changes is opened again after a fault");
                thread::sleep(AFTER_FAULT);
                feed = Feed::open(call.store());
                true
            });
            if is_news && !news.tell(&tell) {
                return;
            }
        }
    });
    asks
}

/// Watches over agents, as `orange watch` does, unless another process does so.
pub(crate) struct AgentWatch {
    monitor: Arc<Mutex<Monitor>>,
    rests: Arc<AtomicBool>,
    wake: Sender<()>,
}

/// A look that takes longer is not waited for by somebody who wants to stop the dashboard.
const LAST_LOOK: Duration = Duration::from_secs(1);

impl AgentWatch {
    pub(crate) fn begin(call: Call, tell: Sender<Input>) -> AgentWatch {
        let (wake, woken) = channel();
        let watch = AgentWatch {
            monitor: Arc::default(),
            rests: Arc::default(),
            wake,
        };
        let (monitor, rests) = (Arc::clone(&watch.monitor), Arc::clone(&watch.rests));
        thread::spawn(move || {
            loop {
                let call = call.anew();
                let interval = settings::config(&call).map(|config| config.monitor.interval);
                {
                    let mut monitor = locked(&monitor);
                    if !rests.load(Ordering::SeqCst) {
                        let state = state(|| monitor.tick(&call));
                        if tell.send(Input::Monitor(state)).is_err() {
                            return;
                        }
                    }
                }
                let interval = interval.unwrap_or(Duration::from_secs(30));
                if woken.recv_timeout(interval) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        });
        watch
    }

    /// Lets another process watch, as this one is about to be stopped and would only keep the others from it.
    pub(crate) fn rest(&self) {
        self.rests.store(true, Ordering::SeqCst);
        let until = Instant::now() + LAST_LOOK;
        loop {
            let monitor = match self.monitor.try_lock() {
                Err(TryLockError::WouldBlock) => None,
                Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
                Ok(monitor) => Some(monitor),
            };
            match monitor {
                // Its lock is given back with it.
                Some(mut monitor) => return drop(std::mem::take(&mut *monitor)),
                None if Instant::now() >= until => return,
                None => thread::sleep(LAST_LOOK / 100),
            }
        }
    }

    pub(crate) fn go_on(&self) {
        self.rests.store(false, Ordering::SeqCst);
        let _ = self.wake.send(());
    }
}

/// Who watches, in words, after a look.
fn state(look: impl FnOnce() -> Result<Tick>) -> &'static str {
    match catch_unwind(AssertUnwindSafe(look)) {
        Ok(Ok(tick)) if tick.follows => "monitor elsewhere",
        Ok(Ok(_)) => "monitor here",
        Ok(Err(error)) => {
            tracing::warn!(%error, "the monitor could not look");
            "monitor failed"
        }
        Err(_) => "monitor failed",
    }
}

#[cfg(test)]
#[path = "loaders/tests.rs"]
mod tests;
