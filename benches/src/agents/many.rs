//! Watching over many agents: one tick of the monitor.

use super::stage::{Stage, until};
use crate::measure::{in_turns, run, timed};
use crate::report::Row;
use crate::scratch::Scratch;
use crate::{Result, note};
use orange_engine::background::monitor::Monitor;
use orange_engine::{Call, Settings};
use std::fs;
use std::os::unix::fs::PermissionsExt;

const SESSIONS: usize = 500;

pub(super) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    const ROUNDS: usize = 15;
    note("500 sessions …");
    let stage = Stage::new(scratch, "many", SESSIONS, "exec sleep 100000")?;
    for _ in 0..SESSIONS {
        stage.orange(&["task", "create", "Do it"])?;
    }
    // Each run is looked at once some seconds after its start, by a process of its own; the tick is measured after these.
    until("the last look at a new run", || !stage.has_new_run())?;
    let call = Call::new(Settings {
        orange: scratch.orange.clone(),
        ..Settings::at(stage.home.clone())
    });
    let mut monitor = Monitor::default();
    let mut alive = 0;
    let [ours, floor] = in_turns(
        ROUNDS,
        [
            Box::new(|_| {
                timed(|| {
                    alive = monitor.tick(&call)?.alive;
                    Ok(())
                })
            }),
            Box::new(|_| run(&mut stage.tmux(&["list-panes", "-a"]))),
        ],
    )?;
    if alive != SESSIONS {
        return Err(format!("{alive} of {SESSIONS} agents are alive").into());
    }
    // Another process may lead now.
    drop(monitor);
    let calls = calls_of_one_look(&stage)?;
    let mut row = Row::at_most(
        "monitor's tick, 500 sessions",
        "`tmux list-panes -a`",
        ours.best(),
        floor.best(),
        Some(2.0),
    );
    row.goal.push_str(", 1 call of tmux");
    row.ratio.push_str(&format!(
        ", {calls} call{}",
        if calls == 1 { "" } else { "s" }
    ));
    row.met = row.met.map(|met| met && calls == 1);
    Ok(vec![row])
}

/// How often `orange watch --once` starts tmux: counted by a `tmux` that comes first on the PATH.
fn calls_of_one_look(stage: &Stage) -> Result<usize> {
    let folder = stage.root.join("counted");
    fs::create_dir_all(&folder)?;
    let log = folder.join("log");
    let wrapper = folder.join("tmux");
    let path = std::env::var("PATH")?;
    fs::write(
        &wrapper,
        format!(
            "#!/bin/sh\necho \"$*\" >> {}\nPATH={path:?} exec tmux \"$@\"\n",
            log.display()
        ),
    )?;
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755))?;
    let mut look = stage.orange_command(&["watch", "--once"]);
    look.env("PATH", format!("{}:{path}", folder.display()));
    run(&mut look)?;
    Ok(fs::read_to_string(&log).unwrap_or_default().lines().count())
}
