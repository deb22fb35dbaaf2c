//! The demo with the person as its user: the three tasks in the dashboard, until they quit it.

use super::play::Play;
use super::stage::DemoStage;
use super::{DemoEnding, report};
use crate::signals::Signals;
use orange_engine::{Result, err};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, waitpid};
use std::process::Command;
use std::time::Duration;

const NAP: Duration = Duration::from_millis(25);

/// Makes everything ready, shows the dashboard and waits for its end.
pub(super) fn play(play: &mut Play<'_>) -> Result<DemoEnding> {
    let ending = play.run_until_begun()?;
    if !matches!(ending, DemoEnding::Complete) {
        return Ok(ending);
    }
    show(play.stage.dashboard(), play.signals)
}

/// Waits for a program that has the terminal. It may stop, as a shell expects it; then this process stops with it, so that
/// the shell takes the terminal, and `fg` lets both go on.
fn show(mut command: Command, signals: &Signals) -> Result<DemoEnding> {
    let cannot = |error: &dyn std::fmt::Display| err!(Failed, "the dashboard failed: {error}");
    let child = command.spawn().map_err(|error| cannot(&error))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| cannot(&"it has no process number"))?;
    let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
    let mut told = false;
    loop {
        match waitpid(Some(pid), options) {
            Ok(Some((_, status))) if status.stopped() => {
                let _ = kill_process(getpid(), Signal::STOP);
            }
            Ok(Some((_, status))) => return ended(status, signals),
            Ok(None) => {}
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(cannot(&error)),
        }
        if signals.seen().is_some() && !told {
            told = true;
            let _ = kill_process(pid, Signal::TERM);
        }
        std::thread::sleep(NAP);
    }
}

fn ended(status: WaitStatus, signals: &Signals) -> Result<DemoEnding> {
    match (signals.seen(), status.exit_status()) {
        (Some(signal), _) => Ok(DemoEnding::Interrupted(signal)),
        (None, Some(0)) => Ok(DemoEnding::Complete),
        (None, _) => Err(err!(Failed, "the dashboard ended with an error")),
    }
}

/// What is said when the dashboard was left.
pub(super) fn farewell(left: &[String], stage: Option<&DemoStage>, seconds: f64) -> String {
    match stage {
        Some(stage) => report::kept(stage),
        None => report::left(left, seconds),
    }
}
