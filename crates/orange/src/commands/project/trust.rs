//! `orange project trust`: looking at the commands a repository comes with, and agreeing to them.

use crate::completion::{branches, projects};
use crate::output;
use crate::question::{asks, yes};
use crate::session::Session;
use crate::ui::clean_block;
use clap::Args;
use orange_core::naming::counted;
use orange_engine::harness::project_files::ProjectFile;
use orange_engine::verbs::trust;
use orange_engine::views::{RevokedTrust, TrustView};
use orange_engine::workspaces::consents::{self, Offer, OfferedFiles};
use orange_engine::{Error, Result, err, git};
use std::fmt::Write as _;

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project
    #[arg(add = projects())]
    name: String,
    /// Look at this branch or commit instead of where new work starts from
    #[arg(long, value_name = "REVISION", conflicts_with = "revoke", add = branches())]
    at: Option<String>,
    /// Agree without being asked
    #[arg(long, short, conflicts_with = "revoke")]
    yes: bool,
    /// Take back whatever was agreed to
    #[arg(long)]
    revoke: bool,
}

pub(crate) fn run(session: &Session, args: &TrustArgs) -> Result<()> {
    trust::may_trust(&session.call)?;
    if args.revoke {
        return revoke(session, &args.name);
    }
    let offer = consents::offer(&session.call, &args.name, args.at.as_deref())?;
    let name = &offer.project.name;
    let commit = git::short(&offer.commit);
    let readers = offer.readers().join(" and ");
    if offer.commands.is_empty() && readers.is_empty() {
        let message = format!("project {name} comes with no commands at {commit}");
        return finish(session, &offer, &message, "");
    }
    let listed = listed(&offer);
    if offer.trusted {
        let message = format!(
            "you have agreed to {} of project {name} at {commit}",
            offered(&offer)
        );
        return finish(session, &offer, &message, &listed);
    }
    let mut shown = listed.as_str();
    if asks(session, args.yes) {
        // Together, so that nobody is asked about something that went into a file.
        let question = if readers.is_empty() {
            format!("{shown}let Orange run these in every workspace of {name}?")
        } else {
            format!("{shown}let Orange and {readers} use these in every workspace of {name}?")
        };
        shown = "";
        if !yes(&question)? {
            return Err(err!(Declined, "nothing was changed"));
        }
    } else if !args.yes {
        if !session.json {
            output::print(&listed);
        }
        return Err(unanswered(args, &offered(&offer)));
    }
    trust::trust(&session.call, &offer)?;
    let message = format!(
        "agreed to {} of project {name} at {commit}",
        offered(&offer)
    );
    finish(session, &offer, &message, shown)
}

fn revoke(session: &Session, name: &str) -> Result<()> {
    let count = trust::revoke_trust(&session.call, name)?;
    let message = match count {
        0 => format!("nothing was agreed to for project {name}"),
        count => format!(
            "took back {} for project {name}",
            counted(count, "agreement")
        ),
    };
    let revoked = RevokedTrust::of(name, count, &message);
    session.finish(revoked, || format!("{message}\n"))
}

fn offered(offer: &Offer) -> String {
    let readers = offer.readers().join(" and ");
    match (offer.commands.is_empty(), readers.is_empty()) {
        (_, true) => "the commands".to_owned(),
        (true, false) => format!("the files for {readers}"),
        (false, false) => format!("the commands and the files for {readers}"),
    }
}

fn unanswered(args: &TrustArgs, offered: &str) -> Error {
    let name = &args.name;
    let at = match &args.at {
        Some(revision) => format!(" --at {revision}"),
        None => String::new(),
    };
    err!(
        Refused,
        "agreeing to {offered} of project {name} needs an answer, and this is no terminal"
    )
    .hint(format!(
        "read them, then `orange project trust {name}{at} --yes`"
    ))
}

/// Ends in one way: whoever comes here has agreed, or need not.
fn finish(session: &Session, offer: &Offer, message: &str, listed: &str) -> Result<()> {
    let trusted = TrustView::agreed(offer, message);
    session.finish(trusted, || format!("{listed}{message}\n"))
}

/// Every command in full and every file: what is not seen cannot be agreed to.
fn listed(offer: &Offer) -> String {
    let mut text = String::new();
    let (name, commit) = (&offer.project.name, git::short(&offer.commit));
    if !offer.commands.is_empty() {
        let _ = writeln!(
            text,
            "commands in .orange/config.yaml of project {name} at {commit}:"
        );
    }
    for (kind, commands) in offer.commands.kinds() {
        for command in commands {
            list(&mut text, &format!("  {kind:<8}  "), command);
        }
    }
    for OfferedFiles { harness, files, .. } in &offer.files {
        if !files.is_empty() {
            let _ = writeln!(
                text,
                "files that {harness} loads from project {name} at {commit}, and what it runs because of them:"
            );
        }
        for file in files {
            list_file(&mut text, file);
        }
    }
    text
}

fn list_file(text: &mut String, file: &ProjectFile) {
    let (blob, size) = (git::short(&file.blob), counted_bytes(file.size));
    list(
        text,
        &format!("  {blob}  "),
        &format!("{} ({size})", file.path),
    );
    for command in &file.commands {
        list(text, "    runs    ", command);
    }
}

fn counted_bytes(size: u64) -> String {
    counted(usize::try_from(size).unwrap_or(usize::MAX), "byte")
}

/// A text of one or more lines, the later ones under the first.
fn list(text: &mut String, begin: &str, told: &str) {
    let mut begin = begin.to_owned();
    for line in clean_block(told).lines() {
        let _ = writeln!(text, "{begin}{line}");
        begin = " ".repeat(begin.len());
    }
}
