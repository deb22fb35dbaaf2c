//! Runs the dashboard: hands keys and news to the state, carries out what follows, draws.

use crate::app::{App, Effect, Input, Setup};
use crate::draw;
use crate::keymap::Keymap;
use crate::loaders::changes::ChangesLoader;
use crate::loaders::{self, AgentWatch, NewsFlag, TaskLooks, WantedOverview};
use crate::terminal::{self, TakenTerminal};
use crate::theme::Theme;
use crate::verbs::{self, Verb};
use orange_core::keys::KeyAction;
use orange_engine::crash_points::crash_point;
use orange_engine::tmux::Attach;
use orange_engine::{Call, Error, Result, err};
use ratatui::crossterm::clipboard::CopyToClipboard;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::size;
use std::io::{self, Write, stdout};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Frames that no key asked for are at least so far apart.
const FRAME: Duration = Duration::from_millis(33);
const TICK: Duration = Duration::from_secs(1);
/// So long keys wait for a window that is looked for. After that they are the dashboard's again.
const FOR_WINDOW: Duration = Duration::from_secs(2);

pub struct DashboardOptions {
    pub theme: Theme,
    /// The project that the person is in.
    pub here: Option<String>,
    /// What is shown; all projects, if none is named.
    pub projects: Vec<String>,
    pub exit_on_attach: bool,
    pub mouse: bool,
    pub keymap: Keymap,
    /// Lets the person write a text in their editor.
    pub edit: fn(&str) -> Result<String>,
}

/// Where the engine's words go while the dashboard has the terminal.
static SAID: Mutex<Option<Sender<Input>>> = Mutex::new(None);

fn say(words: &str) {
    let said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(tell) = said.as_ref() {
        let _ = tell.send(Input::Said(words.to_owned()));
    }
}

/// Shows the dashboard until the person leaves it.
pub fn run(call: &Call, options: DashboardOptions) -> Result<()> {
    let (tell, inputs) = channel();
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell.clone());
    let call = call.saying(say);
    let known = call.projects()?.into_iter().map(|project| project.name);
    let setup = Setup {
        theme: options.theme,
        spell: call.spell,
        here: options.here,
        projects: options.projects,
        known_projects: known.collect(),
        exit_on_attach: options.exit_on_attach,
    };
    let failed = |error: io::Error| err!(Failed, "the terminal cannot be used: {error}");
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(failed)?;
    }
    // Ctrl-C is a key here. While somebody else has the terminal it is meant for them.
    let ignored = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, ignored).map_err(failed)?;
    end_when_stopped(Arc::clone(&stop), tell.clone());
    let mut app = App::new(setup, size().map_err(failed)?);
    app.keymap = options.keymap;
    let terminal = TakenTerminal::take(options.mouse).map_err(failed)?;
    let handled = read_terminal(tell.clone());
    let mut dashboard = Dashboard {
        handled,
        awaits_window: None,
        asks: Asks::new(&call, &tell),
        call,
        app,
        terminal,
        tell,
        inputs,
        stop,
        edit: options.edit,
        quits: false,
        is_dirty: true,
    };
    let outcome = dashboard.run();
    drop(dashboard);
    *SAID.lock().unwrap_or_else(PoisonError::into_inner) = None;
    outcome
}

/// A terminal that is gone may hold up whoever reads from it for ever. A dashboard that was told to end does so anyway, after a
/// moment for the usual way.
fn end_when_stopped(stop: Arc<AtomicBool>, tell: Sender<Input>) {
    std::thread::spawn(move || {
        while !stop.load(Ordering::SeqCst) {
            std::thread::sleep(TICK / 10);
        }
        // Wakes the loop.
        let _ = tell.send(Input::Tick);
        std::thread::sleep(TICK);
        terminal::give_back();
        std::process::exit(0);
    });
}

/// Reads what the person does, on a thread of its own, so that nothing polls. After each piece it waits until that is handled:
/// the terminal is lent to others only meanwhile, and then nobody else reads from it.
fn read_terminal(tell: Sender<Input>) -> Sender<()> {
    let (handled, waits) = channel();
    std::thread::spawn(move || {
        loop {
            let events = read_events();
            let is_over = events.is_err();
            let is_heard = tell.send(Input::Terminal(events)).is_ok();
            if is_over || !is_heard || waits.recv().is_err() {
                return;
            }
        }
    });
    handled
}

/// The next event, and all that is there besides.
fn read_events() -> io::Result<Vec<Event>> {
    let mut events = vec![event::read()?];
    while event::poll(Duration::ZERO)? {
        events.push(event::read()?);
    }
    Ok(events)
}

/// What is asked of other threads.
struct Asks {
    watch: AgentWatch,
    news: NewsFlag,
    overview: Sender<WantedOverview>,
    focus: TaskLooks,
    screen: TaskLooks,
    search: Sender<(String, Vec<String>)>,
    changes: ChangesLoader,
    watched: Sender<Vec<String>>,
}

impl Asks {
    fn new(call: &Call, tell: &Sender<Input>) -> Asks {
        let news = NewsFlag::default();
        Asks {
            watch: AgentWatch::begin(call.clone(), tell.clone()),
            // Before the first look, so that no change falls between the two.
            watched: loaders::feed(call, tell.clone(), news.clone()),
            news,
            overview: loaders::overview(call.clone(), tell.clone()),
            focus: loaders::focus(call.clone(), tell.clone()),
            screen: loaders::screen(call.clone(), tell.clone()),
            search: loaders::search(call.clone(), tell.clone()),
            changes: ChangesLoader::new(call, tell),
        }
    }
}

struct Dashboard {
    call: Call,
    app: App,
    terminal: TakenTerminal,
    tell: Sender<Input>,
    inputs: Receiver<Input>,
    handled: Sender<()>,
    /// A window that is looked for, and since when. What is typed meanwhile is meant for it, so the terminal is not read.
    awaits_window: Option<(String, Instant)>,
    asks: Asks,
    stop: Arc<AtomicBool>,
    edit: fn(&str) -> Result<String>,
    quits: bool,
    is_dirty: bool,
}

impl Dashboard {
    fn run(&mut self) -> Result<()> {
        self.carry_out(vec![Effect::LoadOverview])?;
        let (mut ticked, mut drawn) = (Instant::now(), Instant::now());
        let mut by_key = true;
        while !self.quits && !self.stop.load(Ordering::SeqCst) {
            if self.is_dirty && (by_key || drawn.elapsed() >= FRAME) {
                self.draw().map_err(gone)?;
                (drawn, by_key) = (Instant::now(), false);
            }
            let mut waits = TICK.saturating_sub(ticked.elapsed());
            if self.is_dirty {
                waits = waits.min(FRAME.saturating_sub(drawn.elapsed()));
            }
            let mut inputs: Vec<Input> = self.inputs.recv_timeout(waits).into_iter().collect();
            inputs.extend(self.inputs.try_iter());
            // What the person does comes first, all of it before the next frame.
            let (typed, others): (Vec<Input>, Vec<Input>) = inputs
                .into_iter()
                .partition(|input| matches!(input, Input::Terminal(_)));
            for input in typed {
                if let Input::Terminal(events) = input {
                    by_key = true;
                    for event in events.map_err(gone)? {
                        self.event(event)?;
                    }
                    // Only now the terminal is read again: it may have been somebody else's, or is so in a moment.
                    if self.awaits_window.is_none() {
                        let _ = self.handled.send(());
                    }
                }
            }
            for input in others {
                self.take(input)?;
            }
            let waits = self.awaits_window.as_ref();
            if waits.is_some_and(|(_, since)| since.elapsed() >= FOR_WINDOW) {
                self.read_on();
            }
            if ticked.elapsed() >= TICK {
                ticked = Instant::now();
                self.take(Input::Tick)?;
            }
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        self.is_dirty = false;
        let app = &self.app;
        self.terminal.screen.draw(|frame| draw::draw(frame, app))?;
        self.app.was_drawn(Instant::now());
        Ok(())
    }

    fn event(&mut self, event: Event) -> Result<()> {
        match event {
            Event::Key(key)
                if key.code == KeyCode::Char('z') && key.modifiers == KeyModifiers::CONTROL =>
            {
                self.suspend()
            }
            Event::Key(key) => {
                crash_point("dashboard.key");
                self.take(Input::Key(key))
            }
            Event::Paste(text) => self.take(Input::Paste(text)),
            Event::Mouse(mouse) => self.take(Input::Mouse(mouse)),
            Event::Resize(columns, rows) => self.take(Input::Resize(columns, rows)),
            Event::FocusGained | Event::FocusLost => Ok(()),
        }
    }

    fn take(&mut self, input: Input) -> Result<()> {
        self.is_dirty = true;
        // Before the look, so that what changes during it is told again.
        if matches!(input, Input::News) {
            self.asks.news.heard();
        }
        let ends_attach = match &input {
            Input::Done { folder, what, .. } => *what == verbs::ATTACH && self.awaits(folder),
            _ => false,
        };
        let is_overview = matches!(input, Input::Overview(_));
        let effects = self.app.update(input, Instant::now());
        if is_overview {
            let _ = self.asks.watched.send(self.app.open_folders());
        }
        self.carry_out(effects)?;
        if ends_attach {
            self.read_on();
        }
        Ok(())
    }

    /// Whether nothing is read before the window of that task is found.
    fn awaits(&self, folder: &str) -> bool {
        let waits = self.awaits_window.as_ref();
        waits.is_some_and(|(known, _)| known == folder)
    }

    /// The terminal is read again, if that waited for a window.
    fn read_on(&mut self) {
        if self.awaits_window.take().is_some() {
            let _ = self.handled.send(());
        }
    }

    /// Stops as a shell expects it, and goes on in the foreground.
    fn suspend(&mut self) -> Result<()> {
        let watch = &self.asks.watch;
        let stopped = self.terminal.lend(|| {
            watch.rest();
            let stopped =
                signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGTSTP);
            watch.go_on();
            stopped
        });
        stopped.map_err(gone)?.map_err(gone)?;
        self.is_dirty = true;
        Ok(())
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> Result<()> {
        for effect in effects {
            match effect {
                Effect::Quit => self.quits = true,
                Effect::LoadOverview => {
                    let _ = self.asks.overview.send(WantedOverview {
                        projects: self.app.projects.clone(),
                        with_older: self.app.narrowed.with_older,
                        here: self.app.here.clone(),
                    });
                }
                Effect::LoadFocus(folder) => {
                    self.asks.focus.ask(folder);
                }
                Effect::LoadScreen(folder) => {
                    self.asks.screen.ask(folder);
                }
                Effect::Search(words) => {
                    let _ = self.asks.search.send((words, self.app.projects.clone()));
                }
                Effect::LoadChanges { .. }
                | Effect::LoadPatch { .. }
                | Effect::NoteLook { .. }
                | Effect::MarkViewed { .. } => self.asks.changes.carry_out(effect),
                Effect::Run { folder, verb } => {
                    if matches!(verb, Verb::Attach) {
                        self.awaits_window = Some((folder.clone(), Instant::now()));
                    }
                    loaders::run(&self.call, folder, verb, self.tell.clone());
                }
                Effect::Attach { folder, attach } => self.attach(folder, *attach)?,
                Effect::HandOver { folder, words } => self.hand_over(folder, &words)?,
                Effect::Edit(text) => {
                    let edit = self.edit;
                    match self.terminal.lend(|| edit(&text)).map_err(gone)? {
                        Ok(text) => self.take(Input::Edited(text))?,
                        Err(error) => self.refuse(&error)?,
                    }
                }
                Effect::Copy(text) => {
                    // tmux takes no clipboard from programs in it, unless it is told to.
                    if let Some(inside) = self.call.inside.clone() {
                        let text = text.clone();
                        std::thread::spawn(move || inside.copy(&text));
                    }
                    let _ = execute!(stdout(), CopyToClipboard::to_clipboard_from(text));
                }
                Effect::Bell => {
                    let mut out = stdout();
                    let _ = out.write_all(b"\x07").and_then(|()| out.flush());
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, error: &Error) -> Result<()> {
        self.take(Input::Refused {
            text: error.message.clone(),
            hint: error.hint.clone(),
        })
    }

    /// Goes to a task's window: inside tmux another session shows, outside the terminal is lent until the person detaches.
    fn attach(&mut self, folder: String, attach: Attach) -> Result<()> {
        // The person was given the dashboard back by then, and two would read the same terminal.
        if !self.awaits(&folder) {
            let key = self.app.keymap.key(KeyAction::Enter);
            let text = format!("the window was found only now: `{key}` goes there");
            return self.take(Input::Said(text));
        }
        let went = if attach.switches {
            attach.command().output().map(|said| said.status)
        } else {
            let status = self.terminal.lend(|| attach.command().status());
            status.map_err(gone)?
        };
        if !went.is_ok_and(|status| status.success()) {
            return self.refuse(&err!(Failed, "tmux did not show the window"));
        }
        if attach.switches {
            self.take(Input::Said(attach.way_back.clone()))?;
            loaders::return_of(attach, folder, self.tell.clone());
        } else {
            self.take(Input::Back {
                folder: Some(folder),
            })?;
        }
        self.quits |= self.app.exit_on_attach;
        Ok(())
    }

    /// Lends the terminal to a command of this program. What went wrong is read before the dashboard is drawn again.
    fn hand_over(&mut self, folder: String, words: &[String]) -> Result<()> {
        let orange = self.call.orange.clone();
        self.terminal
            .lend(|| {
                let ended = Command::new(&orange).args(words).status();
                if !ended.is_ok_and(|status| status.success()) {
                    let mut out = stdout();
                    let _ = out.write_all(b"press Enter to go back to the dashboard ");
                    let _ = out.flush();
                    let _ = io::stdin().read_line(&mut String::new());
                }
            })
            .map_err(gone)?;
        self.take(Input::Back {
            folder: Some(folder),
        })
    }
}

fn gone(error: io::Error) -> Error {
    err!(Failed, "the terminal cannot be used: {error}")
}
