//! config.yaml: read, or an error that names a line of it.

use orange_core::config::{Config, ConfigError, WorkspaceConfig};

pub fn config(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Config::parse(text) {
        Ok((_, unknown)) => {
            let known = Config::known_keys();
            assert!(unknown.iter().all(|key| !known.contains(&key.as_str())));
        }
        Err(error) => is_told_where(text, &error),
    }
    if let Err(error) = WorkspaceConfig::parse(text) {
        is_told_where(text, &error);
    }
    for key in Config::known_keys() {
        let _ = Config::default().override_with(key, text);
    }
}

fn is_told_where(text: &str, error: &ConfigError) {
    assert!(!error.reason.is_empty());
    if let Some(line) = error.line {
        super::is_a_line_of(line, text);
    }
}
