//! Telling a person what was noted to tell: by their command, and by a POST to their URL.

use super::webhook;
use crate::call::Call;
pub use crate::effects::notify::VARIABLES;
use crate::error::Result;
use crate::settings;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};

/// An errand: runs the user's command, whose environment says what it is about, and posts `about`, the same variables.
pub fn notify(call: &Call, about: &BTreeMap<String, String>) -> Result<()> {
    let notify = &settings::config(call)?.notify;
    // Neither waits for the other, which may take its time.
    std::thread::scope(|scope| {
        if let Some(url) = &notify.webhook {
            scope.spawn(|| post(url, notify.webhook_secret.as_deref(), about));
        }
        if let Some(command) = &notify.command {
            run(call, command);
        }
    });
    Ok(())
}

fn run(call: &Call, command: &str) {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "--", command])
        .current_dir(call.store.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match shell.status() {
        Ok(status) if !status.success() => tracing::warn!(%status, "notify.command failed"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "notify.command could not be started"),
    }
}

fn post(url: &str, secret: Option<&str>, about: &BTreeMap<String, String>) {
    let to = webhook::origin(url);
    match webhook::post(url, secret, about, &webhook::PACE) {
        Ok(()) => tracing::debug!(to, "notify.webhook was told"),
        Err(error) => tracing::warn!(to, error, "notify.webhook failed"),
    }
}
