//! Consent: commands that come with a repository run only after its user agreed to exactly these.

use crate::call::{Call, Caller};
use crate::error::{Error, Result, err};
use crate::harness;
use crate::harness::project_files::{ProjectFile, ProjectFiles};
use crate::projects::{self, Project};
use crate::rules::{Commands, Rules, newest_base};
use crate::workspaces::project_consent;
use crate::{git, settings};
use orange_core::naming::counted;
use orange_core::{Action, text};

/// How many commands or files a refusal spells out.
const SPELLED_OUT: usize = 3;

/// What a repository would like to run, for its user to look at.
#[derive(Debug, Clone)]
pub struct Offer {
    pub project: Project,
    /// The commit it was read from.
    pub commit: String,
    pub commands: Commands,
    /// For each agent that can load files of a repository.
    pub files: Vec<OfferedFiles>,
    pub trusted: bool,
}

/// The files that one agent would load; none unless `agents.project_settings` is on.
#[derive(Debug, Clone)]
pub struct OfferedFiles {
    /// The agent's name.
    pub harness: &'static str,
    pub files: Vec<ProjectFile>,
    /// What a consent to these files is bound to.
    pub(crate) hash: Option<String>,
}

impl Offer {
    /// The names of the agents that would load files.
    pub fn readers(&self) -> Vec<&'static str> {
        let with_files = self
            .files
            .iter()
            .filter(|offered| !offered.files.is_empty());
        with_files.map(|offered| offered.harness).collect()
    }
}

/// What a workspace of the project gets: what the repository says at that commit, and the user's own settings.
pub fn repository_rules(call: &Call, project: &Project, commit: &str) -> Result<Rules> {
    let own = settings::config(call)?.workspace.clone();
    let rules = Rules::read(&project.path, commit, &own)?;
    for ignored in &rules.ignored {
        let told = format!("project {}: .orange/config.yaml, {ignored}", project.name);
        match call.caller {
            Caller::Human => call.notice(told),
            Caller::Agent { .. } | Caller::Engine => tracing::warn!("{told}"),
        }
    }
    Ok(rules)
}

/// Did the user agree to these commands of a project? Nobody need agree to none.
pub fn is_trusted(call: &Call, project: &str, commands: &Commands) -> Result<bool> {
    for part in commands.parts() {
        let hash = part.hash();
        if !call.with_database(|database| database.has_consent(project, &hash))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Why a workspace cannot be had, or checked, by these rules yet: the repository's commands for that have no consent. Those of
/// phases are asked about when they are to run.
pub fn untrusted(call: &Call, project: &Project, rules: &Rules) -> Result<Option<Error>> {
    let wanted = Commands {
        verify: rules.foreign.verify.clone(),
        ..rules.foreign.of_workspace()
    };
    if is_trusted(call, &project.name, &wanted)? {
        return Ok(None);
    }
    // Without more words the user is asked about the newest commit; this one may say something else.
    let newest = offer(call, &project.name, None).ok();
    let same = newest.is_some_and(|offer| {
        let offered: Vec<Commands> = offer.commands.parts().collect();
        wanted.parts().all(|part| offered.contains(&part))
    });
    let at = (!same).then(|| git::short(&rules.commit).to_owned());
    Ok(Some(
        err!(
            ConditionUnmet,
            "project {} comes with commands that you have not agreed to: {}",
            project.name,
            spelled_out(&wanted)
        )
        .hint(text!(
            "look at them and agree: {}",
            Action::trust(&project.name, at)
        )),
    ))
}

/// The commands that a repository comes with, at a revision or where new work starts from.
pub fn offer(call: &Call, name: &str, revision: Option<&str>) -> Result<Offer> {
    let registry = call.projects()?;
    let project = projects::named(&registry, name)?.clone();
    let commit = match revision {
        Some(revision) => git::commit_of(&project.path, revision)?.ok_or_else(|| {
            err!(NotFound, "project {name} has no commit {revision:?}")
                .hint("give a branch or a commit of the repository")
        })?,
        None => newest_base(&project)?,
    };
    let commands = repository_rules(call, &project, &commit)?.foreign;
    let loads = settings::config(call)?.agents.project_settings;
    let mut trusted = is_trusted(call, name, &commands)?;
    let mut offered = Vec::new();
    for kind in harness::loading_project_files() {
        let files = if loads {
            ProjectFiles::at_commit(kind, &project.path, &commit)?
        } else {
            ProjectFiles::none(kind)
        };
        trusted = trusted && project_consent::agreed_to_files(call, name, &files)?;
        offered.push(OfferedFiles {
            harness: kind.name(),
            files: files.listed(&project.path)?,
            hash: (!files.is_empty()).then(|| files.hash()),
        });
    }
    Ok(Offer {
        files: offered,
        project,
        commit,
        commands,
        trusted,
    })
}

/// The first few, and how many more.
pub(crate) fn first_of(mut all: Vec<String>, more: &str) -> String {
    let rest = all.len().saturating_sub(SPELLED_OUT);
    all.truncate(SPELLED_OUT);
    if rest > 0 {
        all.push(counted(rest, more));
    }
    all.join(", ")
}

/// `make setup`, `npm ci`, `make check`, 2 more commands.
fn spelled_out(commands: &Commands) -> String {
    let all = commands.kinds().flat_map(|(_, commands)| commands);
    let quoted = all.map(|command| format!("`{}`", command.replace('\n', "⏎")));
    first_of(quoted.collect(), "more command")
}
