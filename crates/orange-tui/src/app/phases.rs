//! The phases of a task's plan: which one is selected, deciding about one, leaving one out, beginning one anew, its transcript.

use super::overlays::{ComposeFor, Confirm};
use super::{App, Effect, Overlay, Tab, View};
use crate::verbs::{PhaseAtGate, Verb};
use orange_engine::views::PhaseView;
use orange_engine::views::dashboard::{Focus, OverviewRow};
use std::time::Instant;

/// The phase that a person decides about, as it was shown.
pub(super) fn gate_of(focus: &Focus) -> Option<PhaseAtGate> {
    let phase = focus.execution.as_ref()?.current_phase()?;
    Some(PhaseAtGate {
        phase: phase.name.clone(),
        attempt: phase.attempt,
    })
}

impl App {
    fn phases(&self) -> &[PhaseView] {
        let execution = self.focused().and_then(|focus| focus.execution.as_ref());
        execution.map_or(&[], |execution| &execution.phases)
    }

    pub(super) fn is_among_phases(&self) -> bool {
        self.view == View::Task && self.tab == Tab::Phases && !self.phases().is_empty()
    }

    /// A phased task is opened at its phases, unless the person has chosen a tab.
    pub(super) fn tab_to_open(&self) -> Tab {
        let is_phased = self
            .focused()
            .is_some_and(|focus| focus.execution.is_some());
        match self.tab {
            Tab::Timeline if is_phased && self.view != View::Task => Tab::Phases,
            Tab::Phases if !is_phased => Tab::Timeline,
            tab => tab,
        }
    }

    /// The phase that is selected, else the one that the task is in, else the last.
    pub fn selected_phase(&self) -> Option<&PhaseView> {
        let execution = self.focused()?.execution.as_ref()?;
        let named = |name: &Option<String>| {
            let name = name.as_ref()?;
            execution.phases.iter().find(|phase| phase.name == *name)
        };
        let is_chosen = self.view == View::Task && self.tab == Tab::Phases;
        let chosen = named(&self.phase).filter(|_| is_chosen);
        chosen
            .or_else(|| named(&execution.current))
            .or_else(|| execution.phases.last())
    }

    pub(super) fn step_among_phases(&mut self, by: isize) -> Vec<Effect> {
        let phases = self.phases();
        let selected = self.selected_phase().map(|phase| &phase.name);
        let at = phases
            .iter()
            .position(|phase| Some(&phase.name) == selected);
        let last = phases.len().saturating_sub(1);
        let to = at.unwrap_or(0).saturating_add_signed(by).min(last);
        self.phase = phases.get(to).map(|phase| phase.name.clone());
        Vec::new()
    }

    pub(super) fn read_transcript(&mut self, at: Instant) -> Vec<Effect> {
        let Some(phase) = self.selected_phase() else {
            return Vec::new();
        };
        if phase.transcript.is_none() {
            let text = format!("nothing was said in {} yet", phase.name);
            self.say(text, at);
            return Vec::new();
        }
        let phase = phase.name.clone();
        let folder = self.cursor.clone();
        folder.map_or_else(Vec::new, |folder| self.run(folder, Verb::Transcript(phase)))
    }

    /// Shows a text to be read, unless the person is at something else by now.
    pub(super) fn show_text(&mut self, title: String, lines: Vec<String>, at: Instant) {
        if self.overlay.is_some() {
            self.say(format!("{title} can be read: ask for it again"), at);
            return;
        }
        // What was said last is what one looks for.
        let scroll = lines.len();
        self.overlay = Some(Overlay::Text {
            title,
            lines,
            scroll,
        });
    }

    /// Approves a phase that the person could see: what it came to stands where the task is drawn.
    pub(super) fn approve(&mut self, row: &OverviewRow, at: Instant) -> Vec<Effect> {
        let folder = row.folder.clone();
        let found = self.focused().and_then(|focus| {
            let phase = focus.execution.as_ref()?.current_phase()?;
            Some((gate_of(focus)?, phase.words(), phase.summary.clone()))
        });
        let Some((gate, words, summary)) = found else {
            return Vec::new();
        };
        let label = &row.label;
        let mut lines = vec![(false, words)];
        lines.extend(summary.map(|said| (false, said)));
        self.confirm(Confirm {
            title: format!("does phase {} of {label} count?", gate.phase),
            lines,
            yes: "approve",
            folder,
            verb: Verb::Approve(gate),
            opened: at,
            scroll: 0,
        });
        Vec::new()
    }

    pub(super) fn skip(&mut self, at: Instant) -> Vec<Effect> {
        let Some(phase) = self.selected_phase() else {
            return Vec::new();
        };
        if phase.status.is_over() {
            let text = format!("phase {} is {} already", phase.name, phase.status);
            self.refuse(text, None, at);
            return Vec::new();
        }
        let phase = phase.name.clone();
        self.open_composer(ComposeFor::Skip(phase), None);
        Vec::new()
    }

    pub(super) fn rewind(&mut self, row: &OverviewRow, at: Instant) -> Vec<Effect> {
        let Some(phase) = self.selected_phase().map(|phase| phase.name.clone()) else {
            return Vec::new();
        };
        self.confirm(Confirm {
            title: format!("have {} go back to phase {phase}?", row.label),
            lines: vec![(
                false,
                "it and all behind it begin anew; the branch goes back to where the phase was, and what it holds since is saved"
                    .to_owned(),
            )],
            yes: "go back",
            folder: row.folder.clone(),
            verb: Verb::Rewind(phase),
            opened: at,
            scroll: 0,
        });
        Vec::new()
    }
}
