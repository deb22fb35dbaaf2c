//! The scripted agent without a terminal: `orange sim --turn`, which keeps how far each conversation has come and what
//! it used.

use crate::headless::{
    AgentOutput, HeadlessStart, Heard, Listener, TurnRequest, kind_of_word, text_of, usage_of,
};
use orange_core::config::Permissions;
use orange_core::usage::Usage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Where conversations are kept, in Orange's home.
const CONVERSATIONS: &str = "harness/sim";

pub(super) fn way(request: &TurnRequest, home: &Path) -> HeadlessStart {
    let conversation = request.conversation();
    let id = conversation.id().unwrap_or_default().to_owned();
    let folder = home.join(CONVERSATIONS).display().to_string();
    let mut arguments = vec![
        "--turn".to_owned(),
        id,
        "--conversations".to_owned(),
        folder,
    ];
    if request.resume.is_some() {
        arguments.push("--resume".into());
    }
    if request.permissions == Permissions::Full {
        arguments.push("--allow".into());
    }
    HeadlessStart {
        arguments,
        environment: BTreeMap::new(),
        withheld: Vec::new(),
        hear,
        aside: None,
        unknown_conversation: "there is no conversation",
        logged_out: &[],
    }
}

fn hear(heard: &mut Heard, line: &Value, listener: &mut Listener<'_>) {
    match text_of(line, "type") {
        Some("session") => {
            heard.conversation = text_of(line, "id").map(str::to_owned);
            heard.earlier = line.get("used").map(usage);
        }
        Some("text") => {
            let text = text_of(line, "text").unwrap_or_default();
            listener(AgentOutput::Text(text));
            text.clone_into(&mut heard.text);
        }
        Some("step") => listener(AgentOutput::Tool {
            name: text_of(line, "name").unwrap_or("step"),
            on: text_of(line, "on").unwrap_or_default(),
        }),
        Some("usage") => {
            heard.used = heard.used.plus(usage(line));
            heard.model = text_of(line, "model").map(str::to_owned);
        }
        Some("result") => {
            heard.finished = true;
            heard.error = text_of(line, "error").map(str::to_owned);
            let kind = heard.error.as_ref().map(|_| text_of(line, "kind"));
            // A failure of no kind is one of the service: that is what `fail` stands for.
            heard.kind = kind.and_then(|kind| kind_of_word(kind.unwrap_or("server_error")));
            let until = text_of(line, "until");
            heard.until = until.and_then(|until| until.parse().ok());
        }
        Some(_) | None => {}
    }
}

fn usage(line: &Value) -> Usage {
    Usage {
        cost: line.get("cost").and_then(Value::as_f64),
        ..usage_of(line, ["input", "output", "cache_read", "cache_write"])
    }
}
