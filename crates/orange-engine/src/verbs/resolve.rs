//! Ending a task on a person's word, for work that landed another way: what git can see of it is found out first.

use crate::call::{self, Call};
use crate::error::{Result, err};
use crate::git::contained::{Landed, contained};
use crate::store::Place;
use crate::verbs::change::{self, Change, Changed, Edit};
use crate::views::concerns::{self, slot};
use crate::views::results::BranchLanding;
use crate::views::{task, workspace_state};
use crate::workspaces::base;
use crate::{access, facts, field_checks, git};
use orange_core::task::Task;
use orange_core::workflow::Intent;
use orange_core::{Parameter, text};

/// Refuses agents, and a word that says nothing. Gives the word as it is kept.
pub fn resolution(call: &Call, message: &str) -> Result<String> {
    access::people_only(call, "resolve a task")?;
    let how = || {
        text!(
            "say how the work got in: {}",
            Parameter::Message.given("squashed into main")
        )
    };
    let message = field_checks::one_line(message)
        .map_err(|_| err!(Usage, "the message is too long, or is not text").hint(how()))?;
    if message.is_empty() {
        Err(err!(Usage, "a resolution needs a message").hint(how()))
    } else {
        Ok(message)
    }
}

/// Looks for the task's work in its target. What is not seen here may have landed at the remote, which is asked
/// for news then.
pub fn landing(call: &Call, place: Place) -> Result<BranchLanding> {
    let view = task::view(call, place)?;
    let task = view.task;
    let mut landing = landing_of(call, &task)?;
    landing.without_work = concerns::has_no_work(call, &task, &view.history);
    if landing.is_seen() || landing.without_work || !landing.under_way {
        return Ok(landing);
    }
    let project = call::registered(call, &task.project)?;
    if base::fetch_for(call, &project)? {
        landing_of(call, &task)
    } else {
        Ok(landing)
    }
}

/// The same with what is known here.
pub(crate) fn landing_of(call: &Call, task: &Task) -> Result<BranchLanding> {
    let mut landing = BranchLanding {
        branch: task.branch.clone(),
        target: task.target("its target").to_owned(),
        head: None,
        landed: None,
        without_work: false,
        beside: None,
        uncommitted: uncommitted(call, task),
        under_way: task.status.is_active(),
    };
    let Some(project) = call.project_of(&task.project) else {
        return Ok(landing);
    };
    if facts::head_of(call, task).is_some() {
        landing.beside = slot::work_beside_branch(call, task, &project)?;
    }
    let repository = &project.path;
    landing.target = task.target(&project.default_branch).to_owned();
    landing.head = match facts::head_of(call, task) {
        Some(head) => Some(head),
        // Deleted after it was merged, most often; where it ended was noted.
        None => match facts::noted_head(call, task) {
            Some(head) => git::commit_of(repository, &head)?,
            None => None,
        },
    };
    let Some(head) = &landing.head else {
        return Ok(landing);
    };
    for place in ["heads", "remotes/origin"] {
        let target = format!("refs/{place}/{}", landing.target);
        if git::commit_of(repository, &target)?.is_none() {
            continue;
        }
        let found = contained(repository, head, &target)?;
        // Either place may be ahead of the other; the one that has more of the work counts.
        let better = match (&landing.landed, &found) {
            (None, _) | (Some(_), Landed::Head) => true,
            (Some(Landed::No { .. }), Landed::Change(_)) => true,
            (Some(_), Landed::Change(_) | Landed::No { .. }) => false,
        };
        if better {
            landing.landed = Some(found);
        }
    }
    Ok(landing)
}

/// What git calls changed in the task's worktree; nothing where it cannot say.
fn uncommitted(call: &Call, task: &Task) -> usize {
    let folder = workspace_state::workspace_folder(call, task);
    let changes = folder.and_then(|folder| git::uncommitted(&folder));
    changes.map_or(0, |changes| changes.len())
}

/// Ends a task: its work is in, by a squash, by hand, or is not needed. The branch stays; what is not
/// committed is saved when the slot is given back.
pub fn resolve(
    call: &Call,
    place: Place,
    message: &str,
    landing: &BranchLanding,
) -> Result<Changed> {
    let message = resolution(call, message)?;
    let mut noted = vec![
        Edit::Note("resolved", "true".to_owned()),
        Edit::Note("resolved_at", call.now().to_string()),
        Edit::Note("resolution_message", message.clone()),
    ];
    // Which work it was that somebody vouched for.
    noted.extend(
        landing
            .head
            .clone()
            .map(|head| Edit::Note("resolved_head", head)),
    );
    change::change(
        call,
        place,
        &Change {
            edits: noted,
            intent: Some(Intent::Merge),
            force: true,
            reason: Some(message.clone()),
            resolution: Some(message),
            ..Change::default()
        },
    )
}
