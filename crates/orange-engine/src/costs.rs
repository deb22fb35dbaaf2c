//! What every turn of a phased task and every run of an interactive one has cost: from orange.db, from index.db, and of what
//! still runs from its folder. No journal is read.

use crate::call::Call;
use crate::database::IterationCost;
use crate::error::Result;
use crate::index::list::ListedTask;
use crate::{sessions, settings};
use orange_core::Timestamp;
use orange_core::cost::{Cost, RunCost};
use orange_core::history::History;
use orange_core::task::Task;
use orange_core::usage::Usage;
use orange_core::work::prices::{Priced, Prices};

/// The cost of one turn or run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CostEntry {
    /// The task's id.
    pub(crate) task: String,
    /// None: of an interactive task.
    pub(crate) phase: Option<String>,
    pub(crate) harness: String,
    pub(crate) model: Option<String>,
    /// When it ended; of a run that goes on, now.
    pub(crate) at: Timestamp,
    /// None: it told nothing.
    pub(crate) used: Option<Priced>,
}

impl CostEntry {
    pub(crate) fn add_to(&self, cost: &mut Cost) {
        cost.add(self.used.clone(), self.model.as_deref(), &self.harness);
    }
}

/// Hands over the cost of everything that ended at that moment or later, or goes on; None: of everything.
pub(crate) fn each_cost(
    call: &Call,
    since: Option<Timestamp>,
    mut take: impl FnMut(CostEntry),
) -> Result<()> {
    let prices = &settings::config(call)?.prices;
    call.with_existing_database(|database| {
        database.each_cost(since, |cost| {
            if let Some(entry) = of_turn(cost, prices) {
                take(entry);
            }
        })
    })?;
    for known in call.index()?.run_costs(since)? {
        take(of_run(call, known.task, known.cost, prices));
    }
    Ok(())
}

/// What a turn cost; None of one that has only begun, or that the service failed: it has nothing to tell.
fn of_turn(cost: IterationCost, prices: &Prices) -> Option<CostEntry> {
    if cost.usage.is_empty() && !cost.is_silent() {
        return None;
    }
    let used = Some(cost.usage).filter(|usage| !usage.is_empty());
    Some(CostEntry {
        used: used.map(|usage| prices.priced(cost.model.as_deref(), usage)),
        task: cost.task,
        phase: Some(cost.phase),
        harness: cost.harness,
        model: cost.model,
        at: cost.at,
    })
}

/// Fills in what the runs and turns of listed tasks cost by the prices of the settings, where these have a say. Other tasks
/// are not read: there may be very many of them.
pub(crate) fn note_costs(call: &Call, rows: &mut [ListedTask]) -> Result<()> {
    let prices = &settings::config(call)?.prices;
    let unknown = rows.iter_mut().filter(|row| row.spending.lacks_costs());
    let mut sums: Vec<(&mut ListedTask, Cost)> =
        unknown.map(|row| (row, Cost::default())).collect();
    if prices.0.is_empty() || sums.is_empty() {
        return Ok(());
    }
    let index = call.index()?;
    for (row, sum) in &mut sums {
        for run in index.run_costs_of(&row.folder)? {
            of_run(call, String::new(), run, prices).add_to(sum);
        }
    }
    call.with_existing_database(|database| {
        for (row, sum) in &mut sums {
            database.each_cost_of(&row.id, |cost| {
                if let Some(entry) = of_turn(cost, prices) {
                    entry.add_to(sum);
                }
            })?;
        }
        Ok(())
    })?;
    for (row, sum) in sums {
        row.cost = Some(sum.known()).filter(|usage| !usage.is_empty());
    }
    Ok(())
}

/// What everything of one task cost: its turns by orange.db, its runs by its journal.
pub(crate) fn of_task(call: &Call, task: &Task, history: &History) -> Result<Cost> {
    let mut cost = of_runs(call, history)?;
    if task.has_plan() {
        let prices = &settings::config(call)?.prices;
        let stored = call.with_existing_database(|database| database.execution(&task.id))?;
        for iteration in stored
            .flatten()
            .iter()
            .flat_map(|stored| &stored.iterations)
        {
            iteration.add_to(&mut cost, prices);
        }
    }
    Ok(cost)
}

/// What the runs of one interactive task cost, by its journal.
pub(crate) fn of_runs(call: &Call, history: &History) -> Result<Cost> {
    let prices = &settings::config(call)?.prices;
    let mut cost = Cost::default();
    for run in RunCost::of(history) {
        of_run(call, String::new(), run, prices).add_to(&mut cost);
    }
    Ok(cost)
}

fn of_run(call: &Call, task: String, cost: RunCost, prices: &Prices) -> CostEntry {
    let used = used(call, &cost);
    CostEntry {
        task,
        phase: None,
        used: used.map(|usage| prices.priced(cost.model.as_deref(), usage)),
        at: if cost.is_open { call.now() } else { cost.at },
        harness: cost.harness,
        model: cost.model,
    }
}

/// What a run used beyond the earlier ones of its conversation; of one that goes on, so far.
fn used(call: &Call, cost: &RunCost) -> Option<Usage> {
    if !cost.is_open {
        return cost.usage;
    }
    let told = sessions::run_folder(call, &cost.run).usage()?;
    Some(told.since(cost.usage.unwrap_or_default()))
}
