//! Why a task is where it is.

use crate::call::Call;
use crate::effects::messages::one_line;
use crate::error::{Code, Result};
use crate::runs::{Doing, State};
use crate::sessions::{self, adopted};
use crate::views::task::TaskView;
use crate::views::{agents, concerns};
use crate::workspaces::{base, project_consent, setup};
use crate::{checks, facts, rules, settings};
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

/// Why the task is where it is.
pub fn why_of(call: &Call, view: &TaskView) -> Result<Why> {
    let mut facts = facts::facts(
        call,
        &view.task,
        &[
            Condition::DependenciesOver,
            Condition::SlotFree,
            Condition::ChildrenOpen,
        ],
    )?;
    facts.verifying = checks::verifying(call, &view.place, &view.history);
    let default_branch = call.project_of(&view.task.project).map_or_else(
        || "the default branch".to_owned(),
        |project| project.default_branch,
    );
    let situation = Situation {
        task: &view.task,
        body: &view.body,
        facts: &facts,
        max_rounds: settings::max_rounds(call, &view.task)?,
        now: call.now(),
    };
    let starts = !view.task.status.has_started();
    let is_decided = view.task.offers(Intent::Merge);
    let limit = if starts {
        facts::limit_reached(call)?
    } else {
        None
    };
    let untrusted = match (starts, call.project_of(&view.task.project)) {
        // What keeps the rules from being read is said by the start.
        (true, Some(project)) => setup::untrusted_for(call, &project, &view.task)
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
    let agent = agent_of(call, view);
    let concerns = if is_decided {
        concerns::concerns_for_why(call, &view.task, &view.history)
    } else {
        Vec::new()
    };
    let evidence = Evidence::of(&view.history);
    let around = Surroundings {
        target: view.task.target(&default_branch),
        rounds: evidence.rounds,
        start_refused: match &agent {
            Agent::Gone { .. } if has_unjudged_run(call, view) => Some(StartRefused {
                why: "nobody has seen to that yet".to_owned(),
                next: Action::explain(view.task.label()),
            }),
            Agent::Gone { .. } => project_consent::start_refused(call, &view.task),
            Agent::None | Agent::Alive { .. } => None,
        },
        agent,
        // Of a registry that cannot be read nobody knows what it lacks.
        unregistered: call.projects().is_ok_and(|known| {
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
        without_commits: if starts {
            without_commits(call, &view.task.project)
        } else {
            None
        },
        without_base: if starts {
            without_base(call, &view.task)
        } else {
            None
        },
        conflicts: if is_decided {
            concerns::merge_trouble(call, &view.task, &view.history)
        } else {
            None
        },
        without_work: concerns::has_no_work(call, &view.task, &view.history),
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
fn without_base(call: &Call, task: &Task) -> Option<String> {
    let project = call.project_of(&task.project)?;
    task.base.as_ref()?;
    let missing = base::start_of(call, &project, task, false).err()?;
    let is_gone = missing.code == Code::NotFound;
    is_gone.then(|| project.path.display().to_string())
}

/// The repository of a project in which nothing was committed yet.
fn without_commits(call: &Call, project: &str) -> Option<String> {
    let project = call.project_of(project)?;
    let head = crate::git::commit_of(&project.path, "HEAD").ok()?;
    let empty = head.is_none() && rules::parking_place(call, &project).is_err();
    empty.then(|| project.path.display().to_string())
}

fn has_unjudged_run(call: &Call, view: &TaskView) -> bool {
    let role = role_of(view.task.status);
    let mut open = open_runs(&view.history).into_iter();
    open.any(|run| run.role == role && !sessions::run_folder(call, &run.id).is_alive())
}

/// The agent that the task's status is about.
pub(crate) fn agent_of(call: &Call, view: &TaskView) -> Agent {
    let role = role_of(view.task.status);
    if let Ok(Some(_)) = adopted::adopted_session(call, &view.history, role) {
        return Agent::Alive {
            doing: "runs in a tmux session that another program started".into(),
        };
    }
    let agents = agents::agents(call, &view.task, &view.history);
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
