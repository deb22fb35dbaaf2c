//! The model and effort of a task's agents: the task's own choice, else the setting. A task's choice that its harness
//! cannot follow is refused; a setting that it cannot follow is left out, and a notice says so.

use crate::call::Call;
use crate::error::{Error, Result};
use crate::harness::model::{ModelChoice, not_told};
use crate::harness::{self, Harness};
use crate::settings;
use orange_core::config::{AgentsConfig, Config};
use orange_core::task::Task;
use orange_core::workflow::Role;

/// Refuses a task whose agents cannot be told what it asks for.
pub(crate) fn check_models(call: &Call, task: &Task) -> Result<()> {
    for role in [Role::Worker, Role::Reviewer] {
        if !of_task(task, role).is_empty() {
            let harness = match settings::harness::harness_for(call, task, role) {
                Ok(harness) => harness,
                // Where nothing is installed, nobody knows yet whose words these are; the start will ask again.
                Err(_) if settings::harness::worker_of(call, task).is_err() => continue,
                Err(error) => return Err(error),
            };
            check_model(task, role, harness.as_ref())?;
        }
    }
    Ok(())
}

/// The same for the agent of one role; no harness: no agent is started.
pub(crate) fn check_model(task: &Task, role: Role, harness: Option<&Harness>) -> Result<()> {
    let asked = of_task(task, role);
    match harness {
        Some(harness) => harness.refuses(&asked),
        None if asked.model.is_some() => Err(not_told(harness::NONE, "model")),
        None if asked.effort.is_some() => Err(not_told(harness::NONE, "effort")),
        None => Ok(()),
    }
}

/// A choice, checked, with the settings where it says nothing.
pub(crate) fn with_settings(
    call: &Call,
    mut asked: ModelChoice,
    role: Role,
    harness: &Harness,
) -> Result<ModelChoice> {
    harness.refuses(&asked)?;
    let config = settings::config(call)?.clone();
    let owner = owner(call, &config.agents, role);
    let owner = owner.and_then(|name| harness::find(&name, &config, &call.orange).ok()?);
    let [model, effort] = of_settings(&config, role, harness, owner.as_ref());
    for (asked, setting) in [(&mut asked.model, model), (&mut asked.effort, effort)] {
        if asked.is_some() {
            continue;
        }
        match setting.unused {
            Some(why) => call.notice(why),
            None => *asked = setting.value,
        }
    }
    if asked.model.is_none() {
        asked.model = match of_harness(&config, harness) {
            Some(HarnessSetting {
                unused: Some(why), ..
            }) => {
                call.notice(why);
                None
            }
            said => said.and_then(|said| said.value),
        };
    }
    Ok(asked)
}

/// What `harness.NAME.model` says.
fn of_harness(config: &Config, harness: &Harness) -> Option<HarnessSetting> {
    let name = &harness.name;
    let model = config.harness_changes.get(name)?.model.as_ref()?;
    let refused = harness.refuses_model(model).err();
    Some(HarnessSetting {
        unused: refused.map(|error| {
            format!(
                "`harness.{name}.model` ({model}) is not used: {}",
                error.message
            )
        }),
        value: Some(model.clone()),
    })
}

/// Settings that the harness which they are for cannot follow.
pub(crate) fn unused_model_settings(call: &Call, config: &Config) -> Vec<String> {
    let roles = [Role::Worker, Role::Reviewer].into_iter();
    let unused = roles.filter_map(|role| {
        let name = owner(call, &config.agents, role)?;
        let harness = harness::find(&name, config, &call.orange).ok()??;
        Some(of_settings(config, role, &harness, Some(&harness)))
    });
    let changed = config.harness_changes.keys().filter_map(|name| {
        let harness = harness::find(name, config, &call.orange).ok()??;
        of_harness(config, &harness)
    });
    let unused = unused.flatten().chain(changed);
    unused.filter_map(|setting| setting.unused).collect()
}

/// What a task asks for.
pub(crate) fn of_task(task: &Task, role: Role) -> ModelChoice {
    let (model, effort) = match role {
        Role::Reviewer => (&task.review_model, &task.review_effort),
        Role::Worker | Role::Executor => (&task.model, &task.effort),
    };
    ModelChoice {
        model: model.clone(),
        effort: effort.clone(),
    }
}

/// A setting, for one harness.
struct HarnessSetting {
    value: Option<String>,
    /// Why the harness does not get it.
    unused: Option<String>,
}

/// What the settings say of model and effort. `owner` is the harness in whose words they name a model.
fn of_settings(
    config: &Config,
    role: Role,
    harness: &Harness,
    owner: Option<&Harness>,
) -> [HarnessSetting; 2] {
    let agents = &config.agents;
    let (prefix, model, effort) = match role {
        Role::Reviewer => ("review_", &agents.review_model, agents.review_effort),
        Role::Worker | Role::Executor => ("", &agents.model, agents.effort),
    };
    let is_owners = owner.is_some_and(|owner| owner.adapter == harness.adapter);
    let owner = owner.map_or("no agent that is installed", |owner| owner.name.as_str());
    let name = &harness.name;
    let refused = |error: Error| format!("is not used: {}", error.message);
    let model_unused = |model: &String| {
        if is_owners {
            harness.refuses_model(model).err().map(refused)
        } else {
            Some(format!("is for {owner}; {name} uses its own model"))
        }
    };
    let effort = effort.map(|effort| effort.to_string());
    let effort_unused = |effort: &String| harness.refuses_effort(effort).err().map(refused);
    let said = |what: &str, value: Option<String>, why: Option<String>| HarnessSetting {
        unused: value
            .as_ref()
            .zip(why)
            .map(|(value, why)| format!("`agents.{prefix}{what}` ({value}) {why}")),
        value,
    };
    [
        said(
            "model",
            model.clone(),
            model.as_ref().and_then(model_unused),
        ),
        said(
            "effort",
            effort.clone(),
            effort.as_ref().and_then(effort_unused),
        ),
    ]
}

/// The harness in whose words a setting names a model.
fn owner(call: &Call, agents: &AgentsConfig, role: Role) -> Option<String> {
    match role {
        Role::Reviewer => {
            let named = agents.review_harness.as_deref();
            Some(named.unwrap_or(harness::REVIEWER).to_owned())
        }
        Role::Worker | Role::Executor => {
            let first = || settings::harness::first_installed(call).ok().flatten();
            agents.harness.clone().or_else(first)
        }
    }
}
