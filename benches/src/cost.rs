//! `orange cost` over many iterations, against reading their rows.

use crate::measure::{in_turns, run};
use crate::report::Row;
use crate::rows::floor_command;
use crate::scratch::Scratch;
use crate::{Result, note};
use jiff::Timestamp;
use orange_core::usage::Usage;
use orange_core::work::execution::{Execution, Iteration, IterationOutcome};
use orange_engine::database::Database;
use std::io::Write;
use std::path::Path;

const TASKS: usize = 100;
const TURNS: u32 = 100;

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("cost of 10,000 iterations …");
    let home = scratch.home(TASKS)?;
    let mut database = Database::open(&home.path)?;
    for number in 1..=TASKS {
        let execution = Execution {
            iterations: (1..=TURNS).map(turn).collect(),
            ..Execution::default()
        };
        database.store_execution(&home.place(number).name, &execution)?;
    }
    drop(database);
    let path = home.path.display().to_string();
    let mut rows = Vec::new();
    for by in ["task", "day"] {
        let [ours, floor] = in_turns(
            40,
            [
                Box::new(|_| run(&mut home.orange(scratch, &["cost", "--by", by]))),
                Box::new(|_| run(&mut floor_command(scratch, &["costs", &path]))),
            ],
        )?;
        rows.push(Row::at_most(
            &format!("`orange cost --by {by}`, 10,000 iterations"),
            "reading their rows",
            ours.best(),
            floor.best(),
            Some(2.0),
        ));
    }
    Ok(rows)
}

fn turn(number: u32) -> Iteration {
    let at = Timestamp::from_second(1_767_225_600 + i64::from(number) * 3_600).unwrap_or_default();
    Iteration {
        phase: "implement".into(),
        iteration: number,
        attempt: 1,
        run: "run".into(),
        harness: "claude".into(),
        model: Some("opus".into()),
        session: Some("conversation".into()),
        started_at: at,
        ended_at: Some(at),
        outcome: Some(IterationOutcome::Continue),
        usage: Usage {
            input: 1_000,
            output: 500,
            cost: Some(0.01),
            ..Usage::default()
        },
        advanced: true,
        ..Iteration::default()
    }
}

/// The floor: reads the rows, and says how many there are.
pub(crate) fn read(home: &Path) -> Result<()> {
    let mut count = 0;
    Database::open(home)?.each_cost(None, |_| count += 1)?;
    writeln!(std::io::stdout(), "{count}")?;
    Ok(())
}
