//! The specification of a task: its row in orange.db, or else the `spec.md` that a task of an older home has in its folder.

use crate::call::Call;
use crate::database::SpecHead;
use crate::error::{Error, Result, err, plain};
use crate::execution;
use crate::store::{Place, SPEC};
use orange_core::task::Task;
use orange_core::work::execution::Execution;
use orange_core::work::plan::Plan;
use orange_core::work::spec::{self, Spec, SpecSource};
use orange_core::{Action, Timestamp, text};
use orange_sys::crash_points::crash_point;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The specification of a task; None: it has none.
pub(crate) fn spec(call: &Call, place: &Place, task: &Task) -> Result<Option<Spec>> {
    let stored = call.with_existing_database(|database| database.spec(&task.id))?;
    match stored.flatten() {
        Some(spec) => Ok(Some(spec)),
        None => in_file(place, task),
    }
}

/// What there is to say of it in a line, and the file if that has it.
pub(crate) fn head(call: &Call, place: &Place, task: &Task) -> Result<Option<(SpecHead, bool)>> {
    let stored = call.with_existing_database(|database| database.spec_head(&task.id))?;
    if let Some(head) = stored.flatten() {
        return Ok(Some((head, false)));
    }
    let of_file = |spec: Spec| SpecHead {
        source: spec.source,
        bytes: spec.content.len() as u64,
        updated_at: spec.updated_at,
    };
    Ok(in_file(place, task)?.map(|spec| (of_file(spec), true)))
}

fn in_file(place: &Place, task: &Task) -> Result<Option<Spec>> {
    let path = place.path.join(SPEC);
    let unusable = |why: &str| -> Error {
        err!(
            Damaged,
            "the specification in {} cannot be used: {why}",
            path.display()
        )
        .hint(text!(
            "correct the file, or give another one: {}",
            Action::set_spec(task.name())
        ))
    };
    let Some((bytes, at)) = read(&path).map_err(|error| unusable(&plain(&error)))? else {
        return Ok(None);
    };
    let Ok(content) = String::from_utf8(bytes) else {
        return Err(unusable("it is not UTF-8 text"));
    };
    match spec::check_text(&content) {
        Err(spec::BadSpec::Empty) => return Ok(None),
        Err(bad) => return Err(unusable(&bad.to_string())),
        Ok(()) => {}
    }
    Ok(Some(Spec {
        content,
        source: SpecSource::Import,
        created_at: at,
        updated_at: at,
    }))
}

/// A file and when it was changed; None: there is none. A link or a pipe is none.
fn read(path: &Path) -> std::io::Result<Option<(Vec<u8>, Timestamp)>> {
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path);
    let file: File = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let data = file.metadata()?;
    if !data.is_file() {
        return Ok(None);
    }
    let at = Timestamp::try_from(data.modified()?).unwrap_or_default();
    let mut bytes = Vec::new();
    file.take(spec::MOST_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(Some((bytes, at)))
}

/// Stores a specification, and what becomes of the execution with it.
pub(crate) fn save(
    call: &Call,
    task: &str,
    content: &str,
    source: SpecSource,
    execution: Option<&Execution>,
) -> Result<()> {
    call.with_database(|database| {
        database.save_spec(task, content, source, call.now(), execution)
    })?;
    crash_point("spec.stored");
    Ok(())
}

/// An execution that begins: a phase that would write the specification is left out where one was given.
pub(crate) fn with_given_spec(
    call: &Call,
    place: &Place,
    task: &Task,
    plan: &Plan,
    execution: Execution,
) -> Result<Execution> {
    // A file that cannot be used keeps nobody from a plan: the phase writes another one.
    let known = head(call, place, task).unwrap_or_default();
    Ok(match known {
        Some((head, _)) if head.source.is_given() => execution.with_spec_known_before(plan),
        _ => execution,
    })
}

/// The execution as it would begin or go on, also under a plan that is not written yet.
pub(crate) fn first_execution(
    call: &Call,
    place: &Place,
    task: &Task,
    plan: &Plan,
) -> Result<Execution> {
    let execution = execution::execution(call, task)?;
    with_given_spec(call, place, task, plan, execution)
}
