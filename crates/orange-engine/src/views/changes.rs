//! A task's changes as a front end keeps them on a screen: which files differ, and what the person has viewed of them.

use crate::call::Call;
use crate::error::Result;
use crate::git::diff::{FileChange, FileStatus};
use crate::store::seen::{BranchLook, Seen};
use crate::views::diff::{self, Comparison, DiffOf};
use crate::views::{patch, task};
use std::sync::Arc;

/// What a front end has said of the look that it takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Visit {
    /// It begins: what was seen before it is read.
    #[default]
    New,
    /// What was seen before it began, if anything.
    Since(Option<BranchLook>),
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub change: FileChange,
    /// Its path, as it can be written down.
    pub path: String,
    /// The content that a person who marks it has viewed; None: it may change without notice.
    pub content: Option<String>,
    pub is_viewed: bool,
    pub is_lock_file: bool,
}

/// A part of a task's changes.
#[derive(Debug, Clone)]
pub struct Changes {
    pub comparison: Arc<Comparison>,
    pub files: Vec<ChangedFile>,
    /// What was seen before the visit began.
    pub before: Option<BranchLook>,
}

pub fn changes(call: &Call, folder: &str, of: DiffOf, visit: &Visit) -> Result<Changes> {
    let place = call.store.place(folder);
    let seen = Seen::read(&place);
    let view = task::view(call, place)?;
    let before = match visit {
        Visit::New => seen.last.clone(),
        Visit::Since(look) => look.clone(),
    };
    let comparison = if of == DiffOf::SinceSeen {
        diff::since_look(call, &view, before.as_ref())?
    } else {
        diff::comparison(call, &view, of)?
    };
    let files = match comparison.nothing {
        Some(_) => Vec::new(),
        None => diff::diff_files(&comparison, &[])?,
    };
    let files = files.into_iter().map(|change| changed(change, &seen));
    Ok(Changes {
        files: files.collect(),
        comparison: Arc::new(comparison),
        before,
    })
}

fn changed(change: FileChange, seen: &Seen) -> ChangedFile {
    let path = change.path.to_string_lossy().into_owned();
    let content = match change.status {
        FileStatus::Deleted => Some("deleted".to_owned()),
        _ => change.blob.clone(),
    };
    ChangedFile {
        is_viewed: content
            .as_deref()
            .is_some_and(|content| seen.has_viewed(&path, content)),
        is_lock_file: patch::is_lock_file(&change.path),
        path,
        content,
        change,
    }
}
