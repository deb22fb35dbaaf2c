//! The dashboard: what a frame costs among many tasks, how soon the first one and the one after a key are there, and what it
//! takes while nothing happens.

mod watched;

use crate::agents::stage::{Stage, until};
use crate::measure::{Times, in_turns, timed};
use crate::report::{Row, milliseconds};
use crate::scratch::Scratch;
use crate::{Result, note};
use orange_core::Text;
use orange_engine::views::dashboard;
use orange_engine::{Call, Settings};
use orange_tui::app::{App, Input, Setup};
use orange_tui::draw::draw;
use orange_tui::theme::Theme;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::process::Command;
use std::time::{Duration, Instant};
use watched::Watched;

const TASKS: usize = 10_000;
const SIZE: (u16, u16) = (200, 50);
const FRAME: Duration = Duration::from_millis(8);
const KEY: Duration = Duration::from_millis(16);
/// What a key may do to a list: to the end, back, down.
const KEYS: [char; 6] = ['G', 'g', 'j', 'j', 'j', 'k'];

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    let mut rows = frames(scratch)?;
    rows.extend(first_frame(scratch)?);
    rows.extend(among_agents(scratch)?);
    rows.push(idle(scratch)?);
    Ok(rows)
}

/// The state of a dashboard of a home, and a screen in memory.
fn in_memory(scratch: &Scratch, tasks: usize) -> Result<(App, Terminal<TestBackend>)> {
    let home = scratch.home(tasks)?;
    let call = Call::new(Settings {
        orange: scratch.orange.clone(),
        ..Settings::at(home.path.clone())
    });
    let setup = Setup {
        theme: Theme {
            colour: true,
            ascii: false,
        },
        spell: |text: &Text| text.spelled(|_| String::new()),
        here: None,
        projects: Vec::new(),
        known_projects: Vec::new(),
        exit_on_attach: false,
    };
    let mut app = App::new(setup, SIZE);
    let overview = dashboard::overview(&call, &[], false)?;
    app.update(Input::Overview(Box::new(Ok(overview))), Instant::now());
    Ok((app, Terminal::new(TestBackend::new(SIZE.0, SIZE.1))?))
}

/// A key and the frame that shows what it did.
fn frame(app: &mut App, screen: &mut Terminal<TestBackend>, key: char) -> Result<Duration> {
    let key = KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE);
    timed(|| {
        app.update(Input::Key(key), Instant::now());
        screen.draw(|frame| draw(frame, app))?;
        Ok(())
    })
}

fn frames(scratch: &Scratch) -> Result<Vec<Row>> {
    const ROUNDS: usize = 300;
    note("frames of 10,000 tasks …");
    let (mut many, mut on_many) = in_memory(scratch, TASKS)?;
    let (mut few, mut on_few) = in_memory(scratch, 100)?;
    let key = |round: usize| KEYS[round % KEYS.len()];
    let [ours, floor] = in_turns(
        ROUNDS,
        [
            Box::new(|round| frame(&mut many, &mut on_many, key(round))),
            Box::new(|round| frame(&mut few, &mut on_few, key(round))),
        ],
    )?;
    let mut row = Row::at_most(
        "dashboard: a key and its frame, 10,000 tasks, 200 × 50",
        "the same with 100 tasks",
        ours.median(),
        floor.median(),
        Some(1.5),
    );
    row.goal = format!("≤ 1.5 ×, ≤ {} ms", FRAME.as_millis());
    row.met = row.met.map(|met| met && ours.median() <= FRAME);
    Ok(vec![row])
}

/// A dashboard as a person starts it, on a terminal of its own.
fn first_frame(scratch: &Scratch) -> Result<Vec<Row>> {
    note("the first frame of 10,000 tasks …");
    let home = scratch.home(TASKS)?;
    let of_home = |words: &[&str]| home.orange(scratch, words);
    let floor = |command: &mut Command| Watched::until_end(command);
    let [ours, list, nothing] = in_turns(
        12,
        [
            Box::new(|_| {
                let start = Instant::now();
                let mut watched = Watched::start(&of_home(&["dashboard"]), SIZE)?;
                watched.until("TASK-")?;
                let took = start.elapsed();
                watched.quit()?;
                Ok(took)
            }),
            Box::new(|_| floor(&mut of_home(&["task", "list"]))),
            Box::new(|_| floor(&mut Command::new("/bin/true"))),
        ],
    )?;
    let without_terminal = |times: &Times| times.best().saturating_sub(nothing.best());
    let start = Row::at_most(
        "dashboard: from its start to a frame with tasks, 10,000 tasks",
        "`task list`, on a terminal",
        without_terminal(&ours),
        without_terminal(&list),
        Some(2.0),
    );
    let mut watched = Watched::start(&of_home(&["dashboard"]), SIZE)?;
    watched.until("TASK-")?;
    watched.until("monitor")?;
    watched.settle();
    let times = keys_of(&mut watched, 200)?;
    let memory = watched.memory()?;
    watched.quit()?;
    Ok(vec![
        start,
        key_row("10,000 tasks", &times),
        memory_row(memory),
    ])
}

/// Keys that move the mark, each until the frame that shows it at another place.
fn keys_of(watched: &mut Watched, rounds: usize) -> Result<Times> {
    let mut times = Vec::new();
    for round in 0..rounds {
        // Down and up again, so that every key moves it.
        let key = ["G", "g", "j", "k"][round % 4];
        times.push(watched.press(key, "▌")?);
        std::thread::sleep(Duration::from_millis(15));
    }
    Ok(Times::of(times))
}

fn key_row(among: &str, times: &Times) -> Row {
    let late = times.percentile(99);
    Row {
        what: format!("dashboard: key to frame, p99, {among}"),
        against: format!("the median, {}", milliseconds(times.median())),
        measured: milliseconds(late),
        floor: milliseconds(times.median()),
        ratio: "–".into(),
        goal: format!("≤ {} ms", KEY.as_millis()),
        met: Some(late <= KEY),
    }
}

fn memory_row(bytes: u64) -> Row {
    const MOST: u64 = 60_000_000;
    Row {
        what: "dashboard: resident memory, 10,000 tasks".into(),
        against: "–".into(),
        measured: format!("{:.1} MB", bytes as f64 / 1e6),
        floor: "–".into(),
        ratio: "–".into(),
        goal: format!("≤ {} MB", MOST / 1_000_000),
        met: Some(bytes <= MOST),
    }
}

/// A stage on which so many agents do this.
fn stage<'s>(scratch: &'s Scratch, name: &str, agents: usize, does: &str) -> Result<Stage<'s>> {
    let stage = Stage::new(scratch, name, agents, does)?;
    for _ in 0..agents {
        stage.orange(&["task", "create", "Do it"])?;
    }
    until("the last look at a new run", || !stage.has_new_run())?;
    Ok(stage)
}

fn among_agents(scratch: &Scratch) -> Result<Vec<Row>> {
    note("keys while 20 agents print …");
    let prints = "n=0; while :; do n=$((n+1)); echo \"$n: some words of an agent that has much to say\"; sleep 0.1; done";
    let stage = stage(scratch, "printing", 20, prints)?;
    let mut watched = Watched::start(&stage.orange_command(&["dashboard"]), SIZE)?;
    watched.until("TASK-")?;
    watched.until("agent that has much to say")?;
    let times = keys_of(&mut watched, 200)?;
    watched.quit()?;
    Ok(vec![key_row("20 agents that print", &times)])
}

/// What the dashboard and what it starts use while nothing happens.
fn idle(scratch: &Scratch) -> Result<Row> {
    const SESSIONS: usize = 100;
    const FOR: Duration = Duration::from_secs(40);
    const MOST: f64 = 1.0;
    note("a dashboard of 100 idle sessions …");
    let stage = stage(scratch, "idle", SESSIONS, "exec sleep 100000")?;
    let mut watched = Watched::start(&stage.orange_command(&["dashboard"]), SIZE)?;
    watched.until("TASK-")?;
    watched.settle();
    let before = watched.processor_time()?;
    let start = Instant::now();
    watched.watch_for(FOR);
    let used = watched.processor_time()?.saturating_sub(before);
    let share = 100.0 * used.as_secs_f64() / start.elapsed().as_secs_f64();
    watched.quit()?;
    Ok(Row {
        what: "dashboard: idle, 100 live sessions, with what it starts".into(),
        against: "one core".into(),
        measured: format!("{share:.2} %"),
        floor: "–".into(),
        ratio: "–".into(),
        goal: format!("≤ {MOST} %"),
        met: Some(share <= MOST),
    })
}
