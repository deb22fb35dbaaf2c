//! `orange task plan edit`: the user's editor on a copy of plan.yaml, or a file.

use crate::commands::task::edited::EditedText;
use crate::output;
use crate::session::Session;
use orange_core::Action;
use orange_engine::Result;
use orange_engine::store::Place;
use orange_engine::verbs::phased::plan::{self, edit};
use orange_engine::views::TaskResult;
use std::path::Path;

const PLAN: EditedText = EditedText {
    what: "plan",
    suffix: ".yaml",
    megabytes: 1,
    given_by: |file| format!("--file {file}"),
};

pub(super) fn run(session: &Session, id: Option<&str>, file: Option<&Path>) -> Result<()> {
    let place = session.task(id)?;
    session.people_only("edit plans")?;
    let take = |text: &str| take(session, place.clone(), text);
    if let Some(file) = file {
        return PLAN.take_file(file, &take);
    }
    let shown = plan::show(&session.call, place.clone())?;
    if PLAN.in_editor(session, &shown.plan.to_yaml(), &take)? {
        return Ok(());
    }
    let message = format!("{}: nothing was changed", shown.task.label());
    let result = TaskResult::new(&shown.task, &message);
    session.finish(result, || format!("{message}\n"))
}

fn take(session: &Session, place: Place, text: &str) -> Result<()> {
    let (done, ignored) = edit(&session.call, place, text)?;
    let message = format!("{}: has a new plan", done.task.label());
    let result = TaskResult::new(&done.task, &message);
    session.finish(result, || {
        let show = crate::ui::command::command(&Action::show_plan(done.task.name()));
        format!("{message}\nnext: {show}\n")
    })?;
    for ignored in ignored {
        output::note(&ignored);
    }
    Ok(())
}
