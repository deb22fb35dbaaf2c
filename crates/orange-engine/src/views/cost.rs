//! What agents cost: sums over turns and runs, by task, project, phase, harness, model or day.

use crate::budget;
use crate::call::Call;
use crate::costs::{CostEntry, each_cost};
use crate::error::Result;
use crate::index::TaskTitle;
use crate::views::list;
use jiff::tz::TimeZone;
use orange_core::Timestamp;
use orange_core::cost::{Cost, CostBy};
use orange_core::usage::Usage;
use orange_core::work::budget::{Budget, day_of};
use orange_core::work::tokens::Tokens;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::HashMap;

/// Which costs are asked for.
#[derive(Debug, Clone)]
pub struct CostWish {
    pub by: CostBy,
    pub project: Option<String>,
    /// What ended then or later.
    pub since: Option<Timestamp>,
}

/// What agents cost.
#[derive(Debug, Clone, Serialize)]
pub struct CostReport {
    pub by: CostBy,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    /// The dearest first; days in their order.
    pub rows: Vec<CostRow>,
    pub total: CostFigures,
    /// Of the month, if the settings set one.
    pub budget: Option<Budget>,
    /// What has no price, and which settings give it one.
    pub missing_prices: Option<String>,
}

/// One of the things by which costs are put together.
#[derive(Debug, Clone, Serialize)]
pub struct CostRow {
    /// A task's key, a project, a phase, a harness, a model or a day; null where there is none: runs of interactive tasks have
    /// no phase.
    pub name: Option<String>,
    /// The id of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The project of a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    #[serde(flatten)]
    pub figures: CostFigures,
}

/// A sum of costs.
#[derive(Debug, Clone, Serialize)]
pub struct CostFigures {
    /// In US dollars; null where no cost is known.
    pub cost: Option<f64>,
    /// It cost at least that much.
    pub partial: bool,
    pub tokens: Tokens,
    /// Tokens of which nobody knows what they cost.
    pub unpriced_tokens: u64,
    /// How many turns and runs.
    pub count: usize,
    #[serde(skip)]
    pub usage: Usage,
}

impl CostFigures {
    fn of(cost: &Cost) -> CostFigures {
        let usage = cost.known();
        CostFigures {
            cost: usage.cost,
            partial: usage.cost_partial,
            tokens: Tokens::from(usage),
            unpriced_tokens: cost.unpriced_tokens(),
            count: cost.count,
            usage,
        }
    }
}

/// Sums of what agents cost.
pub fn cost(call: &Call, wish: &CostWish) -> Result<CostReport> {
    if let Some(project) = &wish.project {
        list::refuse_unknown(call, std::slice::from_ref(project))?;
    }
    let names_tasks = matches!(wish.by, CostBy::Task | CostBy::Project) || wish.project.is_some();
    let titles = if names_tasks {
        call.fresh_index()?.titles()?
    } else {
        Vec::new()
    };
    let titles: HashMap<&str, &TaskTitle> = titles
        .iter()
        .map(|title| (title.id.as_str(), title))
        .collect();
    let zone = TimeZone::system();
    let mut sums: HashMap<Option<String>, Cost> = HashMap::new();
    let mut total = Cost::default();
    each_cost(call, wish.since, |entry| {
        let title = titles.get(entry.task.as_str());
        let project = title.map(|title| title.project.as_str());
        if wish.project.is_some() && wish.project.as_deref() != project {
            return;
        }
        entry.add_to(&mut total);
        let name = match wish.by {
            CostBy::Project => project.map(str::to_owned),
            _ => name(&entry, wish.by, &zone),
        };
        entry.add_to(sums.entry(name).or_default());
    })?;
    let mut rows: Vec<CostRow> = sums
        .iter()
        .map(|(name, cost)| row(name.as_deref(), cost, wish.by, &titles))
        .collect();
    rows.sort_by(|one, other| order(wish.by, one, other));
    Ok(CostReport {
        by: wish.by,
        project: wish.project.clone(),
        since: wish.since,
        rows,
        total: CostFigures::of(&total),
        budget: budget::of_month(call)?,
        missing_prices: total.missing_prices(),
    })
}

/// What all agents have cost today; None where nothing is known to have been used.
pub fn today(call: &Call) -> Result<Option<Usage>> {
    let today = day_of(call.now(), &TimeZone::system());
    let mut cost = Cost::default();
    each_cost(call, Some(today.start), |entry| {
        if today.contains(&entry.at) {
            entry.add_to(&mut cost);
        }
    })?;
    Ok(Some(cost.known()).filter(|usage| usage.cost.is_some()))
}

/// What an entry counts for; the id of its task.
fn name(entry: &CostEntry, by: CostBy, zone: &TimeZone) -> Option<String> {
    match by {
        CostBy::Task | CostBy::Project => Some(entry.task.clone()),
        CostBy::Phase => entry.phase.clone(),
        CostBy::Harness => Some(entry.harness.clone()).filter(|name| !name.is_empty()),
        CostBy::Model => entry.model.clone(),
        CostBy::Day => Some(entry.at.to_zoned(zone.clone()).date().to_string()),
    }
}

fn row(name: Option<&str>, cost: &Cost, by: CostBy, titles: &HashMap<&str, &TaskTitle>) -> CostRow {
    let mut row = CostRow {
        name: name.map(str::to_owned),
        task: None,
        project: None,
        summary: None,
        figures: CostFigures::of(cost),
    };
    if by == CostBy::Task {
        let id = name.unwrap_or_default();
        row.task = Some(id.to_owned());
        // Of a deleted task there is the id alone.
        let title = titles.get(id);
        let key = title.and_then(|title| title.key);
        row.name = Some(key.map_or_else(|| id.chars().take(8).collect(), |key| key.to_string()));
        row.project = title.map(|title| title.project.clone());
        row.summary = title.map(|title| title.summary.clone());
    }
    row
}

/// The dearest first; where no cost is known, what used most tokens.
fn order(by: CostBy, one: &CostRow, other: &CostRow) -> Ordering {
    let dear = |row: &CostRow| (row.figures.cost.unwrap_or(-1.0), row.figures.usage.tokens());
    let (ours, theirs) = (dear(one), dear(other));
    let by_cost = theirs.0.total_cmp(&ours.0).then(theirs.1.cmp(&ours.1));
    let by_name = || (&one.name, &one.task).cmp(&(&other.name, &other.task));
    match by {
        CostBy::Day => by_name(),
        _ => by_cost.then_with(by_name),
    }
}
