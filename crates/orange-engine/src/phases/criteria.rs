//! What a phase has to meet besides its agent's word: looked at after every turn, in the slot, on the commit that was made after
//! it; and once more in a clean worktree before the phase counts. Results are kept per commit.

use crate::background::check::{self, Check, InSlot};
use crate::call;
use crate::error::Result;
use crate::execution::rules::{no_command, no_consent};
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
}

/// Looks at every criterion of a phase. None when the executor is to stop.
pub(super) fn check(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    commit: &str,
) -> Result<Option<Vec<CriterionResult>>> {
    let checking = Checking::of(this, commit)?;
    let mut results = Vec::new();
    for criterion in &phase.completion_criteria {
        let Some(result) = checking.in_slot(criterion)? else {
            return Ok(None);
        };
        results.extend(result);
    }
    Ok(Some(results))
}

/// The last look before a phase counts: what passed in the slot passes in a worktree that has nothing but the commit. None when
/// the executor is to stop.
pub(super) fn check_clean(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    commit: &str,
    results: Vec<CriterionResult>,
) -> Result<Option<Vec<CriterionResult>>> {
    let checking = Checking::of(this, commit)?;
    let mut last = Vec::new();
    for result in results {
        let criterion = phase
            .completion_criteria
            .iter()
            .find(|criterion| criterion.to_string() == result.criterion);
        let passed = result.passed == Some(true);
        match criterion.filter(|_| passed) {
            Some(criterion) => match checking.in_clean_worktree(criterion)? {
                Clean::Stopped => return Ok(None),
                Clean::Nothing => last.push(result),
                Clean::Result(clean) => last.push(clean),
            },
            None => last.push(result),
        }
    }
    Ok(Some(last))
}

enum Clean {
    Stopped,
    /// The criterion has no command.
    Nothing,
    Result(CriterionResult),
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
        })
    }

    /// The outer None: the executor is to stop. The inner one: it is the agent's word alone.
    fn in_slot(&self, criterion: &Criterion) -> Result<Option<Option<CriterionResult>>> {
        if *criterion == Criterion::AgentConfirms {
            return Ok(Some(None));
        }
        if let Criterion::FilesExist(files) = criterion {
            return Ok(Some(Some(self.files_exist(criterion, files))));
        }
        let rules = match self.rules_for(criterion)? {
            Ok(rules) => rules,
            Err(why) => return Ok(Some(Some(unchecked(criterion, why)))),
        };
        let Some(name) = self.this.slot.file_name() else {
            return Ok(Some(Some(unchecked(
                criterion,
                "it has no slot".to_owned(),
            ))));
        };
        let name = name.to_string_lossy();
        let slot = InSlot {
            folder: &self.this.slot,
            name: &name,
        };
        let result = self.with_check(&rules, |check| {
            check::check_in_slot(self.this.call, check, self.commit, &slot)
        })?;
        Ok(result.map(|result| Some(told(criterion, &result))))
    }

    fn in_clean_worktree(&self, criterion: &Criterion) -> Result<Clean> {
        if matches!(
            criterion,
            Criterion::AgentConfirms | Criterion::FilesExist(_)
        ) {
            return Ok(Clean::Nothing);
        }
        let Ok(rules) = self.rules_for(criterion)? else {
            return Ok(Clean::Nothing);
        };
        let result = self.with_check(&rules, |check| {
            check::check_clean(self.this.call, check, self.commit)
        })?;
        Ok(match result {
            None => Clean::Stopped,
            Some(result) => Clean::Result(told(criterion, &result)),
        })
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

    /// The rules of the repository with the commands of this criterion as its check; why there are none, or none that may run.
    fn rules_for(&self, criterion: &Criterion) -> Result<std::result::Result<Rules, String>> {
        let rules = &self.rules;
        let foreign = &rules.foreign;
        let mut of_repository = foreign.of_workspace();
        let (verify, setting) = match criterion {
            Criterion::AllTestsPass => {
                of_repository.verify.clone_from(&foreign.verify);
                (&rules.verify, "verify.command")
            }
            Criterion::NoLintErrors => {
                of_repository.lint.clone_from(&foreign.lint);
                (&rules.lint, "verify.lint")
            }
            Criterion::CoverageAbove(_) => {
                of_repository.coverage.clone_from(&foreign.coverage);
                (&rules.coverage, "verify.coverage")
            }
            Criterion::Command(command) => {
                // A plan may have it from the repository, whoever else wrote it too.
                if foreign.plans.contains(command) {
                    of_repository.plans.clone_from(&foreign.plans);
                }
                (&vec![command.clone()], "the plan's command")
            }
            Criterion::AgentConfirms | Criterion::FilesExist(_) => {
                return Ok(Err("it has no command".to_owned()));
            }
        };
        if verify.is_empty() {
            return Ok(Err(no_command(setting, criterion, &self.this.slot)));
        }
        if !consents::is_trusted(self.this.call, &self.project.name, &of_repository)? {
            return Ok(Err(no_consent(setting)));
        }
        Ok(Ok(Rules {
            verify: verify.clone(),
            ..rules.clone()
        }))
    }

    fn files_exist(&self, criterion: &Criterion, files: &[String]) -> CriterionResult {
        let missing = files
            .iter()
            .filter(|file| !self.this.slot.join(file).exists());
        let missing: Vec<&str> = missing.map(String::as_str).collect();
        CriterionResult {
            criterion: criterion.to_string(),
            passed: Some(missing.is_empty()),
            detail: match missing.as_slice() {
                [] => String::new(),
                missing => format!("not there: {}", missing.join(", ")),
            },
        }
    }
}

fn unchecked(criterion: &Criterion, why: String) -> CriterionResult {
    CriterionResult {
        criterion: criterion.to_string(),
        passed: None,
        detail: why,
    }
}

fn told(criterion: &Criterion, result: &CheckResult) -> CriterionResult {
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
    CriterionResult {
        criterion: criterion.to_string(),
        passed,
        detail,
    }
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
