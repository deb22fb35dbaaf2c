//! What somebody may have meant by an argument that a command does not have, where no likeness of letters tells.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use orange_core::task::{Status, WorkflowName};
use orange_core::workflow::Workflow;
use std::ffi::OsString;

/// The error with such a tip, if there is one.
pub(super) fn with_tip(mut error: clap::Error, arguments: &[OsString]) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let own = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let words: Vec<&str> = own.filter(|word| !word.starts_with('-')).collect();
    let tip = match words.as_slice() {
        ["ls", ..] | ["task", "list", ..] => of_list(unknown),
        ["run", ..] if !unknown.starts_with('-') => {
            Some(format!("`orange task spawn {unknown}` starts one task"))
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

fn of_list(unknown: &str) -> Option<String> {
    let word = unknown.strip_prefix("--")?;
    let word = word.split_once('=').map_or(word, |(name, _)| name);
    let workflow = Workflow::named(WorkflowName::Interactive);
    match word {
        "trash" | "trashed" | "deleted" => {
            Some("`orange task restore` lists deleted tasks".to_owned())
        }
        "sort" | "sort-by" | "order" | "order-by" | "reverse" => Some(
            "what needs you comes first; --status and --priority choose, and --json can be sorted as you like"
                .to_owned(),
        ),
        "closed" | "finished" | "over" | "completed" => Some(
            "--status done,cancelled shows what is over lately, with --all however long ago"
                .to_owned(),
        ),
        "open" | "active" | "running" => {
            Some("open tasks are shown anyway; --status working,planning chooses".to_owned())
        }
        word => {
            let status: Status = word.parse().ok()?;
            workflow.has(status).then(|| match status.is_terminal() {
                true => format!("--status {status}, with --all however long ago"),
                false => format!("--status {status}"),
            })
        }
    }
}
