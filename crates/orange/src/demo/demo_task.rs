//! The three tasks of the demo: what each is about, what its agents do, what the user does, and where it must get to.

use super::actor::DemoActor;
use orange_core::task::{Weight, WorkflowName};

pub(super) struct DemoTask {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// Executed by the plan of this weight; None: its agents sit in their windows.
    pub(super) weight: Option<Weight>,
    /// What its agents do.
    pub(super) script: &'static str,
    /// What the user says when it asks.
    pub(super) answer: Option<&'static str>,
    /// In the end, in words.
    pub(super) story: &'static str,
    workers: usize,
    reviewers: usize,
    questions: usize,
    crashes: usize,
    commits: usize,
}

pub(super) const DEMO_TASKS: [DemoTask; 3] = [
    DemoTask {
        name: "invoices",
        summary: "Fix the date on invoices",
        weight: Some(Weight::Small),
        script: include_str!("invoices.yaml"),
        answer: None,
        story: "executed by a plan: implement, test; then merged",
        workers: 1,
        reviewers: 0,
        questions: 0,
        crashes: 0,
        commits: 2,
    },
    DemoTask {
        name: "login",
        summary: "Add a login form",
        weight: None,
        script: include_str!("login.yaml"),
        answer: None,
        story: "failed its first review, was fixed, passed the second, merged",
        workers: 1,
        reviewers: 2,
        questions: 0,
        crashes: 0,
        commits: 2,
    },
    DemoTask {
        name: "limit",
        summary: "Limit requests to the API",
        weight: None,
        script: include_str!("limit.yaml"),
        answer: Some("60 a minute, then answer 429"),
        story: "asked, was answered, crashed, was started again, passed, merged",
        workers: 2,
        reviewers: 1,
        questions: 1,
        crashes: 1,
        commits: 2,
    },
];

impl DemoTask {
    pub(super) fn workflow(&self) -> WorkflowName {
        match self.weight {
            Some(_) => WorkflowName::Phased,
            None => WorkflowName::Interactive,
        }
    }

    /// Why a task did not get where it should; None if it did.
    pub(super) fn missing(&self, actor: &DemoActor) -> Option<String> {
        if !actor.over() {
            return Some(format!("is {}, not merged", actor.status));
        }
        let commits = actor.merged.as_ref().map_or(0, |merge| merge.commits);
        let wanted = [
            ("worker", actor.workers, self.workers),
            ("reviewer", actor.reviewers, self.reviewers),
            ("question", actor.questions, self.questions),
            ("crash", actor.crashes, self.crashes),
            ("commit", commits, self.commits),
        ];
        let wrong = wanted.iter().find(|(_, had, wanted)| had != wanted)?;
        Some(format!("had {} × {}, not {}", wrong.1, wrong.0, wrong.2))
    }

    /// The script, without the pauses that let people read along.
    pub(super) fn script(&self, fast: bool) -> String {
        if !fast {
            return self.script.to_owned();
        }
        let lines = self
            .script
            .lines()
            .map(|line| match line.split_once("- pause: ") {
                Some((start, _)) => format!("{start}- pause: 20ms\n"),
                None => format!("{line}\n"),
            });
        lines.collect()
    }
}
