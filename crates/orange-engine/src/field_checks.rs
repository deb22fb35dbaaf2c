//! What a field of a task may hold, whoever writes it: a command or a hand in TASK.md.

use crate::call::Call;
use crate::error::{Error, Result, err};
use crate::git;
use crate::store::Place;
use orange_core::id::{Key, read_stored};
use orange_core::task::{BadValue, Field, Task};
use orange_core::{Action, Parameter, Text, text};

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
        let found = stored.as_ref().and_then(|blocker| {
            let found =
                (call.index()).and_then(|index| index.by_number(&blocker.project, blocker.number));
            found.ok().flatten()
        });
        // Its number alone would be that of another task than was meant.
        if let (Some(blocker), Some(own)) = (&stored, found.as_ref().and_then(|found| found.key))
            && !blocker.fits(own)
        {
            let project = &blocker.project;
            return Some(format!(
                "{reference} does not exist; {} in project {project} is {own}",
                own.number
            ));
        }
        if found.is_none() {
            call.notice(format!(
                "{key}: it waits for {reference}, which does not exist"
            ));
        }
        let Some(blocker) = stored else {
            continue;
        };
        match cycle_through(call, &place.project, key, &blocker.project, blocker.number) {
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
    blocker: u32,
) -> Result<Option<Vec<String>>> {
    // A number is one task of its project, however its key is written.
    let node = |project: &str, number: u32| format!("{project}:{number}");
    let start = node(project, key.number);
    let first = node(blocker_project, blocker);
    let mut trouble = None;
    let index = call.index()?;
    let cycle = orange_core::graph::find_cycle(&start, |node_name| {
        if node_name == start {
            return vec![first.clone()];
        }
        let Some(named) = read_stored("", node_name) else {
            return Vec::new();
        };
        match index.blockers_of(&named.project, named.number) {
            Ok(links) => links
                .into_iter()
                .map(|link| node(&link.project, link.number))
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
    let shown = |name: String| -> Result<String> {
        if name == start {
            return Ok(key.to_string());
        }
        let found = match read_stored("", &name) {
            Some(named) => index.by_number(&named.project, named.number)?,
            None => None,
        };
        Ok(found.map_or(name, |found| found.reference_in(project)))
    };
    cycle
        .map(|names| names.into_iter().map(shown).collect())
        .transpose()
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
        .hint(text!("put the details into {}", Parameter::Context)));
    }
    if line.contains('\0') {
        return Err(err!(Usage, "the summary has a NUL character"));
    }
    Ok(line)
}

/// Refuses words that no agent could be given; `what` begins the sentence about them.
pub(crate) fn check_words(what: &str, words: &str) -> Result<()> {
    match words.contains('\0') {
        true => Err(err!(
            Usage,
            "{what} has a NUL character, which no prompt can have"
        )),
        false => Ok(()),
    }
}

/// The target must be a name that can be a branch; it need not exist yet.
pub(crate) fn check_target(target: &str) -> Result<()> {
    check_branch_name(
        target,
        text!("give {} the name of a branch", Parameter::TargetBranch),
    )
}

pub(crate) fn check_branch_name(branch: &str, hint: impl Into<Text>) -> Result<()> {
    if git::valid_branch_name(branch)? {
        return Ok(());
    }
    Err(err!(Usage, "git does not accept {branch:?} as a branch name").hint(hint))
}
