//! Changing a task: its fields and its status, decided together and journalled together.

use crate::access::{self, with_article};
use crate::call::{Call, Caller};
use crate::effects::{executor, start_agent};
use crate::error::{Result, err};
use crate::facts::{branch, destination};
use crate::field_checks::{self, bad_value};
use crate::find;
use crate::settings::harness::find_harness;
use crate::settings::models;
use crate::store::Place;
use crate::store::locks::Lock;
use crate::tx::commit::Committed;
use crate::tx::decide::{self, KnownFacts};
use crate::tx::slot_drift::astray;
use crate::tx::{self, TaskTx, refusal};
use crate::verbs::phased::{gates, plan};
use crate::verbs::{cancel, rename_branch, start};
use crate::{seal_checks, started_by, workspaces};
use orange_core::history::payload::StatusMoved;
use orange_core::history::{AppendSection, Event};
use orange_core::id::{Key, Reference, read_stored, stored_reference};
use orange_core::machine::{self, Move, Refusal};
use orange_core::runs::open_runs;
use orange_core::task::{Field, FieldMap, FieldValue, Status, Task};
use orange_core::timeline::fields::noun;
use orange_core::work::phase_gate::PhaseGateKind;
use orange_core::workflow::{Condition, Hook, Intent, Role};
use orange_core::{Action, text};
use serde_json::Value;

/// One edit of a field, as a person says it.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// An empty text clears.
    Set(Field, String),
    SetFlag(Field, bool),
    /// Who decides about a phase; None: whoever the settings and the plan say.
    Gate(String, Option<PhaseGateKind>),
    /// None: the branch that is checked out in the task's workspace.
    Branch(Option<String>),
    AddTo(Field, String),
    RemoveFrom(Field, String),
    /// An entry of `metadata`.
    Note(&'static str, String),
}

/// Everything one command wants of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Change {
    pub edits: Vec<Edit>,
    pub status: Option<Status>,
    /// What a verb is after, instead of a status.
    pub intent: Option<Intent>,
    pub force: bool,
    /// Cancelling leaves open children as they are.
    pub keep_children: bool,
    /// A person's word that the work is in, whatever git says.
    pub resolution: Option<String>,
    /// Why, for the journal.
    pub reason: Option<String>,
    /// A person's words for the worker. A request for changes also goes into TASK.md.
    pub message: Option<String>,
}

impl Change {
    /// Where the task is to go, if the change is about that.
    fn destination(&self, task: &Task) -> Result<Option<Status>> {
        match self.intent {
            Some(intent) => destination(task, intent).map(Some),
            None => Ok(self.status),
        }
    }
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Changed {
    pub done: Committed,
    /// Names of the fields that changed, besides the status.
    pub fields: Vec<String>,
    /// What the move still waits for; then it is made without another word.
    pub waits: Option<String>,
}

impl From<Committed> for Changed {
    /// A move without anything else.
    fn from(done: Committed) -> Changed {
        Changed {
            done,
            fields: Vec::new(),
            waits: None,
        }
    }
}

pub fn change(call: &Call, place: Place, change: &Change) -> Result<Changed> {
    // Wider locks before the task's own, everywhere: two commands never wait for each other.
    let edits_branch = |edit: &Edit| matches!(edit, Edit::Branch(_));
    let adds_blocker = |edit: &Edit| matches!(edit, Edit::AddTo(Field::BlockedBy, _));
    let adds_blocker = change.edits.iter().any(adds_blocker);
    let lock_all = || call.store.lock(Lock::Dependencies);
    let _dependencies = adds_blocker.then(lock_all).transpose()?;
    let edits_branch = change.edits.iter().any(edits_branch);
    let lock_project = || call.store.lock(Lock::Project(&place.project));
    let _project = edits_branch.then(lock_project).transpose()?;
    let mut tx = tx::lock_task(call, place)?;
    may_change(call, &tx.task, change)?;
    speaks_for_an_open_run(&tx)?;
    let wanted = change.destination(&tx.task)?;
    if wanted.is_some_and(Status::is_given_up) && !change.keep_children {
        cancel::no_open_children(call, &tx.task, &[])?;
    }
    let had_started = tx.task.has_started();
    let mut events = Vec::new();
    let mut after = tx.task.clone();
    let mut fields = Vec::new();
    let (weights, edits) = weights_of_plans(&tx.task, &change.edits);
    if let Some(weight) = weights.last() {
        if wanted.is_some() {
            return Err(err!(
                Usage,
                "the weight of a phased task is changed by itself: it may move the task"
            )
            .hint("give two commands"));
        }
        // What else is wrong is said before anything changes.
        field_changes(call, &after, &edits)?;
        let before = tx.task.weight;
        events = plan::follow_weight(&mut tx, weight)?;
        fields.extend((tx.task.weight != before).then(|| Field::Weight.name().to_owned()));
        after = tx.task.clone();
        for event in &events {
            machine::apply(&mut after, event).map_err(bad_value)?;
        }
    }
    if let Some(event) = field_changes(call, &after, &edits)? {
        machine::apply(&mut after, &event).map_err(bad_value)?;
        fields.extend(event.fields.keys().cloned());
        events.push(event);
    }
    let changed = |done: Committed, waits: Option<String>| Changed {
        done,
        fields,
        waits,
    };
    if let Some(to) = wanted {
        let wish = Move {
            force: change.force,
            intent: change.intent,
            ..Move::to(to)
        };
        let known = KnownFacts {
            resolution: change.resolution.as_deref(),
            ..KnownFacts::default()
        };
        let actor = call.caller.actor();
        let decided = decide::decided(call, actor, &after, &tx.body, wish, known)?;
        if let Err(Refusal::Unmet {
            condition: Condition::VerifyOver,
            detail,
        }) = decided
        {
            let done = wait_for_check(tx, events, to, &detail)?;
            return Ok(changed(done, Some(detail)));
        }
        let mut event = decided.map_err(|refusal| refusal::explain(call, &after, wish, refusal))?;
        event.reason.clone_from(&change.reason);
        if let Some(message) = &change.message {
            event = event.with(StatusMoved {
                message: Some(message),
                ..StatusMoved::default()
            });
            if change.intent == Some(Intent::RequestChanges) {
                event.append.push(AppendSection {
                    section: "Changes requested".into(),
                    text: message.clone(),
                });
            }
        }
        events.push(event);
    }
    let hooks = events.iter().flat_map(|event| &event.hooks);
    let hooks: Vec<Hook> = hooks.filter_map(|hook| Hook::from_name(hook)).collect();
    if hooks.iter().any(|hook| matches!(hook, Hook::SpawnAgent(_))) {
        start_agent::check_can_spawn(call, &after)?;
        // A person can see to it; what starts by itself is not held up, its window says the same.
        if !had_started && call.caller == Caller::Human {
            start_agent::check_login(call, &after, Role::Worker)?;
        }
    }
    if hooks.contains(&Hook::StartExecutor) {
        executor::check_can_execute(call, &after)?;
        if call.caller == Caller::Human {
            start_agent::check_login(call, &after, Role::Executor)?;
        }
    }
    if hooks.contains(&Hook::AcquireWorkspace) {
        tx.reserve(&after)?;
    }
    let renamed = rename_branch::rename_branch(call, &tx.task, &after, &change.edits)?;
    if renamed {
        workspaces::change_pool(call, |pool| {
            pool.rename(&tx.task, &after.branch);
            Ok(())
        })?;
    }
    if !had_started && wanted.is_some() && call.caller == Caller::Human {
        started_by::note_started_by(call, &tx.task.id);
    }
    if renamed {
        if let Some(slot) = &after.workspace {
            // It was so when the command came; now it is not any more.
            let old = &tx.task.branch;
            call.forget_notice(astray(&after, slot, &after.branch, old));
        }
        tx.write(std::mem::take(&mut events))?;
        tx.follow_session();
    }
    let mut done = tx.commit(events)?;
    if wanted.is_none() {
        done.effects.clear();
    }
    let changed = changed(done, None);
    start::request_turn(call, &changed.done.task, &changed.fields)?;
    Ok(changed)
}

/// The weights that a phased task is given, which change more than a field; and the other edits.
fn weights_of_plans<'e>(task: &Task, edits: &'e [Edit]) -> (Vec<&'e str>, Vec<Edit>) {
    let mut weights = Vec::new();
    let mut others = Vec::new();
    for edit in edits {
        match edit {
            Edit::Set(Field::Weight, weight) if task.has_plan() => weights.push(weight),
            edit => others.push(edit.clone()),
        }
    }
    (weights.into_iter().map(String::as_str).collect(), others)
}

/// Everything is there but the end of the check: the move is noted, and made when that is over.
fn wait_for_check(
    mut tx: TaskTx<'_>,
    events: Vec<Event>,
    to: Status,
    running: &str,
) -> Result<Committed> {
    if !events.is_empty() {
        tx.write(events)?;
    }
    tx.defer(tx.call.caller.actor(), to, running)?;
    let mut done = tx.commit(Vec::new())?;
    done.effects.clear();
    Ok(done)
}

/// Tries once more what failed after the last status change. Gives what was tried.
pub fn retry_hooks(call: &Call, place: Place) -> Result<(Committed, Vec<String>)> {
    let mut tx = tx::lock_task(call, place)?;
    access::own_task_only(call, &tx.task, "retry the hooks of")?;
    speaks_for_an_open_run(&tx)?;
    let tried = tx.retry_hooks()?;
    Ok((tx.commit(Vec::new())?, tried))
}

/// An agent may move its own task and change its summary and branch; nothing else.
fn may_change(call: &Call, task: &Task, change: &Change) -> Result<()> {
    let Caller::Agent { role, .. } = &call.caller else {
        return Ok(());
    };
    access::own_task_only(call, task, "change")?;
    for edit in &change.edits {
        let field = match edit {
            Edit::Branch(_) if *role == Role::Executor => {
                return Err(err!(NotAllowed, "{} agent may not change the branch", with_article(role.as_str()))
                    .hint("its executor commits what is left in the workspace, on the task's own branch; stay there, or ask a person"));
            }
            // A judge reads it as what the work is to be.
            Edit::Set(Field::Summary, _) if *role == Role::Executor => &Field::Summary,
            Edit::Branch(_) | Edit::Set(Field::Summary, _) => continue,
            Edit::Gate(..) => &Field::Gates,
            Edit::Set(field, _)
            | Edit::SetFlag(field, _)
            | Edit::AddTo(field, _)
            | Edit::RemoveFrom(field, _) => field,
            Edit::Note(..) => &Field::Metadata,
        };
        return Err(err!(NotAllowed, "{} agent may not change the {}", with_article(role.as_str()), noun(field.name()))
            .hint("an agent may change its own task's status, summary and branch; ask a person for the rest"));
    }
    Ok(())
}

/// Refuses an agent whose run the journal does not know in that role, or knows to be over.
fn speaks_for_an_open_run(tx: &TaskTx<'_>) -> Result<()> {
    let Caller::Agent {
        role,
        run: Some(run),
        ..
    } = &tx.call.caller.clone()
    else {
        return Ok(());
    };
    let sealed = seal_checks::check_seals(tx.call, &tx.task.id, tx.history());
    let mut known = open_runs(&sealed.trusted(tx.history())).into_iter();
    if known.any(|known| known.id == *run && known.role == *role) {
        return Ok(());
    }
    Err(err!(
        NotAllowed,
        "run {run} is not an open {role} run of {}",
        tx.task.label()
    )
    .hint("only an agent that Orange started, and that has not ended, changes its task"))
}

fn field_changes(call: &Call, task: &Task, edits: &[Edit]) -> Result<Option<Event>> {
    let mut changes = FieldMap::new();
    let mut draft = task.clone();
    for edit in edits {
        let (field, value) = edited(call, &draft, edit)?;
        draft.set(field, value).map_err(bad_value)?;
        changes.insert(field.name().to_owned(), draft.get(field));
    }
    let decides = |edit: &Edit| matches!(edit, Edit::Set(field, _) if MODELS.contains(field));
    if edits.iter().any(decides) {
        models::check_models(call, &draft)?;
    }
    machine::update(task, changes, call.caller.actor(), call.now()).map_err(bad_value)
}

fn edited(call: &Call, task: &Task, edit: &Edit) -> Result<(Field, Value)> {
    match edit {
        Edit::Set(Field::Summary, text) => {
            Ok((Field::Summary, Value::from(field_checks::one_line(text)?)))
        }
        Edit::Set(field, text) if text.is_empty() => Ok((*field, Task::default().get(*field))),
        Edit::Set(field, text) => {
            if *field == Field::TargetBranch {
                field_checks::check_target(text)?;
            }
            if matches!(field, Field::Harness | Field::ReviewHarness) {
                find_harness(call, text)?;
            }
            Ok((*field, Value::from(text.as_str())))
        }
        Edit::SetFlag(field, flag) => Ok((*field, Value::from(*flag))),
        Edit::Gate(phase, kind) => {
            let gates = gates::with_gate(call, task, phase, *kind)?;
            Ok((Field::Gates, Value::Object(gates)))
        }
        Edit::Branch(name) => {
            let name = match name {
                Some(name) => name.clone(),
                None => branch::checked_out_branch(call, task)?,
            };
            branch::branch_is_free(call, &task.project, &name, Some(&task.id))?;
            branch::is_not_the_target(call, task, &name)?;
            Ok((Field::Branch, Value::from(name)))
        }
        Edit::Note(name, value) => {
            let mut metadata = task.metadata.clone();
            metadata.insert((*name).to_owned(), Value::from(value.as_str()));
            Ok((Field::Metadata, Value::Object(metadata)))
        }
        Edit::AddTo(field, text) => {
            let mut list = list_of(task, *field);
            let item = match field {
                // A task is stored as a reference, a tag as it is.
                Field::BlockedBy | Field::RelatedTo => {
                    dependency(call, &task.project, task.key, *field, text)?
                }
                _ => text.trim().to_owned(),
            };
            if !list.contains(&item) {
                list.push(item);
            }
            Ok((*field, Value::from(list)))
        }
        Edit::RemoveFrom(field, text) => {
            let list = list_of(task, *field);
            let removed = match field {
                Field::BlockedBy | Field::RelatedTo => named_in(&list, &task.project, text),
                _ => list.iter().filter(|item| *item == text).cloned().collect(),
            };
            if removed.is_empty() {
                return Err(err!(
                    NotFound,
                    "{text:?} is not among the {} of {}",
                    noun(field.name()),
                    task.label()
                )
                .hint(if list.is_empty() {
                    "the list is empty".to_owned()
                } else {
                    format!("it has: {}", list.join(", "))
                }));
            }
            let kept: Vec<String> = list
                .into_iter()
                .filter(|item| !removed.contains(item))
                .collect();
            Ok((*field, Value::from(kept)))
        }
    }
}

/// Looks a dependency up and refuses what could never be over.
pub(crate) fn dependency(
    call: &Call,
    project: &str,
    own: Option<Key>,
    field: Field,
    text: &str,
) -> Result<String> {
    let found = find::find_entry(call, text, Some(project))?;
    let key = match found.key {
        Some(key) => key,
        // The first command on a task of an older home gives it its key.
        None => {
            let place = call.store.place(&found.folder);
            tx::lock_to_adopt(call, place)?
                .task
                .key
                .ok_or_else(|| err!(Failed, "{text} has no key"))?
        }
    };
    if own == Some(key) && found.project == project {
        return Err(err!(
            Conflict,
            "{key} cannot be among its own {}",
            noun(field.name())
        )
        .hint("name another task"));
    }
    if let (Field::BlockedBy, Some(own)) = (field, own)
        && let Some(cycle) =
            field_checks::cycle_through(call, project, own, &found.project, key.number)?
    {
        return Err(err!(
            Conflict,
            "{own} cannot wait for {text}: a cycle, {}",
            cycle.join(" → ")
        )
        .hint(text!(
            "remove one of these dependencies first, with {}",
            Action::remove_blocker(None, None)
        )));
    }
    Ok(stored_reference(project, &found.project, key))
}

fn list_of(task: &Task, field: Field) -> Vec<String> {
    Vec::read(task.get(field)).unwrap_or_default()
}

/// The references that a person means by what they typed. A key without its project may be that of another project, if only
/// one of the list has it.
fn named_in(list: &[String], project: &str, typed: &str) -> Vec<String> {
    // As everywhere, `3` is a task of this project.
    let number = typed
        .parse::<u32>()
        .map(|number| format!("{project}:{number}"));
    let wanted = read_stored(project, number.as_deref().unwrap_or(typed));
    let is_meant = |item: &String, anywhere: bool| {
        let (Some(item), Some(wanted)) = (read_stored(project, item), &wanted) else {
            return false;
        };
        let is_same = item.prefix == wanted.prefix;
        let one_is_silent = item.prefix.is_none() || wanted.prefix.is_none();
        let is_fitting = if item.project == wanted.project {
            is_same || one_is_silent
        } else {
            is_same && anywhere
        };
        item.number == wanted.number && is_fitting
    };
    let named = |anywhere: bool| -> Vec<String> {
        let all = list.iter();
        let named = all.filter(|item| *item == typed || is_meant(item, anywhere));
        named.cloned().collect()
    };
    let here = named(false);
    if !here.is_empty() || !matches!(Reference::parse(typed), Reference::Key(_)) {
        return here;
    }
    let elsewhere = named(true);
    if elsewhere.len() == 1 {
        elsewhere
    } else {
        here
    }
}

/// What decides about a task's models.
const MODELS: &[Field] = &[
    Field::Harness,
    Field::Model,
    Field::Effort,
    Field::ReviewHarness,
    Field::ReviewModel,
    Field::ReviewEffort,
];
