//! One task from its creation to its end: the person who sees to it, and the kills that its plan asks for.

use crate::chance::Chance;
use crate::kills::{Tally, strike};
use crate::phased;
use crate::plan::{Ending, TaskPlan, crash_point, creation_point, phased_point};
use crate::scripts::script;
use crate::state::{State, field};
use crate::world::{Said, World};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A person looks whether something happens before acting; agents and the monitor come first.
const QUIET: Duration = Duration::from_millis(250);
/// So long nothing may happen before the person asks an agent what is going on.
const SILENT: Duration = Duration::from_secs(3);
/// Only a soak that fails waits so long.
const CEILING: Duration = Duration::from_secs(150);
/// Commands about one task that die; the others live, so that every task ends.
const MOST_DEATHS: usize = 5;
/// Attempts to merge one task, those that die included.
const MOST_MERGES: usize = 8;

pub(crate) struct Person<'w> {
    world: &'w World,
    tally: &'w Tally,
    number: usize,
    plan: TaskPlan,
    deaths: usize,
    stuck: usize,
    merges: usize,
    retries: usize,
    acts: usize,
}

impl<'w> Person<'w> {
    pub(crate) fn new(world: &'w World, tally: &'w Tally, seed: u64, number: usize) -> Person<'w> {
        Person {
            world,
            tally,
            number,
            plan: TaskPlan::new(seed, number),
            deaths: 0,
            stuck: 0,
            merges: 0,
            retries: 0,
            acts: 0,
        }
    }

    /// Sees the task through. What went wrong, if it did.
    pub(crate) fn see_through(mut self) -> Result<(), String> {
        self.tally.add(format!("script: {}", self.plan.variant));
        let folder = self.create()?;
        let mut length = 0;
        let mut changed = Instant::now();
        let mut acted = Instant::now();
        loop {
            let now = fs::metadata(folder.join("history.jsonl")).map_or(0, |found| found.len());
            if now != length {
                length = now;
                changed = Instant::now();
            }
            let state = State::read(&folder);
            self.strike(&state);
            if state.is_terminal() {
                self.count_up(&state);
                return Ok(());
            }
            if changed.elapsed() > CEILING || self.acts > 120 {
                return Err(format!(
                    "task {} goes nowhere\n{}",
                    self.number,
                    told(&folder, &state)
                ));
            }
            let quiet = changed.elapsed().min(acted.elapsed());
            if let Some(words) = self.next(&state, quiet) {
                let id = folder.file_name().unwrap().to_string_lossy().into_owned();
                let said = self.orange(&words, &id);
                acted = Instant::now();
                if said.stderr.contains("panicked") || said.code == Some(101) {
                    return Err(format!("orange {words:?} panicked: {}", said.stderr));
                }
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }

    fn count_up(&self, state: &State) {
        self.tally.add(format!("ended: {}", state.status));
        for event in &state.events {
            if let Some(status) = event["to"].as_str() {
                self.tally.add(format!("reached: {status}"));
            }
        }
        if self.world.agent_command_died(self.number) {
            self.tally.add("agent's command died");
        }
    }

    fn create(&mut self) -> Result<PathBuf, String> {
        let plan = &self.plan;
        let (variant, dies) = (plan.variant, plan.agent_dies.as_deref());
        let is_phased = phased::is_phased(variant);
        let harness = self.world.harness(self.number, |ledger| {
            if is_phased {
                phased::script(variant, self.number, ledger)
            } else {
                script(variant, self.number, dies, ledger)
            }
        });
        let more = if is_phased {
            phased::options(variant)
        } else {
            Vec::new()
        };
        let project = plan.project;
        let branch = format!("task-{}", self.number);
        for _ in 0..20 {
            if let Some(folder) = self.find(&branch) {
                return Ok(folder);
            }
            let words = [
                "task",
                "create",
                &branch,
                "Do what is asked",
                "--project",
                project,
                "--harness",
                &harness,
                "--review-harness",
                &harness,
            ];
            let words = [&words[..], &more].concat();
            let dies = self.death(creation_point);
            let said = self.world.orange(&words, dies.as_deref());
            self.note(&said, "create");
        }
        Err(format!("task {} cannot be created", self.number))
    }

    fn find(&self, branch: &str) -> Option<PathBuf> {
        // A creation that died half way is finished by whoever comes next.
        self.world.orange(&["task", "list", "--all"], None);
        self.world.tasks().into_iter().find(|folder| {
            let text = fs::read_to_string(folder.join("TASK.md")).unwrap_or_default();
            field(&text, "branch").as_deref() == Some(branch)
        })
    }

    /// Where the next command dies, if it does.
    fn death(&mut self, point: impl Fn(&mut Chance) -> String) -> Option<String> {
        let chance = &mut self.plan.commands_die;
        let dies = chance.percent(50);
        let point = point(chance);
        (dies && self.deaths < MOST_DEATHS).then_some(point)
    }

    fn orange(&mut self, words: &[&str], id: &str) -> Said {
        self.acts += 1;
        let mut all: Vec<&str> = vec!["task"];
        all.extend_from_slice(&words[..1]);
        all.push(id);
        all.extend_from_slice(&words[1..]);
        let dies = if phased::is_phased(self.plan.variant) {
            self.death(phased_point)
        } else {
            self.death(crash_point)
        };
        let said = self.world.orange(&all, dies.as_deref());
        self.note(&said, words[0]);
        said
    }

    fn note(&mut self, said: &Said, verb: &str) {
        if said.killed {
            self.deaths += 1;
            let point = said
                .stderr
                .lines()
                .rev()
                .find_map(|line| line.strip_prefix("killed at "));
            let point = point.unwrap_or("(from outside)");
            self.tally.add(format!("command died: {point}"));
        } else {
            self.tally.add(format!(
                "command: {verb}, exit code {}",
                said.code.unwrap_or(-1)
            ));
        }
    }

    fn strike(&mut self, state: &State) {
        let due: Vec<usize> = (0..self.plan.kills.len())
            .filter(|at| state.count(self.plan.kills[*at].event) >= self.plan.kills[*at].nth)
            .collect();
        for at in due.into_iter().rev() {
            let kill = self.plan.kills.remove(at);
            if strike(self.world, state, kill.event, kill.target) {
                self.tally.add(format!("killed: {:?}", kill.target));
            }
        }
    }

    /// What a person does where the task stands, if there is something to do.
    fn next(&mut self, state: &State, quiet: Duration) -> Option<Vec<&'static str>> {
        if quiet < QUIET {
            return None;
        }
        if self.plan.ending == Ending::CancelledEarly
            && matches!(state.status.as_str(), "working" | "running")
        {
            return Some(vec!["cancel", "--yes"]);
        }
        let runs = state.runs(&self.world.home());
        let role = match state.status.as_str() {
            "agent-review" => "reviewer",
            _ => "worker",
        };
        let run = runs.iter().rfind(|run| run.role == role);
        match state.status.as_str() {
            "created" | "planned" => (!state.queued || quiet > SILENT * 5).then(|| vec!["run"]),
            "running" => (quiet > SILENT * 5).then(|| vec!["why"]),
            "blocked" => match state.blocked_reason.as_deref() {
                Some("gate") if self.plan.changes_requested && state.count("gate.decided") == 0 => {
                    Some(vec!["reject", "--reason", "make it nicer"])
                }
                Some("gate") => Some(vec!["approve"]),
                Some("input") => Some(vec!["answer", "blue"]),
                _ => None,
            },
            "paused" => Some(vec!["resume"]),
            "failed" => {
                self.retries += 1;
                Some(match self.retries {
                    1 => vec!["retry"],
                    _ => vec!["resolve", "--message", "done by hand"],
                })
            }
            "completed" if self.plan.changes_requested && state.count("completed>planned") == 0 => {
                Some(if self.number.is_multiple_of(8) {
                    vec!["request-changes", "make it nicer"]
                } else {
                    vec!["rewind", "--to", "implement"]
                })
            }
            "pending" => (!state.queued || quiet > SILENT * 5).then(|| vec!["spawn"]),
            "planning" | "working" | "agent-review" if state.failed_hooks() => {
                Some(vec!["retry-hooks"])
            }
            "planning" | "working" | "agent-review" => match run {
                Some(run) if !run.ended && run.is_alive() => {
                    let stalled = quiet > SILENT && run.is_idle();
                    stalled.then(|| vec!["send", "go on", "--role", role])
                }
                // The monitor finds it.
                Some(run) if !run.ended => None,
                Some(_) if role == "reviewer" && quiet < SILENT => None,
                Some(_) => Some(vec!["respawn"]),
                None => (quiet > SILENT).then(|| vec!["respawn"]),
            },
            "clarification" => Some(vec!["update", "--status", "planning"]),
            "stuck" => {
                self.stuck += 1;
                Some(match self.stuck {
                    1 | 2 => vec!["update", "--status", "working"],
                    _ => vec!["update", "--status", "reviewing"],
                })
            }
            "reviewing" if self.plan.changes_requested && state.count("reviewing>working") == 0 => {
                Some(vec!["request-changes", "make it nicer"])
            }
            "reviewing" | "completed" => Some(match self.plan.ending {
                // Some agents commit nothing; then there is nothing to merge.
                Ending::Merged if self.merges < MOST_MERGES => {
                    self.merges += 1;
                    vec!["merge", "--force"]
                }
                Ending::Merged | Ending::Resolved => {
                    vec!["resolve", "--message", "squashed by hand"]
                }
                Ending::Cancelled | Ending::CancelledEarly => vec!["cancel", "--yes"],
            }),
            _ => None,
        }
    }
}

/// A task in words, for a soak that fails.
pub(crate) fn told(folder: &Path, state: &State) -> String {
    let mut text = format!("{}: {}\n", folder.display(), state.status);
    for event in &state.events {
        let line: String = event.to_string().chars().take(260).collect();
        text.push_str(&line);
        text.push('\n');
    }
    text
}
