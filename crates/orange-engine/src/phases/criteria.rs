//! What a phase has to meet besides its agent's word: looked at after every turn, in the slot, on the commit that was made after
//! it; and once more in a clean worktree before the phase counts. Results are kept per commit.

use crate::background::check::{self, Check, InSlot};
use crate::call;
use crate::error::Result;
use crate::execution::rules::{self, Checker};
use crate::git;
use crate::phases::executor::Executor;
use crate::projects::Project;
use crate::rules::{Rules, rules_commit};
use crate::workspaces::consents;
use crate::{person_environment, started_by};
use orange_core::verification::{CheckResult, Outcome};
use orange_core::work::criterion::Criterion;
use orange_core::work::execution::CriterionResult;
use orange_core::work::plan::PlannedPhase;
use orange_sys::file_end::file_end;
use std::path::Path;

/// So many bytes at the end of a log are searched for a percentage.
const LOG_END: u64 = 256 * 1024;

/// A commit, and what its criteria are checked with.
struct Checking<'a> {
    this: &'a Executor<'a>,
    project: Project,
    rules: Rules,
    commit: &'a str,
    /// Where the work began.
    base: String,
}

/// What a look at the criteria of a phase came to.
pub(super) enum Checked {
    All(Vec<CriterionResult>),
    /// The executor is to stop.
    Stopped,
    /// A check cannot run on this machine; why. No turn of an agent changes that.
    Impossible(String),
}

/// Looks at every criterion of a phase.
pub(super) fn check(this: &Executor<'_>, phase: &PlannedPhase, commit: &str) -> Result<Checked> {
    let checking = Checking::of(this, commit)?;
    let mut results = Vec::new();
    for criterion in &phase.completion_criteria {
        match checking.in_slot(criterion)? {
            Looked::Result(result) => results.push(result),
            Looked::NoCommand => {}
            Looked::Stopped => return Ok(Checked::Stopped),
            Looked::Impossible(why) => return Ok(Checked::Impossible(why)),
        }
    }
    Ok(Checked::All(results))
}

/// The last look before a phase counts: what passed in the slot passes in a worktree that has nothing but the commit.
pub(super) fn check_clean(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    commit: &str,
    results: Vec<CriterionResult>,
) -> Result<Checked> {
    let checking = Checking::of(this, commit)?;
    let mut last = Vec::new();
    for result in results {
        let mut criteria = phase.completion_criteria.iter();
        let criterion = criteria.find(|criterion| criterion.to_string() == result.criterion);
        let passed = result.passed == Some(true);
        match criterion.filter(|_| passed) {
            Some(criterion) => match checking.in_clean_worktree(criterion)? {
                Looked::Result(clean) => last.push(clean),
                Looked::NoCommand => last.push(result),
                Looked::Stopped => return Ok(Checked::Stopped),
                Looked::Impossible(why) => return Ok(Checked::Impossible(why)),
            },
            None => last.push(result),
        }
    }
    Ok(Checked::All(last))
}

/// What a look at one criterion came to.
enum Looked {
    Result(CriterionResult),
    /// Nothing is run for it.
    NoCommand,
    Stopped,
    Impossible(String),
}

impl<'a> Checking<'a> {
    fn of(this: &'a Executor<'a>, commit: &'a str) -> Result<Checking<'a>> {
        let call = this.call;
        let project = call::registered(call, &this.task.project)?;
        let base = rules_commit::rules_commit(call, &project, &this.task)?;
        let rules = consents::repository_rules(call, &project, &base)?;
        Ok(Checking {
            this,
            project,
            rules,
            commit,
            base,
        })
    }

    fn in_slot(&self, criterion: &Criterion) -> Result<Looked> {
        let (call, slot) = (self.this.call, &self.this.slot);
        if let Criterion::FilesExist(files) = criterion {
            return self.files_exist(criterion, files).map(Looked::Result);
        }
        let Some(checker) = rules::checker(criterion, &self.rules) else {
            return Ok(Looked::NoCommand);
        };
        let why_not = checker.why_not(call, &self.project, criterion, slot)?;
        if let Some(why) = why_not {
            return Ok(Looked::Result(CriterionResult::new(criterion, None, why)));
        }
        let name = slot.file_name().unwrap_or_default().to_string_lossy();
        let in_slot = InSlot {
            folder: slot,
            name: &name,
        };
        let setting = checker.setting;
        let rules = self.rules_with(checker);
        let result = self.with_check(&rules, |check| {
            check::check_in_slot(call, check, self.commit, &in_slot)
        })?;
        let Some(result) = result else {
            return Ok(Looked::Stopped);
        };
        // Whether the agent removed what its check needs, or this machine never had it, is told by the commit it began from.
        if result.program_is_missing() {
            let on_base =
                self.with_check(&rules, |check| check::check_clean(call, check, &self.base))?;
            match on_base {
                None => return Ok(Looked::Stopped),
                Some(on_base) if on_base.program_is_missing() => {
                    let command = on_base.command.unwrap_or_default();
                    return Ok(Looked::Impossible(format!(
                        "{setting} cannot run: `{command}` ends with {}, also where the task began: a program is missing",
                        on_base.reason
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(Looked::Result(criterion_result(criterion, &result)))
    }

    fn in_clean_worktree(&self, criterion: &Criterion) -> Result<Looked> {
        let Some(checker) = rules::checker(criterion, &self.rules) else {
            return Ok(Looked::NoCommand);
        };
        let rules = self.rules_with(checker);
        let result = self.with_check(&rules, |check| {
            check::check_clean(self.this.call, check, self.commit)
        })?;
        Ok(result.map_or(Looked::Stopped, |result| {
            Looked::Result(criterion_result(criterion, &result))
        }))
    }

    fn with_check<T>(&self, rules: &Rules, work: impl FnOnce(&Check<'_>) -> T) -> T {
        let call = self.this.call;
        let known = started_by::environment_of(call, &self.this.task.id);
        let minimal = known.is_none();
        let person =
            known.unwrap_or_else(|| person_environment::minimal(call.user_home.as_deref()));
        work(&Check {
            project: &self.project,
            rules,
            target: self.this.task.target(&self.project.default_branch),
            again: false,
            person: &person,
            minimal,
            wanted: &|| !self.this.run.is_to_stop(),
        })
    }

    /// The rules of the project with the commands of one criterion as its check.
    fn rules_with(&self, checker: Checker) -> Rules {
        Rules {
            verify: checker.commands,
            ..self.rules.clone()
        }
    }

    /// Looks for files in the commit: what is ignored, or leads out of the slot, is not part of the work.
    fn files_exist(&self, criterion: &Criterion, files: &[String]) -> Result<CriterionResult> {
        let mut missing = Vec::new();
        for file in files {
            if !git::has_path(&self.this.slot, self.commit, file)? {
                missing.push(file.as_str());
            }
        }
        let detail = match missing.as_slice() {
            [] => String::new(),
            missing => format!("not there: {}", missing.join(", ")),
        };
        Ok(CriterionResult::new(
            criterion,
            Some(missing.is_empty()),
            detail,
        ))
    }
}

fn criterion_result(criterion: &Criterion, result: &CheckResult) -> CriterionResult {
    let mut passed = match result.outcome {
        Outcome::Passed => Some(true),
        Outcome::Failed | Outcome::TimedOut => Some(false),
        Outcome::NotRun => None,
    };
    let mut detail = match passed {
        Some(true) => result.words(),
        Some(false) => result.report(),
        None => result.reason.clone(),
    };
    if let (Criterion::CoverageAbove(wanted), Some(true)) = (criterion, passed) {
        match result.log.as_deref().and_then(percentage_in) {
            Some(found) => {
                passed = Some(found >= f64::from(*wanted));
                detail = format!("coverage is {found} %");
            }
            None => {
                passed = None;
                detail = "verify.coverage printed no percentage".to_owned();
            }
        }
    }
    CriterionResult::new(criterion, passed, detail)
}

/// The last percentage that a log names.
fn percentage_in(log: &str) -> Option<f64> {
    let text = file_end(Path::new(log), LOG_END)?;
    let mut newest_first = text.lines().rev();
    newest_first.find_map(last_percentage)
}

fn last_percentage(line: &str) -> Option<f64> {
    let ends = line.match_indices('%').map(|(at, _)| at);
    let numbers = ends.filter_map(|end| {
        let before = line.get(..end)?.trim_end();
        let is_part = |c: char| c.is_ascii_digit() || c == '.';
        let start = before.trim_end_matches(is_part).len();
        before.get(start..)?.parse::<f64>().ok()
    });
    let mut last_first = numbers.rev();
    last_first.find(|number| (0.0..=100.0).contains(number))
}

#[cfg(test)]
mod tests {
    use super::last_percentage;

    #[test]
    fn the_last_percentage_of_a_line_counts() {
        for (line, found) in [
            ("coverage: 81.5% of statements", Some(81.5)),
            ("TOTAL  120  12  90%", Some(90.0)),
            ("line 12 %, branch 7.25 %", Some(7.25)),
            ("é85%", Some(85.0)),
            ("500% of what was asked", None),
            ("no figure %", None),
            ("", None),
        ] {
            assert_eq!(last_percentage(line), found, "{line}");
        }
    }
}
