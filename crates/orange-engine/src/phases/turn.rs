//! One turn: its iteration is opened, an agent runs, what it said and used is kept at once, and what it left in the slot is
//! committed. What it means for its phase is `after_turn.rs`.

use crate::effects::executor::{harness_of_turns, off_its_branch};
use crate::effects::take_back::take_back_turn;
use crate::effects::{spoken, start_agent};
use crate::error::{Code, Result, err};
use crate::execution;
use crate::execution::servers;
use crate::git::checkpoint;
use crate::git::state::{self, Head};
use crate::harness::Harness;
use crate::headless::{AgentOutput, FailureKind, Turn, TurnExtras, TurnRequest, listen_to_turn};
use crate::phases::executor::{Executor, ExecutorEnd};
use crate::phases::progress::Progress;
use crate::phases::transcripts::TurnTranscript;
use crate::phases::ui_testing;
use crate::prompt::phase as prompts;
use crate::sessions::programs;
use crate::settings::models;
use orange_core::task::Task;
use orange_core::usage::Usage;
use orange_core::work::answer::Answer;
use orange_core::work::execution::{
    Execution, Iteration, IterationKind, IterationOutcome, WantedTurn,
};
use orange_core::work::plan::{McpServer, PhaseKind, PlannedPhase};
use orange_core::workflow::{Role, Trigger};
use orange_sys::crash_points::crash_point;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What a turn uses is kept no more often than this while it lasts.
const BETWEEN_SPENDINGS: Duration = Duration::from_secs(1);

/// The agent CLI of a turn.
pub(super) struct TurnAgent {
    pub(super) harness: Harness,
    pub(super) program: PathBuf,
}

/// Takes a turn. Something, when the executor is to end.
pub(super) fn take(
    this: &mut Executor<'_>,
    mut execution: Execution,
    wanted: &WantedTurn,
) -> Result<Option<ExecutorEnd>> {
    let phase = this.planned(&wanted.phase)?;
    let agent = match agent(this) {
        Ok(agent) => agent,
        Err(error) => {
            let why = spoken(this.call, &error);
            return Ok(Some(ExecutorEnd::Because(Trigger::NO_HARNESS, why)));
        }
    };
    let prompt = prompts::prompt(&this.about(), &execution, &phase, wanted)?;
    let before = wanted.resume.as_deref().map(|session| {
        let turns = execution.iterations.iter();
        let of_session = turns.filter(|turn| turn.session.as_deref() == Some(session));
        of_session.fold(Usage::default(), |sum, turn| sum.plus(turn.usage))
    });
    let session = wanted.resume.clone();
    let session = session.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    let transcript = TurnTranscript::of(this, &phase.name, wanted.iteration);
    let base = match phase.kind {
        PhaseKind::Review => crate::git::commit_of(&this.slot, "HEAD")?,
        _ => None,
    };
    let mut iteration = Iteration {
        phase: phase.name.clone(),
        iteration: wanted.iteration,
        attempt: wanted.attempt,
        kind: IterationKind::Turn,
        run: this.run.spec.run.clone(),
        harness: agent.harness.name.clone(),
        session: Some(session.clone()),
        started_at: this.call.now(),
        transcript: Some(transcript.name()),
        base,
        ..Iteration::default()
    };
    open(this, &mut execution, &iteration)?;
    crash_point("execution.opened");
    if !this.journal()? {
        return Ok(Some(this.interrupted()));
    }
    let servers = servers::of_phase(this.call, &this.task, &phase, &agent.harness)?;
    let mut request = request(this, &phase, wanted, &agent, prompt, servers.given)?;
    request.extras.used_before = before;
    if request.resume.is_none() {
        request.extras.begin = Some(session);
    }
    iteration.model.clone_from(&request.choice.model);
    let mut notes: Vec<(String, String)> = Vec::new();
    for server in servers.left_out {
        let name = format!("MCP server {} is left out", server.server);
        notes.push((name, server.why));
    }
    notes.extend(ui_testing::note(this, &phase, wanted, &agent.harness));
    let afresh = WantedTurn {
        resume: None,
        ..wanted.clone()
    };
    let afresh = |_: &TurnRequest| prompts::prompt(&this.about(), &execution, &phase, &afresh);
    let turn = run(
        this,
        &agent,
        request,
        (&transcript, &iteration),
        &notes,
        &afresh,
    );
    let failed_servers = match &turn {
        Ok(turn) => turn.failed_servers.clone(),
        Err(_) => BTreeMap::new(),
    };
    let end = note(this, &mut iteration, turn, |text| {
        let mut answer = Answer::read(text);
        answer.relative_to(&this.slot);
        (IterationOutcome::of_answer(answer.status), answer)
    });
    iteration.ended_at = Some(this.call.now());
    keep(this, &iteration)?;
    crash_point("execution.spent");
    commit(this, &mut iteration)?;
    keep(this, &iteration)?;
    ui_testing::note_failed_servers(this, &iteration, &failed_servers)?;
    ui_testing::take_in_report(this, &phase)?;
    Ok(end)
}

/// Stores that an iteration begins, before anything else of it happens.
pub(super) fn open(
    this: &Executor<'_>,
    execution: &mut Execution,
    iteration: &Iteration,
) -> Result<()> {
    let opened = execution.open(&this.plan, iteration.clone())
        && this.call.with_database(|database| {
            database.open_iteration(&this.task.id, iteration, execution)
        })?;
    if opened {
        return Ok(());
    }
    let (number, phase) = (iteration.iteration, &iteration.phase);
    Err(err!(
        Busy,
        "iteration {number} of {phase} was begun by another executor"
    ))
}

pub(super) fn keep(this: &Executor<'_>, iteration: &Iteration) -> Result<()> {
    this.call
        .with_database(|database| database.spend(&this.task.id, iteration))
        .map(drop)
}

fn agent(this: &Executor<'_>) -> Result<TurnAgent> {
    let harness = harness_of_turns(this.call, &this.task)?;
    let program = programs::fit_program(this.call, &harness)?;
    start_agent::check_login(this.call, &this.task, Role::Executor)?;
    Ok(TurnAgent { harness, program })
}

fn request(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    wanted: &WantedTurn,
    agent: &TurnAgent,
    prompt: String,
    servers: Vec<McpServer>,
) -> Result<TurnRequest> {
    let (call, spec, rules) = (this.call, &this.run.spec, &this.rules.phases);
    let mut asked = models::of_task(&this.task, Role::Executor);
    // A phase of the plan is more particular than the task.
    asked.model = phase.model.clone().or(asked.model);
    asked.effort = phase
        .effort
        .map(|effort| effort.to_string())
        .or(asked.effort);
    let timeout = this.rules.core.timeout_of_turn(phase);
    let mut extras = TurnExtras {
        idle_timeout: Some(rules.idle_timeout),
        turn_of: Some(this.run.turn_of(
            &call.orange,
            &phase.name,
            wanted.iteration,
            wanted.attempt,
        )),
        mcp_servers: servers,
        ..TurnExtras::default()
    };
    ui_testing::equip(this, phase, &agent.harness, &mut extras)?;
    Ok(TurnRequest {
        harness: agent.harness.name.clone(),
        folder: this.slot.clone(),
        prompt,
        permissions: spec.permissions,
        choice: models::with_settings(call, asked, Role::Executor, &agent.harness)?,
        resume: wanted.resume.clone(),
        timeout: timeout.min(wanted.time_left.max(Duration::from_secs(1))),
        extras,
    })
}

/// Runs the agent; a conversation that it does not know any more begins anew, with the prompt of one that was never told anything.
pub(super) fn run(
    this: &Executor<'_>,
    agent: &TurnAgent,
    mut request: TurnRequest,
    (transcript, iteration): (&TurnTranscript, &Iteration),
    notes: &[(String, String)],
    afresh: &dyn Fn(&TurnRequest) -> Result<String>,
) -> Result<Turn> {
    loop {
        (this.show)(Progress::Began(iteration));
        let (mut written, problem) = transcript.begin(&this.task, iteration, &request.prompt);
        if let Some(why) = problem {
            (this.show)(Progress::Note(&format!(
                "its transcript cannot be written: {why}"
            )));
        }
        for (name, on) in notes {
            written.hear(AgentOutput::Tool { name, on });
        }
        let mut spending = TurnSpending::of(this, iteration);
        let stop = || this.run.is_to_stop();
        let outcome = listen_to_turn(
            &agent.harness,
            &agent.program,
            &request,
            &programs::probe(this.call),
            &stop,
            &mut |said| {
                spending.hear(&said);
                (this.show)(Progress::Said(said));
                written.hear(said);
            },
        );
        written.finish();
        match outcome {
            Err(error) if error.code == Code::NotFound && request.resume.is_some() => {
                tracing::warn!(%error, "a conversation begins anew");
                request.prompt = afresh(&request)?;
                request.resume = None;
                request.extras.used_before = None;
                request.extras.begin = Some(uuid::Uuid::new_v4().to_string());
            }
            outcome => return outcome,
        }
    }
}

/// Keeps what a turn uses while it lasts, so that one that is killed has told it.
struct TurnSpending<'a> {
    this: &'a Executor<'a>,
    iteration: Iteration,
    kept: Option<Instant>,
}

impl<'a> TurnSpending<'a> {
    fn of(this: &'a Executor<'a>, iteration: &Iteration) -> TurnSpending<'a> {
        TurnSpending {
            this,
            iteration: iteration.clone(),
            kept: None,
        }
    }

    fn hear(&mut self, said: &AgentOutput<'_>) {
        let AgentOutput::Used { usage, model } = said else {
            return;
        };
        self.iteration.usage = self.this.rules.prices.priced(*model, *usage).usage;
        if self
            .kept
            .is_some_and(|kept| kept.elapsed() < BETWEEN_SPENDINGS)
        {
            return;
        }
        self.kept = Some(Instant::now());
        let (call, task) = (self.this.call, &self.this.task);
        let kept = call.with_database(|database| database.spend(&task.id, &self.iteration));
        if let Err(error) = kept {
            tracing::warn!(%error, "what a turn has used so far is not kept");
        }
    }
}

/// Notes what came of a turn, whose last message is read by `read`; something, when nothing can go on without a person.
pub(super) fn note(
    this: &Executor<'_>,
    iteration: &mut Iteration,
    turn: Result<Turn>,
    read: impl FnOnce(&str) -> (IterationOutcome, Answer),
) -> Option<ExecutorEnd> {
    let turn = match turn {
        Ok(turn) => turn,
        Err(error) => {
            let why = spoken(this.call, &error);
            iteration.outcome = Some(IterationOutcome::Service);
            iteration.error = Some(why.clone());
            return Some(ExecutorEnd::Because(Trigger::NO_HARNESS, why));
        }
    };
    iteration.model = turn.model.clone().or_else(|| iteration.model.take());
    let model = iteration.model.as_deref();
    iteration.usage = this.rules.prices.priced(model, turn.used).usage;
    if turn.conversation.is_some() {
        iteration.session.clone_from(&turn.conversation);
    }
    iteration.error.clone_from(&turn.error);
    let Some(failure) = turn.failure else {
        let (outcome, answer) = read(&turn.text);
        iteration.outcome = Some(outcome);
        iteration.answer = Some(answer);
        return None;
    };
    let why = turn.error.unwrap_or_else(|| "its turn failed".to_owned());
    let (outcome, end) = match failure {
        FailureKind::Service | FailureKind::Limit => {
            let again = turn
                .until
                .unwrap_or_else(|| this.call.now() + this.retry_delay);
            iteration.again_at = Some(again);
            (IterationOutcome::Service, None)
        }
        FailureKind::LoggedOut | FailureKind::Refused => {
            let why = match iteration.kind {
                IterationKind::Judge => {
                    format!(
                        "its judge cannot be asked: harness {}: {why}",
                        iteration.harness
                    )
                }
                _ => why,
            };
            let end = ExecutorEnd::Because(Trigger::NO_HARNESS, why);
            (IterationOutcome::Service, Some(end))
        }
        FailureKind::Interrupted => (IterationOutcome::Interrupted, Some(this.interrupted())),
        FailureKind::TimedOut | FailureKind::Idle => (IterationOutcome::TimedOut, None),
        FailureKind::Failed => (IterationOutcome::Failed, None),
    };
    iteration.outcome = Some(outcome);
    end
}

/// Commits what is uncommitted in the slot, so that the iteration has a commit to be checked at. What a review changed is taken
/// back instead.
pub(super) fn commit(this: &mut Executor<'_>, iteration: &mut Iteration) -> Result<()> {
    let done = match &iteration.base {
        Some(_) => follow_branch(this)
            .and_then(|()| take_back_turn(this.call, &this.task, this.slot_name(), iteration)),
        None => head_after(this, iteration).map(|head| iteration.head = head),
    };
    match done {
        Ok(()) => {}
        Err(error) => {
            let why = spoken(this.call, &error);
            execution::fail_uncommitted(this.call, &this.task, &why)?;
            return Err(error);
        }
    }
    crash_point("execution.committed");
    Ok(())
}

/// The commit that holds what an iteration left.
fn head_after(this: &mut Executor<'_>, iteration: &Iteration) -> Result<Option<String>> {
    follow_branch(this)?;
    check_branch(this)?;
    let message = message(&this.rules.prefix, &this.task, iteration);
    match checkpoint::commit_all(&this.call.site(&this.slot), &message)? {
        Some(commit) => Ok(Some(commit)),
        None => crate::git::commit_of(&this.slot, "HEAD"),
    }
}

/// Has the task follow its branch, should its agent have renamed it.
fn follow_branch(this: &mut Executor<'_>) -> Result<()> {
    let head = state::head(&this.slot);
    if matches!(head, Head::Branch(_))
        && head.branch() != Some(&this.task.branch)
        && !crate::git::branch_exists(&this.slot, &this.task.branch)?
    {
        // Whoever locks the task does that.
        this.journal()?;
    }
    Ok(())
}

/// Refuses a slot in which an agent has switched to another branch: a commit there would change what belongs to somebody else.
fn check_branch(this: &Executor<'_>) -> Result<()> {
    match off_its_branch(this.call, &this.task, &this.slot)? {
        None => Ok(()),
        Some(why) => Err(err!(ConditionUnmet, "{why}")),
    }
}

/// `[orange] TASK-001: test - iteration 2`
fn message(prefix: &str, task: &Task, iteration: &Iteration) -> String {
    let how_far = if iteration.outcome == Some(IterationOutcome::Completed) {
        "completed".to_owned()
    } else {
        format!("iteration {}", iteration.iteration)
    };
    let label = task.label();
    let first = format!("{prefix} {label}: {} - {how_far}", iteration.phase);
    match iteration.summary() {
        Some(summary) => format!("{first}\n\n{summary}\n"),
        None => format!("{first}\n"),
    }
}
