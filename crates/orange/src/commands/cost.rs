//! `orange cost`: what agents cost, by task, project, phase, harness, model or day.

use crate::commands::log::time_of;
use crate::completion::projects;
use crate::session::Session;
use crate::ui::{Cell, Column, Style, Table, clean};
use clap::Args;
use orange_core::Timestamp;
use orange_core::cost::CostBy;
use orange_core::usage::tokens;
use orange_core::work::budget::BudgetState;
use orange_engine::Result;
use orange_engine::views::cost::{self, CostFigures, CostReport, CostRow, CostWish};
use std::collections::BTreeSet;

/// How wide the longest bar is.
const BAR: usize = 16;

/// Show what agents cost
#[derive(Debug, Args)]
#[command(after_help = "\
Counted are the turns of phased tasks and the runs of interactive ones, those that go on too; each on the day on which it ended, by \
the clock of this place. ≥ marks a sum of which a part is unknown: some agents tell tokens and no cost \
(`prices.MODEL` says what those cost), others tell nothing. A task that was deleted for good counts no more.

Examples:
  orange cost
  orange cost --by model --since 30d
  orange cost --by day --since 2026-11-01 --project shop
  orange cost --by project --json")]
pub(crate) struct CostArgs {
    /// What to put together: task, project, phase, harness, model or day
    #[arg(long, value_name = "WHAT", default_value = "task", value_parser = clap::builder::PossibleValuesParser::new(CostBy::WORDS))]
    by: String,
    /// Only of this project
    #[arg(long, value_name = "NAME", add = projects())]
    project: Option<String>,
    /// Only what ended since then: 8h, 30d, or 2026-11-15, "2026-11-15 03:00"
    #[arg(long, value_name = "TIME", value_parser = time_of)]
    since: Option<Timestamp>,
}

pub(crate) fn run(session: &Session, args: &CostArgs) -> Result<()> {
    let wish = CostWish {
        by: args.by.parse().unwrap_or(CostBy::Task),
        project: args.project.clone(),
        since: args.since,
    };
    let report = cost::cost(&session.call, &wish)?;
    session.finish(&report, || to_text(&report))
}

fn to_text(report: &CostReport) -> String {
    let mut text = if report.rows.is_empty() {
        "no agent has told what it used\n".to_owned()
    } else {
        table(report).to_text()
    };
    let mut say = |line: &str| text.push_str(&format!("{}\n", clean(line)));
    if report.missing_prices.is_some() || report.budget.is_some() {
        say("");
    }
    if let Some(missing) = &report.missing_prices {
        say(missing);
    }
    if let Some(budget) = &report.budget {
        match budget.state {
            BudgetState::Spent => say(&budget.in_words()),
            BudgetState::Free | BudgetState::Warn => {
                say(&format!("this month: {} (budget.month)", budget.in_brief()));
            }
        }
    }
    text
}

fn table(report: &CostReport) -> Table<'_> {
    let projects = report.rows.iter();
    let projects: BTreeSet<&str> = projects.filter_map(|row| row.project.as_deref()).collect();
    // Keys of different projects may be the same.
    let names_projects = report.by == CostBy::Task && projects.len() > 1;
    let mut columns = vec![
        Column::new(heading(report.by)).min(8).max(40),
        Column::new("COST"),
        Column::new("").priority(1),
        Column::new("TOKENS").priority(2),
    ];
    if names_projects {
        columns.insert(1, Column::new("PROJECT").max(20));
    }
    if report.by == CostBy::Task {
        columns.push(Column::new("SUMMARY").flexible());
    }
    let mut table = Table::new(&columns);
    let most = report.rows.iter().filter_map(|row| row.figures.cost);
    let most = most.fold(0.0, f64::max);
    for row in &report.rows {
        let name = row.name.as_deref().unwrap_or("–");
        let mut cells = cells(name, &row.figures, bar(row, most));
        if names_projects {
            let project = row.project.as_deref().unwrap_or("–");
            cells.insert(1, Cell::new(project, Style::Plain));
        }
        if report.by == CostBy::Task {
            let summary = row.summary.as_deref();
            let style = if summary.is_some() {
                Style::Plain
            } else {
                Style::Dim
            };
            cells.push(Cell::new(summary.unwrap_or("(deleted)"), style));
        }
        table.row(cells);
    }
    let mut total = cells("total", &report.total, String::new());
    if names_projects {
        total.insert(1, Cell::from(""));
    }
    table.row(total);
    table
}

fn heading(by: CostBy) -> &'static str {
    match by {
        CostBy::Task => "TASK",
        CostBy::Project => "PROJECT",
        CostBy::Phase => "PHASE",
        CostBy::Harness => "HARNESS",
        CostBy::Model => "MODEL",
        CostBy::Day => "DAY",
    }
}

fn cells<'r>(name: &'r str, figures: &CostFigures, bar: String) -> Vec<Cell<'r>> {
    let cost = figures.usage.cost_in_words();
    vec![
        Cell::new(name, Style::Plain),
        Cell::new(cost.unwrap_or_else(|| "–".to_owned()), Style::Plain),
        Cell::new(bar, Style::Blue),
        Cell::new(tokens(figures.usage.tokens()), Style::Plain),
    ]
}

/// A line as long as the cost is beside the largest one.
fn bar(row: &CostRow, most: f64) -> String {
    let share = match row.figures.cost {
        Some(cost) if most > 0.0 => cost / most,
        _ => 0.0,
    };
    let columns = (share * BAR as f64).ceil() as usize;
    "▇".repeat(columns.min(BAR))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orange_core::usage::Usage;
    use orange_core::work::tokens::Tokens;

    fn figures(cost: f64) -> CostFigures {
        let usage = Usage {
            output: 1_000,
            cost: Some(cost),
            ..Usage::default()
        };
        CostFigures {
            cost: usage.cost,
            partial: false,
            tokens: Tokens::from(usage),
            unpriced_tokens: 0,
            count: 1,
            usage,
        }
    }

    fn row(project: Option<&str>, cost: f64) -> CostRow {
        CostRow {
            name: Some("TASK-001".to_owned()),
            task: Some("id".to_owned()),
            project: project.map(str::to_owned),
            summary: project.map(|_| "Do it".to_owned()),
            figures: figures(cost),
        }
    }

    fn text(rows: Vec<CostRow>) -> String {
        to_text(&CostReport {
            by: CostBy::Task,
            project: None,
            since: None,
            rows,
            total: figures(3.0),
            budget: None,
            missing_prices: None,
        })
    }

    #[test]
    fn tasks_of_several_projects_are_told_apart() {
        let two = text(vec![
            row(Some("shop"), 2.0),
            row(Some("bank"), 1.0),
            row(None, 0.5),
        ]);
        let lines: Vec<&str> = two.lines().collect();
        assert!(lines[0].starts_with("TASK      PROJECT  COST"), "{two}");
        assert!(lines[1].starts_with("TASK-001  shop"), "{two}");
        assert!(lines[2].starts_with("TASK-001  bank"), "{two}");
        let one = text(vec![row(Some("shop"), 2.0)]);
        assert!(!one.contains("PROJECT") && !one.contains("shop"), "{one}");
    }
}
