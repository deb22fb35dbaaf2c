//! The commands and files that a repository comes with, and whether a person has agreed to them.

use crate::harness::project_files::ProjectFile;
use crate::rules::Commands;
use crate::workspaces::consents::{Offer, OfferedFiles};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a person has agreed to.
#[derive(Debug, Serialize)]
pub struct TrustView<'a> {
    project: &'a str,
    commit: &'a str,
    commands: &'a Commands,
    /// By [`key_and_files`].
    #[serde(flatten)]
    files: BTreeMap<String, &'a [ProjectFile]>,
    trusted: bool,
    message: &'a str,
}

impl<'a> TrustView<'a> {
    pub fn agreed(offer: &'a Offer, message: &'a str) -> TrustView<'a> {
        TrustView {
            project: &offer.project.name,
            commit: &offer.commit,
            commands: &offer.commands,
            files: offer.files.iter().map(key_and_files).collect(),
            trusted: true,
            message,
        }
    }
}

/// The files for each agent stand under a key with its name.
fn key_and_files(offered: &OfferedFiles) -> (String, &[ProjectFile]) {
    (format!("{}_files", offered.harness), &offered.files)
}

/// What a person has taken back.
#[derive(Debug, Serialize)]
pub struct RevokedTrust<'a> {
    project: &'a str,
    trusted: bool,
    /// How many agreements there were.
    revoked: usize,
    message: &'a str,
}

impl<'a> RevokedTrust<'a> {
    pub fn of(project: &'a str, revoked: usize, message: &'a str) -> RevokedTrust<'a> {
        RevokedTrust {
            project,
            trusted: false,
            revoked,
            message,
        }
    }
}
