//! Settings for a command that only reads: a mistake in them is told and does not keep anybody from looking.

use super::{Loaded, told_of};
use crate::engine::Engine;
use crate::error::Result;
use orange_core::config::{Config, ConfigError, Layer};
use orange_core::{Action, Text, text};
use std::sync::Arc;

impl Engine {
    /// From now on nothing is changed or started here: where a setting cannot be used, its default counts.
    pub fn only_reads(&mut self) {
        self.only_reads = true;
        self.loaded = Arc::default();
    }

    /// Whether defaults stand in for what somebody wrote wrongly: not good enough to act upon.
    pub fn has_lenient_config(&self) -> bool {
        self.loaded().is_ok_and(|loaded| loaded.lenient)
    }

    pub(super) fn load_what_can_be_used(&self) -> Result<Loaded> {
        let (user, trouble) = match self.user_layer() {
            Ok(layer) if layer.bad.is_empty() => (layer, None),
            Ok(layer) => {
                let mistakes = layer.mistakes();
                let told = ConfigError { mistakes }.to_string();
                let rest = "what cannot be used has its default";
                (layer, Some(joined(&told, rest)))
            }
            Err(error) => {
                let rest = "all settings have their defaults";
                (Layer::default(), Some(joined(&error.message, rest)))
            }
        };
        let mut config = Config::default();
        user.apply(&mut config);
        let unheard = self.apply_overrides(&mut config)?;
        let lenient = trouble.is_some() || !unheard.is_empty();
        match trouble {
            Some(trouble) => self.notice(trouble),
            None => user
                .ignored
                .iter()
                .for_each(|ignored| self.notice(told_of(ignored))),
        }
        for problem in unheard {
            self.notice(format!("{problem}; the variable does not count"));
        }
        Ok(Loaded {
            user,
            config,
            lenient,
        })
    }
}

/// Several mistakes are lines of their own.
fn joined(told: &str, rest: &str) -> Text {
    let between = if told.contains('\n') { "\n" } else { "; " };
    text!(
        "{told}{between}{rest} until you correct it: {}",
        Action::edit_settings()
    )
}
