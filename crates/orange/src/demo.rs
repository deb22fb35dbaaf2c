//! The demo: three tasks with scripted agents on a throw-away repository, from the first command to main, in a
//! quarter of a minute. It uses Orange as a person would, by its commands.

mod actor;
mod cleanup;
mod demo_task;
mod inside;
mod landed;
mod play;
mod project;
mod report;
mod screen;
mod stage;

use crate::commands::demo::DemoArgs;
use crate::output;
use crate::signals::Signals;
use landed::Main;
use orange_engine::tmux::Tmux;
use orange_engine::{Result, err};
use play::Play;
use report::{DemoReport, Finished};
use screen::DemoScreen;
use stage::DemoStage;
use std::time::{Duration, Instant};

/// How the log names the person who does what people do.
const USER: &str = "you";

enum DemoEnding {
    Complete,
    Late,
    Interrupted(u8),
}

/// Plays it. The exit code is 0 if every task got where it should and nothing is left.
pub(crate) fn run(args: &DemoArgs, json: bool) -> Result<u8> {
    let began = Instant::now();
    // First of all: from now on nothing ends this program without the stage being cleared.
    let signals = Signals::watch();
    let mut stage = DemoStage::new()?;
    check_programs(&stage)?;
    let mut screen = DemoScreen::new(json, began);
    let mut play = Play {
        stage: &stage,
        screen: &mut screen,
        args,
        deadline: began + Duration::from_secs(args.limit),
        signals: &signals,
        cast: Vec::new(),
        actions: Vec::new(),
    };
    if args.dashboard {
        let ending = inside::play(&mut play)?;
        let keep = args.keep && matches!(ending, DemoEnding::Complete);
        let left = if keep {
            stage.keep();
            Vec::new()
        } else {
            stage.clean_up()
        };
        let seconds = began.elapsed().as_secs_f64();
        screen.print(&inside::farewell(&left, keep.then_some(&stage), seconds));
        return Ok(match ending {
            DemoEnding::Complete if left.is_empty() => {
                screen.print(&report::next());
                0
            }
            DemoEnding::Complete | DemoEnding::Late => 1,
            DemoEnding::Interrupted(signal) => 128 + signal,
        });
    }
    let ending = play.run()?;
    let main = match ending {
        DemoEnding::Complete => play.main(),
        DemoEnding::Late | DemoEnding::Interrupted(_) => Main::default(),
    };
    let cast = play.cast;
    let keep = args.keep && !matches!(ending, DemoEnding::Interrupted(_));
    let left = if keep {
        stage.keep();
        Vec::new()
    } else {
        stage.clean_up()
    };
    let seconds = began.elapsed().as_secs_f64();
    let finished: Vec<Finished<'_>> = cast.iter().map(Finished::of).collect();
    if let DemoEnding::Interrupted(signal) = ending {
        screen.print(&format!("\ninterrupted.{}", report::left(&left, seconds)));
        return Ok(128 + signal);
    }
    let astray = match ending {
        DemoEnding::Complete => main.missing(&cast),
        // What the tasks lack is told of each.
        DemoEnding::Late | DemoEnding::Interrupted(_) => None,
    };
    screen.print(&report::text(&finished));
    screen.print(&report::main(&main, astray.as_deref()));
    screen.print(&if keep {
        report::kept(&stage)
    } else {
        report::left(&left, seconds)
    });
    let report = DemoReport::new(
        &finished,
        (&main, astray.as_deref()),
        &left,
        keep.then_some(&stage),
        seconds,
    );
    if json {
        output::print_json(&output::named("demo", &report));
    }
    if report.ok {
        screen.print(&report::next());
        return Ok(0);
    }
    if matches!(ending, DemoEnding::Late) {
        let seconds = args.limit;
        screen.print(&format!(
            "\nIt was given up after {seconds} seconds. `orange demo --keep` leaves everything there for a look.\n"
        ));
    }
    Ok(1)
}

/// What the demo cannot do without, before anything else happens.
fn check_programs(stage: &DemoStage) -> Result<()> {
    Tmux::at(&stage.socket()).version().map_err(|error| {
        err!(Failed, "the demo needs tmux: {error}").hint(error.hint.unwrap_or_default())
    })?;
    let found = stage.git(&["--version"]).status();
    if found.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    Err(err!(Failed, "the demo needs git, and it cannot be started")
        .hint("install git 2.39 or newer: `sudo apt-get install git`, `brew install git`"))
}
