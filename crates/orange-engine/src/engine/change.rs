//! Changing a task: its fields and its status, decided together and journalled together.

use super::refusal::with_article;
use super::{Caller, Engine};
use crate::error::{Code, Error, Result};
use crate::store::Place;
use crate::store::locks::Lock;
use crate::tx::{Committed, TaskTx};
use crate::workspaces::astray;
use orange_core::gate::Gate;
use orange_core::history::payload::StatusMoved;
use orange_core::history::{AppendSection, Event, History};
use orange_core::id::{Reference, read_stored, stored_reference};
use orange_core::machine::{self, Move, Refusal, Situation};
use orange_core::runs::open_runs;
use orange_core::task::{BadValue, Field, FieldMap, FieldValue, Status, Task};
use orange_core::timeline::fields::noun;
use orange_core::workflow::{Actor, Condition, Hook, Intent, Transition, Workflow};
use orange_core::{Action, text};
use serde_json::Value;

/// One edit of a field, as a person says it.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// An empty text clears.
    Set(Field, String),
    SetFlag(Field, bool),
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
    /// A person's request for changes: goes into TASK.md and to the worker.
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

/// The status that an intent leads to, by the table of the task's workflow.
pub(super) fn destination(task: &Task, intent: Intent) -> Result<Status> {
    machine::destination(task, intent).ok_or_else(|| {
        Error::new(
            Code::IllegalTransition,
            format!("the {} workflow has no step to {intent}", task.workflow),
        )
    })
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

impl Engine {
    pub fn change(&self, place: Place, change: &Change) -> Result<Changed> {
        // Wider locks before the task's own, everywhere: two commands never wait for each other.
        let edits_branch = |edit: &Edit| matches!(edit, Edit::Branch(_));
        let adds_blocker = |edit: &Edit| matches!(edit, Edit::AddTo(Field::BlockedBy, _));
        let _dependencies = match change.edits.iter().any(adds_blocker) {
            true => Some(self.store.lock(Lock::Dependencies)?),
            false => None,
        };
        let _project = match change.edits.iter().any(edits_branch) {
            true => Some(self.lock_project(&place.project)?),
            false => None,
        };
        let mut tx = self.lock_task(place)?;
        self.may_change(&tx.task, change)?;
        self.speaks_for_an_open_run(&tx)?;
        let wanted = change.destination(&tx.task)?;
        if wanted.is_some_and(Status::is_given_up) && !change.keep_children {
            self.no_open_children(&tx.task)?;
        }
        let from = tx.task.status;
        let mut events = Vec::new();
        let mut after = tx.task.clone();
        if let Some(event) = self.field_changes(&tx.task, &change.edits)? {
            apply(&mut after, &event)?;
            events.push(event);
        }
        let fields = events
            .iter()
            .flat_map(|event| event.fields.keys().cloned())
            .collect();
        if let Some(to) = wanted {
            let wish = Move {
                force: change.force,
                ..Move::to(to)
            };
            let resolution = change.resolution.as_deref();
            let actor = self.caller.actor();
            let decided = self.decided(actor, &after, &tx.body, wish, resolution)?;
            if let Err(Refusal::Unmet {
                condition: Condition::VerifyOver,
                detail,
            }) = decided
            {
                return self.wait_for_check(tx, events, to, detail);
            }
            let mut event = decided.map_err(|refusal| self.explain(&after, wish, refusal))?;
            event.reason.clone_from(&change.reason);
            if let Some(message) = &change.message {
                event = event.with(StatusMoved {
                    message: Some(message),
                    ..StatusMoved::default()
                });
                event.append.push(AppendSection {
                    section: "Changes requested".into(),
                    text: message.clone(),
                });
            }
            events.push(event);
        }
        let acquires = |event: &Event| {
            let name = Hook::AcquireWorkspace.name();
            event.hooks.iter().any(|hook| hook == name)
        };
        let starts_agent =
            |hook: &String| matches!(Hook::from_name(hook), Some(Hook::SpawnAgent(_)));
        let spawns = |event: &Event| event.hooks.iter().any(starts_agent);
        if events.iter().any(spawns) {
            self.could_spawn(&after)?;
        }
        if events.iter().any(acquires) {
            tx.reserve(&after)?;
        }
        let renamed = self.rename_branch(&tx.task, &after, &change.edits)?;
        if renamed {
            self.change_pool(|_, pool| {
                pool.rename(&tx.task, &after.branch);
                Ok(())
            })?;
        }
        if !from.has_started() && wanted.is_some() && self.caller == Caller::Human {
            self.note_started_by(&tx.task.id);
        }
        if let Some(slot) = after.workspace.as_ref().filter(|_| renamed) {
            // It was so when the command came; now it is not any more.
            let old = &tx.task.branch;
            self.forget_notice(astray(&after.label(), slot, &after.branch, old));
        }
        if renamed {
            tx.write(std::mem::take(&mut events))?;
            tx.follow_session();
        }
        let mut done = tx.commit(events)?;
        if wanted.is_none() {
            done.failed.clear();
        }
        Ok(Changed {
            done,
            fields,
            waits: None,
        })
    }

    /// Everything is there but the end of the check: the move is noted, and made when that is over.
    fn wait_for_check(
        &self,
        mut tx: TaskTx<'_>,
        events: Vec<Event>,
        to: Status,
        running: String,
    ) -> Result<Changed> {
        let fields = events
            .iter()
            .flat_map(|event| event.fields.keys().cloned())
            .collect();
        if !events.is_empty() {
            tx.write(events)?;
        }
        tx.defer(self.caller.actor(), to, &running)?;
        let mut done = tx.commit(Vec::new())?;
        done.failed.clear();
        Ok(Changed {
            done,
            fields,
            waits: Some(running),
        })
    }

    /// Tries once more what failed after the last status change. Gives what was tried.
    pub fn retry_hooks(&self, place: Place) -> Result<(Committed, Vec<String>)> {
        let mut tx = self.lock_task(place)?;
        self.own_task_only(&tx.task, "retry the hooks of")?;
        self.speaks_for_an_open_run(&tx)?;
        let tried = tx.retry_hooks()?;
        Ok((tx.commit(Vec::new())?, tried))
    }

    /// Checks a move of somebody who asked for it now or earlier; a refusal is in words.
    pub(crate) fn decide_as(
        &self,
        actor: Actor,
        task: &Task,
        body: &str,
        wish: Move,
        resolution: Option<&str>,
    ) -> Result<Event> {
        self.decided(actor, task, body, wish, resolution)?
            .map_err(|refusal| self.explain(task, wish, refusal))
    }

    /// Checks a move against the table, with the facts its rows ask for; a refusal is the table's.
    fn decided(
        &self,
        actor: Actor,
        task: &Task,
        body: &str,
        wish: Move,
        resolution: Option<&str>,
    ) -> Result<std::result::Result<Event, Refusal>> {
        let workflow = Workflow::named(task.workflow);
        let rows = machine::candidates(workflow, task, actor, wish);
        let mut conditions = conditions_of(&rows);
        // A person's word stands for what git would be asked.
        conditions.retain(|condition| resolution.is_none() || *condition != Condition::Merged);
        let mut facts = self.facts(task, &conditions)?;
        let history = match conditions.contains(&Condition::ReviewersOwn) {
            true => self.own_history(task)?,
            false => History::default(),
        };
        if conditions.contains(&Condition::ReviewersOwn) {
            let by = match &self.caller {
                Caller::Agent { run, .. } => run.clone(),
                Caller::Human | Caller::Engine => None,
            };
            facts.review_problem = self.review_problem(task, &history, body, by.as_deref(), None);
        }
        if let Some(message) = resolution {
            facts.merged = Some(Ok(message.to_owned()));
        }
        let max_rounds = self.max_rounds(task)?;
        let situation = Situation {
            task,
            body,
            facts: &facts,
            max_rounds,
            now: self.now(),
        };
        let event = match machine::decide(workflow, situation, actor, wish) {
            Ok(decision) => decision.event,
            Err(refusal) => return Ok(Err(refusal)),
        };
        // A handoff and a verdict speak of one commit; later ones must be seen as later.
        let judges = |row: &&Transition| row.gate.and_then(Gate::verdict).is_some();
        if rows.iter().any(judges) {
            return Ok(Ok(self.with_verdict(task, &history, body, event)));
        }
        match rows.iter().any(|row| row.notes_head) {
            true => Ok(Ok(self.with_head(task, event))),
            false => Ok(Ok(event)),
        }
    }

    /// An agent may move its own task and change its summary and branch; nothing else.
    fn may_change(&self, task: &Task, change: &Change) -> Result<()> {
        let Caller::Agent { role, .. } = &self.caller else {
            return Ok(());
        };
        self.own_task_only(task, "change")?;
        for edit in &change.edits {
            let field = match edit {
                Edit::Branch(_) | Edit::Set(Field::Summary, _) => continue,
                Edit::Set(field, _)
                | Edit::SetFlag(field, _)
                | Edit::AddTo(field, _)
                | Edit::RemoveFrom(field, _) => field,
                Edit::Note(..) => &Field::Metadata,
            };
            return Err(Error::new(
                Code::NotAllowed,
                format!(
                    "{} agent may not change the {}",
                    with_article(role.as_str()),
                    noun(field.name())
                ),
            )
            .hint("an agent may change its own task's status, summary and branch; ask a person for the rest"));
        }
        Ok(())
    }

    /// Refuses an agent that reaches for a task that is not its own.
    pub fn own_task_only(&self, task: &Task, verb: &str) -> Result<()> {
        match &self.caller {
            Caller::Human | Caller::Engine => Ok(()),
            Caller::Agent { task: own, .. } if *own == task.id => Ok(()),
            Caller::Agent {
                task: own, role, ..
            } => Err(Error::new(
                Code::NotAllowed,
                format!(
                    "this {role} agent runs for task {own} and may not {verb} {}",
                    task.label()
                ),
            )
            .hint("an agent may read every task, but change only its own")),
        }
    }

    /// Refuses an agent whose run the journal does not know in that role, or knows to be over.
    fn speaks_for_an_open_run(&self, tx: &TaskTx<'_>) -> Result<()> {
        let Caller::Agent {
            role,
            run: Some(run),
            ..
        } = &self.caller.clone()
        else {
            return Ok(());
        };
        let testimony = self.testimony(&tx.task.id, tx.history());
        let known = open_runs(&testimony.trusted(tx.history()));
        if known
            .iter()
            .any(|known| known.id == *run && known.role == *role)
        {
            return Ok(());
        }
        Err(Error::new(
            Code::NotAllowed,
            format!("run {run} is not an open {role} run of {}", tx.task.label()),
        )
        .hint("only an agent that Orange started, and that has not ended, changes its task"))
    }

    /// Refuses an agent outright, where only a person decides.
    pub fn people_only(&self, what: &str) -> Result<()> {
        match &self.caller {
            Caller::Human | Caller::Engine => Ok(()),
            Caller::Agent { role, .. } => Err(Error::new(
                Code::NotAllowed,
                format!("{} agent may not {what}", with_article(role.as_str())),
            )
            .hint("only a person may do that; ask the person you work for")),
        }
    }

    fn field_changes(&self, task: &Task, edits: &[Edit]) -> Result<Option<Event>> {
        let mut changes = FieldMap::new();
        let mut draft = task.clone();
        for edit in edits {
            let (field, value) = self.edited(&draft, edit)?;
            draft.set(field, value).map_err(bad_value)?;
            changes.insert(field.name().to_owned(), draft.get(field));
        }
        self.check_edited_models(&draft, edits)?;
        machine::update(task, changes, self.caller.actor(), self.now()).map_err(bad_value)
    }

    fn edited(&self, task: &Task, edit: &Edit) -> Result<(Field, Value)> {
        match edit {
            Edit::Set(Field::Summary, text) => {
                Ok((Field::Summary, Value::from(super::create::one_line(text)?)))
            }
            Edit::Set(field, text) if text.is_empty() => Ok((*field, Task::default().get(*field))),
            Edit::Set(field, text) => {
                if *field == Field::TargetBranch {
                    super::create::check_target(text)?;
                }
                if matches!(field, Field::Harness | Field::ReviewHarness) {
                    let config = self.config()?.clone();
                    crate::harness::find(text, &config, &self.orange)?;
                }
                Ok((*field, Value::from(text.as_str())))
            }
            Edit::SetFlag(field, flag) => Ok((*field, Value::from(*flag))),
            Edit::Branch(name) => {
                let name = match name {
                    Some(name) => name.clone(),
                    None => self.checked_out_branch(task)?,
                };
                self.branch_is_free(&task.project, &name, Some(&task.id))?;
                self.is_not_the_target(task, &name)?;
                Ok((Field::Branch, Value::from(name)))
            }
            Edit::Note(name, value) => {
                let mut metadata = task.metadata.clone();
                metadata.insert((*name).to_owned(), Value::from(value.as_str()));
                Ok((Field::Metadata, Value::Object(metadata)))
            }
            Edit::AddTo(field, text) => {
                let mut list = list_of(task, *field);
                let item = self.list_item(task, *field, text)?;
                if !list.contains(&item) {
                    list.push(item);
                }
                Ok((*field, Value::from(list)))
            }
            Edit::RemoveFrom(field, text) => {
                let list = list_of(task, *field);
                let same =
                    |item: &String| item == text || same_reference(&task.project, item, text);
                if !list.iter().any(same) {
                    return Err(Error::new(
                        Code::NotFound,
                        format!(
                            "{text:?} is not among the {} of {}",
                            noun(field.name()),
                            task.label()
                        ),
                    )
                    .hint(if list.is_empty() {
                        "the list is empty".to_owned()
                    } else {
                        format!("it has: {}", list.join(", "))
                    }));
                }
                let kept: Vec<String> = list.into_iter().filter(|item| !same(item)).collect();
                Ok((*field, Value::from(kept)))
            }
        }
    }

    /// A tag as it is; a task as the reference that is stored for it.
    fn list_item(&self, task: &Task, field: Field, text: &str) -> Result<String> {
        if field == Field::BlockedBy || field == Field::RelatedTo {
            return self.dependency(&task.project, task.key, field, text);
        }
        Ok(text.trim().to_owned())
    }

    /// Looks a dependency up and refuses what could never be over.
    pub(crate) fn dependency(
        &self,
        project: &str,
        own: Option<orange_core::id::Key>,
        field: Field,
        text: &str,
    ) -> Result<String> {
        let found = self.find_entry(text, Some(project))?;
        let key = match found.key {
            Some(key) => key,
            // The first command on a task of an older home gives it its key.
            None => {
                let place = self.store.place(&found.folder);
                self.lock_to_adopt(place)?
                    .task
                    .key
                    .ok_or_else(|| Error::new(Code::Failed, format!("{text} has no key")))?
            }
        };
        if own == Some(key) && found.project == project {
            return Err(Error::new(
                Code::Conflict,
                format!("{key} cannot be among its own {}", noun(field.name())),
            )
            .hint("name another task"));
        }
        if let (Field::BlockedBy, Some(own)) = (field, own)
            && let Some(cycle) = self.cycle_through(project, own, &found.project, key)?
        {
            return Err(Error::new(
                Code::Conflict,
                format!(
                    "{own} cannot wait for {text}: a cycle, {}",
                    cycle.join(" → ")
                ),
            )
            .hint(text!(
                "remove one of these dependencies first, with {}",
                Action::remove_blocker(None, None)
            )));
        }
        Ok(stored_reference(project, &found.project, key))
    }
}

fn conditions_of(rows: &[&Transition]) -> Vec<Condition> {
    let mut all: Vec<Condition> = rows
        .iter()
        .flat_map(|row| row.conditions)
        .copied()
        .collect();
    all.sort();
    all.dedup();
    all
}

fn list_of(task: &Task, field: Field) -> Vec<String> {
    Vec::read(task.get(field)).unwrap_or_default()
}

fn same_reference(project: &str, stored: &str, typed: &str) -> bool {
    matches!(
        Reference::parse(typed),
        Reference::Key(_) | Reference::ProjectKey(..)
    ) && read_stored(project, stored).is_some()
        && read_stored(project, stored) == read_stored(project, typed)
}

pub(crate) fn bad_value(error: BadValue) -> Error {
    Error::new(Code::Usage, error.to_string()).hint(text!(
        "nothing was changed; {} says what each field takes",
        Action::explain_fields()
    ))
}

fn apply(task: &mut Task, event: &Event) -> Result<()> {
    machine::apply(task, event).map_err(bad_value)
}
