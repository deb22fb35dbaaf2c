//! `orange` alone and `orange dashboard`: the terminal dashboard.

use super::program::{Program, editor};
use crate::completion::projects;
use crate::question;
use crate::session::Session;
use crate::ui::Palette;
use clap::Args;
use orange_engine::verbs::project::{self, AddProject};
use orange_engine::{Error, Result, err, find, git, settings};
use orange_tui::keymap::Keymap;
use orange_tui::theme::Theme;
use orange_tui::{DashboardOptions, run as show};
use std::io::{IsTerminal, Write};
use tempfile::NamedTempFile;

/// Show all tasks and agents on one screen, live
#[derive(Debug, Args, Default)]
#[command(after_help = "\
In a repository it shows that project, elsewhere all of them. `?` shows every key; quitting leaves the agents at work.

Examples:
  orange                              the same, on a terminal
  orange dashboard --all-projects
  orange dashboard --project shop --ascii")]
pub(crate) struct DashboardArgs {
    /// Show all projects, wherever you are
    #[arg(long, conflicts_with = "project")]
    all_projects: bool,
    /// Show this project; may be given more than once
    #[arg(long, value_name = "NAME", value_delimiter = ',', add = projects())]
    project: Vec<String>,
    /// Draw with ASCII characters only
    #[arg(long)]
    ascii: bool,
    /// Quit after going to a task's window; for a tmux popup
    #[arg(long)]
    exit_on_attach: bool,
    /// Leave the mouse to the terminal
    #[arg(long)]
    no_mouse: bool,
}

pub(crate) fn run(session: &Session, args: &DashboardArgs) -> Result<()> {
    session.people_only("use the dashboard")?;
    if session.json || !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return Err(err!(ConditionUnmet, "the dashboard needs a terminal")
            .hint("`orange ls` and `orange inbox` list the same, with --json for programs"));
    }
    for name in &args.project {
        let registry = session.call.projects()?;
        orange_engine::projects::named(&registry, name)?;
    }
    let is_named = args.all_projects || !args.project.is_empty();
    let here = here(session, !is_named)?;
    let projects = match (&here, args.all_projects) {
        _ if !args.project.is_empty() => args.project.clone(),
        (Some(here), false) => vec![here.clone()],
        (None, _) | (_, true) => Vec::new(),
    };
    let config = settings::config(&session.call)?;
    let (dashboard, keymap) = (&config.dashboard, Keymap::new(&config.keys));
    crate::output::notices(&session.call.take_notices());
    show(
        &session.call,
        DashboardOptions {
            theme: Theme {
                colour: Palette::stdout().enabled,
                ascii: args.ascii || dashboard.ascii,
            },
            here,
            projects,
            exit_on_attach: args.exit_on_attach,
            mouse: dashboard.mouse && !args.no_mouse,
            keymap,
            edit,
        },
    )
}

/// The project that the person is in; a repository that is none yet is registered if they want that.
fn here(session: &Session, asks: bool) -> Result<Option<String>> {
    if let Some(project) = find::project_at(&session.call, &session.folder)? {
        return Ok(Some(project));
    }
    let Some(repository) = git::repository_of(&session.folder)?.filter(|_| asks) else {
        return Ok(None);
    };
    let question = format!(
        "register the repository {} as a project?",
        repository.display()
    );
    if !question::yes(&question)? {
        return Ok(None);
    }
    let added = project::add_project(
        &session.call,
        &AddProject {
            path: session.folder.clone(),
            ..AddProject::default()
        },
    )?;
    Ok(Some(added.project.name))
}

/// Lets the person write in their editor.
fn edit(text: &str) -> Result<String> {
    let failed = |error: std::io::Error| err!(Failed, "the text cannot be kept: {error}");
    let mut file = tempfile::Builder::new()
        .suffix(".md")
        .tempfile()
        .map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    let line = editor().unwrap_or_else(|| "vi".into());
    let ended = Program::from_line(&line)
        .with(file.path())
        .for_a_person()
        .run()?;
    if !ended.success() {
        return Err(kept(file, "the editor ended with an error".to_owned()));
    }
    written(file)
}

/// What the person wrote. If it cannot be taken over, it stays where they can find it.
fn written(file: NamedTempFile) -> Result<String> {
    match std::fs::read_to_string(file.path()) {
        Ok(text) => Ok(text),
        Err(error) => Err(kept(
            file,
            format!("what was written cannot be read: {error}"),
        )),
    }
}

fn kept(file: NamedTempFile, why: String) -> Error {
    match file.keep() {
        Ok((_, path)) => {
            err!(Failed, "{why}").hint(format!("what was written is in {}", path.display()))
        }
        Err(error) => err!(Failed, "{why}, and is lost: {}", error.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_cannot_be_taken_over_stays_where_it_is() {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(b"Gr\xfc\xdfe").unwrap();
        let path = file.path().to_owned();
        let error = written(file).unwrap_err();
        let hint = error.hint.map(|hint| hint.words().unwrap_or_default());
        assert!(hint.unwrap().contains(&path.display().to_string()));
        assert_eq!(std::fs::read(&path).unwrap(), b"Gr\xfc\xdfe");
        std::fs::remove_file(path).unwrap();
    }
}
