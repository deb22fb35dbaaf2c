//! Rules by which agents are not asked again: added with an answer, removed by their numbers. Both by people alone.

use crate::call::Call;
use crate::database::{NewRule, StoredRule};
use crate::error::{Code, Result, err};
use crate::store::Place;
use crate::tx::{self, TaskTx};
use crate::views::permissions::{PermissionRow, permission_row};
use crate::{access, allow_rules, find};
use orange_core::allow_rule::{AllowRule, Scope};
use orange_core::{Action, text};

/// A rule that counts now.
#[derive(Debug, Clone)]
pub struct AddedPermission {
    pub permission: PermissionRow,
    /// False: the same was allowed before.
    pub new: bool,
}

/// Allows something for a task, or for all tasks of its project, from now on.
pub fn add(call: &Call, place: Place, scope: Scope, rule: &AllowRule) -> Result<AddedPermission> {
    access::people_only(call, "allow something for good")?;
    let mut tx = tx::lock_task(call, place)?;
    if tx.task.status.is_terminal() {
        return Err(err!(ConditionUnmet, "{} is over", tx.task.label())
            .hint("rules are for tasks whose agents work"));
    }
    let (id, label) = (tx.task.id.clone(), tx.task.label());
    let known = allow_rules::rules_for(call, &tx.task);
    let is_same = |stored: &&StoredRule| {
        stored.rule == *rule && (scope == Scope::Task || stored.task.is_none())
    };
    let (stored, new) = match known.into_iter().find(|stored| is_same(&stored)) {
        Some(stored) => (stored, false),
        None => (store(&mut tx, scope, rule)?, true),
    };
    tx.commit(Vec::new()).map(drop)?;
    let label = stored
        .task
        .as_ref()
        .filter(|task| **task == id)
        .map(|_| label);
    Ok(AddedPermission {
        permission: permission_row(stored, label),
        new,
    })
}

/// The row first, marked; then the event, which names it. Whoever locks the task after a kill journals what is marked.
fn store(tx: &mut TaskTx<'_>, scope: Scope, rule: &AllowRule) -> Result<StoredRule> {
    let call = tx.call;
    let project = tx.task.project.clone();
    let task = (scope == Scope::Task).then(|| tx.task.id.clone());
    let added_by = call.user.clone().unwrap_or_else(|| call.caller_name());
    let added_at = call.now();
    let new = NewRule {
        project: &project,
        task: task.as_deref(),
        rule,
        added_by: &added_by,
        added_at,
    };
    let number = call.with_database(|database| database.add_rule(&new))?;
    let stored = StoredRule {
        number,
        project,
        task,
        rule: rule.clone(),
        added_by,
        added_at,
        removed_at: None,
    };
    tx.note(vec![allow_rules::event(&stored)])?;
    if stored.task.is_some() {
        allow_rules::note_journalled(call, &stored)?;
    }
    Ok(stored)
}

/// Removes rules by their numbers; none of them if one is not there.
pub fn remove(call: &Call, numbers: &[u32]) -> Result<Vec<PermissionRow>> {
    access::people_only(call, "remove a rule")?;
    let mut found = Vec::new();
    for number in numbers {
        let stored = call.with_existing_database(|database| database.rule(*number))?;
        found.push(stored.flatten().ok_or_else(|| {
            err!(NotFound, "there is no rule {number}").hint(text!(
                "{} shows the rules that count",
                Action::list_permissions()
            ))
        })?);
    }
    let removed = found.into_iter().map(|stored| remove_one(call, stored));
    removed.collect()
}

fn remove_one(call: &Call, mut stored: StoredRule) -> Result<PermissionRow> {
    let Some(task) = stored.task.clone() else {
        call.with_database(|database| database.delete_rule(stored.number))?;
        tracing::info!(
            rule = stored.number,
            project = stored.project,
            "rule removed"
        );
        return Ok(permission_row(stored, None));
    };
    let place = match find::find(call, &task, None) {
        Ok(place) => place,
        // Deleted: its journal is in the trash, and ends with that.
        Err(error) if error.code == Code::NotFound => {
            call.with_database(|database| database.delete_rule(stored.number))?;
            return Ok(permission_row(stored, None));
        }
        Err(error) => return Err(error),
    };
    let mut tx = tx::lock_task(call, place)?;
    let now = call.now();
    // The same order as when it was added: it counts no more, and the journal says so.
    if call.with_database(|database| database.end_rule(stored.number, now))? {
        stored.removed_at = Some(now);
        tx.note(vec![allow_rules::event(&stored)])?;
        allow_rules::note_journalled(call, &stored)?;
    }
    let label = tx.task.label();
    tx.commit(Vec::new()).map(drop)?;
    Ok(permission_row(stored, Some(label)))
}
