//! What a phase has to meet besides its agent's word: looked at after every turn, on the commit that was made after it, in the slot
//! that has it; and once more in a clean worktree before the phase counts. Results are kept per commit.

use crate::background::check::{self, Check, InSlot, Measured};
use crate::call;
use crate::error::Result;
use crate::execution::rules::{self, Checker};
use crate::git;
use crate::phases::executor::Executor;
use crate::phases::progress::Progress;
use crate::projects::Project;
use crate::rules::{Rules, rules_commit};
use crate::workspaces::consents;
use crate::{person_environment, started_by};
use orange_core::verification::{CheckOutcome, CheckResult};
use orange_core::work::criterion::Criterion;
use orange_core::work::execution::CriterionResult;
use orange_core::work::plan::PlannedPhase;

/// A commit, and what its criteria are checked with.
struct Checking<'a> {
    this: &'a Executor<'a>,
    project: Project,
    rules: Rules,
    commit: &'a str,
    /// Whether the slot has that commit checked out. Somebody else may have committed since: what the slot holds then says nothing
    /// of this commit.
    is_in_slot: bool,
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
        checking.tell(criterion, false);
        match checking.in_slot(criterion)? {
            CriterionLook::Result(result) => {
                (this.show)(Progress::Checked(&result));
                results.push(result);
            }
            CriterionLook::NoCommand => {}
            CriterionLook::Stopped => return Ok(Checked::Stopped),
            CriterionLook::Impossible(why) => return Ok(Checked::Impossible(why)),
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
            Some(criterion) => {
                checking.tell(criterion, true);
                match checking.in_clean_worktree(criterion)? {
                    CriterionLook::Result(clean) => {
                        (this.show)(Progress::Checked(&clean));
                        last.push(clean);
                    }
                    CriterionLook::NoCommand => last.push(result),
                    CriterionLook::Stopped => return Ok(Checked::Stopped),
                    CriterionLook::Impossible(why) => return Ok(Checked::Impossible(why)),
                }
            }
            None => last.push(result),
        }
    }
    Ok(Checked::All(last))
}

/// What a look at one criterion came to.
enum CriterionLook {
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
        let is_in_slot = git::commit_of(&this.slot, "HEAD")?.unwrap_or_default() == commit;
        Ok(Checking {
            this,
            is_in_slot,
            project,
            rules,
            commit,
            base,
        })
    }

    fn tell(&self, criterion: &Criterion, clean: bool) {
        // Where no command runs, it takes no time.
        let checker = rules::checker(criterion, &self.rules);
        if checker.is_some_and(|checker| !checker.commands.is_empty()) {
            (self.this.show)(Progress::Checking { criterion, clean });
        }
    }

    fn in_slot(&self, criterion: &Criterion) -> Result<CriterionLook> {
        let (call, slot) = (self.this.call, &self.this.slot);
        if let Criterion::FilesExist(files) = criterion {
            return self
                .files_exist(criterion, files)
                .map(CriterionLook::Result);
        }
        let Some(checker) = rules::checker(criterion, &self.rules) else {
            return Ok(CriterionLook::NoCommand);
        };
        let why_not = checker.why_not(call, &self.project, criterion, slot)?;
        if let Some(why) = why_not {
            return Ok(CriterionLook::Result(CriterionResult::new(
                criterion, None, why,
            )));
        }
        let name = slot.file_name().unwrap_or_default().to_string_lossy();
        let in_slot = InSlot {
            folder: &call.site(slot),
            name: &name,
        };
        let setting = checker.setting;
        let rules = self.rules_with(checker);
        let found = self.with_check(&rules, |check| {
            if self.is_in_slot {
                check::check_in_slot(call, check, self.commit, &in_slot)
            } else {
                check::check_clean(call, check, self.commit)
            }
        })?;
        let Some((result, measured)) = found else {
            return Ok(CriterionLook::Stopped);
        };
        // Whether the agent removed what its check needs, or this machine never had it, is told by the commit it began from.
        if result.program_is_missing() {
            let on_base =
                self.with_check(&rules, |check| check::check_clean(call, check, &self.base))?;
            match on_base {
                None => return Ok(CriterionLook::Stopped),
                Some((on_base, _)) if on_base.program_is_missing() => {
                    let command = on_base.command.unwrap_or_default();
                    return Ok(CriterionLook::Impossible(format!(
                        "{setting} cannot run: `{command}` ends with {}, also where the task began: a program is missing",
                        on_base.reason
                    )));
                }
                Some(_) => {}
            }
        }
        Ok(looked_at(criterion, setting, (&result, &measured)))
    }

    fn in_clean_worktree(&self, criterion: &Criterion) -> Result<CriterionLook> {
        let Some(checker) = rules::checker(criterion, &self.rules) else {
            return Ok(CriterionLook::NoCommand);
        };
        let setting = checker.setting;
        let rules = self.rules_with(checker);
        let found = self.with_check(&rules, |check| {
            check::check_clean(self.this.call, check, self.commit)
        })?;
        Ok(found.map_or(CriterionLook::Stopped, |(result, measured)| {
            looked_at(criterion, setting, (&result, &measured))
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
            if !git::has_path(&self.project.path, self.commit, file)? {
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

/// What a result says of a criterion. A check that could not be run says nothing, and no turn of an agent changes that.
fn looked_at(
    criterion: &Criterion,
    setting: &str,
    (result, measured): (&CheckResult, &Measured),
) -> CriterionLook {
    let (passed, detail) = match result.outcome {
        CheckOutcome::Passed => (true, result.words()),
        CheckOutcome::Failed | CheckOutcome::TimedOut => (false, result.report()),
        CheckOutcome::NotRun => {
            return CriterionLook::Impossible(format!(
                "{setting} could not be run: {}",
                result.reason
            ));
        }
    };
    let (passed, detail) = match criterion {
        Criterion::CoverageAbove(wanted) if passed => coverage(*wanted, measured),
        _ => (passed, detail),
    };
    CriterionLook::Result(CriterionResult::new(criterion, Some(passed), detail))
}

fn coverage(wanted: u8, measured: &Measured) -> (bool, String) {
    let printed = measured.percentage.as_deref();
    let number = printed.and_then(|text| text.parse::<f64>().ok());
    match printed.zip(number) {
        Some((text, number)) => (number >= f64::from(wanted), format!("coverage is {text} %")),
        // A command that measures nothing would let every phase pass.
        None => (
            false,
            "verify.coverage printed no percentage; it has to print one, such as 81.5%".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(outcome: CheckOutcome) -> CheckResult {
        CheckResult {
            outcome,
            reason: "not started: no memory".into(),
            ..CheckResult::default()
        }
    }

    #[test]
    fn a_check_that_proves_nothing_does_not_pass() {
        let coverage = Criterion::CoverageAbove(80);
        let looked = |criterion: &Criterion, outcome, percentage: Option<&str>| {
            let measured = Measured {
                percentage: percentage.map(str::to_owned),
            };
            match looked_at(criterion, "verify.coverage", (&result(outcome), &measured)) {
                CriterionLook::Result(result) => result.passed,
                CriterionLook::Impossible(_)
                | CriterionLook::NoCommand
                | CriterionLook::Stopped => None,
            }
        };
        for (percentage, passed) in [
            (Some("80"), true),
            (Some("79.99"), false),
            (Some("100.0"), true),
            (None, false),
        ] {
            let found = looked(&coverage, CheckOutcome::Passed, percentage);
            assert_eq!(found, Some(passed), "{percentage:?}");
        }
        let found = looked(&coverage, CheckOutcome::Failed, Some("90"));
        assert_eq!(found, Some(false));
        assert_eq!(
            looked(&Criterion::AllTestsPass, CheckOutcome::Passed, None),
            Some(true)
        );
    }

    #[test]
    fn a_check_that_could_not_be_run_stops_the_executor() {
        let measured = Measured::default();
        let said = (&result(CheckOutcome::NotRun), &measured);
        let CriterionLook::Impossible(why) =
            looked_at(&Criterion::NoLintErrors, "verify.lint", said)
        else {
            panic!("it counts");
        };
        assert_eq!(why, "verify.lint could not be run: not started: no memory");
    }
}
