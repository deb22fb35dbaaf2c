//! `doctor`: what is wrong with the machine, the home and what is in it, what a repair would do, and doing it. A file per group of
//! checks, listed in `CHECKS`; here is what they share. Only front ends call it.

pub mod access;
pub mod agents;
pub mod databases;
pub mod disk;
pub mod evidence;
pub mod git_leftovers;
pub mod harnesses;
pub mod home;
pub mod leaving;
pub mod leftovers;
pub mod machine;
pub mod phased;
pub mod processes;
pub mod registry;
pub mod repositories;
pub mod sessions;
pub mod tasks;
pub mod workspaces;

use crate::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::views::doctor::{CheckGroup, DoctorFinding, DoctorReport, Remark, RemarkTone};
use crate::{home_record, settings};
use orange_core::task::Task;
use orange_core::{Action, Text, Timestamp, text};
use orange_sys::listing;
use orange_sys::time_limit::LimitOfThread;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl DoctorReport {
    /// A problem of which nothing says what to do.
    fn add(
        &mut self,
        subject: impl Into<String>,
        problem: impl Into<String>,
    ) -> &mut DoctorFinding {
        self.findings.push(DoctorFinding {
            group: self.group,
            subject: subject.into(),
            problem: problem.into(),
            repair: None,
            by_hand: false,
            repaired: false,
        });
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    /// A problem that a person has to see to.
    fn by_hand(
        &mut self,
        subject: impl Into<String>,
        problem: impl Into<String>,
        how: impl Into<Text>,
    ) {
        let finding = self.add(subject, problem);
        finding.repair = Some(text!("by hand: {}", how));
        finding.by_hand = true;
    }

    /// A problem that can be repaired, and `how`. With `--repair` that is done, and the finding says what became of it.
    fn repair<T: Into<Text>>(
        &mut self,
        subject: impl Into<String>,
        problem: impl Into<String>,
        how: impl Into<Text>,
        repair: impl FnOnce() -> Result<T>,
    ) {
        let outcome = self.repairs.then(repair);
        let finding = self.add(subject, problem);
        finding.repaired = outcome.as_ref().is_some_and(Result::is_ok);
        finding.repair = Some(match outcome {
            None => how.into(),
            Some(Ok(what)) => what.into(),
            Some(Err(error)) => format!("could not be repaired: {error}").into(),
        });
    }

    /// What an error says, and its hint.
    fn add_error(&mut self, subject: impl Into<String>, error: Error) {
        match error.hint {
            Some(hint) => self.by_hand(subject, error.message, hint),
            None => {
                self.add(subject, error.message);
            }
        }
    }

    /// The outcome of a look at something. What could not be found out is neither fine nor wrong, and said once.
    fn checked<T>(&mut self, subject: &str, outcome: Result<T>) -> Option<T> {
        let error = match outcome {
            Ok(found) => return Some(found),
            Err(error) => error,
        };
        let problem = format!("could not be checked: {}", error.message);
        let same = |known: &DoctorFinding| known.subject == subject && known.problem == problem;
        if !self.findings.iter().any(same) {
            let how = error.hint;
            let how = how.unwrap_or_else(|| "fix the cause, then run this again".into());
            self.by_hand(subject, problem, how);
        }
        None
    }

    fn fine(&mut self, text: impl Into<Text>) {
        self.remark(text.into(), None, RemarkTone::Fine);
    }

    fn note(&mut self, text: impl Into<Text>) {
        self.remark(text.into(), None, RemarkTone::Note);
    }

    fn aside(&mut self, text: impl Into<Text>) {
        self.remark(text.into(), None, RemarkTone::Aside);
    }

    fn remark(&mut self, text: Text, time: Option<Timestamp>, tone: RemarkTone) {
        self.remarks.push(Remark {
            group: self.group,
            text,
            time,
            tone,
        });
    }

    /// Whether something is wrong with this, still.
    fn is_open(&self, subject: &str) -> bool {
        let mut found = self.findings.iter();
        found.any(|finding| finding.subject == subject && !finding.repaired)
    }

    /// Whether nothing was found in the group at hand.
    fn is_clean(&self) -> bool {
        let mut found = self.findings.iter();
        !found.any(|finding| finding.group == self.group)
    }

    /// For a copy of a home, in which every command that changes something is refused.
    fn withdraw_repairs(&mut self) {
        let of_home = |finding: &&mut DoctorFinding| finding.group != CheckGroup::Machine;
        for finding in self.findings.iter_mut().filter(of_home) {
            finding.repair = None;
        }
    }
}

/// One check of one group.
type DoctorCheck = fn(&Call, &mut DoctorReport) -> Result<()>;

/// What is looked at in a home, in this order; and whether that needs a git that answers.
const CHECKS: &[(CheckGroup, bool, DoctorCheck)] = &[
    (CheckGroup::Home, false, check_config),
    (CheckGroup::Home, false, registry::check_projects),
    (CheckGroup::Home, true, repositories::check_repositories),
    (CheckGroup::Databases, false, databases::check_databases),
    (CheckGroup::Tasks, false, tasks::check_tasks),
    (CheckGroup::Tasks, false, tasks::check_links),
    (CheckGroup::Tasks, false, evidence::check_evidence),
    (CheckGroup::Tasks, false, phased::check_plans),
    // After these, since the index is asked: what is wrong with it must have been found.
    (CheckGroup::Home, false, registry::check_unregistered),
    (CheckGroup::Processes, false, processes::check_runs),
    (CheckGroup::Processes, false, phased::check_claims),
    (CheckGroup::Sessions, false, sessions::check_sessions),
    (CheckGroup::Sessions, false, agents::check_agents),
    (CheckGroup::Processes, false, processes::check_processes),
    // After these: nobody may live in a slot that is given back.
    (CheckGroup::Pool, true, workspaces::check_workspaces),
    (CheckGroup::Leftovers, false, leftovers::check_leftovers),
    (CheckGroup::Leftovers, false, phased::check_transcripts),
    (
        CheckGroup::Leftovers,
        true,
        git_leftovers::check_git_leftovers,
    ),
];

/// How long git may take over one question; a repair takes the time it needs.
const GIT_TIMEOUT: Duration = Duration::from_secs(30);

/// Looks at everything, and with `repair` mends what can be mended. With `measure` slots are measured too.
pub fn doctor(call: &Call, repair: bool, measure: bool) -> Result<DoctorReport> {
    if repair {
        crate::access::people_only(call, "repair the home")?;
    }
    let _limit = (!repair).then(|| LimitOfThread::set(Some(GIT_TIMEOUT)));
    let mut report = DoctorReport {
        repairs: repair,
        ..DoctorReport::default()
    };
    let has_git = machine::check_programs(call, &mut report);
    report.group = CheckGroup::Home;
    if !home::check_home(call, &mut report) {
        report.group = CheckGroup::Machine;
        harnesses::check_harnesses(call, &mut report);
        return Ok(report);
    }
    for (group, needs_git, check) in CHECKS {
        if *needs_git && !has_git {
            continue;
        }
        report.group = *group;
        // What is wrong with one thing must not hide what is wrong with another.
        if let Err(error) = check(call, &mut report) {
            let problem = format!("could not be looked at: {}", error.message);
            let how = error.hint;
            let how = how.unwrap_or_else(|| "see the other findings".into());
            report.by_hand(group.as_str(), problem, how);
        }
    }
    report.group = CheckGroup::Machine;
    harnesses::check_harnesses(call, &mut report);
    report.group = CheckGroup::Disk;
    disk::measure_disk(call, &mut report, measure, has_git);
    report.copy_of = home_record::copied_from(call).map(Path::to_owned);
    if report.copy_of.is_some() {
        report.withdraw_repairs();
    }
    Ok(report)
}

fn check_config(call: &Call, report: &mut DoctorReport) -> Result<()> {
    for problem in settings::settings_problems(call) {
        let how = text!("{} opens it", Action::edit_settings());
        report.by_hand("config.yaml", problem, how);
    }
    Ok(())
}

/// A row's fields as a task; what cannot be read stays at its default.
pub(crate) fn task_of(fields: &str) -> Task {
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

/// What is wrong with a file, without its path: the finding names it.
pub(crate) fn without_path(problem: &str, path: &Path) -> String {
    let named = format!("{} ", path.display());
    problem.strip_prefix(&named).unwrap_or(problem).to_owned()
}

/// Folders in a folder, and links to some.
pub(crate) fn folders_in(parent: &Path) -> Vec<PathBuf> {
    let mut found = listing::entries(parent);
    found.retain(|path| path.is_dir());
    found
}

pub(crate) fn set_aside(path: &Path, stamp: &str) -> Result<String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = format!("{name}.damaged-{stamp}");
    std::fs::rename(path, path.with_file_name(&name)).doing("set aside", path)?;
    Ok(name)
}

/// The first few, and how many more.
pub(crate) fn some_of(names: &[String]) -> String {
    const NAMED: usize = 5;
    match names.split_at_checked(NAMED) {
        Some((shown, more)) if !more.is_empty() => {
            format!("{} and {} more", shown.join(", "), more.len())
        }
        _ => names.join(", "),
    }
}
