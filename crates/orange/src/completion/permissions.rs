//! The numbers of rules, each with what it allows.

use super::values::{described, offering};
use clap_complete::engine::ArgValueCompleter;
use orange_engine::views::permissions::{WantedPermissions, permissions};

pub(crate) fn rules() -> ArgValueCompleter {
    offering(|line, _| {
        let rules = permissions(&line.call()?, &WantedPermissions::default()).ok()?;
        let offer = |rule: &orange_engine::views::PermissionRow| {
            described(rule.number.to_string(), &rule.allows)
        };
        Some(rules.iter().map(offer).collect())
    })
}
