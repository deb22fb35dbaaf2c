//! Starting tasks, and the queue of those that could not start yet: by priority, then by age, as far as slots,
//! dependencies and the limit of running agents allow.

use crate::call::{self, Call, Caller};
use crate::effects::messages::attention_event;
use crate::effects::{spoken, start_agent, with_hint};
use crate::error::{Code, Error, Result, err};
use crate::field_checks::bad_value;
use crate::index::list::TaskFilter;
use crate::store::Place;
use crate::store::locks::{Lock, LockFile, STARTING};
use crate::tx::TaskTx;
use crate::verbs::change::{self, Change, Changed};
use crate::views::list;
use crate::{access, execution, facts, settings, started_by, tx};
use orange_core::attention;
use orange_core::history::History;
use orange_core::history::payload::AttentionNote;
use orange_core::id::Key;
use orange_core::machine::{self, Facts, Move, Situation};
use orange_core::naming::counted;
use orange_core::task::{Field, FieldMap, Priority, Queue, Status, Task};
use orange_core::workflow::{Actor, Condition, Intent, Role, Transition, Trigger};
use orange_core::{Action, Timestamp, text};
use std::fs;

/// Whether a task may be started.
enum StartClaim {
    Got(LockFile),
    LimitReached(String),
    /// Another process starts the same task.
    Another,
}

/// What came of a start.
#[derive(Debug)]
pub enum StartOutcome {
    Started(Box<Changed>),
    /// It waits; for what.
    Queued(Box<Task>, String),
}

impl StartOutcome {
    /// For a task that another command started at the same moment; None if it still waits.
    pub fn by_another(task: &Task) -> Option<StartOutcome> {
        let how = started_by_another(task)?;
        Some(StartOutcome::Queued(Box::new(task.clone()), how))
    }
}

/// Starts a pending task, or puts it into the queue. `force` overrides dependencies and the limit.
pub fn start(call: &Call, place: Place, force: bool) -> Result<StartOutcome> {
    let task = call.store.survey(&place.folder()).task;
    if task.has_started() {
        let label = task.label();
        return Err(err!(
            IllegalTransition,
            "{label} was started before: it is {}",
            task.status
        )
        .hint(text!(
            "{} says what it waits for",
            Action::explain(task.name())
        )));
    }
    if call.caller != Caller::Engine {
        started_by::note_started_by(call, &task.id);
    }
    let task = brought_forward(call, &place, task)?;
    if !force && let Some(why) = why_not_now(call, &task)? {
        return queue(call, place, why);
    }
    // Held until its agent runs, so that others count it.
    let claim = if force {
        None
    } else {
        match claim_start_after_others(call, &place)? {
            StartClaim::Got(claim) => Some(claim),
            StartClaim::LimitReached(why) => return queue(call, place, why),
            StartClaim::Another => return queue(call, place, "it is being started".to_owned()),
        }
    };
    if let Some(outcome) = StartOutcome::by_another(&call.store.survey(&place.folder()).task) {
        return Ok(outcome);
    }
    if asks(&task, Condition::Asked) && task.queued_at.is_none() {
        ask(tx::lock_task(call, place.clone())?, None)?;
    }
    let change = Change {
        intent: Some(Intent::Start),
        force: force && call.caller == Caller::Human,
        ..Change::default()
    };
    // An agent may create children; starting them is the engine's doing.
    let outcome = match call.caller {
        Caller::Agent { .. } => change::change(&call.as_engine(), place.clone(), &change),
        Caller::Human | Caller::Engine => change::change(call, place.clone(), &change),
    };
    drop(claim);
    if outcome.is_err() && call.caller != Caller::Engine {
        // Another task may have waited because of it. The queue itself goes on without a request.
        call::request_queue_run(call)?;
    }
    match outcome {
        Ok(changed) => Ok(StartOutcome::Started(Box::new(changed))),
        // Somebody was quicker.
        Err(error) if error.code == Code::ConditionUnmet && !force => {
            let why = spoken(call, &error);
            match why_not_now(call, &call.store.survey(&place.folder()).task)? {
                Some(_) => queue(call, place, why),
                // A person's consent, say. What was asked for above may have been looked at before it stood in the queue.
                None => {
                    let queued = put_in_queue(call, place, why)?;
                    if call.caller != Caller::Engine {
                        call::request_queue_run(call)?;
                    }
                    Ok(queued)
                }
            }
        }
        Err(error) => Err(error),
    }
}

/// Whether the start of a task, by its table, depends on this.
fn asks(task: &Task, condition: Condition) -> bool {
    let mut rows = task.rows();
    let start = rows.find(|row| row.intent == Some(Intent::Start));
    start.is_some_and(|row| row.conditions.contains(&condition))
}

/// Makes the moves that nobody has to ask for before a start: a plan is written once the weight is known, and a task whose
/// dependencies are over waits for them no more.
pub(crate) fn brought_forward(call: &Call, place: &Place, mut task: Task) -> Result<Task> {
    loop {
        let trigger = Move::on(&task, Trigger::DEPENDENCIES_OVER);
        let is_due = |condition: Condition| {
            let facts = facts::facts(call, &task, &[condition])?;
            let situation = facts::situation(call, &task, "", &facts)?;
            Ok::<_, Error>(machine::meets(condition, situation).is_ok())
        };
        let written = || {
            let mut rows = task.rows();
            rows.any(|row| row.conditions == [Condition::WeightKnown])
        };
        let wish = if let Some(wish) = trigger {
            is_due(Condition::DependenciesOver)?.then_some(wish)
        } else if written() && is_due(Condition::WeightKnown)? {
            let mut rows = task.rows();
            let row = rows.find(|row| row.conditions == [Condition::WeightKnown]);
            row.map(|row| Move::to(row.to))
        } else {
            None
        };
        let Some(wish) = wish else {
            return Ok(task);
        };
        let engine = call.as_engine();
        let tx = tx::lock_task(&engine, place.clone())?;
        if tx.task.status != task.status {
            // Somebody was quicker.
            task = tx.task.clone();
            continue;
        }
        let event = tx.decide_as_engine(wish)?;
        task = tx.commit(vec![event])?.task;
    }
}

/// What a pending task waits for.
pub fn why_not_now(call: &Call, task: &Task) -> Result<Option<String>> {
    let (_, unmet) = conditions_of_a_start(call, task)?;
    match unmet {
        Some(why) => Ok(Some(why)),
        None => match budget_in_its_way(call, task)? {
            Some(why) => Ok(Some(why)),
            None => facts::limit_reached(call),
        },
    }
}

/// Whether a task waits for nothing but a person's word about its own budget.
pub fn waits_for_own_budget(call: &Call, task: &Task) -> Result<bool> {
    Ok(execution::own_budget_spent(call, task)?.is_some())
}

/// The budget that keeps a task from starting. A person who starts an agent to work with is told, and not stopped.
fn budget_in_its_way(call: &Call, task: &Task) -> Result<Option<String>> {
    let why = execution::why_over_budget(call, task)?;
    if task.has_plan() || call.caller != Caller::Human {
        return Ok(why);
    }
    if let Some(why) = why {
        call.notice(format!(
            "{why}; an agent that you start is not kept from starting"
        ));
    }
    Ok(None)
}

/// The facts that a start depends on, and what of it is not met.
pub(crate) fn conditions_of_a_start(call: &Call, task: &Task) -> Result<(Facts, Option<String>)> {
    // A task that waits for others asks for them whatever comes next.
    let waits_for_others = Move::on(task, Trigger::DEPENDENCIES_OVER).is_some();
    let mut conditions = vec![Condition::DependenciesOver, Condition::SlotFree];
    conditions.retain(|condition| waits_for_others || asks(task, *condition));
    let facts = facts::facts(call, task, &conditions)?;
    let situation = Situation {
        task,
        body: "",
        facts: &facts,
        max_rounds: 0,
        now: call.now(),
    };
    let mut conditions = conditions.into_iter();
    let unmet = conditions.find_map(|condition| machine::meets(condition, situation).err());
    Ok((facts, unmet))
}

/// The same, but waits for another process that starts the same task: only when that has let go does the task tell what
/// became of it.
fn claim_start_after_others(call: &Call, place: &Place) -> Result<StartClaim> {
    match claim_start(call, place)? {
        StartClaim::Another => {}
        claim => return Ok(claim),
    }
    match call.store.lock(Lock::Starting(&place.name)) {
        Ok(ended) => drop(ended),
        Err(error) if error.code == Code::Busy => return Ok(StartClaim::Another),
        Err(error) => return Err(error),
    }
    claim_start(call, place)
}

/// Takes a place among the workers that `agents.limit` allows. It is given back with the file.
fn claim_start(call: &Call, place: &Place) -> Result<StartClaim> {
    let _lock = call.store.lock(Lock::Start)?;
    for name in facts::starting(call, false) {
        let _ = fs::remove_file(call.store.home().join(STARTING).join(name));
    }
    if let Some(why) = facts::limit_reached(call)? {
        return Ok(StartClaim::LimitReached(why));
    }
    let claim = call.store.try_lock(Lock::Starting(&place.name))?;
    Ok(claim.map_or(StartClaim::Another, StartClaim::Got))
}

/// Puts a task into the queue that waits for something which other tasks give up.
fn queue(call: &Call, place: Place, why: String) -> Result<StartOutcome> {
    let queued = put_in_queue(call, place, why)?;
    if let StartOutcome::Queued(task, _) = &queued
        && call.caller != Caller::Engine
        && why_not_now(call, task)?.is_none()
    {
        // It came free before the task stood in the queue: whoever gave it up did not see it there.
        call::request_queue_run(call)?;
    }
    Ok(queued)
}

/// Notes that a task is to start as soon as it can. That takes it out of the backlog.
fn put_in_queue(call: &Call, place: Place, why: String) -> Result<StartOutcome> {
    let tx = tx::lock_task(call, place.clone())?;
    if tx.task.has_started() {
        let why = started_by_another(&tx.task).unwrap_or(why);
        return Ok(StartOutcome::Queued(Box::new(tx.task.clone()), why));
    }
    // Both give the lock back: a task that is to wait for others is locked again.
    let mut task = if tx.task.is_queued() {
        tx.commit(Vec::new())?.task
    } else {
        ask(tx, Some(&why))?
    };
    if asks(&task, Condition::Asked)
        && let Some(waiting) = wait_for_others(call, place.clone())?
    {
        task = waiting;
    }
    raise_spent_budget(call, place, &task)?;
    Ok(StartOutcome::Queued(Box::new(task), why))
}

/// A task waits for its own budget for ever: a person is asked to look at it, once.
fn raise_spent_budget(call: &Call, place: Place, task: &Task) -> Result<()> {
    let wanted = |task: &Task, history: &History| -> Result<Option<String>> {
        let spent = execution::own_budget_spent(call, task)?.filter(|_| task.is_queued());
        let raised = attention::raised(history).and_then(|event| event.reason.as_ref());
        Ok(spent.filter(|spent| raised != Some(spent)))
    };
    if execution::own_budget_spent(call, task)?.is_none()
        || wanted(task, &place.history()?)?.is_none()
    {
        return Ok(());
    }
    let tx = tx::lock_task(call, place)?;
    // Somebody may have let it go on meanwhile.
    let event = wanted(&tx.task, tx.history())?;
    let event = event.map(|spent| attention_event(call, AttentionNote::default(), spent));
    tx.commit(Vec::from_iter(event)).map(drop)
}

fn ask(tx: TaskTx<'_>, why: Option<&str>) -> Result<Task> {
    let since = tx.task.queued_at.unwrap_or_else(|| tx.call.now());
    let changes = FieldMap::from_iter([
        (Field::QueuedAt.name().to_owned(), since.to_string().into()),
        (
            Field::Queue.name().to_owned(),
            Queue::Active.as_str().into(),
        ),
    ]);
    let event = machine::update(&tx.task, changes, Actor::Engine, tx.call.now());
    let event = event.map_err(bad_value)?.map(|event| match why {
        Some(why) => event.because(why),
        None => event,
    });
    Ok(tx.commit(Vec::from_iter(event))?.task)
}

/// Moves a task that waits for others, where its table says so.
fn wait_for_others(call: &Call, place: Place) -> Result<Option<Task>> {
    let engine = call.as_engine();
    let tx = tx::lock_task(&engine, place)?;
    let row = |row: &&Transition| row.conditions.contains(&Condition::DependenciesOpen);
    let Some(to) = tx.task.rows().find(row).map(|row| row.to) else {
        return Ok(None);
    };
    // Met or not: the table decides.
    match tx.decide_as_engine(Move::to(to)) {
        Ok(event) => Ok(Some(tx.commit(vec![event])?.task)),
        Err(_) => Ok(None),
    }
}

/// Starts pending tasks that nothing holds back, whether or not they were queued. Gives what became of each.
pub fn run_ready(
    call: &Call,
    projects: &[String],
    max: Option<usize>,
) -> Result<Vec<StartOutcome>> {
    access::people_only(call, "start tasks")?;
    let statuses = Status::ALL.iter().filter(|status| !status.has_started());
    let filter = TaskFilter {
        statuses: statuses.map(|status| status.as_str().to_owned()).collect(),
        projects: projects.to_vec(),
        ..TaskFilter::default()
    };
    let rows = list::list(call, &filter)?.into_iter().map(|row| row.folder);
    let ready = in_turn(call, rows, |task| task.queue == Queue::Active);
    start_each(call, ready, |started, _| {
        Ok(max.is_some_and(|max| started >= max))
    })
}

/// Starts a new task in its turn: tasks of the queue that can start now go first, because the new one would take their
/// room. Also gives those that started.
pub fn start_in_turn(call: &Call, place: Place) -> Result<(StartOutcome, Vec<Task>)> {
    let own = call.store.survey(&place.folder()).task;
    let mut others = Vec::new();
    let mut waiting = queued(call)?;
    waiting.retain(|(other, _)| *other != place);
    if !waiting.is_empty() && why_not_now(call, &own)?.is_none() {
        // They were to start by themselves; nobody asks for them now.
        let engine = call.as_engine();
        others = start_each(&engine, waiting, |_, task| {
            Ok(turn(task) >= turn(&own) || why_not_now(call, &own)?.is_some())
        })?;
    }
    let started = others.into_iter().filter_map(|outcome| match outcome {
        StartOutcome::Started(changed) => Some(changed.done.task),
        StartOutcome::Queued(..) => None,
    });
    let others = started.collect();
    let task = call.store.survey(&place.folder()).task;
    match StartOutcome::by_another(&task) {
        Some(outcome) => Ok((outcome, others)),
        None => Ok((start(call, place, false)?, others)),
    }
}

/// The tasks in the queue, in the order in which they start.
pub(crate) fn queued(call: &Call) -> Result<Vec<(Place, Task)>> {
    let folders = call.index()?.queued()?.into_iter();
    Ok(in_turn(call, folders, |task| task.is_queued()))
}

fn in_turn(
    call: &Call,
    folders: impl Iterator<Item = String>,
    wanted: impl Fn(&Task) -> bool,
) -> Vec<(Place, Task)> {
    let found = folders.map(|folder| (call.store.place(&folder), call.store.survey(&folder)));
    let usable = found.filter(|(_, found)| found.damaged.is_none() && wanted(&found.task));
    let mut tasks: Vec<_> = usable.map(|(place, found)| (place, found.task)).collect();
    tasks.sort_by_key(|(_, task)| turn(task));
    tasks
}

/// Asks for a look at the queue if one of these changes may have brought a task its turn.
pub(crate) fn request_turn(call: &Call, task: &Task, changed: &[String]) -> Result<()> {
    let brings = |name: &String| {
        [Field::Queue, Field::BlockedBy]
            .iter()
            .any(|field| field.name() == name)
    };
    if task.is_queued() && changed.iter().any(brings) {
        call::request_queue_run(call)?;
    }
    Ok(())
}

/// Does a task wait in the queue?
pub(crate) fn has_queued(call: &Call) -> Result<bool> {
    Ok(!call.index()?.queued()?.is_empty())
}

/// Starts those of these tasks that nothing holds back, until `enough` says so, by how many have started and who is next.
pub(crate) fn start_each(
    call: &Call,
    tasks: Vec<(Place, Task)>,
    enough: impl Fn(usize, &Task) -> Result<bool>,
) -> Result<Vec<StartOutcome>> {
    let mut outcomes = Vec::new();
    // Those that nobody is logged in to are asked once.
    let mut logged_out = LoggedOut::default();
    for (place, task) in tasks {
        if enough(outcomes.len(), &task)? {
            break;
        }
        if why_not_now(call, &task)?.is_some() {
            raise_spent_budget(call, place, &task)?;
            continue;
        }
        if logged_out.has_harness_of(call, &task)? {
            continue;
        }
        let folder = place.folder();
        match start(call, place, false) {
            Ok(started @ StartOutcome::Started(_)) => outcomes.push(started),
            Ok(StartOutcome::Queued(..)) => {}
            // Another command was quicker.
            Err(_) if call.store.survey(&folder).task.has_started() => {}
            Err(error) => call.notice(format!("{} was not started: {error}", task.label())),
        }
    }
    match logged_out.refusal {
        Some(refusal) if outcomes.is_empty() => Err(refusal),
        Some(refusal) => {
            call.notice(text!(
                "{} not started: {}",
                were(&logged_out.tasks),
                with_hint(&refusal)
            ));
            Ok(outcomes)
        }
        None => Ok(outcomes),
    }
}

/// The harnesses that nobody is logged in to, as far as they tell, and the tasks that were not started because of it.
#[derive(Default)]
struct LoggedOut {
    harnesses: Vec<String>,
    tasks: Vec<String>,
    refusal: Option<Error>,
}

impl LoggedOut {
    /// Only a person who starts tasks can see to it.
    fn has_harness_of(&mut self, call: &Call, task: &Task) -> Result<bool> {
        if call.caller != Caller::Human {
            return Ok(false);
        }
        let Some(harness) = settings::harness::harness_for(call, task, Role::Worker)? else {
            return Ok(false);
        };
        if !self.harnesses.contains(&harness.name) {
            match start_agent::check_login(call, task, Role::Worker) {
                Err(error) if error.code == Code::Refused => {
                    if !harness.adapter.login_by_model() {
                        self.harnesses.push(harness.name);
                    }
                    self.refusal.get_or_insert(error);
                }
                // Anything else is told of when it is started.
                Ok(()) | Err(_) => return Ok(false),
            }
        }
        self.tasks.push(task.label());
        Ok(true)
    }
}

/// `TASK-001 and 3 others were`
fn were(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [one] => format!("{one} was"),
        [first, others @ ..] => format!("{first} and {} were", counted(others.len(), "other")),
    }
}

/// What to say of a task that another command started at the same moment; None if it still waits.
fn started_by_another(task: &Task) -> Option<String> {
    task.status
        .has_started()
        .then(|| format!("another command started it: it is {}", task.status))
}

/// The order of the queue: the more urgent first, then the longest wait. One that comes out of the backlog has waited there too.
fn turn(task: &Task) -> (Priority, Timestamp, Option<Key>) {
    let since = task.queued_at.unwrap_or(task.created_at);
    (task.priority, since, task.key)
}
