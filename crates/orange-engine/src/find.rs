//! From what a person typed to one task: id, prefix, key, `project:KEY`, `project/branch`.

use crate::call::Call;
use crate::error::{Error, Result, err};
use crate::index::query::FoundTask;
use crate::runs::LINK_NAMES;
use crate::store::Place;
use crate::trash::{self, SHORTEST_NUMBER};
use crate::{git, projects};
use orange_core::id::{Key, Prefix, Reference};
use orange_core::{Action, display, suggest, text};
use std::path::Path;

/// Finds one task. A miss is looked up once more after a look at the disk.
pub fn find(call: &Call, text: &str, current_project: Option<&str>) -> Result<Place> {
    let found = find_entry(call, text, current_project)?;
    Ok(call.store.place(&found.folder))
}

pub(crate) fn find_entry(call: &Call, text: &str, current: Option<&str>) -> Result<FoundTask> {
    let mut candidates = find_candidates(call, text, current)?;
    let is_stale = |found: &FoundTask| !call.store.place(&found.folder).path.is_dir();
    if candidates.is_empty() || candidates.iter().any(is_stale) {
        call.fresh_index()?;
        candidates = find_candidates(call, text, current)?;
    }
    let mut candidates = candidates.into_iter();
    match (candidates.next(), candidates.next()) {
        (Some(found), None) => {
            note_short_id(call, text, &found);
            Ok(found)
        }
        (None, _) => Err(explain_missing(call, text, current)),
        (Some(first), Some(second)) => {
            let all = [first, second].into_iter().chain(candidates);
            Err(ambiguous(text, all.collect()))
        }
    }
}

fn find_candidates(call: &Call, text: &str, current: Option<&str>) -> Result<Vec<FoundTask>> {
    let index = call.index()?;
    let by_number = |number: u32| match current {
        Some(project) => index.all_by_number(project, number),
        None => index.by_number_anywhere(number),
    };
    match Reference::parse(text) {
        Reference::ProjectKey(project, key) => {
            Ok(with_key(index.all_by_number(&project, key.number)?, key))
        }
        Reference::ProjectNumber(project, number) => index.all_by_number(&project, number),
        Reference::Key(key) => find_key(call, text, key, current),
        Reference::Branch(project, branch) => {
            let mut found = index.by_branch(&project, &branch)?;
            if let (true, Some(current)) = (found.is_empty(), current) {
                found = index.by_branch(current, text)?;
            }
            Ok(only_live(found))
        }
        Reference::IdPrefix(prefix) => {
            if prefix.is_empty() {
                return Ok(Vec::new());
            }
            // `2` is what people type for TASK-002. A few digits are never meant as the beginning of an id.
            if let Ok(number) = prefix.parse::<u32>() {
                let found = by_number(number)?;
                if !found.is_empty() || prefix.len() < SHORTEST_NUMBER {
                    return Ok(found);
                }
            }
            let mut found = index.by_id_prefix(&prefix)?;
            if let (true, Some(current)) = (found.is_empty(), current) {
                found = only_live(index.by_branch(current, &prefix)?);
            }
            Ok(found)
        }
    }
}

/// A key of the current project. One that begins as none of its keys do is that of another project, and may be a branch
/// that only looks like a key, such as `fix-1`.
fn find_key(call: &Call, text: &str, key: Key, current: Option<&str>) -> Result<Vec<FoundTask>> {
    let index = call.index()?;
    if let Some(project) = current {
        let found = with_key(index.all_by_number(project, key.number)?, key);
        if !found.is_empty() || call.owns_prefix(project, key.prefix)? {
            return Ok(found);
        }
    }
    // Most projects have the usual prefix: it says nothing of which one is meant.
    let mut found = if current.is_some() && key.prefix.is_default() {
        Vec::new()
    } else {
        with_key(index.by_number_anywhere(key.number)?, key)
    };
    if let (Some(_), [other]) = (current, found.as_slice()) {
        let name = other.name();
        call.notice(format!("{text} is taken for {}", name.seen_from(None)));
    }
    if let Some(project) = current {
        found.extend(only_live(index.by_branch(project, text)?));
    }
    if found.is_empty() {
        // Adopted tasks have ids of any shape.
        found = index.by_id_prefix(text)?;
        found.retain(|task| task.id == text);
    }
    Ok(found)
}

fn with_key(mut found: Vec<FoundTask>, key: Key) -> Vec<FoundTask> {
    found.retain(|task| task.key == Some(key));
    found
}

/// A short prefix of an id may be a typo: it is used, and what it matched is told.
fn note_short_id(call: &Call, text: &str, found: &FoundTask) {
    const SHORT: usize = 4;
    // `3` is TASK-003, whatever its id begins with.
    let is_key = found.key.is_some_and(|key| text.parse() == Ok(key.number));
    if !is_key && text.len() < SHORT && found.id.starts_with(text) && found.id != text {
        let key = found.key.map_or_else(String::new, |key| format!("{key}, "));
        call.notice(format!("{text:?} is taken for {key}{}", found.id));
    }
}

fn explain_missing(call: &Call, text: &str, current: Option<&str>) -> Error {
    if let Ok((_, task)) = trash::find_in_trash(call, text, current) {
        let name = task.name();
        return err!(NotFound, "{} is in the trash", name.seen_from(current))
            .hint(text!("{} brings it back", Action::restore(name)));
    }
    let meant = suggestion(call, text, current).unwrap_or_default();
    not_found(&missing(call, text, current), &meant)
}

/// The task, or the project, that may be meant, as the beginning of a hint.
fn suggestion(call: &Call, text: &str, current: Option<&str>) -> Result<String> {
    let reference = Reference::parse(text);
    if let Reference::ProjectKey(project, _)
    | Reference::ProjectNumber(project, _)
    | Reference::Branch(project, _) = &reference
    {
        let known = call.projects()?;
        let mut names = known.iter().map(|known| known.name.as_str());
        if !names.clone().any(|name| name == project) {
            let of_project = suggest::nearest(project, names.by_ref());
            if let Some(name) = of_project {
                let rest = text.get(project.len()..).unwrap_or_default();
                return Ok(format!("did you mean {name}{rest}? "));
            }
        }
    }
    // The number is right, and the key begins otherwise.
    let numbered = match (&reference, current) {
        (Reference::Key(key), Some(project)) => call.index()?.by_number(project, key.number)?,
        (Reference::ProjectKey(project, key), _) => call.index()?.by_number(project, key.number)?,
        _ => None,
    };
    if let Some(found) = numbered {
        let name = found.reference_in(current.unwrap_or_default());
        return Ok(format!("did you mean {name}? "));
    }
    let is_number = match &reference {
        Reference::Key(key) => is_known(call, current, key.prefix)?,
        _ => text.parse::<u64>().is_ok(),
    };
    if is_number {
        // Another number is another task.
        return Ok(String::new());
    }
    let mut names = Vec::new();
    for found in call.index()?.newest()? {
        let here = current == Some(found.project.as_str());
        // Another number is another task.
        let key = found.key.filter(|key| here && has_number(text, *key));
        names.extend(key.map(|key| key.to_string()));
        names.push(format!("{}/{}", found.project, found.branch));
        if here {
            names.push(found.branch);
        }
    }
    Ok(suggest::meant(text, names.iter().map(String::as_str)))
}

/// Do keys begin so, in this project or, where there is none, in any?
fn is_known(call: &Call, project: Option<&str>, prefix: Prefix) -> Result<bool> {
    match project {
        Some(project) => call.owns_prefix(project, prefix),
        None => {
            let mut known = call.projects()?.into_iter();
            Ok(prefix.is_default() || known.any(|project| project.prefix == prefix))
        }
    }
}

/// The project a folder belongs to: its repository is registered, or it is a slot of the pool.
pub fn project_at(call: &Call, folder: &Path) -> Result<Option<String>> {
    if let Some(project) = project_seen_at(call, folder)? {
        return Ok(Some(project));
    }
    let known = call.projects()?;
    if known.is_empty() {
        return Ok(None);
    }
    let Some(repository) = git::repository_of(folder)? else {
        return Ok(None);
    };
    Ok(projects::at(&known, &repository).map(|project| project.name.clone()))
}

/// The same as far as paths tell, without git.
pub fn project_seen_at(call: &Call, folder: &Path) -> Result<Option<String>> {
    if let Some((project, _)) = slot_at(call, folder) {
        return Ok(Some(project));
    }
    let known = call.projects()?;
    // Most often the folder lies in the registered work tree: no need to ask git.
    let mut inside: Vec<&projects::Project> = known
        .iter()
        .filter(|project| folder.starts_with(&project.path))
        .collect();
    inside.sort_by_key(|project| project.path.as_os_str().len());
    let project = inside.last();
    let project = project.filter(|project| !nested_repository(folder, &project.path));
    Ok(project.map(|project| project.name.clone()))
}

/// The task a folder belongs to: it holds that slot of the pool, or the folder has its TASK.md link.
pub fn task_at(call: &Call, folder: &Path) -> Result<Option<Place>> {
    // A link may be left from the task before, so the slot's holder comes first.
    if let Some((project, slot)) = slot_at(call, folder)
        && let Some(holder) = holder(call, &project, &slot)?
    {
        return Ok(Some(holder));
    }
    let Ok(tasks) = call.store.tasks().canonicalize() else {
        return Ok(None);
    };
    for ancestor in folder.ancestors() {
        for name in LINK_NAMES {
            if let Ok(target) = std::fs::canonicalize(ancestor.join(name))
                && let Ok(inside) = target.strip_prefix(&tasks)
                && let Some(parent) = inside.parent().and_then(Path::to_str)
            {
                return Ok(Some(call.store.place(parent)));
            }
        }
    }
    Ok(None)
}

/// The live task that has a slot. What the index says is checked against the task itself.
fn holder(call: &Call, project: &str, slot: &str) -> Result<Option<Place>> {
    let mut claims = call.index()?.by_workspace(project, slot)?;
    let certain = claims.len() == 1
        && claims.iter().all(|claim| {
            let task = call.store.survey(&claim.folder).task;
            task.workspace.as_deref() == Some(slot)
        });
    if !certain {
        claims = call.fresh_index()?.by_workspace(project, slot)?;
    }
    match claims.as_slice() {
        [] => Ok(None),
        [claim] => Ok(Some(call.store.place(&claim.folder))),
        _ => Err(ambiguous(slot, claims)),
    }
}

/// `workspaces/<project>--<n>/…` → project and slot name.
fn slot_at(call: &Call, folder: &Path) -> Option<(String, String)> {
    let pool = call.store.workspaces();
    let pool = pool.canonicalize().unwrap_or(pool);
    let inside = folder.strip_prefix(&pool).ok()?;
    let slot = inside.components().next()?.as_os_str().to_str()?;
    let (project, number) = slot.rsplit_once("--")?;
    number.parse::<u32>().ok()?;
    Some((project.to_owned(), slot.to_owned()))
}

/// Do the digits in it make the number of this key?
fn has_number(text: &str, key: Key) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    digits.parse() == Ok(key.number)
}

/// A branch may have been used before; a live task has it to itself.
fn only_live(found: Vec<FoundTask>) -> Vec<FoundTask> {
    let live = found.iter().filter(|task| task.is_live());
    let live: Vec<FoundTask> = live.cloned().collect();
    if live.is_empty() { found } else { live }
}

/// Is there another repository between the folder and the project's root?
fn nested_repository(folder: &Path, root: &Path) -> bool {
    folder
        .ancestors()
        .take_while(|ancestor| *ancestor != root)
        .any(|ancestor| ancestor.join(".git").exists())
}

/// Describes what was not found.
fn missing(call: &Call, text: &str, current: Option<&str>) -> String {
    let owns = |project: &str, prefix| call.owns_prefix(project, prefix).unwrap_or(false);
    match (Reference::parse(text), current) {
        (Reference::Key(key), Some(project)) if owns(project, key.prefix) => {
            format!("{key} in project {project}")
        }
        (Reference::ProjectKey(project, key), _) => format!("{key} in project {project}"),
        (Reference::ProjectNumber(project, number), _) => {
            let prefix = call.prefix_of(&project);
            format!("{} in project {project}", Key { number, prefix })
        }
        (Reference::Key(_) | Reference::IdPrefix(_) | Reference::Branch(..), _) => {
            format!("task {text:?}")
        }
    }
}

fn not_found(what: &str, meant: &str) -> Error {
    err!(NotFound, "there is no {what}").hint(text!(
        "{}{} shows every task; {} brings back a deleted one",
        meant,
        Action::list_tasks(),
        Action::list_deleted()
    ))
}

fn ambiguous(text: &str, candidates: Vec<FoundTask>) -> Error {
    // A copied folder has the id of the original; then only the folder tells them apart.
    let copies = candidates.windows(2).any(|pair| pair[0].id == pair[1].id);
    let names: Vec<String> = candidates
        .iter()
        .map(|found| match found.key {
            Some(key) if !copies => format!("{}:{key}", found.project),
            None if !copies => found.id.clone(),
            _ => found.folder.clone(),
        })
        .collect();
    let shown = candidates.iter().zip(&names).take(8).map(|(found, name)| {
        // A key that two tasks have names neither.
        let id = match names.iter().filter(|other| *other == name).count() {
            1 => String::new(),
            _ => format!("  {}", found.id),
        };
        format!("  {name}{id}  {}", display::summary(&found.summary))
    });
    let shown: Vec<String> = shown.collect();
    err!(Ambiguous, "{text:?} names more than one task")
        .hint(format!("say which one:\n{}", shown.join("\n")))
}
