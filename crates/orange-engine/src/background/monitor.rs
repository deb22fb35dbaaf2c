//! The safety net: looks now and then whether an agent has gone without a word (a killed tmux server, a `kill -9`,
//! a reboot), and sees to it. One process at a time does so.

use crate::background::queue;
use crate::call::{self, Call};
use crate::effects::executor;
use crate::error::{Code, Result};
use crate::index::list::{ListFacts, ListedTask, TaskFilter};
use crate::runs::{self, Doing, RunFolder, RunSpec, SpecStamp, State};
use crate::store::locks::{Lock, LockFile};
use crate::tmux::PaneInfo;
use crate::verbs::{handle_signals, start};
use crate::{errand, execution, home_record, recovery, sessions, tx};
use orange_core::Timestamp;
use orange_core::exit::is_expected;
use orange_core::runs::runs as runs_of;
use orange_core::task::Status;
use orange_core::workflow::{Role, StatusKind, Workflow};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::resume_unwind;

/// The process that watches.
#[derive(Default)]
pub struct Monitor {
    /// Held as long as it does.
    lead: Option<LockFile>,
    /// Tasks without an agent that were looked at, by the revision they had.
    seen: HashMap<String, u64>,
    /// Runs whose start is journalled: what is journalled stays so.
    journalled: HashSet<String>,
    /// Descriptions of live runs, by their ids: there may be hundreds, and they are written once.
    specs: HashMap<String, (SpecStamp, RunSpec)>,
}

/// What one look found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tick {
    /// Another process watches.
    pub follows: bool,
    pub alive: usize,
    /// Tasks that were seen to.
    pub tended: Vec<String>,
    /// Windows of tasks that need none any more.
    pub closed: usize,
    pub started: usize,
}

impl Monitor {
    /// One look at everything, if no other process watches.
    pub fn tick(&mut self, call: &Call) -> Result<Tick> {
        home_record::refuse_copy(call)?;
        if self.lead.is_none() {
            self.lead = call.store().try_lock(Lock::Monitor)?;
        }
        if self.lead.is_none() {
            return Ok(Tick {
                follows: true,
                ..Tick::default()
            });
        }
        self.look(&call.as_engine())
    }

    fn look(&mut self, call: &Call) -> Result<Tick> {
        errand::reap_ended();
        recovery::recover(call);
        let mut tick = Tick::default();
        // tmux takes as long as all the rest. A window that is listed before the runs are looked at is no younger than they.
        let tmux = sessions::tmux(call);
        let panes = std::thread::spawn(move || tmux?.panes());
        let mut alive = HashSet::new();
        let mut folders = HashSet::new();
        let mut live = HashSet::new();
        let mut waiting = Vec::new();
        let mut gone = Vec::new();
        for run in runs::all(call.store().home()) {
            let Some((stamp, spec)) = self.take_spec(&run) else {
                forget_nameless(&run);
                continue;
            };
            if run.is_alive() {
                tick.alive += 1;
                alive.insert((spec.folder.clone(), spec.role));
                if waits_for_somebody(&run, &spec) || !self.is_journalled(call, &spec) {
                    waiting.push(spec.run.clone());
                }
                live.insert(spec.run.clone());
                self.specs.insert(run.id(), (stamp, spec));
            } else {
                gone.push((spec.folder.clone(), spec.run));
                folders.insert(spec.folder);
            }
        }
        self.journalled.retain(|run| live.contains(run));
        self.specs.retain(|_, (_, spec)| live.contains(&spec.run));
        for run in waiting {
            if let Err(error) = handle_signals::handle_signals(call, &run) {
                tracing::warn!(%error, run, "not seen to");
            }
        }
        let listed = listed(call)?;
        folders.extend(self.missed(call, &listed, &alive));
        for folder in folders {
            let place = call.store().place(&folder);
            match tx::lock_task(call, place) {
                Ok(tx) => {
                    for (_, run) in gone.iter().filter(|(of, _)| *of == folder) {
                        tx.forget_run(run)?;
                    }
                    self.seen.insert(folder, tx.task.revision);
                    tick.tended.push(tx.task.label());
                }
                // Somebody is at it, or only a repair helps.
                Err(error) => {
                    tracing::warn!(%error, folder, "not seen to");
                    // A damaged orange.db says nothing against the task.
                    let is_damaged = || call.store.survey(&folder).damaged.is_some();
                    if error.code == Code::NotFound || is_damaged() {
                        forget_runs_of(call, &folder);
                    }
                }
            }
        }
        let panes = panes.join().unwrap_or_else(|panic| resume_unwind(panic));
        match panes.and_then(|panes| close_leftovers(call, panes, &live)) {
            Ok(closed) => tick.closed = closed,
            // Without tmux there is nothing to close, and much else to do.
            Err(error) => tracing::warn!(%error, "windows were not looked at"),
        }
        resend_classifiers(call, &listed)?;
        // An agent that ended without a word, or a task that was cancelled, made room and told nobody.
        if start::has_queued(call)? {
            call::request_queue_run(call)?;
        }
        tick.started = queue::serve_queue(call)?;
        Ok(tick)
    }

    /// The description of a run, read only if it was not read before.
    fn take_spec(&mut self, run: &RunFolder) -> Option<(SpecStamp, RunSpec)> {
        // Looked at before it is read: one that is written in between is read again next time.
        let stamp = run.spec_stamp()?;
        match self.specs.remove(&run.id()) {
            Some((known, spec)) if known == stamp => Some((stamp, spec)),
            _ => Some((stamp, run.spec()?)),
        }
    }

    /// Is a run's start journalled? Asked once for each: journals of long tasks are long.
    fn is_journalled(&mut self, call: &Call, spec: &RunSpec) -> bool {
        if self.journalled.contains(&spec.run) {
            return true;
        }
        let place = call.store().place(&spec.folder);
        let Ok(history) = place.history() else {
            return true;
        };
        let known = runs_of(&history).iter().any(|known| known.id == spec.run);
        if known {
            self.journalled.insert(spec.run.clone());
        }
        known
    }

    /// Tasks that need an agent, have none, and of whose run there is no folder either.
    fn missed(
        &self,
        call: &Call,
        listed: &[ListedTask],
        alive: &HashSet<(String, Role)>,
    ) -> Vec<String> {
        let mut missed = Vec::new();
        for row in listed {
            let gone = row.status.parse().is_ok_and(|status| {
                ROLES.iter().any(|role| {
                    is_expected(status, *role) && !alive.contains(&(row.folder.clone(), *role))
                })
            });
            if gone {
                let revision = call.store().survey(&row.folder).task.revision;
                if self.seen.get(&row.folder) != Some(&revision) {
                    missed.push(row.folder.clone());
                }
            }
        }
        missed
    }
}

const ROLES: [Role; 3] = [Role::Worker, Role::Reviewer, Role::Executor];

/// The tasks in a status that expects an agent, or that waits for a weight. Listed once for all of a look: the files of all
/// these tasks are compared with the index.
fn listed(call: &Call) -> Result<Vec<ListedTask>> {
    let expects = |status: &Status| ROLES.iter().any(|role| is_expected(*status, *role));
    let statuses = Status::ALL.iter().copied().filter(expects);
    let statuses: BTreeSet<&str> = statuses
        .chain(statuses_without_weight())
        .map(Status::as_str)
        .collect();
    let filter = TaskFilter {
        statuses: statuses.into_iter().map(str::to_owned).collect(),
        ..TaskFilter::default()
    };
    // Which agents are gone is asked by the caller; what else a list says of a task is of no use.
    call.index()?
        .fresh_list(&filter, &ListFacts::nothing(), |listing| listing.rows)
}

/// The statuses in which a task waits for its weight.
fn statuses_without_weight() -> impl Iterator<Item = Status> {
    let waiting = Workflow::in_use().flat_map(|table| {
        table.statuses.iter().filter(|info| {
            let mut rows = table.rows_from(info.status, info.reason);
            info.kind == StatusKind::Active && rows.any(execution::needs_weight)
        })
    });
    waiting.map(|info| info.status)
}

/// An agent that has stopped, or asks something: whoever was to see to it may have died over it.
fn waits_for_somebody(run: &RunFolder, spec: &RunSpec) -> bool {
    let goes_on = |doing: Doing| matches!(doing.state, State::Starting | State::Working);
    let is_due = run.due().is_some_and(|due| due.at <= Timestamp::now());
    spec.adapter.gives_signals() && (is_due || !run.state().is_none_or(goes_on))
}

/// Sends for errands that died before they found the weight of their task.
fn resend_classifiers(call: &Call, listed: &[ListedTask]) -> Result<()> {
    let waiting: Vec<&str> = statuses_without_weight().map(Status::as_str).collect();
    let rows = listed.iter();
    for row in rows.filter(|row| waiting.contains(&row.status.as_str())) {
        let lock = executor::classify_lock(&row.folder);
        if call.store.try_lock(Lock::Classify(&lock))?.is_some() {
            executor::send_classifier(call, &row.folder)?;
        }
    }
    Ok(())
}

/// A folder without a description says nothing of any run; it may be in the making right now.
fn forget_nameless(run: &RunFolder) {
    let made = std::fs::metadata(run.path()).and_then(|found| found.modified());
    let age = made.ok().and_then(|time| time.elapsed().ok());
    let age = age.map_or(0, |age| age.as_secs());
    if age > 600 {
        let _ = run.remove();
    } else if age > 1 {
        // Only if it is empty: nobody takes so long from making a folder to filling it.
        let _ = std::fs::remove_dir(run.path());
    }
}

fn forget_runs_of(call: &Call, folder: &str) {
    for run in runs::all(call.store().home()) {
        if run.spec().is_some_and(|spec| spec.folder == folder) && !run.is_alive() {
            let _ = run.remove();
        }
    }
}

/// Closes windows of tasks that are over, or of runs nobody knows: left by a process that died in between.
fn close_leftovers(call: &Call, panes: Vec<PaneInfo>, live: &HashSet<String>) -> Result<usize> {
    let tmux = sessions::tmux(call)?;
    let home = home_record::home_paths(call);
    let mut closed = 0;
    for info in panes {
        if !home.has_tagged(info.home_tag.as_deref()) {
            continue;
        }
        let (Some(id), Some(run)) = (info.task_id.as_deref(), info.run_id.as_deref()) else {
            continue;
        };
        if live.contains(run) {
            continue;
        }
        let found = call.index()?.by_id_prefix(id)?;
        let Some(found) = found.first() else {
            continue;
        };
        let place = call.store.place(&found.folder);
        let over = found.status.parse().is_ok_and(Status::is_terminal);
        let history = place.history()?;
        let marked = call.store.marked().contains(&place);
        let known = runs_of(&history).iter().any(|known| known.id == run);
        if over && !marked && known {
            tmux.kill_window(&info.pane)?;
            closed += 1;
        }
    }
    Ok(closed)
}
