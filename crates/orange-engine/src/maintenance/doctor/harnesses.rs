//! The agent CLIs: whether they are there, new enough and logged in, and whether their agents are heard.

use crate::call::Call;
use crate::harness::probe::{Login, Probe, Version};
use crate::harness::{self, Harness};
use crate::index::list::TaskFilter;
use crate::maintenance::doctor::agents::name_of;
use crate::maintenance::doctor::task_of;
use crate::runs::{self, RunFolder, RunSpec};
use crate::sessions::programs;
use crate::settings::{self, models};
use crate::views::doctor::{DoctorReport, HarnessFound};
use crate::views::list;
use orange_core::config::Config;
use orange_core::naming::counted;
use orange_core::workflow::Intent;
use orange_core::{Action, TaskName, text};
use std::collections::BTreeMap;
use std::path::Path;

/// An agent that has said nothing for so many seconds since its start is not heard.
const SILENCE: i64 = 20;

/// Never fails: a home whose settings or tasks cannot be read has findings about that already.
pub(crate) fn check_harnesses(call: &Call, report: &mut DoctorReport) {
    let config = settings::config(call).cloned().unwrap_or_default();
    let wanted = wanted(call, &config, report);
    let probe = programs::probe(call);
    // The harnesses of the table and of the user's own, and those that only a task names; asked at once.
    let find = |name: &String| harness::find(name, &config, &call.orange).ok().flatten();
    let mut found: Vec<HarnessFound> = std::thread::scope(|threads| {
        let harnesses = harness::names(&config)
            .iter()
            .filter_map(find)
            .collect::<Vec<_>>();
        let asked = harnesses
            .into_iter()
            .filter(|harness| !harness.adapter.is_own());
        let asked = asked.map(|harness| threads.spawn(move || look_at(&probe, &harness)));
        let asked: Vec<_> = asked.collect();
        let answers = asked.into_iter().filter_map(|thread| thread.join().ok());
        answers.collect()
    });
    for found in &mut found {
        if let Some(wanted_by) = wanted.get(&found.name) {
            judge(wanted_by, found, report);
        }
        found.signals = collect_answers(call, &found.name, report);
    }
    let usual = settings::harness::usual_worker(call).ok();
    for found in &mut found {
        found.used = usual.as_deref() == Some(found.name.as_str());
    }
    report.harnesses = found;
    check_names(call, &config, report);
}

/// Names in config.yaml that lead to no harness.
fn check_names(call: &Call, config: &Config, report: &mut DoctorReport) {
    let review = config.agents.review_harness.iter();
    let chosen = config.agents.harness.iter().chain(review);
    let mut names: Vec<&String> = chosen.chain(config.harnesses.keys()).collect();
    names.sort();
    names.dedup();
    for why in models::unused_model_settings(call, config) {
        let how = text!(
            "change or unset it ({}), or choose another harness",
            Action::unset_setting(None)
        );
        report.by_hand("config.yaml", why, how);
    }
    for name in names {
        if let Err(error) = harness::find(name, config, &call.orange) {
            report.add_error("config.yaml", error);
        }
    }
}

/// Which harnesses are named, and by whom. What nobody has chosen counts as little as what nobody uses.
fn wanted(call: &Call, config: &Config, report: &mut DoctorReport) -> BTreeMap<String, String> {
    let mut wanted = BTreeMap::new();
    let open = TaskFilter {
        with_fields: true,
        ..TaskFilter::default()
    };
    for row in list::listed(call, &open).unwrap_or_default() {
        let task = task_of(&row.fields);
        // Its agents have done their work.
        if task.offers(Intent::Merge) || task.waits_for_children() {
            continue;
        }
        let label = name_of(&row);
        if let Err(refusal) = models::check_models(call, &task) {
            report.add_error(&label, refusal);
        }
        for name in [task.harness, task.review_harness].into_iter().flatten() {
            wanted.entry(name).or_insert_with(|| label.clone());
        }
    }
    if let Some(name) = &config.agents.review_harness {
        wanted.insert(name.clone(), "`agents.review_harness`".into());
    }
    if let Some(name) = &config.agents.harness {
        wanted.insert(name.clone(), "`agents.harness`".into());
    }
    wanted
}

/// Whether the agents that run now are heard.
fn collect_answers(
    call: &Call,
    name: &str,
    report: &mut DoctorReport,
) -> Option<Result<String, String>> {
    let mut heard = 0;
    let mut silent = None;
    for run in runs::all(call.store.home()) {
        let Some(spec) = run
            .spec()
            .filter(|spec| spec.harness == name && run.is_alive())
        else {
            continue;
        };
        if !spec.adapter.gives_signals() {
            continue;
        }
        check_hooks(&run, &spec, report);
        if !run.signals().is_empty() {
            heard += 1;
            continue;
        }
        let since = run
            .started()
            .map(|started| call.now().duration_since(started.at).as_secs());
        if let Some(seconds) = since.filter(|seconds| *seconds > SILENCE) {
            let problem = format!("{name} has given no signal since it started {seconds} s ago");
            let how = text!(
                "look at its window ({}): it may show a question",
                Action::attach(TaskName::new("", None, &spec.task))
            );
            report.by_hand(format!("run {}", run.id()), &problem, how);
            silent = Some(problem);
        }
    }
    match (silent, heard) {
        (Some(silent), _) => Some(Err(silent)),
        (None, 0) => None,
        (None, heard) => Some(Ok(format!("{} heard", counted(heard, "agent")))),
    }
}

fn look_at(probe: &Probe<'_>, harness: &Harness) -> HarnessFound {
    let path = probe.located(harness);
    let asked = path.as_deref().filter(|_| harness.can_be_asked());
    let (version, login) = match asked {
        Some(path) => std::thread::scope(|threads| {
            let login = threads.spawn(|| harness.adapter.login(probe, path));
            let version = probe.version(harness, path);
            let unknown = |_| Login::Unknown("not asked".into());
            (
                version.map_err(|error| error.message),
                login.join().unwrap_or_else(unknown),
            )
        }),
        None => (Err("not asked".into()), Login::Unknown("not asked".into())),
    };
    let found = version.as_deref().ok().and_then(Version::in_text);
    let oldest = harness.adapter.oldest().map(|(oldest, _)| oldest);
    HarnessFound {
        name: harness.name.clone(),
        install: harness.install,
        needed: oldest.filter(|oldest| found.is_some_and(|found| found < *oldest)),
        path,
        version,
        login,
        used: false,
        signals: None,
        note: (harness.name == harness.adapter.name())
            .then(|| harness.adapter.note(probe))
            .flatten(),
    }
}

/// What of it is a problem: only what somebody wants to use.
fn judge(wanted_by: &str, found: &HarnessFound, report: &mut DoctorReport) {
    let subject = format!("harness {}", found.name);
    let how = found
        .install
        .unwrap_or("correct its `command` in config.yaml");
    if found.path.is_none() {
        let problem = format!("is not installed, and {wanted_by} names it");
        report.by_hand(subject, problem, how);
        return;
    }
    if let (Some(needed), Ok(version)) = (found.needed, &found.version) {
        let problem =
            format!("is too old: {version}, {needed} is needed, and {wanted_by} names it");
        report.by_hand(&subject, problem, how);
    }
    if let Login::Out(why) = &found.login {
        let problem = format!("has no account to work with, and {wanted_by} names it");
        report.by_hand(&subject, problem, why);
    }
}

/// A hook names the program that takes its report; one that was moved away hears nothing.
fn check_hooks(run: &RunFolder, spec: &RunSpec, report: &mut DoctorReport) {
    let Some(program) = spec.adapter.hooks_program(run.path()) else {
        return;
    };
    if !Path::new(&program).is_file() {
        report.by_hand(
            format!("run {}", run.id()),
            format!("its hooks start {program}, which is not there any more"),
            text!(
                "put Orange there again, or stop the agent and {}",
                Action::respawn(TaskName::new("", None, &spec.task), false)
            ),
        );
    }
}
