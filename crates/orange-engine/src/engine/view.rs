//! Looking at tasks: one whole, many in a list, why one waits, and what hangs on what.

use super::Engine;
use super::lost_workspace::{LostWorkspace, mark};
use super::messages::one_line;
use crate::error::{Code, Error, Result};
use crate::index::Index;
use crate::index::list::{Deleted, Filter, Listed, Listing};
use crate::index::query::Found;
use crate::runs::{Doing, State};
use crate::store::{Place, journal, lock};
use crate::tx::kept_texts;
use orange_core::action::Action;
use orange_core::attention::{attention, unmerged};
use orange_core::evidence::Evidence;
use orange_core::exit::role_of;
use orange_core::history::{Event, EventType, History};
use orange_core::id::{Key, read_stored, stored_reference};
use orange_core::machine::{Linked, Situation};
use orange_core::reconcile::Broken;
use orange_core::runs::{Ending, Run, open_runs};
use orange_core::task::{Status, Task};
use orange_core::verification::last_failed;
use orange_core::why::{Agent, StartRefused, Surroundings, Why, why};
use orange_core::workflow::{Actor, Condition, Intent};

/// All that `task show` tells.
#[derive(Debug, Clone)]
pub struct TaskView {
    pub task: Task,
    pub place: Place,
    pub body: String,
    pub history: History,
    pub blockers: Vec<Linked>,
    pub blocks: Vec<Linked>,
    pub related: Vec<Linked>,
    pub referenced_by: Vec<Linked>,
    pub children: Vec<Linked>,
    pub damaged: Option<Broken>,
    pub attention: Option<String>,
    /// Its workspace was deleted; `attention` says so too.
    pub lost_workspace: Option<LostWorkspace>,
    /// Texts beside TASK.md that could not be merged into it, by their names.
    pub kept_texts: Vec<String>,
    /// The Context is not what it was when the task was made.
    pub context_changed: bool,
}

fn sorted(mut names: Vec<&str>) -> Vec<&str> {
    names.sort_unstable();
    names
}

/// A line of a dependency tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepsNode {
    pub depth: usize,
    pub reference: String,
    pub status: Option<Status>,
    pub summary: String,
    /// Shown before; its own blockers are not repeated.
    pub repeated: bool,
}

impl Engine {
    pub fn list(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.list_as(filter, |listing| listing.rows)
    }

    /// What `show` makes of the tasks a filter lets through; it may be called twice.
    pub fn list_as<T>(&self, filter: &Filter, show: impl Fn(Listing) -> T) -> Result<T> {
        self.refuse_unknown(&filter.projects)?;
        let looked_up = self.look_up(filter);
        let filter = looked_up.as_ref().unwrap_or(filter);
        let lost = self.lost_workspaces();
        let show = |mut listing: Listing| {
            mark(&mut listing.rows, &lost);
            show(listing)
        };
        if !filter.with_diff {
            return self.ask_index(|index, deleted| index.fresh_list(filter, deleted, show));
        }
        self.list_with_diff(filter, show)
    }

    /// Refuses a project that is neither registered nor has tasks.
    pub(super) fn refuse_unknown(&self, projects: &[String]) -> Result<()> {
        for project in projects {
            let registry = self.projects()?;
            if let Err(unknown) = crate::projects::named(&registry, project)
                && !self.fresh_index()?.project_names()?.contains(project)
            {
                return Err(unknown);
            }
        }
        Ok(())
    }

    /// The rows of the index as it is.
    pub(crate) fn listed(&self, filter: &Filter) -> Result<Vec<Listed>> {
        self.ask_index(|index, deleted| Ok(index.list(filter, deleted)?.rows))
    }

    /// Asks the index something for which it has to know what became of deleted tasks.
    pub(super) fn ask_index<T>(
        &self,
        question: impl FnOnce(&Index, &Deleted<'_>) -> Result<T>,
    ) -> Result<T> {
        let deleted = |project: &str, key: Key| self.over_in_trash(project, key);
        question(self.index()?, &deleted)
    }

    /// One task. Its files are put in order first, if need be and possible.
    pub fn view(&self, place: Place) -> Result<TaskView> {
        let snapshot = self.store.read(&place)?;
        let witness = || lock::read_witness(&place.path);
        let truth = snapshot.reconcile(&place, &witness, self.now(), &mut |_, _| None);
        let needs_order = truth
            .as_ref()
            .is_ok_and(|truth| truth.rewrite && truth.broken.is_none())
            || snapshot
                .history
                .last_transition()
                .is_some_and(|transition| !transition.finished)
            || kept_texts(&place.path) != sorted(unmerged(&snapshot.history));
        if self.copied_from().is_some() {
            return self.view_as_is(place);
        }
        if let Ok(truth) = &truth
            && truth.task.waits_for_children()
            && let Some(key) = truth.task.key
            && let Err(error) = self.advance_delegated(&place.project, key)
        {
            tracing::warn!(%error, "a delegated task was not looked at");
        }
        if needs_order {
            match self.lock_task(place.clone()) {
                Ok(tx) => {
                    drop(tx);
                    return self.view_as_is(place);
                }
                Err(error) if error.code == Code::Storage || error.code == Code::Busy => {
                    self.notice(format!("shown as it will be; not written: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
        self.view_as_is(place)
    }

    /// As [`Engine::view`], after the exit rules were applied to agents that are gone: by this process, or by the one that
    /// is at it. Advice about the task would else be outdated by the very next command.
    pub fn view_judged(&self, place: Place) -> Result<TaskView> {
        let view = self.view(place.clone())?;
        let is_gone = |run: &Run| !self.run_folder(&run.id).is_alive();
        let unjudged = open_runs(&view.history).iter().any(is_gone);
        // A reviewer that crashed may be on its way back.
        let waits =
            view.task.status.is_in_review() && matches!(self.agent_of(&view), Agent::Gone { .. });
        if view.damaged.is_some() || !(unjudged || waits) {
            return Ok(view);
        }
        match self.lock_task(place.clone()) {
            Ok(tx) => drop(tx),
            Err(error) => tracing::warn!(%error, "an agent that is gone was not judged"),
        }
        self.view_as_is(place)
    }

    fn view_as_is(&self, place: Place) -> Result<TaskView> {
        let snapshot = self.store.read(&place)?;
        let witness = || lock::read_witness(&place.path);
        let truth = snapshot
            .reconcile(&place, &witness, self.now(), &mut |_, _| None)
            .map_err(|broken| {
                let gone = (!place.path.exists()).then(|| self.gone_meanwhile(&place));
                gone.flatten()
                    .unwrap_or_else(|| crate::tx::damaged_for_good(&place, &broken))
            })?;
        let task = truth.task;
        let references = |list: &[String]| list.to_vec();
        let linked = |engine: &Engine, list: Vec<String>| -> Result<Vec<Linked>> {
            list.iter()
                .map(|reference| engine.linked(&task.project, reference))
                .collect()
        };
        let blockers = linked(self, references(&task.blocked_by))?;
        let related = linked(self, references(&task.related_to))?;
        let (mut blocks, mut referenced_by) = (Vec::new(), Vec::new());
        if let Some(key) = task.key {
            let index = self.index()?;
            let as_link = |found: Found| named(&task.project, found);
            blocks = index
                .linked_to("blocked_by", &task.project, key)?
                .into_iter()
                .map(as_link)
                .collect();
            referenced_by = index
                .linked_to("mentions", &task.project, key)?
                .into_iter()
                .map(as_link)
                .collect();
        }
        let children = self.children(&task)?;
        let lost_workspace = self.lost_workspace(&task, &snapshot.history);
        let lost = lost_workspace.as_ref().map(|lost| lost.what.clone());
        Ok(TaskView {
            body: snapshot.body().to_owned(),
            attention: lost
                .or_else(|| attention(&snapshot.history))
                .or_else(|| cancelled_link(&blockers, &children)),
            lost_workspace,
            kept_texts: kept_texts(&place.path),
            context_changed: snapshot
                .history
                .own()
                .iter()
                .any(|event| event.kind == EventType::ContextChanged),
            damaged: truth.broken,
            history: snapshot.history,
            task,
            place,
            blockers,
            blocks,
            related,
            referenced_by,
            children,
        })
    }

    /// The events of a journal from a byte on; a line that is cut short is left for the next time.
    pub fn events_since(&self, place: &Place, from: usize) -> Result<Vec<Event>> {
        let path = place.journal();
        let bytes = journal::read(&path).map_err(|error| Error::io("read", &path, &error))?;
        let later = bytes.text.get(from..).unwrap_or_default();
        Ok(History::parse(later).events)
    }

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
                    next: Action::Explain {
                        task: view.task.label(),
                    },
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
                let verdict = event.details.get("verdict").and_then(|word| word.as_str());
                verdict == Some("fail") && event.by.as_deref() == Some(Actor::Engine.name())
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
    fn agent_of(&self, view: &TaskView) -> Agent {
        let role = role_of(view.task.status);
        if let Ok(Some(_)) = self.adopted_session(&view.history, role) {
            return Agent::Alive {
                doing: "runs in a tmux session that another program started".to_owned(),
            };
        }
        let agents = self.agents(&view.task, &view.history);
        match agents.into_iter().find(|agent| agent.run.role == role) {
            None => Agent::None,
            Some(agent) if agent.alive => Agent::Alive {
                doing: match agent.doing {
                    Some(doing) => self.with_verb(&doing),
                    None => "is running".to_owned(),
                },
            },
            Some(agent) => Agent::Gone {
                how: match agent.run.end {
                    None => "is gone without a word".to_owned(),
                    Some(end) if end.how == Ending::Crashed => format!("crashed: {}", end.reason),
                    Some(end) if end.reason.is_empty() => "was stopped".to_owned(),
                    Some(end) => format!("ended: {}", end.reason),
                },
            },
        }
    }

    /// What an agent does, as a part of a sentence.
    fn with_verb(&self, doing: &Doing) -> String {
        let words = doing.words(self.local_time);
        let said = one_line(&doing.text);
        match doing.state {
            State::AsksPermission | State::WaitsForInput => words,
            State::Finished => "has finished".to_owned(),
            State::Failed => match doing.again {
                Some(again) => format!(
                    "has failed: {said}; it is told to go on at {}",
                    (self.local_time)(again)
                ),
                // What is to be done about it follows.
                None => "has failed".to_owned(),
            },
            State::Running => "is running (it gives no signals)".to_owned(),
            State::Starting | State::Working | State::Idle | State::Waiting => {
                format!("is {words}")
            }
        }
    }

    /// The task, what it waits for, what that waits for, and so on.
    pub fn deps_tree(&self, task: &Task) -> Result<Vec<DepsNode>> {
        let Some(key) = task.key else {
            return Ok(Vec::new());
        };
        let own = task.project.clone();
        let mut trouble = None;
        let index = self.index()?;
        let lines = orange_core::graph::tree(&format!("{own}:{key}"), |node| {
            let links =
                read_stored("", node).map(|(project, key)| index.blockers_of(&project, key));
            match links {
                Some(Ok(links)) => links
                    .into_iter()
                    .map(|(project, key)| match key {
                        Key(0) => project,
                        key => format!("{project}:{key}"),
                    })
                    .collect(),
                Some(Err(error)) => {
                    trouble.get_or_insert(error);
                    Vec::new()
                }
                None => Vec::new(),
            }
        });
        if let Some(error) = trouble {
            return Err(error);
        }
        lines
            .into_iter()
            .map(|line| {
                let found = match read_stored("", &line.id) {
                    Some((project, key)) => self.index()?.by_key(&project, key)?,
                    None => None,
                };
                Ok(DepsNode {
                    depth: line.depth,
                    reference: line
                        .id
                        .strip_prefix(&format!("{own}:"))
                        .map_or(line.id.clone(), str::to_owned),
                    status: found.as_ref().and_then(|found| found.status.parse().ok()),
                    summary: found.map(|found| found.summary).unwrap_or_default(),
                    repeated: line.seen_before,
                })
            })
            .collect()
    }

    /// Everything connected with the task by `blocked_by`, as (waiting, blocker) pairs.
    pub fn deps_edges(&self, task: &Task) -> Result<Vec<(String, String)>> {
        let Some(key) = task.key else {
            return Ok(Vec::new());
        };
        let index = self.index()?;
        let mut edges = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut open = vec![(task.project.clone(), key)];
        while let Some((project, key)) = open.pop() {
            if !seen.insert((project.clone(), key)) {
                continue;
            }
            let here = stored_reference(&task.project, &project, key);
            for (blocker_project, blocker) in index.blockers_of(&project, key)? {
                if blocker == Key(0) {
                    edges.push((here.clone(), blocker_project));
                    continue;
                }
                let there = stored_reference(&task.project, &blocker_project, blocker);
                edges.push((here.clone(), there));
                open.push((blocker_project, blocker));
            }
            for waiting in index.linked_to("blocked_by", &project, key)? {
                open.extend(waiting.key.map(|key| (waiting.project, key)));
            }
        }
        edges.sort();
        edges.dedup();
        Ok(edges)
    }
}

fn named(own_project: &str, found: Found) -> Linked {
    Linked {
        reference: match found.key {
            Some(key) => stored_reference(own_project, &found.project, key),
            None => found.id,
        },
        status: found.status.parse().ok(),
    }
}

/// A cancelled blocker or child never gets over: a person has to decide.
fn cancelled_link(blockers: &[Linked], children: &[Linked]) -> Option<String> {
    let cancelled = |links: &[Linked]| {
        links
            .iter()
            .find(|link| link.status.is_some_and(Status::is_given_up))
            .map(|link| link.reference.clone())
    };
    match (cancelled(blockers), cancelled(children)) {
        (Some(blocker), _) => Some(format!("{blocker}, which it waits for, was cancelled")),
        (None, Some(child)) => Some(format!("its child {child} was cancelled")),
        (None, None) => None,
    }
}
