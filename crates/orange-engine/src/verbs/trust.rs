//! `project trust`: a person's consent to the commands of a repository.

use crate::call::{self, Call};
use crate::error::Result;
use crate::verbs::start;
use crate::workspaces::consents::Offer;
use crate::{access, projects};

/// Agrees to what was offered; false if that had happened before.
pub fn trust(call: &Call, offer: &Offer) -> Result<bool> {
    may_trust(call)?;
    let now = call.now();
    let name = &offer.project.name;
    // Under the registry's lock: a project removed meanwhile must not leave a consent behind.
    let news = projects::change(&call.store, |all| {
        projects::named(all, name)?;
        let commands = offer.commands.parts().map(|part| part.hash());
        let files = offer
            .files
            .iter()
            .filter_map(|offered| offered.hash.clone());
        let hashes = commands.chain(files);
        call.with_database(|database| {
            let mut news = false;
            for hash in hashes {
                news |= database.give_consent(name, &hash, now)?;
            }
            Ok(news)
        })
    })?;
    // Somebody may have waited for just this.
    if news && start::has_queued(call)? {
        call::request_queue_run(call)?;
    }
    Ok(news)
}

/// Takes back whatever was agreed to.
pub fn revoke_trust(call: &Call, name: &str) -> Result<usize> {
    may_trust(call)?;
    let registry = call.projects()?;
    projects::named(&registry, name)?;
    forget_consents(call, name)
}

/// Trust is given by people.
pub fn may_trust(call: &Call) -> Result<()> {
    access::people_only(call, "agree to a repository's commands")
}

/// Also without orange.db, which then holds none.
pub(crate) fn forget_consents(call: &Call, project: &str) -> Result<usize> {
    let revoked = call.with_existing_database(|database| database.revoke_consents(project))?;
    Ok(revoked.unwrap_or(0))
}

/// What a person said of a repository counts for no other: consents, and rules for agents.
pub(crate) fn forget_repository(call: &Call, project: &str) -> Result<()> {
    forget_consents(call, project)?;
    call.with_existing_database(|database| database.forget_rules_of_project(project))?;
    Ok(())
}
