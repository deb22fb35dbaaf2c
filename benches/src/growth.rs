//! What it costs to have more tasks: lists and rebuilds may grow with them, a command on one task may not.

use crate::fixture::{Home, key};
use crate::measure::{in_turns, run};
use crate::report::{Row, milliseconds};
use crate::rows::rebuild_once;
use crate::scratch::Scratch;
use crate::{Result, note};
use std::time::Duration;

const GOAL: f64 = 1.3;
const SIZES: [(usize, &str); 3] = [(1_000, "1k"), (10_000, "10k"), (100_000, "100k")];

pub(crate) fn rows(scratch: &Scratch) -> Result<Vec<Row>> {
    note("growth …");
    let [small, middle, large] = SIZES.map(|(tasks, _)| scratch.home(tasks));
    let homes = [small?, middle?, large?];
    let mut rows = Vec::new();
    let lists = in_turns(
        7,
        homes.each_ref().map(|home| -> crate::measure::Side<'_> {
            Box::new(move |_| run(&mut home.orange(scratch, &["task", "list"])))
        }),
    )?;
    linear(&mut rows, "`task list`", lists.map(|times| times.best()));
    let rebuilds = in_turns(
        3,
        homes.each_ref().map(|home| -> crate::measure::Side<'_> {
            Box::new(move |_| rebuild_once(scratch, home))
        }),
    )?;
    linear(
        &mut rows,
        "index rebuild",
        rebuilds.map(|times| times.best()),
    );
    for home in &homes {
        home.settle(scratch)?;
    }
    let [small, _, large] = &homes;
    for (name, words) in SINGLE {
        let side = |home: &Home, round: usize| {
            let key = key(home.planning(round));
            let words: Vec<&str> = words
                .iter()
                .map(|word| if *word == "KEY" { &key } else { *word })
                .collect();
            run(&mut home.orange(scratch, &words))
        };
        let [of_small, of_large] = in_turns(
            40,
            [
                Box::new(|round| side(small, round)),
                Box::new(|round| side(large, round)),
            ],
        )?;
        let name = format!("`task {name}`, 100k tasks");
        rows.push(Row::at_most(
            &name,
            "the same, 1k tasks",
            of_large.best(),
            of_small.best(),
            Some(GOAL),
        ));
    }
    Ok(rows)
}

/// Each round takes another task, so that no journal grows long.
const SINGLE: [(&str, &[&str]); 6] = [
    ("show", &["task", "show", "KEY"]),
    ("why", &["task", "why", "KEY"]),
    ("deps", &["task", "deps", "KEY"]),
    (
        "update --priority",
        &["task", "update", "KEY", "--priority", "critical"],
    ),
    (
        "update --status",
        &["task", "update", "KEY", "--status", "clarification"],
    ),
    ("create", &["task", "create", "One more task among many"]),
];

fn linear(rows: &mut Vec<Row>, what: &str, times: [Duration; 3]) {
    for (step, pair) in times.windows(2).enumerate() {
        let [(fewer, small), (more, large)] = [SIZES[step], SIZES[step + 1]];
        let per_task = |time: Duration, tasks: usize| time.as_secs_f64() / tasks as f64;
        let ratio = per_task(pair[1], more) / per_task(pair[0], fewer);
        rows.push(Row {
            what: format!("growth of {what}, {small} → {large} tasks"),
            against: "linear growth".into(),
            measured: milliseconds(pair[1]),
            floor: milliseconds(pair[0]),
            ratio: format!("{ratio:.2} × a task"),
            goal: format!("≤ {GOAL} × a task"),
            met: Some(ratio <= GOAL),
        });
    }
}
