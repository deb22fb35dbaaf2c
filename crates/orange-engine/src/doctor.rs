//! `doctor`: what is wrong with tasks and databases, what a repair would do, and doing it.

mod agents;
mod harnesses;
mod repositories;
mod workspaces;

pub use harnesses::HarnessFound;

use crate::database::{self, Database};
use crate::engine::Engine;
use crate::error::{Code, Error, Result};
use crate::index::Index;
use crate::index::list::Filter;
use crate::projects;
use orange_core::id::read_stored;
use orange_core::naming::counted;
use orange_core::task::Task;
use std::path::Path;

/// How the advice begins where no repair can decide.
pub const BY_HAND: &str = "by hand";

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file, folder or task it is about.
    pub subject: String,
    pub problem: String,
    /// What `--repair` would do, or did.
    pub repair: Option<String>,
    pub repaired: bool,
}

/// What the check looked at, and what it found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub tasks: usize,
    pub projects: usize,
    pub findings: Vec<Finding>,
    /// The agent CLIs that Orange knows, as they are here.
    pub harnesses: Vec<HarnessFound>,
}

impl Report {
    fn add(&mut self, subject: impl Into<String>, problem: impl Into<String>) -> &mut Finding {
        self.findings.push(Finding {
            subject: subject.into(),
            problem: problem.into(),
            repair: None,
            repaired: false,
        });
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    /// Is there anything left that `--repair` would see to?
    pub fn repairable(&self) -> bool {
        self.findings.iter().any(|finding| {
            let how = finding.repair.as_deref();
            !finding.repaired && how.is_some_and(|how| !how.starts_with(BY_HAND))
        })
    }

    pub fn open(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| !finding.repaired)
            .count()
    }
}

impl Finding {
    fn repair(&mut self, how: impl Into<String>) {
        self.repair = Some(how.into());
    }

    fn done(&mut self, outcome: Result<String>) {
        match outcome {
            Ok(what) => {
                self.repair = Some(what);
                self.repaired = true;
            }
            Err(error) => self.repair = Some(format!("could not be repaired: {error}")),
        }
    }
}

impl Engine {
    pub fn doctor(&mut self, repair: bool) -> Result<Report> {
        if repair {
            self.people_only("repair the home")?;
        }
        let mut report = Report::default();
        if !self.store.home().exists() {
            self.check_harnesses(&mut report);
            return Ok(report);
        }
        self.check_config(&mut report);
        self.check_projects(&mut report, repair);
        self.check_repositories(&mut report);
        self.check_database(&mut report, repair);
        self.check_index(&mut report, repair)?;
        self.check_tasks(&mut report, repair)?;
        self.check_links(&mut report)?;
        self.check_workspaces(&mut report, repair)?;
        self.check_agents(&mut report, repair)?;
        self.check_harnesses(&mut report);
        self.check_leftovers(&mut report, repair);
        Ok(report)
    }

    fn check_config(&self, report: &mut Report) {
        for problem in self.settings_problems() {
            report.add("config.yaml", problem);
        }
    }

    fn check_projects(&mut self, report: &mut Report, repair: bool) {
        match self.projects() {
            Ok(known) => {
                report.projects = known.len();
                for project in known {
                    if !project.path.is_dir() {
                        report
                            .add(
                                format!("project {}", project.name),
                                format!("its repository {} is not there", project.path.display()),
                            )
                            .repair(format!(
                                "by hand: `orange project update {} --path NEW`",
                                project.name
                            ));
                    }
                }
            }
            Err(error) => {
                let finding = report.add("projects.json", error.message);
                finding.repair(
                    "sets the file aside; projects are registered again with `orange project add`",
                );
                if repair {
                    let stamp = self.file_stamp();
                    let outcome = set_aside(&self.store.projects_file(), &stamp)
                        .and_then(|aside| {
                            projects::write(&self.store, &[]).map(|()| {
                                format!("set aside as {aside}; register projects again with `orange project add`")
                            })
                        });
                    finding.done(outcome);
                }
            }
        }
    }

    fn check_database(&mut self, report: &mut Report, repair: bool) {
        let home = self.store.home().to_owned();
        if !Database::path_in(&home).exists() {
            return;
        }
        let problem = match Database::open(&home) {
            Ok(database) => match database.check() {
                Ok(()) => return,
                Err(problem) => problem,
            },
            Err(error) if error.code == Code::Damaged => error.message,
            Err(error) => {
                report.add("orange.db", error.message);
                return;
            }
        };
        let finding = report.add("orange.db", problem);
        finding.repair("sets the file aside and restores the last backup; task keys are counted anew from the folders");
        if repair {
            let stamp = self.file_stamp();
            let repaired = database::repair(&home, &stamp);
            // The backup may be older than the newest tasks, and those may lie in the trash.
            finding.done(repaired.and_then(|what| self.raise_counters().map(|()| what)));
        }
    }

    fn check_index(&mut self, report: &mut Report, repair: bool) -> Result<()> {
        let index = Index::open(&self.store)?;
        let Err(problem) = index.check() else {
            return Ok(());
        };
        let finding = report.add("index.db", problem);
        finding.repair("rebuilds it from the task folders");
        if repair {
            let rebuilt = index.rebuild();
            finding.done(rebuilt.map(|count| format!("rebuilt from {count} task folders")));
        }
        Ok(())
    }

    fn check_tasks(&mut self, report: &mut Report, repair: bool) -> Result<()> {
        let all = Filter {
            all: true,
            ..Filter::default()
        };
        // Every folder is read: the index looks only at TASK.md, and a journal may be damaged too.
        self.fresh_index()?.reread()?;
        let tasks = self.listed(&all)?;
        report.tasks = tasks.len();
        for task in &tasks {
            let subject = task.key.map_or(task.folder.clone(), |key| {
                format!("{}:{key} ({})", task.project, task.folder)
            });
            if let Some(reason) = &task.damaged {
                let finding = report.add(&subject, reason);
                finding.repair(
                    "keeps the damaged file beside it and rebuilds TASK.md from history.jsonl; the body is kept as far as it can be read",
                );
                if repair {
                    let place = self.store.place(&task.folder);
                    let outcome = self.lock_for_repair(place).map(|locked| {
                        format!("rebuilt; {} is {}", locked.task.label(), locked.task.status)
                    });
                    finding.done(outcome);
                }
            }
            // A cancelled dependency is a state, not damage.
            if let Some(attention) = task
                .attention
                .as_ref()
                .filter(|text| text.contains(".jsonl"))
            {
                report.add(&subject, attention).repair(format!(
                    "{BY_HAND}: the task works without it; correct or remove the line in {}",
                    self.store.place(&task.folder).journal().display()
                ));
            }
        }
        for (what, folders) in self.index()?.doubles()? {
            report
                .add(what, format!("is claimed by {}", folders.join(" and ")))
                .repair("by hand: move one of the folders out of tasks/");
        }
        Ok(())
    }

    /// Dependencies on tasks that do not exist, and cycles made by hand.
    fn check_links(&mut self, report: &mut Report) -> Result<()> {
        let all = Filter {
            with_fields: true,
            ..Filter::default()
        };
        let mut cycles_seen: Vec<Vec<String>> = Vec::new();
        for row in self.listed(&all)? {
            let task: Task = task_of(&row.fields);
            let Some(key) = row.key else { continue };
            for reference in &task.blocked_by {
                let known = match read_stored(&row.project, reference) {
                    Some((project, blocker)) => {
                        if let Some(mut cycle) =
                            self.cycle_through(&row.project, key, &project, blocker)?
                        {
                            cycle.pop();
                            cycle.sort();
                            if !cycles_seen.contains(&cycle) {
                                report
                                    .add(
                                        format!("{}:{key}", row.project),
                                        format!("waits for itself: {}", cycle.join(", ")),
                                    )
                                    .repair("by hand: `orange task update --remove-blocker`");
                                cycles_seen.push(cycle);
                            }
                        }
                        self.index()?.by_key(&project, blocker)?.is_some()
                    }
                    None => false,
                };
                if !known {
                    report
                        .add(
                            format!("{}:{key}", row.project),
                            format!("waits for {reference}, which does not exist"),
                        )
                        .repair(format!(
                            "by hand: `orange task update {key} --remove-blocker {reference}`"
                        ));
                }
            }
        }
        Ok(())
    }

    /// Half-made folders of dead processes, and trash that is past its time.
    fn check_leftovers(&mut self, report: &mut Report, repair: bool) {
        for project in folders_in(self.store.tasks()) {
            for folder in folders_in(&project) {
                let name = folder
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                let Some(name) = name.filter(|name| name.starts_with(".new-")) else {
                    continue;
                };
                if self
                    .store
                    .marked()
                    .iter()
                    .any(|place| name.ends_with(&place.name))
                {
                    continue;
                }
                let finding = report.add(
                    folder.display().to_string(),
                    "a task whose making was interrupted",
                );
                finding.repair("removes it; nothing was reported as created");
                if repair {
                    let outcome = std::fs::remove_dir_all(&folder)
                        .map(|()| "removed".to_owned())
                        .map_err(|error| Error::io("remove", &folder, &error));
                    finding.done(outcome);
                }
            }
        }
        let old = self.old_trash();
        if !old.is_empty() {
            let finding = report.add(
                "trash",
                format!(
                    "{} lay there for more than 30 days",
                    counted(old.len(), "deleted task")
                ),
            );
            finding.repair("removes them for good");
            if repair {
                self.empty_old_trash();
                finding.done(Ok(format!("{} removed", old.len())));
            }
        }
    }
}

/// A row's fields as a task; what cannot be read stays at its default.
fn task_of(fields: &str) -> Task {
    let mut task = Task::default();
    if let Ok(serde_json::Value::Object(map)) = serde_json::from_str(fields) {
        for (name, value) in map {
            if let Some(field) = orange_core::task::Field::from_name(&name) {
                let _ = task.set(field, value);
            }
        }
    }
    task
}

fn folders_in(parent: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(parent)
        .map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.is_dir())
                .collect()
        })
        .unwrap_or_default()
}

fn set_aside(path: &Path, stamp: &str) -> Result<String> {
    let name = format!(
        "{}.damaged-{stamp}",
        path.file_name()
            .map(|name| name.to_string_lossy())
            .unwrap_or_default()
    );
    std::fs::rename(path, path.with_file_name(&name))
        .map_err(|error| Error::io("set aside", path, &error))?;
    Ok(name)
}
