//! Phased tasks of a soak: what their agents do, what is killed on the way, and what must hold of their turns in the end.

use crate::scripts::Ledger;
use crate::state::{State, field};
use crate::world::World;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Every so many tasks one is phased.
const EVERY: usize = 4;

/// What a turn tells that it used.
const TOKENS: u64 = 7;

/// The ways in which turns go wrong: the first one of implement does it, later ones behave.
const VARIANTS: &[&str] = &[
    "phased",
    "phased, dies",
    "phased, at a gate",
    "phased, takes its worktree apart",
    "phased, asks",
    "phased, hangs",
    "phased, answers nonsense",
    "phased, leaves a daemon",
    "phased, fails",
    "phased, exits",
];

/// Events at which something is killed.
pub(crate) const EVENTS: &[&str] = &[
    "spawned:executor",
    "iteration.started",
    "iteration.started",
    "iteration.ended",
    "phase.changed",
    "planned>running",
    "running>paused",
    "gate.decided",
];

/// Where commands about phased tasks die, besides the points of all.
pub(crate) const POINTS: &[&str] = &[
    "answer.stored",
    "change.moved",
    "changes.stored",
    "decision.moved",
    "execution.journalled",
    "gate.stored",
    "orphan.moved",
    "rewind.moved",
    "rewind.saved",
    "rewind.stored",
    "start.failed",
];

/// What becomes of the task of this number, if it is phased.
pub(crate) fn variant(offset: usize, number: usize) -> Option<&'static str> {
    let is_phased = number % EVERY == EVERY - 1;
    is_phased.then(|| VARIANTS[(offset + number / EVERY) % VARIANTS.len()])
}

pub(crate) fn is_phased(variant: &str) -> bool {
    VARIANTS.contains(&variant)
}

/// What the command that creates the task says besides.
pub(crate) fn options(variant: &str) -> Vec<&'static str> {
    let mut words = vec!["--workflow", "phased", "--weight", "small"];
    if variant == "phased, at a gate" {
        words.extend(["--gate", "implement=human"]);
    }
    words
}

/// The script of a task: each turn leaves a file, writes down that it did, and tells what it used.
pub(crate) fn script(variant: &str, number: usize, ledger: &Ledger) -> String {
    let files = ledger.files.display();
    let turns = ledger.turns.display();
    let work = format!(
        "  - run: |
      file=phased-{number}-$SIM_PHASE-$SIM_ITERATION.txt
      echo $$ >$file && echo $file >>{files} && echo {number} >>{turns}
    ignore: true
  - use: {{input: {TOKENS}, output: 1, cost: 0.001}}
"
    );
    let complete = "  - answer: complete\n    summary: done\n";
    let first = "executor implement iteration 1:\n";
    let wrong = match variant {
        "phased, dies" => format!("{first}{work}  - crash: KILL\n"),
        "phased, exits" => format!("{first}{work}  - exit: 1\n"),
        "phased, hangs" => format!("{first}{work}  - hang:\n    ignore: [TERM, HUP]\n"),
        "phased, asks" => {
            format!("{first}{work}  - answer: blocked\n    question: Which colour?\n")
        }
        "phased, answers nonsense" => format!("{first}{work}  - say: It is complete, I think.\n"),
        "phased, leaves a daemon" => {
            format!("{first}  - daemon: sleep 1000\n  - child: sleep 1000\n{work}{complete}")
        }
        "phased, takes its worktree apart" => format!("{first}{work}  - run: rm .git\n{complete}"),
        "phased, fails" => format!("executor test:\n{work}  - answer: continue\n"),
        _ => String::new(),
    };
    format!("executor:\n{work}{complete}\n{wrong}")
}

/// What does not hold of the turns of a task: none is taken twice under one number, and what is counted was told.
pub(crate) fn wrong(world: &World, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let text = fs::read_to_string(folder.join("TASK.md")).unwrap_or_default();
    if field(&text, "workflow").as_deref() != Some("phased") {
        return wrong;
    }
    let state = State::read(folder);
    let mut begun = BTreeSet::new();
    let mut ended = BTreeSet::new();
    for event in &state.events {
        let turn = (event["phase"].to_string(), event["iteration"].as_u64());
        if event["type"] == "iteration.started" && !begun.insert(turn.clone()) {
            wrong.push(format!("turn {turn:?} began twice"));
        }
        if event["type"] == "iteration.ended" {
            ended.insert(turn);
        }
    }
    if begun != ended {
        wrong.push(format!("turns began {begun:?}, and ended {ended:?}"));
    }
    let id = folder.file_name().unwrap().to_string_lossy().into_owned();
    let shown = world.orange(&["task", "show", &id, "--json"], None);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap_or_default();
    let counted = shown["task"]["execution"]["tokens"]["input_tokens"].as_u64();
    let counted = counted.unwrap_or_default();
    let branch = field(&text, "branch").unwrap_or_default();
    let told = fs::read_to_string(world.turns()).unwrap_or_default();
    let told = told
        .lines()
        .filter(|number| branch == format!("task-{number}"));
    let told = told.count() as u64 * TOKENS;
    if counted > told {
        wrong.push(format!("{counted} tokens are counted, {told} were told"));
    }
    wrong
}
