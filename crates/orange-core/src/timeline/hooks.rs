//! What hooks are called where people read of them; their names are for journals and tables.

use super::plain;
use crate::workflow::Hook;

/// What it is there for: `take a slot`.
pub fn aim(name: &str) -> String {
    match Hook::from_name(name) {
        Some(hook) => hook.aim().to_owned(),
        None => format!("carry out {}", plain(name)),
    }
}

/// What holds once it is completed, also where there was nothing to do.
pub(super) fn done(name: &str) -> String {
    match Hook::from_name(name) {
        Some(hook) => hook.result().to_owned(),
        None => format!("carried out {}", plain(name)),
    }
}

/// `could not take a slot`.
pub fn failed(name: &str) -> String {
    format!("could not {}", aim(name))
}
