//! What a task waits for and what waits for it, over several steps.

use crate::engine::Engine;
use crate::error::Result;
use orange_core::id::{Key, read_stored, stored_reference};
use orange_core::task::{Status, Task};

/// A line of a dependency tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DepsNode {
    pub depth: usize,
    pub reference: String,
    pub status: Option<Status>,
    pub summary: String,
    /// Shown before; its own blockers are not repeated.
    pub repeated: bool,
}

impl Engine {
    /// The task, what it waits for, what that waits for, and so on.
    pub fn deps_tree(&self, task: &Task) -> Result<Vec<DepsNode>> {
        let Some(key) = task.key else {
            return Ok(Vec::new());
        };
        let own = task.project.clone();
        let mut trouble = None;
        let index = self.index()?;
        let lines = orange_core::graph::tree(&format!("{own}:{key}"), |node| {
            let links =
                read_stored("", node).map(|(project, key)| index.blockers_of(&project, key));
            match links {
                Some(Ok(links)) => links
                    .into_iter()
                    .map(|(project, key)| match key {
                        Key(0) => project,
                        key => format!("{project}:{key}"),
                    })
                    .collect(),
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
                    Some((project, key)) => self.index()?.by_key(&project, key)?,
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

    /// Everything connected with the task by `blocked_by`, as (waiting, blocker) pairs.
    pub fn deps_edges(&self, task: &Task) -> Result<Vec<(String, String)>> {
        let Some(key) = task.key else {
            return Ok(Vec::new());
        };
        let index = self.index()?;
        let mut edges = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let mut open = vec![(task.project.clone(), key)];
        while let Some((project, key)) = open.pop() {
            if !seen.insert((project.clone(), key)) {
                continue;
            }
            let here = stored_reference(&task.project, &project, key);
            for (blocker_project, blocker) in index.blockers_of(&project, key)? {
                if blocker == Key(0) {
                    edges.push((here.clone(), blocker_project));
                    continue;
                }
                let there = stored_reference(&task.project, &blocker_project, blocker);
                edges.push((here.clone(), there));
                open.push((blocker_project, blocker));
            }
            for waiting in index.linked_to("blocked_by", &project, key)? {
                open.extend(waiting.key.map(|key| (waiting.project, key)));
            }
        }
        edges.sort();
        edges.dedup();
        Ok(edges)
    }
}
