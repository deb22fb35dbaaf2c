//! config.yaml: read, or an error that names a line of it; a setting that is changed is changed, and nothing else.

use orange_core::config::{Config, ConfigEditError, Layer, Mistake, Setting, edited};
use serde_json::{Value, json};

pub fn config(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    for layer in [Layer::of_user(text), Layer::of_repository(text)] {
        match layer {
            Ok(layer) => {
                layer.apply(&mut Config::default());
                let lines = layer.said().iter().map(|said| said.line);
                lines.for_each(|line| super::is_a_line_of(line, text));
                for mistake in layer.mistakes() {
                    is_told_where(text, &mistake);
                }
            }
            Err(mistake) => is_told_where(text, &mistake),
        }
    }
    for setting in Setting::all() {
        let _ = Config::default().override_with(setting.key, text);
    }
    changed(text, "review.max_rounds", json!(7));
    changed(text, "workspace.setup", json!(["a: b", "- c"]));
    changed(text, "harness.mine", json!(["x", "{prompt}"]));
}

/// Changed, read back, changed again to the same: the same text. Taken out, it is gone.
fn changed(text: &str, key: &str, value: Value) {
    let new = match edited(text, key, Some(&value)) {
        Ok(new) => new,
        Err(ConfigEditError::Unreadable(mistake)) => return is_told_where(text, &mistake),
        Err(ConfigEditError::Layout { .. }) => return,
    };
    assert_eq!(at(&new, key), Some(value.clone()), "{new:?}");
    assert_eq!(edited(&new, key, Some(&value)).as_deref(), Ok(new.as_str()));
    if let Ok(without) = edited(&new, key, None) {
        assert_eq!(at(&without, key), None, "{without:?}");
    }
    // What the file said before is still said, unless it is about this setting.
    let (Ok(before), Ok(after)) = (Layer::of_user(text), Layer::of_user(&new)) else {
        return;
    };
    for said in before.said().iter().filter(|said| said.key != key) {
        let now = after.get(&said.key).map(|said| said.value());
        assert_eq!(now, Some(said.value()), "{}", said.key);
    }
}

fn at(text: &str, key: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = orange_core::yaml::read(text, 0..text.len())
        .ok()??
        .to_json();
    let (section, name) = key.split_once('.')?;
    root.get(section)?.get(name).cloned()
}

fn is_told_where(text: &str, mistake: &Mistake) {
    assert!(!mistake.reason.is_empty());
    if let Some(line) = mistake.line {
        super::is_a_line_of(line, text);
    }
}
