//! The choice that is made once for a project: what its agents may do without asking.

use crate::question;
use crate::session::Session;
use crate::ui::clean;
use orange_core::config::Permissions;
use orange_engine::sessions::permissions;
use orange_engine::verbs::project::{self, UpdateProject};
use orange_engine::{Result, err};
use std::io::{BufRead, Write};

const FIRST_PROMPT: &str = "1, 2 or 3?";
/// How much of a wrong answer is repeated.
const SHOWN: usize = 20;

/// Asks a person at a terminal before the first agent of a project starts. Elsewhere the engine says what it does.
pub(super) fn choose_once(
    session: &Session,
    project: &str,
    harness: Option<&str>,
    said: Option<Permissions>,
) -> Result<()> {
    let asks = said.is_none() && session.is_person() && question::asks(session, false);
    if !asks || !permissions::is_mode_open(&session.call, project, harness)? {
        return Ok(());
    }
    let permissions = Some(ask(project)?);
    let update = UpdateProject {
        permissions,
        ..UpdateProject::default()
    };
    project::update_project(&session.call, project, &update)?;
    Ok(())
}

fn ask(project: &str) -> Result<Permissions> {
    let mut out = std::io::stderr();
    let project = clean(project);
    let _ = write!(
        out,
        "\
What may agents of project {project} do without asking?
  1  full   everything
  2  edits  change files and commit; they ask before other commands
  3  ask    read only; they ask before every change and command
No agent pushes or posts to GitHub, whatever you choose. Asked once; later:
orange project update {project} --permissions MODE
"
    );
    let mut prompt = FIRST_PROMPT.to_owned();
    loop {
        let _ = write!(out, "{prompt} ");
        let _ = out.flush();
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer);
        if !read.is_ok_and(|count| count > 0) {
            return Err(err!(Usage, "nothing was chosen, and nothing was done")
                .hint("answer 1, 2 or 3, or add --permissions MODE"));
        }
        match answer.trim() {
            "1" | "full" => return Ok(Permissions::Full),
            "2" | "edits" => return Ok(Permissions::Edits),
            "3" | "ask" => return Ok(Permissions::Ask),
            "" => FIRST_PROMPT.clone_into(&mut prompt),
            wrong => {
                let shown: String = clean(wrong).chars().take(SHOWN).collect();
                prompt = format!("\"{shown}\" is none of them: 1, 2, 3, full, edits or ask?");
            }
        }
    }
}
