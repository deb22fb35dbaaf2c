//! What a field of a task may hold, whoever writes it: a command or a hand in TASK.md.

use crate::call::Call;
use crate::error::{Error, Result, err};
use crate::git;
use crate::store::Place;
use orange_core::id::{Key, read_stored};
use orange_core::task::{BadValue, Field, Task};
use orange_core::{Action, text};

/// Reasons outside the file for not taking over what somebody wrote into it.
pub(crate) fn refuses(call: &Call, place: &Place, field: Field, task: &Task) -> Option<String> {
    match field {
        Field::Summary => one_line(&task.summary).err().map(|error| error.message),
        Field::TargetBranch => {
            let target = task.target_branch.as_deref()?;
            check_target(target).err().map(|error| error.message)
        }
        Field::BlockedBy => refuses_blockers(call, place, task),
        _ => None,
    }
}

fn refuses_blockers(call: &Call, place: &Place, task: &Task) -> Option<String> {
    let key = task.key?;
    for reference in &task.blocked_by {
        let stored = read_stored(&place.project, reference);
        let known = stored.as_ref().is_some_and(|(project, blocker)| {
            let found = call
                .index()
                .and_then(|index| index.by_key(project, *blocker));
            found.is_ok_and(|found| found.is_some())
        });
        if !known {
            call.notice(format!(
                "{key}: it waits for {reference}, which does not exist"
            ));
        }
        let Some((project, blocker)) = stored else {
            continue;
        };
        match cycle_through(call, &place.project, key, &project, blocker) {
            Ok(Some(cycle)) => return Some(format!("a cycle: {}", cycle.join(" → "))),
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "dependencies were not checked"),
        }
    }
    None
}

/// Would waiting for `blocker` make this task wait for itself? Spelled out if so.
pub(crate) fn cycle_through(
    call: &Call,
    project: &str,
    key: Key,
    blocker_project: &str,
    blocker: Key,
) -> Result<Option<Vec<String>>> {
    let full = |project: &str, key: Key| format!("{project}:{key}");
    let start = full(project, key);
    let first = full(blocker_project, blocker);
    let mut trouble = None;
    let index = call.index()?;
    let cycle = orange_core::graph::find_cycle(&start, |node| {
        if node == start {
            return vec![first.clone()];
        }
        let Some((project, key)) = read_stored("", node) else {
            return Vec::new();
        };
        match index.blockers_of(&project, key) {
            Ok(links) => links
                .into_iter()
                .map(|(project, key)| full(&project, key))
                .collect(),
            Err(error) => {
                trouble.get_or_insert(error);
                Vec::new()
            }
        }
    });
    if let Some(error) = trouble {
        return Err(error);
    }
    let own = format!("{project}:");
    Ok(cycle.map(|nodes| {
        nodes
            .into_iter()
            .map(|node| node.strip_prefix(&own).map_or(node.clone(), str::to_owned))
            .collect()
    }))
}

pub(crate) fn bad_value(error: BadValue) -> Error {
    err!(Usage, "{error}").hint(text!(
        "nothing was changed; {} says what each field takes",
        Action::explain_fields()
    ))
}

/// Summaries stand in lists, branches and pull requests: one line, and not a book.
pub(crate) fn one_line(summary: &str) -> Result<String> {
    const LONGEST: usize = 2000;
    let line = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() > LONGEST {
        return Err(err!(
            Usage,
            "the summary has {} characters, at most {LONGEST} fit",
            line.chars().count()
        )
        .hint("put the details into --context"));
    }
    if line.contains('\0') {
        return Err(err!(Usage, "the summary has a NUL character"));
    }
    Ok(line)
}

/// The target must be a name that can be a branch; it need not exist yet.
pub(crate) fn check_target(target: &str) -> Result<()> {
    check_branch_name(target, "give --target-branch the name of a branch")
}

pub(crate) fn check_branch_name(branch: &str, hint: &str) -> Result<()> {
    if git::valid_branch_name(branch)? {
        return Ok(());
    }
    Err(err!(Usage, "git does not accept {branch:?} as a branch name").hint(hint))
}
