//! Ending a task early: cancel, delete (a move to trash/), restore.

use super::Engine;
use super::change::Change;
use super::create::hidden_folder;
use crate::error::{Code, Error, Result};
use crate::event_log;
use crate::store::{Place, journal, make_folder};
use crate::tx::Committed;
use crate::views::find::SHORTEST_NUMBER;
use orange_core::history::{Event, EventType, History};
use orange_core::id::{Key, Reference};
use orange_core::machine;
use orange_core::task::{Status, Task};
use orange_core::workflow::Intent;
use orange_core::{Action, text};
use orange_sys::crash_points::crash_point;
use std::fs;
use std::path::{Path, PathBuf};

/// In the trash: what is being removed for good.
pub(crate) const GONE: &str = ".gone";

/// What to do with open children of a cancelled task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelChildren {
    Ask,
    Too,
    Keep,
}

#[derive(Debug, Clone)]
pub struct Cancelled {
    pub done: Committed,
    pub children: Vec<Committed>,
}

impl Cancelled {
    /// Whether one of them gave up what other tasks may wait for.
    pub fn made_room(&self) -> bool {
        self.done.made_room() || self.children.iter().any(Committed::made_room)
    }
}

impl Engine {
    /// Cancels a task; with open children the caller must say what becomes of them.
    pub fn cancel(&self, place: Place, children: CancelChildren) -> Result<Cancelled> {
        let mut ended = Vec::new();
        let task = self.view(place.clone())?.task;
        self.own_task_only(&task, "cancel")?;
        if children == CancelChildren::Too && !task.status.is_terminal() {
            for (_, child) in self.open_children(&task)? {
                ended.push(self.cancel_one(child, true)?);
            }
        }
        let keep = children != CancelChildren::Ask;
        Ok(Cancelled {
            done: self.cancel_one(place, keep)?,
            children: ended,
        })
    }

    /// Whether a task could be cancelled, before a person is asked. `named` are those that are cancelled with it.
    pub fn check_cancel(
        &self,
        task: &Task,
        children: CancelChildren,
        named: &[Place],
    ) -> Result<()> {
        self.own_task_only(task, "cancel")?;
        match children {
            CancelChildren::Ask => self.no_open_children_but(task, named),
            CancelChildren::Too | CancelChildren::Keep => Ok(()),
        }
    }

    /// Whether a task could be deleted, before a person is asked. `named` are those that are deleted with it.
    pub fn check_delete(&self, task: &Task, named: &[Place]) -> Result<()> {
        self.people_only("delete a task")?;
        is_deletable(task)?;
        self.no_open_children_but(task, named)
    }

    fn cancel_one(&self, place: Place, keep_children: bool) -> Result<Committed> {
        let change = Change {
            intent: Some(Intent::Cancel),
            keep_children,
            ..Change::default()
        };
        Ok(self.change(place, &change)?.done)
    }

    /// Refuses to leave children behind without a word.
    pub(super) fn no_open_children(&self, task: &Task) -> Result<()> {
        self.no_open_children_but(task, &[])
    }

    fn no_open_children_but(&self, task: &Task, named: &[Place]) -> Result<()> {
        let mut open = self.open_children(task)?;
        open.retain(|(_, child)| !named.contains(child));
        if open.is_empty() || task.status.is_terminal() {
            return Ok(());
        }
        let names: Vec<&str> = open.iter().map(|(name, _)| name.as_str()).collect();
        let label = task.label();
        Err(Error::new(
            Code::ConditionUnmet,
            format!("{label} has open children: {}", names.join(", ")),
        )
        .hint(text!(
            "{} cancels them too, --keep-children leaves them",
            Action::cancel(label, true)
        )))
    }

    /// Open children, and theirs: the deepest first.
    fn open_children(&self, task: &Task) -> Result<Vec<(String, Place)>> {
        let mut all = Vec::new();
        let mut seen = vec![task.id.clone()];
        let mut next: Vec<(String, Key)> = task
            .key
            .map(|key| (task.project.clone(), key))
            .into_iter()
            .collect();
        while let Some((project, key)) = next.pop() {
            for child in self.index()?.children_of(&project, key)? {
                if seen.contains(&child.id) {
                    continue;
                }
                seen.push(child.id.clone());
                next.extend(child.key.map(|key| (child.project.clone(), key)));
                if !child.status.parse().is_ok_and(Status::is_terminal) {
                    let name = child.key.map_or(child.id, |key| key.to_string());
                    all.push((name, self.store.place(&child.folder)));
                }
            }
        }
        all.reverse();
        Ok(all)
    }

    /// Puts tasks before those whose open children they are.
    pub fn children_first(&self, mut places: Vec<Place>) -> Result<Vec<Place>> {
        let mut below = Vec::new();
        for place in &places {
            let task = self.store.survey(&place.folder()).task;
            let children = self.open_children(&task)?.into_iter();
            below.extend(children.map(|(_, child)| child));
        }
        let depth = |place: &Place| below.iter().filter(|child| *child == place).count();
        places.sort_by_key(|place| std::cmp::Reverse(depth(place)));
        Ok(places)
    }

    /// Moves a task's folder to trash/. One that still runs must be cancelled first.
    pub fn delete(&self, place: Place) -> Result<Task> {
        self.people_only("delete a task")?;
        let mut tx = self.lock_task(place)?;
        let task = tx.task.clone();
        is_deletable(&task)?;
        self.no_open_children(&task)?;
        self.tell_who_waits_for(&task)?;
        let event = Event::new(EventType::TaskDeleted, self.now()).by(&self.caller_name());
        tx.write(vec![event])?;
        crash_point("delete.journalled");
        self.move_to_trash(&tx.place)?;
        self.advance_parent(&task)?;
        tx.unmark();
        drop(tx);
        self.empty_old_trash();
        Ok(task)
    }

    /// What is over stays over in the trash; anything else would be waited for in vain.
    fn tell_who_waits_for(&self, task: &Task) -> Result<()> {
        let Some(key) = task.key.filter(|_| !task.status.is_over()) else {
            return Ok(());
        };
        for waiting in self.index()?.linked_to("blocked_by", &task.project, key)? {
            if !waiting.status.parse().is_ok_and(Status::is_terminal) {
                let name = waiting.key.map_or(waiting.id, |key| key.to_string());
                self.notice(format!("{name} waits for {key}, which is deleted now"));
            }
        }
        Ok(())
    }

    /// The status of a deleted task, if it is over: its dependents need not wait.
    pub(crate) fn over_in_trash(&self, project: &str, key: Key) -> Option<Status> {
        self.trashed()
            .into_iter()
            .find(|(place, task)| place.project == project && task.key == Some(key))
            .map(|(_, task)| task.status)
            .filter(|status| status.is_over())
    }

    pub(crate) fn move_to_trash(&self, place: &Place) -> Result<()> {
        let target = self.trash_place(place);
        let task = self.store.survey(&place.folder()).task.id;
        self.forget_environment(&task);
        let made = target.parent().map_or(Ok(()), make_folder);
        made.and_then(|()| {
            if target.exists() {
                // An older copy of the same folder; both are kept.
                let stamp = self.file_stamp();
                fs::rename(&target, target.with_extension(format!("older-{stamp}")))?;
            }
            fs::rename(&place.path, &target)
        })
        .map_err(|error| Error::io("move", &place.path, &error))?;
        sync_parents(&place.path, &target);
        crash_point("delete.moved");
        self.index()?.store(&[], &[place.folder()]);
        Ok(())
    }

    fn trash_place(&self, place: &Place) -> PathBuf {
        self.store.trash().join(&place.project).join(&place.name)
    }

    /// Brings deleted tasks back, as they were; each once, by however many names it is called.
    pub fn restore(
        &self,
        texts: &[String],
        current_project: Option<&str>,
    ) -> Result<Vec<Result<Task>>> {
        self.people_only("restore a task")?;
        let trashed = self.trashed();
        let mut seen: Vec<Place> = Vec::new();
        let mut outcomes = Vec::new();
        for text in texts {
            match find_among(&trashed, text, current_project) {
                Ok((place, _)) if seen.contains(&place) => {}
                Ok((place, task)) => {
                    seen.push(place.clone());
                    outcomes.push(self.restore_one(place, &task));
                }
                Err(error) => outcomes.push(Err(self.not_deleted(text, current_project, error))),
            }
        }
        Ok(outcomes)
    }

    /// The error for a task that is not in the trash: it may be there, restored by another command for instance.
    fn not_deleted(&self, text: &str, current_project: Option<&str>, error: Error) -> Error {
        match self.find(text, current_project) {
            Ok(place) if error.code == Code::NotFound => {
                let task = self.store.survey(&place.folder()).task;
                Error::new(
                    Code::Conflict,
                    format!(
                        "{} is not deleted: it is {}; there is nothing to restore",
                        task.label(),
                        task.status
                    ),
                )
            }
            Ok(_) | Err(_) => error,
        }
    }

    /// The error for a task whose folder went away while a command waited for it.
    pub(crate) fn gone_meanwhile(&self, place: &Place) -> Option<Error> {
        let history = self.history_at(&self.trash_place(place)).ok()?;
        let task = machine::fold(history.own(), u64::MAX).ok()?;
        let label = task.label();
        Some(
            Error::new(
                Code::NotFound,
                format!("{label} was deleted by another command; nothing was changed"),
            )
            .hint(text!("{} brings it back", Action::restore(label))),
        )
    }

    fn restore_one(&self, place: Place, task: &Task) -> Result<Task> {
        let _project = self.lock_project(&place.project)?;
        if !self.trash_place(&place).is_dir() {
            let label = task.label();
            let what = match place.path.exists() {
                true => "restored by another command",
                false => "removed from the trash by another command",
            };
            return Err(Error::new(
                Code::Conflict,
                format!("{label} was {what}; there is nothing left to do"),
            ));
        }
        if place.path.exists() {
            return Err(Error::new(
                Code::Conflict,
                format!("{} is in the way", place.path.display()),
            )
            .hint("move that folder out of tasks/ first"));
        }
        if let Some(key) = task.key
            && let Some(other) = self.index()?.by_key(&place.project, key)?
        {
            return Err(Error::new(
                Code::Conflict,
                format!("{key} is the key of another task now ({})", other.folder),
            )
            .hint("move that folder out of tasks/ first"));
        }
        if !task.status.is_terminal() {
            self.branch_is_free(&place.project, &task.branch, Some(&task.id))?;
        }
        self.store.mark(&place)?;
        let event = Event::new(EventType::TaskRestored, self.now()).by(&self.caller_name());
        let journal = self.trash_place(&place).join("history.jsonl");
        journal::append(&journal, &[event.to_line()])
            .map_err(|error| Error::io("write", &journal, &error))?;
        event_log::tell(task, std::slice::from_ref(&event));
        crash_point("restore.journalled");
        self.move_from_trash(&place)?;
        Ok(self.lock_marked(place)?.task)
    }

    pub(crate) fn move_from_trash(&self, place: &Place) -> Result<()> {
        let source = self.trash_place(place);
        place
            .path
            .parent()
            .map_or(Ok(()), make_folder)
            .and_then(|()| fs::rename(&source, &place.path))
            .map_err(|error| Error::io("move", &source, &error))?;
        sync_parents(&source, &place.path);
        crash_point("restore.moved");
        Ok(())
    }

    /// Ends the making or restoring of a task that a dead process began. The caller holds the project's lock.
    pub(crate) fn finish_arrival(&self, place: &Place) -> Result<()> {
        let trashed = self.trash_place(place);
        if trashed.is_dir() && !self.history_at(&trashed)?.is_deleted() {
            return self.move_from_trash(place);
        }
        // Never reported as created, and in nobody's way: only its folder under the hidden name is left.
        let hidden = hidden_folder(place);
        if hidden.is_dir() {
            fs::remove_dir_all(&hidden).map_err(|error| Error::io("remove", &hidden, &error))?;
        }
        Ok(())
    }

    pub(crate) fn history_at(&self, folder: &Path) -> Result<History> {
        let path = folder.join("history.jsonl");
        let bytes = journal::read(&path).map_err(|error| Error::io("read", &path, &error))?;
        Ok(History::parse(&bytes.text))
    }

    pub(crate) fn find_in_trash(&self, text: &str, current: Option<&str>) -> Result<(Place, Task)> {
        find_among(&self.trashed(), text, current)
    }

    /// Every deleted task that can be brought back, with its place among the living.
    pub fn trashed(&self) -> Vec<(Place, Task)> {
        let trash = self.store.trash();
        let mut found = Vec::new();
        for path in task_folders(&trash) {
            if let Ok(history) = self.history_at(&path)
                && let Ok(task) = machine::fold(history.own(), u64::MAX)
                && let Ok(inside) = path.strip_prefix(&trash)
                && let Some(name) = inside.to_str()
            {
                found.push((self.store.place(name), task));
            }
        }
        found.sort_by_key(|(place, task)| (place.project.clone(), task.key, place.folder()));
        found
    }

    pub(crate) fn highest_in_trash(&self, project: &str) -> u32 {
        self.trashed()
            .iter()
            .filter(|(place, _)| place.project == project)
            .filter_map(|(_, task)| task.key.map(|key| key.0))
            .max()
            .unwrap_or(0)
    }

    /// Deletes what has expired, after a deletion. Errors are ignored here: `gc` reports them.
    fn empty_old_trash(&self) {
        if let Err(error) = self.sweep_trash(true) {
            tracing::warn!(%error, "old trash was not removed");
        }
    }
}

/// Refuses what still runs, and what still has a slot.
fn is_deletable(task: &Task) -> Result<()> {
    if task.status.is_active() {
        return Err(Error::new(
            Code::ConditionUnmet,
            format!("{} is {} and cannot be deleted", task.label(), task.status),
        )
        .hint(text!(
            "cancel it first: {}",
            Action::cancel(task.label(), false)
        )));
    }
    if let Some(slot) = &task.workspace {
        return Err(Error::new(
            Code::ConditionUnmet,
            format!(
                "{} still has {slot}, because giving it back failed",
                task.label()
            ),
        )
        .hint(text!(
            "{} says why; then {}",
            Action::show(task.label(), false),
            Action::retry_hooks(task.label())
        )));
    }
    Ok(())
}

/// The one deleted task that a name means.
fn find_among(
    trashed: &[(Place, Task)],
    text: &str,
    current: Option<&str>,
) -> Result<(Place, Task)> {
    let wanted = Reference::parse(text);
    let here = |place: &Place| current.is_none_or(|project| project == place.project);
    let mut found: Vec<(Place, Task)> = trashed
        .iter()
        .filter(|(place, task)| match &wanted {
            Reference::Key(key) => task.key == Some(*key) && here(place),
            Reference::ProjectKey(project, key) => {
                task.key == Some(*key) && *project == place.project
            }
            Reference::Branch(project, branch) => {
                (*project == place.project && task.branch == *branch) || task.branch == text
            }
            Reference::IdPrefix(prefix) => match prefix.parse().map(Key) {
                // As among the living: a few digits are a key.
                Ok(key) if prefix.len() < SHORTEST_NUMBER => task.key == Some(key) && here(place),
                _ => {
                    let is_id = !prefix.is_empty() && task.id.starts_with(prefix.as_str());
                    is_id || (task.branch == *prefix && here(place))
                }
            },
        })
        .cloned()
        .collect();
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(
            Error::new(Code::NotFound, format!("there is no deleted task {text:?}")).hint(text!(
                "deleted tasks are kept for `trash.keep_days` days; {} without a name lists them",
                Action::list_deleted()
            )),
        ),
        (Some(last), _) => {
            found.push(last);
            let names: Vec<String> = found
                .iter()
                .map(|(place, task)| format!("  {}:{} {}", place.project, task.label(), task.id))
                .collect();
            Err(Error::new(
                Code::Ambiguous,
                format!("{text:?} names more than one deleted task"),
            )
            .hint(format!("say which one:\n{}", names.join("\n"))))
        }
    }
}

/// Every folder with a journal below this one.
pub(crate) fn task_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for path in children_of(&folder) {
            if path.ends_with(GONE) {
                continue;
            }
            if path.join("history.jsonl").exists() {
                found.push(path);
            } else {
                open.push(path);
            }
        }
    }
    found
}

/// Makes a move durable, the new name before the old one's end.
fn sync_parents(from: &Path, to: &Path) {
    for folder in [to.parent(), from.parent()].into_iter().flatten() {
        if let Err(error) = fs::File::open(folder).and_then(|folder| folder.sync_all()) {
            tracing::warn!(%error, folder = %folder.display(), "a move may not survive a power cut");
        }
    }
}

fn children_of(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .map(|entries| {
            entries
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path())
                .collect()
        })
        .unwrap_or_default()
}
