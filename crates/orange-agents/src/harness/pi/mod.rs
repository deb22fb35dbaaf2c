//! pi: an extension (`pi.ts`) says what it does and hands it messages, so nothing is typed.

mod headless;
mod login;

use super::kind::{HarnessFacts, HarnessKind};
use super::model::ModelChoice;
use super::probe::{Login, Probe, Version};
use super::supports::{ALL_MODES, Supports};
use super::{Occasion, Prepared};
use crate::error::Result;
use crate::headless::{HeadlessStart, TurnRequest, text_of};
use crate::runs::Subject;
use orange_core::config::Effort;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The extension. pi compiles what it has not seen before, which takes a quarter of a second: so it is one file for all
/// runs, and what is about one run stands in a variable.
const EXTENSION: &str = "pi.ts";
const ABOUT: &str = "ORANGE_PI";

/// Variables of a pi around us that are about that one.
const CLEARED: &[&str] = &[
    "PI_CODING_AGENT",
    "PI_MODEL",
    "PI_PROVIDER",
    "PI_REASONING_LEVEL",
    "PI_SESSION_FILE",
    "PI_SESSION_ID",
];

const SOURCE: &str = include_str!("pi.ts");

const FACTS: &HarnessFacts = &HarnessFacts {
    name: "pi",
    program: "pi",
    install: Some("npm install -g @earendil-works/pi-coding-agent"),
    adapter: "pi",
    supports: Supports {
        signals: Some("extension"),
        delivery: "by the extension",
        resume: true,
        permissions: Some(ALL_MODES),
        remembers: true,
        usage: Some("tokens and cost"),
        headless: true,
        usage_limits: true,
        model: true,
        effort: EFFORTS,
    },
    arguments: None,
    fetches_messages: true,
    oldest: Some((
        Version(0, 87, 0),
        "its extensions and --no-approve are as Orange needs them",
    )),
    variables: &["PI_"],
    login_by_model: true,
    cleared: CLEARED,
    ..HarnessFacts::TYPED
};

#[derive(Debug)]
pub(super) struct Pi;

impl HarnessKind for Pi {
    fn facts(&self) -> &'static HarnessFacts {
        FACTS
    }

    fn prepare(&self, occasion: &Occasion<'_>, _own: &[String]) -> Result<Prepared> {
        let extension = occasion.shared.join(EXTENSION).display().to_string();
        // What the repository brings for pi itself is left out without a question: nobody has looked at it.
        let mut arguments = vec!["--no-approve".to_owned(), "-e".into(), extension];
        arguments.extend(choice_arguments(occasion.choice));
        let conversation = occasion.conversation;
        arguments.extend(conversation.arguments("--session-id", "--session"));
        arguments.extend(["--".into(), "{prompt}".into()]);
        let settings = json!({
            "folder": occasion.folder,
            "task": occasion.task_folder,
            "permissions": occasion.permissions,
        });
        Ok(Prepared {
            arguments,
            environment: BTreeMap::from([(ABOUT.to_owned(), settings.to_string())]),
            shared: vec![(EXTENSION, SOURCE)],
            ..Prepared::default()
        })
    }

    fn subject<'v>(&self, tool: &str, input: &'v Value) -> Option<Subject<'v>> {
        let subject = match tool {
            "bash" if Subject::has_only(input, &["command", "timeout"]) => {
                text_of(input, "command").map(Subject::Command)
            }
            "edit" | "write" => text_of(input, "path")
                .or_else(|| text_of(input, "file_path"))
                .map(Subject::File),
            _ => None,
        };
        Some(subject.unwrap_or(Subject::Input))
    }

    fn headless(&self, request: &TurnRequest, world: &Probe<'_>) -> Option<Result<HeadlessStart>> {
        Some(headless::way(request, world.home))
    }

    fn credentials(&self, probe: &Probe<'_>) -> Option<Vec<PathBuf>> {
        probe.credentials("PI_CODING_AGENT_DIR", ".pi/agent", "auth.json")
    }

    fn login(&self, probe: &Probe<'_>, program: &Path) -> Login {
        login::login(probe, program)
    }
}

/// What `--thinking` accepts.
const EFFORTS: &[Effort] = Effort::ALL;

/// Model and effort, as pi takes them with and without a terminal.
fn choice_arguments(choice: &ModelChoice) -> Vec<String> {
    choice.arguments("--model", "--thinking")
}
