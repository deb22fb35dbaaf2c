//! A delegated task moves on by itself when its children are over.

use super::Engine;
use crate::error::Result;
use orange_core::id::{Key, read_stored};
use orange_core::machine::{self, Linked, Situation};
use orange_core::task::{Status, Task};
use orange_core::workflow::{Condition, Workflow};

impl Engine {
    /// A parent that only waited for its children moves on by itself.
    pub(crate) fn advance_parent(&self, child: &Task) -> Result<()> {
        let parent = child
            .parent
            .as_deref()
            .and_then(|parent| read_stored(&child.project, parent));
        match parent {
            Some((project, key)) => self.advance_delegated(&project, key),
            None => Ok(()),
        }
    }

    /// Moves a delegated task on if all its children are over.
    pub(crate) fn advance_delegated(&self, project: &str, key: Key) -> Result<()> {
        let Some(found) = self.index()?.by_key(project, key)? else {
            return Ok(());
        };
        let place = self.store.place(&found.folder);
        let parent = self.store.survey(&found.folder).task;
        let waits = |child: &Linked| !child.status.is_some_and(Status::is_over);
        if !parent.waits_for_children() || self.children(&parent)?.iter().any(waits) {
            return Ok(());
        }
        let tx = self.lock_parent(place)?;
        let workflow = Workflow::named(tx.task.workflow);
        let facts = self.facts(&tx.task, &[Condition::ChildrenOver, Condition::OwnCommits])?;
        let situation = Situation {
            task: &tx.task,
            body: &tx.body,
            facts: &facts,
            max_rounds: self.max_rounds(&tx.task)?,
            now: self.now(),
        };
        let over = Condition::ChildrenOver;
        let Some(decision) = machine::decide_on(workflow, situation, over, None) else {
            return Ok(());
        };
        self.notice(format!(
            "{}: all its children are over; now {}",
            tx.task.label(),
            decision.event.to.as_deref().unwrap_or_default()
        ));
        tx.commit(vec![decision.event]).map(drop)
    }
}
