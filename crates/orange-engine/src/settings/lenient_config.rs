//! Settings for a command that only reads: a mistake in them is told and does not keep anybody from looking.

use crate::call::{Call, Loaded};
use crate::error::Result;
use crate::settings::{self, outside, told_of};
use orange_core::config::{Config, ConfigError, Layer};
use orange_core::{Action, Text, text};

/// Whether defaults stand in for what somebody wrote wrongly: not good enough to act upon.
pub fn has_lenient_config(call: &Call) -> bool {
    settings::loaded(call).is_ok_and(|loaded| loaded.lenient)
}

pub(crate) fn load_what_can_be_used(call: &Call) -> Result<Loaded> {
    let (user, trouble) = match settings::user_layer(call) {
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
    let unheard = outside::apply_overrides(call, &mut config)?;
    let lenient = trouble.is_some() || !unheard.is_empty();
    match trouble {
        Some(trouble) => call.notice(trouble),
        None => user
            .ignored
            .iter()
            .for_each(|ignored| call.notice(told_of(ignored))),
    }
    for problem in unheard {
        call.notice(format!("{problem}; the variable does not count"));
    }
    Ok(Loaded {
        user,
        config,
        lenient,
    })
}

/// Several mistakes are lines of their own.
fn joined(told: &str, rest: &str) -> Text {
    let between = if told.contains('\n') { "\n" } else { "; " };
    text!(
        "{told}{between}{rest} until you correct it: {}",
        Action::edit_settings()
    )
}
