//! What settings and the task itself say of phases: times, retries, prices, plans of weights, and the gate behind a phase.

use crate::call::{self, Call};
use crate::error::Result;
use crate::rules::rules_commit;
use crate::settings;
use crate::workspaces::consents;
use orange_core::config::{Config, PhasesConfig};
use orange_core::task::{Task, Weight};
use orange_core::work::criterion::Criterion;
use orange_core::work::execution::Rules;
use orange_core::work::phase_gate::{self, GateSource, PhaseGateKind};
use orange_core::work::plan::{Plan, PlannedPhase};
use orange_core::work::prices::Prices;
use std::path::Path;

/// What counts for the phases of one task.
pub(crate) struct PhaseRules {
    pub(crate) phases: PhasesConfig,
    /// What the state machine asks.
    pub(crate) core: Rules,
    pub(crate) prices: Prices,
    /// How the messages of the engine's own commits begin.
    pub(crate) prefix: String,
    config: Config,
}

/// The settings of the user and of the repository, as the task's base commit has them.
pub(crate) fn of(call: &Call, task: &Task, plan: &Plan) -> Result<PhaseRules> {
    let config = settings::config_for(call, task)?;
    let phases = config.phases.clone();
    let mut rules = PhaseRules {
        core: Rules {
            retries: phases.retries,
            phase_timeout: phases.timeout,
            max_tokens: u64::from(phases.max_tokens),
            ..Rules::default()
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
    Ok(rules)
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
    let config = settings::config_for(call, task)?;
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

/// The criteria of a plan that nobody can check as things are: phase, criterion, and why.
pub(crate) fn unchecked(
    call: &Call,
    task: &Task,
    plan: &Plan,
) -> Result<Vec<(String, String, String)>> {
    let project = call::registered(call, &task.project)?;
    let base = rules_commit::rules_commit(call, &project, task)?;
    let rules = consents::repository_rules(call, &project, &base)?;
    let mut found = Vec::new();
    for phase in plan.executed() {
        for criterion in &phase.completion_criteria {
            let (commands, setting) = match criterion {
                Criterion::AllTestsPass => (&rules.verify, "verify.command"),
                Criterion::NoLintErrors => (&rules.lint, "verify.lint"),
                Criterion::CoverageAbove(_) => (&rules.coverage, "verify.coverage"),
                _ => continue,
            };
            if commands.is_empty() {
                let why = no_command(setting, criterion, &project.path);
                found.push((phase.name.clone(), criterion.to_string(), why));
                continue;
            }
            let mut of_repository = rules.foreign.of_workspace();
            match criterion {
                Criterion::NoLintErrors => of_repository.lint.clone_from(&rules.foreign.lint),
                Criterion::CoverageAbove(_) => {
                    of_repository.coverage.clone_from(&rules.foreign.coverage);
                }
                _ => of_repository.verify.clone_from(&rules.foreign.verify),
            }
            if !consents::is_trusted(call, &project.name, &of_repository)? {
                let why = no_consent(setting);
                found.push((phase.name.clone(), criterion.to_string(), why));
            }
        }
    }
    Ok(found)
}

/// Why a criterion is not checked whose command the user has not agreed to.
pub(crate) fn no_consent(setting: &str) -> String {
    format!("{setting} comes with the repository, and you have not agreed to it")
}

/// Why a criterion is not checked, and what could check it.
pub(crate) fn no_command(setting: &str, criterion: &Criterion, folder: &Path) -> String {
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
