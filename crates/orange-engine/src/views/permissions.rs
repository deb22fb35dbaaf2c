//! What agents may do without asking again, as a list.

use crate::allow_rules;
use crate::call::Call;
use crate::database::StoredRule;
use crate::error::Result;
use crate::index::Index;
use crate::index::query::FoundTask;
use orange_core::Timestamp;
use orange_core::allow_rule::{AllowRule, Scope};
use orange_core::task::Status;
use serde::Serialize;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PermissionRow {
    #[serde(rename = "id")]
    pub number: u32,
    pub scope: Scope,
    pub project: String,
    /// The task that it is for, by its id and as people name it.
    pub task_id: Option<String>,
    #[serde(rename = "task")]
    pub label: Option<String>,
    #[serde(flatten)]
    pub rule: AllowRule,
    /// The same in words.
    pub allows: String,
    pub added_by: String,
    pub added_at: Timestamp,
}

/// Rules that were removed.
#[derive(Debug, Serialize)]
pub struct RemovedRules<'a> {
    pub permissions: &'a [PermissionRow],
    pub message: &'a str,
}

/// Whose rules are listed.
#[derive(Debug, Clone, Default)]
pub struct WantedPermissions {
    pub project: Option<String>,
    /// What counts for this task; its id.
    pub task: Option<String>,
}

/// The rules that count. Those of a task that is over, or deleted, do not.
pub fn permissions(call: &Call, wanted: &WantedPermissions) -> Result<Vec<PermissionRow>> {
    let stored = call.with_existing_database(|database| {
        let task = wanted.task.as_deref();
        match &wanted.project {
            Some(project) => database.rules_for(project, task),
            None => database.all_rules(),
        }
    })?;
    let stored = stored.unwrap_or_default();
    let mut rows = Vec::new();
    let mut looked = false;
    for one in stored {
        let Some(id) = one.task.clone() else {
            rows.push(permission_row(one, None));
            continue;
        };
        let mut task = known(call.index()?, &id)?;
        // Once: most likely it was deleted, but the index may be behind.
        if task.is_none() && !looked {
            looked = true;
            task = known(call.fresh_index()?, &id)?;
        }
        if let Some(task) = task.filter(|task| !is_over(task)) {
            rows.push(permission_row(one, Some(task.label())));
        }
    }
    Ok(rows)
}

fn known(index: &Index, id: &str) -> Result<Option<FoundTask>> {
    let mut found = index.by_id_prefix(id)?.into_iter();
    Ok(found.find(|task| task.id == id))
}

fn is_over(task: &FoundTask) -> bool {
    task.status.parse().is_ok_and(Status::is_terminal)
}

pub(crate) fn permission_row(stored: StoredRule, label: Option<String>) -> PermissionRow {
    PermissionRow {
        number: stored.number,
        scope: allow_rules::scope(&stored),
        allows: stored.rule.words(),
        project: stored.project,
        task_id: stored.task,
        label,
        rule: stored.rule,
        added_by: stored.added_by,
        added_at: stored.added_at,
    }
}
