//! What every turn of a phased task and every run of an interactive one has cost: from orange.db, from index.db, and of what
//! still runs from its folder. No journal is read.

use crate::call::Call;
use crate::error::Result;
use crate::{sessions, settings};
use orange_core::Timestamp;
use orange_core::cost::{Cost, RunCost};
use orange_core::history::History;
use orange_core::usage::Usage;
use orange_core::work::prices::Prices;

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
    pub(crate) usage: Option<Usage>,
}

impl CostEntry {
    pub(crate) fn add_to(&self, cost: &mut Cost) {
        cost.add(self.usage, self.model.as_deref(), &self.harness);
    }

    fn priced(mut self, prices: &Prices) -> CostEntry {
        let model = self.model.as_deref();
        self.usage = self.usage.map(|usage| prices.priced(model, usage));
        self
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
            // A turn that has only begun, or that the service failed, has nothing to tell.
            if cost.usage.is_empty() && !cost.is_silent() {
                return;
            }
            let entry = CostEntry {
                usage: Some(cost.usage).filter(|usage| !usage.is_empty()),
                task: cost.task,
                phase: Some(cost.phase),
                harness: cost.harness,
                model: cost.model,
                at: cost.at,
            };
            take(entry.priced(prices));
        })
    })?;
    for known in call.index()?.run_costs(since)? {
        take(of_run(call, known.task, known.cost).priced(prices));
    }
    Ok(())
}

/// What the runs of one interactive task cost, by its journal.
pub(crate) fn of_runs(call: &Call, history: &History) -> Result<Cost> {
    let prices = &settings::config(call)?.prices;
    let mut cost = Cost::default();
    for run in RunCost::of(history) {
        let entry = of_run(call, String::new(), run);
        entry.priced(prices).add_to(&mut cost);
    }
    Ok(cost)
}

fn of_run(call: &Call, task: String, cost: RunCost) -> CostEntry {
    CostEntry {
        task,
        phase: None,
        usage: used(call, &cost),
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
