//! Every operation × every call of git that it makes × every way in which that call can go wrong. After each: nothing is
//! lost, nothing is claimed that is not so, and doing it again, or a repair, ends clean.

use crate::check::at_rest;
use crate::env::{Env, in_parallel, told};
use crate::git_operations::{Goal, Operation, operations};
use crate::git_wrapper::{Way, Wrapper, locks};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Runs all of the matrix instead of one way per call.
const ALL: &str = "ORANGE_TEST_ALL_GIT_FAULTS";

/// One cell of the matrix.
struct Case<'o> {
    operation: &'o Operation,
    call: usize,
    words: String,
    way: Way,
}

/// Is this a git that can leave a lock behind?
fn writes(words: &str) -> bool {
    let writers = [
        " update-ref ",
        " worktree ",
        " switch ",
        " reset ",
        " read-tree ",
        " push ",
        " fetch ",
        " reflog ",
        " branch ",
    ];
    writers.iter().any(|writer| words.contains(writer))
}

/// The calls of an operation that nothing goes wrong in.
fn calls_of(operation: &Operation) -> Vec<String> {
    let env = operation.fork();
    let wrapper = Wrapper::noting(&env);
    let output = wrapper.run(&env, &operation.words());
    assert!(
        output.status.success(),
        "{}: {}",
        operation.name,
        told(&output)
    );
    assert!(
        operation.is_reached(&env),
        "{}: not reached",
        operation.name
    );
    wrapper.calls()
}

impl Case<'_> {
    fn label(&self) -> String {
        // Without the settings that every call has.
        let mut words = self.words.split(' ');
        let mut shown = Vec::new();
        while let Some(word) = words.next() {
            match word {
                "-c" | "-C" => drop(words.next()),
                word => shown.push(word),
            }
        }
        let words: String = shown.join(" ").chars().take(120).collect();
        format!(
            "{}, call {} {} ({words})",
            self.operation.name,
            self.call,
            self.way.name()
        )
    }

    fn run(&self) {
        let (operation, label) = (self.operation, self.label());
        let env = operation.fork();
        let wrapper = Wrapper::failing_at(&env, self.call, self.way);
        let output = wrapper.run(&env, &operation.words());
        let label = format!("{label}: {}", told(&output));
        // Two gits that run at once may swap places, so it need not be the call of the label.
        assert!(wrapper.has_fired(), "{label}: nothing went wrong");
        operation.nothing_is_lost(&env, &label);
        if output.status.success() {
            assert!(operation.is_reached(&env), "{label}: claimed, but not so");
        }
        self.ends_clean(&env, &label);
        operation.nothing_is_lost(&env, &label);
        operation.merge_is_whole(&env, &label);
    }

    /// The next command, the same once more if it is not done yet, and a repair of what is left.
    fn ends_clean(&self, env: &Env, label: &str) {
        let operation = self.operation;
        let listed = env.run(&["task", "list"]);
        assert!(listed.status.success(), "{label}: {}", told(&listed));
        let mut again = String::new();
        if !operation.is_reached(env) {
            let output = env.run(&operation.words());
            again = told(&output);
        }
        if let Goal::Status(key, _) = &operation.goal {
            // A hook that failed is tried again by a person, as the error says.
            env.run(&["task", "retry-hooks", key]);
        }
        let repaired = env.run(&["doctor", "--repair"]);
        let doctor = env.run(&["doctor"]);
        let said = format!(
            "{label}\nagain: {again}\nrepair: {}\ndoctor: {}",
            told(&repaired),
            told(&doctor)
        );
        assert!(doctor.status.success(), "{said}");
        assert!(operation.is_reached(env), "{said}\nnot reached");
        at_rest(env, &said);
        let locks = locks(env);
        assert!(locks.is_empty(), "{said}\nlocks are left: {locks:?}");
    }
}

#[test]
fn a_git_call_that_goes_wrong_in_any_way_loses_nothing() {
    let all = std::env::var_os(ALL).is_some();
    let operations = operations();
    let mut cases = Vec::new();
    let mut rows: BTreeMap<&str, (usize, BTreeMap<Way, usize>)> = BTreeMap::new();
    for (number, operation) in operations.iter().enumerate() {
        let calls = calls_of(operation);
        rows.entry(operation.name).or_default().0 = calls.len();
        for (index, words) in calls.iter().enumerate() {
            let ways: Vec<Way> = Way::ALL
                .into_iter()
                .filter(|way| *way != Way::KilledMidway || writes(words))
                .collect();
            // Neighbouring calls, and the same call of another operation, go wrong in different ways.
            let chosen = ways[(index + number) % ways.len()];
            // Of a call that changes something every way counts.
            for way in ways
                .into_iter()
                .filter(|way| all || *way == chosen || writes(words))
            {
                let case = Case {
                    operation,
                    call: index + 1,
                    words: words.clone(),
                    way,
                };
                cases.push(case);
            }
        }
    }
    let failures = Mutex::new(Vec::new());
    let only = std::env::var("ORANGE_TEST_GIT_FAULT").ok();
    cases.retain(|case| {
        only.as_ref()
            .is_none_or(|only| case.label().contains(only.as_str()))
    });
    in_parallel(&cases, |case| {
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.run()));
        if let Err(panic) = outcome {
            let text = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            failures
                .lock()
                .unwrap()
                .push(format!("{}\n{text}", case.label()));
        }
    });
    for case in &cases {
        let row = rows.entry(case.operation.name).or_default();
        *row.1.entry(case.way).or_default() += 1;
    }
    print_table(&rows, cases.len());
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} of {} cases:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n---\n")
    );
}

fn print_table(rows: &BTreeMap<&str, (usize, BTreeMap<Way, usize>)>, cases: usize) {
    let header: Vec<&str> = Way::ALL.into_iter().map(Way::name).collect();
    println!("| operation | calls | {} |", header.join(" | "));
    for (name, (calls, ways)) in rows {
        let counts = Way::ALL.map(|way| ways.get(&way).copied().unwrap_or(0).to_string());
        println!("| {name} | {calls} | {} |", counts.join(" | "));
    }
    println!("{cases} cases; {ALL}=1 runs every way of every call");
}
