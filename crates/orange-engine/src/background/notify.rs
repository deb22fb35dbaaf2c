//! Running the person's notify command for what was noted to tell.

use crate::call::Call;
use crate::error::Result;
use crate::settings;
use std::process::{Command, Stdio};

/// An errand: runs the user's command. What it is about stands in the environment.
pub fn notify(call: &Call) -> Result<()> {
    let Some(command) = settings::config(call)?.notify.command.clone() else {
        return Ok(());
    };
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "--", &command])
        .current_dir(call.store.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match shell.status() {
        Ok(status) if !status.success() => tracing::warn!(%status, "notify.command failed"),
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "notify.command could not be started"),
    }
    Ok(())
}
