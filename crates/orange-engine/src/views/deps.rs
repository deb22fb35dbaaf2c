//! What a task waits for and what waits for it, over several steps.

use crate::call::Call;
use crate::error::Result;
use crate::views::task::TaskView;
use orange_core::id::{Key, StoredReference, read_stored};
use orange_core::machine::Linked;
use orange_core::task::{Status, Task};
use serde::Serialize;

/// A line of a dependency tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DepsNode {
    pub depth: usize,
    #[serde(rename = "task")]
    pub reference: String,
    pub status: Option<Status>,
    pub summary: String,
    /// Shown before; its own blockers are not repeated.
    pub repeated: bool,
}

/// One task waits for another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DepsEdge {
    pub task: String,
    pub blocked_by: String,
}

/// The tasks that a task is linked with.
#[derive(Debug, Serialize)]
pub struct Links<'a> {
    pub task: String,
    pub blocked_by: &'a [Linked],
    pub blocks: &'a [Linked],
    pub related_to: &'a [Linked],
    pub referenced_by: &'a [Linked],
    pub children: &'a [Linked],
}

impl TaskView {
    pub fn links(&self) -> Links<'_> {
        Links {
            task: self.task.label(),
            blocked_by: &self.blockers,
            blocks: &self.blocks,
            related_to: &self.related,
            referenced_by: &self.referenced_by,
            children: &self.children,
        }
    }
}

/// The task, what it waits for, what that waits for, and so on.
pub fn deps_tree(call: &Call, task: &Task) -> Result<Vec<DepsNode>> {
    let Some(key) = task.key else {
        return Ok(Vec::new());
    };
    let own = task.project.clone();
    let mut trouble = None;
    let index = call.index()?;
    let lines = orange_core::graph::tree(&format!("{own}:{key}"), |node| {
        let named = read_stored("", node);
        let links = named.map(|named| index.blockers_of(&named.project, named.number));
        match links {
            Some(Ok(links)) => links.iter().map(|link| link.written_in("")).collect(),
            Some(Err(error)) => {
                trouble.get_or_insert(error);
                Vec::new()
            }
            None => Vec::new(),
        }
    });
    if let Some(error) = trouble {
        return Err(error);
    }
    lines
        .into_iter()
        .map(|line| {
            let found = match read_stored("", &line.id) {
                Some(named) => call.index()?.by_number(&named.project, named.number)?,
                None => None,
            };
            Ok(DepsNode {
                depth: line.depth,
                reference: line
                    .id
                    .strip_prefix(&format!("{own}:"))
                    .map_or(line.id.clone(), str::to_owned),
                status: found.as_ref().and_then(|found| found.status.parse().ok()),
                summary: found.map(|found| found.summary).unwrap_or_default(),
                repeated: line.seen_before,
            })
        })
        .collect()
}

/// Everything connected with the task by `blocked_by`.
pub fn deps_edges(call: &Call, task: &Task) -> Result<Vec<DepsEdge>> {
    let Some(key) = task.key else {
        return Ok(Vec::new());
    };
    let index = call.index()?;
    let mut edges = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    let named = |project: &str, key: Key| StoredReference {
        project: project.to_owned(),
        number: key.number,
        prefix: Some(key.prefix),
    };
    let mut open = vec![named(&task.project, key)];
    while let Some(next) = open.pop() {
        if !seen.insert((next.project.clone(), next.number)) {
            continue;
        }
        let here = next.written_in(&task.project);
        let edge = |blocked_by: String| DepsEdge {
            task: here.clone(),
            blocked_by,
        };
        for blocker in index.blockers_of(&next.project, next.number)? {
            edges.push(edge(blocker.written_in(&task.project)));
            if blocker.number > 0 {
                open.push(blocker);
            }
        }
        for waiting in index.waiting_for(&next.project, next.number)? {
            open.extend(waiting.key.map(|key| named(&waiting.project, key)));
        }
    }
    edges.sort();
    edges.dedup();
    Ok(edges)
}
