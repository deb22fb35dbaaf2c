//! The process of an executor: a run with a folder, a lock and an end like that of an agent, in a window of its own. No agent
//! sits at its terminal; the agents of its turns are its children.

use crate::agent_run;
use crate::error::{Result, err};
use crate::headless::TurnOf;
use crate::runs::{self, Ended, RunFolder, RunSpec};
use orange_core::Timestamp;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The run of this process, from its start to its end.
pub struct ExecutorRun {
    pub spec: RunSpec,
    /// What the agents of its turns get of the environment of whoever started it.
    pub environment: BTreeMap<String, String>,
    home: PathBuf,
    folder: RunFolder,
    stop: Arc<AtomicBool>,
    hung_up: Arc<AtomicBool>,
    /// Says that it is alive.
    _lock: File,
}

impl ExecutorRun {
    /// Takes the run's lock and reports that it has started.
    pub fn begin(home: &Path, run: &str) -> Result<ExecutorRun> {
        let folder = RunFolder::new(home, run);
        let environment = folder.take_environment();
        let spec = folder
            .spec()
            .ok_or_else(|| err!(NotFound, "there is no run {run}"))?;
        let Some(lock) = agent_run::lock(&folder)? else {
            return Err(err!(Busy, "run {run} has its executor already"));
        };
        if folder.started().is_some() {
            return Err(err!(
                Conflict,
                "run {run} was started before; an executor runs once"
            ));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let hung_up = Arc::new(AtomicBool::new(false));
        let listen = |signal: i32, flag: &Arc<AtomicBool>| {
            signal_hook::flag::register(signal, flag.clone())
                .map_err(|error| err!(Failed, "signals cannot be heard: {error}"))
        };
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            listen(signal, &stop)?;
        }
        listen(SIGHUP, &hung_up)?;
        agent_run::begin(&folder)?;
        Ok(ExecutorRun {
            spec,
            environment,
            home: home.to_owned(),
            folder,
            stop,
            hung_up,
            _lock: lock,
        })
    }

    /// Whether it is to end: by Orange, by a signal, or with its window.
    pub fn is_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.folder.is_to_stop()
    }

    /// Whether Orange asked for its end, which moves the task itself.
    pub fn was_asked_to_stop(&self) -> bool {
        self.folder.is_to_stop()
    }

    /// Why it was to end, where Orange did not ask for it.
    pub fn interruption(&self) -> &'static str {
        if self.hung_up.load(Ordering::Relaxed) {
            "its window was closed"
        } else {
            "it was interrupted"
        }
    }

    /// What a turn of it belongs to; `orange` is this program.
    pub fn turn_of(&self, orange: &Path, phase: &str, iteration: u32, attempt: u32) -> TurnOf {
        let spec = &self.spec;
        TurnOf {
            task: spec.task.clone(),
            run: Some(spec.run.clone()),
            role: spec.role,
            phase: phase.to_owned(),
            iteration,
            attempt,
            orange: orange.to_owned(),
            search_path: spec.search_path.clone(),
            withheld: spec.withheld.clone(),
        }
    }

    /// Notes how it ended. After this the process ends.
    pub fn end(self, how: &str, code: i32) {
        let mut ended = Ended {
            at: Timestamp::now(),
            how: how.to_owned(),
            code: Some(code),
            stopped: self.was_asked_to_stop(),
            last_words: String::new(),
            review: None,
            seal: None,
        };
        ended.seal = runs::seal_of_end(&self.home, &self.spec.run, &ended);
        // Orange may have forgotten the run by now; that it is gone shows without this.
        if self.folder.path().is_dir()
            && let Err(error) = self.folder.note_ended(&ended)
        {
            tracing::error!(%error, run = self.spec.run, "how the executor ended is not noted");
        }
    }
}
