//! A merge that has happened.

use crate::tx::commit::Committed;
use orange_core::merge::Strategy;
use orange_core::task::Task;
use serde::Serialize;
use std::path::PathBuf;

/// A merge that has happened.
#[derive(Debug, Clone, Serialize)]
pub struct Merged {
    #[serde(skip)]
    pub done: Committed,
    /// What is in the target now.
    pub commit: String,
    pub target: String,
    pub strategy: Strategy,
    pub head: Option<String>,
    pub commits: usize,
    pub pushed: bool,
    /// A checkout that was brought forward.
    pub fast_forwarded: Option<PathBuf>,
    /// It was in already, by an earlier merge or by other ways.
    pub already: bool,
}

impl Merged {
    /// It with its task, for programs.
    pub fn view(&self) -> MergedView<'_> {
        MergedView {
            task: &self.done.task,
            merged: self,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct MergedView<'a> {
    task: &'a Task,
    merged: &'a Merged,
}
