//! An errand: finds out how large a task is. An agent is asked that sees the task's words and the names of the repository's files, in
//! an empty folder; an answer that is none leaves it to the settings.

use crate::call::{self, Call};
use crate::effects::executor::{classify_lock, harness_of_turns};
use crate::effects::{messages, spoken};
use crate::error::{IoContext, Result};
use crate::field_checks::bad_value;
use crate::git::{Git, commit_of};
use crate::headless::{self, TurnExtras, TurnOf, TurnRequest};
use crate::rules::rules_commit;
use crate::sessions::programs;
use crate::settings::{self, models};
use crate::store::Place;
use crate::store::locks::{Lock, Rank, about_to_wait};
use crate::{execution, prompt, started_by};
use orange_core::artifact::section;
use orange_core::config::Permissions;
use orange_core::machine::{self, Move};
use orange_core::naming::cut_at;
use orange_core::prompt::{PromptName, Values};
use orange_core::task::{Field, FieldMap, Task, Weight};
use orange_core::work::answer::last_object;
use orange_core::work::execution::{Iteration, IterationKind, IterationOutcome};
use orange_core::workflow::{Actor, Role};
use serde_json::Value;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// What its iterations are called, since the task has no plan yet.
pub(crate) const CLASSIFY: &str = "classify";

/// It only reads what it is told.
const TIMEOUT: Duration = Duration::from_secs(180);

/// The most times that an agent is asked: a classification whose process dies is started again, and each turn costs.
const MOST_TRIES: usize = 3;

/// So much of its reason is kept.
const LONGEST_REASON: usize = 300;

/// So much of the list of files is shown.
const LONGEST_LIST: usize = 8 * 1024;

/// Finds the weight of one task, unless somebody is at it or it is known.
pub fn classify(call: &Call, folder: &str) -> Result<()> {
    about_to_wait(Rank::Check);
    let Some(_lock) = call
        .store
        .try_lock(Lock::Classify(&classify_lock(folder)))?
    else {
        return Ok(());
    };
    let place = call.store.place(folder);
    let task = call.store.survey(folder).task;
    if !execution::waits_for_weight(&task) {
        return Ok(());
    }
    let call = &started_by::inherit_here(call, &task.id).as_engine();
    let (weight, why) = match task.weight {
        Some(weight) => (weight, "a person decided it".to_owned()),
        None if tries(call, &task)? >= MOST_TRIES => {
            execution::interrupt_open(call, &task)?;
            let why = format!("its agent was asked {MOST_TRIES} times, and no answer was stored");
            by_settings(call, &task, &why)?
        }
        None => match asked(call, &place, &task) {
            Ok(found) => found,
            Err(error) => by_settings(call, &task, &spoken(call, &error))?,
        },
    };
    decide(call, place, weight, &why)
}

fn by_settings(call: &Call, task: &Task, why: &str) -> Result<(Weight, String)> {
    let weight = settings::config_for(call, task)?.weights.default;
    Ok((weight, format!("as weights.default says: {why}")))
}

fn asked(call: &Call, place: &Place, task: &Task) -> Result<(Weight, String)> {
    let harness = harness_of_turns(call, task)?;
    let program = programs::fit_program(call, &harness)?;
    let prompt = prompt_of(call, place, task)?;
    let folder = call.store.home().join("classify").join(&task.id);
    crate::store::private::make_folders(&folder).doing("create", &folder)?;
    let choice = models::with_settings(
        call,
        models::of_task(task, Role::Executor),
        Role::Executor,
        &harness,
    )?;
    let request = TurnRequest {
        harness: harness.name.clone(),
        folder: folder.clone(),
        prompt,
        permissions: Permissions::Ask,
        choice,
        resume: None,
        timeout: TIMEOUT,
        extras: TurnExtras {
            turn_of: Some(TurnOf {
                task: task.id.clone(),
                run: None,
                role: Role::Executor,
                phase: CLASSIFY.to_owned(),
                iteration: 1,
                attempt: 1,
                orange: call.orange.clone(),
                search_path: None,
                withheld: Vec::new(),
            }),
            ..TurnExtras::default()
        },
    };
    let asked = request.choice.model.clone();
    let mut iteration = opened(call, task, &harness.name)?;
    let stop = AtomicBool::new(false);
    let turn = headless::take_turn(&harness, &program, &request, &programs::probe(call), &stop);
    let _ = fs::remove_dir_all(&folder);
    iteration.ended_at = Some(call.now());
    let found = match &turn {
        Ok(turn) => {
            iteration.model = turn.model.clone().or(asked);
            let prices = &settings::config(call)?.prices;
            iteration.usage = prices.priced(iteration.model.as_deref(), turn.used).usage;
            iteration.session.clone_from(&turn.conversation);
            iteration.error.clone_from(&turn.error);
            answer_in(&turn.text)
        }
        Err(error) => {
            iteration.error = Some(error.to_string());
            None
        }
    };
    iteration.outcome = Some(match found {
        Some(_) => IterationOutcome::Completed,
        None => IterationOutcome::Failed,
    });
    call.with_database(|database| database.spend(&task.id, &iteration))?;
    turn?;
    match found {
        Some(found) => Ok(found),
        None => by_settings(call, task, "the agent named no weight"),
    }
}

/// How often an agent was asked.
fn tries(call: &Call, task: &Task) -> Result<usize> {
    let rows = execution::execution(call, task)?.iterations;
    let asked = rows
        .iter()
        .filter(|row| row.kind == IterationKind::Classify);
    Ok(asked.count())
}

/// The iteration of this attempt. Those of errands that died are over.
fn opened(call: &Call, task: &Task, harness: &str) -> Result<Iteration> {
    execution::interrupt_open(call, task)?;
    let execution = execution::execution(call, task)?;
    let iteration = Iteration {
        phase: CLASSIFY.to_owned(),
        iteration: u32::try_from(tries(call, task)?)
            .unwrap_or(u32::MAX)
            .saturating_add(1),
        attempt: 1,
        kind: IterationKind::Classify,
        harness: harness.to_owned(),
        started_at: call.now(),
        ..Iteration::default()
    };
    call.with_database(|database| database.open_iteration(&task.id, &iteration, &execution))?;
    Ok(iteration)
}

fn answer_in(text: &str) -> Option<(Weight, String)> {
    last_object(text, "weight", |object| {
        let weight = object.get("weight")?.as_str()?.parse().ok()?;
        let reason = object.get("reason").and_then(Value::as_str);
        let reason = reason.unwrap_or("its agent gave no reason");
        Some((weight, cut_at(reason, LONGEST_REASON).to_owned()))
    })
}

fn prompt_of(call: &Call, place: &Place, task: &Task) -> Result<String> {
    let snapshot = call.store.read(place)?;
    let body = snapshot.body();
    let context = section(body, "Context").and_then(|section| body.get(section.content));
    let context = context.unwrap_or_default().trim().to_owned();
    let files = files_of(call, task)?;
    let fill = |values: Values| Values {
        context: match context.as_str() {
            "" => String::new(),
            context => format!("What the person who created the task says:\n\n{context}"),
        },
        files: format!("The files of the repository:\n\n{files}"),
        ..values
    };
    prompt::prompt_of_phase(call, task, PromptName::Classify, None, fill)
}

/// The names of the files where the work starts from.
fn files_of(call: &Call, task: &Task) -> Result<String> {
    let project = call::registered(call, &task.project)?;
    let commit = rules_commit::rules_commit(call, &project, task)?;
    let Some(commit) = commit_of(&project.path, &commit)? else {
        return Ok(String::new());
    };
    let names = Git::at(&project.path)
        .quiet()
        .args(["ls-tree", "-r", "--name-only", &commit])
        .text()?;
    let shown = cut_at(&names, LONGEST_LIST);
    Ok(match names.len() - shown.len() {
        0 => names,
        _ => {
            let rest = names.get(shown.len()..).unwrap_or_default().lines().count();
            format!("{shown}\nand {rest} more")
        }
    })
}

/// Notes the weight and makes the move that waits for it.
fn decide(call: &Call, place: Place, weight: Weight, why: &str) -> Result<()> {
    let mut tx = messages::lock_with_retry(call, place)?;
    tx.journal_execution()?;
    if !execution::waits_for_weight(&tx.task) {
        return tx.commit(Vec::new()).map(drop);
    }
    if tx.task.weight.is_none() {
        let field = (
            Field::Weight.name().to_owned(),
            Value::from(weight.as_str()),
        );
        let change = FieldMap::from_iter([field]);
        let event = machine::update(&tx.task, change, Actor::Engine, call.now());
        let event = event.map_err(bad_value)?;
        tx.note(event.map(|event| event.because(why)).into_iter().collect())?;
    }
    let row = tx.task.rows().find(|row| execution::needs_weight(row));
    let Some(row) = row else {
        return tx.commit(Vec::new()).map(drop);
    };
    let event = tx.decide_as_engine(Move::to(row.to))?.because(why);
    let committed = tx.commit(vec![event])?;
    if committed.task.is_queued() {
        call::request_queue_run(call)?;
    }
    Ok(())
}
