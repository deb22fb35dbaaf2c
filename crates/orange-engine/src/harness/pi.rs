//! pi: an extension (`pi.ts`) says what it does and hands it messages, so nothing is typed.

use super::model::ModelChoice;
use super::{Occasion, Prepared};
use crate::runs::Conversation;
use orange_core::config::Effort;
use serde_json::json;
use std::collections::BTreeMap;

/// The extension. pi compiles what it has not seen before, which takes a quarter of a second: so it is one file for all
/// runs, and what is about one run stands in a variable.
const EXTENSION: &str = "pi.ts";
const ABOUT: &str = "ORANGE_PI";

/// Variables of a pi around us that are about that one.
pub(super) const CLEARED: &[&str] = &[
    "PI_CODING_AGENT",
    "PI_MODEL",
    "PI_PROVIDER",
    "PI_REASONING_LEVEL",
    "PI_SESSION_FILE",
    "PI_SESSION_ID",
];

const SOURCE: &str = include_str!("pi.ts");

/// What `--thinking` accepts.
pub(super) const EFFORTS: &[Effort] = Effort::ALL;

/// Model and effort, as pi takes them with and without a terminal.
pub(crate) fn choice_arguments(choice: &ModelChoice) -> Vec<String> {
    choice.arguments("--model", "--thinking")
}

pub(super) fn prepare(occasion: &Occasion<'_>) -> Prepared {
    let extension = occasion.shared.join(EXTENSION).display().to_string();
    // What the repository brings for pi itself is left out without a question: nobody has looked at it.
    let mut arguments = vec!["--no-approve".to_owned(), "-e".into(), extension];
    arguments.extend(choice_arguments(occasion.choice));
    match occasion.conversation {
        Conversation::New(id) => arguments.extend(["--session-id".into(), id.clone()]),
        Conversation::Resumed(id) => arguments.extend(["--session".into(), id.clone()]),
        Conversation::Unknown => {}
    }
    arguments.extend(["--".into(), "{prompt}".into()]);
    let settings = json!({
        "folder": occasion.folder,
        "task": occasion.task_folder,
        "permissions": occasion.permissions,
    });
    Prepared {
        arguments,
        environment: BTreeMap::from([(ABOUT.to_owned(), settings.to_string())]),
        shared: vec![(EXTENSION, SOURCE)],
        ..Prepared::default()
    }
}
