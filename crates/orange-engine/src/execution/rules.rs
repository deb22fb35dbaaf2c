//! What settings and the task itself say of phases: times, retries, prices, plans of weights, and the gate behind a phase.

use crate::call::{self, Call};
use crate::error::Result;
use crate::projects::Project;
use crate::rules::{Commands, Rules, rules_commit};
use crate::settings;
use crate::workspaces::consents;
use orange_core::config::{Config, PhasesConfig};
use orange_core::task::{Task, Weight};
use orange_core::work::criterion::Criterion;
use orange_core::work::execution::ExecutionRules;
use orange_core::work::phase_gate::{self, GateSource, PhaseGateKind};
use orange_core::work::plan::{Plan, PlannedPhase};
use orange_core::work::prices::Prices;
use serde::Serialize;
use std::path::Path;

/// What counts for the phases of one task.
pub(crate) struct PhaseRules {
    pub(crate) phases: PhasesConfig,
    /// What the state machine asks.
    pub(crate) core: ExecutionRules,
    pub(crate) prices: Prices,
    /// How the messages of the engine's own commits begin.
    pub(crate) prefix: String,
    config: Config,
}

/// The settings of the user and of the repository, as the task's base commit has them.
pub(crate) fn of(call: &Call, task: &Task, plan: &Plan) -> Result<PhaseRules> {
    Ok(under(settings::phased_config_for(call, task)?, task, plan))
}

/// Who decides about one phase. A repository can only make that stricter: it is not asked where a person decides already.
pub(crate) fn gate_of(
    call: &Call,
    task: &Task,
    plan: &Plan,
    phase: &PlannedPhase,
) -> Result<PhaseGateKind> {
    let kind = under(settings::config(call)?.clone(), task, plan)
        .core
        .gate(phase);
    match kind {
        PhaseGateKind::Human => Ok(kind),
        _ => Ok(of(call, task, plan)?.core.gate(phase)),
    }
}

fn under(config: Config, task: &Task, plan: &Plan) -> PhaseRules {
    let phases = config.phases.clone();
    let mut rules = PhaseRules {
        core: ExecutionRules {
            retries: phases.retries,
            phase_timeout: phases.timeout,
            turn_timeout: phases.turn_timeout,
            max_tokens: u64::from(phases.max_tokens),
            ..ExecutionRules::default()
        },
        prices: config.prices.clone(),
        prefix: config.git.checkpoint_prefix.clone(),
        phases,
        config,
    };
    let gates = plan.phases.iter();
    rules.core.gates = gates
        .map(|phase| (phase.name.clone(), rules.gate(task, plan.weight, phase).0))
        .collect();
    rules
}

impl PhaseRules {
    /// Who decides whether a phase counts, and who says so. A person's word about the task beats what a repository demands at
    /// least; nothing else does.
    pub(crate) fn gate(
        &self,
        task: &Task,
        weight: Weight,
        phase: &PlannedPhase,
    ) -> (PhaseGateKind, GateSource) {
        let of_task = task.gates.get(&phase.name);
        let of_task = of_task.and_then(|kind| kind.as_str()?.parse().ok());
        let gates = &self.config.gates;
        let (kind, source) = phase_gate::resolve(
            of_task,
            gates.of_weight(weight, &phase.name),
            gates.named(&phase.name),
            phase.gate.kind,
        );
        match gates.floor(weight, &phase.name) {
            Some(floor) if source != GateSource::Task && floor > kind => {
                (phase_gate::tighten(kind, floor), GateSource::Settings)
            }
            _ => (kind, source),
        }
    }
}

/// The plan that the settings have for a weight, or Orange's own.
pub(crate) fn plan_of_weight(call: &Call, task: &Task, weight: Weight) -> Result<Plan> {
    let config = settings::phased_config_for(call, task)?;
    let phases = match config.weights.plan(weight) {
        Some(phases) => phases.to_vec(),
        None => Plan::built_in(weight),
    };
    Ok(Plan {
        task_id: task.label(),
        weight,
        generated_at: call.now(),
        phases,
    })
}

/// What checks a criterion.
pub(crate) struct Checker {
    pub(crate) commands: Vec<String>,
    /// The setting that they come from.
    pub(crate) setting: &'static str,
    /// What of the repository's commands the user must have agreed to.
    needs: Commands,
}

/// What checks a criterion by the rules of a project; None for one that needs no command.
pub(crate) fn checker(criterion: &Criterion, rules: &Rules) -> Option<Checker> {
    let foreign = &rules.foreign;
    let mut needs = foreign.of_workspace();
    let (commands, setting) = match criterion {
        Criterion::AllTestsPass => {
            needs.verify.clone_from(&foreign.verify);
            (rules.verify.clone(), "verify.command")
        }
        Criterion::NoLintErrors => {
            needs.lint.clone_from(&foreign.lint);
            (rules.lint.clone(), "verify.lint")
        }
        Criterion::CoverageAbove(_) => {
            needs.coverage.clone_from(&foreign.coverage);
            (rules.coverage.clone(), "verify.coverage")
        }
        Criterion::Command(command) => {
            // A plan may have it from the repository, whoever else wrote it too.
            if foreign.plans.contains(command) {
                needs.plans.clone_from(&foreign.plans);
            }
            (vec![command.clone()], "the plan's command")
        }
        Criterion::AgentConfirms | Criterion::FilesExist(_) => return None,
    };
    Some(Checker {
        commands,
        setting,
        needs,
    })
}

impl Checker {
    /// Why it cannot check now; None: it can. The folder shows what kind of repository it is.
    pub(crate) fn why_not(
        &self,
        call: &Call,
        project: &Project,
        criterion: &Criterion,
        folder: &Path,
    ) -> Result<Option<String>> {
        if self.commands.is_empty() {
            return Ok(Some(no_command(self.setting, criterion, folder)));
        }
        let is_trusted = consents::is_trusted(call, &project.name, &self.needs)?;
        Ok((!is_trusted).then(|| no_consent(self.setting)))
    }
}

/// A criterion of a plan that cannot be checked now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UncheckedCriterion {
    pub phase: String,
    pub criterion: String,
    pub why: String,
}

/// The criteria of a plan that cannot be checked now.
pub(crate) fn unchecked(call: &Call, task: &Task, plan: &Plan) -> Result<Vec<UncheckedCriterion>> {
    let project = call::registered(call, &task.project)?;
    let base = rules_commit::rules_commit(call, &project, task)?;
    let rules = consents::repository_rules(call, &project, &base)?;
    let mut found = Vec::new();
    for phase in plan.executed() {
        for criterion in &phase.completion_criteria {
            let Some(checker) = checker(criterion, &rules) else {
                continue;
            };
            let why = checker.why_not(call, &project, criterion, &project.path)?;
            found.extend(why.map(|why| UncheckedCriterion {
                phase: phase.name.clone(),
                criterion: criterion.to_string(),
                why,
            }));
        }
    }
    Ok(found)
}

/// Why a criterion is not checked whose command the user has not agreed to.
fn no_consent(setting: &str) -> String {
    format!("{setting} comes with the repository, and you have not agreed to it")
}

/// Why a criterion is not checked, and what could check it.
fn no_command(setting: &str, criterion: &Criterion, folder: &Path) -> String {
    match offered(folder, criterion) {
        Some(command) => format!("{setting} is not set; `{command}` could be it"),
        None => format!("{setting} is not set"),
    }
}

/// What a repository of this kind is usually checked with; run only once a person has configured it.
fn offered(folder: &Path, criterion: &Criterion) -> Option<&'static str> {
    let kinds: [(&str, &str, &str); 5] = [
        ("Cargo.toml", "cargo test", "cargo clippy -- -D warnings"),
        ("package.json", "npm test", "npm run lint"),
        ("pyproject.toml", "pytest", "ruff check"),
        ("go.mod", "go test ./...", "go vet ./..."),
        ("Makefile", "make test", "make lint"),
    ];
    let (_, tests, lint) = kinds
        .into_iter()
        .find(|(file, _, _)| folder.join(file).is_file())?;
    match criterion {
        Criterion::AllTestsPass => Some(tests),
        Criterion::NoLintErrors => Some(lint),
        _ => None,
    }
}
