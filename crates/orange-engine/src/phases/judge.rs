//! The judge of an ai gate: a run of its own, without files and without the conversation of the agent that worked, which says
//! whether a phase counts. `ask` runs it and stores what it said; `decide` carries that out.

use crate::effects::executor::harness_of_judge;
use crate::effects::{spoken, start_agent};
use crate::error::{Error, IoContext, Result};
use crate::execution;
use crate::headless::{TurnExtras, TurnRequest};
use crate::phases::after_turn;
use crate::phases::executor::{Executor, ExecutorEnd};
use crate::phases::progress::Progress;
use crate::phases::transcripts::{self, TurnTranscript};
use crate::phases::turn::{self, TurnAgent};
use crate::prompt::judge as prompts;
use crate::sessions::programs;
use crate::settings::models;
use crate::store::private;
use orange_core::config::Permissions;
use orange_core::work::execution::{
    Execution, Iteration, IterationKind, IterationOutcome, WantedJudge,
};
use orange_core::work::plan::PlannedPhase;
use orange_core::work::verdict::{JudgeDecision, Judgement};
use orange_core::workflow::{Role, Trigger};
use orange_sys::crash_points::crash_point;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder in that of the executor's run in which its judges work; nothing is in it.
const FOLDER: &str = "judge";

/// Runs a judge. Something, when the executor is to end.
pub(super) fn ask(
    this: &mut Executor<'_>,
    mut execution: Execution,
    wanted: &WantedJudge,
) -> Result<Option<ExecutorEnd>> {
    let phase = this.planned(&wanted.phase)?;
    let (agent, role) = match agent(this) {
        Ok(agent) => agent,
        Err(error) => {
            let why = spoken(this.call, &error);
            return Ok(Some(ExecutorEnd::Because(Trigger::NO_HARNESS, why)));
        }
    };
    let state = execution.phase(&phase.name);
    let head = state.and_then(|state| state.commit_sha.as_deref());
    let prompt = prompts::prompt(&this.about(), &execution, &phase, head)?;
    let transcript = TurnTranscript::of(this, &phase.name, wanted.iteration);
    let session = uuid::Uuid::new_v4().to_string();
    let mut iteration = Iteration {
        phase: phase.name.clone(),
        iteration: wanted.iteration,
        attempt: wanted.attempt,
        kind: IterationKind::Judge,
        run: this.run.spec.run.clone(),
        harness: agent.harness.name.clone(),
        session: Some(session.clone()),
        started_at: this.call.now(),
        transcript: Some(transcript.name()),
        ..Iteration::default()
    };
    turn::open(this, &mut execution, &iteration)?;
    crash_point("judge.opened");
    if !this.journal()? {
        return Ok(Some(this.interrupted()));
    }
    let folder = empty_folder(this)?;
    let mut request = request(this, &phase, wanted, (&agent, role), folder, prompt)?;
    request.extras.begin = Some(session);
    iteration.model.clone_from(&request.choice.model);
    // It never goes on with a conversation.
    let afresh = |request: &TurnRequest| Ok(request.prompt.clone());
    let about = (&transcript, &iteration);
    let said = turn::run(this, &agent, request, about, &[], &afresh);
    let end = turn::note(this, &mut iteration, said, |text| {
        let judgement = Judgement::read(text);
        let outcome = match judgement.decision {
            JudgeDecision::Approved => IterationOutcome::Completed,
            JudgeDecision::Rejected => IterationOutcome::Continue,
            JudgeDecision::Blocked => IterationOutcome::Blocked,
        };
        (outcome, judgement.into())
    });
    iteration.ended_at = Some(this.call.now());
    crash_point("judge.answered");
    turn::keep(this, &iteration)?;
    crash_point("judge.spent");
    Ok(end)
}

/// Carries out what a judge's run came to. Something, when the executor is to end.
pub(super) fn decide(
    this: &mut Executor<'_>,
    mut execution: Execution,
    at: usize,
) -> Result<Option<ExecutorEnd>> {
    let judged = execution.judged(&this.plan, &this.rules.core, at, this.call.now());
    let run = after_turn::iteration(&execution, at)?;
    tracing::info!(phase = run.phase, ?judged, "judge over");
    let complete = transcripts::in_words(&run, execution.status(&run.phase));
    (this.show)(Progress::Over(&complete));
    TurnTranscript::of(this, &run.phase, run.iteration).complete(this, &execution, &run);
    this.call.with_database(|database| {
        let decision = judged.decision.as_ref();
        database.judged(&this.task.id, &run, decision, &execution)
    })?;
    crash_point("judge.decided");
    execution::review_file::write(this.call, &this.place, &this.task);
    if !this.journal()? {
        return Ok(Some(this.interrupted()));
    }
    if run.outcome == Some(IterationOutcome::Service) {
        return Ok(after_turn::wait(this, &run));
    }
    Ok(None)
}

/// The gate of a phase has changed while it waited for its judge.
pub(super) fn settle(
    this: &mut Executor<'_>,
    mut execution: Execution,
    phase: &str,
) -> Result<Option<ExecutorEnd>> {
    execution.settle_gate(&this.plan, &this.rules.core, phase, this.call.now());
    this.store(&execution)?;
    execution::review_file::write(this.call, &this.place, &this.task);
    Ok((!this.journal()?).then(|| this.interrupted()))
}

fn agent(this: &Executor<'_>) -> Result<(TurnAgent, Role)> {
    let (harness, role) = harness_of_judge(this.call, &this.task)?;
    let program = programs::fit_program(this.call, &harness).map_err(of_judge)?;
    start_agent::check_login(this.call, &this.task, role).map_err(of_judge)?;
    Ok((TurnAgent { harness, program }, role))
}

/// A person has to see to another harness than that of the task's own agents.
fn of_judge(error: Error) -> Error {
    Error {
        message: format!("its judge cannot be asked: {}", error.message),
        ..error
    }
}

fn request(
    this: &Executor<'_>,
    phase: &PlannedPhase,
    wanted: &WantedJudge,
    (agent, role): (&TurnAgent, Role),
    folder: PathBuf,
    prompt: String,
) -> Result<TurnRequest> {
    let (call, rules) = (this.call, &this.rules.phases);
    let asked = models::of_task(&this.task, role);
    let name = format!("judge {}", phase.name);
    let turn_of = this
        .run
        .turn_of(&call.orange, &name, wanted.iteration, wanted.attempt);
    Ok(TurnRequest {
        harness: agent.harness.name.clone(),
        folder,
        prompt,
        permissions: Permissions::Ask,
        choice: models::with_settings(call, asked, role, &agent.harness)?,
        resume: None,
        timeout: this.rules.core.timeout_of_turn(phase),
        extras: TurnExtras {
            idle_timeout: Some(rules.idle_timeout),
            turn_of: Some(turn_of),
            ..TurnExtras::default()
        },
    })
}

/// An empty folder; what a judge that was killed left in it goes.
fn empty_folder(this: &Executor<'_>) -> Result<PathBuf> {
    let runs: &Path = this.call.store.home();
    let folder = runs.join("runs").join(&this.run.spec.run).join(FOLDER);
    if folder.is_dir() {
        fs::remove_dir_all(&folder).doing("remove", &folder)?;
    }
    private::make_folders(&folder).doing("create", &folder)?;
    Ok(folder)
}
