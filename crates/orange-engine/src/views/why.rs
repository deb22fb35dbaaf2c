//! Why a task is where it is, and what moves it on.

use crate::call::Call;
use crate::effects::executor;
use crate::effects::messages::one_line;
use crate::error::{Code, Result};
use crate::projects::Project;
use crate::runs::{Doing, State};
use crate::sessions::{self, adopted};
use crate::views::task::TaskView;
use crate::views::{agents, concerns};
use crate::workspaces::{acquire, base, project_consent, setup};
use crate::{checks, execution, facts, rules};
use orange_core::attention::{self, raised};
use orange_core::evidence::Evidence;
use orange_core::exit::role_of;
use orange_core::gate::Verdict;
use orange_core::history::payload::StatusMoved;
use orange_core::history::{Event, EventType, History, HookOutcome, Payload};
use orange_core::machine::Move;
use orange_core::reason::Reason;
use orange_core::reconcile::Broken;
use orange_core::runs::{Ending, open_runs};
use orange_core::task::{Status, Task};
use orange_core::verification::last_failed;
use orange_core::why::{AgentPresence, StartRefused, Surroundings, Why, why};
use orange_core::work::execution::{Iteration, IterationKind, IterationOutcome};
use orange_core::workflow::phased::reason::ExecutionProgress;
use orange_core::workflow::phased::why::ExecutionFacts;
use orange_core::workflow::{Actor, Condition, Intent, Trigger};
use orange_core::{Action, TaskName, Text, text};

/// Why a task is where it is, and what moves it on.
#[derive(Debug)]
pub struct Explanation {
    /// Its label.
    pub task: String,
    pub name: TaskName,
    pub status: Status,
    /// Where it stands, as a sentence goes on after its name.
    pub phrase: String,
    pub reason: Reason,
    pub next: Option<Action>,
    /// `next` would be refused now: what the reason names is still missing.
    pub too_early: bool,
    pub needs_human: bool,
}

/// Why the task is where it is, with what keeps it from going on beside its status.
pub fn explanation(call: &Call, view: &TaskView) -> Result<Explanation> {
    let why = why_of(call, view)?;
    let mut answer = Explanation {
        task: view.task.label(),
        name: view.task.name(),
        status: view.task.status,
        phrase: view.task.phrase(),
        reason: why.reason,
        next: why.next,
        too_early: why.too_early,
        needs_human: why.needs_human || view.attention.is_some(),
    };
    if !view.history.bad_lines.is_empty() {
        answer.needs(Action::repair());
    }
    if let Some(damage) = &view.damaged {
        // What a person wrote is theirs to correct; a repair takes it out of the file.
        let by_hand = matches!(damage, Broken::Value { .. });
        answer.reason = Reason::Damaged {
            damage: damage.to_string(),
            by_hand,
        };
        answer.needs(if by_hand {
            Action::edit_task_file(view.task.name())
        } else {
            Action::repair()
        });
    }
    if let Some(lost) = &view.lost_workspace
        && view.damaged.is_none()
    {
        answer.reason = Reason::LostWorkspace {
            what: lost.what.clone(),
        };
        answer.needs(lost.next.clone());
        return Ok(answer);
    }
    let raised = raised(&view.history).filter(|_| !hook_failed(view));
    // A crash is what the answer speaks of already.
    let crashed = raised.is_some_and(|event| event.kind == EventType::AgentCrashed);
    let answers = view.answer();
    if let Some(attention) = view.attention.as_ref().filter(|_| !crashed) {
        let is_its_agents = raised.is_some_and(|event| is_of_its_agent(&answer.reason, event));
        answer.reason = if answers.is_some() && is_its_agents {
            Reason::AgentAsks {
                what: attention.clone(),
            }
        } else {
            Reason::Attention {
                besides: Box::new(answer.reason),
                what: attention.clone(),
            }
        };
    }
    if let Some(Action::AnswerQuestion { .. }) = answers {
        answer.next = answers;
    }
    // Nothing goes on without what failed.
    if view.damaged.is_none() && hook_failed(view) {
        // One that would fail in the same way is no advice.
        let refused = project_consent::start_refused(call, &view.task).map(|refused| refused.next);
        answer.needs(refused.unwrap_or(Action::retry_hooks(view.task.name())));
    }
    Ok(answer)
}

/// Whether another program made the task.
fn history_begins_with_adoption(view: &TaskView) -> bool {
    let first = view.history.own().first();
    // One that nobody has adopted yet has no journal of its own.
    first.is_none_or(|event| event.kind == EventType::TaskAdopted)
}

impl TaskView {
    /// What answers the question that an agent asks. One without a name can only be answered in its window.
    pub fn answer(&self) -> Option<Action> {
        // What is shown first is about something else then.
        if self.lost_workspace.is_some() || hook_failed(self) {
            return None;
        }
        raised(&self.history).and_then(|event| attention::answer(event, self.task.name()))
    }
}

impl Explanation {
    /// Nothing goes on before a person does this.
    fn needs(&mut self, next: Action) {
        self.next = Some(next);
        (self.needs_human, self.too_early) = (true, false);
    }
}

fn hook_failed(view: &TaskView) -> bool {
    let last = view.history.last_transition();
    last.is_some_and(|transition| {
        let mut hooks = transition.hooks.iter();
        hooks.any(|hook| matches!(hook.outcome, HookOutcome::Failed(_)))
    })
}

/// Is it about the agent that the task waits for?
fn is_of_its_agent(reason: &Reason, event: &Event) -> bool {
    let (Reason::AgentGone { role, .. } | Reason::AgentAtWork { role, .. }) = reason else {
        return false;
    };
    event.role() == Some(*role)
}

/// Why the task is where it is.
pub fn why_of(call: &Call, view: &TaskView) -> Result<Why> {
    let conditions = [
        Condition::DependenciesOver,
        Condition::SlotFree,
        Condition::ChildrenOpen,
    ];
    let mut facts = facts::facts(call, &view.task, &conditions)?;
    facts.verifying = checks::verifying(call, &view.place, &view.history);
    let project = call.project_of(&view.task.project);
    let default_branch = project
        .as_ref()
        .map(|project| project.default_branch.as_str());
    let situation = facts::situation(call, &view.task, &view.body, &facts)?;
    let starts = !view.task.has_started();
    let is_decided = view.task.offers(Intent::Merge);
    let limit = if starts {
        facts::limit_reached(call)?
    } else {
        None
    };
    // What runs is paused before its next turn.
    let budget = if starts || is_paused(&view.task) {
        execution::over_budget(call, &view.task)?
    } else {
        None
    };
    // Only asked of a task that has not been started.
    let new = project.as_ref().filter(|_| starts);
    // What keeps the rules from being read is said by the start.
    let untrusted = new.and_then(|project| {
        let refusal = setup::untrusted_for(call, project, &view.task);
        refusal.unwrap_or_default()
    });
    let mut newest_first = view.history.events.iter().rev();
    let last = newest_first.find(|event| event.to.is_some());
    let here = last.filter(|event| event.to.as_deref() == Some(view.task.status.as_str()));
    let agent = agent_of(call, view);
    let concerns = if is_decided {
        concerns::concerns_for_why(call, &view.task, &view.history)
    } else {
        Vec::new()
    };
    let evidence = Evidence::of(&view.history);
    let around = Surroundings {
        target: view
            .task
            .target(default_branch.unwrap_or("the default branch")),
        rounds: evidence.rounds,
        start_refused: match &agent {
            AgentPresence::Gone { .. } if has_unjudged_run(call, view) => Some(StartRefused {
                why: "nobody has seen to that yet".to_owned(),
                next: Action::explain(view.task.name()),
            }),
            AgentPresence::Gone { .. } => project_consent::start_refused(call, &view.task),
            AgentPresence::None | AgentPresence::Alive { .. } => None,
        },
        agent,
        adopted: history_begins_with_adoption(view),
        // A registry that cannot be read counts as complete.
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
        budget,
        untrusted: untrusted.map(|refusal| refusal.message),
        without_agent: without_agent(call, &view.task),
        without_commits: new.and_then(|project| without_commits(call, project)),
        without_base: new.and_then(|project| without_base(call, project, &view.task)),
        branch_elsewhere: new.and_then(|project| {
            // A repository that cannot be read is said by the start.
            let found = acquire::branch_elsewhere(call, project, &view.task);
            found
                .ok()
                .flatten()
                .map(|place| place.display().to_string())
        }),
        conflicts: is_decided
            .then(|| {
                let (task, history) = (&view.task, &view.history);
                let stopped = concerns::merge_trouble(call, task, history);
                stopped.or_else(|| concerns::coming_conflicts(call, task, history))
            })
            .flatten(),
        without_work: concerns::has_no_work(call, &view.task, &view.history),
        failed_check: evidence
            .verify
            .filter(|_| last_failed(&view.history))
            .map(|told| told.words()),
        only_unchecked: concerns.iter().all(|concern| concern.unchecked),
        concerns: concerns.into_iter().map(|concern| concern.what).collect(),
        execution: execution_with_servers(call, view)?,
    };
    Ok(why(situation, &around))
}

/// Why no agent can execute the plan of a task that is to start, or to go on with another harness alone.
fn without_agent(call: &Call, task: &Task) -> Option<StartRefused> {
    let waits_for_person = is_paused(task) || Move::on(task, Trigger::RETRY).is_some();
    if !task.has_plan() || task.has_started() && !waits_for_person {
        return None;
    }
    if let Err(refusal) = executor::harness_of_turns(call, task) {
        return Some(StartRefused {
            why: refusal.message,
            next: Action::set_harness(task.name()),
        });
    }
    // What else is missing may be there again at the next try.
    let refusal = executor::check_can_execute(call, task).err();
    let refusal = refusal.filter(|_| !task.has_started());
    refusal.map(|refusal| StartRefused {
        why: refusal.message,
        next: Action::run(task.name(), false),
    })
}

/// Whether only a person's word makes its execution go on.
fn is_paused(task: &Task) -> bool {
    Move::on(task, Trigger::RESUME).is_some()
}

/// How far the execution of a phased task is.
pub(crate) fn execution_of(call: &Call, task: &Task) -> Result<ExecutionFacts> {
    // What is over is explained without its plan.
    if !task.has_plan() || task.status.is_terminal() {
        return Ok(ExecutionFacts::default());
    }
    let Some(plan) = execution::plan(call, task)? else {
        return Ok(ExecutionFacts::default());
    };
    let execution = execution::execution(call, task)?;
    let Some(phase) = execution.current_phase(&plan) else {
        return Ok(ExecutionFacts::default());
    };
    let planned = plan.phase(phase);
    let turns = execution.iterations_of(phase);
    let last = turns.rev().find(|turn| turn.kind == IterationKind::Turn);
    let judge = execution.judge_of_attempt(phase);
    let judging = judge.and_then(|run| match run.again_at {
        _ if run.is_open() => Some(text!(
            "the judge has been looking at {phase} since {}",
            run.started_at
        )),
        Some(again) if run.outcome == Some(IterationOutcome::Service) => {
            let why = run.error.as_deref().unwrap_or("the service failed");
            Some(text!("{why}; the judge is asked again at {}", again))
        }
        _ => None,
    });
    let is_counted = last.is_some_and(is_checked_now) || execution.awaits_decision(phase);
    let turn = last.and_then(|turn| match turn.again_at {
        _ if turn.is_open() => Some(text!("its agent works since {}", turn.started_at)),
        Some(again) if turn.outcome == Some(IterationOutcome::Service) => {
            let why = turn.error.as_deref().unwrap_or("the service failed");
            Some(text!("{why}; it is tried again at {}", again))
        }
        _ if is_checked_now(turn) => Some("its criteria are checked".into()),
        _ => None,
    });
    let unchecked = last.into_iter().flat_map(|turn| &turn.checks);
    let unchecked = unchecked.filter(|check| check.passed.is_none());
    let used = execution.used_of_attempt(phase);
    Ok(ExecutionFacts {
        progress: Some(ExecutionProgress {
            phase: phase.to_owned(),
            // One that is checked has been counted.
            iteration: used.saturating_add(u32::from(!is_counted)),
            max_iterations: planned.map_or(0, |phase| phase.max_iterations),
            doing: judging.or(turn),
            unchecked: unchecked
                .map(|check| format!("{} ({})", check.criterion, check.detail))
                .collect(),
            without: None,
        }),
        without: None,
        question: execution.question(&plan).map(|(_, question)| question),
        said: execution.gate(&plan).and_then(|gate| {
            let left = execution.undecided(&gate.name);
            let left = left.map(|why| format!("its judge leaves it to you: {why}"));
            left.or_else(|| gate.summary.clone())
        }),
        elsewhere: executor::is_at_work_elsewhere(call, task)?,
        phase: Some(phase.to_owned()),
    })
}

/// The same, with the MCP servers that the agent of its last turn did without.
fn execution_with_servers(call: &Call, view: &TaskView) -> Result<ExecutionFacts> {
    let mut execution = execution_of(call, &view.task)?;
    if view.task.has_plan() && !view.task.status.is_terminal() {
        execution.without = missing_servers(&view.history);
        if let Some(progress) = &mut execution.progress {
            progress.without.clone_from(&execution.without);
        }
    }
    Ok(execution)
}

/// `MCP server playwright: it did not start`, of the last turn that is over.
fn missing_servers(history: &History) -> Option<String> {
    let mut is_over = false;
    let mut found = Vec::new();
    for event in history.events.iter().rev() {
        match event.payload() {
            // A judge has no servers.
            Payload::IterationStarted(note) | Payload::IterationEnded(note)
                if note.kind == Some(IterationKind::Judge) => {}
            Payload::IterationEnded(_) => is_over = true,
            Payload::IterationStarted(_) if is_over => break,
            Payload::McpServerFailed(failed) => {
                let (server, why) = (failed.server?, event.reason.as_deref()?);
                found.push(format!("MCP server {server}: {why}"));
            }
            _ => {}
        }
    }
    found.reverse();
    (!found.is_empty()).then(|| found.join(", "))
}

/// Whether a turn is over, and its criteria are not.
fn is_checked_now(turn: &Iteration) -> bool {
    !turn.checked && turn.outcome.is_some_and(IterationOutcome::counts)
}

/// The repository in which there is no such commit any more as the task was to start from.
fn without_base(call: &Call, project: &Project, task: &Task) -> Option<String> {
    task.base.as_ref()?;
    let missing = base::start_of(call, project, task, false).err()?;
    let is_gone = missing.code == Code::NotFound;
    is_gone.then(|| project.path.display().to_string())
}

/// The repository of a project in which nothing was committed yet.
fn without_commits(call: &Call, project: &Project) -> Option<String> {
    // Usually git's own files tell, and no git is started for a look.
    if crate::git::commit_in_files(&project.path, &project.default_branch).is_some() {
        return None;
    }
    let head = crate::git::commit_of(&project.path, "HEAD").ok()?;
    let empty = head.is_none() && rules::parking_place(call, project).is_err();
    empty.then(|| project.path.display().to_string())
}

fn has_unjudged_run(call: &Call, view: &TaskView) -> bool {
    let role = role_of(view.task.status);
    let mut open = open_runs(&view.history).into_iter();
    open.any(|run| run.role == role && !sessions::run_folder(call, &run.id).is_alive())
}

/// The agent that the task's status is about.
pub(crate) fn agent_of(call: &Call, view: &TaskView) -> AgentPresence {
    let role = role_of(view.task.status);
    if let Ok(Some(_)) = adopted::adopted_session(call, &view.history, role) {
        return AgentPresence::Alive {
            doing: "runs in a tmux session that another program started".into(),
        };
    }
    let agents = agents::agents(call, &view.task, &view.history);
    match agents.into_iter().find(|agent| agent.role == role) {
        None => AgentPresence::None,
        Some(agent) if agent.alive => AgentPresence::Alive {
            doing: match agent.doing {
                Some(doing) => with_verb(&doing),
                None => "is running".into(),
            },
        },
        Some(agent) => AgentPresence::Gone {
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
