//! `orange task create --from`: the earlier task that is named, and what is said of it.

use crate::session::Session;
use orange_engine::verbs::create_from::{self, Earlier};
use orange_engine::views::results::TaskOrigin;
use orange_engine::{Result, err};

/// The task to start again from. It stays in its project, whichever one we are in.
pub(super) fn earlier(session: &Session, id: &str, named: Option<&str>) -> Result<Earlier> {
    let current = session.project(named)?;
    let earlier = create_from::earlier(&session.call, id, current.as_deref())?;
    match named {
        Some(project) if project != earlier.task.project => Err(err!(
            Usage,
            "{} is a task of project {}, and starts again only there",
            earlier.task.label(),
            earlier.task.project
        )
        .hint("leave --project out")),
        Some(_) | None => Ok(earlier),
    }
}

/// A line of what is printed about the new task.
pub(super) fn line(origin: &TaskOrigin) -> String {
    let rescue = origin.work.as_ref().map(|work| work.rescue.is_some());
    let work = match rescue {
        None => "",
        Some(false) => ", with its commits",
        Some(true) => ", with its commits and what it had not committed",
    };
    format!("from     {} ({}){work}", origin.label, origin.status)
}
