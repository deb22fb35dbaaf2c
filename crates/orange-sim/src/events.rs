//! The event log: a JSON line per event, each in one append, so that the lines of several agents never mix. A line
//! counts when its line end is there: who reads while a long one is written may see half of it.

use orange_core::Timestamp;
use orange_sys::Result;
use orange_sys::error::{err, plain};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

#[derive(Clone)]
pub(super) struct Events(Option<Arc<File>>);

impl Events {
    pub(super) fn to(file: Option<&Path>) -> Result<Events> {
        let Some(path) = file else {
            return Ok(Events(None));
        };
        let opened = OpenOptions::new().create(true).append(true).open(path);
        let file = opened.map_err(|error| {
            let (path, why) = (path.display(), plain(&error));
            err!(Failed, "cannot open the log {path}: {why}")
                .hint("name a file in a folder that exists with --log or ORANGE_SIM_LOG")
        })?;
        Ok(Events(Some(Arc::new(file))))
    }

    /// Writes an event with these fields. A disk that is full must not end the agent.
    pub(super) fn write(&self, event: &str, fields: &Value) {
        let Some(file) = &self.0 else { return };
        let mut line = json!({
            "time": Timestamp::now().to_string(),
            "event": event,
            "pid": std::process::id(),
        });
        if let (Some(line), Some(fields)) = (line.as_object_mut(), fields.as_object()) {
            for (name, value) in fields {
                line.insert(name.clone(), value.clone());
            }
        }
        let _ = (&**file).write_all(format!("{line}\n").as_bytes());
    }
}
