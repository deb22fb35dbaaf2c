//! The scripted agent without a terminal: `orange sim --turn`, which keeps how far each conversation has come.

use crate::headless::{Heard, Request, Way, text_of};
use orange_core::config::Permissions;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Where conversations are kept, in Orange's home.
const CONVERSATIONS: &str = "harness/sim";

pub(super) fn way(request: &Request, home: &Path) -> Way {
    let new = || uuid::Uuid::new_v4().to_string();
    let folder = home.join(CONVERSATIONS).display().to_string();
    let mut arguments = vec![
        "--turn".to_owned(),
        request.resume.clone().unwrap_or_else(new),
        "--conversations".to_owned(),
        folder,
    ];
    if request.resume.is_some() {
        arguments.push("--resume".into());
    }
    if request.permissions == Permissions::Full {
        arguments.push("--allow".into());
    }
    Way {
        arguments,
        environment: BTreeMap::new(),
        hear,
        aside: None,
        unknown_conversation: "there is no conversation",
    }
}

fn hear(heard: &mut Heard, line: &Value) {
    match text_of(line, "type") {
        Some("session") => heard.conversation = text_of(line, "id").map(str::to_owned),
        Some("result") => {
            heard.finished = true;
            heard.text = text_of(line, "text").unwrap_or_default().to_owned();
            heard.error = text_of(line, "error").map(str::to_owned);
        }
        Some(_) | None => {}
    }
}
