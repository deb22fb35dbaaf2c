//! Phases that can be named: those of the plan of the task that stands in the line, or that the user is in.

use super::rescues::owner;
use super::values::{TypedLine, described, offering};
use clap_complete::CompletionCandidate;
use clap_complete::engine::ArgValueCompleter;
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::work::plan::PhaseKind;
use orange_engine::find;
use orange_engine::views::quick_reads;

pub(crate) fn phases() -> ArgValueCompleter {
    offering(|line, _| {
        let phases = line.phases()?.into_iter();
        Some(phases.map(|(name, what)| described(name, &what)).collect())
    })
}

/// `PHASE=` and then the types.
pub(crate) fn gates() -> ArgValueCompleter {
    offering(|line, begun| {
        let Some((phase, _)) = begun.split_once('=') else {
            return Some(line.gates());
        };
        let types = PhaseGateKind::WORDS.iter();
        let offers = types.map(|word| CompletionCandidate::new(format!("{phase}={word}")));
        Some(offers.collect())
    })
}

impl TypedLine {
    /// The phases of the task's plan, and where each stands.
    fn phases(&self) -> Option<Vec<(String, String)>> {
        let (call, project, id) = self.task()?;
        let phases = quick_reads::quick_phases(&call, &project, &id);
        let named = phases.into_iter();
        Some(
            named
                .map(|(name, status)| (name, status.to_string()))
                .collect(),
        )
    }

    fn gates(&self) -> Vec<CompletionCandidate> {
        let of_plan = self.phases().filter(|phases| !phases.is_empty());
        let names = match of_plan {
            Some(phases) => phases.into_iter().map(|(name, _)| name).collect(),
            None => PhaseKind::WORDS
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>(),
        };
        let offers = names.into_iter();
        offers
            .map(|name| CompletionCandidate::new(format!("{name}=")))
            .collect()
    }

    /// The first word behind the verb that names a task, else the task whose workspace this is.
    fn task(&self) -> Option<(orange_engine::Call, String, String)> {
        let call = self.call()?;
        let here = self.project(&call);
        let typed = self.words.len().saturating_sub(1);
        let before = self.words.get(1..typed).unwrap_or_default();
        let mut named = before.iter().filter(|word| !word.starts_with('-'));
        if let Some((project, id)) = named.find_map(|word| owner(&call, here.as_deref(), word)) {
            return Some((call, project, id));
        }
        let place = find::task_at(&call, self.folder.as_ref()?).ok()??;
        let folder = place.folder();
        let (project, id) = folder.split_once('/')?;
        Some((call, project.to_owned(), id.to_owned()))
    }
}
