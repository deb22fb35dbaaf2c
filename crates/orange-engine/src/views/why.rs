//! Why a task is where it is.

use super::task::TaskView;
use crate::engine::Engine;
use crate::engine::messages::one_line;
use crate::error::{Code, Result};
use crate::runs::{Doing, State};
use orange_core::evidence::Evidence;
use orange_core::exit::role_of;
use orange_core::gate::Verdict;
use orange_core::history::payload::StatusMoved;
use orange_core::machine::Situation;
use orange_core::runs::{Ending, open_runs};
use orange_core::task::Task;
use orange_core::verification::last_failed;
use orange_core::why::{Agent, StartRefused, Surroundings, Why, why};
use orange_core::workflow::{Actor, Condition, Intent};
use orange_core::{Action, Text, text};

impl Engine {
    /// Why the task is where it is.
    pub fn why(&self, view: &TaskView) -> Result<Why> {
        let mut facts = self.facts(
            &view.task,
            &[
                Condition::DependenciesOver,
                Condition::SlotFree,
                Condition::ChildrenOpen,
            ],
        )?;
        facts.verifying = self.verifying(&view.place, &view.history);
        let default_branch = self.project_of(&view.task.project).map_or_else(
            || "the default branch".to_owned(),
            |project| project.default_branch,
        );
        let situation = Situation {
            task: &view.task,
            body: &view.body,
            facts: &facts,
            max_rounds: self.max_rounds(&view.task)?,
            now: self.now(),
        };
        let starts = !view.task.status.has_started();
        let is_decided = view.task.offers(Intent::Merge);
        let limit = match starts {
            true => self.limit_reached()?,
            false => None,
        };
        let untrusted = match (starts, self.project_of(&view.task.project)) {
            // What keeps the rules from being read is said by the start.
            (true, Some(project)) => self
                .untrusted_for(&project, &view.task)
                .unwrap_or_default()
                .map(|refusal| refusal.message),
            _ => None,
        };
        let last = view
            .history
            .events
            .iter()
            .rev()
            .find(|event| event.to.is_some());
        let here = last.filter(|event| event.to.as_deref() == Some(view.task.status.as_str()));
        let agent = self.agent_of(view);
        let concerns = match is_decided {
            true => self.concerns_for_why(&view.task, &view.history),
            false => Vec::new(),
        };
        let evidence = Evidence::of(&view.history);
        let around = Surroundings {
            target: view.task.target(&default_branch),
            rounds: evidence.rounds,
            start_refused: match &agent {
                Agent::Gone { .. } if self.has_unjudged_run(view) => Some(StartRefused {
                    why: "nobody has seen to that yet".to_owned(),
                    next: Action::explain(view.task.label()),
                }),
                Agent::Gone { .. } => self.start_refused(&view.task),
                Agent::None | Agent::Alive { .. } => None,
            },
            agent,
            // Of a registry that cannot be read nobody knows what it lacks.
            unregistered: self.projects().is_ok_and(|known| {
                let name = &view.task.project;
                crate::projects::named(&known, name).is_err()
            }),
            reason: here.and_then(|event| event.reason.as_deref()),
            // A person or an agent that moved it may have said more.
            failed_review: here.is_some_and(|event| {
                let verdict = StatusMoved::of(event).and_then(|made| made.verdict);
                verdict == Some(Verdict::Fail) && event.by.as_deref() == Some(Actor::Engine.name())
            }),
            limit,
            untrusted,
            without_commits: match starts {
                true => self.without_commits(&view.task.project),
                false => None,
            },
            without_base: match starts {
                true => self.without_base(&view.task),
                false => None,
            },
            conflicts: match is_decided {
                true => self.merge_trouble(&view.task, &view.history),
                false => None,
            },
            without_work: self.is_without_work(&view.task, &view.history),
            failed_check: evidence
                .verify
                .filter(|_| last_failed(&view.history))
                .map(|told| told.words()),
            only_unchecked: concerns.iter().all(|concern| concern.unchecked),
            concerns: concerns.into_iter().map(|concern| concern.what).collect(),
        };
        Ok(why(situation, &around))
    }

    /// The repository in which there is no such commit any more as the task was to start from.
    fn without_base(&self, task: &Task) -> Option<String> {
        let project = self.project_of(&task.project)?;
        task.base.as_ref()?;
        let missing = self.start_of(&project, task, false).err()?;
        let is_gone = missing.code == Code::NotFound;
        is_gone.then(|| project.path.display().to_string())
    }

    /// The repository of a project in which nothing was committed yet.
    fn without_commits(&self, project: &str) -> Option<String> {
        let project = self.project_of(project)?;
        let head = crate::git::commit_of(&project.path, "HEAD").ok()?;
        let empty = head.is_none() && self.parking_place(&project).is_err();
        empty.then(|| project.path.display().to_string())
    }

    fn has_unjudged_run(&self, view: &TaskView) -> bool {
        let role = role_of(view.task.status);
        let mut open = open_runs(&view.history).into_iter();
        open.any(|run| run.role == role && !self.run_folder(&run.id).is_alive())
    }

    /// The agent that the task's status is about.
    pub(super) fn agent_of(&self, view: &TaskView) -> Agent {
        let role = role_of(view.task.status);
        if let Ok(Some(_)) = self.adopted_session(&view.history, role) {
            return Agent::Alive {
                doing: "runs in a tmux session that another program started".into(),
            };
        }
        let agents = self.agents(&view.task, &view.history);
        match agents.into_iter().find(|agent| agent.role == role) {
            None => Agent::None,
            Some(agent) if agent.alive => Agent::Alive {
                doing: match agent.doing {
                    Some(doing) => with_verb(&doing),
                    None => "is running".into(),
                },
            },
            Some(agent) => Agent::Gone {
                how: match agent.ended {
                    None => "is gone without a word".to_owned(),
                    Some(end) if end.how == Ending::Crashed => format!("crashed: {}", end.reason),
                    Some(end) if end.reason.is_empty() => "was stopped".to_owned(),
                    Some(end) => format!("ended: {}", end.reason),
                },
            },
        }
    }
}

/// What an agent does, as a part of a sentence.
fn with_verb(doing: &Doing) -> Text {
    let said = one_line(&doing.text);
    match doing.state {
        State::AsksPermission | State::WaitsForInput => doing.words(),
        State::Finished => "has finished".into(),
        State::Failed => match doing.again {
            Some(again) => text!("has failed: {said}; it is told to go on at {}", again),
            // What is to be done about it follows.
            None => "has failed".into(),
        },
        State::Running => "is running (it gives no signals)".into(),
        State::Starting | State::Working | State::Idle | State::Waiting => {
            text!("is {}", doing.words())
        }
    }
}
