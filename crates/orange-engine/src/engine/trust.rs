//! Consent: commands that come with a repository run only after its user agreed to exactly these.

use super::{Caller, Engine};
use crate::database::Database;
use crate::error::{Code, Error, Result};
use crate::git;
use crate::harness::claude::project_files::{ProjectFile, ProjectFiles};
use crate::projects::{self, Project};
use crate::workspaces::rules::{Commands, Rules};
use orange_core::naming::counted;
use orange_core::{Action, text};

/// How many commands a refusal spells out.
const SPELLED_OUT: usize = 3;

/// What a repository would like to run, for its user to look at.
#[derive(Debug, Clone)]
pub struct Offer {
    pub project: Project,
    /// The commit it was read from.
    pub commit: String,
    pub commands: Commands,
    /// Files that claude would load; none unless `agents.project_settings` is on.
    pub files: Vec<ProjectFile>,
    /// What a consent to these files is bound to.
    files_hash: Option<String>,
    pub trusted: bool,
}

impl Engine {
    /// What a workspace of the project gets: what the repository says at that commit, and the user's own settings.
    pub fn repository_rules(&self, project: &Project, commit: &str) -> Result<Rules> {
        let own = self.config()?.workspace.clone();
        let rules = Rules::read(&project.path, commit, &own)?;
        for ignored in &rules.ignored {
            let told = format!("project {}: .orange/config.yaml, {ignored}", project.name);
            match self.caller {
                Caller::Human => self.notice(told),
                Caller::Agent { .. } | Caller::Engine => tracing::warn!("{told}"),
            }
        }
        Ok(rules)
    }

    /// Did the user agree to these commands of a project? Nobody need agree to none.
    pub fn is_trusted(&self, project: &str, commands: &Commands) -> Result<bool> {
        for part in commands.parts() {
            let hash = part.hash();
            if !self.with_database(|database| database.has_consent(project, &hash))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Why a workspace cannot be had by these rules yet: the repository's commands have no consent.
    pub fn untrusted(&self, project: &Project, rules: &Rules) -> Result<Option<Error>> {
        if self.is_trusted(&project.name, &rules.foreign)? {
            return Ok(None);
        }
        // Without more words the user is asked about the newest commit; this one may say something else.
        let newest = self.offer(&project.name, None).ok();
        let same = newest.is_some_and(|offer| {
            let offered: Vec<Commands> = offer.commands.parts().collect();
            rules.foreign.parts().all(|part| offered.contains(&part))
        });
        let at = (!same).then(|| git::short(&rules.commit).to_owned());
        Ok(Some(
            Error::new(
                Code::ConditionUnmet,
                format!(
                    "project {} comes with commands that you have not agreed to: {}",
                    project.name,
                    spelled_out(&rules.foreign)
                ),
            )
            .hint(text!(
                "look at them and agree: {}",
                Action::trust(&project.name, at)
            )),
        ))
    }

    /// The commands that a repository comes with, at a revision or where new work starts from.
    pub fn offer(&self, name: &str, revision: Option<&str>) -> Result<Offer> {
        let registry = self.projects()?;
        let project = projects::named(&registry, name)?.clone();
        let commit = match revision {
            Some(revision) => git::commit_of(&project.path, revision)?.ok_or_else(|| {
                Error::new(
                    Code::NotFound,
                    format!("project {name} has no commit {revision:?}"),
                )
                .hint("give a branch or a commit of the repository")
            })?,
            None => newest_base(&project)?,
        };
        let commands = self.repository_rules(&project, &commit)?.foreign;
        let files = match self.config()?.agents.project_settings {
            true => ProjectFiles::at_commit(&project.path, &commit)?,
            false => ProjectFiles::default(),
        };
        let trusted = self.is_trusted(name, &commands)? && self.agreed_to_files(name, &files)?;
        Ok(Offer {
            files: files.listed(&project.path)?,
            files_hash: (!files.is_empty()).then(|| files.hash()),
            project,
            commit,
            commands,
            trusted,
        })
    }

    /// Agrees to what was offered; false if that had happened before.
    pub fn trust(&self, offer: &Offer) -> Result<bool> {
        self.may_trust()?;
        let now = self.now();
        let name = &offer.project.name;
        // Under the registry's lock: a project removed meanwhile must not leave a consent behind.
        let news = projects::change(&self.store, |all| {
            projects::named(all, name)?;
            let commands = offer.commands.parts().map(|part| part.hash());
            let hashes = commands.chain(offer.files_hash.clone());
            self.with_database(|database| {
                let mut news = false;
                for hash in hashes {
                    news |= database.give_consent(name, &hash, now)?;
                }
                Ok(news)
            })
        })?;
        // Somebody may have waited for just this.
        if news && self.has_queued()? {
            self.want_queue()?;
        }
        Ok(news)
    }

    /// Takes back whatever was agreed to.
    pub fn revoke_trust(&self, name: &str) -> Result<usize> {
        self.may_trust()?;
        let registry = self.projects()?;
        projects::named(&registry, name)?;
        self.forget_consents(name)
    }

    /// Trust is given by people.
    pub fn may_trust(&self) -> Result<()> {
        self.people_only("agree to a repository's commands")
    }

    /// Also without orange.db, which then holds none.
    pub(super) fn forget_consents(&self, project: &str) -> Result<usize> {
        if !Database::path_in(self.store.home()).exists() {
            return Ok(0);
        }
        self.with_database(|database| database.revoke_consents(project))
    }
}

/// Where new work starts from: the default branch as the remote has it, else as it is here.
pub(crate) fn newest_base(project: &Project) -> Result<String> {
    let branch = &project.default_branch;
    for reference in [
        format!("refs/remotes/origin/{branch}"),
        format!("refs/heads/{branch}"),
    ] {
        if let Some(commit) = git::commit_of(&project.path, &reference)? {
            return Ok(commit);
        }
    }
    Err(Error::new(
        Code::ConditionUnmet,
        format!("project {} has no commit on {branch} yet", project.name),
    )
    .hint("commit something first, or name a branch with --at"))
}

/// `make setup`, `npm ci` and 2 more commands.
fn spelled_out(commands: &Commands) -> String {
    let Commands {
        setup,
        teardown,
        verify,
    } = commands;
    let all: Vec<&String> = [setup, teardown, verify].into_iter().flatten().collect();
    let mut words: Vec<String> = all
        .iter()
        .take(SPELLED_OUT)
        .map(|command| format!("`{}`", command.replace('\n', "⏎")))
        .collect();
    if all.len() > SPELLED_OUT {
        words.push(counted(all.len() - SPELLED_OUT, "more command"));
    }
    words.join(", ")
}
