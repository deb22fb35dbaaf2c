//! config.yaml: read, or an error that names a line of it; a setting that is changed is read back, and the rest stays.

use orange_core::config::{Config, ConfigError, Layer, edited};
use serde_json::{Value, json};

pub fn config(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Config::parse(text) {
        Ok((_, ignored)) => {
            let known = Config::known_keys();
            for one in ignored {
                assert!(!known.contains(&one.key.as_str()));
                super::is_a_line_of(one.line, text);
            }
            is_changed(text);
        }
        Err(error) => is_told_where(text, &error),
    }
    if let Err(error) = Layer::of_repository(text) {
        is_told_where(text, &error);
    }
    for key in Config::known_keys() {
        let _ = Config::default().override_with(key, text);
    }
}

/// What `config set` does to a file that can be read.
fn is_changed(text: &str) {
    let Ok(changed) = edited(text, "review.max_rounds", Some(&json!(7))) else {
        return;
    };
    let after = others(&changed);
    assert!(after.is_some(), "what was readable stays readable");
    assert_eq!(others(text), after);
    let rounds = Config::parse(&changed).map(|(config, _)| config.review.max_rounds);
    assert_eq!(rounds, Ok(7));
}

/// What the file says besides.
fn others(text: &str) -> Option<Vec<(String, Value)>> {
    let layer = Layer::of_user(text).ok()?;
    let values = layer
        .said()
        .iter()
        .map(|said| (said.key.clone(), said.value()));
    Some(
        values
            .filter(|(key, _)| key != "review.max_rounds")
            .collect(),
    )
}

fn is_told_where(text: &str, error: &ConfigError) {
    assert!(!error.reason.is_empty());
    if let Some(line) = error.line {
        super::is_a_line_of(line, text);
    }
}
